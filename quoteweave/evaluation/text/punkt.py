"""Cut English text into sentences by Punkt (Kiss and Strunk, Computational Linguistics 32(4), 2006).

`punkt_splitter` is nltk's, exactly. `punkt_sentences` is written here so that scores need neither nltk nor its model,
which is downloaded separately. The model has tables of abbreviations and of how 20,000 words are written in newspapers;
here stand the abbreviations that occur in answers, and for the words a rule: after an abbreviation, a sentence begins
with one of `_STARTERS` alone. So a capitalised word that Punkt knows to be none of a name ("in the U.S. Adults say so")
begins a sentence for it and not here; docs/metrics.md tells how seldom that is.
"""

import re
from itertools import pairwise
from typing import cast

from quoteweave.core.errors import MissingExtra, ModelNotFound
from quoteweave.evaluation.text.marked_sentences import SentenceSplitter

_ABBREVIATIONS_LISTED = """
a.d a.m adm ala ariz aug ave bros calif co col colo conn corp ct dec dr feb fla fri ft ga gen h.m ill jan jr kan
lt ltd ky maj mass messrs mg mich minn mr mrs ms n.c n.j n.m n.y nev nov oct okla ore p.m pa ph.d prof rep reps
s.c sen sep sept sr st tenn tues u.k u.n u.s u.s.a u.s.s.r va vs vt wash wed wis c d e f g h k l m n p r s t v w
"""
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_LISTED.split())
_STARTERS_LISTED = """
above according almost along already although always among approximately between beyond both but compared
comparing concerning considering despite early either even fig finally following furthermore given he hence her here
however if image in including indeed instead into it looking many meanwhile moreover most nevertheless
nonetheless nor notably overall page per political prior regarding relatively respectively roughly sales section
separately significant significantly similar similarly since so some specifically still such text the them there
therefore these they this though through throughout thus together under unlike using various very when whereas
whether which while within without yet your
"""
_STARTERS = frozenset(_STARTERS_LISTED.split())
_NOT_AFTER_NUMBERS = frozenset(("business", "commodities", "international", "letters", "notable", "review", "who"))
"""Words that the model takes to belong to a number before them, such as "2. International"."""
_OTHER = r"[)\";}\]*:@'({\[!?]"
_MANY = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_END = re.compile(rf"[.?!](?=({_OTHER}|\s+(\S+)))")
_WORD = re.compile(rf"{_MANY}|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_OTHER}|{_MANY}|,(?=$|\s|{_OTHER}|{_MANY}))|\S")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?")
_INITIAL = re.compile(r"[^\W\d]\.")
_CLOSING = re.compile(r"[\"')\]}]+?(?:\s+|(?=--)|$)")


def punkt_sentences(text: str) -> list[str]:
    """The sentences of `text`, without the white space between them."""
    begin, pieces = 0, []
    for end, following in _breaks(text):
        pieces.append(text[begin:end])
        begin = following
    pieces.append(text[begin:].rstrip())
    for at in range(1, len(pieces)):  # closing brackets and quotation marks go with what they close
        closing = _CLOSING.match(pieces[at])
        if closing:
            pieces[at - 1] += closing[0].strip()
            pieces[at] = pieces[at][closing.end() :]
    return [piece for piece in pieces if piece]


def _breaks(text: str) -> list[tuple[int, int]]:
    """Where each sentence but the last ends, and where the next one begins."""
    found: list[tuple[int, int]] = []
    begin_of_last, last = 0, None
    word = (0, 0)
    for match in _END.finditer(text):
        before = text[word[1] : match.start()]
        space = next((place for place in range(len(before) - 1, -1, -1) if before[place].isspace()), 0)
        start = word[1] + space + 1 if space else word[0]
        if last is not None and word[1] <= start:
            _note(text, word, last, found)
        last, word = match, (start, match.start())
        begin_of_last = start
    if last is not None:
        _note(text, (begin_of_last, last.start()), last, found)
    return found


def _note(text: str, word: tuple[int, int], match: re.Match[str], found: list[tuple[int, int]]) -> None:
    if _ends_sentence(_WORD.findall(text[word[0] : word[1]] + match[0] + match[1])):
        found.append((match.end(), match.end() if match[2] is None else match.start(2)))


def _ends_sentence(words: list[str]) -> bool:
    """Whether a sentence ends after any but the last of these words."""
    return any(_is_end(word, following) for word, following in pairwise(words))


def _is_end(word: str, following: str) -> bool:
    """Whether a sentence ends with this word, of which `following` is the next one."""
    if word in (".", "?", "!") or not word.endswith("."):
        return word in (".", "?", "!")
    stem, upper = word[:-1].lower(), following[0].isupper()
    dots, initial, number = word.endswith(".."), _INITIAL.fullmatch(word), _NUMBER.fullmatch(word)
    abbreviated = not dots and bool({stem, stem.rpartition("-")[2]} & _ABBREVIATIONS)
    starts = upper and following.lower().removesuffix(".") in _STARTERS
    if dots or (abbreviated and not initial):
        return starts
    if initial and upper:  # a name behind an initial begins no sentence
        return starts and not abbreviated
    # Behind a number or an initial, a word in lower case or punctuation begins none either.
    goes_on = following[0].islower() or following in (";", ":", ",", ".", "!", "?")
    goes_on = goes_on or (number is not None and following.lower() in _NOT_AFTER_NUMBERS)
    return not abbreviated and not ((initial or number) and goes_on)


DATA = "punkt_tab"


def punkt_splitter() -> SentenceSplitter:
    """`sent_tokenize` of nltk, for English. Raises MissingExtra, and ModelNotFound where its data is not installed."""
    try:
        from nltk.tokenize import sent_tokenize
    except ModuleNotFoundError as error:
        raise MissingExtra("nltk", "citations") from error
    try:
        sent_tokenize("")
    except LookupError as error:
        raise ModelNotFound(f"nltk has no {DATA}; install it with: python -m nltk.downloader {DATA}") from error
    return cast("SentenceSplitter", sent_tokenize)
