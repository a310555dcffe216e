"""Replies of a splitter: lists however they are wrapped, and none that leaves out what the answer says."""

import asyncio
import json

import pytest

from quoteweave.core.errors import EndpointBadResponse
from quoteweave.core.protocols import CitedSentence
from quoteweave.evaluation.judges.chat import UnreadableReply
from quoteweave.evaluation.judges.evidence_judge import ChatSplitter, read_sentences
from quoteweave.testing import FakeChat

ANSWER = "Calls rose in May [1]. They fell in June, as Figure 3a shows [2]."
ROWS = [
    {"sentence": "Calls rose in May.", "sources": ["1"]},
    {"sentence": "They fell in June, as Figure 3a shows.", "sources": ["2", "Fig. 3a", "2"]},
]
SPLIT = [
    CitedSentence(text="Calls rose in May.", cited=("1",), written=("1",)),
    CitedSentence(
        text="They fell in June, as Figure 3a shows.", cited=("2", "Figure 3"), written=("2", "Fig. 3a", "2")
    ),
]


@pytest.mark.parametrize("wrapped", ["{}", "```json\n{}\n```", "<think>[1] or [2]?</think>\nHere it is:\n{}\nDone."])
def test_a_list_is_read_whatever_stands_around_it(wrapped: str) -> None:
    assert read_sentences(wrapped.replace("{}", json.dumps(ROWS)), ANSWER) == SPLIT


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I cannot.", "no whole JSON array"),
        (json.dumps(ROWS)[:-9], "no whole JSON array"),
        ('[{"text": "Calls rose in May."}]', "0.sentence"),
        (json.dumps(ROWS[:1]), "leaves out 7 words of the answer, such as 'they'"),
        ("[]", "leaves out"),
    ],
)
def test_what_cannot_be_trusted_is_refused(reply: str, said: str) -> None:
    with pytest.raises(UnreadableReply, match=said):
        read_sentences(reply, ANSWER)


def test_names_of_pictures_may_stand_among_the_sources_alone() -> None:
    answer = "Coal rose (Table 1). Wool fell (Table 1, Figures 2 and 3)."
    rows: list[dict[str, object]] = [
        {"sentence": "Coal rose.", "sources": ["Table 1"]},
        {"sentence": "Wool fell.", "sources": ["Table 1", "Figure 2", "Figure 3"]},
    ]
    first, second = read_sentences(json.dumps(rows), answer)
    assert (first.text, second.text, second.cited) == ("Coal rose.", "Wool fell.", ("Table 1", "Figure 2", "Figure 3"))
    lost = [{**row, "sources": []} for row in rows]
    with pytest.raises(UnreadableReply, match="leaves out 4 words of the answer, such as 'table'"):
        read_sentences(json.dumps(lost), answer)


def test_a_bad_reply_is_asked_for_once_more_then_the_response_is_not_split() -> None:
    model = FakeChat(["No.", json.dumps(ROWS)])
    assert asyncio.run(ChatSplitter(model).split(ANSWER)) == SPLIT
    assert "no whole JSON array" in str(model.requests[1][-1]["content"])
    with pytest.raises(EndpointBadResponse, match="did not split the response"):
        asyncio.run(ChatSplitter(FakeChat(["No.", "Nor now."])).split(ANSWER))
