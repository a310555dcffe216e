"""Decides from a text's grammar whether it continues the text before it, introduces what follows, or denies.

For a question it also decides whether its "was" is German, splits it into several, finds its names, and tells what a
pronoun is for.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import foreign_languages
from quoteweave.core.text.question_words import any_word_of, denials
from quoteweave.core.text.references.reference_words import reference_words
from quoteweave.core.text.tokens import ENGLISH_STOP_WORDS, RAISED, words

SENTENCE_END = lazy_regex(rf"""[.!?:;…。！？।؟]["'”’»)\]{RAISED}]*\s*$""")
"""The end of a text that ends with a complete sentence, or that introduces something."""
_INTRODUCES = (":", "：")
# A word of prose within a sentence; a text that ends with a bracket or a quotation mark may be complete, and one that
# ends with a number may be a line of an index.
_BROKEN_OFF = lazy_regex(r"[(“\"'‘]*[^\W\d_]+(?:['’-][^\W\d_]+)*[,-]?")
# A word of prose; names in code contain other characters.
_WORD = lazy_regex(r"[^\W\d_]+(?=[,;:.]?(?:\s|$))")
_BEFORE_WORD = lazy_regex(r"(?<!\w)([^\W_]+)(?=\s+([^\W\d_]+))")
_WAS = lazy_regex(r"\W*was\s+(\w+)(.*)", re.IGNORECASE | re.DOTALL)
# Verbs that are not English words. After others, such as "war" and "hat", a German function word has to follow.
_GERMAN_VERBS = frozenset(
    {
        "ist", "sind", "wird", "wurde", "wurden", "waren", "hatte", "hatten", "kosten", "kostet", "kostete", "kosteten",
        "macht", "steht", "bedeutet", "passiert", "gibt", "kann", "muss", "wiegt", "enthält",
    }
)  # fmt: skip
# A run of spaces is tried from its beginning alone: from each of its spaces, a long run would take minutes.
_QUESTION_BREAK = lazy_regex(
    r"(?<=\?)\s+|(?:[,;]|(?<!\s))\s++(?:and\s+(?=(?:how|what|which|who|whom|whose|when|where|why)\b)"
    r"|und\s+(?=(?:wie|was|welche[rsmn]?|wer|wann|wo|warum)\b))",
    re.IGNORECASE,
)
# Capitalised words that do not begin a sentence: "Ada Byron", "iPhone", "GPT-4".
_CAPITALISED = r"[^\W\d_]*[A-Z][\w.&-]*"
_WITHIN_SENTENCE = r"(?<=[^.!?\s])\s+"
_NAME_WITHIN = lazy_regex(rf"{_WITHIN_SENTENCE}[^\w\s]*+({_CAPITALISED}(?:{_WITHIN_SENTENCE}{_CAPITALISED})*)")
# The thing is what stands behind the last of these: "the price of the pump".
_THING = lazy_regex(
    r".*\b(?:the|an?|my|our|your|his|her|its|their|this|that)\s+(?P<thing>.+)", re.IGNORECASE | re.DOTALL
)
# "It rains" and "how far is it" name nothing.
_NAMES_NOTHING = lazy_regex(r"\bit\s+(?:rain|snow|hail|freez|thunder)\w*|\bhow\s+far\s+is\s+it\b", re.IGNORECASE)
_NAMED_BEFORE = lazy_regex(r"\b(?:it|its|they|them|their|he|him|his|she|her)\b", re.IGNORECASE)


def continues(text: str, before: str) -> bool:
    """Whether a text that is no list completes the last sentence of the text before it.

    >>> continues("and left at noon.", "The ferry came")
    True
    >>> continues("The ferry left at noon.", "The ferry came at ten.")
    False
    """
    last = (before.rsplit(maxsplit=1) or [""])[-1]
    return may_continue(text) and not before.isupper() and _BROKEN_OFF.fullmatch(last) is not None


def introduces(text: str) -> bool:
    """Whether a text ends by introducing what follows it: "To install it, run:"."""
    return text.rstrip().endswith(_INTRODUCES)


