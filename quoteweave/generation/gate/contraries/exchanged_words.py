"""Find two words, names or numbers of a sentence whose places are exchanged in its evidence.

"Stroke reduced the risk of aspirin" has all words of "Aspirin reduced the risk of stroke". The words that both texts
have once are compared: two of them are exchanged if each stands, in the sentence, behind the same word and beside the
same neighbours as the other does in the evidence. Parts of a list ("grain and coal"), whole clauses that moved, and
the passive ("the risk was reduced by aspirin") are no exchange. Opposites, such as "before" and "after", are exchanged
if each stands before the word that the other stands before in the evidence. Converse words are not known: if the words
between the two differ ("is slower than"), nothing is found. In languages other than English, whose words may change
places without a change of meaning, only numbers are compared.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import ARTICLES, STOP_WORDS, stem_of
from quoteweave.generation.gate.contraries.lengths import are_comparable
from quoteweave.generation.gate.contraries.opposite_words import OPPOSITE_PREPOSITIONS
from quoteweave.generation.gate.facts import normalize_notation
from quoteweave.generation.languages import guess_language

MAX_PARTS = 3
"""Most words of a part that is exchanged, such as a name."""

_NUMBER = lazy_regex(r"\d+(?:[.,]\d+|:\d\d)*")
_WORD = lazy_regex(rf"{_NUMBER.pattern}|[^\W_]+(?:['’-][^\W_]+)*|[,;:&×()]")
# Words that are not compared: "%" stands for "percent", and "the" may stand in only one of the texts.
_UNNOTICED = ARTICLES | {"percent"}
_NAME_A = lazy_regex(r"(?<=[^\W_] )A(?![^\W_]|['’-])")
# Words and signs between things whose order does not matter: "grain and coal", "3 x 5 cm".
_LISTING = frozenset({",", ";", "&", "×", "x", "and", "or", "plus", "und", "oder", "et", "ou", "y"})
# These stand before the first number of a change, "from 48 to 61", whose numbers are in the order of time, whatever
# else moved.
_ORIGINS = frozenset({"from", "von", "de"})
_MARKS = frozenset(":()") | _LISTING
# Words between two names of one thing: "Paris is the capital of France".
_SAME = frozenset({"is", "are", "was", "were", "be", "been", "equals", "equal", "equalled"})

_Words = tuple[str, ...]


class Exchange(NamedTuple):
    """Two parts of a sentence whose places are exchanged in its evidence, as the sentence writes them."""

    first: str
    second: str
    phrase: str
    """The text from the word before the first part to the end of the second."""

    @property
    def is_of_numbers(self) -> bool:
        """Whether both are numbers."""
        return all(_NUMBER.fullmatch(part) for part in (self.first, self.second))

    @property
    def length(self) -> int:
        """The characters of both parts."""
        return len(self.first) + len(self.second)


def find_exchange(statement: str, evidence: str) -> Exchange | None:
    """Return two parts of a statement whose places are exchanged in a sentence of its evidence.

    None if there are none, or if the texts are too long (`are_comparable`).

    >>> find_exchange("Stroke reduced the risk of aspirin.", "Aspirin reduced the risk of stroke.")
    Exchange(first='Stroke', second='aspirin', phrase='Stroke reduced the risk of aspirin')
    """
    if not are_comparable(statement, evidence):
        return None
    exchanges = list(_Comparison(_Text(statement), _Text(evidence)).exchanges())
    if exchanges and guess_language(evidence, sure=False) not in (None, "English"):
        exchanges = [(count, exchange) for count, exchange in exchanges if exchange.is_of_numbers]
    # Numbers come first: if they have changed places, what they count seems to have, too. Next come the parts with the
    # most of each other's neighbours, the shortest first: "New York" before "New", and "Ghana" before "Ghana sells".
    ranked = sorted(exchanges, key=lambda counted: (not counted[1].is_of_numbers, -counted[0], counted[1].length))
    return ranked[0][1] if ranked else None


@dataclass(frozen=True, slots=True)
class _Part:
    """One to `MAX_PARTS` consecutive words of a text, which has them in this order only once."""

    start: int
    end: int
    before: str
    """The word before it; "" at the beginning of the text."""


class _Text:
    """A text as folded words without articles; a capital "A" within a sentence is kept, as it is a name: "group A"."""

    def __init__(self, text: str) -> None:
        self._text = normalize_notation(text)
        noticed = (match for match in _WORD.finditer(self._text) if match[0].casefold() not in _UNNOTICED)
        self._found = sorted((*noticed, *_NAME_A.finditer(self._text)), key=re.Match.start)
        self.words = [match[0] if match[0] == "A" else stem_of(match[0]) for match in self._found]
        self.counts = Counter(self.words)

    def written(self, start: int, end: int) -> str:
        """The text from the word at `start` to the one before `end`."""
        return self._text[self._found[start].start() : self._found[end - 1].end()]

    def at(self, word: str) -> _Part:
        """The first place of a word that the text has."""
        start = self.words.index(word)
        return _Part(start, start + 1, self.words[start - 1] if start else "")

    def has_before_noun(self, word: str) -> bool:
        """Whether the text has a word once, and not right before a pronoun."""
        return self.counts[word] == 1 and _PRONOUNS.isdisjoint(self.words[self.at(word).end :][:1])

    def parts(self) -> dict[_Words, _Part]:
        """The parts that begin and end with a content word and occur once, by their words."""
        places: dict[_Words, _Part] = {}
        times = Counter[_Words]()
        for start, first in enumerate(self.words):
            for end in range(start + 1, min(start + MAX_PARTS, len(self.words)) + 1 if _is_content(first) else 0):
                if _is_content(self.words[end - 1]):
                    part = tuple(self.words[start:end])
                    times[part] += 1
                    places[part] = _Part(start, end, self.words[start - 1] if start else "")
        return {part: at for part, at in places.items() if times[part] == 1}


class _Comparison:
    """Compares a sentence with a sentence of its evidence.

    The place of a part is described by the word before it and by its neighbours: the nearest words before and behind it
    that both texts have once and that are not among the exchanged ones.
    """

    def __init__(self, statement: _Text, evidence: _Text) -> None:
        self._statement, self._evidence = statement, evidence
        self._landmarks = tuple(
            {at: word for at, word in enumerate(text.words) if self._is_landmark(word)}
            for text in (statement, evidence)
        )
        self._parts, self._evidence_parts = ({}, {}) if self._in_one_order() else (statement.parts(), evidence.parts())

    def exchanges(self) -> Iterator[tuple[int, Exchange]]:
        """Yield exchanged parts, with the number of their four neighbours that are those of the other part there."""
        for pair in self._pairs():
            if self._has_exchanged(pair):
                yield pair.equal, self._exchange(*pair.in_statement)
        for opposites in self._opposites():
            yield len(opposites), self._exchange(*opposites)

    def _pairs(self) -> Iterator["_Pair"]:
        """Pair parts that may have changed places: numbers, or one and another that is behind its word there."""
        shared = [part for part in self._parts if part in self._evidence_parts]
        by_word_before: dict[str, list[_Words]] = {}
        for part in shared:
            by_word_before.setdefault(self._evidence_parts[part].before, []).append(part)
        numbers = [part for part in shared if _is_number(part)]
        for first_part in shared:
            behind_its_word = by_word_before.get(self._parts[first_part].before, [])
            for second_part in dict.fromkeys([*behind_its_word, *(numbers if _is_number(first_part) else ())]):
                first, second = self._parts[first_part], self._parts[second_part]
                apart = first.end <= second.start and not set(first_part) & set(second_part)
                if apart and not _in_one_list(self._statement, first, second):
                    yield self._pair(first_part, second_part)

    def _opposites(self) -> Iterator[tuple["_Place", "_Place"]]:
        """Yield opposites that both texts have once, if each stands before the word that is behind the other there.

        Before a pronoun they are converses: of what is above the mill and below the castle one may say "above it the
        castle".
        """
        landmarks, cited_landmarks = self._landmarks
        for pair in _OPPOSITES:
            if all(text.has_before_noun(word) for text in (self._statement, self._evidence) for word in pair):
                stated = [_place(self._statement.at(word), landmarks, set()) for word in pair]
                cited = [_place(self._evidence.at(word), cited_landmarks, set()) for word in pair]
                behind, behind_there = ([place.neighbours[1] for place in places] for places in (stated, cited))
                if "" not in behind and behind[0] != behind[1] and behind == behind_there[::-1]:
                    first, second = sorted(stated)
                    yield first, second

    def _pair(self, first: _Words, second: _Words) -> "_Pair":
        """Two parts with their places in the sentence and in its evidence; neither of them is a neighbour."""
        (landmarks, cited_landmarks), moved = self._landmarks, {*first, *second}
        return _Pair(
            (first, second),
            (_place(self._parts[first], landmarks, moved), _place(self._parts[second], landmarks, moved)),
            (
                _place(self._evidence_parts[first], cited_landmarks, moved),
                _place(self._evidence_parts[second], cited_landmarks, moved),
            ),
        )

    def _has_exchanged(self, pair: "_Pair") -> bool:
        """Whether two parts have changed places, and no other change makes both sentences say the same again."""
        between = self._statement.words[pair.in_statement[0].end : pair.in_statement[1].start]
        if _SAME.issuperset(between) or pair.moved_with_word_before:
            return False
        if pair.is_of_numbers and pair.has_all_neighbours_of_the_other:
            return True  # no passive can explain exchanged numbers, so nothing else is checked
        said_otherwise = any(_is_content(word) and word not in self._evidence.counts for word in between)
        if said_otherwise or not pair.has_words_before_of_the_other:
            return False
        if pair.stands_in_one_place:  # "from … to …"
            return (
                pair.is_reversed
                and between == self._evidence.words[pair.in_evidence[1].end : pair.in_evidence[0].start]
            )
        return pair.has_neighbours_of_the_other

    def _exchange(self, first: "_Place", second: "_Place") -> Exchange:
        written = self._statement.written
        phrase = written(max(first.start - 1, 0), second.end)
        return Exchange(written(first.start, first.end), written(second.start, second.end), phrase)

    def _is_landmark(self, word: str) -> bool:
        return _is_content(word) and self._statement.counts[word] == self._evidence.counts[word] == 1

    def _in_one_order(self) -> bool:
        landmarks, cited_landmarks = self._landmarks
        return list(landmarks.values()) == list(cited_landmarks.values())


class _Place(NamedTuple):
    """The place of a part in a text: its first word and its end, the word before it, and its neighbours."""

    start: int
    end: int
    before: str
    neighbours: tuple[str, str]


def _place(part: _Part, landmarks: Mapping[int, str], moved: Set[str]) -> _Place:
    return _Place(part.start, part.end, part.before, _neighbours(landmarks, part, moved))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two parts, in the order of the sentence, with their places in it and in its evidence."""

    words: tuple[_Words, _Words]
    in_statement: tuple[_Place, _Place]
    in_evidence: tuple[_Place, _Place]

    @property
    def is_of_numbers(self) -> bool:
        """Whether each part is a single number."""
        return all(map(_is_number, self.words))

    @property
    def equal(self) -> int:
        """How many of the four neighbours here are those of the other part there."""
        return sum(self._equal_of_each)

    @property
    def _equal_of_each(self) -> tuple[int, int]:
        (first, second), (its_first, its_second) = self.in_statement, self.in_evidence
        return _equal(first.neighbours, its_second.neighbours), _equal(second.neighbours, its_first.neighbours)

    @property
    def stands_in_one_place(self) -> bool:
        """Whether both parts have the same neighbours here."""
        return self.in_statement[0].neighbours == self.in_statement[1].neighbours

    @property
    def moved_with_word_before(self) -> bool:
        """Whether one of them alone has the same word before it in both texts: "50 of the 200", "of the 200 50".

        Also if both stand behind numbers: then the numbers have changed places, or nothing has.
        """
        before, cited = ([place.before for place in places] for places in (self.in_statement, self.in_evidence))
        of_numbers = all(word[:1].isdigit() for word in before)
        stays = any(word == other != "" for word, other in zip(before, cited, strict=True))
        return of_numbers or (stays and before[0] != before[1])

    @property
    def has_all_neighbours_of_the_other(self) -> bool:
        """Whether each stands between the neighbours that the other has there."""
        return self.equal == 2 * len(self.in_statement[0].neighbours) and not self.stands_in_one_place

    @property
    def has_words_before_of_the_other(self) -> bool:
        """Whether each stands behind the word that is before the other there."""
        return [place.before for place in self.in_statement] == [place.before for place in reversed(self.in_evidence)]

    @property
    def is_reversed(self) -> bool:
        """Whether two parts with the same neighbours are in the reverse order there.

        If the neighbour before them differs there, the words that they belong to may have moved with them.
        """
        first, second = self.in_statement
        one_place_there = self.in_evidence[0].neighbours == self.in_evidence[1].neighbours
        stays = first.before in _ORIGINS or first.neighbours[0] == self.in_evidence[0].neighbours[0]
        return one_place_there and stays and first.before != second.before

    @property
    def has_neighbours_of_the_other(self) -> bool:
        """Whether each has a neighbour that the other has there, and did not move together with its own neighbours.

        Numbers may move with what they count, as in "7 in China versus 5 in Japan", and names with what is said of
        them, as in "Oslo had 7 and Bergen 5".
        """
        begin_with_numbers = all(words[0][0].isdigit() for words in self.words)
        if begin_with_numbers and any(map(_keeps_neighbour, self.in_statement, self.in_evidence)):
            return False
        if all(map(_keeps_neighbour_on_one_side, self.in_statement, self.in_evidence)):
            return False
        return all(self._equal_of_each)


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


