"""Parse mentions of items by their printed names, such as `[1]` or "Figure 3", and split responses by them.

These are the marks of MCiteBench (arXiv 2503.02589, section 4). `[1]` is a text, `Figure 3` and `Table 2` are named by
the numbers in their captions, and "Figure 1a" or "Figure 1(b)" is Figure 1 (its section on limitations). `[1, 2]`,
`[1-3]`, `[1, Figure 2]`, "Fig. 3" and "Figures 1 and 2" are read as well, in any case, also in code or links.

MCiteBench asked a model to split responses into sentences with their citations. Scores that depend on the rule are
named `…_by_rule`, and are not comparable with published ones.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.protocols import CitedSentence
from quoteweave.core.text.marks import MAX_RANGE

# Possessive quantifiers keep the time linear even for hostile text.
_NUMBER = r"[1-9][0-9]{0,8}+(?:\.[0-9]{1,4}+)*+"
_PART = r"(?:\s?\([a-z]\)|[a-z]\b)?+"
_LABEL = r"\b(?P<label>fig(?:ure|\.)?|tab(?:le|\.))(?P<many>s\.?)?"
_LABELLED = lazy_regex(
    rf"{_LABEL}[\s~]{{0,3}}+(?P<first>{_NUMBER}){_PART}"
    rf"(?P<more>(?:(?:\s?,\s?(?:and\s|&\s?)?|\s?(?:and|&)\s|\s?[-\u2013]\s?){_NUMBER}{_PART})*+)",
    re.IGNORECASE,
)
_NAMED = lazy_regex(rf"(?P<label>fig(?:ure)?|tab(?:le)?)\s*+0*+(?P<first>{_NUMBER})", re.IGNORECASE)
"""A name by itself may be as short as "Tab 1"; within a sentence that could be any tab."""
_BRACKETS = lazy_regex(r"\[([^\[\]\n]{1,200}+)\]")
_TEXTS = lazy_regex(r"(?P<first>[0-9]{1,9})(?:\s*+[-\u2013]\s*+(?P<last>[0-9]{1,9}))?+")


@dataclass(frozen=True, slots=True)
class SourceMark:
    """A mention of items: `text[start:end]` of the text that was read."""

    start: int
    end: int
    items: tuple[str, ...]
    """Names such as `1`, `Figure 3` and `Table 2`, each once."""
    bracketed: bool
    """Whether it is a mark in brackets rather than part of the sentence."""


def source_marks(text: str) -> list[SourceMark]:
    """Every mention of items in `text`, in order and without overlap. Linear in time."""
    marks = [
        SourceMark(*match.span(), tuple(dict.fromkeys(items)), bracketed=True)
        for match in _BRACKETS.finditer(text)
        if (items := _in_brackets(match[1]))
    ]
    spans = [(mark.start, mark.end) for mark in marks]
    place = 0
    for match in _LABELLED.finditer(text):
        while place < len(spans) and spans[place][1] <= match.start():
            place += 1
        if place == len(spans) or match.start() < spans[place][0]:
            marks.append(SourceMark(*match.span(), tuple(dict.fromkeys(_labelled(match))), bracketed=False))
    return sorted(marks, key=lambda mark: mark.start)


def cited_items(text: str) -> tuple[str, ...]:
    """Names of the items that `text` mentions, each once, in the order of first mention."""
    return tuple(dict.fromkeys(item for mark in source_marks(text) for item in mark.items))


def item_name(item: str) -> str:
    """The name of an item as in marks: "Figure 1a" is `Figure 1`, "01" is `1`; any other id is unchanged."""
    name = item.strip()
    if number := _TEXTS.fullmatch(name):
        return name if number["last"] else str(int(name))
    if named := _NAMED.fullmatch(name):
        return f"{_kind(named['label'])} {named['first']}"
    match = _LABELLED.fullmatch(name)
    return _labelled(match)[0] if match else name


def _in_brackets(listed: str) -> list[str]:
    """The items in `[…]`; none if it contains anything else."""
    items: list[str] = []
    for part in (part.strip() for part in re.split("[,;]", listed)):
        texts, labelled = _TEXTS.fullmatch(part), _LABELLED.fullmatch(part)
        if texts is not None:
            items += _numbers(texts["first"], texts["last"] or texts["first"])
        elif labelled is not None:
            items += _labelled(labelled)
        else:
            return []
    return items


def _labelled(match: re.Match[str]) -> list[str]:
    """Names of a match's items; `more` only counts if the label is plural ("Figure 1 and Figure 2" are two matches)."""
    label = _kind(match["label"])
    if not match["many"]:
        return [f"{label} {match['first']}"]
    numbers = [match["first"]]
    for joint, number in re.findall(rf"(-|\u2013|,|and|&)[^0-9]*?({_NUMBER})", match["more"], re.IGNORECASE):
        simple = joint in "-\u2013" and numbers[-1].isdigit() and number.isdigit()
        numbers += _numbers(numbers[-1], number)[1:] if simple else [number]
    return [f"{label} {number}" for number in numbers]


