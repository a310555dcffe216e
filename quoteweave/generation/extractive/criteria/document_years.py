"""Tells which years documents are of, and statements in them."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.times import past_years
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.extractive.tables.asked_names import says_calendar_year
from quoteweave.generation.gate.dates import RECENT_YEAR
from quoteweave.generation.relevance import QuestionTerms, quote_words

_YEAR_WITHIN = lazy_regex(rf"(?<!\d){RECENT_YEAR.pattern}(?!\d)")

# "Last year 300 guests came", and "Until 2024 a ticket cost 4 euros".
_OF_EARLIER_YEAR = lazy_regex(
    r"^\W*(?:in\s+)?(?:last\s+year|the\s+previous\s+year|the\s+year\s+before)\b|\b(?:until|till|before)\s+(?:19|20)\d\d\b",
    re.IGNORECASE,
)

# "This year", which is another than the one of "Last year".
_RELATIVE_TIME = lazy_regex(
    r"\b(?P<which>this|last|next)\s+(?P<span>year|month|week|season|spring|summer|autumn|winter)\b", re.IGNORECASE
)
# Behind the number, a clause of another time that has none: "The rent is 400 euros and will rise next year."
_LATER_CLAUSE = lazy_regex(
    r"\D*\d.*?(?P<clause>\b(?:and|but|which)\s+(?:(?:it|they)\s+)?(?:will|would|may|might|should)\s\D+$)", re.IGNORECASE
)

# A year that is that of the whole sentence: "In 2014 the firm sold 310 boats", "It was opened in May 2023".
_YEAR_OF_ALL = lazy_regex(
    rf"^\W*(?:in|during)\s+(?:\w+\s+)?(?P<first>{RECENT_YEAR.pattern})\b"
    rf"|^(?!.*\b(?:than|compared|since|from|between|until|to)\b).*\b(?:in|during)\s+(?:\w+\s+)?(?P<last>{RECENT_YEAR.pattern})\W*$",
    re.IGNORECASE,
)


class DocumentYears:
    """The years of documents, by the words that were found of each, with their numbers, and those of its title."""

    def __init__(
        self,
        question: QuestionTerms,
        documents: Mapping[str, Counter[str]],
        titles: Mapping[str, frozenset[str]],
    ) -> None:
        self._question, self._documents, self._titles = question, documents, titles
        self._most = {
            name: max((counts[year] for year in filter(RECENT_YEAR.fullmatch, counts)), default=0)
            for name, counts in documents.items()
        }

    def is_most_frequent(self, year: str, document: str) -> bool:
        """Whether a word is the year most frequent in a document, which its statements need not repeat."""
        count = self._documents[document][year]
        return RECENT_YEAR.fullmatch(year) is not None and count > 0 and count >= self._most.get(document, 0)

    def is_about_another(self, statement: Statement) -> bool:
        """Whether a statement is about another year than the question's, which is neither in it nor right above it.

        In a report of 2021, the text under "2020" is about 2020. "Calendar 2021" is not fiscal 2021.
        """
        if _is_of_another_time(statement.text, self._question.text):
            return True
        own_words = quote_words(statement.quote) if statement.quote.kind == "image" else statement.words
        words_around = {*own_words, *words(f"{statement.before}\n{statement.quote.section or ''}")}
        asked_years = set(filter(RECENT_YEAR.fullmatch, self._question.names))
        own_years = set(filter(RECENT_YEAR.fullmatch, statement.words))
        of_another = bool(asked_years and own_years) and asked_years.isdisjoint(words_around | own_years)
        if asked_years and asked_years.isdisjoint(own_years) and _OF_EARLIER_YEAR.search(statement.text):
            return True
        if asked_years and asked_years.isdisjoint(own_years) and _year_of_all(statement) - asked_years:
            return True
        return of_another or says_calendar_year(self._question, statement.text) or self._was_in_another_year(statement)

    def _was_in_another_year(self, statement: Statement) -> bool:
        """Whether a statement tells what was so in another year than the document's: "In 2010 the fee was 20 euros"."""
        years = frozenset[str]() if statement.is_of_cells else past_years(statement.text, self._question.text)
        name, document = statement.document, self._documents[statement.document]
        own_years = {word for word in self._titles.get(name, frozenset()) if RECENT_YEAR.fullmatch(word)}
        own_years.update(_YEAR_WITHIN.findall(name))  # "report_2016.06.08.pdf"
        own_years = own_years or {word for word in years if 1 < document[word] == self._most.get(name)}
        return bool(years) and years.isdisjoint(own_years)


def _is_of_another_time(text: str, question: str) -> bool:
    """Whether a text is of last year where the question asks for this year, or the like."""
    later = _LATER_CLAUSE.match(text)
    asked_times, stated_times = map(_relative_times, (question, text[: later.start("clause")] if later else text))
    later_times = _relative_times(later["clause"]) if later else {}
    return any(
        determiners.isdisjoint(stated_times[span])
        if span in stated_times
        else span in later_times and not determiners.isdisjoint(later_times[span])
        for span, determiners in asked_times.items()
    )


def _relative_times(text: str) -> Mapping[str, set[str]]:
    """The times that a text gives from the day of its writing, by their spans: "this" and "last", for "year"."""
    times = defaultdict[str, set[str]](set)
    for match in _RELATIVE_TIME.finditer(text.casefold()):
        times[match["span"]].add(match["which"])
    return times


def _year_of_all(statement: Statement) -> frozenset[str]:
    """The year in which all that a sentence tells was so, whatever year its heading names."""
    year = None if statement.is_of_cells else _YEAR_OF_ALL.match(statement.text)
    return frozenset(filter(None, year.group("first", "last"))) if year else frozenset()
