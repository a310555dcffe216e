"""A configuration of somebody else's, which names an address of theirs, does not get the user's key."""

import json
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, make_collection

from quoteweave.testing import ModelServer, Reply

KEY = "sk-very-secret-0123456789"


@pytest.mark.parametrize("own", [None, "http://127.0.0.1:9/v1"])
def test_a_runs_address_does_not_get_the_environments_key(
    own: str | None, quoteweave: Quoteweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_collection(tmp_path, {"port.md": [made_quote("The port received 1,204 tonnes of grain in 2023.")]}).close()
    questions, config = tmp_path / "questions.jsonl", tmp_path / "config.toml"
    questions.write_text(json.dumps({"question": "How much grain did the port receive?"}))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    if own is not None:
        monkeypatch.setenv("OPENAI_BASE_URL", own)
    with ModelServer(lambda _: Reply(text="It received 1,204 tonnes [1].")) as server:
        config.write_text(f'model = "m"\nbase_url = "{server.base_url}"\nwithin = "collection"\n')
        said = ("--references", questions, "--config", config, "--out", tmp_path / "run", "-c", tmp_path / "collection")
        assert quoteweave("run", "--dataset", "questions", *said).code == 0
    assert len(server.requests) == 1
    assert KEY not in str(server.headers)
