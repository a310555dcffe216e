"""Groups of questions in which any figure can be read, and the recall of gold quotes by their place in the context."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from quoteweave.core.examples import Example
from quoteweave.evaluation.bootstrap import RESAMPLES, Intervals
from quoteweave.evaluation.figures import Figure, Row, mean_of
from quoteweave.evaluation.gold import own_gold
from quoteweave.evaluation.metrics.mcitebench import MCITEBENCH_GROUPINGS
from quoteweave.evaluation.metrics.quote_selection import POSITION
from quoteweave.evaluation.scores import Estimate, ScoredQuestion

BY_POSITION = "position"
POSITION_FIGURE = "recall"
GROUP_RESAMPLES = 2_000
"""There are many groups, and this many resamples settle their bounds to about a tenth of a point."""

Groups = tuple[str, ...]


def _several(count: int) -> Groups:
    return () if count == 0 else ("single",) if count == 1 else ("several",)


def _gold_images(example: Example) -> Groups:
    kinds = own_gold(example) or {}
    return ("none",) if kinds and "image" not in kinds.values() else _several(list(kinds.values()).count("image"))


def _answer_format(example: Example) -> Groups:
    return () if (found := example.reference.answer_format) is None else (found,)


GROUPINGS: Mapping[str, Callable[[Example], Groups]] = {
    "domain": lambda example: () if example.domain is None else (example.domain,),
    "question_type": lambda example: () if example.question_type is None else (example.question_type,),
    "evidence": lambda example: example.evidence_types,
    "answer_format": _answer_format,
    "gold_images": _gold_images,
    "gold_pages": lambda example: _several(len(set(example.reference.pages))),
    "gold_modalities": lambda example: _several(len(example.evidence_types)),
    **MCITEBENCH_GROUPINGS,
}
"""Breakdown to the groups of an example. With several evidence types it counts in each; unknown, in none.

Those of MMDocRAG (arXiv 2505.16470, Figures 9 to 11 and their appendix): domain, question type, evidence modality, and
one or several images, pages or modalities of evidence; the answer format, of MMLongBench-Doc; and those of MCiteBench,
for questions like its own.
"""


def groups_of(example: Example) -> dict[str, Groups]:
    """Breakdown to the groups in which the example counts, where there are any."""
    return {name: groups for name, grouping in GROUPINGS.items() if (groups := grouping(example))}


def estimates(
    figures: Sequence[Figure],
    rows: Sequence[Row],
    clusters: Sequence[str],
    intervals: Intervals | None = None,
    *,
    resamples: int = RESAMPLES,
) -> dict[str, Estimate]:
    """Each figure of these rows, with an interval where asked for. One that is nowhere defined is left out."""
    known = [figure for figure in figures if figure.undefined(rows) < len(rows)]
    bounds = {} if intervals is None else intervals(known, rows, clusters, resamples=resamples)
    return {figure.name: _estimate(figure, rows, bounds.get(figure.name)) for figure in known}


def breakdowns(
    questions: Sequence[ScoredQuestion], figures: Sequence[Figure], intervals: Intervals | None = None
) -> dict[str, dict[str, dict[str, Estimate]]]:
    """Breakdown to group to figure; groups by name.

    `position` has one figure, `recall`, for each place of the context (`text1`…, `image1`…): the share of the gold
    quotes standing there that are cited (the paper's Figure 8).
    """
    found = {}
    for name in GROUPINGS:
        members: defaultdict[str, list[ScoredQuestion]] = defaultdict(list)
        for question in questions:
            for group in question.groups.get(name, ()):
                members[group].append(question)
        found[name] = {group: _of(members[group], figures, intervals) for group in sorted(members)}
    found[BY_POSITION] = _positions(questions, intervals)
    return {name: groups for name, groups in found.items() if groups}


def _of(
    questions: Sequence[ScoredQuestion], figures: Sequence[Figure], intervals: Intervals | None
) -> dict[str, Estimate]:
    rows, clusters = [question.row for question in questions], [question.cluster for question in questions]
    return estimates(figures, rows, clusters, intervals, resamples=GROUP_RESAMPLES)


def _positions(questions: Sequence[ScoredQuestion], intervals: Intervals | None) -> dict[str, dict[str, Estimate]]:
    columns = {column for question in questions for column in question.row if column.startswith(POSITION)}
    places = sorted((column.removeprefix(POSITION) for column in columns), key=_text_first)
    found = _of(questions, [mean_of(f"{POSITION}{place}") for place in places], intervals)
    return {place: {POSITION_FIGURE: found[f"{POSITION}{place}"]} for place in places}


def _text_first(place: str) -> tuple[bool, int]:
    kind = place.rstrip("0123456789")
    return kind != "text", int(place.removeprefix(kind))


def _estimate(figure: Figure, rows: Sequence[Row], bounds: tuple[float, float] | None) -> Estimate:
    undefined = figure.undefined(rows)
    low, high = bounds or (None, None)
    return Estimate(value=figure.of(rows), low=low, high=high, n=len(rows) - undefined, undefined=undefined)
