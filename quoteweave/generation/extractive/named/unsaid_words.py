"""Words of a question that a text on it need not have: a year as a bound, "the company", a label that is not there."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS
from quoteweave.core.text.references.mentions import without_places
from quoteweave.core.text.tokens import name_words, words
from quoteweave.generation.answer_text import join_with_and
from quoteweave.generation.gate.dates import MONTH_NAMES, WEEKDAY

MAX_LABELS = 4
"""The most labels that texts have instead of the one asked for, in a note."""

_TIME_OF_YEAR = lazy_regex(
    r"\b(?:in|on|during|at)\s+(?:the\s+)?(spring|summer|autumn|winter|fall|weekends?|holidays|night"
    rf"|{WEEKDAY}s?|(?-i:{MONTH_NAMES}))\b",
    re.IGNORECASE,
)
_CALLED = lazy_regex(
    r"\b(?:the|this|your)\s+(company|firm|organi[sz]ation|corporation|business|enterprise|institution|association|(?:co-?op(?:erative)?)|society"
    r"|charity|foundation|agency|device|appliance|product|machine)\b(?!\s+(?!has|have|is|are|was|were|does|do|did|in|on|at|by|for|to|sell)[a-z])",
    re.IGNORECASE,
)
_YEAR_AS_BOUND = lazy_regex(
    r"\b(?:after|before|since|until|till|than|vor|nach|seit|bis|avant|après|depuis|desde)"
    r"\s+(?:the\s+(?:end|beginning|start)\s+of\s+|the\s+year\s+)?((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_LABEL = r"(?:[A-Z]|[1-9]\d?)(?![\w%°]|[.,]\d|['’-]\w)"
# "How deep is berth C?"; a number that counts what follows, "the lock 5 metres", is none.
_LABELLED = lazy_regex(
    rf"\b(?P<noun>[^\W\d_]{{3,}})\s+(?P<label>{_LABEL})(?=\W*$|[,;:?]|\s(?:is|are|was|were|has|have|had|can|may|must|will|in|on|of)\b)"
)


@dataclass(frozen=True, slots=True)
class MissingLabel:
    """A label by which a question names one of several things, while the texts name others: "berth C"."""

    noun: str
    label: str
    other_labels: tuple[str, ...]
    """Those that the texts have behind the noun, in their order."""

    @property
    def note(self) -> str:
        """What tells the reader so."""
        names = join_with_and([f"{self.noun} {label}" for label in self.other_labels[:MAX_LABELS]])
        return f"What was found names {names}, but not {self.noun} {self.label}."


def words_left_unsaid(question: str, texts: Sequence[str], known_words: Set[str]) -> frozenset[str]:
    """The words that no text need have; of those, only the ones that are none of `known_words`.

    "The company" may be called by its name alone, and a question about the winter is on topic even if the documents
    tell only about the summer. What opened "after 2000" did so in another year, and a text on the berths A and B bears
    on berth C.
    """
    text = question[:MAX_ANALYSED_CHARACTERS]
    phrases = [*_CALLED.findall(text), *_TIME_OF_YEAR.findall(text), *_YEAR_AS_BOUND.findall(text)]
    phrases += [missing.label for missing in missing_labels(text, texts)]
    return frozenset(words(" ".join(phrases), keep_stop_words=True)) - known_words


def missing_labels(question: str, texts: Sequence[str]) -> list[MissingLabel]:
    """The labels of a question that the texts have not behind their noun, where they have others behind it."""
    missing_ones = list[MissingLabel]()
    for match in _LABELLED.finditer(without_places(question[:MAX_ANALYSED_CHARACTERS])):
        noun, label = match["noun"], match["label"]
        behind_noun = re.compile(rf"\b(?i:{noun})s?\s+({_LABEL})")
        labels = tuple(dict.fromkeys(other for text in texts for other in behind_noun.findall(text)))
        alike = tuple(other for other in labels if other.isdecimal() == label.isdecimal())
        may_be_there = rf"(?<!\w){label}(?!\w)|\b(?i:{noun})s?\s+{_LABEL}\s?(?:[-–]|to\b|bis\b)"  # "berths A to D"
        if alike and not any(re.search(may_be_there, text) for text in texts):
            missing_ones.append(MissingLabel(noun, label, alike))
    return missing_ones


def names_run_together(names: Iterable[str], document: str) -> frozenset[str]:
    """The words of the names that a document's own name has as one word: "Best Buy", in "BESTBUY_2023_10K.pdf"."""
    of_document = set(name_words(document))
    named_so = (name for name in names if " " in name and of_document.issuperset(words("".join(name.split()))))
    return frozenset(words(" ".join(named_so)))
