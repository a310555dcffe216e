"""Models as mteb runs them: its protocol by structure, and its own tasks where it is installed."""

import gc
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiny_checkpoints as tiny
import tiny_visual_checkpoints as tiny_visual
from PIL import Image

from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Prediction
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.metrics.rankings import Rankings
from quoteweave.evaluation.scoring.scorer import ScoringSettings, score_predictions
from quoteweave.interchange import mteb as adapter
from quoteweave.interchange.mteb import MtebRetriever, mteb_result, write_mteb_result
from quoteweave.models.checkpoints import Hardware

CPU = Hardware(device="cpu", dtype="float32")
TASK: dict[str, Any] = {
    "task_metadata": None,
    "hf_split": "test",
    "hf_subset": "default",
    "encode_kwargs": {},
    "num_proc": None,
}
CORPUS = [
    {"id": "a", "title": "the harbour", "text": "in spring"},
    {"id": "b", "title": "", "text": "revenue of the ship"},
    {"id": "c", "text": "grain"},
]
QUERIES = [{"id": "1", "text": "revenue of the ship"}, {"id": "2", "text": "the harbour", "instruction": "in spring"}]


@pytest.fixture
def dense(tmp_path: Path) -> MtebRetriever:
    return MtebRetriever(f"gte={tiny.sentence_transformer(tmp_path / 'dense', 'mean')}", CPU)


def test_documents_are_ranked_by_their_scores(dense: MtebRetriever) -> None:
    dense.index(CORPUS, **TASK)
    found = dense.search(QUERIES, top_k=2, **TASK)
    best = [next(iter(documents)) for documents in found.values()]
    assert best == ["b", "a"], "title and text, question and instruction"
    assert {len(documents) for documents in found.values()} == {2}
    assert found["1"]["b"] == pytest.approx(1, abs=1e-5)


def test_another_corpus_takes_the_place_of_the_first(dense: MtebRetriever, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "ITEMS_AT_ONCE", 2)
    dense.index(CORPUS, **TASK)
    assert {*dense.search(QUERIES[:1], top_k=10, **TASK)["1"]} == {"a", "b", "c"}, "in two parts"
    dense.index(CORPUS[2:], **TASK)
    assert [*dense.search(QUERIES[:1], top_k=10, **TASK)["1"]] == ["c"]
    dense.index([], **TASK)
    assert dense.search(QUERIES[:1], top_k=10, **TASK) == {"1": {}}


def test_what_it_stores_goes_with_it_or_with_the_next_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))

    def folders() -> list[Path]:
        return [path for path in place.iterdir() if path.is_dir()]

    retriever = MtebRetriever(f"gte={tiny.sentence_transformer(tmp_path / 'dense', 'mean')}", CPU)
    assert folders() == []
    retriever.index(CORPUS, **TASK)
    (first,) = folders()
    retriever.index(CORPUS[2:], **TASK)
    (second,) = folders()
    assert first != second
    assert Path(f"{second}.lock").is_file(), "by which another process removes it once this one was killed"
    del retriever
    gc.collect()
    assert folders() == []


def test_of_a_reranking_task_only_its_candidates_are_ranked(dense: MtebRetriever) -> None:
    dense.index(CORPUS, **TASK)
    found = dense.search(QUERIES, top_k=1, top_ranked={"1": ["a", "c"], "2": ["c"]}, **TASK)
    assert [*found["2"]] == ["c"]
    assert len(found["1"]) == 1
    assert "b" not in found["1"]


def test_many_vectors_are_scored_by_maxsim(tmp_path: Path) -> None:
    from sentence_transformers import MultiVectorEncoder

    folder = tiny.colbert(tmp_path / "colbert")
    retriever = MtebRetriever(f"colbert={folder}", CPU)
    retriever.index(CORPUS, **TASK)
    found = retriever.search(QUERIES[:1], top_k=3, **TASK)["1"]
    model: Any = MultiVectorEncoder(str(folder), device="cpu")
    texts = ["the harbour in spring", "revenue of the ship", "grain"]
    expected = model.similarity(model.encode_query([QUERIES[0]["text"]]), model.encode_document(texts))[0].tolist()
    assert found == pytest.approx(dict(zip("abc", expected, strict=True)), abs=1e-3)


