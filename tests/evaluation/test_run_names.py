"""What runs are called where several stand side by side."""

from pathlib import Path

from quoteweave.core.runs import Configuration, RunRecord, open_run
from quoteweave.evaluation.scoring.comparison import run_names


def run(folder: Path, configuration: Configuration) -> Path:
    with open_run(folder, RunRecord(configuration={"dataset": "mmdocrag-20", **configuration})):
        return folder


def test_file_names_lose_what_they_share() -> None:
    assert run_names([Path("x/gpt_a_quotes20.jsonl.gz"), Path("x/qwen_b_quotes20.jsonl")]) == ["gpt_a", "qwen_b"]
    assert run_names([Path("a_20.jsonl")]) == ["a_20"]
    assert run_names([Path("a_x_20.jsonl"), Path("x_20.jsonl")]) == ["a_x", "x"]
    assert run_names([Path("a_20"), Path("20")]) == ["a_20", "20"]


def test_files_of_the_same_name_go_by_the_part_of_their_paths_that_differs() -> None:
    assert run_names([Path("one/run"), Path("two/run")]) == ["one", "two"]
    assert run_names([Path("/r/gpt/seed1/a.jsonl"), Path("/r/qwen/seed2/a.jsonl")]) == ["gpt/seed1", "qwen/seed2"]
    # The first path has no part of its own, so whole paths are shown.
    assert run_names([Path("a.jsonl"), Path("x/a.jsonl")]) == ["a.jsonl", "x/a.jsonl"]


def test_run_folders_go_by_the_settings_in_which_they_differ(tmp_path: Path) -> None:
    gpt = run(tmp_path / "1", {"model": "gpt-4.1", "images": True, "retriever": ["lexical"]})
    qwen = run(tmp_path / "2", {"model": "qwen3-8b", "images": True, "retriever": ["lexical"]})
    words = run(tmp_path / "3", {"model": "gpt-4.1", "images": False, "retriever": ["lexical", "bge"]})
    assert run_names([gpt, qwen]) == ["gpt-4.1", "qwen3-8b"]
    assert run_names([gpt, words]) == ["lexical, images true", "lexical, bge, images false"]
    extractive = run(tmp_path / "4", {"images": True, "retriever": ["lexical"]})
    assert run_names([gpt, extractive]) == ["gpt-4.1", "no model"]


def test_a_setting_of_one_run_alone_does_not_read_as_if_the_other_had_it_off(tmp_path: Path) -> None:
    kept, cut = run(tmp_path / "1", {"model": "m"}), run(tmp_path / "2", {"model": "m", "captions": False})
    assert run_names([kept, cut]) == ["captions not set", "captions false"], "no captions would be the other one"


def test_run_folders_of_the_same_or_of_too_many_settings_go_by_their_paths(tmp_path: Path) -> None:
    settings: Configuration = {"model": "gpt-4.1"}
    assert run_names([run(tmp_path / "a", settings), run(tmp_path / "b", settings)]) == ["a", "b"]
    many: Configuration = {"model": "x", "images": True, "size": 15, "order": "shuffled"}
    assert run_names([tmp_path / "a", run(tmp_path / "c", many)]) == ["a", "c"]
    # A file beside a folder has no settings.
    assert run_names([tmp_path / "a", Path("theirs.jsonl")]) == ["a", "theirs"]
