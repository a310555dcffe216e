"""How papers were searched for: technical errors, actions, and whether the paper cited was shown (CiteME)."""

from collections.abc import Iterable

from quoteweave.core.examples import TECHNICAL_ERRORS, Example, NamedPaper, Prediction, SearchOutcome
from quoteweave.core.text.paper_identifiers import same_paper
from quoteweave.evaluation.metrics.answers.title_match import gold_identifiers
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import AMOUNT, FRACTION, Aggregate, Row, mean_of
from quoteweave.evaluation.text.titles import MIN_RATIO, letters, ratio

TECHNICAL = "technical_errors"
NO_CHOICE: tuple[SearchOutcome, ...] = ("no_selection", "loops")


class PaperSearches:
    """`technical_errors`, the share of excerpts whose search ended with one, and `technical_errors.KIND`, of each kind.

    These count every excerpt by either convention; by `strict`, other figures leave out technical errors. By
    `published` such an excerpt counts as wrong, as in the authors' code. By `published`, the target of an excerpt
    without a selection counts as not found, whatever was shown, because their code looks for it only after a selection.

    `no_selection` and `loops` are the shares that selected no paper within their actions, and that repeated one action
    over and over: both count as wrong, because the agent failed (the authors' code counts the first like any error).
    `target_found` is the share in which a search showed a paper whose title matches by the authors' ratio, with the
    gold title first as in their `is_in_search`; `target_found.exact` the share by equal title or identifier. `actions`
    is the mean number of actions, the selection included; `reads_failed` is the share, among excerpts in which a paper
    was to be read, in which one could not be. Undefined without a search. Source: CiteME (arXiv 2407.12861, section
    5.1 and appendix F), and the authors' code.
    """

    name = "paper_search"
    counts_failures = True
    aggregates: tuple[Aggregate, ...] = tuple(
        mean_of(column, limits=AMOUNT if column == "actions" else FRACTION)
        for column in (
            TECHNICAL,
            *(f"{TECHNICAL}.{kind}" for kind in TECHNICAL_ERRORS),
            *NO_CHOICE,
            *("actions", "target_found", "target_found.exact", "reads_failed"),
        )
    )

    def __init__(self, convention: Convention = "strict") -> None:
        self._convention = convention

    def row(self, prediction: Prediction, example: Example) -> Row:
        """1 or 0 for each share, and the number of actions."""
        search = prediction.paper_search
        if example.task != "name_paper":
            return {}
        outcome = search_outcome(prediction)
        row: dict[str, float | None] = {TECHNICAL: float(outcome in TECHNICAL_ERRORS)}
        row |= {f"{TECHNICAL}.{kind}": float(outcome == kind) for kind in TECHNICAL_ERRORS}
        if search is None or (prediction.error is not None and self._convention == "strict"):
            return row
        row |= {kind: float(outcome == kind) for kind in NO_CHOICE}
        overlooked = search.technical or (self._convention == "published" and outcome != "selected")
        if search.found is not None:
            row["target_found"] = float(search.found and not overlooked)
        if search.steps:
            row["actions"] = float(len(search.steps))
            shown = [] if overlooked else list(search.shown())
            row |= {
                "target_found": _found_by_ratio(shown, example),
                "target_found.exact": _found_exactly(shown, example),
            }
        reads = [step for step in search.steps if step.action == "read"]
        if reads:
            row["reads_failed"] = float(any(step.problem for step in reads))
        return row


def search_outcome(prediction: Prediction) -> SearchOutcome:
    """How the search for a paper ended; without a search, an error is the endpoint's."""
    if prediction.paper_search is not None:
        return prediction.paper_search.outcome
    return "selected" if prediction.error is None else "endpoint"


def _gold_titles(example: Example) -> tuple[str, ...]:
    first = example.reference.short_answer
    return (*(() if first is None else (first,)), *example.reference.alternatives)


def _found_by_ratio(papers: Iterable[NamedPaper], example: Example) -> float:
    titles = {paper.title for paper in papers}
    return float(any(ratio(gold, title) > MIN_RATIO for gold in _gold_titles(example) for title in titles))


def _found_exactly(papers: Iterable[NamedPaper], example: Example) -> float:
    titles, known = {letters(title) for title in _gold_titles(example)}, gold_identifiers(example)
    return float(
        any(
            letters(paper.title) in titles or any(same_paper(gold, paper.identifiers) for gold in known)
            for paper in papers
        )
    )
