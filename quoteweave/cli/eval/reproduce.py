"""`quoteweave eval reproduce`: checks whether published figures follow from the published files, digit by digit."""

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from quoteweave.cli.console import console, plain, print_json
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.tables import make_table, show_table
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import join_names
from quoteweave.evaluation.reproduction import Check, find_data, load_matrix
from quoteweave.evaluation.reproduction import reproduce as run
from quoteweave.evaluation.reproduction.mmdocrag_outputs import find_repository, load_outputs

JSON = """--json prints one object:

checks: one object a published figure: paper, table, row, figure, printed, computed,
status (OK, OKish, known or FAIL), reason (of a known difference);

counts: status to how many."""


def reproduce(
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="QUOTEWEAVE_DATA",
            help="Folder of the research data, which holds mmdocrag/ (its parent and mmdocrag/ itself will do), or a "
            "copy of MMDocRAG's repository with the questions in dataset/.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Recompute published figures from the outputs that were published with them.

    OK: the same to the printed decimal. OKish: within half a unit of the last
    digit but one. known: a declared difference. FAIL: anything else, and exit
    code 1.
    """
    if data is None:
        raise UsageError("name the folder of the research data with --data, or in QUOTEWEAVE_DATA")
    checks = _checks(data)
    counts = Counter[str](check.status for check in checks)
    if as_json:
        print_json({"checks": [check.model_dump() for check in checks], "counts": dict(counts)})
    else:
        _show(checks)
        typer.echo(", ".join(f"{count} {status}" for status, count in counts.items()))
    if counts["FAIL"]:
        raise typer.Exit(1)


def _checks(data: Path) -> list[Check]:
    stderr = Console(stderr=True)
    repository = find_repository(data)
    if repository is None:
        matrix = load_matrix()
        data = find_data(data, matrix)
    else:
        outputs = load_outputs(repository)
        data, matrix = repository, outputs.conditions
        if outputs.missing:
            typer.echo(f"without files in {data}, and not computed: {join_names(outputs.missing)}", err=True)
    shown = track(
        run(data, matrix),
        description="reproducing",
        total=len(matrix),
        console=stderr,
        transient=True,
        disable=not stderr.is_terminal,
    )
    return [check for found in shown for check in found]


def _show(checks: list[Check]) -> None:
    out = console()
    for (paper, place, row), found in groupby(checks, key=lambda check: (check.paper, check.table, check.row)):
        columns = ("figure", "printed", "computed", "status")
        table = make_table(columns, words=["figure", "status"], title=f"{row}: {place} of {paper}")
        for check in found:
            outcome = check.status if check.reason is None else f"{check.status}: {check.reason}"
            table.add_row(check.figure, check.printed, check.computed or "-", plain(outcome))
        show_table(out, table)
