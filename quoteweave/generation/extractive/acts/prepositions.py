"""Check by rule whether a statement tells what a question asks for with a preposition: "By when", "To whom".

"The pool opens on 3 May" does not tell until when it is open, and "Ada Byron returned the keys" does not tell to whom.
The rules are for English only.
"""

import re

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, with_words_alike
from quoteweave.core.text.question_words import listed_words, verbs_of
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.instructions import tells_to_do
from quoteweave.generation.extractive.acts.times import WITHIN_A_TIME
from quoteweave.generation.gate.dates import CALENDAR_WORDS, MONTH_NAMES
from quoteweave.generation.relevance import QuestionTerms

_ASKS_BY_PREPOSITION = lazy_regex(
    r"\W*(?P<preposition>by|until|till|since|from|to|into|with|for|on|in|at|under|through|against|via)\s+"
    r"(?:(?P<word>when|where|whom)\b|(?:which|what)\s+(?P<noun>(?:\w+\s+){0,2}?\w+)\s+"
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will|would)\b)",
    re.IGNORECASE,
)
_ASKS_BY_LAST_PREPOSITION = lazy_regex(
    r"(?P<word>who)m?\s+(?:do|does|did|can|must|should|will)\s.+\s(?P<preposition>to|with|for|from)\W*$", re.IGNORECASE
)
_MONTH = rf"(?-i:{MONTH_NAMES})\b"
_TIME = (
    r"(?:\w+\s+){0,3}?(?:(?:1[5-9]|20)\d\d\b|\d{1,2}[.:]\d|\d{1,2}\s?[ap]\.?m\b"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}|{_MONTH}|(?:noon|midday|midnight|dusk)\b"
    r"|(?:the\s+)?(?:end|start|beginning|middle|\w+(?:st|nd|rd|th))\s+(?:of\b|day|week|month|quarter|semester|term|year))"
)
_OR_WITHIN = rf"|{WITHIN_A_TIME}\b"
_BEFORE_TIME = {
    preposition: lazy_regex(
        rf"(?:\b(?:{signs})\b(?!\s+the\s+\w+\s+of\s+\d)|[–-])\s*{_TIME}{_OR_WITHIN if preposition == 'by' else ''}",
        re.IGNORECASE,
    )
    for preposition, signs in {
        "by": "by|until|till|before|latest|later than|is|due|deadline|expir\\w+|ends?",
        "until": "until|till|to|through|up to|ends?|ended|clos\\w+|expir\\w+",
        "since": "since|from|as of|began|begins?|start\\w*|opened|founded",
        "from": "from|since|as of|begins?|began|start\\w*|opens?|opened|after",
    }.items()
}
_BEFORE_TIME["till"] = _BEFORE_TIME["until"]
# A name after a preposition, which may have several words.
_CAPITAL = r"(?-i:[A-ZÀ-Þ])[\w&.'’-]*"
_NAME = rf"(?:the\s+|both\s+)?(?P<name>{_CAPITAL}(?:\s+(?:(?:of|and)\s+(?:the\s+)?)?{_CAPITAL})*)"
_POST = r"(?:(?:the|our|your)\s+[a-zß-ÿ]+(?:\s+[a-zß-ÿ]+)?,\s+)?"  # "to the treasurer, Ada Byron"
# A name that ends the phrase: "in English houses" names no language.
_LANGUAGES = lazy_regex(
    rf"\b(?P<preposition>\w+)\s+{_NAME}"
    r"(?=\s*(?:[^\w\s]|$)|\s+(?:and|or|by|with|for|at|on|in|to|during|between|from|as)\b)",
    re.IGNORECASE,
)
_CLAUSE = lazy_regex(r";\s|,\s+(?:and|but|while|whereas)\s", re.IGNORECASE)
# Things that a name alone can tell, unlike a method or a purpose.
_HAS_NAME = lazy_regex(
    r"\b(?:company|firm|exchange|market|supplier|bank|organi[sz]ation|agency|institution|university|club|team|party|group"
    r"|operator|manufacturer|maker|publisher|airline|insurer|partner|client|customer|person|author|court|ministry|body"
    r"|association|foundation|society|brand)$",
    re.IGNORECASE,
)
_NAMES_ONE = frozenset({"on", "with", "for", "to", "from", "by", "under", "through", "against", "via"})
"""Prepositions that, after a verb, precede a name of the kind asked for: "traded on the Merrow Market".

"Held in Merrow" names no language.
"""


def asking_words(question: QuestionTerms) -> frozenset[str]:
    """The subject's words that only say what is asked for: "exchange", in "On which exchange is it traded?"."""
    if question.asks == "contact":
        called = frozenset(words(f"{question.asked_by} telephone phone"))
        return called if len(question.subject - called) > 0 else frozenset()
    return _noun_after_preposition(question.text) if question.asks == "statement" else frozenset()


