"""Languages other than English in which questions are asked: how they are recognised, and the forms of their words.

Words of all languages are compared as written, except for accents, and stemmed as English (`core.text.tokens`). So a
question in another language finds a word only in the same form; what it does not find is searched in other forms.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from quoteweave.core.files.toml import shipped_toml
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import ENGLISH_STOP_WORDS, normalize_text, words

_WORD = lazy_regex(r"[^\W_]+")
_SPANISH_MARK = lazy_regex("[¿¡]")
Kind = TypeVar("Kind", bound=str)
MIN_STEM = 4
"""The least number of letters that forms of a word have in common: "Miete" and "Mieten", but not "Rate" and "Rat"."""
MIN_PARTICIPLE = 6
"""The least number of letters of a participle without its ending."""
_PARTICIPLES = ("ad", "id", "at", "it", "ut")
ENGLISH_PERMISSION = (
    "allow allows allowed permit permits permitted",
    "forbid forbids forbidden prohibit prohibits prohibited ban bans banned",
)
MIN_FUNCTION_WORDS = 2
"""The least number of function words by which a question is taken for one in their language: "Los Angeles" has one."""


@dataclass(frozen=True, slots=True)
class ForeignLanguage:
    """What is known about a language."""

    codes: frozenset[str]
    """Its ISO 639-1 code; several codes if it is not certain which language it is."""
    function_words: frozenset[str]
    """Its articles, pronouns, prepositions, auxiliaries and the like, in lower case."""
    asking: frozenset[str]
    """Those that begin a question and are no English words, such as "welche"."""
    light: frozenset[str]
    """Words that say little beside what a question is about, stemmed, such as "kostet"."""
    articles: frozenset[str]
    endings: frozenset[str]
    """Endings of verbs and adjectives, and of nouns made from verbs, without accents; the empty ending too."""
    noun_endings: tuple[frozenset[str], ...]
    """Endings of nouns, in groups within which one noun may have them: "porta" and "porte", but not "porto"."""
    has_capital_nouns: bool
    participle: str
    """The prefix of participles; empty if there is none."""

    def stems(self) -> frozenset[str]:
        """Its function words as `core.text.tokens.words` stems them, without those that are English stop words."""
        return _stems_of(self)

    def is_noun(self, word: str, question: str) -> bool:
        """Whether a word of a question, in any spelling, is certainly a noun: by an article before it, or a capital."""
        question_words, normalized = _WORD.findall(question), normalize_text(word)
        return any(
            before.casefold() in self.articles or (self.has_capital_nouns and after[0].isupper())
            for before, after in pairwise(question_words)
            if normalize_text(after) == normalized
        )

    def has_capital_noun(self, question: str) -> bool:
        """Whether a question has an article and a noun as this language alone writes it: "waren die Einnahmen"."""
        question_words = _WORD.findall(question) if self.has_capital_nouns else []
        return any(before in self.articles and after[0].isupper() for before, after in pairwise(question_words))

    def other_forms(self, word: str, question: str) -> Iterator[str]:
        """Other forms of a word of a question, the closest first, in lower case and without accents, each stem once.

        A function word has none. A noun has only its cases and its plural: "puerto" is not a form of "puerta".

        >>> "presidee" in foreign_languages()["fr"].other_forms("présidé", "Qui a présidé la séance ?")
        True
        """
        normalized = normalize_text(word)
        if not self.stems().isdisjoint(words(normalized)):
            return
        noun, seen_stems = self.is_noun(word, question), {*words(normalized)}
        starts = ("",) if noun else ("", self.participle)
        bare = {normalized} if noun else {normalized, normalized.removeprefix(self.participle)}
        groups = self.noun_endings if noun else (self.endings,)
        changed = {
            (base.removesuffix(end), end, new)
            for base in bare
            for group in groups
            for end in group
            if base.endswith(end)
            for new in group
        }
        for stem, end, new in sorted(changed, key=lambda change: (-len(change[0]), change)):
            if len(stem) < MIN_STEM or not stem.isalpha() or (not noun and _is_of_another_gender(stem, end, new)):
                continue
            for form in (start + stem + new for start in starts):
                if not seen_stems.issuperset(stems := words(form)):
                    seen_stems.update(stems)
                    yield form


@lru_cache(maxsize=64)  # called for each statement that may answer
def foreign_language(question: str, *, least: int = MIN_FUNCTION_WORDS) -> ForeignLanguage | None:
    """The language of a question: the one whose function words are most frequent in it; None for English.

    If two have equally many, the data of both are combined ("Como se instala?" may be Spanish or Portuguese). None too
    for a question that has fewer than `least` of them; one that asks, at its beginning, counts twice, and a capital
    behind an article counts for German: "Wie hoch waren die Einnahmen?" is not Dutch.
    (`generation.languages` guesses the language of texts, of any length, by other words, each of which is frequent in
    few languages.)
    """
    question_words = _WORD.findall(question.casefold())
    times = {
        name: sum(map(language.function_words.__contains__, question_words))
        + (not language.asking.isdisjoint(question_words[:1]))
        + language.has_capital_noun(question)
        for name, language in foreign_languages().items()
    }
    times["es"] += _SPANISH_MARK.search(question) is not None
    most = max(times.values())
    is_foreign = most >= least and most > sum(word in ENGLISH_STOP_WORDS for word in question_words)
    return _merged(tuple(name for name, count in times.items() if count == most)) if is_foreign else None


def in_forms_of(question: str, texts: Iterable[str]) -> str:
    """Rewrite a foreign question's words in the forms that the texts have, where these lack the question's own form.

    >>> in_forms_of("Wie viele Zimmer hat die Wohnung?", ["Die Wohnung besteht aus drei Zimmern."])
    'Wie viele zimmern hat die Wohnung?'
    """
    language = foreign_language(question)
    if language is None:
        return question
    text_words = frozenset(word for text in texts for word in words(text))

    def written(match: re.Match[str]) -> str:
        word = match[0]
        if text_words.issuperset(words(word)):
            return word
        return next((form for form in language.other_forms(word, question) if text_words.issuperset(words(form))), word)

    return _WORD.sub(written, question)


def foreign_function_words(question: str, *, least: int = MIN_FUNCTION_WORDS) -> frozenset[str]:
    """The function words of a question's language, as `core.text.tokens.words` stems them; empty for English.

    >>> sorted(foreign_function_words("O que mostra o penúltimo slide?") & {"o", "que", "slide"})
    ['o', 'que']
    """
    language = foreign_language(question, least=least)
    return frozenset() if language is None else language.stems()


def foreign_answer_words(codes: Iterable[str], key: str) -> tuple[str, ...]:
    """The words under a key of `foreign_answers.toml` for these languages, given by ISO 639-1 codes."""
    return tuple(word for code in sorted(codes) for word in _answer_tables()[code].get(key, ()))


@cache
def permission_words() -> tuple[tuple[str, str], ...]:
    """The words of each language for what may be done, and for what may not, separated by spaces; of English first."""
    tables = _answer_tables().values()
    foreign_pairs = ((" ".join(table.get("allowing", ())), " ".join(table.get("forbidding", ()))) for table in tables)
    return ENGLISH_PERMISSION, *foreign_pairs


@cache
def permission_stems() -> frozenset[str]:
    """The words for what may and may not be done, stemmed: texts may say the same by any of them."""
    return frozenset(words(" ".join(map(" ".join, permission_words()))))


def foreign_asking(question: str, kinds: Iterable[Kind]) -> Iterator[tuple[Kind, list[str]]]:
    """The words that ask for each kind of answer, only in the language of this question: "wie" is "who" in Dutch."""
    language = foreign_language(question)
    tables = [_answer_tables()[code].get("asks", {}) for code in sorted(language.codes if language else ())]
    for kind in kinds:
        if asking_words := [word for table in tables for word in table.get(kind, ())]:
            yield kind, asking_words


@cache
def _answer_tables() -> Mapping[str, Mapping[str, Any]]:
    return shipped_toml(__package__, "foreign_answers.toml")


@cache
def foreign_languages() -> Mapping[str, ForeignLanguage]:
    """The data of each language, by its ISO 639-1 code."""
    return {
        code: ForeignLanguage(
            codes=frozenset({code}),
            function_words=frozenset(table["function_words"]),
            asking=frozenset(table["asking"]),
            light=frozenset(words(" ".join(table["light"]))),
            articles=frozenset(table["articles"]),
            endings=frozenset({"", *table["endings"]}),
            noun_endings=tuple(map(frozenset, table["noun_endings"])),
            has_capital_nouns=table.get("has_capital_nouns", False),
            participle=table.get("participle", ""),
        )
        for code, table in shipped_toml(__package__, "foreign_languages.toml").items()
    }


def _is_of_another_gender(stem: str, end: str, new: str) -> bool:
    """Whether two endings differ in gender, as only those of participles may: "renovado", but not "plato", "plata"."""
    differ = {end[:1], new[:1]} == {"o", "a"} and {end[1:], new[1:]} <= {"", "s"}
    return differ and not (len(stem) >= MIN_PARTICIPLE and stem.endswith(_PARTICIPLES))


@cache
def _merged(names: tuple[str, ...]) -> ForeignLanguage:
    first, *further = (foreign_languages()[name] for name in names)
    return ForeignLanguage(
        codes=frozenset(names),
        function_words=first.function_words.union(*(language.function_words for language in further)),
        asking=first.asking.union(*(language.asking for language in further)),
        light=first.light.union(*(language.light for language in further)),
        articles=first.articles.union(*(language.articles for language in further)),
        endings=first.endings.union(*(language.endings for language in further)),
        noun_endings=tuple(group for language in (first, *further) for group in language.noun_endings),
        has_capital_nouns=any(language.has_capital_nouns for language in (first, *further)),
        participle=next((language.participle for language in (first, *further) if language.participle), ""),
    )


@cache
def _stems_of(language: ForeignLanguage) -> frozenset[str]:
    return frozenset(words(" ".join(language.function_words)))
