"""How sure a mean is: bootstrap intervals over questions that come in clusters (documents)."""

from collections.abc import Hashable, Sequence

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.evaluation.bootstrap import RESAMPLES, bootstrap_intervals
from quoteweave.evaluation.figures import mean_of

MEAN = mean_of("value")


class Interval(Record):
    """A mean over questions and where it may lie."""

    mean: float
    low: float | None = Field(description="None where fewer than two clusters leave nothing to resample")
    high: float | None = Field(description="None where `low` is")
    n: int = Field(ge=1, description="questions where the figure is defined")
    clusters: int = Field(ge=1, description="clusters that they come from")


def clustered_interval(
    values: Sequence[float | None],
    clusters: Sequence[Hashable],
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Percentile bootstrap interval of a mean over questions, whole clusters resampled, as `bootstrap_intervals` does.

    Questions on one document rise and fall together, so documents are drawn, not questions. With few clusters the
    interval is somewhat too narrow.

    `clusters` names the cluster of each value. None values are undefined and left out; None comes back where no value
    is left. The same seed gives the same interval. Raises ValueError for sequences of unequal length.
    """
    known = [(value, cluster) for value, cluster in zip(values, clusters, strict=True) if value is not None]
    if not known:
        return None
    rows, members = [{MEAN.name: value} for value, _ in known], [cluster for _, cluster in known]
    bounds = bootstrap_intervals((MEAN,), rows, members, level=level, resamples=resamples, seed=seed)[MEAN.name]
    low, high = bounds or (None, None)
    mean = sum(value for value, _ in known) / len(known)
    return Interval(mean=mean, low=low, high=high, n=len(known), clusters=len(set(members)))


def paired_difference(
    ours: Sequence[float | None],
    theirs: Sequence[float | None],
    clusters: Sequence[Hashable],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """95 % interval of the mean of `ours - theirs`, question by question, as `clustered_interval` makes it.

    The two hold the same questions in the same order. A question where either is undefined is left out.
    """
    pairs = zip(ours, theirs, strict=True)
    differences = [None if a is None or b is None else a - b for a, b in pairs]
    return clustered_interval(differences, clusters, resamples=resamples, seed=seed)
