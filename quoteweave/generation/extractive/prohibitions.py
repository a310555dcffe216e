"""Find what a text or heading announces as denied or prohibited: the items behind "Never do any of the following:".

An item of such a list says the opposite of what the document says, if it is shown without the sentence above it, or
without the heading ("What you must not do").
"""

import re
from functools import lru_cache

from quoteweave.core.answers import Context
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.continuations import announces
from quoteweave.generation.sentences import split_sentences

# "If the pump does not start, do this:" and "To avoid burns, do this:" prohibit nothing.
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|where|because|since|who|whose|unless|in case|wenn|falls|sofern)\b(?:(?!\bnever\b)[^,:])*"
    r"|\bto\s+(?:avoid|not)\b(?!\s*:)[^,:]*",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not(?!\s+only\b)|never|no(?!\s+(?:later|more|less|fewer)\b)|none|neither|nothing|cannot|\w+n[’']t|avoid(?:ed)?"
    r"|forbidden|prohibit(?:s|ed)|except|exclud(?:es|ed|ing)|nicht|nie|niemals|keine?[mnrs]?|vermeiden|verboten|untersagt)\b",
    re.IGNORECASE,
)


# "Do not panic", "If it does not start" and "Avoiding burns" may stand above advice: only a heading that is nothing but
# the name of what is denied ("What is not covered", "Prohibited items") says so of all that is under it.
_SUBJECT = (
    r"(?:(?:some|common|other|the|five|\d+)\s+)*(?:(?:\w+\s+)?(?:things?|acts?|actions?|items?|mistakes?)|what)\b"
)
_DENYING_HEADING = re.compile(
    rf"\W*(?:[\d.]+\s+)?(?:"
    rf"{_SUBJECT}(?:(?!\b(?:if|when|and|or)\b)[^,:?])*?(?:\bn[o’']t\b|\w+n[’']t\b|\bnever\b|\bcannot\b)"
    r"(?:(?!\b(?:work|start|found|respond|connect|appear)(?:s|ed|ing)?\b)[^,:?])*"
    rf"|{_SUBJECT}\s+(?:that\s+are\s+|are\s+|is\s+)?(?:forbidden|prohibited|banned)(?:\s[^,:?]*)?"
    rf"|{_SUBJECT}\s+(?:\w+\s+){{0,2}}?to\s+avoid(?:\s[^,:?]*)?"
    r"|(?:strictly\s+)?(?:forbidden|prohibited|banned|not\s+(?:allowed|permitted|covered|included))(?:\s+\w+){0,5}"
    r"|(?:never|do\s+not|don[’']t)\s+do\s+(?:this|that|these|any\b.*|the\s+following)"
    r"|do[’']?n[’']?ts|(?:was|dinge).*\b(?:nicht|nie)\b[^,:?]*|verboten(?:\s+ist)?|verbotenes?(?:\s+\w+){0,2}"
    r")\W*",
    re.IGNORECASE,
)


def heading_denies(heading: str) -> bool:
    """Whether a heading says that all under it is not so or must not be done: "What you must not do".

    >>> heading_denies("Things to avoid"), heading_denies("Do not panic"), heading_denies("How to avoid burns")
    (True, False, False)
    """
    return _DENYING_HEADING.fullmatch(" ".join(heading.split())) is not None


def denies(text: str) -> bool:
    """Whether a sentence has a word that denies or prohibits, outside of a condition."""
    return _DENIES.search(_CONDITION.sub(" ", text)) is not None


def ends_by_denying(text: str) -> bool:
    """Whether the last sentence of a text announces something as denied."""
    last = split_sentences(text)[-1:]
    return bool(last) and announces_denied(last[0].text)


def announces_denied(text: str) -> bool:
    """Whether a sentence announces what is not so or must not be done: "Never do any of the following:"."""
    return announces(text) and denies(text)


@lru_cache(maxsize=256)  # called for each sentence of the same quotes
def denied_from(text: str) -> int | None:
    """Index of the first sentence of a text that announces something as denied and is not its last one.

    What follows it counts as denied up to the text's end. None where there is no such sentence.
    """
    sentences = split_sentences(text)[:-1]
    return next((at for at, sentence in enumerate(sentences) if announces_denied(sentence.text)), None)


def without_denied(text: str) -> str:
    """A text up to the sentence that announces something as denied."""
    first = denied_from(text)
    return text if first is None else text[: split_sentences(text)[first].start]


def denying_hit(quote: Quote, context: Context) -> tuple[int, Hit] | None:
    """The text that announces a quote as denied, with its number in the context; None where there is none."""
    for number, hit in enumerate(context.texts, start=1):
        if quote.id in context.announced.get(hit.quote.id, ()) and ends_by_denying(hit.quote.text):
            return number, hit
    return None
