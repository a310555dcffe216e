"""The process of one job: `python -m quoteweave.server.jobs.worker`, with an `Assignment` as a line on stdin.

It writes one `Message` per line to stdout; the last is an `EndMessage`. It ends at once when its stdin ends, which
happens when the server's process dies. What it has stored stays, and another process does the rest.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO, TypeVar

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import CollectionLocked, QuoteweaveError, withhold_remedies
from quoteweave.core.messages import shorten
from quoteweave.documents.file_reading import AddProgress
from quoteweave.documents.ingest import AddOptions, AddReport
from quoteweave.index.encoder_index import IndexReport
from quoteweave.index.removal import RemovalReport, finish_removals_everywhere, remove_documents
from quoteweave.interchange.responses import JobProgress
from quoteweave.pipeline.composition.add_documents import add_documents
from quoteweave.pipeline.composition.manage_indexes import build_index, index_specs, update_indexes
from quoteweave.pipeline.settings import ResourceSettings
from quoteweave.server.jobs.records import (
    AddWork,
    Assignment,
    EndMessage,
    IndexWork,
    LogMessage,
    Message,
    NoteMessage,
    ProgressMessage,
    RemoveWork,
)

Report = AddReport | RemovalReport | IndexReport | None
T = TypeVar("T")

# Seconds between two looks at whether a collection is still locked.
LOCK_POLL_S = 0.5
MAX_READING_PROCESSES = 4


class Reporter:
    """Writes the job's progress, one line for each step; implements `Progress` and `Task`."""

    watched = False

    def __init__(self, messages: TextIO) -> None:
        self._messages = messages
        self._lock = threading.Lock()
        self.progress = JobProgress()

    def send(self, message: Message) -> None:
        """Write one line; if nobody reads it any more, end the process."""
        try:
            with self._lock:
                self._messages.write(f"{message.model_dump_json()}\n")
                self._messages.flush()
        except OSError:
            os._exit(1)

    def report(self, changes: Mapping[str, str | int | None]) -> None:
        """Change these fields of the progress."""
        with self._lock:
            self.progress = self.progress.model_copy(update=changes)
        self.send(ProgressMessage(progress=self.progress))

    def note(self, message: str) -> None:
        """Send a sentence for people."""
        self.send(NoteMessage(note=message))

    @contextmanager
    def task(self, label: str, total: int | None = None, *, unit: str = "") -> Iterator["Reporter"]:
        """Report a piece of work; its steps are counted only if they are views of quotes."""
        counts_views = unit == "views"
        self.report({"step": label, **({"views_done": 0, "views_total": total} if counts_views else {})})
        yield self

    def advance(self, steps: int = 1) -> None:
        """Count more views as encoded."""
        if self.progress.views_done is not None:
            self.report({"views_done": self.progress.views_done + steps, "waiting": None})

    def update(self, *, total: int | None = None, label: str | None = None) -> None:
        """Set how many views are to be encoded, or what is being done."""
        changes: dict[str, str | int | None] = {}
        if total is not None and self.progress.views_done is not None:
            changes["views_total"] = total
        if label is not None:
            changes["step"] = label
        self.report(changes)

    def add_progress(self) -> AddProgress:
        """The callbacks that report progress while files are read."""

        def on_total(pages: int) -> None:
            self.report({"page": 0, "pages": pages, "step": "reading", "waiting": None})

        def on_pages(document: str, pages: int) -> None:
            self.report({"document": document, "page": (self.progress.page or 0) + pages})

        def on_file(_: str) -> None:
            self.report({"files_done": (self.progress.files_done or 0) + 1})

        return AddProgress(on_total, on_pages, lambda: self.report({"step": "indexing"}), on_file)


