"""The judge of statements and evidence: what it is sent, its scales, and what becomes of replies off them."""

import asyncio
from pathlib import Path

import pytest
from made_judgements import made_hit

from quoteweave.core.errors import EndpointRefused, UsageError
from quoteweave.evaluation.judges.evidence_judge import ChatEvidenceJudge
from quoteweave.testing import FakeChat

TEXT = made_hit("text", "Calls rose to 1,058.").quote.model_copy(update={"id": "1"})
FIGURE = made_hit("image", "Q1 250", image="calls.png").quote.model_copy(update={"id": "Figure 2"})


def sent(model: FakeChat) -> str:
    return str(model.requests[0][0]["content"])


def test_support_is_judged_on_all_cited_evidence_together() -> None:
    model = FakeChat(['{"support": 0.5}'])
    grade = asyncio.run(ChatEvidenceJudge(model).support("Calls rose.\nEvidence:\nall", [TEXT, FIGURE]))
    assert (grade.score, grade.error, grade.model, grade.attempts) == (0.5, None, "fake", 1)
    assert "Statement:\n    Calls rose.\n    Evidence:\n    all\n" in sent(model)
    assert "\n1 (report.pdf, page 7, paragraph)\n    Calls rose to 1,058.\n" in sent(model)
    assert "\nFigure 2 (report.pdf, page 7, chart)\n    Q1 250\n" in sent(model)


def test_relevance_is_judged_one_item_at_a_time_and_pictures_are_shown() -> None:
    model = FakeChat(["```json\n{'Relevance': '1'}\n```"])
    grade = asyncio.run(ChatEvidenceJudge(model, images=lambda key: key.encode()).relevance("Calls rose.", FIGURE))
    assert grade.score == 1
    content = model.requests[0][0]["content"]
    assert isinstance(content, list)
    assert content[1] == {"type": "text", "text": "Figure 2:"}
    assert content[2]["image_url"]["url"].startswith("data:image/png;base64,")


def test_each_kind_of_question_has_its_own_rubric() -> None:
    prompts = {}
    for question_type in ("explanation", "locating", None):
        model = FakeChat(['{"accuracy": 2}'])
        judge = ChatEvidenceJudge(model)
        grade = asyncio.run(judge.accuracy("Why?", "Because.", "It is so.", question_type=question_type))
        assert grade.score == 2
        assert all(part in sent(model) for part in ("    Why?\n", "    Because.\n", "    It is so.\n"))
        prompts[question_type] = grade.prompt
    assert prompts["explanation"] != prompts["locating"] == prompts[None]


@pytest.mark.parametrize("reply", ['{"support": 2}', '{"support": 0.7}', "fully supported", '{"relevance": 1}'])
def test_a_reply_off_the_scale_is_asked_for_once_more_and_then_undefined(reply: str) -> None:
    model = FakeChat([reply, reply])
    grade = asyncio.run(ChatEvidenceJudge(model).support("Calls rose.", [TEXT]))
    assert (grade.score, grade.attempts, grade.raw, len(model.requests)) == (None, 2, reply, 2)
    assert "cannot be read" in (grade.error or "")
    again = asyncio.run(ChatEvidenceJudge(FakeChat([reply, '{"support": 1}'])).support("Calls rose.", [TEXT]))
    assert (again.score, again.attempts) == (1, 2)


def test_an_endpoint_that_fails_leaves_the_grade_undefined() -> None:
    grade = asyncio.run(ChatEvidenceJudge(FakeChat([EndpointRefused("no key")])).relevance("Calls rose.", TEXT))
    assert (grade.score, grade.error) == (None, "no key")


def test_prompts_of_one_s_own(tmp_path: Path) -> None:
    (tmp_path / "judge_support.txt").write_text("$statement")
    with pytest.raises(UsageError, match=r"\$evidence is missing"):
        asyncio.run(ChatEvidenceJudge(FakeChat([]), prompts_folder=tmp_path).support("Calls rose.", [TEXT]))
