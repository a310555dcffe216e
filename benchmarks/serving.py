"""How fast `quoteweave serve` answers over loopback, compared with a bare FastAPI route that returns the same bytes.

The collection is made (`made_quotes.py`) unless `--collection` holds one. The server is a process of its own with one
worker (`--workers` of them for searches and answers), and so is each bare one; the load comes from this process.
Measured are: searches and answers a second with 16 connections, and the time of a request; the time that HTTP adds to a
call within a process, one request at a time; the time until the first event of a stream, without the search; memory
with many open streams of a slow model; searches while documents are added (the samples, which OCR reads in part); and a
soak test with all kinds of requests. `--only` chooses among them, `--seconds` and `--soak` say how long they take.
"""

import asyncio
import json
import shutil
import socket
import statistics
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import psutil
from common import REPOSITORY, Table, arguments, machine, print_results, working_folder
from http_load import Connection, Load, send_load
from made_quotes import Writing, fill
from model_process import serving as slow_model

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Query
from quoteweave.pipeline.composition.make_rag import make_rag
from quoteweave.pipeline.composition.make_search import make_search
from quoteweave.pipeline.settings import AnswerSettings, RetrievalSettings
from quoteweave.testing.model_server import Reply

CONNECTIONS = 16
SAMPLES = REPOSITORY / "quoteweave" / "samples" / "pdf"
PARTS = ("search", "answers", "overhead", "stream", "open", "adding", "soak")
Requests = Sequence[tuple[str, Mapping[str, object]]]
Row = list[str]
BARE = """
import json, sys, uvicorn
from fastapi import FastAPI, Response
app, body = FastAPI(), open(sys.argv[2], "rb").read()

@app.post("/bare")
async def bare(given: dict) -> Response:
    return Response(body, media_type="application/json")

uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
"""


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--collection", type=Path, metavar="DIR", help="make the collection here, or use the one here")
    parser.add_argument("--quotes", type=int, metavar="N", default=10_000, help="quotes to make (%(default)s)")
    parser.add_argument("--seconds", type=float, metavar="S", default=10.0, help="of each load (%(default)s)")
    parser.add_argument("--streams", type=int, metavar="N", default=500, help="streams to open (%(default)s)")
    parser.add_argument("--soak", type=float, metavar="S", default=60.0, help="seconds of the soak (%(default)s)")
    parser.add_argument("--workers", type=int, metavar="N", default=1, help="processes that answer (%(default)s)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=f"of {PARTS}")
    options = parser.parse_args()
    host = machine()
    with working_folder(options.collection) as folder:
        with Collection.open_or_create(folder) as collection:
            if not collection.counts().documents:
                fill(collection, Writing(seed=1), quotes=options.quotes, documents=50)
            names = [document.name for document in collection.documents()]
            texts = [quote.text for name in names[:20] for quote in collection.document_quotes(name)]
            quotes = collection.counts().quotes
        questions = Writing(seed=2).questions(texts, 200)
        rows, figures = measure(folder, questions, options)
    tables = [Table(f"serving {quotes:,} quotes", ("", "figure", "bare route"), rows)]
    print_results(host, {"quotes": quotes, **figures}, tables, options)


def measure(folder: Path, questions: Sequence[str], options: Namespace) -> tuple[list[Row], dict[str, object]]:
    """Measure the chosen parts; return rows for people and figures."""
    rows: list[Row] = []
    figures: dict[str, object] = {}
    searches: Requests = [("/v1/collections/made/search", {"question": text, "k": 10}) for text in questions]
    answers: Requests = [("/v1/collections/made/answers", {"question": text}) for text in questions]
    loads = {"search": searches, "answers": answers}
    with served(folder, f"workers = {options.workers}") as server:
        for load_name in (part for part in loads if part in options.only):
            asyncio.run(send_load(server.port, loads[load_name], connections=2, seconds=2))
            before = server.processor_seconds
            load = asyncio.run(
                send_load(server.port, loads[load_name], connections=CONNECTIONS, seconds=options.seconds)
            )
            milliseconds = 1000 * (server.processor_seconds - before) / max(1, len(load.seconds))
            beside = _bare(server.port, loads[load_name][0], options.seconds)
            rows += [
                *_load_rows(load_name, load, beside),
                [f"{load_name}, ms of processor time", f"{milliseconds:.1f}", "-"],
            ]
            figures[load_name] = {**_figures(load), "processor_ms": milliseconds, "bare": _figures(beside)}
        if "overhead" in options.only:
            more, figures["overhead_ms"] = _overhead(folder, server.port, questions)
            rows += more
        if "stream" in options.only:
            more, figures["first_event_ms"] = _first_event(server.port, questions)
            rows += more
    if "open" in options.only:
        more, figures["open_streams"] = _open_streams(folder, questions[0], options.streams)
        rows += more
    if "adding" in options.only:
        more, figures["adding"] = _adding(folder, searches, options.seconds)
        rows += more
    if "soak" in options.only:
        more, figures["soak"] = _soak(folder, [*searches[:50], *answers[:50]], options.soak)
        rows += more
    return rows, figures


class ServerProcess:
    """A running server."""

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.process, self.port = process, port

    @property
    def megabytes(self) -> float:
        """Memory that its processes have in use."""
        return float(sum(process.memory_info().rss for process in self._processes())) / 2**20

    @property
    def processor_seconds(self) -> float:
        """Processor time that its processes have taken."""
        times = [process.cpu_times() for process in self._processes()]
        return float(sum(cpu.user + cpu.system for cpu in times))

    @property
    def files(self) -> int:
        """Files and connections that its processes have open."""
        return int(sum(process.num_fds() for process in self._processes()))

    def _processes(self) -> list[psutil.Process]:
        first = psutil.Process(self.process.pid)
        return [first, *first.children(recursive=True)]


@contextmanager
def served(folder: Path, *config: str) -> Iterator[ServerProcess]:
    """Serve the collection under the name `made` while the block lasts; `config` is lines of a TOML file."""
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "serve.toml"
        file.write_text("\n".join(('log_level = "warning"', "concurrency = 2000", *config)), "utf-8")
        port = _free_port()
        command = (
            *(sys.executable, "-m", "quoteweave", "serve", "-c", f"made={folder}"),
            *("--config", str(file), "--state", f"{temporary}/state", "--port", str(port)),
        )
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            _wait(port, process)
            yield ServerProcess(process, port)
        finally:
            process.terminate()  # a process that a shell put in the background may ignore Ctrl-C until it serves
            process.wait(60)


@contextmanager
def bare(body: bytes) -> Iterator[int]:
    """A FastAPI application with one route that returns these bytes, in a process of its own."""
    with TemporaryDirectory() as folder:
        script, content = Path(folder) / "bare.py", Path(folder) / "body"
        script.write_text(BARE, "utf-8")
        content.write_bytes(body)
        port = _free_port()
        process = subprocess.Popen((sys.executable, str(script), str(port), str(content)))
        try:
            _wait(port, process)
            yield port
        finally:
            process.terminate()
            process.wait(60)


def _bare(port: int, request: tuple[str, Mapping[str, object]], seconds: float) -> Load:
    """The load figures of a bare route that returns the answer to this request."""
    _, _, body = asyncio.run(_once(port, request))
    with bare(body) as other:
        return asyncio.run(send_load(other, [("/bare", request[1])], connections=CONNECTIONS, seconds=seconds / 2))


async def _once(port: int, request: tuple[str, Mapping[str, object]]) -> tuple[int, float, bytes]:
    connection = Connection(port)
    try:
        return await connection.post(*request)
    finally:
        connection.close()


def _load_rows(label: str, load: Load, beside: Load) -> list[Row]:
    return [
        [f"{label} a second, {CONNECTIONS} connections", f"{load.per_second:.0f}", f"{beside.per_second:.0f}"],
        [f"{label}, median ms", f"{load.quantile(0.5):.1f}", f"{beside.quantile(0.5):.1f}"],
        [f"{label}, 99 % within ms", f"{load.quantile(0.99):.1f}", f"{beside.quantile(0.99):.1f}"],
        [f"{label}, errors", str(sum(load.errors.values())), str(sum(beside.errors.values()))],
    ]


def _figures(load: Load) -> dict[str, object]:
    return {
        "per_second": load.per_second,
        "median_ms": load.quantile(0.5),
        "p99_ms": load.quantile(0.99),
        "errors": load.errors,
    }


def _overhead(folder: Path, port: int, questions: Sequence[str]) -> tuple[list[Row], dict[str, float]]:
    """The time of a request beyond that of the call within a process; both alternate, one at a time."""
    medians: dict[str, float] = {}

    async def compare() -> None:
        connection = Connection(port)
        with Collection.open(folder) as collection:
            search, rag = make_search(collection, RetrievalSettings()), make_rag(collection, AnswerSettings())
            durations: dict[str, list[float]] = {name: [] for name in ("search", "answer")}
            for text in questions:
                over_http = await _took(connection.post("/v1/collections/made/search", {"question": text}))
                durations["search"].append(over_http - await _took(search.find(Query(text=text), 10)))
                over_http = await _took(connection.post("/v1/collections/made/answers", {"question": text}))
                durations["answer"].append(over_http - await _took(rag.answer_with_context_async(text)))
        connection.close()
        medians.update({name: 1000 * statistics.median(values[10:]) for name, values in durations.items()})

    asyncio.run(compare())
    rows = [[f"HTTP adds to a {name}, median ms", f"{value:.1f}", "-"] for name, value in medians.items()]
    return rows, medians


async def _took(work: object) -> float:
    started = time.perf_counter()
    await work  # type: ignore[misc]
    return time.perf_counter() - started


def _first_event(port: int, questions: Sequence[str]) -> tuple[list[Row], dict[str, float]]:
    """The time until the first event of a stream, without that of the search, which the trace gives."""
    beyond: list[float] = []

    async def watch() -> None:
        for text in questions[:100]:
            connection, started = Connection(port), time.perf_counter()
            body = {"question": text, "stream": True}
            _, first, content = await connection.post("/v1/collections/made/answers", body)
            connection.close()
            sources = json.loads(content.partition(b"data: ")[2].partition(b"\r\n")[0])
            beyond.append(1000 * (first - started - sum(sources["trace"]["seconds"].values())))

    asyncio.run(watch())
    figures = {"median": statistics.median(beyond), "p95": sorted(beyond)[int(0.95 * len(beyond))]}
    rows = [[f"first event beyond the search, {name} ms", f"{value:.1f}", "-"] for name, value in figures.items()]
    return rows, figures


def _open_streams(folder: Path, question: str, streams: int) -> tuple[list[Row], dict[str, float]]:
    """Memory with that many open streams, whose model sends a word now and then."""
    reply = Reply(text="One word after another is said [1]. " * 100, sizes=(6,), delays_s=(0.5,) * 600)
    with slow_model(reply) as model:
        config = (
            "answer_seconds = 600",
            "[answers]",
            'model = "m"',
            f'base_url = "{model.base_url}"',
            "check_topic = false",
        )
        with served(folder, *config) as server:
            memory: list[float] = []

            async def hold() -> int:
                opened = 0

                async def one() -> None:
                    nonlocal opened
                    counted = False

                    def on_chunk(chunk: bytes) -> bool:
                        nonlocal opened, counted
                        if not counted and b"event: text" in chunk:
                            opened, counted = opened + 1, True
                        return done.is_set()

                    connection = Connection(server.port)
                    await connection.post(
                        "/v1/collections/made/answers", {"question": question, "stream": True}, on_chunk
                    )

                done = asyncio.Event()
                tasks = [asyncio.create_task(one()) for _ in range(streams)]
                for _ in range(480):  # two minutes at most, until all are open
                    await asyncio.sleep(0.25)
                    if opened == streams:
                        break
                for _ in range(3):
                    memory.append(server.megabytes)
                    await asyncio.sleep(10)
                done.set()
                await asyncio.gather(*tasks, return_exceptions=True)
                return opened

            before = server.megabytes
            opened = asyncio.run(hold())
    figures = {"before_mb": before, "open_mb": memory[0], "after_20_s_mb": memory[-1], "streams": float(opened)}
    shown = ", ".join(f"{value:.0f}" for value in (before, memory[0], memory[-1]))
    rows = [[f"{opened} streams open: MB before, once all are open, 20 s later", shown, "-"]]
    return rows, figures


def _adding(folder: Path, searches: Requests, seconds: float) -> tuple[list[Row], dict[str, object]]:
    """Searches with 4 connections before and while documents are added, over a copy of the collection."""
    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / "made"
        shutil.copytree(folder, copy)
        with served(copy) as server:
            asyncio.run(send_load(server.port, searches, connections=4, seconds=2))
            before = asyncio.run(send_load(server.port, searches, connections=4, seconds=seconds))
            files = [
                ("files", (f"{copies}-{path.name}", path.read_bytes()))
                for copies in range(4)
                for path in sorted(SAMPLES.glob("*.pdf"))
            ]
            address = f"http://127.0.0.1:{server.port}/v1/collections/made/documents"
            job = httpx2.post(address, files=files, timeout=60).json()["job"]
            while httpx2.get(f"http://127.0.0.1:{server.port}/v1/jobs/{job['id']}").json()["status"] == "queued":
                time.sleep(0.05)
            during = asyncio.run(send_load(server.port, searches, connections=4, seconds=seconds))
            state = httpx2.get(f"http://127.0.0.1:{server.port}/v1/jobs/{job['id']}").json()["status"]
            httpx2.delete(f"http://127.0.0.1:{server.port}/v1/jobs/{job['id']}")
    figures: dict[str, object] = {"before": _figures(before), "during": _figures(during), "job_then": state}
    rows = [
        [
            "searches a second before, and while documents are added",
            f"{before.per_second:.0f}, {during.per_second:.0f}",
            "-",
        ],
        ["their median ms", f"{before.quantile(0.5):.1f}, {during.quantile(0.5):.1f}", "-"],
    ]
    return rows, figures


def _soak(folder: Path, requests: Requests, seconds: float) -> tuple[list[Row], dict[str, object]]:
    """A soak test with every kind of request: errors, memory and open files."""
    streamed = [(path, {**body, "stream": True}) for path, body in requests if path.endswith("answers")]
    with served(folder) as server:
        asyncio.run(send_load(server.port, requests, connections=8, seconds=5))
        before, files = server.megabytes, server.files
        load = asyncio.run(send_load(server.port, [*requests, *streamed], connections=8, seconds=seconds))
        after, files_after = server.megabytes, server.files
    figures: dict[str, object] = {
        "requests": len(load.seconds), "errors": load.errors, "mb": [before, after], "files": [files, files_after],
    }  # fmt: skip
    rows = [
        [f"soak of {seconds:g} s: requests, errors", f"{len(load.seconds)}, {sum(load.errors.values())}", "-"],
        ["soak: MB before and after", f"{before:.0f}, {after:.0f}", "-"],
        ["soak: open files before and after", f"{files}, {files_after}", "-"],
    ]
    return rows, figures


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int, process: "subprocess.Popen[str] | subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise SystemExit("the server did not start")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("the server did not start in half a minute")


if __name__ == "__main__":
    main()
