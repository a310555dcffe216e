"""Numbers of things in words: "1 document", "2 documents", "a, b and 3 more"."""

from collections.abc import Sequence

# Names in a list for people; the rest is counted.
MOST_NAMED = 10


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """The number and the noun in its right form; `plural` where that is not the singular with an s."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """The names with commas, `most` of them at most; how many more there are stands behind these."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")
