"""How fast a sentence's source is found among 200,000 titles and abstracts, compared with bm25s in the same process.

The papers are made (`made_quotes.py`): titles of ten words, abstracts of 150. They are imported as `quoteweave import
papers` does, unless `--collection` holds them already. A sentence is 25 words of an abstract. Measured: the ten best
documents by each retriever; whole attributions (`quoteweave attribute`), which also check the best passages and mark
their words; and plain BM25 over title and abstract as one text, as bm25s scores it and gives its ten best, over words
that are tokenised as ours are.
"""

import json
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from common import Table, arguments, machine, print_results, seconds, working_folder
from made_quotes import Writing

from quoteweave.attribution.attribute import Attributor
from quoteweave.collection.collection import Collection
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.protocols import Retriever
from quoteweave.core.records import Query
from quoteweave.core.text.tokens import words
from quoteweave.documents.importers.import_file import import_file
from quoteweave.pipeline.search import Search
from quoteweave.retrievers.make_retriever import make_retriever

RETRIEVERS = ("bm25", "lexical")
TOPICS = 300
HITS = 10
UNCOUNTED = 5


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--collection", type=Path, metavar="DIR", help="import the papers here, or use those here")
    parser.add_argument("--papers", type=int, metavar="N", default=200_000, help="papers to make (%(default)s)")
    parser.add_argument("--sentences", type=int, metavar="N", default=100, help="sentences to ask (%(default)s)")
    options = parser.parse_args()
    if options.sentences <= UNCOUNTED:
        parser.error(f"--sentences must be more than {UNCOUNTED}: the times of the first {UNCOUNTED} do not count")
    host = machine()
    with working_folder(options.collection) as folder, Collection.open_or_create(folder) as collection:
        importing = None
        if not collection.counts().documents:
            table = folder.with_name(f"{folder.name}-papers.jsonl")
            table.write_text("\n".join(_papers(options.papers)), "utf-8")
            importing = seconds(partial(import_file, collection, table, "papers"))
            table.unlink()
        size = collection.counts().documents
        chosen = random.Random(1).choices([document.name for document in collection.documents()], k=options.sentences)
        sentences = [" ".join(collection.document_quotes(name)[1].text.split()[20:45]) + "." for name in chosen]
        durations = {"bm25s alone": _timed(_bm25s_alone(collection), sentences)}
        firsts = {}
        for name in RETRIEVERS:
            retriever = make_retriever(name, collection)
            durations[name] = _timed(partial(_ranked, retriever), sentences)
            durations[f"attribute -r {name}"] = _timed(
                partial(_attributed, collection, make_retriever(name, collection)), sentences
            )
            best = [_ranked(retriever, sentence)[0].quote.document for sentence in sentences]
            firsts[name] = statistics.mean(name == right for name, right in zip(best, chosen, strict=True))
    alone = statistics.median(durations["bm25s alone"])
    rows = [
        [name, f"{statistics.median(times):.1f}", f"{_p95(times):.1f}", f"{statistics.median(times) / alone:.1f}"]
        for name, times in durations.items()
    ]
    figures = {
        "papers": size,
        "import_s": importing,
        "paper_first": firsts,
        "sentences": {
            name: {"median_ms": statistics.median(times), "p95_ms": _p95(times)} for name, times in durations.items()
        },
    }
    table_of = Table(f"milliseconds a sentence, {size:,} papers", ("", "median", "p95", "times bm25s alone"), rows)
    if importing is not None:
        print(f"imported in {importing:.0f} s")
    print_results(host, figures, [table_of], options)


def _papers(number: int) -> Iterator[str]:
    """Lines of a table of made papers."""
    writing = Writing(seed=1)
    topics = [writing.topic() for _ in range(TOPICS)]
    for at in range(number):
        topic = topics[at % TOPICS]
        paper = {"id": f"W{at}", "title": writing.text(10, topic), "abstract": writing.text(150, topic), "year": 2020}
        yield json.dumps(paper)


def _ranked(retriever: Retriever, sentence: str) -> Any:
    return retriever.search([Query(text=sentence)], HITS)[0]


def _attributed(collection: Collection, retriever: Retriever, sentence: str) -> object:
    return run_sync(Attributor(collection, Search(retriever)).attribute(sentence))


def _bm25s_alone(collection: Collection) -> Callable[[str], object]:
    """The ten best papers by bm25s, over the words of each paper's quotes."""
    import bm25s
    from bm25s.selection import topk

    vocabulary: dict[str, int] = {}
    papers = [
        [vocabulary.setdefault(word, len(vocabulary)) for quote in quotes for word in words(quote.all_text())]
        for _, _, quotes in collection.iter_documents_quotes()
    ]
    index: Any = bm25s.BM25()
    index.index((papers, vocabulary), show_progress=False)

    def best(sentence: str) -> object:
        return topk(index.get_scores([vocabulary[word] for word in words(sentence) if word in vocabulary]), k=HITS)

    return best


def _timed(search: Callable[[str], object], sentences: Sequence[str]) -> list[float]:
    """Milliseconds of each sentence, asked once, because its evidence is cached; the first few are not counted."""
    durations = [1000 * seconds(partial(search, sentence)) for sentence in sentences]
    return durations[UNCOUNTED:]


def _p95(durations: Sequence[float]) -> float:
    return statistics.quantiles(durations, n=20)[-1]


if __name__ == "__main__":
    main()
