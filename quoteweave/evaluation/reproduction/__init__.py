"""Compute published figures again from the files published with them, to the printed decimal."""

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Literal, NoReturn

import yaml
from pydantic import Field, TypeAdapter

from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.records import Record
from quoteweave.evaluation.scoring.saved_runs import (
    QUOTE_SELECTION_ONLY,
    ScoredRun,
    ScoringRequest,
    load_run,
    score_run,
)
from quoteweave.evaluation.statistics.aggregates import exact, half_up

MATRIX = "matrix.yaml"
DATA = "$DATA"
PREFIX = ("quoteweave", "eval", "score")
AS_PRINTED = ("judge.", "bleu", "rouge_l.")
"""Prefixes of figures that are not printed in per cent."""
WORD_METRICS = {"bleu": "bleu", "rouge_l.f1": "rouge_l"}
"""Figures that need metrics of their own, with the names of these."""

Status = Literal["OK", "OKish", "known", "FAIL"]


class Known(Record):
    """A difference from the printed value whose cause is known."""

    computed: str = Field(description="what the files give, to the printed decimal")
    reason: str


class Condition(Record):
    """One row of the matrix: the published figures, and the command that computes them again."""

    paper: str
    table: str
    row: str
    command: str = Field(description="as a user would type it; $DATA is the folder of the research data")
    expected: Mapping[str, str] = Field(description="figure to its value as printed: per cent, except for AS_PRINTED")
    known: Mapping[str, Known] = Field(default_factory=dict)


class Check(Record):
    """A published figure and the computed one."""

    paper: str
    table: str
    row: str
    figure: str
    printed: str
    computed: str | None = Field(description="to the printed decimal; None where it is undefined")
    status: Status
    reason: str | None = Field(default=None, description="of a known difference")


def load_matrix() -> list[Condition]:
    """The rows that are shipped with the package."""
    text = (resources.files(__package__) / MATRIX).read_text("utf-8")
    return TypeAdapter(list[Condition]).validate_python(yaml.safe_load(text))


def find_data(folder: Path, conditions: Sequence[Condition]) -> Path:
    """The folder that `$DATA` stands for, given that folder, one within it from which the commands read, or its parent.

    Raises DatasetError if none of these contains any file that the commands read.
    """
    requests = [sources_of(condition.command, Path()) for condition in conditions]
    files_read = [
        file
        for request in requests
        for file in (request.run, request.references, request.judgements)
        if file is not None
    ]
    resolved = folder.resolve()
    within = [resolved.parent] if resolved.name in {file.parts[0] for file in files_read} else []
    below = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for tried in (folder, *within, *below):
        if any((tried / file).is_file() for file in files_read):
            return tried
    raise DatasetError(
        f"{folder} does not hold the published files: looked for {files_read[0]} and {len(files_read) - 1} others in it"
        f"{f', in {resolved.parent}' if within else ''} and in the folders it holds; name the folder that holds "
        f"{files_read[0].parts[0]}/"
    )


def reproduce(data: Path, conditions: Sequence[Condition]) -> Iterator[list[Check]]:
    """Yield the checks of each condition, in order; `data` is as `find_data` returns it.

    Raises DatasetError if its files cannot be read.
    """
    for condition in conditions:
        # Other metrics and breakdowns that the command computes are not in the matrix, and would take time.
        metrics = (*QUOTE_SELECTION_ONLY, *(WORD_METRICS[name] for name in condition.expected if name in WORD_METRICS))
        request = sources_of(condition.command, data).model_copy(update={"metrics": metrics, "by": ()})
        scored = score_run(load_run(request), request)
        yield [_check(condition, figure, scored) for figure in condition.expected]


def sources_of(command: str, data: Path) -> ScoringRequest:
    """The files that a `quoteweave eval score` command reads, and its options for scoring."""
    words = shlex.split(command)
    if tuple(words[: len(PREFIX)]) != PREFIX:
        raise UsageError(f"not a command that can be reproduced: {command!r}; it begins with {' '.join(PREFIX)}")
    parser = _Parser(add_help=False)
    parser.add_argument("run", type=Path)
    for option in ("dataset", "convention", "marks"):
        parser.add_argument(f"--{option}")
    for option in ("references", "judgements"):
        parser.add_argument(f"--{option}", type=Path)
    options = vars(parser.parse_args([word.replace(DATA, str(data)) for word in words[len(PREFIX) :]]))
    return ScoringRequest.model_validate({name: value for name, value in options.items() if value is not None})


def verdict(printed: str, value: Fraction | None, known: Known | None = None) -> tuple[str | None, Status]:
    """The value to the printed decimal, and how it compares.

    OK if it is the printed value; `known` if it differs from that as declared; OKish if the value is within half a unit
    of the last digit but one (for 70.2 within 0.5, for 3.06 within 0.05); else FAIL.
    """
    if value is None:
        return None, "FAIL"
    decimals = len(printed.partition(".")[2])
    computed = half_up(value, decimals)
    if computed == printed:
        return computed, "OK"
    if known is not None and computed == known.computed:
        return computed, "known"
    near = abs(value - Fraction(printed)) <= Fraction(10, 2 * 10**decimals)
    return computed, "OKish" if near else "FAIL"


def _check(condition: Condition, name: str, scored: ScoredRun) -> Check:
    known = condition.known.get(name)
    figure = scored.aggregates.get(name)
    value = None if figure is None else exact(figure, scored.rows)
    if value is not None and not name.startswith(AS_PRINTED):
        value *= 100
    computed, status = verdict(condition.expected[name], value, known)
    return Check(
        paper=condition.paper,
        table=condition.table,
        row=condition.row,
        figure=name,
        printed=condition.expected[name],
        computed=computed,
        status=status,
        reason=known.reason if known is not None and status == "known" else None,
    )


class _Parser(argparse.ArgumentParser):
    """Raises UsageError instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"the command of a published row cannot be read: {message}")