def _noun_after_preposition(question: str) -> frozenset[str]:
    """The stems of the noun that a question asks for with a preposition, as in "On which exchange is it traded?".

    >>> sorted(_noun_after_preposition("On which stock exchange is it traded?"))
    ['exchang', 'stock']
    """
    match = _ASKS_BY_PREPOSITION.match(question[:MAX_ANALYSED_CHARACTERS])
    return frozenset(words(match["noun"])) if match and match["noun"] else frozenset()


def asks_whom(question: str) -> bool:
    """Whether a question asks to, with or for whom something is done: "To whom must the keys be returned?"."""
    match = _ASKS_BY_PREPOSITION.match(question[:MAX_ANALYSED_CHARACTERS])
    if match is None:
        return _ASKS_BY_LAST_PREPOSITION.match(question[:MAX_ANALYSED_CHARACTERS]) is not None
    return (match["word"] or "").casefold() == "whom" and match["preposition"].casefold() != "by"


def tells_after_preposition(text: str, question: QuestionTerms) -> bool:
    """Whether a text has what a question asks for after its first preposition; True for questions without one."""
    question_text = question.text[:MAX_ANALYSED_CHARACTERS]
    asked_noun = _ASKS_BY_PREPOSITION.match(question_text) or _ASKS_BY_LAST_PREPOSITION.match(question_text)
    if asked_noun is None:
        return True
    preposition, word = asked_noun["preposition"].casefold(), (asked_noun["word"] or "").casefold()
    if word == "when":
        form = _BEFORE_TIME.get(preposition)
        return form is None or any(form.search(clause) for clause in _own_clauses(text, question))
    if word:
        names = re.finditer(rf"(?P<before>[\w'’-]+)\s+{preposition}(?:to)?\s+{_POST}{_NAME}", text, re.IGNORECASE)
        return (word, preposition) == ("whom", "by") or any(_is_of_act(name, question) for name in names)
    return _tells_noun_after_preposition(text, question, preposition, asked_noun["noun"])


def _tells_noun_after_preposition(text: str, question: QuestionTerms, preposition: str, noun: str) -> bool:
    """Whether a text has the noun of "On which exchange", or the name of one after the verb and the preposition."""
    if question.asks != "statement" or not _noun_after_preposition(question.text).isdisjoint(words(text)):
        return True
    if "language" in noun.casefold():
        languages = (match[0] for match in _LANGUAGES.finditer(text) if match["preposition"].casefold() == preposition)
        return any(not listed_words("language_names").isdisjoint(words(name, stem=False)) for name in languages)
    return (
        preposition in _NAMES_ONE
        and _HAS_NAME.search(noun) is not None
        and any(
            _is_verb(verb_and_name["verb"], question) and _is_new(verb_and_name["name"], question)
            for verb_and_name in re.finditer(rf"\b(?P<verb>\w+)\s+{preposition}\s+{_NAME}", text, re.IGNORECASE)
        )
    )


def _own_clauses(text: str, question: QuestionTerms) -> list[str]:
    """The clauses of a text that have all those words of the question's subject that the text has."""
    shared_words = question.subject & set(words(text))
    return [clause for clause in _CLAUSE.split(text) if shared_words <= set(words(clause))]


def _is_of_act(match: "re.Match[str]", question: QuestionTerms) -> bool:
    """Whether a name after a preposition fits the act: not in "The ferry from Osk leaves", nor a place for "whom"."""
    before, last = set(words(match["before"])), match["name"].rstrip(".").split()[-1].casefold()
    of_act = verbs_of(question.text).union(words(question.text)[-1:])  # "With whom did the club sign the contract?"
    of_thing = not before.isdisjoint(question.subject - of_act)
    of_thing = of_thing and not tells_to_do(match.string, question.text)  # "Return the keys to Ada Byron"
    is_place = question.asks == "person" and last in listed_words("place_nouns")
    is_same = not question.names.isdisjoint(words(match["name"]))  # "Who does Ms Bell report to?"
    return _is_new(match["name"], question) and not (of_thing or is_place or is_same)


def _is_new(name: str, question: QuestionTerms) -> bool:
    """Whether a name is not in the question, and is no month or day of the week."""
    new_words = set(words(name))
    return bool(new_words) and new_words.isdisjoint(CALENDAR_WORDS) and not new_words <= set(question.terms)


def _is_verb(word: str, question: QuestionTerms) -> bool:
    """Whether a word is one of the question's, or means the same as one."""
    question_words = set(question.terms) - question.names
    return not with_words_alike(frozenset(words(word)), question_words).isdisjoint(question_words)
