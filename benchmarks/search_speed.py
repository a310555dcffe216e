"""How fast 100,000 quotes are searched, beside bm25s alone on the same index in the same process.

The collection is made (`made_quotes.py`) unless `--collection` holds one already. Measured: opening it and answering a
first question, libraries imported before; milliseconds a question with ten hits loaded, over the collection and within
one document; bringing the index up to date after one document was added.
"""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from common import Table, arguments, finish, machine, seconds, working_folder
from made_quotes import Writing, fill, make_document, put

from quoteweave.core.protocols import Retriever
from quoteweave.core.records import Filter, Query
from quoteweave.core.tokens import words
from quoteweave.index import lexical
from quoteweave.index.collection import Collection
from quoteweave.retrievers.registry import SPARSE, make_retriever

HITS = 10
OPENINGS = 7
ROUNDS = 3
Milliseconds = dict[str, list[float]]


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--collection", type=Path, metavar="DIR", help="make the collection here, or use the one here")
    parser.add_argument("--quotes", type=int, metavar="N", default=100_000, help="quotes to make (%(default)s)")
    parser.add_argument("--documents", type=int, metavar="N", default=200, help="documents to make (%(default)s)")
    parser.add_argument("--questions", type=int, metavar="N", default=200, help="questions to ask (%(default)s)")
    options = parser.parse_args()
    found = machine()
    with working_folder(options.collection) as folder:
        with Collection.open_or_create(folder) as collection:
            if not collection.counts().documents:
                fill(collection, Writing(seed=1), quotes=options.quotes, documents=options.documents)
            names = [document.name for document in collection.documents()]
            some = names[:: max(1, len(names) // 20)]
            texts = [quote.text for name in some for quote in collection.document_quotes(name)]
            size, questions = collection.counts().quotes, Writing(seed=2).questions(texts, options.questions)
        opening = {name: _opening(folder, name, questions[0]) for name in SPARSE}
        over, within = _asking(folder, questions, some[0])
        refreshing = _refreshing(folder, size // len(names))
    alone = statistics.median(over["bm25s alone"])
    timings = [("all", name, taken) for name, taken in over.items()]
    timings += [("one document", name, taken) for name, taken in within.items()]
    summaries = [(scope, name, _summary(taken, alone)) for scope, name, taken in timings]
    figures = {
        "quotes": size,
        "open_and_first_question_s": opening,
        "questions": [{"searched": scope, "retriever": name, **summary} for scope, name, summary in summaries],
        "add_one_document_s": refreshing,
    }
    rows = [[name, scope, *(f"{value:.2f}" for value in summary.values())] for scope, name, summary in summaries]
    waits = [[f"open and first question, {name}", f"{taken:.3f}"] for name, taken in opening.items()]
    waits.append(["index brought up to date with one more document", f"{refreshing:.1f}"])
    title = f"milliseconds a question, {size:,} quotes"
    tables = [
        Table(title, ("", "searched", "median", "p95", "times bm25s alone"), rows),
        Table("seconds", ("", "median"), waits),
    ]
    finish(found, figures, tables, as_json=options.json)


def _summary(taken: Sequence[float], alone: float) -> dict[str, float]:
    median = statistics.median(taken)
    return {"median_ms": median, "p95_ms": statistics.quantiles(taken, n=20)[-1], "times_bm25s": median / alone}


def _opening(folder: Path, name: str, question: str) -> float:
    """Median seconds from nothing open to the first hits."""

    def once() -> None:
        with Collection.open(folder) as collection:
            make_retriever(name, collection).search([Query(text=question)], HITS)

    once()  # imports numpy and bm25s
    return statistics.median(seconds(once) for _ in range(OPENINGS))


def _asking(folder: Path, questions: Sequence[str], document: str) -> tuple[Milliseconds, Milliseconds]:
    """Milliseconds a question by name, over the collection and within one document; everything is loaded before."""
    where = Filter(documents=(document,))
    scores, best = _bm25s_alone(folder)
    over: Milliseconds = {"bm25s alone, scores": _timed(scores, questions), "bm25s alone": _timed(best, questions)}
    within: Milliseconds = {}
    with Collection.open(folder) as collection:
        for name in SPARSE:
            retriever = make_retriever(name, collection)
            over[name] = _timed(partial(_hits, retriever, None), questions)
            within[name] = _timed(partial(_hits, retriever, where), questions)
    return over, within


def _hits(retriever: Retriever, where: Filter | None, question: str) -> object:
    return retriever.search([Query(text=question)], HITS, where=where)


def _bm25s_alone(folder: Path) -> tuple[Callable[[str], Any], Callable[[str], object]]:
    """With bm25s and the words of the lexical index: the scores of all quotes, and the best of them; none is loaded."""
    import bm25s
    from bm25s.selection import topk

    with Collection.open(folder) as collection:
        state = collection.index_state(lexical.FINGERPRINT)
    if state is None:
        raise SystemExit("the collection has no lexical index")
    index: Any = bm25s.BM25.load(str(state.folder / "quotes"), mmap=True, load_vocab=False)
    listed = (state.folder / "vocabulary.txt").read_text("utf-8").split("\n")
    vocabulary = {word: number for number, word in enumerate(listed)}

    def scores(question: str) -> Any:
        return index.get_scores([vocabulary[word] for word in words(question) if word in vocabulary])

    return scores, lambda question: topk(scores(question), k=HITS)


def _timed(search: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    """Milliseconds of each question: the median of several rounds, after one that is not counted."""
    rounds = [[1000 * seconds(partial(search, text)) for text in questions] for _ in range(1 + ROUNDS)]
    return [statistics.median(taken) for taken in zip(*rounds[1:], strict=True)]


def _refreshing(folder: Path, quotes: int) -> float:
    """Seconds to bring the index up to date after one more document; the document is removed again."""
    name = "made-anew.txt"
    with Collection.open(folder) as collection, collection.writer() as writer:
        put(writer, name, make_document(Writing(seed=3), quotes))
        taken = seconds(lambda: lexical.refresh(collection, writer))
        writer.remove(name)
        lexical.refresh(collection, writer)
    return taken


if __name__ == "__main__":
    main()
