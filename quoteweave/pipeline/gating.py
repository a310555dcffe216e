"""The gate, where answers are made: what a model wrote is checked before anybody sees it."""

from quoteweave.core.answers import Answer, Context
from quoteweave.generation.extractive import MODEL
from quoteweave.generation.gate import Policy, apply, check


def gated(answer: Answer, context: Context, policy: Policy | None) -> Answer:
    """The answer checked and treated by the policy; as it is without one, and where it only repeats its quotes."""
    if policy is None or answer.model == MODEL:
        return answer
    return apply(check(answer, context), policy)
