"""What a server keeps in memory for its requests: its collections, and the searches and answerers made of them."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import CollectionCounts
from quoteweave.core.answers import EXTRACTIVE
from quoteweave.core.errors import QuoteweaveError, UsageError
from quoteweave.core.records import Record
from quoteweave.pipeline.composition.make_rag import (
    make_follow_ups,
    make_limited_chat_models,
    make_rag_without_environment,
)
from quoteweave.pipeline.composition.make_search import make_search
from quoteweave.pipeline.composition.manage_indexes import list_indexes
from quoteweave.pipeline.follow_ups.rewriting import FollowUps
from quoteweave.pipeline.opening_questions import opening_questions
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.search import Search
from quoteweave.pipeline.settings import AnswerSettings, ChatSettings, Limits
from quoteweave.retrievers.make_retriever import SPARSE_RETRIEVERS, member_specs
from quoteweave.retrievers.spec import parse_spec
from quoteweave.server.answers.requests import chosen
from quoteweave.server.monitoring import Metrics, find_tracer
from quoteweave.server.pictures import Pictures
from quoteweave.server.problems import ProblemError
from quoteweave.server.settings import NAME, OFF, ServerSettings
from quoteweave.server.state.conversations import ConversationStore

OPENING_QUESTIONS = 4
"""Opening questions of a collection, at most."""
MAX_MADE = 64
"""Searches and answerers that one collection keeps, at most; those of the last used settings are kept."""

T = TypeVar("T")


class ServedCollection:
    """One collection under its name, with the searches and answerers that requests have asked for."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.collection = Collection.open(folder)
        self.collection.revision()  # so that a damaged catalogue is found now, and not at the first question
        # Requests under way refer to this object, so that a replaced or deleted collection is closed after the last.
        weakref.finalize(self, self.collection.close)
        self._identity = _identity(folder)
        self._made: OrderedDict[str, object] = OrderedDict()
        self._opening: tuple[int, tuple[str, ...]] | None = None
        self._lock = threading.Lock()

    @property
    def replaced(self) -> bool:
        """Whether the folder now holds another collection, or none."""
        return _identity(self.folder) != self._identity

    def search(self, settings: AnswerSettings) -> Search:
        """Return the search of these settings. Raises what `make_search` raises."""
        return self._kept(self._key("search", settings), lambda: self._search(settings))

    def rag(self, settings: AnswerSettings) -> Rag:
        """Return the answerer of these settings. Raises what `make_rag_without_environment` raises."""
        return self._kept(self._key("rag", settings), lambda: make_rag_without_environment(self.collection, settings))

    def follow_ups(self, settings: AnswerSettings) -> FollowUps:
        """Return the rewriter of follow-up questions of these settings. Raises what `make_follow_ups` raises."""
        return self._kept(self._key("follow-ups", settings), lambda: make_follow_ups(settings))

    def opening_questions(self) -> tuple[str, ...]:
        """Return questions to begin with, found without a model, and once for each state of the documents."""
        revision = self.collection.revision()
        if self._opening is None or self._opening[0] != revision:
            rag = self.rag(AnswerSettings())
            self._opening = revision, opening_questions(self.collection, rag.answer, OPENING_QUESTIONS)
        return self._opening[1]

    def _key(self, what: str, settings: AnswerSettings) -> str:
        """Return the cache key of `what`: the settings and the fingerprints of the current indexes.

        The indexes are part of the key because a retriever's short name selects the index that was last built under it.
        """
        indexes: tuple[str, ...] = ()
        if any(part not in SPARSE_RETRIEVERS for text in settings.retriever for part in member_specs(text)):
            indexes = tuple(sorted(state.fingerprint for state in self.collection.indexes()))
        # The endpoint's API key is added, as `repr` of the settings leaves it out.
        return repr((what, settings, settings.api_key, indexes))

    def _search(self, settings: AnswerSettings) -> Search:
        return make_search(self.collection, settings, chats=make_limited_chat_models(settings, Limits()))

    def _kept(self, key: str, make: Callable[[], T]) -> T:
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
                while len(self._made) > MAX_MADE:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            found: T = self._made[key]  # type: ignore[assignment]
            return found


