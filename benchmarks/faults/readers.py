"""What readers see that list and search a collection while `add` adds, changes and removes documents.

A process adds a folder of text files, changes some, adds it again, and so on, from an empty folder on. Meanwhile other
processes open the collection again and again, list it, and search for a word of some documents that are listed.
Counted are reads, errors, documents that were listed and not found (stale), and documents found in part (half).
"""

import multiprocessing
import random
import sys
from collections import Counter
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Table, arguments, machine, print_results

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import CollectionNotFound
from quoteweave.core.records import Query
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.retrievers.lexical import LexicalRetriever

PARAGRAPHS = 3


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--readers", type=int, metavar="N", default=10, help="processes that read (%(default)s)")
    parser.add_argument("--files", type=int, metavar="N", default=300, help="files in the folder (%(default)s)")
    parser.add_argument("--rounds", type=int, metavar="N", default=4, help="times that it is added (%(default)s)")
    options = parser.parse_args()
    found, context = machine(), multiprocessing.get_context("spawn")
    with TemporaryDirectory(prefix="quoteweave-") as folder:
        root, stop, results = Path(folder, "c"), context.Event(), context.Queue()
        readers = [context.Process(target=_read, args=(root, stop, results)) for _ in range(options.readers)]
        for reader in readers:
            reader.start()
        try:
            _write(root, Path(folder, "files"), options.files, options.rounds)
        finally:
            stop.set()
        counts: Counter[str] = Counter()
        errors: list[str] = []
        for _ in readers:
            counted, said = results.get(timeout=120)
            counts += counted
            errors += said
        for reader in readers:
            reader.join()
    rows = [[what, str(counts[what])] for what in ("reads", "documents searched for", "errors", "stale", "half")]
    figures = {"readers": options.readers, "counts": dict(counts), "errors": errors[:20]}
    print_results(found, figures, [Table(f"{options.readers} readers beside a writer", ("", "count"), rows)], options)
    print(*errors[:5], sep="\n", file=sys.stderr)


def _write(root: Path, files: Path, count: int, rounds: int) -> None:
    chance = random.Random(1)
    files.mkdir()
    options = AddOptions(settings=ParserSettings(ocr=False), processes=1)
    for version in range(rounds):
        for number in range(count):
            path = files / f"doc{number:04}.txt"
            if version and number % 7 == version % 7:
                path.unlink(missing_ok=True)
            elif not path.exists() or chance.random() < 0.3:
                path.write_text(
                    "\n\n".join(f"word{number:04} part{part} version{version}." for part in range(PARAGRAPHS))
                )
        with Collection.open_or_create(root) as collection:
            add(collection, [files], options)


def _read(root: Path, stop: Event, results: "multiprocessing.Queue[tuple[Counter[str], list[str]]]") -> None:
    counts: Counter[str] = Counter()
    errors: list[str] = []
    while not stop.is_set():
        try:
            counts += _look(root)
        except CollectionNotFound:
            counts["before there was a collection"] += 1
        except Exception as error:
            counts["errors"] += 1
            errors.append(f"{type(error).__name__}: {error}")
    results.put((counts, errors))


def _look(root: Path) -> Counter[str]:
    counts: Counter[str] = Counter(reads=1)
    with Collection.open(root) as collection:
        retriever = LexicalRetriever(collection)
        for document in random.sample(found := collection.documents(), min(20, len(found))):
            before = {one.id for one in collection.documents()}
            (hits,) = retriever.search([Query(text=document.name.replace("doc", "word").removesuffix(".txt"))], 10)
            after = {one.id for one in collection.documents()}
            if document.id not in before & after:
                continue  # changed or removed meanwhile
            counts["documents searched for"] += 1
            own = [hit for hit in hits if hit.quote.document == document.name]
            counts["stale"] += not own
            counts["half"] += bool(own) and len(own) != PARAGRAPHS
    return counts


if __name__ == "__main__":
    main()
