"""The tokeniser for matching words: the index and the extractive generator must tokenise questions and quotes alike.

- Compatibility forms, case and accents are folded away (ligatures, full-width letters; `Zürich` = `zurich`), as are the
  vowel points of Hebrew and Arabic; words of any spaced script are kept whole.
- A number or time stays one word: `1,204` is `1204`, `12.4%` is `12.4`, `10:40` is itself. Other marks separate words:
  `long-term` is `long`, `term`, the same as `long term`; only `e-mail` is `email`.
- Text in scripts without spaces (Han, Kana, Thai, Lao, Khmer, Burmese), and in Hangul with its attached particles,
  becomes overlapping pairs of characters; a single character is a word.
- Superscripts are words of their own (`sales¹` is `sales`, `1`; `10⁶` is `10`, `6`), except ² and ³ behind at most two
  letters, as in units and symbols (`m²` is `m2`).
- English words are stemmed (Snowball "english") and English stop words left out.
"""

import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import islice
from pathlib import PurePosixPath

from quoteweave.core.lazy_regex import lazy_regex

_UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Hangul
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Kana
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_INDIC = "\u0900-\u0963\u0966-\u0dff"  # whole blocks, because `\w` does not match vowel signs
_NUMBERS = (
    r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d++)?"  # 1,204 and 1,204.5
    r"|\d++(?:\.\d++)++"  # 12.4
    r"|\d{1,2}:\d\d(?!\d)"  # 10:40
)
# Two faster ways for ASCII text, with the same result: this pattern takes a third of the time; and where no number
# contains a mark, as in most texts, splitting at all but letters and digits takes half of that.
_ASCII_TOKEN = lazy_regex(rf"{_NUMBERS}|[a-z0-9]++")
_MARK_IN_NUMBER = lazy_regex(r"[.,:]\d(?<=\d..)")
_ASCII_WORDS_ALONE = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_TOKEN = lazy_regex(
    rf"{_NUMBERS}"
    rf"|[{_UNSPACED}]++"
    rf"|(?:[^\W_{_UNSPACED}]++|[{_INDIC}]++)++"
)
_UNSPACED_CHARACTER = lazy_regex(f"[{_UNSPACED}]")
# Latin, Greek and Cyrillic accents, points of Hebrew and Arabic, Arabic tatweel, and characters that only guide layout.
_MARKS = lazy_regex(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u064b-\u065f\u0670\u0640\u00ad\u200c\u200d\u2060\ufeff]+"
)
# Marks of typography that separate words as spaces do. Texts that are ASCII otherwise are frequent, and read faster.
_SEPARATORS = "\u00a0‘’“”„–—…•·©®"
_E_MAIL = lazy_regex(r"(?<![^\W_])e[-\u2010]mail")
# File names that say nothing about the content.
_UNSPECIFIC_NAMES = frozenset({"readme", "index"})
_SYMBOLS = lazy_regex(r"(?:[^\w\s]|_)+")
WORD = lazy_regex(r"\w[\w'’-]*")
"""A word as people write it, whole: "well-built", "o'clock"."""
RAISED = "⁰¹²³⁴-⁹"
"""The superscript digits, for a character class of a pattern."""
_RAISED_NUMBER = rf"[⁻⁺]?[{RAISED}]++"
SUPERSCRIPT = lazy_regex(
    rf"(?<![^\W\d_]){_RAISED_NUMBER}|(?<=[^\W\d_]{{3}}){_RAISED_NUMBER}|[⁻⁺⁰¹⁴-⁹][{RAISED}]*+|[²³][{RAISED}]++"
)
"""Footnote numbers and exponents: superscripts other than ² and ³ after at most two letters ("m²", "R²")."""
# Spaces in place of ASCII letters and digits: most of the remaining pieces are equal, so fewer characters are searched.
_WITHOUT_ASCII_WORDS = "".join(" " if chr(code).isalnum() else chr(code) for code in range(128))
MAX_SYMBOL_RUN = 20
"""Most characters of a part of a run of symbols (`symbol_runs`)."""
# More marks than any writing system stacks: they mean nothing, and normalising takes time quadratic in their number.
_PILE = lazy_regex(r"([^\w\s]{30})[^\w\s]+")

_WORD_OR_NUMBER = lazy_regex(r"\d+(?:[.,:]\d+)*|[^\W_\d]+|[^\W_]+")

