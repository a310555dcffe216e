"""Reads the style sheets within an HTML page: their rules, and which elements they hide from readers."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice

from quoteweave.core.lazy_regex import lazy_regex

MAX_RULES = 1000
"""The most rules of one kind that are examined."""
_MAX_AROUND = 10  # the most conditions around a rule
_MAX_SELECTORS = 5_000  # characters
_DISPLAY = lazy_regex(r"(?:^|;)\s{0,9}display\s{0,9}:\s{0,9}([\w-]+)", re.IGNORECASE)
_SIMPLE = lazy_regex(r"[\w-]*(?:[.#][\w-]+)*")
_NAMES = lazy_regex(r"[.#]?[\w-]+")
_CONDITION = lazy_regex(r"\[[^\]]*\]|::?[\w-]+(?:\([^)]*\))?")
_COMBINED = lazy_regex(r"[\s>+~]")


def split_styles(lower: str) -> tuple[str, list[str]]:
    """The page, in lower case, without its style sheets, and these."""
    first, *styles = lower.split("<style")
    page = first + "".join(style.partition("</style")[2] for style in styles)
    return page, [style.partition("</style")[0].partition(">")[2] for style in styles]


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
    return any("@media" in each and "print" in each for each in around)


def display_of(declarations: str) -> str | None:
    """The value of `display` in some declarations, of which the last counts; None if they do not set it."""
    return next((value.lower() for value in reversed(_DISPLAY.findall(declarations))), None)


class HiddenByStyles:
    """Tells which elements the style sheets of a page hide: by their names, classes and ids, where nothing shows them.

    What may show an element is any rule with a class, an id or a condition, even of an element around it, and any
    script that names its class or id.
    """

    def __init__(self, text: str = "") -> None:
        self._hiding = defaultdict[str, list[frozenset[str]]](list)
        self._showing = defaultdict[str, list[frozenset[str]]](list)
        lower = text.lower()
        sheets = split_styles(lower)[1] if "<style" in lower else []
        rules = (
            (rule, display) for sheet in sheets for rule, said in style_rules(sheet) if (display := display_of(said))
        )
        for (*around, selectors), display in islice(rules, MAX_RULES):
            if not is_for_print(around):
                for selector in selectors[:_MAX_SELECTORS].split(","):
                    self._add(selector.strip(), is_hiding=display == "none", is_sure=not around)
        scripts = [script.partition("</script")[0] for script in lower.split("<script")[1:]] if self._hiding else []
        for name in [name for name in self._hiding if any(name.lstrip(".#") in script for script in scripts)]:
            del self._hiding[name]

    def _add(self, selector: str, *, is_hiding: bool, is_sure: bool) -> None:
        is_simple = _SIMPLE.fullmatch(selector) is not None
        if is_hiding and not (is_simple and is_sure):
            return
        last = _COMBINED.split(_CONDITION.sub("", selector))[-1]
        names = frozenset(_NAMES.findall(last))
        if names and (is_hiding or not is_simple or len(names) > 1 or last[0] in ".#"):
            (self._hiding if is_hiding else self._showing)[min(names)].append(names)

    def hide(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether they, or a style of its own, hide an element other than the page, which scripts show."""
        if tag in {"html", "body"} or (tag == "dialog" and "open" not in attributes):
            return tag == "dialog"
        if display := display_of(attributes.get("style", "")):
            return display == "none"
        if not self._hiding:
            return False
        classes = attributes.get("class", "").lower().split()
        names = {tag, f"#{attributes.get('id', '').lower()}", *(f".{each}" for each in classes)}
        return _match(self._hiding, names) and not _match(self._showing, names)


def _match(rules: Mapping[str, Sequence[frozenset[str]]], names: Set[str]) -> bool:
    return any(rule <= names for name in names for rule in rules.get(name, ()))
