"""Builds chat models, generators, gates and a whole `Rag` from settings."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from quoteweave.collection.collection import Collection
from quoteweave.core.confidence import GIVEN_QUOTES, Calibration, load_calibration, model_name, retriever_name
from quoteweave.core.errors import UsageError, by_setting, join_ways
from quoteweave.core.examples import Example, Spending, Task
from quoteweave.core.protocols import ChatModel, ClaimChecker, Generator, SentenceScorer
from quoteweave.core.records import Filter
from quoteweave.endpoints.budget import Budget, BudgetedChat, Cost
from quoteweave.endpoints.call_cache import CachedChat
from quoteweave.endpoints.rate_limits import RateLimitedChat, TokenBucket
from quoteweave.generation.chat_generator import CitedGenerator, FallbackGenerator
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.prompt_messages import SourceMessages, SourcePrompts
from quoteweave.generation.prompt_pictures import ImageSource, InlinePictures, LinkedPictures, PromptPictures
from quoteweave.pipeline.composition.make_checker import make_checker
from quoteweave.pipeline.composition.make_search import (
    lexical_fingerprints,
    make_search,
    read_all_terms,
    resources_of,
)
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.composition.sentence_scorers import make_sentence_scorer
from quoteweave.pipeline.follow_ups.rewriting import FollowUps
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.settings import AnswerSettings, ChatSettings, Limits
from quoteweave.retrievers.chat_models import ChatModels, ChatOptions, open_chat_model
from quoteweave.retrievers.terms.terms import Terms


class SharedLimits:
    """The budget, rate limit and call cache that all chat models of a run share."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        pace = limits.tokens_per_minute
        self._bucket = None if pace is None else TokenBucket(pace)
        self._budget = Budget(max_usd=limits.max_usd, max_tokens=limits.max_tokens)

    def limit(self, model: ChatModel) -> ChatModel:
        """Wrap a model in these limits. Raises UsageError where its price is unknown and spending is limited."""
        limited = model if self._bucket is None else RateLimitedChat(model, self._bucket)
        limited = BudgetedChat(limited, self._budget)
        return limited if self._limits.calls is None else CachedChat(limited, self._limits.calls)

    def count_earlier(self, spent: Spending) -> None:
        """Count what earlier commands spent on a resumed run."""
        self._budget.settle(Cost(), Cost(spent.input_tokens + spent.output_tokens, spent.price_usd or 0.0))


def make_chat(settings: ChatSettings, calls: Path | None = None) -> ChatModel | None:
    """Make the chat model of the settings, None without a name; the folder `calls` caches every call.

    Raises UsageError if a model on this machine does not support the settings.
    """
    if settings.model is None:
        return None
    options = ChatOptions(
        base_url=settings.base_url,
        api_key=settings.api_key,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        thinking=settings.thinking,
        extra=settings.extra,
    )
    model = open_chat_model(settings.model, options, hardware=settings.hardware, retry_options=settings.retry_options)
    return model if calls is None else CachedChat(model, calls)


def require_chat(settings: ChatSettings, calls: Path | None = None) -> ChatModel:
    """Make the chat model as `make_chat` does. Raises UsageError if none is named, too."""
    model = make_chat(settings, calls)
    if model is None:
        raise UsageError(
            "no chat model is named",
            remedy=join_ways(by_setting("name one: {}", "model"), "name one in QUOTEWEAVE_MODEL"),
        )
    return model


def make_generator(
    settings: ChatSettings,
    images: Collection | ImageSource | None = None,
    chat: ChatModel | None = None,
    *,
    fallback: bool = False,
    scorer: SentenceScorer | None = None,
) -> Generator:
    """Make the generator: one that asks `chat` or else the configured model, or the extractive one without a model.

    With `fallback`, the extractive generator answers if the model's endpoint fails. `scorer` scores the extractive
    generator's sentences. `images` is where pictures come from: a collection's stored crops, or a function that reads
    them. Raises UsageError for prompts that cannot be read, and if pictures cannot be shown as the settings say.
    """
    model = chat or make_chat(settings)
    if model is None:
        return ExtractiveGenerator(scorer=scorer)
    pictures = _pictures(settings, images)
    cited = CitedGenerator(model, prompts_folder=settings.prompts, pictures=pictures, sources=settings.quote_sources)
    return FallbackGenerator(cited, ExtractiveGenerator(scorer=scorer)) if fallback else cited


def make_source_generators(
    generator: Generator, settings: ChatSettings, task: Task
) -> Callable[[Example, Sequence[str]], Generator] | None:
    """Return a function that makes an example's generator from the order of its sources; None if `generator` is enough.

    Raises UsageError for prompts that cannot be read.
    """
    if task == "answer" or not isinstance(generator, CitedGenerator):
        return None
    prompts = SourcePrompts(task, settings.prompts)
    model, pictures = generator.model, generator.pictures
    seeing = pictures is not None

    def make(example: Example, order: Sequence[str]) -> Generator:
        messages = SourceMessages(prompts, example, order, seeing=seeing)
        return CitedGenerator(model, pictures=pictures, messages=messages)

    return make


