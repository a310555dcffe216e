"""What a run's configuration says is what is done: limits over all settings, the model's settings, gate, size, view."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from made_runs import RunIt, scripted_reply, value

from quoteweave.core.answers import Usage
from quoteweave.core.errors import UsageError
from quoteweave.core.runs import read_run
from quoteweave.endpoints.rate_limits import RateLimitedChat
from quoteweave.pipeline.runs.answerer import answer_all
from quoteweave.testing import ModelServer, Reply


def test_what_was_spent_before_counts_when_a_run_is_gone_on_with(run_it: RunIt) -> None:
    def costly(request: Mapping[str, Any]) -> Reply:
        return Reply(text=scripted_reply(request).text, usage=Usage(input_tokens=1500, output_tokens=100))

    for limit in ("max_tokens = 3_400", "max_usd = 0.009"):
        config = f'model = "gpt-4.1"\nquotes = "dataset"\n[limits]\nconcurrency = 1\n{limit}\n'
        with ModelServer(costly) as server:
            for _ in range(3):
                result = run_it(config, url=server.base_url, out=limit[:7])
                assert isinstance(result.exception, UsageError)
            assert len(server.requests) == 2


def test_all_settings_together_keep_to_the_tokens_of_a_minute(run_it: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        raise UsageError("it waits")

    def costly(request: Mapping[str, Any]) -> Reply:
        return Reply(text=scripted_reply(request).text, usage=Usage(input_tokens=1200, output_tokens=10))

    defaults: Any = RateLimitedChat.__init__.__kwdefaults__
    monkeypatch.setitem(defaults, "sleep", sleep)
    config = (
        'model = "m"\nquotes = "dataset"\n[limits]\nconcurrency = 1\ntokens_per_minute = 2500\n'
        '[[setting]]\nname = "a"\n[[setting]]\nname = "b"\norder = "shuffled"\n'
    )
    with ModelServer(costly) as server:
        run_it(config, "--limit", 2, url=server.base_url)
        assert len(server.requests) <= 3


def test_what_the_configuration_says_of_the_model_reaches_it(run_it: RunIt, tmp_path: Path) -> None:
    config = (
        'model = "m"\nquotes = "dataset"\nimages = true\nimage_urls = "http://host/crops/"\nthinking = false\n'
        "temperature = 0.5\nmax_tokens = 77\nextra = { top_p = 0.9 }\nretries = 0\ntimeout_s = 0.2\n"
    )
    with ModelServer([Reply(delay_s=60), *[Reply()] * 9]) as server:
        result = run_it(config, "--image-folder", tmp_path, "--limit", 2, url=server.base_url)
        assert len(server.requests) == 2, "after too long a wait, none is tried again"
    assert result.exit_code == 1
    (first, _) = server.requests
    assert (first["temperature"], first["max_tokens"], first["top_p"]) == (0.5, 77, 0.9)
    assert first["chat_template_kwargs"] == {"enable_thinking": False}
    assert "http://host/crops/1.jpg" in str(first["messages"])


def test_as_many_questions_are_under_way_as_the_configuration_says(
    run_it: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[int] = []

    async def ask(*given: Any, concurrency: int) -> None:
        allowed.append(concurrency)
        await answer_all(*given, concurrency=concurrency)

    monkeypatch.setattr("quoteweave.pipeline.runs.answerer.answer_all", ask)
    with ModelServer(scripted_reply) as server:
        config = 'model = "m"\nquotes = "dataset"\n[limits]\nconcurrency = 3\n'
        (outcome,) = value(run_it(config, "--limit", 3, "--json", url=server.base_url))
    assert (outcome["answered"], allowed) == (3, [3])


def test_gate_size_and_view_are_what_the_configuration_says(
    run_it: RunIt, port: Path, dataset: Path, tmp_path: Path
) -> None:
    def wrong(request: Mapping[str, Any]) -> Reply:
        return Reply(text=scripted_reply(request).text.replace("So much", "So much, 77 tonnes of"))

    dataset.write_text(dataset.read_text().replace("And who paid?", "Any note or number?"))
    with ModelServer(wrong) as server:
        for gate in ("off", "report", "refuse"):
            config = f'model = "m"\nretriever = ["bm25"]\nsize = 15\ngate = "{gate}"\n'
            run_it(config, "-c", port, "--limit", 1, url=server.base_url, out=gate)
    for gate, status, verdict in (("off", "answered", None), ("report", "answered", "unsupported")):
        (prediction,) = read_run(tmp_path / gate)[1]
        assert prediction.answer is not None
        assert (prediction.answer.status, prediction.answer.citations[0].verdict) == (status, verdict)
        assert prediction.context is not None
        assert len(prediction.context.texts) == 10
    (refused,) = read_run(tmp_path / "refuse")[1]
    assert refused.answer is not None
    assert refused.answer.status == "abstained"
    with ModelServer(scripted_reply) as server:
        result = run_it('model = "m"\nquotes = "dataset"\nview = "ocr_text"\n', url=server.base_url, out="ocr")
    assert "no image quote of this question has ocr_text" in result.stderr
