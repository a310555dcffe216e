"""Questions about other things: how often the generator without a model declines them, and what that costs.

`off_topic.jsonl` has 100 questions that we wrote: 50 are about nothing in the documents of MMLongBench-Doc (`off`), and
50 name the topic of a document but ask for something that it does not say (`near`: another year, another property).
Each `off` question is asked within three documents, each `near` one within its own, and all over the whole collection.

120 further questions, the set `later`, were written before the shipped rule was made, and used only after that: 60
about nothing in the documents, and 60 that one of them answers (`answerable`). They are reported separately.

The curve shows, for thresholds around the shipped one (`extractive/topic.py`, `THRESHOLD`), the share of the `off`
questions that are declined, and that of MMLongBench-Doc's answerable questions that are, which should be small.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from answer_rows import MMLONGBENCH, examples, found_for, search_of
from answer_tables import OUTCOMES
from common import (
    Table,
    add_collection_options,
    arguments,
    bounds,
    collection_of,
    machine,
    percent,
    print_results,
    research_folders,
)
from pydantic import BaseModel

from quoteweave.collection.collection import Collection
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Query
from quoteweave.evaluation.report.drawing import COLOURS, INK, make_plot, panels, style
from quoteweave.evaluation.statistics.intervals import clustered_interval
from quoteweave.generation.extractive import topic
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.relevance import question_terms
from quoteweave.pipeline.search import Search

QUESTIONS = Path(__file__).with_name("off_topic.jsonl")
WITHIN = 3
"""The number of documents within which a question about other things is asked."""
STEPS = (-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0)
"""Distances from the shipped threshold."""
SCOPES = ("document", "collection")
REAL = "real"
CURVES = ("off", REAL, "off, later", "answerable, later")
ANSWERABLE = (REAL, "answerable, later")
LATER = ("off, later", "answerable, later")
Curve = Mapping[float, Mapping[str, Mapping[str, float]]]
"""The share declined, by step, scope and kind."""


class _Question(BaseModel):
    question: str
    kind: Literal["off", "near", "answerable"]
    set: Literal["first", "later"] = "first"
    document: str | None = None

    @property
    def group(self) -> str:
        """Its kind, with the set's name if that is `later`."""
        return self.kind if self.set == "first" else f"{self.kind}, later"


class _Asking(NamedTuple):
    question: str
    kind: str
    scope: str
    document: str | None


class Outcome(BaseModel):
    """One question in one scope."""

    question: str
    kind: str
    """`off`, `near`, `real` (an answerable question of MMLongBench-Doc), `off, later` or `answerable, later`."""
    scope: str
    document: str | None
    """A real or near question's own document; for others the one searched, or None for the whole collection."""
    status: str
    margin: float
    """`topic.margin`; the question is declined if it is negative."""


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the curve there (needs the extra 'report')")
    options = parser.parse_args()
    host = machine()
    with collection_of(research_folders(), options) as collection:
        outcomes = _outcomes(collection)
    curve = {step: {scope: _declined(outcomes, scope, step) for scope in SCOPES} for step in STEPS}
    if options.svg is not None:
        options.svg.write_text(_drawn(curve), encoding="utf-8")
    figures: dict[str, object] = {
        "outcomes": {f"{kind}, {scope}": _shares(group) for (kind, scope), group in _groups(outcomes).items()},
        "curve": [{"threshold": round(topic.THRESHOLD + step, 3), **shares} for step, shares in curve.items()],
        "rows": [outcome.model_dump(exclude={"margin"}) | {"margin": _finite(outcome.margin)} for outcome in outcomes],
    }
    print_results(host, figures, [_outcome_table(outcomes), _curve_table(curve)], options)


