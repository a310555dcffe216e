"""What a model on this machine writes, told token by token while `generate` of transformers runs in a thread."""

from collections.abc import Callable
from threading import Event
from typing import Any

from quoteweave.core.answers import Completion, Piece, Usage
from quoteweave.core.reasoning import ThoughtSplitter

_THOUGHT = "<think>"
_HALF = "\N{REPLACEMENT CHARACTER}"  # what a tokenizer makes of bytes that are not yet a character


class GivenUp(Exception):
    """Nobody reads any more what is written."""


class Scribe:
    """Meets the protocol of transformers' streamers: gets the prompt's tokens first, then each that is written.

    `hear` gets the pieces, reasoning apart from the answer. A prompt that ends with `<think>`, as the templates of some
    models make it, begins the reasoning. Raises GivenUp, which ends `generate`, once `left` is set.
    """

    def __init__(self, tokenizer: Any, hear: Callable[[Piece], None], left: Event) -> None:
        self._tokenizer = tokenizer
        self._hear = hear
        self._left = left
        self._read: list[int] | None = None
        self._written: list[int] = []
        self._told = 0
        self._splitter = ThoughtSplitter()
        self._pieces: list[Piece] = []

    def put(self, tokens: Any) -> None:
        """Tokens, of any shape."""
        if self._left.is_set():
            raise GivenUp
        numbers: list[int] = tokens.reshape(-1).tolist()
        if self._read is None:
            self._read = numbers
            if self._text(numbers[-8:]).rstrip().endswith(_THOUGHT):
                self._splitter.feed(_THOUGHT)
            return
        self._written += numbers
        self._tell(self._text(self._written).rstrip(_HALF))

    def end(self) -> None:
        """No more comes."""
        self._tell(self._text(self._written))
        self._keep(self._splitter.end())

    def completion(self, model: str, ends: object) -> Completion:
        """All that was written; `ends` is the token that ends an answer, or a list of several."""
        ended = bool(self._written) and self._written[-1] in (ends if isinstance(ends, list) else [ends])
        return Completion(
            text="".join(piece.text for piece in self._pieces),
            reasoning="".join(piece.reasoning for piece in self._pieces) or None,
            model=model,
            finish_reason="stop" if ended else "length",
            usage=Usage(input_tokens=len(self._read or ()), output_tokens=len(self._written)),
        )

    def _text(self, tokens: list[int]) -> str:
        # All of them each time: one by one, many tokenizers lose the spaces between words.
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def _tell(self, text: str) -> None:
        self._keep(self._splitter.feed(text[self._told :]))
        self._told = max(self._told, len(text))

    def _keep(self, piece: Piece) -> None:
        if piece.text or piece.reasoning:
            self._pieces.append(piece)
            self._hear(piece)
