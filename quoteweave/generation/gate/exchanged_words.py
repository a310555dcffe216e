"""Find two words, names or numbers that a sentence has in each other's places.

"Stroke reduced the risk of aspirin" has all words of "Aspirin reduced the risk of stroke". The words that both texts
have once are compared: two of them are exchanged where each stands, in the sentence, behind the same word and beside
the same neighbours as the other does in the evidence. Parts of a list ("grain and coal"), whole clauses that moved, and
the passive ("the risk was reduced by aspirin") are no exchange. Converse words are not known: where what stands between
the two is said otherwise ("is slower than"), nothing is found. In other languages than English, whose words may change
places without a change of meaning, only numbers are compared.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.generation.gate.facts import plain
from quoteweave.generation.languages import guess_language

MAX_WORDS = 100
"""Words of a sentence beyond which it is not looked at."""
MAX_PARTS = 3
"""Most words of what is exchanged for something else, such as a name."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(rf"{_NUMBER.pattern}|[^\W_]+(?:['’-][^\W_]+)*|[,;:&×()]")
# "%" and "percent" are one, and "the" may stand in one text and not in the other.
_UNNOTICED = frozenset({"a", "an", "the", "percent"})
# What stands between things whose order says nothing: "grain and coal", "3 x 5 cm".
_LISTING = frozenset({",", ";", "&", "×", "x", "and", "or", "plus", "und", "oder", "et", "ou", "y"})
# Before the first of the two numbers of a change, "from 48 to 61", whose order is that of time, whatever else moved.
_ORIGINS = frozenset({"from", "von", "de"})
_MARKS = frozenset(":()") | _LISTING
# What stands between two names of one thing: "Paris is the capital of France".
_SAME = frozenset({"is", "are", "was", "were", "be", "been", "equals", "equal", "equalled"})

_Words = tuple[str, ...]


class Exchange(NamedTuple):
    """Two things of a sentence that its evidence has in each other's places, as the sentence writes them."""

    first: str
    second: str
    phrase: str
    """From the word before the first to the end of the second."""

    @property
    def is_of_numbers(self) -> bool:
        """Whether both are numbers."""
        return all(_NUMBER.fullmatch(one) for one in (self.first, self.second))


def find_exchange(statement: str, evidence: str) -> Exchange | None:
    """Return two things of a statement that a sentence of its evidence has in each other's places.

    None where there are none, or either text is longer than `MAX_WORDS` words.
    """
    said, cited = _Text(statement), _Text(evidence)
    if max(len(said.words), len(cited.words)) > MAX_WORDS:
        return None
    found = list(_Comparison(said, cited).exchanges())
    if found and guess_language(evidence, sure=False) not in (None, "English"):
        found = [one for one in found if one[1].is_of_numbers]
    # Where numbers have changed places, so has what they count. Else the shortest part whose whole place was changed:
    # "New York" rather than "New", and "Ghana" rather than "Ghana sells".
    found.sort(key=lambda one: (not one[1].is_of_numbers, -one[0], len(one[1].first) + len(one[1].second)))
    return found[0][1] if found else None


@dataclass(frozen=True, slots=True)
class _Part:
    """One to `MAX_PARTS` consecutive words of a text, which has them in this order only once."""

    start: int
    end: int
    before: str
    """The word before it; "" at the beginning of the text."""


class _Text:
    """A text as folded words, without articles."""

    def __init__(self, text: str) -> None:
        self._text = plain(text)
        self._found = [match for match in _WORD.finditer(self._text) if match[0].casefold() not in _UNNOTICED]
        self.words = [_folded(match[0]) for match in self._found]
        self.counts = Counter(self.words)

    def written(self, start: int, end: int) -> str:
        """The text from one word to the one before another."""
        return self._text[self._found[start].start() : self._found[end - 1].end()]

    def parts(self) -> dict[_Words, _Part]:
        """The parts that begin and end with a content word, by their words."""
        found: dict[_Words, _Part] = {}
        seen = Counter[_Words]()
        for start, first in enumerate(self.words):
            for end in range(start + 1, min(start + MAX_PARTS, len(self.words)) + 1 if _is_content(first) else 0):
                if _is_content(self.words[end - 1]):
                    part = tuple(self.words[start:end])
                    seen[part] += 1
                    found[part] = _Part(start, end, self.words[start - 1] if start else "")
        return {part: at for part, at in found.items() if seen[part] == 1}


class _Comparison:
    """A sentence beside a sentence of its evidence.

    The place of a part is known by the word before it and by its neighbours: the nearest words before and behind it
    that both texts have once, and that have not changed places themselves.
    """

    def __init__(self, said: _Text, cited: _Text) -> None:
        self._said, self._cited = said, cited
        self._landmarks = tuple(
            {at: word for at, word in enumerate(text.words) if self._is_landmark(word)} for text in (said, cited)
        )
        self._own, self._its = ({}, {}) if self._in_one_order() else (said.parts(), cited.parts())

    def exchanges(self) -> Iterator[tuple[int, Exchange]]:
        """Yield exchanged parts, each with how many of their four neighbours are those of the other."""
        shared = [part for part in self._own if part in self._its]
        by_word_before: dict[str, list[_Words]] = {}
        for part in shared:
            by_word_before.setdefault(self._its[part].before, []).append(part)
        numbers = [part for part in shared if _is_number(part)]
        for one in shared:
            others = (*by_word_before.get(self._own[one].before, ()), *(numbers if _is_number(one) else ()))
            for other in dict.fromkeys(others):
                first, second = self._own[one], self._own[other]
                apart = first.end <= second.start and not set(one) & set(other)
                if apart and not _listed(self._said, first, second) and (equal := self._equal_neighbours(one, other)):
                    yield equal, self._exchange(first, second)

    def _exchange(self, first: _Part, second: _Part) -> Exchange:
        start, written = max(first.start - 1, 0), self._said.written
        return Exchange(written(first.start, first.end), written(second.start, second.end), written(start, second.end))

    def _is_landmark(self, word: str) -> bool:
        return _is_content(word) and self._said.counts[word] == self._cited.counts[word] == 1

    def _in_one_order(self) -> bool:
        own, its = self._landmarks
        return list(own.values()) == list(its.values())

    def _equal_neighbours(self, one: _Words, other: _Words) -> int:
        """How many neighbours two parts of the sentence, the first before the second, have of each other's there.

        0 where they have not changed places. Of numbers, which take no passive, equal neighbours are enough.
        """
        first, second, its_first, its_second = self._own[one], self._own[other], self._its[one], self._its[other]
        between = self._said.words[first.end : second.start]
        if _SAME.issuperset(between) or _moved_with_words_before(first, second, its_first, its_second):
            return 0
        own, its = self._landmarks
        moved = {*one, *other}
        here = [_neighbours(own, part, moved) for part in (first, second)]
        there = [_neighbours(its, part, moved) for part in (its_first, its_second)]
        equal, equal_too = _equal(here[0], there[1]), _equal(here[1], there[0])
        if _is_number(one) and _is_number(other) and equal == equal_too == len(here[0]) and here[0] != here[1]:
            return equal + equal_too
        said_otherwise = any(_is_content(word) and word not in self._cited.counts for word in between)
        if said_otherwise or (first.before, second.before) != (its_second.before, its_first.before):
            return 0
        if here[0] == here[1]:  # nothing is between them but what says how they belong: "from … to …"
            # Where the word before them is another one, what they belong to may have changed places with them.
            stays = first.before in _ORIGINS or here[0][0] == there[0][0]
            reversed_there = there[0] == there[1] and between == self._cited.words[its_second.end : its_first.start]
            return equal + equal_too if reversed_there and stays and first.before != second.before else 0
        if one[0][0].isdigit() and other[0][0].isdigit() and any(map(_keeps_neighbour, here, there)):
            return 0  # "7 in China versus 5 in Japan": what the number counts has moved with it
        return equal + equal_too if here != there and equal and equal_too else 0


def _moved_with_words_before(first: _Part, second: _Part, its_first: _Part, its_second: _Part) -> bool:
    """Whether one of two parts has the word before it in both texts, and it alone: "50 of the 200", "of the 200 50".

    Where both stand behind numbers, these have changed places, or nothing has.
    """
    kept = [one.before for one, its in ((first, its_first), (second, its_second)) if one.before == its.before != ""]
    of_numbers = first.before[:1].isdigit() and second.before[:1].isdigit()
    return of_numbers or (bool(kept) and first.before != second.before)


def _neighbours(landmarks: Mapping[int, str], part: _Part, moved: Set[str]) -> tuple[str, str]:
    """The nearest landmarks before and behind a part that are not `moved`; "" where there is none."""
    before = behind = ""
    for at, word in landmarks.items():
        if word in moved:
            continue
        if at < part.start:
            before = word
        elif at >= part.end:
            behind = word
            break
    return before, behind


def _equal(one: tuple[str, str], other: tuple[str, str]) -> int:
    return sum(map(str.__eq__, one, other))


def _keeps_neighbour(here: tuple[str, str], there: tuple[str, str]) -> bool:
    """Whether a part has one of its neighbours in both texts, on either side."""
    return bool((set(here) & set(there)) - {""})


def _is_number(part: _Words) -> bool:
    return len(part) == 1 and part[0][0].isdigit()


def _listed(text: _Text, first: _Part, second: _Part) -> bool:
    """Whether two parts are listed with each other, in an order that says nothing."""
    if _RESPECTIVELY in text.counts:
        return False
    between = text.words[first.end : second.start]
    joined = between == ["by"] or (bool(between) and between[0] in _LISTING and between[-1] in _LISTING)
    return joined and all(word in _LISTING or _is_content(word) for word in between if word != "by")


def _is_content(word: str) -> bool:
    return word not in _MARKS and word not in STOP_WORDS


@lru_cache(maxsize=4096)
def _folded(word: str) -> str:
    return "".join(words(word, keep_stop_words=True)) or word


_RESPECTIVELY = _folded("respectively")
