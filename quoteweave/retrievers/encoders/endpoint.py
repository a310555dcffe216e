"""The encoder behind an embeddings endpoint, which sends texts over HTTP and receives vectors."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from quoteweave.collection.arrays import np
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import EndpointRefused, InputsRefused
from quoteweave.core.protocols import SettingValue
from quoteweave.endpoints.connection import excerpt
from quoteweave.endpoints.embeddings import EmbeddingsClient

if TYPE_CHECKING:
    from PIL.Image import Image

    from quoteweave.core.protocols import Matrix


class EndpointEncoder:
    """Implements `core.protocols.Encoder`: one vector per text, normalised, so that inner products are cosines.

    `query_prefix` and `passage_prefix` are prepended to questions and passages, for models trained with them. Questions
    are sent by `query_client`, where the endpoint distinguishes them from passages by `input_type` or by the model's
    name; its vectors have to be comparable with those of `client`. A text, prefix included, is cut to `max_characters`,
    and further where the endpoint refuses it, which `notify` is called with once. `tokens` counts the tokens that the
    endpoint reports so far.
    """

    reads: Literal["text"] = "text"
    multi_vector = False

    def __init__(
        self,
        client: EmbeddingsClient,
        *,
        query_client: EmbeddingsClient | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        max_characters: int = 8000,
        notify: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.tokens = 0
        self._notify: Callable[[str], None] | None = notify
        self._client, self._query_client = client, query_client or client
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._max_characters = max_characters

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        return self._client.model

    @property
    def destination(self) -> str:
        """The host, with its port, that texts are sent to. Raises UsageError when no endpoint is set."""
        return self._client.address().destination

    @property
    def settings(self) -> Mapping[str, SettingValue]:
        """All known settings that change a vector. Raises UsageError when no endpoint is set."""
        return {
            "loader": "endpoint",
            "model": self.name,
            "host": self._client.address().host,
            "dimensions": self._client.dimensions,
            "input_type": self._client.input_type,
            "query_model": self._query_client.model,
            "query_input_type": self._query_client.input_type,
            "query_prefix": self._query_prefix,
            "passage_prefix": self._passage_prefix,
            "max_characters": self._max_characters,
        }

    @property
    def forms(self) -> str:
        """Describe in words how the endpoint can distinguish questions from passages."""
        passage, query = self._client, self._query_client
        notes = [
            f"{aspect} {for_queries} for questions, {for_passages} for quotes"
            for aspect, for_queries, for_passages in (
                ("model", query.model, passage.model),
                ("input_type", query.input_type or "none", passage.input_type or "none"),
                ("prefix", repr(self._query_prefix), repr(self._passage_prefix)),
            )
            if for_queries != for_passages
        ]
        return "; ".join(notes) or "questions and quotes alike"

    def encode_queries(self, texts: Sequence[str]) -> "list[Matrix]":
        """A matrix (1, dimension) for each question. Raises EndpointError, or UsageError when no endpoint is set."""
        matrices, refused = self._encode(self._query_client, [self._query_prefix + text for text in texts])
        for refusal in refused.values():
            raise refusal
        return matrices

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix (1, dimension) for each text.

        Raises InputsRefused where the endpoint refuses some however short, EndpointError, or UsageError when none is
        set.
        """
        matrices, refused = self._encode(self._client, [self._passage_prefix + str(text) for text in views])
        if refused:
            raise InputsRefused({number: str(refusal) for number, refusal in refused.items()}, matrices)
        return matrices

    def _encode(
        self, client: EmbeddingsClient, texts: Sequence[str]
    ) -> "tuple[list[Matrix], Mapping[int, EndpointRefused]]":
        """Matrices of the accepted texts, in order, and the refusals of the others."""
        most = self._max_characters
        embedded = run_sync(client.embed_some([text[:most] for text in texts]))
        self.tokens += embedded.tokens or 0
        cut = {**{number: most for number, text in enumerate(texts) if len(text) > most}, **embedded.cut}
        if cut and self._notify is not None:
            number, length = next(iter(cut.items()))
            self._notify(
                f"texts too long for {self.name} are cut, one to {length} characters: {excerpt(texts[number])!r}"
            )
            self._notify = None
        lengths = np.linalg.norm(embedded.vectors, axis=1, keepdims=True)
        vectors = embedded.vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
        return [vectors[i : i + 1] for i in range(len(vectors))], embedded.refused
