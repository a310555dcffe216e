"""The requests that a run sends besides those for answers, and their failures, against a scripted model server."""

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines
from made_runs import RunIt, row, scripted_reply, value

from quoteweave.core.answers import Usage
from quoteweave.core.errors import DatasetError, StorageError, UsageError
from quoteweave.core.runs import read_run
from quoteweave.testing import ModelServer, Reply

CLAUSES = 'model = "scripted"\nretriever = ["bm25"]\nexpand = "chat"\n'
OWN = 'model = "scripted"\nquotes = "dataset"\n'


def asks_clauses(request: Mapping[str, Any]) -> bool:
    return "image1" not in str(request["messages"])


def both(request: Mapping[str, Any]) -> Reply:
    if asks_clauses(request):
        return Reply(text='["how much was shipped"]', usage=Usage(input_tokens=1000, output_tokens=100))
    return scripted_reply(request)


def test_clauses_are_written_by_the_model_of_the_file_within_the_limits(
    run_it: RunIt,
    port: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = f'[limits]\nconcurrency = 1\ncalls = "{tmp_path / "calls"}"\n'
    with ModelServer(both) as server:
        assert run_it(CLAUSES + calls, "-c", port, url=server.base_url).exit_code == 0
        assert {request["model"] for request in server.requests} == {"scripted"}
        assert len(list((tmp_path / "calls").rglob("*.json"))) == len(server.requests) == 12
        monkeypatch.setenv("QUOTEWEAVE_MODEL", "other")
        assert run_it(CLAUSES + calls, "-c", port, url=server.base_url).exit_code == 0, "the same run, resumed"
        over = run_it(
            CLAUSES + "[limits]\nconcurrency = 1\nmax_tokens = 2000\n", "-c", port, url=server.base_url, out="o"
        )
    assert isinstance(over.exception, UsageError)
    assert "tokens are spent of the 2,000" in str(over.exception)


def test_what_a_search_could_not_do_is_said_with_the_answer(
    run_it: RunIt,
    port: Path,
    tmp_path: Path,
) -> None:
    def lame(request: Mapping[str, Any]) -> Reply:
        return Reply(status=400, text="no such model") if asks_clauses(request) else scripted_reply(request)

    with ModelServer(lame) as server:
        assert run_it(CLAUSES, "-c", port, url=server.base_url).exit_code == 0
    for prediction in read_run(tmp_path / "runs")[1]:
        assert any("searched for alone" in note for note in prediction.notes)


def test_an_error_with_half_a_character_is_a_failure_of_one_question(run_it: RunIt, tmp_path: Path) -> None:
    def bad(request: Mapping[str, Any]) -> Reply:
        broken = len(server.requests) == 2
        return Reply(status=400, body=b'{"error":{"message":"bad \\ud800"}}') if broken else scripted_reply(request)

    with ModelServer(bad) as server:
        assert run_it(OWN + "[limits]\nconcurrency = 1\n", url=server.base_url).exit_code == 1
    assert [prediction.error is None for prediction in read_run(tmp_path / "runs")[1]].count(False) == 1


def test_counts_below_zero_are_not_known(run_it: RunIt, tmp_path: Path) -> None:
    body = {"choices": [{"message": {"content": "So [3]."}}], "usage": {"prompt_tokens": -1, "completion_tokens": -1}}
    with ModelServer(lambda _: Reply(body=json.dumps(body).encode())) as server:
        assert run_it(OWN.replace("scripted", "gpt-4.1"), url=server.base_url).exit_code == 0
    for prediction in read_run(tmp_path / "runs")[1]:
        assert prediction.answer is not None
        assert prediction.answer.price_usd is None


def test_a_folder_of_calls_that_cannot_be_written_ends_the_run(run_it: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("quoteweave.core.files.result_cache.written_whole", full)
    with ModelServer(scripted_reply) as server:
        result = run_it(OWN + '[limits]\nconcurrency = 1\ncalls = "calls"\n', url=server.base_url)
    assert isinstance(result.exception, StorageError)
    assert "No space left on device; free space and resume" in str(result.exception)
    assert len(server.requests) == 1


def test_all_settings_keep_one_pace(run_it: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    from quoteweave.endpoints import rate_limits as limits

    class Bucket(limits.TokenBucket):
        def __init__(self, per_minute: int, *rest: Any) -> None:
            made.append(per_minute)
            super().__init__(per_minute, *rest)

    monkeypatch.setattr("quoteweave.pipeline.composition.make_rag.TokenBucket", Bucket)
    config = OWN + '[limits]\ntokens_per_minute = 100_000\n[[setting]]\nname = "a"\n[[setting]]\nname = "b"\n'
    with ModelServer(scripted_reply) as server:
        assert run_it(config, url=server.base_url).exit_code == 0
    assert made == [100_000]


def test_an_endpoint_that_calls_its_model_extractive_does_not_pass_the_gate(run_it: RunIt, tmp_path: Path) -> None:
    body = {"model": "extractive", "choices": [{"message": {"content": "It was 99,123 tonnes [3]."}}]}
    with ModelServer(lambda _: Reply(body=json.dumps(body).encode())) as server:
        assert run_it(OWN, url=server.base_url).exit_code == 0
    for prediction in read_run(tmp_path / "runs")[1]:
        assert prediction.answer is not None
        assert prediction.answer.citations[0].verdict == "unsupported"
        assert prediction.answer.price_usd is None


@pytest.mark.parametrize("config", ['[setting]\nname = "a"\n', "setting = 3\n", 'setting = ["a"]\n', "setting = []\n"])
def test_settings_that_are_no_tables_are_told(run_it: RunIt, config: str) -> None:
    result = run_it(config)
    assert isinstance(result.exception, UsageError)
    assert "setting" in str(result.exception)


def test_an_address_with_an_open_bracket_is_told(run_it: RunIt) -> None:
    assert isinstance(run_it(OWN + 'base_url = "http://["\n').exception, UsageError)


def test_pictures_of_names_that_no_file_can_have_are_missing_before_anything_is_asked(
    run_it: RunIt, dataset: Path, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in dataset.read_text().splitlines()]
    for one in rows:
        one["img_quotes"][0]["img_path"] = "a\0b.jpg"
    write_json_lines(dataset, rows)
    with ModelServer(scripted_reply) as server:
        result = run_it(OWN + "images = true\n", "--image-folder", tmp_path, url=server.base_url)
    assert isinstance(result.exception, DatasetError)
    assert "a\0b.jpg of question 'grain'" in str(result.exception)
    assert server.requests == []


def test_questions_that_are_too_long_do_not_keep_the_others_waiting(
    run_it: RunIt, dataset: Path, tmp_path: Path
) -> None:
    rows = [{**row("coal"), "q_id": f"long{n}"} for n in range(12)] + [
        {**row("tin"), "q_id": f"ok{n}"} for n in range(3)
    ]
    write_json_lines(dataset, rows)

    def short(request: Mapping[str, Any]) -> Reply:
        long = "much coal was" in str(request["messages"])
        return Reply(status=400, text="maximum context length is 4096 tokens") if long else scripted_reply(request)

    with ModelServer(short) as server:
        outcome = value(run_it(OWN + "[limits]\nconcurrency = 1\n", "--json", url=server.base_url))[0]
    assert (outcome["failed"], outcome["answered"]) == (12, 3)


def test_chunks_that_add_nothing_are_passed_over() -> None:
    from quoteweave.endpoints.chat import CompletionChunk

    assert (
        CompletionChunk.model_validate({"choices": [{"index": 0, "content_filter_offsets": {}}]}).choices[0].delta
        is None
    )
