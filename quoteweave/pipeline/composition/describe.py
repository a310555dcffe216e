"""Has a vision model describe each image quote's picture once, and stores the descriptions in the collection.

Descriptions are in `descriptions.jsonl` in the collection's folder, by the hash of picture, caption, model and prompt.
So a stopped run can go on, a document that is read again gets its descriptions back, and nothing is paid twice. A
description is removed with the last document that shows its picture.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.image_texts import (
    DESCRIPTIONS,
    Description,
    damaged_descriptions,
    lost_note,
    read_descriptions,
    stored_descriptions,
)
from quoteweave.collection.writer_lock import has_killed_owner
from quoteweave.core.answers import Usage
from quoteweave.core.chat.prompts import load_prompt
from quoteweave.core.chat.usage import TOKENS_PER_IMAGE, estimate_tokens
from quoteweave.core.concurrency.pools import for_each
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import CollectionError, EndpointError, EndpointUnreachable
from quoteweave.core.files.jsonl import open_for_append
from quoteweave.core.files.pictures import UnfitPicture
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Quote, Record
from quoteweave.generation.chat_generator import ending_warnings
from quoteweave.generation.prompt_pictures import encode
from quoteweave.index.sync import sync_indexes
from quoteweave.pipeline.composition.make_rag import require_chat
from quoteweave.pipeline.composition.manage_indexes import update_indexes
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.settings import ChatSettings

PROMPT = "describe"
REPLY_TOKENS = 250
"""Estimated tokens of a description; a reasoning model uses more."""
MAX_FAILURES = 10
"""Consecutive failures after which the work stops."""
DESCRIBED_MEANWHILE = "{} described by another command meanwhile, and not described again"
ENDED_EARLY = "{} may be cut short: the model was ended early, as at its limit of tokens"
LAST_CUT_SHORT = "the last description was cut short, and its picture is described again"
MAX_PIXELS = 2_000_000
"""Pixels of a picture that is sent, at most; a larger one is shrunk."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to be described, once for all quotes that show it under the same caption."""

    key: str
    image: str
    """The stored crop, relative to the collection's images folder."""
    caption: str | None
    """With the unit that is stated of its numbers."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What remains to be described in a collection, and an estimate of its tokens."""

    undescribed: Sequence[Picture]
    """Pictures without a description by this model and prompt."""
    done: int
    without_crop: int
    """How many image quotes have no stored crop."""
    input_tokens: int
    """Estimated tokens for describing these pictures."""
    output_tokens: int
    note: str = ""
    """Which descriptions the file has lost; their pictures are among those undescribed."""


