"""An encoder for measuring search alone: a text's vector is the normalised sum of random vectors of its words.

Texts that share words have similar vectors, and the variance of their numbers falls from one to the next about as it
does along the principal components of MiniLM's vectors: half of it is in 35 of 384. Encoding takes almost no time;
questions are encoded beforehand and looked up.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal
from zlib import crc32

from made_quotes import VOCABULARY

from quoteweave.core.protocols import SettingValue
from quoteweave.core.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from PIL.Image import Image

    from quoteweave.core.protocols import Matrix


class WordVectors:
    """An Encoder of one vector a text, of length 1."""

    name = "words"
    reads: Literal["text"] = "text"
    multi_vector = False

    def __init__(self, dimension: int, questions: Sequence[str]) -> None:
        import numpy as np

        self.settings: dict[str, SettingValue] = {"dimension": dimension, "spread": -0.4}
        spread = np.arange(1, dimension + 1, dtype=np.float32) ** np.float32(-0.4)
        self._words = spread * np.random.default_rng(1).standard_normal((VOCABULARY, dimension), dtype=np.float32)
        self._questions = dict(zip(questions, self.encode_views(questions), strict=True))

    def encode_queries(self, texts: Sequence[str]) -> "list[Matrix]":
        """(1, dimension) for each of the questions known beforehand."""
        return [self._questions[text] for text in texts]

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """(1, dimension) for each text."""
        return [self._direction(str(view)) for view in views]

    def _direction(self, text: str) -> "Matrix":
        import numpy as np

        words = [crc32(word.encode()) % VOCABULARY for word in text.split() if word not in STOP_WORDS]
        total = self._words[words or [0]].sum(axis=0, keepdims=True)
        direction: Matrix = total / np.linalg.norm(total)
        return direction
