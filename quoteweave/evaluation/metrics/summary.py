"""From rows to the figures of all questions. None in a row is undefined: it is counted, and left out of the mean."""

from collections.abc import Mapping, Sequence

Row = Mapping[str, float | None]


def mean_over_questions(rows: Sequence[Row], names: Sequence[str]) -> dict[str, float | None]:
    """The mean of each named figure over the questions where it is defined; None where it is defined for none."""
    return {name: _mean([value for row in rows if (value := row[name]) is not None]) for name in names}


def undefined(rows: Sequence[Row], names: Sequence[str]) -> dict[str, int]:
    """For each named figure, the number of questions where it is undefined."""
    return {name: sum(row[name] is None for row in rows) for name in names}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