class PictureDescriber:
    """Describes the image quotes of a collection with a vision model.

    `prompts_folder` may hold its own `describe.txt` (field: `$caption`, with the unit of a table). Raises UsageError
    for a prompt that cannot be read.
    """

    def __init__(self, model: ChatModel, collection: Collection, *, prompts_folder: Path | None = None) -> None:
        self.model, self.collection = model, collection
        self.prompt = load_prompt(PROMPT, prompts_folder)
        self.ended_early = 0
        """How many of the descriptions may be cut short."""
        self.described_meanwhile = 0
        """How many of the pictures that were to be described another command had described by then."""
        self._path = collection.root / DESCRIPTIONS

    def survey(self) -> Survey:
        """List the pictures without a description. Raises CollectionError for a damaged file of descriptions."""
        (described, cut), without_crop = self._stored_texts(), 0
        pictures_by_key, stored = dict[str, Picture](), list[str]()
        for document, _, quotes in self.collection.iter_documents_quotes():
            stored += stored_descriptions(document, quotes)
            images = [quote for quote in quotes if quote.kind == "image"]
            pictures = [picture for quote in images if (picture := self._picture(quote)) is not None]
            without_crop += len(images) - len(pictures)
            pictures_by_key |= {picture.key: picture for picture in pictures}
        undescribed = [picture for key, picture in pictures_by_key.items() if key not in described]
        a_prompt = TOKENS_PER_IMAGE + estimate_tokens(self.prompt.text)
        captions = sum(estimate_tokens(picture.caption or "") for picture in undescribed)
        return Survey(
            undescribed=undescribed,
            done=len(pictures_by_key) - len(undescribed),
            without_crop=without_crop,
            input_tokens=len(undescribed) * a_prompt + captions,
            output_tokens=len(undescribed) * REPLY_TOKENS,
            note=LAST_CUT_SHORT if cut else lost_note(self.collection.root, stored, {*described.values()}),
        )

    async def describe(
        self,
        pictures: Sequence[Picture],
        *,
        concurrency: int = 8,
        on_done: Callable[[Usage], None] = lambda _: None,
    ) -> dict[str, str]:
        """Describe each picture, and store each description as soon as it is written; return the reasons for failures.

        Pictures that another command has described since they were listed are left out, and counted.
        Raises EndpointUnreachable after `MAX_FAILURES` failures in a row, StorageError if the disk refuses.
        """
        failed, in_a_row = dict[str, str](), 0

        async def describe_and_store(picture: Picture) -> None:
            nonlocal in_a_row
            usage = Usage()
            try:
                description = await self._ask(picture)
                write(description.sealed())
                usage, in_a_row = description.usage, 0
            except UnfitPicture as error:
                failed[picture.image] = f"The stored picture {error}; it was not sent."
            except EndpointError as error:
                failed[picture.image], in_a_row = str(error), in_a_row + 1
                if in_a_row >= MAX_FAILURES:
                    raise EndpointUnreachable(
                        f"{in_a_row} pictures in a row failed, the last one so: {error} — others are kept"
                    ) from error
            on_done(usage)

        with open_for_append(self._path, checksums=False) as write:
            described, _ = self._stored_texts()  # read again, as another command may have written until now
            left = [picture for picture in pictures if picture.key not in described]
            self.described_meanwhile += len(pictures) - len(left)
            await for_each(left, describe_and_store, concurrency=concurrency)
        return failed

    def notes(self) -> list[str]:
        """What is to be said of the pictures that were to be described."""
        meanwhile = pluralize(self.described_meanwhile, "picture was", "pictures were")
        ended_early = pluralize(self.ended_early, "description")
        notes = [DESCRIBED_MEANWHILE.format(meanwhile)] if self.described_meanwhile else []
        return [*notes, ENDED_EARLY.format(ended_early)] if self.ended_early else notes

    def words(self, quotes: Sequence[Quote]) -> dict[str, str]:
        """Return descriptions by quote id, for quotes whose `vlm_text` differs from their description."""
        texts_by_key, _ = self._stored_texts()
        pictures = [(quote, self._picture(quote)) for quote in quotes]
        description = {
            quote.id: texts_by_key[picture.key]
            for quote, picture in pictures
            if picture and picture.key in texts_by_key
        }
        return {
            quote.id: description[quote.id]
            for quote, _ in pictures
            if quote.id in description and quote.vlm_text != description[quote.id]
        }

    def _stored_texts(self) -> tuple[dict[str, str], bool]:
        """Descriptions by the keys of their pictures, and whether the last one is cut short."""
        texts_by_key, cut = dict[str, str](), False
        try:
            for entry in read_descriptions(self._path) if self._path.exists() else ():
                if isinstance(entry, Description):
                    texts_by_key[entry.key] = entry.text
                elif entry.cut:
                    cut = True
                else:
                    raise damaged_descriptions(self.collection.root, entry)
        except OSError as error:
            raise CollectionError(f"{self._path} cannot be read ({error.strerror or error})") from error
        return texts_by_key, cut

    def _picture(self, quote: Quote) -> Picture | None:
        if quote.kind != "image" or quote.image is None:
            return None
        parts = (quote.image, quote.caption_and_unit, self.model.name, self.prompt.sha256)
        return Picture(hashlib.sha256(repr(parts).encode()).hexdigest(), quote.image, quote.caption_and_unit)

    async def _ask(self, picture: Picture) -> Description:
        try:
            image_bytes = self.collection.images.read(picture.image)
        except CollectionError as error:
            raise UnfitPicture(f"cannot be used ({error})") from error
        encoded = await asyncio.to_thread(encode, image_bytes, MAX_PIXELS)
        prompt = self.prompt.render({"caption": " ".join((picture.caption or "(none)").split())})
        content = [
            {"type": "text", "text": prompt},
            {"type": "image_url", "image_url": {"url": encoded.url}},
        ]
        completion = await self.model.complete([{"role": "user", "content": content}])
        self.ended_early += bool(ending_warnings(completion.finish_reason))
        return Description(
            key=picture.key,
            image=picture.image,
            text=completion.text.strip(),
            model=completion.model,
            usage=completion.usage,
        )


class PendingDescriptions(Record):
    """The pictures that are about to be sent to a vision model."""

    model: str
    pictures: int = Field(description="to be asked for")
    done: int = Field(description="that have a description already")
    destination: str | None = Field(description="the host that they are sent to; None for a model on this machine")
    input_tokens: int = Field(description="roughly")
    output_tokens: int = Field(description="roughly")


