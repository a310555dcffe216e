"""How many tokens something will be, roughly, before a model has counted them."""

from collections.abc import Mapping, Sequence

from quoteweave.core.answers import Completion, Usage

CHARACTERS_A_TOKEN = 4
"""Of English. Many other scripts have hardly more than one."""
PICTURE_TOKENS = 1_000


def tokens_of(text: str) -> int:
    """Rather too many: a quarter of the ASCII characters, and every other character."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // CHARACTERS_A_TOKEN) + len(text) - plain


def tokens_of_messages(messages: Sequence[Mapping[str, object]]) -> int:
    """Of the words and pictures of a conversation in the OpenAI chat form."""
    return sum(_tokens_of_content(message.get("content")) for message in messages)


def usage_of(completion: Completion, input_tokens: int) -> Usage:
    """What a call took: as the endpoint counted, and where it does not, as estimated; `input_tokens` was so before."""
    told, written = completion.usage, (completion.reasoning or "") + completion.text
    return Usage(
        input_tokens=input_tokens if told.input_tokens is None else told.input_tokens,
        output_tokens=tokens_of(written) if told.output_tokens is None else told.output_tokens,
    )


def _tokens_of_content(content: object) -> int:
    if isinstance(content, str):
        return tokens_of(content)
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list | tuple) else []
    return sum(tokens_of(str(part["text"])) if "text" in part else PICTURE_TOKENS for part in parts)
