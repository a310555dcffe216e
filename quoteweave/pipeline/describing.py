"""Image quotes get words: a vision model describes each picture once, and the collection keeps what it said.

Descriptions stand in `descriptions.jsonl` in the collection's folder, by the hash of picture, caption, model and
prompt, so that a stopped run goes on, a document that is read anew gets its words back, and nothing is paid twice. They
go with the last document that shows their picture.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.descriptions import DESCRIPTIONS, Description, damaged_descriptions, read_descriptions
from quoteweave.core.answers import Usage
from quoteweave.core.chat.prompts import load_prompt
from quoteweave.core.chat.token_estimates import PICTURE_TOKENS, tokens_of
from quoteweave.core.errors import CollectionError, EndpointError, EndpointUnreachable
from quoteweave.core.jsonl import appending
from quoteweave.core.pictures import UnfitPicture
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Quote
from quoteweave.core.worker_pool import for_each
from quoteweave.generation.picture_files import encode

PROMPT = "describe"
REPLY_TOKENS = 250
"""Of a description; a model that thinks first takes many more."""
GIVES_UP = 10
"""Failures in a row after which nothing more is asked."""
MAX_PIXELS = 2_000_000
"""Of a picture that is sent; a larger one is shrunk."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to be described, once for all quotes that show it under the same caption."""

    key: str
    image: str
    """The stored crop, relative to the collection's images folder."""
    caption: str | None


@dataclass(frozen=True, slots=True)
class Survey:
    """The pictures of a collection."""

    left: Sequence[Picture]
    """Those without a description by this model and prompt."""
    done: int
    without_crop: int
    """Image quotes of which no crop is stored."""
    input_tokens: int
    """Roughly, that describing those left takes."""
    output_tokens: int
    cut: bool = False
    """Whether the last description was not written whole: its picture is among those left."""


class PictureDescriber:
    """Has a vision model describe the image quotes of a collection.

    `prompts_folder` may hold its own `describe.txt` (field: `$caption`). Raises UsageError for a prompt that cannot be
    read.
    """

    def __init__(self, model: ChatModel, collection: Collection, *, prompts_folder: Path | None = None) -> None:
        self.model, self.collection = model, collection
        self.prompt = load_prompt(PROMPT, prompts_folder)
        self._path = collection.root / DESCRIPTIONS

    def survey(self) -> Survey:
        """What there is to describe. Raises CollectionError for a file of descriptions that is damaged."""
        (known, cut), without = self._known(), 0
        found: dict[str, Picture] = {}
        for _, _, quotes in self.collection.iter_documents_quotes():
            images = [quote for quote in quotes if quote.kind == "image"]
            pictures = [picture for quote in images if (picture := self._picture(quote)) is not None]
            without += len(images) - len(pictures)
            found |= {picture.key: picture for picture in pictures}
        left = [picture for key, picture in found.items() if key not in known]
        a_prompt = PICTURE_TOKENS + tokens_of(self.prompt.text)
        captions = sum(tokens_of(picture.caption or "") for picture in left)
        return Survey(
            left=left,
            done=len(found) - len(left),
            without_crop=without,
            input_tokens=len(left) * a_prompt + captions,
            output_tokens=len(left) * REPLY_TOKENS,
            cut=cut,
        )

    async def describe(
        self,
        pictures: Sequence[Picture],
        *,
        concurrency: int = 8,
        on_done: Callable[[Usage], None] = lambda _: None,
    ) -> dict[str, str]:
        """Asks for each picture; each description is kept as soon as it is there. Returns what failed, with the reason.

        Raises EndpointUnreachable after `GIVES_UP` failures in a row, StorageError where the disk refuses.
        """
        failed, in_a_row = dict[str, str](), 0

        async def one(picture: Picture) -> None:
            nonlocal in_a_row
            usage = Usage()
            try:
                said = await self._ask(picture)
                write(said.sealed())
                usage, in_a_row = said.usage, 0
            except UnfitPicture as error:
                failed[picture.image] = f"The stored picture {error}; it was not sent."
            except EndpointError as error:
                failed[picture.image], in_a_row = str(error), in_a_row + 1
                if in_a_row >= GIVES_UP:
                    raise EndpointUnreachable(
                        f"{in_a_row} pictures in a row failed, the last one so: {error} — others are kept"
                    ) from error
            on_done(usage)

        with appending(self._path) as write:
            await for_each(pictures, one, concurrency=concurrency)
        return failed

    def words(self, quotes: Sequence[Quote]) -> dict[str, str]:
        """Quote id to its description, of those that have one and do not say it yet."""
        known, _ = self._known()
        pictures = [(quote, self._picture(quote)) for quote in quotes]
        said = {quote.id: known[picture.key] for quote, picture in pictures if picture and picture.key in known}
        return {
            quote.id: said[quote.id] for quote, _ in pictures if quote.id in said and quote.vlm_text != said[quote.id]
        }

    def _known(self) -> tuple[dict[str, str], bool]:
        """Descriptions by the keys of their pictures, and whether the last one is cut short."""
        known, cut = dict[str, str](), False
        try:
            for found in read_descriptions(self._path) if self._path.exists() else ():
                if isinstance(found, Description):
                    known[found.key] = found.text
                elif found.cut:
                    cut = True
                else:
                    raise damaged_descriptions(self.collection.root, found)
        except OSError as error:
            raise CollectionError(f"{self._path} cannot be read ({error.strerror or error})") from error
        return known, cut

    def _picture(self, quote: Quote) -> Picture | None:
        if quote.kind != "image" or quote.image is None:
            return None
        parts = (quote.image, quote.caption, self.model.name, self.prompt.sha256)
        return Picture(hashlib.sha256(repr(parts).encode()).hexdigest(), quote.image, quote.caption)

    async def _ask(self, picture: Picture) -> Description:
        try:
            data = self.collection.images.read(picture.image)
        except CollectionError as error:
            raise UnfitPicture(f"cannot be used ({error})") from error
        shown = await asyncio.to_thread(encode, data, MAX_PIXELS)
        prompt = self.prompt.render({"caption": " ".join((picture.caption or "(none)").split())})
        content = [
            {"type": "text", "text": prompt},
            {"type": "image_url", "image_url": {"url": shown.url}},
        ]
        completion = await self.model.complete([{"role": "user", "content": content}])
        return Description(
            key=picture.key,
            image=picture.image,
            text=completion.text.strip(),
            model=completion.model,
            usage=completion.usage,
        )
