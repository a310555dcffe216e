"""Answers the questions of a dataset by each setting of a configuration, resumes, and keeps the answers for scoring."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pydantic import Field

from quoteweave.collection.collection import Collection
from quoteweave.core.chat.prompts import load_prompt
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example, Prediction, Spending, Task
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Document, Record
from quoteweave.core.runs import PredictionStatus, RunRecord, RunWriter, open_run, read_statuses, sort_predictions
from quoteweave.core.urls import without_credentials
from quoteweave.generation.prompt_messages import CitedMessages, SourcePrompts
from quoteweave.pipeline.composition.make_rag import (
    SharedLimits,
    make_chat,
    make_configured_scorer,
    make_gate,
    make_generator,
    make_source_generators,
)
from quoteweave.pipeline.composition.make_search import lexical_fingerprints, read_all_terms
from quoteweave.pipeline.composition.manage_indexes import build_indexes
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.pictures_for_models import CollectionPictures
from quoteweave.pipeline.presets import load_preset
from quoteweave.pipeline.runs import answerer
from quoteweave.pipeline.runs.answerer import AllQuotes, Answerer, EvidenceBoxes, Predictor
from quoteweave.pipeline.runs.arrangement import PUBLISHED_SEED, no_collection
from quoteweave.pipeline.runs.config import RunFile, RunSettings, read_run_file
from quoteweave.pipeline.runs.dataset_pictures import (
    DatasetOcr,
    missing_pictures,
    missing_pictures_error,
    ocr_of_pictures,
    pictures_in,
    without_captions,
)
from quoteweave.pipeline.runs.search_dataset import (
    Questions,
    fingerprint_documents,
    index_fingerprints,
    make_run_search,
)
from quoteweave.retrievers.chat_models import ChatModels
from quoteweave.retrievers.terms.terms import Terms

EXPANDING, RERANKING = ("expand_system", "expand_user"), ("rerank_system", "rerank_user")


class RunOutcome(Record):
    """The state of one setting's run after the command: how many questions it holds, and what this command asked."""

    setting: str = Field(description="its name")
    run: Path = Field(description="the folder")
    questions: int = Field(default=0, description="of those asked, how many the run holds; failed ones included")
    answered: int = Field(default=0, description="questions with an answer")
    located: int = Field(default=0, description="questions of which only places were shown")
    abstained: int = Field(
        default=0, description="questions without an answer; for CiteME, searches that selected no paper"
    )
    failed: int = Field(default=0, description="questions whose errors are in `errors`")
    cut_quotes: int = Field(default=0, description="quotes cut to what the model can read")
    notes: Mapping[str, int] = Field(default_factory=dict, description="notes on searches, to how many questions")
    left_out: int = Field(default=0, description="questions whose pictures are not all there")
    asked: int = Field(default=0, description="questions asked now")
    spent: Spending = Field(default=Spending(), description="tokens, calls and price of this command")
    seconds: float = Field(default=0.0, description="that it took now")
    errors: Mapping[str, str] = Field(
        default_factory=dict, description="of failed questions: the example's id to the reason"
    )


class PendingQuestions(Record):
    """The questions of one setting that are about to be asked."""

    setting: str
    model: str | None = Field(description="the chat model; None where answers are extracted")
    destination: str | None = Field(description="the host that questions and quotes are sent to")
    left: int = Field(description="questions to be asked")
    done: int = Field(description="questions that are done already: answered, or failed for good")


class RunHooks:
    """Callbacks of `answer_dataset`; override the ones you need."""

    progress: Progress = NO_PROGRESS

    def before(self, pending: PendingQuestions) -> None:
        """Called before a setting's questions are asked. What it raises ends the run."""

    def advanced(self, setting: str, spent: Spending) -> str:  # noqa: ARG002
        """Called after each question with what the setting has spent in this command; return the label of progress."""
        return setting

    def after(self, outcome: RunOutcome) -> None:
        """Called when a setting has ended, successfully or not."""


MakePredictor = Callable[[RunSettings, SharedLimits, Path], AbstractContextManager[tuple[Predictor, Mapping[str, str]]]]
"""Opens the predictor of a setting, within limits, for a run in a folder, with the fingerprints of what it uses."""


