"""MMDocRAG's own repository as it lies: which rows of its tables its files are, and what they give."""

import json
from pathlib import Path

import pytest

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.reproduction import reproduce
from quoteweave.evaluation.reproduction.mmdocrag_outputs import find_repository, load_outputs

SCORES = {"Fluency": 5, "Citation Quality": 4, "Text-Image Coherence": 4, "Reasoning Logic": 4, "Factuality": 4}
QUESTION = {"q_id": 0, "gold_quotes": ["text1", "image2"], "answer_interleaved": "It rose by a half in May [1]."}


def write(repository: Path, name: str, judged: str | None = None, setting: int = 20) -> None:
    answers = repository / "response" / f"{name}_quotes{setting}_response.jsonl"
    judgements = repository / "response" / "evaluation" / f"{judged or name}_quotes{setting}_llm-judge.jsonl"
    questions = repository / "dataset" / f"evaluation_{setting}.jsonl"
    for path, line in (
        (answers, {"q_id": 0, "response": "It rose by a half in May [1]."}),
        (judgements, {"q_id": 0, "response": SCORES}),
        (questions, QUESTION),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(line) + "\n")


def test_files_are_the_rows_of_each_table_whatever_the_case_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, "qwen3-8b_pure-text")
    write(tmp_path, "qwen3-8b-no-think_pure-text")
    write(tmp_path, "deepseek-v3_ocr_pure-text", setting=15)
    write(tmp_path, "Internvl3-38b_multimodal", "Internvl3-38B_multimodal")
    write(tmp_path, "qwen2.5-7b-ft_pure-text")
    write(tmp_path, "llama4-mave-17b-128e_pure-text")
    write(tmp_path, "gemini-2.0-flash-tk_multimodal", setting=15)
    write(tmp_path, "qwen-qvq-max-no-think_multimodal")
    outputs = load_outputs(tmp_path)
    assert sorted((one.table, one.row) for one in outputs.conditions) == [
        ("Table 11, 20 quotes", "Qwen-QVQ-Max, not thinking"),
        ("Table 11, 20 quotes", "Qwen3-8B, not thinking"),
        ("Table 3, 20 quotes", "InternVL3-38B, multimodal"),
        ("Table 3, 20 quotes", "Llama4-Mave-17Bx128E, pure-text"),
        ("Table 3, 20 quotes", "Qwen2.5-7B-Inst (after fine-tuning), pure-text"),
        ("Table 3, 20 quotes", "Qwen3-8B (think), pure-text"),
        ("Table 5, 15 quotes", "Deepseek-V3, ocr_text"),
        ("Table 8, 15 quotes", "Gemini-2.0-Flash-Think, multimodal"),
    ]
    assert "GPT-4.1, multimodal (20 quotes)" in outputs.missing


def test_every_printed_column_but_tokens_is_computed_words_included(tmp_path: Path) -> None:
    write(tmp_path, "gpt-4.1_multimodal")
    (checks,) = reproduce(tmp_path, load_outputs(tmp_path).conditions)
    found = {check.figure: (check.printed, check.computed) for check in checks}
    assert len(found) == 15
    assert found["bleu"] == ("0.157", "1.000")
    assert found["rouge_l.f1"] == ("0.313", "1.000")
    assert found["text.recall.pooled"] == ("66.0", "100.0")
    assert found["image.recall.pooled"] == ("84.5", "0.0")
    assert found["judge.average"] == ("4.14", "4.20")


def test_answers_without_their_questions_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    write(tmp_path, "gpt-4.1_multimodal")
    (tmp_path / "dataset" / "evaluation_20.jsonl").unlink()
    with pytest.raises(DatasetError, match=r"dataset/evaluation_20\.jsonl"):
        load_outputs(tmp_path)


def test_answers_without_any_judgements_are_no_figures_that_agree(tmp_path: Path) -> None:
    write(tmp_path, "gpt-4.1_multimodal")
    for judged in (tmp_path / "response" / "evaluation").iterdir():
        judged.unlink()
    with pytest.raises(DatasetError, match="no answers with their judgements"):
        load_outputs(tmp_path)


def test_the_repository_is_found_by_its_answers_itself_or_in_the_folder(tmp_path: Path) -> None:
    assert find_repository(tmp_path) is None
    assert find_repository(tmp_path / "nowhere") is None
    write(tmp_path / "MMDocRAG", "gpt-4.1_multimodal")
    assert find_repository(tmp_path) == find_repository(tmp_path / "MMDocRAG") == tmp_path / "MMDocRAG"
