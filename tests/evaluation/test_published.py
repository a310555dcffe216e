import pytest

from quoteweave.core.errors import UsageError
from quoteweave.evaluation.metrics.registry import METRICS, Reading
from quoteweave.evaluation.published import published_names, published_table
from quoteweave.evaluation.scores import Estimate, Scores
from quoteweave.evaluation.standing import standings


def test_every_table_is_read_and_says_where_it_is_from() -> None:
    sizes = {name: len(published_table(name).rows) for name in published_names()}
    assert sizes["mmdocrag-20"] == 88
    assert sizes["mmdocrag-15"] == 83
    assert sizes["citeme"] == 39
    assert all(sizes.values())
    assert published_table("mcitebench").source == "MCiteBench, arXiv 2503.02589, Table 2"
    with pytest.raises(UsageError, match=r"there is no published table 'mmdocrag'; there are: .*mmdocrag-20"):
        published_table("mmdocrag")


@pytest.mark.parametrize("name", ["mmdocrag-15", "mmdocrag-20"])
def test_printed_f1_is_that_of_the_printed_precision_and_recall(name: str) -> None:
    """So that a digit that was misread is seen."""
    table = published_table(name)
    for row in table.rows:
        for kind in ("image", "text"):
            p, r, f1 = (row.figures.get(f"{kind}.{ratio}.pooled") for ratio in ("precision", "recall", "f1"))
            assert p is not None
            assert r is not None
            if (row.system, kind, f1) == ("Qwen2.5-VL-7B-Inst (after fine-tuning)", "text", 0.065):
                continue  # printed beside 44.0 and 3.3, which give 6.1
            if p + r > 0.1:  # below, the decimals that are printed are too few
                assert 2 * p * r / (p + r) == pytest.approx(f1, abs=0.0016), (row.system, row.setting, kind)


def test_per_cent_become_fractions_without_a_change_of_digits() -> None:
    row = next(row for row in published_table("mmdocrag-20").rows if row.system == "GPT-4.1" and "multi" in row.setting)
    assert (row.figures["overall.f1"], row.figures["judge.average"]) == (0.702, 4.14)
    assert row.figures["bleu"] < 1 < row.figures["tokens_out"]


def test_figures_that_we_have_too_go_by_our_names() -> None:
    ours = {figure.name for make in METRICS.values() for figure in make(Reading()).figures}
    printed = set(published_table("mmdocrag-20").rows[0].figures)
    assert {name for name in printed if name.startswith(("image.", "text.", "overall."))} <= ours


def run(name: str, **figures: float | None) -> Scores:
    known = {figure.replace("_", "."): Estimate(value=value, n=1) for figure, value in figures.items()}
    return Scores(
        name=name,
        dataset="d",
        convention="strict",
        marks="own",
        clusters="question",
        failed=0,
        missing=0,
        figures=known,
    )


def test_runs_stand_among_published_systems() -> None:
    table = published_table("mmdocrag-20")
    ranked = standings(table, [run("best", overall_f1=0.9), run("none", overall_f1=None)], by="overall.f1")
    assert (ranked[0].system, ranked[0].rank, ranked[0].ours) == ("best", 1, True)
    assert (ranked[-1].system, ranked[-1].rank) == ("none", None)
    values = [standing.figures["overall.f1"] for standing in ranked[:-1]]
    assert values == sorted(values, reverse=True)
    ranks = [standing.rank for standing in ranked[:-1]]
    assert all(ranks[at] == values.index(value) + 1 for at, value in enumerate(values))
    with pytest.raises(UsageError, match="does not print 'ndcg@10'"):
        standings(table, [], by="ndcg@10")
