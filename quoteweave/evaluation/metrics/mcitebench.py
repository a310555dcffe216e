"""The groups in which MCiteBench (arXiv 2503.02589) reads its figures: Tables 2 to 4.

Of our names, Citation F1 is one of `citation.f1.…`, Source F1 `source.f1`, Source EM `source.exact_match`, and Acc
`accuracy`.
"""

from collections.abc import Callable, Mapping

from quoteweave.core.examples import Example
from quoteweave.evaluation.metrics.source_selection import gold_items


def sources(example: Example) -> tuple[str, ...]:
    """By how many items are gold: `single-source` or `multi-source`."""
    gold = gold_items(example)
    return () if gold is None else ("single-source",) if len(gold) == 1 else ("multi-source",)


def task(example: Example) -> tuple[str, ...]:
    """By question type and sources, e.g. `explanation, multi-source`: the columns of Table 2."""
    return tuple(f"{example.question_type}, {group}" for group in sources(example) if example.question_type)


def modality(example: Example) -> tuple[str, ...]:
    """The modality of the evidence, or `mixed` where there are several: the columns of Table 4."""
    if gold_items(example) is None:
        return ()
    types = dict.fromkeys(example.evidence_types)
    return tuple(types) if len(types) < 2 else ("mixed",)


MCITEBENCH_GROUPINGS: Mapping[str, Callable[[Example], tuple[str, ...]]] = {
    "mcitebench_task": task,
    "sources": sources,
    "modality": modality,
}
"""Breakdown to the groups of an example; none where it is unknown."""
