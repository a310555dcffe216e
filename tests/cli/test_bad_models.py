"""What commands report when a model gives bad answers: real commands, real HTTP, a clear outcome for each."""

import re
from collections.abc import Callable
from pathlib import Path

import lxml.html
import pytest
from command_line import Outcome, Quoteweave
from made_collections import made_quote, make_collection

from quoteweave.testing import ModelServer, Reply

QUESTION = "How much grain did the port receive in 2023, and where is grain stored?"
QUOTES = (
    "The port received 1,204.5 tonnes of grain in 2023, a share of 12.4 %.",
    "Grain is stored in silos of steel.",
    "The grain silos were built in 1987 by the harbour board.",
)
SENTENCE = "The port received 1,204.5 tonnes of grain [1]. "
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3)) <iframe src=//x></iframe>"
    "\x1b[2J\x1b]0;title\x07\x1b]8;;http://x\x07 \x9b31m \r grain [1]"
)
Ask = Callable[..., Outcome]


@pytest.fixture
def ask(quoteweave: Quoteweave, tmp_path: Path) -> Ask:
    make_collection(tmp_path, {"port.md": [made_quote(text) for text in QUOTES]}).close()

    def asking(reply: Reply, *options: object) -> Outcome:
        with ModelServer(lambda _: reply) as server:
            asked = ("--model", "m", "--base-url", server.base_url, *options)
            return quoteweave("ask", QUESTION, "-c", tmp_path / "collection", *asked)

    return asking


def test_a_model_that_never_cites_is_told_of_sentence_by_sentence(ask: Ask) -> None:
    text = "The port received 1,204.5 tonnes. It was a good year for everybody."
    got = ask(Reply(text=text))
    assert (got.code, text in got.out) == (0, True)
    assert "note: Nothing is cited for “The port received 1,204.5 tonnes.”." in got.err
    assert "a good year" not in got.err, "what says nothing that a quote could support needs none"
    answer = ask(Reply(text=text), "--json").json()
    assert (answer["status"], answer["citations"], len(answer["warnings"])) == ("answered", [], 1)


def test_a_model_that_cites_everything_has_what_does_not_bear_told_apart(ask: Ask) -> None:
    got = ask(Reply(text="The port received 1,204.5 tonnes [1][2][3]. In 1988 silos were built [1, 2, 3]."), "--json")
    assert got.code == 0
    verdicts: dict[int, list[str]] = {}
    for citation in got.json()["citations"]:
        verdicts.setdefault(citation["start"] // 45, []).append(citation["verdict"])
    first, second = verdicts.values()
    assert sorted(first) == ["supported", "unchecked", "unchecked"]
    assert second == ["unsupported"] * 3


def test_marks_of_no_quote_are_taken_out_and_told(ask: Ask) -> None:
    answer = ask(Reply(text="It received 1,204.5 tonnes [1][99]. ![map](image7)"), "--json").json()
    assert answer["text"] == "It received 1,204.5 tonnes [1]."
    assert {mark["number"] for mark in answer["unresolved"]} == {99, 7}
    assert "2 marks name a quote that was not given" in " ".join(answer["warnings"])


@pytest.mark.parametrize(
    "text",
    [
        "Der Hafen nahm 2023 insgesamt 1.204,5 Tonnen Getreide auf, das sind 12,4 % [1].",
        "该港在2023年接收了1,204.5吨谷物，占12.4%[1]。",
        "استقبل الميناء 1,204.5 طن من الحبوب في عام 2023 [1].",
    ],
)
def test_an_answer_in_another_language_is_an_answer_and_its_right_numbers_are_not_blamed(text: str, ask: Ask) -> None:
    got = ask(Reply(text=text), "--json")
    (citation,) = got.json()["citations"]
    assert (got.json()["status"], got.json()["text"]) == ("answered", text)
    assert (citation["mark"], citation["verdict"]) == ("[1]", "unchecked")


@pytest.mark.parametrize("sizes", [(16,), (5000,)])
def test_a_model_that_loops_to_its_limit_is_said_to_be_cut_short(sizes: tuple[int, ...], ask: Ask) -> None:
    text = (SENTENCE * 400)[:-30]
    got = ask(Reply(text=text, finish_reason="length", sizes=sizes))
    assert got.code == 0
    assert "note: The model reached its limit of tokens; the answer may be cut short." in got.err
    assert " ".join(got.out.split()).startswith(SENTENCE * 10)
    assert len(re.findall(r"^\[1\] +port\.md", got.out, re.MULTILINE)) == 1
    answer = ask(Reply(text=text, finish_reason="length"), "--json").json()
    assert (answer["text"], len(answer["citations"])) == (text, 399)


def test_hundreds_of_bad_sentences_are_told_of_in_a_few_lines(ask: Ask) -> None:
    text = " ".join(f"The port received {number} tonnes." for number in range(2000, 2300))
    assert len(ask(Reply(text=text)).err.splitlines()) < 20


def test_html_and_steering_is_text_on_the_terminal(ask: Ask) -> None:
    got = ask(Reply(text=HOSTILE))
    assert got.code == 0
    assert "<script>alert(1)</script>" in got.out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", got.out + got.err)


def test_html_is_text_on_the_page_and_json_keeps_it_as_it_came(ask: Ask, tmp_path: Path) -> None:
    got = ask(Reply(text=HOSTILE), "--json", "--html", tmp_path / "page.html")
    assert got.json()["text"] == HOSTILE
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", got.out)
    page = lxml.html.fromstring((tmp_path / "page.html").read_bytes())
    assert "<script>alert(1)</script>" in page.text_content()
    assert not page.xpath("//iframe | //img[@onerror] | //a[starts-with(@href, 'javascript')]")
    assert not [script for script in page.iter("script") if "alert" in (script.text or "")]


def test_a_model_that_declines_is_told_in_its_words(ask: Ask) -> None:
    got = ask(Reply(refusal="I will not talk about grain."), "--json")
    assert (got.code, got.out) == (1, "")
    assert "The model m declines to answer: I will not talk about grain." in got.err
