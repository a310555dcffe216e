"""Check by rule whether a text has what a question in another language than English asks for.

The words are data (`foreign_answers.toml`), by language: names of months, titles of persons, units and the verbs that
link a thing with its value. What a text tells about a thing itself follows its name, with nothing but such words in
between: "Die Kaution beträgt 1.920 Euro", "Le trésorier, M. Paul Girard".
"""

import re
from collections.abc import Iterable, Sequence, Set
from functools import partial

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import ForeignLanguage, foreign_answer_words, foreign_language
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.foreign.patterns import counted, direct, held_before, pattern
from quoteweave.generation.relevance import NUMBER_KINDS, QuestionTerms, subject_terms

_WORD = lazy_regex(r"[^\W_]+(?:[-’'][^\W_]+)*")
_CLAUSE_END = lazy_regex(r"[;.!?](?=\s)|,\s")
_KINDS_OF_THINGS = frozenset({"date", "place", "amount", "money"})
"""Kinds of questions that are not answered by what a text says about another thing."""


def tells_foreign_kind(text: str, question: QuestionTerms) -> bool | None:
    """Whether a text has the kind of answer that a question in another language asks for; None where that is unknown.

    Who holds a post must be told right beside it. How long something lasts, and how often it is done, must be told in a
    clause with all subject words of the question, because other numbers may belong to anything.
    """
    language = foreign_language(question.text)
    if language is None:
        return None
    asks, question_text, subject = question.asks, question.text, subject_terms(question)
    is_aside = asks in _KINDS_OF_THINGS and any(_is_only_aside(language, text, word, question) for word in subject)
    if is_aside or (asks in NUMBER_KINDS and _is_included(language, text, subject)):
        return False
    if asks in {"amount", "count"} and pattern(language, "how_often").match(question_text):
        return _in_own_clause(text, subject, pattern(language, "every"))
    if words_with_value(text, question):
        return True
    if asks in {"person", "count"}:
        return _names(language, text, question_text) if asks == "person" else _counts(language, text, subject)
    return _tells_value(language, text, question)


def _names(language: ForeignLanguage, text: str, question: str) -> bool | None:
    """Whether a text names a person with a title, or says by whom something is done; False for who holds a post."""
    if holder := pattern(language, "holder").match(question):
        return False if holder["the"] else None  # "Wer ist Ada Byron?" asks for no name
    return any(pattern(language, kind).search(text) for kind in ("titled", "done")) or None


def _counts(language: ForeignLanguage, text: str, subject: Sequence[str]) -> bool | None:
    """Whether a number stands before what is counted, and is the total of that: "45 junge Mitglieder" are not all."""
    if pattern(language, "changed").search(text):
        return False
    numbers = [match for match in counted().finditer(text) if words(match["noun"])[:1] == subject[:1]]
    is_all = any(set(words(match["which"] or "")).issubset(subject) for match in numbers)
    return is_all if numbers else None


def _tells_value(language: ForeignLanguage, text: str, question: QuestionTerms) -> bool | None:
    """Whether a clause with all subject words of the question tells a date, a place or an amount of its kind."""
    kind = _amount_kind(language, question) if question.asks == "amount" else question.asks
    if kind not in _KINDS_OF_THINGS | {"time", "size"}:
        return None
    if kind == "size" and not pattern(language, kind).search(text):
        return False
    if kind != "place" and pattern(language, "when").search(text):
        return True if kind == "date" else None
    tells = _in_own_clause(text, subject_terms(question), pattern(language, kind))
    return tells or (False if kind == "time" else None)


def _in_own_clause(text: str, subject: Iterable[str], kind_pattern: re.Pattern[str]) -> bool:
    """Whether a clause that has all words of the subject matches."""
    clauses = (clause for clause in _CLAUSE_END.split(text) if set(subject) <= set(words(clause)))
    return any(kind_pattern.search(clause) for clause in clauses)


def foreign_reason(text: str, question: QuestionTerms) -> "re.Match[str] | None":
    """The match where a text begins to give a reason, if the question is in another language than English."""
    language = foreign_language(question.text)
    return None if language is None else pattern(language, "because").search(text)


