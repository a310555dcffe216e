"""Source selection: whether a response cites the items that its answer needs.

The source is MCiteBench (arXiv 2503.02589, section 4, equations 1 to 3). With P the items that a response cites, each
once, and G the gold items:

    precision = |P ∩ G| / |P|   recall = |P ∩ G| / |G|   F1 = 2 |P ∩ G| / (|P| + |G|)   exact match = 1 if P = G, else 0

Items are identified by their printed names, as `text.source_marks` reads them.

The paper does not say at which level it averages. `source.f1` and the like are means over questions, `….pooled` are
over all (question, item) pairs together. In the paper a model split responses into sentences and their citations, from
which P was taken; by our rule, which reads every mention as a citation, figures are named `source_by_rule.…` and are
not comparable with published ones.

Undefined if gold is not named in this way, and for questions that ask for a letter; precision also without citations.

By the `published` convention (caiyuhu/MCiteBench at d9d41d3), responses that cite nothing are left out of every figure,
and so are those with a failed judgement (`citation_quality`); `source.…` compares citations as the splitter wrote them
with the names in the evidence's keys (`Reference.script_names`), so that "figure 3" is wrong where "Figure 3" is right,
and an F1 is 0 if no name can be read from the keys.
"""

from collections.abc import Iterable, Mapping

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.gold import gold_items
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of, pooled_f1, ratio_of
from quoteweave.evaluation.text.responses import MarkGrammar, answer_of
from quoteweave.evaluation.text.source_marks import cited_items, item_name


class SourceSelection:
    """The columns `cited`, `gold`, `common`, `precision`, `recall`, `f1` and `exact_match`; the first three are counts.

    `splits` are, by example, the citations that a splitter found in the responses, for `published` as written; without
    it, responses are read by rule.
    """

    name = "source_selection"

    def __init__(
        self,
        marks: MarkGrammar,
        convention: Convention = "strict",
        *,
        splits: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self._marks = marks
        self._splits = splits
        self._published = convention == "published"
        self._prefix = prefix = "source_by_rule" if splits is None else "source"
        common, cited, gold = (f"{prefix}.{column}" for column in ("common", "cited", "gold"))
        self.aggregates: tuple[Aggregate, ...] = (
            *(mean_of(f"{prefix}.{column}") for column in ("precision", "recall", "f1", "exact_match")),
            ratio_of(f"{prefix}.precision.pooled", common, cited),
            ratio_of(f"{prefix}.recall.pooled", common, gold),
            pooled_f1(f"{prefix}.f1.pooled", common, cited, gold),
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Counts are of items; the rest are fractions."""
        gold, cited = self._gold(example), self._cited(prediction)
        chosen = example.task.startswith("choose")  # a letter cites nothing
        if gold is None or cited is None or chosen or (self._published and not cited):
            return {}
        common = len(cited & gold)
        columns: dict[str, float | None] = {
            "cited": float(len(cited)),
            "gold": float(len(gold)),
            "common": float(common),
            "precision": common / len(cited) if cited else None,
            "recall": common / len(gold) if gold else 0.0,
            "f1": 2 * common / (len(cited) + len(gold)),
            "exact_match": float(bool(gold) and cited == gold),
        }
        return {f"{self._prefix}.{column}": value for column, value in columns.items()}

    def _gold(self, example: Example) -> frozenset[str] | None:
        named = example.reference.script_names
        as_written = self._published and self._splits is not None and named is not None
        return frozenset(named or ()) if as_written else gold_items(example)

    def _cited(self, prediction: Prediction) -> frozenset[str] | None:
        if prediction.response is None:
            return None
        if self._splits is None:
            return frozenset(cited_items(answer_of(prediction.response, self._marks)))
        if not prediction.response:
            return frozenset()
        cited = self._splits.get(prediction.example)
        if cited is None:
            return None
        return frozenset(cited) if self._published else frozenset(map(item_name, cited))
