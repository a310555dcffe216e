"""The matrix of published figures, and how computed ones compare with them."""

from fractions import Fraction
from pathlib import Path

import pytest

from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.evaluation.reproduction import (
    Known,
    Status,
    load_matrix,
    reproduce,
    sources_of,
    verdict,
)
from quoteweave.evaluation.scoring.saved_runs import QUOTE_SELECTION_ONLY, load_run, score_run
from quoteweave.evaluation.statistics.aggregates import half_up


@pytest.mark.parametrize(
    ("printed", "value", "computed", "status"),
    [
        ("70.2", Fraction(7015, 100), "70.2", "OK"),
        ("70.2", Fraction(7025, 100), "70.3", "OKish"),
        ("70.2", Fraction(707, 10), "70.7", "OKish"),
        ("70.2", Fraction(70701, 1000), "70.7", "FAIL"),
        ("3.06", Fraction(6136, 1999), "3.07", "OKish"),
        ("3.06", Fraction(312, 100), "3.12", "FAIL"),
        ("0.0", Fraction(0), "0.0", "OK"),
        ("0.0", None, None, "FAIL"),
    ],
)
def test_a_figure_is_ok_to_the_printed_decimal_and_okish_near_it(
    printed: str, value: Fraction | None, computed: str | None, status: Status
) -> None:
    assert verdict(printed, value) == (computed, status)


def test_a_known_difference_is_known_only_as_it_was_declared() -> None:
    known = Known(computed="3.07", reason="misprinted")
    assert verdict("3.06", Fraction(6136, 1999), known) == ("3.07", "known")
    assert verdict("3.06", Fraction(308, 100), known) == ("3.08", "OKish")
    assert verdict("3.06", Fraction(4), known) == ("4.00", "FAIL")
    assert verdict("3.06", Fraction(306, 100), known) == ("3.06", "OK")


def test_commands_are_read_as_they_would_be_typed() -> None:
    command = (
        "quoteweave eval score $DATA/r.jsonl --dataset mmdocrag-20 --references '$DATA/g h' --convention published"
    )
    found = sources_of(command, Path("/data"))
    assert (found.run, found.references, found.judgements) == (Path("/data/r.jsonl"), Path("/data/g h"), None)
    assert (found.dataset, found.convention, found.grammar) == ("mmdocrag-20", "published", "published")
    assert sources_of("quoteweave eval score r --dataset d", Path()).grammar == "own"


@pytest.mark.parametrize(
    "command", ["rm -rf /", "quoteweave eval score", "quoteweave eval score r --dataset d --unknown x"]
)
def test_other_commands_are_refused(command: str) -> None:
    with pytest.raises(UsageError):
        sources_of(command, Path())


def test_the_matrix_holds_every_published_figure_of_nine_models() -> None:
    matrix = load_matrix()
    assert len({condition.row for condition in matrix}) == 9
    assert all(len(condition.expected) == 13 for condition in matrix)
    assert [name for condition in matrix for name in condition.known] == ["judge.factuality"]


def test_missing_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=str(tmp_path)):
        next(reproduce(tmp_path, load_matrix()))


@pytest.mark.data
def test_our_grammar_reads_citations_that_the_published_figures_do_not_count(research_data: Path) -> None:
    (condition,) = (one for one in load_matrix() if "gemini-2.5-pro" in one.command)
    sources = sources_of(condition.command, research_data).model_copy(
        update={"metrics": QUOTE_SELECTION_ONLY, "by": ()}
    )
    loaded = load_run(sources)
    recalls = [
        score_run(loaded, sources.model_copy(update={"marks": marks})).scores.figures["text.recall.pooled"].value
        for marks in ("published", "own")
    ]
    assert [half_up(100 * (recall or 0), 1) for recall in recalls] == ["78.5", "85.7"]


@pytest.mark.data
def test_every_published_figure_comes_out_again(research_data: Path) -> None:
    checks = [check for found in reproduce(research_data, load_matrix()) for check in found]
    others = [(check.row, check.figure, check.computed) for check in checks if check.status != "OK"]
    assert others == [("Qwen3-8B (no thinking), pure-text", "judge.factuality", "3.07")]
    assert len(checks) == 9 * 13
