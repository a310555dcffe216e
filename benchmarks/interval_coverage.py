"""How often 95 % intervals over few documents contain the true value, and how wide they are: ours and three bootstraps.

Data are drawn from distributions with known values: right or wrong answers, bounded scores, pooled F1, and paired
differences of two systems, whose true value is 0 or not. Documents have 2 to 41 questions, 7 on average, with a given
intracluster correlation. All methods get the same draws.

- ours: `cluster_intervals` (and `difference_of`), as in reports
- t: the jackknife's standard error and Student's t, without the logit
- percentile, bootstrap-t, BCa: whole documents drawn (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
  sections 13.3, 12.5 and 14.3)
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from common import Table, arguments, machine, print_results
from numpy.typing import NDArray

from quoteweave.evaluation.statistics.aggregates import FRACTION, Limits, ratio_of
from quoteweave.evaluation.statistics.intervals import jackknife_estimate, two_sided_critical_value

Array = NDArray[np.float64]
DOCUMENTS = (3, 5, 10, 20, 44)
SHARES = (0.05, 0.3, 0.5, 0.9)
CORRELATIONS = (0.0, 0.1, 0.3)
QUANTILES = (0.025, 0.975)
METHODS = ("ours", "t", "percentile", "bootstrap-t", "BCa")
NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Data:
    """Many data sets: for each, the sums of its documents, whose ratio is the figure; and the true figure."""

    above: Array
    below: Array
    truth: float
    limits: Limits = FRACTION


class Drawing:
    """Draws data sets with that number of documents, true share and correlation."""

    def __init__(self, chance: np.random.Generator, shape: tuple[int, int], share: float, correlation: float) -> None:
        self.chance, self.shape, self.share, self.correlation = chance, shape, share, correlation
        self.sizes = np.minimum(1 + chance.geometric(1 / 6, size=shape), 41)
        self.there = np.arange(self.sizes.max()) < self.sizes[..., None]

    def centres(self) -> Array:
        """The true share of each document."""
        if not self.correlation:
            return np.full((*self.shape, 1), self.share)
        spread = (1 - self.correlation) / self.correlation
        return self.chance.beta(self.share * spread, (1 - self.share) * spread, size=(*self.shape, 1))

    def total(self, values: NDArray[Any]) -> Array:
        """The sum over the questions of each document."""
        sums: Array = (values * self.there).sum(axis=2).astype(np.float64)
        return sums

    def right_or_wrong(self) -> Data:
        """The share of right answers."""
        right = self.chance.random(self.there.shape) < self.centres()
        return Data(self.total(right), self.total(self.there), self.share)

    def scores(self) -> Data:
        """Means of scores from 0 to 1 with a quarter of the variance of right and wrong answers."""
        centres = np.clip(self.centres(), 1e-6, 1 - 1e-6)
        scores = self.chance.beta(3 * centres, 3 * (1 - centres), size=self.there.shape)
        return Data(self.total(scores), self.total(self.there), self.share)

    def pooled_f1(self) -> Data:
        """Pooled F1, with one to three gold quotes a question, and one to four cited ones."""
        gold, cited = (self.chance.integers(1, most + 1, size=self.there.shape) for most in (3, 4))
        common = self.chance.binomial(np.minimum(gold, cited), self.centres())
        most_common = np.mean(
            [min(gold_count, cited_count) for gold_count in range(1, 4) for cited_count in range(1, 5)]
        )
        return Data(2 * self.total(common), self.total(gold + cited), float(2 * self.share * most_common / 4.5))

    def difference(self, gain: float = 0.1) -> Data:
        """The difference of two systems that share 60 % of their luck; the first also answers `gain` of the rest."""
        centres = self.centres()
        other_scores = (centres + self.centres()) / 2
        luck, alone = self.chance.random(self.there.shape), self.chance.random(self.there.shape)
        ours = (luck < centres) | (self.chance.random(self.there.shape) < gain)
        theirs = np.where(self.chance.random(self.there.shape) < 0.6, luck, alone) < other_scores
        truth = gain * (1 - self.share)
        return Data(self.total(ours * 1.0 - theirs), self.total(self.there), truth, (-1.0, 1.0))

    def no_difference(self) -> Data:
        """The difference of two systems that are equally good."""
        return self.difference(gain=0.0)


KINDS: Mapping[str, Callable[[Drawing], Data]] = {
    "right or wrong": Drawing.right_or_wrong,
    "scores from 0 to 1": Drawing.scores,
    "pooled F1": Drawing.pooled_f1,
    "paired difference": Drawing.difference,
    "no difference": Drawing.no_difference,
}


def ours(data: Data) -> tuple[Array, Array]:
    """The intervals of this package; NaN where it gives none."""
    figure, names = ratio_of("figure", "above", "below", limits=data.limits), list(range(data.above.shape[1]))
    bounds = []
    for above, below in zip(data.above.tolist(), data.below.tolist(), strict=True):
        rows = [
            {"above": above_value, "below": below_value} for above_value, below_value in zip(above, below, strict=True)
        ]
        estimate = jackknife_estimate(figure, rows, names)
        bounds.append((None if estimate is None else estimate.interval()) or (np.nan, np.nan))
    low, high = np.array(bounds).T
    return low, high


def jackknife(data: Data) -> tuple[Array, Array, Array]:
    """The figures, their standard errors, and the figures without each document."""
    figures = data.above.sum(axis=1) / data.below.sum(axis=1)
    left = (data.above.sum(axis=1, keepdims=True) - data.above) / (data.below.sum(axis=1, keepdims=True) - data.below)
    number = left.shape[1]
    return figures, np.sqrt((number - 1) / number * ((left - figures[:, None]) ** 2).sum(axis=1)), left


def plain_t(data: Data) -> tuple[Array, Array]:
    """The intervals by Student's t, cut at the limits of the figure."""
    figures, errors, left = jackknife(data)
    half = two_sided_critical_value(0.95, left.shape[1] - 1) * errors
    return np.maximum(figures - half, data.limits[0]), np.minimum(figures + half, data.limits[1])


