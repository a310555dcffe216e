"""Converts examples with gold answers to conversations for fine-tuning a chat model, in formats that trainers read.

As in MMDocRAG (arXiv 2505.16470, appendix C.2), quotes are shuffled so that gold is at each position equally often, and
nothing can be learnt from the position.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Hit, Kind
from quoteweave.core.text.marks import Mark, parse_marks
from quoteweave.generation.prompt_messages import CitedMessages, image_quotes
from quoteweave.pipeline.runs.arrangement import ImageView, with_image_view

TrainingFormat = Literal["trl", "llama-factory"]
Line = Mapping[str, object]
Numbers = Mapping[tuple[Kind, int], int]
"""The new number of each quote, by its kind and old number, as marks name it."""

NO_QUOTES = "it has no quotes of its own"
NO_ANSWER = "it has no gold answer"
NO_MARK = "its answer cites no quote"
UNRESOLVED = "its answer has a mark that names none of its quotes"
NO_VIEW = "none of its image quotes has the words that are asked for"
NO_PICTURE = "a picture of its image quotes is missing"

_TAGS = lazy_regex("<(image|video|audio)>")


class ExampleSkipped(Exception):
    """Raised for an example that cannot be used for training; the message is the reason."""


class TrainingLines:
    """Makes the training line of each example, and counts the positions of gold quotes.

    `pictures` returns the file of a `Quote.image`, or None if there is none. With it, image quotes are shown
    (multimodal); without it, their words in `view` are given (pure text). `sources` says whether the place of each
    quote is given as well. The messages are those that `CitedGenerator` sends.

    A line has `messages` and, with `pictures`, also `images`, the files in the order in which they are shown. For the
    `form` trl, a part {"type": "image"} of the content marks the position of a picture; for llama-factory, which
    ms-swift reads as well, `<image>` in the text does.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        prompts_folder: Path | None = None,
        pictures: Callable[[str], Path | None] | None = None,
        form: TrainingFormat = "trl",
        sources: bool = True,
        view: ImageView = "all",
    ) -> None:
        self._messages = CitedMessages(prompts_folder, sources=sources)
        self._view = view
        self._pictures = pictures
        self._form = form
        self._spread = GoldSpread(seed)

    @property
    def places(self) -> dict[Kind, list[int]]:
        """How often gold was at each position, by kind, in the lines made so far."""
        return {kind: self._spread.at(kind) for kind in ("text", "image")}

    def line(self, example: Example) -> Line:
        """Return the example as a line. Raises ExampleSkipped if it cannot be used for training."""
        answer = example.reference.answer
        context = self._context(example)
        if context is None or not (context.texts or context.images):
            raise ExampleSkipped(NO_QUOTES)
        if not answer or not answer.strip():
            raise ExampleSkipped(NO_ANSWER)
        if not parse_marks(answer):
            raise ExampleSkipped(NO_MARK)
        renumber_marks(answer, _unchanged_numbers(context))  # raise before the example is counted
        files = self._files(context)
        shuffled, numbers = self._shuffled(example, context)
        picture_files = {
            name: str(files[quote.image])
            for name, quote in image_quotes(shuffled).items()
            if quote.image is not None and quote.image in files
        }
        messages = [
            *self._messages.of(example.query, shuffled, picture_files),
            {"role": "assistant", "content": renumber_marks(answer, numbers)},
        ]
        if self._pictures is None:
            return {"messages": messages}
        as_content = _as_parts if self._form == "trl" else _as_tagged_text
        return {
            "messages": [{**message, "content": as_content(message["content"])} for message in messages],
            "images": list(picture_files.values()),
        }

    def _context(self, example: Example) -> Context | None:
        if example.context is None or self._view == "all":
            return example.context
        try:
            return with_image_view(example.context, self._view)
        except DatasetError as error:
            raise ExampleSkipped(NO_VIEW) from error

    def _files(self, context: Context) -> dict[str, Path]:
        if self._pictures is None:
            return {}
        files = {hit.quote.image: self._pictures(hit.quote.image) for hit in context.images if hit.quote.image}
        if None in files.values():
            raise ExampleSkipped(NO_PICTURE)
        return {key: file for key, file in files.items() if file is not None}

    def _shuffled(self, example: Example, context: Context) -> tuple[Context, Numbers]:
        numbers: dict[tuple[Kind, int], int] = {}
        gold = {quote_id for quote_id, grade in (example.reference.relevant or {}).items() if grade > 0}

        def shuffle(kind: Kind, hits: Sequence[Hit]) -> tuple[Hit, ...]:
            order = self._spread.order(example.id, kind, [hit.quote.id in gold for hit in hits])
            numbers.update(((kind, before + 1), after) for after, before in enumerate(order, start=1))
            return tuple(hits[before].model_copy(update={"rank": rank}) for rank, before in enumerate(order, start=1))

        shuffled = Context(texts=shuffle("text", context.texts), images=shuffle("image", context.images))
        return shuffled, numbers


