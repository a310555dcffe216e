"""Split text into sentences by rule, with their exact positions.

A sentence ends
- at `.`, `!`, `?` or `…` (with the brackets, quotation marks and footnote numbers (`⁶`, `FN⁶`) after it, German `“` and
    `«` included) when white space follows and no lower-case letter, except one that begins a name (`v2`, `read_all`).
    After an abbreviation, an initial or dotted capitals (`Fig.`, `et al.`, `J.`, `U.S.`) it ends only if the next word
    usually begins a sentence, and after `a.m.` only if it is not about time (`EST`, `Monday`). The number of an item
  (`3.`) is no sentence.
- at `。`, `！`, `？` and the full stops of other scripts that need no space after them;
- at an empty line, and before a line that opens with a bullet or an item's number;
- between lines that each say one thing: after one with a label ("Serves: 10") before another such line, one that opens
  with a number, or a word that usually begins a sentence; and between short lines that both open with a number
  ("4 eggs"). Any other line break is a space.
"""

import re
from typing import NamedTuple

from quoteweave.core.concurrency.recent_cache import cached_for_recent_texts
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Quote
from quoteweave.core.text.grammar import SENTENCE_END
from quoteweave.core.text.tokens import RAISED, words

# ">" before a capital and a word is a bullet of a list, not a prompt.
_ITEM = (
    r"(?:[•◦▪■●‣⁃·*–—\x7f-\x84\x86-\x9f\ue000-\uf8ff-]|>(?=[^\S\n][A-ZÀ-Þ][\w'’-]*+[,;:]?[^\S\n][^\W\d_])"
    r"|\(?(?:\d{1,3}[.)]|[a-z]\)))[^\S\n]"
)
_CLOSING = rf"""["'”’»)\]」』）】{RAISED}]*+"""
# What opens a quotation in English closes one in German where it follows a full stop, and a space follows it.
_CLOSING_BEFORE_SPACE = rf"""["'”’»“‘«‹›)\]」』）】{RAISED}]*+"""
# The beginnings of lines that may say one thing by themselves: "Serves: 10", "225 g butter, soft".
_LABEL = r"[^\S\n]*+[A-ZÀ-Þ][\w'’/-]*+,?(?:[^\S\n][\w'’/()&.%-]++){0,5}:[^\S\n]"
_AMOUNT = r"[^\S\n]*+\d[\d.,/½¼¾–-]*+[^\S\n]++(?=[^\W\d_])"
_ENTRY = lazy_regex(rf"(?P<label>{_LABEL})|{_AMOUNT}")
# A term with what is said about it, in a list of such lines: "viewers: can read", "PORT_HOME - folder of the data".
_TERM = lazy_regex(r"[^\S\n]*+[\w./-]++(?:[^\S\n][\w./-]*\w){0,2}(?::|(?P<dash>[^\S\n][–—-]))[^\S\n]++\w")
# Every part is possessive or one character wide, which keeps the search linear.
_END = lazy_regex(
    rf"(?P<line>\n)(?=[^\S\n]*+(?:\n|{_ITEM}))|(?P<entry>\n)(?=[^\S\n]*+[\w.-])"
    rf"|(?P<full>[。！？｡।॥؟۔]++{_CLOSING})"
    rf"|(?P<stop>[.!?…]++{_CLOSING_BEFORE_SPACE}(?:[A-Z]{{1,3}}[{RAISED}]{{1,3}})?)(?=\s)"
)
_OPENS_ITEM = lazy_regex(rf"\s*+{_ITEM}")
_OPENING = lazy_regex(rf"\s*+(?:{_ITEM}\s*+)?")
_NEXT_WORD = lazy_regex(r"""\s*+["'“‘«(\[「『]*+([^\W_]*+)""")
_SHORT_FORMS = """
approx app art ca cap cf ch chap co corp dept dr ed eds eq eqs esp est etc ex ext fig figs ft hr inc jr ltd max messrs
min mr mrs ms mt no nos nr op p par para pp prof ref refs resp rev sec sect sr st tab tel univ vol vs
jan feb mar apr jun jul aug sep sept oct nov dec
abb al bzw mio mrd tsd usw vgl
"""
_SHORT = frozenset(_SHORT_FORMS.split())
# German writes the day of a month with a full stop, and months with a capital.
_MONTHS = frozenset(
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()  # noqa: SIM905
)
_DAY = lazy_regex(r"\d{1,2}")
_DOTTED = lazy_regex(r"(?:[^\W\d_]\.)*+[^\W\d_]")
# The letter after a number is a unit ("20 m.", "9 C."), or the initial of a name ("In 1907 C. Smith came").
# A small letter is no initial. A temperature stands after a verb or preposition of place, not after a year, the number
# of a page or the day of a month, and not at the beginning of a sentence.
_NO_TEMPERATURE = (
    "after|am|ab|before|bis|by|chapter|column|day|en|figure|from|im|in|issue|item|jahr|line|no|note|nach|on|page|part|"
    "room|section|seit|seite|since|step|table|until|vol|volume|vor|year|"
    "january|february|march|april|may|june|july|august|september|october|november|december"
)
_MEASURED = lazy_regex(
    r"\d\s(?-i:[ghlmst])$"
    rf"|\w[,;:]?\s+(?!(?:{_NO_TEMPERATURE}|{'|'.join(sorted(_MONTHS))})\b)[^\W\d_]++\s+"
    r"[-−–]?(?!(?:1\d|20)\d\d\s)\d[\d.,]*+\s(?-i:[CFK])$",
    re.IGNORECASE,
)
# The letter of a thing is no initial ("at station D. Cats …"), except in a heading ("Appendix B. Forms").
_LETTERED = lazy_regex(
    r"[^\W\d_][,;:]?\s+(?:annex|appendix|area|bay|block|box|building|category|class|column|division|exhibit|figure|gate|grade|group|hall|hepatitis|"
    r"level|line|lot|model|option|panel|part|phase|plan|platform|point|room|route|row|schedule|section|site|stage|station|step|"
    r"table|team|terminal|track|type|unit|variant|version|vitamin|zone)\s+(?-i:[A-Z])$",
    re.IGNORECASE,
)
# Capitalized words after "a.m." that belong to the time: zones, days and months.
_OF_TIME = lazy_regex(
    r"[A-Z]{1,2}[SD]?T|UTC|Eastern|Central|Mountain|Pacific|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|"
    r"Nov|Dec)[a-z]*"
)
# Names that begin with a small letter wherever they stand: "v2", "read_all", "useState".
_SMALL_NAME = lazy_regex(r"[a-z]{1,2}\d++(?![^\W_])|[a-z][a-z\d]*+[_A-Z]")
_OPENERS = (
    "The This These Those That It In On At He She We They However But And If When For As There Then Our Its His Her"
)
_STARTERS = frozenset(_OPENERS.split())
MAX_ENTRY, MAX_AMOUNT = 200, 60
"""The most characters of a text with a label, and of one that opens with a number, that may say one thing by itself."""
MAX_RUN_IN = 3
"""The most words of a heading that opens a paragraph as a sentence of its own."""
HEADING_SHARE = 0.7
"""The highest share of the next line's length that a heading has, together with the first word of that line."""


