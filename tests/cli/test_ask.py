"""`quoteweave ask` with the extractive generator, and with a chat model over real HTTP."""

import base64
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import lxml.html
import pytest
import typer
from command_line import Outcome, Quoteweave, configured
from made_collections import made_quote, stored_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer, Context
from quoteweave.generation.extractive.generator import NOTHING_FOUND
from quoteweave.testing import ModelServer, Reply

CHART_QUESTION = "How many vessel calls did the port receive in 2023, and how did the quarters compare?"
MODEL_ANSWER = "Calls [bold]rose[/bold] [1] in all \x1b[31mquarters\x07. ![calls by quarter](image1)"


@pytest.fixture
def port(tmp_path: Path) -> Path:
    documents = {"[bold]x[/].md": [made_quote("Grain is stored in [red]silos[/red] of steel.")]}
    return stored_collection(tmp_path, documents)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda _: Reply(text=MODEL_ANSWER)) as running:
        yield running


def answer_of(outcome: Outcome) -> tuple[Answer, Context]:
    value = outcome.json()
    context = value.pop("context")
    del value["trace"]
    return Answer.model_validate(value), Context.model_validate(context)


def test_json_is_the_answer_and_its_context(quoteweave: Quoteweave, sample_collection: Path) -> None:
    got = quoteweave("ask", CHART_QUESTION, "-c", sample_collection, "--json")
    assert (got.code, got.err) == (0, "")
    assert list(got.json()) == [
        *["question", "status", "text", "blocks", "citations", "unresolved", "raw", "model", "usage", "price_usd"],
        "seconds",
        "warnings",
        "context",
        "trace",
    ]
    assert list(got.json()["context"]) == [
        "texts", "images", "rarity", "variety", "places", "spellings", "synonyms", "introduced", "sentence_ends",
        "cut_sections", "titles", "front_matter", "structure",
    ]  # fmt: skip
    said = re.split(r"\W+", quoteweave("ask", "--help").out.partition("context: ")[2])
    assert set(said) >= set(got.json()["context"])
    answer, context = answer_of(got)
    assert (answer.status, answer.model, answer.unresolved) == ("answered", "extractive", ())
    assert "1,058 vessel calls" in answer.text
    assert {citation.kind for citation in answer.citations} == {"text", "image"}
    for citation in answer.citations:
        quote = context.quote(citation.kind, citation.number)
        assert quote is not None
        assert (quote.id, quote.page, quote.document) == (citation.quote_id, 2, "harbour-report.pdf")


