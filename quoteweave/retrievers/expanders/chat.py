"""Expand a question by a chat model into clauses for one piece of evidence each (MMDocRAG, 2505.16470, section 4.8)."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from quoteweave.core.chat.prompts import load_prompt
from quoteweave.core.errors import EndpointError, UsageError, note_text
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import ChatModel, Expansion
from quoteweave.core.records import Filter, Query
from quoteweave.core.text.tokens import words

# Longest clause that is searched for, in characters; anything longer is mostly other text of the model.
MAX_CLAUSE_CHARACTERS = 400

_ITEM = lazy_regex(r"(?:[-*•‣–]|\(?\d{1,2}[.):]|(?:clause|query|question|request)\s*\d{1,2}\s*[.):])\s+", re.IGNORECASE)
# Stripped from a clause: spaces, quotation marks, emphasis, and the commas of a list that is not valid JSON.
_AROUND = " \t,;\"'“”„«»`*_"


class ChatExpander:
    """Implements `core.protocols.Expander`: the question itself, then at most `most` clauses written by a chat model.

    The paper does not state whether the question itself is searched for too; here it always is, so that a bad clause
    can add quotes but lose none. `prompts_folder` may hold its own `expand_system.txt` (field: `$most`) and
    `expand_user.txt` (field: `$question`). Raises UsageError when the prompts cannot be read, or for `most` below 1.
    """

    def __init__(self, model: ChatModel, *, most: int = 4, prompts_folder: Path | None = None) -> None:
        if most < 1:
            raise UsageError(f"a question cannot be expanded by at most {most} clauses; ask for one or more")
        self.model = model
        self.system_prompt = load_prompt("expand_system", prompts_folder)
        self.user_prompt = load_prompt("expand_user", prompts_folder)
        self._most = most

    @property
    def name(self) -> str:
        """The name that traces and runs record."""
        return f"chat:{self.model.name}"

    async def expand(self, query: Query, *, where: Filter | None = None) -> Expansion:  # noqa: ARG002
        """Return the question and the model's clauses; the question alone, with a note, if there are none.

        A question without words is not sent. Raises UsageError when a prompt does not have the right fields.
        """
        if not words(query.text, keep_stop_words=True):
            return Expansion(clauses=(query.text,))
        system = self.system_prompt.render({"most": str(self._most)})
        user = self.user_prompt.render({"question": query.text})
        try:
            completion = await self.model.complete(
                [{"role": "system", "content": system}, {"role": "user", "content": user}]
            )
        except EndpointError as error:
            note = note_text(f"The question was searched for alone: {error.summary}", remedy=error.remedy)
            return Expansion(clauses=(query.text,), note=note)
        written = read_clauses(completion.text)
        clauses = [clause for clause in written if len(clause) <= MAX_CLAUSE_CHARACTERS]
        too_long = _note_on_long(len(written) - len(clauses))
        if not clauses:
            alone = f"The question was searched for alone: {self.model.name} wrote no clauses that can be searched for."
            return Expansion(clauses=(query.text,), note=" ".join(filter(None, [alone, too_long])))
        return Expansion(clauses=_distinct([query.text, *clauses])[: 1 + self._most], note=too_long)


def read_clauses(text: str) -> list[str]:
    """Parse the clauses from a model's reply: a JSON list of strings, the items of a list, or else its lines.

    Reasoning, code fences, headings that end in a colon and the text around a list are ignored, as are clauses without
    words to search for.
    """
    before, closed, after = text.partition("</think>")
    answer = after if closed else "" if before.lstrip().startswith("<think>") else before
    parts = _json_list(answer) or _lines(answer)
    clauses = [" ".join(clause.strip(_AROUND).split()) for clause in parts]
    return [clause for clause in clauses if words(clause)]


def _note_on_long(count: int) -> str | None:
    if not count:
        return None
    clauses = pluralize(count, "clause of the model was", "clauses of the model were")
    return f"{clauses} not searched for, with more than {MAX_CLAUSE_CHARACTERS} characters."


def _json_list(text: str) -> list[str]:
    try:
        entries = json.loads(text[text.index("[") : text.rindex("]") + 1])
    except (ValueError, RecursionError):
        return []
    return [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith("```")]
    list_items = [line[bullet.end() :] for line in lines if (bullet := _ITEM.match(line))]
    return list_items or [line for line in lines if not line.rstrip("*_ ").endswith(":")]


def _distinct(clauses: Sequence[str]) -> tuple[str, ...]:
    """The clauses without repetitions: of those with the same words in the same order, the first."""
    by_words: dict[tuple[str, ...], str] = {}
    for clause in clauses:
        by_words.setdefault(tuple(words(clause)), clause)
    return tuple(by_words.values())
