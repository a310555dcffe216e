"""Reads the style sheets within an HTML page: their rules, and which elements they hide from readers."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, islice

from quoteweave.core.lazy_regex import lazy_regex

MAX_RULES = 1000
"""The most rules of one kind, or selectors of such, that are examined."""
_MAX_AROUND = 10  # the most conditions around a rule
_MAX_SELECTOR = 1_000  # characters
_DISPLAY = lazy_regex(r"(?:^|;)\s{0,9}display\s{0,9}:\s{0,9}([\w-]+)", re.IGNORECASE)
_SIMPLE = lazy_regex(r"(?=.)[\w-]*(?:[.#][\w-]+)*")
# Names may have signs after backslashes: ".md\\:block".
_NAMES = lazy_regex(r"[.#]?(?:[\w-]|\\.)+")
_CONDITION = lazy_regex(r"\[[^\]]*\]|(?<!\\)::?[\w-]+(?:\([^)]*\))?")
_COMBINED = lazy_regex(r"[\s>+~]")
# Style sheets within these do not apply.
_UNUSED = lazy_regex(r"<!--.*?(?:-->|\Z)|<(noscript|template)\b.*?(?:</\1|\Z)", re.DOTALL)
# Attributes that may say what is shown once a reader acts.
_SHOWING = lazy_regex(
    r"""\s(?:on[a-z]+|aria-controls|data-[\w-]*target|href)\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|(\S*))"""
)
_SCREEN = lazy_regex(r"\b(?:screen|all|not)\b")
_SCRIPT_WORD = lazy_regex(r"[\w-]+")


def split_styles(lower: str) -> tuple[str, list[str]]:
    """The page, in lower case, without its style sheets, and these; one for a medium is within a condition."""
    first, *styles = lower.split("<style")
    page = first + "".join(style.partition("</style")[2] for style in styles)
    return page, [_rules_of(style.partition("</style")[0]) for style in styles]


def _rules_of(style: str) -> str:
    attributes, _, rules = style.partition(">")
    return f"@media {attributes} {{{rules}}}" if "media" in attributes else rules


def style_rules(sheet: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each rule of a style sheet: the conditions around it, its selectors last, and its declarations."""
    before, *comments = sheet.split("/*")
    around: list[str] = []
    for piece in (before + " ".join(comment.partition("*/")[2] for comment in comments)).split("}"):
        *opened, declarations = piece.split("{")
        around += (each.rpartition(";")[2].strip() for each in opened)
        if around:
            yield tuple(around[-_MAX_AROUND:]), declarations
        del around[-1:]


def is_for_print(around: Sequence[str]) -> bool:
    """Whether a rule with these conditions around it is for print alone."""
    return any("@media" in each and "print" in each and not _SCREEN.search(each) for each in around)


def display_of(declarations: str) -> str | None:
    """The value of `display` in some declarations, of which the last counts; None if they do not set it."""
    return next((value.lower() for value in reversed(_DISPLAY.findall(declarations))), None)


class HiddenByStyles:
    """Tells which elements the style sheets of a page hide: by their names, classes and ids, where nothing shows them.

    What may show an element is any rule with a class, an id or a condition, even of an element around it, and any
    script, action or link of the page that names its class or id. Pages with many rules hide nothing.
    """

    def __init__(self, text: str = "") -> None:
        self._hiding = defaultdict[str, list[frozenset[str]]](list)
        self._showing = defaultdict[str, list[frozenset[str]]](list)
        lower = text.lower()
        sheets = split_styles(_UNUSED.sub("", lower))[1] if "<style" in lower else []
        selectors = list(islice(_display_selectors(sheets), MAX_RULES + 1))
        if len(selectors) <= MAX_RULES and all(len(selector) <= _MAX_SELECTOR for selector, *_ in selectors):
            for selector, is_hiding, is_sure in selectors:
                self._add(selector, is_hiding=is_hiding, is_sure=is_sure)
        self._named = _named_by_scripts(lower) if self._hiding else set[str]()
        for tag in self._named & self._hiding.keys():
            del self._hiding[tag]

    def _add(self, selector: str, *, is_hiding: bool, is_sure: bool) -> None:
        is_simple = _SIMPLE.fullmatch(selector) is not None
        if is_hiding and not (is_simple and is_sure):
            return
        last = _COMBINED.split(_CONDITION.sub("", selector))[-1]
        names = frozenset(name.replace("\\", "") for name in _NAMES.findall(last))
        if is_hiding or not is_simple or len(names) > 1 or last[0] in ".#":
            (self._hiding if is_hiding else self._showing)[min(names, default="")].append(names)

    def hide(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether they, or a style of its own, hide an element other than the page, which scripts show."""
        if tag in {"html", "body"} or (tag == "dialog" and "open" not in attributes):
            return tag == "dialog"
        if display := display_of(attributes.get("style", "")):
            return display == "none"
        if not self._hiding:
            return False
        classes, own = attributes.get("class", "").lower().split(), attributes.get("id", "").lower()
        if not self._named.isdisjoint((own, *classes)):
            return False
        names = {tag, f"#{own}", *(f".{each}" for each in classes)}
        return _match(self._hiding, names) and not _match(self._showing, names)


def _match(rules: Mapping[str, Sequence[frozenset[str]]], names: Set[str]) -> bool:
    return any(rule <= names for name in (*names, "") for rule in rules.get(name, ()))


def _display_selectors(sheets: Sequence[str]) -> Iterator[tuple[str, bool, bool]]:
    """The selectors of rules that set `display` on screens: whether each hides, and whether without a condition."""
    for sheet in sheets:
        for (*around, selectors), declarations in style_rules(sheet):
            display = display_of(declarations)
            if display is not None and not is_for_print(around):
                yield from ((each.strip(), display == "none", not around) for each in selectors.split(","))


def _named_by_scripts(lower: str) -> set[str]:
    """The words of the page's scripts, and of what attributes say that actions and links show."""
    scripts = (script.partition("</script")[0] for script in lower.split("<script")[1:])
    values = (next(filter(None, found.groups()), "") for found in _SHOWING.finditer(lower))
    said = (value for value in values if "/" not in value.partition("(")[0])  # no other page
    return {word.group() for text in chain(scripts, said) for word in _SCRIPT_WORD.finditer(text)}
