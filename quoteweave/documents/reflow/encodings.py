"""Decodes text: in the encoding that it states, else in the one in which it certainly is text, else as Windows-1252."""

import codecs
import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from unicodedata import category, name

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize

BOMS: Mapping[bytes, str] = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""The encodings that byte order marks stand for."""
DECLARED_IN_HTML = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})""", re.IGNORECASE
)
"""What a page of HTML says of its encoding, which is the first group."""
# Only encodings of web pages, because Python also has codecs that are not text encodings.
_DECLARABLE = lazy_regex(
    r"iso8859-\d+|cp125\d|cp932|cp949|cp950|shift_jis|euc_jp|iso2022_(?:jp|kr)\w*|hz|euc_kr|gb2312|gbk|gb18030|big5|big5hkscs|koi8-[ru]"
)
_MAX_DECLARED = 16_384
# Encodings whose bytes are all ASCII, and the sequences that switch from ASCII in them.
_SHIFTED = lazy_regex(r"iso2022_(?:jp|kr)\w*|hz")
_SHIFTS = re.compile(rb"\x1b\$|\x1b\([JI]|\x0e|~\{")
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")

_CASED = {
    **dict.fromkeys(("cp1251", "koi8_r", "koi8_u", "iso8859_5", "cp866"), frozenset({"CYRILLIC"})),
    **dict.fromkeys(("cp1253", "iso8859_7"), frozenset({"GREEK"})),
}
_JAPANESE = dict.fromkeys(("cp932", "euc_jp"), frozenset({"HIRAGANA", "KATAKANA", "CJK"}))
_CHINESE_OR_KOREAN = {
    **dict.fromkeys(("gb18030", "big5"), frozenset({"CJK"})),
    "euc_kr": frozenset({"HANGUL"}),
}
# The encodings that are recognised, and the scripts in which each has its letters. Those of Latin letters differ in
# so few of them that the language would have to be known.
_SCRIPTS = _CASED | _JAPANESE | _CHINESE_OR_KOREAN | {"cp1255": frozenset({"HEBREW"}), "cp1256": frozenset({"ARABIC"})}
_NAMES = {
    "cp1251": "Windows-1251",
    "cp1252": "Windows-1252",
    "cp1253": "Windows-1253",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "big5": "Big5",
    "cp866": "DOS-866",
    "cp932": "Shift-JIS",
    "iso8859_5": "ISO-8859-5",
    "iso8859_7": "ISO-8859-7",
}
_HIGH = re.compile(rb"[\x80-\xff]")
_RUNS = b" " * 0x80 + b"x" * 0x80  # to be split into runs of bytes beyond ASCII
_ASCII = lazy_regex(r"[\x00-\x7f]+")
_MAX_SAMPLE = 65_536
_WITHIN_CHARACTERS = bytes(range(0x30, 0x100))  # only these bytes can be part of a character of several
# Below so many bytes beyond ASCII, sentences were recognised wrongly, as were texts with so few different letters.
_MIN_HIGH, _MIN_LETTERS = 80, 12
# Of the bytes beyond ASCII, at most so many have none beside them; in Latin letters, nearly all.
_MAX_ALONE = 0.4
_MIN_OWN = 0.9  # the least share of letters in its own scripts
_KANA, _MIN_KANA = lazy_regex("[\u3041-\u30fa]"), 0.2
# The least share of capitals, and how many of them follow a small letter at most.
_MIN_CAPITALS, _MAX_WITHIN = 0.005, 0.2
# Of the characters beyond ASCII in UTF-8, at most so many are not valid.
_MAX_BAD = 0.1
# Of UTF-16's characters without a byte order mark, in the first so many bytes.
_HEAD = 8192
_MIN_BLANKS, _MIN_WORDS = 0.01, 0.7


def decode(data: bytes, declared: re.Pattern[bytes] | None) -> tuple[str, tuple[str, ...]]:
    """Return the text, and a warning if the encoding was guessed or characters were not valid in it.

    The encoding is that of the byte order mark (UTF-8, UTF-16); else ISO-2022-JP or a similar one, if the text switches
    to it; else UTF-8 if it is valid but for few characters; else what the first group of `declared` finds in the first
    16,384 bytes; else, with a warning, the one in which it certainly is text of another script than Latin, or
    Windows-1252.
    """
    for mark, encoding in BOMS.items():
        if data.startswith(mark):
            return _decode_leniently(data[len(mark) :], encoding)
    match = declared.search(data[:_MAX_DECLARED]) if declared else None
    stated = _codec_name(match.group(1).decode("ascii", "replace")) if match else None
    if shifted := _shifted_encoding(data, stated):
        return _decode_leniently(data, shifted)
    utf_16 = utf_16_without_mark(data)
    if utf_16 is None:
        try:
            return data.decode("utf-8"), ()
        except UnicodeDecodeError:
            text, invalid = _decode_leniently(data, "utf-8")
        if text.count("\ufffd") <= _MAX_BAD * (len(text) - len(text.encode("ascii", "ignore"))):
            return text, invalid
        if stated:
            return _decode_leniently(data, stated)
    guessed = utf_16 or _recognised_encoding(data) or "cp1252"
    text, invalid = _decode_leniently(data, guessed)
    encoding_name = _NAMES.get(guessed, guessed.upper().replace("_", "-"))
    doubt = f"Its encoding is unknown, and was taken for {encoding_name}; if that is wrong, save it as UTF-8."
    return text, (doubt, *(invalid if guessed != "cp1252" else ()))