def may_continue(text: str) -> bool:
    """Whether a text that is no list begins like the rest of a sentence: with a word of prose in small letters.

    "iOS" and "eBay" may begin a sentence.
    """
    word = _WORD.match(text)
    return word is not None and word[0].islower()


def denies_before(text: str) -> bool:
    """Whether the beginning of a question contains a word that denies what follows.

    >>> denies_before("Which hotels without "), denies_before("Which hotels have ")
    (True, False)
    """
    return denials().search(text) is not None or _lacking().search(text) is not None


@cache
def _lacking() -> re.Pattern[str]:
    return re.compile(any_word_of("lacking"), re.IGNORECASE)


def asks_german_was(question: str) -> bool:
    """Whether a question begins with the German "was", which asks for more than yes or no.

    >>> asks_german_was("Was kosten die Karten?"), asks_german_was("Was war declared in 1939?")
    (True, False)
    """
    match = _WAS.match(question)
    if match is None:
        return False
    german = foreign_languages()["de"].function_words
    verb, following_words = match[1].casefold(), re.findall(r"\w+", match[2].casefold())
    in_german = sum(word in german - ENGLISH_STOP_WORDS for word in following_words)
    in_english = sum(word in ENGLISH_STOP_WORDS - german for word in (verb, *following_words))
    return verb in _GERMAN_VERBS or (verb not in ENGLISH_STOP_WORDS and in_german > in_english)


def in_numerals_of(question: str, texts: Iterable[str]) -> str:
    """Rewrite small numbers before a noun in a question as the texts write them, if the texts lack the given form.

    >>> in_numerals_of("What does a boat for two persons cost?", ["A boat for 2 persons costs 30 euros."])
    'What does a boat for 2 persons cost?'
    >>> in_numerals_of("What does plot 7 cost?", ["The seven plots cost 30 euros."])
    'What does plot 7 cost?'
    """
    numbers = {word: str(number) for word, number in reference_words().numbers.items() if number > 1}
    numbers_asked = [
        match for match in _BEFORE_WORD.finditer(question) if match[1].casefold() in {*numbers, *numbers.values()}
    ]
    word_pairs = {pair for text in texts if numbers_asked for pair in pairwise(words(text, keep_stop_words=True))}
    for match in reversed(numbers_asked):
        number_asked, noun = match[1].casefold(), words(match[2], keep_stop_words=True)[0]
        value = numbers.get(number_asked, number_asked)
        forms = [value, *(word for word, number in numbers.items() if number == value)]
        forms_in_texts = [form for form in forms if (words(form, keep_stop_words=True)[0], noun) in word_pairs]
        if forms_in_texts and number_asked not in forms_in_texts:
            question = f"{question[: match.start(1)]}{forms_in_texts[0]}{question[match.end(1) :]}"
    return question


def names_in(question: str) -> tuple[str, ...]:
    """The names in a question: capitalised words that follow one another, each name once, as written.

    The word with which a sentence begins does not count, and if every word has a capital, none does.

    >>> names_in("When did Ada Byron meet the engineers of Merrow?")
    ('Ada Byron', 'Merrow')
    """
    if question.isupper() or question.istitle():
        return ()
    return tuple(dict.fromkeys(" ".join(match[1].split()) for match in _NAME_WITHIN.finditer(question)))


def split_into_questions(text: str) -> list[str]:
    """Split a text into its questions: `How many calls were there, and how did they change?` has two."""
    parts = [part.strip(" ,;") for part in _QUESTION_BREAK.split(text)]
    return [part for part in parts if words(part)] or [text]


def thing_named_before(question: str, first: str) -> str:
    """The words for the thing of a first question if another names its thing by a pronoun; "" otherwise.

    >>> thing_named_before("how long does it take", "Which is the quickest cycle of the machine")
    'machine'
    >>> thing_named_before("what do we do if it rains", "How far is it from Osk to Celle")
    ''
    """
    if _NAMED_BEFORE.search(_NAMES_NOTHING.sub(" ", question)) is None:
        return ""
    match = _THING.match(first)
    return match["thing"] if match else first
