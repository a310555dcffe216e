"""Keeps apart, in the text of HTML, what a page sets apart: exponents, fractions, what is struck out, other signs."""

import html
import re

from quoteweave.core.lazy_regex import lazy_regex

_RAISED = {
    "sup": str.maketrans(
        "0123456789-−–+=abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδφχ",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁻⁺⁼ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᵠᵡ",
    ),
    "sub": str.maketrans("0123456789-−–+=aeoxhklmnpstijruvβγρφχ", "₀₁₂₃₄₅₆₇₈₉₋₋₋₊₌ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥᵦᵧᵨᵩᵪ"),
}
# Digits, signs and short names of variables; what is only a word ("1st", "Tmax") is none.
_FORMULA = {
    tag: lazy_regex(rf"(?!\s*[^\W\d_]{{{word},}}\s*\Z)(?:[\s\d.,/()+−–=-]|[^\W\d_]{{1,2}}(?![^\W\d_]))+")
    for tag, word in (("sup", 2), ("sub", 3))
}
# Signs within a formula that have no raised form: "¹/²" would be half of a note.
_INNER = lazy_regex(r"[./]\S")
# The signs before parts of a formula, by the elements that contain them; the first part is before all.
_SIGNS = {
    **{"mfrac": ["/"], "msup": ["^"], "msub": ["_"], "msubsup": ["_", "^"], "mroot": ["^1/"]},
    **{"munder": ["_"], "mover": ["^"], "munderover": ["_", "^"]},
}
_MATH_NAMES = (
    "mrow mi mn mo ms mtext mspace mstyle merror mpadded mphantom mfrac msqrt mroot msub msup msubsup munder mover "
    "munderover mmultiscripts mprescripts none mtable mtr mtd menclose semantics"
)
MATH_NAMES = frozenset(_MATH_NAMES.split())
"""The elements of formulas in MathML."""
_STRUCK = frozenset({"del", "s", "strike"})
# Elements whose digits are no part of a number before or after them.
_APART = frozenset({"small", "big", "link"})
# libxml2 ends these where a block begins, unlike browsers, and unlike `del`, which shows the same.
_STRIKES = lazy_regex(r"<(/?)(?:s|strike)(?=[\s/>])", re.IGNORECASE)
_SIGNS_OF_FONTS = {
    "symbol": str.maketrans(
        "abgdezhqiklmnxoprstufcywABGDEZHQIKLMNXOPRSTUFCYWVJjv£³¹´¸¥®¬»ºÖåò",
        "αβγδεζηθικλμνξοπρστυφχψωΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςϑϕϖ≤≥≠×÷∞→←≈≡√∑∫",
    ),
    "wingdings": str.maketrans("¨oqþxýüûlnuØàßJL", "☐☐☐☑☒☒✓✗●■◆➢→←☺☹"),
}
SIGN_FONTS = frozenset(_SIGNS_OF_FONTS)
"""Fonts that show letters as other signs, which are read as elements of these names."""


_DISPLAY_MATH = lazy_regex(r"\$\$(.+)\$\$|\\\[(.+)\\\]", re.DOTALL)


def display_math(text: str) -> str | None:
    """The TeX of a paragraph that consists of one displayed formula."""
    match = _DISPLAY_MATH.fullmatch(text)
    return (match.group(1) or match.group(2)).strip() or None if match else None


def with_del(text: str) -> bytes:
    """HTML in UTF-8, with `del` in place of the other elements that strike out."""
    return _STRIKES.sub(r"<\1del", text).encode()


def without_sections(text: str) -> str:
    """XHTML without its CDATA sections, whose text browsers show but HTML's parser takes for a comment."""
    first, *sections = text.split("<![CDATA[")
    parts = [first]
    for section in sections:
        within, end, rest = section.partition("]]>")
        parts.append(html.escape(within, quote=False) + rest if end else f"<![CDATA[{section}")
    return "".join(parts)


