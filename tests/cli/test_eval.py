"""`quoteweave eval retrieval` with a retriever of fixed rankings: tables, JSON, resuming, what could not be read."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import Quoteweave
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.records import Document, Filter, Hit, Query, Quote
from quoteweave.core.runs import read_run
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.pipeline.composition.make_search import lexical_fingerprints, read_all_terms
from quoteweave.pipeline.composition.progress import Progress
from quoteweave.pipeline.runs import search_dataset
from quoteweave.pipeline.runs.search_dataset import PreparedRetriever, add_dataset_documents
from quoteweave.pipeline.search import Search
from quoteweave.pipeline.settings import RetrievalSettings
from quoteweave.retrievers.terms.terms import read_terms
from quoteweave.testing import ModelServer, Reply

Evaluate = Callable[..., Result]

BOX = [0, 0, 100, 50]
QUESTIONS = {
    "a.pdf": [("first", "['Chart']", [1]), ("second", "['Table', 'Pure-text (Plain-text)']", [0, 2])],
    "b [red].pdf": [("third", "['Figure']", [0])],
}


class Ranker:
    """Ranks what it holds, whatever the question; refuses unknown documents, as collections do."""

    def __init__(self) -> None:
        self.places = [("a.pdf", 1), ("a.pdf", 0), ("b [red].pdf", 0)]
        self.searches = 0
        self.fails_on: str | None = None

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        self.searches += 1
        if queries[0].text == self.fails_on:
            raise RuntimeError("no answer")
        names = {name for name, _ in self.places} if where is None else set(where.documents or ())
        if names - {name for name, _ in self.places}:
            raise UsageError("no such document")
        found = [place for place in self.places if place[0] in names]
        return [[hit(rank, *place) for rank, place in enumerate(found[:k], start=1)]]


def hit(rank: int, document: str, page: int) -> Hit:
    quote = Quote(
        id=f"{document}:{page}:0",
        document=document,
        page=page,
        page_label="",
        bbox=(0, 0, 100, 100),
        kind="text",
        layout="paragraph",
    )
    return Hit(rank=rank, score=1 / rank, quote=quote)


def document(name: str) -> Document:
    return Document(id=name, name=name, content=f"hash of {name}", format="pdf", parser="p", pages=3, quotes=3)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "mmdocir"
    (folder / "pdf").mkdir(parents=True)
    lines = [
        {
            "doc_name": name,
            "questions": [
                {
                    "Q": text,
                    "A": "",
                    "type": kind,
                    "page_id": pages,
                    "layout_mapping": [{"page": page, "bbox": BOX} for page in pages],
                }
                for text, kind, pages in questions
            ],
        }
        for name, questions in QUESTIONS.items()
    ]
    (folder / "annotations.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    return folder


@pytest.fixture
def ranker() -> Ranker:
    return Ranker()


@pytest.fixture
def documents() -> list[Document]:
    return [document(name) for name in QUESTIONS]


@pytest.fixture
def notes() -> Counter[str]:
    return Counter()


@pytest.fixture
def evaluate(
    monkeypatch: pytest.MonkeyPatch,
    dataset: Path,
    tmp_path: Path,
    ranker: Ranker,
    documents: list[Document],
    notes: Counter[str],
) -> Evaluate:
    def ingest(collection: Path, folder: Path, progress: Progress) -> None:
        assert (collection, folder) == (tmp_path / "collection", dataset / "pdf")
        Collection.open_or_create(collection).close()

    def subject(_: Collection, settings: RetrievalSettings, progress: Progress) -> PreparedRetriever:
        indexes = {"index lexical": "f1", **lexical_fingerprints(settings, read_all_terms(settings))}
        failures = {"b [red].pdf": "it is encrypted; give --password"}
        return PreparedRetriever(ranker, Search(ranker), documents, indexes, failures, notes)

    monkeypatch.setattr(search_dataset, "add_dataset_documents", ingest)
    monkeypatch.setattr(search_dataset, "prepare_retriever", subject)

    def run(*options: str) -> Result:
        where = ["--references", str(dataset), "-c", str(tmp_path / "collection")]
        return CliRunner().invoke(app, ["eval", "retrieval", "--dataset", "mmdocir", *where, *options])

    return run


def value(result: Result) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(result.stdout)
    return parsed


def test_json_holds_fractions_by_scope_and_evidence_type(evaluate: Evaluate) -> None:
    result = evaluate("--json")
    assert result.exit_code == 0, result.output
    got = value(result)
    assert (got["dataset"], got["retriever"], got["questions"], got["failed"]) == ("mmdocir", "lexical", 3, 0)
    assert got["unread"] == {}
    assert got["in_document"]["page_recall@1"] == pytest.approx((1 + 0 + 1) / 3)
    assert got["in_document"]["page_recall@10"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert got["in_document"]["box_recall@10"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert got["in_document"]["box_precision@10"] == pytest.approx((0.25 + 0.25 + 0.5) / 3)
    assert got["in_document"]["layout_recall@5"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert got["in_document"]["page_recall@1.mean_over_domains"] is None, "no domains are told"
    assert {name: value for name, value in got["collection"].items() if not name.endswith("domains")} == {
        "page_recall@1": pytest.approx(1 / 3),
        "page_recall@3": pytest.approx(2.5 / 3),
        "page_recall@5": pytest.approx(2.5 / 3),
        "page_recall@10": pytest.approx(2.5 / 3),
    }
    assert list(got["by_evidence_type"]) == ["chart", "figure", "table", "text"]
    assert got["by_evidence_type"]["table"] == got["by_evidence_type"]["text"]
    assert got["by_evidence_type"]["table"]["n"] == 1
    assert got["by_evidence_type"]["table"]["in_document"]["page_recall@10"] == 0.5
    assert got["undefined"]["in_document"]["box_precision@5"] == 0
    low, high = got["interval_95"]["in_document"]["page_recall@10"]
    assert low <= got["in_document"]["page_recall@10"] <= high
    assert "only 2 documents: intervals are wide, and their level of 95 % is approximate" in got["notes"]


def test_tables_hold_per_cents(evaluate: Evaluate) -> None:
    result = evaluate("--retriever", "bm25")
    assert result.exit_code == 0
    cells = [line.replace("│", " ").split() for line in result.stdout.splitlines()]
    assert "3 questions, retriever bm25" in result.stdout
    assert ["overall", "3", "66.7", "83.3", "83.3", "83.3"] in cells
    assert ["overall", "3", "33.3", "83.3", "83.3", "83.3"] in cells
    assert ["table", "1", "0.0", "50.0", "50.0", "50.0"] in cells
    assert ["overall", "3", "83.3", "83.3", "83.3", "33.3", "33.3", "33.3"] in cells


def test_questions_on_a_document_that_was_not_read_count_as_nothing_found(
    evaluate: Evaluate, documents: list[Document], ranker: Ranker
) -> None:
    documents.pop()
    ranker.places.pop()
    result = evaluate("--json")
    assert result.exit_code == 1
    got = value(result)
    assert got["unread"] == {"b [red].pdf": "it is encrypted; give --password"}
    assert got["failed"] == 0
    assert got["in_document"]["page_recall@1"] == pytest.approx((1 + 0 + 0) / 3)
    assert got["undefined"]["in_document"]["box_precision@5"] == 1
    assert (
        "not read: b [red].pdf: it is encrypted; give --password; nothing is found there for 1 question"
        in result.stderr
    )


def test_a_failed_question_is_named_and_left_out(evaluate: Evaluate, ranker: Ranker) -> None:
    ranker.fails_on = "second"
    result = evaluate("--json")
    assert result.exit_code == 1
    assert value(result)["failed"] == 1
    assert value(result)["in_document"]["page_recall@1"] == 1
    assert "question 'a.pdf#1' failed: unexpected runtime error: no answer" in result.stderr


def test_a_finished_run_is_scored_again_without_searching(evaluate: Evaluate, ranker: Ranker, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = evaluate("--json", "--run", str(folder))
    searches = ranker.searches
    second = evaluate("--json", "--run", str(folder))
    assert ranker.searches == searches
    assert second.stdout == first.stdout
    assert "6 predictions are there" in second.stderr
    run, predictions = read_run(folder)
    assert len(predictions) == 6
    assert run.configuration == {"dataset": "mmdocir", "retriever": "lexical"}
    assert run.fingerprints.keys() == {"annotations", "documents", "index lexical"}


def test_a_run_asks_failed_questions_again(evaluate: Evaluate, ranker: Ranker, tmp_path: Path) -> None:
    ranker.fails_on = "second"
    assert evaluate("--json", "--run", str(tmp_path / "run")).exit_code == 1
    ranker.fails_on, ranker.searches = None, 0
    result = evaluate("--json", "--run", str(tmp_path / "run"))
    assert (result.exit_code, value(result)["failed"], ranker.searches) == (0, 0, 4), (
        "a ranking in each scope, and the texts and the images of its contexts"
    )


@pytest.mark.parametrize("change", ["retriever", "documents", "annotations"])
def test_a_run_is_not_resumed_with_anything_changed(
    evaluate: Evaluate, documents: list[Document], dataset: Path, tmp_path: Path, change: str
) -> None:
    evaluate("--run", str(tmp_path / "run"))
    if change == "documents":
        documents[0] = documents[0].model_copy(update={"content": "new"})
    if change == "annotations":
        path = dataset / "annotations.jsonl"
        path.write_text(path.read_text().replace("first", "First"))
    result = evaluate("--run", str(tmp_path / "run"), "--retriever", "bm25" if change == "retriever" else "lexical")
    assert isinstance(result.exception, UsageError)
    assert f"{change} is" in str(result.exception)


def test_expansion_and_reranking_are_part_of_the_run(evaluate: Evaluate, tmp_path: Path) -> None:
    steps = ("--expand", "rules", "--rerank", "minilm-reranker")
    got = evaluate("--run", str(tmp_path / "run"), *steps)
    assert "3 questions, retriever lexical, expand rules, rerank minilm-reranker" in got.stdout
    configuration = read_run(tmp_path / "run")[0].configuration
    assert (configuration["expand"], configuration["rerank"]) == ("rules", "minilm-reranker")
    again = value(evaluate("--json", "--run", str(tmp_path / "run"), *steps))
    assert (again["expand"], again["rerank"]) == ("rules", "minilm-reranker")
    other = evaluate("--run", str(tmp_path / "run"), "--expand", "rules")
    assert isinstance(other.exception, UsageError)
    assert "rerank is 'minilm-reranker' there and None here" in str(other.exception)


def test_terms_are_part_of_the_run(evaluate: Evaluate, tmp_path: Path) -> None:
    file, folder = tmp_path / "terms.toml", str(tmp_path / "run")
    file.write_text('[[term]]\nname = "tide"\nmade_of = ["ebb"]\n')
    shown = evaluate("--run", folder, "--terms", str(file))
    assert f"3 questions, retriever lexical, terms {file}" in shown.stdout
    assert read_run(tmp_path / "run")[0].fingerprints["terms"] == read_terms(file).fingerprint
    assert value(evaluate("--json", "--run", folder, "--terms", str(file)))["terms"] == [str(file)]
    file.write_text('[[term]]\nname = "tide"\nmade_of = ["flood"]\n')
    for options in (["--terms", str(file)], []):
        other = evaluate("--run", folder, *options)
        assert isinstance(other.exception, UsageError)
        assert "terms is '" in str(other.exception)


def test_a_chat_model_of_the_environment_is_recorded(evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUOTEWEAVE_MODEL", "m")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    got = value(evaluate("--json", "--expand", "rules", "--rerank", "chat"))
    assert (got["expand"], got["rerank"]) == ("rules", "chat:m@http://127.0.0.1:9/v1")


def test_notes_of_searches_are_told_once_with_their_number(evaluate: Evaluate, notes: Counter[str]) -> None:
    notes.update(["the model is away", "the model is away", *"abcdef"])
    told = evaluate("--json").stderr
    assert "note, for 2 questions: the model is away" in told
    assert "and 2 other notes" in told


def test_documents_are_searched_as_they_were_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, collection = tmp_path / "pdf", tmp_path / "collection"
    folder.mkdir()
    for name in ("a", "b", "changed"):
        (folder / f"{name}.txt").write_text(f"Grain came to {name} by ship.")
    with Collection.create(collection) as opened:
        add(opened, [folder], AddOptions(settings=ParserSettings(ocr=False)))
        before = opened.origins()
    (folder / "changed.txt").write_text("Timber came by rail.")
    (folder / "new.txt").write_text("Coal came by barge.")
    add_dataset_documents(collection, folder, TerminalProgress(quiet=True))
    with Collection.open(collection) as opened:
        after = opened.origins()
    assert [after[f"{name}.txt"] for name in "ab"] == [before[f"{name}.txt"] for name in "ab"]
    usual = AddOptions().fingerprint
    assert [after[name].parser for name in ("changed.txt", "new.txt")] == [usual, usual]
    told = capsys.readouterr().err
    assert "added with other settings: 2 documents" in told
    assert f"quoteweave add {folder} -c {collection}" in told


def test_a_folder_added_as_usual_is_kept_in_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, collection = tmp_path / "pdf", tmp_path / "collection"
    folder.mkdir()
    (folder / "a.txt").write_text("Grain came by ship.")
    add_dataset_documents(collection, folder, TerminalProgress(quiet=True))
    (folder / "a.txt").rename(folder / "b.txt")
    add_dataset_documents(collection, folder, TerminalProgress(quiet=True))
    with Collection.open(collection) as opened:
        assert list(opened.origins()) == ["b.txt"]
    assert "other settings" not in capsys.readouterr().err


def test_questions_are_expanded_searched_and_reranked(
    quoteweave: Quoteweave, samples: Path, sample_collection: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_collection, tmp_path / "c")
    with ModelServer(lambda request: Reply(text="ok" if "berth" in str(request) else "[2] > [1]")) as server:
        where = ("--dataset", "mmdocir", "--references", samples, "-c", tmp_path / "c", "--json")
        got = quoteweave("eval", "retrieval", *where, "--expand", "rm3", "--rerank", f"chat:m@{server.base_url}")
        asked = len(server.requests)
    assert (got.code, got.json()["failed"]) == (0, 0)
    assert asked >= 2 * got.json()["questions"], "in both scopes"
    assert "gave no order that can be read" in got.err
    assert got.err.count("are sent to 127.0.0.1") == 1


def test_what_is_sent_to_encode_is_told_once(
    quoteweave: Quoteweave, samples: Path, sample_collection: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_collection, tmp_path / "c")
    with ModelServer() as server:
        where = ("--dataset", "mmdocir", "--references", samples, "-c", tmp_path / "c", "--json")
        got = quoteweave("eval", "retrieval", *where, "-r", f"openai:m@{server.base_url}")
    assert (got.code, got.json()["failed"]) == (0, 0)
    assert got.err.count("sent to 127.0.0.1") == 1


def test_weights_that_are_missing_end_it_at_once(
    quoteweave: Quoteweave, samples: Path, sample_collection: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_collection, tmp_path / "c")
    where = ("--dataset", "mmdocir", "--references", samples, "-c", tmp_path / "c")
    got = quoteweave("eval", "retrieval", *where, "--rerank", f"bge-reranker={tmp_path / 'none'}")
    assert (got.code, got.out) == (1, "")
    assert got.err.count("is no model") == 1


def test_a_folder_without_annotations_is_told_before_anything_is_added(evaluate: Evaluate, dataset: Path) -> None:
    (dataset / "annotations.jsonl").unlink()
    result = evaluate()
    assert isinstance(result.exception, DatasetError)


def test_an_unknown_dataset_is_refused_with_the_names_there_are() -> None:
    result = CliRunner().invoke(app, ["eval", "retrieval", "--dataset", "nothing", "--references", ".", "-c", "c"])
    assert result.exit_code == 2
    assert "mmdocir" in result.stderr
