"""TREC runs are read as trec_eval ranks them, and what is written gives the figures that `Rankings` gives."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_selection import example, fixed, quote

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction, Reference
from quoteweave.core.records import Hit, PageHit, Query, Quote
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.formats.ranking_json import ranking_json
from quoteweave.evaluation.formats.trec import (
    TrecPair,
    all_rankings,
    column_name,
    qrels_lines,
    run_lines,
    trec_pair,
)
from quoteweave.evaluation.metrics.rankings import Rankings, by_score

LINES = "q2 Q0 d1 1 0.5 bm25\nq2 Q0 d3 2 0.5 bm25\nq1 Q0 d1 1 -3e-1 bm25\nq2 Q0 d2 3 9 bm25\n"
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
NAMES = WORDS.filter(lambda text: column_name(text) == text)
SCORES = st.floats(allow_nan=False, allow_infinity=False)


def test_a_run_is_ranked_by_score_and_ties_by_name(tmp_path: Path) -> None:
    (tmp_path / "bm25.run").write_text(LINES)
    (tmp_path / "bm25.run.gz").write_bytes(gzip.compress(LINES.encode()))
    second, first = load_predictions(tmp_path / "bm25.run")
    assert (second.example, list(second.items.items())) == ("q2", [("d2", 9), ("d3", 0.5), ("d1", 0.5)])
    assert (first.example, first.items, first.model, first.scope) == ("q1", {"d1": -0.3}, "bm25", "collection")
    assert load_predictions(tmp_path / "bm25.run.gz") == [second, first]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("q1 Q0 d2 2 high t\n", r"line 2, score: 'high' is no number$"),
        ("q1 Q0 d2 2 nan t\n", r"line 2, score: 'nan' is not finite$"),
        ("q1 Q0 d2 2 0.4\n", r"line 2 has not the 6 columns query, Q0, item, rank, score, tag: 'q1 Q0 d2 2 0\.4'$"),
        ("q1 Q0 d2 2 0.", r"line 2 has not .*the file may be cut short: get it anew"),
        ("q1 Q0 d1 2 0.4 t\n", r"line 2, item: 'd1' is ranked for query 'q1' already"),
    ],
)
def test_what_cannot_be_read_is_named(line: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "r.run").write_text(f"q1 Q0 d1 1 0.5 t\n{line}")
    with pytest.raises(DatasetError, match=rf"r\.run, {told}"):
        load_predictions(tmp_path / "r.run")


@given(run=st.dictionaries(NAMES, st.dictionaries(NAMES, SCORES, min_size=1, max_size=4), min_size=1, max_size=3))
def test_a_run_comes_back_as_it_was_written(
    run: dict[str, dict[str, float]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.run"
    path.write_bytes("".join(run_lines(run, tag="t")).encode())
    back = load_predictions(path)
    assert {one.example: one.items for one in back} == run
    assert [list(one.items) for one in back] == [by_score(items) for items in run.values()]


@given(qrels=st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(-2, 3), min_size=1, max_size=4), max_size=3))
def test_qrels_come_back_as_they_were_written(
    qrels: dict[str, dict[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.qrels"
    path.write_bytes(("".join(qrels_lines(qrels)) + "last 0 d 1\n").encode())
    assert {one.id: one.reference.relevant for one in load_dataset("trec", path)} == {**qrels, "last": {"d": 1}}


@given(name=WORDS)
def test_a_name_is_one_column(name: str) -> None:
    assert len(column_name(name).split()) == 1


def test_a_name_without_characters_is_refused() -> None:
    with pytest.raises(DatasetError, match="empty name"):
        column_name("")


def ranked(name: str, *quotes: Quote, scores: tuple[float, ...] | None = None) -> Prediction:
    given = scores or tuple(1 / rank for rank in range(1, len(quotes) + 1))
    hits = [
        Hit(rank=rank, score=score, quote=one) for rank, (one, score) in enumerate(zip(quotes, given, strict=True), 1)
    ]
    return Prediction(example=name, scope="collection", hits=tuple(hits))


def texts(*names: str) -> list[Quote]:
    return [quote("text", name) for name in names]


def figures(pair: TrecPair, folder: Path) -> dict[str, float]:
    """What ir_measures gives of the files."""
    import ir_measures
    from ir_measures import AP, RR, P, R, nDCG

    run, qrels = folder / "run.trec", folder / "qrels.trec"
    run.write_text("".join(run_lines(pair.run, tag="t")))
    qrels.write_text("".join(qrels_lines(pair.qrels)))
    names = {R @ 3: "recall@3", P @ 3: "precision@3", nDCG @ 3: "ndcg@3", AP: "map", RR: "mrr"}
    judged = list(ir_measures.read_trec_qrels(str(qrels)))  # type: ignore[no-untyped-call]
    ranking = list(ir_measures.read_trec_run(str(run)))  # type: ignore[no-untyped-call]
    return {
        names[measure]: value for measure, value in ir_measures.calc_aggregate(list(names), judged, ranking).items()
    }


def test_the_pair_gives_the_figures_of_rankings(tmp_path: Path) -> None:
    asked = [
        example("ties", gold={"a": 3, "b": 1, "c d": 2}),
        example("backwards", gold=["a", "z"]),
        example("items", gold={"d1": 2, "d3": 1, "d9": -1}),
        example("nothing found", gold=["a"]),
        example("twice", gold=["b"]),
        example("no gold", gold={"a": 0}),
        example("failed", gold=["a"]),
    ]
    made = [
        ranked("ties", *texts("c d", "a", "x", "b"), scores=(0.5, 0.5, 0.5, 0.5)),
        ranked("backwards", *texts("x", "a", "y"), scores=(1, 2, 3)),
        Prediction(example="items", items={"d1": 1.0, "d9": 1.0, "d3": 1.0 - 1e-12}),
        ranked("nothing found"),
        ranked("twice", *texts("a", "a", "b")),
        ranked("no gold", *texts("a")),
        Prediction(example="failed", error="timed out"),
    ]
    pair = trec_pair(asked, made)
    assert (len(pair.qrels), pair.failed, pair.undefined, pair.empty) == (5, 1, 1, 1)
    metric = Rankings(cutoffs=(3,))
    rows = [metric.row(*both) for both in zip(made[:5], asked[:5], strict=True)]
    ours = {figure.name: figure.of(rows) for figure in metric.aggregates}
    theirs = figures(pair, tmp_path)
    assert theirs == pytest.approx({name: ours[name] for name in theirs})
    assert pair.run["items"] == {"d9": 1.0, "d3": 1.0 - 1e-12, "d1": 1.0}
    assert pair.run["ties"] == {"c%20d": 4, "a": 3, "x": 2, "b": 1}


def test_scores_are_kept_where_they_rank_as_was_ranked() -> None:
    pair = trec_pair([example("q", gold=["a"])], [ranked("q", *texts("b", "a"), scores=(7.5, -1))])
    assert pair.run == {"q": {"b": 7.5, "a": -1}}


def test_layout_elements_go_by_document_and_number() -> None:
    asked = example("q", gold=["text1"], context=fixed(), layouts=[("a.pdf", 1)])
    pair = trec_pair([asked], [ranked("q", quote("text", "c:0:5", layout_id=1))])
    assert (pair.run, pair.qrels) == ({"q": {"a#1": 1.0}}, {"q": {"a#1": 1}})


def test_pages_and_documents() -> None:
    paged = Example(id="q", query=Query(text="?"), document="a.pdf", reference=Reference(pages=(4,)))
    pages = tuple(PageHit(rank=rank, score=1 / rank, document="a.pdf", page=page) for rank, page in ((1, 3), (2, 4)))
    found = Prediction(example="q", scope="document", pages=pages)
    pair = trec_pair([paged], [found], items="pages")
    assert (pair.run, pair.qrels) == ({"q": {"a.pdf#3": 1.0, "a.pdf#4": 0.5}}, {"q": {"a.pdf#4": 1}})
    assert trec_pair([paged], [found]).undefined == 1
    quotes = [quote("text", f"{name}:0:0", document=f"{name}.txt") for name in ("d2", "d1")]
    pair = trec_pair([example("q", gold={"d1": 2})], [ranked("q", *quotes)], items="documents")
    assert (pair.run, pair.qrels) == ({"q": {"d2": 1.0, "d1": 0.5}}, {"q": {"d1": 2}})


def test_rankings_without_gold_keep_the_names_of_those_with_gold() -> None:
    pages = tuple(PageHit(rank=rank, score=1 / rank, document="a.pdf", page=page) for rank, page in ((1, 3), (2, 4)))
    found = ranked("q", quote("text", "c:0:5", document="a.pdf", layout_id=1), quote("text", "c:0:6", document="a.pdf"))
    found = found.model_copy(update={"pages": pages})
    assert all_rankings([found]) == {"q": {"a#1": 1.0, "c:0:6": 0.5}}
    assert all_rankings([found], items="pages") == {"q": {"a.pdf#3": 1.0, "a.pdf#4": 0.5}}
    assert [*all_rankings([found], items="documents")["q"]] == ["a"]
    fixed_quotes = Prediction(example="fixed", scope="context", response="Ships [1].")
    answer = Prediction(example="answer", scope="document", response="Ships [1].")
    assert all_rankings([fixed_quotes, answer, Prediction(example="failed", error="timed out")]) == {}
    assert all_rankings([ranked("nothing")]) == {"nothing": {}}


def test_rankings_as_json(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(ranking_json({"q 1": {"a": 1.0, "é": 2.5}, "q2": {}}), "utf-8")
    first, second = load_predictions(path)
    assert (first.example, list(first.items.items())) == ("q 1", [("é", 2.5), ("a", 1.0)])
    assert (second.example, second.items, second.scope) == ("q2", {}, "collection")


@pytest.mark.parametrize(
    "written",
    [
        '{\n  "q1": {\n    "a": 2,\n    "b": 1.5\n  },\n  "q2": {}\n}\n',
        '{"q1": {"a": 2, "b": 1.5},\n "q2": {}}',
        '\n{ "q1": {\n"a": 2, "b": 1.5}, "q2": {}}',
    ],
)
def test_a_ranking_in_json_may_stand_in_several_lines(written: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(written)
    found = load_predictions(tmp_path / "run.json")
    assert [(one.example, one.items) for one in found] == [("q1", {"a": 2.0, "b": 1.5}), ("q2", {})]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"q": {"a": 1, "a": 2}}', "line 1: an object has the key 'a' twice"),
        ('{"q": {"a": 1}, "q": {"b": 2}}', "the key 'q' twice"),
        ('{"q": {"a": NaN}}', "'q': it has a score that is not finite"),
        ('{"q": {"a": 1%s}}' % ("0" * 400), "'q': it has a score that is not finite"),
        ('{"q": {"a": "high"}}', "is no file of predictions"),
        ('{"q": {"a": true}}', "is no file of predictions"),
        ("{}", "is no file of predictions"),
    ],
)
def test_what_is_no_ranking_in_json_is_told(content: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(DatasetError, match=told):
        load_predictions(tmp_path / "run.json")
