"""Run folders: appended, resumed after a crash, read without being changed, refused when they are another's."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from builders import make_quote
from operating_system import no_file_above

from quoteweave.core import runs
from quoteweave.core.errors import DatasetError, StorageError, UsageError
from quoteweave.core.examples import Prediction
from quoteweave.core.files.jsonl import is_truncated, iter_records, open_for_append
from quoteweave.core.records import Hit
from quoteweave.core.runs import Configuration, RunRecord, open_run, read_run, sort_predictions

CONFIGURATION: Configuration = {"retriever": "lexical", "quotes": 20, "scopes": ["document", "collection"]}
RUN = RunRecord(configuration=CONFIGURATION, fingerprints={"annotations": "ab12"})


def prediction(name: str, *, text: str = "line\none\u2028two", error: str | None = None) -> Prediction:
    hit = Hit(rank=1, score=0.1 + 0.2, quote=make_quote(text))
    return Prediction(example=name, hits=() if error else (hit,), error=error)


def write(folder: Path, *predictions: Prediction) -> Path:
    with open_run(folder, RUN) as run:
        for one in predictions:
            run.append(one)
    return folder / "predictions.jsonl"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    made = [prediction("q1"), prediction("q2", error="ValueError: no"), prediction("q1", text="é中")]
    write(tmp_path / "runs" / "one", *made[:2], made[2].model_copy(update={"scope": "document"}))
    run, predictions = read_run(tmp_path / "runs" / "one")
    assert (run.configuration, run.fingerprints, run.seeds) == (CONFIGURATION, {"annotations": "ab12"}, {})
    assert set(run.versions) == {"quoteweave", "python"}
    assert predictions == [*made[:2], made[2].model_copy(update={"scope": "document"})]


def test_each_line_is_on_disk_before_the_next_is_made(tmp_path: Path) -> None:
    with open_run(tmp_path, RUN) as run:
        run.append(prediction("q1"))
        assert [one.example for one in read_run(tmp_path)[1]] == ["q1"]


def test_resuming_keeps_what_is_there_and_asks_failures_again(tmp_path: Path) -> None:
    write(tmp_path, prediction("q1"), prediction("q2", error="timeout"))
    with open_run(tmp_path, RUN) as run:
        assert run.is_done("q1", "collection")
        assert not run.is_done("q1", "document")
        assert not run.is_done("q2", "collection")
        run.append(prediction("q2"))
        assert run.is_done("q2", "collection")
        assert run.predictions == [prediction("q1"), prediction("q2")]
    assert read_run(tmp_path)[1] == [prediction("q1"), prediction("q2")]


@pytest.mark.parametrize("kept", [1, 30, -1])
def test_a_line_cut_short_is_dropped_and_its_question_asked_again(tmp_path: Path, kept: int) -> None:
    path = write(tmp_path, prediction("q1"), prediction("q2"))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:kept])
    assert read_run(tmp_path)[1] == [prediction("q1")]
    assert path.read_bytes() == first + second[:kept], "reading changes nothing"
    with open_run(tmp_path, RUN) as run:
        assert not run.is_done("q2", "collection")
        run.append(prediction("q3"))
    assert read_run(tmp_path)[1] == [prediction("q1"), prediction("q3")]


def test_a_run_that_died_before_its_first_line_is_resumed(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.unlink()
    write(tmp_path, prediction("q1"))
    assert read_run(tmp_path)[1] == [prediction("q1")]


def test_what_another_command_answered_until_the_file_was_locked_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "run", prediction("q1"))
    more = write(tmp_path / "more", prediction("q1"), prediction("q2")).read_bytes()

    @contextmanager
    def locked_late(file: Path) -> Iterator[Any]:
        path.write_bytes(more)
        with open_for_append(file) as append:
            yield append

    monkeypatch.setattr(runs, "open_for_append", locked_late)
    with open_run(tmp_path / "run", RUN) as run:
        assert run.is_done("q2", "collection")


def test_another_configuration_is_refused_and_the_run_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path, prediction("q1"))
    before = path.read_bytes()
    other = RunRecord(
        configuration={**CONFIGURATION, "retriever": "bm25"}, fingerprints={"annotations": "cd"}, seeds={"o": 1}
    )
    told = r"annotations is 'ab12' there and 'cd' here; o is None there and 1 here; retriever is 'lexical' there and"
    with pytest.raises(UsageError, match=told):
        open_run(tmp_path, other).__enter__()
    assert path.read_bytes() == before


def test_another_version_counts_as_another_configuration(tmp_path: Path) -> None:
    write(tmp_path, prediction("q1"))
    run = json.loads((tmp_path / "run.json").read_text())
    run["versions"] |= {"quoteweave": "0.0.0", "python": "2.7"}
    del run["xxh3"]  # what is changed on purpose has no checksum
    (tmp_path / "run.json").write_text(json.dumps(run))
    with pytest.raises(UsageError, match=r"quoteweave is '0\.0\.0' there") as caught:
        open_run(tmp_path, RUN).__enter__()
    assert "python" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "damaged"), [(b'"score":0.3', b'"score":0.8'), (b"caf", b"cab"), (b'"xxh3":"', b'"xxh3":"0')]
)
def test_a_changed_character_is_told_with_its_line(tmp_path: Path, written: bytes, damaged: bytes) -> None:
    path = write(tmp_path, prediction("q1"), prediction("q2", text="caf\u00e9"))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second.replace(written, damaged))
    told = r"predictions\.jsonl, line 2, is damaged: .* remove this line to have it made again\. If .* field xxh3"
    for read in (lambda: read_run(tmp_path), lambda: open_run(tmp_path, RUN).__enter__(), lambda: scored(path)):
        with pytest.raises(DatasetError, match=told):
            read()
    path.write_bytes(first)
    with open_run(tmp_path, RUN) as run:
        assert not run.is_done("q2", "collection")


def test_no_flipped_bit_goes_unnoticed(tmp_path: Path) -> None:
    made = [Prediction(example="q1", response="In 1874 [1]."), Prediction(example="q2")]
    path = write(tmp_path, *made)
    whole, record = path.read_bytes(), (tmp_path / "run.json").read_bytes()
    for bit in range(0, 8 * len(whole), 3):
        path.write_bytes(flipped(whole, bit))
        with suppress(DatasetError):
            read = read_run(tmp_path)[1]
            # A line without its end was cut short, which `eval score` tells.
            assert read == made[:1], (bit, whole[bit // 8 :][:20])
            assert is_truncated(path)
    path.write_bytes(whole)
    for bit in range(0, 8 * len(record), 3):
        (tmp_path / "run.json").write_bytes(flipped(record, bit))
        with suppress(DatasetError):
            assert read_run(tmp_path)[0] == RUN, (bit, record[bit // 8 :][:20])


def flipped(data: bytes, bit: int) -> bytes:
    at, place = divmod(bit, 8)
    return data[:at] + bytes([data[at] ^ 1 << place]) + data[at + 1 :]


def scored(path: Path) -> list[Prediction]:
    return [one for _, one in iter_records(path, Prediction)]


def test_lines_without_a_checksum_are_read_and_so_are_those_with_blanks_around_it(tmp_path: Path) -> None:
    path = write(tmp_path, prediction("q1"))
    sealed = path.read_bytes()
    fields = json.loads(sealed)
    del fields["xxh3"]
    for line in (
        json.dumps(fields).encode() + b"\n",
        sealed.replace(b',"xxh3":', b', "xxh3": '),
        sealed[:-1] + b"\r\n",
    ):
        path.write_bytes(line)
        assert read_run(tmp_path)[1] == [prediction("q1")]


def test_a_record_that_was_changed_is_told(tmp_path: Path) -> None:
    write(tmp_path, prediction("q1"))
    path = tmp_path / "run.json"
    path.write_bytes(path.read_bytes().replace(b"lexical", b"lexicon"))
    for read in (lambda: read_run(tmp_path), lambda: open_run(tmp_path, RUN).__enter__()):
        with pytest.raises(DatasetError, match=r"run\.json is damaged: .* begin the run anew in another folder"):
            read()


@pytest.mark.parametrize("line", [b"{}", b"nothing", b'{"example": "q", "scope": "page"}', b"\xff\xfe"])
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = write(tmp_path, prediction("q1"), prediction("q2"))
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(DatasetError, match=r"predictions\.jsonl, line 3, "):
        read_run(tmp_path)
    with pytest.raises(DatasetError, match=r"predictions\.jsonl, line 3, "):
        open_run(tmp_path, RUN).__enter__()


def test_a_folder_that_holds_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no run\.json"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_text('{"format": 2}')
    with pytest.raises(DatasetError, match=r"not a run that this version reads: format"):
        read_run(tmp_path)


def test_predictions_of_unknown_origin_are_not_appended_to(tmp_path: Path) -> None:
    (tmp_path / "predictions.jsonl").write_text("mine\n")
    with pytest.raises(DatasetError, match=r"without run\.json"):
        open_run(tmp_path, RUN).__enter__()
    assert (tmp_path / "predictions.jsonl").read_text() == "mine\n"


def test_a_disk_that_refuses_leaves_whole_lines(tmp_path: Path) -> None:
    path = write(tmp_path, prediction("q1"))
    whole = path.read_bytes()
    with open_run(tmp_path, RUN) as run:
        with no_file_above(len(whole) + 50), pytest.raises(StorageError, match="cannot write"):
            run.append(prediction("q2"))
        assert path.read_bytes() == whole
        assert not run.is_done("q2", "collection")
        run.append(prediction("q3"))
    assert read_run(tmp_path)[1] == [prediction("q1"), prediction("q3")]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot begin a run"):
        open_run(tmp_path / "file" / "run", RUN).__enter__()


def test_files_as_people_have_them_are_read(tmp_path: Path) -> None:
    """With a byte order mark, packed whatever they are called, and with half of a character in them."""
    line = prediction("q1").model_dump_json().encode().replace(b"line", b"l\\ud83dne")
    for name, content in (
        ("bom.jsonl", b"\xef\xbb\xbf" + line),
        ("packed.jsonl", gzip.compress(line)),
        ("plain.jsonl.gz", line),
    ):
        (tmp_path / name).write_bytes(content)
        ((number, found),) = iter_records(tmp_path / name, Prediction)
        assert (number, found.example, found.hits[0].quote.text[:4]) == (1, "q1", "l?ne")


def test_lines_are_put_in_the_order_of_the_questions_and_none_is_lost(tmp_path: Path) -> None:
    said = [("b", "e1"), ("c", None), ("x", None), ("b", None), ("a", None)]
    with open_run(tmp_path, RunRecord(configuration={})) as writer:
        for example, error in said:
            writer.append(Prediction(example=example, error=error))
        sort_predictions(tmp_path, ["a", "b", "c"])
        sort_predictions(tmp_path, ["a", "b", "c"])
    kept = [json.loads(line) for line in (tmp_path / "predictions.jsonl").read_text().splitlines()]
    assert [(one["example"], one["error"]) for one in kept] == [
        *[("a", None), ("b", "e1"), ("b", None), ("c", None), ("x", None)]
    ]
    assert [prediction.error for prediction in read_run(tmp_path)[1]] == [None] * 4
