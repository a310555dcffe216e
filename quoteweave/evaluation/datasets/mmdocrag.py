"""MMDocRAG (arXiv 2505.16470): questions on long documents, each with 15 or 20 candidate quotes, some of them gold.

There is one question per line. The authors' files (`dev_15.jsonl`, `evaluation_20.jsonl`…) contain question, candidates
and gold; one with only the gold (`q_id`, `gold_quotes`, `answer_short`) suffices to score which quotes an answer cites.

Files of responses have lines with `q_id`, `response`, `in_tok`, `out_tok`, and `error` if the call failed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field

from quoteweave.core.answers import C15, C20, Context, Usage
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, GoldLayout, Prediction, Reference
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.records import Hit, Kind, Query, Quote
from quoteweave.evaluation.datasets.rows import FileRecord, iter_unique_records

NOWHERE = (0.0, 0.0, 0.0, 0.0)
"""The box of a quote if the dataset does not give its place on the page."""


class _Candidate(FileRecord):
    quote_id: str
    page_id: int = Field(ge=0)
    layout_id: int | None = Field(default=None, ge=0)
    text: str = ""
    img_path: str | None = None
    img_description: str | None = None
    ocr_text: str | None = Field(default=None, validation_alias=AliasChoices("ocr_text", "img_ocr", "image_ocr"))


class _Question(FileRecord):
    q_id: str
    gold_quotes: tuple[str, ...]
    answer_short: str | None = None
    answer_interleaved: str | None = None
    question: str = ""
    doc_name: str | None = None
    domain: str | None = None
    question_type: str | None = None
    evidence_modality_type: tuple[str, ...] = ()
    text_quotes: tuple[_Candidate, ...] | None = None
    img_quotes: tuple[_Candidate, ...] | None = None


def load_mmdocrag(path: Path, *, quotes: Literal[15, 20]) -> list[Example]:
    """The questions of a file, in its order; a `.gz` file is unpacked. An example's id is its `q_id`.

    Candidates become the example's context under their own ids (`text3`, `image7`), by which gold names them. Gold is
    also named by (document, layout id), so that retrieved quotes can be matched with it in a collection that was
    imported from MMDocIR's layouts, in which `doc_name` is the document's name. The boxes of candidates are empty.

    Raises DatasetError, naming file, line and field, for unreadable content, for a repeated question, and for a file of
    the other setting.
    """
    lines = iter_unique_records(path, _Question, "q_id")
    return [_example(line, f"{path}, line {number}", quotes) for number, line in lines]


def _example(line: _Question, where: str, quotes: Literal[15, 20]) -> Example:
    context = None
    candidates = (*(line.text_quotes or ()), *(line.img_quotes or ()))
    if line.text_quotes is not None or line.img_quotes is not None:
        if len(candidates) != quotes:
            raise DatasetError(f"{where} has {len(candidates)} candidate quotes; it is not of the setting of {quotes}")
        context = Context(
            texts=_hits(line, line.text_quotes or (), "text", where),
            images=_hits(line, line.img_quotes or (), "image", where),
        )
    _check_gold(line, where, quotes)
    gold = [candidate for candidate in candidates if candidate.quote_id in line.gold_quotes]
    return Example(
        id=line.q_id,
        query=Query(text=line.question),
        document=line.doc_name,
        domain=line.domain,
        question_type=line.question_type,
        evidence_types=line.evidence_modality_type,
        context=context,
        reference=Reference(
            answer=line.answer_interleaved,
            short_answer=line.answer_short,
            relevant=dict.fromkeys(line.gold_quotes, 1),
            pages=tuple(dict.fromkeys(candidate.page_id for candidate in gold)),
            layouts=tuple(
                GoldLayout(document=line.doc_name, layout_id=candidate.layout_id, kind=_kind(candidate))
                for candidate in gold
                if line.doc_name is not None and candidate.layout_id is not None
            ),
        ),
    )


def _hits(line: _Question, candidates: Sequence[_Candidate], kind: Kind, where: str) -> tuple[Hit, ...]:
    """The candidates of one kind, in order; a mark's number is a position, so that ids must be numbered by position."""
    hits = []
    for rank, candidate in enumerate(candidates, start=1):
        if candidate.quote_id != f"{kind}{rank}":
            raise DatasetError(f"{where}, {kind} quote {rank}: its id is {candidate.quote_id!r}, not {kind}{rank}")
        quote = Quote(
            id=candidate.quote_id,
            document=line.doc_name or "",
            page=candidate.page_id,
            page_label=str(candidate.page_id + 1),
            bbox=NOWHERE,
            kind=kind,
            layout="paragraph" if kind == "text" else "figure",
            layout_id=candidate.layout_id,
            text=candidate.text,
            ocr_text=candidate.ocr_text,
            vlm_text=candidate.img_description,
            image=candidate.img_path,
        )
        hits.append(Hit(rank=rank, score=1 / rank, quote=quote))
    return tuple(hits)


def _kind(candidate: _Candidate) -> Kind:
    return "image" if candidate.quote_id.startswith("image") else "text"


def _check_gold(line: _Question, where: str, quotes: Literal[15, 20]) -> None:
    split = C15 if quotes == 15 else C20
    possible = {
        f"{kind}{n}" for kind, most in (("text", split.texts), ("image", split.images)) for n in range(1, most + 1)
    }
    if line.text_quotes is not None or line.img_quotes is not None:
        possible = {candidate.quote_id for candidate in (*(line.text_quotes or ()), *(line.img_quotes or ()))}
    for name in line.gold_quotes:
        if name not in possible:
            raise DatasetError(
                f"{where}, gold_quotes: {name!r} is not among the {quotes} quotes; is it another setting?"
            )


class _ResponseLine(FileRecord):
    q_id: str
    response: str | None = None
    model: str | None = None
    in_tok: int | None = Field(default=None, ge=0)
    out_tok: int | None = Field(default=None, ge=0)
    error: str | None = None


def load_responses(path: Path) -> list[Prediction]:
    """One prediction per line, over the dataset's own quotes. Token counts of 0 in and 0 out mean unknown: None.

    Raises DatasetError, naming file, line and field, for unreadable content.
    """
    return [_prediction(line) for _, line in iter_records(path, _ResponseLine)]


def _prediction(line: _ResponseLine) -> Prediction:
    counted = bool(line.in_tok or line.out_tok)
    usage = Usage(input_tokens=line.in_tok, output_tokens=line.out_tok) if counted else Usage()
    failed = line.error if line.response is not None or line.error is not None else "no response"
    return Prediction(
        example=line.q_id, scope="context", response=line.response, model=line.model, usage=usage, error=failed
    )
