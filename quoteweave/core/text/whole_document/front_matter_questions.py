"""Reads questions about what precedes a document's text: "Who wrote this report?", "When was it published?".

A question is recognised only as a whole, by templates (`front_matter.toml`, tables `asks`): with the same words, "Who
must give written notice?" and "Who is this guide written for?" ask for something else. It must also refer to the
document: by a pronoun, by a word such as "report" (`question_words.toml`, `structure.document`), or by no word at all
("Who are the authors?"). "Who wrote Hamlet?" is answered from what a text says.
"""

import re
from functools import cache, lru_cache
from itertools import takewhile
from typing import Literal, get_args

from pydantic import Field

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Record
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, analyse_question
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.core.text.whole_document.front_matter_words import (
    front_matter_languages,
    front_matter_pattern,
    front_matter_words,
)
from quoteweave.core.text.whole_document.structure_questions import document_nouns

FrontMatterPart = Literal["author", "date", "title", "institution", "email"]

MAX_JOINTS = 4
"""The most places at which splitting a question into two is tried."""
MAX_WORDS_BEFORE = 5
"""The most words between an article and "report": "the third annual harbour report"."""
_ELISION = lazy_regex(r"\b(l|d|s|m)'(?=\w)")
_POSSESSIVE = lazy_regex(r"(?<=\w)'s\b|(?<=s)'(?=\s)")
_YEAR = lazy_regex(r"\d{4}")
_AROUND = " \t\n?!.¿¡"


class FrontMatterRequest(Record):
    """What a question asks of a document's front matter."""

    parts: tuple[FrontMatterPart, ...] = Field(description="one, or two: 'Who wrote it, and when?'")
    naming_words: tuple[str, ...] = Field(
        description="by which it tells the document from others, stemmed; none for 'the paper' and 'this annual report'"
    )
    is_pointing: bool = Field(
        description="whether it points at the document in view, which may have further words: 'this report on wrecks'"
    )


@lru_cache(maxsize=64)  # called by the search and by the answer
def read_front_matter_request(question: str) -> FrontMatterRequest | None:
    """Read what a question asks of a document's front matter; None where it asks for anything else."""
    if len(question) > MAX_ANALYSED_CHARACTERS:
        return None
    text = _normalized(analyse_question(question).text)
    joints = list(_joint_pattern().finditer(text))[:MAX_JOINTS]
    return _request(text) or next(filter(None, (_double_request(text, joint) for joint in joints)), None)


def _request(text: str) -> FrontMatterRequest | None:
    for part in get_args(FrontMatterPart):
        for template in _templates(part):
            match = template.fullmatch(f" {text}")  # templates have a blank before each word
            phrase = (match["it"] or "") if match else ""
            named = _document_named(phrase) if match else None
            if named is not None:
                return FrontMatterRequest(parts=(part,), naming_words=named, is_pointing=_is_pointing(phrase))
    return None


def _double_request(text: str, joint: re.Match[str]) -> FrontMatterRequest | None:
    """The request of two questions about the same document, the second of which may be just "when"."""
    first, then = _request(text[: joint.start()]), text[joint.end() :]
    if first is None:
        return None
    if any(template.fullmatch(f" {then}") for template in _when_alone()):
        parts: tuple[FrontMatterPart, ...] = (*first.parts, "date")
    elif (second := _request(then)) is not None and second.naming_words in ((), first.naming_words):
        parts = (*first.parts, *second.parts)
    else:
        return None
    return first.model_copy(update={"parts": parts}) if len(set(parts)) == len(parts) else None


def _is_pointing(phrase: str) -> bool:
    return phrase.partition(" ")[0] in front_matter_words("pointing")


def _normalized(question: str) -> str:
    """A question in lower case, with single blanks between words, and apostrophes only at the ends of words."""
    text = _ELISION.sub(r"\1' ", " ".join(question.casefold().replace("’", "'").split()).strip(_AROUND))
    text = _POSSESSIVE.sub(" 's", text)
    return re.sub(rf"^{front_matter_pattern('polite')},?\s+", "", text)


def _document_named(phrase: str) -> tuple[str, ...] | None:
    """The words with which a phrase distinguishes a document from others; None if it does not mean a document.

    >>> _document_named("the annual report on wrecks"), _document_named("it"), _document_named("the kestrel router")
    (('annual', 'wreck'), (), None)
    >>> _document_named("this annual report"), _document_named("this earlier report on wrecks")
    ((), ('earlier', 'wreck'))
    """
    phrase_words = re.findall(r"[\w-]+'?", phrase)
    if not phrase_words or phrase in front_matter_words("pronouns"):
        return ()
    pointing = _is_pointing(phrase)
    if pointing or phrase_words[0] in front_matter_words("articles"):
        phrase_words = phrase_words[1:]
    before = list(takewhile(lambda word: word not in document_nouns(), phrase_words))
    noun_words = list(takewhile(lambda word: word in document_nouns(), phrase_words[len(before) :]))  # "study guide"
    after = phrase_words[len(before) + len(noun_words) :]
    if not noun_words or len(before) > MAX_WORDS_BEFORE or not _small_words().isdisjoint(before):
        return None
    if after and after[0] not in front_matter_words("about"):
        return None
    if pointing:
        phrase_words = [
            word for word in before if word in front_matter_words("others") or _YEAR.fullmatch(word)
        ] + after
    small = _small_words() | document_nouns()
    return tuple(words(" ".join(word for word in phrase_words if word not in small)))


@cache
def _small_words() -> frozenset[str]:
    keys = ("joining", "about", "articles", "pointing", "pronouns")
    return STOP_WORDS.union(*(front_matter_words(key) for key in keys))


@cache
def _templates(part: FrontMatterPart) -> list[re.Pattern[str]]:
    return [_template(text) for language in front_matter_languages() for text in language["asks"][part]]


@cache
def _when_alone() -> list[re.Pattern[str]]:
    return [_template(text) for text in front_matter_words("when_alone")]


@cache
def _joint_pattern() -> re.Pattern[str]:
    """A pattern of what may be between two questions."""
    return re.compile(rf"[?.;,]+\s+(?:{front_matter_pattern('and')}\s+)?|\s+{front_matter_pattern('and')}\s+")


def _template(text: str) -> re.Pattern[str]:
    """The pattern of a template such as "who is|are the author [of] [{it}]"; a blank stands before each word."""
    pattern = ""
    for slot in text.split():
        ways = [re.escape(way).replace("_", " ") for way in slot.strip("[]").split("|")]
        is_it = slot.strip("[]") == "{it}"
        word = r" (?P<it>.+?)" if is_it else rf" (?:{'|'.join(ways)})"
        # In "the authors [of] [{it}] [from]", {it} must not match "from".
        pattern += f"(?:{word}){'??' if is_it else '?'}" if slot.startswith("[") else word
    return re.compile(pattern if "?P<it>" in pattern else rf"{pattern}(?P<it>)")
