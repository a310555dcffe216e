"""What an answer passes between the model that wrote it and the people who see it."""

from dataclasses import dataclass

from quoteweave.core.answers import Answer, Context
from quoteweave.core.concurrency.thread_pools import run_in_pool
from quoteweave.core.confidence import Calibration
from quoteweave.core.protocols import ClaimChecker, PageSource
from quoteweave.generation.extractive import MODEL, off_topic_abstention
from quoteweave.generation.gate import Policy, apply_policy, check_answer, check_entailment
from quoteweave.pipeline.abstaining import abstain_before, abstain_below
from quoteweave.pipeline.highlighting import highlighted
from quoteweave.pipeline.pricing import priced

NOT_ASKED = "No model was asked; any_topic = true (`Gate.on_topic` off) has it asked all the same."


@dataclass(frozen=True, slots=True)
class Gate:
    """Answers are checked by rule and by a checker, treated by a policy, and withheld where not sure enough.

    >>> from quoteweave.testing import FakeChat
    >>> model = FakeChat(["The harbour shipped 9,999 tonnes [1]."])
    >>> rag = Rag(LexicalRetriever(collection), CitedGenerator(model), gate=Gate("refuse"))
    >>> rag.answer("How much grain was shipped?").status
    'abstained'
    """

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
