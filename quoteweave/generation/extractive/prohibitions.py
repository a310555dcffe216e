"""Find what a text announces as denied or prohibited: the items behind "Never do any of the following:".

An item of such a list says the opposite of what the document says, if it is shown without the sentence above it.
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


def announces_denied(text: str) -> bool:
    """Whether a sentence announces what is not so or must not be done: "Never do any of the following:"."""
    return announces(text) and _DENIES.search(_CONDITION.sub(" ", text)) is not None


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
        if quote.id in context.announced.get(hit.quote.id, ()):
            last = split_sentences(hit.quote.text)[-1:]
            if last and announces_denied(last[0].text):
                return number, hit
    return None
