"""Measures `quoteweave run` with many questions: how many are under way at once, and the memory of a long run."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common import Table
from model_process import serving

from quoteweave.collection.collection import Collection
from quoteweave.core.examples import Example, Prediction, Reference
from quoteweave.core.records import Query
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.pipeline.composition.make_rag import make_generator
from quoteweave.pipeline.runs.answerer import Answerer, answer_all
from quoteweave.pipeline.search import Search
from quoteweave.pipeline.settings import ChatSettings
from quoteweave.retrievers.make_retriever import make_retriever
from quoteweave.testing.model_server import Reply

AT_ONCE, ANSWER_S = 64, 2.0
GOAL_IN_FLIGHT = 58
USUAL_AT_ONCE = 8  # the default of `quoteweave run`
SHORT = "The harbour company moved 1,204 containers in 2019 [1]."
PARTS = 5  # parts of a run, after each of which its memory is measured
STATM = Path("/proc/self/statm")
Figures = dict[str, Any]


def flight(collection: Collection, questions: Callable[[int], list[str]]) -> tuple[Figures, Table]:
    """How many answers are under way."""
    texts = questions(640)
    with serving(Reply(text=SHORT, delay_s=ANSWER_S)) as server:
        _run(collection, texts, server.base_url, AT_ONCE, lambda: None)
        starts = sorted(server.arrivals())
    first, last = starts[0], starts[-1]
    until_last_asked = sum(min(start + ANSWER_S, last) - start for start in starts)
    figures: Figures = {
        "mean": len(starts) * ANSWER_S / (last + ANSWER_S - first),
        "mean_until_last_asked": until_last_asked / (last - first),
        "seconds": last + ANSWER_S - first,
    }
    rows = [
        ["from first request to end of last answer", f"{figures['mean']:.1f}", f"≥ {GOAL_IN_FLIGHT}"],
        ["until the last request", f"{figures['mean_until_last_asked']:.1f}", ""],
    ]
    title = f"mean number of answers under way, {AT_ONCE} at once, {len(texts)} questions in {figures['seconds']:.0f} s"
    return figures, Table(title, ("", "mean", "goal"), rows)


def memory(collection: Collection, questions: Callable[[int], list[str]]) -> tuple[Figures, Table]:
    """How much memory a run takes over time. Reads /proc, so it works on Linux alone."""
    if not STATM.is_file():
        raise SystemExit("Memory is read from /proc, which this system has not; run this part on Linux.")
    texts = questions(10_000)
    part, resident = len(texts) // PARTS, list[int]()
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if not done % part:
            resident.append(_resident())

    with serving(Reply(text=SHORT)) as server:
        _run(collection, texts, server.base_url, USUAL_AT_ONCE, count)
    grown = (resident[-1] - resident[0]) / (part * (len(resident) - 1))
    figures: Figures = {"resident_bytes": resident, "questions_each": part, "grown_bytes_a_question": grown}
    rows = [[f"after {part * number:,}", f"{size / 1e6:.0f} MB"] for number, size in enumerate(resident, 1)]
    rows.append([f"more for each question after the first {part:,}", f"{grown / 1000:.2f} kB"])
    return figures, Table(f"resident memory of a run of {len(texts):,} questions", ("", ""), rows)


def _run(collection: Collection, texts: Sequence[str], base_url: str, at_once: int, count: Callable[[], None]) -> None:
    """Answer questions over the collection, and store the answers in a temporary folder."""
    examples = [Example(id=str(n), query=Query(text=text), reference=Reference()) for n, text in enumerate(texts)]
    search = Search(make_retriever("lexical", collection))
    settings = ChatSettings(model="scripted", base_url=base_url, images=False)
    answerer = Answerer(make_generator(settings, collection), search=search, scope="collection")
    with (
        TemporaryDirectory(prefix="quoteweave-") as folder,
        open_run(Path(folder) / "run", RunRecord(configuration={"dataset": "made"})) as writer,
    ):

        def write(prediction: Prediction) -> None:
            if prediction.error is not None:
                raise SystemExit(f"question {prediction.example} failed: {prediction.error}")
            writer.append(prediction)
            count()

        asyncio.run(answer_all(examples, answerer, write, concurrency=at_once))


def _resident() -> int:
    import resource

    return int(STATM.read_text("ascii").split()[1]) * resource.getpagesize()
