"""Tell what "It" and "We" at the beginning of a sentence stand for."""

import re
from collections.abc import Sequence, Set

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import name_words, words
from quoteweave.core.text.units import dimensions_in
from quoteweave.generation.extractive.acts.asked_acts import tells_asked_act
from quoteweave.generation.extractive.named.answer_names import ASKS_WHO_DID
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.dates import RECENT_YEAR
from quoteweave.generation.relevance import QuestionTerms, says_all

_SAYS_WE = lazy_regex(r"We\s")
_ADDRESSED = lazy_regex(r"\b(?:to|for)\s.*", re.IGNORECASE)


def words_named_before(
    statement: Statement, question: QuestionTerms, subject: Sequence[str], asked_noun: Set[str]
) -> frozenset[str]:
    """The words of the sentence that says what "It" is, if the statement itself tells what is asked about it.

    It does so if it has the last word of the subject, if it tells the quantity asked for ("It weighs 46 kg"), or, for
    who did something, if it tells the act ("It was founded by Ada Byron").
    """
    if not statement.before:
        return frozenset()
    quantity, did = question.quantity, ASKS_WHO_DID.match(question.text)
    last = words(did["verb"]) if did else [word for word in subject if not RECENT_YEAR.fullmatch(word)][-1:]
    tells_itself = any(noun and says_all(statement.words, noun) for noun in (last, asked_noun))
    if quantity is not None and not quantity.named.union(words(question.asked_by)).isdisjoint(statement.words):
        tells_itself = tells_itself or not quantity.dimensions.isdisjoint(dimensions_in(statement.text))
    return frozenset(words(statement.before)) if tells_itself else frozenset()


def words_for_us(statement: Statement, question: QuestionTerms, context: Context) -> frozenset[str]:
    """The words of a document's name and title, for whose people "we" stands, if they do what is asked.

    In a "Letter to parents", these are not the parents.
    """
    if _SAYS_WE.match(statement.text) is None or not tells_asked_act(statement.text, question.text):
        return frozenset()
    title = _ADDRESSED.sub(" ", context.titles.get(statement.document, ""))
    return frozenset(name_words(statement.document)).union(words(title))
