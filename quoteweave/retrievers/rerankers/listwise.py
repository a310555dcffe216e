"""Listwise reranking by a chat model, one window of passages at a time (RankGPT, arXiv 2304.09542, section 3)."""

from collections.abc import Sequence
from pathlib import Path

from quoteweave.core.chat.prompts import load_prompt
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.protocols import ChatModel, Reranking
from quoteweave.core.records import Hit, Query
from quoteweave.retrievers.rerankers import cut_note, keep_order, passage_text, reorder_by_scores

# Text that cannot be part of an order, and numbers in brackets: [2], [2, 1], JSON.
_BETWEEN = lazy_regex(r"[^\d\[\]>,;\s\"']+")
_MARK = lazy_regex(r"\[[\d\s,;\"']++\]")
_NUMBER = lazy_regex(r"\d++")


MAX_QUOTED_REPLY = 80  # characters of a reply quoted in a note


class ListwiseReranker:
    """Implements `core.protocols.Reranker`; question and passages, each cut to `max_characters`, are sent to the model.

    Of more than `window` passages the last ones are ordered first; then the window moves towards the first by `step`,
    taking its best passages along (section 3.2). Passages that the model leaves out follow those that it names, in
    their old order. An answer that is no order changes nothing. A note says so, or that passages were cut. Scores are
    1, 1/2, 1/3… `prompts_folder` may hold its own `rerank_system.txt` and `rerank_user.txt` (fields: `$question`,
    `$passages`, `$count`).
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        window: int = 20,
        step: int = 10,
        max_characters: int = 1500,
        prompts_folder: Path | None = None,
    ) -> None:
        if not 1 <= step <= window:
            raise ValueError(f"a step of {step} leaves passages out of windows of {window}, or never ends")
        self._model = model
        self._window, self._step, self._max_characters = window, step, max_characters
        self._system_prompt = load_prompt("rerank_system", prompts_folder)
        self._user_prompt = load_prompt("rerank_user", prompts_folder)

    @property
    def name(self) -> str:
        """The chat model's name."""
        return self._model.name

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        """All hits, best first. Raises EndpointError when the model fails, UsageError for prompts of other fields."""
        if not query.text.strip():
            return keep_order(hits)
        order, unread = list(hits), list[str]()
        for begin in [*range(len(order) - self._window, 0, -self._step), 0]:
            end = begin + self._window
            order[begin:end] = await self._sorted(query, order[begin:end], unread)
        ranked = reorder_by_scores(order, [1 / rank for rank in range(1, len(order) + 1)])
        cut = cut_note(self.name, (passage_text(hit.quote) for hit in hits), self._max_characters)
        return Reranking(hits=ranked, note=self._note(unread[0]) if unread else cut)

    def _note(self, answer: str) -> str:
        text = " ".join(answer.split())
        cut = f"{text[:MAX_QUOTED_REPLY]}…" if len(text) > MAX_QUOTED_REPLY else text
        return f"{self.name} gave no order that can be read, so quotes stay as they were found: it wrote {cut!r}"

    async def _sorted(self, query: Query, hits: list[Hit], unread: list[str]) -> list[Hit]:
        """Return the hits in the model's order; a reply without one leaves them unchanged and is added to `unread`."""
        if len(hits) < 2:
            return hits
        passages = [f"[{number}]\n{self._shown(hit)}" for number, hit in enumerate(hits, 1)]
        fields = {"question": query.text, "passages": "\n\n".join(passages), "count": str(len(hits))}
        completion = await self._model.complete(
            [
                {"role": "system", "content": self._system_prompt.render({})},
                {"role": "user", "content": self._user_prompt.render(fields)},
            ]
        )
        positions = read_order(completion.text, len(hits))
        if not positions:
            unread.append(completion.text)
        return [hits[i] for i in dict.fromkeys([*positions, *range(len(hits))])]

    def _shown(self, hit: Hit) -> str:
        words = passage_text(hit.quote)
        if len(words) > self._max_characters:
            words = f"{words[: self._max_characters]}…"
        # Only the prompt's own lines begin at the margin, so that no document can forge a passage of the list.
        return "\n".join(f"    {line}" for line in words.splitlines()) or "    (no words)"


def read_order(answer: str, count: int) -> list[int]:
    """Parse an order from a reply that names passages from 1; return positions from 0, empty where there is none.

    Tried in turn are: the longest of "[2] > [1]" and "2 > 1"; all numbers in brackets, as in "[2], [1]" and in JSON;
    the longest list such as "2, 1", or a reply that is a number alone.
    """
    text = answer.rpartition("</think>")[2]
    if text.lstrip().startswith("<think>"):  # its reasoning never ended
        return []
    pieces = _BETWEEN.split(text)
    numbers = max((_numbers(piece) for piece in pieces if ">" in piece), key=len, default=[])
    if len(numbers) < 2:
        numbers = _numbers(" ".join(_MARK.findall(text)))
    if not numbers:
        numbers = max(map(_numbers, pieces), key=len)
        if len(numbers) < 2 and not text.strip().isdecimal():
            return []
    passage_numbers = (int(number) for number in numbers if len(number) <= 6)
    return list(dict.fromkeys(number - 1 for number in passage_numbers if 1 <= number <= count))


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(" ".join(_MARK.findall(text)) or text)
