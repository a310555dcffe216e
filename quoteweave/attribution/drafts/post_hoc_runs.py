"""Runs whose answers are cited post hoc: written without passages, or saved before, and then given citations.

ALCE's PostCite (arXiv 2305.14627, section 4) answers closed-book and cites, for each sentence, the passage nearest to
it among the question's hundred. Here `PassageFinder` finds that passage, and the gate may check it. It looks for the
source of a claim among a few given passages, without a collection.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from quoteweave.attribution.attribute import PASSAGES
from quoteweave.attribution.checked_passages import check_passage, cite_passage, passage_context
from quoteweave.attribution.drafts.cited_draft import CitedDraft, insert_marks
from quoteweave.attribution.drafts.draft_text import Draft
from quoteweave.attribution.drafts.post_hoc import cite_draft
from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.records import Attribution, Candidate, Outcome, Rejection, ranked_by_outcome
from quoteweave.core.answers import Context, Usage
from quoteweave.core.chat.prompts import Prompt, load_prompt
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example, Prediction, Scope, Task
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Hit
from quoteweave.core.runs import PREDICTIONS_FILE
from quoteweave.core.text.marks import parse_marks
from quoteweave.core.text.tokens import words
from quoteweave.evaluation.formats import load_predictions
from quoteweave.generation.citations import build_answer
from quoteweave.generation.relevance import coverage, question_terms, weigh_terms, words_with_headings
from quoteweave.pipeline.composition.make_rag import SharedLimits, make_chat
from quoteweave.pipeline.presets import PresetKind
from quoteweave.pipeline.runs.answer_dataset import RunHooks, RunOutcome, answer_by
from quoteweave.pipeline.runs.answerer import Predictor
from quoteweave.pipeline.runs.config import RunFile, RunSettings, read_run_file_as
from quoteweave.pipeline.runs.search_dataset import Questions
from quoteweave.pipeline.search import Trace


class _Passage(NamedTuple):
    hit: Hit
    words: frozenset[str]


class PassageFinder:
    """Finds the source of a claim among passages; implements `FindsSource`.

    Passages are ranked by the share of the claim's words that they have, weighed by their rarity among the passages;
    equal ones keep their order. If `checked`, the gate's rules check the best `PASSAGES`: one that supports the claim
    is ranked before one that is likely, and if there is neither, no source is found. If not, the best is the source,
    whatever it says: ALCE's PostCite (arXiv 2305.14627, section 4), with words in place of GTR's vectors.
    """

    def __init__(self, hits: Sequence[Hit], *, checked: bool = True) -> None:
        self._passages = [_Passage(hit, words_with_headings(hit.quote)) for hit in hits]
        self._checked = checked

    async def attribute_excerpt(self, excerpt: Excerpt) -> Attribution:
        """Return the best passages as candidates."""
        weights = weigh_terms(question_terms(excerpt.claim), [passage.words for passage in self._passages])
        covered = [(min(1.0, coverage(weights, passage.words)), passage) for passage in self._passages]
        covered.sort(key=lambda scored: -scored[0])
        candidates = [
            self._candidate(excerpt.claim, passage.hit, share, weights) for share, passage in covered[:PASSAGES]
        ]
        ranked = ranked_by_outcome(candidates)
        best = ranked[0] if ranked else None
        return Attribution(
            excerpt=excerpt,
            outcome="not_found" if best is None else best.outcome,
            reason="There are no passages." if best is None else best.citation.reason,
            candidates=ranked,
            trace=Trace(clauses=()),
        )

    def _candidate(self, claim: str, hit: Hit, covered: float, weights: Mapping[str, float]) -> Candidate:
        outcome: Outcome = "likely"
        rejection: Rejection | None = None
        closest = ""
        if self._checked:
            passage = check_passage(claim, hit, weights)
            outcome, citation, rejection = passage.outcome, passage.citation, passage.rejection
            closest = passage.closest
        else:
            (citation,) = cite_passage(claim, hit, passage_context([hit])).citations
        return Candidate(
            rank=1,
            title=hit.quote.document,
            identifiers={"document": hit.quote.document},
            score=covered,
            outcome=outcome,
            coverage=covered,
            kind=hit.quote.kind,
            passage=hit.quote.all_text(),
            closest=closest,
            citation=citation,
            rejection=rejection,
        )


PROMPTS = ("closed_book_system", "closed_book_user")
SAVED_ANSWERS_MODEL = "saved answers"
"""Recorded in place of a model's name for answers that the run did not write."""


class PostHocSettings(RunSettings):
    """How answers are written without passages, or where they are saved, and how they are cited.

    `passages` is how many of the question's first passages are searched. `gate = "off"` cites the nearest passage for
    every sentence, unchecked; any other gate cites only factual sentences that a passage supports or likely supports.
    """

    PRESET_KINDS: ClassVar[tuple[PresetKind, ...]] = ("post_hoc",)

    quotes: Literal["dataset"] = "dataset"
    answers: Path | None = Field(
        default=None,
        exclude=True,  # a run records their hash, and not where they were
        description="a run, or a file of answers, that is cited; its own marks are taken out. None: the model writes",
    )

    def for_task(self, task: Task, dataset: str) -> "PostHocSettings":
        """Return the settings. Raises UsageError for a task without texts, and without a writer."""
        if task != "answer":
            raise UsageError(f"setting {self.name}: {dataset} asks for no text that could be cited")
        if self.answers is not None:
            return self.model_copy(update={"model": None})
        if self.model is None:
            raise UsageError(
                f"setting {self.name}: name what is cited: a model that writes, with model in the configuration or "
                "QUOTEWEAVE_MODEL, or saved answers, with --answers"
            )
        return self


