"""`quoteweave eval errors` over CiteME: searches that named a wrong paper are looked through by their steps."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import NamedPaper, PaperSearch, Prediction, SearchStep
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.evaluation.judges.error_judge import SEARCH_ERROR_KINDS, answer_hash
from quoteweave.testing import ModelServer, Reply

NAMES = [kind.name for kind in SEARCH_ERROR_KINDS]
ARXIV = "https://arxiv.org/abs/1701.00001"
TABLE = "id,excerpt,target_paper_title,target_paper_url\n" + "".join(
    f"{name},Of {name} [CITATION].,Deep {name},{ARXIV}\n" for name in ("blur", "noise", "snow", "fog", "rain")
)


def searched(name: str, selected: str, **identifiers: str) -> Prediction:
    chosen = NamedPaper(title=selected, identifiers=identifiers)
    steps = (
        SearchStep(action="search_relevance", argument=f"{name} in nets", rationale="So.", papers=(chosen,)),
        SearchStep(action="read", argument="x", problem="not_open_access"),
        SearchStep(action="select", argument="y", papers=(chosen,)),
    )
    search = PaperSearch(outcome="selected", selected=chosen, steps=steps)
    return Prediction(example=name, response=selected, paper_search=search)


WRONG = (
    searched("blur", "Shallow Learning"),
    Prediction(
        example="noise",
        response="",
        paper_search=PaperSearch(outcome="no_selection", steps=(SearchStep(action="read"),)),
    ),
)
PREDICTIONS = (
    *WRONG,
    searched("snow", "Deep Snow"),
    searched("fog", "Under Another Title", arxiv="1701.00001"),
    Prediction(example="rain", error="bad_format: prose", paper_search=PaperSearch(outcome="bad_format")),
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "DATASET.csv"
    path.write_text(TABLE)
    return path


def errors(table: Path, *options: object, predictions: tuple[Prediction, ...] = PREDICTIONS) -> Result:
    run = table.with_name("run")
    if not run.exists():
        with open_run(run, RunRecord(configuration={"dataset": "citeme"})) as opened:
            for prediction in predictions:
                opened.append(prediction)
    named = ["eval", "errors", run, "--dataset", "citeme", "--references", table, *options]
    return CliRunner().invoke(app, list(map(str, named)))


def script(request: Mapping[str, Any]) -> Reply:
    found = "misread_excerpt" if "Of blur" in str(request["messages"]) else "stopped_early"
    return Reply(text=json.dumps({name: int(name == found) for name in NAMES}))


def test_wrong_papers_alone_are_looked_through_and_compared_with_people(table: Path) -> None:
    people = table.with_name("labels.jsonl")
    said = (("blur", ["misread_excerpt"]), ("noise", ["stopped_at_citing_paper"]))
    lines = [
        {"example": name, "answer": answer_hash(prediction), "kinds": kinds}
        for (name, kinds), prediction in zip(said, WRONG, strict=True)
    ]
    write_json_lines(people, lines)
    with ModelServer(script) as server:
        asked = ["--model", "j", "--base-url", server.base_url, "--labels", people, "--json"]
        result = errors(table, *asked)
        requests = [str(request["messages"][0]["content"]) for request in server.requests]
    assert result.exit_code == 0, (result.output, result.exception)
    assert len(requests) == 2
    (shown,) = (text for text in requests if "Of blur" in text)
    for line in ("Deep blur", "1. search_relevance: blur in nets", "rationale: So.", "showed: Shallow Learning"):
        assert f"    {line}" in shown
    assert "problem: not_open_access" in shown
    assert "stopped_at_citing_paper: " in shown
    told = json.loads(result.stdout)
    assert told["judge"]["total"]["kinds"] == {"misread_excerpt": 1, "stopped_early": 1, "stopped_at_citing_paper": 0}
    assert told["people"]["total"]["kinds"]["stopped_at_citing_paper"] == 1
    assert told["agreement"]["n"] == 2
    exact = {name: told["agreement"]["figures"][f"{name}.exact"]["value"] for name in NAMES}
    assert exact == {"misread_excerpt": 1.0, "stopped_early": 0.5, "stopped_at_citing_paper": 0.5}


def test_texts_that_are_cut_for_the_judge_are_counted(table: Path) -> None:
    steps = (SearchStep(action="search_relevance", argument="x", rationale="So. " * 200), SearchStep(action="read"))
    search = PaperSearch(outcome="no_selection", steps=steps)
    long = Prediction(example="blur", response="", paper_search=search)
    with ModelServer(script) as server:
        result = errors(table, "--model", "j", "--base-url", server.base_url, predictions=(long,))
    assert "\n1 text of a search is cut to 600 characters where the judge sees them\n" in result.stderr


def test_people_see_the_steps_on_the_page(table: Path) -> None:
    page = table.with_name("errors.html")
    result = errors(table, "--page", page)
    assert result.exit_code == 0, (result.output, result.exception)
    text = page.read_text()
    assert "1. search_relevance: blur in nets" in text
    assert "misread_excerpt" in text
    assert "Deep Snow" not in text


def test_a_long_search_is_shown_to_its_end(table: Path) -> None:
    step = SearchStep(action="search_relevance", argument="x", papers=(NamedPaper(title="Long " * 100),) * 10)
    search = PaperSearch(outcome="selected", selected=NamedPaper(title="The End"), steps=(step,) * 15)
    wrong = Prediction(example="blur", response="The End", paper_search=search)
    page = table.with_name("errors.html")
    assert errors(table, "--page", page, predictions=(wrong,)).exit_code == 0
    assert "ended: selected: The End" in page.read_text()


def test_labels_of_another_search_for_the_same_paper_are_refused(table: Path) -> None:
    other = searched("noise", "Shallow Learning").model_copy(update={"example": "blur"})
    people = table.with_name("labels.jsonl")
    people.write_text(json.dumps({"example": "blur", "answer": answer_hash(other), "kinds": []}) + "\n")
    assert "is of another answer than this run's" in str(errors(table, "--labels", people).exception)


def test_a_run_without_a_wrong_paper_has_no_errors_to_look_for(table: Path) -> None:
    result = errors(table, "--page", table.with_name("x.html"), predictions=PREDICTIONS[2:])
    assert isinstance(result.exception, DatasetError)
    assert "names a wrong paper, so that there is no error to look for" in str(result.exception)


def test_where_the_judge_fails_on_all_the_reasons_are_told_and_no_counts_of_nothing(table: Path) -> None:
    with ModelServer(lambda _: Reply(text="I cannot say.")) as server:
        result = errors(table, "--model", "j", "--base-url", server.base_url)
    assert result.exit_code == 1
    assert "of 0 answers" not in result.stdout
    assert "blur" in result.stderr
