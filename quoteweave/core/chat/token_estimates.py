"""How many tokens something will be, roughly, before a model has counted them."""

from collections.abc import Mapping, Sequence

from quoteweave.core.answers import Completion, Piece, Usage

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


class Heard:
    """What has come of a call, whole or in pieces; `input_tokens` is what was estimated of its messages."""

    def __init__(self, input_tokens: int) -> None:
        self.input_tokens = input_tokens
        self._parts: list[str] = []
        self._completion: Completion | None = None

    def add(self, item: Piece | Completion) -> None:
        """What came next; a completion stands for the pieces before it."""
        if isinstance(item, Completion):
            self._completion = item
        else:
            self._parts += item.reasoning, item.text

    @property
    def counted(self) -> bool:
        """Whether the endpoint said what the call took."""
        told = None if self._completion is None else self._completion.usage
        return told is not None and told.input_tokens is not None and told.output_tokens is not None

    @property
    def usage(self) -> Usage | None:
        """What the call took so far, as `usage_of` counts; None where nothing has come."""
        if self._completion is not None:
            return usage_of(self._completion, self.input_tokens)
        written = "".join(self._parts)
        return Usage(input_tokens=self.input_tokens, output_tokens=tokens_of(written)) if written else None


def _tokens_of_content(content: object) -> int:
    if isinstance(content, str):
        return tokens_of(content)
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list | tuple) else []
    return sum(tokens_of(str(part["text"])) if "text" in part else PICTURE_TOKENS for part in parts)
