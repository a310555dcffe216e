"""Builds a search from settings: retrievers, fusion, expansion and reranking over a collection."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from quoteweave.collection.collection import Collection
from quoteweave.core.protocols import Expander, Reranker
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.pictures_for_models import CollectionPictures
from quoteweave.pipeline.search import Search
from quoteweave.pipeline.settings import ChatSettings, ResourceSettings, RetrievalSettings
from quoteweave.retrievers.chat_models import NO_CHAT_MODELS, ChatModels
from quoteweave.retrievers.make_expander import make_expander
from quoteweave.retrievers.make_reranker import make_reranker
from quoteweave.retrievers.make_retriever import Resources, make_fused
from quoteweave.retrievers.terms.terms import Terms, read_terms

Settings = TypeVar("Settings", bound=RetrievalSettings)


def read_all_terms(settings: RetrievalSettings) -> tuple[Terms, ...]:
    """Read every file of terms. Raises UsageError for one that is malformed."""
    return tuple(read_terms(path) for path in settings.terms)


def lexical_fingerprints(settings: RetrievalSettings, terms: Sequence[Terms]) -> dict[str, str]:
    """Return the entries of a run's fingerprints for its terms, independent of file paths, and for no synonyms."""
    fingerprints = {"terms": ", ".join(domain_terms.fingerprint for domain_terms in terms)} if terms else {}
    return fingerprints if settings.synonyms else {**fingerprints, "synonyms": "none"}


def resources_of(settings: ResourceSettings, progress: Progress) -> Resources:
    """Return the resources for making models that belong to no collection; progress notes what is sent."""
    return Resources(settings.hardware, notify=progress.note, retry_options=settings.retry_options)


def resources_for(
    collection: Collection, settings: ResourceSettings, progress: Progress = NO_PROGRESS, terms: Sequence[Terms] = ()
) -> Resources:
    """Return the resources for making retrievers of a collection; progress notes what leaves the machine."""
    resources = resources_of(settings, progress)
    synonyms = settings.synonyms if isinstance(settings, RetrievalSettings) else True
    return replace(resources, pictures=CollectionPictures(collection), terms=tuple(terms), synonyms=synonyms)


def name_chat_model(settings: Settings) -> Settings:
    """Replace a plain `chat` by the chat model that the environment names, if it names one."""
    chat = ChatSettings().with_environment()
    if chat.model is None:
        return settings
    name = f"chat:{chat.model}@{chat.base_url}" if chat.base_url else f"chat:{chat.model}"
    steps = {step: name for step in ("expand", "rerank", "check") if getattr(settings, step, None) == "chat"}
    return settings.model_copy(update=steps)


def make_search(
    collection: Collection,
    settings: RetrievalSettings,
    *,
    chats: ChatModels = NO_CHAT_MODELS,
    progress: Progress = NO_PROGRESS,
    terms: Sequence[Terms] | None = None,
) -> Search:
    """Make the configured search.

    `terms` are those of the settings, if they have been read already. Raises UsageError.
    """
    terms = read_all_terms(settings) if terms is None else terms
    resources = resources_for(collection, settings, progress, terms)
    retriever = make_fused(settings.retriever, settings.fusion, collection, resources)
    expander, reranker = make_search_steps(collection, settings, resources, chats)
    return Search(retriever, expander=expander, reranker=reranker, explain=settings.explain, collection=collection)


def make_search_steps(
    collection: Collection, settings: RetrievalSettings, resources: Resources, chats: ChatModels
) -> tuple[Expander | None, Reranker | None]:
    """Make the configured expander and reranker; None for each that is not configured. Raises UsageError."""
    expander, reranker = None, None
    if settings.expand:
        expander = make_expander(settings.expand, settings.retriever, collection, resources=resources, chats=chats)
    if settings.rerank:
        reranker = make_reranker(settings.rerank, resources=resources, chats=chats)
    return expander, reranker
