"""What happens to `quoteweave add` when processes crash, are killed or interrupted, and when the disk refuses."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import forked_programs
import killed_processes
import psutil
import pytest
from made_files import PROSE, jpeg_bytes, pdf, write
from operating_system import ends

from quoteweave.cli.app import main
from quoteweave.collection.collection import Collection
from quoteweave.core.records import Query
from quoteweave.documents.file_reading import AddProgress
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.sparse import Bm25Retriever

# Python runs this when a process starts; in a process that reads, it does what the name of a file asks for.
MEDDLER = """
import multiprocessing, os, signal, sys, threading
from pathlib import Path

def act(path, calls):
    name = Path(path).name
    if "crashes-when-looked-at" in name or ("crashes-when-read" in name and "read_whole" in calls):
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("crashes-once") and "read_whole" in calls and not Path(path + ".done").exists():
        Path(path + ".done").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("stuck") and "read_whole" in calls:
        with open(os.environ["REPORTS"], "w") as reports:
            print(os.getpid(), file=reports)
        with open(os.environ["ORDERS"]) as orders:
            orders.read()

def meddle(event, arguments):
    if event == "open" and multiprocessing.parent_process() and str(arguments[0]).endswith(".txt"):
        frame, calls = sys._getframe(), set()
        while frame := frame.f_back:
            calls.add(frame.f_code.co_name)
        act(str(arguments[0]), calls)

