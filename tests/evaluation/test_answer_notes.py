"""Answers that abstain, and answers far longer than their gold: what is compared with gold, counted and said."""

import json
from pathlib import Path

import pytest
from builders import write_json_lines
from made_report import JUDGED

from quoteweave.core.answers import Answer, AnswerStatus
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Prediction
from quoteweave.core.files.jsonl import open_for_append
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.evaluation.judges.judgements import ASPECTS, AnswerVerdict
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.scoring.notes import cluster_notes
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest, compare, score
from quoteweave.evaluation.scoring.scores import ScoredQuestion, Scores
from quoteweave.evaluation.statistics.aggregates import Row, mean_of
from quoteweave.evaluation.statistics.intervals import cluster_intervals, estimates

COMPARED = ("bleu", "rouge_l.f1", "exact_match", "token_f1")
SENTENCE = "The documents do not say how much grain was shipped."


def scored(
    folder: Path, said: list[tuple[str, AnswerStatus | None]], gold: str = "grain", *, convention: Convention = "strict"
) -> Scores:
    """The scores of these responses, each with the status of its answer, None where no answer was kept."""
    rows = [{"q_id": n, "gold_quotes": ["text1"], "answer_short": gold} for n in range(len(said))]
    write_json_lines(folder / "gold.jsonl", rows)
    with open_run(folder / "run", RunRecord(configuration={})) as run:
        for number, (response, status) in enumerate(said):
            answer = None if status is None else _answer(response, status)
            run.append(Prediction(example=str(number), scope="context", response=response, answer=answer))
    request = ScoringRequest(
        run=folder / "run", dataset="mmdocrag-20", references=folder / "gold.jsonl", convention=convention
    )
    return score(request, intervals=None).scores


def _answer(text: str, status: AnswerStatus) -> Answer:
    return Answer(question="?", text=text, blocks=(), status=status, model="m", seconds=0)


@pytest.mark.parametrize("status", ["abstained", "located"])
def test_the_sentence_of_an_abstention_is_not_compared_with_gold(tmp_path: Path, status: AnswerStatus) -> None:
    scores = scored(tmp_path, [("grain", "answered"), (SENTENCE, status)])
    assert [scores.figures[name].n for name in COMPARED] == [1, 1, 1, 1]
    assert [scores.figures[name].undefined for name in COMPARED] == [1, 1, 1, 1]
    assert scores.figures["token_f1"].value == 1.0
    assert scores.not_answered == 1
    # Its citations are still measured.
    assert scores.figures["overall.f1"].n == 2
    assert any(note.startswith("1 answer says that the documents do not tell") for note in scores.notes)
    assert "token_f1: 1.0000 (n = 1) by the strict convention, 0.6000 (n = 2) by the published one" in scores.notes


def test_by_the_published_convention_it_is_compared_like_any_other(tmp_path: Path) -> None:
    scores = scored(tmp_path, [("grain", "answered"), (SENTENCE, "abstained")], convention="published")
    # One of nine words without the article is the gold's one word: 2 · 1 / (9 + 1).
    assert scores.figures["token_f1"].value == pytest.approx((1 + 2 / 10) / 2)
    assert scores.not_answered == 1


@pytest.mark.parametrize(("convention", "counted"), [("strict", 1), ("published", 2)])
def test_wordings_are_not_looked_for_in_an_abstention(tmp_path: Path, convention: Convention, counted: int) -> None:
    rows = [{"question": "?", "answer": "Grain.", "qa_pairs": [{"short_answers": ["grain"]}], "docs": []}] * 2
    (tmp_path / "asqa.json").write_text(json.dumps([{**row, "sample_id": str(n)} for n, row in enumerate(rows)]))
    with open_run(tmp_path / "run", RunRecord(configuration={})) as run:
        run.append(Prediction(example="0", response="Grain.", answer=_answer("Grain.", "answered")))
        run.append(Prediction(example="1", response=SENTENCE, answer=_answer(SENTENCE, "abstained")))
    request = ScoringRequest(
        run=tmp_path / "run", dataset="alce", references=tmp_path / "asqa.json", convention=convention
    )
    scores = score(request, intervals=None).scores
    assert [scores.figures[name].n for name in ("str_em", "rouge_lsum")] == [counted, counted]
    assert scores.not_answered == 1


def test_bare_responses_are_compared_whatever_they_say(tmp_path: Path) -> None:
    scores = scored(tmp_path, [(SENTENCE, None)])
    assert (scores.figures["token_f1"].n, scores.not_answered) == (1, 0)


@pytest.mark.parametrize(("convention", "counted"), [("strict", 1), ("published", 2)])
def test_a_bare_response_that_only_abstains_is_not_compared(
    tmp_path: Path, convention: Convention, counted: int
) -> None:
    said: list[tuple[str, AnswerStatus | None]] = [
        ("grain", None),
        ("The quotes do not answer this question.", None),
    ]
    scores = scored(tmp_path, said, convention=convention)
    assert [scores.figures[name].n for name in ("exact_match", "token_f1")] == [counted] * 2
    assert scores.not_answered == 1
    assert any(note.startswith("1 answer says that the documents do not tell") for note in scores.notes)


