"""Time, memory and recall of searching items of many vectors.

made     exact search over made pages, and colpali-engine's scorer (`score_multi_vector`, its batch size 128) over the
         same embeddings in the same process, both in single-precision arithmetic: ours reads half precision from files
         in the system's cache, the scorer has all in memory. Rounds of the two alternate. Also the time of kinds with
         two stages, but not their recall, which means nothing on random vectors. Needs colpali-engine (extra `visual`),
         2 GB of disk and 8 GB of memory
memory   the most memory, mapped files included, of a process that does nothing but search the made pages
real     recall@10 against exact search, time and size of every kind on real token vectors: pages of MMDocIR's
         documents, and stretches of them, with MMDocIR's questions (`token_vectors.py`)
"""

import statistics
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import made_token_vectors
from colpali_scorer import colpali_scorer
from common import Table, arguments, machine, percent, print_results, seconds
from made_token_vectors import QUESTION_VECTORS, random_pages, random_vectors, saved_index, store
from peak_memory import run_and_watch
from token_vectors import mmdocir_tokens

from quoteweave.index.base import Shard, TopItems
from quoteweave.index.kinds import MULTI_VECTOR_KINDS
from quoteweave.index.maxsim.index import MultiVectorIndex
from quoteweave.index.recall import measure_maxsim_recall

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

PARTS = ("made", "memory", "real")
K = 10
BATCH = 128
EXACT, SCORER = "exact", "colpali-engine"
# Kinds that are measured on made pages. Pooling their tokens would take minutes, and show no more than real pages do.
QUICK_TO_MAKE = ("two-stage", "binary")
Figures = dict[str, Any]


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="(all)")
    parser.add_argument("--pages", type=int, metavar="N", default=10_000, help="pages to make (%(default)s)")
    parser.add_argument("--vectors", type=int, metavar="N", default=700, help="of each made page (%(default)s)")
    parser.add_argument("--dimension", type=int, metavar="N", default=128, help="of made vectors (%(default)s)")
    parser.add_argument("--repeats", type=int, metavar="N", default=5, help="rounds, for the median (%(default)s)")
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="read scanned pages too, and keep what OCR reads here"
    )
    options = parser.parse_args()
    host, figures, tables = machine(), dict[str, object](), list[Table]()
    if {"made", "memory"} & set(options.only):
        with TemporaryDirectory(prefix="quoteweave-") as folder:
            _over_made_token_vectors(Path(folder), options, figures, tables)
    if "real" in options.only:
        items, questions = mmdocir_tokens(options.cache)
        queries = [question.astype("float32") for question in questions]
        figures["real"] = real = {name: _recall(pages, queries) for name, pages in items.items()}
        tables += [_recall_table(name, of_items) for name, of_items in real.items()]
    print_results(host, figures, tables, options)


def _over_made_token_vectors(folder: Path, options: Namespace, figures: dict[str, object], tables: list[Table]) -> None:
    shape = f"{options.pages:,} made pages × {options.vectors} × {options.dimension}"
    shards = store(folder, random_pages(options.pages, options.vectors, options.dimension))
    index, saved = saved_index(EXACT, shards, folder)
    if "memory" in options.only:
        peak = _peak_gb(saved, options.dimension)
        figures["memory"] = {"peak_gb": peak, "vectors_gb": index.items.vector_bytes(index.items.places()) / 1e9}
        rows = [
            ["searching them", f"{peak:.2f}"],
            ["their vectors on disk", f"{index.items.vector_bytes(index.items.places()) / 1e9:.2f}"],
        ]
        tables.append(Table(f"memory, {shape}", ("", "GB"), rows))
    if "made" in options.only:
        question = random_vectors(_chance(), QUESTION_VECTORS, options.dimension)
        durations, off = _beside_the_scorer(index, shards, question, options.repeats)
        for kind in QUICK_TO_MAKE:
            quick, _ = saved_index(kind, shards, folder)
            durations[kind] = _median(partial(quick.search, [question], K), options.repeats)
        figures["made"] = {"median_s": durations, "largest_difference_of_scores": off}
        rows = [
            [name, f"{median:.3f}", f"{median / durations[SCORER]:.3f}", f"{median / durations[EXACT]:.3f}"]
            for name, median in durations.items()
        ]
        title = f"one question of {QUESTION_VECTORS} vectors, {shape}; scores differ by {off:.0e} at most"
        tables.append(Table(title, ("", "s", "times the scorer", "times exact"), rows))