def bootstraps(data: Data, draws: Array) -> Iterator[tuple[Array, Array]]:
    """The intervals by percentile, bootstrap-t and BCa; `draws` (resamples, documents) says how often each is drawn."""

    def drawn(values: Array) -> Array:
        totals: Array = np.einsum("bg,rg->rb", draws, values)
        return totals

    above, below = drawn(data.above), drawn(data.below)
    samples = above / below
    low, high = np.quantile(samples, QUANTILES, axis=1)
    yield low, high
    figures, _, left = jackknife(data)
    squares = drawn(data.above**2) - 2 * samples * drawn(data.above * data.below) + samples**2 * drawn(data.below**2)
    errors = np.sqrt(np.maximum(squares, 0)) / below
    error = np.sqrt(((data.above - figures[:, None] * data.below) ** 2).sum(axis=1)) / data.below.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        studentised_samples = np.where(errors < 1e-7, np.nan, (samples - figures[:, None]) / errors)
        below_t, above_t = (_quantile(studentised_samples, at) for at in QUANTILES)
    limits = data.limits
    yield np.clip(figures - above_t * error, *limits), np.clip(figures - below_t * error, *limits)
    yield _bca(samples, figures, left)


def _quantile(samples: Array, at: float) -> Array:
    known = np.isfinite(samples).any(axis=1)
    quantiles = np.zeros(len(samples))
    quantiles[known] = np.nanquantile(samples[known], at, axis=1)
    return quantiles


def _bca(samples: Array, figures: Array, left: Array) -> tuple[Array, Array]:
    smaller = ((samples < figures[:, None]).mean(axis=1) + (samples <= figures[:, None]).mean(axis=1)) / 2
    bias = np.array([NORMAL.inv_cdf(min(max(share, 1e-4), 1 - 1e-4)) for share in smaller])
    apart = left.mean(axis=1, keepdims=True) - left
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.nan_to_num((apart**3).sum(axis=1) / (6 * (apart**2).sum(axis=1) ** 1.5))
    ordered, ends = np.sort(samples, axis=1), []
    for at in QUANTILES:
        moved = bias + NORMAL.inv_cdf(at)
        shares = [NORMAL.cdf(float(score)) for score in bias + moved / (1 - skew * moved)]
        places = np.minimum((np.array(shares) * samples.shape[1]).astype(int), samples.shape[1] - 1)
        ends.append(ordered[np.arange(len(ordered)), places])
    return ends[0], ends[1]


def measured(data: Data, draws: Array) -> dict[str, tuple[float, float]]:
    """By method, the share of intervals that contain the true value, and their mean width."""
    intervals = dict(zip(METHODS, (ours(data), plain_t(data), *bootstraps(data, draws)), strict=True))
    return {
        name: (
            float(((low <= data.truth + 1e-12) & (high >= data.truth - 1e-12)).mean()),
            float(np.nanmean(high - low)),
        )
        for name, (low, high) in intervals.items()
    }


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--sets", type=int, metavar="N", default=1000, help="data sets of each kind (%(default)s)")
    parser.add_argument("--resamples", type=int, metavar="N", default=999, help="of each bootstrap (%(default)s)")
    options = parser.parse_args()
    host, chance = machine(), np.random.default_rng(0)
    figures: list[dict[str, Any]] = []
    for kind, draw in KINDS.items():
        for number in DOCUMENTS:
            draws = chance.multinomial(number, [1 / number] * number, size=options.resamples).astype(float)
            for share in SHARES:
                for correlation in CORRELATIONS:
                    data = draw(Drawing(chance, (options.sets, number), share, correlation))
                    case = {"kind": kind, "documents": number, "share": share, "correlation": correlation}
                    figures.append({**case, "methods": measured(data, draws)})
            print(f"{kind}, {number} documents", file=sys.stderr)
    tables = [_table(kind, [case for case in figures if case["kind"] == kind]) for kind in KINDS]
    print_results(host, {"cases": figures}, tables, options)


def _table(kind: str, figures: list[dict[str, Any]]) -> Table:
    """A row for each number of documents, over all shares and correlations."""
    rows = []
    for number in DOCUMENTS:
        cases = [case["methods"] for case in figures if case["documents"] == number]
        cells = []
        for method in METHODS:
            coverage, widths = np.array([case[method] for case in cases]).T
            cells.append(f"{100 * coverage.mean():.1f} ({100 * coverage.min():.0f}); {100 * widths.mean():.1f}")
        rows.append([str(number), *cells])
    return Table(f"{kind}: held, % (least of any case); width, points", ("documents", *METHODS), rows)


if __name__ == "__main__":
    main()
