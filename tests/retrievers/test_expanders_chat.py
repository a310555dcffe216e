"""Clauses written by a chat model: what is read from its reply, and what is done without one."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import EndpointRefused, EndpointUnreachable, UsageError
from quoteweave.core.protocols import Expander, Expansion
from quoteweave.core.records import Query
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.retrievers.expanders.chat import MAX_CLAUSE_CHARACTERS, ChatExpander, read_clauses
from quoteweave.testing import FakeChat, ModelServer, Reply

QUESTION = "How much more grain than timber came in 2023?"
GRAIN, TIMBER = "tonnes of grain in 2023", "How much timber came in 2023?"


def expand(reply: str | Exception, *, question: str = QUESTION, most: int = 4) -> Expansion:
    return asyncio.run(ChatExpander(FakeChat([reply]), most=most).expand(Query(text=question)))


def test_the_question_comes_first_and_then_the_clauses() -> None:
    assert expand(f"{GRAIN}\n{TIMBER}\n") == Expansion(clauses=(QUESTION, GRAIN, TIMBER))


@pytest.mark.parametrize(
    "reply",
    [
        f"1. {GRAIN}\n2. {TIMBER}",
        f"1) {GRAIN}\n\n2) {TIMBER}\n",
        f"(1) {GRAIN}\n(2) {TIMBER}",
        f"- {GRAIN}\n- {TIMBER}",
        f"  * **{GRAIN}**\n  * **{TIMBER}**",
        f"• “{GRAIN}”\n• “{TIMBER}”",
        f'"{GRAIN}"\n"{TIMBER}"',
        f"Clause 1: {GRAIN}\nClause 2: {TIMBER}",
        f"Here are the requests:\n\n{GRAIN}\n{TIMBER}",
        f"**Requests:**\n{GRAIN}\n{TIMBER}",
        f"Sure! I would search for:\n\n1. {GRAIN}\n2. {TIMBER}\n\nLet me know if you need more.",
        f'["{GRAIN}", "{TIMBER}"]',
        f'```json\n[\n  "{GRAIN}",\n  "{TIMBER}"\n]\n```',
        f'{{"clauses": ["{GRAIN}", "{TIMBER}"]}} That is all.',
        f'[\n"{GRAIN}",\n"{TIMBER}",\n]',  # not quite JSON
        f"```\n{GRAIN}\n{TIMBER}\n```",
        f"<think>\n1. no\n2. perhaps\n</think>\n{GRAIN}\n{TIMBER}",
        f"so I think…</think>{GRAIN}\n{TIMBER}",
        f"{GRAIN}\r\n{TIMBER}\r\n",
        f"{GRAIN}\n{TIMBER}\n{GRAIN}\n- \n...",
    ],
)
def test_replies_of_many_shapes_are_read(reply: str) -> None:
    assert expand(reply).clauses == (QUESTION, GRAIN, TIMBER)


def test_numbers_that_belong_to_a_clause_stay() -> None:
    assert read_clauses("2023 grain\n3.5 million tonnes\n12 vessels") == [
        "2023 grain",
        "3.5 million tonnes",
        "12 vessels",
    ]


def test_no_more_clauses_than_asked_for() -> None:
    reply = "\n".join(f"grain of {year}" for year in range(2000, 2040))
    assert expand(reply, most=3).clauses == (QUESTION, "grain of 2000", "grain of 2001", "grain of 2002")


def test_the_number_is_told_to_the_model_and_the_question_as_it_is() -> None:
    model = FakeChat([GRAIN])
    asyncio.run(ChatExpander(model, most=7).expand(Query(text="What is $most in {braces}?")))
    system, user = model.requests[0]
    assert "at most 7 requests" in str(system["content"])
    assert user == {"role": "user", "content": "Question: What is $most in {braces}?\n"}


def test_clauses_that_say_the_same_come_once() -> None:
    again = f"{QUESTION}\nHow much more grain than timber came, in 2023"
    reply = f"{again}\nGRAIN in tonnes\ngrains, in tonnes\ntonnes of grain"
    assert expand(reply).clauses == (QUESTION, "GRAIN in tonnes", "tonnes of grain")


def test_only_the_question_again_is_an_expansion_too() -> None:
    assert expand(QUESTION) == Expansion(clauses=(QUESTION,))


@pytest.mark.parametrize("error", [EndpointUnreachable("No answer."), EndpointRefused("Wrong key.")])
def test_a_model_that_fails_leaves_the_question_and_says_so(error: Exception) -> None:
    assert expand(error) == Expansion(clauses=(QUESTION,), note=f"The question was searched for alone: {error}")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n",
        "…\n!!!",
        "<think>still thinking",
        "[]",
        "[[[[",
        "[" * 100_000 + "]",
        "of the",
    ],
)
def test_a_reply_without_clauses_leaves_the_question_and_says_so(reply: str) -> None:
    got = expand(reply)
    assert got.clauses == (QUESTION,)
    assert got.note == "The question was searched for alone: fake wrote no clauses that can be searched for."


def test_a_clause_too_long_to_be_one_is_told() -> None:
    got = expand(f"{GRAIN}\n{'word ' * MAX_CLAUSE_CHARACTERS}\n{TIMBER}")
    assert got.clauses == (QUESTION, GRAIN, TIMBER)
    assert got.note == "1 clause of the model was not searched for, with more than 400 characters."
    alone = expand("word " * MAX_CLAUSE_CHARACTERS)
    assert alone.clauses == (QUESTION,)
    assert (alone.note or "").endswith(f"that can be searched for. {got.note}")


@pytest.mark.parametrize("question", ["", " \n", "?!"])
def test_a_question_without_words_is_not_sent(question: str) -> None:
    assert expand(AssertionError("asked"), question=question) == Expansion(clauses=(question,))


@pytest.mark.parametrize("question", ["東京の人口は？", "Население города?", "grain " * 10_000])
def test_questions_of_any_script_and_length_are_kept_as_they_are(question: str) -> None:
    assert expand(GRAIN, question=question).clauses == (question, GRAIN)


@given(st.text(), st.integers(1, 5))
def test_whatever_a_model_says_the_question_stays_and_clauses_are_few(reply: str, most: int) -> None:
    clauses = expand(reply, most=most).clauses
    assert clauses[0] == QUESTION
    assert len(set(clauses)) == len(clauses) <= 1 + most


def test_own_prompts_and_those_that_lack_a_field(tmp_path: Path) -> None:
    (tmp_path / "expand_user.txt").write_text("Frage: $question", "utf-8")
    model = FakeChat([GRAIN])
    expander: Expander = ChatExpander(model, prompts_folder=tmp_path)
    asyncio.run(expander.expand(Query(text="Wie viel?")))
    assert model.requests[0][1]["content"] == "Frage: Wie viel?"
    (tmp_path / "expand_system.txt").write_text("Write clauses.", "utf-8")
    with pytest.raises(UsageError, match=r"expand_system\.txt: \$most is missing"):
        asyncio.run(ChatExpander(model, prompts_folder=tmp_path).expand(Query(text=QUESTION)))


def test_it_is_named_after_its_model_and_wants_a_clause() -> None:
    assert ChatExpander(FakeChat([], name="qwen")).name == "chat:qwen"
    with pytest.raises(UsageError, match="at most 0"):
        ChatExpander(FakeChat([]), most=0)


def test_over_http() -> None:
    with ModelServer([Reply(text=f"1. {GRAIN}"), Reply(status=401, text="no")]) as server:
        expander = ChatExpander(OpenAIChat("m", base_url=server.base_url, api_key="secret-key"))
        assert asyncio.run(expander.expand(Query(text=QUESTION))).clauses == (QUESTION, GRAIN)
        refused = asyncio.run(expander.expand(Query(text=QUESTION)))
    assert refused.clauses == (QUESTION,)
    assert "401" in (refused.note or "")


def test_a_completion_that_was_cut_short_is_used_as_far_as_it_goes() -> None:
    cut = Completion(text=f"{GRAIN}\nHow much tim", model="fake", finish_reason="length")
    got = asyncio.run(ChatExpander(FakeChat([cut])).expand(Query(text=QUESTION)))
    assert got.clauses == (QUESTION, GRAIN, "How much tim")