def _chance() -> Any:
    import numpy as np

    return np.random.default_rng(2)


def _beside_the_scorer(
    index: MultiVectorIndex, shards: Sequence[Shard], question: "Matrix", repeats: int
) -> tuple[dict[str, float], float]:
    """Median seconds of both, and the largest difference of the scores of the items that ours finds."""
    import numpy as np
    import torch

    together: Any = [torch.from_numpy(shard.vectors().astype(np.float32)) for shard in shards]
    pages = [page for some, shard in zip(together, shards, strict=True) for page in some.split(shard.lengths.tolist())]
    score, tensors = partial(colpali_scorer(), batch_size=BATCH, device="cpu"), [torch.from_numpy(question)]
    ways: Mapping[str, Callable[[], Any]] = {
        SCORER: lambda: score(tensors, pages),
        EXACT: lambda: index.search([question], K),
    }
    scores, (hits,) = (way() for way in ways.values())
    best = scores[0].topk(K)
    off = float(np.abs(best.values.numpy() - hits.scores).max())
    rounds = [{name: seconds(way) for name, way in ways.items()} for _ in range(repeats)]
    return {name: statistics.median(timings[name] for timings in rounds) for name in ways}, off


def _median(call: Callable[[], list[TopItems]], repeats: int) -> float:
    call()  # maps files and imports libraries
    return statistics.median(seconds(call) for _ in range(repeats))


def _peak_gb(saved: Path, dimension: int) -> float:
    script = [sys.executable, made_token_vectors.__file__, str(saved), "--dimension", str(dimension)]
    return run_and_watch(script).bytes / 1e9


def _recall(items: "Sequence[Any]", questions: "Sequence[Matrix]") -> Figures:
    """By kind: recall@10 against exact search, also as users are shown it, milliseconds a question, bytes an item."""
    import numpy as np

    kinds: dict[str, Figures] = {}
    with TemporaryDirectory(prefix="quoteweave-") as name:
        shards = store(Path(name), items)
        for kind in MULTI_VECTOR_KINDS:
            index, saved = saved_index(kind, shards, Path(name))
            hits = [index.search([question], K)[0] for question in questions]
            if kind == EXACT:
                right, vector_bytes = hits, index.items.vector_bytes(index.items.places()) / len(items)
            measured = None if kind == EXACT else measure_maxsim_recall(kind, index)
            durations = [_median(partial(index.search, [question], K), 3) for question in questions]
            shared = [len(np.intersect1d(hit.rows, other.rows)) / K for hit, other in zip(hits, right, strict=True)]
            kinds[kind] = {
                "recall@10": float(np.mean(shared)),
                "recall_told": None if measured is None else measured.recall,
                "median_ms": 1000 * statistics.median(durations),
                "item_bytes": sum(path.stat().st_size for path in saved.rglob("*") if path.is_file()) / len(items),
            }
    mean = float(np.mean([len(vectors) for vectors in items]))
    return {"items": len(items), "mean_vectors": mean, "vector_bytes": vector_bytes, "kinds": kinds}


def _recall_table(name: str, figures: Figures) -> Table:
    kinds: dict[str, Figures] = figures["kinds"]
    exact = kinds[EXACT]["median_ms"]
    rows = [
        [
            kind,
            percent(of_kind["recall@10"]),
            percent(of_kind["recall_told"]),
            f"{of_kind['median_ms']:.1f}",
            f"{of_kind['median_ms'] / exact:.2f}",
            f"{of_kind['item_bytes']:,.0f}",
        ]
        for kind, of_kind in kinds.items()
    ]
    title = (
        f"MMDocIR, {figures['items']:,} {name} of {figures['mean_vectors']:.0f} vectors on average, which take "
        f"{figures['vector_bytes']:,.0f} bytes each"
    )
    columns = ("", "recall@10, %", "as told on a sample, %", "ms a question", "times exact", "more bytes an item")
    return Table(title, columns, rows)


if __name__ == "__main__":
    main()
