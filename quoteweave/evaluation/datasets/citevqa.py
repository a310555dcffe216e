"""CiteVQA (Ma et al., arXiv 2605.12882): questions about one or several long PDFs, answered with boxes as evidence.

`CiteVQA.json` is one list of questions; the PDFs are downloaded from their own sites (`pdf_source.csv`) into `pdf/`.

Answers in the format of the authors' code are the questions with `model_predict`, an answer that cites boxes. Files of
`infer/run.py` are read as predictions; those of `eval/run.py` have the same and scores, which are read as judgements:
`qa_acc_score` and `rel_score`, 0 to 5.
"""

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from quoteweave.core.boxes import Box
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, GoldRegion, Prediction, Reference, question_hash
from quoteweave.core.records import Query
from quoteweave.evaluation.datasets.rows import FileRecord, as_list, iter_items
from quoteweave.evaluation.judges.judgements import MAX_SCORE, Judgement
from quoteweave.evaluation.text.responses import box_problem, boxed_response, cited_boxes, transposed, without_boxes

QUESTIONS = "CiteVQA.json"
FOLDERS = ("", "validation", "data/validation")
"""The folders, below a folder of the dataset, that may contain its questions."""
NECESSARY = "necessary"
MIN_BOXES = 20
"""The number of boxes whose shapes suffice to tell in which order their edges are written."""


class _Line(FileRecord):
    model_config = ConfigDict(allow_inf_nan=False)


class _Element(_Line):
    bbox: Box
    source_page_id: int = Field(ge=1)
    source_doc_index: int | None = Field(default=None, ge=1)
    source_pdf_name: str | None = None
    type: str | None = None
    necessity: str | None = None


class _Question(_Line):
    index: str = Field(min_length=1)
    Question: str = Field(min_length=1)
    PDF_Source: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)]
    Question_Type: str | None = None
    Standard_Answer: str | None = None
    dataset_type: str | None = None
    description: str | None = None
    Evidence: tuple[_Element, ...] = ()
    answer_bboxes: str | None = Field(
        default=None, description="the gold answer with its boxes, as answers have theirs"
    )


def load_citevqa(path: Path) -> list[Example]:
    """Every question of a file, or of `CiteVQA.json` in a folder or its `data/validation`, in order; also as `.gz`.

    An example's documents are the names of its PDFs, as they are in a collection to which the folder `pdf/` was added.
    Its subset is the dataset's `dataset_type`: Single-Doc, Multi (1-Gold) or Multi (N-Gold). Gold regions are the
    evidence that is marked `necessary`; if none of a question's evidence is, all of it. Pages and documents are written
    from 1. Boxes are thousandths of the page, and are kept unchanged, even reversed ones: `box_problem` says what is
    wrong with them.

    The authors' code calls the edges x1, y1, x2, y2; the examples of its prompts have them as y1, x1, y2, x2. Text is
    wider than it is tall, so where most of `MIN_BOXES` or more gold boxes would be taller than wide, the dataset is
    read y first (`Reference.y_first`), and so are the answers to it; boxes of examples are always x first.

    Files of the authors' code, whose gold is `answer_bboxes`, are read too. Raises DatasetError, naming file, place and
    field, for missing or malformed content, such as another version of the dataset, and for gold in a document that
    does not belong to the question.
    """
    file = questions_of(path)
    lines = [(f"{file}, {place}", line) for place, line in iter_items(file, _Question)]
    first_places: dict[str, str] = {}
    for where, line in lines:
        if first_places.setdefault(line.index, where) != where:
            raise DatasetError(
                f"{where}, index: {line.index!r} is {first_places[line.index].removeprefix(f'{file}, ')} already"
            )
    gold = [_gold(line, where) for where, line in lines]
    y_first = written_y_first([region.bbox for regions in gold for region in regions])
    return [_example(line, regions, y_first=y_first) for (_, line), regions in zip(lines, gold, strict=True)]


