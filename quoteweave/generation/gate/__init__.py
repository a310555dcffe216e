"""The gate: whether what an answer says stands in the quotes that it cites, by rule; no model is needed."""

from quoteweave.generation.gate.answers import check, check_entailment
from quoteweave.generation.gate.checking import Checked, check_sentence, is_factual
from quoteweave.generation.gate.policies import REFUSAL, Policy, apply

__all__ = ["REFUSAL", "Checked", "Policy", "apply", "check", "check_entailment", "check_sentence", "is_factual"]
