"""What happens if files are damaged: bytes are flipped, or files cut short, in every kind of file of a collection.

A small collection is made of the sample documents, with a lexical index, FAISS, MaxSim and (with `--milvus`) embedded
Milvus, with a run's folder in it, and copied for each trial. In the copy one file is damaged by a flipped bit, some
random bytes, zeros, or by being cut short. Then everything is read that users read: documents, searches, pages, scores.
The outcome of a trial is

- `no effect`: everything that was read is as before;
- `named`: a QuoteweaveError or a note names the file, or the folder of its index, and says what to do;
- `unnamed`: a QuoteweaveError that does not;
- `silent`: something else was read, without any message;
- `raw`: an exception of another kind, or the process died.

Then `check` and `check --repair` are run, to see whether the damage is found, and what is read afterwards.
"""

import argparse
import hashlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))

from common import Table, arguments, machine, print_results
from made_run import make_run, run_acts

QUESTIONS = ("At what depth did the rod meet a layer of wood?", "How many ships came to the harbour?", "Figure 2")
HITS = 8
LANGUAGE = "ch"
OUTCOMES = ("no effect", "named", "unnamed", "silent", "raw")
Observed = dict[str, Any]


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=500, metavar="N", help="how many files to damage (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of what is damaged, and how (%(default)s)")
    parser.add_argument("--milvus", action="store_true", help="an embedded Milvus too, which takes longer")
    parser.add_argument("--without", default="", metavar="PART", help="leave out files with this in their path")
    parser.add_argument("--only", default="", metavar="PART", help="only files with this in their path")
    parser.add_argument("--repair", action="store_true", help="check and repair after each trial that was not harmless")
    parser.add_argument("--show", action="store_true", help="print each trial")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(Path(options.worker))
        return
    found = machine()
    with tempfile.TemporaryDirectory(prefix="quoteweave-flips-") as folder:
        original = Path(folder, "original")
        make_collection(original, milvus=options.milvus)
        chance = random.Random(options.seed)
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        failed = 0
        # If it is interrupted, it reports the trials so far.
        with suppress(KeyboardInterrupt), Worker(original) as worker:
            for number in range(options.trials):
                place, damage = chosen(original, chance, without=options.without, only=options.only)
                told = worker.trial(Path(folder, "trial"), place, damage, repair=options.repair)
                kind = kind_of(place)
                counts[kind][told["outcome"]] += 1
                for key in ("check", "repair"):
                    if key in told:
                        counts[kind][f"{key}: {told[key]}"] += 1
                failed += told["outcome"] in ("silent", "raw")
                if options.show or told["outcome"] in ("silent", "raw", "unnamed") or told.get("bad"):
                    print(number, place, json.dumps(told), file=sys.stderr, flush=True)
    print_results(found, {"counts": counts}, [table_of(counts)], options)
    sys.exit(1 if failed else 0)


def table_of(counts: "dict[str, Counter[str]]") -> Table:
    """Counts of outcomes by kind of file."""
    columns = sorted({name for found in counts.values() for name in found}, key=lambda name: (":" in name, name))
    rows = [[kind, *(str(counts[kind][name]) for name in columns)] for kind in sorted(counts)]
    rows.append(["all", *(str(sum(found[name] for found in counts.values())) for name in columns)])
    return Table("damaged files", ["file", *columns], rows)


def make_collection(root: Path, *, milvus: bool) -> None:
    """The sample documents, a note without pages, and an index of each kind over them."""
    from quoteweave import Collection, add
    from quoteweave.collection.stores.image_texts import DESCRIPTIONS, Description
    from quoteweave.core.files.jsonl import open_for_append
    from quoteweave.documents.ingest import AddOptions
    from quoteweave.documents.parser import ParserSettings

    samples = Path(__file__).parents[2] / "quoteweave" / "samples" / "pdf"
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder, "note.md")
        note.write_text("# A note\n\n" + "\n\n".join(f"Paragraph {n} tells of ship {n}." for n in range(300)), "utf-8")
        Path(folder, "refused.docx").write_bytes(b"PK not a document")
        with Collection.create(root) as collection:
            add(
                collection,
                [samples, note, Path(folder, "refused.docx")],
                AddOptions(settings=ParserSettings(ocr=False)),
            )
            for retriever in retrievers(collection, milvus=milvus):
                retriever.refresh()
            images = [
                quote.image for _, _, quotes in collection.iter_documents_quotes() for quote in quotes if quote.image
            ]
            for image in images:
                collection.ocr_texts.put(image, LANGUAGE, f"what OCR read on {image}")
            with open_for_append(root / DESCRIPTIONS, checksums=False) as write:
                for image in images:
                    write(Description(key=image, image=image, text=f"a picture, {image}", model="m").sealed())
    make_run(root)


