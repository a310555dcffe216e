"""Find where a sentence says something of one subject that its evidence says of another.

"The Birch mill produced 31,000 tonnes" has its words in "The Alder mill produced 31,000 tonnes. The Birch mill is
older", but says something else. The part of the evidence is compared that has the most numbers of the sentence and,
among equal ones, the most of its other words. It has another subject if

- it lacks a name of the sentence, and another name, which the sentence lacks, stands before the same word ("Alder
  mill", "Birch mill"), or shares a word with it ("Group A", "Group B");
- it opens with a pronoun, and the sentence before it has none of the words that the sentence adds to it, one of which
  opens the sentence: "*The lake* holds 210 tonnes" for "The reservoir was built in 1972. *It* holds 210 tonnes".
  This is not so if the reservoir is first named there, because it may be the lake.

Names are words with a capital. If the name of the sentence stands only in a title, nothing is found.
"""

import re
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.grammar import SENTENCE_END
from quoteweave.core.text.tokens import ARTICLES, STOP_WORDS, stem_of, words
from quoteweave.generation.gate.cited_evidence import words_in
from quoteweave.generation.gate.dates import CALENDAR_WORDS
from quoteweave.generation.gate.facts import Difference, normalize_notation

MAX_SENTENCES = 1_000
"""Most sentences of the evidence; in longer evidence nothing is looked for (`has_too_many_sentences`)."""

_TOKEN = lazy_regex(r"[^\W_]+(?:[.,:]\d+)*")
_PARTS = lazy_regex(r"[;:]\s|,\s(?:and|but|while|whereas|which|who)\s|\s(?:while|whereas|but)\s")
_SUBJECT = lazy_regex(r"\W*(?:(?:the|an?)\s+)?([^\W\d_][\w-]*)(?!,)\s+([^\W\d_][\w-]*)?", re.IGNORECASE)
_POSSESSIVE = r"\W*(?:his|her|its|their)\b"
_PRONOUN = lazy_regex(rf"\W*(?:he|she|it|they)\b|{_POSSESSIVE}", re.IGNORECASE)
_DEFINITE = lazy_regex(r"\W*The\s+([^\W\d_]+)\s(?:[a-z]+s|[a-z]+ed|are|were|had|have|will|can|may|must)\b")
_POSSESSIVES = lazy_regex(_POSSESSIVE, re.IGNORECASE)
_NO_NAMES = STOP_WORDS | CALENDAR_WORDS
_CELLS = "|"


class _Name(NamedTuple):
    """Consecutive words with a capital."""

    text: str
    words: frozenset[str]
    behind: str
    """The next word behind it that is no stop word or number; "" if there is none."""

    opens: bool
    """Whether it opens its sentence, apart from an article."""

    def stands_like(self, other: "_Name") -> bool:
        """Whether both names open their sentences, stand before the same word, or share a word."""
        return (self.opens and other.opens) or self.behind == other.behind != "" or bool(self.words & other.words)


class _Sentence:
    """A sentence, or a part of one, as words."""

    def __init__(self, text: str) -> None:
        self.text = normalize_notation(text)
        tokens = list(_TOKEN.finditer(self.text))
        self._written = [token[0] for token in tokens]
        # For each word, whether only one character, such as a space, is between it and the word before.
        self._follows = [at > 0 and tokens[at - 1].end() + 1 == token.start() for at, token in enumerate(tokens)]
        # A capital "A" within a sentence is no article, but a name: "Group A".
        self._stems = ["A" if at and word == "A" else stem_of(word) for at, word in enumerate(self._written)]
        self.stems = frozenset(self._stems)
        self.numbers = frozenset(word for word in self._written if word[0].isdigit())
        self.telling = frozenset(stem for at, stem in enumerate(self._stems) if self._tells(at))
        self.capitals = frozenset(word for word in self._written[1:] if word[0].isupper())
        self.lower = frozenset(word.capitalize() for word in self._written if word.islower() and len(word) > 1)

    def names(self, capitals: Set[str]) -> Iterator[_Name]:
        """Yield its names, which consist of these capitalised words; the first word may also open a name of several."""
        is_name = [word in capitals and self._stems[at] not in _NO_NAMES for at, word in enumerate(self._written)]
        if is_name[1:2] == [True] and self._follows[1] and self._written[0][0].isupper():
            is_name[0] = self._stems[0] not in _NO_NAMES
        start = 0
        while start < len(is_name):
            end = start
            while end < len(is_name) and is_name[end] and (end == start or self._follows[end]):
                end += 1
            if end > start:
                behind = next((self._stems[at] for at in range(end, len(is_name)) if self._tells(at)), "")
                opens = all(word.casefold() in ARTICLES for word in self._written[:start])
                yield _Name(" ".join(self._written[start:end]), frozenset(self._stems[start:end]), behind, opens)
            start = max(end, start + 1)

    def _tells(self, at: int) -> bool:
        return self._written[at].casefold() not in STOP_WORDS and not self._written[at][0].isdigit()