def answer_dataset(
    config: RunFile | Path | str,
    questions: Questions,
    out: Path,
    *,
    collection: Path | None = None,
    only: Sequence[str] | None = None,
    hooks: RunHooks | None = None,
) -> list[RunOutcome]:
    """Answer every question of a dataset by each setting of a configuration, and keep the answers to be scored.

    The run of a single setting is the folder `out`; the runs of several are folders in it. Questions that a run has
    answered already are not asked again. Settings that retrieve quotes do so from the collection in the folder
    `collection`. `only` names the settings to run. Raises UsageError if settings do not fit together or a folder holds
    another run; DatasetError for a configuration that cannot be read; CollectionError, IndexMissing, BudgetSpent,
    EndpointError and StorageError if they concern all questions. Answers so far are kept.
    """
    file = config if isinstance(config, RunFile) else read_run_file(config)
    settings = file.chosen(only, "the configuration" if isinstance(config, RunFile) else config)
    hooks = hooks or RunHooks()
    make_predictor = _AnswererOpener(questions, collection, hooks.progress).open
    return _RunExecutor(questions, file, SharedLimits(file.limits), hooks, make_predictor).answer_all(settings, out)


def answer_by(
    make_predictor: MakePredictor,
    file: RunFile,
    questions: Questions,
    out: Path,
    *,
    only: Sequence[str] | None = None,
    hooks: RunHooks | None = None,
) -> list[RunOutcome]:
    """Answer every question of a dataset as `answer_dataset` does, by other means than a generator over quotes.

    Raises as `answer_dataset`, and what `make_predictor` raises.
    """
    work = _RunExecutor(questions, file, SharedLimits(file.limits), hooks or RunHooks(), make_predictor)
    return work.answer_all(file.chosen(only), out)


@dataclass(frozen=True, slots=True)
class _RunExecutor:
    """Runs settings one after another, with the limits that they share."""

    questions: Questions
    file: RunFile
    limits: SharedLimits
    hooks: RunHooks
    make_predictor: MakePredictor

    def answer_all(self, settings: Sequence[RunSettings], out: Path) -> list[RunOutcome]:
        """Run these settings, each in a folder of its own where the file has several."""
        several = len(self.file.settings) > 1
        return [self.answer(setting.with_environment(), out / setting.name if several else out) for setting in settings]

    def answer(self, setting: RunSettings, folder: Path) -> RunOutcome:
        """Run one setting and report what its folder holds, even where the run ends early."""
        started, setting = time.perf_counter(), self._fit_to_dataset(setting)
        examples = self._answerable(setting)
        self._note_fewer_passages(setting, examples)
        with (
            self.make_predictor(setting, self.limits, folder) as (predictor, fingerprints),
            open_run(folder, run_record(self.questions, setting, fingerprints)) as writer,
        ):
            pending = [example for example in examples if not writer.is_done(example.id, predictor.scope)]
            self.limits.count_earlier(writer.spent)
            to_ask = sum(map(predictor.asks, pending))
            if to_ask and self.file.limits.calls is None:  # saved calls may hold the answers, and need no address
                setting.check_address()
            self.hooks.before(
                PendingQuestions(
                    setting=setting.name,
                    model=setting.model,
                    destination=setting.destination if to_ask else None,
                    left=to_ask,
                    done=len(examples) - to_ask,
                )
            )
            left_out = len(self.questions.examples) - len(examples)
            outcome = RunOutcome(setting=setting.name, run=folder, asked=to_ask, left_out=left_out)
            spent = [Spending()]
            try:
                self._ask(pending, predictor, writer, setting.name, spent)
                sort_predictions(folder, [example.id for example in examples])
            finally:
                spending = {"spent": spent[0], "seconds": time.perf_counter() - started}
                outcome = outcome.model_copy(update={**spending, **_counts(folder, examples)})
                self.hooks.after(outcome)
        return outcome

    def _ask(
        self, examples: Sequence[Example], predictor: Predictor, writer: RunWriter, name: str, spent: list[Spending]
    ) -> None:
        with self.hooks.progress.task(name, len(examples)) as task:

            def write(prediction: Prediction) -> None:
                writer.append(prediction)
                spent[0] = spent[0].plus(prediction.spent or Spending())
                task.update(label=self.hooks.advanced(name, spent[0]))
                task.advance()

            run_sync(answerer.answer_all(examples, predictor, write, concurrency=self.file.limits.concurrency))

    def _fit_to_dataset(self, setting: RunSettings) -> RunSettings:
        """Return the setting completed for the dataset's task. Raises UsageError if the two do not fit."""
        if setting.model is None and setting.preset is not None and load_preset(setting.preset).kind == "answers":
            raise UsageError(
                f"setting {setting.name}: preset {setting.preset!r} says how a model is asked; name one, with model in "
                "the configuration or QUOTEWEAVE_MODEL"
            )
        return setting.for_task(self.questions.task, self.questions.dataset)

    def _answerable(self, setting: RunSettings) -> Sequence[Example]:
        """Return the questions that have all their pictures. Raises DatasetError if one lacks any, unless `partial`."""
        shows_pictures = setting.quotes == "dataset" and setting.images and setting.model and setting.image_urls is None
        questions, folder = self.questions, self.questions.images
        if folder is None or not (shows_pictures or _ocr(questions, setting, self.hooks.progress)):
            return questions.examples
        missing_by_example = missing_pictures(questions.examples, folder)
        if missing_by_example and not questions.partial:
            raise missing_pictures_error(missing_by_example, folder, ", or leave these questions out with --partial")
        return [example for example in questions.examples if example.id not in missing_by_example]

    def _note_fewer_passages(self, setting: RunSettings, examples: Sequence[Example]) -> None:
        """Note how many questions have fewer passages than are wanted."""
        passages_wanted = setting.passages or 0
        fewer = sum(len(example.context.texts) < passages_wanted for example in examples if example.context is not None)
        if fewer:
            self.hooks.progress.note(
                f"note: {setting.name}: {pluralize(fewer, 'question')} with fewer than {passages_wanted} passages, "
                "asked with those that there are"
            )


