"""Score a short answer against the gold one by the rules of MMLongBench-Doc (arXiv 2407.01523, section 4.1).

Written from the rules, not from the authors' code, which differs in these: it also takes two decimals for equal that
agree once rounded to at least two places; it decides for a whole list, by the first of its sorted items, whether all
are compared exactly, and then as texts; and of dates it compares only those in digits exactly.
"""

import ast
import json
import math
import re

from quoteweave.core.examples import AnswerFormat

THRESHOLD = 0.5
"""A similarity that is not above it counts 0."""
TOLERANCE = 0.01
"""Of a decimal number, relative."""

_OUTER = {"(": ")", "[": "]", "{": "}"}
_QUOTES = "\"'“”‘’«»`"
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")
_SIGNS = re.compile(r"[%$€£¥₹,\s~≈]")
_UNIT = re.compile(r"(?<=[\d.])[^\W\d_]+(?:/[^\W\d_]+)?\Z")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_EXACT = re.compile(
    rf"""
      .*(?:https?://|www\.).*                                                                     # links
    | \S+\.(?:py|ipynb|pdf|docx?|xlsx?|pptx?|csv|json|txt|md|html?|xml|png|jpe?g)                 # file names
    | [\w.%+-]+@[\w-]+(?:\.[\w-]+)+                                                               # email addresses
    | (?:pages?|pp?\.?|slides?|fig(?:ure)?s?\.?|tables?|sections?|chapters?)[ ]?\d[\d.,\s-]*      # pages and the like
    | [+(]?\d[\d\s().,/:+-]*                                      # numbers, those of telephones, dates and times too
    | .*(?:\b[ap]\.m\.|\d\s?[ap]m\b).*                                                            # times of day
    | (?=.*\d)(?:\d{{4}}[ ])?(?:{_DAY}[ ])?(?:of[ ])?{_MONTH}(?:[ ]{_DAY})?(?:,?[ ]\d{{4}})?       # dates
    """,
    re.VERBOSE | re.DOTALL,
)


def short_answer_score(gold: str, predicted: str, answer_format: AnswerFormat) -> float:
    """From 0 to 1, how far the predicted short answer agrees with the gold one.

    - `int`: 1 where both are the same whole number; what stands behind a decimal point of the prediction is cut off.
    - `float`: 1 where they differ by at most 1 %, be the prediction told as it is, as a percentage or as a fraction.
    - `str`: of dates, links, file names, numbers and the like, 1 where they are the same, else 0; of other texts their
      similarity (`anls`). Case, quotation marks, what is in brackets, and signs of currencies and percent do not count.
    - `list`: the least agreement of any two items, both lists in sorted order; 0 where one is longer. Numbers agree
      where they are equal, other items as `str`. What is no list is a list of one item.

    A gold `int` or `float` that is no number is compared as `str`, and so is everything of the format `none`.
    """
    if answer_format == "list":
        return _lists(gold, predicted)
    number = _number(gold, units=True) if answer_format in ("int", "float") else None
    if number is None:
        return _texts(_clean(gold), _clean(predicted))
    told = _number(predicted, units=True)
    if told is None:
        return 0.0
    if answer_format == "int":
        return float(int(told) == int(number))
    return float(any(math.isclose(told, form, rel_tol=TOLERANCE) for form in (number, number / 100, number * 100)))


def anls(first: str, second: str) -> float:
    """The similarity of two texts: 1 less the Levenshtein distance as a share of the longer; 0 where not above 0.5.

    Biten et al., Scene Text Visual Question Answering, 2019, section 4.3, of one pair; 1 for two empty texts. Takes
    time that grows with the product of their lengths, and none where one is half as long as the other or less.
    """
    longer = max(len(first), len(second))
    if first == second:
        return 1.0
    if abs(len(first) - len(second)) >= (1 - THRESHOLD) * longer:
        return 0.0
    similarity = 1 - edit_distance(first, second) / longer
    return similarity if similarity > THRESHOLD else 0.0


def edit_distance(first: str, second: str) -> int:
    """The least number of characters put in, taken out or replaced that makes one text the other (Levenshtein)."""
    row = list(range(len(second) + 1))
    for place, character in enumerate(first, start=1):
        above, row = row, [place]
        for column, other in enumerate(second, start=1):
            row.append(min(above[column] + 1, row[-1] + 1, above[column - 1] + (character != other)))
    return row[-1]


def _lists(gold: str, predicted: str) -> float:
    ours, theirs = (sorted(map(_clean, _items(text)), key=_order) for text in (predicted, gold))
    if len(ours) != len(theirs):
        return 0.0
    return min((_texts(right, given) for right, given in zip(theirs, ours, strict=True)), default=1.0)


def _items(text: str) -> list[str]:
    """Of a list in JSON or as Python writes it; a text that is none is its own only item. Nothing is run."""
    if text.strip().startswith("["):
        for read in (json.loads, ast.literal_eval):
            try:
                value = read(text.strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(value, list):
                return [str(item) for item in value]
    return [text]


def _order(text: str) -> tuple[float, str]:
    """Numbers by their value, before texts."""
    number = _number(text, units=False)
    return (math.inf if number is None else number), text


def _texts(gold: str, predicted: str) -> float:
    """Of two cleaned texts."""
    number, given = _number(gold, units=False), _number(predicted, units=False)
    if number is not None and given is not None:
        return float(number == given)
    if _EXACT.fullmatch(gold):
        return float(gold == predicted)
    return anls(gold, predicted)


def _clean(text: str) -> str:
    """In lower case on one line, without what does not count."""
    cleaned = " ".join(text.lower().split()).strip(_QUOTES)
    while len(cleaned) > 1 and _OUTER.get(cleaned[0]) == cleaned[-1]:
        inner = cleaned[1:-1]
        if cleaned[0] in inner or cleaned[-1] in inner:
            break
        cleaned = inner.strip(f"{_QUOTES} ")
    without = _IN_BRACKETS.sub("", cleaned).strip()
    return (without or cleaned).lstrip("$€£¥ ").rstrip("% ")


def _number(text: str, *, units: bool) -> float | None:
    """The number that the text is, signs of percent and currencies left out, and a unit behind it too; else None."""
    bare = _SIGNS.sub("", text.strip(_QUOTES + " ")).replace("−", "-")
    if not _NUMBER.fullmatch(bare) and units:
        bare = _UNIT.sub("", bare)
    if not _NUMBER.fullmatch(bare):
        return None
    value = float(bare)
    return value if math.isfinite(value) else None