def utf_16_without_mark(data: bytes) -> str | None:
    """The byte order of UTF-16 without its mark, if `data` begins with text in it: Latin words, or blanks of any."""
    head = data[: min(_HEAD, len(data) // 2 * 2)]
    if 0 not in head:
        return None
    order = {(True, False): "utf-16-be", (False, True): "utf-16-le"}.get((0 in head[::2], 0 in head[1::2]))
    text = head.decode(order, "ignore") if order else ""
    blanks, words = sum(map(str.isspace, text)), sum(map(str.isalnum, text))
    is_text = blanks >= _MIN_BLANKS * len(text) and blanks + words >= _MIN_WORDS * len(text) > 0
    known = not any(category(character) in ("Cn", "Co") for character in text)
    return order if is_text and known else None


def _recognised_encoding(data: bytes) -> str | None:
    """The encoding in which data is certainly text in another script than Latin, by its first bytes beyond ASCII."""
    first = _HIGH.search(data)
    sample = data[first.start() :][:_MAX_SAMPLE] if first else b""
    if len(sample) == _MAX_SAMPLE:
        sample = sample.rstrip(_WITHIN_CHARACTERS)
    runs = sample.translate(_RUNS).split()
    high = sum(map(len, runs))
    if high < _MIN_HIGH or runs.count(b"x") > _MAX_ALONE * high:
        return None
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(_SCRIPTS)).best()
    return best.encoding if best is not None and _is_certain(sample, best.encoding) else None


def _is_certain(sample: bytes, encoding: str) -> bool:
    """Whether its letters are those of the encoding's scripts, in the cases in which words have them.

    Japanese is valid in the encodings of Chinese and Korean, too, but only Japanese has kana.
    """
    text = _ASCII.sub(" ", sample.decode(encoding))
    letters = list(filter(str.isalpha, text))
    scripts = Counter(name(letter, "").partition(" ")[0].partition("-")[0] for letter in letters)
    in_script = sum(scripts[script] for script in _SCRIPTS[encoding])
    if len(set(letters)) < _MIN_LETTERS or in_script < _MIN_OWN * len(letters):
        return False
    if encoding in _CASED:
        capitals = sum(map(str.isupper, letters))
        within = sum(before.islower() and after.isupper() for before, after in pairwise(text))
        return _MIN_CAPITALS * len(letters) <= capitals <= len(letters) / 2 and within <= _MAX_WITHIN * capitals
    if encoding in _CHINESE_OR_KOREAN:
        return not any(_has_kana(sample, japanese) for japanese in _JAPANESE)
    return encoding not in _JAPANESE or _has_kana(sample, encoding)


def _has_kana(sample: bytes, encoding: str) -> bool:
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    letters = sum(map(str.isalpha, _ASCII.sub(" ", text)))
    return len(_KANA.findall(text)) >= _MIN_KANA * letters


def _shifted_encoding(data: bytes, stated: str | None) -> str | None:
    """The encoding of data that is ASCII except for switches to another set; as UTF-8 it would be valid but wrong."""
    if not data.isascii():
        return None
    if stated and _SHIFTED.fullmatch(stated):
        return stated if _SHIFTS.search(data) else None
    return "iso2022_jp" if _ISO_2022_JP.search(data) else None


def _decode_leniently(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    text = data.decode(encoding, "replace")
    count = text.count("\ufffd")
    return text, (
        f"{pluralize(count, 'character is', 'characters are')} not valid {encoding}, and replaced.",
    ) if count else ()


def _codec_name(label: str) -> str | None:
    """Python's name of a declared text encoding; Latin-1 and ASCII mean Windows-1252 on the web."""
    try:
        codec = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    if codec in ("iso8859-1", "ascii"):
        return "cp1252"
    return codec if _DECLARABLE.fullmatch(codec) else None
