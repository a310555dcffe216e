"""A made collection for measuring search: documents of made words, distributed like the words of a language.

Content words follow Zipf's law with exponent 1, documents favour some of them, two words in five are English stop
words; paragraphs have about 60 words, and one quote in six is a picture with a caption. The same seed gives the same.
"""

import hashlib
import random
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from quoteweave.collection.collection import Collection
from quoteweave.collection.prepared import PreparedDocument
from quoteweave.collection.records import Origin
from quoteweave.collection.writer import Writer
from quoteweave.core.records import Layout, Page, ParsedDocument, Quote
from quoteweave.core.text.tokens import STOP_WORDS

VOCABULARY = 60_000
QUOTES_ON_A_PAGE = 20
PICTURE_EVERY = 6
WIDTH, HEIGHT = 595.0, 842.0
STOPS = sorted(word for word in STOP_WORDS if len(word) > 1)
ONSETS = ("b", "br", "c", "ch", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "tr", "v")
VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")


class Writing:
    """Writes made text. All seeds have the same vocabulary, and only the texts differ."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(0)
        self._words = self._vocabulary()
        self._chance.seed(seed)
        self._weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))

    def topic(self) -> list[str]:
        """Words that a document favours."""
        return self._chance.sample(self._words[200:], 150)

    def text(self, length: int, topic: Sequence[str]) -> str:
        """Words, of which two in five are stop words and one in six is of the topic."""
        drawn = self._chance.choices(self._words, cum_weights=self._weights, k=length)
        kinds = (self._chance.random() for _ in drawn)
        return " ".join(
            self._chance.choice(STOPS) if kind < 0.4 else self._chance.choice(topic) if kind < 0.57 else word
            for kind, word in zip(kinds, drawn, strict=True)
        )

    def length(self) -> int:
        """The number of words of a paragraph: log-normal around 60, between 3 and 220."""
        return max(3, min(220, round(self._chance.lognormvariate(4.0, 0.6))))

    def questions(self, quotes: Sequence[str], number: int) -> list[str]:
        """Questions of four to seven words of some quote among stop words; one in five names a figure or a page."""
        texts = []
        for text in self._chance.choices(list(quotes), k=number):
            content = [word for word in text.split() if word not in STOP_WORDS] or ["nothing"]
            question_words = self._chance.choices(content, k=self._chance.randint(4, 7))
            mixed = [part for word in question_words for part in (self._chance.choice(STOPS), word)]
            named = self._chance.choice([" in Figure 3", " in the chart on page 12"])
            texts.append("what " + " ".join(mixed) + (named if self._chance.random() < 0.2 else "") + "?")
        return texts

    def _vocabulary(self) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < VOCABULARY:
            count = self._chance.choice((2, 3, 3, 4))
            syllables = (self._chance.choice(ONSETS) + self._chance.choice(VOWELS) for _ in range(count))
            words.setdefault("".join(syllables) + self._chance.choice(("", "n", "k", "m")))
        return list(words)


def make_document(writing: Writing, quotes: int) -> ParsedDocument:
    """A document of that many quotes, in one column from top to bottom."""
    topic = writing.topic()
    pages = -(-quotes // QUOTES_ON_A_PAGE)
    return ParsedDocument(
        pages=tuple(
            Page(number=number, label=str(number + 1), width=WIDTH, height=HEIGHT, text_source="file")
            for number in range(pages)
        ),
        quotes=tuple(_quote(writing, topic, number) for number in range(quotes)),
    )


def put(writer: Writer, name: str, parsed: ParsedDocument) -> None:
    """Store a made document under that name."""
    writer.store([prepare(writer, name, parsed)])


def prepare(writer: Writer, name: str, parsed: ParsedDocument) -> PreparedDocument:
    """A made document of that name, ready to be stored."""
    data = f"{name}: {len(parsed.quotes)} made quotes".encode()
    with TemporaryDirectory(prefix="quoteweave-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        origin = Origin(root=Path("/made"), content=hashlib.sha256(data).hexdigest(), parser="made")
        return writer.prepare(path, name=name, format="text", origin=origin, parsed=parsed)


def fill(collection: Collection, writing: Writing, *, quotes: int, documents: int) -> None:
    """Put made documents into a collection, one after the other."""
    with collection.writer() as writer:
        for number in range(documents):
            share = quotes * (number + 1) // documents - quotes * number // documents
            put(writer, f"made-{number:04d}.txt", make_document(writing, share))


def _quote(writing: Writing, topic: Sequence[str], number: int) -> Quote:
    page, place = divmod(number, QUOTES_ON_A_PAGE)
    picture = number % PICTURE_EVERY == 0
    layout: Layout = "paragraph" if not picture else "chart" if number % (2 * PICTURE_EVERY) else "table"
    label = f"{'Table' if layout == 'table' else 'Figure'} {number // PICTURE_EVERY + 1}"
    top, step = 40.0, (HEIGHT - 80) / QUOTES_ON_A_PAGE
    return Quote(
        id=f"{page}:{place}",
        document="",
        page=page,
        page_label=str(page + 1),
        bbox=(50.0, top + place * step, WIDTH - 50, top + (place + 0.9) * step),
        kind="image" if picture else "text",
        layout=layout,
        section=writing.text(4, topic),
        caption=f"{label}: {writing.text(12, topic)}" if picture else None,
        text=writing.text(25 if picture else writing.length(), topic),
    )
