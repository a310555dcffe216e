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
from collections.abc import Iterator, Mapping, Sequence
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

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W_]+(?:['’-][^\W_]+)*|[,;:&×()]")
# "%" and "percent" are one, and "the" may stand in one text and not in the other.
_UNNOTICED = frozenset({"a", "an", "the", "percent"})
# What stands between things whose order says nothing: "grain and coal", "3 x 5 cm".
_LISTING = frozenset({",", ";", "&", "×", "x", "and", "or", "plus", "und", "oder", "et", "ou", "y"})
_MARKS = frozenset(":()") | _LISTING


_Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """One to `MAX_PARTS` consecutive words of a text, which has them in this order only once."""

    start: int
    end: int
    behind: str
    """The word before it; "" at the beginning."""


class Exchange(NamedTuple):
    """Two things of a sentence that its evidence has in each other's places, as the sentence writes them."""

    first: str
    second: str
    phrase: str
    """From the word before the first to the end of the second."""

    @property
    def is_of_numbers(self) -> bool:
        """Whether both are numbers."""
        return self.first[0].isdigit() and self.second[0].isdigit()


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

    def neighbours(self, part: _Part, known: Sequence[bool]) -> tuple[str, str]:
        """The nearest `known` words before and behind a part; "" where there is none."""
        before = next((self.words[at] for at in range(part.start - 1, -1, -1) if known[at]), "")
        return before, next((self.words[at] for at in range(part.end, len(self.words)) if known[at]), "")


_Read = tuple[_Text, Mapping[_Words, _Part]]


def find_exchange(statement: str, evidence: str) -> Exchange | None:
    """Return two things of a statement that a sentence of its evidence has in each other's places.

    None where there are none, or either text is longer than `MAX_WORDS` words.
    """
    said, cited = _Text(statement), _Text(evidence)
    if max(len(said.words), len(cited.words)) > MAX_WORDS or _in_one_order(said, cited):
        return None
    found = list(_exchanges(said, cited))
    if found and guess_language(evidence, sure=False) not in (None, "English"):
        found = [one for one in found if one[1].is_of_numbers]
    # Where numbers have changed places, so has what they count. Else the shortest part whose whole place was changed:
    # "New York" rather than "New", and "Ghana" rather than "Ghana sells".
    found.sort(key=lambda one: (not one[1].is_of_numbers, -one[0], len(one[1].first) + len(one[1].second)))
    return found[0][1] if found else None


def _in_one_order(said: _Text, cited: _Text) -> bool:
    """Whether the content words that both texts have once stand in one order in both."""
    own, its = ([word for word in text.words if _is_common(word, said, cited)] for text in (said, cited))
    return own == its


def _is_common(word: str, said: _Text, cited: _Text) -> bool:
    return _is_content(word) and said.counts[word] == cited.counts[word] == 1


def _exchanges(said: _Text, cited: _Text) -> Iterator[tuple[int, Exchange]]:
    """Yield exchanged parts, each with how many of their four neighbours are those of the other."""
    own, its = said.parts(), cited.parts()
    shared = [part for part in own if part in its]
    by_word_before: dict[str, list[_Words]] = {}
    for part in shared:
        by_word_before.setdefault(its[part].behind, []).append(part)
    numbers = [part for part in shared if _is_number(part)]
    for one in shared:
        others = (*by_word_before.get(own[one].behind, ()), *(numbers if one in numbers else ()))
        for other in dict.fromkeys(others):
            first, second = own[one], own[other]
            apart = first.end <= second.start and not set(one) & set(other) and not _listed(said, first, second)
            if apart and (equal := _equal_neighbours((one, other), (said, own), (cited, its))):
                phrase = said.written(max(first.start - 1, 0), second.end)
                yield (
                    equal,
                    Exchange(said.written(first.start, first.end), said.written(second.start, second.end), phrase),
                )


def _equal_neighbours(parts: tuple[_Words, _Words], own: _Read, its: _Read) -> int:
    """How many neighbours two parts, the first before the second, have of each other's in the other text.

    0 where they have not changed places. A place is known by the word before it and by its neighbours: words that both
    texts have once, and that are of neither part. Of numbers, which take no passive, equal neighbours are enough.
    """
    (said, of_own), (cited, of_its) = own, its
    first, second = (of_own[part] for part in parts)
    moved = {word for part in parts for word in part}
    known, known_there = (
        [_is_common(word, said, cited) and word not in moved for word in text.words] for text in (said, cited)
    )
    here = [said.neighbours(part, known) for part in (first, second)]
    there = [cited.neighbours(of_its[part], known_there) for part in parts]
    equal, equal_too = _equal(here[0], there[1]), _equal(here[1], there[0])
    if all(map(_is_number, parts)) and equal == equal_too == 2 and here[0] != here[1]:
        return 4
    between = said.words[first.end : second.start]
    if (first.behind, second.behind) != (of_its[parts[1]].behind, of_its[parts[0]].behind) or any(
        _is_content(word) and word not in cited.counts for word in between
    ):
        return 0
    if here[0] == here[1]:  # nothing is between them but what says how they belong: "from … to …"
        reversed_there = there[0] == there[1] and of_its[parts[1]].end <= of_its[parts[0]].start
        return equal + equal_too if reversed_there and first.behind != second.behind else 0
    return equal + equal_too if here != there and equal and equal_too else 0


def _equal(one: tuple[str, str], other: tuple[str, str]) -> int:
    return sum(map(str.__eq__, one, other))


def _is_number(part: _Words) -> bool:
    return len(part) == 1 and part[0][0].isdigit()


def _listed(text: _Text, first: _Part, second: _Part) -> bool:
    """Whether two parts are listed with each other, in an order that says nothing."""
    if _RESPECTIVELY in text.counts:
        return False
    between = text.words[first.end : second.start]
    joined = bool(between) and between[0] in _LISTING and between[-1] in _LISTING
    return joined and all(word in _LISTING or _is_content(word) for word in between)


def _is_content(word: str) -> bool:
    return word not in _MARKS and word not in STOP_WORDS


@lru_cache(maxsize=4096)
def _folded(word: str) -> str:
    return "".join(words(word, keep_stop_words=True)) or word


_RESPECTIVELY = _folded("respectively")
