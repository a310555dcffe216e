"""A judge is asked for scores, and once more where its reply gives none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quoteweave.core.answers import Completion, Usage
from quoteweave.core.errors import EndpointError
from quoteweave.core.protocols import ChatModel
from quoteweave.evaluation.judges.replies import Scale, Unreadable, read_scores

Message = Mapping[str, object]

MOST_ATTEMPTS = 2
_MOST_SENT_BACK = 4_000  # characters of a reply that was no judgement


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking: scores, or the error."""

    scores: Mapping[str, float] | None
    error: str | None
    raw: str | None
    """The last reply as it came; None where the endpoint failed before there was any."""
    served_as: str | None
    """The model that replied, as the endpoint calls it."""
    usage: Usage
    """Of all attempts; None for what an endpoint did not tell."""
    attempts: int


async def ask_for_scores(model: ChatModel, messages: Sequence[Message], scales: Mapping[str, Scale]) -> Asked:
    """Scores on the scales given. A reply without them is sent back once, with what is wrong with it.

    An endpoint that fails is not asked again here: its client has tried. Raises UsageError where there is no endpoint.
    """
    completions: list[Completion] = []
    sent, error = list(messages), ""
    for attempt in range(1, MOST_ATTEMPTS + 1):
        try:
            completions.append(await model.complete(sent))
            scores = read_scores(completions[-1].text, scales)
            return _asked(completions, attempt, scores=scores)
        except EndpointError as failure:
            return _asked(completions, attempt, error=str(failure))
        except Unreadable as problem:
            error = f"{problem}{_cut_short(completions[-1])}"
            sent = [*messages, *_complaint(completions[-1].text, error)]
    return _asked(completions, MOST_ATTEMPTS, error=f"the judge's reply cannot be read: {error}")


def _asked(
    completions: Sequence[Completion],
    attempts: int,
    *,
    scores: Mapping[str, float] | None = None,
    error: str | None = None,
) -> Asked:
    last = completions[-1] if completions else None
    return Asked(
        scores=scores,
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
    wanted = "Give your scores again, as one JSON object in the form that was asked for, and write nothing else."
    return [
        {"role": "assistant", "content": reply[:_MOST_SENT_BACK]},
        {"role": "user", "content": f"Your reply cannot be read: {problem}. {wanted}"},
    ]
