"""A judge is asked, and once more where its reply cannot be read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from quoteweave.core.answers import Completion, Usage
from quoteweave.core.errors import EndpointError
from quoteweave.core.protocols import ChatModel
from quoteweave.evaluation.judges.replies import Scale, Unreadable, read_scores

Message = Mapping[str, object]
T = TypeVar("T")

MOST_ATTEMPTS = 2
_MOST_SENT_BACK = 4_000  # characters of a reply that was no judgement


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What came of asking: what was read of the reply, or the error."""

    said: T | None
    error: str | None
    raw: str | None
    """The last reply as it came; None where the endpoint failed before there was any."""
    served_as: str | None
    """The model that replied, as the endpoint calls it."""
    usage: Usage
    """Of all attempts; None for what an endpoint did not tell."""
    attempts: int


async def ask(model: ChatModel, messages: Sequence[Message], read: Callable[[str], T]) -> Asked[T]:
    """What `read` makes of the reply. One that raises Unreadable is sent back once, with what is wrong with it.

    An endpoint that fails is not asked again here: its client has tried. Raises UsageError where there is no endpoint.
    """
    completions: list[Completion] = []
    sent, error = list(messages), ""
    for attempt in range(1, MOST_ATTEMPTS + 1):
        try:
            completions.append(await model.complete(sent))
            return _asked(completions, attempt, said=read(completions[-1].text))
        except EndpointError as failure:
            return _asked(completions, attempt, error=str(failure))
        except Unreadable as problem:
            error = f"{problem}{_cut_short(completions[-1])}"
            sent = [*messages, *_complaint(completions[-1].text, error)]
    return _asked(completions, MOST_ATTEMPTS, error=f"the judge's reply cannot be read: {error}")


async def ask_for_scores(
    model: ChatModel, messages: Sequence[Message], scales: Mapping[str, Scale]
) -> Asked[dict[str, float]]:
    """Scores on the scales given. Raises as `ask`."""
    return await ask(model, messages, partial(read_scores, scales=scales))


def _asked(
    completions: Sequence[Completion], attempts: int, *, said: T | None = None, error: str | None = None
) -> Asked[T]:
    last = completions[-1] if completions else None
    return Asked(
        said=said,
        error=error,
        raw=None if last is None else last.text,
        served_as=None if last is None else last.model,
        usage=Usage(
            input_tokens=_total([completion.usage.input_tokens for completion in completions]),
            output_tokens=_total([completion.usage.output_tokens for completion in completions]),
        ),
        attempts=attempts,
    )


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _cut_short(completion: Completion) -> str:
    return " (it was cut short at the limit of tokens)" if completion.finish_reason == "length" else ""


def _complaint(reply: str, problem: str) -> list[Message]:
    wanted = "Answer again, in the JSON form that was asked for, and write nothing else."
    return [
        {"role": "assistant", "content": reply[:_MOST_SENT_BACK]},
        {"role": "user", "content": f"Your reply cannot be read: {problem}. {wanted}"},
    ]
