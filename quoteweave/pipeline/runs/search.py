"""From settings to a search: retrievers, fusion, expansion and reranking over a collection."""

from collections.abc import Sequence

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Filter
from quoteweave.pipeline.pictures import CollectionPictures
from quoteweave.pipeline.runs.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.search import Search
from quoteweave.pipeline.settings import ChatSettings, ResourceSettings, RetrievalSettings
from quoteweave.retrievers.registry import Resources, make_fused
from quoteweave.retrievers.step_registry import NO_CHAT_MODELS, ChatModels, make_expander, make_reranker
from quoteweave.retrievers.terms import Terms, read_terms


def read_all_terms(settings: RetrievalSettings) -> tuple[Terms, ...]:
    """The terms of each file. Raises UsageError for one that is not as it should be."""
    return tuple(read_terms(path) for path in settings.terms)


def terms_fingerprint(terms: Sequence[Terms]) -> dict[str, str]:
    """The entry of a run's fingerprints for these terms, wherever their files are; none without terms."""
    return {"terms": ", ".join(each.fingerprint for each in terms)} if terms else {}


def resources_for(
    collection: Collection, settings: ResourceSettings, progress: Progress = NO_PROGRESS, terms: Sequence[Terms] = ()
) -> Resources:
    """What the retrievers of a collection are made with; what leaves the machine is noted."""
    pictures = CollectionPictures(collection)
    return Resources(settings.hardware, pictures, progress.note, settings.patience, tuple(terms))


def name_chat(settings: RetrievalSettings) -> RetrievalSettings:
    """A plain `chat` as the chat model that the environment names, where it names one."""
    chat = ChatSettings().with_environment()
    if chat.model is None:
        return settings
    name = f"chat:{chat.model}@{chat.base_url}" if chat.base_url else f"chat:{chat.model}"
    steps = {step: name for step in ("expand", "rerank") if getattr(settings, step) == "chat"}
    return settings.model_copy(update=steps)


def make_search(
    collection: Collection,
    settings: RetrievalSettings,
    where: Filter | None = None,
    *,
    chats: ChatModels = NO_CHAT_MODELS,
    progress: Progress = NO_PROGRESS,
) -> Search:
    """The search that is set, of which feedback looks at the quotes that `where` passes. Raises UsageError."""
    means = resources_for(collection, settings, progress, read_all_terms(settings))
    names, expander, reranker = settings.retriever, None, None
    retriever = make_fused(names, settings.fusion, collection, means)
    if settings.expand:
        expander = make_expander(settings.expand, names, collection, where=where, means=means, chats=chats)
    if settings.rerank:
        reranker = make_reranker(settings.rerank, means=means, chats=chats)
    return Search(retriever, expander=expander, reranker=reranker, explain=settings.explain)