def retrievers(collection: Any, *, milvus: bool) -> list[Any]:
    """A retriever for each kind of index; encoders hash words, and vectors fill more than one block of checksums."""
    from quoteweave.retrievers.spec import RetrieverSpec
    from quoteweave.retrievers.vector import VectorRetriever
    from quoteweave.testing.fakes import FakeEncoder

    one, many = FakeEncoder(name="one", dimension=256), FakeEncoder(name="many", dimension=128, multi_vector=True)
    kinds = [(one, "flat"), (one, "hnsw"), (many, "exact"), (many, "two-stage"), (many, "pool2"), (many, "binary")]
    if milvus:
        kinds.append((one, "milvus"))
    return [
        VectorRetriever(collection, encoder, spec=RetrieverSpec(name=encoder.name, kind=kind))
        for encoder, kind in kinds
    ]


def chosen(original: Path, chance: random.Random, *, without: str, only: str) -> tuple[str, dict[str, Any]]:
    """A file, each kind as likely as another, and how to damage it."""
    by_kind: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(original.rglob("*")):
        place = path.relative_to(original).as_posix()
        if path.is_file() and path.stat().st_size and only in place and not (without and without in place):
            by_kind[kind_of(place).partition(":")[0]].append(place)
    # The catalogue is damaged more often, as everything depends on it.
    often = ["catalog.sqlite"] * 3 if "catalog.sqlite" in by_kind else []
    place = chance.choice(by_kind[chance.choice([*sorted(by_kind), *often])])
    size = (original / place).stat().st_size
    at = chance.randrange(size)
    how = chance.choice(["bit", "bit", "bytes", "zeros", "cut"])
    content = {"bit": 1 << chance.randrange(8), "bytes": chance.randbytes(chance.randint(1, 16)).hex()}.get(how, 0)
    return place, {"how": how, "at": at, "content": content, "length": chance.choice([1, 64, 512, 4096])}


def kind_of(place: str) -> str:
    """The kind of file: its name, or its folder and ending."""
    parts = place.split("/")
    if parts[0] == "indexes":
        return f"indexes {parts[1].partition('.')[2] or 'lexical'}: {'/'.join(parts[3:])}"
    return parts[0] if len(parts) == 1 else f"{parts[0]}: {Path(place).suffix}"


def apply(path: Path, damage: dict[str, Any]) -> bool:
    """Damage a file; return whether that changed it."""
    data = before = path.read_bytes()
    at, how = damage["at"], damage["how"]
    if how == "bit":
        data = data[:at] + bytes([data[at] ^ damage["content"]]) + data[at + 1 :]
    elif how == "cut":
        data = data[:at]
    else:
        put = bytes.fromhex(damage["content"]) if how == "bytes" else bytes(damage["length"])
        put = put[: len(data) - at]
        data = data[:at] + put + data[at + len(put) :]
    path.write_bytes(data)
    return data != before


class Worker:
    """A process that reads collections: a crash of a library ends it, and is a result."""

    def __init__(self, original: Path) -> None:
        self._original = original
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def trial(self, copy: Path, place: str, damage: dict[str, Any], *, repair: bool) -> dict[str, Any]:
        """The outcome for one file that is damaged in one way."""
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self._original, copy)
        if not apply(copy / place, damage):
            return {"outcome": "no effect"}
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, __file__, "--worker", str(self._original)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"copy": str(copy), "place": place, "repair": repair}
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            return {"outcome": "raw", "why": f"the process died ({self._process.wait()})", "damage": damage}
        told: dict[str, Any] = json.loads(answer)
        return told if told["outcome"] == "no effect" else {**told, "damage": damage}


