"""Tell whether what a statement gives is that of another than a question asks about, by the names in both.

A document need not repeat what it is about: "the fee" is its own, and so is the fee of the club in its title. What a
statement says of another that it names answers for neither: "Our rival Vesterbo has 90 members", "The fee of the Skiff
Club is 90 euros". The rules are for English and German, and use only names, the words beside them and their order.
"""

import itertools
import re
from collections.abc import Set

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import foreign_language
from quoteweave.core.text.question_words import verbs_of
from quoteweave.core.text.tokens import WORD, name_words, words
from quoteweave.generation.extractive.acts.clauses import IRREGULAR
from quoteweave.generation.extractive.asked_nouns import asked_noun
from quoteweave.generation.extractive.criteria.antecedents import says_we_of_others
from quoteweave.generation.extractive.statements import Statement, quotes_of
from quoteweave.generation.gate.dates import CALENDAR_WORDS, is_of_date
from quoteweave.generation.relevance import NUMBER_KINDS, QuestionTerms, with_all_alike
from quoteweave.generation.sentence_kinds import INSTRUCTION

MAX_LEADING = 8
"""The most words at the beginning of a sentence among which the name of what it is about is looked for."""

_VALUE_KINDS = NUMBER_KINDS | {"date", "contact", "yes_or_no"}
_ASKS_FOR_HOLDER = lazy_regex(
    r"\W*(?:who(?:['’]s|\s+(?:is|are|was|were))\s+(?:the|our|your|its|their)|wer\s+(?:ist|war)\s+(?:der|die))\s",
    re.IGNORECASE,
)
_FINITE_VERB = rf"(?:is|are|was|were|has|have|had|will|can|may|must|do|does|did|shall|should|\w{{2,}}ed|{IRREGULAR})"
_VERB = lazy_regex(_FINITE_VERB, re.IGNORECASE)
_NAME = r"[A-ZÀ-Þ][\w-]*(?:['’](?!s\b)\w+)*"
# A word with a capital after one in small letters.
_NAME_WITHIN = lazy_regex(rf"(?<=[a-zß-ÿ],\s|[a-zß-ÿ]\w\s){_NAME}")
# The rest of a name right before a verb, a comma or another noun: "Club has", of "The Skiff Club has", "In Osk a boat".
# Who "reported that" something is so does not own it.
_BEHIND_NAME = lazy_regex(
    rf"(?P<rest>(?:\s+{_NAME})*)(?!\s+\w+\s+that\b)(?:,|\s+(?:{_FINITE_VERB}|[a-z]{{2,}}s|the|an?|our)\b)"
)
# In German, any noun has a capital; a name stands behind another noun: "Der Nachbarverein TSV", "Das Bad in Selb".
_OF_GERMAN = rf"(?:(?:in|von|aus|bei)\s+|(?:des|der)\s+(?={_NAME}\s{_NAME}))"
_LEADING_GERMAN = lazy_regex(rf"\W*[A-ZÀ-Þ]\w*\s+(?:[a-zß-ÿ]+\s+){{0,2}}?{_NAME}\s+{_OF_GERMAN}?(?P<name>{_NAME})")
# "The fee of the Skiff Club", "Mayor Ida Holm of Varde", "der Bürgermeister von Brunn"; "Oakley's fee".
_OWNED = lazy_regex(
    rf"(?P<noun>[\w-]+)\s+(?:(?:of|von|vom)\s+(?P<thing>(?:(?!{_FINITE_VERB}\b)[a-zß-ÿ]+\s+){{0,3}}?)"
    rf"|(?:des|der)\s+(?={_NAME}\s{_NAME}))"
    rf"(?P<name>{_NAME}(?:\s{_NAME})*)"
)
_OWNS = lazy_regex(
    rf"(?P<name>(?!(?:The|This|Our|Your)\s){_NAME}(?:\s+{_NAME})*)['’]s?\s+(?P<thing>)(?:[a-z]+\s+)?(?P<noun>[\w-]+)"
)
# "Rovers captain Ada Byron"
_BEFORE_HOLDER = lazy_regex(rf"(?P<name>{_NAME})\s+(?P<thing>)(?P<noun>[a-zß-ÿ]+)\s+(?={_NAME}\s{_NAME})")
_NAME_IN_TITLE = lazy_regex(rf"{_NAME}(?:\s+(?:of\s+(?:the\s+)?)?{_NAME})*")
_SAYS_OTHER = lazy_regex(r"\b(?:other|another|neighbou?ring)\b", re.IGNORECASE)
# "Their hall has", "The neighbouring club has"
_OF_OTHERS = lazy_regex(rf"\W*(?:(?:Their|His|Her)\s|(?:(?!{_FINITE_VERB}\b)[\w-]+\s+){{0,3}}?{_SAYS_OTHER.pattern})")
_BEHIND_ARTICLE = lazy_regex(r"\b(?:the|this|our|your)\s+$", re.IGNORECASE)
_BEFORE_NOUN = lazy_regex(rf"\s(?!{_FINITE_VERB}\b)[a-z]", re.IGNORECASE)
_PAID_TO = lazy_regex(rf"\s(?:charged|demanded|asked|levied|taken)\s+(?:by|at)\s+(?:the\s+)?({_NAME})")
_APPOSITION = lazy_regex(r"[^,]*(?=,)")


