"""Read and write rankings as one JSON object, query to item to score, as pytrec_eval, ranx and BEIR have them."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Prediction
from quoteweave.core.files.jsonl import iter_lines
from quoteweave.core.files.strict_json import RepeatedName, load_json
from quoteweave.evaluation.metrics.rankings import by_score


def is_ranking_file(path: Path) -> bool:
    """Whether a file is one such object, on any number of lines."""
    lines = (line for _, line in iter_lines(path))
    first = next(lines, b"")
    return first.lstrip().startswith(b"{") and is_ranking_json(b"".join((first, *lines)))


def is_ranking_json(content: bytes) -> bool:
    """Whether this is one object of objects that contain only numbers."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value) and all(_is_ranking(ranking) for ranking in value.values())


def _is_ranking(ranking: object) -> bool:
    return isinstance(ranking, dict) and all(type(score) in (int, float) for score in ranking.values())


def load_ranking_json(path: Path) -> list[Prediction]:
    """One prediction per query, its items best first as trec_eval ranks them; a query without items found nothing.

    Raises DatasetError, naming the file, for a repeated query or item, and for a score that is not finite.
    """
    try:
        ranked = load_json(b"".join(line for _, line in iter_lines(path)))
    except RepeatedName as error:
        raise DatasetError(f"{path}, line {error.lineno}: {error.msg}") from error
    for query, scores in ranked.items():
        if not all(abs(score) <= sys.float_info.max for score in scores.values()):
            raise DatasetError(f"{path}, {query!r}: it has a score that is not finite")
    return [
        Prediction(example=query, items={item: float(scores[item]) for item in by_score(scores)})
        for query, scores in ranked.items()
    ]


def ranking_json(ranked: Mapping[str, Mapping[str, float]]) -> str:
    """The object on one line, with each query's items best first."""
    ordered = {query: {item: scores[item] for item in by_score(scores)} for query, scores in ranked.items()}
    return json.dumps(ordered, ensure_ascii=False) + "\n"
