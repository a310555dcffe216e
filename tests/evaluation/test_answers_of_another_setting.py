"""Answers over 20 quotes are not scored against references over 15, in which their marks do not resolve."""

from pathlib import Path

import pytest
from builders import make_context
from made_selection import answered, example, fixed, quote

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.evaluation.scoring.matching import check_judged, check_size, match_predictions

FIFTEEN = fixed(texts=10, images=5)


def questions(count: int, given: Context | None = FIFTEEN) -> list[Example]:
    return [example(f"q{n}", context=given) for n in range(count)]


def answers(count: int, response: str, beyond: int, told: str) -> list[Prediction]:
    """Of `count` answers, the first `beyond` say something else."""
    return [answered(told if n < beyond else response, f"q{n}") for n in range(count)]


def test_many_marks_beyond_the_context_are_told_with_counts_and_instances() -> None:
    made = answers(40, "Yes [1].", 12, "No [11] [10] ![a](image8).")
    with pytest.raises(DatasetError) as caught:
        match_predictions(questions(40), made)
    assert str(caught.value).startswith(
        "12 answers cite quotes that their questions do not have ('q0: text 11, image 8', 'q1: text 11, image 8', "
        "'q2: text 11, image 8', …), of 40 that cite; they were made over another setting"
    )


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (answers(40, "Yes [10] ![a](image5).", 10, "No [11]."), FIFTEEN),  # a quarter: models do err
        (answers(40, "Yes [1].", 40, "No [03]."), FIFTEEN),  # written otherwise, and not beyond
        (answers(19, "", 19, "No [11]."), FIFTEEN),  # too few to tell
        (answers(40, "Yes [1].", 40, "No [11]."), None),  # gold alone: what the answers saw is not known
        (answers(40, "", 40, "No [11]."), make_context(quote("text", "1"))),  # quotes that do not go by their places
        ([one.model_copy(update={"context": fixed(12, 8)}) for one in answers(40, "", 40, "[11]")], FIFTEEN),
    ],
)
def test_else_answers_are_scored(made: list[Prediction], given: Context | None) -> None:
    assert match_predictions(questions(len(made), given), made) == made


def test_a_file_of_gold_alone_is_of_its_setting_too() -> None:
    asked, made = questions(40, None), answers(40, "Yes [1].", 12, "No [11] ![a](image8).")
    with pytest.raises(
        DatasetError, match=r"12 answers cite quotes that their questions do not have .*'q0: text 11, image 8'"
    ):
        check_size("mmdocrag-15", asked, made)
    check_size("mmdocrag-20", asked, made)
    check_size("mmdocrag-15", questions(40), made)  # whose own candidates are looked at
    check_size("mmdocrag-15", asked, answers(40, "Yes [1].", 10, "No [11]."))  # a quarter: models do err
    check_size("alce", asked, made)


@pytest.mark.parametrize(
    ("run", "judged", "refused"),
    [
        ("gpt-4o_pure-text_quotes20_response.jsonl", "gpt-4o_pure-text_quotes20_llm-judge.jsonl", False),
        ("gpt-4o_pure-text_quotes20_response.jsonl", "gpt-4o_multimodal_quotes20_llm-judge.jsonl", True),
        ("gpt-4o_pure-text_quotes20.jsonl.gz", "gpt-4o_pure-text_quotes15.jsonl.gz", True),
        ("gpt-4o_pure-text_quotes20.jsonl", "judge.jsonl", False),
        ("mine.jsonl", "gpt-4o_pure-text_quotes20_llm-judge.jsonl", False),
    ],
)
def test_judgements_of_other_answers_by_name_are_refused(run: str, judged: str, *, refused: bool) -> None:
    if not refused:
        check_judged(Path("response", run), Path("evaluation", judged))
        return
    with pytest.raises(DatasetError, match=r"judges the answers of gpt-4o_.*, by its name"):
        check_judged(Path("response", run), Path("evaluation", judged))


def test_judgements_in_the_folder_of_another_run_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with open_run(tmp_path / name, RunRecord(configuration={})):
            pass
    check_judged(tmp_path / "a", tmp_path / "a" / "judgements.jsonl")
    check_judged(tmp_path / "a", tmp_path / "judgements.jsonl")
    with pytest.raises(DatasetError, match="is in the folder of another run"):
        check_judged(tmp_path / "a", tmp_path / "b" / "judgements.jsonl")
