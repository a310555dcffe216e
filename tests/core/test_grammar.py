"""Which text continues the text before it."""

import pytest

from quoteweave.core.text.grammar import continues


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("The harbour was dredged in", "early spring.", True),
        ("The harbour was dredged.", "early spring.", False),
        ("The harbour was dredged.”", "early spring.", False),
        ("The harbour was dredged in", "Spring came early.", False),
        ("The ferry to the island of", "iOS devices are sold here.", False),
        ("The level of", "mRNA fell.", False),
        ("Bring these:", "A rope and a hook.", False),
        ("PORT AUTHORITY", "early spring.", False),
        ("Return type Tensor", "init_weights() sets the weights.", False),
        ("Return type Tensor", "mask.weights are set.", False),
        ("loss(prediction, target)", "weights are set.", False),
        ("Der Hafen wurde im", "frühen März ausgebaggert.", True),
        ("The harbour’s", "early spring.", True),
        ("blinking question mark 41", "brightness keys 29", False),
        ("see https://example.org/Survey", "in Figure 1.", False),
        ("", "early spring.", False),
        ("The harbour was dredged in", "", False),
    ],
)
def test_a_sentence_goes_on_where_it_was_broken_off(before: str, text: str, expected: bool) -> None:
    assert continues(text, before) is expected