class Served:
    """Everything that the requests of one process share.

    >>> served = Served(ServerSettings(collections={"port": Path("my-collection")}))
    >>> served.collection("port").collection.counts().documents
    1
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.defaults = settings.answers.with_environment()
        self.pictures = Pictures()
        self.metrics, self.tracer = Metrics(self.counts), find_tracer()
        self._opened: dict[str, ServedCollection] = {}
        self._conversations: ConversationStore | None = None
        self._lock = threading.Lock()

    def folders(self) -> dict[str, Path]:
        """Return the folder of each served collection, by name: those named in the settings, and those in
        `collections_folder`.
        """
        found = dict(self.settings.collections)
        if self.settings.collections_folder is not None and self.settings.collections_folder.is_dir():
            for path in sorted(self.settings.collections_folder.iterdir()):
                if NAME.fullmatch(path.name) and (path / "collection.json").is_file():
                    found.setdefault(path.name, path)
        return found

    def places(self) -> dict[str, Path]:
        """Return the server's files and folders by the names that messages show in place of their paths."""
        own = {} if self.defaults.abstain is None else {"the server's calibration": self.defaults.abstain}
        named = {f"the calibration {name}": path for name, path in self.settings.calibrations.items()}
        return {**self.folders(), "the state folder": self.settings.state, **own, **named}

    def opened(self, name: str) -> ServedCollection | None:
        """Return the collection of that name if it is open already and was not replaced in its folder."""
        found = self._opened.get(name)
        return None if found is None or found.replaced else found

    def collection(self, name: str) -> ServedCollection:
        """Return the collection of that name, opened. Raises ProblemError for a name that is not served.

        Raises what `Collection.open` raises where its folder cannot be read.
        """
        with self._lock:
            opened = self.opened(name)
            if opened is not None:
                return opened
            folder = self.folders().get(name)
            if folder is None:
                raise no_such_collection(name)
            self._opened[name] = ServedCollection(name, folder)
            return self._opened[name]

    @property
    def conversations(self) -> ConversationStore:
        """The conversations, opened when they are first asked for. Raises StateError where their file cannot be."""
        with self._lock:
            if self._conversations is None:
                self._conversations = ConversationStore(self.settings.state)
            return self._conversations

    def forget(self, name: str) -> None:
        """Forget a collection that was deleted; requests under way still use what they have opened."""
        with self._lock:
            self._opened.pop(name, None)

    def close(self) -> None:
        """Close every collection, and the conversations."""
        for opened in self._opened.values():
            opened.collection.close()
        if self._conversations is not None:
            self._conversations.close()

    def counts(self) -> dict[str, CollectionCounts | None]:
        """Return what each collection holds, by name; None for one that cannot be read."""
        found: dict[str, CollectionCounts | None] = {}
        for name in self.folders():
            try:
                found[name] = self.collection(name).collection.counts()
            except QuoteweaveError:
                found[name] = None
        return found

    def unreadable(self) -> dict[str, str]:
        """Return the reasons why collections cannot be read, by the names of these collections."""
        found = {}
        for name in self.folders():
            try:
                self.collection(name).collection.revision()
            except QuoteweaveError as error:
                found[name] = str(error)
        return found

    def answer_settings(self, served: ServedCollection, choices: Record) -> AnswerSettings:
        """Return the settings of a request. Raises UsageError for a choice that the server does not allow."""
        wanted = dict(chosen(choices))
        settings = self.defaults.model_copy(update=self._model(wanted.pop("model", None)))
        self._check_retrieval(served, wanted)
        for key in ("check", "sentence_scorer"):
            if key in wanted and wanted[key] not in (getattr(self.defaults, key), "chat"):
                raise UsageError(f"{key}: {wanted[key]!r} is not among what this server allows")
        if "abstain" in wanted:
            wanted["abstain"] = self._calibration(str(wanted["abstain"]))
        found = settings.model_copy(update=wanted)
        if not self.settings.weaker_gates:
            check_no_weaker(found, self.defaults)
        return found

    def models(self) -> dict[str, ChatSettings]:
        """Return the chat models that a request may name; that of the server's own settings comes first."""
        own = {} if self.defaults.model is None else {self.defaults.model: ChatSettings(**_chat(self.defaults))}
        return {**own, **self.settings.models}

    def retrievers(self, served: ServedCollection) -> list[str]:
        """Return the retrievers that a request may name: the server's own, sparse ones, those with an index, and those
        that the settings allow.
        """
        built = [manifest.spec for _, manifest in list_indexes(served.collection) if manifest is not None]
        return list(dict.fromkeys([*self.defaults.retriever, *SPARSE_RETRIEVERS, *built, *self.settings.retrievers]))

    def _model(self, name: object) -> Mapping[str, object]:
        if name is None:
            return {}
        if name == EXTRACTIVE:
            return {"model": None, "base_url": None, "api_key": None, "check": None}
        found = self.models().get(str(name))
        if found is None:
            known = ", ".join([*self.models(), EXTRACTIVE])
            raise UsageError(f"model: {name!r} is not among the models that this server asks; there are: {known}")
        return _chat(found)

    def _calibration(self, name: str) -> Path | None:
        if name == OFF:
            return None
        found = self.settings.calibrations.get(name)
        if found is None:
            known = ", ".join([*self.settings.calibrations, OFF])
            raise UsageError(f"abstain: {name!r} is not among the calibrations of this server; there are: {known}")
        return found

    def _check_retrieval(self, served: ServedCollection, settings: Mapping[str, object]) -> None:
        retrievers = settings.get("retriever")
        if isinstance(retrievers, tuple):
            allowed = self.retrievers(served)
            parts = [part for text in retrievers for part in member_specs(text)]
            for part in parts:
                if part not in allowed and parse_spec(part).shown not in allowed and not _short(part, allowed):
                    names = ", ".join(allowed)
                    raise UsageError(f"retriever: {part!r} is not among those that may be named here: {names}")
        for key, allowed_names in (
            ("expand", ("rules", "rm3", "chat")),
            ("rerank", (*self.settings.rerankers, "chat")),
        ):
            name = settings.get(key)
            if name is not None and name not in allowed_names and name != getattr(self.defaults, key):
                names = ", ".join(allowed_names)
                raise UsageError(f"{key}: {name!r} is not among those that may be named here: {names}")


