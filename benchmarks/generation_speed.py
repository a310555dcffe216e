"""Time and memory of answering apart from the model's, over 100,000 quotes, with a scripted server as the model.

The collection is made (`made_crops.py`) unless `--collection` holds one already. The server (`model_process.py`) is a
process of its own on loopback, and records when it has received each request in full.

overhead  milliseconds from a question to its whole answer, one after the other in one event loop: search (`lexical`,
          ten text and five image quotes), call, resolving marks, and the gate. The server answers at once, so all of
          this is overhead, the server's own work included. The times before and after the server had the request are
          given separately. With pictures, once with none of them encoded before and once with all
first     milliseconds from when the first words of a streamed answer were due at the server, which writes them then or
          a little later, to their event
flight    with answers that take 2 s and 64 allowed at once: how many are under way, on average from the first request
          to the end of the last answer; each counts for 2 s from when the server had its request
memory    resident memory of a run, after a fifth of its questions and at its end; its answers are short
"""

import asyncio
import statistics
from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from common import Table, arguments, machine, print_results, working_folder
from generation_runs import flight, memory
from made_crops import fill_with_crops
from made_quotes import Writing
from model_process import ModelProcess, serving

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import TextEvent
from quoteweave.pipeline.composition.make_rag import make_generator
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.settings import ChatSettings
from quoteweave.retrievers.make_retriever import make_retriever
from quoteweave.testing.model_server import Reply

WAITING = 20  # questions that are asked first and not counted
GOAL_OVERHEAD_MS, GOAL_FIRST_MS = 30, 5
CHUNK = 12  # characters in a chunk of a streamed answer
FIRST_AFTER_S, NEXT_AFTER_S = 0.2, 0.002
ANSWER = """\
The harbour company moved 1,204 containers in March 2019, which is 12.4% more than the year before [1]. Most of the
rise came from the two new berths on the eastern pier, opened on 3 February 2019 [2, 3]. The chart shows the months.

![containers moved each month from 2017 to 2019](image1)

Not every quay gained: the northern one lost 85 containers, "chiefly for want of depth" as the report puts it [4]. Its
dredging is to cost 3.1 million euros [5] and to be done by 2021 [6].

- The eastern pier took 640 containers, or 53% of all [7].
- The northern quay took 210 [8, 9], and the old basin the rest ![share of each quay](image2).
"""
Figures = dict[str, Any]
Questions = Callable[[int], list[str]]
"""Makes questions: as many as the option says, or else the given number."""


def main() -> None:
    """Run from the command line."""
    parts = {"overhead": _overhead, "first": _first, "flight": flight, "memory": memory}
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="(all)")
    parser.add_argument("--collection", type=Path, metavar="DIR", help="make the collection here, or use the one here")
    parser.add_argument("--quotes", type=int, metavar="N", default=100_000, help="quotes to make (%(default)s)")
    parser.add_argument("--documents", type=int, metavar="N", default=200, help="documents to make (%(default)s)")
    parser.add_argument(
        "--questions", type=int, metavar="N", help="to ask (overhead 200, first 100, flight 640, memory 10,000)"
    )
    options = parser.parse_args()
    host, figures, tables = machine(), dict[str, object](), list[Table]()
    with working_folder(options.collection) as folder, Collection.open_or_create(folder) as collection:
        if not collection.counts().documents:
            fill_with_crops(collection, Writing(seed=1), quotes=options.quotes, documents=options.documents)
        figures["quotes"] = collection.counts().quotes
        for name in options.only:
            figures[name], table = parts[name](collection, partial(_questions, collection, options))
            tables.append(table)
    print_results(host, figures, tables, options)