# Words that the stemmer would treat as forms of another: the United States are not units.
_STEM_EXCEPTIONS = {"united": "united"}
# How many words' stems are cached, in some 8 MB: there is no end of numbers and misspellings.
_MAX_STEMS = 1 << 16

# Raise `collection.segments.store.SEGMENT_RULES` and `index.lexical.FINGERPRINT` when this changes: segments hold words
# that were counted by the earlier list, and runs with the two lists must be distinguished.
_ENGLISH = """
a about above across after against all along also although am among an and any are aren as at be because been before
being below between both but by can could couldn did didn do does doesn doing don down during each either else etc
every few for from further had hadn has hasn have haven having he her here hers herself him himself his how however i
if in into is isn it its itself just ll many me more most much must my myself neither no nor not of off on once only
onto or other our ours ourselves out over own per quite rather re s same shall she should shouldn since so some such t
than that the their theirs them themselves then there therefore these they this those though through thus to too
toward towards under until up upon ve very via was wasn we were weren what whatever when where whereas whether which
while who whoever whom whose why will with within without would wouldn yet you your yours yourself
"""
ENGLISH_STOP_WORDS = frozenset(_ENGLISH.split())
STOP_WORDS: frozenset[str] = ENGLISH_STOP_WORDS
"""The words left out of texts of all languages, as the language is not determined: the English ones only."""
ARTICLES = frozenset({"a", "an", "the"})
"""The English articles, which one of two sentences that say the same may have and the other not."""


def words(text: str, *, stem: bool = True, keep_stop_words: bool = False) -> list[str]:
    """Tokenise `text` as described above, in order and with repeats; the time is linear in the text's length.

    `stem=False` leaves words as written, `keep_stop_words=True` keeps English stop words.
    """
    size = len(text)
    if size > _MAX_RECENT:
        return _words_of(_folded(text), stem=stem, keep_stop_words=keep_stop_words)
    recent = _words_of_short if size <= _MAX_SHORT else _words_of_long
    return list(recent(text, stem, keep_stop_words))


def _recent_words(text: str, stem: bool, keep_stop_words: bool) -> tuple[str, ...]:
    return tuple(_words_of(_folded(text), stem=stem, keep_stop_words=keep_stop_words))


# An answer asks for the words of the same quotes, sentences and cells in many of its steps. Short texts, of which there
# are more, do not evict long ones, which take more time. Each cache takes some 20 MB at most.
_MAX_SHORT, _MAX_RECENT = 200, 2_000
_words_of_short = lru_cache(maxsize=1 << 15)(_recent_words)
_words_of_long = lru_cache(maxsize=1 << 12)(_recent_words)


def stem_of(word: str) -> str:
    """Return a single word as `words` stems it, even a stop word; unchanged if it has no letter or digit.

    >>> stem_of("Wasn't"), stem_of("the"), stem_of("%")
    ('wasnt', 'the', '%')
    """
    return "".join(words(word, keep_stop_words=True)) or word


@lru_cache(maxsize=1024)
def name_words(document: str) -> tuple[str, ...]:
    """The words of a document's name, without suffix and folder; the folder's if the name says nothing ("README").

    >>> name_words("reports/annual report.pdf")
    ('annual', 'report')
    >>> name_words("timber/README.md")
    ('timber',)
    """
    path = PurePosixPath(document)
    is_unspecific = path.stem.casefold() in _UNSPECIFIC_NAMES
    return tuple(words((is_unspecific and path.parent.name) or path.stem))


def _words_of(folded: str, *, stem: bool = True, keep_stop_words: bool = False) -> list[str]:
    tokens: list[str] = []
    if stem and not keep_stop_words and folded.isascii():
        return list(filter(None, map(_STEMS.__getitem__, _ascii_tokens(folded))))
    for word in _TOKEN.findall(folded):
        if _UNSPACED_CHARACTER.match(word):
            tokens.extend([word[at : at + 2] for at in range(len(word) - 1)] or [word])
        elif keep_stop_words or word not in STOP_WORDS:
            tokens.append(_STEMS[word] or _stemmed(word) if stem else word.replace(",", ""))
    return tokens


def _folded(text: str) -> str:
    """The text as `normalize_text` gives it, or in ASCII with the same words."""
    plain = text
    if not text.isascii():
        for mark in _SEPARATORS:
            plain = plain.replace(mark, " ")
    return normalize_text(plain if plain.isascii() else text)


