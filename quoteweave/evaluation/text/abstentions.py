"""Recognise a response that only abstains, if no outcome of its answer was stored.

Fixed phrases are recognised, and only as a whole answer: one with another sentence, or one that says what the documents
do not tell ("They do not say how much was shipped"), may contain information, and counts like any other answer.
"""

from quoteweave.core.examples import Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.evaluation.text.responses import scored_text

MAX_LENGTH = 400
"""The most characters of a text that is checked; longer ones say more than that there is no answer."""

_SOURCES = (
    r"(?:(?:the|this|these|any of the|my) )?(?:(?:provided|given|above|available|retrieved|supplied) )?"
    r"(?:documents?|quotes?|contexts?|passages?|sources?|texts?|information|evidence|search results)"
    r"(?: (?:provided|given|above))?"
)
_QUESTION = r"(?:(?:the|this|your|that) )?(?:(?:given|asked) )?question"
_FROM = rf"(?: (?:(?:based )?(?:up)?on|from|by|with|in|using|given) {_SOURCES})?"
_TO_ANSWER = rf"(?: (?:to answer|for answering|about) {_QUESTION})?"
_CANNOT = r"can(?:not|'t| not)"
_INFORMATION = (
    r"(?:(?:enough|sufficient|any|the|relevant|the necessary|any relevant|no) )*(?:information|evidence|answer|details)"
)
_PHRASES = (
    rf"(?:{_QUESTION} )?(?:is |it is )?(?:not answerable|unanswerable|{_CANNOT} be answered){_FROM}",
    rf"{_SOURCES} (?:do(?:es)?(?: not|n't)|{_CANNOT}) answer {_QUESTION}",
    rf"{_SOURCES} do(?:es)?(?: not|n't) (?:contain|provide|include|have|give|offer) {_INFORMATION}{_TO_ANSWER}",
    rf"(?:there is|there's) (?:no|not enough|insufficient) {_INFORMATION}(?: in {_SOURCES})?{_TO_ANSWER}{_FROM}",
    rf"(?:no|insufficient|not enough) (?:information|evidence|answer)(?: (?:found|available))?{_FROM}{_TO_ANSWER}",
    rf"(?:the )?answer (?:{_CANNOT} be|is not|was not) (?:found|determined|given|available){_FROM}",
    rf"i(?: am|'m)? (?:{_CANNOT}|unable to|not able to) (?:answer|provide an answer to) {_QUESTION}{_FROM}",
    rf"i do(?: not|n't) know(?: the answer)?(?: to {_QUESTION})?",
)
_ABSTENTION = lazy_regex("|".join(f"(?:{phrase})" for phrase in _PHRASES))
_APOLOGY = lazy_regex(
    r"(?:(?:i'm |i am )?sorry|unfortunately|i apologi[sz]e)(?:,? but)?,? |based (?:up)?on [a-z ]{1,60}, "
)
_AROUND = " .!\"'*_`"


def is_abstention(text: str) -> bool:
    """Whether a text states only that the question cannot be answered.

    >>> is_abstention("Sorry, but the provided quotes do not contain enough information to answer the question.")
    True
    >>> is_abstention("The documents do not say how much grain was shipped.")
    False
    """
    if len(text) > MAX_LENGTH:
        return False
    plain = " ".join(text.lower().replace("\u2019", "'").split()).strip(_AROUND)
    while (begins := _APOLOGY.match(plain)) is not None:
        plain = plain[begins.end() :]
    return _ABSTENTION.fullmatch(plain) is not None


def only_abstains(prediction: Prediction) -> bool:
    """Whether the answer in a response says only that the question cannot be answered."""
    text = scored_text(prediction, "own")
    return text is not None and is_abstention(text)
