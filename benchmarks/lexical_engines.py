"""Compares engines that a lexical index could be built with, over the words of the same quotes, for decision 0008.

The engines are bm25s (whole matrix), tantivy (segments), SQLite's FTS5, and the segments of this package. Each gets the
words as our tokenizer cuts them. Measured in one process are: building, adding one document and searching right after,
questions (ten best quotes), bytes on disk, and whether the same quotes give the same scores when they are added in
another order, with a removal in between. tantivy is optional: pip install tantivy.
"""

import sqlite3
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from common import Table, arguments, machine, print_results, seconds
from made_quotes import Writing, make_document

from quoteweave.collection.segments.builder import SegmentBuilder
from quoteweave.collection.segments.merge import merge_segments
from quoteweave.collection.segments.segment import Segment, read_segment, write_segment
from quoteweave.core.records import Quote
from quoteweave.core.text.tokens import words
from quoteweave.index.lexical import LexicalIndex

HITS = 10
Found = dict[int, float]
"""Scores of the best quotes, by their number."""


class MadeDocument(NamedTuple):
    """A document to index."""

    name: str
    rows: Sequence[int]
    quotes: Sequence[Quote]


class Engine(Protocol):
    """An index that documents can be added to."""

    def add(self, documents: Sequence[MadeDocument]) -> None:
        """Adds documents and makes them searchable."""

    def remove(self, document: MadeDocument) -> None:
        """Removes a document."""

    def search(self, tokens: Sequence[str]) -> Found:
        """The ten best quotes."""


class Segments:
    """The segments of this package: one merged file at the first build, and a second one for added documents."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self._segments: list[Segment] = []
        self._open()

    def add(self, documents: Sequence[MadeDocument]) -> None:
        """Writes a segment."""
        builder = SegmentBuilder()
        for document in documents:
            builder.add(document.name, zip(document.rows, document.quotes, strict=True))
        segment = builder.segment()
        if segment is not None:
            self._segments.append(read_segment(self._folder / write_segment(self._folder, segment)))
        self._open()

    def remove(self, document: MadeDocument) -> None:
        """Writes all segments again, without the document."""
        self._segments = [merge_segments(self._segments, {document.name})]
        self._open()

    def search(self, tokens: Sequence[str]) -> Found:
        """By BM25 over quotes."""
        return _best(self._index.scores("quotes", tokens), self._index.rows)

    def _open(self) -> None:
        self._index = LexicalIndex({str(number): segment for number, segment in enumerate(self._segments)})


class WholeMatrix:
    """bm25s: scores of all words and quotes, computed again at each change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._documents: dict[str, MadeDocument] = {}

    def add(self, documents: Sequence[MadeDocument]) -> None:
        """Builds the index anew."""
        self._documents |= {document.name: document for document in documents}
        self._build()

    def remove(self, document: MadeDocument) -> None:
        """Builds the index anew."""
        del self._documents[document.name]
        self._build()

    def search(self, tokens: Sequence[str]) -> Found:
        """By BM25 over quotes."""
        known = [self._vocabulary[token] for token in tokens if token in self._vocabulary]
        return _best(self._index.get_scores(known), self._rows) if known else {}

    def _build(self) -> None:
        import bm25s
        import numpy as np

        self._vocabulary: dict[str, int] = {}
        quotes = [
            (row, quote)
            for document in self._documents.values()
            for row, quote in zip(document.rows, document.quotes, strict=True)
        ]
        self._rows = np.array([row for row, _ in quotes])
        number = self._vocabulary.setdefault
        ids = [[number(token, len(self._vocabulary)) for token in words(quote.all_text())] for _, quote in quotes]
        self._index: Any = bm25s.BM25()
        self._index.index((ids, self._vocabulary), show_progress=False)
        self._index.save(str(self._folder), show_progress=False)


class Tantivy:
    """tantivy, given words already cut; k1 and b are its own (1.2, 0.75), and lengths are kept in one byte."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._library: Any = tantivy
        folder.mkdir()
        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("row", stored=True)
        schema.add_text_field("name", tokenizer_name="raw")
        schema.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        self._index: Any = tantivy.Index(schema.build(), path=str(folder))
        self._writer: Any = self._index.writer()

    def add(self, documents: Sequence[MadeDocument]) -> None:
        """Commits."""
        for document in documents:
            for row, quote in zip(document.rows, document.quotes, strict=True):
                text = " ".join(words(quote.all_text()))
                self._writer.add_document(self._library.Document(row=row, name=[document.name], words=[text]))
        self._commit()

    def remove(self, document: MadeDocument) -> None:
        """Marks its quotes as deleted, and commits."""
        self._writer.delete_documents("name", document.name)
        self._commit()

    def search(self, tokens: Sequence[str]) -> Found:
        """By tantivy's BM25."""
        terms = [self._library.Query.term_query(self._index.schema, "words", token, "freq") for token in tokens]
        query = self._library.Query.boolean_query([(self._library.Occur.Should, term) for term in terms])
        searcher = self._index.searcher()
        return {searcher.doc(place)["row"][0]: score for score, place in searcher.search(query, HITS).hits}

    def _commit(self) -> None:
        self._writer.commit()
        self._index.reload()


