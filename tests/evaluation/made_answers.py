"""Answers and their gold, for tests of what answers say."""

from builders import make_example
from hypothesis import strategies as st

from quoteweave.core.examples import Example, Reference


def gold(answer: str | None = None, short: str | None = None) -> Example:
    return make_example(reference=Reference(answer=answer, short_answer=short))


PIECES = """
the the The a sales of 2019 rose fell by 12.5% 3,141 10:40 can't cannot it's dogs' (see Table) "quoted" end. U.S. ...
-- – “so” ‘it’ x; y, z: ! ? $5 #1 A&B e.g. we'll I'd gonna wanna Zürich 売上
"""
PROSE = st.lists(st.sampled_from([*PIECES.split(), "\n"]), max_size=25).map(" ".join)
"""Text as people write it, more or less, without citation marks."""