def _unchanged_numbers(context: Context) -> Numbers:
    kinds: tuple[tuple[Kind, int], ...] = (("text", len(context.texts)), ("image", len(context.images)))
    return {(kind, number): number for kind, count in kinds for number in range(1, count + 1)}


class GoldSpread:
    """Shuffles quotes so that gold is at each position of a kind equally often, to within one.

    Each example's gold goes to the positions that have had gold least often so far in lists of that kind and length.
    Ties between positions, the order of gold quotes, and the order of the others are random. If counts differ by at
    most one, they still do so after each example.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._gold_counts: dict[tuple[Kind, int], list[int]] = {}

    def at(self, kind: Kind) -> list[int]:
        """How often gold was at each position."""
        counts = (gold_counts for (of_kind, _), gold_counts in self._gold_counts.items() if of_kind == kind)
        return [sum(at_place) for at_place in zip_longest(*counts, fillvalue=0)]

    def order(self, example: str, kind: Kind, gold: Sequence[bool]) -> list[int]:
        """For each new position, from 0, the old position of the quote that is there now."""
        random_source = random.Random(f"{self._seed}:{example}:{kind}")
        gold_counts = self._gold_counts.setdefault((kind, len(gold)), [0] * len(gold))
        places = list(range(len(gold)))
        random_source.shuffle(places)
        places.sort(key=gold_counts.__getitem__)  # stable, so that ties stay in random order
        quotes = list(range(len(gold)))
        random_source.shuffle(quotes)
        quotes.sort(key=lambda quote: not gold[quote])
        for place in places[: sum(gold)]:
            gold_counts[place] += 1
        old_positions = dict(zip(places, quotes, strict=True))
        return [old_positions[place] for place in range(len(gold))]


def renumber_marks(answer: str, numbers: Numbers) -> str:
    """The answer with the new numbers in its marks: `[1, 3]` becomes `[7][2]`, the form that the prompt asks for.

    Marks in the summary of an image mark are renumbered, too; all else stays. Raises ExampleSkipped for a mark that
    names no quote.
    """
    parts, end = [], 0
    for mark in parse_marks(answer):
        parts += [answer[end : mark.start], _renumber_mark(mark, numbers)]
        end = mark.end
    return "".join([*parts, answer[end:]])


def _renumber_mark(mark: Mark, numbers: Numbers) -> str:
    try:
        new_numbers = [numbers[mark.kind, number] for number in mark.numbers]
    except KeyError:
        raise ExampleSkipped(UNRESOLVED) from None
    if mark.kind == "text":
        return "".join(f"[{number}]" for number in new_numbers)
    summary = mark.mark[2 : mark.mark.rindex("](")]
    return f"![{renumber_marks(summary, numbers)}](image{new_numbers[0]})"


def _as_parts(content: object) -> list[dict[str, object]]:
    """The content as a list of parts in any case, as trainers make tables of lines, whose columns have one type."""
    if not isinstance(content, list):
        return [{"type": "text", "text": content}]
    return [{"type": "image"} if part["type"] == "image_url" else part for part in content]


def _as_tagged_text(content: object) -> str:
    # Text of a document that looks like the tag is changed, as it would be counted as a picture.
    if not isinstance(content, list):
        return _TAGS.sub(r"< \1>", str(content))
    texts = ("<image>" if part["type"] == "image_url" else _TAGS.sub(r"< \1>", part["text"]) for part in content)
    return "".join(texts)
