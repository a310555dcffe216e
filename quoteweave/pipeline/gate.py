"""The gate that an answer passes before people see it: checks, policy, abstention and price.

Checkers of claims have names for the command line and configuration files; code passes objects:

chat, chat:MODEL@http://host/v1          a chat model as judge
chat:local=/path                         one on this machine
/path/to/folder, owner/name@revision     an entailment model on this machine, of the kinds of `make_entailment`

The thresholds for abstaining are those of a `Calibration`, which `core.confidence.load_calibration` reads.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from quoteweave.core.answers import Answer, Context, TextBlock, Usage
from quoteweave.core.chat.prices import FREE
from quoteweave.core.concurrency.thread_pools import run_in_pool
from quoteweave.core.confidence import Calibration
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import ClaimChecker, Entailment, PageSource
from quoteweave.endpoints.prices import chat_price
from quoteweave.generation.confidence_signals import signals_of
from quoteweave.generation.entailment import make_entailment
from quoteweave.generation.entailment.chat_checker import ChatClaimChecker
from quoteweave.generation.extractive import MODEL, off_topic_abstention
from quoteweave.generation.gate import Policy, apply_policy, check_answer, check_entailment
from quoteweave.models.checkpoints import is_local
from quoteweave.pipeline.highlighting import highlighted
from quoteweave.retrievers.registry import Resources
from quoteweave.retrievers.step_registry import NO_CHAT_MODELS, ChatModels, make_chat_model

NOT_ASKED = "No model was asked; any_topic = true (`Gate.on_topic` off) has it asked all the same."


@dataclass(frozen=True, slots=True)
class Gate:
    """Answers are checked by rule and by a checker, treated by a policy, and withheld where not sure enough."""

    policy: Policy | None = "report"
    """What becomes of sentences that are not supported. None checks nothing by rule, and withholds nothing."""
    checker: ClaimChecker | None = None
    """Gives a verdict of its own on each cited sentence; the policy heeds both."""
    calibration: Calibration | None = None
    """How sure an answer must be to be given; without one, all are."""

    on_topic: bool = False
    """Whether a model is asked only where what was found is about the question, as far as words tell."""

    pages: PageSource | None = None
    """Where words stand on pages, such as a collection: each citation then says which words support it."""

    @property
    def streamed(self) -> Policy | None:
        """The policy by which an answer is shown while it is written: what is known at its end alone holds it back."""
        late = self.calibration is not None or (self.checker is not None and self.policy == "drop")
        return "refuse" if late else self.policy

    def before(self, question: str, context: Context) -> Answer | None:
        """The abstention, where what was found does not bear on the question well enough for the model to be asked.

        Whether it is about it at all is decided where the retriever knows how rare words are; without, and where what
        is found shares no words with the question, words alone tell too little.
        """
        abstention = off_topic_abstention(question, context) if self.on_topic and context.rarity else None
        if abstention is not None:
            abstention = abstention.model_copy(update={"warnings": (*abstention.warnings, NOT_ASKED)})
        if abstention is None and self.calibration is not None:
            abstention = abstain_before(question, context, self.calibration)
        return abstention and priced(abstention)

    async def passed(self, answer: Answer, context: Context) -> Answer:
        """What is left of the answer, priced; `context` is what it was written from.

        What only repeats its quotes is not checked by rule. Raises what `check_entailment` raises.
        """
        if self.policy is not None and answer.model != MODEL:
            answer = await run_in_pool("gate", check_answer, answer, context)
        if self.checker is not None:
            answer = await check_entailment(answer, context, self.checker)
        if self.policy is not None:
            answer = apply_policy(answer, self.policy)
        if self.calibration is not None:
            answer = abstain_below(answer, context, self.calibration)
        if self.pages is not None:
            answer = await run_in_pool("gate", highlighted, answer, context, self.pages)
        return priced(answer)


NOT_ENOUGH = "What was found does not bear on the question well enough to answer it."


def abstain_before(question: str, context: Context, calibration: Calibration) -> Answer | None:
    """The abstention where what was found does not bear on the question; None where the model is to be asked."""
    confidence = calibration.before.confidence(signals_of(question, context))
    least = calibration.before.threshold
    if confidence >= least:
        return None
    return Answer(
        question=question,
        status="abstained",
        text=NOT_ENOUGH,
        blocks=(TextBlock(text=NOT_ENOUGH),),
        model=calibration.model,
        usage=Usage(input_tokens=0, output_tokens=0),
        seconds=0,
        warnings=(f"Not asked: on what was found, {_low(confidence, least, calibration)}.",),
    )


def abstain_below(answer: Answer, context: Context, calibration: Calibration) -> Answer:
    """The answer, or an abstention where its confidence is below the threshold; `raw` keeps what was written.

    `context` must be the one that it was written from, and the gate have checked it as it had the answers that the
    calibration was fitted on.
    """
    if answer.status != "answered":
        return answer
    confidence = calibration.after.confidence(signals_of(answer.question, context, answer))
    least = calibration.after.threshold
    if confidence >= least:
        return answer
    return answer.model_copy(
        update={
            "status": "abstained",
            "text": NOT_ENOUGH,
            "blocks": (TextBlock(text=NOT_ENOUGH),),
            "citations": (),
            "raw": answer.raw if answer.raw is not None else answer.text,
            "warnings": (*answer.warnings, f"Withheld: {_low(confidence, least, calibration)}."),
        }
    )


def _low(confidence: float, least: float, calibration: Calibration) -> str:
    """Three digits, or as many as tell the two apart."""
    digits = next((digits for digits in range(3, 17) if f"{confidence:.{digits}f}" != f"{least:.{digits}f}"), 17)
    return (
        f"a confidence of {confidence:.{digits}f} is below the threshold of {least:.{digits}f} that was fitted on "
        f"{pluralize(calibration.answers, 'answer')}"
    )


class EntailedClaims:
    """Meets `core.protocols.ClaimChecker` by an entailment model, which computes in a thread of its own."""

    def __init__(self, model: Entailment) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        """Whether each premise entails its claim. Raises ModelError."""
        return [*await asyncio.to_thread(self.model.entails, pairs)]


def make_checker(text: str, *, means: Resources | None = None, chats: ChatModels = NO_CHAT_MODELS) -> ClaimChecker:
    """The checker of that name.

    Raises UsageError for an unknown name, a chat model that nobody named, and prompts that cannot be read; ModelError
    for a folder or hub name without an entailment model.
    """
    means = means or Resources()
    if text == "chat" and chats.plain is None:
        raise UsageError("which chat model is to check? write chat:MODEL@URL, or name the one that answers")
    chat = make_chat_model(text, means, chats, sent="cited sentences and their quotes are sent")
    if chat is not None:
        return ChatClaimChecker(chat, prompts_folder=chats.prompts)
    if "/" not in text and not is_local(text):
        raise UsageError(
            f"there is no checker {text!r}; there are: chat, chat:MODEL, chat:MODEL@URL, and entailment models, by "
            "folder or by name on the hub (owner/name)"
        )
    return EntailedClaims(make_entailment(text, means.hardware))


def priced(answer: Answer) -> Answer:
    """The answer with the price of the tokens that its model counted, by the table of prices; extracted ones are free.

    A call that is answered from a folder of kept calls has the price that it had. Raises UsageError where the user's
    own table of prices cannot be read.
    """
    return answer.model_copy(update={"price_usd": _price(answer)})


def _price(answer: Answer) -> float | None:
    price = FREE if answer.model == MODEL else chat_price(answer.model)
    if price == FREE:
        return 0.0
    sent, said = answer.usage.input_tokens, answer.usage.output_tokens
    return None if price is None or sent is None or said is None else price.of(sent, said)
