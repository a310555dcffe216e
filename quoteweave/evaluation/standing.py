"""Where runs stand among the systems of a published table."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from quoteweave.core.errors import UsageError
from quoteweave.core.records import Record
from quoteweave.evaluation.published import PublishedTable
from quoteweave.evaluation.scores import Scores


class Standing(Record):
    """One line of the ranking."""

    rank: int | None = Field(description="1 is best; equal figures share a rank; None where the figure is not known")
    system: str
    setting: str
    ours: bool = Field(description="a run of the user's, not a published system")
    figures: Mapping[str, float]


def standings(table: PublishedTable, runs: Sequence[Scores], *, by: str) -> list[Standing]:
    """Published systems and runs, best first by one figure, of which more is better.

    A run's figure is compared as it is, a published one as it was printed. Raises UsageError where the table does not
    print that figure.
    """
    printed = {name for row in table.rows for name in row.figures}
    if by not in printed:
        raise UsageError(f"{table.source} does not print {by!r}; it prints: {', '.join(sorted(printed))}")
    lines = [(row.system, row.setting, False, row.figures) for row in table.rows]
    for run in runs:
        known = {name: found.value for name, found in run.figures.items() if found.value is not None}
        lines.append((run.name, f"{run.convention}, marks {run.marks}", True, known))
    ranked = sorted(lines, key=lambda line: (by not in line[3], -line[3].get(by, 0.0)))
    values = [line[3].get(by) for line in ranked]
    return [
        Standing(
            rank=None if value is None else values.index(value) + 1,
            system=system,
            setting=setting,
            ours=ours,
            figures=figures,
        )
        for value, (system, setting, ours, figures) in zip(values, ranked, strict=True)
    ]
