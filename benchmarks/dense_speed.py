"""Speed and recall of searching 100,000 quotes of one vector each, compared with FAISS alone in the same process.

The collection is made (`made_quotes.py`) unless `--collection` holds one already; vectors are looked up
(`word_vectors.py`), so that times are those of searching.

speed    milliseconds for one question, and for 64 at once, with ten hits each: FAISS's flat index alone, in memory,
         with FAISS's default threshold and with the one that our index sets; our index, memory-mapped; our retriever,
         with and without loading the quotes; ours within one document too. Rounds of all alternate, and ours are
         compared with the faster of the two FAISS. Also the time to open the index
kinds    for each kind of index: the time to build it, its size, its recall@10 against exact search, and its time
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from common import Table, arguments, machine, percent, print_results, seconds, working_folder
from made_quotes import Writing, fill
from word_vectors import WordVectors

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Filter, Query
from quoteweave.index.base import SearchScope
from quoteweave.index.faiss.index import FaissIndex
from quoteweave.index.kinds import FAISS_KINDS
from quoteweave.retrievers.vector import VectorRetriever

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

PARTS = ("speed", "kinds")
HITS = 10
TOGETHER = 64
ALONE = 16  # how many of these questions are also asked one by one
AS_IMPORTED, AS_SET = "FAISS alone, as imported", "FAISS alone, as our index sets it"
Search = Callable[[slice], object]
Figures = dict[str, Any]


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="(all)")
    parser.add_argument("--collection", type=Path, metavar="DIR", help="make the collection here, or use the one here")
    parser.add_argument("--quotes", type=int, metavar="N", default=100_000, help="quotes to make (%(default)s)")
    parser.add_argument("--documents", type=int, metavar="N", default=200, help="documents to make (%(default)s)")
    parser.add_argument("--dimension", type=int, metavar="N", default=384, help="of the vectors (%(default)s)")
    parser.add_argument("--repeats", type=int, metavar="N", default=9, help="rounds, for the median (%(default)s)")
    options = parser.parse_args()
    host, figures, tables = machine(), dict[str, object](), list[Table]()
    threshold = _threshold()
    with working_folder(options.collection) as folder, Collection.open_or_create(folder) as collection:
        if not collection.counts().documents:
            fill(collection, Writing(seed=1), quotes=options.quotes, documents=options.documents)
        names = [document.name for document in collection.documents()]
        texts = [quote.text for name in names[::10] for quote in collection.document_quotes(name)]
        questions = Writing(seed=2).questions(texts, TOGETHER)
        encoder = WordVectors(options.dimension, questions)
        retriever = VectorRetriever(collection, encoder)
        retriever.refresh(replace=True)
        opened = retriever.encoder_index.current()
        shape = f"{opened.manifest.count:,} × {opened.manifest.dimension}"
        if "speed" in options.only:
            searches = _alone(opened.folder, encoder.encode_queries(questions), threshold)
            searches |= _ours(retriever, questions, None) | _ours(retriever, questions, Filter(documents=(names[0],)))
            figures["speed"] = speed = _in_turns(searches, options.repeats)
            figures["opening_s"] = opening = _opening(opened.folder, options.dimension, options.repeats)
            tables.append(_speed_table(f"milliseconds, {shape}", speed))
            tables.append(
                Table("seconds", ("", "median"), [[name, f"{elapsed:.4f}"] for name, elapsed in opening.items()])
            )
        if "kinds" in options.only:
            figures["kinds"] = kinds = _kinds(opened.folder, encoder.encode_queries(questions), options.repeats)
            tables.append(_kinds_table(f"kinds of index, {shape}", kinds))
    print_results(host, figures, tables, options)


def _threshold() -> int:
    """The threshold from which FAISS multiplies matrices, as it is before our index sets it for the whole process."""
    import faiss

    return int(faiss.cvar.distance_compute_blas_threshold)


def _alone(folder: Path, vectors: "Sequence[Matrix]", threshold: int) -> dict[str, Search]:
    import faiss
    import numpy as np

    index, matrix = faiss.read_index(str(folder / "vectors.faiss")), np.concatenate(vectors)

    def search(at: int, span: slice) -> None:
        faiss.cvar.distance_compute_blas_threshold = at
        index.search(matrix[span], HITS)
        faiss.cvar.distance_compute_blas_threshold = ours

    ours = _threshold()
    return {AS_IMPORTED: partial(search, threshold), AS_SET: partial(search, ours)}


def _ours(retriever: VectorRetriever, questions: Sequence[str], where: Filter | None) -> dict[str, Search]:
    opened, queries = retriever.encoder_index.current(), [Query(text=text) for text in questions]
    vectors = retriever.encoder.encode_queries(questions)
    scope = None if where is None else SearchScope(retriever.collection, where)
    named = "" if where is None else ", within one document"
    return {
        f"index{named}": lambda span: opened.search(vectors[span], HITS, scope),
        f"retriever, rows{named}": lambda span: retriever.search_rows(queries[span], HITS, where=where),
        f"retriever, quotes{named}": lambda span: retriever.search(queries[span], HITS, where=where),
    }


def _in_turns(searches: Mapping[str, Search], repeats: int) -> dict[str, Figures]:
    """Median milliseconds of each, without the first round, and as a multiple of the faster FAISS's."""
    rounds = [{name: _timed(search) for name, search in searches.items()} for _ in range(1 + repeats)][1:]
    median = {
        name: [1000 * statistics.median(times) for times in zip(*(timings[name] for timings in rounds), strict=True)]
        for name in searches
    }
    fastest = [min(times) for times in zip(median[AS_IMPORTED], median[AS_SET], strict=True)]
    return {
        name: {
            "one_ms": alone,
            "one_times_faiss": alone / fastest[0],
            f"{TOGETHER}_ms": together,
            f"{TOGETHER}_times_faiss": together / fastest[1],
        }
        for name, (alone, together) in median.items()
    }