class PostHocRunFile(RunFile):
    """A configuration file of runs that are cited post hoc."""

    SETTING: ClassVar[type[RunSettings]] = PostHocSettings
    settings: tuple[PostHocSettings, ...]


def cite_answers(
    config: PostHocRunFile | Path | str,
    questions: Questions,
    out: Path,
    *,
    answers: Path | None = None,
    only: Sequence[str] | None = None,
    hooks: RunHooks | None = None,
) -> list[RunOutcome]:
    """Cite an answer to each question of a dataset by the question's own passages, and keep it to be scored.

    This works as `answer_dataset` does, except that the answers are taken from `answers`, a run or a file of answers,
    or are written by the model without passages; citations are set afterwards.

    Raises UsageError where settings do not fit together or a folder holds another run; DatasetError for a configuration
    or answers that cannot be read; BudgetSpent, EndpointError and StorageError where they concern all questions.
    """
    file = config if isinstance(config, PostHocRunFile) else read_run_file_as(PostHocRunFile, config)

    @contextmanager
    def make_predictor(
        setting: RunSettings,
        limits: SharedLimits,
        folder: Path,  # noqa: ARG001
    ) -> Iterator[tuple[Predictor, Mapping[str, str]]]:
        assert isinstance(setting, PostHocSettings)  # noqa: S101 - the file has no others
        yield _make_citer(setting, limits)

    return answer_by(make_predictor, file.with_default("answers", answers), questions, out, only=only, hooks=hooks)


def _make_citer(setting: PostHocSettings, limits: SharedLimits) -> tuple["PostHocCiter", Mapping[str, str]]:
    checked = setting.gate != "off"
    if setting.answers is not None:
        saved = {prediction.example: prediction for prediction in load_predictions(setting.answers)}
        file = setting.answers / PREDICTIONS_FILE if setting.answers.is_dir() else setting.answers
        return PostHocCiter(checked, setting.passages, saved=saved), {"answers": file_sha256(file)}
    model = make_chat(setting)
    assert model is not None  # noqa: S101 - `for_task` has seen to it
    prompts = tuple(load_prompt(name, setting.prompts) for name in PROMPTS)
    hashes = {f"prompt {prompt.name}": prompt.sha256 for prompt in prompts}
    return PostHocCiter(checked, setting.passages, model=limits.limit(model), prompts=prompts), hashes


class _Written(NamedTuple):
    text: str
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class PostHocCiter(Predictor):
    """Cites answers by the passages of their questions."""

    checked: bool
    passages: int | None = None
    saved: Mapping[str, Prediction] = field(default_factory=dict)
    model: ChatModel | None = None
    """The model that writes answers; None if saved answers are cited."""
    prompts: tuple[Prompt, ...] = ()

    @property
    def scope(self) -> Scope:
        """The question's own passages."""
        return "context"

    async def predict(self, example: Example) -> Prediction:
        """Write or take the answer to an example, and cite it.

        What is missing for one example becomes a prediction with that error. Raises EndpointError.
        """
        started = time.perf_counter()
        try:
            context, is_from_dataset = self._context(example)
            response = await self._written(example)
        except DatasetError as error:
            return self.failed(example, error)
        finder = PassageFinder(context.texts, checked=self.checked)
        draft = Draft(text=remove_numbered_marks(response.text), form="text", every_sentence=not self.checked)
        text = _marked(await cite_draft(finder, draft), context) if words(draft.text) else draft.text
        return Prediction(
            example=example.id,
            scope=self.scope,
            context=None if is_from_dataset else context,
            response=text,
            answer=build_answer(example.query.text, text, context, model=response.model),
            model=response.model,
            usage=response.usage,
            seconds=time.perf_counter() - started,
        )

    def _context(self, example: Example) -> tuple[Context, bool]:
        """The passages that are searched, and whether these are all that the question has."""
        if example.context is None or not example.context.texts:
            raise DatasetError("the dataset gives this question no passages to cite")
        texts = example.context.texts[: self.passages]
        context = example.context.model_copy(update={"texts": texts, "images": ()})
        return context, context == example.context

    async def _written(self, example: Example) -> _Written:
        if self.model is None:
            saved = self.saved.get(example.id)
            if saved is None or saved.response is None:
                reason = "there is no saved answer" if saved is None else f"its saved answer is an error: {saved.error}"
                raise DatasetError(reason)
            return _Written(saved.response, saved.model or SAVED_ANSWERS_MODEL, saved.usage)
        system, user = self.prompts
        completion = await self.model.complete(
            [
                {"role": "system", "content": system.render({}).strip()},
                {"role": "user", "content": user.render({"question": example.query.text}).strip()},
            ]
        )
        return _Written(completion.text.strip(), completion.model, completion.usage)


def remove_numbered_marks(text: str) -> str:
    """Return a text without marks such as `[3]`, and the blanks before them; nothing else of it changes.

    >>> remove_numbered_marks("Grain [1][2].")
    'Grain.'
    """
    while marks := parse_marks(text):  # removing a mark may form another: [[1]2]
        parts, last = [], 0
        for mark in marks:
            parts.append(text[last : mark.start].rstrip(" "))
            last = mark.end
        text = "".join([*parts, text[last:]])
    return text


def _marked(cited: CitedDraft, context: Context) -> str:
    """The text with the positions of the passages in the context as marks."""
    positions = {hit.quote.id: position for position, hit in enumerate(context.texts, 1)}
    numbers = {
        number: f" [{positions[reference.found.citation.quote_id]}]"
        for number, reference in enumerate(cited.references, 1)
    }
    return insert_marks(cited.draft, cited.sentences, numbers)
