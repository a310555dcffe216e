"""Source selection: whether the items that a response cites are those that its answer needs.

MCiteBench (arXiv 2503.02589, section 4, equations 1 to 3). With P the items that a response cites, each once, and G
the gold items:

    precision = |P ∩ G| / |P|   recall = |P ∩ G| / |G|   F1 = 2 |P ∩ G| / (|P| + |G|)   exact match = 1 if P = G, else 0

Items go by their printed names: `[1]` is a text, `Figure 3` and `Table 2` are by the index of their captions, and
"Figure 1a" or "Figure 1(b)" is Figure 1 (its section on limitations). Read are also `[1, 2]`, `[1-3]`, `[1, Figure 2]`,
"Fig. 3", "Figures 1 and 2", in any case of letters; what stands in code or links cites as well.

The paper does not say at which level it averages. `source.f1` and the like are means over questions, `….pooled` are
over all (question, item) pairs together. It also had a model split responses into sentences and their citations, and
took P from these: by our rule, which reads every mention as a citation, figures are called `source_by_rule.…`, and are
not comparable with published ones.

Undefined where gold is not named in this way; precision also without citations, which the `published` convention
counts as 0.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.text.marks import MAX_RANGE
from quoteweave.evaluation.figures import Figure, Row, mean_of, pooled_f1, ratio_of
from quoteweave.evaluation.responses import Marks, answer_of
from quoteweave.evaluation.scores import Convention

# Possessive quantifiers keep hostile text linear.
_NUMBER = r"[1-9][0-9]{0,8}+(?:\.[0-9]{1,4}+)*+"
_PART = r"(?:\s?\([a-z]\)|[a-z]\b)?+"
_LABEL = r"\b(?P<label>fig(?:ure|\.)?|tab(?:le|\.))(?P<many>s\.?)?"
_LABELLED = re.compile(
    rf"{_LABEL}[\s~]{{0,3}}+(?P<first>{_NUMBER}){_PART}"
    rf"(?P<more>(?:(?:\s?,\s?(?:and\s|&\s?)?|\s?(?:and|&)\s|\s?[-\u2013]\s?){_NUMBER}{_PART})*+)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,200}+)\]")
_TEXTS = re.compile(r"(?P<first>[0-9]{1,9})(?:\s*+[-\u2013]\s*+(?P<last>[0-9]{1,9}))?+")
_NAMED = re.compile(r"[0-9]{1,9}|(?:Figure|Table) [0-9.]+")


@dataclass(frozen=True, slots=True)
class SourceMark:
    """A mention of items: `text[start:end]` of what was read."""

    start: int
    end: int
    items: tuple[str, ...]
    """Names such as `1`, `Figure 3` and `Table 2`, each once."""
    bracketed: bool
    """Whether it is a mark in brackets, and no part of what the sentence says."""


def source_marks(text: str) -> list[SourceMark]:
    """Every mention of items in `text`, in order and without overlap. Linear in time."""
    marks = [
        SourceMark(*match.span(), tuple(dict.fromkeys(items)), bracketed=True)
        for match in _BRACKETS.finditer(text)
        if (items := _in_brackets(match[1]))
    ]
    taken = [(mark.start, mark.end) for mark in marks]
    place = 0
    for match in _LABELLED.finditer(text):
        while place < len(taken) and taken[place][1] <= match.start():
            place += 1
        if place == len(taken) or match.start() < taken[place][0]:
            marks.append(SourceMark(*match.span(), tuple(dict.fromkeys(_labelled(match))), bracketed=False))
    return sorted(marks, key=lambda mark: mark.start)


def cited_items(text: str) -> tuple[str, ...]:
    """Names of the items that `text` mentions, each once, in the order of first mention."""
    return tuple(dict.fromkeys(item for mark in source_marks(text) for item in mark.items))


def item_name(item: str) -> str:
    """The name of an item as marks give it: "Figure 1a" is `Figure 1`; any other id stays as it is."""
    match = _LABELLED.fullmatch(item.strip())
    return _labelled(match)[0] if match else item.strip()


def gold_items(example: Example) -> frozenset[str] | None:
    """Names of the gold items; None where the dataset does not name any in this way."""
    relevant = example.reference.relevant
    if relevant is None:
        return None
    gold = frozenset(item_name(item) for item, grade in relevant.items() if grade > 0)
    return gold if gold and all(_NAMED.fullmatch(item) for item in gold) else None


class SourceSelection:
    """Columns `cited`, `gold`, `common`, `precision`, `recall`, `f1` and `exact_match`, the first three counts.

    `splits` gives what a splitter found the responses to cite, by example; without it, responses are read by rule.
    """

    name = "source_selection"

    def __init__(
        self, marks: Marks, convention: Convention = "strict", *, splits: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        self._marks = marks
        self._splits = splits
        self._empty = 0.0 if convention == "published" else None
        self._prefix = prefix = "source_by_rule" if splits is None else "source"
        common, cited, gold = (f"{prefix}.{column}" for column in ("common", "cited", "gold"))
        self.figures: tuple[Figure, ...] = (
            *(mean_of(f"{prefix}.{column}") for column in ("precision", "recall", "f1", "exact_match")),
            ratio_of(f"{prefix}.precision.pooled", common, cited),
            ratio_of(f"{prefix}.recall.pooled", common, gold),
            pooled_f1(f"{prefix}.f1.pooled", common, cited, gold),
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Counts are of items; the rest are fractions."""
        gold, cited = gold_items(example), self._cited(prediction)
        if gold is None or cited is None:
            return {}
        common = len(cited & gold)
        columns: dict[str, float | None] = {
            "cited": float(len(cited)),
            "gold": float(len(gold)),
            "common": float(common),
            "precision": common / len(cited) if cited else self._empty,
            "recall": common / len(gold),
            "f1": 2 * common / (len(cited) + len(gold)),
            "exact_match": float(cited == gold),
        }
        return {f"{self._prefix}.{column}": value for column, value in columns.items()}

    def _cited(self, prediction: Prediction) -> frozenset[str] | None:
        if prediction.response is None:
            return None
        if self._splits is None:
            return frozenset(cited_items(answer_of(prediction.response, self._marks)))
        if not prediction.response:
            return frozenset()
        found = self._splits.get(prediction.example)
        return None if found is None else frozenset(item_name(item) for item in found)


