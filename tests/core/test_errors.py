import inspect
import pickle

import pytest

from quoteweave.core import errors


def classes() -> list[type[BaseException]]:
    return [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, BaseException)]


def test_every_error_has_the_root_above_it_and_stands_in_the_drawing() -> None:
    drawing = {word for line in str(errors.__doc__).splitlines() for word in line.split()}
    for each in classes():
        assert issubclass(each, errors.QuoteweaveError)
        assert each.__name__ in drawing


@pytest.mark.parametrize(
    ("error", "above"),
    [
        (errors.MissingExtra, errors.UsageError),
        (errors.EncryptedDocument, errors.DocumentError),
        (errors.StorageError, errors.CollectionError),
        (errors.QuoteNotFound, errors.CollectionError),
        (errors.EndpointRefused, errors.EndpointError),
    ],
)
def test_the_branches(error: type[Exception], above: type[Exception]) -> None:
    assert error.__bases__ == (above,)


def test_a_missing_extra_says_how_to_install_it() -> None:
    assert str(errors.MissingExtra("pyarrow", "parquet")) == (
        "pyarrow is not installed; install it with: pip install 'quoteweave[parquet]'"
    )


@pytest.mark.parametrize(
    "error",
    [
        errors.IndexMissing("there is no index", remedy="build it"),
        errors.EndpointRefused("no such model", remedy="check its name", status=404),
        errors.MissingExtra("pyarrow", "parquet"),
    ],
)
def test_a_text_ends_with_the_remedy_also_in_another_process(error: errors.QuoteweaveError) -> None:
    assert error.remedy
    assert str(error) == f"{error.summary}; {error.remedy}"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.summary, again.remedy) == (str(error), error.summary, error.remedy)
    assert vars(again) == vars(error)


def test_without_a_remedy_the_text_is_what_happened() -> None:
    assert str(errors.UsageError("it is empty")) == errors.UsageError("it is empty").summary == "it is empty"
