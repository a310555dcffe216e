"""A chat model writes the answer: the context becomes a prompt, and the marks of what comes back become citations."""

import base64
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol

from quoteweave.core.answers import Answer, Completion, Context
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Query
from quoteweave.generation.citations import weave
from quoteweave.generation.cited_messages import ABSTENTION, CitedMessages, image_quotes

NOTHING_RETRIEVED = "No quote was found that bears on this question, so it is not answered."
CUT_SHORT = "The model reached its limit of tokens; the answer may be cut short."

_PICTURE_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif"}


class ImageSource(Protocol):
    """Where stored crops are read."""

    def __call__(self, key: str, /) -> bytes:
        """The bytes of the crop that `Quote.image` names. Raises OSError when it cannot be read."""
        ...


class CitedGenerator:
    """Meets `core.protocols.Generator`.

    `prompts_folder` is that of `CitedMessages`. With `images`, image quotes that have a crop are sent as pictures, each
    after its name and caption; without, or where a crop cannot be read, their words are sent. Raises UsageError when
    the prompts cannot be read.
    """

    def __init__(
        self, model: ChatModel, *, prompts_folder: Path | None = None, images: ImageSource | None = None
    ) -> None:
        self.model = model
        self.images = images
        self.messages = CitedMessages(prompts_folder)

    async def answer(self, query: Query, context: Context) -> Answer:
        """The model's answer, woven; without a single quote it abstains and the model is not called.

        Raises EndpointError when the model fails, EndpointBadResponse when it says nothing but its reasoning, and
        UsageError when a prompt does not have the right fields.
        """
        if not context.texts and not context.images:
            return weave(query.text, NOTHING_RETRIEVED, context, model=self.model.name, status="abstained")
        pictures, warnings = self._pictures(context)
        completion = await self.model.complete(self.messages.of(query, context, pictures))
        text = _spoken(completion)
        if completion.finish_reason == "length":
            warnings.append(CUT_SHORT)
        status: Literal["answered", "abstained"] = "abstained" if _abstains(text) else "answered"
        woven = weave(query.text, text, context, model=completion.model, status=status, warnings=tuple(warnings))
        return woven.model_copy(update={"usage": completion.usage})

    def _pictures(self, context: Context) -> tuple[dict[str, str], list[str]]:
        """Data URLs of the crops that can be read, by the name of their image quote, and a warning for each other."""
        pictures, warnings = {}, []
        for name, quote in image_quotes(context).items():
            if self.images is None or quote.image is None:
                continue
            try:
                data = base64.b64encode(self.images(quote.image)).decode("ascii")
            except OSError as error:
                reason = error.strerror or "unknown reason"
                warnings.append(f"The crop of {name} could not be read ({reason}); the model was given its words.")
                continue
            media_type = _PICTURE_TYPES.get(PurePosixPath(quote.image).suffix.lower(), "image/png")
            pictures[name] = f"data:{media_type};base64,{data}"
        return pictures, warnings


def _spoken(completion: Completion) -> str:
    """What the model says after its reasoning; some servers leave out the opening tag, and one cut short never closes.

    Raises EndpointBadResponse when nothing is left.
    """
    before, closed, after = completion.text.partition("</think>")
    text = after if closed else "" if before.lstrip().startswith("<think>") else before
    if not text.strip():
        cause = (
            "it reached its limit of tokens; raise max_tokens" if completion.finish_reason == "length" else "ask again"
        )
        raise EndpointBadResponse(f"The model {completion.model} gave no answer beyond its reasoning: {cause}.")
    return text.strip()


def _abstains(text: str) -> bool:
    first_line = text.lstrip("*_>#\"' ").splitlines()[0:1]
    return bool(first_line) and first_line[0].rstrip("*_\"' .").casefold() == ABSTENTION.rstrip(".").casefold()
