"""Real vectors for MaxSim: those of the tokens of MMDocIR's pages and questions, by all-MiniLM-L6-v2.

That model was not trained for late interaction, but its vectors are of real text in real documents, on which recall
depends. A page is encoded in pieces of as many tokens as the model takes, and has the normalised vectors of all of
them. Passages are stretches of a page's vectors that share half of them with the next one; windows share seven eighths,
so that the best items are very similar and hard to distinguish.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import minilm, mmdocir
from page_baseline import page_texts

from quoteweave.evaluation.datasets.mmdocir import load_mmdocir

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Tokens = list[npt.NDArray[np.float16]]

STRETCH = 128


class TokenModel:
    """Encodes texts as the vectors of their tokens, in half precision as they are stored."""

    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        self._model: Any = SentenceTransformer(str(minilm()), device="cpu")
        # The model adds a token before a text and one after it.
        self._longest = (self._model.max_seq_length or 256) - 2

    def pages(self, texts: Sequence[str]) -> "Tokens":
        """(tokens, dimension) of each text, whatever its length; texts without words are left out."""
        import numpy as np

        pieces = [(number, piece) for number, text in enumerate(texts) for piece in self._pieces(text)]
        vectors = self.encode([piece for _, piece in pieces])
        of_page: dict[int, Tokens] = {}
        for (number, _), token_vectors in zip(pieces, vectors, strict=True):
            of_page.setdefault(number, []).append(token_vectors)
        return [np.concatenate(parts) for parts in of_page.values()]

    def encode(self, texts: Sequence[str]) -> "Tokens":
        """(tokens, dimension) of each text, cut where the model ends."""
        import numpy as np

        encoded = self._model.encode(list(texts), output_value="token_embeddings", show_progress_bar=False)
        matrices = [vectors.numpy() for vectors in encoded]
        return [(matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float16) for matrix in matrices]

    def _pieces(self, text: str) -> Iterator[str]:
        tokens = self._model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        places = tokens["offset_mapping"]
        for first in range(0, len(places), self._longest):
            piece = places[first : first + self._longest]
            yield text[piece[0][0] : piece[-1][1]]


def stretches(pages: "Tokens", step: int) -> "Tokens":
    """Stretches of the vectors of each page, one every `step` vectors; the last may be shorter."""
    shared = STRETCH - step
    return [page[first : first + STRETCH] for page in pages for first in range(0, max(1, len(page) - shared), step)]


def mmdocir_tokens(cache: Path | None) -> "tuple[dict[str, Tokens], Tokens]":
    """Items by kind, and questions. Pages without a text layer are read by OCR if a `cache` is given."""
    model = TokenModel()
    texts = page_texts([mmdocir() / "pdf"], cache or Path(), ocr=cache is not None)
    pages = model.pages([text for document_texts in texts.values() for text in document_texts])
    questions = model.encode([example.query.text for example in load_mmdocir(mmdocir())])
    passages, windows = stretches(pages, STRETCH // 2), stretches(pages, STRETCH // 8)
    return {"pages": pages, "passages": passages, "windows": windows}, questions
