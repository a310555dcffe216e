"""Recall, precision, nDCG, MAP, MRR and hit rate of rankings against graded gold; recall of pages and of contexts.

With g the grade of each gold item (relevant if g > 0), R the number of relevant items, and ranks counted from 1:

    recall@k     relevant items among the first k / R
    precision@k  relevant items among the first k / k, even if fewer than k were ranked
    hit_rate@k   1 if any of the first k is relevant, else 0
    ndcg@k       DCG@k / ideal DCG@k, with DCG@k = Σ g_i / log2(i + 1) over the first k; the ideal sorts gold by grade
    map          Σ precision@i over the ranks i of relevant items / R, down to the end of the ranking
    mrr          1 / the rank of the first relevant item, 0 if none is ranked

These are `recall`, `P`, `success`, `ndcg_cut`, `map` and `recip_rank` of trec_eval; nDCG is that of Järvelin and
Kekäläinen (Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002) with the gain and discount that
trec_eval uses. Names conflict: some call hit_rate@k "recall@k" or "accuracy"; much of the literature on learning to
rank uses a gain of 2^g - 1 in nDCG (Burges et al., 2005), which is the same only if all grades are 0 or 1; `map` and
`mrr` are often cut at a rank, but not here.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.records import Kind
from quoteweave.evaluation.metrics.gold import KINDS, Item, gold_of, item_of, layout_element, own_gold
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of

CUT = ("recall", "precision", "hit_rate", "ndcg")


@dataclass(frozen=True, slots=True)
class GradedRanking:
    """A ranking, the grades of its gold, and the kinds of items, with the same names for items."""

    ranking: Sequence[Item]
    grades: Mapping[Item, int]
    kinds: Mapping[Item, Kind | None]


class Rankings:
    """The figures above, means over questions, for each k of `cutoffs`; and `text.recall@k` and `image.recall@k`.

    The recall of a kind is the share of its gold among the first k of the whole ranking, as described by MMDocRAG
    (arXiv 2505.16470, section 4.1; it does not say which ranking its Table 6 cuts).

    The ranking is `items` if a prediction has them (TREC runs), by score in single precision, with ties by id, the
    greater first, as in trec_eval; else its hits in their order. A repeated item counts at its first position.

    Gold is matched by id for items, and by (document, layout id) for retrieved quotes if the dataset names layouts. All
    figures are undefined without relevant gold, if an example's own quotes were given to the generator unranked, and if
    the hits have no layout ids to match; the recall of a kind is undefined if the dataset does not give the kinds of
    all its gold, or no gold is of that kind.
    """

    name = "rankings"

    def __init__(self, *, cutoffs: Sequence[int] = (1, 3, 5, 10, 15, 20)) -> None:
        self._cutoffs = tuple(cutoffs)
        at_k = [f"{figure}@{k}" for figure in CUT for k in self._cutoffs]
        by_kind = [f"{kind}.recall@{k}" for kind in KINDS for k in self._cutoffs]
        self.aggregates: tuple[Aggregate, ...] = tuple(mean_of(column) for column in (*at_k, "map", "mrr", *by_kind))

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`relevant`, a count of gold items, and the figures as fractions."""
        graded = graded_ranking(prediction, example)
        relevant = {item for item, grade in graded.grades.items() if grade > 0} if graded else set()
        if graded is None or not relevant:
            return {}
        gains = [max(graded.grades.get(item, 0), 0) for item in graded.ranking]
        row: dict[str, float | None] = {"relevant": float(len(relevant))}
        for k in self._cutoffs:
            hits = sum(gain > 0 for gain in gains[:k])
            row |= {f"recall@{k}": hits / len(relevant), f"precision@{k}": hits / k}
            row |= {f"hit_rate@{k}": float(hits > 0), f"ndcg@{k}": _ndcg(gains, graded.grades, k)}
        ranks = [rank for rank, gain in enumerate(gains, start=1) if gain > 0]
        row["map"] = math.fsum(position / rank for position, rank in enumerate(ranks, start=1)) / len(relevant)
        row["mrr"] = 1 / ranks[0] if ranks else 0.0
        return row | self._by_kind(graded, relevant)

    def _by_kind(self, graded_ranking: GradedRanking, relevant: set[Item]) -> dict[str, float | None]:
        kinds = {item: graded_ranking.kinds.get(item) for item in relevant}
        if None in kinds.values():
            return {}
        row: dict[str, float | None] = {}
        for kind in KINDS:
            gold = {item for item, item_kind in kinds.items() if item_kind == kind}
            for k in self._cutoffs if gold else ():
                row[f"{kind}.recall@{k}"] = len(gold.intersection(graded_ranking.ranking[:k])) / len(gold)
        return row


