"""Examples in docstrings run: each public class has one, and functions of any module may."""

import asyncio
import doctest
import importlib
import inspect
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_server import LiveServer

import quoteweave
import quoteweave.evaluation
from quoteweave import Collection, add
from quoteweave.server.settings import ServerSettings

CLASSES = {name for name in quoteweave.__all__ if inspect.isclass(getattr(quoteweave, name))}
PROTOCOLS = {name for name in CLASSES if getattr(getattr(quoteweave, name), "_is_protocol", False)}
"""docs/extending.md has examples of those that people implement."""
ERRORS = {name for name in CLASSES if issubclass(getattr(quoteweave, name), Exception)}
# Examples that need a model's weights, or results of calls to a model.
NOT_RUN = {
    *("CollectionPictures", "DescribeOptions", "DescribeReport", "LocalChat", "Resources", "VectorRetriever"),
    *(
        "AnswerEvent",
        "CitationEvent",
        "ImageEvent",
        "SourcesEvent",
        "TextEvent",
        "ThoughtEvent",
        "ChatSettings",
        "ResourceSettings",
    ),
    *("RetrievalRun", "RunFile", "RunHooks", "RunOutcome", "RunSettings", "Terms"),
}
CLIENTS = {"AsyncClient", "Client"}
"""They ask a server."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one document in `reports`, and a collection of it in `made-once`."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "reports").mkdir()
    text = "# Freight in May\n\nThe harbour shipped 4,210 tonnes of grain in May.\n\nTimber went by rail.\n"
    (folder / "reports" / "port.md").write_text(text)
    with Collection.create(folder / "made-once") as opened:
        add(opened, [folder / "reports"])
    return folder


@pytest.fixture
def collection(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collection]:
    """A copy of that collection, beside `reports` in the working folder; adding anew takes a process for each test."""
    monkeypatch.chdir(folder)
    shutil.copytree("made-once", "my-collection")
    with Collection.open("my-collection") as opened:
        yield opened
    shutil.rmtree("my-collection")


@pytest.mark.parametrize("name", sorted(CLASSES - PROTOCOLS - ERRORS - NOT_RUN - CLIENTS))
def test_the_example_of_a_public_class_runs(name: str, collection: Collection) -> None:
    run_example(name, {"collection": collection})


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_the_example_of_a_client_runs(name: str, collection: Collection) -> None:
    with LiveServer(ServerSettings(collections={"port": Path("my-collection")}, state=Path("state"))) as server:
        run_example(name, {"server": server})


def run_example(name: str, names: dict[str, object]) -> None:
    known = {public_name: getattr(quoteweave, public_name) for public_name in quoteweave.__all__}
    known |= {**names, "asyncio": asyncio, "Path": Path}
    doctests = doctest.DocTestFinder(recurse=False).find(getattr(quoteweave, name), name, globs=known)
    assert [bool(test.examples) for test in doctests] == [True], "a public class has an example"
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctests:
        runner.run(test, out=sys.stderr.write)
    assert runner.summarize(verbose=False).failed == 0


PACKAGE = Path(quoteweave.__file__).parent
PUBLIC = {*quoteweave.__all__, *quoteweave.evaluation.__all__}
SHOWN_ALONE = {"FollowUps", "Served", "make_app", "printed_row"}
"""Of others, those whose examples go on from a model, a collection or a table."""


def test_the_examples_of_all_that_is_not_public_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the names of their own module alone; those of the agent need its files and models."""
    monkeypatch.chdir(tmp_path)
    failed = []
    files = (file for file in PACKAGE.rglob("*.py") if "attribution" not in file.parts)
    for file in sorted(file for file in files if ">>> " in file.read_text("utf-8")):
        name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for test in doctest.DocTestFinder().find(importlib.import_module(name), name):
            is_public = not (PUBLIC | SHOWN_ALONE).isdisjoint(test.name.removeprefix(f"{name}.").split("."))
            runner = doctest.DocTestRunner(verbose=False)
            if not is_public and runner.run(test, out=sys.stderr.write).failed:
                failed.append(test.name)
    assert failed == []
