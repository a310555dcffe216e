import ast
import inspect
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

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


def test_a_note_withholds_its_remedy_only_within_the_block() -> None:
    logged: list[str] = []
    with errors.withhold_remedies(logged.append):
        assert errors.note_text("no index", remedy="build it") == "no index"
        assert errors.note_text("no route", remedy=None) == "no route"
    assert logged == ["no index; build it"]
    assert errors.note_text("no index", remedy="build it") == "no index; build it"


def test_without_a_remedy_the_text_is_what_happened() -> None:
    assert str(errors.UsageError("it is empty")) == errors.UsageError("it is empty").summary == "it is empty"


COMMAND = re.compile(
    r"\bquoteweave (add|ask|check|describe|eval|import|index|keys|list|models|plan|remove|run|search|serve|show)\b"
    r"|(?<![\w-])--[a-z]|\bpip install\b"
)
TERMINAL_ONLY = {
    *("documents/discovery.py", "documents/ingest.py", "server/run.py"),
    "pipeline/composition/manage_indexes.py",
    *(f"pipeline/runs/{name}.py" for name in ("answer_dataset", "config")),
}
"""Files with messages that the command line and the start of a server can meet, and no request to one."""


def test_what_is_told_to_users_of_a_server_names_no_command() -> None:
    package = Path(errors.__file__).parents[1]
    kinds = {*(each.__name__ for each in classes()), "ProblemError", "FileIssue", "note_text"}
    found = set()
    for file in package.rglob("*.py"):
        name = file.relative_to(package).as_posix()
        if name.split("/")[0] not in ("cli", "evaluation", "attribution", "testing"):
            found |= {name for text in told(ast.parse(file.read_text("utf-8")), kinds) if COMMAND.search(text)}
    assert found == TERMINAL_ONLY


def told(tree: ast.AST, kinds: set[str]) -> Iterator[str]:
    """The texts within errors that are made, but for their remedies."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and kinds & {getattr(call.func, "id", None), getattr(call.func, "attr", None)}:
            for given in (*call.args, *(each.value for each in call.keywords if each.arg != "remedy")):
                yield from (
                    part.value
                    for part in ast.walk(given)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