def _outcomes(collection: Collection) -> list[Outcome]:
    written = [_Question.model_validate_json(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    names = sorted(document.name for document in collection.documents())
    questions: list[_Asking] = []
    for place, question in enumerate(written):
        # Each question gets other documents, spread over all of them.
        other_documents = [names[(place + at * len(names) // WITHIN) % len(names)] for at in range(WITHIN)]
        within = other_documents if question.document is None else [question.document]
        questions += [_Asking(question.question, question.group, "document", name) for name in within]
        questions.append(_Asking(question.question, question.group, "collection", question.document))
    for name, example in examples():
        if name == MMLONGBENCH and example.reference.answer_format != "none":
            questions += [_Asking(example.query.text, REAL, scope, example.document) for scope in SCOPES]
    if lacking := sorted({question.document for question in questions if question.document} - set(names)):
        raise SystemExit(f"the collection lacks {len(lacking)} documents, such as {lacking[0]}")
    search, generator = search_of(collection), ExtractiveGenerator()
    return [_outcome(search, generator, question) for question in questions]


def _outcome(search: Search, generator: ExtractiveGenerator, question: _Asking) -> Outcome:
    context = found_for(search, question.question, question.document if question.scope == "document" else None)
    return Outcome(
        **question._asdict(),
        status=run_sync(generator.answer(Query(text=question.question), context)).status,
        margin=topic.topic_margin(question_terms(question.question), context),
    )


def _groups(outcomes: Sequence[Outcome]) -> dict[tuple[str, str], list[Outcome]]:
    return {
        (kind, scope): [outcome for outcome in outcomes if (outcome.kind, outcome.scope) == (kind, scope)]
        for kind in ("off", "near", REAL, *LATER)
        for scope in SCOPES
    }


def _shares(outcomes: Sequence[Outcome]) -> dict[str, float]:
    return {status: sum(outcome.status == status for outcome in outcomes) / len(outcomes) for status in OUTCOMES}


def _declined(outcomes: Sequence[Outcome], scope: str, step: float) -> dict[str, float]:
    """By kind, the share below a threshold that is by `step` higher than the shipped one."""
    groups = {kind: group for (kind, where), group in _groups(outcomes).items() if where == scope}
    return {kind: sum(outcome.margin < step for outcome in group) / len(group) for kind, group in groups.items()}


def _outcome_table(outcomes: Sequence[Outcome]) -> Table:
    cells = []
    for (kind, scope), group in _groups(outcomes).items():
        # Real questions are clustered by document. The others were written one by one and are asked up to three times.
        clusters = [outcome.document if kind in ANSWERABLE else outcome.question for outcome in group]
        shares = ([float(outcome.status == status) for outcome in group] for status in reversed(OUTCOMES))
        cells.append(
            [kind, scope, str(len(group)), *(bounds(clustered_interval(values, clusters)) for values in shares)]
        )
    return Table("outcomes, %", ("", "within the", "n", *reversed(OUTCOMES)), cells)


def _drawn(curve: Curve) -> str:
    """The curve as an SVG file: the share of real questions declined on the x axis, of others on the y axis."""
    with style("off-topic"):
        figure, axes = panels(1, height=3.0)
        for scope, colour in zip(SCOPES, COLOURS, strict=False):
            across, upward = ([100 * shares[scope][kind] for shares in curve.values()] for kind in (REAL, "off"))
            axes[0].plot(across, upward, color=colour, marker=".", label=f"within the {scope}")
            shipped = curve[0.0][scope]
            axes[0].plot(100 * shipped[REAL], 100 * shipped["off"], "o", color=INK)
        axes[0].set(xlabel="answerable questions that abstain, %", ylabel="off-topic questions declined, %")
        axes[0].legend()
        return make_plot(figure, "off-topic", title="What declining questions about other things costs").svg


def _curve_table(curve: Curve) -> Table:
    cells = [
        [
            f"{topic.THRESHOLD + step:+.2f}{' (shipped)' if step == 0 else ''}",
            *(percent(shares[scope][kind]) for scope in SCOPES for kind in CURVES),
            "█" * round(20 * shares["collection"]["off"]),
        ]
        for step, shares in curve.items()
    ]
    columns = ("threshold", *(f"{kind}, {scope}" for scope in SCOPES for kind in CURVES), "off, collection")
    return Table("declined by threshold, %", columns, cells)


def _finite(margin: float) -> float | None:
    """The margin, or None if it is infinite, as for a question that names a place or is about the document itself."""
    return margin if abs(margin) != float("inf") else None


if __name__ == "__main__":
    main()
