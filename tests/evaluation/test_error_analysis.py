"""Kinds of error: counted by hand, compared with people's labels as scikit-learn does, read with their faults."""

import hashlib
from pathlib import Path

import pytest
from builders import write_json_lines
from made_selection import answered, example

from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.evaluation.judges.error_judge import ERROR_KINDS, load_error_kinds, read_error_labels
from quoteweave.evaluation.report.errors import count_errors, error_agreement

KINDS = ("excessive", "inadequate")
JUDGE = {"1": ("excessive",), "2": (), "3": ("excessive", "inadequate"), "4": ("inadequate",), "5": ("excessive",)}
PEOPLE = {"1": ("excessive",), "2": ("excessive",), "3": ("inadequate",), "4": ("inadequate",), "5": ("excessive",)}


def test_answers_are_counted_by_kind_and_by_group() -> None:
    asked = [example(str(n)).model_copy(update={"domain": "Report" if n < 3 else "Slides"}) for n in range(1, 6)]
    found = count_errors(JUDGE, KINDS, asked)
    assert (found.total.answers, found.total.sound) == (5, 1)
    assert found.total.kinds == {"excessive": 3, "inadequate": 2}
    report, slides = found.groups["domain"]["Report"], found.groups["domain"]["Slides"]
    assert (report.answers, report.sound, report.kinds) == (2, 1, {"excessive": 1, "inadequate": 0})
    assert (slides.answers, slides.sound, slides.kinds) == (3, 0, {"excessive": 2, "inadequate": 2})


def test_labels_of_another_dataset_are_refused() -> None:
    with pytest.raises(DatasetError, match="'9' is labelled, and is no question of this dataset"):
        count_errors({"9": ()}, KINDS, [example("1")])


def test_agreement_is_that_of_scikit_learn_for_each_kind() -> None:
    from sklearn.metrics import cohen_kappa_score

    found = error_agreement(JUDGE, {**PEOPLE, "6": ()}, KINDS)
    assert (found.n, found.left_out) == (5, 1)
    for kind in KINDS:
        theirs = cohen_kappa_score([kind in JUDGE[n] for n in JUDGE], [kind in PEOPLE[n] for n in JUDGE])
        assert found.figures[f"{kind}.kappa"].value == pytest.approx(theirs)
    # Of the three answers in which the judge sees an excess people see it in two, of their three in two.
    assert found.figures["excessive.precision"].value == pytest.approx(2 / 3)
    assert found.figures["excessive.recall"].value == pytest.approx(2 / 3)
    assert found.figures["excessive.exact"].value == pytest.approx(3 / 5)
    assert found.figures["inadequate.exact"].value == 1


def test_a_kind_that_nobody_saw_has_no_kappa() -> None:
    found = error_agreement({"1": ()}, {"1": ()}, KINDS, intervals=None)
    assert found.figures["excessive.kappa"].value is None
    assert found.figures["excessive.exact"].value == 1


def test_without_common_answers_nothing_is_compared() -> None:
    with pytest.raises(DatasetError, match="no answer is labelled by both"):
        error_agreement({"1": ()}, {"2": ()}, KINDS)


ITEMS = [(answered("Said.", name), example(name)) for name in "12"]
HASH = hashlib.sha256(b"Said.").hexdigest()


def labels(folder: Path, *lines: object) -> Path:
    path = folder / "labels.jsonl"
    write_json_lines(path, lines)
    return path


def test_labels_are_read_as_the_page_exports_them(tmp_path: Path) -> None:
    head = {"counts": {"excessive_citation": 1, "none": 1, "labelled": 2, "of": 9}}
    path = labels(
        tmp_path,
        head,
        {"example": "1", "answer": HASH, "kinds": ["repetitive_citation"]},
        {"example": "1", "answer": HASH, "kinds": ["repetitive_citation", "excessive_citation"]},
        {"example": "2", "answer": HASH, "kinds": []},
    )
    assert read_error_labels(path, ITEMS) == {"1": ("excessive_citation", "repetitive_citation"), "2": ()}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [{"example": "1", "answer": HASH, "kinds": ["excess"]}],
            "line 1, kinds: 'excess' is none of excessive_citation",
        ),
        ([{"kinds": []}], "line 1, example: there is none"),
        ([{"example": "1", "score": 3}], "line 1, score"),
        ([{"counts": {"labelled": 0, "of": 3}}], "holds no labels"),
        ([{"example": "9", "answer": HASH}], "line 1, example: '9' is no question that this run answers"),
        (
            [{"counts": {}}, {"example": "1", "answer": "0" * 64}],
            "line 2, answer: the label on '1' is of another answer",
        ),
        ([{"example": "1", "kinds": []}], "line 1, answer: the label on '1' is of another answer"),
    ],
)
def test_what_is_no_label_is_named(lines: list[object], message: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=message):
        read_error_labels(labels(tmp_path, *lines), ITEMS)


def test_other_kinds_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "kinds.toml"
    path.write_text('wrong_number = "A number is not that of the quotes."\n')
    assert [(kind.name, kind.says) for kind in load_error_kinds(path)] == [
        ("wrong_number", "A number is not that of the quotes.")
    ]
    assert len(ERROR_KINDS) == 4
    for text, message in (
        ("", "has 0 kinds"),
        ("".join(f'k{n} = "x"\n' for n in range(10)), "takes 1 to 9"),
        ('"Two words" = "x"', "name"),
        ("a = 3", "says"),
        ("=", "is no TOML"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=message):
            load_error_kinds(path)
    with pytest.raises(UsageError, match="cannot be read"):
        load_error_kinds(tmp_path / "none.toml")
