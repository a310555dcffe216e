"""Notes on scored boxes: which boxes could not be used, and in which order their edges were read."""

from collections.abc import Callable, Sequence

from quoteweave.core.examples import Example
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.metrics.citations.citevqa import (
    EXCHANGED,
    LACKING_GOLD,
    UNREAD_GOLD,
    UNREAD_TAGS,
    UNUSABLE_BOXES,
    UNUSABLE_GOLD,
)
from quoteweave.evaluation.scoring.scores import ScoredQuestion, Scores

_SHOWN = 3
PARSER = "citevqa.ceiling.parser"


def box_notes(scores: Scores, examples: Sequence[Example]) -> list[str]:
    """A sentence for each sort of box that could not be used, with how many and in which questions; none is silent."""
    if "citevqa.recall" not in scores.figures:
        return []
    published = scores.convention == "published"
    left_out = "they count, and those outside the page alone can be met" if published else "left out"
    wrong = "not checked, and those outside the page alone can meet gold" if published else "they meet nothing"
    notes = [
        _told(scores.questions, UNUSABLE_GOLD, lambda n: f"{pluralize(n, 'gold box', 'gold boxes')} reversed, without "
              f"area or outside the page: {left_out}"),
        _told(scores.questions, LACKING_GOLD, lambda n: f"{pluralize(n, 'gold box', 'gold boxes')} on pages that the "
              f"document lacks: {'they count' if published else 'left out'}"),
        _told(scores.questions, UNREAD_GOLD, lambda n: f"{pluralize(n, 'gold box', 'gold boxes')} on pages without "
              "quotes or in documents that the collection lacks: they count, and no quote meets them"),
        _told(scores.questions, UNUSABLE_BOXES, lambda n: f"{pluralize(n, 'cited box', 'cited boxes')} reversed, "
              f"without area, outside the page or in no document of the question: {wrong}"),
        _told(scores.questions, UNREAD_TAGS, lambda n: f"{pluralize(n, 'tag')} in answers that begin as a box and are "
              "none: not read"),
    ]  # fmt: skip
    notes.append(_exchanged(scores.questions))
    if any(example.reference.y_first for example in examples):
        notes.append("boxes are read y first (y1, x1, y2, x2), as most gold boxes would else be taller than wide")
    if published:
        notes.append("citevqa.page_recall is undefined: the authors' script finds no page in any answer")
    return [note for note in notes if note]


def _exchanged(questions: Sequence[ScoredQuestion]) -> str:
    """A warning where quotes meet more of the gold if x and y of its boxes are exchanged."""
    pairs = [(one.row.get(PARSER), one.row.get(EXCHANGED)) for one in questions]
    known = [(here, there) for here, there in pairs if here is not None and there is not None]
    here, there = (sum(column) / len(known) for column in zip(*known, strict=True)) if known else (0.0, 0.0)
    if there <= here:
        return ""
    return (
        f"quotes meet {here:.4f} of the gold, and would meet {there:.4f} with x and y exchanged: its boxes seem to be "
        "written in the other order, and then no ceiling or recall of a run over a collection is right"
    )


def _told(questions: Sequence[ScoredQuestion], column: str, say: Callable[[int], str]) -> str:
    counts = {one.example: int(count) for one in questions if (count := one.row.get(column))}
    if not counts:
        return ""
    shown = ", ".join(repr(name) for name in list(counts)[:_SHOWN])
    return f"{say(sum(counts.values()))} ({shown}{', …' if len(counts) > _SHOWN else ''})"
