"""Notes on figures: on long answers, boxes that could not be used, rankings, named papers, and missing judgements."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

from quoteweave.core.examples import TECHNICAL_ERRORS, Example, Prediction, Reference, unusable_boxes_note
from quoteweave.core.files.jsonl import is_truncated
from quoteweave.core.messages import join_names, pluralize
from quoteweave.core.runs import PREDICTIONS_FILE
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict
from quoteweave.evaluation.judges.judgements import ASPECTS, ATTRIBUTION, Judgement, is_malformed
from quoteweave.evaluation.metrics.answers.paper_search import NO_CHOICE, search_outcome
from quoteweave.evaluation.metrics.citations.citevqa import (
    EXCHANGED,
    LACKING_GOLD,
    UNREAD_GOLD,
    UNREAD_TAGS,
    UNUSABLE_BOXES,
    UNUSABLE_GOLD,
)
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.scoring.scorer import only_whole_pages
from quoteweave.evaluation.scoring.scores import ScoredQuestion, Scores
from quoteweave.evaluation.statistics.aggregates import half_up
from quoteweave.evaluation.statistics.intervals import Estimate, few_clusters
from quoteweave.evaluation.text.responses import MarkGrammar, scored_text, without_marks

_LONG_ANSWER_FACTOR = 5
"""If answers are this many times as long as gold, word overlap is limited far below 1: token F1 to at most 2/6."""
_MIN_CORRELATION = 0.1
_MIN_QUESTIONS = 300
"""A correlation over so many questions is known to about 0.1. Of eight published runs over MMDocRAG that cite, five
have 0.32 to 0.40, and three, whose judgements do not belong to the questions beside them, -0.03 to 0.00."""
WORD_FIGURES = ("bleu", "rouge_l.f1")
"""Figures that the published convention does not compute for datasets with short gold answers."""
_TO_SHORT_GOLD = ("exact_match", "token_f1")


def answer_notes(
    scores: Scores, examples: Sequence[Example], predictions: Sequence[Prediction], marks: MarkGrammar
) -> list[str]:
    """Sentences on what `bleu`, `rouge_l`, `exact_match` and `token_f1` leave out, or cannot show for these answers."""
    notes = []
    if scores.not_answered:
        how = (
            "are compared with gold all the same" if scores.convention == "published" else "are not compared with gold"
        )
        abstaining = pluralize(scores.not_answered, "answer says", "answers say")
        notes.append(
            f"{abstaining} that the documents do not tell (abstained or located); the words of such answers {how}, by "
            "BLEU, ROUGE, exact match, token F1 and str_em"
        )
    notes += _judged_other_answers(scores.figures.get("correlation.judge.average"))
    references = {example.id: example.reference for example in examples}
    answers = [
        (text, references[prediction.example])
        for prediction in predictions
        if (text := scored_text(prediction, marks)) is not None and prediction.example in references
    ]
    long = [(text, reference.answer or reference.short_answer) for text, reference in answers]
    short = [(text, _short_gold(reference)) for text, reference in answers]
    return [
        *notes,
        *_much_longer(scores.figures, WORD_FIGURES, long),
        *_much_longer(scores.figures, _TO_SHORT_GOLD, short),
    ]


def _judged_other_answers(r: Estimate | None) -> list[str]:
    if r is None or r.value is None or r.n < _MIN_QUESTIONS or abs(r.value) >= _MIN_CORRELATION:
        return []
    return [
        f"the judge's scores do not go with what the answers cite: r = {half_up(r.value, 2)} between judge.average and "
        f"overall.f1 over {r.n} questions, where 0.3 to 0.4 is common; make sure that the judgements are of these "
        "answers, question by question, before you break them down or compare them"
    ]


def _short_gold(reference: Reference) -> str | None:
    return reference.answer if reference.short_answer is None else reference.short_answer


def _much_longer(
    figures: Mapping[str, Estimate], names: Sequence[str], pairs: Sequence[tuple[str, str | None]]
) -> list[str]:
    shown = [name for name in names if name in figures]
    lengths = [(len(text.split()), len(without_marks(gold).split())) for text, gold in pairs if gold]
    if not shown or not lengths:
        return []
    ours, theirs = (median(column) for column in zip(*lengths, strict=True))
    if ours < _LONG_ANSWER_FACTOR * theirs:
        return []
    return [
        f"{' and '.join(shown)} compare answers of {ours:.0f} words (median) with gold of {theirs:.0f}: they are low "
        "whatever the answers say"
    ]


_MAX_SHOWN = 3
PARSER_CEILING = "citevqa.ceiling.parser"


def box_notes(scores: Scores, examples: Sequence[Example]) -> list[str]:
    """A sentence for each kind of box that could not be used, with their number and questions; none is omitted."""
    if "citevqa.recall" not in scores.figures:
        return []
    published = scores.convention == "published"
    left_out = "they count, and those outside the page alone can be met" if published else "left out"
    wrong = "not checked, and those outside the page alone can meet gold" if published else "they meet nothing"
    gold, cited = ("gold box", "gold boxes"), ("cited box", "cited boxes")
    counted = "they count" if published else "left out"
    nowhere = "on pages without quotes or in documents that the collection lacks: they count, and no quote meets them"
    unusable = f"reversed, without area, outside the page or in no document of the question: {wrong}"
    faults = {
        UNUSABLE_GOLD: (*gold, f"reversed, without area or outside the page: {left_out}"),
        LACKING_GOLD: (*gold, f"on pages that the document lacks: {counted}"),
        UNREAD_GOLD: (*gold, nowhere),
        UNUSABLE_BOXES: (*cited, unusable),
        UNREAD_TAGS: ("tag", "tags", "in answers that begin as a box and are none: not read"),
    }
    notes = [_count_note(scores.questions, column, *words) for column, words in faults.items()]
    notes.append(_exchanged_note(scores.questions))
    if any(example.reference.y_first for example in examples):
        notes.append("boxes are read y first (y1, x1, y2, x2), as most gold boxes would else be taller than wide")
    if published:
        notes.append("citevqa.page_recall is undefined: the authors' script finds no page in any answer")
    return [note for note in notes if note]


def _exchanged_note(questions: Sequence[ScoredQuestion]) -> str:
    """A warning if quotes meet more of the gold when x and y of its boxes are exchanged."""
    pairs = [(question.row.get(PARSER_CEILING), question.row.get(EXCHANGED)) for question in questions]
    known = [(ceiling, exchanged) for ceiling, exchanged in pairs if ceiling is not None and exchanged is not None]
    ceiling, exchanged = (sum(column) / len(known) for column in zip(*known, strict=True)) if known else (0.0, 0.0)
    if exchanged <= ceiling:
        return ""
    return (
        f"quotes meet {ceiling:.4f} of the gold, and would meet {exchanged:.4f} with x and y exchanged: its boxes "
        "seem to be written in the other order, and then no ceiling or recall of a run over a collection is right"
    )


def _count_note(questions: Sequence[ScoredQuestion], column: str, singular: str, plural: str, fault: str) -> str:
    """How many boxes have the fault, over all questions, and in which questions; empty if none has it."""
    counts = {question.example: int(count) for question in questions if (count := question.row.get(column))}
    if not counts:
        return ""
    shown = ", ".join(repr(name) for name in list(counts)[:_MAX_SHOWN])
    boxes = pluralize(sum(counts.values()), singular, plural)
    return f"{boxes} {fault} ({shown}{', …' if len(counts) > _MAX_SHOWN else ''})"


WHOLE_PAGES = "all that was found are whole pages, so that boxes are not scored"


def ranking_notes(examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[str]:
    """Sentences on boxes that are not used for scoring rankings; empty if nothing was ranked."""
    if not any(prediction.hits for prediction in predictions):
        return []
    if only_whole_pages(predictions):
        return [WHOLE_PAGES]
    note = unusable_boxes_note(examples)
    return [note] if note else []


PUBLISHED_EXCERPTS = 119
"""Every per cent in CiteME's Tables 4, 5 and 8 is a multiple of 1/119, though its text counts 130 excerpts."""


