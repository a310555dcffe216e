"""A chat model writes the answer: the context becomes a prompt, and the marks of what comes back become citations."""

import base64
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol

from quoteweave.core.answers import Answer, Completion, Context
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.core.prompts import load_prompt
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Query, Quote
from quoteweave.generation.citations import weave

ABSTENTION = "The quotes do not answer this question."
"""The line by which a model says that the quotes do not answer; the prompt asks for it word for word."""
NOTHING_RETRIEVED = "No quote was found that bears on this question, so it is not answered."
CUT_SHORT = "The model reached its limit of tokens; the answer may be cut short."

_PICTURE_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif"}

Part = Mapping[str, object]


class ImageSource(Protocol):
    """Where stored crops are read."""

    def __call__(self, key: str, /) -> bytes:
        """The bytes of the crop that `Quote.image` names. Raises OSError when it cannot be read."""
        ...


class CitedGenerator:
    """Meets `core.protocols.Generator`.

    `prompts_folder` may hold its own `cited_answer_system.txt` (field: `$abstention`) and `cited_answer_user.txt`
    (fields: `$text_quotes`, `$image_quotes`, `$question`). With `images`, image quotes that have a crop are sent as
    pictures, each after its name and caption; without, or where a crop cannot be read, their words are sent.
    Raises UsageError when the prompts cannot be read.
    """

    def __init__(
        self, model: ChatModel, *, prompts_folder: Path | None = None, images: ImageSource | None = None
    ) -> None:
        self.model = model
        self.images = images
        self.system_prompt = load_prompt("cited_answer_system", prompts_folder)
        self.user_prompt = load_prompt("cited_answer_user", prompts_folder)

    async def answer(self, query: Query, context: Context) -> Answer:
        """The model's answer, woven; without a single quote it abstains and the model is not called.

        Raises EndpointError when the model fails, EndpointBadResponse when it says nothing but its reasoning, and
        UsageError when a prompt does not have the right fields.
        """
        if not context.texts and not context.images:
            return weave(query.text, NOTHING_RETRIEVED, context, model=self.model.name, status="abstained")
        messages, warnings = self._messages(query, context)
        completion = await self.model.complete(messages)
        text = _spoken(completion)
        if completion.finish_reason == "length":
            warnings.append(CUT_SHORT)
        status: Literal["answered", "abstained"] = "abstained" if _abstains(text) else "answered"
        woven = weave(query.text, text, context, model=completion.model, status=status, warnings=tuple(warnings))
        return woven.model_copy(update={"usage": completion.usage})

    def _messages(self, query: Query, context: Context) -> tuple[list[Mapping[str, object]], list[str]]:
        pictures, warnings = self._pictures(context)
        texts = [
            f"[{i}] {_source(hit.quote)}\n{_indented(hit.quote.words())}" for i, hit in enumerate(context.texts, 1)
        ]
        images = []
        for name, quote in _image_quotes(context).items():
            words = "    (the picture follows below)" if name in pictures else _indented(quote.words())
            images.append(f"{name} {_source(quote)}\n{words}")
        prompt = self.user_prompt.render(
            {
                "text_quotes": "\n\n".join(texts) or "(none)",
                "image_quotes": "\n\n".join(images) or "(none)",
                "question": query.text,
            }
        )
        # Servers of text models refuse a list of parts, so that it is used only where there are pictures.
        content: object = [_text_part(prompt), *_picture_parts(context, pictures)] if pictures else prompt
        system = self.system_prompt.render({"abstention": ABSTENTION})
        return [{"role": "system", "content": system}, {"role": "user", "content": content}], warnings

    def _pictures(self, context: Context) -> tuple[dict[str, str], list[str]]:
        """Data URLs of the crops that can be read, by the name of their image quote, and a warning for each other."""
        pictures, warnings = {}, []
        for name, quote in _image_quotes(context).items():
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


def _image_quotes(context: Context) -> dict[str, Quote]:
    return {f"image{number}": hit.quote for number, hit in enumerate(context.images, 1)}


def _text_part(text: str) -> Part:
    return {"type": "text", "text": text}


def _picture_parts(context: Context, pictures: Mapping[str, str]) -> list[Part]:
    parts: list[Part] = []
    quotes = _image_quotes(context)
    for name, url in pictures.items():
        parts.append(_text_part(f"{name}: {_one_line(quotes[name].caption or 'without a caption')}"))
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _source(quote: Quote) -> str:
    section = f", section “{_one_line(quote.section)}”" if quote.section else ""
    return f"({_one_line(quote.document)}, page {_one_line(quote.page_label)}{section}, {quote.layout})"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _indented(text: str) -> str:
    # Only our own lines begin at the margin, so that no document can write a quote of its own into the list.
    return "\n".join(f"    {line}" for line in text.splitlines()) or "    (no words)"


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
