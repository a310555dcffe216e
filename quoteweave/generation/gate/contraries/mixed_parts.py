"""Find where a sentence mixes two parts of a sentence of its evidence: it has a word of one part in the other.

"The drug killed 40 patients" has all its words in "The drug cured 40 patients and killed 3", but says something else.
The evidence is cut into parts where they are joined: at a comma, "and", "while". A sentence mixes two of them if it has
words that only one of them has, and lacks the words of the other part in whose place they stand.

If the evidence has several numbers, it is cut between them. Then the words before and behind a number of the sentence
are compared with those of a part with another number of the same kind, which the sentence lacks. If items are listed
and numbers follow for them, "respectively", each item is a part together with its number. If there are no numbers to
compare, the evidence is cut at every joint. Words of earlier parts may belong to later ones too ("sales rose 12 % in
Europe and 5 % in Asia"), unless the later part opens with a word of its own ("and *killed* 3").
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import combinations, pairwise, product
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.grammar import SENTENCE_END
from quoteweave.core.text.tokens import ARTICLES, STOP_WORDS, stem_of
from quoteweave.core.text.units import SCALES, find_unit
from quoteweave.generation.gate.contraries.lengths import are_comparable, is_too_long, is_too_long_to_cite
from quoteweave.generation.gate.contraries.opposite_words import is_said_alike
from quoteweave.generation.gate.contraries.qualified_numbers import in_digits
from quoteweave.generation.gate.dates import MONTHS

_TOKEN = lazy_regex(r"\d+(?:[.,:]\d+)*(?!\w)|[^\W_]+(?:['’-][^\W_]+)*|[,;:()%$€£¥|]")
_YEAR_OR_TIME = lazy_regex(r"(?:1[5-9]|2[01])\d\d|\d+:\d\d")
_CELLS = "|"
_MARKS = frozenset(",;:()")
_MONEY = frozenset("$€£¥")
_MONTHS = frozenset(name.capitalize()[:end] for name in MONTHS for end in (3, None))
_JOINING = (
    frozenset({",", "("}),
    frozenset({"and", "or", "und", "oder", "et", "ou"}),
    frozenset({"but", "while", "whereas", "although", "which", "who"}),
    frozenset({";"}),
)
"""Groups of words and signs that join parts, the weakest first."""
_COMMA, _AND = 1, 2
"""The strengths of two of these groups: their positions, counted from 1."""
_RESPECTIVELY = "respectively"
_SAY_NOTHING = frozenset({_RESPECTIVELY, "percent", "fewer", "less", "least"}).union(*_JOINING)
_NUMBER = "0"
"""Stands for any number, or the sign of one such as "%", among the neighbours of a word."""


class Mixed(NamedTuple):
    """A word that a sentence has in place of another."""

    stated: str
    cited: str
    number: str = ""
    """The number beside which both words stand; empty if they stand beside none."""


class _Word(NamedTuple):
    written: str
    stem: str
    tells: bool
    """Whether parts may be told apart by it, as it is no stop word, number or unit."""


class _Part(NamedTuple):
    """Consecutive words of a sentence, with the numbers among them; or an item, with the number listed for it."""

    start: int
    end: int
    numbers: tuple[int, ...]


class _Sentence:
    """A sentence as words, without articles."""

    def __init__(self, text: str) -> None:
        pieces = (match[0] for match in _TOKEN.finditer(in_digits(text)))
        self.words = [_word(piece) for at, piece in enumerate(pieces) if piece not in ARTICLES and (at or piece != "A")]
        self._counts = Counter(word.stem for word in self.words)
        self.stems = frozenset(self._counts)
        self.numbers = [at for at, word in enumerate(self.words) if word.stem[0].isdigit()]
        self.written_numbers = frozenset(self.words[at].stem for at in self.numbers)

    @cached_property
    def cuts_at_numbers(self) -> list[list[_Part]]:
        """The sentence cut into parts by its numbers, in each of the possible ways that give more than one part."""
        if any(word.written == _RESPECTIVELY for word in self.words):
            cuts_tried = [self._items()]
        else:
            cuts_tried = [self._cut_at(cuts) for cuts in (self._cuts(first=True), self._cuts(first=False))]
        return [parts for at, parts in enumerate(cuts_tried) if len(parts) > 1 and parts not in cuts_tried[:at]]

    @cached_property
    def clauses(self) -> list[_Part]:
        """The parts when the sentence is cut at every joint."""
        parts = self._cut_at(at for at in range(len(self.words)) if self._strength(at))
        return [part for part in parts if self.telling(part.start, part.end)]

    def telling(self, start: int, end: int) -> list[int]:
        """The places from `start` to `end` of words that tell something."""
        return [at for at in range(start, end) if self.words[at].tells]

    def is_coordinate(self, part: _Part) -> bool:
        """Whether more than a comma joins a part to the one before, so that its first words are its own."""
        return self._strength(part.start) > _COMMA

    def word_before(self, at: int) -> str:
        """The last word before a place that tells something."""
        return next((self.words[place].stem for place in range(at - 1, -1, -1) if self.words[place].tells), "")

    def head(self, part: _Part) -> int | None:
        """The first word of a part that tells something."""
        return next(iter(self.telling(part.start, part.end)), None)

    def unique_places(self, places: Sequence[int]) -> list[int]:
        """Those of these places whose words do not occur at any other place."""
        counts = Counter(self.words[at].stem for at in places)
        return [at for at in places if counts[stem := self.words[at].stem] == self._counts[stem]]

    def kind(self, at: int) -> str:
        """The kind of a number: another one of the same kind may be mistaken for it."""
        beside = [self._written(at - 1), self._written(at + 1)]
        if _YEAR_OR_TIME.fullmatch(self.words[at].stem) or not _MONTHS.isdisjoint(beside):
            return "time"
        if not _MONEY.isdisjoint(beside) or beside[1] == "%":
            return "%" if beside[1] == "%" else "money"
        unit = find_unit(beside[1]) if beside[1] else None
        return "" if unit is None else "time" if unit.dimension == "months" else unit.dimension

    def beside(self, at: int) -> frozenset[tuple[int, str]]:
        """The neighbours before and behind a word (-1 and 1), without punctuation and words that join parts."""
        neighbours = {step: self._written(at + step) for step in (-1, 1) if not self._strength(at + step)}
        return frozenset(
            (step, _NUMBER if word in _MONEY or word == "%" or word[0].isdigit() else self.words[at + step].stem)
            for step, word in neighbours.items()
            if word and word not in _MARKS
        )

    def by_kind(self, places: Iterable[int]) -> dict[str, set[str]]:
        """The numbers among these places, by their kinds."""
        numbers: dict[str, set[str]] = {}
        for at in places:
            if at in self.numbers:
                numbers.setdefault(self.kind(at), set()).add(self.words[at].stem)
        return numbers

    def numbers_of_parts(self, weakest: int) -> Iterator[dict[str, set[str]]]:
        """Yield the numbers of each part by kind; the sentence is cut at "and" only if `weakest` is `_AND`."""
        cuts = (at for at in range(len(self.words)) if (s := self._strength(at)) and (weakest == _AND or s != _AND))
        for part in self._cut_at(cuts):
            yield self.by_kind(part.numbers)

    def _written(self, at: int) -> str:
        return self.words[at].written if 0 <= at < len(self.words) else ""

    def _strength(self, at: int) -> int:
        written = self._written(at)
        return next((strength for strength, group in enumerate(_JOINING, 1) if written in group), 0)

    def _cuts(self, *, first: bool) -> Iterator[int]:
        """Yield where to cut between numbers: at the strongest joint of each two, the first or last of equal ones."""
        for previous, following in pairwise(self.numbers):
            between = range(previous + 1, following)
            strongest = max(between, key=lambda at: (self._strength(at), -at if first else at), default=0)
            if strongest and self._strength(strongest) and self.telling(previous + 1, following):
                yield strongest

    def _cut_at(self, cuts: Iterable[int]) -> list[_Part]:
        spans = pairwise([0, *cuts, len(self.words)])
        return [_Part(start, end, tuple(at for at in self.numbers if start <= at < end)) for start, end in spans]

    def _items(self) -> list[_Part]:
        """The items listed before the last numbers, each with its number; empty if there are fewer or more items.

        "Oslo, Bergen and Turku had 7, 5 and 3, respectively": "Oslo" with 7, ", Bergen" with 5, "and Turku" with 3.
        """
        numbers = self.numbers[:1]
        for previous, following in pairwise(self.numbers):
            numbers = [following] if self.telling(previous + 1, following) else [*numbers, following]
        before = range(numbers[0] if numbers else 0)
        last = next((at for at in reversed(before) if self._strength(at) == _AND), 0)
        commas = [at for at in before[: max(last - 1, 0)] if self._written(at) == ","]
        starts = [0, *(commas[2 - len(numbers) :] if len(numbers) > 2 else ()), last]
        if not last or len(starts) != len(numbers):
            return []
        spans = pairwise([*starts, numbers[0]])
        return [_Part(*span, (number,)) for span, number in zip(spans, numbers, strict=True)]


@lru_cache(maxsize=4096)
def _word(written: str) -> _Word:
    if written[0].isdigit():
        return _Word(written, written.replace(",", ""), tells=False)
    if written == "A":  # a name, such as that of a group or model
        return _Word(written, written, tells=True)
    folded = written.casefold()
    is_said_of_numbers = folded in _SAY_NOTHING or folded.removesuffix("s") in SCALES or find_unit(written) is not None
    tells = written[0].isalnum() and folded not in STOP_WORDS and not is_said_of_numbers
    return _Word(written, stem_of(written), tells=tells)


def find_mixed_parts(statement: str, evidence: str) -> Mixed | None:
    """Return a word of one part of the evidence that a statement has in place of a word of another part.

    None if there is none, if the texts are too long (`are_comparable`), or if the evidence does not end as a sentence
    does or has cells of a table.

    >>> find_mixed_parts("The drug killed 40 patients.", "The drug cured 40 patients and killed 3.")
    Mixed(stated='killed', cited='cured', number='40')
    """
    if not are_comparable(statement, evidence):
        return None
    parsed, parsed_evidence = _read(statement), _read(evidence)
    if not SENTENCE_END.search(evidence) or _CELLS in parsed_evidence.stems:
        return None
    comparison = _Comparison(parsed, parsed_evidence)
    if parsed_evidence.cuts_at_numbers and parsed.written_numbers & parsed_evidence.written_numbers:
        return comparison.mixed_number()
    return comparison.mixed_clause_word() if comparison.has_all_words else None


def find_crossed_numbers(statement: str, sentences: Sequence[str]) -> tuple[str, str] | None:
    """Return two numbers of a statement that belong to others in the sentences, such as "190 °C for 15 minutes".

    "Bake at 220 °C for 15 minutes, then at 190 °C for 25" has 15 minutes with another temperature, and 190 °C with
    another time, and the statement has neither of these. Only kinds of which the statement has one number are compared.
    """
    if is_too_long(statement):
        return None
    parsed = _read(statement)
    kinds = parsed.by_kind(range(len(parsed.words)))
    single = {kind: next(iter(numbers)) for kind, numbers in kinds.items() if len(numbers) == 1}
    if len(single) < 2:
        return None
    sentences_with_number = [
        sentence
        for sentence in sentences
        if not is_too_long_to_cite(sentence)
        and any(number in in_digits(sentence).replace(",", "") for number in single.values())
    ]
    parsed_sentences = map(_read, filter(SENTENCE_END.search, sentences_with_number))
    compared = [cited for cited in parsed_sentences if _CELLS not in cited.stems]
    for first, second in combinations(single.items(), 2):
        for weakest in (_COMMA, _AND):
            parts = [part for cited in compared for part in cited.numbers_of_parts(weakest)]
            if _are_crossed(first, second, parts) or _are_crossed(second, first, parts):
                return first[1], second[1]
    return None


@lru_cache(maxsize=1024)  # several sentences may cite the same evidence
def _read(text: str) -> _Sentence:
    return _Sentence(text)


def _are_crossed(first: tuple[str, str], second: tuple[str, str], parts: Sequence[Mapping[str, Set[str]]]) -> bool:
    """Whether no part has both numbers, but each part with the first has others of the second one's kind.

    A part with the second number must have others of the first one's kind, too. Both are pairs of kind and number.
    """
    (kind, number), (other_kind, other_number) = first, second
    with_first = [part.get(other_kind, set()) for part in parts if number in part.get(kind, ())]
    with_second = [part.get(kind, set()) for part in parts if other_number in part.get(other_kind, ())]
    are_apart = not any(other_number in numbers for numbers in with_first)
    return bool(with_first) and all(with_first) and any(with_second) and are_apart


class _Comparison:
    """Compares a statement with a sentence of its evidence."""

    def __init__(self, statement: _Sentence, evidence: _Sentence) -> None:
        self._statement, self._evidence = statement, evidence

    @property
    def has_all_words(self) -> bool:
        """Whether the evidence has all words of the statement that tell something."""
        cited = self._evidence.stems
        stems = (word.stem for word in self._statement.words if word.tells)
        return all(stem in cited or is_said_alike(stem, cited) for stem in stems)

    def mixed_number(self) -> Mixed | None:
        """The first mixed word beside a number, if there is one in each way of cutting the evidence."""
        mixed_words = [self._mixed_in_cut(parts) for parts in self._evidence.cuts_at_numbers]
        return mixed_words[0] if all(mixed_words) else None

    def mixed_clause_word(self) -> Mixed | None:
        """A word that is mixed into one of the clauses that have the most of the statement's words."""
        clauses = self._evidence.clauses
        counts = [sum(self._has(at) for at in self._evidence.telling(clause.start, clause.end)) for clause in clauses]
        most = max(counts, default=0)
        closest = [clause for clause, count in zip(clauses, counts, strict=True) if count == most > 0]
        return next((mixed for clause in closest if (mixed := self._mixed_clause(clause, clauses)) is not None), None)

    def _mixed_in_cut(self, parts: Sequence[_Part]) -> Mixed | None:
        """The first mixed word beside a number for which there is one wherever the evidence has the number."""
        mixed_by_number: dict[str, list[Mixed | None]] = {}
        for part in parts:
            for at in part.numbers:
                number = self._evidence.words[at]
                if number.stem in self._statement.written_numbers:
                    mixed = next(self._mixed_beside(part, at, parts), None)
                    mixed_by_number.setdefault(number.stem, []).append(mixed and mixed._replace(number=number.written))
        return next((mixed_words[0] for mixed_words in mixed_by_number.values() if all(mixed_words)), None)

    def _mixed_beside(self, part: _Part, at: int, parts: Sequence[_Part]) -> Iterator[Mixed]:
        """Yield words of other parts that the statement has in place of words of this part, beside its number `at`.

        The other parts have a number of the same kind, which the statement lacks. Words before the number are compared
        with those before the other one, and words behind it with those behind it. A pair without a common neighbour
        counts only if the statement lacks the first word of this part, or if it has the first word of a later part, or
        more words of that part than of this one.
        """
        kind = self._evidence.kind(at)
        # Later parts come first, as they share no words with it.
        for other in sorted(parts, key=lambda candidate: candidate.start < part.start):
            alike = [place for place in other.numbers if self._evidence.kind(place) == kind]
            if other is part or not alike or self._has_number(alike):
                continue
            for places, other_places in zip(self._sides(part, at), self._sides(other, alike[0]), strict=True):
                missing, mixed_in = self._lacked(part, places), self._places_in_statement(other_places)
                certain = self._lacks_head(part, missing)
                if other.start > part.start:
                    has_more = len(mixed_in) > len(self._evidence.unique_places(places)) - len(missing)
                    certain = certain or has_more or self._evidence.head(other) in mixed_in
                yield from self._words_instead(missing, mixed_in, certain=certain)

    def _sides(self, part: _Part, at: int) -> tuple[list[int], list[int]]:
        """The telling words of a part before a number, and those behind it."""
        telling = self._evidence.telling
        return telling(part.start, min(at, part.end)), telling(max(at + 1, part.start), part.end)

    def _mixed_clause(self, part: _Part, parts: Sequence[_Part]) -> Mixed | None:
        """A word of another clause that the statement has in place of one of this, if it lacks words of both.

        Of "Oslo is cold, while Rome is warm", "Oslo is warm" has "Oslo" in place of "Rome", and lacks "cold".
        """
        cited = self._evidence
        missing = self._lacked(part, cited.telling(part.start, part.end))
        lacks_head = cited.is_coordinate(part) and self._lacks_head(part, missing)
        for other in parts if missing else ():
            places = cited.telling(other.start, other.end)
            mixed_in = self._places_in_statement(places)
            if other is part or self._has_number(other.numbers) or not self._lacked(other, places, its_head=True):
                continue
            is_later = other.start > part.start and cited.is_coordinate(other)
            takes_head = is_later and mixed_in == [cited.head(other)] and len(cited.unique_places(places)) > 1
            pairs, before = product(mixed_in, missing), cited.word_before
            alike = next((pair for pair in pairs if before(pair[0]) == before(pair[1]) != ""), None)
            if alike is not None or (mixed_in and (takes_head or lacks_head)):
                return self._as_mixed(*(alike or (mixed_in[-1], missing[0])))
        return None

    def _words_instead(self, missing: Sequence[int], mixed_in: Sequence[int], *, certain: bool) -> Iterator[Mixed]:
        """Yield the word of another part that stands in place of a missing word, if there is one.

        It must have a neighbour of the missing word; without such a pair, any two are taken if that is `certain`.
        """
        beside = self._evidence.beside
        alike = next((pair for pair in product(mixed_in, missing) if beside(pair[0]) & beside(pair[1])), None)
        if alike is not None:
            yield self._as_mixed(*alike)
        elif mixed_in and missing and certain:
            yield self._as_mixed(mixed_in[-1], missing[0])

    def _as_mixed(self, mixed: int, missing: int) -> Mixed:
        return Mixed(self._evidence.words[mixed].written, self._evidence.words[missing].written)

    def _places_in_statement(self, places: Sequence[int]) -> list[int]:
        """Those of these places whose words do not occur elsewhere and are in the statement."""
        stems = self._statement.stems
        return [at for at in self._evidence.unique_places(places) if self._evidence.words[at].stem in stems]

    def _lacked(self, part: _Part, places: Sequence[int], *, its_head: bool = False) -> list[int]:
        """Those of these places whose words do not occur elsewhere, or open the part, and that the statement lacks."""
        head = self._evidence.head(part) if part.start > 0 or its_head else None
        lacked = [at for at in self._evidence.unique_places(places) if not self._has(at)]
        return lacked if head is None or head in lacked or head not in places or self._has(head) else [head, *lacked]

    def _lacks_head(self, part: _Part, missing: Sequence[int]) -> bool:
        return part.start > 0 and self._evidence.head(part) in missing

    def _has(self, at: int) -> bool:
        stem = self._evidence.words[at].stem
        return stem in self._statement.stems or is_said_alike(stem, self._statement.stems)

    def _has_number(self, numbers: Sequence[int]) -> bool:
        return any(self._evidence.words[at].stem in self._statement.written_numbers for at in numbers)
