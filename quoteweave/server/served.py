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
from quoteweave.server.answers.requests import chosen_settings
from quoteweave.server.monitoring import Metrics, find_tracer
from quoteweave.server.pictures import Pictures
from quoteweave.server.problems import ProblemError
from quoteweave.server.settings import NAME, OFF, ServerSettings
from quoteweave.server.state.conversations import ConversationStore

OPENING_QUESTIONS = 4
"""Opening questions of a collection, at most."""
MAX_CACHED = 64
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
        self._cache: OrderedDict[str, object] = OrderedDict()
        self._opening: tuple[int, tuple[str, ...]] | None = None
        self._lock = threading.Lock()

    @property
    def replaced(self) -> bool:
        """Whether the folder now holds another collection, or none."""
        return _identity(self.folder) != self._identity

    def search(self, settings: AnswerSettings) -> Search:
        """Return the search of these settings. Raises what `make_search` raises."""
        return self._cached(self._key("search", settings), lambda: self._search(settings))

    def rag(self, settings: AnswerSettings) -> Rag:
        """Return the answerer of these settings. Raises what `make_rag_without_environment` raises."""
        return self._cached(self._key("rag", settings), lambda: make_rag_without_environment(self.collection, settings))

    def follow_ups(self, settings: AnswerSettings) -> FollowUps:
        """Return the rewriter of follow-up questions of these settings. Raises what `make_follow_ups` raises."""
        return self._cached(self._key("follow-ups", settings), lambda: make_follow_ups(settings))

    def opening_questions(self) -> tuple[str, ...]:
        """Return questions to begin with, found without a model, and once for each state of the documents."""
        revision = self.collection.revision()
        if self._opening is None or self._opening[0] != revision:
            rag = self.rag(AnswerSettings())
            self._opening = revision, opening_questions(self.collection, rag.answer, OPENING_QUESTIONS)
        return self._opening[1]

    def _key(self, kind: str, settings: AnswerSettings) -> str:
        """Return the cache key of what is made of these settings: them and the fingerprints of the current indexes.

        The indexes are part of the key because a retriever's short name selects the index that was last built under it.
        """
        indexes: tuple[str, ...] = ()
        if any(part not in SPARSE_RETRIEVERS for text in settings.retriever for part in member_specs(text)):
            indexes = tuple(sorted(state.fingerprint for state in self.collection.indexes()))
        # The endpoint's API key is added, as `repr` of the settings leaves it out.
        return repr((kind, settings, settings.api_key, indexes))

    def _search(self, settings: AnswerSettings) -> Search:
        return make_search(self.collection, settings, chats=make_limited_chat_models(settings, Limits()))

    def _cached(self, key: str, make: Callable[[], T]) -> T:
        with self._lock:
            if key not in self._cache:
                self._cache[key] = make()
                while len(self._cache) > MAX_CACHED:
                    self._cache.popitem(last=False)
            self._cache.move_to_end(key)
            cached: T = self._cache[key]  # type: ignore[assignment]
            return cached


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
        folders = dict(self.settings.collections)
        if self.settings.collections_folder is not None and self.settings.collections_folder.is_dir():
            for path in sorted(self.settings.collections_folder.iterdir()):
                if NAME.fullmatch(path.name) and (path / "collection.json").is_file():
                    folders.setdefault(path.name, path)
        return folders

    def places(self) -> dict[str, Path]:
        """Return the server's files and folders by the names that messages show in place of their paths."""
        places = {**self.folders(), "the state folder": self.settings.state}
        if self.defaults.abstain is not None:
            places["the server's calibration"] = self.defaults.abstain
        return places | {f"the calibration {name}": path for name, path in self.settings.calibrations.items()}

    def opened(self, name: str) -> ServedCollection | None:
        """Return the collection of that name if it is open already and was not replaced in its folder."""
        collection = self._opened.get(name)
        return None if collection is None or collection.replaced else collection

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
        counts: dict[str, CollectionCounts | None] = {}
        for name in self.folders():
            try:
                counts[name] = self.collection(name).collection.counts()
            except QuoteweaveError:
                counts[name] = None
        return counts

    def unreadable(self) -> dict[str, str]:
        """Return the reasons why collections cannot be read, by the names of these collections."""
        reasons = {}
        for name in self.folders():
            try:
                self.collection(name).collection.revision()
            except QuoteweaveError as error:
                reasons[name] = str(error)
        return reasons

    def answer_settings(self, served: ServedCollection, choices: Record) -> AnswerSettings:
        """Return the settings of a request. Raises UsageError for a choice that the server does not allow."""
        choices_made = dict(chosen_settings(choices))
        settings = self.defaults.model_copy(update=self._model(choices_made.pop("model", None)))
        self._check_retrieval(served, choices_made)
        for key in ("check", "sentence_scorer"):
            if key in choices_made and choices_made[key] not in (getattr(self.defaults, key), "chat"):
                raise UsageError(f"{key}: {choices_made[key]!r} is not among what this server allows")
        if "abstain" in choices_made:
            choices_made["abstain"] = self._calibration(str(choices_made["abstain"]))
        settings = settings.model_copy(update=choices_made)
        if not self.settings.weaker_gates:
            check_no_weaker(settings, self.defaults)
        return settings

    def models(self) -> dict[str, ChatSettings]:
        """Return the chat models that a request may name; that of the server's own settings comes first."""
        if self.defaults.model is None:
            return dict(self.settings.models)
        return {self.defaults.model: ChatSettings(**_chat_settings(self.defaults)), **self.settings.models}

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
        chat_settings = self.models().get(str(name))
        if chat_settings is None:
            known = ", ".join([*self.models(), EXTRACTIVE])
            raise UsageError(f"model: {name!r} is not among the models that this server asks; there are: {known}")
        return _chat_settings(chat_settings)

    def _calibration(self, name: str) -> Path | None:
        if name == OFF:
            return None
        file = self.settings.calibrations.get(name)
        if file is None:
            known = ", ".join([*self.settings.calibrations, OFF])
            raise UsageError(f"abstain: {name!r} is not among the calibrations of this server; there are: {known}")
        return file

    def _check_retrieval(self, served: ServedCollection, settings: Mapping[str, object]) -> None:
        retrievers = settings.get("retriever")
        if isinstance(retrievers, tuple):
            allowed = self.retrievers(served)
            parts = [part for text in retrievers for part in member_specs(text)]
            for part in parts:
                if part not in allowed and parse_spec(part).shown not in allowed and not _is_short_name(part, allowed):
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


