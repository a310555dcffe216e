"""A search for a paper in words, as judges and people read it."""

from quoteweave.core.paper_search import PaperSearch, SearchStep

LONGEST = 600
"""Characters of a rationale, a query or a title."""
MOST_PAPERS = 10
"""Titles of one step."""


def describe_search(search: PaperSearch) -> str:
    """Each step with its rationale and the titles that it showed, and how it ended.

    >>> step = SearchStep(action="search_relevance", argument="blur", rationale="It is on blur.")
    >>> print(describe_search(PaperSearch(outcome="no_selection", steps=(step,))))
    1. search_relevance: blur
       rationale: It is on blur.
       showed: nothing
    ended: no_selection
    """
    lines = [line for number, step in enumerate(search.steps, start=1) for line in _step(number, step)]
    chosen = "" if search.selected is None else f": {_line(search.selected.title)}"
    return "\n".join([*lines, f"ended: {search.outcome}{chosen}"])


def _step(number: int, step: SearchStep) -> list[str]:
    lines = [f"{number}. {step.action}: {_line(step.argument)}"]
    if step.rationale:
        lines.append(f"   rationale: {_line(step.rationale)}")
    if step.problem is not None:
        lines.append(f"   problem: {step.problem}")
    elif step.action.startswith("search"):
        titles = [f"   showed: {_line(paper.title)}" for paper in step.papers[:MOST_PAPERS]]
        more = len(step.papers) - MOST_PAPERS
        lines += titles or ["   showed: nothing"]
        lines += [f"   and {more} more"] if more > 0 else []
    else:
        lines += [f"   paper: {_line(paper.title)}" for paper in step.papers]
    return lines


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