def _kind(label: str) -> str:
    return "Figure" if label[0] in "fF" else "Table"


def _numbers(first: str, last: str) -> list[str]:
    """All numbers from first to last; only the two if they are too far apart or run backwards."""
    begin, end = int(first), int(last)
    return [str(n) for n in (range(begin, end + 1) if 0 <= end - begin < MAX_RANGE else (begin, end))]


_BEFORE_STOP = lazy_regex(r"\s++(?=[.,;:!?…。])")


class RuleSplitter:
    """Implements `core.protocols.Splitter`: sentences as `sentences` cuts them, citations as `source_marks` reads them.

    Marks in brackets are removed from the sentence; "Figure 3" stays, because it is part of what is said. Marks at the
    beginning of a sentence belong to the one before if that has none ("Calls rose. [1] Then they fell [2]."), or if the
    sentence has nothing else.
    """

    name = "rule"
    by_rule = True

    def __init__(self, sentences: Callable[[str], Sequence[str]]) -> None:
        self._sentences = sentences

    async def split(self, response: str) -> list[CitedSentence]:
        """All sentences that say anything, in order."""
        return split_by_rule(self._sentences(response))


def split_by_rule(sentences: Sequence[str]) -> list[CitedSentence]:
    """Sentences with marks in place to sentences with their citations."""
    cited_sentences: list[CitedSentence] = []
    for sentence in sentences:
        opening = _opening(sentence)
        moved = bool(cited_sentences) and opening > 0 and (not cited_sentences[-1].cited or not unmarked(sentence))
        if moved:
            cited = dict.fromkeys([*cited_sentences[-1].cited, *cited_items(sentence[:opening])])
            cited_sentences[-1] = cited_sentences[-1].model_copy(update={"cited": tuple(cited)})
        rest = sentence[opening:] if moved else sentence
        if text := unmarked(rest):
            cited_sentences.append(CitedSentence(text=text, cited=cited_items(rest)))
    return cited_sentences


def unmarked(sentence: str) -> str:
    """A sentence without its marks in brackets; empty if it has nothing else."""
    parts, end = [], 0
    for mark in _bracketed(sentence):
        parts.append(sentence[end : mark.start])
        end = mark.end
    text = without_gaps("".join([*parts, sentence[end:]]))
    return text if any(character.isalnum() for character in text) else ""


def without_gaps(text: str) -> str:
    """A sentence from which marks were cut, with single spaces, and none before a stop."""
    return _BEFORE_STOP.sub("", " ".join(text.split()))


def _opening(sentence: str) -> int:
    """The end of the marks in brackets at the beginning of a sentence; 0 if there are none."""
    end = 0
    for mark in _bracketed(sentence):
        if sentence[end : mark.start].strip(" .,;\t\n"):
            break
        end = mark.end
    return end


def _bracketed(sentence: str) -> list[SourceMark]:
    return [mark for mark in source_marks(sentence) if mark.bracketed]
