"""The kinds of error in answers, as a chat model finds them or as people label them.

MMDocRAG (arXiv 2505.16470, appendix F.1) names four typical errors of answers. The text of that appendix was not
available, so the names and definitions of `ERROR_KINDS` are our own; other kinds can be read from a file
(`load_error_kinds`). Searches that ended with a wrong paper have the kinds of CiteME (arXiv 2407.12861, section 5.1),
`SEARCH_ERROR_KINDS`.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field, ValidationError

from quoteweave.core.chat.prompts import load_prompt
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example, PaperSearch, Prediction, SearchStep, Task
from quoteweave.core.files.jsonl import describe_validation_error, iter_records
from quoteweave.core.files.toml import read_toml
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Record
from quoteweave.evaluation.judges.answer_judges import NO_GOLD, answer_fields
from quoteweave.evaluation.judges.batch import JudgeRequest, JudgingItem, Verdict
from quoteweave.evaluation.judges.chat import (
    ImageReader,
    ask_for_scores,
    image_parts,
    indent,
    user_message,
)

MAX_CHARACTERS = 600
"""The most characters of a rationale, a query or a title."""
MAX_PAPERS = 10
"""The most titles of one step."""


def describe_search(search: PaperSearch) -> str:
    """Each step with its rationale and the titles that it showed, and then how the search ended.

    >>> step = SearchStep(action="search_relevance", argument="blur", rationale="It is on blur.")
    >>> print(describe_search(PaperSearch(outcome="no_selection", steps=(step,))))
    1. search_relevance: blur
       rationale: It is on blur.
       showed: nothing
    ended: no_selection
    """
    lines = [line for number, step in enumerate(search.steps, start=1) for line in _step(number, step)]
    chosen = "" if search.selected is None else f": {_line(search.selected.title)}"
    return "\n".join([*lines, f"ended: {search.outcome}{chosen}"])


def count_cut_texts(searches: Iterable[PaperSearch]) -> int:
    """How many rationales, queries and titles `describe_search` cuts to `MAX_CHARACTERS`."""
    steps = [step for search in searches for step in search.steps]
    texts = [text or "" for step in steps for text in (step.argument, step.rationale)]
    texts += [paper.title for step in steps for paper in step.papers[:MAX_PAPERS]]
    return sum(len(" ".join(text.split())) > MAX_CHARACTERS for text in texts)


def _step(number: int, step: SearchStep) -> list[str]:
    lines = [f"{number}. {step.action}: {_line(step.argument)}"]
    if step.rationale:
        lines.append(f"   rationale: {_line(step.rationale)}")
    if step.problem is not None:
        lines.append(f"   problem: {step.problem}")
    elif step.action.startswith("search"):
        titles = [f"   showed: {_line(paper.title)}" for paper in step.papers[:MAX_PAPERS]]
        more = len(step.papers) - MAX_PAPERS
        lines += titles or ["   showed: nothing"]
        lines += [f"   and {more} more"] if more > 0 else []
    else:
        lines += [f"   paper: {_line(paper.title)}" for paper in step.papers]
    return lines


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]}…"


PROMPT = "judge_errors"
SEARCH_PROMPT = "judge_search_errors"
ERRORS = "errors.jsonl"
"""The file's name in a run folder."""
MAX_KINDS = 9
"""So many kinds have a key of their own on the page for labelling."""
REPLY_TOKENS = 80