class Owners:
    """Tells which statements of a context are about another than a question asks about."""

    def __init__(self, question: QuestionTerms, context: Context) -> None:
        self._question, self._context = question, context
        self._asks_for_holder = question.asks == "person" and _ASKS_FOR_HOLDER.match(question.text) is not None
        self._asks_value = question.asks in _VALUE_KINDS or (
            question.asks == "statement" and bool(asked_noun(question))
        )
        language = foreign_language(question.text)
        self._is_german = language is not None and "de" in language.codes
        self._are_names_known = language is None or self._is_german
        self._verbs, self._nouns = verbs_of(question.text), with_all_alike(question.terms)
        self._names = frozenset(name for name in question.names if not is_of_date(name))
        self._names_within = dict[str, frozenset[str]]()

    def is_another(self, statement: Statement) -> bool:
        """Whether a statement gives what another owns than the question asks about, or what a speaker says of "us"."""
        return says_we_of_others(statement, self._question) or self._names_another(statement)

    def _names_another(self, statement: Statement) -> bool:
        """Whether a statement names an owner of what is asked for whom question and title do not name, or says "other".

        The title must be known. Where a sentence begins with "It" or "Their", its owner is in the one before it.
        """
        title = self._words_of_title(self._context.titles.get(statement.document, ""))
        if statement.is_of_cells or not (title and self._are_names_known):
            return False
        if not (self._asks_value or self._asks_for_holder):
            return False
        known = title.union(self._question.terms, name_words(statement.document), CALENDAR_WORDS)
        is_named = self._names.issubset({*statement.words, *words(statement.before)})
        thing_nouns = self._nouns - self._verbs - title if is_named else frozenset[str]()
        names = [name for text in (statement.before, statement.text) for name in self._owners(text, thing_nouns)]
        if self._asks_value:
            if _OF_OTHERS.match(statement.text) and not _SAYS_OTHER.search(self._question.text):
                return True
            names += self._leading_names(statement.before or statement.text, statement.document, thing_nouns)
        # "The Skiff Club" is not the club of the title, and "des Rudervereins Holm" tells its name last.
        telling = [words(name)[: None if self._is_german else 1] for name in names]
        return any(stems and known.isdisjoint(stems) for stems in telling)

    def _words_of_title(self, title: str) -> frozenset[str]:
        """A title's words, without the names beside the one whose holder is asked for: "Rovers beat City"."""
        names = [frozenset(words(match[0])) for match in _NAME_IN_TITLE.finditer(title)]
        asked_names = [name for name in names if self._asks_for_holder and not self._names.isdisjoint(name)]
        other_names = [name for name in names if asked_names and self._names.isdisjoint(name)]
        return frozenset(words(title)).difference(*other_names)

    def _owners(self, text: str, thing_nouns: Set[str]) -> list[str]:
        """The names of those that have what is asked for, or whose office somebody has, or who take money.

        "The architect of the school in Teich" tells who the architect of the school is, and "the National Survey of
        Latinos" is the name of a survey.
        """
        names = _PAID_TO.findall(text) if self._question.asks in {"money", "amount"} else []
        for match in (match for pattern in (_OWNED, _OWNS, _BEFORE_HOLDER) for match in pattern.finditer(text)):
            is_name = match["noun"][0].isupper() and match.start("noun") > 0 and not self._is_german
            is_asked = self._asks_for_holder if is_name else not self._nouns.isdisjoint(words(match["noun"]))
            is_role = _is_role(match["name"], text, match.start("name"))
            if is_asked and not is_role and thing_nouns.isdisjoint(words(match["thing"] or "")):
                names.append(match["name"])
        return names

    def _leading_names(self, text: str, document: str, thing_nouns: Set[str]) -> list[str]:
        """The name of what a sentence is about, before its verb, unless it is that of one of the `thing_nouns`.

        "The Skarn Tower is 80 metres high" tells how high the tower is, if the title is about no tower.
        """
        if self._is_german:
            leading = _LEADING_GERMAN.match(text)
            return [leading["name"]] if leading else []
        if INSTRUCTION.match(text):
            return []
        before = set[str]()
        for at, match in enumerate(itertools.islice(WORD.finditer(text), MAX_LEADING)):
            stems = frozenset(words(match[0]))
            if _VERB.fullmatch(match[0]) or not stems.isdisjoint(self._verbs) or "(" in text[: match.start()]:
                break
            is_name = match[0] in self._names_in(document) if not at else match[0][0].isupper()
            behind = _BEHIND_NAME.match(text, match.end()) if is_name and stems - CALENDAR_WORDS else None
            if behind is not None and not _is_role(f"{match[0]}{behind['rest']}", text, match.start()):
                # "Ella Strand, the mayor, was elected" tells when the mayor was elected.
                apposition = _APPOSITION.match(text, behind.end()) if behind[0].endswith(",") else None
                if apposition is not None and not self._nouns.isdisjoint(words(apposition[0])):
                    return []
                return [match[0]] if thing_nouns.isdisjoint(before.union(words(behind["rest"]))) else []
            before |= stems
        return []

    def _names_in(self, document: str) -> frozenset[str]:
        """The words that a document's sentences have with a capital behind small letters."""
        if document not in self._names_within:
            texts = (quote.text for quote in quotes_of(self._context, document))
            self._names_within[document] = frozenset(name for text in texts for name in _NAME_WITHIN.findall(text))
        return self._names_within[document]


def _is_role(name: str, text: str, start: int) -> bool:
    """Whether a single word with a capital and an article is what a document calls itself or a party: "the Company".

    A noun may not follow: "the Varde council".
    """
    is_alone = " " not in name and _BEHIND_ARTICLE.search(text[:start]) is not None
    return is_alone and _BEFORE_NOUN.match(text, start + len(name)) is None
