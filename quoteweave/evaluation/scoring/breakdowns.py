"""Break figures down by groups of questions, and recall by the position of gold quotes in the context."""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.citations.quote_selection import POSITION
from quoteweave.evaluation.metrics.gold import gold_items, own_gold
from quoteweave.evaluation.scoring.scores import ScoredQuestion
from quoteweave.evaluation.statistics.aggregates import Aggregate, mean_of
from quoteweave.evaluation.statistics.intervals import FEW_CLUSTERS, Estimate, Intervals, estimates

BY_POSITION = "position"
POSITION_FIGURE = "recall"
CROSSED = " × "
"""Separates the names of two groups whose breakdowns are crossed."""
SMALL_GROUP = 30
"""Smaller groups are marked: each of their questions moves their figures by several points."""
SMALL_GROUPS = f"fewer than {SMALL_GROUP} questions or {FEW_CLUSTERS} documents"
"""The explanation of the mark."""

Groups = tuple[str, ...]


def _single_or_several(count: int) -> Groups:
    return () if count == 0 else ("single",) if count == 1 else ("several",)


def _gold_images(example: Example) -> Groups:
    kinds = own_gold(example) or {}
    return (
        ("none",)
        if kinds and "image" not in kinds.values()
        else _single_or_several(list(kinds.values()).count("image"))
    )


def _gold_quotes(example: Example) -> Groups:
    """How many gold quotes, pages or passages there are: `1`, `2`, `3`, or `4 or more`."""
    count = sum(grade > 0 for grade in (example.reference.relevant or {}).values())
    return () if count == 0 else (str(count),) if count < 4 else ("4 or more",)


def _answer_format(example: Example) -> Groups:
    return () if (answer_format := example.reference.answer_format) is None else (answer_format,)


def _source_count(example: Example) -> tuple[str, ...]:
    """`single-source` or `multi-source`, by the number of gold items."""
    gold = gold_items(example)
    return () if gold is None else ("single-source",) if len(gold) == 1 else ("multi-source",)


def _mcitebench_task(example: Example) -> tuple[str, ...]:
    """Question type and number of sources, e.g. `explanation, multi-source`: the columns of MCiteBench's Table 2."""
    return tuple(f"{example.question_type}, {group}" for group in _source_count(example) if example.question_type)


def _modality(example: Example) -> tuple[str, ...]:
    """The modality of the evidence, or `mixed` if there are several: the columns of MCiteBench's Table 4."""
    if gold_items(example) is None:
        return ()
    types = dict.fromkeys(example.evidence_types)
    return tuple(types) if len(types) < 2 else ("mixed",)


def _modality_of_two(example: Example) -> tuple[str, ...]:
    """The modality of explanation questions with exactly two gold items: the groups of MCiteBench's Figure 5."""
    two = example.question_type == "explanation" and len(gold_items(example) or ()) == 2
    return _modality(example) if two else ()


_MCITEBENCH_GROUPINGS: Mapping[str, Callable[[Example], Groups]] = {
    "mcitebench_task": _mcitebench_task,
    "sources": _source_count,
    "modality": _modality,
    "modality_of_two": _modality_of_two,
}
"""The groups of MCiteBench (arXiv 2503.02589, Tables 2 to 4 and Figure 5).

Its Citation F1 is one of our `citation.f1.…`, Source F1 `source.f1`, Source EM `source.exact_match`, Acc `accuracy`.
"""


def _published_year(example: Example) -> Groups:
    """`before 2024` or `2024`: the columns of CiteME's Table 8 (arXiv 2407.12861)."""
    year = example.year
    return (
        () if year is None or year > _LAST_YEAR else (str(year),) if year == _LAST_YEAR else (f"before {_LAST_YEAR}",)
    )


_LAST_YEAR = 2024

GROUPINGS: Mapping[str, Callable[[Example], Groups]] = {
    "domain": lambda example: () if example.domain is None else (example.domain,),
    "subset": lambda example: () if example.subset is None else (example.subset,),
    "question_type": lambda example: () if example.question_type is None else (example.question_type,),
    "evidence": lambda example: example.evidence_types,
    "answer_format": _answer_format,
    "gold_quotes": _gold_quotes,
    "gold_images": _gold_images,
    "gold_pages": lambda example: _single_or_several(len(set(example.reference.pages))),
    "gold_modalities": lambda example: _single_or_several(len(example.evidence_types)),
    **_MCITEBENCH_GROUPINGS,
    "year": lambda example: () if example.year is None else (str(example.year),),
    "published_year": _published_year,
    "tag": lambda example: example.tags,
}
"""Breakdown to the groups of an example. With several evidence types it counts in each; without a known one, in none.

The breakdowns of MMDocRAG (arXiv 2505.16470, Figures 9 to 11 and their appendix): domain, question type, evidence
modality, and one or several images, pages or modalities of evidence; the number of gold quotes; the answer format of
MMLongBench-Doc; those of MCiteBench, for questions like its own; the subset of a question within its dataset, such as
CiteVQA's Single-Doc, Multi (1-Gold) and Multi (N-Gold); the year and the tags of an excerpt of CiteME.
"""


