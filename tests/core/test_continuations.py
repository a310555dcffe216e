"""Which text goes on with what the text before it began."""

import pytest

from quoteweave.core.text.continuations import continues


@pytest.mark.parametrize(
    ("before", "text", "is_list", "expected"),
    [
        ("The harbour was dredged in", "early spring.", False, True),
        ("The harbour was dredged in", "early spring.", True, True),
        ("The harbour was dredged.", "early spring.", False, False),
        ("The harbour was dredged.”", "early spring.", False, False),
        ("The harbour was dredged in", "Spring came early.", False, False),
        ("Bring these:", "• a rope", True, True),
        ("Bring these: ", "1. A rope", True, True),
        ("Bring these:", "A rope and a hook.", False, False),
        ("请带上：", "• 绳子", True, True),
        ("Bring these.", "• a rope", True, False),
        ("PORT AUTHORITY", "early spring.", False, False),
        ("Return type Tensor", "init_weights() sets the weights.", False, False),
        ("Return type Tensor", "mask.weights are set.", False, False),
        ("loss(prediction, target)", "weights are set.", False, False),
        ("Der Hafen wurde im", "frühen März ausgebaggert.", False, True),
        ("", "early spring.", False, False),
        ("The harbour was dredged in", "", False, False),
    ],
)
def test_a_sentence_goes_on_and_a_colon_announces_a_list(before: str, text: str, is_list: bool, expected: bool) -> None:
    assert continues(text, before, is_list=is_list) is expected