def _timed(search: Search) -> tuple[float, float]:
    """Seconds for one question, the mean of several, and for all at once."""
    alone = statistics.fmean(seconds(partial(search, slice(i, i + 1))) for i in range(0, TOGETHER, TOGETHER // ALONE))
    return alone, seconds(partial(search, slice(TOGETHER)))


def _opening(folder: Path, dimension: int, repeats: int) -> dict[str, float]:
    """Median seconds to open the index, whose file is in the system's cache."""
    import numpy as np

    question = np.ones((1, dimension), np.float32)
    calls: dict[str, Callable[[], object]] = {
        "open the index": lambda: FaissIndex("flat", dimension, folder),
        "open it and ask a first question": lambda: FaissIndex("flat", dimension, folder).search([question], HITS),
    }
    return {name: statistics.median(seconds(call) for _ in range(repeats)) for name, call in calls.items()}


def _kinds(folder: Path, queries: "Sequence[Matrix]", repeats: int) -> dict[str, Figures]:
    """The figures of each kind, built from the vectors of the flat index in that folder."""
    import faiss

    flat = faiss.read_index(str(folder / "vectors.faiss"))
    vectors, kinds = flat.reconstruct_n(0, flat.ntotal), dict[str, Figures]()
    right = [hits.rows for hits in _build("flat", vectors).search(queries, HITS)]
    for kind in FAISS_KINDS:
        with TemporaryDirectory(prefix="quoteweave-") as name:
            saved = Path(name)
            built = seconds(partial(_save, kind, vectors, saved))
            size = sum(path.stat().st_size for path in saved.iterdir())
            index = FaissIndex(kind, flat.d, saved)
            hits = index.search(queries, HITS)
            rounds = [_timed(partial(_searched, index, queries)) for _ in range(repeats)]
        shared = [len(set(hit.rows) & set(rows)) / len(rows) for hit, rows in zip(hits, right, strict=True)]
        one_ms, together_ms = (1000 * statistics.median(times) for times in zip(*rounds, strict=True))
        kinds[kind] = {
            "build_s": built,
            "mb": size / 1e6,
            f"recall@{HITS}": statistics.fmean(shared),
            "one_ms": one_ms,
            f"{TOGETHER}_ms": together_ms,
        }
    return kinds


def _searched(index: FaissIndex, queries: "Sequence[Matrix]", span: slice) -> object:
    return index.search(queries[span], HITS)


def _save(kind: str, vectors: "Matrix", folder: Path) -> None:
    _build(kind, vectors).save(folder)


def _build(kind: str, vectors: "Matrix") -> FaissIndex:
    import numpy as np

    index = FaissIndex(kind, vectors.shape[1])
    index.add_vectors(np.arange(len(vectors)), vectors)
    return index


def _speed_table(title: str, speed: Mapping[str, Figures]) -> Table:
    columns = ("", "one question", "times FAISS", f"{TOGETHER} questions", "times FAISS")
    return Table(title, columns, [[name, *(f"{value:.2f}" for value in of.values())] for name, of in speed.items()])


def _kinds_table(title: str, kinds: Mapping[str, Figures]) -> Table:
    rows = [
        [
            kind,
            f"{of['build_s']:.1f}",
            f"{of['mb']:.1f}",
            percent(of[f"recall@{HITS}"]),
            f"{of['one_ms']:.2f}",
            f"{of[f'{TOGETHER}_ms']:.1f}",
        ]
        for kind, of in kinds.items()
    ]
    columns = ("", "build, s", "MB", f"recall@{HITS}, %", "ms, one question", f"ms, {TOGETHER} questions")
    return Table(title, columns, rows)


if __name__ == "__main__":
    main()
