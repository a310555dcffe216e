"""Jobs: documents are added, replaced and removed in processes of their own, whoever is killed meanwhile."""

import io
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from forked_programs import ForkedProgram
from hostile_files import PICTURES
from job_runs import add_work, ended, job_of, pdf_pages, until

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import CollectionLocked, StorageError
from quoteweave.documents.ingest import AddReport, add
from quoteweave.index.encoder_index import IndexReport
from quoteweave.index.lexical import current_lexical_index
from quoteweave.index.removal import RemovalReport
from quoteweave.index.sync import indexes_behind
from quoteweave.interchange.responses import Job
from quoteweave.server.jobs import store as store_module
from quoteweave.server.jobs.records import AddWork, Assignment, EndMessage, IndexWork, RemoveWork, Work
from quoteweave.server.jobs.runner import JobRunner, RunnerOptions, jobs_lock
from quoteweave.server.jobs.store import JobNotFound, JobStore
from quoteweave.server.jobs.worker import Reporter, perform
from quoteweave.testing import ModelServer

# Tests share their cores with others, for which jobs would wait.
EAGER = RunnerOptions(niceness=0, processes=1)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """The endpoint of models that are named without an address."""
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Collection.create(tmp_path / "port").close()
    return tmp_path / "port"


@pytest.fixture
def store(state: Path) -> Iterator[JobStore]:
    made = JobStore(state)
    yield made
    made.close()


@pytest.fixture
def runner(forked_jobs: None, store: JobStore, state: Path) -> Iterator[JobRunner]:
    made = JobRunner(store, state, EAGER)
    made.start()
    yield made
    made.stop()


def names(root: Path) -> list[str]:
    with Collection.open(root) as collection:
        return [document.name for document in collection.documents()]


def submitted(runner: JobRunner, work: AddWork) -> Job:
    return runner.submit(job_of(work), work)


def test_documents_are_added_with_progress_by_page_and_their_uploads_go(
    runner: JobRunner, root: Path, state: Path, samples: Path
) -> None:
    paper = (samples / "pdf" / "two-column-paper.pdf").read_bytes()
    files = {"paper.pdf": paper, "notes/quay.txt": b"The north quay was dredged.", "bad.zip": b"PK\x03\x04 rest"}
    work = add_work(root, state, files, metadata={"year": "2024"})
    job, progress = ended(runner.store, submitted(runner, work).id)
    assert (job.status, job.error, job.attempts) == ("done", None, 0)
    assert isinstance(job.report, AddReport)
    assert job.report.added == ("notes/quay.txt", "paper.pdf")
    assert [(one.name, "ZIP archive" in one.reason) for one in job.report.failed] == [("bad.zip", True)]
    last = progress[-1]
    with Collection.open(root) as collection:
        paper_pages = collection.document("paper.pdf").pages
        assert (last.page, last.pages) == (paper_pages + 1, paper_pages + 1)
        assert collection.document("notes/quay.txt").metadata == {"year": "2024"}
        assert collection.origins()["paper.pdf"].uploaded
        assert "dredged" in {
            quote.text.split()[-1].strip(".") for quote in collection.document_quotes("notes/quay.txt")
        }
        segments = current_lexical_index(collection).segments.values()
        assert sorted(name for segment in segments for name in segment.names) == ["notes/quay.txt", "paper.pdf"]
    assert (last.files_done, last.files_total) == (3, 3)
    assert not work.uploads.exists()