def _in_brackets(listed: str) -> list[str]:
    """Items of `[…]`; none where anything else stands there."""
    items: list[str] = []
    for part in (part.strip() for part in re.split("[,;]", listed)):
        texts, labelled = _TEXTS.fullmatch(part), _LABELLED.fullmatch(part)
        if texts is not None:
            items += _numbers(texts["first"], texts["last"] or texts["first"])
        elif labelled is not None:
            items += _labelled(labelled)
        else:
            return []
    return items


def _labelled(match: re.Match[str]) -> list[str]:
    """`more` belongs to it only where the label is in the plural, but for "Figure 1 and Figure 2", found by itself."""
    label = "Figure" if match["label"][0] in "fF" else "Table"
    if not match["many"]:
        return [f"{label} {match['first']}"]
    numbers = [match["first"]]
    for joint, number in re.findall(rf"(-|\u2013|,|and|&)[^0-9]*?({_NUMBER})", match["more"], re.IGNORECASE):
        simple = joint in "-\u2013" and numbers[-1].isdigit() and number.isdigit()
        numbers += _numbers(numbers[-1], number)[1:] if simple else [number]
    return [f"{label} {number}" for number in numbers]


def _numbers(first: str, last: str) -> list[str]:
    """All from first to last; the two ends alone where they are too far apart or run backwards."""
    begin, end = int(first), int(last)
    return [str(n) for n in (range(begin, end + 1) if 0 <= end - begin < MAX_RANGE else (begin, end))]