def main() -> None:
    """Do the job given by stdin's first line."""
    # Libraries may print to stdout, which must not be taken for messages: messages get a copy of stdout, and stdout
    # itself becomes stderr.
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the server ends this one
    assignment = Assignment.model_validate_json(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_server, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(assignment.niceness)
    reporter = Reporter(messages)
    reporter.send(perform(assignment, reporter))


def perform(assignment: Assignment, reporter: Reporter) -> EndMessage:
    """Do the work; the message says what went wrong, if anything."""
    try:
        with withhold_remedies(lambda text: reporter.send(LogMessage(text=text))):
            report = _do(assignment, reporter)
    except QuoteweaveError as error:
        return EndMessage(status="failed", error=error.summary, remedy=error.remedy)
    except Exception as error:
        description = f"{type(error).__name__}: {shorten(str(error), 500)}"
        message = f"the job met an error that it does not know ({description}); report this"
        return EndMessage(status="failed", error=message)
    refused = _all_refused(report)
    return EndMessage(status="failed" if refused else "done", report=report, error=refused)


def _end_with_server() -> None:
    # Not through sys.stdin, as the interpreter cannot end cleanly while a thread holds its lock.
    while os.read(0, 1024):
        pass
    os._exit(1)


def _do(assignment: Assignment, reporter: Reporter) -> Report:
    work = assignment.work
    # Opened first, so that the job fails, and does not make the collection anew, if it was deleted meanwhile.
    Collection.open(work.root).close()
    if isinstance(work, AddWork):
        return _add(work, assignment, reporter)
    if isinstance(work, RemoveWork):
        return _when_unlocked(lambda: _remove(work, again=assignment.again), reporter)
    return _index(work, assignment, reporter)


def _add(work: AddWork, assignment: Assignment, reporter: Reporter) -> AddReport:
    reporter.report({"step": "looking at files", "files_total": len(work.files)})
    names = {work.uploads / path: name for name, path in work.files.items()}
    processes = assignment.processes or min(MAX_READING_PROCESSES, max(1, (os.cpu_count() or 1) - 1))
    options = AddOptions(metadata=work.metadata, names=names, processes=processes)

    def add() -> AddReport:
        reporter.report({"files_done": 0, "page": None, "pages": None})
        return add_documents(
            work.root, list(names), options, encode=False, progress=reporter, add_progress=reporter.add_progress()
        )

    report = _when_unlocked(add, reporter)
    settings = ResourceSettings.model_validate(assignment.resources)
    with Collection.open(work.root) as collection:
        notes = update_indexes(collection, settings, wait=True, progress=reporter)
    return report.model_copy(update={"index_notes": tuple(notes)})


def _remove(work: RemoveWork, *, again: bool) -> RemovalReport:
    with Collection.open(work.root) as collection:
        known = {document.name for document in collection.documents()}
        if not again or known.issuperset(work.names):
            return remove_documents(collection, work.names)
        remaining = [name for name in work.names if name in known]
        if remaining:
            report = remove_documents(collection, remaining)
            return report.model_copy(update={"removed": work.names})
        with collection.writer() as writer:
            remaining_traces = finish_removals_everywhere(collection, writer)
    return RemovalReport(removed=work.names, finished=(), index_notes=(), remaining_traces=remaining_traces)


def _index(work: IndexWork, assignment: Assignment, reporter: Reporter) -> IndexReport | None:
    """Build each index of the retriever; return the report of the last one. A single retriever has only one."""
    settings = ResourceSettings.model_validate(assignment.resources)
    report = None
    with Collection.open(work.root) as collection:
        for spec in index_specs(collection, work.retriever, progress=reporter):

            def build(spec: str = spec) -> IndexReport | None:
                return build_index(collection, spec, settings, replace=work.replace, progress=reporter)

            report = _when_unlocked(build, reporter)
    return report


def _when_unlocked(call: Callable[[], T], reporter: Reporter) -> T:
    """Call when no other process writes to the collection; while one does, the progress says so."""
    while True:
        try:
            result = call()
        except CollectionLocked as error:
            if reporter.progress.waiting != error.summary:
                reporter.report({"waiting": error.summary})
            time.sleep(LOCK_POLL_S)
        else:
            if reporter.progress.waiting is not None:
                reporter.report({"waiting": None})
            return result


def _all_refused(report: Report) -> str | None:
    """Why a job added no document at all; None if it added or kept some, or was no such job."""
    if not isinstance(report, AddReport) or not report.failed:
        return None
    if report.added or report.updated or report.unchanged:
        return None
    reasons = "; ".join(f"{refused.name}: {refused.reason}" for refused in report.failed[:3])
    further = len(report.failed) - 3
    return f"no file could be read: {reasons}{f'; and {further} more' if further > 0 else ''}"


if __name__ == "__main__":
    main()