def test_the_process_tells_each_step_of_a_long_file(root: Path, state: Path) -> None:
    work = add_work(root, state, {"long.pdf": pdf_pages(13)})
    assignment = Assignment(work=work, processes=1).model_dump_json() + "\n"
    command = [sys.executable, "-m", "quoteweave.server.jobs.worker"]
    with ForkedProgram(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(assignment)
        process.stdin.flush()
        lines = process.stdout.readlines()
    *messages, last = (json.loads(line) for line in lines)
    assert EndMessage.model_validate(last).status == "done"
    pages = [message["progress"]["page"] for message in messages if message["progress"]["document"] == "long.pdf"]
    assert list(dict.fromkeys(pages)) == [6, 12, 13]


def performed(work: Work, *, again: bool = False) -> EndMessage:
    """What comes of a job, done in this process."""
    return perform(Assignment(work=work, again=again, processes=1), Reporter(io.StringIO()))


def texts(collection: Collection, name: str) -> list[str]:
    return [quote.text for quote in collection.document_quotes(name)]


def test_an_upload_replaces_a_document_of_a_folder_which_keeps_its_name_and_origin(
    root: Path, state: Path, tmp_path: Path
) -> None:
    folder, other = tmp_path / "folder", tmp_path / "other"
    for path, text in [(folder / "sub" / "quay.txt", "The north quay."), (other / "new.txt", "Another file.")]:
        path.parent.mkdir(parents=True)
        path.write_text(text)
    with Collection.open(root) as collection:
        add(collection, [folder])
        report = performed(
            add_work(root, state, {"sub/quay.txt": b"The south quay.", "new.txt": b"The uploaded file."})
        ).report
        assert isinstance(report, AddReport)
        assert (report.updated, report.added, report.renamed) == (("sub/quay.txt",), ("new.txt",), ())
        assert texts(collection, "sub/quay.txt") == ["The south quay."]
        assert collection.origins()["sub/quay.txt"].root == folder
        # The folder says what its files are: what it holds comes back when it is added again, under the same name.
        assert add(collection, [folder]).updated == ("sub/quay.txt",)
        # What was uploaded is of no folder: a file of that name elsewhere is another document.
        assert add(collection, [other]).added == ("other/new.txt",)
        assert texts(collection, "new.txt") == ["The uploaded file."]


def test_what_is_added_is_encoded_for_the_indexes_that_there_are(root: Path, state: Path, model: ModelServer) -> None:
    out = io.StringIO()
    with Collection.open(root) as collection:
        first = performed(add_work(root, state, {"a.txt": b"Grain came by sea."}))
        built = performed(IndexWork(root=root, retriever="openai:m"))
        assert (first.status, built.error) == ("done", None)
        assert isinstance(built.report, IndexReport)
        assert built.report.items == 1
        work = add_work(root, state, {"b.txt": b"Timber came by rail."})
        added = perform(Assignment(work=work, processes=1), Reporter(out)).report
        assert isinstance(added, AddReport)
        assert added.index_notes == ()
        assert indexes_behind(collection) == []
        assert [request["input"] for request in model.requests] == [["Grain came by sea."], ["Timber came by rail."]]
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    views = [line["progress"]["views_done"] for line in told if line["type"] == "progress"]
    assert (views[0], views[-1]) == (None, 1)


def test_a_job_s_report_says_what_happened_and_the_log_what_mends_it(
    root: Path, state: Path, model: ModelServer
) -> None:
    out = io.StringIO()
    with Collection.open(root) as collection:
        performed(add_work(root, state, {"a.txt": b"Grain came by sea."}))
        performed(IndexWork(root=root, retriever="openai:m"))
        folder = collection.indexes()[0].folder
        for damaged in (folder / "index.json", folder.parent / "plan.json"):  # either says how it is built
            damaged.write_text("{")
        work = Assignment(work=RemoveWork(root=root, names=("a.txt",)), processes=1)
        report = perform(work, Reporter(out)).report
    assert isinstance(report, RemovalReport)
    (note,) = report.index_notes
    (logged,) = [line["text"] for line in map(json.loads, out.getvalue().splitlines()) if line["type"] == "log"]
    # The note names the retriever as the command takes it, although the index's own record of it is damaged.
    assert note.startswith("the index openai:m was not brought up to date")
    assert note.endswith("index.json is damaged or missing, and how the index was built is lost")
    assert logged.startswith(f"{note}; build it with: quoteweave index build openai:m -c ")


def test_documents_are_removed_also_by_a_job_that_is_done_again(root: Path, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"The text of {name}.")
    with Collection.open(root) as collection:
        add(collection, [tmp_path / "a.txt", tmp_path / "b.txt"])
    report = performed(RemoveWork(root=root, names=("a.txt",))).report
    removed = RemovalReport(removed=("a.txt",), finished=(), index_notes=(), remaining_traces=())
    assert report == removed.model_copy(update={"still_there": ("a.txt",)})
    (tmp_path / "b.txt").unlink()
    assert "no document" in str(performed(RemoveWork(root=root, names=("a.txt", "b.txt"))).error)
    assert names(root) == ["b.txt"]
    # This is what a server leaves that died before it had recorded what was done.
    for _ in range(2):
        found = performed(RemoveWork(root=root, names=("a.txt", "b.txt")), again=True)
        assert found.report == RemovalReport(
            removed=("a.txt", "b.txt"), finished=(), index_notes=(), remaining_traces=()
        )
    assert names(root) == []


def test_a_killed_process_is_followed_by_another(runner: JobRunner, root: Path, state: Path) -> None:
    work = add_work(root, state, {"long.pdf": pdf_pages(8)})
    with Collection.open(root) as collection, collection.writer():
        job = submitted(runner, work)
        *_, waits = until(runner.store, job.id, lambda progress: progress.waiting is not None)
        assert "is locked: process" in str(waits)
        psutil.Process(runner.pids()[job.id]).send_signal(signal.SIGKILL)
        until(runner.store, job.id, lambda _: runner.store.get(job.id).job.attempts > 0)
    done, progress = ended(runner.store, job.id)
    assert (done.status, done.attempts, progress[-1].waiting) == ("done", 1, None)
    assert names(root) == ["long.pdf"]


def test_jobs_of_a_killed_server_are_resumed_and_its_processes_end(root: Path, state: Path, store: JobStore) -> None:
    works = [add_work(root, state, {name: f"The text of {name}.".encode()}) for name in ("first.txt", "second.txt")]
    with Collection.open(root) as collection, collection.writer():
        jobs = [store.add(job_of(work), work) for work in works]
        command = [sys.executable, "-m", "quoteweave", "serve", "-c", str(root), "--state", str(state), "--port", "0"]
        with ForkedProgram(command, stderr=subprocess.DEVNULL) as server:
            until(store, jobs[0].id, lambda progress: progress.waiting is not None)
            children = psutil.Process(server.pid).children()
            server.kill()
        assert psutil.wait_procs(children, timeout=60)[1] == []
        assert [store.get(job.id).job.status for job in jobs] == ["running", "queued"]
    runner = JobRunner(store, state, EAGER)
    runner.start()
    try:
        assert [ended(store, job.id)[0].status for job in jobs] == ["done", "done"]
    finally:
        runner.stop()
    assert names(root) == ["first.txt", "second.txt"]


def test_a_server_that_stops_leaves_its_jobs_to_the_next(root: Path, state: Path, store: JobStore) -> None:
    runner = JobRunner(store, state, EAGER)
    runner.start()
    with Collection.open(root) as collection, collection.writer():
        job = submitted(runner, add_work(root, state, {"a.txt": b"Grain came by sea."}))
        until(store, job.id, lambda progress: progress.waiting is not None)
        child = psutil.Process(runner.pids()[job.id])
        runner.stop()
        assert not child.is_running()
    assert store.get(job.id).job.model_copy(update={"progress": job.progress, "started": None}) == job.model_copy(
        update={"status": "running"}
    )


def test_jobs_are_cancelled_whether_they_wait_or_run(runner: JobRunner, root: Path, state: Path) -> None:
    works = [add_work(root, state, {name: b"Text."}) for name in ("first.txt", "second.txt")]
    with Collection.open(root) as collection, collection.writer():
        first, second = (submitted(runner, work) for work in works)
        until(runner.store, first.id, lambda progress: progress.waiting is not None)
        with pytest.raises(CollectionLocked, match="a job of the collection 'port' is running"), jobs_lock(state, root):
            pass
        assert runner.cancel(second.id).status == "cancelled"
        child = psutil.Process(runner.pids()[first.id])
        runner.cancel(first.id)
        job, _ = ended(runner.store, first.id)
        assert (job.status, job.report) == ("cancelled", None)
        psutil.wait_procs([child], timeout=60)
    assert runner.cancel(first.id) == job
    with jobs_lock(state, root, wait_s=60):
        assert names(root) == []
        assert runner.store.active(root) == []


def test_what_was_uploaded_for_a_job_that_is_cancelled_before_it_begins_goes(
    root: Path, state: Path, store: JobStore
) -> None:
    runner = JobRunner(store, state, EAGER)  # not started: no thread has seen the job yet
    work = add_work(root, state, {"a.txt": b"Grain came by sea."})
    job = submitted(runner, work)
    assert runner.cancel(job.id).status == "cancelled"
    assert not work.uploads.exists()


def test_a_job_that_begins_while_it_is_cancelled_is_to_be_ended(
    root: Path, state: Path, store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = RemoveWork(root=root, names=("a.txt",))
    job, clock = store.add(Job(kind="remove", collection="port", created=0.0), work), time.time

    def begin() -> float:
        monkeypatch.setattr(time, "time", clock)
        JobStore(state).begin(job.id)  # by another server, when this one looks at the clock
        return clock()

    monkeypatch.setattr(time, "time", begin)
    store.cancel(job.id)
    assert (store.get(job.id).job.status, store.get(job.id).cancelling) == ("running", True)


def test_servers_that_share_a_folder_run_each_job_once(root: Path, state: Path, store: JobStore) -> None:
    works = [add_work(root, state, {f"{number}.txt": b"Text %d." % number}) for number in range(2)]
    jobs = [store.add(job_of(work), work) for work in works]
    runners = [JobRunner(JobStore(state), state, EAGER) for _ in range(2)]
    for runner in runners:
        runner.start()
    try:
        found = [ended(store, job.id)[0] for job in jobs]
    finally:
        for runner in runners:
            runner.stop()
    reports = [job.report for job in found if isinstance(job.report, AddReport)]
    assert [report.added for report in reports] == [("0.txt",), ("1.txt",)]
    starts, ends = [job.started or 0 for job in found], [job.ended or 0 for job in found]
    assert [begin >= end for begin, end in zip(starts[1:], ends, strict=False)] == [True]


def test_what_cannot_be_done_is_said(root: Path, state: Path, tmp_path: Path) -> None:
    bombs = {"claims.png": PICTURES["claims.png"](), "a.zip": b"PK\x03\x04"}
    refused = performed(add_work(root, state, bombs))
    assert refused.status == "failed"
    assert str(refused.error).startswith("no file could be read: a.zip: 'a.zip' is a ZIP archive, which is not read")
    assert "claims.png: " in str(refused.error)
    assert "megapixels" in str(refused.error)
    assert isinstance(refused.report, AddReport)
    assert [failed.name for failed in refused.report.failed] == ["a.zip", "claims.png"]
    assert str(performed(IndexWork(root=root, retriever="nothing")).error).startswith("there is no retriever")
    assert str(performed(IndexWork(root=tmp_path / "gone", retriever="bm25")).error).startswith("no collection is at")


def test_an_ended_job_is_forgotten_once_enough_others_have_ended(
    store: JobStore, root: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MAX_ENDED", 2)
    work = RemoveWork(root=root, names=("a.txt",))
    jobs = [store.add(Job(kind="remove", collection="port", created=0.0), work) for _ in range(4)]
    for job in jobs[:3]:
        store.end(job.id, EndMessage(status="done"))
    with pytest.raises(JobNotFound, match="no job"):
        store.get(jobs[0].id)
    assert [job.id for job in store.latest(["port"])] == [job.id for job in jobs[:0:-1]]
    assert store.latest(["other"]) == []
    assert store.changes(root, "a.txt")
    assert not store.changes(root, "b.txt")


def test_what_was_attached_to_documents_goes_when_their_job_has_ended(store: JobStore, root: Path, state: Path) -> None:
    work = AddWork(root=root, uploads=state, files={"a.txt": "a.txt"}, metadata={"team": "canary"})
    done, cancelled = (store.add(Job(kind="add", collection="port", created=0.0), work) for _ in range(2))
    store.cancel(cancelled.id)
    assert store.get(done.id).work == work
    store.end(done.id, EndMessage(status="done"))
    assert store.get(done.id).work == work.model_copy(update={"metadata": {}})
    assert not [path for path in state.iterdir() if path.is_file() and b"canary" in path.read_bytes()]


@pytest.mark.parametrize(
    ("column", "written", "flipped"), [("work", "a.txt", "b.txt"), ("job", "port", "pork"), ("work", "{", "z")]
)
def test_a_job_that_is_not_as_it_was_written_is_not_done(
    store: JobStore, root: Path, state: Path, column: str, written: str, flipped: str
) -> None:
    job = store.add(Job(kind="remove", collection="port", created=0.0), RemoveWork(root=root, names=("a.txt",)))
    with sqlite3.connect(state / store_module.DATABASE) as db:
        db.execute(f"UPDATE jobs SET {column} = replace({column}, ?, ?)", (written, flipped))
    with pytest.raises(StorageError, match=r"jobs\.sqlite are damaged; move the file away"):
        store.get(job.id)
    with pytest.raises(StorageError, match=r"jobs\.sqlite are damaged; move the file away"):
        store.active(root)


def test_a_file_of_jobs_that_cannot_be_used_is_named(state: Path) -> None:
    state.mkdir()
    (state / store_module.DATABASE).write_bytes(b"no database" * 100)
    with pytest.raises(StorageError, match=r"jobs\.sqlite cannot be read or written \(file is not a database\)"):
        JobStore(state)
