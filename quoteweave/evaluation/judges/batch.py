"""Judge many answers concurrently, and estimate the tokens beforehand."""

import hashlib
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar

from pydantic import Field

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import ChatMessage
from quoteweave.core.chat.usage import estimate_message_tokens
from quoteweave.core.concurrency.pools import for_each
from quoteweave.core.errors import DatasetError, EndpointUnreachable, UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record

JudgingItem = tuple[Prediction, Example]
"""An answer, and the question with its references."""

MAX_CONSECUTIVE_FAILURES = 10
"""After so many failures in a row, the endpoint is assumed to be down, and nothing more is asked."""


@dataclass(frozen=True, slots=True)
class JudgingPlan:
    """The answers that remain to be judged, with an estimate of tokens; retries and thinking are not included."""

    left: Sequence[JudgingItem]
    done: int
    no_answer: int
    """How many predictions are errors, without an answer to judge."""
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Everything that a judge is sent about one answer."""

    example: str
    messages: Sequence[ChatMessage]
    cites_unknown: bool = False
    """Whether the answer cites places whose content cannot be shown to the judge."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the messages, pictures included, in hexadecimal."""
        return hashlib.sha256(json.dumps(self.messages, sort_keys=True).encode()).hexdigest()


class Verdict(Record):
    """A judge's verdict on one answer, or why there is none; subclasses add the content of the verdict."""

    example: str = Field(description="id of the example")
    error: str | None = Field(default=None, description="why it failed; a failed judgement is never a 0")
    raw: str | None = Field(default=None, description="the judge's last reply, as it came; None where there was none")
    model: str = Field(description="the judge that was asked for")
    served_as: str | None = Field(default=None, description="the model that replied, as its endpoint calls it")
    prompt: str = Field(description="SHA-256 of the prompt's text, and of what else the judge is given for all answers")
    request: str = Field(description="SHA-256 of all that was sent: changes with the question, answer, gold and quotes")
    usage: Usage = Usage()
    attempts: int = Field(ge=1, description="how often the judge was asked")
    prompt_parts: ClassVar[str] = "prompt"
    """What `prompt` is the hash of, as messages say it."""

    @property
    def failed(self) -> bool:
        """Whether there is nothing but an error."""
        raise NotImplementedError


V = TypeVar("V", bound=Verdict)
V_co = TypeVar("V_co", bound=Verdict, covariant=True)


class JudgesAnswers(Protocol[V_co]):
    """A judge of whole answers, with one request for each."""

    reply_tokens: int
    """About how many tokens a reply has; a model that thinks first writes many more."""

    def request(self, prediction: Prediction, example: Example) -> JudgeRequest:
        """The messages about one answer. Raises UsageError for a prompt with other fields."""
        ...

    async def judge(self, request: JudgeRequest) -> V_co:
        """The verdict. Raises UsageError if there is no endpoint."""
        ...


def read_verdicts(path: Path, kind: type[V], *, model: str, prompt: str) -> dict[str, V]:
    """Example id to the last verdict on it; empty if there is no file. A line cut short by a crash is ignored.

    Raises DatasetError, naming line and field, for a file of another kind, and UsageError for verdicts by a model or
    prompt other than the given ones: they must not be mixed.
    """
    verdicts: dict[str, V] = {}
    for _, verdict in iter_records(path, kind, drop_cut=True) if path.exists() else ():
        if (verdict.model, verdict.prompt) != (model, prompt):
            origin = (
                f"by {verdict.model}, not by {model}"
                if verdict.model != model
                else f"by another {kind.prompt_parts} (its SHA-256 begins with {verdict.prompt[:12]}, that of this one "
                f"with {prompt[:12]})"
            )
            raise UsageError(
                f"{path} holds judgements {origin}, and the two are not to be mixed; name another file with --out"
            )
        verdicts[verdict.example] = verdict
    return verdicts


def plan_judging(judge: JudgesAnswers[V], pairs: Sequence[JudgingItem], stored: Mapping[str, V]) -> JudgingPlan:
    """The answers without a valid verdict in `stored`: with none, a failed one, or one on another answer or context."""
    to_judge: list[JudgingItem] = []
    answered = [pair for pair in pairs if pair[0].error is None]
    input_tokens = 0
    for prediction, example in answered:
        request, verdict = judge.request(prediction, example), stored.get(example.id)
        if verdict is None or verdict.failed or verdict.request != request.sha256:
            to_judge.append((prediction, example))
            input_tokens += estimate_message_tokens(request.messages)
    return JudgingPlan(
        left=to_judge,
        done=len(answered) - len(to_judge),
        no_answer=len(pairs) - len(answered),
        input_tokens=input_tokens,
        output_tokens=judge.reply_tokens * len(to_judge),
    )


async def judge_all(
    judge: JudgesAnswers[V], pairs: Sequence[JudgingItem], on_verdict: Callable[[V], None], *, concurrency: int = 8
) -> None:
    """Judge `concurrency` answers at a time, and pass each verdict on as soon as it is there.

    Raises EndpointUnreachable when the endpoint has failed `MAX_CONSECUTIVE_FAILURES` times in a row, and whatever
    `on_verdict` raises.
    """

    async def judge_one(pair: JudgingItem) -> str | None:
        verdict = await judge.judge(judge.request(*pair))
        on_verdict(verdict)
        return str(verdict.error) if verdict.raw is None else None

    message = "The judge failed {failures} times in a row, the last time so: {reason}"
    await judge_concurrently(pairs, judge_one, concurrency=concurrency, message=message)


def judging_items(predictions: Sequence[Prediction], examples: Sequence[Example]) -> list[JudgingItem]:
    """Predictions with their examples, in the dataset's order; examples without a prediction are left out.

    Raises DatasetError if an answered example has no question, without which nobody can judge.
    """
    predictions_by_example = {prediction.example: prediction for prediction in predictions}
    pairs = [
        (predictions_by_example[example.id], example) for example in examples if example.id in predictions_by_example
    ]
    silent = [example.id for _, example in pairs if not example.query.text.strip()]
    if silent:
        raise DatasetError(
            f"{pluralize(len(silent), 'question has', 'questions have')} no text, such as "
            f"{silent[0]!r}: who judges answers, a model or people, needs the dataset's own file, not "
            "one that holds its gold alone; name it with --references"
        )
    return pairs


async def judge_concurrently(
    items: Sequence[JudgingItem],
    judge_one: Callable[[JudgingItem], Coroutine[None, None, str | None]],
    *,
    concurrency: int,
    message: str,
) -> None:
    """Call `judge_one` for each item, `concurrency` at a time; it returns why an item failed, or None.

    Raises EndpointUnreachable after `MAX_CONSECUTIVE_FAILURES` failures in a row, with `message` (fields: `{failures}`
    and `{reason}`, of the last one), and whatever `judge_one` raises.
    """
    failures = 0

    async def judge_and_count(item: JudgingItem) -> None:
        nonlocal failures
        reason = await judge_one(item)
        failures = 0 if reason is None else failures + 1
        if failures >= MAX_CONSECUTIVE_FAILURES:
            raise EndpointUnreachable(message.format(failures=failures, reason=reason))

    await for_each(items, judge_and_count, concurrency=concurrency)
