"""Claims with their cited premises, and the cached verdicts of an entailment model on which citations support them.

Recall and precision of ALCE (arXiv 2305.14627) and of ALiiCE (arXiv 2406.13375) need the same three answers: whether
all cited quotes together, one by itself, and the others without it entail the claim.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.jsonl import iter_records, open_for_append
from quoteweave.core.protocols import Entailment
from quoteweave.core.records import Record
from quoteweave.evaluation.statistics.aggregates import (
    AMOUNT,
    FRACTION,
    Aggregate,
    Row,
    deviation_of,
    mean_of,
    ratio_of,
    total_of,
    with_squares,
)

PremiseClaim = tuple[str, str]
"""A premise and a claim."""


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim, and the words of what it cites."""

    text: str
    premises: tuple[str, ...]
    """The words of each cited quote, in the order cited; empty for an image without words."""

    def pairs(self) -> list[PremiseClaim]:
        """All pairs that have to be asked to score it. An empty premise is not asked about: it entails nothing."""
        places = range(len(self.premises))
        premises = [self._all(), *self.premises, *(self._without(place) for place in places)]
        return [(premise, self.text) for premise in premises if premise]

    def is_entailed(self, verdicts: Mapping[PremiseClaim, bool]) -> bool:
        """Whether everything that it cites together entails it; False if it cites nothing."""
        return self._entails(self._all(), verdicts)

    def counting(self, verdicts: Mapping[PremiseClaim, bool]) -> int:
        """How many of its citations count: it is entailed, and by this one alone or not without this one."""
        if not self.is_entailed(verdicts):
            return 0
        return sum(
            self._entails(premise, verdicts) or not self._entails(self._without(position), verdicts)
            for position, premise in enumerate(self.premises)
        )

    def _entails(self, premise: str, verdicts: Mapping[PremiseClaim, bool]) -> bool:
        return bool(premise) and verdicts[premise, self.text]

    def _all(self) -> str:
        return _joined(self.premises)

    def _without(self, place: int) -> str:
        # If a premise is cited twice, the first is left out, as in the authors' code.
        remaining = list(self.premises)
        remaining.remove(self.premises[place])
        return _joined(remaining)


@dataclass(frozen=True, slots=True)
class CitedResponse:
    """The claims of one response."""

    claims: tuple[CitedClaim, ...]
    out_of_range: int
    """How many citations are of quotes that the context does not have."""
    whole_sentences: int = 0
    """How many sentences should have been split, but could not be."""
    kept: int | None = None
    """How many citations of each claim, the first ones, were kept; None for all."""
    multiple_out_of_range: int = 0
    """How many claims with several citations are not among these, because one of their citations is out of range."""

    def is_judged(self, verdicts: Mapping[PremiseClaim, bool]) -> bool:
        """Whether everything that has to be asked was asked."""
        return all(pair in verdicts for claim in self.claims for pair in claim.pairs())

    def columns(self, verdicts: Mapping[PremiseClaim, bool]) -> dict[str, float | None]:
        """`claims`, `citations`, `entailed` (claims), `counting` (citations), `out_of_range` and `without_words`.

        It also has `recall` and `precision`: entailed over claims and counting over citations, None if there are none.
        `without_words` are citations of images without known words, which therefore entail nothing. For claims with
        several citations (`multiple`): those that are entailed (`jointly_supported`), the citations of these that do
        not count (`redundant`), and those with such a citation (`overcited`).
        """
        premises = [premise for claim in self.claims for premise in claim.premises]
        entailed = sum(claim.is_entailed(verdicts) for claim in self.claims)
        counting = sum(claim.counting(verdicts) for claim in self.claims)
        several = [claim for claim in self.claims if len(claim.premises) > 1]
        redundant = [len(claim.premises) - claim.counting(verdicts) for claim in several if claim.is_entailed(verdicts)]
        recall = entailed / len(self.claims) if self.claims else None
        precision = counting / len(premises) if premises else None
        return {
            "multiple": float(len(several) + self.multiple_out_of_range),
            "jointly_supported": float(len(redundant)),
            "redundant": float(sum(redundant)),
            "overcited": float(sum(count > 0 for count in redundant)),
            "claims": float(len(self.claims)),
            "citations": float(len(premises)),
            "entailed": float(entailed),
            "counting": float(counting),
            "recall": recall,
            "precision": precision,
            "out_of_range": float(self.out_of_range),
            "without_words": float(premises.count("")),
        }