def words_with_value(text: str, question: QuestionTerms, texts: Iterable[str] = ()) -> frozenset[str]:
    """The subject words of a question that have the value asked for right beside them in a text.

    Words for which one of `texts` gives another value are left out, as neither value is surely the one asked for.

    >>> from quoteweave.generation.relevance import question_terms
    >>> words_with_value("Die Kaution beträgt 300 Euro.", question_terms("Wie hoch ist die Kaution?"))
    frozenset({'kaution'})
    """
    language = foreign_language(question.text)
    if language is None:
        return frozenset()
    values_of_words = {word: _values(language, text, word, question) for word in subject_terms(question)}
    values_of_words = {word: values for word, values in values_of_words.items() if values}
    other_texts = list(texts) if values_of_words else []
    return frozenset(
        word
        for word, values in values_of_words.items()
        if all(_values(language, other_text, word, question) <= values for other_text in other_texts)
    )


def _values(language: ForeignLanguage, text: str, word: str, question: QuestionTerms) -> Set[str]:
    """What a text gives beside a word, as written, if it belongs to what the word names and not to a part of it."""
    asks = question.asks
    kind = _amount_kind(language, question) if asks in {"amount", "money"} else str(asks)
    if kind not in {"date", "person", "money", "time", "size", "amount", "yes_or_no"}:
        return set()
    words_of_question = {token.casefold() for token in _WORD.findall(question.text)}
    values, is_past = set[str](), pattern(language, "past").search(question.text) is not None
    for place in _WORD.finditer(text):
        before = text[: place.start()]
        if words(place[0]) != [word] or _is_of_another(language, before, words_of_question, ("of", "places")):
            continue
        behind = direct(language, kind, is_past=is_past).match(text, place.end())
        holder = held_before(language).search(before) if kind == "person" and not behind else None
        values.update(" ".join(match["value"].split()) for match in (behind, holder) if match is not None)
    return values


def _is_included(language: ForeignLanguage, text: str, subject: Iterable[str]) -> bool:
    """Whether a text has the thing asked about only as included in the price of another: "compreso il biglietto"."""
    match = pattern(language, "including").search(text)
    return match is not None and set(subject).isdisjoint(words(text[: match.start()]))


def _is_only_aside(language: ForeignLanguage, text: str, word: str, question: QuestionTerms) -> bool:
    """Whether a text has a word only where it tells something else about it, while the question does not."""
    places = [match.start() for match in _WORD.finditer(text) if word in words(match[0])]
    question_words = {token.casefold() for token in _WORD.findall(question.text)}
    return bool(places) and all(_is_of_another(language, text[:at], question_words, ("of",)) for at in places)


def _is_of_another(language: ForeignLanguage, before: str, question_words: Set[str], kinds: Iterable[str]) -> bool:
    """Whether the words before a word show that the text is about something else than the word's thing.

    "Die Verzinsung der" Kaution is not the deposit, and "dopo la" cena not the dinner, but "die Höhe der" Kaution is.
    """
    table = partial(foreign_answer_words, language.codes)
    words_before = [match[0].casefold() for match in _WORD.finditer(_CLAUSE_END.split(before)[-1])]
    of, aside = {word for kind in kinds for word in table(kind)}, set(table("aside")) - question_words
    while words_before and words_before[-1] in language.articles - of:
        words_before.pop()
    if not words_before or words_before[-1] not in of | aside:
        return False
    own_words = {
        *language.function_words,
        *table("measures"),
        *table("links"),
        *table("happens"),
        *question_words,
    } - aside
    alone = words_before[-1] not in language.articles  # in German, an article may belong to several cases
    return words_before[-1] in aside or (words_before[-2] not in own_words if words_before[1:] else alone)


def _amount_kind(language: ForeignLanguage, question: QuestionTerms) -> str:
    """The kind of amount asked for: money, a time, a size, or any amount."""
    if question.asks == "money":
        return "money"
    begun = (kind for kind in ("lasting", "sizes") if pattern(language, kind).match(question.text))
    return {"lasting": "time", "sizes": "size", "": "amount"}[next(begun, "")]
