"""Split responses into sentences with their citations, by rule.

MCiteBench (arXiv 2503.02589, section 4) had a model do this. Scores that rest on the rule are named `…_by_rule`, and
are not comparable with published ones.
"""

import re
from collections.abc import Callable, Sequence

from quoteweave.core.protocols import CitedSentence
from quoteweave.evaluation.text.source_marks import SourceMark, cited_items, source_marks

_BEFORE_STOP = re.compile(r"\s++(?=[.,;:!?…。])")


class RuleSplitter:
    """Meets `core.protocols.Splitter`: sentences as `sentences` cuts them, citations as `source_marks` reads them.

    Marks in brackets are taken out of the sentence; "Figure 3" stays, for it is part of what is said. Marks that open
    a sentence belong to the one before where that has none ("Calls rose. [1] Then they fell [2]."), or where nothing
    else is said.
    """

    by_rule = True

    def __init__(self, sentences: Callable[[str], Sequence[str]], name: str = "rule") -> None:
        self.name = name
        self._sentences = sentences

    async def split(self, response: str) -> list[CitedSentence]:
        """All sentences that say anything, in order."""
        return split_by_rule(self._sentences(response))


def split_by_rule(sentences: Sequence[str]) -> list[CitedSentence]:
    """Sentences, marks in place, to sentences and what they cite."""
    found: list[CitedSentence] = []
    for sentence in sentences:
        opening = _opening(sentence)
        moved = bool(found) and opening > 0 and (not found[-1].cited or not unmarked(sentence))
        if moved:
            found[-1] = _citing_also(found[-1], cited_items(sentence[:opening]))
        rest = sentence[opening:] if moved else sentence
        if text := unmarked(rest):
            found.append(CitedSentence(text=text, cited=cited_items(rest)))
    return found


def unmarked(sentence: str) -> str:
    """A sentence without its marks in brackets; empty where nothing else is in it."""
    parts, end = [], 0
    for mark in _bracketed(sentence):
        parts.append(sentence[end : mark.start])
        end = mark.end
    text = " ".join("".join([*parts, sentence[end:]]).split())
    return _BEFORE_STOP.sub("", text) if any(character.isalnum() for character in text) else ""


def _opening(sentence: str) -> int:
    """Where the marks in brackets that open the sentence end; 0 where there are none."""
    end = 0
    for mark in _bracketed(sentence):
        if sentence[end : mark.start].strip(" .,;\t\n"):
            break
        end = mark.end
    return end


def _bracketed(sentence: str) -> list[SourceMark]:
    return [mark for mark in source_marks(sentence) if mark.bracketed]


def _citing_also(sentence: CitedSentence, items: Sequence[str]) -> CitedSentence:
    return sentence.model_copy(update={"cited": tuple(dict.fromkeys([*sentence.cited, *items]))})
