"""Keeps apart, in the text of HTML, what a page sets apart: exponents, notes, fractions, and what is struck out."""

from quoteweave.core.lazy_regex import lazy_regex

_DIGITS = {
    "sup": str.maketrans("0123456789-−+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁺"),
    "sub": str.maketrans("0123456789-−+", "₀₁₂₃₄₅₆₇₈₉₋₋₊"),
}
_NUMBERS = lazy_regex(r"\s*[-−+]?\d+(?:\s*,\s*\d+)*\s*")
# The sign before a part of a formula, by the element that contains it and the number of the part.
_SIGNS = {("mfrac", 2): "/", ("msup", 2): "^", ("msub", 2): "_", ("msubsup", 2): "_", ("msubsup", 3): "^"}
_MATH_NAMES = (
    "mrow mi mn mo ms mtext mspace mstyle merror mpadded mphantom mfrac msqrt mroot msub msup msubsup munder mover "
    "munderover mmultiscripts mprescripts none mtable mtr mtd menclose semantics"
)
MATH_NAMES = frozenset(_MATH_NAMES.split())
"""The elements of formulas in MathML."""
_STRUCK = frozenset({"del", "s", "strike"})


class SetApartText:
    """Follows the open elements that raise text, strike it out, or build formulas."""

    def __init__(self) -> None:
        self._heights = list[str]()  # the open superscripts and subscripts
        self._formula: list[tuple[str, int, str]] = []  # open elements: their names, numbers of parts, what ends them

    def start(self, tag: str) -> str:
        """Begin an element, and return the sign for its beginning, or for its place in a formula."""
        if tag in _DIGITS:
            self._heights.append(tag)
        if tag not in MATH_NAMES:
            return "~~" if tag in _STRUCK else ""
        sign = ""
        if self._formula:
            parent, parts, end = self._formula[-1]
            self._formula[-1] = parent, parts + 1, end
            sign = _SIGNS.get((parent, parts + 1), "")
        grouped = tag == "mrow" and bool(self._formula) and self._formula[-1][0] in {name for name, _ in _SIGNS}
        self._formula.append((tag, 0, ")" if grouped or tag == "msqrt" else ""))
        return sign + ("√(" if tag == "msqrt" else "(" if grouped else "")

    def end(self, tag: str) -> str:
        """End an element, and return the sign for its end."""
        if tag in self._heights[-1:]:
            self._heights.pop()
        if tag == "math":
            self._formula.clear()
        if tag in _STRUCK:
            return "~~"
        return self._formula.pop()[2] if self._formula and self._formula[-1][0] == tag else ""

    def shown(self, text: str) -> str:
        """Text with its digits raised or lowered, if it is a number set so: "5,196¹" is not 51,961."""
        return text.translate(_DIGITS[self._heights[-1]]) if self._heights and _NUMBERS.fullmatch(text) else text
