"""How long a question may be: what searches and answers it takes time that grows with its length."""

from quoteweave.core.errors import QuestionTooLong

MOST_CHARACTERS = 100_000
"""Of a question; some thirty pages."""


def check_length(question: str) -> None:
    """Raises QuestionTooLong, which is a UsageError, for a question of more than `MOST_CHARACTERS`."""
    if len(question) > MOST_CHARACTERS:
        raise QuestionTooLong(
            f"the question has {len(question):,} characters, and at most {MOST_CHARACTERS:,} are allowed: ask a "
            "shorter one; a text to be searched is added as a document"
        )