class Sentence(NamedTuple):
    """One sentence: `text` is the slice `[start:end]` of the whole, without surrounding whitespace."""

    text: str
    start: int
    end: int


def text_of(quote: Quote) -> str:
    """The text of a quote that highlights index: its own text, else its OCR text, else a vision model's description."""
    return quote.text or quote.ocr_text or quote.vlm_text or ""


def sentence_texts(text: str, end: str = "") -> list[str]:
    """The texts of `split_sentences`; `end` finishes the last one, if it continues on the next page."""
    texts = [sentence.text for sentence in split_sentences(text)]
    if texts and end:
        texts[-1] = with_end(texts[-1], end)
    return texts


def split_sentences(text: str) -> list[Sentence]:
    """Split `text` into sentences, in order and disjoint, which cover everything but whitespace. Takes linear time."""
    return list(_split(text))


@cached_for_recent_texts(
    2048, longest=4_000
)  # the same quotes are read for their statements, for excerpts of them, and for highlights
def _split(text: str) -> tuple[Sentence, ...]:
    sentences: list[Sentence] = []
    start = 0
    for match in _END.finditer(text):
        if match["entry"]:
            ends = _separates_entries(text, start, match.start())
        else:
            ends = match["stop"] is None or _ends(text, start, match)
        if ends:
            _add(sentences, text, start, match.end())
            start = match.end()
    _add(sentences, text, start, len(text))
    return tuple(sentences)


def unfinished_sentence(text: str) -> int | None:
    """Return where the last sentence of a text begins if nothing ends it, as at the foot of a page; else None."""
    sentences = [] if SENTENCE_END.search(text) else split_sentences(text)
    return sentences[-1].start if sentences else None


def with_end(sentence: str, end: str) -> str:
    """A sentence with its end, which may stand on the next page, and go on within a word."""
    return sentence[:-1] + end if end and sentence.endswith("-") else f"{sentence} {end}".rstrip()


def opens_item(text: str) -> bool:
    """Whether a text begins with a bullet, or with the number or letter of an item."""
    return _OPENS_ITEM.match(text) is not None


def is_first_word_complete(text: str, start: int) -> bool:
    """Whether the first word from `start` is complete; whether a sentence ends before it may depend on it."""
    word = _NEXT_WORD.match(text, start)
    return word is not None and word.end() < len(text)


