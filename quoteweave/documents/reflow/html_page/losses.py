"""Names the elements of HTML that are left out, and detects other losses: what is unclosed, or CSS or scripts write."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.reflow.html_page.styles import is_for_print, split_styles, style_rules

_DROPPED_NAMES = (
    "script style nav noscript template iframe object video audio canvas svg map select button textarea input "
    "datalist annotation annotation-xml rp rt"
)
DROPPED = frozenset(_DROPPED_NAMES.split())
"""The elements that are left out."""
# Those that a reader would miss; a drawing (svg) only if it contains words.
_MISSED = frozenset({"iframe", "object", "video", "audio", "canvas", "select", "textarea"})
EMPTY = frozenset({"embed", "frame"})
"""Elements that a reader would miss and that contain nothing."""
SVG_WORDS = frozenset({"text", "foreignobject"})
"""The elements of a drawing that contain words."""
REPORTED_WITH_WORDS = frozenset({"button", "noscript", "template"})
"""Elements that are reported if they contain words: some are seen without scripts, or once a script shows them."""
CODE = frozenset({"script", "style"})
"""Elements whose content is not text."""
# Fields whose entered value can be read, and buttons, whose value is their label.
_FIELDS = frozenset(
    {"", "text", "search", "email", "url", "tel", "number", "date", "time", "month", "datetime-local"}
    | {"submit", "button", "reset"}
)
# Left-out elements that must be closed; scripts, which may contain such tags as text, are examined separately.
_CLOSED_NAMES = (
    "style nav noscript template iframe object video audio canvas svg map select button textarea datalist annotation"
)
# What CSS writes before or after an element, and the parts of it that are no words: characters by their number.
_WRITTEN = lazy_regex(r"(?<![\w-])(?:content|(?P<marks>list-style(?:-type)?))\s*:([^;]*)")
_HAS_LETTERS = lazy_regex(r"[^\W_]")
_NUMBERED = lazy_regex(r"\\[0-9a-f]{1,6}\s?", re.IGNORECASE)
_HAS_WORDS = lazy_regex(r"""["'][^"']*(?:[^\W_]|[%‰€$£¥])|\b(?:attr|counters?)\(""")
_PLACE = lazy_regex(r"::?(?:before|after|marker)\b")
_CONDITION = lazy_regex(r"\[[^\]]*\]|:[\w-]+(?:\([^)]*\))?")
_NAME = lazy_regex(r"([.#]?)([\w-]+)")
_FORMULA = lazy_regex(r"<script\s[^>]{0,300}?type\s{0,9}=\s{0,9}[\"']?math/")
# Present if formulas were already put into the page as text.
_SET = lazy_regex(r"class\s{0,9}=\s{0,9}[\"']?mathjax")

# What a script writes into the page as it is read, and the parts of it without words: scripts, tags and their escapes.
_SCRIPT = lazy_regex(r"<script[^>]*>(.*?)</script", re.DOTALL)
_WRITE = lazy_regex(r"\bdocument\.write(?:ln)?\s*\(")
_SHOWS_NONE = lazy_regex(r"<script.*?<\\?/script\s*>|<[^>]*>|\bunescape\b", re.DOTALL)
# How many rules, or calls that write, are examined, and how many characters of each call.
MAX_RULES, MAX_WRITTEN = 1000, 2000


def is_missed(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether a reader would miss a left-out element, as a video, a ticked box or a filled field."""
    if tag == "input" and "checked" not in attributes:
        value = attributes.get("value", "") if attributes.get("type", "").strip().lower() in _FIELDS else ""
        return _HAS_LETTERS.search(value) is not None
    return tag == "input" or tag in _MISSED


def html_losses(text: str, encoded: bytes, *, has_text: bool) -> Iterator[str]:
    """Name each thing that a reader of the page may see but that is not read; `encoded` is the text in UTF-8."""
    lower = text.lower()
    unclosed = _unclosed(lower) or (["comment or tag"] if _is_cut_off(encoded) else [])
    yield from (f"unclosed {element}" for element in unclosed)
    if "<style" in lower:
        page, sheets = split_styles(lower)
        rules = (rule for sheet in sheets for rule in _writing_rules(sheet))
        yield from ("CSS content" for rule in islice(rules, MAX_RULES) if _applies(rule, page))
    if not _SET.search(lower):
        yield from ("formula in a script" for _ in _FORMULA.finditer(lower))
    if not has_text and "<script" in lower:
        yield "page that scripts write"
    elif "document.write" in lower:
        yield from ("script that writes" for written in _SCRIPT.findall(lower) if _writes_words(written))


def _unclosed(lower: str) -> list[str]:
    """Dropped elements that are opened more often than closed, so that the rest of the page may be lost with them."""
    first, *scripts = lower.split("<script")
    page = first + "".join(script.partition("</script")[2] for script in scripts)
    unclosed = [tag for tag in _CLOSED_NAMES.split() if len(re.findall(rf"<{tag}[\s>]", page)) > page.count(f"</{tag}")]
    return [*unclosed, *(["script"] if scripts and "</script" not in scripts[-1] else [])]


def _writing_rules(sheet: str) -> Iterator[tuple[str, ...]]:
    """The selectors of each rule that writes words, after the conditions around it."""
    for around, declarations in style_rules(sheet):
        written = _WRITTEN.search(declarations)
        if written and writes_words(written[2]):
            # Marks before the items of a list need no "::marker" in the rule.
            placed = [around[-1].replace(",", "::marker,") + "::marker"] if written["marks"] else []
            yield (*around, *placed)


def writes_words(value: str) -> bool:
    """Whether a value of CSS contains a string with words or units of numbers, or takes one from elsewhere."""
    return _HAS_WORDS.search(_NUMBERED.sub("", value)) is not None


def _applies(rule: Sequence[str], page: str) -> bool:
    """Whether a rule applies to a screen, and all names of one of its selectors occur in the page."""
    if is_for_print(rule[:-1]):
        return False
    for selector in rule[-1].split(","):
        names = _NAME.findall(_CONDITION.sub(" ", selector))
        if _PLACE.search(selector) and all((name if mark else f"<{name}") in page for mark, name in names):
            return True
    return False


def _writes_words(script: str) -> bool:
    """Whether a script writes anything into the page that may show words; what it loads cannot be known."""
    for called in islice(_WRITE.finditer(script), MAX_RULES):
        arguments = script[called.end() : called.end() + MAX_WRITTEN].partition(");")[0].rpartition(")")
        written = (arguments[0] or arguments[2]).replace("%3c", "<").replace("%3e", ">").replace("\\x3c", "<")
        if _HAS_LETTERS.search(_SHOWS_NONE.sub("", written)):
            return True
    return False


_END = "end-of-page"


def _is_cut_off(encoded: bytes) -> bool:
    """Whether the page ends within a comment or a tag that is not closed, so that the end is not shown."""
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, target=_End())
    parser.feed(encoded)
    parser.feed(f"<{_END}>".encode())
    return not parser.close()


class _End:
    """Receives the parser's events; its result is whether the last tag, or the last of the text, is `_END`."""

    def __init__(self) -> None:
        self._tag = self._tail = ""

    def start(self, tag: str, _attributes: Mapping[str, str]) -> None:
        self._tag = tag

    def data(self, text: str) -> None:
        self._tail = (self._tail + text[-2 * len(_END) :])[-2 * len(_END) :]

    def close(self) -> bool:
        return self._tag == _END or _END in self._tail
