"""The settings of a server: its file, what is wrong in it, and the proxies that are believed."""

import re
from pathlib import Path

import pytest
import uvicorn
from command_line import Quoteweave
from live_server import Serve

from quoteweave.core.errors import UsageError
from quoteweave.server.access.control import AccessControl
from quoteweave.server.access.keys import KeyRequest, KeyStore
from quoteweave.server.run import run
from quoteweave.server.settings import ServerSettings, read_server_settings


def written(folder: Path, text: str) -> Path:
    file = folder / "server.toml"
    file.write_text(text, "utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 9", "prot is no setting; did you mean port?"),
        ('[colections]\na = "x"', "colections is no setting; did you mean collections?"),
        ('[answers]\nretreiver = ["bm25"]', "answers.retreiver is no setting; did you mean retriever?"),
        ('[models.large]\nbase_ulr = "http://x"', "models.large.base_ulr is no setting; did you mean base_url?"),
        ("zzz = 1", "zzz is no setting; there are: allowed_hosts, answer_seconds,"),
        ("workers = 0", "workers: Input should be greater than or equal to 1"),
        (
            "max_upload = 2_000_000_000",
            "max_upload_request: 1048576000 bytes are fewer than max_upload, the 2000000000 of one",
        ),
        ('trusted_proxies = ["nginx"]', "'nginx' is neither an address nor a network"),
        ('trusted_proxies = ["*"]', "'*' is neither an address nor a network"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as raised:
        read_server_settings(file, {})
    assert str(raised.value).startswith(f"{file}: ")
    assert message in str(raised.value)


def test_paths_in_the_file_are_relative_to_it(tmp_path: Path) -> None:
    text = """
        state = "state"
        collections_folder = "all"
        collections = {port = "here", quay = "/there"}
        answers = {prompts = "own", terms = ["port.toml"], abstain = "sure.json"}
        models = {large = {model = "m", prompts = "/prompts"}}
    """
    settings = read_server_settings(written(tmp_path, text), {"state": None, "port": 1})
    assert (settings.state, settings.collections_folder) == (tmp_path / "state", tmp_path / "all")
    assert settings.collections == {"port": tmp_path / "here", "quay": Path("/there")}
    assert (settings.answers.prompts, settings.answers.abstain) == (tmp_path / "own", tmp_path / "sure.json")
    assert settings.answers.terms == (tmp_path / "port.toml",)
    assert settings.models["large"].prompts == Path("/prompts")


@pytest.mark.parametrize("shown", [{"public_url": "https://docs.example.org"}, {"trusted_proxies": ["127.0.0.1"]}])
def test_a_server_behind_a_proxy_needs_keys(tmp_path: Path, shown: dict[str, object]) -> None:
    settings = ServerSettings.model_validate({"state": tmp_path, **shown})
    with pytest.raises(UsageError, match="whoever reaches the proxy could do everything; make one with"):
        AccessControl(settings).check_start()
    AccessControl(ServerSettings(state=tmp_path, public_url="http://127.0.0.1:9000")).check_start()


def test_who_can_reach_the_server_is_told(
    tmp_path: Path, sample_collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_: None)
    KeyStore(tmp_path).add(KeyRequest("reader"))
    file = tmp_path / "server.toml"
    given = {"state": tmp_path, "collections": {"port": sample_collection}, "port": 0}
    for settings, reached in (
        ("", "only this machine can reach it"),
        ('public_url = "https://docs.example.org"', "behind a proxy, as https://docs.example.org"),
        ('trusted_proxies = ["127.0.0.1"]', "behind a proxy"),
    ):
        file.write_text(settings, "utf-8")
        told: list[str] = []
        run(file, given, notify=told.append)
        assert re.fullmatch(rf"quoteweave is serving port at http://127\.0\.0\.1:\d+ \({reached}\)", told[-1])


FORWARDED = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "Host": "docs.example.org"}


def test_only_a_trusted_proxy_says_where_a_request_comes_from(serve: Serve) -> None:
    settings: dict[str, object] = {"requests_per_minute": 1, "allowed_hosts": ["docs.example.org"]}
    trusting, plain = serve(**settings, trusted_proxies=["127.0.0.0/8"]), serve(**settings)
    found = trusting.client.post(
        "/v1/collections/port/search", json={"question": "grain", "k": 1}, headers=FORWARDED
    ).json()
    assert found["hits"][0]["url"].startswith("https://docs.example.org/c/port/q/")
    for server, second in ((trusting, 200), (plain, 429)):
        asked = [
            server.client.get("/v1/models", headers={**FORWARDED, "X-Forwarded-For": client}).status_code
            for client in ("203.0.113.1", "203.0.113.2")
        ]
        assert asked == [200, second]


def test_damaged_jobs_are_told_in_one_line_before_the_server_listens(
    tmp_path: Path, sample_collection: Path, quoteweave: Quoteweave
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "jobs.sqlite").write_text("no database at all", "utf-8")
    said = quoteweave("serve", "-c", sample_collection, "--state", state, "--port", "0")
    assert said.code != 0
    assert "jobs.sqlite cannot be read or written (file is not a database); the file is damaged: move it away" in (
        said.err
    )
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('[answers]\nmodel = "gpt-4.1"\n', "answers.model: No endpoint for the model gpt-4.1; set OPENAI_BASE_URL"),
        ('[answers]\nretriever = ["bgee"]\n', "answers: there is no retriever 'bgee'; did you mean 'bge'?"),
        ('[answers]\nterms = ["nosuch.toml"]\n', "nosuch.toml cannot be read"),
        ('[models.local]\nmodel = "qwen3"\n', "models.local: No endpoint for the model qwen3; set OPENAI_BASE_URL"),
    ],
)
def test_settings_by_which_no_question_could_be_answered_are_told_before_the_server_listens(
    tmp_path: Path, sample_collection: Path, quoteweave: Quoteweave, settings: str, told: str
) -> None:
    file = tmp_path / "server.toml"
    file.write_text(settings, "utf-8")
    said = quoteweave("serve", "--config", file, "-c", sample_collection, "--state", tmp_path, "--port", "0")
    assert (said.code, told in said.err) == (2, True), said.err


def test_a_wrong_value_is_told_without_words_of_the_validation_library(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^collections: 'a b' cannot be a collection's name"):
        read_server_settings(None, {"collections": {"a b": tmp_path}})


def test_a_server_that_lets_nobody_in_is_not_ready(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    assert server.client.get("/readyz").status_code == 200
    (tmp_path / "state" / "keys.json").write_text("damaged", "utf-8")
    found = server.client.get("/readyz")
    assert (found.status_code, found.json()["status"]) == (503, "degraded")
    assert server.client.get("/healthz").status_code == 200
