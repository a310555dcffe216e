"""Answers to judge, and what a scripted judge says of them."""

import json
from collections.abc import Mapping, Sequence

from builders import make_quote

from quoteweave.core.answers import Context
from quoteweave.core.chat.completions import Completion
from quoteweave.core.examples import Example, Prediction, Reference
from quoteweave.core.records import Hit, Kind, Layout, Query
from quoteweave.evaluation.judges.judgements import ASPECTS


def judge_reply(score: int = 4, **changed: int) -> str:
    """A judge's reply: the same score for each criterion, but for those changed."""
    return f"It reads well.\n{json.dumps({**dict.fromkeys(ASPECTS, score), **changed})}"


def made_hit(kind: Kind, text: str, *, image: str | None = None, page_label: str = "7") -> Hit:
    layout: Layout = "paragraph" if kind == "text" else "chart"
    quote = make_quote(text, id=text[:5], page=6, page_label=page_label, bbox=(0, 0, 0, 0), layout=layout, image=image)
    return Hit(rank=1, score=1, quote=quote)


CONTEXT = Context(
    texts=(made_hit("text", "Calls rose in 2023."), made_hit("text", "Grain is stored in silos.")),
    images=(made_hit("image", "Q1 250, Q2 270", image="a/calls.jpg"),),
)


def made_pair(
    name: str = "q1", response: str | None = "They rose [1].", *, error: str | None = None, gold: str | None = "Up."
) -> tuple[Prediction, Example]:
    prediction = Prediction(example=name, scope="context", response=response, error=error)
    reference = Reference(answer=gold, short_answer="short")
    query = Query(text=f"Did calls rise, {name}?")
    return prediction, Example(id=name, query=query, context=CONTEXT, reference=reference)


class Judging:
    """A ChatModel whose replies are by the question that is in what it is sent; it counts how many are asked at once.

    `replies` holds for a question's name what is said of it, in turn; of any other question, a whole judgement.
    """

    name = "judge"

    def __init__(self, replies: Mapping[str, Sequence[str | Exception]] = {}) -> None:
        self.asked: list[str] = []
        self.busy = self.most_busy = 0
        self._replies = {name: list(question_replies) for name, question_replies in replies.items()}

    def request_settings(self) -> Mapping[str, object]:
        return {}

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        import asyncio

        question = str(messages[0]["content"]).partition("Did calls rise, ")[2].partition("?")[0]
        self.asked.append(question)
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        await asyncio.sleep(0)
        self.busy -= 1
        reply = self._replies[question].pop(0) if question in self._replies else judge_reply()
        if isinstance(reply, Exception):
            raise reply
        return Completion(text=reply, model="judge-2026")