def test_answers_far_longer_than_their_gold_are_noted(tmp_path: Path) -> None:
    scores = scored(tmp_path, [("grain " * 200, None), ("grain " * 202, None)], gold="much grain")
    assert [note for note in scores.notes if "words (median)" in note] == [
        "bleu and rouge_l.f1 compare answers of 201 words (median) with gold of 2: they are low whatever the answers "
        "say",
        "exact_match and token_f1 compare answers of 201 words (median) with gold of 2: they are low whatever the "
        "answers say",
    ]


def test_answers_about_as_long_as_their_gold_are_not_noted(tmp_path: Path) -> None:
    scores = scored(tmp_path, [("so much grain was shipped", None)], gold="much grain was shipped")
    assert not [note for note in scores.notes if "words (median)" in note]


@pytest.mark.parametrize(("every", "noted"), [(3, False), (2, True)])
def test_judgements_of_other_answers_are_noted(every: int, noted: bool, tmp_path: Path) -> None:
    # Every third answer cites the gold quote; the judge gives 5 to these and 2 to others, or 5 and 2 in turn.
    rows = [{"q_id": n, "gold_quotes": ["text1"], "answer_short": "grain"} for n in range(300)]
    said = [{"q_id": n, "response": "grain [1]" if n % 3 == 0 else "grain [2]"} for n in range(300)]
    judged = [{"q_id": n, "response": dict.fromkeys(JUDGED, 2 if n % every else 5)} for n in range(300)]
    request = ScoringRequest(
        run=write_json_lines(tmp_path / "run.jsonl", said),
        dataset="mmdocrag-20",
        references=write_json_lines(tmp_path / "gold.jsonl", rows),
        judgements=write_json_lines(tmp_path / "judged.jsonl", judged),
        by=(),
    )
    notes = score(request, intervals=None).scores.notes
    assert any(note.startswith("the judge's scores do not go with") for note in notes) is noted


def test_answers_without_a_judgement_are_counted(tmp_path: Path) -> None:
    # A judge that was stopped leaves them, and so does a file that was cut short.
    gold, run = tmp_path / "gold.jsonl", tmp_path / "run.jsonl"
    write_json_lines(gold, [{"q_id": n, "gold_quotes": ["text1"], "answer_short": "grain"} for n in range(3)])
    write_json_lines(run, [{"q_id": n, "response": "grain [1]"} for n in range(3)])
    judged = tmp_path / "judged.jsonl"
    with open_for_append(judged) as append:
        for n in range(3):
            scores, given = dict.fromkeys(ASPECTS, n), {"model": "m", "prompt": "p", "request": "r", "attempts": 1}
            append(AnswerVerdict(example=str(n), scores=scores, raw="", **given))
    request = ScoringRequest(run=run, dataset="mmdocrag-20", references=gold, judgements=judged)
    told = f"{judged} has no judgement of 1 of 3 answers, left out of its figures"
    assert told not in score(request, intervals=None).scores.notes
    judged.write_bytes(judged.read_bytes()[:-30])
    assert told in score(request, intervals=None).scores.notes


def test_no_metric_and_no_run_are_told_plainly(tmp_path: Path) -> None:
    gold = write_json_lines(tmp_path / "gold.jsonl", [{"q_id": 0, "gold_quotes": ["text1"], "answer_short": "x"}])
    run = write_json_lines(tmp_path / "run.jsonl", [{"q_id": 0, "response": "x"}])
    with pytest.raises(UsageError, match="there is no metric 'luck'; there are: rankings, "):
        score(ScoringRequest(run=run, dataset="mmdocrag-20", references=gold, metrics=("luck",)))
    assert compare([]) == ()


def test_notes_tell_what_intervals_do_not() -> None:
    """Of two figures of 24 questions on 23 documents, one is defined in three documents alone."""
    rows: list[Row] = [{"same": 1.0, "few": float(n) if n < 3 else None} for n in range(24)]
    clusters = [f"{n}.pdf" for n in range(22)] + ["0.pdf", "23"]
    figures = estimates([mean_of("same"), mean_of("few")], rows, clusters, cluster_intervals)
    scores = Scores(
        **{"name": "run", "dataset": "made", "convention": "strict", "marks": "own", "clusters": "document"},
        **{"failed": 0, "missing": 0, "figures": figures},
        questions=tuple(ScoredQuestion(example=str(n), cluster=clusters[n], row=row) for n, row in enumerate(rows)),
    )
    assert cluster_notes(scores) == [
        "only 3 documents for few: intervals are wide, and their level of 95 % is approximate",
        "1 question is of no known document, and counts as one",
    ]
    assert cluster_notes(scores.model_copy(update={"figures": {}})) == []
