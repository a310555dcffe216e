"""How fast 100,000 quotes are searched, compared with bm25s alone over the same words in the same process.

The collection is made (`made_quotes.py`) unless `--collection` holds one already. Measured are: opening it and
answering a first question, with libraries imported before, and in a process of its own; milliseconds a question with
ten hits loaded, over the collection and within one document, also for a question that quotes symbols alone; storing one
more document, which can be searched at once, and removing it; rebuilding the whole index, compared with bm25s with its
tokenizer and an English stemmer; and the disk space of the parts of the folder.
"""

import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from common import Table, arguments, machine, print_results, seconds, working_folder
from made_quotes import Writing, fill, make_document, prepare

from quoteweave.collection.collection import Collection
from quoteweave.core.protocols import Retriever
from quoteweave.core.records import Filter, Query
from quoteweave.core.text.tokens import words
from quoteweave.retrievers.make_retriever import SPARSE_RETRIEVERS, make_retriever

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
    host = machine()
    with working_folder(options.collection) as folder:
        with Collection.open_or_create(folder) as collection:
            if not collection.counts().documents:
                fill(collection, Writing(seed=1), quotes=options.quotes, documents=options.documents)
            names = [document.name for document in collection.documents()]
            some = names[:: max(1, len(names) // 20)]
            texts = [quote.text for name in some for quote in collection.document_quotes(name)]
            size, questions = collection.counts().quotes, Writing(seed=2).questions(texts, options.questions)
        room = _room(folder)  # measured before documents come and go, which leaves free pages in the catalogue
        opening = {name: _opening(folder, name, questions[0]) for name in SPARSE_RETRIEVERS}
        over, within = _asking(folder, questions, some[0])
        marks = _marks(folder, some[0])
        changing = _changing(folder, size // len(names))
        processes = statistics.median(_first_in_a_process(folder, questions[0]) for _ in range(OPENINGS))
        building = _building(folder)
    alone = statistics.median(over["bm25s alone"])
    timings = [("all", name, elapsed) for name, elapsed in over.items()]
    timings += [("one document", name, elapsed) for name, elapsed in within.items()]
    summaries = [(scope, name, _summary(elapsed, alone)) for scope, name, elapsed in timings]
    figures = {
        "quotes": size,
        "open_and_first_question_s": opening,
        "questions": [{"searched": scope, "retriever": name, **summary} for scope, name, summary in summaries],
        "question_of_marks_alone_s": marks,
        "first_question_of_a_process_s": processes,
        "change_s": changing,
        "build_s": building,
        "bytes": room,
    }
    rows = [[name, scope, *(f"{value:.2f}" for value in summary.values())] for scope, name, summary in summaries]
    waits = [[f"open and first question, {name}", f"{elapsed:.3f}"] for name, elapsed in opening.items()]
    waits.append(["first question of a process, after its imports and opening", f"{processes:.3f}"])
    waits += [[f"a quotation of marks alone, {scope}", f"{elapsed:.3f}"] for scope, elapsed in marks.items()]
    waits += [[name, f"{elapsed:.2f}"] for name, elapsed in {**changing, **building}.items()]
    sizes = [[name, f"{size / 1e6:.1f}", f"{size / room['text of quotes']:.2f}"] for name, size in room.items()]
    title = f"milliseconds a question, {size:,} quotes"
    tables = [
        Table(title, ("", "searched", "median", "p95", "times bm25s alone"), rows),
        Table("seconds", ("", "median"), waits),
        Table("room", ("", "MB", "times the text"), sizes),
    ]
    print_results(host, figures, tables, options)


def _summary(durations: Sequence[float], alone: float) -> dict[str, float]:
    median = statistics.median(durations)
    return {"median_ms": median, "p95_ms": statistics.quantiles(durations, n=20)[-1], "times_bm25s": median / alone}


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
        for name in SPARSE_RETRIEVERS:
            retriever = make_retriever(name, collection)
            over[name] = _timed(partial(_hits, retriever, None), questions)
            within[name] = _timed(partial(_hits, retriever, where), questions)
    return over, within


def _marks(folder: Path, document: str) -> dict[str, float]:
    """Median seconds of a question that quotes symbols alone, by scope."""
    durations = {}
    with Collection.open(folder) as collection:
        retriever = make_retriever("lexical", collection)
        for scope, where in (("all", None), ("one document", Filter(documents=(document,)))):
            # Each question is new, because the evidence for a question is cached.
            marks_only = [f'Where does it say "--", for the {number}th time?' for number in range(OPENINGS)]
            durations[scope] = statistics.median(seconds(partial(_hits, retriever, where, text)) for text in marks_only)
    return durations


def _hits(retriever: Retriever, where: Filter | None, question: str) -> object:
    return retriever.search([Query(text=question)], HITS, where=where)


def _bm25s_alone(folder: Path) -> tuple[Callable[[str], Any], Callable[[str], object]]:
    """Functions of bm25s over the words of the lexical index: the scores of all quotes, and the best, not loaded."""
    import bm25s
    from bm25s.selection import topk

    vocabulary: dict[str, int] = {}
    with Collection.open(folder) as collection:
        quotes = (quote for _, _, of in collection.iter_documents_quotes() for quote in of if quote.retrievable)
        counted = [
            [vocabulary.setdefault(word, len(vocabulary)) for word in words(quote.all_text())] for quote in quotes
        ]
    index: Any = bm25s.BM25()
    index.index((counted, vocabulary), show_progress=False)

    def scores(question: str) -> Any:
        return index.get_scores([vocabulary[word] for word in words(question) if word in vocabulary])

    return scores, lambda question: topk(scores(question), k=HITS)


def _timed(search: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    """Milliseconds of each question: the median of several rounds, after one that is not counted."""
    rounds = [[1000 * seconds(partial(search, text)) for text in questions] for _ in range(1 + ROUNDS)]
    return [statistics.median(elapsed) for elapsed in zip(*rounds[1:], strict=True)]


def _changing(folder: Path, quotes: int) -> dict[str, float]:
    """Median and most seconds to store one more document, and seconds to remove it, several times."""
    parsed, added, removed = make_document(Writing(seed=3), quotes), [], []
    with Collection.open(folder) as collection, collection.writer() as writer:
        names = [f"made-anew-{number}.txt" for number in range(OPENINGS)]
        for name in names:
            prepared = prepare(writer, name, parsed)
            added.append(seconds(partial(writer.store, [prepared])))
        for name in names:
            removed.append(seconds(partial(writer.remove, name)))
    return {
        "one more document stored": statistics.median(added),
        "the slowest of these": max(added),
        "one document removed": statistics.median(removed),
        "the slowest removal": max(removed),
    }


_FIRST = """
import sys, time
from pathlib import Path
import numpy
from quoteweave import Collection, LexicalRetriever
from quoteweave.core.records import Query
collection = Collection.open(Path(sys.argv[1]))
start = time.perf_counter()
assert LexicalRetriever(collection).search([Query(text=sys.argv[2])], 10)[0]
print(time.perf_counter() - start)
"""


def _first_in_a_process(folder: Path, question: str) -> float:
    """Seconds that the first question of a process takes, once numpy is imported and the collection opened."""
    command = [sys.executable, "-c", _FIRST, str(folder), question]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _building(folder: Path) -> dict[str, float]:
    """Seconds to build the whole lexical index, and bm25s's of the same texts with its tokenizer and a stemmer."""
    import bm25s
    import Stemmer

    with Collection.open(folder) as collection:
        texts = [quote.all_text() for _, _, of in collection.iter_documents_quotes() for quote in of]
        with collection.writer() as writer:
            ours = seconds(writer.rebuild_lexical)

    def alone() -> None:
        tokens = bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
        bm25s.BM25().index(tokens, show_progress=False)

    return {"whole index made anew": ours, "bm25s with a stemmer over the same texts": seconds(alone)}


def _room(folder: Path) -> dict[str, int]:
    """Bytes of the quotes' text, and of the parts of the folder."""
    with Collection.open(folder) as collection:
        text = sum(len(quote.all_text().encode()) for _, _, of in collection.iter_documents_quotes() for quote in of)
    files = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    lexical = sum(size for path, size in files.items() if (folder / "lexical") in path.parents)
    catalogue = sum(size for path, size in files.items() if path.name.startswith("catalog.sqlite"))
    return {
        "text of quotes": text,
        "lexical index": lexical,
        "catalogue": catalogue,
        "whole folder": sum(files.values()),
    }


if __name__ == "__main__":
    main()