def questions_of(path: Path) -> Path:
    """The file of the questions: the given one, or that in the given folder. Raises DatasetError."""
    if not path.is_dir():
        return path
    questions_file = next((file for folder in FOLDERS if (file := path / folder / QUESTIONS).is_file()), None)
    if questions_file is None:
        raise DatasetError(f"no {QUESTIONS} in {path}, nor in its {FOLDERS[-1]}; name the file, or the folder with it")
    return questions_file


def written_y_first(boxes: Sequence[Box]) -> bool:
    """Whether boxes seem to be written y1, x1, y2, x2: most are taller than wide as x1, y1, x2, y2."""
    usable = [box for box in boxes if box_problem(box) is None]
    tall = sum(box[3] - box[1] > box[2] - box[0] for box in usable)
    return len(usable) >= MIN_BOXES and 2 * tall > len(usable)


def _gold(line: _Question, where: str) -> list[GoldRegion]:
    """The gold regions as written. Raises DatasetError."""
    if line.answer_bboxes is None and not line.Evidence:
        raise DatasetError(
            f"{where}: neither Evidence nor answer_bboxes holds gold; it is of another version of CiteVQA"
        )
    names = _names(line)
    if line.answer_bboxes is not None:
        boxes = cited_boxes(line.answer_bboxes)
        for box in boxes:
            if not 1 <= (box.document or 1) <= len(names) or box.page < 1:
                raise DatasetError(
                    f"{where}, answer_bboxes: page {box.page} of document {box.document or 1}, and there "
                    f"{'is' if len(names) == 1 else 'are'} {len(names)} in PDF_Source, with pages from 1"
                )
        return [GoldRegion(document=names[(box.document or 1) - 1], page=box.page - 1, bbox=box.box) for box in boxes]
    return [
        GoldRegion(document=_document(element, names, where), page=element.source_page_id - 1, bbox=element.bbox)
        for element in _necessary(line)
    ]


def _necessary(line: _Question) -> Sequence[_Element]:
    necessary = [element for element in line.Evidence if element.necessity == NECESSARY]
    return necessary or line.Evidence


def _names(line: _Question) -> tuple[str, ...]:
    return tuple(PurePosixPath(source.replace("\\", "/")).name for source in line.PDF_Source)


def _document(element: _Element, names: Sequence[str], where: str) -> str:
    """The document of an element by its number, or by its name. Raises DatasetError if the two disagree."""
    written_name, number = element.source_pdf_name, element.source_doc_index
    by_number = names[number - 1] if number is not None and number <= len(names) else None
    by_name = next(
        (name for name in names if written_name is not None and name == PurePosixPath(written_name).name), None
    )
    if written_name is not None and PurePosixPath(written_name).suffix != ".pdf":  # names may lack their suffix
        by_name = next((name for name in names if name == f"{PurePosixPath(written_name).name}.pdf"), by_name)
    document = by_number or by_name
    is_unknown = written_name is not None and by_name is None
    disagree = by_number is not None and by_name is not None and by_number != by_name
    if document is None or is_unknown or disagree:
        raise DatasetError(
            f"{where}, Evidence: document {number} and {written_name!r} are not one of PDF_Source: {', '.join(names)}"
        )
    return document


def _example(line: _Question, gold: Sequence[GoldRegion], *, y_first: bool) -> Example:
    names = _names(line)
    if y_first:
        gold = [region.model_copy(update={"bbox": transposed(region.bbox)}) for region in gold]
    answer = line.Standard_Answer
    if answer is None and line.answer_bboxes is not None:
        answer = without_boxes(line.answer_bboxes, "").strip()
    return Example(
        id=line.index,
        query=Query(text=line.Question),
        document=names[0] if len(names) == 1 else None,
        documents=names,
        subset=line.dataset_type,
        domain=line.description,
        question_type=line.Question_Type,
        evidence_types=tuple(dict.fromkeys(element.type for element in _necessary(line) if element.type)),
        reference=Reference(answer=answer, regions=tuple(gold), y_first=y_first),
    )