def search_notes(examples: Sequence[Example], predictions: Sequence[Prediction], convention: Convention) -> list[str]:
    """Notes on tasks to name papers; empty for other tasks."""
    excerpts = {example.id for example in examples if example.task == "name_paper"}
    if not excerpts:
        return []
    tally = Counter(search_outcome(prediction) for prediction in predictions if prediction.example in excerpts)
    notes = []
    broken = {kind: tally[kind] for kind in TECHNICAL_ERRORS if tally[kind]}
    if broken:
        kinds = ", ".join(f"{count} {kind}" for kind, count in broken.items())
        counted = "counted as wrong, as the authors' code does" if convention == "published" else "left out, not wrong"
        notes.append(f"{pluralize(sum(broken.values()), 'technical error')} ({kinds}), {counted}")
    silent = {kind: tally[kind] for kind in NO_CHOICE if tally[kind]}
    if silent:
        kinds = ", ".join(f"{count} {kind}" for kind, count in silent.items())
        notes.append(
            f"{pluralize(sum(silent.values()), 'excerpt')} without a paper selected ({kinds}), counted as wrong"
        )
    if len(excerpts) != PUBLISHED_EXCERPTS:
        notes.append(
            f"this file has {pluralize(len(excerpts), 'excerpt')}; published figures are of {PUBLISHED_EXCERPTS}, and "
            "of which is not told"
        )
    return notes