def no_such_collection(name: str) -> ProblemError:
    """Return the problem of a name under which no collection is served, or only one that the key may not see."""
    return ProblemError(
        404,
        "no-such-collection",
        f"no collection is served under the name {name!r}; GET /v1/collections lists those that are",
    )


def _short(part: str, allowed: list[str]) -> bool:
    """Whether a bare model name stands for an allowed retriever, as `bge` does for an index with that model."""
    spec = parse_spec(part)
    return str(spec) == spec.name and any(parse_spec(known).name == spec.name for known in allowed)


def _chat(settings: ChatSettings) -> dict[str, object]:
    return {key: getattr(settings, key) for key in ChatSettings.model_fields}


def _identity(folder: Path) -> tuple[int, int, int] | None:
    """What identifies the collection in a folder; an inode number alone is not enough, as file systems reuse it."""
    try:
        found = (folder / "collection.json").stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


POLICIES = ("off", "report", "drop", "refuse")
"""The gate's policies; each withholds at least what those before it do."""


def check_no_weaker(chosen: AnswerSettings, own: AnswerSettings) -> None:
    """Raise UsageError if the gate that a request chose may withhold less than the server's own.

    Another check or calibration than the server's counts as less, as two of them cannot be compared.
    """
    writes = chosen.model is not None  # without a model, answers are the documents' own sentences, which need no check
    weaker = {
        "gate": POLICIES.index(chosen.gate) < POLICIES.index(own.gate),
        "check": own.check is not None and chosen.check != own.check and writes,
        "abstain": own.abstain is not None and chosen.abstain != own.abstain,
        "check_topic": chosen.check_topic is False and own.check_topic is not False,
    }
    refused = [name for name, is_weaker in weaker.items() if is_weaker]
    if refused:
        raise UsageError(
            f"{', '.join(refused)}: this server allows no gate that withholds less than its own; leave it out"
        )
