"""The command line as a process: exit codes, the two streams, a reader that goes away, Ctrl-C, help."""

import gc
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
from command_line import Quoteweave
from forked_programs import ForkedProgram
from made_collections import make_collection
from typer.core import TyperGroup

from quoteweave.cli.app import LazyCommand, app
from quoteweave.testing import ModelServer, Reply

# Some programs are started as a shell would start them; the others are forks.
Start = Callable[..., "subprocess.Popen[str]"]
COMMANDS = ("add", "ask", "search", "show", "list", "status", "remove", "demo", "eval")


def started(*arguments: object, start: Start = ForkedProgram, **environment: str) -> subprocess.Popen[str]:
    return start(
        [sys.executable, "-m", "quoteweave", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def ended(*arguments: object, start: Start = ForkedProgram) -> tuple[int, str, str]:
    process = started(*arguments, start=start)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def help_texts(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Each help text of a command and of those below it, with what it is the help of."""
    if isinstance(command, TyperGroup):
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield from help_texts(command.get_command(context, name), (*path, name))
        return
    yield " ".join(path), command.help or ""
    for parameter in command.params:
        yield " ".join((*path, parameter.name or "")), getattr(parameter, "help", None) or ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("serach", "grain"), "No such command 'serach'. Did you mean 'search'?"),
        (("eval", "scroe"), "No such command 'scroe'. Did you mean 'score'?"),
        (("list", "all", "-c", "port"), "Unexpected: all"),
        (
            ("ask", "How", "much", "grain?", "-c", "port"),
            "Write an argument of several words in quotation marks; unexpected: much grain?",
        ),
    ],
)
def test_what_was_mistyped_is_told_with_what_to_write(
    quoteweave: Quoteweave, arguments: tuple[str, ...], told: str
) -> None:
    assert quoteweave(*arguments).err.splitlines()[-1] == f"Error: {told}"


def test_no_help_has_words_that_are_taken_for_markup_and_not_shown() -> None:
    swallowed = re.compile(r"\[[a-z#/@][^\]]*\]")  # what Rich takes for a tag
    texts = dict(help_texts(typer.main.get_command(app)))
    assert len(texts) > 200
    assert [name for name, text in texts.items() if swallowed.search(text)] == []


def test_help_names_every_command() -> None:
    code, out, err = ended("--help", start=subprocess.Popen)
    assert (code, err) == (0, "")
    assert out.lstrip().startswith("Usage: python -m quoteweave ")
    assert all(f" {command} " in out for command in COMMANDS)


@pytest.mark.parametrize("command", [(command,) for command in COMMANDS] + [("eval", "retrieval")])
def test_every_command_has_help(quoteweave: Quoteweave, command: tuple[str, ...]) -> None:
    got = quoteweave(*command, "--help")
    assert (got.code, got.err) == (0, "")
    # Within another program its name stands before ours.
    assert re.match(rf"Usage: .*quoteweave {' '.join(command)} ", got.out.lstrip())
    assert "--json" in got.out or command == ("eval",)


def test_help_writes_values_as_people_do_and_not_as_types_of_python(quoteweave: Quoteweave) -> None:
    for command in (("add",), ("import",), ("search",), ("eval", "calibrate"), ("eval", "compare"), ("run",)):
        said = quoteweave(*command, "--help").out
        assert (
            re.findall(r"<(?:str|int|float|[Pp]ath|list|dict)\b[^>]*>|\{\w+[^}]*\}", said.partition("--json prints")[0])
            == []
        )
    assert "quoteweave search [OPTIONS] QUESTION\n" in quoteweave("search", "--help").out
    assert "--kind <text|image>" in quoteweave("search", "--help").out
    assert "FORMAT <mineru|" in quoteweave("import", "--help").out


def test_a_wrong_value_is_told_without_the_words_of_the_library_that_checked_it(quoteweave: Quoteweave) -> None:
    got = quoteweave("search", "wood", "--kind", "table")
    assert (got.code, got.err.splitlines()[-1]) == (
        2,
        "Error: Invalid value for '--kind': 'table' is not one of 'text', 'image'.",
    )


def test_version() -> None:
    assert ended("--version", start=subprocess.Popen) == (0, f"quoteweave {version('quoteweave')}\n", "")


def test_without_a_command_help_is_shown_as_wrong_use() -> None:
    code, out, err = ended(start=subprocess.Popen)
    assert code == 2
    assert "Usage:" in out + err


def test_the_streams_and_codes_of_success_failure_and_wrong_use(tmp_path: Path) -> None:
    make_collection(tmp_path, {"a.txt": ["grain"]}).close()
    found = ("search", "grain", "-c", tmp_path / "collection", "--json")
    code, out, err = ended(*found, start=subprocess.Popen)
    assert (code, err, len(json.loads(out)["hits"])) == (0, "", 1)
    code, out, err = ended("search", "grain", "-c", tmp_path / "none", "--json")
    assert (code, out, err.partition(":")[0]) == (1, "", "error")
    code, out, err = ended("search", "grain", "-c", tmp_path / "collection", "--doc", "b.txt", "--json")
    assert (code, out, err.partition(":")[0]) == (2, "", "error")
    code, out, err = ended("search", "grain", "--colection", tmp_path)
    assert (code, out) == (2, "")
    assert "--collection" in err


@pytest.mark.parametrize("form", [["--json"], []])
def test_a_reader_that_has_gone_away_is_no_reason_for_a_traceback(form: list[str], tmp_path: Path) -> None:
    make_collection(tmp_path, {"a.txt": ["grain"]}).close()
    process = started("search", "grain", "-c", tmp_path / "collection", *form)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")


def test_ctrl_c_ends_a_question_that_a_model_is_slow_to_answer(tmp_path: Path) -> None:
    make_collection(tmp_path, {"a.txt": ["grain"]}).close()

    def interrupt(_: object) -> Reply:
        process.send_signal(signal.SIGINT)
        return Reply(delay_s=300)

    with ModelServer(interrupt) as server:
        asked = ("--model", "m", "--base-url", server.base_url)
        process = started("ask", "grain?", "-c", tmp_path / "collection", *asked)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1].startswith("interrupted; ")
    assert "Traceback" not in err


def test_what_a_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    make_collection(tmp_path, {"🍊.txt": ["größer"], "a\nb.txt": ["x"]}).close()
    for command in (("search", "größer"), ("list", "--json")):
        asked = (*command, "-c", tmp_path / "collection")
        with started(*asked, start=subprocess.Popen, PYTHONIOENCODING="ascii") as process:
            out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        if "--json" in command:
            assert [one["name"] for one in json.loads(out)] == ["a\nb.txt", "🍊.txt"]
        else:
            assert "\\U0001f34a.txt" in out
    assert "'a\\nb.txt'" in ended("list", "-c", tmp_path / "collection")[1]


@pytest.mark.parametrize("command", [("list",), ("ask", "How did grain come?")])
def test_a_terminal_of_unknown_width_shows_all(tmp_path: Path, command: tuple[str, ...]) -> None:
    make_collection(tmp_path, {"a.txt": ["Grain came by sea."]}).close()
    program = [sys.executable, "-m", "quoteweave", *command, "-c", str(tmp_path / "collection")]
    out = subprocess.run(program, check=True, env={**os.environ, "COLUMNS": "0"}, stdout=subprocess.PIPE).stdout
    assert b"a.txt" in out


def test_a_name_of_several_lines_is_cited_on_one(tmp_path: Path) -> None:
    make_collection(tmp_path, {"a\nb.txt": ["Grain came by sea."]}).close()
    out = ended("ask", "How did grain come?", "-c", tmp_path / "collection")[1]
    assert "]       'a\\nb.txt', page 1  " in out


@pytest.mark.parametrize(("command", "code"), [(("cite", "-"), 2), (("mcp",), 0)])
def test_a_closed_input_is_an_empty_one(tmp_path: Path, command: tuple[str, ...], code: int) -> None:
    make_collection(tmp_path, {"a.txt": ["Grain came by sea."]}).close()
    program = [sys.executable, "-m", "quoteweave", *command, "-c", str(tmp_path / "collection")]
    process = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *program], check=False, capture_output=True, text=True)
    assert (process.returncode, "Traceback" in process.stderr) == (code, False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [("list",), ("list", "--json"), ("status",), ("models",)])
def test_an_output_that_cannot_be_written_is_told(tmp_path: Path, command: tuple[str, ...]) -> None:
    make_collection(tmp_path, {"a.txt": ["grain"]}).close()
    where = () if command == ("models",) else ("-c", tmp_path / "collection")
    with Path("/dev/full").open("w") as full:
        arguments = [sys.executable, "-m", "quoteweave", *command, *where]
        with ForkedProgram(arguments, stdout=full, stderr=subprocess.PIPE) as process:
            _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (
        1, "error: the output cannot be read or written (No space left on device)\n"
    )  # fmt: skip


def test_no_file_of_a_command_takes_the_number_of_a_stream_that_is_closed() -> None:
    """Reading processes silence file 2, and so cut the connection that had this number: files seemed to be damaged."""
    code = (
        "import os, sys\nos.closerange(0, 3)\nfrom quoteweave.cli.app import main\nsys.argv[1:] = ['--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    os._exit(sum(map(os.get_inheritable, range(3))))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 3


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_a_question_is_answered_where_standard_files_are_closed(tmp_path: Path, closed: str) -> None:
    make_collection(tmp_path, {"a.txt": ["Grain came by sea."]}).close()
    command = f'exec "$0" -m quoteweave ask "How did grain come?" -c "$1" --html "$2" {closed}'
    ended = subprocess.run(
        ["sh", "-c", command, sys.executable, tmp_path / "collection", tmp_path / "a.html"], check=False
    )
    assert ended.returncode == 0
    assert "Grain came by sea" in (tmp_path / "a.html").read_text("utf-8")


def test_an_empty_path_is_not_this_folder(tmp_path: Path) -> None:
    for arguments in (("add", "", "-c", tmp_path / "c"), ("add", tmp_path, "-c", "")):
        code, _, err = ended(*arguments)
        assert (code, "the path is empty" in err) == (2, True)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("module", ["quoteweave.cli.commands.models", "quoteweave.cli.commands.missing"])
def test_garbage_is_collected_again_once_a_command_is_imported(module: str) -> None:
    with suppress(ModuleNotFoundError):
        LazyCommand("", module, "models").load("models")

    assert gc.isenabled()