def test_people_see_the_answer_and_where_each_mark_leads(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("ask", "What are the silos for grain made of?", "-c", port)
    assert got.code == 0
    assert "Grain is stored in [red]silos[/red] of steel [1]." in got.out
    assert re.search(r"^\[1\] +\[bold\]x\[/\]\.md, page 1  \w+:0:0$", got.out, re.MULTILINE)


def test_a_question_is_kept_as_it_was_asked(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    question = "Is [bold]grain[/bold] stored in <script>silos</script>?"
    got = quoteweave("ask", question, "-c", port, "--json", "--html", tmp_path / "a.html")
    assert got.json()["question"] == question
    assert "<script>silos" not in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize("question", ["Who was Napoleon's tailor?", "the of and"])
def test_an_abstention_is_an_answer(question: str, quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("ask", question, "-c", port, "--json")
    assert (got.code, got.err) == (0, "")
    answer, _ = answer_of(got)
    assert (answer.status, answer.citations) == ("abstained", ())


def test_options_narrow_what_the_answer_rests_on(quoteweave: Quoteweave, sample_collection: Path) -> None:
    narrow = ("--doc", "harbour-report.pdf", "--pages", "4-5", "--json")
    _, context = answer_of(quoteweave("ask", CHART_QUESTION, "-c", sample_collection, *narrow))
    assert {(hit.quote.document, hit.quote.page) for hit in context.hits} <= {
        ("harbour-report.pdf", 3),
        ("harbour-report.pdf", 4),
    }
    assert context.texts
    got = quoteweave("ask", CHART_QUESTION, "-c", sample_collection, "--doc", "harbour.pdf", "--json")
    assert (got.code, got.out) == (2, "")
    assert "did you mean 'harbour-report.pdf'?" in got.err


def test_html_is_one_self_contained_file(quoteweave: Quoteweave, sample_collection: Path, tmp_path: Path) -> None:
    target = tmp_path / "new folder" / "answer.html"
    got = quoteweave("ask", CHART_QUESTION, "-c", sample_collection, "--html", target)
    assert (got.code, got.err) == (0, f"\n{target}\n")
    page = lxml.html.fromstring(target.read_bytes())
    links = [link for _, _, link, _ in page.iterlinks()]
    assert any(link.startswith("data:image/") for link in links)
    assert [link for link in links if not link.startswith(("data:", "#"))] == []
    code = " ".join(str(element.text) for element in page.iter("script", "style"))
    assert not re.search(r"https?:|@import|url\((?!['\"]?(?:data:|#))", code)
    assert "1,058 vessel calls" in page.text_content()


def test_the_page_has_the_notes_of_the_search(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    got = quoteweave("ask", "grain?", "-c", port, "--pages", "77", "--html", tmp_path / "a.html")
    told = "No quote passes the filter, so that nothing was searched."
    assert f"note: {told}" in got.err
    assert told in (tmp_path / "a.html").read_text()


def test_open_writes_a_page_and_opens_it(
    quoteweave: Quoteweave, port: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    launched: list[str] = []
    monkeypatch.setattr(typer, "launch", launched.append)
    assert quoteweave("ask", "grain?", "-c", port, "--open", "--json").json()["question"] == "grain?"
    quoteweave("ask", "grain?", "-c", port, "--open", "--html", tmp_path / "own.html")
    assert "grain?" in Path(launched[0]).read_text()
    assert launched[1:] == [str(tmp_path / "own.html")]


def test_a_page_that_cannot_be_written_does_not_cost_the_answer(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("ask", "Where is grain stored?", "-c", port, "--html", port)
    assert got.code == 1
    assert "silos" in got.out
    assert got.err.startswith(f"error: {port} cannot be written")


def test_a_model_is_asked_and_sees_the_pictures(
    quoteweave: Quoteweave, sample_collection: Path, server: ModelServer
) -> None:
    asked = ("--model", "m", "--base-url", server.base_url, "--api-key", "a secret key", "--json")
    got = quoteweave("ask", CHART_QUESTION, "-c", sample_collection, *asked)
    assert got.code == 0
    host, unless = urlsplit(server.base_url).netloc, "unless they are about different things"
    assert got.err == f"sending the question and the quotes found to {host}, {unless}\n"
    answer, context = answer_of(got)
    assert (answer.text, answer.model, answer.usage.input_tokens) == (MODEL_ANSWER, "m", 1)
    assert answer.unresolved == ()
    assert [(citation.kind, citation.number) for citation in answer.citations] == [("text", 1), ("image", 1)]
    assert server.headers[0]["authorization"] == "Bearer a secret key"
    parts = server.requests[0]["messages"][-1]["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    keys = [hit.quote.image for hit in context.images if hit.quote.image]
    with Collection.open(sample_collection) as collection:
        crops = [collection.images.path(key).read_bytes() for key in keys]
    assert [base64.b64decode(url.partition(",")[2]) for url in urls] == crops
    assert len(crops) > 0
    assert CHART_QUESTION in json.dumps(parts)
    assert "a secret key" not in got.out + got.err


def test_without_images_the_model_gets_words_alone(
    quoteweave: Quoteweave, sample_collection: Path, server: ModelServer
) -> None:
    quoteweave(
        *("ask", CHART_QUESTION, "-c", sample_collection),
        *("--model", "m", "--base-url", server.base_url, "--no-images"),
    )
    content = server.requests[0]["messages"][-1]["content"]
    assert isinstance(content, str)
    assert "Vessel calls by quarter" in content


def test_what_a_model_says_is_printed_as_it_is_but_cannot_steer_the_terminal(
    quoteweave: Quoteweave, port: Path, server: ModelServer
) -> None:
    got = quoteweave("ask", "grain?", "-c", port, "--model", "m", "--base-url", server.base_url)
    assert "Calls [bold]rose[/bold] [1] in all [31mquarters." in got.out
    assert "\x1b" not in got.out


def test_the_environment_may_name_the_model(
    quoteweave: Quoteweave, port: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUOTEWEAVE_MODEL", "from the environment")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    assert quoteweave("ask", "grain?", "-c", port, "--json").json()["model"] == "from the environment"
    assert len(server.requests) == 1


def test_prompts_of_one_s_own_are_used(quoteweave: Quoteweave, port: Path, server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "cited_answer_system.txt").write_text("Answer in verse. Else say: $abstention")
    asked = ("--model", "m", "--base-url", server.base_url, *configured(tmp_path, prompts=tmp_path))
    assert quoteweave("ask", "grain?", "-c", port, *asked).code == 0
    assert server.requests[0]["messages"][0]["content"].startswith("Answer in verse.")


def test_nothing_is_sent_for_a_question_that_finds_nothing(
    quoteweave: Quoteweave, port: Path, server: ModelServer
) -> None:
    asked = ("--model", "m", "--base-url", server.base_url, "--json")
    answer, _ = answer_of(quoteweave("ask", "zeppelins?", "-c", port, *asked))
    assert (answer.status, server.requests) == ("abstained", [])


def test_wrong_use_is_told_before_anything_is_sent(
    quoteweave: Quoteweave, port: Path, server: ModelServer, tmp_path: Path
) -> None:
    config = configured(tmp_path, prompts="none")
    asked = ("--model", "m", "--base-url", server.base_url)
    for wrong in (("--pages", "x"), ("--doc", "none"), ("--retriever", "none"), ("--setting", "default"), config):
        got = quoteweave("ask", "grain?", "-c", port, *asked, *wrong)
        assert (got.code, got.out) == (2, "")
    assert server.requests == []


def test_a_wrong_key_is_told_without_showing_it(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer([Reply(status=401, text="Incorrect API key: sk-very-secret \x1b[2J")]) as server:
        asked = ("--model", "m", "--base-url", server.base_url, "--api-key", "sk-very-secret")
        got = quoteweave("ask", "grain?", "-c", port, *asked, "--json")
    assert (got.code, got.out) == (1, "")
    assert f"error: {server.base_url} answered 401" in got.err
    assert "check the API key" in got.err
    assert "sk-very-secret" not in got.err
    assert "\x1b" not in got.err


def test_a_server_that_is_not_there_is_told(quoteweave: Quoteweave, port: Path) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"
        got = quoteweave("ask", "grain?", "-c", port, "--model", "m", "--base-url", address, "--json")
    assert (got.code, got.out) == (1, "")
    assert f"error: No answer from {address}" in got.err


def test_where_the_server_is_not_there_a_fallback_answers_and_says_so(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"
        asked = ("--model", "m", "--base-url", address, *configured(tmp_path, retries=0), "--fallback", "extractive")
        answer, _ = answer_of(quoteweave("ask", "grain?", "-c", port, *asked, "--json"))
    assert answer.model == "extractive"
    assert f"without it: No answer from {address}" in answer.warnings[0]


def test_a_model_is_not_asked_what_the_documents_are_not_about(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    question = "Which volcano of Iceland erupted on the grain?"
    with ModelServer([Reply(text="None [1].")]) as server:
        asked = ("ask", question, "-c", port, "--model", "m", "--base-url", server.base_url, "--json")
        answer, _ = answer_of(quoteweave(*asked))
        assert (answer.status, answer.text, server.requests) == ("abstained", NOTHING_FOUND, [])
        answer, _ = answer_of(quoteweave(*asked, *configured(tmp_path, check_topic=False)))
    assert (answer.text, len(server.requests)) == ("None [1].", 1)


def test_a_picture_is_named_where_it_cannot_be_shown(quoteweave: Quoteweave, sample_collection: Path) -> None:
    told = quoteweave("ask", "What do the bars of Figure 2 compare?", "-c", sample_collection)
    assert "[image1: " in told.out
    assert "](image1)" not in told.out


@pytest.mark.parametrize(
    "address", ["localhost:8000", "ftp://localhost", "http://", "http://a\x01b/v1", "http://\udcff/v1", "http://☃/v1"]
)
def test_an_address_that_is_none(address: str, quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("ask", "grain?", "-c", port, "--model", "m", "--base-url", address)
    assert (got.code, got.out) == (2, "")
    assert "is no base URL" in got.err


def test_a_model_without_key_or_address(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("ask", "grain?", "-c", port, "--model", "m")
    assert (got.code, got.out) == (2, "")
    assert "OPENAI_BASE_URL" in got.err
