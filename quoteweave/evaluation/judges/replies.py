"""What a judge wrote becomes scores: JSON, however carelessly it was written."""

import re
from collections.abc import Mapping, Sequence

from quoteweave.evaluation.responses import answer_of

Scale = Sequence[float]
"""The scores that may be given."""

_QUOTES = "\"'`*\\\\\u2018-\u201f\u00ab\u00bb"  # straight, curly, low and angle ones; also Markdown's and escapes
_OBJECT = re.compile(r"\{([^{}]*+)\}")
# A name begins where a run of its characters does, so that no run is read twice.
_NAME = r"\w\s\-\u2010-\u2015"
_PAIR = re.compile(
    rf"(?<![{_NAME}])([{_NAME}]++)[{_QUOTES}]*+\s*+[:=\uff1a][\s{_QUOTES}]*+([^\s,;{_QUOTES}]++)"  # and its score
)
_SCORE = re.compile(r"(\d{1,6}(?:\.\d{0,6})?)(?:/\d{1,6})?")


class Unreadable(ValueError):
    """A reply that gives no scores; its text is the complaint, fit to be sent back to the judge."""


def read_scores(reply: str, scales: Mapping[str, Scale]) -> dict[str, float]:
    """The score of each field, from the last flat JSON object of the reply that holds any of the fields.

    Its quotation marks may be wrong or missing, its names in other capitals and with other spaces, dashes or
    underscores, its scores in quotation marks or "4/5"; fields that were not asked for are passed over, and so is what
    stands around the object, thinking included. Time is linear in the reply's length. Raises Unreadable when there is
    no such object, and when a score is missing, not on its field's scale, or given twice and differently.
    """
    for content in reversed(_OBJECT.findall(answer_of(reply, "own"))):
        written: dict[str, set[str]] = {}
        for name, score in _PAIR.findall(content):
            written.setdefault(_plain(name), set()).add(score)
        if any(_plain(field) in written for field in scales):
            return {field: _score(field, written.get(_plain(field), set()), scale) for field, scale in scales.items()}
    raise Unreadable(f"there is no whole JSON object with the fields {', '.join(scales)} in it")


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _score(field: str, written: set[str], scale: Scale) -> float:
    if not written:
        raise Unreadable(f"{field} is missing")
    scores = {_number(score) for score in written}
    if len(scores) > 1:
        raise Unreadable(f"{field} is given more than once, with different scores")
    score = scores.pop()
    if score is None or score not in scale:
        allowed = ", ".join(f"{number:g}" for number in scale)
        raise Unreadable(f"{field} is {min(written)[:20]}, which is not one of {allowed}")
    return score


def _number(written: str) -> float | None:
    found = _SCORE.fullmatch(written)
    return float(found[1]) if found else None