def cluster_notes(scores: Scores) -> list[str]:
    """Notes that documents are few, and that those of some questions are not known; empty without intervals."""
    numbers = {
        name: estimate.clusters
        for name, estimate in scores.figures.items()
        if estimate.bounds and estimate.clusters is not None
    }
    warning = few_clusters(numbers, scores.clusters)
    notes = [warning] if warning else []
    alone = sum(question.cluster == question.example for question in scores.questions)
    if numbers and alone and scores.clusters == "document":
        of_none = "of no known document, and"
        notes.append(
            pluralize(alone, f"question is {of_none} counts as one", f"questions are {of_none} count as one each")
        )
    return notes


def figure_notes(scores: Scores, by: Sequence[str]) -> list[str]:
    """Notes on few documents, on which of two figures called F1 was published, and on breakdowns without groups."""
    notes = cluster_notes(scores)
    overall, kinds = (scores.figures.get(name) for name in ("overall.f1", "overall.mean_of_kinds_f1.pooled"))
    if overall and kinds and overall.value is not None and kinds.value is not None:
        notes.append(
            f"overall.f1 ({overall.value:.4f}) is the mean over questions of the F1 on the union of image and text "
            "quotes, as MMDocRAG published it; its section 4.1 describes the mean of the image and the text F1, "
            f"overall.mean_of_kinds_f1.pooled ({kinds.value:.4f})"
        )
    notes += [
        f"nothing is broken down by {name}: the dataset, or this file of it, does not tell it of any question"
        for name in by
        if name not in scores.breakdowns
    ]
    return notes


def missing_verdict_notes(path: Path, judged: Container[str], predictions: Sequence[Prediction]) -> list[str]:
    """A note on how many answers lack a verdict in a file, because its judge was stopped or the file was cut short."""
    answered = [
        prediction.example for prediction in predictions if prediction.error is None and prediction.response is not None
    ]
    missing = sum(example not in judged for example in answered)
    answers = f"{missing} of {pluralize(len(answered), 'answer')}"
    return [f"{path} has no judgement of {answers}, left out of its figures"] if missing else []


def stale_verdicts_note(count: int) -> str:
    """How many verdicts are on other answers than those of the run."""
    return f"{pluralize(count, 'verdict')} on sentences of other answers than these, left out"


def failed_verdict_notes(verdicts: Collection[EvidenceVerdict], convention: Convention) -> list[str]:
    """A note on verdicts without a score, and on answers that were not split into sentences."""
    failed = sum(grade.score is None for verdict in verdicts for grade in verdict.grades())
    unsplit = sum(verdict.sentences is None for verdict in verdicts)
    if not (failed or unsplit):
        return []
    problems = [f"{pluralize(failed, 'judgement')} failed or off the scale"] if failed else []
    problems += [pluralize(unsplit, "answer was", "answers were") + " not split into sentences"] if unsplit else []
    how = "undefined for these answers; a figure that no answer has is not listed"
    if convention == "published":
        how = "as the authors' scripts have them"
    return [f"{join_names(problems)}: figures of what is cited, and of accuracy, are {how}"]


def judgement_notes(judgements: Iterable[Judgement], convention: Convention, *, of_boxes: bool) -> list[str]:
    """A note on malformed judgements, which are those of boxes or by MMDocRAG's criteria."""
    wanted = ATTRIBUTION if of_boxes else tuple(ASPECTS.values())
    broken = sum(is_malformed(judgement, wanted) for judgement in judgements)
    if not broken:
        return []
    if of_boxes:
        how = "such scores are undefined"
    else:
        how = "what is missing counts 0, what is off the scale as it is" if convention == "published" else "left out"
    return [f"{pluralize(broken, 'malformed judgement')} (a score missing, misnamed or out of range): {how}"]


def truncation_note(run: Path) -> str:
    """A note on a run that was stopped while it wrote a line; empty for any other run."""
    path = run / PREDICTIONS_FILE
    if not (path.is_file() and is_truncated(path)):
        return ""
    return f"the last line of {path} was cut short and is not counted; resume the run to have it answered"