def work(original: Path) -> None:
    """Answer requests from stdin, one per line."""
    out, sys.stdout = sys.stdout, sys.stderr
    milvus = (original / "milvus").exists()
    baseline = observe(original, milvus=milvus)
    for line in sys.stdin:
        asked = json.loads(line)
        copy, place = Path(asked["copy"]), asked["place"]
        with_milvus = milvus and ("milvus" in place or place.startswith("catalog"))
        told = judged(observe(copy, milvus=with_milvus), baseline, copy / place)
        if asked["repair"]:
            told |= repaired(copy, place, baseline, milvus=with_milvus)
        print(json.dumps(told), file=out, flush=True)


def observe(root: Path, *, milvus: bool) -> Observed:
    """All that is read of a collection, by what was done: its result, or the error, and the notes that came with it."""
    from quoteweave import Collection
    from quoteweave.core.errors import QuoteweaveError

    found: Observed = {}
    notes: list[str] = []

    def done(name: str, act: Callable[[], Any]) -> Any:
        try:
            value = act()
        except QuoteweaveError as error:
            found[name] = ["error", str(error)]
        except Exception as error:
            found[name] = ["raw", f"{type(error).__name__}: {error}"]
        else:
            found[name] = ["ok", hashlib.sha256(repr(value).encode("utf-8", "replace")).hexdigest()]
            return value
        return None

    collection = done("open", lambda: Stable(Collection.open(root)))
    if collection is not None:
        with collection.it:
            for name, act in acts(collection.it, notes, milvus=milvus).items():
                done(name, act)
    for name, act in run_acts(root, notes).items():
        done(name, act)
    found["notes"] = [note.replace(str(root), "") for note in notes]
    found["told"] = notes
    return found


class Stable:
    """A value whose representation is always the same."""

    def __init__(self, it: Any) -> None:
        self.it = it

    def __repr__(self) -> str:
        return "it"


def acts(collection: Any, notes: list[str], *, milvus: bool) -> dict[str, Callable[[], Any]]:
    """What is done with a collection, by name."""
    from quoteweave import ExtractiveGenerator, LexicalRetriever, Query, Rag
    from quoteweave.core.records import Filter
    from quoteweave.pipeline.pictures_for_people import cited_pages, page_picture, stored_crops

    filters = [None, Filter(kind="image"), Filter(first_page=0, last_page=1), Filter(documents=("note.md",))]

    def searched(retriever: Any) -> Any:
        hits = [retriever.search([Query(text=text) for text in QUESTIONS], HITS, where=where) for where in filters]
        notes.extend(getattr(retriever, "notes", lambda: ())())
        return [ranked(found) for of_filter in hits for found in of_filter]

    def crops() -> Any:
        quotes = [q for document in collection.documents() for q in collection.document_quotes(document.name)]
        found, told = stored_crops(collection, quotes)
        notes.extend(told)
        return found

    def answered() -> Any:
        answer = Rag(LexicalRetriever(collection), ExtractiveGenerator()).answer(QUESTIONS[0])
        pages, told = cited_pages(collection, answer)
        notes.extend(told)
        return answer.text, answer.citations, pages

    def drawn() -> Any:
        names = [document.name for document in collection.documents()]
        return [(p.pixels.tobytes(), p.scale) for name in names if (p := page_picture(collection, name, 0)) is not None]

    found: dict[str, Callable[[], Any]] = {
        "documents": lambda: (collection.documents(), collection.failures(), collection.counts()),
        "quotes": lambda: [(d, q) for d, _, q in collection.iter_documents_quotes()],
        "pages": lambda: [collection.pages(document.name) for document in collection.documents()],
        "indexes": lambda: [(state.name, state.fingerprint, state.revision) for state in collection.indexes()],
        "lexical": lambda: searched(LexicalRetriever(collection)),
        "answer": answered,
        "crops": crops,
        "drawn": drawn,
        "descriptions": partial(described, collection, notes),
        "texts of OCR": partial(read_by_ocr, collection),
    }
    for retriever in retrievers(collection, milvus=milvus):
        found[retriever.encoder_index.plan.spec] = partial(searched, retriever)
    return found