def heading_line(text: str) -> str:
    """The first line of a text if it is a heading by its length: the first word of the next one had room on it.

    >>> heading_line("Hiring boats\\nA boat can be hired by all members of the club."), heading_line("Led by\\nIda.")
    ('Hiring boats', '')
    """
    line, _, text_below = text.strip().partition("\n")
    following = text_below.partition("\n")[0].strip()
    is_ended = len(line) + 1 + len(following.partition(" ")[0]) <= HEADING_SHARE * len(following)
    if not is_ended or _separates_terms(text.strip(), 0, len(line)):  # "When: 3 May, 14:00", above "Where: …"
        return ""
    return line if line[-1:].isalnum() and words(line.rsplit(maxsplit=1)[-1]) else ""


def run_in_heading(text: str) -> str:
    """The heading that opens a paragraph as a sentence of its own: short, and without a stop word.

    >>> run_in_heading("Quiet hours. From 22:00 to 6:00, no noise may be made."), run_in_heading("It rained. We left.")
    ('Quiet hours', '')
    """
    first, *following = split_sentences(text)[:2] or [Sentence("", 0, 0)]
    title = first.text.removesuffix(".")
    is_title = title != first.text and title[:1].isupper() and len(words(title)) == len(title.split()) <= MAX_RUN_IN
    return title if following and is_title else ""


def _add(sentences: list[Sentence], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        sentences.append(Sentence(text[start:end], start, end))


def _separates_entries(text: str, start: int, at: int) -> bool:
    """Whether the line break at `at` ends what begins at `start` and says one thing, before what says another."""
    if at - start > MAX_ENTRY:
        before = None
    elif _separates_terms(text, start, at):
        return True
    else:
        before = _ENTRY.match(text, start, at)
    after = _ENTRY.match(text, at + 1)
    if before is None:
        is_line = text.rfind("\n", start, at) < 0  # below an address, "Tel." belongs to it
        return is_line and after is not None and after["label"] is not None and _opens_entries(text, at + 1)
    if before["label"] is None:
        goes_on = not words(text[start:at].rsplit(maxsplit=1)[-1])  # "14 piers and"
        return after is not None and at - start <= MAX_AMOUNT and not goes_on
    word = _NEXT_WORD.match(text, at + 1)
    return after is not None or (word is not None and word[1] in _STARTERS)


def _separates_terms(text: str, start: int, at: int) -> bool:
    """Whether terms are on both sides of the line break at `at`; with dashes, which prose has too, three in a row."""
    terms = _TERM.match(text, start, at), _TERM.match(text, at + 1)
    if terms[0] is None or terms[1] is None:
        return False
    if not (terms[0]["dash"] or terms[1]["dash"]):
        return True
    end = text.find("\n", at + 1, at + 1 + MAX_ENTRY)
    if end >= 0 and _TERM.match(text, end + 1):
        return True
    before = text.rfind("\n", max(0, start - 1 - MAX_ENTRY), max(0, start - 1)) + 1
    return start > 0 and _TERM.match(text, before, start) is not None


def _opens_entries(text: str, start: int) -> bool:
    """Whether the line after the one that begins at `start` has a label too: below a heading labels may follow."""
    end = text.find("\n", start, start + MAX_ENTRY)
    following = _ENTRY.match(text, end + 1) if end >= 0 else None
    return following is not None and following["label"] is not None


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the punctuation found at `match` ends the sentence that began at `start`."""
    following = _NEXT_WORD.match(text, match.end())
    word = following[1] if following else ""
    opening = _OPENING.match(text, start)
    goes_on = word[:1].islower() and not _SMALL_NAME.match(text, following.start(1) if following else 0)
    if goes_on or (opening is not None and opening.end() > match.start()):
        return False
    if not match[0].startswith(".") or match[0].startswith(".."):
        return True
    # No abbreviation is longer than 20 characters, and looking no further back keeps the whole linear.
    before = re.split(r"[\s(\[\"'“‘]", text[max(start, match.start() - 20) : match.start()])[-1]
    if word in _MONTHS and _DAY.fullmatch(before):
        return False
    last = re.split("[-–—/]", before)[-1]  # "Oct. 21-Nov. 15"
    if last.casefold() in ("a.m", "p.m"):
        return word[:1].isupper() and _OF_TIME.fullmatch(word) is None
    if last.casefold() in _SHORT or _DOTTED.fullmatch(before):
        return word in _STARTERS or (
            not (following and len(word) == 1 and text.startswith(".", following.end()))
            and any(
                pattern.search(text, max(start, match.start() - 40), match.start())
                for pattern in (_MEASURED, _LETTERED)
            )
        )
    return True