def _equal(first: tuple[str, str], second: tuple[str, str]) -> int:
    return sum(map(str.__eq__, first, second))


def _keeps_neighbour(place: _Place, other_place: _Place) -> bool:
    """Whether a part has one of its neighbours in both texts, on either side."""
    return bool((set(place.neighbours) & set(other_place.neighbours)) - {""})


def _keeps_neighbour_on_one_side(place: _Place, other_place: _Place) -> bool:
    return any(word == other != "" for word, other in zip(place.neighbours, other_place.neighbours, strict=True))


def _is_number(part: _Words) -> bool:
    return len(part) == 1 and part[0][0].isdigit()


def _in_one_list(text: _Text, first: _Part, second: _Part) -> bool:
    """Whether two parts are items of one list, whose order does not matter."""
    if _RESPECTIVELY in text.counts:
        return False
    between = text.words[first.end : second.start]
    joined = between == ["by"] or (bool(between) and between[0] in _LISTING and between[-1] in _LISTING)
    return joined and all(word in _LISTING or _is_content(word) for word in between if word != "by")


def _is_content(word: str) -> bool:
    return word not in _MARKS and word not in STOP_WORDS


_OPPOSITES = [tuple(map(stem_of, pair)) for group in OPPOSITE_PREPOSITIONS for pair in combinations(group, 2)]
_RESPECTIVELY = stem_of("respectively")
_PRONOUNS = frozenset(map(stem_of, ("it", "them", "him", "which", "whom")))
