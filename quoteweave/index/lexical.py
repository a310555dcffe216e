"""The lexical index: BM25 over quotes and pages, TF-IDF over quotes, and the labels by which people refer to pages.

The BM25 scores of single words are bm25s's; this module says what is indexed and keeps it in step with the collection.
Words of each document are kept as a content-addressed shard, so that a changed document costs only itself to tokenise.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.core.boxes import area, inside
from quoteweave.core.errors import CollectionError, CollectionLocked, StorageError
from quoteweave.core.records import Quote
from quoteweave.core.references import labels_in
from quoteweave.core.tokens import words
from quoteweave.index.collection import Collection
from quoteweave.index.records import IndexState
from quoteweave.index.shards import shard_key
from quoteweave.index.tfidf import Tfidf, write_tfidf
from quoteweave.index.writer import Writer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]

NAME = "lexical"
# Changes whenever the same quotes would give another index.
FINGERPRINT = "lexical-2"
FIELDS = ("quotes", "pages", "captions")


class LexicalIndex:
    """One generation of the index, read from its folder, which may be removed from then on: arrays are memory-mapped.

    Positions of quotes are 0 … n-1 in the order of `rows`, positions of pages 0 … m-1. Raises OSError, ValueError,
    EOFError or KeyError where files are missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: npt.NDArray[np.int64] = _array(folder, "rows")
        """(n,) rows of the quotes in the catalogue, ascending."""
        self.page_of: npt.NDArray[np.int32] = _array(folder, "page_of")
        """(n,) position of each quote's page."""
        self.is_image: npt.NDArray[np.bool_] = _array(folder, "is_image")
        """(n,) whether each quote is an image quote."""
        self._pages: list[list[Any]] = json.loads((folder / "pages.json").read_text("utf-8"))
        listed = (folder / "vocabulary.txt").read_text("utf-8").split("\n")
        self._vocabulary = {token: i for i, token in enumerate(listed)}
        self._fields = {name: _read_bm25(folder / name) for name in FIELDS}
        self._tfidf = Tfidf(folder, self._fields["quotes"])

    @property
    def page_count(self) -> int:
        """How many pages there are."""
        return len(self._pages)

    def scores(self, field: str, tokens: Sequence[str]) -> "Scores":
        """BM25 of every quote (n,) or page (m,) for a question's words; 0 where none of them occurs."""
        import numpy as np

        size = len(self.rows) if field == "quotes" else self.page_count
        index = self._fields[field]
        ids = self._ids(tokens) if index is not None else []
        if index is None or not ids:
            return np.zeros(size, dtype=np.float32)
        scores: Scores = index.get_scores_from_ids(ids)
        return scores

    def cosines(self, tokens: Sequence[str]) -> "Scores":
        """TF-IDF cosine (n,) of every quote for a question's words; 0 where none of them occurs."""
        return self._tfidf.cosines(self._ids(tokens))

    def pages_labelled(self, label: str) -> Sequence[int]:
        """Positions of the pages that hold the figure or table of that label, as `labels_in` writes it."""
        return self._by_label.get(label, ())

    def pages_numbered(self, number: str) -> Sequence[int]:
        """Positions of the pages that people call by that number: the printed label, and the place in the file."""
        return self._by_number.get(number, ())

    def _ids(self, tokens: Sequence[str]) -> list[int]:
        return [self._vocabulary[token] for token in tokens if token in self._vocabulary]

    @cached_property
    def _by_label(self) -> Mapping[str, Sequence[int]]:
        return _inverted((label, i) for i, (_, labels) in enumerate(self._pages) for label in labels)

    @cached_property
    def _by_number(self) -> Mapping[str, Sequence[int]]:
        return _inverted((name, i) for i, (names, _) in enumerate(self._pages) for name in names)


def _array(folder: Path, name: str) -> Any:
    import numpy as np

    return np.load(folder / f"{name}.npy", mmap_mode="r")


def _read_bm25(folder: Path) -> Any:
    import bm25s

    return bm25s.BM25.load(str(folder), mmap=True, load_vocab=False) if folder.is_dir() else None


def _inverted(pairs: Iterator[tuple[str, int]]) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for key, position in pairs:
        found[key].append(position)
    return found


def refresh(collection: Collection, writer: Writer) -> None:
    """Bring the index up to date with the documents, unless it is. Raises StorageError when the disk refuses."""
    revision = collection.revision()
    if not _is_at(revision, collection.index_state(FINGERPRINT)):
        corpus = _Corpus()
        shards: dict[str, str] = {}
        for document, rows, quotes in collection.iter_documents_quotes():
            shards[document.name], tokens = _tokens(collection, quotes)
            corpus.add(rows, quotes, tokens)
        writer.keep_shards(FINGERPRINT, shards)
        writer.publish(NAME, FINGERPRINT, build=corpus.write, revision=revision)
        for state in collection.indexes():
            if state.name == NAME and state.fingerprint != FINGERPRINT:  # an earlier version's
                writer.drop_index(state.fingerprint)


def refresh_if_free(collection: Collection) -> None:
    """As `refresh`, but where another process is writing or the folder cannot be written, what is there must do.

    Raises CollectionLocked or StorageError only when there is no index at all.
    """
    state = collection.index_state(FINGERPRINT)
    if _is_at(collection.revision(), state):
        return
    try:
        with collection.writer() as writer:
            refresh(collection, writer)
    except (CollectionLocked, StorageError):
        if state is None:
            raise


def _is_at(revision: int, state: IndexState | None) -> bool:
    return state is not None and state.revision == revision


