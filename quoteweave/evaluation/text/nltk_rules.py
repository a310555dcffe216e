"""The rules of nltk for English text, implemented here: sentences (Punkt), tokens (Penn Treebank), stems (Porter).

So only tests need nltk, which they compare with; scores need neither nltk nor its model, which is a separate download.

**Punkt** (Kiss and Strunk, Computational Linguistics 32(4), 2006). `punkt_splitter` is nltk's own. Its model has tables
of abbreviations and of how 20,000 words are written in newspapers; `punkt_sentences` has only the abbreviations that
occur in answers, and instead of the words a rule: after an abbreviation, a sentence only begins with one of
`_STARTERS`. So a capitalised word that Punkt knows not to be part of a name ("in the U.S. Adults say so") begins a
sentence for nltk and not here; docs/metrics.md says how rare that is.

**Penn Treebank**, as in NLTKWordTokenizer of nltk 3.10 or 3.9. Each rule puts spaces around something that is a token
of its own; the order matters, because later rules see the spaces of earlier ones. Opening double quotes become `` and
closing ones ''. A text is treated as one sentence: only a full stop at its very end is a token, and others stay with
their words, as in nltk for text that was not split into sentences.

**Porter** (M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980), as rouge-score uses it, with the
default additions of nltk's PorterStemmer: a table of irregular words, words of one or two letters unchanged, rules for
"ies" and "ied" in words of four letters, "y" only after consonants, and a few more suffixes.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import cast

from quoteweave.core.errors import MissingExtra, ModelNotFound
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.evaluation.text.claims import SentenceSplitter

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
"""Words that the model does not take as part of a number before them, such as "2. International"."""
_OTHER = r"[)\";}\]*:@'({\[!?]"
_MANY = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_END = lazy_regex(rf"[.?!](?=({_OTHER}|\s+(\S+)))")
_WORD = lazy_regex(rf"{_MANY}|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_OTHER}|{_MANY}|,(?=$|\s|{_OTHER}|{_MANY}))|\S")
_NUMBER = lazy_regex(r"-?[.,]?\d[\d,.-]*\.?")
_INITIAL = lazy_regex(r"[^\W\d]\.")
_CLOSING = lazy_regex(r"[\"')\]}]+?(?:\s+|(?=--)|$)")


def punkt_sentences(text: str) -> list[str]:
    """The sentences of `text`, without the white space between them."""
    begin, pieces = 0, []
    for end, following in _breaks(text):
        pieces.append(text[begin:end])
        begin = following
    pieces.append(text[begin:].rstrip())
    for position in range(1, len(pieces)):  # closing brackets and quotation marks go with what they close
        closing = _CLOSING.match(pieces[position])
        if closing:
            pieces[position - 1] += closing[0].strip()
            pieces[position] = pieces[position][closing.end() :]
    return [piece for piece in pieces if piece]


def _breaks(text: str) -> list[tuple[int, int]]:
    """The end of each sentence but the last, and the beginning of the next one."""
    breaks: list[tuple[int, int]] = []
    begin_of_last, last = 0, None
    word = (0, 0)
    for match in _END.finditer(text):
        before = text[word[1] : match.start()]
        space = next((position for position in range(len(before) - 1, -1, -1) if before[position].isspace()), 0)
        start = word[1] + space + 1 if space else word[0]
        if last is not None and word[1] <= start:
            _add_break(text, word, last, breaks)
        last, word = match, (start, match.start())
        begin_of_last = start
    if last is not None:
        _add_break(text, (begin_of_last, last.start()), last, breaks)
    return breaks


def _add_break(text: str, word: tuple[int, int], match: re.Match[str], breaks: list[tuple[int, int]]) -> None:
    if _ends_sentence(_WORD.findall(text[word[0] : word[1]] + match[0] + match[1])):
        breaks.append((match.end(), match.end() if match[2] is None else match.start(2)))


def _ends_sentence(words: list[str]) -> bool:
    """Whether a sentence ends after any but the last of these words."""
    return any(_is_end(word, following) for word, following in pairwise(words))


def _is_end(word: str, following: str) -> bool:
    """Whether a sentence ends with this word, which is followed by `following`."""
    if word in (".", "?", "!") or not word.endswith("."):
        return word in (".", "?", "!")
    stem, upper = word[:-1].lower(), following[0].isupper()
    dots, initial, number = word.endswith(".."), _INITIAL.fullmatch(word), _NUMBER.fullmatch(word)
    abbreviated = not dots and bool({stem, stem.rpartition("-")[2]} & _ABBREVIATIONS)
    starts = upper and following.lower().removesuffix(".") in _STARTERS
    if dots or (abbreviated and not initial):
        return starts
    if initial and upper:  # a name after an initial does not begin a sentence
        return starts and not abbreviated
    # After a number or an initial, a word in lower case or punctuation does not begin a sentence either.
    goes_on = following[0].islower() or following in (";", ":", ",", ".", "!", "?")
    goes_on = goes_on or (number is not None and following.lower() in _NOT_AFTER_NUMBERS)
    return not abbreviated and not ((initial or number) and goes_on)


DATA = "punkt_tab"


def punkt_splitter() -> SentenceSplitter:
    """`sent_tokenize` of nltk, for English. Raises MissingExtra, and ModelNotFound if its data is not installed."""
    try:
        from nltk.tokenize import sent_tokenize
    except ModuleNotFoundError as error:
        raise MissingExtra("nltk", "citations") from error
    try:
        sent_tokenize("")
    except LookupError as error:
        raise ModelNotFound(f"nltk has no {DATA}; install it with: python -m nltk.downloader {DATA}") from error
    return cast("SentenceSplitter", sent_tokenize)


Change = str | Callable[[re.Match[str]], str]

_APART = r" \g<0> "
_CLITIC = "(?:re|ve|ll|m|t|s|d|n)"
_Rules = tuple[tuple[re.Pattern[str], Change], ...]
_QUOTE = rf"(?i)(?<!\w)'(?!{_CLITIC}\b)(?=\w)"
_QUOTE_3_9 = rf"(?i)'(?!{_CLITIC})(?=\w\b)"
"""A quotation mark before a word; before nltk 3.10 only before a word of one letter."""
_PUNCTUATION = r"\.{2,}|[;@#$%&?!\u2012-\u2015]"
_PUNCTUATION_3_9 = r"\.{2,}|[;@#$%&?!]"
"""Before nltk 3.10, dashes stayed with their neighbours."""
_RULES: _Rules = tuple(
    (lazy_regex(pattern), change)
    for pattern, change in (
        ('\\A"|[«“‘„]|``|`', lambda match: " `` " if match[0] == '"' else f" {match[0]} "),
        (r"""(?<=[ (\[{<])(?:"|'')""", " `` "),
        (_QUOTE, "' "),
        (r"""(?<=[^.])\.(?=[\])}>"'»”’ ]*+\s*$)""", _APART),
        (r"([:,])(\D)", r" \1 \2"),  # but not in 3,141 and 10:40
        (r"[:,]$", _APART),
        (_PUNCTUATION, _APART),
        (r"(?<=[^'])'(?= )", " '"),
        (r"[*\[\](){}<>]|--", _APART),
        (r"\A|\Z", " "),
        ("[»”’]|''|\"", lambda match: " '' " if match[0] == '"' else f" {match[0]} "),
        (r"\s+", " "),
        (r"([^' ])('[sSmMdD]?) ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        (
            r"(?i)\b(can(?=not)|d(?='ye)|gim(?=me)|gon(?=na)|got(?=ta)|lem(?=me)|more(?='n)|wan(?=na\s))"
            r"(not|'ye|me|na|ta|'n)\b",
            r" \1 \2 ",
        ),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
)


_EARLIER = {_QUOTE: lazy_regex(_QUOTE_3_9), _PUNCTUATION: lazy_regex(_PUNCTUATION_3_9)}
_RULES_3_9: _Rules = tuple((_EARLIER.get(pattern.pattern, pattern), change) for pattern, change in _RULES)


def treebank_tokens(text: str, *, nltk_3_9: bool = False) -> list[str]:
    """The tokens of `text`, case kept; figures that were published before 2026 use those of nltk 3.9."""
    for pattern, change in _RULES_3_9 if nltk_3_9 else _RULES:
        text = pattern.sub(change, text)
    return text.split()


_IRREGULAR = {
    **{form: form for form in ("sky", "news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed")},
    **{"skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"},
    **{"innings": "inning", "outings": "outing", "cannings": "canning"},
}
Condition = Callable[[str], bool]
Rule = tuple[str, str, Condition]
"""A suffix, its replacement, and the condition for the word before it."""


@lru_cache(maxsize=1 << 16)
def porter_stem(word: str) -> str:
    """The stem of a word in lower case."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_plurals, _past_and_progressive, _final_y, _double_suffixes):
        word = step(word)
    return _final_e(_replaced(_replaced(word, _ENDINGS), _LONG))


def _consonants(word: str) -> list[bool]:
    """Whether each letter is a consonant; y is one at the beginning and after a vowel."""
    consonants: list[bool] = []
    for letter in word:
        consonants.append(not consonants or not consonants[-1] if letter == "y" else letter not in "aeiou")
    return consonants


def _measure(stem: str) -> int:
    """How often a vowel is followed by a consonant: m in the paper."""
    kinds = _consonants(stem)
    return sum(after and not before for before, after in pairwise(kinds))


def _has_vowel(stem: str) -> bool:
    return not all(_consonants(stem))


def _ends_short(stem: str) -> bool:
    """Whether it ends with consonant, vowel and a consonant other than w, x, y: *o in the paper.

    A stem of two letters has to be a vowel and a consonant.
    """
    kinds = _consonants(stem)
    if len(stem) == 2:
        return kinds == [False, True]
    return kinds[-3:] == [True, False, True] and stem[-1] not in "wxy"


def _has_positive_measure(stem: str) -> bool:
    return _measure(stem) > 0


def _has_measure_above_one(stem: str) -> bool:
    return _measure(stem) > 1


def _always(_: str) -> bool:
    return True


def _replaced(word: str, rules: Sequence[Rule]) -> str:
    """Apply the first rule whose suffix the word has; no other is tried, even if its condition fails."""
    for suffix, by, condition in rules:
        if word.endswith(suffix):
            stem = word[: len(word) - len(suffix)]
            return stem + by if condition(stem) else word
    return word


def _plurals(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    return _replaced(word, (("sses", "ss", _always), ("ies", "i", _always), ("ss", "ss", _always), ("s", "", _always)))


def _past_and_progressive(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _has_positive_measure(word[:-3]) else word
    suffix = next(
        (ending for ending in ("ed", "ing") if word.endswith(ending) and _has_vowel(word[: -len(ending)])), None
    )
    if suffix is None:
        return word
    stem = word[: -len(suffix)]
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    if len(stem) > 1 and stem[-1] == stem[-2] and _consonants(stem)[-1]:
        return stem if stem[-1] in "lsz" else stem[:-1]
    return f"{stem}e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _final_y(word: str) -> str:
    behind_consonant = word.endswith("y") and len(word) > 2 and _consonants(word)[-2]
    return f"{word[:-1]}i" if behind_consonant else word


_DOUBLE = tuple(
    (suffix, by, _has_positive_measure)
    for suffix, by in (
        ("ational", "ate"),
        ("tional", "tion"),
        ("enci", "ence"),
        ("anci", "ance"),
        ("izer", "ize"),
        ("bli", "ble"),
        ("alli", "al"),
        ("entli", "ent"),
        ("eli", "e"),
        ("ousli", "ous"),
        ("ization", "ize"),
        ("ation", "ate"),
        ("ator", "ate"),
        ("alism", "al"),
        ("iveness", "ive"),
        ("fulness", "ful"),
        ("ousness", "ous"),
        ("aliti", "al"),
        ("iviti", "ive"),
        ("biliti", "ble"),
        ("fulli", "ful"),
    )
)
_ENDINGS = tuple(
    (suffix, by, _has_positive_measure)
    for suffix, by in (
        ("icate", "ic"),
        ("ative", ""),
        ("alize", "al"),
        ("iciti", "ic"),
        ("ical", "ic"),
        ("ful", ""),
        ("ness", ""),
    )
)
_LONG_SUFFIXES = "al ance ence er ic able ible ant ement ment ent", "ou ism ate iti ous ive ize"
_LONG: tuple[Rule, ...] = (
    *((suffix, "", _has_measure_above_one) for suffix in _LONG_SUFFIXES[0].split()),
    ("ion", "", lambda stem: _has_measure_above_one(stem) and stem[-1] in "st"),
    *((suffix, "", _has_measure_above_one) for suffix in _LONG_SUFFIXES[1].split()),
)


def _double_suffixes(word: str) -> str:
    if word.endswith("alli") and _has_positive_measure(word[:-4]):
        return _double_suffixes(word[:-2])
    if word.endswith("logi"):
        return (
            word[:-1] if _has_positive_measure(word[:-3]) else word
        )  # the l of the suffix counts among the stem's letters
    return _replaced(word, _DOUBLE)


def _final_e(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        if _has_measure_above_one(stem) or (_measure(stem) == 1 and not _ends_short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _has_measure_above_one(word[:-1]) else word
