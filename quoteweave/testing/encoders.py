"""A stand-in for the model behind a retriever, whose vectors follow from words alone."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from quoteweave.core.protocols import Setting

if TYPE_CHECKING:
    from PIL.Image import Image

    from quoteweave.core.protocols import Matrix

Spoil = Callable[["list[Matrix]"], "list[Matrix]"]


class FakeEncoder:
    """An Encoder that hashes each word into a direction: texts are near each other when they share words.

    One vector a text is the sum of its words', scaled to length one; with `many` each word has its own. The words of a
    picture are the colour of its middle, as `#ff0000`. `views` and `queries` hold what each call was given. `spoil`
    gets the vectors of views before they are given back: it may change them, or raise.
    """

    def __init__(
        self,
        *,
        name: str = "fake",
        dimension: int = 64,
        reads: Literal["text", "image"] = "text",
        many: bool = False,
        settings: Mapping[str, Setting] | None = None,
        spoil: Spoil | None = None,
    ) -> None:
        self.name, self.reads, self.many = name, reads, many
        self.settings: Mapping[str, Setting] = {"checkpoint": name, "dimensions": dimension, **(settings or {})}
        self.spoil = spoil
        self.views: list[list[str]] = []
        self.queries: list[list[str]] = []
        self._dimension = dimension

    def encode_queries(self, texts: Sequence[str]) -> "list[Matrix]":
        """A matrix for each question."""
        self.queries.append(list(texts))
        return [self._encode(text) for text in texts]

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix for each view."""
        texts = [view if isinstance(view, str) else colour(view) for view in views]
        self.views.append(texts)
        vectors = [self._encode(text) for text in texts]
        return vectors if self.spoil is None else self.spoil(vectors)

    def _encode(self, text: str) -> "Matrix":
        import numpy as np

        words = re.findall(r"#?\w+", text.casefold()) or [""]
        vectors = np.stack([self._direction(word) for word in words])
        if not self.many:
            vectors = vectors.sum(axis=0, keepdims=True)
        matrix: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return matrix

    def _direction(self, word: str) -> "Matrix":
        import numpy as np

        seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "little")
        return np.random.default_rng(seed).standard_normal(self._dimension).astype(np.float32)


def colour(picture: "Image") -> str:
    """The colour in the middle of a picture, as `#ff0000`."""
    rgb = picture.convert("RGB").getpixel((picture.width // 2, picture.height // 2))
    return "#" + "".join(f"{part:02x}" for part in rgb) if isinstance(rgb, tuple) else ""
