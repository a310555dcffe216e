"""`quoteweave eval trajectories`: what it says of saved searches, and the pages that it writes."""

import asyncio
import json
from pathlib import Path

import pytest
from made_sources import MadeSource
from typer.testing import CliRunner, Result

from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.literature.sources.papers import Paper, PublicationDate
from quoteweave.attribution.literature.sources.unseen import HidingRule
from quoteweave.cli.app import app
from quoteweave.core.errors import EndpointUnreachable
from quoteweave.testing.fakes import FakeChat

TABLE = (
    "id,excerpt,target_paper_title,target_paper_url,source_paper_title,source_paper_url,year,split\n"
    "2,Blur hurts [CITATION].,Deep Blur,,Our Paper,,2020,test\n"
    "10,Noise helps [CITATION].,Loud Noise in Networks,,Our Paper,,2020,test\n"
    "11,Blur is bad [CITATION].,Deep Blur,,Our Paper,,2020,test\n"
)
PAPERS = (
    Paper(id="b", title="Deep Blur", published=PublicationDate(year=2017)),
    Paper(id="n", title="Loud Noise in Networks\n\x1b[31m", published=PublicationDate(year=2018)),
    Paper(id="l", title="Later Blur", published=PublicationDate(year=2022)),
)
RULE = HidingRule(before=PublicationDate(year=2020))


def does(name: str, **fields: str) -> str:
    return json.dumps({"rationale": "So.", "action": {"name": name, **fields}})


SEARCH = does("search_relevance", query="blur")


def save(path: Path, id: str, *script: str | Exception, rule: HidingRule = RULE) -> None:
    agent = CiteAgent(FakeChat(script), MadeSource(PAPERS))
    asyncio.run(agent.find("Blur hurts [CITATION].", id=id, rule=rule, saved=path))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with one right selection, one wrong one, and one search that its endpoint broke off."""
    folder = tmp_path / "run" / "trajectories"
    save(folder / "10.jsonl", "10", SEARCH, does("select", paper_id="b"))
    save(folder / "2.jsonl", "2", SEARCH, does("select", paper_id="b"))
    save(folder / "11.jsonl", "11", SEARCH, EndpointUnreachable("gone"))
    (tmp_path / "DATASET.csv").write_text(TABLE)
    return tmp_path / "run"


def review(run: Path, *options: object) -> Result:
    return CliRunner().invoke(app, ["eval", "trajectories", str(run), *map(str, options)])


def test_each_search_is_told_with_where_it_went_wrong(run: Path) -> None:
    result = review(run, "--references", run.parent / "DATASET.csv")

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "2  selected, right, 2 actions: Deep Blur",
        "10  selected, wrong, 2 actions: Deep Blur",
        "  The paper cited was shown in step 1, at rank 2, and not selected.",
        "11  endpoint, 1 action",  # no wrong answer
        "  The paper cited was shown in step 1, at rank 1, and not selected.",
        "  The model's endpoint failed.",
        "3 trajectories: 2 selected, 1 endpoint",
        "1 of 2 selected the paper cited, by its title",
        "0 leaks",
    ]


def test_json_has_the_same_and_pages_are_written(run: Path) -> None:
    result = review(run, "--references", run.parent / "DATASET.csv", "--html", run / "pages", "--json")

    found = json.loads(result.stdout)
    assert [(one["id"], one["correct"], one["outcome"]) for one in found["trajectories"]] == [
        ("2", True, "selected"),
        ("10", False, "selected"),
        ("11", None, "endpoint"),
    ]
    assert found["leaks"] == 0
    assert [one["page"] for one in found["trajectories"]] == [str(run / "pages" / f"{n}.html") for n in (2, 10, 11)]
    assert "Where it went wrong" in (run / "pages" / "10.html").read_text("utf-8")


def test_a_leak_is_named_and_gives_exit_code_1(run: Path) -> None:
    leaking = run / "trajectories" / "12.jsonl"
    save(leaking, "12", SEARCH, does("select", paper_id="n"), rule=HidingRule())
    lines = leaking.read_text("utf-8").splitlines(keepends=True)
    setup = json.loads(lines[0])
    del setup["xxh3"]  # the line is changed on purpose
    setup["setup"]["rule"] = RULE.model_dump(mode="json")
    leaking.write_text(json.dumps(setup) + "\n" + "".join(lines[1:]), "utf-8")

    result = review(run)

    assert result.exit_code == 1
    assert (
        "12  selected, 2 actions: Loud Noise in Networks [31m\n" in result.stdout
    )  # neither a second line nor a colour
    assert "  leak: step 1: “Later Blur”, published 2022 was shown (later than it)\n" in result.stdout
    assert result.stdout.endswith("\n1 leak\n")


def test_a_folder_of_trajectories_itself_is_read_and_one_without_any_is_refused(run: Path) -> None:
    assert review(run / "trajectories").exit_code == 0
    refused = review(run.parent / "nothing")
    assert refused.exit_code != 0
    assert "holds no trajectories" in str(refused.exception)


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_reviewed(run: Path) -> None:
    (run / "trajectories" / "3.jsonl").write_text("")
    (run / "trajectories" / "4.jsonl").write_text('{"line": "step"}\n')
    result = review(run)
    assert result.exit_code == 1, "what cannot be read may hold leaks"
    lines = result.stdout.splitlines()
    assert lines[1].startswith("3  cannot be read: ")
    assert "4.jsonl, line 1" in lines[2]
    assert "5 trajectories: 2 selected, 2 not readable, 1 endpoint" in lines
    found = json.loads(review(run, "--json").stdout)["trajectories"]
    assert [one["id"] for one in found if one["unreadable"]] == ["3", "4"]


def test_the_dataset_is_one_that_asks_for_papers(run: Path) -> None:
    assert review(run, "--dataset", "citeme", "--references", run.parent / "DATASET.csv").exit_code == 0
    assert "asks for no paper" in str(review(run, "--dataset", "alce-asqa").exception)
