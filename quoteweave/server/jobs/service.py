"""What a server needs to change its collections: the store of jobs, their runner, and the uploads that they read."""

import shutil
import time
from collections.abc import Collection as Container
from pathlib import Path

from quoteweave.collection.collection import Collection
from quoteweave.collection.writer_lock import writer_lock
from quoteweave.core.records import Document
from quoteweave.documents.ingest import AddOptions
from quoteweave.interchange.responses import Job
from quoteweave.pipeline.settings import ResourceSettings
from quoteweave.server.jobs.records import AddWork, IndexWork, RemoveWork
from quoteweave.server.jobs.runner import JobRunner, RunnerOptions, jobs_lock
from quoteweave.server.jobs.store import JobStore
from quoteweave.server.jobs.upload_names import known_name
from quoteweave.server.jobs.uploads import Upload, Uploads
from quoteweave.server.settings import ServerSettings

DELETED = ".deleted-"
"""The beginning of the name of a folder whose collection is being deleted."""
# Seconds that deleting a collection waits for the process of a job that it cancelled.
CANCEL_S = 10.0


class Jobs:
    """The jobs of one server's process.

    >>> jobs = Jobs(ServerSettings(state=Path("state")))
    >>> jobs.start()
    >>> [job.kind for job in jobs.store.latest(["port"])]
    []
    >>> jobs.stop()
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._state, self._folder = settings.state, settings.collections_folder
        self.uploads = Uploads(settings.state)
        resources = {name: getattr(settings.answers, name) for name in ResourceSettings.model_fields}
        self._options = RunnerOptions(
            niceness=settings.job_niceness, processes=settings.job_processes, resources=ResourceSettings(**resources)
        )
        self._store: JobStore | None = None
        self._runner: JobRunner | None = None

    def start(self) -> None:
        """Run jobs, beginning with those that a dead server left. Raises StorageError if the disk refuses."""
        self._store = JobStore(self._state)
        self._runner = JobRunner(self._store, self._state, self._options)
        self.uploads.sweep(self._store.reads)
        for unfinished in () if self._folder is None else self._folder.glob(f"{DELETED}*"):
            shutil.rmtree(unfinished, ignore_errors=True)
        self._runner.start()

    def stop(self) -> None:
        """Stop running jobs; those under way are resumed by the next server."""
        if self._runner is not None:
            self._runner.stop()
        if self._store is not None:
            self._store.close()

    @property
    def store(self) -> JobStore:
        """The store of jobs. Raises RuntimeError before `start`."""
        if self._store is None:
            raise RuntimeError("jobs are there once the server has started")
        return self._store

    @property
    def runner(self) -> JobRunner:
        """The runner of jobs. Raises RuntimeError before `start`."""
        if self._runner is None:
            raise RuntimeError("jobs are there once the server has started")
        return self._runner

    def add(self, name: str, collection: Collection, upload: Upload) -> tuple[Job | None, tuple[str, ...]]:
        """Make the job that adds an upload's files to the collection of that name; None if it has them all already.

        Also returns the names of documents that are unchanged. Raises StorageError if the disk refuses.
        """
        known = {document.name: document for document in collection.documents()}
        root = collection.root.resolve()
        files, unchanged = {}, []
        for path, content in upload.files.items():
            document = known_name(path, known)
            same = document in known and _is_unchanged(known[document], content, upload.metadata)
            if same and not self.store.changes(root, document):
                unchanged.append(document)
            else:
                files[document] = path
        if not files:
            return None, tuple(unchanged)
        work = AddWork(root=root, uploads=upload.folder.resolve(), files=files, metadata=upload.metadata)
        upload.is_kept = True
        try:
            job = self.runner.submit(_new_job("add", name, documents=tuple(files)), work)
        except BaseException:
            upload.is_kept = False
            raise
        return job, tuple(unchanged)

    def remove(self, name: str, collection: Collection, document: str, notes: Container[str] = ()) -> Job:
        """Make the job that removes a document, or the record of a file that could not be read, with these notes.

        Raises UsageError if there is neither, and no job that will add it.
        """
        root = collection.root.resolve()
        is_unread = any(failure.name == document for failure in collection.failures())
        if not is_unread and not self.store.changes(root, document):
            collection.document(document)
        job = _new_job("remove", name, documents=(document,)).model_copy(update={"notes": tuple(notes)})
        return self.runner.submit(job, RemoveWork(root=root, names=(document,)))

    def build_index(self, name: str, collection: Collection, retriever: str, *, replace: bool) -> Job:
        """Make the job that builds the indexes of a retriever."""
        work = IndexWork(root=collection.root.resolve(), retriever=retriever, replace=replace)
        return self.runner.submit(_new_job("index", name, retriever=retriever), work)

    def delete_collection(self, name: str, folder: Path) -> int:
        """Delete a collection with its jobs and uploads; return how many of the jobs were cancelled.

        Raises CollectionLocked while another process writes to it, and then leaves it as it is.
        """
        root = folder.resolve()
        active = self.store.active(root)
        for stored in active:
            self.runner.cancel(stored.job.id)
        with jobs_lock(self._state, root, CANCEL_S), writer_lock(root):
            # Renamed first, so that the collection is never half deleted; if this process is killed, the next server
            # removes the rest.
            gone = root.with_name(f"{DELETED}{root.name}-{time.time_ns()}")
            root.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        self.uploads.forget(name)
        self.store.forget(root)
        return len(active)


def _new_job(kind: str, name: str, *, documents: Container[str] = (), retriever: str | None = None) -> Job:
    fields = {"kind": kind, "collection": name, "documents": documents, "retriever": retriever, "created": time.time()}
    return Job.model_validate(fields)


def _is_unchanged(document: Document, content: str, metadata: dict[str, str]) -> bool:
    """Whether a document is already what the upload would make of it."""
    return (
        document.content == content
        # Documents that another version of the parser read are read again, and so are those that show other files.
        and document.parser == AddOptions().fingerprint
        and not document.linked_files
        and document.metadata.items() >= metadata.items()
    )