def _actions(prediction: Prediction) -> Groups:
    """The number of actions of a search for a paper (CiteME, Figure 5)."""
    search = prediction.paper_search
    return () if search is None or not search.steps else (str(len(search.steps)),)


ANSWER_GROUPINGS: Mapping[str, Callable[[Prediction], Groups]] = {"actions": _actions}
"""Breakdown to the groups of an answer, as `GROUPINGS` has those of the question."""


def groups_of(example: Example, prediction: Prediction | None = None) -> dict[str, Groups]:
    """Breakdown to the groups in which the example and its answer count; breakdowns without any are left out."""
    of_answer = {} if prediction is None else {name: of(prediction) for name, of in ANSWER_GROUPINGS.items()}
    groups_by_breakdown = {name: grouping(example) for name, grouping in GROUPINGS.items()} | of_answer
    return {name: groups for name, groups in groups_by_breakdown.items() if groups}


def check_breakdowns(names: Sequence[str]) -> None:
    """Raise UsageError for names that `breakdowns` does not accept as `by`."""
    known = [*GROUPINGS, *ANSWER_GROUPINGS, BY_POSITION]
    for name in names:
        parts = name.split(",")
        unknown = [part for part in parts if part not in known]
        if unknown or len(parts) > 2 or len(set(parts)) < len(parts):
            problem = f"there is no breakdown {unknown[0]!r}" if unknown else f"{name!r} is not one breakdown, or two"
            raise UsageError(f"{problem}; name one, or two with a comma between them, of: {', '.join(known)}")


def breakdowns(
    questions: Sequence[ScoredQuestion],
    figures: Sequence[Aggregate],
    intervals: Intervals | None = None,
    *,
    by: Sequence[str] | None = None,
) -> dict[str, dict[str, dict[str, Estimate]]]:
    """Breakdown to group to figure, with groups by name.

    `by` names the breakdowns; None stands for every single one. Two names separated by a comma, such as
    `domain,evidence`, are crossed: a question counts in the group `News × chart` if it counts in both. Breakdowns
    without any group are left out.

    `position` has one figure, `recall`, for each place of the context (`text1`…, `image1`…): the share of the gold
    quotes at that place that are cited (the paper's Figure 8).
    """
    by_breakdown = {}
    for name in (*GROUPINGS, *ANSWER_GROUPINGS, BY_POSITION) if by is None else by:
        grouped = [part for part in name.split(",") if part != BY_POSITION]
        groups = _members(questions, grouped)
        if BY_POSITION not in name.split(","):
            by_breakdown[name] = {
                group: _estimates_over(groups[group], figures, intervals) for group in sorted(groups, key=by_number)
            }
        elif grouped:
            first = name.startswith(BY_POSITION)
            by_breakdown[name] = {
                CROSSED.join((place, group) if first else (group, place)): estimate
                for group in sorted(groups, key=by_number)
                for place, estimate in _positions(groups[group], intervals).items()
            }
        else:
            by_breakdown[name] = _positions(questions, intervals)
    return {name: groups for name, groups in by_breakdown.items() if groups}


def _members(questions: Sequence[ScoredQuestion], names: Sequence[str]) -> dict[str, list[ScoredQuestion]]:
    """The questions of each group of a breakdown, or of two crossed breakdowns."""
    members: defaultdict[str, list[ScoredQuestion]] = defaultdict(list)
    for question in questions:
        for groups in itertools.product(*(dict.fromkeys(question.groups.get(name, ())) for name in names)):
            members[CROSSED.join(groups)].append(question)
    return members


def by_number(group: str) -> list[tuple[bool, int, str]]:
    """Sort key for names of groups: numbers in them by their size, so that `10` comes after `9`."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", group)]


def _estimates_over(
    questions: Sequence[ScoredQuestion], figures: Sequence[Aggregate], intervals: Intervals | None
) -> dict[str, Estimate]:
    rows, clusters = [question.row for question in questions], [question.cluster for question in questions]
    return estimates(figures, rows, clusters, intervals)


def _positions(questions: Sequence[ScoredQuestion], intervals: Intervals | None) -> dict[str, dict[str, Estimate]]:
    columns = {column for question in questions for column in question.row if column.startswith(POSITION)}
    places = sorted((column.removeprefix(POSITION) for column in columns), key=text_first)
    recalls = _estimates_over(questions, [mean_of(f"{POSITION}{place}") for place in places], intervals)
    return {place: {POSITION_FIGURE: recalls[f"{POSITION}{place}"]} for place in places}


def marked_count(estimates: Iterable[Estimate]) -> str:
    """The largest number of questions behind any figure of a group, with a star if these or their documents are few.

    >>> marked_count([Estimate(value=0.5, n=40, clusters=2), Estimate(value=0.5, n=30, clusters=2)])
    '40*'
    """
    most = max(estimates, key=lambda estimate: estimate.n, default=Estimate(value=None, n=0))
    is_small = most.n < SMALL_GROUP or (most.clusters is not None and most.clusters < FEW_CLUSTERS)
    return f"{most.n}*" if is_small else str(most.n)


def text_first(place: str) -> tuple[bool, int]:
    """Sort key for places in a context, such as `image2`: texts first, each kind by its number."""
    kind = place.rstrip("0123456789")
    return kind != "text", int(place.removeprefix(kind))
