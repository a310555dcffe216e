"""Asks the generator without a model questions, and measures its answers: a row for each question."""

import json
import re
import time
from ast import literal_eval
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import mmdocir
from pydantic import BaseModel, ConfigDict, TypeAdapter

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import C15, Answer, Context
from quoteweave.core.boxes import iou
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.records import Filter, Query
from quoteweave.core.text.marks import parse_marks
from quoteweave.evaluation.datasets.mmdocir import load_mmdocir
from quoteweave.evaluation.datasets.mmlongbench import SAMPLES, load_mmlongbench
from quoteweave.evaluation.metrics.answers.mmlongbench import MMLongBench
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.search import Search
from quoteweave.retrievers.make_retriever import make_fused

MET = 0.5
"""Least intersection over union of a cited quote and a gold box for the box to count as cited."""
MMLONGBENCH, MMDOCIR = "mmlongbench", "mmdocir"

_SOURCES = re.compile(r"^This is from .*", re.MULTILINE)
_LABEL = re.compile(
    r"\b(?:pages?|slides?|fig(?:ure)?s?|tables?|charts?|sections?|chapters?)\.? ?#?\d[\d.]*"
    r"(?:\s*(?:, ?and\b|,|and\b|[–-])\s*\d[\d.]*)*|\(\d+ in the file\)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_]+(?:[.,'][^\W_]+)*")


