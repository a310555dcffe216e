"""What people refer to by name: "Figure 3", "Table II", "page 12". Read alike from captions and from questions."""

import re

_NUMBER = r"\d+(?:[.-]\d+)*"
# Captions also say "Table S1", "Figure A.2" and "Exhibit C"; a lone letter must be a capital, or `a` would be one.
_NAME = rf"(?:[A-Za-z][.-]?)?{_NUMBER}|[IVXLivxl]+\b|[A-Z]\b"
_LABEL = re.compile(
    r"\b((?i:fig(?:ure)?s?|tables?|tabs?|charts?|graphs?|exhibits?|schemes?|algorithms?|box(?:es)?|maps?|plates?"
    rf"|diagrams?))\s*(?:\.\s*)?({_NAME})((?:\s*(?:,|and|&)\s*{_NUMBER})*)"
)
_PAGES = re.compile(
    r"\b(?:pages?|pp?\.|slides?)\s*(?:number\s*)?(\d+)(?:\s*(?:-|–|to|and|,|&)\s*(\d+))?", re.IGNORECASE
)
_ROMAN_NUMBER = re.compile("(xl|l?x{0,3})(i[xv]|v?i{0,3})")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
# A figure may be called a chart in the question and a figure in its caption, but never a table.
_KINDS = {"tab": "table", "alg": "algorithm", "box": "box"}


def labels_in(text: str) -> list[str]:
    """Labels such as 'figure 3' or 'table 2', in order: kinds of pictures are one, Roman numerals become Arabic."""
    found: list[str] = []
    for kind, first, others in _LABEL.findall(text):
        names = [_arabic(first.lower()), *re.findall(_NUMBER, others)]
        found += [f"{_KINDS.get(kind[:3].lower(), 'figure')} {name}" for name in names if name is not None]
    return list(dict.fromkeys(found))


def pages_in(text: str) -> list[str]:
    """Numbers of the pages that a text speaks of, as written; a range gives its two ends."""
    return list(dict.fromkeys(number for match in _PAGES.findall(text) for number in match if number))


def _arabic(name: str) -> str | None:
    """A Roman numeral as digits, other names as they are; None for a word that only looks like one ('ill')."""
    if _ROMAN_NUMBER.fullmatch(name):
        values = [_ROMAN[letter] for letter in name]
        return str(sum(-value if value < max(values[i:]) else value for i, value in enumerate(values)))
    return name if len(name) == 1 or not name.isalpha() else None
