"""The gate that an answer passes before people see it: checks, policy, abstention, highlights and price.

The thresholds for abstaining are those of a `Calibration`, which `core.confidence.load_calibration` reads.
"""

from dataclasses import dataclass

from quoteweave.core.answers import Answer, Context
from quoteweave.core.concurrency.pools import run_inline_if_short
from quoteweave.core.confidence import Calibration
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import ClaimChecker, PageSource
from quoteweave.endpoints.prices import with_price
from quoteweave.generation.citations import abstention, withheld
from quoteweave.generation.confidence_signals import signals_of
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.gate.answer_check import check_citations, check_with_model
from quoteweave.generation.gate.policies import Policy, apply_policy
from quoteweave.pipeline.highlighting import highlight_inline_if_short

NOT_ASKED = "No model was asked; check_topic = false has it asked all the same."


@dataclass(frozen=True, slots=True)
class Gate:
    """Checks answers by rule and by a checker, applies a policy, and withholds those of low confidence.

    >>> from quoteweave.testing import FakeChat
    >>> model = FakeChat(["The harbour shipped 9,999 tonnes [1]."])
    >>> rag = Rag(LexicalRetriever(collection), CitedGenerator(model), gate=Gate("refuse"))
    >>> rag.answer("How much grain was shipped?").status
    'abstained'

    Fields:
        policy: what happens to unsupported sentences; with None, nothing is checked by rule, and nothing withheld
        checker: gives a second verdict on each cited sentence; the policy applies to both verdicts
        calibration: the confidence that an answer needs to be given; with None, every answer is given
        check_topic: whether a model is asked only if the words of the retrieved quotes are about the question
        pages: source of word boxes, such as a collection: each citation then names the words that support it
    """

    policy: Policy | None = "report"
    checker: ClaimChecker | None = None
    calibration: Calibration | None = None
    check_topic: bool = False
    pages: PageSource | None = None

    @property
    def streaming_policy(self) -> Policy | None:
        """The policy for streaming: `refuse`, which holds back the whole answer, if verdicts come only at its end."""
        late = self.calibration is not None or (self.checker is not None and self.policy == "drop")
        return "refuse" if late else self.policy

    def check_context(self, question: str, context: Context) -> Answer | None:
        """Return an abstention if the context is not good enough for asking the model, else None.

        Whether the context is on the question's topic is judged as for an answer without a model, but only if the
        retriever supplies word rarities (`Context.rarity`). Without these, words say too little, and the model is
        asked.
        """
        topical = not (self.check_topic and context.rarity)
        answer = None if topical else ExtractiveGenerator().early_abstention(question, context)
        if answer is not None:
            answer = answer.model_copy(update={"warnings": (*answer.warnings, NOT_ASKED)})
        elif self.calibration is not None:
            answer = abstain_before(question, context, self.calibration)
        return answer and with_price(answer)

    async def apply(self, answer: Answer, context: Context) -> Answer:
        """Check the answer, apply the policy, and add highlights and the price; `context` is what it was written from.

        An extractive answer only repeats its quotes, and is not checked by rule. Raises ModelNotFound and
        UsageError of the checker.
        """
        if self.policy is not None and not answer.is_extractive:
            answer = await run_inline_if_short("answer", answer.text, check_citations, answer, context)
        if self.checker is not None:
            answer = await check_with_model(answer, context, self.checker)
        if self.policy is not None:
            answer = apply_policy(answer, self.policy)
        if self.calibration is not None:
            answer = abstain_below(answer, context, self.calibration)
        if self.pages is not None:
            answer = await highlight_inline_if_short(answer, context, self.pages)
        return with_price(answer)


NOT_ENOUGH = "What was found does not bear on the question well enough to answer it."


def abstain_before(question: str, context: Context, calibration: Calibration) -> Answer | None:
    """Return an abstention if confidence in the context is below the threshold, else None."""
    confidence = calibration.before.confidence(signals_of(question, context))
    least = calibration.before.threshold
    if confidence >= least:
        return None
    warning = f"Not asked: on what was found, {_low_confidence(confidence, least, calibration)}."
    return abstention(question, NOT_ENOUGH, model=calibration.model, warnings=(warning,))


def abstain_below(answer: Answer, context: Context, calibration: Calibration) -> Answer:
    """Return the answer, or an abstention if its confidence is below the threshold; `raw` keeps the response.

    `context` must be the one that the answer was written from. Check the answer with the same gate settings as when
    the calibration was fitted.
    """
    if answer.status != "answered":
        return answer
    confidence = calibration.after.confidence(signals_of(answer.question, context, answer))
    least = calibration.after.threshold
    if confidence >= least:
        return answer
    return withheld(answer, NOT_ENOUGH, [f"Withheld: {_low_confidence(confidence, least, calibration)}."])


def _low_confidence(confidence: float, least: float, calibration: Calibration) -> str:
    """Format the low confidence with three digits, or as many as distinguish it from the threshold."""
    digits = next((digits for digits in range(3, 17) if f"{confidence:.{digits}f}" != f"{least:.{digits}f}"), 17)
    return (
        f"a confidence of {confidence:.{digits}f} is below the threshold of {least:.{digits}f} that was fitted on "
        f"{pluralize(calibration.answers, 'answer')}"
    )