def described(collection: Any, notes: list[str]) -> Any:
    """What a vision model said of pictures."""
    from quoteweave.collection.stores.image_texts import (
        DESCRIPTIONS,
        Description,
        damaged_descriptions,
        lost_note,
        read_descriptions,
        stored_descriptions,
    )

    known = []
    for found in read_descriptions(collection.root / DESCRIPTIONS):
        if isinstance(found, Description):
            known.append(found)
        elif found.cut:
            notes.append(f"{collection.root / DESCRIPTIONS}: the last one was cut short, and is asked for again")
        else:
            raise damaged_descriptions(collection.root, found)
    documents = collection.iter_documents_quotes()
    stored = [text for document, _, quotes in documents for text in stored_descriptions(document, quotes)]
    if note := lost_note(collection.root, stored, {found.text for found in known}):
        notes.append(note)
    return known


def read_by_ocr(collection: Any) -> Any:
    """Stored OCR text that is not as before; damaged text is read again, so that only time is lost."""
    images = {quote.image for _, _, quotes in collection.iter_documents_quotes() for quote in quotes if quote.image}
    texts = ((image, collection.ocr_texts.get(image, LANGUAGE)) for image in images)
    return [text for image, text in texts if text is not None and text != f"what OCR read on {image}"]


def ranked(hits: Sequence[Any]) -> Any:
    """Scores, and the hits above the last score: the order of equal hits depends on when they were read."""
    scores = [round(hit.score, 4) for hit in hits]
    return scores, sorted(
        (hit.quote.model_dump_json(), s) for hit, s in zip(hits, scores, strict=True) if s > scores[-1]
    )


def judged(found: Observed, baseline: Observed, path: Path) -> dict[str, Any]:
    """The outcome of what was read."""
    acts = [name for name in found if name not in ("notes", "told")]
    raw = [f"{name}: {found[name][1]}" for name in acts if found[name][0] == "raw"]
    if raw:
        return {"outcome": "raw", "why": raw[0]}
    said = [found[name][1] for name in acts if found[name][0] == "error"] + found["told"]
    new = [text for text in said if text.replace(str(path.parents[0]), "") not in baseline["notes"]]
    other = [name for name in acts if found[name][0] == "ok" and found[name] != baseline[name]]
    if not new and not other:
        return {"outcome": "no effect"}
    if other and not new:
        return {"outcome": "silent", "why": f"{', '.join(other)} differ"}
    # An index is rebuilt as a whole, so naming its folder is as good as naming its files.
    names = [str(path), *(str(parent) for parent in path.parents if parent.parent.parent.name == "indexes")]
    named = [text for text in new if any(name in text for name in names)]
    if "/milvus/" in str(path):
        named = [text for text in new if "milvus" in text.lower()]
    return {"outcome": "named" if named else "unnamed", "why": (named or new)[0][:300], "other": other}


def repaired(copy: Path, place: str, baseline: Observed, *, milvus: bool) -> dict[str, Any]:
    """What `check` finds, and what is read after `check --repair`."""
    from quoteweave.maintenance.check import check
    from quoteweave.maintenance.repair import check_and_repair

    try:
        found, index = check(copy).damaged, "/".join(place.split("/")[:3])
        # Reading may have rebuilt or moved some files already, such as a lexical index.
        named = [item for item in found if item.file in (place, index) or ("milvus" in place and item.part == "index")]
        mended = check_and_repair(copy).damaged
        after = check(copy).damaged
    except Exception as error:
        return {"check": "failed", "bad": f"{type(error).__name__}: {error}"}
    again = observe(copy, milvus=milvus)
    whole = all(again.get(name) == baseline[name] for name in again if name not in ("notes", "told", "indexes"))
    left = [item.model_dump() for item in mended if not item.repaired or item.advice]
    said = left or [note for note in again["notes"] if note not in baseline["notes"]]
    repair = "made again" if whole and not after else "said what is lost" if said else "silent"
    other = [name for name in again if again[name] != baseline.get(name)]
    bad = {"bad": {"differ": other, "mended": [item.model_dump() for item in mended]}} if repair == "silent" else {}
    return {"check": "named it" if named else "nothing named", "repair": repair, "left": left, **bad}


if __name__ == "__main__":
    main()