class Fts5:
    """SQLite's FTS5, given words already cut; k1 and b are its own (1.2, 0.75)."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._db = sqlite3.connect(folder / "fts.sqlite")
        options = 'tokenize="unicode61 remove_diacritics 0", detail=none'
        self._db.execute(f"CREATE VIRTUAL TABLE quotes USING fts5(words, {options})")

    def add(self, documents: Sequence[MadeDocument]) -> None:
        """Commits."""
        with self._db:
            for document in documents:
                texts = (
                    (row, " ".join(words(quote.all_text())))
                    for row, quote in zip(document.rows, document.quotes, strict=True)
                )
                self._db.executemany("INSERT INTO quotes (rowid, words) VALUES (?, ?)", texts)

    def remove(self, document: MadeDocument) -> None:
        """Commits."""
        with self._db:
            self._db.executemany("DELETE FROM quotes WHERE rowid = ?", ((row,) for row in document.rows))

    def search(self, tokens: Sequence[str]) -> Found:
        """By FTS5's BM25, which is lower for better matches."""
        query = " OR ".join(f'"{token}"' for token in tokens)
        select = "SELECT rowid, -rank FROM quotes WHERE quotes MATCH ? ORDER BY rank LIMIT ?"
        return dict(self._db.execute(select, (query, HITS)).fetchall())


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--quotes", type=int, metavar="N", default=100_000, help="quotes to make (%(default)s)")
    parser.add_argument("--documents", type=int, metavar="N", default=200, help="documents to make (%(default)s)")
    options = parser.parse_args()
    host = machine()
    *documents, more = _documents(options.documents + 1, options.quotes // options.documents)
    texts = [quote.text for document in documents[::20] for quote in document.quotes]
    questions = [words(text) for text in Writing(seed=2).questions(texts, 100)]
    engines: dict[str, Callable[[Path], Engine]] = {
        "segments": Segments,
        "bm25s": WholeMatrix,
        "tantivy": Tantivy,
        "fts5": Fts5,
    }
    rows = {}
    for name, engine in engines.items():
        try:
            rows[name] = _measured(engine, documents, more, questions)
        except ImportError as error:
            print(f"left out: {error}")
    columns = ("", "build s", "one more document s", "question ms", "MB", "order changes scores by")
    table = Table(f"{options.quotes:,} quotes", columns, [[name, *_cells(row)] for name, row in rows.items()])
    print_results(host, {"quotes": options.quotes, "engines": rows}, [table], options)


def _documents(number: int, quotes: int) -> list[MadeDocument]:
    writing, documents, row = Writing(seed=1), [], 0
    for i in range(number):
        parsed: tuple[Quote, ...] = make_document(writing, quotes).quotes
        documents.append(MadeDocument(f"made-{i:04d}.txt", range(row, row + len(parsed)), parsed))
        row += len(parsed)
    return documents


def _measured(
    engine: Callable[[Path], Engine],
    documents: Sequence[MadeDocument],
    more: MadeDocument,
    questions: Sequence[Sequence[str]],
) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="quoteweave-") as folder:
        first, other = engine(Path(folder, "one")), engine(Path(folder, "other"))
        building = seconds(lambda: first.add(documents))
        adding = seconds(lambda: first.add([more]))
        size = sum(path.stat().st_size for path in Path(folder, "one").rglob("*") if path.is_file())
        asking = statistics.median(seconds(lambda tokens=tokens: first.search(tokens)) for tokens in questions)  # type: ignore[misc]
        # The documents are added in another order, in two parts, and one more is added and removed in between.
        passing = MadeDocument("passing.txt", [row + 10_000_000 for row in more.rows], more.quotes)
        other.add([more, passing, *documents[len(documents) // 2 :]])
        other.remove(passing)
        other.add(documents[: len(documents) // 2])
        differences = [_difference(first.search(tokens), other.search(tokens)) for tokens in questions]
    return {
        "build_s": building,
        "one_more_s": adding,
        "question_ms": 1000 * asking,
        "mb": size / 1e6,
        "largest_difference": max(differences),
    }


def _difference(first: Found, other: Found) -> float:
    """The largest difference of the n-th best scores, as a share of the best score."""
    pairs = zip(sorted(first.values(), reverse=True), sorted(other.values(), reverse=True), strict=False)
    return max((abs(a - b) for a, b in pairs), default=0.0) / max(first.values(), default=1.0)


def _best(scores: Any, rows: Any) -> Found:
    import numpy as np

    best = np.argpartition(scores, -HITS)[-HITS:]
    return {int(rows[i]): float(scores[i]) for i in best if scores[i] > 0}


def _cells(row: dict[str, float]) -> list[str]:
    return [
        *(f"{row[key]:.2f}" for key in ("build_s", "one_more_s", "question_ms", "mb")),
        f"{row['largest_difference']:.1e}",
    ]


if __name__ == "__main__":
    main()
