from pathlib import Path

import pytest

from quoteweave.core.errors import UsageError
from quoteweave.evaluation import published
from quoteweave.evaluation.metrics.registry import METRICS, MetricOptions
from quoteweave.evaluation.published import (
    comparability_notes,
    leaderboard,
    published_table,
    ranking_figure,
)
from quoteweave.evaluation.scoring.scores import ScoredQuestion, Scores
from quoteweave.evaluation.statistics.aggregates import half_up
from quoteweave.evaluation.statistics.intervals import Estimate

TABLES = [path.stem for path in Path(published.__file__).parent.glob("*.csv")]
SEARCHED = "search+read; demonstration: yes"


def test_every_table_is_read_and_says_where_it_is_from() -> None:
    sizes = {name: len(published_table(name).rows) for name in TABLES}
    assert sizes["mmdocrag-20"] == 88
    assert sizes["mmdocrag-15"] == 83
    assert sizes["citeme"] == 39
    assert [sizes[f"citeme-{name}"] for name in ("years", "errors", "excerpts", "datasets")] == [6, 1, 5, 5]
    assert [sizes[f"alce-{name}"] for name in ("asqa", "qampari", "eli5", "asqa-passages")] == [13, 13, 13, 12]
    assert all(sizes.values())
    assert sizes["mcitebench-modality"] == 11 * 4
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
    ours = {figure.name for make in METRICS.values() for figure in make(MetricOptions()).aggregates}
    printed = set(published_table("mmdocrag-20").rows[0].figures)
    assert {name for name in printed if name.startswith(("image.", "text.", "overall."))} <= ours


def test_rows_that_two_tables_of_alce_print_are_the_same() -> None:
    asqa, passages = (published_table(name).rows for name in ("alce-asqa", "alce-asqa-passages"))
    printed = {(row.system, row.setting): row.figures for row in passages}
    again = [row for row in asqa if row.setting.startswith("Vanilla") and "Rerank" not in row.setting]
    assert len(again) == 7
    for row in again:
        assert printed[row.system, row.setting.removeprefix("Vanilla (").removesuffix(")")] == row.figures


def test_every_accuracy_on_citeme_is_of_119_excerpts_and_the_years_make_them_up() -> None:
    for row in published_table("citeme").rows:
        printed = row.figures["title_match"]
        assert float(half_up(round(119 * printed) / 119, 3)) == printed, row
    whole = {
        row.system: row.figures["title_match"] for row in published_table("citeme").rows if SEARCHED in row.setting
    }
    years = {(row.system, row.setting): row.figures["title_match"] for row in published_table("citeme-years").rows}
    for system in ("GPT-4o", "Claude 3 Opus", "Claude-3.5-Sonnet"):
        counts = [n * years[system, group] for n, group in ((73, "before 2024"), (46, "2024"))]
        assert all(abs(count - round(count)) < 0.01 for count in counts)
        assert float(half_up(sum(map(round, counts)) / 119, 3)) == whole[system]


def test_a_table_without_accuracies_ranks_nobody_and_says_so() -> None:
    with pytest.raises(UsageError, match=r"Table 7 prints no figure by which runs are ranked; published_table"):
        ranking_figure(published_table("citeme-datasets"), None)


def run(name: str, **figures: float | None) -> Scores:
    known = {figure.replace("_", "."): Estimate(value=value, n=1) for figure, value in figures.items()}
    return Scores(
        name=name,
        dataset="mmdocrag-20",
        convention="published",
        marks="published",
        clusters="question",
        failed=0,
        missing=0,
        figures=known,
    )


def test_runs_stand_among_published_systems() -> None:
    table = published_table("mmdocrag-20")
    ranked = leaderboard(table, [run("best", overall_f1=0.9), run("none", overall_f1=None)], by="overall.f1")
    assert (ranked[0].system, ranked[0].rank, ranked[0].ours) == ("best", 1, True)
    assert (ranked[-1].system, ranked[-1].rank) == ("none", None)
    values = [standing.figures["overall.f1"] for standing in ranked[:-1]]
    assert values == sorted(values, reverse=True)
    ranks = [standing.rank for standing in ranked[:-1]]
    assert all(ranks[at] == values.index(value) + 1 for at, value in enumerate(values))
    with pytest.raises(UsageError, match=r"does not print 'ndcg@10'.*--by"):
        leaderboard(table, [], by="ndcg@10")


def test_equal_figures_share_a_rank_whatever_was_rounded() -> None:
    table = published_table("mmdocrag-20")
    (printed,) = {row.figures["overall.f1"] for row in table.rows if row.system == "GPT-4.1" and "multi" in row.setting}
    ranked = leaderboard(table, [run("mine", overall_f1=printed + 0.0004)], by="overall.f1")
    places = {standing.rank for standing in ranked if standing.system == "mine" or standing.figures == {}}
    theirs = {one.rank for one in ranked if not one.ours and one.figures.get("overall.f1") == printed}
    assert places == theirs


