"""Many answers are judged: what is left to ask, about how many tokens that takes, and the asking, a few at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from quoteweave.core.chat.token_estimates import tokens_of_messages
from quoteweave.core.errors import DatasetError, EndpointUnreachable
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.messages import counted
from quoteweave.core.worker_pool import for_each
from quoteweave.evaluation.judges.answers import AnswerJudge
from quoteweave.evaluation.judges.verdicts import Verdict

Pair = tuple[Prediction, Example]

REPLY_TOKENS = 150
"""Three sentences and five scores; a model that thinks first takes many more."""
GIVES_UP = 10
"""Failures of the endpoint in a row after which nothing more is asked."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is left to judge, and an estimate of what that takes; retries and thinking come on top."""

    left: Sequence[Pair]
    done: int
    no_answer: int
    """Predictions that are errors: there is no answer to judge."""
    input_tokens: int
    output_tokens: int


def pair_up(predictions: Sequence[Prediction], examples: Sequence[Example]) -> list[Pair]:
    """Predictions with their examples, in the dataset's order; an example without a prediction is passed over.

    Raises DatasetError where an example that was answered has no question: a judge cannot go without.
    """
    made = {prediction.example: prediction for prediction in predictions}
    pairs = [(made[example.id], example) for example in examples if example.id in made]
    silent = [example.id for _, example in pairs if not example.query.text.strip()]
    if silent:
        raise DatasetError(
            f"{counted(len(silent), 'question has', 'questions have')} no text, such as "
            f"{silent[0]!r}: a judge needs the dataset's own file, not "
            "one that holds its gold alone; name it with --references"
        )
    return pairs


def plan(judge: AnswerJudge, pairs: Sequence[Pair], stored: Mapping[str, Verdict]) -> Work:
    """What `stored` does not answer yet: missing, failed, or said of another answer, question, gold or context."""
    left: list[Pair] = []
    answered = [pair for pair in pairs if pair[0].error is None]
    input_tokens = 0
    for prediction, example in answered:
        request, said = judge.request(prediction, example), stored.get(example.id)
        if said is None or said.scores is None or said.request != request.sha256:
            left.append((prediction, example))
            input_tokens += tokens_of_messages(request.messages)
    return Work(
        left=left,
        done=len(answered) - len(left),
        no_answer=len(pairs) - len(answered),
        input_tokens=input_tokens,
        output_tokens=REPLY_TOKENS * len(left),
    )


async def judge_all(
    judge: AnswerJudge, pairs: Sequence[Pair], on_verdict: Callable[[Verdict], None], *, concurrency: int = 8
) -> None:
    """Judges `concurrency` answers at a time, and hands over each verdict as soon as it is there.

    Raises EndpointUnreachable when the endpoint has failed `GIVES_UP` times in a row, and whatever `on_verdict` raises.
    """
    failures = 0

    async def one(pair: Pair) -> None:
        nonlocal failures
        verdict = await judge.judge(judge.request(*pair))
        on_verdict(verdict)
        failures = failures + 1 if verdict.raw is None else 0
        if failures >= GIVES_UP:
            raise EndpointUnreachable(f"The judge failed {failures} times in a row, the last time so: {verdict.error}")

    await for_each(pairs, one, concurrency=concurrency)