class DescribeReport(Record):
    """The result of describing a collection's pictures."""

    model: str = Field(description="which described")
    prompt: str = Field(description="SHA-256")
    pictures: int = Field(description="asked for now")
    failed: Mapping[str, str] = Field(description="picture to the reason")
    quotes: int = Field(description="image quotes that have new words")
    without_crop: int = Field(description="image quotes of which no picture is stored")
    input_tokens: int = Field(description="of what was asked now, as the endpoint counted them")
    output_tokens: int = Field(description="tokens that the model wrote")
    notes: tuple[str, ...] = Field(default=(), description="which descriptions were lost, or may be cut short")
    index_notes: tuple[str, ...] = Field(description="indexes that could not be kept in step, and why")

    @property
    def described(self) -> int:
        """How many pictures were described now."""
        return self.pictures - len(self.failed)


@dataclass(frozen=True, slots=True)
class DescribeOptions:
    """How pictures are described.

    Fields:
        limit: how many pictures are described at most; None for all
        concurrency: how many pictures are described at the same time
        calls: folder that keeps every call
    """

    limit: int | None = None
    concurrency: int = 8
    calls: Path | None = None


def describe_collection(
    collection: Collection,
    settings: ChatSettings | None = None,
    options: DescribeOptions | None = None,
    *,
    before: Callable[[PendingDescriptions], None] = lambda _: None,
    progress: Progress = NO_PROGRESS,
) -> DescribeReport:
    """Have a vision model describe the image quotes that have no description by it, and index the words.

    `before` is called before anything is sent; what it raises ends the work. Raises UsageError where no model is named;
    EndpointUnreachable after several failures in a row; CollectionLocked while another process writes; StorageError.
    """
    settings, options = (settings or ChatSettings()).with_environment(), options or DescribeOptions()
    model = require_chat(settings, options.calls)
    describer = PictureDescriber(model, collection, prompts_folder=settings.prompts)
    survey = describer.survey()
    notes = _noted(survey.note, progress)
    pictures = list(survey.undescribed[: options.limit])
    failed, spent = dict[str, str](), [0, 0]
    if pictures:
        before(_pending(survey, len(pictures), settings))
        failed = _describe(describer, pictures, options.concurrency, spent, progress)
    for note in describer.notes():
        notes += _noted(note, progress)
    quotes, index_notes = _store(describer, collection)
    index_notes += update_indexes(collection, progress=progress)
    return DescribeReport(
        model=describer.model.name,
        prompt=describer.prompt.sha256,
        pictures=len(pictures) - describer.described_meanwhile,
        failed=failed,
        quotes=quotes,
        without_crop=survey.without_crop,
        input_tokens=spent[0],
        output_tokens=spent[1],
        notes=tuple(notes),
        index_notes=tuple(index_notes),
    )


def _noted(note: str, progress: Progress) -> list[str]:
    """Print a note, if it says anything, and return it."""
    if note:
        progress.note(f"note: {note}")
    return [note] if note else []


def _describe(
    describer: PictureDescriber, pictures: Sequence[Picture], concurrency: int, spent: list[int], progress: Progress
) -> dict[str, str]:
    """Return the reason for each failure; add the tokens in and out to `spent`."""
    with progress.task("describing", len(pictures)) as task:

        def on_done(usage: Usage) -> None:
            spent[0] += usage.input_tokens or 0
            spent[1] += usage.output_tokens or 0
            task.advance()

        return run_sync(describer.describe(pictures, concurrency=concurrency, on_done=on_done))


def _pending(survey: Survey, pictures: int, settings: ChatSettings) -> PendingDescriptions:
    share = pictures / len(survey.undescribed)
    return PendingDescriptions(
        model=settings.model or "",
        pictures=pictures,
        done=survey.done,
        destination=settings.destination,
        input_tokens=round(survey.input_tokens * share),
        output_tokens=round(survey.output_tokens * share),
    )


def _store(describer: PictureDescriber, collection: Collection) -> tuple[int, list[str]]:
    """Store descriptions in the quotes and update the lexical index; return how many quotes changed, and notes."""
    descriptions = {
        document.name: document_descriptions
        for document, _, quotes in collection.iter_documents_quotes()
        if (document_descriptions := describer.words(quotes))
    }
    if not (descriptions or collection.may_have_traces() or has_killed_owner(collection.root)):
        return 0, []
    with collection.writer() as writer:
        writer.describe(descriptions)
        sync_indexes(collection, writer)  # indexes of models are updated afterwards, with progress
        remaining_traces = writer.finish_removals()
    return sum(map(len, descriptions.values())), list(remaining_traces)
