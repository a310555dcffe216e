"""Quote selection: precision, recall and F1 of the quotes that an answer cites.

The source is MMDocRAG (arXiv 2505.16470, section 4.1 and appendix A.2, equation 1). With P the quotes that an answer
cites, each once, and G the gold quotes, both of one kind (image or text) or of both (overall):

    precision = |P ∩ G| / |P|        recall = |P ∩ G| / |G|        F1 = 2 |P ∩ G| / (|P| + |G|)

Names conflict, so each figure says how it is averaged:

    image.f1, text.f1, overall.f1                  mean over questions; overall is of the union of both kinds
    image.f1.pooled, …                             over all (question, quote) pairs together ("micro")
    overall.mean_of_kinds_f1, ….pooled             the mean of the image and the text F1

and the same for precision and recall. MMDocRAG's tables have image and text figures `pooled`, and as overall F1 the
mean over questions `overall.f1`, whereas its section 4.1 describes `overall.mean_of_kinds_f1.pooled`.

A mark that names no quote of the context is a wrong citation, and is also counted in `out_of_range`. Precision is
undefined without citations, and recall and F1 without gold, so that a question has an F1 whatever the model cites; by
the `published` convention these are 0.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.records import Kind
from quoteweave.evaluation.metrics.gold import KINDS, Gold, Item, gold_items, gold_of
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.responses import MarkGrammar, citations

if TYPE_CHECKING:
    from quoteweave.evaluation.statistics.aggregates import Sums

GROUPS = ("image", "text", "overall")
RATIOS = ("precision", "recall", "f1")
POSITION = "recall_at_position."


class QuoteSelection:
    """The columns `cited`, `gold`, `common`, `precision`, `recall` and `f1` of `image`, `text` and `overall`.

    There are also `out_of_range`, the marks that name no quote, and `recall_at_position.text3`, 1 or 0: whether the
    gold quote at that place of the context is cited. All are undefined without a response, or if it is not known which
    quotes are gold; those of one kind if the kinds of gold are not known.
    """

    name = "quote_selection"

    def __init__(self, marks: MarkGrammar, convention: Convention = "strict") -> None:
        self._marks = marks
        self._empty = 0.0 if convention == "published" else None
        zero = convention == "published"
        self.aggregates: tuple[Aggregate, ...] = (
            *(mean_of(f"{group}.{ratio}") for group in GROUPS for ratio in RATIOS),
            *(_pooled(f"{group}.{ratio}", group, ratio, zero=zero) for group in GROUPS for ratio in RATIOS),
            mean_of("overall.mean_of_kinds_f1"),
            _pooled_mean_of_kinds(zero=zero),
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Counts are of quotes; the rest are fractions."""
        gold = gold_of(prediction, example)
        # If a dataset's items have printed names ("Figure 3"), they are cited by other marks: `source_selection`.
        if prediction.response is None or gold is None or gold_items(example) is not None:
            return {}
        cited, out_of_range = self._cited(prediction.response, gold)
        known = gold.context is not None
        row: dict[str, float | None] = {"out_of_range": float(out_of_range) if known else None}
        split = None not in gold.kinds.values()
        for kind in KINDS if split else ():
            row |= self._counts(
                kind, cited[kind], {item for item, item_kind in gold.kinds.items() if item_kind == kind}
            )
        all_cited = cited["text"] | cited["image"]
        row |= self._counts("overall", all_cited, gold.kinds)
        if split:
            parts = row["text.f1"], row["image.f1"]
            mean_f1 = None if parts[0] is None or parts[1] is None else (parts[0] + parts[1]) / 2
            row["overall.mean_of_kinds_f1"] = mean_f1
        row |= {f"{POSITION}{place}": float(item in all_cited) for place, item in gold.places().items()}
        return row

    def _cited(self, response: str, gold: Gold) -> tuple[Mapping[Kind, set[Item]], int]:
        """Cited items by kind, and how many marks name no quote; these are represented by items that are never gold."""
        cited: dict[Kind, set[Item]] = {"text": set(), "image": set()}
        lost = 0
        for kind, number in citations(response, self._marks).marks():
            item = gold.item(kind, number)
            lost += item is None
            cited[kind].add((f"no quote: {kind}", number) if item is None else item)
        return cited, lost

    def _counts(self, group: str, cited: set[Item], gold: Collection[Item]) -> dict[str, float | None]:
        common = len(cited.intersection(gold))
        f1 = 2 * common / (len(cited) + len(gold)) if gold else self._empty
        return {
            f"{group}.cited": float(len(cited)),
            f"{group}.gold": float(len(gold)),
            f"{group}.common": float(common),
            f"{group}.precision": common / len(cited) if cited else self._empty,
            f"{group}.recall": common / len(gold) if gold else self._empty,
            f"{group}.f1": f1,
        }


def _pooled(name: str, group: str, ratio: str, *, zero: bool) -> Aggregate:
    columns = tuple(f"{group}.{column}" for column in ("common", "cited", "gold"))
    return Aggregate(f"{name}.pooled", columns, lambda sums: _ratio(ratio, sums[1:], zero=zero))


def _pooled_mean_of_kinds(*, zero: bool) -> Aggregate:
    columns = tuple(f"{kind}.{column}" for kind in KINDS for column in ("common", "cited", "gold"))

    def formula(sums: "Sums") -> "Sums":
        return (_ratio("f1", sums[1:4], zero=zero) + _ratio("f1", sums[4:7], zero=zero)) / 2

    return Aggregate("overall.mean_of_kinds_f1.pooled", columns, formula)


def _ratio(ratio: str, sums: "Sums", *, zero: bool) -> "Sums":
    """The ratio from the sums of `common`, `cited` and `gold`. Counts are whole, so a denominator below 1 is 0."""
    import numpy as np

    common, cited, gold = sums
    numerator, denominator = {
        "precision": (common, cited),
        "recall": (common, gold),
        "f1": (2 * common, cited + gold),
    }[ratio]
    quotient: Sums = numerator / (np.maximum(denominator, 1) if zero else denominator)
    return quotient
