"""What people refer to by name: "Figure 3", "Table II", "page 12". Read alike from captions and from questions."""

import re

_LABEL = re.compile(
    r"\b(fig(?:ure)?s?|tables?|tabs?|charts?|graphs?|exhibits?|schemes?|algorithms?|boxe?s?|maps?|plates?|diagrams?)"
    r"\s*\.?\s*(\d+(?:[.-]\d+)*|[IVXLC]+\b)",
    re.IGNORECASE,
)
_PAGES = re.compile(
    r"\b(?:pages?|pp?\.|slides?)\s*(?:number\s*)?(\d+)(?:\s*(?:-|–|to|and|,|&)\s*(\d+))?", re.IGNORECASE
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
# A figure may be called a chart in the question and a figure in its caption, but never a table.
_KINDS = {"tab": "table", "alg": "algorithm", "box": "box"}


def labels_in(text: str) -> list[str]:
    """Labels such as 'figure 3' or 'table 2', in order: kinds of pictures are one, Roman numerals become Arabic."""
    found = (f"{_KINDS.get(kind[:3].lower(), 'figure')} {_arabic(number)}" for kind, number in _LABEL.findall(text))
    return list(dict.fromkeys(found))


def pages_in(text: str) -> list[str]:
    """Numbers of the pages that a text speaks of, as written; a range gives its two ends."""
    return list(dict.fromkeys(number for match in _PAGES.findall(text) for number in match if number))


def _arabic(number: str) -> str:
    if not number.isalpha():
        return number
    values = [_ROMAN[letter] for letter in number.lower()]
    return str(sum(-value if value < max(values[i:]) else value for i, value in enumerate(values)))
