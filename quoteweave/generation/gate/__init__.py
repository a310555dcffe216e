"""The gate: checks by rule, and by a checker model where one is given, whether cited quotes support an answer."""

from quoteweave.generation.gate.answer_check import check_citations, check_with_model
from quoteweave.generation.gate.policies import REFUSAL, Policy, apply_policy
from quoteweave.generation.gate.sentence_check import check_sentence, is_factual

__all__ = [
    "REFUSAL",
    "Policy",
    "apply_policy",
    "check_citations",
    "check_sentence",
    "check_with_model",
    "is_factual",
]
