"""Reads the styles and roles of an HTML page's elements: which are hidden, what others are shown as, list numbers."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.reflow.html_page.blocks import Numbering, NumberStyle

MAX_RULES = 10_000
"""The most selectors that set `display`, and those that strike out or the like; of a page with more, none count."""
TOO_LONG = "style sheets that are too long to tell what they hide or strike out"
# The most comparisons of rules with elements, and with those around one, in a page; a rule that matches takes longer.
MAX_COMPARED, _MATCHED = 10_000_000, 10
_MAX_AROUND = 10  # the most conditions around a rule
_MAX_SELECTOR = 1_000  # characters
_MAX_DEPTH = 100  # the most elements around another that are compared with a rule
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
# What a style makes of an element without a meaning of its own, or of any element, by property and value.
_EFFECT = lazy_regex(
    r"(?:^|;)\s{0,9}(text-decoration|vertical-align|display|font-family|visibility|opacity|left|top|right|margin-left|"
    r"text-indent|font-size|color|clip|clip-path|transform|filter|content-visibility|height|max-height|width)"
    r"(?:-line)?\s{0,9}:\s{0,9}([^;!]*)"
)
STRUCK, UNSEEN = "s", "unseen"
# Values by which nothing is seen of an element's words, at least until a script changes it.
_UNSEEN = {
    **{"visibility": lazy_regex("hidden|collapse"), "opacity": lazy_regex("[0.]+")},
    **dict.fromkeys(("left", "top", "text-indent"), lazy_regex(r"-\d{3}.*")),
    **dict.fromkeys(("right", "margin-left"), lazy_regex(r"-\d{4}.*")),
    **dict.fromkeys(("font-size", "height", "max-height", "width"), lazy_regex("0(?:[a-z]+|%)?|1px")),
    "color": lazy_regex(r"transparent|(?:rgba?|hsla?)\(.*[,/]\s*0(?:\.0+)?%?\s*\)|#[0-9a-f]{3}(?:[0-9a-f]{3}0)?0"),
    "clip": lazy_regex(r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)"),
    "clip-path": lazy_regex(r"inset\(\s*(?:50|100)%.*|circle\(\s*0.*"),
    "transform": lazy_regex(r".*(?:scale[xy]?\(\s*0[,\s)]|translate(?:x|y|3d)?\(\s*-\d{4}).*"),
    **{"filter": lazy_regex(r"opacity\(\s*0.?0*\s*\)"), "content-visibility": lazy_regex("hidden")},
}
# Those that hide words only together with `overflow`.
_SIZES = frozenset({"height", "max-height", "width"})
_WHITE = lazy_regex(r"#fff(?:fff)?|white|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\)")
_GROUND = lazy_regex(r"(?:^|;)\s{0,9}background(?:-color)?\s{0,9}:\s{0,9}([^;!]*)")
_BLOCK_DISPLAYS = ("block", "flex", "grid", "table", "table-row", "table-cell", "list-item")
_SHOWN_AS = {
    **{
        ("text-decoration", "line-through"): STRUCK,
        ("vertical-align", "super"): "sup",
        ("vertical-align", "sub"): "sub",
    },
    **{("font-family", font): font for font in ("symbol", "wingdings")},
    **dict.fromkeys((("display", value) for value in _BLOCK_DISPLAYS), "div"),
}
# What is followed up where it depends on the elements around.
_ANYWHERE = frozenset({"text-decoration", *_UNSEEN})
_PLAIN_NAMES = "abbr b bdi big cite code em font i ins label mark small span strong time u"
_PLAIN = frozenset(_PLAIN_NAMES.split())
_BY_ROLE = {
    **{"table": "table", "grid": "table", "rowgroup": "tbody", "row": "tr"},
    **{"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"},
}
_CHANGING = frozenset({"style", "role", "face", "color", "aria-hidden"})
_OF_TABLES = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th"})
_MAX_SPAN = 1000
_Rule = TypeVar("_Rule")
_STYLED = lazy_regex(r"list-style(?:-type)?\s{0,9}:[^;]{0,99}?\b((?:lower|upper)-(?:alpha|latin|roman)|decimal)\b")
_STYLES: Mapping[str, NumberStyle] = {
    **{"1": "1", "a": "a", "A": "A", "i": "i", "I": "I", "decimal": "1", "lower-alpha": "a", "lower-latin": "a"},
    **{"upper-alpha": "A", "upper-latin": "A", "lower-roman": "i", "upper-roman": "I"},
}


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
        around += (opening.rpartition(";")[2].strip() for opening in opened)
        if around:
            yield tuple(around[-_MAX_AROUND:]), declarations
        del around[-1:]


def is_for_print(around: Sequence[str]) -> bool:
    """Whether a rule with these conditions around it is for print alone."""
    return any("@media" in condition and "print" in condition and not _SCREEN.search(condition) for condition in around)


def display_of(declarations: str) -> str | None:
    """The value of `display` in some declarations, of which the last counts; None if they do not set it."""
    return next((value.lower() for value in reversed(_DISPLAY.findall(declarations))), None)


class PageStyles:
    """Tells what the style sheets of a page make of its elements, by their names, classes and ids.

    They hide those that nothing shows. What may show an element is any rule with a class, an id or a condition, even of
    an element around it, and any script, action or link of the page that names its class or id. What strikes words
    out, or lets them not be seen, may also depend on the elements around.
    """

    def __init__(self, text: str = "") -> None:
        self._effects = defaultdict[str, list[_Effects]](list)
        self._around: list[frozenset[str]] = []  # the names of the open elements, if they matter
        self._last: tuple[str, Mapping[str, str], dict[str, str]] | None = None  # the effects on the last element
        self._comparisons_left = MAX_COMPARED
        self._hiding = defaultdict[str, list[frozenset[str]]](list)
        self._showing = defaultdict[str, list[frozenset[str]]](list)
        lower = text.lower()
        self._is_white = "background" not in lower and "bgcolor" not in lower and "<link" not in lower
        """Whether the page is white throughout."""
        sheets = split_styles(_UNUSED.sub("", lower))[1] if "<style" in lower else []
        selectors = list(islice(_display_selectors(sheets), MAX_RULES + 1))
        are_few = len(selectors) <= MAX_RULES and all(len(selector) <= _MAX_SELECTOR for selector, *_ in selectors)
        for selector, is_hiding, is_sure in selectors if are_few else ():
            self._add(selector, is_hiding=is_hiding, is_sure=is_sure)
        effects = list(islice(_effects_of_selectors(sheets, is_white=self._is_white), MAX_RULES + 1))
        self.doubts = () if are_few and len(effects) <= MAX_RULES else (TOO_LONG,)
        """Why words are read that may be hidden or struck out."""
        if len(effects) <= MAX_RULES and any(any(rule_effects.values()) for _, rule_effects in effects):
            for number, (parts, rule_effects) in enumerate(effects):
                *around, names = (frozenset(_NAMES.findall(part)) for part in parts)
                self._effects[min(names)].append(_Effects(number, names, tuple(around), rule_effects))
        self._depends_on_others = any(rule.around for rules in self._effects.values() for rule in rules)
        self._script_words = _named_by_scripts(lower) if self._hiding else set[str]()
        for tag in self._script_words & self._hiding.keys():
            del self._hiding[tag]

    def _add(self, selector: str, *, is_hiding: bool, is_sure: bool) -> None:
        is_simple = _SIMPLE.fullmatch(selector) is not None
        if is_hiding and not (is_simple and is_sure):
            return
        last = _COMBINED.split(_CONDITION.sub("", selector))[-1]
        names = frozenset(name.replace("\\", "") for name in _NAMES.findall(last))
        if is_hiding or not is_simple or len(names) > 1 or last[0] in ".#":
            (self._hiding if is_hiding else self._showing)[min(names, default="")].append(names)

    def enter(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Begin an element, and return whether it is hidden."""
        self._last = None
        if self._depends_on_others:
            self._around.append(_names_of(tag, attributes))
        return "hidden" in attributes or self._is_hidden(tag, attributes)

    def leave(self) -> None:
        """End an element."""
        del self._around[-1:]

    def _is_hidden(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether they, or a style of its own, hide an element other than the page, which scripts show."""
        if tag in {"html", "body"} or (tag == "dialog" and "open" not in attributes):
            return tag == "dialog"
        if (style := attributes.get("style")) and (display := display_of(style)):
            return display == "none"
        if not self._hiding:
            return False
        names = _names_of(tag, attributes)
        if not self._script_words.isdisjoint(name[1:] for name in names - {tag}):
            return False
        is_hidden = self._matches(self._hiding, names) and not self._matches(self._showing, names)
        return is_hidden and self._comparisons_left >= 0

    def _matches(self, rules: Mapping[str, Sequence[frozenset[str]]], names: Set[str]) -> bool:
        return any(rule <= names for rule in self._rules_for(rules, (*names, "")))

    def _rules_for(self, rules: Mapping[str, Sequence[_Rule]], names: Iterable[str]) -> list[_Rule]:
        """The rules with any of these names; once more were compared than may be, none from then on."""
        candidates = [rule for name in names for rule in rules.get(name, ())]
        self._comparisons_left -= len(candidates)
        if self._comparisons_left >= 0:
            return candidates
        self._hiding.clear()
        self._effects.clear()
        self.doubts = (TOO_LONG,)
        return []

    def may_change(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether an element may be shown as another, or its words not be seen."""
        if tag in self._effects:
            return True
        return bool(attributes) and (bool(self._effects) or not _CHANGING.isdisjoint(attributes))

    def shown_as(self, tag: str, attributes: Mapping[str, str]) -> str:
        """The element of HTML that an element is shown as: by its role or, if it has no meaning of its own, its styles.

        "symbol" and "wingdings" are those whose letters are shown as other signs.
        """
        if "role" in attributes and tag not in _OF_TABLES and (role := _BY_ROLE.get(attributes["role"])):
            return role
        if tag not in _PLAIN:
            return tag
        effects = (effect for effect in self._effects_on(tag, attributes).values() if effect != UNSEEN)
        return next(filter(None, effects), tag)

    def strikes_out(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether styles strike out the words of an element."""
        return self._effects_on(tag, attributes).get("text-decoration") == STRUCK

    def are_unseen(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether styles show nothing of an element's words, at least until a script changes it."""
        effects = self._effects_on(tag, attributes)
        # Letters of no size between the boxes of a page close up the spaces there.
        return any(effects[name] == UNSEEN and (name != "font-size" or tag in _PLAIN) for name in effects)

    def _effects_on(self, tag: str, attributes: Mapping[str, str]) -> dict[str, str]:
        if self._last is None or self._last[:2] != (tag, attributes):
            self._last = tag, attributes, self._find_effects(tag, attributes)
        return self._last[2]

    def _find_effects(self, tag: str, attributes: Mapping[str, str]) -> dict[str, str]:
        style, face = attributes.get("style", ""), attributes.get("face", "")
        colour = attributes.get("color", "") if tag == "font" else ""
        if not (style or face or colour or self._effects):
            return {}
        declared = f"font-family:{face};color:{colour}"
        effects, names = _effects_of(declared, is_white=self._is_white), _names_of(tag, attributes)
        for rule in sorted(rule for rule in self._rules_for(self._effects, names) if rule.names <= names):
            if self._is_within(rule.around):
                effects |= rule.effects
        return effects | _effects_of(style, is_white=self._is_white)

    def _is_within(self, around: Sequence[Set[str]]) -> bool:
        """Whether elements with these names are around the last one, each within the one before."""
        within = self._around[-_MAX_DEPTH:-1] if around else []
        self._comparisons_left -= _MATCHED + len(within)
        outer = iter(within)
        return all(any(names <= element_names for element_names in outer) for names in around)


class _Effects(NamedTuple):
    """What a rule makes of elements with these names, within others with those `around`."""

    number: int
    names: frozenset[str]
    around: tuple[frozenset[str], ...]
    effects: dict[str, str]


def _names_of(tag: str, attributes: Mapping[str, str]) -> frozenset[str]:
    """The names by which selectors choose an element: its own, its id, and its classes."""
    return _element_names(tag, attributes.get("id", ""), attributes.get("class", ""))


@lru_cache(1024)
def _element_names(tag: str, element_id: str, classes: str) -> frozenset[str]:
    return frozenset((tag, f"#{element_id.lower()}", *(f".{class_name}" for class_name in classes.lower().split())))


def _effects_of(declarations: str, *, is_white: bool) -> dict[str, str]:
    """What each property makes of an element: another element, or "" if none; `is_white` says that the page is."""
    effects, lower = dict[str, str](), declarations.lower()
    for name, value in _EFFECT.findall(lower):
        word = "line-through" if "line-through" in value else value.split(",")[0].strip(" '\"")
        is_unseen = name in _UNSEEN and _UNSEEN[name].fullmatch(value.strip()) is not None
        if name == "color":
            ground = [colour.strip() for colour in _GROUND.findall(lower)]
            is_unseen = is_unseen and "background-clip" not in lower
            is_unseen |= value.strip() in ground or (is_white and _WHITE.fullmatch(value.strip()) is not None)
        is_unseen &= name not in _SIZES or "overflow" in lower
        effects[name] = UNSEEN if is_unseen else _SHOWN_AS.get((name, word), "")
    return effects


def _effects_of_selectors(sheets: Sequence[str], *, is_white: bool) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The selectors of rules without a condition that set such properties, and what these make of elements.

    Each selector is simple, or has one for each of the elements within one another.
    """
    for sheet in sheets:
        for (*conditions, selectors), declarations in style_rules(sheet):
            if conditions or not (effects := _effects_of(declarations, is_white=is_white)):
                continue
            for selector in selectors.split(","):
                parts = selector.replace(">", " ").split()[:_MAX_AROUND]
                anywhere = {name: effect for name, effect in effects.items() if name in _ANYWHERE}
                if (display := display_of(declarations)) is not None:  # a simple selector's: `_display_selectors`
                    anywhere["display"] = UNSEEN if display == "none" else ""
                applicable = effects if len(parts) == 1 else anywhere
                if applicable and parts and all(map(_SIMPLE.fullmatch, parts)):
                    yield parts, applicable


def numbering(attributes: Mapping[str, str]) -> Numbering:
    """How an `ol` numbers its items by its own attributes."""
    return Numbering(integer(attributes.get("start", "")), "reversed" in attributes, number_style(attributes) or "1")


def number_style(attributes: Mapping[str, str]) -> NumberStyle | None:
    """How a list or an item specifies numbers in its own attributes; style sheets are not read."""
    style = _STYLED.search(attributes.get("style", "").lower())
    return _STYLES.get(style.group(1) if style else attributes.get("type", "").strip())


def spans(attributes: Mapping[str, str]) -> tuple[int, int]:
    """The numbers of columns and rows that a cell spans; at most 1,000, as in browsers, which is to the group's end."""
    columns, rows = (integer(attributes.get(name, "")) for name in ("colspan", "rowspan"))
    return min(max(columns or 1, 1), _MAX_SPAN), min(max(1 if rows is None else rows or _MAX_SPAN, 1), _MAX_SPAN)


def integer(value: str) -> int | None:
    """A whole number, which may be negative; None for anything else."""
    value = value.strip()
    digits = value.removeprefix("-")
    return int(value) if digits.isascii() and digits.isdigit() and len(digits) < 9 else None


def _display_selectors(sheets: Sequence[str]) -> Iterator[tuple[str, bool, bool]]:
    """The selectors of rules that set `display` on screens: whether each hides, and whether without a condition."""
    for sheet in sheets:
        for (*around, selectors), declarations in style_rules(sheet):
            display = display_of(declarations)
            if display is not None and not is_for_print(around):
                yield from ((selector.strip(), display == "none", not around) for selector in selectors.split(","))


def _named_by_scripts(lower: str) -> set[str]:
    """The words of the page's scripts, and of what attributes say that actions and links show."""
    scripts = (script.partition("</script")[0] for script in lower.split("<script")[1:])
    values = (next(filter(None, match.groups()), "") for match in _SHOWING.finditer(lower))
    shown_names = (value for value in values if "/" not in value.partition("(")[0])  # no other page
    return {word.group() for text in chain(scripts, shown_names) for word in _SCRIPT_WORD.finditer(text)}