def _pictures(settings: ChatSettings, images: Collection | ImageSource | None) -> PromptPictures | None:
    """Return how pictures are put into prompts, if they are. Raises UsageError for a malformed picture address."""
    if not settings.images or images is None:
        return None
    limits = settings.picture_limits
    if settings.image_urls is None:
        return InlinePictures(images.images.read if isinstance(images, Collection) else images, limits)
    if settings.checkpoint is not None:
        raise UsageError(f"{settings.model} runs on this machine, and fetches no pictures: leave image_urls out")
    return LinkedPictures(settings.image_urls, limits)


def make_configured_scorer(settings: AnswerSettings, *, fallback: bool, progress: Progress) -> SentenceScorer | None:
    """Make the scorer that orders extracted sentences, if one is set. Raises UsageError where only a model answers."""
    name = settings.sentence_scorer
    if name is None:
        return None
    if settings.model is not None and not fallback:
        raise UsageError(
            f"{name} can order the sentences of answers without a model, and {settings.model} is to write",
            remedy="leave out sentence_scorer or the model, or (ask) add --fallback extractive",
        )
    return make_sentence_scorer(name, resources=resources_of(settings, progress))


def make_claim_checker(settings: AnswerSettings, chats: ChatModels, progress: Progress) -> ClaimChecker | None:
    """Make the checker of cited sentences, if one is set. Raises what `make_checker` raises."""
    if settings.check is None:
        return None
    return make_checker(settings.check, resources=resources_of(settings, progress), chats=chats)


def read_calibration(
    settings: AnswerSettings, terms: Sequence[Terms], *, own_quotes: bool = False
) -> Calibration | None:
    """Read the configured calibration, if any. Raises UsageError where it is for another retriever or model.

    `own_quotes` says that quotes are the dataset's own, and nothing is retrieved.
    """
    if settings.abstain is None:
        return None
    steps = {"fusion": settings.fusion, "expand": settings.expand, "rerank": settings.rerank}
    retriever = GIVEN_QUOTES
    if not own_quotes:
        retriever = retriever_name(settings.retriever, **steps, **lexical_fingerprints(settings, terms))
    return load_calibration(
        settings.abstain, retriever=retriever, model=model_name(settings.model, settings.sentence_scorer)
    )


def make_gate(
    settings: AnswerSettings,
    chats: ChatModels,
    terms: Sequence[Terms],
    *,
    check_topic: bool,
    own_quotes: bool = False,
    progress: Progress = NO_PROGRESS,
) -> Gate:
    """Make the gate of the settings, without the pages on which highlights are placed.

    `check_topic` is the default of the setting of that name. `own_quotes` is as in `read_calibration`. Raises what
    `make_claim_checker` and `read_calibration` raise.
    """
    check_topic = check_topic if settings.check_topic is None else settings.check_topic
    return Gate(
        None if settings.gate == "off" else settings.gate,
        make_claim_checker(settings, chats, progress),
        read_calibration(settings, terms, own_quotes=own_quotes),
        check_topic=chats.default is not None and check_topic,
    )


def make_rag(
    collection: Collection,
    settings: AnswerSettings | None = None,
    *,
    where: Filter | None = None,
    limits: Limits | None = None,
    fallback: bool = False,
    progress: Progress = NO_PROGRESS,
) -> Rag:
    """Make the `Rag` that `quoteweave ask` uses: search, generator and gate over a collection, from settings.

    If the settings name no model or address, those of the environment are used. `where` applies to all questions,
    `limits` to all chat models together. With `fallback`, the documents' own sentences answer if the model's endpoint
    fails. Raises UsageError for settings that cannot be used.
    """
    with_environment = (settings or AnswerSettings()).with_environment()
    return make_rag_without_environment(
        collection, with_environment, where=where, limits=limits, fallback=fallback, progress=progress
    )


def make_rag_without_environment(
    collection: Collection,
    settings: AnswerSettings,
    *,
    where: Filter | None = None,
    limits: Limits | None = None,
    fallback: bool = False,
    progress: Progress = NO_PROGRESS,
) -> Rag:
    """Make a `Rag` as `make_rag` does, from the settings alone: the environment names no model."""
    limits = limits or Limits()
    chats = make_limited_chat_models(settings, limits)
    terms = read_all_terms(settings)
    gate = make_gate(settings, chats, terms, check_topic=True, progress=progress)
    scorer = make_configured_scorer(settings, fallback=fallback, progress=progress)
    search = make_search(collection, settings, chats=chats, progress=progress, terms=terms)
    generator = make_generator(settings, collection, chats.default, fallback=fallback, scorer=scorer)
    if limits.calls is None:  # saved calls may hold the answer, which needs no address
        settings.check_address()
    return Rag(
        search,
        generator,
        size=settings.context_size,
        where=where,
        gate=replace(gate, pages=collection),
        window=settings.reading_window,
    )


def make_follow_ups(settings: ChatSettings) -> FollowUps:
    """Make the rewriter of questions that follow others: by the configured chat model, or by rules if there is none.

    Raises UsageError for prompts that cannot be read.
    """
    return FollowUps(make_limited_chat_models(settings, Limits()).default, prompts_folder=settings.prompts)


def make_limited_chat_models(settings: ChatSettings, limits: Limits) -> ChatModels:
    """Return the configured chat model, and the means of making further ones, all within these limits."""
    shared, chat = SharedLimits(limits), make_chat(settings)
    return ChatModels(None if chat is None else shared.limit(chat), shared.limit, settings.prompts)
