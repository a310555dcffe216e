"""CiteME: its table is read, its titles are matched as its authors match them, and its results are scored."""

import json
from pathlib import Path

import pytest

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Prediction
from quoteweave.evaluation import ScoringRequest, score
from quoteweave.evaluation.datasets.citeme import load_citeme
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.metrics.answers.title_match import TitleMatch
from quoteweave.evaluation.text.titles import last_line, published_title, ratio

HEADER = "id,excerpt,target_paper_title,target_paper_url,source_paper_title,source_paper_url,year,split\n"
ROWS = (
    '1,"Blur hurts, as [CITATION] ""showed"".\nIn two lines.",Deep Blur,http://x,Our Paper,http://y,2023,train\n'
    "2,People see well [CITATION].,Seeing[TITLE_SEPARATOR]Seeing Well,http://x,Our Paper,http://y,,test\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "DATASET.csv"
    path.write_text(HEADER + ROWS)
    return path


def test_excerpts_are_read_with_their_titles(table: Path) -> None:
    first, second = load_citeme(table)
    assert (first.id, first.query.text) == ("1", 'Blur hurts, as [CITATION] "showed".\nIn two lines.')
    assert (first.task, first.document, first.subset) == ("name_paper", "Our Paper", "train")
    assert (first.reference.short_answer, first.reference.alternatives) == ("Deep Blur", ())
    assert (second.reference.short_answer, second.reference.alternatives) == ("Seeing", ("Seeing Well",))
    assert (first.year, second.year, first.tags) == (2023, None, ())
    assert (first.address, first.reference.addresses) == ("http://y", ("http://x",))


@pytest.mark.parametrize(
    ("cell", "tags"),
    [('"Vision, Robustness,Vision"', ("Vision", "Robustness")), ('"a; b, c"', ("a", "b, c")), ("", ())],
)
def test_tags_and_years_of_a_table_with_gaps_are_read(tmp_path: Path, cell: str, tags: tuple[str, ...]) -> None:
    path = tmp_path / "DATASET.csv"
    path.write_text(f"id,excerpt,target_paper_title,year,tags\n1,x,T,2024.0,{cell}\n")
    (example,) = load_citeme(path)
    assert (example.year, example.tags) == (2024, tags)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,excerpt\n1,x\n", "no column target_paper_title"),
        (HEADER + "1,x,T,u,s,v,2023\n", "line 2: it has more or fewer columns"),
        (HEADER + "1,x,T,u,s,v,2023,train,more\n", "line 2: it has more or fewer columns"),
        (HEADER + "1,,T,u,s,v,2023,train\n", "line 2, excerpt"),
        (HEADER + "1,x,[TITLE_SEPARATOR],u,s,v,2023,train\n", "target_paper_title: it names no paper"),
        (HEADER + "1,x,T,u,s,v,2023,train\n" * 2, "line 3, id: '1' comes twice"),
        (HEADER + '1,"x,T,u,s,v,2023,train\n', "no row of a table"),
        (HEADER + "1,x,T,u,s,v,soon,train\n", "line 2, year"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_its_line_and_column(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "DATASET.csv"
    path.write_text(content)
    with pytest.raises(DatasetError, match=said):
        load_citeme(path)


# Ratios as Python's difflib gives them; above 0.8 the authors count the paper as found.
@pytest.mark.parametrize(
    ("response", "matches", "exact"),
    [
        ("Deep Blur", 1.0, 1.0),
        ("deep-blur.", 1.0, 1.0),
        ("Deep Blurs", 1.0, 0.0),
        ("Deep Learning", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_titles_match_by_ratio_or_are_equal(table: Path, response: str, matches: float, exact: float) -> None:
    example = load_citeme(table)[0]
    row = TitleMatch().row(Prediction(example="1", response=response), example)
    assert row == {"title_match": matches, "title_match.exact": exact, "identifier_match": None}


def test_a_ratio_of_exactly_four_fifths_is_no_match(table: Path) -> None:
    assert ratio("abcde", "abcdx") == 0.8
    example = load_citeme(table)[0]
    example = example.model_copy(update={"reference": example.reference.model_copy(update={"short_answer": "abcdx"})})
    assert TitleMatch().row(Prediction(example="1", response="abcde"), example)["title_match"] == 0.0


def test_any_of_several_titles_counts(table: Path) -> None:
    row = TitleMatch().row(Prediction(example="2", response="Seeing Well"), load_citeme(table)[1])
    assert row == {"title_match": 1.0, "title_match.exact": 1.0, "identifier_match": None}


@pytest.mark.parametrize(
    ("answer", "published", "strict"),
    [
        ("Based on the excerpt, it is: Deep Blur", "Deep Blur", "Based on the excerpt, it is: Deep Blur"),
        ("My guess: Deep: Blur", "Deep: Blur", "My guess: Deep: Blur"),
        ("The paper is\n\n**“Deep Blur”**", "The paper is\n\n**“Deep Blur”**", "Deep Blur"),
        ("Deep: Blur", "Deep: Blur", "Deep: Blur"),
        ("My Guess of it", "My Guess of it", "My Guess of it"),
    ],
)
def test_the_title_is_read_by_either_convention(answer: str, published: str, strict: str) -> None:
    assert published_title(answer) == published
    assert last_line(answer) == strict


def test_results_of_the_authors_code_are_scored(table: Path, tmp_path: Path) -> None:
    results = [
        {"id": 1, "selected": {"title": "Deep Blur", "paperId": "a"}, "is_correct": True, "status": "success",
         "error": None, "duration": 3.5, "tokens": {"input": 10, "output": 2}},
        {"id": 2, "selected": None, "is_correct": False, "status": "error", "error": "Invalid json output: Sure"},
    ]  # fmt: skip
    path = tmp_path / "few-shot.json"
    path.write_text(json.dumps({"metadata": {"model": "gpt-4o"}, "results": results}, indent=4))
    first, second = load_predictions(path)
    assert (first.response, first.model, first.seconds, first.usage.input_tokens) == ("Deep Blur", "gpt-4o", 3.5, 10)
    assert (second.response, second.error) == (None, "Invalid json output: Sure")
    strict, published = (
        score(ScoringRequest(run=path, dataset="citeme", references=table, convention=convention)).scores
        for convention in ("strict", "published")
    )
    assert (strict.figures["title_match"].value, strict.figures["title_match"].n) == (1.0, 1)
    assert (published.figures["title_match"].value, published.figures["title_match"].n) == (0.5, 2)
    assert "title_match: 1.0000 (n = 1) by the strict convention, 0.5000 (n = 2) by the published one" in strict.notes
    assert "1 technical error (1 bad_format), left out, not wrong" in strict.notes
    assert "1 technical error (1 bad_format), counted as wrong, as the authors' code does" in published.notes
    for scores in (strict, published):
        assert (scores.figures["technical_errors"].value, scores.figures["technical_errors"].n) == (0.5, 2)


def test_titles_that_the_conventions_read_apart_are_told_where_nothing_failed(table: Path, tmp_path: Path) -> None:
    said = {"1": "The paper is\n\nDeep Blur", "2": "Seeing"}
    path = tmp_path / "run.jsonl"
    path.write_text("".join(Prediction(example=n, response=one).model_dump_json() + "\n" for n, one in said.items()))
    notes = score(ScoringRequest(run=path, dataset="citeme", references=table)).scores.notes
    assert "title_match: 1.0000 (n = 2) by the strict convention, 0.5000 (n = 2) by the published one" in notes


def test_results_without_their_fields_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "few-shot.json"
    path.write_text(json.dumps({"metadata": {}, "results": [{"is_correct": True}]}, indent=4))
    with pytest.raises(DatasetError, match=r"results\.0\.id"):
        load_predictions(path)