def test_pictures_are_read_by_models_of_pictures(tmp_path: Path) -> None:
    retriever = MtebRetriever(f"colqwen2-hf={tiny_visual.colqwen2_hf(tmp_path / 'visual')}", CPU)
    pictures = [{"id": name, "image": Image.new("RGB", (60, 60), name)} for name in ("red", "blue")]
    retriever.index(pictures, **TASK)
    assert {*retriever.search(QUERIES[:1], top_k=2, **TASK)["1"]} == {"red", "blue"}
    with pytest.raises(UsageError, match="document 'a' has none"):
        retriever.index(CORPUS, **TASK)


@pytest.mark.parametrize("name", ["lexical", "openai:m@http://127.0.0.1/v1", "bge@hnsw", "colpali@page"])
def test_what_is_no_model_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be run by mteb"):
        MtebRetriever(name)


def test_a_text_that_is_none_is_named(dense: MtebRetriever) -> None:
    with pytest.raises(UsageError, match="row 'x' has no text that is a string"):
        dense.index([{"id": "x", "text": ["a", "conversation"]}], **TASK)


def test_what_mteb_records_is_the_models_row(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("mteb.models.model_meta")
    module.ModelMeta = SimpleNamespace
    monkeypatch.setitem(sys.modules, "mteb", ModuleType("mteb"))
    monkeypatch.setitem(sys.modules, "mteb.models", ModuleType("mteb.models"))
    monkeypatch.setitem(sys.modules, "mteb.models.model_meta", module)
    meta = MtebRetriever("colbert@mmdocir", CPU).mteb_model_meta
    assert (meta.name, meta.adapted_from) == ("quoteweave/colbert-mmdocir", "colbert-ir/colbertv2.0")
    assert (meta.similarity_fn_name, meta.model_type, meta.license) == ("MaxSim", ["late-interaction"], "mit")
    assert MtebRetriever("colpali", CPU).mteb_model_meta.license is None, "mteb has no licence of two parts"


def run_scores(folder: Path) -> Any:
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text('{"_id": "1", "text": "a"}\n{"_id": "2", "text": "b"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\tx\t1\n2\ty\t1\n")
    rankings: Sequence[dict[str, float]] = [{"x": 2.0, "y": 1.0}, {"x": 2.0, "y": 1.0}]
    made = [Prediction(example=str(at), scope="collection", items=items) for at, items in enumerate(rankings, 1)]
    settings = ScoringSettings(name="run", dataset="beir")
    return score_predictions(load_dataset("beir", folder), made, metrics=[Rankings()], settings=settings)


def test_figures_of_a_ranking_take_mtebs_form(tmp_path: Path) -> None:
    result = mteb_result(run_scores(tmp_path / "beir"), task="SciFact", revision="abc")
    write_mteb_result(tmp_path / "SciFact.json", result)
    written = json.loads((tmp_path / "SciFact.json").read_text("utf-8"))
    (scores,) = written["scores"]["test"]
    assert scores["main_score"] == scores["ndcg_at_10"] == pytest.approx((1 + 1 / np.log2(3)) / 2)
    assert (scores["recall_at_1"], scores["hit_rate_at_10"], scores["precision_at_10"]) == (0.5, 1, pytest.approx(0.1))
    assert not {name for name in scores if name.startswith(("map", "mrr"))}, "ours are not cut at a rank"
    assert (written["task_name"], written["dataset_revision"], written["mteb_version"]) == ("SciFact", "abc", None)


def test_scores_without_rankings_have_no_such_form() -> None:
    empty: Any = SimpleNamespace(figures={})
    with pytest.raises(UsageError, match="no ndcg@10"):
        mteb_result(empty, task="SciFact", revision="abc")


def test_mteb_itself_runs_a_model_and_reads_the_results(dense: MtebRetriever, tmp_path: Path) -> None:
    mteb = pytest.importorskip("mteb", reason="mteb is not installed")
    from mteb.mocks.mock_tasks import MockRerankingTask, MockRetrievalTask  # type: ignore[import-not-found]
    from mteb.models.models_protocols import SearchProtocol  # type: ignore[import-not-found]
    from mteb.results import TaskResult  # type: ignore[import-not-found]

    assert isinstance(dense, SearchProtocol)
    for task in (MockRetrievalTask(), MockRerankingTask()):
        found = mteb.evaluate(dense, [task], cache=None, co2_tracker=False)
        assert 0 <= found.task_results[0].get_score() <= 1
    result = mteb_result(run_scores(tmp_path / "beir"), task="SciFact", revision="abc")
    assert TaskResult.model_validate(result).get_score() == pytest.approx(result["scores"]["test"][0]["main_score"])  # type: ignore[index]
