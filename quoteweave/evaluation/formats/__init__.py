"""Load predictions of runs or of other programs; the format of a file is recognised by its content."""

import json
import re
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from zipfile import is_zipfile

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Prediction
from quoteweave.core.files.jsonl import iter_lines, iter_records
from quoteweave.core.runs import read_run
from quoteweave.evaluation.datasets.alce import load_alce_outputs
from quoteweave.evaluation.datasets.citeme import IS_CORRECT, load_citeme_results
from quoteweave.evaluation.datasets.citevqa import ANSWER, load_citevqa_answers
from quoteweave.evaluation.datasets.mcitebench import load_mcitebench_responses
from quoteweave.evaluation.datasets.mmdocrag import load_responses
from quoteweave.evaluation.formats.inspect_logs import load_inspect_log
from quoteweave.evaluation.formats.ranking_json import is_ranking_file, is_ranking_json, load_ranking_json
from quoteweave.evaluation.formats.trec import is_trec_run, load_trec_run
from quoteweave.evaluation.formats.trec_rag import load_trec_rag

_READ_FILES = (
    "a folder that a run was written to, a run's predictions, a file of responses (q_id or question_id, and response "
    "a line), a result file of ALCE (question, docs and output), CiteME (metadata and results) or CiteVQA (index and "
    "model_predict), answers of TREC's RAG track (topic_id or metadata, references and answer a line), a log of "
    "Inspect (.eval or .json), or a ranking: a TREC run (query Q0 item rank score tag), or JSON (query to item to "
    "score)"
)
_VERSION = re.compile(rb"\s*+\{\s*+\"version\"\s*+:")
_LISTED = re.compile(rb"\s*+(?:\[\s*+(?:\{.*)?|\{\s*+)", re.DOTALL)
"""The first line of a file that contains one JSON list, or one object over many lines."""


def load_predictions(path: Path) -> list[Prediction]:
    """The predictions of a run folder or of a file, `.gz` or not, in their order.

    Raises DatasetError, naming file, line and field, for unreadable content and unknown formats.

        >>> load_predictions(Path("ours.jsonl"))[0].response
        'Grain [1].'
    """
    if path.is_dir():
        return read_run(path)[1]
    if path.is_file() and is_zipfile(path):
        return load_inspect_log(path)
    first = next(iter_lines(path), None)
    if first is None:
        raise DatasetError(f"{path} is empty; name {_READ_FILES}")
    load = _loader(first[1])
    if load is None and is_ranking_file(path):
        load = load_ranking_json
    if load is None:
        raise DatasetError(f"{path} is no file of predictions; name {_READ_FILES}")
    return load(path)


def _loader(line: bytes) -> Callable[[Path], list[Prediction]] | None:
    """The function that reads a file which begins with this line; None if there is none."""
    if is_trec_run(line):
        return load_trec_run
    if is_ranking_json(line):
        return load_ranking_json
    fields = _fields(line)
    if _LISTED.fullmatch(line) and not fields:
        return _load_listed
    return next((load for needed, load in _BY_FIELDS if needed <= fields), None)


def _load_listed(path: Path) -> list[Prediction]:
    """Load a log of Inspect, which begins with its version, output of a benchmark's code, by a field, or a ranking."""
    if _VERSION.match(b"".join(line for _, line in islice(iter_lines(path), 2))):
        return load_inspect_log(path)
    for field, load in ((ANSWER, load_citevqa_answers), (IS_CORRECT, load_citeme_results)):
        key = f'"{field}"'.encode()
        if any(key in line for _, line in iter_lines(path)):
            return load(path)
    return load_ranking_json(path) if is_ranking_file(path) else load_alce_outputs(path)


def _load_lines(path: Path) -> list[Prediction]:
    return [prediction for _, prediction in iter_records(path, Prediction)]


def _fields(line: bytes) -> set[str]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return set()
    return set(value) if isinstance(value, dict) else set()


_BY_FIELDS: Sequence[tuple[set[str], Callable[[Path], list[Prediction]]]] = (
    ({"q_id", "response"}, load_responses),
    ({"question_id", "response"}, load_mcitebench_responses),
    ({"index", ANSWER}, load_citevqa_answers),
    ({"q_id", "error"}, load_responses),
    ({"question_id", "error"}, load_mcitebench_responses),
    ({"example"}, _load_lines),
    ({"question", "docs"}, load_alce_outputs),
    ({"args", "data"}, load_alce_outputs),
    ({"topic_id", "references", "answer"}, load_trec_rag),
    ({"metadata", "references", "answer"}, load_trec_rag),
    ({"version", "status", "eval"}, load_inspect_log),
    ({"metadata", "results"}, load_citeme_results),
)
"""Fields of a first line, and the function that reads files with such a line."""
