import pytest

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion
from quoteweave.core.chat.usage import (
    TOKENS_PER_IMAGE,
    estimate_message_tokens,
    estimate_tokens,
    usage_or_estimate,
)

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9000}}


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("木材", 2), ("abcd木", 2)])
def test_a_quarter_of_the_plain_characters_and_all_others(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_pictures_count_the_same_whatever_their_bytes() -> None:
    asked: list[dict[str, object]] = [
        {"role": "system", "content": "abcd"},
        {"role": "user", "content": [{"type": "text", "text": "abcdefgh"}, PICTURE, PICTURE]},
        {"role": "assistant", "content": None},
    ]
    assert estimate_message_tokens(asked) == 1 + 2 + 2 * TOKENS_PER_IMAGE


def test_what_the_endpoint_counts_goes_before_estimates() -> None:
    told = Completion(text="abcdefgh", model="m", usage=Usage(input_tokens=5, output_tokens=0))
    untold = Completion(text="abcdefgh", reasoning="abcd", model="m")
    assert usage_or_estimate(told, 9) == Usage(input_tokens=5, output_tokens=0)
    assert usage_or_estimate(untold, 9) == Usage(input_tokens=9, output_tokens=3)
