"""Whether two versions of the program behave the same, compared through the command line of two checkouts.

    python benchmarks/same_behaviour.py /path/of/the/version/before --data DATA --collection FOLDER

Each version, in processes of its own, adds the sample documents, three PDFs of the data, a Markdown and an HTML file,
whose stored pages and quotes are compared record by record. It searches with `lexical`, `bm25` and `tfidf`, answers ten
questions, as JSON and as a page, runs a dataset with a configuration, and prints `eval reproduce` and, with
`--collection`, all figures of `eval retrieval` on all of MMDocIR's documents. Times, paths and the versions' names are
not compared. Keys that only the later version has are counted as additions and not as differences.
"""

import argparse
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from common import REPOSITORY

PDFS = 3
QUESTIONS = (
    "What does the gas at constant volume turn into?",
    "How many people were asked in the survey?",
    "What is the chart on page 2 about?",
    "Which company made the report?",
    "When was the station opened?",
    "How do I turn the device on?",
    "What share of adults use the internet?",
    "What is the difference between revenue and net income?",
    "Who wrote this document?",
    "How many goals did Pelé score?",
)
RETRIEVERS = ("lexical", "bm25", "tfidf")
CONFIG = 'quotes = "retrieved"\n'
VOLATILE = re.compile(r"seconds|^date$|^time$|duration|_s$|^version$|created|root$|^path$|image$|run$|file$|usage")


@dataclass(frozen=True, slots=True)
class Version:
    """A checkout of the program, and the folder that it works in."""

    checkout: Path
    work: Path

    def run(self, *arguments: object) -> str:
        """What a command prints on stdout; exit codes other than 0 and 1 are failures."""
        command = [sys.executable, "-m", "quoteweave", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(self.checkout), "COLUMNS": "120"}
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.work, env=environment, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{self.checkout}: {' '.join(command[2:])}: {done.stderr}")
        return done.stdout.replace(str(self.work), "WORK").replace(str(self.checkout), "CHECKOUT")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="checkout of the version to compare with")
    parser.add_argument("--data", type=Path, required=True, help="folder with mmdocir/, mmdocrag/ and mcitebench/")
    parser.add_argument("--collection", type=Path, help="MMDocIR's documents, added; it is read, not changed")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        versions = [
            Version(options.before.resolve(), Path(folder, "before")),
            Version(REPOSITORY, Path(folder, "after")),
        ]
        with ThreadPoolExecutor(2) as threads:
            before, after = threads.map(lambda version: dict(outputs(version, options)), versions)
    different = 0
    for name, value in before.items():
        differences, added = compare(value, after[name])
        different += bool(differences)
        print(f"{'same' if not differences else 'DIFFERENT'}  {name}" + (f" ({added} keys more)" if added else ""))
        for line in differences[:20]:
            print(f"    {line}")
    raise SystemExit(1 if different else 0)


def outputs(version: Version, options: argparse.Namespace) -> Iterator[tuple[str, object]]:
    """Each result of a version by its name."""
    version.work.mkdir()
    (version.work / "note.md").write_text(
        "# Harbour\n\nThe harbour opened in 1921.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    (version.work / "page.html").write_text("<h1>Cranes</h1><p>Nine cranes stand there.</p><ul><li>One</li></ul>")
    pdfs = sorted((options.data / "mmdocir" / "pdf").glob("*.pdf"), key=lambda path: path.stat().st_size)[:PDFS]
    samples = version.checkout / "quoteweave" / "samples" / "pdf"
    version.run("add", samples, *pdfs, "note.md", "page.html", "-c", "collection")
    yield "stored pages and quotes", stored(version.work / "collection" / "catalog.sqlite")
    for retriever in RETRIEVERS:
        outputs_json = [
            version.run("search", question, "-c", "collection", "-r", retriever, "--json") for question in QUESTIONS
        ]
        yield f"search by {retriever}", [json.loads(output) for output in outputs_json]
    answers = []
    for number, question in enumerate(QUESTIONS):
        page = version.work / f"{number}.html"
        answers.append(json.loads(version.run("ask", question, "-c", "collection", "--json", "--html", page)))
        shown = page.read_text("utf-8").replace(str(version.work), "WORK")
        yield f"page of answer {number + 1}", re.sub(r"<li>(?:under )?[0-9.]+ s</li>", "<li>TIME</li>", shown)
    yield "answers", answers
    yield from runs(version, options)
    yield "eval reproduce", version.run("eval", "reproduce", "--data", options.data, "--json")
    if options.collection:
        references = options.data / "mmdocir"
        takes = version.run("eval", "retrieval", "--help")
        named = ("--references" if "--references" in takes else "--path", references)
        command = ("eval", "retrieval", "--dataset", "mmdocir", *named, "-c", options.collection)
        yield "eval retrieval", json.loads(version.run(*command, "--json"))


def runs(version: Version, options: argparse.Namespace) -> Iterator[tuple[str, object]]:
    """A run without a model over the collection, and the scores of answers that were published for MMDocRAG."""
    lines_asked = [json.dumps({"id": str(number), "question": question}) for number, question in enumerate(QUESTIONS)]
    (version.work / "questions.jsonl").write_text("\n".join(lines_asked) + "\n")
    (version.work / "run.toml").write_text(CONFIG)
    named = ("questions",) if "{dataset}" in version.run("run", "--help") else ("--dataset", "questions")
    version.run(
        *("run", *named, "--references", "questions.jsonl", "--config", "run.toml", "-c", "collection", "--out", "run")
    )
    lines = (version.work / "run" / "predictions.jsonl").read_text("utf-8").splitlines()
    yield (
        "predictions of a run",
        sorted((json.loads(line) for line in lines), key=lambda prediction: str(prediction["example"])),
    )
    published = options.data / "mmdocrag"
    for name, path in {
        "gold.jsonl": published / "gold_quotes20.jsonl.gz",
        "answers.jsonl": min((published / "responses").glob("*.gz")),
    }.items():
        (version.work / name).write_bytes(gzip.decompress(path.read_bytes()))
    options_used = ("--dataset", "mmdocrag-20", "--references", "gold.jsonl", "--partial", "--json")
    yield "scores of published answers", json.loads(version.run("eval", "score", "answers.jsonl", *options_used))


def stored(catalog: Path) -> object:
    """All records of pages and quotes, in order of their document's name and place."""
    with sqlite3.connect(f"file:{catalog}?mode=ro", uri=True) as connection:
        names = dict(connection.execute("SELECT key, name FROM documents"))
        pages = connection.execute("SELECT document, number, record FROM pages").fetchall()
        quotes = connection.execute("SELECT document, id, record FROM quotes").fetchall()
    return sorted([names[row[0]], str(row[1]), json.loads(row[2])] for row in (*pages, *quotes))


def compare(before: object, after: object, path: str = "") -> tuple[list[str], int]:
    """The paths at which two values differ, and how many keys only the second has."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        gone = [f"{path}.{key} is gone" for key in before if key not in after and not VOLATILE.search(str(key))]
        parts = [
            compare(before[key], after[key], f"{path}.{key}")
            for key in before
            if key in after and not VOLATILE.search(str(key))
        ]
        return [*gone, *(line for lines, _ in parts for line in lines)], sum(n for _, n in parts) + len(
            set(after) - set(before)
        )
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        parts = [compare(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(before, after, strict=True))]
        return [line for lines, _ in parts for line in lines], sum(n for _, n in parts)
    return ([], 0) if before == after else ([f"{path}: {str(before)[:150]!r} became {str(after)[:150]!r}"], 0)


if __name__ == "__main__":
    main()
