"""The gate: checks by rule, without a model, whether the quotes that an answer cites support it."""

from quoteweave.generation.gate.answer_check import check_citations, check_entailment
from quoteweave.generation.gate.policies import REFUSAL, Policy, apply_policy
from quoteweave.generation.gate.sentence_check import SentenceCheck, check_sentence, is_factual

__all__ = [
    "REFUSAL",
    "Policy",
    "SentenceCheck",
    "apply_policy",
    "check_citations",
    "check_entailment",
    "check_sentence",
    "is_factual",
]
