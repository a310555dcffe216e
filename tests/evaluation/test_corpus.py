"""Counts of a dataset and of a collection: questions, quotes, words, and where gold stands."""

from pathlib import Path

import pytest
from builders import make_quote
from made_report import questions

from quoteweave.core.records import Document, Quote
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.report.corpus import (
    CorpusStatistics,
    collection_statistics,
    corpus_tables,
    dataset_statistics,
    every_place,
)
from quoteweave.evaluation.report.writing import write_statistics


def document(name: str, pages: int) -> Document:
    return Document(id=name, name=name, content="0", format="pdf", parser="p", pages=pages, quotes=0)


def collection() -> CorpusStatistics:
    one = [
        make_quote("three words here"),
        make_quote("a header", layout="header"),
        make_quote("", kind="image", ocr_text="read by OCR", vlm_text="A chart of four."),
    ]
    other = [make_quote("one"), make_quote("x | y", layout="table"), make_quote("", kind="image")]
    return collection_statistics("mine", [(document("a.pdf", 3), one), (document("b.pdf", 5), other)])


def test_a_collection_is_counted_without_headers_and_footers() -> None:
    found = collection()
    assert found.counts == {
        **{"documents": 2, "pages": 8, "text quotes": 2, "image quotes": 3},
        **{"quotes of layout paragraph": 2, "quotes of layout figure": 2, "quotes of layout table": 1},
    }
    values = {name: list(one.values) for name, one in found.distributions.items() if not name.startswith("tokens")}
    assert values == {
        "pages per document": [3, 5],
        "words per document": [3, 4],
        "text quotes per document": [1, 1],
        "image quotes per document": [1, 2],
        "words per text quote": [3, 1],
        "words per image quote, its own text": [3],
        "words per image quote, OCR text": [3],
        "words per image quote, VLM text": [4],
    }
    assert found.distributions["pages per document"].summary() == {
        **{"n": 2, "total": 8, "mean": 4, "median": 4, "greatest": 5}
    }


def test_a_dataset_is_counted_by_what_is_known_of_its_questions(tmp_path: Path) -> None:
    found = dataset_statistics("mmdocrag-20", load_dataset("mmdocrag-20", questions(tmp_path)))
    # Three questions over three documents, each with 12 candidate texts and 8 images.
    assert found.counts == {
        **{"questions": 3, "documents": 3, "gold text quotes": 2, "gold image quotes": 3},
        **{"text quotes": 36, "image quotes": 24},
    }
    assert found.groups["gold_quotes"] == {"1": 1, "2": 2}
    assert found.groups["evidence"] == {"chart": 3, "text": 3}
    assert found.groups["question_type"] == {"Causal": 3}
    assert found.gold_at == {"text1": 1, "text2": 1, "image1": 2, "image2": 1}
    assert list(found.distributions["gold quotes per question"].values) == [2, 2, 1]
    assert found.distributions["words per image quote, VLM text"].summary()["mean"] == 2


def test_places_without_gold_are_drawn_too() -> None:
    assert every_place({"image2": 1, "text3": 2}) == {"text1": 0, "text2": 0, "text3": 2, "image1": 0, "image2": 1}


def test_tables_tell_shares_of_all_questions(tmp_path: Path) -> None:
    found = dataset_statistics("mmdocrag-20", load_dataset("mmdocrag-20", questions(tmp_path)))
    tables = {table.title: table for table in corpus_tables(found)}
    rows = tables["Questions by number of gold quotes"].rows
    assert [[cell.text for cell in row] for row in rows] == [["1", "1", "33.3"], ["2", "2", "66.7"]]


def test_an_empty_collection_has_counts_and_no_plots(tmp_path: Path) -> None:
    found = collection_statistics("empty", [])
    assert (found.counts, dict(found.distributions)) == ({"documents": 0, "pages": 0}, {})
    assert [path.name for path in write_statistics([found], tmp_path)] == ["report.html", "report.md", "statistics.csv"]


def test_a_report_has_the_plots_of_both(tmp_path: Path) -> None:
    dataset = dataset_statistics("mmdocrag-20", load_dataset("mmdocrag-20", questions(tmp_path)))
    files = {
        str(path.relative_to(tmp_path / "out")) for path in write_statistics([dataset, collection()], tmp_path / "out")
    }
    assert {"plots/1-gold-by-place.svg", "plots/1-questions-by-domain.pdf", "plots/1-words-per-quote.svg"} <= files
    assert {"plots/2-documents.svg", "plots/2-words-per-quote.pdf", "tables/statistics.csv"} <= files
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "#questions" not in page
    assert "(Figure" not in page
    assert "(MMDocRAG&#39;s Figure 5)" in page
    csv = (tmp_path / "out" / "tables" / "statistics.csv").read_text("utf-8")
    assert "mine,distribution,pages per document,median,4" in csv
    assert "mmdocrag-20,questions,gold at place,image1,2" in csv


@pytest.mark.parametrize("values", [[0.0], [0.0, 100_000.0]])
def test_histograms_of_few_and_of_far_apart_numbers_are_drawn(values: list[float], tmp_path: Path) -> None:
    pages: list[tuple[Document, list[Quote]]] = [
        (document(str(place), int(value)), []) for place, value in enumerate(values)
    ]
    files = write_statistics([collection_statistics("c", pages)], tmp_path)
    assert "documents.svg" in {path.name for path in files}