def find_other_subject(statement: str, sentences: Sequence[str]) -> Difference | None:
    """Return the subject of a statement if these sentences say the same of another one; None otherwise."""
    cited_sentences = _whole_sentences(sentences)
    if not 1 < len(cited_sentences) <= MAX_SENTENCES:
        return None
    words_of_statement = frozenset(words(statement))
    if any(words_of_statement <= words_in(sentence) and not _PARTS.search(sentence) for sentence in cited_sentences):
        return None
    parsed = _read(statement)
    parsed_sentences = [_read(sentence) for sentence in cited_sentences]
    all_capitals = parsed.capitals.union(*(sentence.capitals for sentence in parsed_sentences))
    capitals = all_capitals.difference(*(sentence.lower for sentence in parsed_sentences))
    names = [name for name in parsed.names(capitals) if any(name.words <= other.stems for other in parsed_sentences)]
    parts = [_read(part) for sentence in cited_sentences for part in _PARTS.split(sentence)] if names else []
    other_subjects = [_other_name(names, part, parsed, capitals) for part in _closest(parsed, parts, names)]
    if other_subjects and all(other_subjects):
        return other_subjects[0]
    closest = _closest(parsed, parsed_sentences, names)
    places = [at for at, sentence in enumerate(parsed_sentences) if sentence in closest]
    antecedents = [_other_antecedent(parsed, parsed_sentences, at) for at in places]
    return antecedents[0] if antecedents and all(antecedents) else None


def has_too_many_sentences(sentences: Sequence[str]) -> bool:
    """Whether there are more sentences than are compared."""
    return len(sentences) > MAX_SENTENCES and len(_whole_sentences(sentences)) > MAX_SENTENCES


def _whole_sentences(sentences: Sequence[str]) -> list[str]:
    return [sentence for sentence in sentences if SENTENCE_END.search(sentence) and _CELLS not in sentence]


@lru_cache(maxsize=1024)  # several sentences may cite the same evidence
def _read(text: str) -> _Sentence:
    return _Sentence(text)


def _closest(statement: _Sentence, sentences: Sequence[_Sentence], names: Sequence[_Name]) -> list[_Sentence]:
    """The ones with the most numbers of a statement and, among equal ones, the most words other than its names."""
    words_besides_names = statement.telling - frozenset().union(*(name.words for name in names))
    by_agreement: dict[tuple[int, int], list[_Sentence]] = {}
    for sentence in sentences:
        agreement = len(statement.numbers & sentence.numbers), len(words_besides_names & sentence.stems)
        by_agreement.setdefault(agreement, []).append(sentence)
    most = max(by_agreement, default=(0, 0))
    return by_agreement[most] if most[1] > 0 else []


def _other_name(
    names: Sequence[_Name], cited: _Sentence, statement: _Sentence, capitals: Set[str]
) -> Difference | None:
    """A name of a statement that the cited sentence lacks, and the name that stands there in its place."""
    other_names = [name for name in cited.names(capitals) if not name.words <= statement.stems]
    for name in names:
        if not name.words <= cited.stems:
            for other in other_names:
                if not other.words < name.words and name.stands_like(other):
                    return Difference(name.text, other.text)
    return None


def _other_antecedent(statement: _Sentence, sentences: Sequence[_Sentence], at: int) -> Difference | None:
    """The subject of a statement, if the sentence there has a pronoun that stands for something else before it."""
    start, subject = at, _SUBJECT.match(statement.text)
    if subject is None or _PRONOUN.match(sentences[at].text) is None:
        return None
    while start > 0 and (
        (_PRONOUN.match(sentences[start].text) and (start == at or not _POSSESSIVES.match(sentences[start].text)))
        or _is_of_one_before(sentences, start)
    ):
        start -= 1
    stems_of_antecedent = frozenset[str]().union(*(sentence.stems for sentence in sentences[start : at + 1]))
    new_stems = statement.telling - stems_of_antecedent
    if subject[1].istitle() and (subject[2] or "").istitle() and stem_of(subject[2]) in stems_of_antecedent:
        return None  # "Maria Holt" is meant by "Holt".
    all_stems = frozenset[str]().union(*(sentence.stems for sentence in sentences))
    if start == at or stem_of(subject[1]) not in new_stems or not new_stems <= all_stems:
        return None
    return Difference(subject[1], sentences[start].text)


def _is_of_one_before(sentences: Sequence[_Sentence], at: int) -> bool:
    """Whether a sentence may speak of what one before it names otherwise: "Rome is large. *The city* is old"."""
    noun_phrase = _DEFINITE.match(sentences[at].text)
    return noun_phrase is not None and not any(
        stem_of(noun_phrase[1].casefold()) in sentence.stems for sentence in sentences[:at]
    )
