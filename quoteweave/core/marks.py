"""The marks of an answer, as this project writes and reads them.

A text mark is `[3]`, `[1, 2]`, `[1-3]` or a mixture such as `[1, 3-5]`; `;` separates as well as `,` does, and a range
may be written with an en dash. An image mark is `![what it shows](image2)`; `(image 2)`, `(Image_2)` and
`(image2.png)` are read as the same.

No marks are: Markdown links (`[3](http://…)`, `[text](url)`), footnotes (`[^1]`), lists and ranges that hold a 0 (the
interval `[0, 1]`), numbers of more than nine digits, and whatever stands in code (between back-ticks on one line, or
in a fenced block). A mark inside the summary of an image mark belongs to that summary. `[0]` and `[2019]` are marks
like any other.
"""

import re

from quoteweave.core.records import Kind, Record

MAX_RANGE = 20
"""A range of more numbers than this, or one that runs backwards, is not spelled out: its two ends stand for it."""

# Possessive quantifiers (`++`, `*+`) never give back what they took, which keeps hostile text linear.
_NUMBER = r"[1-9][0-9]{0,8}+"
_DASH = "[-\u2013]"
_ITEM = rf"{_NUMBER}(?:\s*+{_DASH}\s*+{_NUMBER})?+"
_GRAMMAR = re.compile(
    rf"""
      (?: ^[ ]{{0,3}}```.*?(?:^[ ]{{0,3}}```|\Z) | `[^`\n]++` )                            # code, skipped whole
    | !\[ (?P<summary> (?:[^\[\]]++ | \[[^\[\]]*+\])*+ ) \]
      \( \s*+ image[\s_-]? (?P<image>[0-9]{{1,9}}) (?:\.[a-z]{{3,4}})? \s*+ \)              # image mark
    | \[ \s*+ (?P<list> 0 | {_ITEM} (?:\s*+[,;]\s*+ {_ITEM})*+ ) \s*+ \] (?!\()            # text mark
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL | re.IGNORECASE,
)


class Mark(Record):
    """One mark as it stands in a text, before it is known whether its quotes exist."""

    mark: str
    start: int
    end: int
    kind: Kind
    numbers: tuple[int, ...]
    """In the order written, each once."""
    summary: str | None = None
    """What an image mark says of its image, on one line; None for a text mark."""


def parse_marks(text: str) -> list[Mark]:
    """Every mark of `text`, in order and without overlap; `text[mark.start:mark.end] == mark.mark`. Linear in time."""
    marks = []
    for match in _GRAMMAR.finditer(text):
        kind: Kind
        numbers: tuple[int, ...]
        if match["image"] is not None:
            kind, numbers, summary = "image", (int(match["image"]),), " ".join(match["summary"].split())
        elif match["list"] is not None:
            kind, numbers, summary = "text", _numbers(match["list"]), None
        else:
            continue
        start, end = match.span()
        marks.append(Mark(mark=match[0], start=start, end=end, kind=kind, numbers=numbers, summary=summary))
    return marks


def _numbers(listed: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for item in re.split("[,;]", listed):
        ends = [int(end) for end in re.split(_DASH, item)]
        first, last = ends[0], ends[-1]
        numbers += range(first, last + 1) if 0 <= last - first < MAX_RANGE else ends
    return tuple(dict.fromkeys(numbers))
