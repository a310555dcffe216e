"""Which answers are right: by gold quotes, by layout elements, by pages, by a judge."""

from pathlib import Path

import pytest

from quoteweave.core.answers import Answer, Citation, Context
from quoteweave.core.examples import Example, GoldLayout, Prediction, Reference
from quoteweave.core.protocols import Grade
from quoteweave.core.records import Hit, Query, Quote
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.evaluation.calibration import cites_gold, is_answerable, judged_correct
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict, request_hash
from quoteweave.evaluation.metrics.citations.cited_pages import CitedPages
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest, compare, score

QUOTES = tuple(
    Quote(
        id=f"report.pdf:{page}:0",
        document="report.pdf",
        page=page,
        page_label=str(page + 1),
        bbox=(0, 0, 9, 9),
        kind="text",
        layout="paragraph",
        layout_id=7 + page,
        text="Grain came by ship.",
    )
    for page in range(3)
)
CONTEXT = Context(texts=tuple(Hit(rank=rank, score=1.0, quote=quote) for rank, quote in enumerate(QUOTES, start=1)))


def said(*numbers: int, status: str = "answered") -> Prediction:
    """An answer that cites these quotes."""
    text = "It came" + "".join(f" [{number}]" for number in numbers)
    citations = [
        Citation(
            mark=f"[{number}]",
            start=text.index(f"[{number}]"),
            end=text.index(f"[{number}]") + 3,
            kind="text",
            number=number,
            quote_id=QUOTES[number - 1].id,
            document="report.pdf",
            page=number - 1,
            page_label=str(number),
            bbox=(0, 0, 9, 9),
        )
        for number in numbers
    ]
    fields = {"question": "?", "status": status, "text": text, "blocks": (), "model": "m", "seconds": 0}
    answer = Answer.model_validate({**fields, "citations": citations})
    return Prediction(example="q", context=CONTEXT, response=text, answer=answer)


def example(document: str | None = "report", **gold: object) -> Example:
    return Example(id="q", query=Query(text="?"), document=document, reference=Reference.model_validate(gold))


BY_ID = example(relevant={"report.pdf:1:0": 1, "report.pdf:2:0": 0})
BY_LAYOUT = example(relevant={"text1": 1}, layouts=(GoldLayout(document="report", layout_id=8),))
BY_PAGE = example(pages=(1,))
NOTHING = example(relevant={})
UNKNOWN = example()


@pytest.mark.parametrize("gold", [BY_ID, BY_LAYOUT, BY_PAGE])
def test_an_answer_is_right_where_it_cites_gold(gold: Example) -> None:
    assert cites_gold(said(2), gold) is True
    assert cites_gold(said(1, 2), gold) is True
    assert cites_gold(said(1), gold) is False
    assert cites_gold(said(3), gold) is False
    assert cites_gold(said(), gold) is False


@pytest.mark.parametrize(
    ("prediction", "hit", "precision"),
    [(said(2), 1, 1), (said(1, 2, 2), 1, 1 / 2), (said(3), 0, 0), (said(status="abstained"), 0, None)],
)
def test_pages_that_are_cited_are_counted(prediction: Prediction, hit: float, precision: float | None) -> None:
    assert CitedPages().row(prediction, BY_PAGE) == {"cited_pages.hit": hit, "cited_pages.precision": precision}
    assert CitedPages().row(prediction, UNKNOWN) == CitedPages().row(Prediction(example="q"), BY_PAGE) == {}


def test_runs_over_questions_of_one_s_own_are_compared_by_what_is_defined(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text('{"id": "q", "question": "?", "document": "report", "pages": [2]}')
    runs = []
    for number in (1, 2):
        with open_run(tmp_path / str(number), RunRecord(configuration={})) as run:
            run.append(said(number))
        request = ScoringRequest(run=tmp_path / str(number), dataset="questions", references=tmp_path / "own.jsonl")
        runs.append(score(request, intervals=None))
    (found,) = compare(runs)
    assert (found.figure, found.first_value, found.second_value) == ("cited_pages.hit", 0, 1)


def test_a_page_is_of_its_document() -> None:
    assert cites_gold(said(2), example("report.pdf", pages=(1,))) is True
    assert cites_gold(said(2), example("other", pages=(1,))) is False


@pytest.mark.parametrize("gold", [NOTHING, example(relevant={"a": 0})])
def test_to_answer_what_is_not_to_be_answered_is_wrong(gold: Example) -> None:
    assert not is_answerable(gold)
    assert cites_gold(said(2), gold) is False
    assert judged_correct(said(2), gold, {"q": verdict(said(2), gold, 2)}) is False


def test_what_cannot_be_known_is_not_wrong() -> None:
    assert is_answerable(UNKNOWN)
    assert cites_gold(said(2), UNKNOWN) is None
    for gold in (BY_ID, NOTHING):
        assert cites_gold(said(2, status="abstained"), gold) is None
        assert cites_gold(Prediction(example="q", error="it failed"), gold) is None


def verdict(prediction: Prediction, gold: Example, accuracy: float | None) -> EvidenceVerdict:
    return EvidenceVerdict(
        example="q",
        judge="j",
        splitter="s",
        by_rule=True,
        request=request_hash(prediction, gold),
        sentences=(),
        accuracy=Grade(score=accuracy, model="j", prompt="p"),
    )


@pytest.mark.parametrize(("accuracy", "right"), [(2, True), (1, False), (0, False), (None, None)])
def test_a_judge_calls_right_what_is_wholly_so(accuracy: float | None, right: bool | None) -> None:
    assert judged_correct(said(1), UNKNOWN, {"q": verdict(said(1), UNKNOWN, accuracy)}) is right


def test_a_verdict_on_another_answer_is_none() -> None:
    assert judged_correct(said(1), UNKNOWN, {"q": verdict(said(2), UNKNOWN, 2)}) is None
    assert judged_correct(said(1), UNKNOWN, {}) is None
    assert judged_correct(said(1, status="abstained"), UNKNOWN, {"q": verdict(said(1), UNKNOWN, 2)}) is None
