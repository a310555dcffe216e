"""What is asked of answers with boxes, and what becomes of the judge's replies."""

import asyncio

import pytest
from made_citevqa import BOX, answered, asked, tag
from made_judgements import CONTEXT

from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import EndpointRefused
from quoteweave.core.examples import Prediction
from quoteweave.evaluation.judges.answer_judges import AttributionJudge
from quoteweave.evaluation.judges.batch import plan_judging
from quoteweave.evaluation.judges.judgements import AnswerVerdict
from quoteweave.testing import FakeChat

EXAMPLE = asked(("a.pdf", 0, BOX))


def over_quotes(response: str) -> Prediction:
    return Prediction(example="q1", scope="document", response=response, context=CONTEXT)


def judged(prediction: Prediction, *replies: str | Completion | Exception) -> tuple[AnswerVerdict, FakeChat]:
    model = FakeChat(replies)
    judge = AttributionJudge(model)
    return asyncio.run(judge.judge(judge.request(prediction, EXAMPLE))), model


def test_the_answer_is_judged_without_its_boxes_and_the_evidence_by_what_is_cited() -> None:
    request = AttributionJudge(FakeChat([])).request(over_quotes("They rose [1]. ![calls](image1)"), EXAMPLE)
    answer, evidence = (str(message["content"]) for message in request.messages)
    assert "Gold answer:\n    4,210 tonnes.\n" in answer
    assert "Calls rose in 2023." not in answer
    assert "[1] (report.pdf, page 7, paragraph)\n    Calls rose in 2023." in evidence
    assert "image1 (report.pdf, page 7, chart)" in evidence
    assert "Grain is stored in silos." not in evidence  # it is not cited
    boxed = AttributionJudge(FakeChat([])).request(answered(f"<think>hm</think>So {tag()}."), EXAMPLE)
    assert [str(message["content"]).count("So [citation].") for message in boxed.messages] == [1]


def test_two_replies_make_a_judgement() -> None:
    verdict, model = judged(over_quotes("They rose [1]."), '{"answer": 4}', 'Well. {"relevance": 5}')
    assert (verdict.scores, verdict.error, verdict.attempts) == ({"answer": 4, "relevance": 5}, None, 2)
    assert len(model.requests) == 2


def test_an_answer_that_cites_nothing_has_no_relevance_and_is_not_asked_about() -> None:
    verdict, model = judged(over_quotes("They rose."), '{"answer": 5}')
    assert verdict.scores == {"answer": 5, "relevance": 0}
    assert len(model.requests) == 1


def test_the_relevance_of_boxes_without_quotes_is_not_known() -> None:
    verdict, _ = judged(answered(f"So {tag()}."), '{"answer": 5}')
    assert verdict.scores == {"answer": 5}


@pytest.mark.parametrize("wrong", ['{"relevance": 6}', '{"relevance": 4.5}', '{"relevance": 80}', "no number"])
def test_a_score_off_the_scale_is_a_failed_judgement_that_says_so(wrong: str) -> None:
    verdict, _ = judged(over_quotes("They rose [1]."), '{"answer": 4}', wrong, wrong)
    assert verdict.scores is None
    assert verdict.error is not None
    assert verdict.error.startswith("relevance: the judge's reply cannot be read: ")
    if wrong.startswith("{"):
        assert "is not one of 0, 1, 2, 3, 4, 5" in verdict.error


def test_an_endpoint_that_fails_is_no_judgement() -> None:
    verdict, _ = judged(over_quotes("They rose [1]."), EndpointRefused("no", status=400), '{"relevance": 5}')
    assert verdict.scores is None
    assert verdict.error is not None
    assert verdict.error.startswith("answer: no")


def test_judged_answers_are_not_judged_again_unless_they_changed() -> None:
    judge = AttributionJudge(FakeChat([]))
    pair = (over_quotes("They rose [1]."), EXAMPLE)
    stored = AnswerVerdict(
        example="q1",
        scores={"answer": 4, "relevance": 4},
        model="fake",
        prompt=judge.prompt.sha256,
        request=judge.request(*pair).sha256,
        attempts=2,
    )
    assert plan_judging(judge, [pair], {"q1": stored}).done == 1
    other = (over_quotes("They rose [2]."), EXAMPLE)
    assert plan_judging(judge, [other], {"q1": stored}).left == [other]