def test_a_run_over_a_part_of_the_dataset_has_no_rank_and_says_why() -> None:
    table = published_table("mmdocrag-20")
    asked = tuple(ScoredQuestion(example=str(n), cluster=str(n), row={}) for n in range(69))
    part = run("part", overall_f1=1.0).model_copy(update={"questions": asked, "failed": 1931})
    (ours,) = (one for one in leaderboard(table, [part], by="overall.f1") if one.ours)
    assert ours.rank is None
    assert any(
        "part has no rank: it is of 69 questions, and the table of 2,000" in told
        for told in comparability_notes(table, [part])
    )
    (ours,) = (
        one for one in leaderboard(table.model_copy(update={"questions": 69}), [part], by="overall.f1") if one.ours
    )
    assert ours.rank == 1


def test_a_run_that_is_not_whole_has_no_rank_and_says_why() -> None:
    table = published_table("mmdocrag-20")
    part = run("part", overall_f1=1.0).model_copy(update={"missing": 1990})
    strict = run("strict", overall_f1=1.0).model_copy(update={"failed": 3, "convention": "strict"})
    ranked = {one.system: one.rank for one in leaderboard(table, [part, strict], by="overall.f1") if one.ours}
    assert ranked == {"part": None, "strict": None}
    told = comparability_notes(table, [part, strict])
    assert "part has no rank: 1990 questions are not answered, 0 failed" in told
    assert any("--convention published is comparable" in caution for caution in told)


def test_figures_that_are_another_thing_rank_nobody() -> None:
    table = published_table("mmdocrag-20")
    with pytest.raises(UsageError, match="another thing than ours, or not better where it is more"):
        leaderboard(table, [], by="tokens_out")
    assert ranking_figure(published_table("mmdocir"), None) == "page_recall@1"
    other = run("mine", overall_f1=1.0).model_copy(update={"dataset": "mcitebench"})
    with pytest.raises(UsageError, match="is of mmdocrag-20, and mine of mcitebench"):
        leaderboard(table, [other], by="overall.f1")


def test_runs_are_ranked_by_a_figure_that_they_have() -> None:
    table = published_table("alce-asqa")
    assert ranking_figure(table, None) == "mauve"
    known = run("r", overall_f1=0.5).model_copy(update={"figures": {"str_em": Estimate(value=0.4, n=9)}})
    assert ranking_figure(table, None, [known]) == "str_em"


def test_bleu_ranks_runs_by_the_published_convention_alone() -> None:
    table = published_table("mmdocrag-20")
    ours = [
        run(name).model_copy(
            update={
                "convention": name,
                "figures": {"bleu": Estimate(value=0.9, n=2), "rouge_l.f1": Estimate(value=0.9, n=2)},
            }
        )
        for name in ("published", "strict")
    ]
    for figure in ("bleu", "rouge_l.f1"):
        ranked = {one.system: one.rank for one in leaderboard(table, ours, by=figure) if one.ours}
        assert ranked == {"published": 1, "strict": None}


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("mcitebench-captions", ["citation.f1.cited", "source.f1", "source.exact_match", "accuracy"]),
        ("citeme", ["title_match"]),
        ("citevqa", ["citevqa.recall", "citevqa.saa"]),
        ("alce-asqa", ["str_em", "mauve", "alce.first3.recall"]),
        ("alce-eli5", ["claim_recall", "alce.first3.precision"]),
        ("alce-qampari", ["alce.first3.recall"]),
        ("aliice-asqa", ["aliice.recall"]),
    ],
)
def test_what_the_conventions_define_apart_ranks_no_strict_run_and_it_is_said(name: str, figures: list[str]) -> None:
    table = published_table(name)
    mine = run("mine").model_copy(
        update={"dataset": table.datasets[0], "figures": {one: Estimate(value=0.999, n=2) for one in figures}}
    )
    strict = mine.model_copy(update={"name": "other", "convention": "strict"})
    for figure in figures:
        ranked = {one.system: one.rank for one in leaderboard(table, [mine, strict], by=figure) if one.ours}
        assert ranked == {"mine": 1, "other": None}
    (told,) = (note for note in comparability_notes(table, [mine, strict]) if "no rank" in note)
    assert told.startswith("other: no rank by ")
    assert all(figure in told for figure in figures)
    assert told.endswith("--convention published for one")


def test_relevance_ranks_strict_runs_as_both_conventions_define_it_alike() -> None:
    table = published_table("citevqa")
    mine = run("mine").model_copy(
        update={
            "dataset": "citevqa",
            "convention": "strict",
            "figures": {"citevqa.relevance": Estimate(value=0.999, n=2)},
        }
    )
    assert [one.rank for one in leaderboard(table, [mine], by="citevqa.relevance") if one.ours] == [1]


def test_a_run_stands_in_each_split_of_a_table_by_its_breakdown() -> None:
    table = published_table("mcitebench")
    group = {"explanation, single-source": {"source.f1": Estimate(value=0.999, n=2)}}
    mine = run("mine").model_copy(update={"dataset": "mcitebench", "breakdowns": {"mcitebench_task": group}})
    ours = [one for one in leaderboard(table, [mine], by="source.f1") if one.ours]
    assert [(one.setting, one.rank) for one in ours] == [("explanation, single-source", 1)]
    assert {row.setting for row in table.rows} == {
        *("explanation, single-source", "explanation, multi-source", "locating, single-source")
    }
