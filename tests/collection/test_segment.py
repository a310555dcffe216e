import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.collection.segments.segment import Segment

NOTHING = np.array([], np.int64)


def made_segment(tokens: list[bytes]) -> Segment:
    ends = np.cumsum([len(token) for token in tokens], dtype=np.int64)
    text = np.frombuffer(b"".join(tokens), np.uint8)
    return Segment((), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, text, ends, {})


@given(tokens=st.sets(st.binary(min_size=1, max_size=2), max_size=150), other=st.binary(min_size=1, max_size=3))
def test_each_token_is_found_by_its_number_and_no_other(tokens: set[bytes], other: bytes) -> None:
    segment = made_segment(sorted(tokens))
    assert [segment.find(token) for token in sorted(tokens)] == list(range(len(tokens)))
    assert (segment.find(other) is not None) == (other in tokens)
