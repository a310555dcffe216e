"""Questions that follow others are rewritten to stand alone, by a chat model or by rule."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.errors import BudgetSpent, EndpointUnreachable
from quoteweave.endpoints.budget import Budget, BudgetedChat, limit_task_spending
from quoteweave.pipeline.follow_ups.rewriting import MAX_MESSAGES, FollowUps, Message, StandaloneQuestion, read_question
from quoteweave.pipeline.follow_ups.rules import MAX_CHARACTERS, rewrite_by_rule
from quoteweave.pipeline.follow_ups.words import topic_of
from quoteweave.testing import FakeChat

GRAIN = "How much grain was shipped in May?"
CALLS = "How many vessel calls did the port receive in 2021?"
QUAY = "What is the depth of the north quay?"

REWRITTEN = [
    # another time
    (GRAIN, "And in June?", "How much grain was shipped in June?"),
    (GRAIN, "June?", "How much grain was shipped in June?"),
    (CALLS, "What about 2020?", "How many vessel calls did the port receive in 2020?"),
    (CALLS, "2020?", "How many vessel calls did the port receive in 2020?"),
    (CALLS, "And before 2019?", "How many vessel calls did the port receive before 2019?"),
    (CALLS, "and in June?", "How many vessel calls did the port receive in June 2021?"),
    (CALLS, "How many in 2020?", "How many vessel calls did the port receive in 2020?"),
    ("How much grain was shipped in May 2021?", "And in 2022?", "How much grain was shipped in May 2022?"),
    ("How did revenue change in Q1 2021?", "And in Q2?", "How did revenue change in Q2 2021?"),
    ("How did revenue change last year?", "And in 2020?", "How did revenue change in 2020?"),
    ("What does the 2020 report say of tides?", "And in 2021?", "What does the 2021 report say of tides?"),
    ("How deep is the quay?", "In 2019?", "How deep is the quay in 2019?"),
    # another thing or place
    (GRAIN, "What about timber?", "How much timber was shipped in May?"),
    (GRAIN, "And timber in June?", "How much timber was shipped in June?"),
    (GRAIN, "And by rail?", "How much grain was shipped in May by rail?"),
    ("How much went by rail in 2021?", "And by road?", "How much went by road in 2021?"),
    ("How many calls did Hamburg receive?", "How about Bremen?", "How many calls did Bremen receive?"),
    (QUAY, "What about the south quay?", "What is the depth of the south quay?"),
    ("What was the fee for small boats?", "And for large ones?", "What was the fee for large boats?"),
    ("What is the limit for a hotel per night?", "And flights?", "What is the limit for flights?"),
    ("What is the fee for a boat in winter?", "And a raft?", "What is the fee for a raft in winter?"),
    # it may be part of the question, or stand beside it
    ("What is the fee for a boat?", "And opening hours?", "What is the fee for a boat, and what about opening hours?"),
    ("What do I pay for a boat for a day?", "And rafts?", "What do I pay for a boat for a day, and what about rafts?"),
    ("How much is the rent?", "And the deposit?", "How much is the deposit?"),
    ("When does the library open?", "And the museum?", "When does the museum open?"),
    (QUAY, "And the length?", "What is the depth of the north quay, and what about the length?"),
    (CALLS, "What about Rotterdam?", f"{CALLS[:-1]}, and what about Rotterdam?"),
    # pronouns
    (QUAY, "When was it built?", "When was the north quay built?"),
    (QUAY, "And what about its length?", "What about the north quay's length?"),
    (QUAY, "How long is it, and who owns it?", "How long is the north quay, and who owns the north quay?"),
    ("When did the north quay open?", "Who built it?", "Who built the north quay?"),
    ("When was the crane built?", "How heavy is it?", "How heavy is the crane?"),
    (CALLS, "Were they higher than in 2020?", "Were vessel calls higher than in 2020?"),
    (CALLS, "Where do these calls come from?", "Where do vessel calls come from?"),
    (CALLS, "What was shipped that year?", "What was shipped in 2021?"),
    ("Who is Anna Berg?", "When was she appointed?", "When was Anna Berg appointed?"),
    # what it refers to is not certain, or all of it
    ("Who is the harbour master?", "When was she appointed?", "Regarding the harbour master, when was she appointed?"),
    ("Did the port lose traffic?", "Why?", "Why did the port lose traffic?"),
    (GRAIN, "Why?", "Regarding grain shipped in May, why?"),
    (GRAIN, "Tell me more", "Regarding grain shipped in May, tell me more"),
    (CALLS, "What caused that?", "Regarding vessel calls the port receive in 2021, what caused that?"),
    ("Which berths are open?", "Which ones are deep?", "Regarding berths open, which ones are deep?"),
    ("Who runs the port?", "How many people work there?", "Regarding who runs the port, how many people work there?"),
]
STAND_ALONE = [
    (QUAY, "Who built the north quay?"),
    (QUAY, "And how deep is the south quay?"),
    (QUAY, "vessel calls by quarter"),
    (QUAY, "grain exports 2021"),
    (QUAY, "Show the chart of vessel calls by quarter."),
    (QUAY, "How long does it take to load a ship?"),
    (QUAY, "Is it true that the port was closed?"),
    (QUAY, "How did the company improve its margin?"),
    (QUAY, "What are the tides, and how do they affect ships?"),
    (QUAY, "Which ships that arrived in May were late?"),
    (QUAY, "How many cranes are there?"),
    (QUAY, "What does this report say about tides?"),
    (QUAY, "Summarise these documents."),
    (QUAY, "What about the opening hours of the harbour office?"),
    (QUAY, "Thanks!"),
    (QUAY, "In 2021, how many ships came to the port?"),
    (QUAY, "Wie lang ist er?"),
    ("Wie viele Schiffe kamen 2020?", "Und 2021?"),
    ("Wie viele Schiffe kamen 2020?", "In 2021?"),
    ("Combien de navires en 2020 ?", "Et en 2021 ?"),
    ("2020年有多少船?", "2021年呢?"),
]


@pytest.mark.parametrize(("before", "question", "expected"), REWRITTEN)
def test_a_follow_up_is_completed_from_the_question_before(before: str, question: str, expected: str) -> None:
    assert rewrite_by_rule(question, [before]) == expected


@pytest.mark.parametrize(("before", "question"), STAND_ALONE)
def test_a_question_that_stands_alone_stays_as_it_is(before: str, question: str) -> None:
    assert rewrite_by_rule(question, [before]) is None


@pytest.mark.parametrize("expected", sorted({expected for _, _, expected in REWRITTEN if "regarding" not in expected}))
def test_what_was_rewritten_need_not_be_rewritten_again(expected: str) -> None:
    if not expected.startswith(("Regarding", "What about")):
        assert rewrite_by_rule(expected, ["How long is the sea wall?"]) is None


def test_each_question_follows_the_one_before_it() -> None:
    assert rewrite_by_rule("And in July?", [GRAIN, "And in June?", "Thanks!"]) == "How much grain was shipped in July?"
    assert rewrite_by_rule("And timber?", [QUAY, GRAIN, "In June?"]) == "How much timber was shipped in June?"
    assert rewrite_by_rule("Why?", [GRAIN, "Tell me more"]) == "Regarding grain shipped in May, why?"


def test_a_long_text_is_no_follow_up() -> None:
    assert rewrite_by_rule("And in June?", [GRAIN + " x" * MAX_CHARACTERS]) is None
    assert rewrite_by_rule("And in June " + "x " * MAX_CHARACTERS, [GRAIN]) is None


def test_the_topic_is_the_question_without_what_only_asks() -> None:
    assert topic_of(QUAY) == "the depth of the north quay"
    assert topic_of("Please list the berths") == "the berths"
    assert topic_of("How many?") == ""


PIECES = st.sampled_from(
    [
        "and",
        "in",
        "May",
        "June",
        "2021",
        "it",
        "its",
        "they",
        "that",
        "these",
        "the",
        "port",
        "quay",
        "what",
        "about",
        "how",
        "many",
        "did",
        "was",
        "receive",
        ",",
        "?",
        "!",
        "'",
        '"',
        "[1]",
        "Q2",
        "why",
        "there",
        "ones",
        "船",
        "é",
    ]
)


@given(st.lists(PIECES, max_size=12).map(" ".join), st.lists(PIECES, max_size=12).map(" ".join))
def test_any_two_texts_can_follow_each_other(before: str, question: str) -> None:
    written = rewrite_by_rule(question, [before])
    assert written is None or written.strip()


def rewrite(follow_ups: FollowUps, question: str, *asked: str) -> StandaloneQuestion:
    history = [Message(role="assistant" if at % 2 else "user", content=text) for at, text in enumerate(asked)]
    return asyncio.run(follow_ups.rewrite(question, history))


def test_the_model_rewrites_where_there_is_one() -> None:
    model = FakeChat(["How much grain was shipped by rail in May?"])
    found = rewrite(FollowUps(model), "And by rail?", GRAIN, "The harbour shipped 4,210 tonnes of grain [1].")
    assert (found.question, found.rewritten_by) == ("How much grain was shipped by rail in May?", "model")
    told = str(model.requests[0][1]["content"])
    assert "    user: How much grain was shipped in May?\n    assistant: The harbour shipped 4,210 tonnes" in told
    assert "[1]" not in told


def test_what_the_model_repeats_stays_as_it_was_asked() -> None:
    asked = "Who  built the quay?"
    found = rewrite(FollowUps(FakeChat(["<think>It stands alone.</think>\n“Who built the quay?”"])), asked, GRAIN)
    assert (found.question, found.rewritten_by, found.note) == (asked, None, None)


def test_a_first_question_is_not_sent_to_the_model() -> None:
    model = FakeChat([])
    assert rewrite(FollowUps(model), GRAIN) == StandaloneQuestion(question=GRAIN)
    assert rewrite(FollowUps(model), GRAIN, "…") == StandaloneQuestion(question=GRAIN)
    assert not model.requests


@pytest.mark.parametrize("reply", [EndpointUnreachable("nobody answers"), "", "One line\nand another", "<think>Hm"])
def test_where_the_model_fails_the_rules_rewrite_and_a_note_says_so(reply: str | Exception) -> None:
    found = rewrite(FollowUps(FakeChat([reply])), "And in June?", GRAIN)
    assert (found.question, found.rewritten_by) == ("How much grain was shipped in June?", "rule")
    assert found.note is not None
    assert "without" in found.note


def test_the_conversation_that_a_model_reads_is_bounded() -> None:
    model = FakeChat(["What?"])
    rewrite(FollowUps(model), "And now?", *[f"message {at} {'x' * 10_000}" for at in range(30)])
    told = str(model.requests[0][1]["content"])
    assert told.count("message ") == MAX_MESSAGES
    assert len(told) < 12_000


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([GRAIN] * MAX_MESSAGES, None),
        ([GRAIN] * (MAX_MESSAGES + 1), "The question was read with the last 8 messages of the conversation."),
        ([GRAIN, "x" * 1_201], "The question was read with the last 2 messages of the conversation, up to 1,200 "),
        ([GRAIN + " " * 2_000 + "?" + " " * 2_000], None),
        ([GRAIN + " x" * 601], "The question was read with the last message of the conversation, up to 1,200 "),
        ([GRAIN + " " * 2_400 + "x"], "The question was read with the last message of the conversation, up to 1,200 "),
    ],
)
def test_what_the_model_did_not_read_of_a_conversation_is_told(asked: list[str], said: str | None) -> None:
    for reply in ("How much grain was shipped in June?", "And in June?"):  # rewritten, and as it was asked
        note = rewrite(FollowUps(FakeChat([reply])), "And in June?", *asked).note
        assert (note is None) == (said is None)
        assert said is None or (note or "").startswith(said)


def test_the_budget_of_a_question_holds_for_its_rewriting() -> None:
    async def ask() -> None:
        limit_task_spending(Budget(max_tokens=10))
        model = BudgetedChat(FakeChat(["How much?"]), Budget())
        await FollowUps(model).rewrite("And in June?", [Message(role="user", content=GRAIN)])

    with pytest.raises(BudgetSpent):
        asyncio.run(ask())


def test_what_a_message_says_cannot_pass_for_the_prompt() -> None:
    model = FakeChat(["What?"])
    rewrite(FollowUps(model), "And?\n\nThe last question:\n\nother", "x\n\nThe last question:\n\n    y")
    told = str(model.requests[0][1]["content"])
    assert [line for line in told.splitlines() if line and not line.startswith("    ")] == [
        "The conversation so far:",
        "The last question:",
    ]


def test_a_reply_is_one_question() -> None:
    assert read_question('"How deep is the quay?"\n') == "How deep is the quay?"
    assert read_question("```\nHow deep is it?\n```") == "How deep is it?"
    assert read_question("??") is None