def current(collection: Collection, opened: LexicalIndex | None = None) -> LexicalIndex | None:
    """The index as it was last brought up to date, `opened` if it still is that; None before the first time.

    Raises CollectionError where its files are damaged.
    """
    while (state := collection.index_state(FINGERPRINT)) is not None:
        if opened is not None and opened.folder == state.folder:
            return opened
        try:
            opened = LexicalIndex(state.folder)
        except (OSError, ValueError, EOFError, KeyError) as error:
            # Unless another process has just put the next generation in its place.
            if collection.index_state(FINGERPRINT) == state:
                what = f"the index in {state.folder} is damaged ({error})"
                raise CollectionError(f"{what}; remove that folder, and the next search makes it again") from error
    return None


def _tokens(collection: Collection, quotes: Sequence[Quote]) -> tuple[str, list[list[str]]]:
    """Words of each quote, read from the document's shard where there is one; with the key of that shard."""
    import numpy as np

    key = shard_key([part or "" for q in quotes for part in (q.kind, q.words(), q.section, q.ocr_text)])
    stored = collection.shards.get(FINGERPRINT, key)
    if stored is None:
        found = [_words(quote) for quote in quotes]
        text = "\n".join(" ".join(tokens) for tokens in found)
        collection.shards.put(FINGERPRINT, key, {"words": np.frombuffer(text.encode(), dtype=np.uint8)})
    else:
        found = [line.split() for line in stored["words"].tobytes().decode().split("\n")] if quotes else []
    return key, found


def _words(quote: Quote) -> list[str]:
    """What a quote is found by: its words; for an image also its section's title, and what OCR alone reads on it."""
    found = words(quote.words())
    if quote.kind == "image":
        found += words(quote.section or "")
        known = set(found)
        found += [word for word in words(quote.ocr_text or "") if word not in known]
    return found


class _Corpus:
    """What the index is built from, gathered document by document as numbers, so that memory stays small."""

    def __init__(self) -> None:
        self.vocabulary: dict[str, int] = {}
        self.fields: dict[str, list[list[int]]] = {field: [] for field in FIELDS}
        self.rows: list[int] = []
        self.page_of: list[int] = []
        self.is_image: list[bool] = []
        self.pages: list[tuple[list[str], list[str]]] = []

    def add(self, rows: Sequence[int], quotes: Sequence[Quote], tokens: Sequence[Sequence[str]]) -> None:
        """Add one document's quotes, in the order of their rows."""
        ids = [[self.vocabulary.setdefault(token, len(self.vocabulary)) for token in found] for found in tokens]
        by_page: dict[int, list[int]] = defaultdict(list)
        for i, quote in enumerate(quotes):
            by_page[quote.page].append(i)
        position = {number: len(self.pages) + i for i, number in enumerate(sorted(by_page))}
        for i, quote in enumerate(quotes):
            if quote.retrievable:
                self.rows.append(rows[i])
                self.page_of.append(position[quote.page])
                self.is_image.append(quote.kind == "image")
                self.fields["quotes"].append(ids[i])
        for number in sorted(by_page):
            self._add_page([(quotes[i], ids[i]) for i in by_page[number]])

    def _add_page(self, quotes: Sequence[tuple[Quote, list[int]]]) -> None:
        own = _without_repeats([quote for quote, _ in quotes])
        self.fields["pages"].append([token for quote, ids in quotes if quote.id in own for token in ids])
        captions = {quote.caption for quote, _ in quotes if quote.caption}
        found = [token for caption in sorted(captions) for token in words(caption)]
        self.fields["captions"].append([self.vocabulary.setdefault(token, len(self.vocabulary)) for token in found])
        first = quotes[0][0]
        labelled = [quote.caption or quote.text for quote, _ in quotes if quote.caption or quote.layout == "caption"]
        self.pages.append(
            (
                sorted({first.page_label, str(first.page + 1)}),
                sorted({label for text in labelled for label in labels_in(text)}),
            )
        )

    def write(self, folder: Path) -> None:
        """Write the index into an empty folder."""
        import numpy as np

        np.save(folder / "rows.npy", np.array(self.rows, dtype=np.int64))
        np.save(folder / "page_of.npy", np.array(self.page_of, dtype=np.int32))
        np.save(folder / "is_image.npy", np.array(self.is_image, dtype=np.bool_))
        (folder / "vocabulary.txt").write_text("\n".join(self.vocabulary), "utf-8")
        (folder / "pages.json").write_text(json.dumps(self.pages, ensure_ascii=False), "utf-8")
        for field, ids in self.fields.items():
            _write_bm25(folder / field, ids, self.vocabulary)
        write_tfidf(folder, self.fields["quotes"], words=len(self.vocabulary))


def _write_bm25(folder: Path, ids: Sequence[list[int]], vocabulary: Mapping[str, int]) -> None:
    """An empty field, or one without any words, is left out: bm25s raises on it."""
    import bm25s

    if any(ids):
        index = bm25s.BM25()
        index.index((ids, dict(vocabulary)), show_progress=False)
        index.save(str(folder), show_progress=False)


def _without_repeats(quotes: Sequence[Quote]) -> set[str]:
    """Ids of the quotes that together say the page once: neither the whole page, nor what a picture on it says already.

    Parts of a large table, and paragraphs set on a picture, stand inside a quote that holds their words too.
    """
    pictures = [(i, q) for i, q in enumerate(quotes) if q.kind == "image" and q.layout != "page" and q.words()]
    kept = {
        quote.id
        for i, quote in enumerate(quotes)
        if quote.layout != "page" and not any(_repeats(i, quote, j, other) for j, other in pictures)
    }
    return kept or {quote.id for quote in quotes}


def _repeats(i: int, quote: Quote, j: int, picture: Quote) -> bool:
    """Of two quotes in one place, the first counts."""
    larger = area(picture.bbox) > 1.02 * area(quote.bbox)
    return i != j and inside(quote.bbox, picture.bbox) > 0.95 and (larger or j < i)
