"""The walks of docs/architecture.md are those of a page and a question: recorded, and compared with the steps."""

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest
from traced_calls import PACKAGE, Call, trace_command

ARCHITECTURE = PACKAGE.parent / "docs" / "architecture.md"
COUNTS = ARCHITECTURE, ARCHITECTURE.parent / "decisions" / "0026-files-of-a-walk.md"
GOALS = {"add": 20, "ask": 28}

Named = list[tuple[str, Path]]


def linked(text: str) -> Named:
    """The text of each link of the page that leads to a file, and that file."""
    matches = re.findall(r"\[([^\]]+)\]\(([^)]+)\)", text)
    return [(shown, (ARCHITECTURE.parent / target).resolve()) for shown, target in matches]


def functions_in(links: Named) -> Named:
    """The functions and classes that these links name."""
    return [(name, file) for shown, file in links for name in re.findall(r"`([\w.]+)`", shown)]


@dataclass(frozen=True)
class Step:
    """A numbered line of a walk: a function, those that it calls, and all files that the line names."""

    file: Path
    name: str
    called: Named
    named: frozenset[Path]

    @classmethod
    def of(cls, line: str) -> "Step":
        ((shown, file), *_), (_, _, called) = linked(line), line.partition(" Calls ")
        (name,) = functions_in([(shown, file)])
        names = functions_in(linked(called))
        return cls(file, name[0], names, frozenset(path for _, path in linked(line)))


def steps_of(command: str) -> list[Step]:
    flows = ARCHITECTURE.read_text("utf-8").split("\n## ")
    (flow,) = (flow for flow in flows if f"`quoteweave {command}" in flow.partition("\n")[0])
    return [Step.of(line) for line in flow.splitlines() if re.match(r"\d+\. ", line)]


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Call]]:
    """The calls of `add` of a report, and of a question asked of it."""
    folder = tmp_path_factory.mktemp("traces")
    collection, report = folder / "collection", PACKAGE / "samples" / "pdf" / "harbour-report.pdf"
    question = "How many vessel calls did the port receive in 2023, and how did the quarters compare?"
    return {
        "add": trace_command(folder, "add", report, "-c", collection),
        "ask": trace_command(folder, "ask", question, "-c", collection, "--html", folder / "answer.html"),
    }


def calls_of(name: str, file: Path, calls: list[Call]) -> list[int]:
    """The places of the calls of a function, or of any method of a class."""
    return [at for at, call in enumerate(calls) if call.file == file and f"{call.name}.".startswith(f"{name}.")]


def way_to(call: Call, first: Path) -> list[Path]:
    """The file of a call and those that wait for it, innermost first, to the command's own; without those of `core`."""
    way = [call.file, *call.callers]
    if first in way:
        del way[len(way) - way[::-1].index(first) :]
    return [file for file in way if file.relative_to(PACKAGE).parts[0] != "core"]


@pytest.mark.parametrize("command", GOALS)
def test_the_steps_and_what_they_call_run_in_this_order(command: str, traces: dict[str, list[Call]]) -> None:
    calls, steps = traces[command], steps_of(command)
    named = [(step.name, step.file) for step in steps]
    uncalled = [
        name
        for name, file in (*named, *(function for step in steps for function in step.called))
        if not calls_of(name, file, calls)
    ]
    assert uncalled == []
    first = [calls_of(name, file, calls)[0] for name, file in named]
    assert [name for name, _ in named] == [name for _, (name, _) in sorted(zip(first, named, strict=True))]


@pytest.mark.parametrize("command", GOALS)
def test_no_file_that_waits_for_a_step_is_missing_from_the_walk(command: str, traces: dict[str, list[Call]]) -> None:
    calls, steps = traces[command], steps_of(command)
    handing_on = {step.file for step in steps}
    missing = {
        (step.name, str(file.relative_to(PACKAGE)))
        for step in steps
        for file in way_to(calls[calls_of(step.name, step.file, calls)[0]], steps[0].file)
        if file not in handing_on
    }
    assert missing == set()


@pytest.mark.parametrize(("command", "goal"), GOALS.items())
def test_the_numbers_of_files_are_those_of_the_walk(command: str, goal: int, traces: dict[str, list[Call]]) -> None:
    pages = "\n".join(page.read_text("utf-8") for page in COUNTS)
    rows = re.findall(r"^\| .* \| (\d+) \| (\d+) \|$", pages, re.MULTILINE)
    handing_on, named, entered, called_back = (int(row[list(GOALS).index(command)]) for row in rows)
    calls, steps = traces[command], steps_of(command)
    ways = ([file for file, _ in groupby(way_to(call, steps[0].file))] for call in calls)
    again = {way[0] for way in ways if way and way[0] in way[1:]}
    counted = len({step.file for step in steps}), len({file for step in steps for file in step.named}), len(again)
    assert counted == (handing_on, named, called_back)
    assert handing_on <= goal
    assert len({call.file for call in calls}) == pytest.approx(entered, abs=5)