class AnswerRow(BaseModel):
    """One question and its answer. A figure is None where it is not defined for the question."""

    model_config = ConfigDict(frozen=True)

    example: str
    document: str
    set: str
    answer_format: str
    """The set's format of the gold answer: `none` if the document does not answer; "" if the set gives no formats."""
    evidence_types: tuple[str, ...]
    status: str
    gold_page: float | None
    """1 where any citation is on a gold page; 0 where the set names no page for a question that can be answered."""
    gold_box: float | None
    """1 where any cited quote meets a gold box (`MET`); quotes of whole pages do not count."""
    said: float | None
    """1 where the gold answer stands in the words of the answer (`says`); 0 for an answer that abstains."""
    rule: float | None
    """The score of MMLongBench-Doc's own rule for the short answer extracted from it; 0 unless `answered`."""
    words: int
    """Words of the whole text, marks included, as separated by white space."""
    places: int
    """The number of different quotes that are cited."""
    pages: int
    seconds: float
    """Seconds from the context to the answer, without the search."""

    @property
    def answerable(self) -> bool:
        """Whether the document answers it."""
        return self.answer_format != "none"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the set that it comes from, and what the search found for it."""

    set: str
    example: Example
    context: Context


def examples() -> list[tuple[str, Example]]:
    """MMLongBench-Doc's questions and MMDocIR's, with the names of their sets; ends the script if one is missing."""
    folder = mmdocir()
    samples = folder.parent / MMLONGBENCH
    if not (samples / SAMPLES).is_file():
        raise SystemExit(f"This benchmark needs mmlongbench/{SAMPLES} beside mmdocir/; see benchmarks/README.md")
    dataset_examples = [(MMLONGBENCH, example) for example in load_mmlongbench(samples)]
    return dataset_examples + [(MMDOCIR, example) for example in load_mmdocir(folder)]


def search_of(collection: Collection) -> Search:
    """The search of `quoteweave ask` with default settings."""
    return Search(make_fused(["lexical"], None, collection), collection=collection)


def found_for(search: Search, question: str, document: str | None) -> Context:
    """The context for a question, as `Rag` builds it, from one document or from the whole collection."""
    where = None if document is None else Filter(documents=(document,))
    return run_sync(search.context(Query(text=question), C15, where=where)).context


def asked_within(collection: Collection, questions: Sequence[tuple[str, Example]]) -> list[Asked]:
    """Each question with what is found within its document. Ends the script if a document is missing."""
    search, names = search_of(collection), {document.name for document in collection.documents()}
    if lacking := sorted({example.document or "" for _, example in questions} - names):
        raise SystemExit(f"the collection lacks {len(lacking)} documents, such as {lacking[0]}")
    return [
        Asked(name, example, found_for(search, example.query.text, example.document)) for name, example in questions
    ]


def answer_rows(asked: Sequence[Asked], generator: ExtractiveGenerator) -> Iterator[AnswerRow]:
    """The row of each question, in order."""
    metric = MMLongBench("own")
    for question in asked:
        start = time.perf_counter()
        answer = run_sync(generator.answer(question.example.query, question.context))
        yield _row(question, answer, time.perf_counter() - start, metric)


def read_rows(path: Path) -> list[AnswerRow]:
    """The rows that `answers.py --json` printed. Ends the script where they cannot be read."""
    try:
        return TypeAdapter(list[AnswerRow]).validate_python(json.loads(path.read_text("utf-8"))["rows"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} is not what this script prints with --json: {type(error).__name__}") from error


def says(text: str, gold: str, answer_format: str) -> bool:
    """Whether the words of an answer contain the gold answer as whole tokens; for a list, each of its items.

    Marks are ignored, as are summaries of images, the closing sentence that names pages, and labels such as "Table 2"
    and "page 12 (14 in the file)", whose numbers are no answer. So are case, and commas in numbers.
    """
    answer_tokens = _tokens(_LABEL.sub(" ", _SOURCES.sub(" ", without_marks(text))))
    items = _items(gold) if answer_format == "list" else [gold]
    return all(_holds(answer_tokens, _tokens(item)) for item in items)


def _row(asked: Asked, answer: Answer, seconds: float, metric: MMLongBench) -> AnswerRow:
    example, gold = asked.example, asked.example.reference
    short, cited = gold.short_answer, {(citation.kind, citation.number): citation for citation in answer.citations}
    scored = metric.row(Prediction(example=example.id, response=answer.text, answer=answer), example)
    return AnswerRow(
        example=example.id,
        document=example.document or "",
        set=asked.set,
        answer_format=gold.answer_format or "",
        evidence_types=example.evidence_types or ("not said",),
        status=answer.status,
        gold_page=float(any(citation.page in gold.pages for citation in answer.citations))
        if gold.answer_format != "none"
        else None,
        gold_box=float(_meets_box(asked, answer)) if gold.boxes else None,
        said=None if short is None else float(_says(answer, short, gold.answer_format or "")),
        rule=None if short is None else scored["mmlongbench.score"],
        words=len(answer.text.split()),
        places=len(cited),
        pages=len({(citation.document, citation.page) for citation in answer.citations}),
        seconds=seconds,
    )


def _says(answer: Answer, gold: str, answer_format: str) -> bool:
    return answer.status != "abstained" and says(answer.text, gold, answer_format)


def _meets_box(asked: Asked, answer: Answer) -> bool:
    quotes = [asked.context.quote(citation.kind, citation.number) for citation in answer.citations]
    return any(
        box.page == quote.page and iou(box.bbox, quote.bbox) >= MET
        for quote in quotes
        if quote is not None and quote.layout != "page"
        for box in asked.example.reference.boxes
    )


def without_marks(text: str) -> str:
    """The text of an answer without its marks."""
    parts, end = [], 0
    for mark in parse_marks(text):
        parts.append(text[end : mark.start])
        end = mark.end
    return " ".join([*parts, text[end:]])


def _items(gold: str) -> list[str]:
    try:
        value = literal_eval(gold)
    except (ValueError, SyntaxError):
        return [gold]
    return [str(item) for item in value] if isinstance(value, list) else [gold]


def _tokens(text: str) -> list[str]:
    return [match[0].casefold().replace(",", "") for match in _TOKEN.finditer(text)]


def _holds(answer_tokens: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return size > 0 and any(answer_tokens[at : at + size] == wanted for at in range(len(answer_tokens) - size + 1))