sys.addaudithook(meddle)
"""
COMMAND = "import sys; from quoteweave.cli.app import main; main()"
QUESTIONS = [Query(text=text) for text in ("Where were the cranes moved?", "ferries in 17", "dredged")]


@pytest.fixture
def meddler(tmp_path: Path) -> dict[str, str]:
    """The environment of a process whose workers are meddled with, and by which it can be spoken to."""
    folder = write(tmp_path / "meddler", {"sitecustomize.py": MEDDLER})
    os.mkfifo(folder / "reports")
    os.mkfifo(folder / "orders")
    return {"PYTHONPATH": str(folder), "REPORTS": str(folder / "reports"), "ORDERS": str(folder / "orders")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", {f"{i:02}.md": f"# Port {i}\n\n{PROSE}\n\nBuilt in {i}." for i in range(12)})


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-c", COMMAND, *map(str, arguments)]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return forked_programs.run(command(*arguments))


@contextmanager
def running(*arguments: str | Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A command in a process group of its own, as from a shell; the meddler acts as Python starts, unlike a fork."""
    started = subprocess.Popen[str] if environment else forked_programs.ForkedProgram
    with started(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def state(root: Path) -> dict[str, Any]:
    """All that a collection would tell, but for times and the numbers of rows."""
    with Collection.open(root) as collection:
        images = {path.name for path in (root / "images").rglob("*") if path.is_file()}
        return {
            "documents": collection.documents(),
            "pages": {document.name: collection.pages(document.name) for document in collection.documents()},
            "quotes": [quotes for _, _, quotes in collection.iter_documents_quotes()],
            "failures": {failure.name: failure.reason for failure in collection.failures()},
            "images": images,
            "lexical": LexicalRetriever(collection).search(QUESTIONS, 5),
            "bm25": Bm25Retriever(collection).search(QUESTIONS, 5),
        }


def assert_whole(root: Path) -> int:
    """Whatever is in the collection is complete; gives the number of documents."""
    with Collection.open(root) as collection:
        for document, rows, quotes in collection.iter_documents_quotes():
            assert document.quotes == len(rows) == len(quotes)
            assert document.pages == len(collection.pages(document.name))
            assert collection.source_file(document.name).is_file()
            assert all(collection.images.path(quote.image).is_file() for quote in quotes if quote.image)
        return len(collection.documents())


def descendants(pid: int) -> set[int]:
    return {one.pid for one in psutil.Process(pid).children(recursive=True)}


def add_and_die(folder: Path, root: Path, moment: int) -> None:
    forked_programs.read_in_forks()
    killed_processes.STEPS.discard("open")  # imports are most of these
    killed_processes.die_at(moment)
    sys.argv = ["quoteweave", "add", str(folder), "-c", str(root), "--no-ocr", "--processes", "1"]
    main()


def test_killed_again_and_again_it_ends_with_what_an_undisturbed_run_gives(tmp_path: Path, folder: Path) -> None:
    for number in range(3):
        pdf(folder / f"{number}.pdf", [f"Quay {number}, page {page}. {4 * PROSE}" for page in range(8)])
        (folder / f"scan {number}.jpg").write_bytes(jpeg_bytes((60 + number, 80)))
    write(folder, {"broken.pdf": "<html>"})
    assert run("add", folder, "-c", tmp_path / "undisturbed", "--no-ocr").returncode == 1
    expected = state(tmp_path / "undisturbed")
    assert len(expected["documents"]) == 18
    assert all(hits for hits in expected["lexical"])

    root, moments = tmp_path / "c", random.Random(11)
    counts, statuses = [], []
    for number in range(40):
        steps = 20 + number * moments.randint(10, 20)  # at first while it reads, at last while it indexes
        statuses.append(killed_processes.in_a_process(add_and_die, folder, root, steps))
        if statuses[-1] >= 0:
            break
        counts.append(assert_whole(root) if (root / "collection.json").exists() else 0)
    assert set(statuses[:-1]) == {-signal.SIGKILL}
    assert counts == sorted(counts)
    assert len(set(counts)) > 3
    assert run("add", folder, "-c", root, "--no-ocr").returncode == 1
    assert state(root) == expected


def test_killed_while_it_indexes_it_goes_on_from_there(tmp_path: Path, folder: Path) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from quoteweave.documents.file_reading import AddProgress
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.collection.collection import Collection
with Collection.create(Path(sys.argv[2])) as collection:
    die = lambda: os.kill(os.getpid(), signal.SIGKILL)
    add(collection, [Path(sys.argv[1])], AddOptions(settings=ParserSettings(ocr=False)), AddProgress(on_index=die))
"""
    arguments = [sys.executable, "-c", script, str(folder), str(tmp_path / "c")]
    assert forked_programs.run(arguments).returncode == -signal.SIGKILL
    assert assert_whole(tmp_path / "c") == 12
    with Collection.open(tmp_path / "c") as collection:
        assert collection.indexes() == []
        report = add(collection, [folder], AddOptions(settings=ParserSettings(ocr=False)))
        assert len(report.unchanged) == 12
    add_undisturbed(tmp_path / "undisturbed", folder)
    assert state(tmp_path / "c") == state(tmp_path / "undisturbed")


def add_undisturbed(root: Path, folder: Path) -> None:
    with Collection.create(root) as collection:
        add(collection, [folder], AddOptions(settings=ParserSettings(ocr=False)))


def test_a_crash_costs_only_the_document_that_makes_it(
    tmp_path: Path, folder: Path, meddler: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = "it crashes the program that reads it, and is damaged or hostile"
    names = ("00 crashes-when-looked-at.txt", "05 crashes-when-read.txt", "zz crashes-when-read.txt")
    write(folder, {**dict.fromkeys(names, "Crash."), "crashes-once.txt": "Read at the second attempt."})
    monkeypatch.setenv("PYTHONPATH", meddler["PYTHONPATH"])
    totals: list[int] = []
    done: list[int] = []
    progress = AddProgress(totals.append, lambda _, pages: done.append(pages))
    with Collection.create(tmp_path / "c") as collection:
        options = AddOptions(settings=ParserSettings(ocr=False), processes=2)
        report = add(collection, [folder], options, progress)
        assert {refused.name: refused.reason for refused in report.failed} == dict.fromkeys(names, crash)
        assert report.added == (*(f"{number:02}.md" for number in range(12)), "crashes-once.txt")
        assert sum(done) == sum(totals) == 15
        assert {failure.name for failure in collection.failures()} == set(names)


def test_no_process_outlives_a_killed_parent(tmp_path: Path, folder: Path, meddler: dict[str, str]) -> None:
    write(folder, {"stuck.txt": "Stuck."})
    with running("add", folder, "-c", tmp_path / "c", "--processes", "2", environment=meddler) as process:
        worker = int(Path(meddler["REPORTS"]).read_text())
        workers = descendants(process.pid)
        assert worker in workers
        process.kill()
    assert all(ends(pid) for pid in workers)
    assert_whole(tmp_path / "c")


def test_interrupted_it_leaves_a_collection_that_can_be_completed(
    tmp_path: Path, folder: Path, meddler: dict[str, str]
) -> None:
    write(folder, {"stuck.txt": "Stuck."})
    root = tmp_path / "c"
    with running("add", folder, "-c", root, "--no-ocr", "--processes", "2", environment=meddler) as process:
        Path(meddler["REPORTS"]).read_text()
        workers = descendants(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert said == "interrupted; what was done is kept, and the same command goes on from there\n"
    assert all(ends(pid) for pid in workers)
    before = assert_whole(root)
    assert before < 13
    resumed = run("add", folder, "-c", root, "--no-ocr", "--json")
    assert resumed.returncode == 0
    report = json.loads(resumed.stdout)
    assert (len(report["unchanged"]), len(report["added"])) == (before, 13 - before)
    add_undisturbed(tmp_path / "undisturbed", folder)
    assert state(root) == state(tmp_path / "undisturbed")


def test_a_second_process_says_who_is_adding_or_waits(tmp_path: Path, folder: Path, meddler: dict[str, str]) -> None:
    other = write(tmp_path / "other", {"other.txt": "The second process adds this."})
    stuck = write(tmp_path / "stuck", {"stuck.txt": "The first process adds this."})
    root = tmp_path / "c"
    with running("add", stuck, "-c", root, "--no-ocr", environment=meddler) as first:
        Path(meddler["REPORTS"]).read_text()
        refused = run("add", other, "-c", root, "--no-ocr")
        assert refused.returncode == 1
        assert f"{root} is locked: process {first.pid} on " in refused.stderr
        assert "wait until it ends" in refused.stderr
        with running("add", other, "-c", root, "--no-ocr", "--wait", environment={}) as second:
            assert (first.poll(), second.poll()) == (None, None)
            Path(meddler["ORDERS"]).write_text("")
            assert (first.wait(), second.wait()) == (0, 0)
    with Collection.open(root) as collection:
        assert [document.name for document in collection.documents()] == ["other.txt", "stuck.txt"]


LIMITED = f"""
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
{COMMAND}
"""


@pytest.mark.parametrize("where", ["sources", "images"])
def test_a_full_disk_is_told_and_leaves_the_collection_whole(tmp_path: Path, folder: Path, where: str) -> None:
    """In the process that stores documents, and in those that store pictures of pages."""
    root, big = tmp_path / "c", tmp_path / "big"
    big.mkdir()
    if where == "sources":
        write(big, {"big.html": f"<p>{PROSE}<!-- {'x' * 600_000} -->"})
    else:
        (big / "big.jpg").write_bytes(jpeg_bytes((2000, 2000)))
    arguments = ["add", str(folder), "-c", str(root), "--no-ocr"]
    assert run(*arguments).returncode == 0
    before = state(root)
    limited = [sys.executable, "-c", LIMITED, str(500_000), "add", str(big), *arguments[2:]]
    found = forked_programs.run(limited)
    assert found.returncode == 1
    assert found.stderr.startswith(f"error: cannot write {root / where}")
    assert "raise the limit on the size of files" in found.stderr
    assert found.stderr.endswith("What was stored before is intact\n")
    assert state(root) == before
    assert run("add", str(big), *arguments[2:]).returncode == 0
    assert assert_whole(root) == 13


def test_the_catalogue_may_be_what_finds_no_room(tmp_path: Path, folder: Path) -> None:
    root = tmp_path / "c"
    write(folder, {"long.md": "\n\n".join(f"{number}. {PROSE}" for number in range(3000))})
    limited = [sys.executable, "-c", LIMITED, str(500_000), "add", str(folder), "-c", str(root), "--no-ocr"]
    found = forked_programs.run(limited)
    assert found.returncode == 1
    assert found.stderr.startswith(f"error: cannot write {root / 'catalog.sqlite'}")
    assert assert_whole(root) <= 12
    assert run("add", folder, "-c", root, "--no-ocr").returncode == 0
    assert assert_whole(root) == 13