def _ascii_tokens(folded: str) -> list[str]:
    if _MARK_IN_NUMBER.search(folded):
        return _ASCII_TOKEN.findall(folded)
    return folded.translate(_ASCII_WORDS_ALONE).split()


def written_forms(text: str) -> dict[str, str]:
    """Return the first spelling in a text of each of its words, by the form that `words` gives.

    >>> written_forms("Thesis advisory committees")
    {'thesi': 'thesis', 'advisori': 'advisory', 'committe': 'committees'}
    """
    forms: dict[str, str] = {}
    for surface in words(text, stem=False):
        for word in words(surface):
            forms.setdefault(word, surface)
    return forms


def symbol_runs(text: str) -> set[str]:
    """Runs of characters that belong to no word, such as `--` or `).`; of a longer run, all parts of `MAX_SYMBOL_RUN`.

    So a string of at most that many symbols occurs in a text if it occurs in one of these.
    """
    return {
        run[at : at + MAX_SYMBOL_RUN]
        for piece in set(text.translate(_WITHOUT_ASCII_WORDS).split())
        for run in _SYMBOLS.findall(piece)
        for at in range(max(len(run) - MAX_SYMBOL_RUN, 0) + 1)
    }


def single_spaced(text: str) -> str:
    """The words of a text with one space between them."""
    return " ".join(text.split())


def normalize_text(text: str) -> str:
    """Normalise case, accents and compatibility forms, and "e-mail"; the length may change: offsets no longer hold."""
    if text.isascii():
        folded = text.lower()
    else:
        parted = SUPERSCRIPT.sub(r" \g<0> ", text)
        decomposed = unicodedata.normalize("NFKD", _PILE.sub(r"\1", parted)).casefold()
        folded = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", decomposed)))
    return _E_MAIL.sub("email", folded) if "mail" in folded else folded


class Vocabulary:
    """Assigns numbers to words, from 1, in order of first occurrence."""

    def __init__(self) -> None:
        self._numbers = _Numbers({"": 0})
        self._form_numbers = _FormNumbers(self._numbers)

    def __iter__(self) -> Iterator[str]:
        """The words, in the order of their numbers."""
        return islice(self._numbers, 1, None)

    def __len__(self) -> int:
        """How many words there are."""
        return len(self._numbers) - 1

    def of_text(self, text: str) -> "array[int]":
        """The numbers of `words(text)`."""
        folded = _folded(text)
        if not folded.isascii():
            return self.of_words(_words_of(folded))
        return array("i", filter(None, map(self._form_numbers.__getitem__, _ascii_tokens(folded))))

    def of_words(self, stems: Iterable[str]) -> "array[int]":
        """The numbers of these words."""
        return array("i", map(self._numbers.__getitem__, stems))


class _Numbers(dict[str, int]):
    """The numbers of words in the form in which they are indexed; 0 stands for a stop word."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _FormNumbers(dict[str, int]):
    """Cache of the number of each written form, so that each word of a text takes one lookup."""

    def __init__(self, numbers: _Numbers) -> None:
        super().__init__()
        self._numbers = numbers

    def __missing__(self, word: str) -> int:
        number = self[word] = self._numbers[_STEMS[word]]
        return number


class _Stems(dict[str, str]):
    """Cache of recently used stems, empty for a stop word."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_STEMS:
            self.clear()
        stem = "" if word in STOP_WORDS else _stemmed(word)
        self[word] = word if stem == word else stem  # the same string object if the stem is the word
        return stem


_STEMS = _Stems()


def _stemmed(word: str) -> str:
    return word.replace(",", "") if word[0].isdigit() else _STEM_EXCEPTIONS.get(word) or _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    import Stemmer

    stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord
    return stem


FoldedToken = tuple[str, int, int]
"""A word or number without accents, capitals and commas, and its start and end in the text."""


def folded_tokens(text: str) -> list[FoldedToken]:
    """The words and numbers of a text, stop words included, not stemmed.

    >>> folded_tokens("1,310 Cafés")
    [('1310', 0, 5), ('cafes', 6, 11)]
    """
    if text.isascii():  # in lower case, its words stand where they stood
        return [(match[0].replace(",", ""), *match.span()) for match in _WORD_OR_NUMBER.finditer(text.lower())]
    return [(normalize_text(match[0]).replace(",", ""), *match.span()) for match in _WORD_OR_NUMBER.finditer(text)]


def has_digit(text: str) -> bool:
    """Whether a text has a digit, in any script."""
    return any(map(str.isdigit, text))