class SetApartText:
    """Follows the open elements that raise text, strike it out, or build formulas."""

    def __init__(self) -> None:
        self._heights = list[tuple[str, bool]]()  # the open superscripts and subscripts, and whether each has words
        self._formula: list[tuple[str, int, str]] = []  # open elements: their names, numbers of parts, what ends them
        self._ends_number = self._is_apart = False  # whether the text ends so, and what follows is another
        self._struck = 0  # the number of open elements that strike out text
        self._sign_fonts = list[str]()  # the open elements in fonts of other signs
        self._is_marked = False  # whether the text is marked as struck out so far

    def start(self, tag: str) -> str:
        """Begin an element, "link" for one, and return the sign for its place in a formula."""
        if tag in _RAISED:
            self._heights.append((tag, False))
        self._struck += tag in _STRUCK
        self._is_apart |= tag in _APART and self._ends_number
        self._sign_fonts += [tag] if tag in _SIGNS_OF_FONTS else []
        if tag == "q":
            return "“"
        if tag not in MATH_NAMES:
            return ""
        sign = ""
        if self._formula:
            parent, parts, end = self._formula[-1]
            self._formula[-1] = parent, parts + 1, end
            sign = "".join(_SIGNS.get(parent, ())[parts - 1 : parts]) if parts else ""
        is_part = bool(self._formula) and self._formula[-1][0] in _SIGNS
        begin, end = ("(", ")") if is_part and tag in {"mrow", "mfrac"} else ("", "")
        if tag == "msqrt":
            begin, end = "√(", ")"
        self._formula.append((tag, 0, end))
        self._ends_number = self._ends_number and not sign + begin
        self._is_apart = self._ends_number  # "2 1/2" is not 21/2
        return sign + begin

    def end(self, tag: str) -> str:
        """End an element, and return the sign for its end."""
        if self._heights and tag == self._heights[-1][0]:
            self._heights.pop()
        if tag in _APART:  # unless it is empty
            self._is_apart = self._ends_number and not self._is_apart
        if tag == "math":
            self._formula.clear()
        if self._sign_fonts and tag == self._sign_fonts[-1]:
            self._sign_fonts.pop()
        if tag == "q":
            return "”"
        if tag in _STRUCK:
            self._struck = max(0, self._struck - 1)
            return "" if self._struck else self.end_mark()
        return self._formula.pop()[2] if self._formula and self._formula[-1][0] == tag else ""

    def shown(self, text: str) -> str:
        """Text with digits, signs and variables raised or lowered, if it has no words: "5,196¹" is not 51,961.

        Before the first of what is struck out stands its mark.
        """
        if self._sign_fonts:
            text = text.translate(_SIGNS_OF_FONTS[self._sign_fonts[-1]])
        if self._heights:
            tag, has_words = self._heights[-1]
            has_words = has_words or not _FORMULA[tag].fullmatch(text)
            self._heights[-1] = tag, has_words
            text = text if has_words else raised(text, tag)
        text = f" {text}" if self._is_apart and text[:1].isdecimal() else text
        self._is_apart, self._ends_number = False, text[-1:].isdecimal()
        if not self._struck or self._is_marked or not text.strip():
            return text
        self._is_marked = True
        return "~~" + text

    def end_mark(self) -> str:
        """What ends the mark of what is struck out, at its end or that of its paragraph."""
        was_marked, self._is_marked = self._is_marked, False
        return "~~" if was_marked else ""


def raised(text: str, tag: str) -> str:
    """A formula raised ("sup") or lowered ("sub"): "ⁿ⁺¹"; marked if a sign has no such form: "_b", "^(2π)", "^(1/2)".

    What contains words stays as it is.
    """
    table = _RAISED[tag]
    if not _FORMULA[tag].fullmatch(text):
        return text
    formula = text.strip()
    if _INNER.search(formula) or any(sign.isalpha() and ord(sign) not in table for sign in formula):
        shown = ("^" if tag == "sup" else "_") + (formula if len(formula) == 1 else f"({formula})")
        return text.replace(formula, shown)
    return text.translate(table)