def by_score(items: Mapping[str, float]) -> list[str]:
    """Items as trec_eval ranks them: by score in single precision, with ties by id, the greater first."""
    import numpy as np

    with np.errstate(over="ignore"):
        scores = {item: float(np.float32(score)) for item, score in items.items()}
    return sorted(sorted(items, reverse=True), key=lambda item: -scores[item])


def _ndcg(gains: Sequence[int], grades: Mapping[Item, int], k: int) -> float:
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    return _dcg(gains[:k]) / _dcg(ideal[:k])


def _dcg(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1) if gain)


def graded_ranking(prediction: Prediction, example: Example) -> GradedRanking | None:
    """The ranking and its gold with the same names; None if nothing was ranked, or the two cannot be matched."""
    reference, hits = example.reference, prediction.hits
    ids: dict[Item, int] = dict((reference.relevant or {}).items())
    kinds = own_gold(example) or {}
    if prediction.items:
        return GradedRanking(by_score(prediction.items), ids, kinds)
    if prediction.scope == "context" and hits:
        return GradedRanking(_once([hit.quote.id for hit in hits]), ids, kinds)
    if not hits and (prediction.scope == "context" or prediction.context is not None):
        return None  # quotes were given to a generator, and no ranking was stored
    if reference.layouts:
        quotes = [hit.quote for hit in hits]
        if quotes and all(quote.layout_id is None for quote in quotes):
            return None
        ranking = [item_of(quote) for quote in quotes]
        gold: list[Item] = [layout_element(layout.document, layout.layout_id) for layout in reference.layouts]
        return GradedRanking(_once(ranking), dict.fromkeys(gold, 1), _layout_kinds(example))
    named = example.context is not None or any(kinds.values())  # gold named like `image7` is a place in a context
    return None if named else GradedRanking(_once([hit.quote.id for hit in hits]), ids, kinds)


def _once(ranking: Sequence[Item]) -> list[Item]:
    return list(dict.fromkeys(ranking))


def _layout_kinds(example: Example) -> dict[Item, Kind | None]:
    """Kinds by the example's own quotes only: retrieved quotes would only tell the kinds of gold that was found."""
    hits = example.context.hits if example.context else ()
    quotes = [hit.quote for hit in hits]
    return {item_of(quote): quote.kind for quote in quotes if quote.layout_id is not None}


class PageRecall:
    """`page_recall@k` = |gold pages ∩ first k pages| / |gold pages|, for each k of `cutoffs`; means over questions.

    This is the page-level recall of MMDocIR (arXiv 2501.08828, Table 5). The mean over questions is what that table
    calls "micro"; its "macro" is `page_recall@k.mean_over_domains`. Some papers call a hit on any gold page recall:
    that is another figure.

    A page of the same number in another document does not count. Undefined for a question without gold pages or without
    a document, and if nothing was searched (an example's own quotes, or a ranking of other items).
    """

    name = "page_recall"

    def __init__(self, *, cutoffs: Sequence[int] = (1, 3, 5, 10)) -> None:
        self._cutoffs = tuple(cutoffs)
        self.aggregates: tuple[Aggregate, ...] = tuple(
            mean_of(f"page_recall@{k}", by_domain=True) for k in self._cutoffs
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`gold_pages`, a count, and `page_recall@k`, 0 to 1."""
        gold = {(example.document, page) for page in example.reference.pages}
        if not gold or example.document is None or prediction.scope == "context" or prediction.items:
            return {}
        if prediction.context is not None and not prediction.pages:  # no ranking was stored
            return {}
        ranked = [(page.document, page.page) for page in prediction.pages]
        recalls = {f"page_recall@{k}": len(gold.intersection(ranked[:k])) / len(gold) for k in self._cutoffs}
        return {"gold_pages": float(len(gold)), **recalls}


class ContextRecall:
    """`context.recall`, `context.text.recall` and `context.image.recall`: the share of gold that the context holds.

    As in MMDocRAG (arXiv 2505.16470, Table 7, the columns of retrieval): the share of a question's gold quotes, of
    texts, of images and of both, that retrieval gave to the generator; means over questions. No answer can cite more
    than this.

    Undefined if quotes were not retrieved, or if it is not known which are gold; for a kind, if no gold is of it.
    """

    name = "context_recall"
    aggregates: tuple[Aggregate, ...] = tuple(
        mean_of(name) for name in ("context.recall", *(f"context.{kind}.recall" for kind in KINDS))
    )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Fractions."""
        gold = gold_of(prediction, example)
        if gold is None or gold.context is None or prediction.scope == "context":
            return {}
        in_context = set(gold.places().values())
        row = {"context.recall": len(in_context) / len(gold.kinds) if gold.kinds else None}
        for kind in KINDS:
            of_kind = {item for item, item_kind in gold.kinds.items() if item_kind == kind}
            row[f"context.{kind}.recall"] = len(of_kind & in_context) / len(of_kind) if of_kind else None
        return row
