"""BEIR folders and TREC qrels become examples with graded items."""

import gzip
import json
from pathlib import Path

import pytest
from builders import write_json_lines

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.datasets.beir import iter_corpus

HEADER = "query-id\tcorpus-id\tscore\n"
QUERIES = [
    {"_id": "q1", "text": "Does it rain?", "metadata": {}},
    {"_id": 2, "text": "Why?"},
    {"_id": "q3", "text": "?"},
]


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    write_json_lines(tmp_path / "queries.jsonl", QUERIES)
    (tmp_path / "qrels" / "test.tsv").write_text(f"{HEADER}2\td 9\t2\n2\td8\t0\nq1\td9\t1\n")
    return tmp_path


def test_a_folder_gives_its_judged_queries_with_grades(beir: Path) -> None:
    second, first = load_dataset("beir", beir)
    assert (second.id, second.query.text, second.reference.relevant) == ("2", "Why?", {"d 9": 2, "d8": 0})
    assert (first.id, first.query.text, first.reference.relevant) == ("q1", "Does it rain?", {"d9": 1})


def test_the_split_is_test_or_the_only_one_or_the_one_that_is_named(beir: Path) -> None:
    dev = beir / "qrels" / "dev.tsv"
    dev.write_text(f"{HEADER}q3\td1\t1\n")
    assert [example.id for example in load_dataset("beir", beir)] == ["2", "q1"]
    assert [example.id for example in load_dataset("beir", dev)] == ["q3"]
    (beir / "qrels" / "test.tsv").unlink()
    assert [example.id for example in load_dataset("beir", beir)] == ["q3"]
    dev.rename(beir / "qrels" / "train.tsv").with_name("dev.tsv").write_text(HEADER)
    with pytest.raises(DatasetError, match=r"holds dev\.tsv, train\.tsv, and no test\.tsv; name the file"):
        load_dataset("beir", beir)


def test_compressed_files_are_read_as_they_are(beir: Path) -> None:
    plain = load_dataset("beir", beir)
    for path in (beir / "queries.jsonl", beir / "qrels" / "test.tsv"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert load_dataset("beir", beir) == plain


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_trec_qrels_have_four_columns_and_no_header(separator: str, tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(
        "".join(separator.join(line) + "\n" for line in (("301", "0", "FR-1", "1"), ("301", "0", "FR-2", "-2")))
    )
    (example,) = load_dataset("trec", path)
    assert (example.id, example.query.text, example.reference.relevant) == ("301", "", {"FR-1": 1, "FR-2": -2})


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (f"{HEADER}q1\td1\thigh\n", r"line 2, score: 'high' is no whole number$"),
        (f"{HEADER}q1\td1\n", r"line 2 has not the 3 columns query-id, corpus-id, score: 'q1\\td1'$"),
        (f"{HEADER}q1\td1\t1\nq1\td1\t2\n", r"line 3: 'd1' has two grades for query 'q1', 1 and 2"),
        (f"{HEADER}q1\td1\t1\nq1\td", r"line 3 has not .*the file may be cut short: get it anew"),
        ("1 0 d1 1\n1 0 d2\n", r"line 2 has not the 4 columns query, iteration, item, grade: '1 0 d2'"),
        ("1 0 d1 x\n", r"line 1, grade: 'x' is no whole number"),
        ("prose\n", r"line 1 has not the 4 columns"),
    ],
)
def test_what_cannot_be_read_is_named(lines: str, told: str, beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text(lines)
    with pytest.raises(DatasetError, match=rf"test\.tsv, {told}"):
        load_dataset("beir", beir)


def test_an_item_that_is_graded_twice_the_same_is_one(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 d 1\n1 0 d 1\n")
    assert load_dataset("trec", tmp_path / "qrels")[0].reference.relevant == {"d": 1}


def test_what_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"1 0 \xff 1\n")
    with pytest.raises(DatasetError, match=r"line 1 is no text in UTF-8"):
        load_dataset("trec", tmp_path / "qrels")


def test_what_is_missing_is_told(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text(f"{HEADER}q9\td1\t1\nq1\td1\t1\n")
    with pytest.raises(DatasetError, match=r"judges 1 query that .*queries\.jsonl lacks, such as 'q9'"):
        load_dataset("beir", beir)
    (beir / "queries.jsonl").write_text('{"_id": "q1", "text": "?"}\n{"_id": "q1", "text": "!"}\n')
    with pytest.raises(DatasetError, match=r"queries\.jsonl, line 2, _id: 'q1' is there already"):
        load_dataset("beir", beir)
    (beir / "queries.jsonl").write_text('{"_id": "q1"}\n')
    with pytest.raises(DatasetError, match=r"queries\.jsonl, line 1, text: Field required"):
        load_dataset("beir", beir)
    (beir / "queries.jsonl").unlink()
    with pytest.raises(
        DatasetError, match=r"no queries\.jsonl in .*; name a folder of BEIR's form, or give qrels alone"
    ):
        load_dataset("beir", beir)
    (beir / "qrels" / "test.tsv").unlink()
    with pytest.raises(DatasetError, match=r"no qrels/\*\.tsv in"):
        load_dataset("beir", beir)


def test_a_corpus_is_read_passage_by_passage_and_its_faults_are_named(tmp_path: Path) -> None:
    rows = [{"_id": "d1", "title": "Rain", "text": "It rains.", "metadata": {}}, {"_id": 2, "text": "Why?"}]
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode()))
    assert [(one.id, one.title, one.text) for one in iter_corpus(tmp_path)] == [
        ("d1", "Rain", "It rains."),
        ("2", "", "Why?"),
    ]
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}\n')
    with pytest.raises(DatasetError, match=r"corpus\.jsonl, line 2, _id: 'a' is on line 1 already"):
        list(iter_corpus(tmp_path))
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a"}\n')
    with pytest.raises(DatasetError, match=r"corpus\.jsonl, line 1, text: Field required"):
        list(iter_corpus(tmp_path))
    with pytest.raises(DatasetError, match=r"no corpus\.jsonl in"):
        list(iter_corpus(tmp_path / "nowhere"))
