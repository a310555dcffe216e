"""Read and write answers in the format of TREC's RAG track, one JSON object per line.

    2024   run_id, topic_id, topic, references, response_length, answer
    2025   metadata (team_id, run_id, type, narrative_id, narrative, optionally prompt), references, answer

`references` are ids, at most 20 in 2024 and 100 in 2025; `answer` is a list of `{text, citations}`, one for each
sentence, and citations are positions in `references`, from 0; in 2025 they may be its ids instead. Answers have at most
400 words. The format does not tell kinds: references with ids like those of MMDocRAG's image quotes (`image1`) are
images, all others texts.

Source: the guidelines of the track, trec-rag.github.io, of July 19, 2024 and of July 28, 2025 (version 2.0).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import UNKNOWN_LABEL, Hit, Quote
from quoteweave.evaluation.datasets.mmdocrag import NOWHERE
from quoteweave.evaluation.datasets.rows import FileRecord
from quoteweave.evaluation.metrics.citations.cited_claims import context_of
from quoteweave.evaluation.text.claims import MarkedSentence, SentenceSplitter, marked_sentences

Year = Literal[2024, 2025]
MAX_REFERENCES: dict[Year, int] = {2024: 20, 2025: 100}
MAX_WORDS = 400
_IMAGE = lazy_regex(r"image[1-9][0-9]*")
_END = lazy_regex(r"([.!?…。]*)\s*\Z")


class _Sentence(FileRecord):
    # Positions are whole numbers, and ids are strings; they are not converted into each other.
    model_config = ConfigDict(coerce_numbers_to_str=False)

    text: str
    citations: tuple[int | str, ...] = ()


class _Metadata(FileRecord):
    narrative_id: str
    run_id: str | None = None


class _Answered(FileRecord):
    metadata: _Metadata | None = None
    topic_id: str | None = None
    run_id: str | None = None
    references: tuple[str, ...]
    response_length: int | None = Field(default=None, ge=0)
    answer: tuple[_Sentence, ...]


def load_trec_rag(path: Path) -> list[Prediction]:
    """One prediction per topic: its references are the context, as ids without words, and its citations marks.

    Marks are `[n]`, and for images `![](imagen)`; n counts the references of the kind. A mark stands before the full
    stop of its sentence. Notes say where `response_length` differs from the actual number of words.

    Raises DatasetError, naming file, line and field, for unreadable content, a repeated topic or reference, more
    references than the track allows, and a citation that is not among them.
    """
    predictions: dict[str, Prediction] = {}
    for number, line in iter_records(path, _Answered):
        where = f"{path}, line {number}"
        topic = line.topic_id if line.metadata is None else line.metadata.narrative_id
        if topic is None:
            raise DatasetError(f"{where}: neither topic_id (2024) nor metadata.narrative_id (2025)")
        if topic in predictions:
            raise DatasetError(f"{where}: topic {topic!r} is answered already")
        predictions[topic] = _prediction(line, topic, where)
    return list(predictions.values())


def _prediction(line: _Answered, topic: str, where: str) -> Prediction:
    most = MAX_REFERENCES[2024 if line.metadata is None else 2025]
    if len(line.references) > most:
        raise DatasetError(f"{where}, references: {len(line.references)}, where the track allows {most}")
    if len(set(line.references)) < len(line.references):
        twice = next(reference for reference in line.references if line.references.count(reference) > 1)
        raise DatasetError(f"{where}, references: {twice!r} comes twice")
    sentences = [
        _marked(sentence, line.references, f"{where}, answer.{position}")
        for position, sentence in enumerate(line.answer)
    ]
    words = sum(len(sentence.text.split()) for sentence in line.answer)
    length = line.response_length
    hits = [_hit(rank, reference) for rank, reference in enumerate(line.references, start=1)]
    return Prediction(
        example=topic,
        scope="context",
        context=Context(
            texts=tuple(hit for hit in hits if hit.quote.kind == "text"),
            images=tuple(hit for hit in hits if hit.quote.kind == "image"),
        ),
        response=" ".join(sentences),
        model=line.run_id if line.metadata is None else line.metadata.run_id,
        notes=() if length in (None, words) else (f"response_length says {length} words, the answer has {words}",),
    )


def _marked(sentence: _Sentence, references: Sequence[str], where: str) -> str:
    """The sentence with marks."""
    places = [_reference_position(citation, references, f"{where}.citations") for citation in sentence.citations]
    marks = "".join(_mark(place, references) for place in dict.fromkeys(places))
    text = sentence.text.strip()
    end = _END.search(text)
    split = end.start() if end else len(text)
    return f"{text[:split].rstrip()} {marks}{text[split:]}" if marks else text


def _mark(place: int, references: Sequence[str]) -> str:
    """The mark of a reference, whose number counts the references of its kind."""
    is_image = _is_image(references[place])
    number = sum(_is_image(reference) == is_image for reference in references[: place + 1])
    return f"![](image{number})" if is_image else f"[{number}]"


def _is_image(reference: str) -> bool:
    return _IMAGE.fullmatch(reference) is not None


def _reference_position(citation: int | str, references: Sequence[str], where: str) -> int:
    if isinstance(citation, str):
        if citation not in references:
            raise DatasetError(f"{where}: {citation!r} is not among the references")
        return references.index(citation)
    if not 0 <= citation < len(references):
        raise DatasetError(f"{where}: {citation} is no place among {len(references)} references, counted from 0")
    return citation


def _hit(rank: int, reference: str) -> Hit:
    quote = Quote(
        id=reference,
        document=reference,
        page=0,
        page_label=UNKNOWN_LABEL,
        bbox=NOWHERE,
        kind="image" if _is_image(reference) else "text",
        layout="figure" if _is_image(reference) else "paragraph",
    )
    return Hit(rank=rank, score=1 / rank, quote=quote)


@dataclass(frozen=True, slots=True)
class TrecRagTag:
    """The tags that the track requires, which say who answered."""

    run: str
    team: str = ""
    """Only for 2025."""
    year: Year = 2025


@dataclass(frozen=True, slots=True)
class TrecRagAnswers:
    """The lines of a file, and counts of what is left out."""

    lines: tuple[str, ...]
    failed: int
    """How many questions have no line because their predictions are errors."""
    out_of_range: int
    """How many marks are left out because they name no quote of the context."""
    dropped: int
    """How many quotes that no sentence cites are left out because the context has more than the track allows."""
    long: int
    """How many answers have more than `MAX_WORDS` words; they are written all the same."""


def trec_rag_answers(
    examples: Sequence[Example], predictions: Sequence[Prediction], split_sentences: SentenceSplitter, tag: TrecRagTag
) -> TrecRagAnswers:
    """Each answer as a line: its context's quotes by id, texts first, and its sentences with their citations.

    Raises DatasetError for a prediction without a context, and for answers that cite more quotes than the track allows.
    """
    examples_by_id = {example.id: example for example in examples}
    answered = [
        prediction for prediction in predictions if prediction.error is None and prediction.response is not None
    ]
    lines, out_of_range, dropped, long = list[str](), 0, 0, 0
    for prediction in answered:
        example = examples_by_id[prediction.example]
        sentences = [sentence for sentence in marked_sentences(prediction, split_sentences) if sentence.text]
        context = context_of(prediction, example)
        names, left_out = _references(sentences, context, tag.year, example.id)
        answer = [{"text": sentence.text, "citations": _citations(sentence, context, names)} for sentence in sentences]
        words = sum(len(sentence.text.split()) for sentence in sentences)
        body = {"references": names, "response_length": words, "answer": answer}
        lines.append(json.dumps(_tagged(body, example, tag), ensure_ascii=False) + "\n")
        out_of_range += sum(context.quote(*item) is None for sentence in sentences for item in sentence.cited)
        dropped, long = dropped + left_out, long + (words > MAX_WORDS)
    return TrecRagAnswers(tuple(lines), len(predictions) - len(answered), out_of_range, dropped, long)


def _tagged(body: dict[str, object], example: Example, tag: TrecRagTag) -> dict[str, object]:
    if tag.year == 2024:
        return {"run_id": tag.run, "topic_id": example.id, "topic": example.query.text, **body}
    metadata = {"team_id": tag.team, "run_id": tag.run, "type": "automatic"}
    return {"metadata": {**metadata, "narrative_id": example.id, "narrative": example.query.text}, **body}


def _references(
    sentences: Sequence[MarkedSentence], context: Context, year: Year, question: str
) -> tuple[list[str], int]:
    """Ids of the context's quotes, and how many uncited ones were left out, starting with the last."""
    names = list(dict.fromkeys(hit.quote.id for hit in context.hits))
    cited = {
        quote.id for sentence in sentences for item in sentence.cited if (quote := context.quote(*item)) is not None
    }
    surplus = max(len(names) - MAX_REFERENCES[year], 0)
    spare = [name for name in names if name not in cited]
    if surplus > len(spare):
        raise DatasetError(
            f"the answer to {question!r} cites {len(cited)} quotes, where TREC {year} allows {MAX_REFERENCES[year]}"
        )
    left_out = set(spare[len(spare) - surplus :])
    return [name for name in names if name not in left_out], len(left_out)


def _citations(sentence: MarkedSentence, context: Context, names: Sequence[str]) -> list[int]:
    quotes = (context.quote(*item) for item in sentence.cited)
    return list(dict.fromkeys(names.index(quote.id) for quote in quotes if quote is not None))