def _is_short_name(part: str, allowed: list[str]) -> bool:
    """Whether a bare model name stands for an allowed retriever, as `bge` does for an index with that model."""
    spec = parse_spec(part)
    return str(spec) == spec.name and any(parse_spec(known).name == spec.name for known in allowed)


def _chat_settings(settings: ChatSettings) -> dict[str, object]:
    return {key: getattr(settings, key) for key in ChatSettings.model_fields}


def _identity(folder: Path) -> tuple[int, int, int] | None:
    """What identifies the collection in a folder; an inode number alone is not enough, as file systems reuse it."""
    try:
        stat = (folder / "collection.json").stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns


POLICIES = ("off", "report", "drop", "refuse")
"""The gate's policies; each withholds at least what those before it do."""


def check_no_weaker(requested: AnswerSettings, defaults: AnswerSettings) -> None:
    """Raise UsageError if the gate that a request chose may withhold less than the server's own.

    Another check or calibration than the server's counts as less, as two of them cannot be compared.
    """
    # Without a model, answers are the documents' own sentences, which need no check.
    writes = requested.model is not None
    weaker = {
        "gate": POLICIES.index(requested.gate) < POLICIES.index(defaults.gate),
        "check": defaults.check is not None and requested.check != defaults.check and writes,
        "abstain": defaults.abstain is not None and requested.abstain != defaults.abstain,
        "check_topic": requested.check_topic is False and defaults.check_topic is not False,
    }
    refused = [name for name, is_weaker in weaker.items() if is_weaker]
    if refused:
        raise UsageError(
            f"{', '.join(refused)}: this server allows no gate that withholds less than its own; leave it out"
        )
