"""Verdicts are kept line by line, resumed, never mixed, and read by `load_judgements`."""

from pathlib import Path

import pytest

from quoteweave.core.answers import Usage
from quoteweave.core.errors import DatasetError, StorageError, UsageError
from quoteweave.core.files.jsonl import open_for_append
from quoteweave.evaluation.judges.batch import read_verdicts
from quoteweave.evaluation.judges.judgements import ASPECTS, AnswerVerdict, is_malformed, load_judgements


def verdict(example: str, score: int | None = 4, *, model: str = "judge", prompt: str = "abc") -> AnswerVerdict:
    return AnswerVerdict(
        example=example,
        scores=None if score is None else dict.fromkeys(ASPECTS, score),
        error="no JSON" if score is None else None,
        raw="…",
        model=model,
        prompt=prompt,
        request="r",
        usage=Usage(input_tokens=1, output_tokens=2),
        attempts=1,
    )


def write(path: Path, *verdicts: AnswerVerdict) -> None:
    with open_for_append(path) as append:
        for one in verdicts:
            append(one)


def read(path: Path) -> dict[str, AnswerVerdict]:
    return read_verdicts(path, AnswerVerdict, model="judge", prompt="abc")


def test_what_is_written_is_read_and_the_later_line_counts(tmp_path: Path) -> None:
    path = tmp_path / "new" / "judgements.jsonl"
    assert read(path) == {}
    write(path, verdict("a"), verdict("b", None))
    write(path, verdict("b", 2))
    assert read(path) == {"a": verdict("a"), "b": verdict("b", 2)}
    assert len(path.read_bytes().splitlines()) == 3


def test_each_verdict_is_on_the_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    with open_for_append(path) as append:
        append(verdict("a"))
        assert list(read(path)) == ["a"]


def test_a_line_cut_short_is_passed_over_and_dropped_when_resumed(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    write(path, verdict("a"), verdict("b"))
    path.write_bytes(path.read_bytes()[:-30])
    assert list(read(path)) == ["a"]
    write(path, verdict("c"))
    assert list(read(path)) == ["a", "c"]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (verdict("a", model="gpt"), "by gpt, not by judge"),
        (verdict("a", prompt="def"), "by another prompt .* begins with def"),
    ],
)
def test_judgements_by_another_judge_are_refused(tmp_path: Path, other: AnswerVerdict, said: str) -> None:
    write(tmp_path / "j.jsonl", other)
    with pytest.raises(UsageError, match=f"{said}.*--out"):
        read(tmp_path / "j.jsonl")


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text('{"q_id": 1, "response": {"Fluency": 5}}\n')
    with pytest.raises(DatasetError, match="line 1, example"):
        read(path)
    with pytest.raises(DatasetError, match="is a folder; name a file in it"):
        read(tmp_path)
    with pytest.raises(StorageError, match="cannot write"), open_for_append(tmp_path):
        pass


def test_they_are_judgements_to_score(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    write(path, verdict("a", None), verdict("b", None), verdict("a", 3))
    found = load_judgements(path)
    assert found == {"a": dict.fromkeys(ASPECTS.values(), 3.0), "b": {}}
    assert [is_malformed(found[name]) for name in "ab"] == [False, True]
    path.write_bytes(path.read_bytes() + b'{"example": "c", "sco')
    assert load_judgements(path) == found
