"""BEIR (Thakur et al., NeurIPS 2021, arXiv 2104.08663) and TREC: queries with graded items of a corpus.

BEIR is a folder with `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv` (query, item and grade after a header). TREC
has only qrels: four columns (query, iteration, item, grade) and no header.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ConfigDict, Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Reference
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Query
from quoteweave.evaluation.datasets.rows import FileRecord, Line, iter_columns, iter_unique_records

_CORPUS, _QUERIES = "corpus.jsonl", "queries.jsonl"
_DEFAULT_SPLIT = "test"
_BEIR = ("query-id", "corpus-id", "score")
_TREC = ("query", "iteration", "item", "grade")
Grades = dict[str, dict[str, int]]


class _Query(FileRecord):
    id: str = Field(alias="_id", min_length=1)
    text: str


class Passage(FileRecord):
    """One item of a corpus. `title` may be empty."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(alias="_id", min_length=1)
    title: str = ""
    text: str


def iter_corpus(folder: Path) -> Iterator[Passage]:
    """The passages of a folder's corpus, in its order, one at a time, because corpora may be larger than memory.

    Raises DatasetError, naming file, line and field, for missing or unreadable content, and for a repeated id.
    """
    path = _plain_or_compressed(folder / _CORPUS)
    if path is None:
        raise DatasetError(f"no {_CORPUS} in {folder}; name a folder of BEIR's form")
    for _, passage in iter_unique_records(path, Passage, "id", alias="_id"):
        yield passage


def load_beir(path: Path) -> list[Example]:
    """The judged queries of a folder, in the order of its qrels: those of `qrels/test.tsv`, or of the only file there.

    If `path` is a file of qrels (`FOLDER/qrels/dev.tsv`), its queries. Items are named by the corpus's ids;
    `iter_corpus` reads the corpus itself. Raises DatasetError, naming file, line and field, for missing or bad data.
    """
    qrels, folder = qrels_of(path), path if path.is_dir() else path.parent.parent
    queries = _plain_or_compressed(folder / _QUERIES)
    if queries is None:
        raise DatasetError(f"no {_QUERIES} in {folder}; name a folder of BEIR's form, or give qrels alone as trec")
    texts: dict[str, str] = {}
    for number, query in iter_records(queries, _Query):
        if query.id in texts:
            raise DatasetError(f"{queries}, line {number}, _id: {query.id!r} is there already")
        texts[query.id] = query.text
    grades = read_qrels(qrels)
    unknown = [name for name in grades if name not in texts]
    if unknown:
        raise DatasetError(
            f"{qrels} judges {pluralize(len(unknown), 'query', 'queries')} that {queries} lacks, such as {unknown[0]!r}"
        )
    return [_example(name, texts[name], item_grades) for name, item_grades in grades.items()]


def qrels_of(path: Path) -> Path:
    """The file of the judgements: the given one, or that of the given folder. Raises DatasetError if there is none."""
    return _find_qrels(path) if path.is_dir() else path


def load_qrels(path: Path) -> list[Example]:
    """The queries of a file of qrels in TREC's or BEIR's format, whose texts are not known and left empty.

    Raises DatasetError as `read_qrels`.
    """
    return [_example(name, "", item_grades) for name, item_grades in read_qrels(path).items()]


def read_qrels(path: Path) -> Grades:
    """Query to item to grade, in the order of the file; a `.gz` file is unpacked.

    Raises DatasetError, naming file, line and field, for unreadable content, and for an item with two grades.
    """
    grades: Grades = {}
    for line in _iter_grade_lines(path):
        query, item = line.values[0], line.values[-2]
        query_grades = grades.setdefault(query, {})
        grade = line.integer(-1)
        if query_grades.setdefault(item, grade) != grade:
            raise DatasetError(
                f"{line.where}: {item!r} has two grades for query {query!r}, {query_grades[item]} and {grade}"
            )
    return grades


def _iter_grade_lines(path: Path) -> Iterator[Line]:
    """Lines of either format, recognised by the first line; BEIR's columns are separated only by tabs."""
    first = next(iter_columns(path, None), None)
    tabbed = first is not None and first.raw.count("\t") == 2
    lines = iter_columns(path, _BEIR, separator="\t") if tabbed else iter_columns(path, _TREC)
    for position, line in enumerate(lines):
        if not (tabbed and position == 0 and line.values == _BEIR):
            yield line


def _find_qrels(folder: Path) -> Path:
    files = sorted((folder / "qrels").glob("*.tsv")) + sorted((folder / "qrels").glob("*.tsv.gz"))
    usual = [path for path in files if path.name.partition(".")[0] == _DEFAULT_SPLIT]
    if not files:
        raise DatasetError(f"no qrels/*.tsv in {folder}; name a folder of BEIR's form, or a file of qrels")
    if len(files) > 1 and not usual:
        names = ", ".join(path.name for path in files)
        raise DatasetError(f"{folder}/qrels holds {names}, and no {_DEFAULT_SPLIT}.tsv; name the file that is meant")
    return usual[0] if usual else files[0]


def _plain_or_compressed(path: Path) -> Path | None:
    """The file, plain or compressed; None if neither exists."""
    compressed = path.with_name(f"{path.name}.gz")
    return path if path.is_file() else compressed if compressed.is_file() else None


def _example(name: str, text: str, item_grades: dict[str, int]) -> Example:
    return Example(id=name, query=Query(text=text), reference=Reference(relevant=item_grades))
