"""Which gates withhold less than another: what a request may not choose where the server does not allow it."""

from quoteweave.core.errors import UsageError
from quoteweave.pipeline.settings import AnswerSettings

POLICIES = ("off", "report", "drop", "refuse")
"""Policies, each of which withholds at least what those before it do."""


def check_no_weaker(chosen: AnswerSettings, own: AnswerSettings) -> None:
    """Raise UsageError where the gate that a request chose withholds less than the server's own.

    Another check or calibration than the server's counts as less: what two models of confidence withhold cannot be
    compared.
    """
    writes = chosen.model is not None  # else documents' own sentences answer, which nothing has to check
    weaker = {
        "gate": POLICIES.index(chosen.gate) < POLICIES.index(own.gate),
        "check": own.check is not None and chosen.check != own.check and writes,
        "abstain": own.abstain is not None and chosen.abstain != own.abstain,
        "any_topic": bool(chosen.any_topic) and not own.any_topic,
    }
    refused = [name for name, is_weaker in weaker.items() if is_weaker]
    if refused:
        raise UsageError(
            f"{', '.join(refused)}: this server allows no gate that withholds less than its own; leave it out"
        )
