"""Trees of sentences as spaCy has them, made without a model. spaCy brings torch: imported when a tree is made."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.tokens import Doc


def made_tree(words: list[str], **doc_fields: Any) -> "Doc":
    """A sentence of English words, with what else is known of them: spaces, heads and dependencies."""
    from spacy.tokens import Doc

    return Doc(_vocabulary(), words=words, **doc_fields)


@cache
def _vocabulary() -> Any:
    import spacy

    return spacy.blank("en").vocab
