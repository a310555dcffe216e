"""Responses are split and judged, verdicts are kept and resumed; the rule-based splitter."""

import asyncio
from pathlib import Path

import pytest
from builders import make_context
from made_selection import answered, example, quote
from made_verdicts import ModelSplitter, WordJudge

from quoteweave.core.errors import DatasetError, EndpointUnreachable, UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.sealed_json import unsealed_json
from quoteweave.core.protocols import CitedSentence
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict, judge_evidence, load_evidence_verdicts
from quoteweave.evaluation.metrics.citations.citation_quality import CitationQuality
from quoteweave.evaluation.text.source_marks import RuleSplitter, split_by_rule, unmarked

GIVEN = make_context(
    quote("text", "1").model_copy(update={"text": "calls rose"}),
    quote("text", "2").model_copy(update={"text": "grain fell"}),
    quote("image", "Figure 1").model_copy(update={"text": "calls"}),
)
RULE = RuleSplitter(lambda text: [f"{part}." for part in text.split(".") if part])


def asked(name: str = "q") -> Example:
    made = example(name, ["1"], context=GIVEN)
    reference = made.reference.model_copy(update={"answer": "Up."})
    return made.model_copy(update={"question_type": "explanation", "reference": reference})


def judged(
    path: Path, judge: WordJudge, *predictions: Prediction, splitter: RuleSplitter | ModelSplitter = RULE
) -> dict[str, EvidenceVerdict]:
    pairs = [(prediction, asked(prediction.example)) for prediction in predictions]
    return asyncio.run(judge_evidence(pairs, path, judge=judge, splitter=splitter))


def test_each_sentence_by_all_it_cites_and_each_item_by_itself(tmp_path: Path) -> None:
    judge = WordJudge()
    response = "<think>[2]</think>Calls rose [1][2]. Calls fell in Figure 1a. Grain is [7]. So be it."
    found = judged(tmp_path / "v.jsonl", judge, answered(response))
    assert judge.asked == [
        ("relevance", "Calls rose.", ("1",)),
        ("relevance", "Calls rose.", ("2",)),
        ("support", "Calls rose.", ("1", "2")),
        ("relevance", "Calls fell in Figure 1a.", ("Figure 1",)),
        ("support", "Calls fell in Figure 1a.", ("Figure 1",)),
        ("accuracy", response.partition("</think>")[2], ("Up.", "explanation")),
    ]
    row = CitationQuality(found).row(answered(response), asked())
    assert row["citation_by_rule.recall.cited"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert row["citation_by_rule.precision"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert load_evidence_verdicts(tmp_path / "v.jsonl") == found


def test_only_what_failed_or_changed_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    whole, broken = answered("Calls rose [1].", "a"), answered("Grain fell [2].", "b")
    judged(path, WordJudge(failing=["Grain fell."]), whole, broken)
    with path.open("a") as stream:
        stream.write('{"example": "cut sh')
    again = WordJudge()
    found = judged(path, again, whole, broken)
    assert {statement for kind, statement, _ in again.asked if kind == "support"} == {"Grain fell."}
    assert all(verdict.is_complete for verdict in found.values())
    assert load_evidence_verdicts(path) == found
    changed = WordJudge()
    judged(path, changed, answered("Calls fell [1].", "a"), broken)
    assert len(changed.asked) == 3


def test_what_was_judged_under_other_names_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    judged(path, WordJudge(), answered("Calls rose [1]."))
    path.write_bytes(unsealed_json(path.read_bytes()).replace(b'"cited":["1"]', b'"cited":["01"]'))
    again = WordJudge()
    found = judged(path, again, answered("Calls rose [1]."))
    assert (found["q"].cited(), len(again.asked)) == (("1",), 3)


def test_verdicts_of_another_judge_or_splitter_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    judged(path, WordJudge(), answered("Calls rose [1]."))
    with pytest.raises(UsageError, match="name another file"):
        judged(path, WordJudge(name="other"), answered("Calls rose [1]."))
    line = unsealed_json(path.read_bytes())
    path.write_bytes(line + line.replace(b'"judge":"words"', b'"judge":"other"'))
    with pytest.raises(DatasetError, match="line 2, judge and splitter: 'other'"):
        load_evidence_verdicts(path)


def test_a_splitter_that_fails_is_an_error_kept_and_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    found = judged(path, WordJudge(), answered("Up."), splitter=ModelSplitter({}))
    assert (found["q"].sentences, found["q"].error, found["q"].is_complete) == (None, "the splitter is away", False)
    told = ModelSplitter({"Up.": [CitedSentence(text="Calls rose.", cited=("Figure 1b", "fig. 1"))]})
    found = judged(path, WordJudge(), answered("Up."), splitter=told)
    assert found["q"].sentences is not None
    assert found["q"].sentences[0].cited == ("Figure 1",)
    assert "citation.recall.cited" in CitationQuality(found).row(answered("Up."), asked())


def test_after_ten_failures_in_a_row_it_gives_up(tmp_path: Path) -> None:
    predictions = [answered("Up.", str(n)) for n in range(30)]
    with pytest.raises(EndpointUnreachable, match="10 responses in a row"):
        judged(tmp_path / "v.jsonl", WordJudge(), *predictions, splitter=ModelSplitter({}))
    assert len(load_evidence_verdicts(tmp_path / "v.jsonl")) < 20


def test_errors_are_passed_over_and_an_empty_answer_is_judged_for_accuracy_alone(tmp_path: Path) -> None:
    judge = WordJudge()
    failed = answered(None, "a").model_copy(update={"error": "timed out"})
    found = judged(tmp_path / "v.jsonl", judge, failed, answered(" ", "b"))
    assert list(found) == ["b"]
    assert (found["b"].sentences, [kind for kind, *_ in judge.asked]) == ((), ["accuracy"])


def test_without_a_context_there_is_nothing_to_judge_by(tmp_path: Path) -> None:
    pairs = [(answered("Up."), example())]
    with pytest.raises(DatasetError, match="1 example has no context, such as 'q'"):
        asyncio.run(judge_evidence(pairs, tmp_path / "v.jsonl", judge=WordJudge(), splitter=RULE))


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["Calls rose [1].", "Grain fell [2, 3]."], [("Calls rose.", ("1",)), ("Grain fell.", ("2", "3"))]),
        (["Calls rose.", "[1] Grain fell [2]."], [("Calls rose.", ("1",)), ("Grain fell.", ("2",))]),
        (["Calls rose [1].", "[2] says so."], [("Calls rose.", ("1",)), ("says so.", ("2",))]),
        (["Calls rose [1].", "[2][3]."], [("Calls rose.", ("1", "2", "3"))]),
        (["[1] says that calls rose."], [("says that calls rose.", ("1",))]),
        (["As Figure 1a [1] shows, so."], [("As Figure 1a shows, so.", ("Figure 1", "1"))]),
        (["[1]", "…"], []),
    ],
)
def test_the_rule(sentences: list[str], expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(one.text, one.cited) for one in split_by_rule(sentences)] == expected


def test_marks_in_brackets_are_taken_out() -> None:
    assert unmarked("Calls  rose [1][2] , and [Figure 3] fell [4].") == "Calls rose, and fell."
