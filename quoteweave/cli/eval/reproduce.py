"""`quoteweave eval reproduce`: checks whether published figures follow from the published files, digit by digit."""

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.console import console, plain, print_json
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.progress import TerminalProgress
from quoteweave.cli.tables import UNDEFINED, make_table, show_table
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


def _checks(folder: Path) -> list[Check]:
    repository = find_repository(folder)
    if repository is None:
        matrix = load_matrix()
        folder = find_data(folder, matrix)
    else:
        outputs = load_outputs(repository)
        folder, matrix = repository, outputs.conditions
        if outputs.missing:
            typer.echo(f"without files in {folder}, and not computed: {join_names(outputs.missing)}", err=True)
    checks = []
    with TerminalProgress().task("reproducing", len(matrix)) as bar:
        for row_checks in run(folder, matrix):
            checks += row_checks
            bar.advance()
    return checks


def _show(checks: list[Check]) -> None:
    stdout = console()
    columns = ("figure", "printed", "computed", "status")
    for title, row_checks in groupby(checks, key=lambda check: f"{check.row}: {check.table} of {check.paper}"):
        table = make_table(columns, words=["figure", "status"], title=title)
        for check in row_checks:
            outcome = check.status if check.reason is None else f"{check.status}: {check.reason}"
            table.add_row(check.figure, check.printed, check.computed or UNDEFINED, plain(outcome))
        show_table(stdout, table)