@dataclass(frozen=True, slots=True)
class _AnswererOpener:
    """Opens the answerers of settings, over quotes of a dataset or of a collection; `open` is a `MakePredictor`."""

    questions: Questions
    collection: Path | None
    progress: Progress

    @contextmanager
    def open(
        self, setting: RunSettings, limits: SharedLimits, _folder: Path
    ) -> Iterator[tuple[Predictor, Mapping[str, str]]]:
        """Yield the answerer of a setting and its fingerprints. Raises UsageError if something is missing."""
        chat = None if (model := make_chat(setting)) is None else limits.limit(model)
        chats = ChatModels(chat, limits.limit, setting.prompts)
        terms = read_all_terms(setting) if setting.quotes == "retrieved" else ()
        gate, fingerprints = self._gate(setting, chats, terms)
        fingerprints.update(_prompts(setting, self.questions.task))
        if chat is not None and (weights := chat.request_settings().get("weights")):
            fingerprints["weights"] = str(weights)
        scorer = make_configured_scorer(setting, fallback=False, progress=self.progress)
        make_answerer = partial(
            Answerer, arrangement=setting.arrangement, view=setting.view, window=setting.reading_window, gate=gate
        )
        if setting.quotes == "dataset":
            generator = make_generator(setting, self._pictures(setting), chat, scorer=scorer)
            ocr = _ocr(self.questions, setting, self.progress)
            by_source = make_source_generators(generator, setting, self.questions.task)
            over_quotes = make_answerer(
                generator, make_source_generator=by_source, passages=setting.passages, pictures=ocr
            )
            yield over_quotes, {**fingerprints, **({} if ocr is None else {"ocr": ocr.name})}
            return
        if self.collection is None:
            raise no_collection(setting.name, self.questions.examples)
        with Collection.open(self.collection) as opened:
            basic = make_answerer(make_generator(setting, opened, chat, scorer=scorer))
            predictor, data_fingerprints = self._over_collection(basic, opened, setting, terms, chats)
            yield predictor, {**fingerprints, **data_fingerprints}

    def _over_collection(
        self, basic: Answerer, opened: Collection, setting: RunSettings, terms: Sequence[Terms], chats: ChatModels
    ) -> tuple[Answerer, dict[str, str]]:
        """Return the answerer over retrieved quotes or over all quotes, and the fingerprints of what it reads."""
        documents = opened.documents()
        names, fingerprints = _names(documents), {"documents": fingerprint_documents(documents)}
        over_documents = replace(
            basic,
            documents=names,
            scope=setting.within,
            pictures=CollectionPictures(opened, note=self.progress.note),
            boxes=EvidenceBoxes(opened, names),
        )
        if setting.quotes == "document":
            return replace(over_documents, all_quotes=AllQuotes(opened, setting.reading_window)), fingerprints
        search = make_run_search(opened, setting, terms, chats=chats, progress=self.progress)[1]
        # Indexes are built last, as this may take hours, and wrong settings should raise before.
        specs = build_indexes(opened, setting.retriever, setting, self.progress)
        fingerprints |= {**index_fingerprints(opened, specs), **lexical_fingerprints(setting, terms)}
        return replace(over_documents, search=search, size=setting.context_size), fingerprints

    def _pictures(self, setting: RunSettings) -> Callable[[str], bytes] | None:
        """Return a function that reads pictures. Raises UsageError if some are to be shown and no folder is named."""
        read_picture = pictures_in(self.questions.images)
        if read_picture is not None and setting.captions is False:
            read_picture = without_captions(read_picture, self.questions.examples)
        has_pictures = any(
            example.context is not None and example.context.images for example in self.questions.examples
        )
        if setting.images and setting.model and read_picture is None and has_pictures:
            raise UsageError(
                f"setting {setting.name}: images = true wants --image-folder, the folder of the dataset's pictures"
            )
        return read_picture

    def _gate(self, setting: RunSettings, chats: ChatModels, terms: Sequence[Terms]) -> tuple[Gate, dict[str, str]]:
        """Return the gate, and the fingerprints of its models and files."""
        fingerprints = dict[str, str]()
        own_quotes = setting.quotes == "dataset"
        # The topic is not checked, as a dataset's questions are about its documents.
        gate = make_gate(setting, chats, terms, check_topic=False, own_quotes=own_quotes, progress=self.progress)
        if gate.checker is not None:
            fingerprints["checker"] = gate.checker.name
        if setting.abstain is not None:
            fingerprints["abstain"] = file_sha256(setting.abstain)
        return gate, fingerprints


