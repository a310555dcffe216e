"""ALCE (Gao et al., EMNLP 2023, arXiv 2305.14627): questions with retrieved passages, to be answered with citations.

The passages of a question are numbered from 1, as answers cite them, and are the example's quotes under the ids `1`,
`2`…. A result file of the authors' code contains the same, reduced to the passages that were shown, and the answer as
`output`.
"""

from collections.abc import Iterator
from pathlib import Path

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction, Reference
from quoteweave.core.records import UNKNOWN_LABEL, Hit, Query, Quote
from quoteweave.evaluation.datasets.mmdocrag import NOWHERE
from quoteweave.evaluation.datasets.rows import FileRecord, iter_items


class _Passage(FileRecord):
    text: str
    title: str | None = None


class _Pair(FileRecord):
    short_answers: tuple[str, ...] = ()


class _Annotation(FileRecord):
    long_answer: str | None = None


class AlceLine(FileRecord):
    """One question and, in a result file, its answer."""

    question: str
    docs: tuple[_Passage, ...]
    sample_id: str | None = None
    id: str | None = None
    answer: str | None = None
    qa_pairs: tuple[_Pair, ...] | None = None
    annotations: tuple[_Annotation, ...] | None = None
    claims: tuple[str, ...] | None = None
    output: str | tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """`sample_id` or `id`, else the question itself, which is the same in data and result files."""
        return self.sample_id or self.id or self.question

    @property
    def context(self) -> Context:
        """The passages. A quote's text begins with the passage's title, if any: authors and judges read both."""
        return Context(texts=tuple(_hit(rank, passage) for rank, passage in enumerate(self.docs, start=1)))


def load_alce(path: Path) -> list[Example]:
    """The questions of a data or result file, in its order; a JSON list, or one object per line, `.gz` or not.

    The gold answer is `answer`; the short answer is the first of `qa_pairs` if there is only one pair. For ALCE's own
    metrics there are also the short answers of all pairs, the long answers of `annotations`, or else `answer`, and
    `claims`. The files do not say which passages are gold. Raises DatasetError, naming file, place and field, for
    unreadable and for repeated questions.
    """
    return [_example(line) for _, line in iter_alce(path)]


def iter_alce(path: Path) -> Iterator[tuple[str, AlceLine]]:
    """Place and content of each question, which must not repeat. Raises DatasetError as `load_alce`."""
    first_places: dict[str, str] = {}
    for place, line in iter_items(path, AlceLine):
        first = first_places.setdefault(line.name, place)
        if first != place:
            field = "sample_id" if line.sample_id else "id" if line.id else "question"
            raise DatasetError(f"{path}, {place}, {field}: {line.name!r} is {first} already")
        yield place, line


def _example(line: AlceLine) -> Example:
    pairs = line.qa_pairs or ()
    short = pairs[0].short_answers if len(pairs) == 1 else ()
    return Example(
        id=line.name,
        query=Query(text=line.question),
        context=line.context,
        reference=Reference(
            answer=line.answer,
            short_answer=short[0] if short else None,
            short_answers=tuple(pair.short_answers for pair in pairs),
            long_answers=_long_answers(line),
            claims=line.claims or (),
        ),
    )


def _long_answers(line: AlceLine) -> tuple[str, ...]:
    """The first two annotations (ASQA), with which the authors' code compares, or else the answer."""
    annotated = [annotation.long_answer for annotation in line.annotations or () if annotation.long_answer is not None][
        :2
    ]
    return tuple(annotated) or ((line.answer,) if line.answer else ())


def _hit(rank: int, passage: _Passage) -> Hit:
    quote = Quote(
        id=str(rank),
        document=passage.title or "",
        page=0,
        page_label=UNKNOWN_LABEL,
        bbox=NOWHERE,
        kind="text",
        layout="paragraph",
        text="\n".join(part for part in (passage.title, passage.text) if part),
    )
    return Hit(rank=rank, score=1 / rank, quote=quote)


def load_alce_outputs(path: Path) -> list[Prediction]:
    """One prediction per question, over the passages that the file lists.

    Raises DatasetError, naming file, place and field, for unreadable content and for several answers to a question.
    """
    return [_alce_prediction(line, f"{path}, {place}") for place, line in iter_alce(path)]


def _alce_prediction(line: AlceLine, where: str) -> Prediction:
    if isinstance(line.output, tuple):
        raise DatasetError(f"{where}, output: {len(line.output)} answers to one question; keep one in each file")
    failed = "no response" if line.output is None else None
    return Prediction(example=line.name, scope="context", context=line.context, response=line.output, error=failed)
