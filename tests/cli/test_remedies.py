"""What errors advise to set can be set by the command that prints them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer
from command_line import Quoteweave, configured
from made_collections import made_quote, make_collection

from quoteweave.cli.app import app
from quoteweave.cli.parameters import setting_name
from quoteweave.core.errors import by_setting, join_ways, settings_named_by
from quoteweave.testing import ModelServer, Reply

PACKAGE = Path(__file__).parents[2] / "quoteweave"
QUESTION = "What does the port store?"


def commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        yield path.strip(), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from commands(command.get_command(context, name), f"{path} {name}")


COMMANDS = dict(commands(typer.main.get_command(app)))
SETTINGS = sorted(
    {
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r'by_setting\(\s*"[^"]*",\s*"(\w+)"', path.read_text("utf-8"))
    }
)


@pytest.mark.parametrize("name", COMMANDS)
def test_settings_are_named_by_options_and_files_that_the_command_has(name: str) -> None:
    own = {option for parameter in COMMANDS[name].params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert "timeout_s" in SETTINGS
    for setting in SETTINGS:
        named = setting_name(COMMANDS[name].params, setting)
        assert named is None or set(re.findall(r"--[a-z-]+", named)) <= own


def test_options_files_and_neither() -> None:
    def names(setting: str) -> list[str | None]:
        return [setting_name(COMMANDS[name].params, setting) for name in ("search", "ask", "run", "cite")]

    in_file = "in the file of --config"
    assert names("timeout_s") == ["--timeout", f"timeout_s {in_file}", f"timeout_s {in_file}", None]
    assert names("trust_remote_code") == ["--trust-remote-code", "--trust-remote-code", None, None]
    assert names("model") == [None, "--model", f"model {in_file}", None]
    assert setting_name(COMMANDS["ask"].params, "images") == "--no-images"


def test_ways_are_joined_and_those_that_the_command_lacks_left_out() -> None:
    with settings_named_by({"a": "--a"}.get):
        assert join_ways("ask", by_setting("set {}", "a"), by_setting("set {}", "b")) == "ask, or set --a"
        assert join_ways(by_setting("set {}", "b")) is None
    assert by_setting("set {}", "b", in_python="Settings.b") == "set Settings.b"


def test_a_server_that_is_too_slow(quoteweave: Quoteweave, tmp_path: Path) -> None:
    make_collection(tmp_path, {"port.md": [made_quote("The port stores grain.")]}).close()
    port, said = tmp_path / "collection", "the limit of a call with all its attempts; ask again"
    with ModelServer(lambda _: Reply(endless=b" ", every_s=0.01)) as server:
        name = f"chat:m@{server.base_url}"
        waits = configured(tmp_path, call_limit_s=0.3, retries=0, expand=name)
        asked = quoteweave("ask", QUESTION, "-c", port, *waits).err
        assert f"{said}, or raise the limit: call_limit_s in the file of --config" in asked
        found = quoteweave("search", QUESTION, "-c", port, "--expand", name, "--call-limit", 0.3, "--retries", 0).err
        assert f"{said}, or raise the limit: --call-limit\n" in found


def test_a_model_without_an_endpoint_is_told_by_the_options_that_the_command_has(
    quoteweave: Quoteweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    make_collection(tmp_path, {"port.md": [made_quote("The port stores grain.")]}).close()
    asked = quoteweave("ask", QUESTION, "-c", tmp_path / "collection", "--model", "m").err
    assert "set OPENAI_BASE_URL (or --base-url) to" in asked
    assert "or OPENAI_API_KEY (or --api-key) to" in asked
    found = quoteweave("search", QUESTION, "-c", tmp_path / "collection", "--expand", "chat:m").err
    assert "set OPENAI_BASE_URL to the address" in found