def _ocr(questions: Questions, setting: RunSettings, progress: Progress) -> DatasetOcr | None:
    """Return the OCR of the dataset's pictures, if their words are needed and the dataset's file lacks some."""
    if setting.view != "ocr_text" or setting.quotes != "dataset":
        return None
    return ocr_of_pictures(questions.examples, questions.images, progress.note)


def _names(documents: Sequence[Document]) -> dict[str, str]:
    """Map the names that datasets use, with or without suffix, to the documents of a collection."""
    names = [document.name for document in documents]
    stem_counts = Counter(Path(name).stem for name in names)
    return {stem: name for name in names if stem_counts[stem := Path(name).stem] == 1} | {name: name for name in names}


def _counts(folder: Path, examples: Sequence[Example]) -> dict[str, object]:
    """Count the statuses of these examples, as the fields of a `RunOutcome`."""
    ids = {example.id for example in examples}
    statuses: list[PredictionStatus] = [tally for tally in read_statuses(folder) if tally.example in ids]
    errors = {status.example: status.error for status in statuses if status.error is not None}
    statuses_without_error = [status.status for status in statuses if status.error is None]
    located, abstained = statuses_without_error.count("located"), statuses_without_error.count("abstained")
    return {
        "questions": len(statuses),
        "answered": len(statuses_without_error) - located - abstained,
        "located": located,
        "abstained": abstained,
        "failed": len(errors),
        "cut_quotes": sum(status.cut_quotes for status in statuses),
        "notes": dict(Counter(note for status in statuses for note in status.notes).most_common()),
        "errors": errors,
    }


def run_record(questions: Questions, setting: RunSettings, fingerprints: Mapping[str, str]) -> RunRecord:
    """Return the record that identifies the run of a setting over these questions."""
    # The address is left out, as the same model may have another one when the run is resumed.
    excluded = {"name", "prompts", "seed", "abstain", "terms", "synonyms", "base_url"}
    dumped = setting.model_dump(mode="json", exclude=excluded, exclude_none=True)
    return RunRecord(
        # Values are made public, as steps may name endpoints of their own with credentials.
        configuration={"dataset": questions.dataset, **{name: _public(value) for name, value in dumped.items()}},
        fingerprints={"references": file_sha256(questions.references), **fingerprints},
        noted={"endpoint": setting.destination} if setting.destination else {},
        seeds={"shuffled": {"order": setting.seed}, "published": {"order": PUBLISHED_SEED}}.get(setting.order, {}),
    )


def _public(value: object) -> object:
    if isinstance(value, list):
        return [_public(entry) for entry in value]
    return without_credentials(value) if isinstance(value, str) else value


def _prompts(setting: RunSettings, task: Task) -> dict[str, str]:
    """Return the SHA-256 of each prompt that may be used; a checker's name already contains its prompt's hash."""
    messages = CitedMessages(setting.prompts) if task == "answer" else SourcePrompts(task, setting.prompts)
    prompts = dict(messages.prompts) if setting.model else {}
    for step, names in ((setting.expand, EXPANDING), (setting.rerank, RERANKING)):
        if step is not None and setting.quotes == "retrieved" and re.match(r"chat(:|$)", step):
            prompts.update({name: load_prompt(name, setting.prompts) for name in names})
    return {f"prompt {name}": prompt.sha256 for name, prompt in prompts.items()}
