"""Which part of a response is compared with a gold answer."""

import pytest
from made_selection import answered

from quoteweave.evaluation.text.responses import scored_text, without_marks


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sales rose [1].", "Sales rose ."),
        ("Sales rose [1, 2][3-4], as shown.", "Sales rose , as shown."),
        ("See ![sales by year](image2) here.", "See sales by year here."),
        ("See ![](image2).", "See ."),
        ("No [marks] in [this](http://a.b).", "No [marks] in [this](http://a.b)."),
        ("", ""),
    ],
)
def test_marks_are_taken_out_and_what_an_image_mark_says_stays(text: str, words: str) -> None:
    assert without_marks(text).split() == words.split()


def test_thinking_is_cut_off() -> None:
    assert scored_text(answered("<think>the [1] sales</think>They rose [2]."), "own") == "They rose ."
    assert (
        scored_text(answered("<think>the [1] sales</think>They rose [2]."), "own", marks_kept=True) == "They rose [2]."
    )


def test_no_response_has_no_text_and_an_empty_one_has_an_empty_one() -> None:
    assert scored_text(answered(None), "own") is None
    assert scored_text(answered(""), "own") == ""