class ErrorKind(Record):
    """A kind of error that an answer may have."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    says: str = Field(min_length=1, description="when an answer has it, in a sentence")


ERROR_KINDS = (
    ErrorKind(
        name="excessive_citation",
        says="It cites a text or shows an image that does not bear on the question or on the claim beside it.",
    ),
    ErrorKind(
        name="inadequate_citation",
        says="It leaves out a text or an image that the answer needs, or makes a claim of weight without a citation.",
    ),
    ErrorKind(
        name="misplaced_citation",
        says="A text or an image that it needs stands at the wrong place: beside a claim that it does not support.",
    ),
    ErrorKind(
        name="repetitive_citation",
        says="It shows the same image, or cites the same text for the same claim, again without need.",
    ),
)
"""Four kinds, in the order of their keys on the page."""
SEARCH_ERROR_KINDS = (
    ErrorKind(
        name="misread_excerpt",
        says="It looked for what the citation does not stand for: it went by words of the excerpt that belong to "
        "something else, or left out what tells the paper cited from others.",
    ),
    ErrorKind(
        name="stopped_early",
        says="It looked for the right thing, and was content with a paper that fits roughly, though details of the "
        "excerpt do not fit, or the right paper had been shown.",
    ),
    ErrorKind(
        name="stopped_at_citing_paper",
        says="It came upon a paper that speaks of the right one and cites it, and selected that paper in its stead.",
    ),
)
"""Three kinds of error in searches for papers; the definitions are in our words."""


def error_kinds(task: Task) -> tuple[ErrorKind, ...]:
    """The kinds of error that are looked for in answers to a task, unless others are named."""
    return SEARCH_ERROR_KINDS if task == "name_paper" else ERROR_KINDS


def load_error_kinds(path: Path) -> tuple[ErrorKind, ...]:
    """The kinds of a TOML file: lines `name = "when an answer has it"`, at most `MAX_KINDS`. Raises UsageError."""
    try:
        kinds = tuple(ErrorKind(name=name, says=says) for name, says in read_toml(path).items())
    except ValidationError as error:
        raise UsageError(f"{path}: {describe_validation_error(error)}") from error
    if not 1 <= len(kinds) <= MAX_KINDS:
        raise UsageError(f"{path} has {len(kinds)} kinds of error; it takes 1 to {MAX_KINDS}")
    return kinds


class ErrorVerdict(Verdict):
    """The kinds of error that a judge found in one answer, or why there is no verdict."""

    kinds: tuple[str, ...] | None = Field(description="names of kinds, none for a sound answer; None where it failed")
    prompt_parts: ClassVar[str] = "prompt or kinds"

    @property
    def failed(self) -> bool:
        """Whether the kinds are missing; an empty list is a valid verdict."""
        return self.kinds is None


class ErrorJudge:
    """Names the kinds of error in answers with a chat model.

    The model reads the kinds, the question, the gold answer, the names of the gold quotes, the words of the quotes, and
    the answer without its thinking; with `images`, it also sees crops. If the `task` is to name a paper, it reads the
    kinds, the excerpt, the title of the cited paper and the steps of the search. `prompts_folder` may contain its own
    `judge_errors.txt` (fields: `$kinds`, `$question`, `$gold_answer`, `$gold_quotes`, `$text_quotes`, `$image_quotes`,
    `$answer`, `$form`) and `judge_search_errors.txt` (`$kinds`, `$excerpt`, `$gold_title`, `$steps`, `$form`). Raises
    UsageError if the prompt cannot be read.
    """

    reply_tokens = REPLY_TOKENS

    def __init__(
        self,
        model: ChatModel,
        kinds: Sequence[ErrorKind] = ERROR_KINDS,
        *,
        prompts_folder: Path | None = None,
        images: ImageReader | None = None,
        task: Task = "answer",
    ) -> None:
        self.model, self.kinds = model, tuple(kinds)
        name = SEARCH_PROMPT if task == "name_paper" else PROMPT
        self._prompt, self._images = load_prompt(name, prompts_folder), images
        listed = "\n".join(f"- {kind.name}: {kind.says}" for kind in self.kinds)
        self._fixed = {"kinds": listed, "form": ", ".join(f'"{kind.name}": N' for kind in self.kinds)}
        self.prompt = hashlib.sha256(f"{self._prompt.sha256}\n{listed}".encode()).hexdigest()

    def request(self, prediction: Prediction, example: Example) -> JudgeRequest:
        """The messages about one answer. Raises UsageError for a prompt with other fields."""
        if self._prompt.name == SEARCH_PROMPT:
            return JudgeRequest(
                example.id, [user_message(self._prompt.render(self._search_fields(prediction, example)))]
            )
        fields, images = answer_fields(prediction, example)
        gold = [name for name, grade in (example.reference.relevant or {}).items() if grade > 0]
        prompt = self._prompt.render({**self._fixed, **fields, "gold_quotes": indent(", ".join(gold) or NO_GOLD)})
        return JudgeRequest(example.id, [user_message(prompt, image_parts(images, self._images))])

    def _search_fields(self, prediction: Prediction, example: Example) -> dict[str, str]:
        search = prediction.paper_search or PaperSearch(outcome="selected")
        steps = describe_search(search) if search.steps else f"named without a search: {prediction.response}"
        return {
            **self._fixed,
            "excerpt": indent(example.query.text),
            "gold_title": indent(example.reference.short_answer or NO_GOLD),
            "steps": indent(steps),
        }

    async def judge(self, request: JudgeRequest) -> ErrorVerdict:
        """The kinds, or the reason why there are none. Raises UsageError if there is no endpoint."""
        reply = await ask_for_scores(self.model, request.messages, {kind.name: (0.0, 1.0) for kind in self.kinds})
        kinds = None if reply.value is None else tuple(name for name, holds in reply.value.items() if holds)
        return ErrorVerdict(
            example=request.example,
            kinds=kinds,
            error=reply.error,
            raw=reply.raw,
            model=self.model.name,
            served_as=reply.served_as,
            prompt=self.prompt,
            request=request.sha256,
            usage=reply.usage,
            attempts=reply.attempts,
        )


def answer_hash(prediction: Prediction) -> str:
    """SHA-256 of a response and of the search that led to it, which says to which answer labels belong."""
    if prediction.paper_search is not None:
        return hashlib.sha256(prediction.paper_search.model_dump_json().encode("utf-8", "replace")).hexdigest()
    return hashlib.sha256((prediction.response or "").encode("utf-8", "replace")).hexdigest()


class _LabelLine(Record):
    example: str | None = None
    answer: str | None = None
    kinds: tuple[str, ...] = ()
    counts: Mapping[str, int] | None = None


def read_error_labels(
    path: Path, items: Sequence[JudgingItem], kinds: Sequence[ErrorKind] = ERROR_KINDS
) -> dict[str, tuple[str, ...]]:
    """Example id to the kinds of error that a person found in its answer; the last line on an example counts.

    The file is what the page wrote: a line with counts, then one line each with `example`, `answer` (its `answer_hash`)
    and `kinds`. Raises DatasetError, naming file and line, for a line that is neither, for a label of an answer other
    than those of `items`, for a kind that is not among `kinds`, and for a file without labels.
    """
    kind_names, labels = [kind.name for kind in kinds], dict[str, tuple[str, ...]]()
    answers = {example.id: answer_hash(prediction) for prediction, example in items}
    for number, line in iter_records(path, _LabelLine):
        if line.example is None:
            if line.counts is None:
                raise DatasetError(f"{path}, line {number}, example: there is none")
            continue
        if line.example not in answers:
            raise DatasetError(f"{path}, line {number}, example: {line.example!r} is no question that this run answers")
        if line.answer != answers[line.example]:
            raise DatasetError(
                f"{path}, line {number}, answer: the label on {line.example!r} is of another answer than this run's; "
                "label those of this run, on a page written with --page"
            )
        for name in line.kinds:
            if name not in kind_names:
                raise DatasetError(f"{path}, line {number}, kinds: {name!r} is none of {', '.join(kind_names)}")
        labels[line.example] = tuple(name for name in kind_names if name in line.kinds)
    if not labels:
        raise DatasetError(f"{path} holds no labels")
    return labels