def _questions(collection: Collection, options: Namespace, usual: int) -> list[str]:
    """Questions about quotes of some documents: as many as the option says, or else `usual`."""
    names = [document.name for document in collection.documents()]
    texts = [quote.text for name in names[:: max(1, len(names) // 20)] for quote in collection.document_quotes(name)]
    return Writing(seed=2).questions(texts, options.questions or usual)


def _overhead(collection: Collection, questions: Questions) -> tuple[Figures, Table]:
    texts, retriever = questions(200), make_retriever("lexical", collection)

    def rag(*, pictures: bool = False) -> Rag:
        settings = ChatSettings(model="scripted", base_url=server.base_url, images=pictures)
        return Rag(retriever, make_generator(settings, collection))

    with serving(Reply(text=ANSWER)) as server:
        words, kept = rag(), rag(pictures=True)
        some = texts[:WAITING]
        durations = {
            "words": _spread(server, words.answer_async, some, texts),
            "words, streamed": _spread(server, partial(_to_the_end, words), some, texts),
            "pictures, encoded now": _spread(server, lambda text: rag(pictures=True).answer_async(text), some, texts),
            "pictures, encoded before": _spread(server, kept.answer_async, texts, texts),
        }
    goal, size = f"≤ {GOAL_OVERHEAD_MS}", f"{collection.counts().quotes:,} quotes, {len(texts)} questions"
    keys = ("median_ms", "p95_ms", "median_before_ms", "median_after_ms")
    rows = [[name, *(f"{took[key]:.1f}" for key in keys), goal] for name, took in durations.items()]
    columns = ("", "median", "p95", "median before the server has it", "after", "goal")
    return dict(durations), Table(f"milliseconds from question to last byte, {size}", columns, rows)


def _first(collection: Collection, questions: Questions) -> tuple[Figures, Table]:
    texts = questions(100)
    chunks = -(-len(ANSWER) // CHUNK)
    delays = (0.0, FIRST_AFTER_S, *[NEXT_AFTER_S] * (chunks - 1))
    with serving(Reply(text=ANSWER, sizes=(CHUNK,), delays_s=delays)) as server:
        settings = ChatSettings(model="scripted", base_url=server.base_url, images=False)
        rag = Rag(make_retriever("lexical", collection), make_generator(settings, collection))
        first_words = asyncio.run(_first_told(rag, [*texts[:WAITING], *texts]))
        due = [arrival + FIRST_AFTER_S for arrival in server.arrivals()]
    milliseconds = [1000 * (at - when) for at, when in zip(first_words, due, strict=True)][WAITING:]
    figures = {"median_ms": statistics.median(milliseconds), "p95_ms": _p95(milliseconds)}
    row = ["first words", *(f"{value:.2f}" for value in figures.values()), f"≤ {GOAL_FIRST_MS}"]
    title = f"milliseconds to the first words, {len(texts)} questions"
    return figures, Table(title, ("", "median", "p95", "goal"), [row])


def _spread(
    server: ModelProcess, ask: Callable[[str], Awaitable[object]], before: Sequence[str], texts: Sequence[str]
) -> dict[str, float]:
    """Times of questions: in total, until the server has them, and after that; those `before` are not counted."""

    async def all_of_them() -> list[tuple[float, float]]:
        for question in before:
            await ask(question)
        server.arrivals()
        return [await _timed(ask, question) for question in texts]

    spans = asyncio.run(all_of_them())
    arrivals = server.arrivals()
    totals = [1000 * (end - start) for start, end in spans]
    until = [1000 * (arrival - start) for (start, _), arrival in zip(spans, arrivals, strict=True)]
    return {
        "median_ms": statistics.median(totals),
        "p95_ms": _p95(totals),
        "median_before_ms": statistics.median(until),
        "median_after_ms": statistics.median(all - part for all, part in zip(totals, until, strict=True)),
    }


async def _timed(ask: Callable[[str], Awaitable[object]], question: str) -> tuple[float, float]:
    start = perf_counter()
    await ask(question)
    return start, perf_counter()


async def _to_the_end(rag: Rag, question: str) -> None:
    async with aclosing(rag.stream(question)) as events:
        async for _ in events:
            pass


async def _first_told(rag: Rag, questions: Sequence[str]) -> list[float]:
    """When the event with the first words of each answer came; each answer is read to its end."""
    first_words = []
    for question in questions:
        async with aclosing(rag.stream(question)) as events:
            first_words.append([perf_counter() async for event in events if isinstance(event, TextEvent)][0])  # noqa: RUF015
    return first_words


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    main()
