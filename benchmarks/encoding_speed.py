"""How fast texts become vectors, beside sentence-transformers alone with the same model in the same process.

speed    texts of quotes, of very different lengths, through all-MiniLM-L6-v2 in float32 with the same batch size:
         all of them in one call of the library, through our encoder in the chunks that indexing gives it, and
         indexed: read from a collection, encoded, stored and searchable. Rounds of the three alternate
questions
         400 questions asked by 16 threads: the library's own call with the threads taking turns, and our encoder, which
         encodes together what threads ask while the model is busy
memory   the most memory that `quoteweave index` takes over two collections, one four times as large as the other
"""

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from common import Table, arguments, machine, minilm, print_results, seconds
from made_quotes import Writing, fill
from peak_memory import run_and_watch

from quoteweave.collection.collection import Collection
from quoteweave.collection.views import item_views
from quoteweave.index.embedding import TEXTS_AT_ONCE
from quoteweave.models.checkpoints import Hardware
from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.encoders import make_encoder
from quoteweave.retrievers.vector import VectorRetriever

BARE = "sentence-transformers, one call"
ENCODER = f"encoder, {TEXTS_AT_ONCE:,} at once"
INDEXING = "indexing"
TURNS = "sentence-transformers, in turn"
JOINT = "encoder, together"
QUOTES_IN_A_DOCUMENT = 50
PARTS = ["speed", "questions", "memory"]
THREADS = 16
QUESTIONS = 400


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="(all)")
    parser.add_argument("--quotes", type=int, metavar="N", default=2_000, help="quotes to encode (%(default)s)")
    parser.add_argument("--batch-size", type=int, metavar="N", default=32, help="texts in a batch (%(default)s)")
    parser.add_argument("--repeats", type=int, metavar="N", default=3, help="rounds, for the median (%(default)s)")
    parser.add_argument("--memory-quotes", type=int, metavar="N", default=5_000, help="and four times as many")
    options = parser.parse_args()
    host, tables = machine(), []
    figures: dict[str, object] = {}
    if "speed" in options.only:
        speed = _speed(options.quotes, options.batch_size, options.repeats)
        figures["speed"] = {"quotes": options.quotes, "batch_size": options.batch_size, "median_s": speed}
        rows = [
            [name, f"{options.quotes / elapsed:,.0f}", f"{elapsed / speed[BARE]:.3f}"]
            for name, elapsed in speed.items()
        ]
        tables.append(Table("encoding", ("", "texts a second", "times the library"), rows))
    if "questions" in options.only:
        question_seconds = _questions(options.repeats)
        figures["questions"] = {"threads": THREADS, "questions": QUESTIONS, "median_s": question_seconds}
        rows = [
            [name, f"{QUESTIONS / elapsed:,.0f}", f"{elapsed / question_seconds[TURNS]:.3f}"]
            for name, elapsed in question_seconds.items()
        ]
        tables.append(Table(f"{THREADS} threads", ("", "questions a second", "times the library"), rows))
    if "memory" in options.only:
        memory = {count: _peak_gb(count) for count in (options.memory_quotes, 4 * options.memory_quotes)}
        figures["memory"] = {"peak_gb": memory}
        rows = [[f"{count:,} quotes", f"{peak:.2f}"] for count, peak in memory.items()]
        tables.append(Table("quoteweave index", ("", "peak, GB"), rows))
    print_results(host, figures, tables, options)


def _speed(quotes: int, batch_size: int, repeats: int) -> Mapping[str, float]:
    """Median seconds of each way, by its name."""
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(minilm()), device="cpu")
    hardware = Hardware(device="cpu", batch_size=batch_size)
    encoder = make_encoder(catalogue()["minilm"], hardware, str(minilm()))
    with TemporaryDirectory(prefix="quoteweave-") as folder, Collection.create(Path(folder)) as collection:
        fill(collection, Writing(seed=1), quotes=quotes, documents=max(1, quotes // QUOTES_IN_A_DOCUMENT))
        texts = _texts(collection)
        chunks = [texts[start : start + TEXTS_AT_ONCE] for start in range(0, len(texts), TEXTS_AT_ONCE)]
        retriever = VectorRetriever(collection, encoder)
        ways: Mapping[str, Callable[[], object]] = {
            BARE: lambda: library.encode(texts, batch_size=batch_size),
            ENCODER: lambda: [encoder.encode_views(chunk) for chunk in chunks],
            INDEXING: retriever.refresh,
        }
        durations: dict[str, list[float]] = {name: [] for name in ways}
        # A first call loads the models.
        library.encode(texts[:batch_size])
        encoder.encode_views(texts[:batch_size])
        for _ in range(repeats):
            for name, call in ways.items():
                durations[name].append(seconds(call))
            with collection.writer() as writer:
                writer.drop_index(retriever.encoder_index.plan.fingerprint)
    return {name: statistics.median(times) for name, times in durations.items()}


def _questions(repeats: int) -> Mapping[str, float]:
    """Median seconds of each way of answering what threads ask, by its name."""
    from sentence_transformers import SentenceTransformer

    library, turns = SentenceTransformer(str(minilm()), device="cpu"), Lock()
    encoder = make_encoder(catalogue()["minilm"], Hardware(device="cpu"), str(minilm()))
    texts = [
        f"What did company {at} earn in {1990 + at % 30}, and what did it say of the year?" for at in range(QUESTIONS)
    ]

    def encode_in_turn(text: str) -> None:
        with turns:
            library.encode([text])

    ways: Mapping[str, Callable[[str], object]] = {
        TURNS: encode_in_turn,
        JOINT: lambda text: encoder.encode_queries([text]),
    }
    durations: dict[str, list[float]] = {name: [] for name in ways}
    for call in ways.values():
        call(texts[0])  # loads the model
    for _ in range(repeats):
        for name, call in ways.items():
            durations[name].append(seconds(partial(_ask_at_once, call, texts)))
    return {name: statistics.median(times) for name, times in durations.items()}


def _ask_at_once(call: Callable[[str], object], texts: Sequence[str]) -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        for _ in threads.map(call, texts):
            pass


def _texts(collection: Collection) -> list[str]:
    """The texts that indexing gives the encoder, document by document."""
    documents = (collection.document_quotes(document.name) for document in collection.documents())
    return [str(view.load()) for quotes in documents for view in item_views(quotes, "text", "quote", None)]


def _peak_gb(quotes: int) -> float:
    with TemporaryDirectory(prefix="quoteweave-") as folder:
        with Collection.create(Path(folder)) as collection:
            fill(collection, Writing(seed=1), quotes=quotes, documents=quotes // QUOTES_IN_A_DOCUMENT)
        command = ["index", "build", f"minilm={minilm()}", "-c", folder, "--device", "cpu"]
        return run_and_watch([sys.executable, "-m", "quoteweave", *command]).bytes / 1e9


if __name__ == "__main__":
    main()