ANSWER = "model_predict"
_DIVISOR = 20
"""The number by which the released script divides a judge's score, though its prompts ask for 0 to 5."""


class _Answered(FileRecord):
    index: str
    question: str | None = Field(default=None, alias="Question")
    model_predict: str | None = None
    infer_model: str | None = None


class _Scored(FileRecord):
    index: str
    qa_acc_score: float | None = None
    rel_score: float | None = None


class _WholeQuestion(BaseModel):
    model_config = ConfigDict(extra="allow")

    index: int | str


def load_citevqa_answers(path: Path) -> list[Prediction]:
    """One prediction per item. Raises DatasetError, naming file, place and field, for unreadable content."""
    return [
        Prediction(
            example=line.index,
            scope="context",
            asked=question_hash(line.question) if line.question else None,
            response=line.model_predict,
            model=line.infer_model,
            error="no response" if line.model_predict is None else None,
        )
        for _, line in iter_items(path, _Answered)
    ]


def load_citevqa_judgements(path: Path) -> dict[str, Judgement]:
    """Question to the scores that `eval/run.py` wrote, 0 to 5; missing scores and those off the scale are left out.

    Raises DatasetError, naming file, place and field, for unreadable content or items without a score, and for scores
    that the released script has divided by 20: none of either kind exceeds a quarter.
    """
    answers = [answer for _, answer in iter_items(path, _Scored)]
    scores_of_questions = [
        (answer.index, {"answer": answer.qa_acc_score, "relevance": answer.rel_score}) for answer in answers
    ]
    all_scores = [score for _, scores in scores_of_questions for score in scores.values() if score is not None]
    if not all_scores:
        raise DatasetError(f"{path} holds no qa_acc_score and no rel_score; name what eval/run.py wrote")
    for name, field in (("answer", "qa_acc_score"), ("relevance", "rel_score")):
        greatest = max((score for _, scores in scores_of_questions if (score := scores[name]) is not None), default=0.0)
        if 0 < greatest <= MAX_SCORE / _DIVISOR:
            raise DatasetError(
                f"{path}, {field}: no score exceeds {greatest:g}; the released eval/run.py divides scores of 0 to "
                f"{MAX_SCORE} by {_DIVISOR}. Multiply {field} by {_DIVISOR}"
            )
    return {
        index: {name: score for name, score in scores.items() if score is not None and 0 <= score <= MAX_SCORE}
        for index, scores in scores_of_questions
    }


def citevqa_answers(
    references: Path, examples: Sequence[Example], predictions: Sequence[Prediction]
) -> list[dict[str, JsonValue]]:
    """The questions of the dataset's file, each with its answer and model, in the form for CiteVQA's `eval/run.py`.

    Marks are replaced by boxes (`boxed_response`). Failed predictions are left out, as by its `infer/run.py`. The gold
    is that of the file: the script scores items that have `answer_bboxes`. Raises DatasetError for a prediction of a
    question that the file does not contain.
    """
    file = questions_of(references)
    questions = {str(question.index): question for _, question in iter_items(file, _WholeQuestion)}
    examples_by_id = {example.id: example for example in examples}
    answers: list[dict[str, JsonValue]] = []
    for prediction in predictions:
        if prediction.error is not None:
            continue
        if prediction.example not in questions or prediction.example not in examples_by_id:
            raise DatasetError(f"{file} has no question {prediction.example!r}; name the dataset that the run answers")
        fields: dict[str, JsonValue] = json.loads(questions[prediction.example].model_dump_json())
        answer = boxed_response(prediction, examples_by_id[prediction.example])
        answers.append({**fields, ANSWER: answer, "infer_model": prediction.model})
    return answers
