"""What answers the questions of `quoteweave run`, and what it is recorded as."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from quoteweave.cli.checking import checker_named
from quoteweave.cli.judging import pictures_in
from quoteweave.cli.ordering import scorer_named
from quoteweave.cli.retrieving import read_all_terms, recorded, tell
from quoteweave.core.fingerprints import file_sha256

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.core.examples import Example, Spending
    from quoteweave.core.protocols import ChatModel, SentenceScorer
    from quoteweave.core.records import Filter
    from quoteweave.core.runs import Run
    from quoteweave.pipeline.answering import Answerer
    from quoteweave.pipeline.gating import Gate
    from quoteweave.pipeline.run_settings import Limits, RunSetting
    from quoteweave.pipeline.search import Search
    from quoteweave.pipeline.settings import ModelSettings
    from quoteweave.retrievers.step_registry import Chats
    from quoteweave.retrievers.terms import Terms

LIMITS = ("max_pictures", "max_pixels", "max_total_pixels")
"""Settings of how pictures are shown."""
EXPANDING, RERANKING = ("expand_system", "expand_user"), ("rerank_system", "rerank_user")


@dataclass(slots=True)
class Asked:
    """What is asked, by all settings alike."""

    dataset: str
    references: Path
    examples: "Sequence[Example]"
    images: Path | None
    calls: "Calls"
    confirmed: bool


class Calls:
    """How chat models are asked by all settings together: one budget, one pace, and one folder of what was asked."""

    def __init__(self, limits: "Limits") -> None:
        from quoteweave.endpoints.budget import Budget
        from quoteweave.endpoints.rate_limits import TokenBucket

        self._limits = limits
        pace = limits.tokens_per_minute
        self._bucket = None if pace is None else TokenBucket(pace)
        self._budget = Budget(max_usd=limits.max_usd, max_tokens=limits.max_tokens)

    def through(self, model: "ChatModel | None") -> "ChatModel | None":
        """The model within these limits. Raises UsageError where its price is not known and money is limited."""
        return None if model is None else self.limited(model)

    def resumed(self, spent: "Spending") -> None:
        """Counts what earlier commands spent on a run that is gone on with."""
        from quoteweave.endpoints.budget import Spent

        self._budget.settle(Spent(), Spent(spent.input_tokens + spent.output_tokens, spent.price_usd or 0.0))

    def limited(self, model: "ChatModel") -> "ChatModel":
        """As `through`, for a model that there is."""
        from quoteweave.endpoints.budget import BudgetedChat
        from quoteweave.endpoints.call_cache import CachedChat
        from quoteweave.endpoints.rate_limits import LimitedChat

        limits, within = self._limits, model
        if self._bucket is not None:
            within = LimitedChat(within, bucket=self._bucket)
        within = BudgetedChat(within, self._budget)
        return within if limits.calls is None else CachedChat(within, limits.calls)


def model_of(setting: "RunSetting") -> "ModelSettings":
    """The chat model of a setting. Raises UsageError for what it cannot be."""
    from quoteweave.pipeline.settings import ModelSettings

    keys = ("model", "base_url", "images", "image_urls", "prompts", "temperature", "max_tokens", "thinking", "extra")
    said = {key: getattr(setting, key) for key in (*keys, "timeout_s", "call_limit_s", "retries")}
    limits = {key: value for key in LIMITS if (value := getattr(setting, key)) is not None}
    return ModelSettings.from_environment({**said, "limits": limits})


@contextmanager
def answering(
    asked: Asked, setting: "RunSetting", settings: "ModelSettings", collection: Path | None
) -> "Iterator[tuple[Answerer, Mapping[str, str]]]":
    """What answers, and the fingerprints of what it answers with. Raises UsageError where a collection is wanted."""
    from quoteweave.collection.collection import Collection
    from quoteweave.core.errors import UsageError
    from quoteweave.endpoints.chat_wrappers import settings_of
    from quoteweave.pipeline.answering import Answerer
    from quoteweave.pipeline.pictures import CollectionPictures
    from quoteweave.pipeline.settings import make_chat, make_generator
    from quoteweave.retrievers.step_registry import Chats

    chat = asked.calls.through(make_chat(settings))
    chats = Chats(chat, asked.calls.limited, settings.prompts)
    terms = read_all_terms(setting.terms) if setting.quotes == "retrieved" else ()
    gate, fingerprints = _gate(setting, settings, chats, terms)
    if chat is not None and (weights := settings_of(chat).get("weights")):
        fingerprints["weights"] = str(weights)
    order = _order(setting, settings)
    alike = partial(
        Answerer,
        arrangement=setting.arrangement,
        view=setting.view,
        window=settings.read(setting.window),
        gate=gate,
    )
    if setting.quotes == "dataset":
        read = pictures_in(asked.images)
        if settings.images and settings.model and read is None:
            raise UsageError(
                f"setting {setting.name}: images = true wants --images, the folder of the dataset's pictures"
            )
        yield alike(make_generator(settings, read, chat, order=order)), fingerprints
        return
    if collection is None:
        raise UsageError(f"setting {setting.name} retrieves its quotes: name the collection with -c")
    with Collection.open(collection) as opened:
        search, documents, searched = _searching(opened, setting, chats, terms)
        yield (
            alike(
                make_generator(settings, opened, chat, order=order),
                search=search,
                split=setting.split,
                documents=documents,
                scope=setting.within,
                pictures=CollectionPictures(opened, tell=tell),
            ),
            {**fingerprints, **searched},
        )


def _gate(
    setting: "RunSetting", settings: "ModelSettings", chats: "Chats", terms: "Sequence[Terms]"
) -> "tuple[Gate, dict[str, str]]":
    """What answers pass, and the fingerprints of the models and files among it."""
    from quoteweave.core.confidence import OWN_QUOTES, load_calibration, model_name, retriever_name
    from quoteweave.pipeline.gating import Gate

    fingerprints, calibration = {}, None
    checker = checker_named(setting.check, settings, chats)
    if checker is not None:
        fingerprints["checker"] = checker.name
    if setting.abstain is not None:
        own = setting.quotes == "dataset"
        steps = {"fusion": setting.fusion, "expand": setting.expand, "rerank": setting.rerank, **recorded(terms)}
        retriever = OWN_QUOTES if own else retriever_name(setting.retriever, **steps)
        model = model_name(settings.model, setting.answer_with)
        calibration = load_calibration(setting.abstain, retriever=retriever, model=model)
        fingerprints["abstain"] = file_sha256(setting.abstain)
    return Gate(None if setting.gate == "off" else setting.gate, checker, calibration), fingerprints


def _order(setting: "RunSetting", settings: "ModelSettings") -> "SentenceScorer | None":
    """What orders extracted sentences. Raises UsageError where a chat model answers, or none of that name is there."""
    from quoteweave.cli.endpoint_options import patience_of

    patience = patience_of(setting.timeout_s, setting.call_limit_s, setting.retries)
    instead = f"answers: leave out answer_with or the model in setting {setting.name}"
    return scorer_named(setting.answer_with, settings, patience, instead=instead)


def _searching(
    collection: "Collection", setting: "RunSetting", chats: "Chats", terms: "tuple[Terms, ...]"
) -> "tuple[Callable[[Filter | None], Search], dict[str, str], Mapping[str, str]]":
    """The search for a filter, the dataset's names of documents to the collection's, and fingerprints of both."""
    from quoteweave.cli.endpoint_options import patience_of
    from quoteweave.cli.eval_subject import build_all, content_of, fingerprints_of, searches
    from quoteweave.cli.retrieving import Finding

    patience = patience_of(setting.timeout_s, setting.call_limit_s, setting.retries)
    steps = (setting.fusion, setting.expand, setting.rerank)
    finding = Finding(list(setting.retriever), *steps, patience=patience, terms=terms)
    search_in = searches(collection, finding, chats)[1]  # raises for wrong use, before an index is built for hours
    specs, documents = build_all(collection, finding, quiet=False), collection.documents()
    fingerprints = {"documents": content_of(documents), **fingerprints_of(collection, specs), **recorded(terms)}
    return search_in, _names([document.name for document in documents]), fingerprints


def _names(documents: Sequence[str]) -> dict[str, str]:
    """Names that datasets use, with the suffix or without, to the documents of a collection."""
    stems: dict[str, list[str]] = {}
    for name in documents:
        stems.setdefault(Path(name).stem, []).append(name)
    return {
        **{stem: names[0] for stem, names in stems.items() if len(names) == 1},
        **{name: name for name in documents},
    }


def described(asked: Asked, setting: "RunSetting", settings: "ModelSettings", fingerprints: Mapping[str, str]) -> "Run":
    """The run that a setting makes of what is asked."""
    from quoteweave.core.runs import Run

    said = setting.model_dump(mode="json", exclude={"name", "prompts", "seed", "abstain", "terms"}, exclude_none=True)
    # The same model may answer at another address tomorrow.
    said = {name: _without_credentials(value) for name, value in said.items()}  # steps may name endpoints of their own
    configuration = {"dataset": asked.dataset, **said, **({"model": settings.model} if settings.model else {})}
    configuration.pop("base_url", None)
    return Run(
        configuration=configuration,
        fingerprints={
            "references": file_sha256(asked.references),
            **fingerprints,
            **_prompts(setting, settings),
        },
        noted={"endpoint": settings.destination} if settings.destination else {},
        seeds={"order": setting.seed} if setting.order == "shuffled" else {},
    )


def _without_credentials(value: object) -> object:
    from quoteweave.core.urls import without_credentials

    if isinstance(value, list):
        return [_without_credentials(one) for one in value]
    return without_credentials(value) if isinstance(value, str) else value


def _prompts(setting: "RunSetting", settings: "ModelSettings") -> dict[str, str]:
    """SHA-256 of each prompt that may be used; a checker's name has that of its own."""
    from quoteweave.core.chat.prompts import load_prompt
    from quoteweave.generation.prompt_messages import CitedMessages

    prompts = dict(CitedMessages(settings.prompts).prompts) if settings.model else {}
    for how, names in ((setting.expand, EXPANDING), (setting.rerank, RERANKING)):
        if how is not None and setting.quotes == "retrieved" and re.match(r"chat(:|$)", how):
            prompts.update({name: load_prompt(name, settings.prompts) for name in names})
    return {f"prompt {name}": prompt.sha256 for name, prompt in prompts.items()}
