"""The gate: checks by rule, without a model, whether the quotes that an answer cites support it."""

from quoteweave.generation.gate.answer_check import check, check_entailment
from quoteweave.generation.gate.policies import REFUSAL, Policy, apply
from quoteweave.generation.gate.sentence_check import Checked, check_sentence, is_factual

__all__ = ["REFUSAL", "Checked", "Policy", "apply", "check", "check_entailment", "check_sentence", "is_factual"]
