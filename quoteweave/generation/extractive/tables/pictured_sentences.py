"""Read the sentences within a picture or a table's cells, each with the label above it or the name of its row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.generation.answer_text import tidy
from quoteweave.generation.relevance import coverage
from quoteweave.generation.sentences import split_sentences

MAX_SENTENCES = 3
"""The most sentences of a picture that may answer."""
MAX_PICTURE_SENTENCE = 300
"""The most characters of a sentence quoted from a picture."""
MIN_WORDS, MIN_COMMON, MAX_NUMBERS = 6, 0.2, 0.25
"""The least words and share of stop words, and the highest share of numbers, in a sentence, unlike rows of labels."""
MAX_INTRODUCED = 4
"""The most lines that are shown with a sentence that introduces them."""
MAX_LABEL_WORDS = 7
"""The most words of a line that names what is below it, or of a cell that names its row."""
_ENDS = (".", "!", "?", "…", "。", ":", ";")


@dataclass(frozen=True, slots=True)
class PicturedSentence:
    """A sentence within a picture."""

    text: str
    above: str
    """The line above it, or the first cell of its row, which names it; "" for nothing."""


@dataclass(slots=True)
class _Run:
    """Lines that continue each other, or a cell."""

    text: str
    above: str = ""

    @property
    def is_label(self) -> bool:
        short = len(self.text.split()) <= MAX_LABEL_WORDS and not self.text.endswith(_ENDS)
        return short and any(map(str.isalpha, self.text))

    def goes_on(self, line: str) -> bool:
        """Whether a line continues this text: the text has not ended, and is no label that names what begins there."""
        return not self.text.endswith(_ENDS) and (line[:1].islower() or not self.is_label)


def best_sentences(text: str, weights: Mapping[str, float]) -> list[PicturedSentence]:
    """The `MAX_SENTENCES` sentences of a picture's text that cover most of a question, in order.

    One over several lines or labels follows them, if it alone has more of the question than any of them.
    """
    found = list(_sentences(text))
    worth = {at: coverage(weights, words(f"{one.above} {one.text}")) for at, one in enumerate(found)}
    best = sorted((at for at in worth if worth[at] > 0), key=lambda at: -worth[at])[:MAX_SENTENCES]
    over_lines = _best_over_lines(text, weights)
    more = over_lines and coverage(weights, words(over_lines)) > max(worth.values(), default=0.0)
    return [*(found[at] for at in sorted(best)), *([PicturedSentence(over_lines, "")] if more else [])]


def _best_over_lines(text: str, weights: Mapping[str, float]) -> str:
    """The sentence that covers most of a question if lines are joined, such as a name and a number below it."""
    whole = (part.text for part in split_sentences(text))
    found = [tidy(part, MAX_PICTURE_SENTENCE) for part in whole if "|" not in part and _is_prose(part)]
    return max(found, key=lambda one: coverage(weights, words(one)), default="")


def _sentences(text: str) -> Iterator[PicturedSentence]:
    runs = _runs(text.splitlines())
    for at, run in enumerate(runs):
        for part in split_sentences(run.text):
            if _is_prose(part.text):
                below = [run.text[part.end :], *(one.text for one in runs[at + 1 : at + 1 + MAX_INTRODUCED])]
                told = " ".join([part.text, *below]) if introduces(part.text) else part.text
                yield PicturedSentence(tidy(told, MAX_PICTURE_SENTENCE), run.above)


def _runs(lines: Sequence[str]) -> list[_Run]:
    runs: list[_Run] = []
    for line in (" ".join(line.split()) for line in lines):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 1:
            name = cells[0] if _Run(cells[0]).is_label else ""
            runs += [_Run(cell, name if at else "") for at, cell in enumerate(cells) if cell]
        elif runs and line and runs[-1].goes_on(line):
            runs[-1].text += f" {line}"
        elif line:
            above = runs[-1].text if runs and runs[-1].is_label else ""
            runs.append(_Run(line, above))
    return runs


def _is_prose(text: str) -> bool:
    found = text.casefold().split()
    common = sum(word.strip(".,;:()") in STOP_WORDS for word in found)
    numbers = sum(any(map(str.isdigit, word)) for word in found)
    prose = common >= MIN_COMMON * len(found) and numbers <= MAX_NUMBERS * len(found)
    return len(found) >= MIN_WORDS and prose
