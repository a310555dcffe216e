"""How sure a mean is: bootstrap intervals over questions that come in clusters (documents)."""

from collections.abc import Hashable, Sequence

import numpy as np
from pydantic import Field

from quoteweave.core.records import Record


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
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval | None:
    """Percentile bootstrap interval of a mean over questions, whole clusters resampled.

    Questions on one document rise and fall together, so documents are drawn, not questions. With C clusters, cluster c
    of n_c questions that sum to s_c, each resample draws c_1 … c_C with replacement and gives Σ s_{c_i} / Σ n_{c_i};
    the interval lies between the (1 - level) / 2 and (1 + level) / 2 quantiles of these. (Efron and Tibshirani, An
    Introduction to the Bootstrap, 1993, section 13.3; Field and Welsh, Bootstrapping clustered data, J. R. Stat. Soc. B
    69, 2007, "cluster bootstrap".) With few clusters it is somewhat too narrow.

    `clusters` names the cluster of each value. None values are undefined and left out; None comes back where no value
    is left. The same seed gives the same interval. Raises ValueError for sequences of unequal length.
    """
    known = [(value, cluster) for value, cluster in zip(values, clusters, strict=True) if value is not None]
    if not known:
        return None
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(cluster for _, cluster in known))}
    members = np.array([places[cluster] for _, cluster in known])
    sums = np.bincount(members, weights=np.array([value for value, _ in known], dtype=np.float64))
    counts = np.bincount(members)
    low = high = None
    if len(places) > 1:
        draws = np.random.default_rng(seed).integers(len(places), size=(resamples, len(places)))
        means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
        low, high = (float(bound) for bound in np.quantile(means, [(1 - level) / 2, (1 + level) / 2]))
    mean = float(sums.sum() / counts.sum())
    return Interval(mean=mean, low=low, high=high, n=len(known), clusters=len(places))


def paired_difference(
    ours: Sequence[float | None],
    theirs: Sequence[float | None],
    clusters: Sequence[Hashable],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval | None:
    """95 % interval of the mean of `ours - theirs`, question by question, as `clustered_interval` makes it.

    The two hold the same questions in the same order. A question where either is undefined is left out.
    """
    pairs = zip(ours, theirs, strict=True)
    differences = [None if a is None or b is None else a - b for a, b in pairs]
    return clustered_interval(differences, clusters, resamples=resamples, seed=seed)