def cited_figures(prefix: str, counts: Sequence[str]) -> tuple[Aggregate, ...]:
    """The figures of columns `PREFIX.…` of `CitedResponse.columns`, and totals of the named counts.

    Standard deviations are over responses (divided by their number), as ALiiCE's code prints them. `multiple`: claims
    with several citations divided by all claims; `joint_support`: those that are entailed divided by these;
    `overcitation`: unnecessary citations of the latter divided by their number, as ALCE and ALiiCE print it, which can
    exceed 1; `overcited_claims`: those with such a citation divided by their number.
    """
    ratios = {
        "multiple": ("multiple", "claims", FRACTION),
        "joint_support": ("jointly_supported", "multiple", FRACTION),
        "overcitation": ("redundant", "jointly_supported", AMOUNT),
        "overcited_claims": ("overcited", "jointly_supported", FRACTION),
    }
    return (
        *(mean_of(f"{prefix}.{figure}") for figure in ("recall", "precision")),
        *(deviation_of(f"{prefix}.{figure}") for figure in ("recall", "precision")),
        *(
            ratio_of(f"{prefix}.{name}.pooled", f"{prefix}.{a}", f"{prefix}.{b}", limits=limits)
            for name, (a, b, limits) in ratios.items()
        ),
        *(total_of(f"{prefix}.{count}.total", f"{prefix}.{count}") for count in counts),
    )


def cited_row(prefix: str, columns: Row) -> Row:
    """`CitedResponse.columns` with the names that `cited_figures` sums."""
    named = {f"{prefix}.{column}": value for column, value in columns.items()}
    return with_squares(named, f"{prefix}.recall", f"{prefix}.precision")


class EntailmentMetric:
    """Base of metrics over responses, by example; `verdicts` are what a model said about their pairs."""

    def __init__(self, responses: Mapping[str, CitedResponse], verdicts: Mapping[PremiseClaim, bool]) -> None:
        self._responses, self._verdicts = responses, verdicts

    def _columns(self, prediction: Prediction, example: Example) -> dict[str, float | None]:
        """The columns of the response; empty without one, and for one with pairs that were not all asked."""
        response = self._responses.get(example.id)
        if prediction.response is None or response is None or not response.is_judged(self._verdicts):
            return {}
        return response.columns(self._verdicts)


def entailments(responses: Iterable[CitedResponse], model: Entailment) -> dict[PremiseClaim, bool]:
    """The verdicts of an entailment model on all pairs of these responses, each asked once. Raises ModelError."""
    claims = (claim for response in responses for claim in response.claims)
    pairs = list(dict.fromkeys(pair for claim in claims for pair in claim.pairs()))
    return dict(zip(pairs, model.entails(pairs), strict=True))


def context_of(prediction: Prediction, example: Example) -> Context:
    """The context that the response cites. Raises DatasetError if there is none."""
    context = prediction.context or example.context
    if context is None:
        raise DatasetError(
            f"example {example.id!r} has no context: gold alone names no quotes that were shown; "
            "give the dataset's own file with --references"
        )
    return context


def _joined(premises: Iterable[str]) -> str:
    return "\n".join(premise for premise in premises if premise)


PAIRS_PER_CALL = 256
"""Verdicts are written after each call."""


class CachedEntailmentVerdict(Record):
    """The verdict of a model on one pair."""

    pair: str = Field(description="SHA-256 of premise and claim")
    entails: bool
    model: str


class CachedEntailment:
    """Implements `core.protocols.Entailment` by another model, which is only asked about pairs that `path` lacks.

    Raises DatasetError for a file of another kind, UsageError for one by another model, StorageError if writing fails.
    """

    def __init__(self, model: Entailment, path: Path) -> None:
        self._model, self._path = model, path
        self._known: dict[str, bool] = {}
        for _, verdict in iter_records(path, CachedEntailmentVerdict, drop_cut=True) if path.exists() else ():
            if verdict.model != model.name:
                raise UsageError(
                    f"{path} holds what {verdict.model} said, not {model.name}; name another file with --kept"
                )
            self._known[verdict.pair] = verdict.entails

    @property
    def name(self) -> str:
        """The other model's name."""
        return self._model.name

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """The verdicts of the other model, stored as soon as they are known. Raises what the other model raises."""
        keys = [hashlib.sha256(repr(pair).encode("utf-8", "surrogatepass")).hexdigest() for pair in pairs]
        new = list({key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._known}.items())
        # Sorted by length, because models are faster for batches of similar length.
        new.sort(key=lambda keyed_pair: sum(map(len, keyed_pair[1])))
        with open_for_append(self._path) as write:
            for start in range(0, len(new), PAIRS_PER_CALL):
                part = new[start : start + PAIRS_PER_CALL]
                for (key, _), entails in zip(part, self._model.entails([pair for _, pair in part]), strict=True):
                    write(CachedEntailmentVerdict(pair=key, entails=entails, model=self._model.name))
                    self._known[key] = entails
        return [self._known[key] for key in keys]
