"""CiteVQA on the command line: the sample documents asked without a model, scored, and given to its authors' script."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Quoteweave

from quoteweave.core.runs import read_run_record
from quoteweave.pipeline.composition.add_documents import add_documents
from quoteweave.testing import ModelServer, Reply

A4 = (595.28, 841.89)
QUESTIONS_ASKED = 7
QUESTIONS = "data/validation/CiteVQA.json"
PDFS = ("harbour-report.pdf", "two-column-paper.pdf")


def thousandths(page: int, bbox: list[float], *, document: str, doc: int = 1) -> dict[str, Any]:
    box = [round(1000 * edge / side) for edge, side in zip(bbox, (*A4, *A4), strict=True)]
    return {
        "bbox": box,
        "source_page_id": page + 1,
        "source_doc_index": doc,
        "source_pdf_name": document,
        "type": "text",
    }


def questions_of(samples: Path) -> list[dict[str, Any]]:
    """The questions of the samples on the first document, in CiteVQA's form."""
    first = json.loads((samples / "annotations.jsonl").read_text("utf-8").splitlines()[0])
    assert first["doc_name"] == PDFS[0]
    return [
        {
            "index": f"h{number}",
            "Question": asked["Q"],
            "Standard_Answer": asked["A"],
            "Question_Type": "Factual Retrieval",
            "dataset_type": "Single-Doc",
            "description": "Reports",
            "language": "en",
            "PDF_Source": [f"data/pdf/{PDFS[0]}"],
            "Evidence": [thousandths(box["page"], box["bbox"], document=PDFS[0]) for box in asked["layout_mapping"]],
        }
        for number, asked in enumerate(first["questions"])
    ]


def several(question: dict[str, Any]) -> dict[str, Any]:
    """The same asked of two documents, with its gold in the second."""
    evidence = [{**element, "source_doc_index": 2} for element in question["Evidence"]]
    sources = [f"data/pdf/{name}" for name in reversed(PDFS)]
    return {
        **question,
        "index": f"{question['index']}-of-two",
        "PDF_Source": sources,
        "Evidence": evidence,
        "dataset_type": "Multi (1-Gold)",
    }


@pytest.fixture(scope="module")
def made(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the dataset's questions and PDFs, and a collection of these."""
    folder = tmp_path_factory.mktemp("citevqa")
    (folder / "data" / "validation").mkdir(parents=True)
    (folder / "data" / "pdf").mkdir()
    for name in PDFS:
        shutil.copy(samples / "pdf" / name, folder / "data" / "pdf")
    asked = questions_of(samples)
    asked = [*asked, *map(several, asked[:2])]
    (folder / "data" / "validation" / "CiteVQA.json").write_text(json.dumps(asked), "utf-8")
    assert add_documents(folder / "c", [folder / "data" / "pdf"]).failed == ()
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def answer(quoteweave: Quoteweave, folder: Path, settings: str) -> tuple[Path, Any]:
    (folder / "run.toml").write_text(settings, "utf-8")
    arguments = ("--config", folder / "run.toml", "--out", folder / "run", "-c", folder / "c", "--json")
    ran = quoteweave("run", "--dataset", "citevqa", "--references", folder / QUESTIONS, *arguments)
    assert ran.code == 0, ran.err
    return folder / "run", ran.json()[0]


def figures(quoteweave: Quoteweave, run: Path, folder: Path, *options: object) -> dict[str, Any]:
    scored = quoteweave(
        "eval", "score", run, "--dataset", "citevqa", "--references", folder / QUESTIONS, *options, "--json"
    )
    assert scored.code == 0, scored.err
    value: dict[str, Any] = scored.json()
    return value


def test_retrieved_quotes_are_cited_as_boxes(quoteweave: Quoteweave, folder: Path) -> None:
    run, outcome = answer(quoteweave, folder, 'retriever = ["lexical"]')
    assert (outcome["questions"], outcome["failed"]) == (QUESTIONS_ASKED, 0)
    value = figures(quoteweave, run, folder)
    told = {name: one["value"] for name, one in value["figures"].items() if name.startswith("citevqa.")}
    assert 0.5 < told["citevqa.recall"] <= told["citevqa.ceiling.context"] <= told["citevqa.ceiling.parser"] <= 1
    assert told["citevqa.page_recall"] > told["citevqa.recall"]
    assert value["clusters"] == "document"
    assert {name: group["citevqa.recall"]["n"] for name, group in value["breakdowns"]["subset"].items()} == {
        "Single-Doc": QUESTIONS_ASKED - 2,
        "Multi (1-Gold)": 2,
    }
    assert any("citevqa.page_recall: 1" in note and "undefined by the published" in note for note in value["notes"])
    ranked = quoteweave("eval", "score", run, "--dataset", "citevqa", "--references", folder / QUESTIONS).out
    assert "citevqa.ceiling.parser" in ranked


def test_whole_documents_are_read_as_far_as_the_window_holds(quoteweave: Quoteweave, folder: Path) -> None:
    run, whole = answer(quoteweave, folder, 'quotes = "document"')
    assert (whole["failed"], whole["cut_quotes"]) == (0, 0)
    ceilings = figures(quoteweave, run, folder)["figures"]
    assert ceilings["citevqa.ceiling.context"]["value"] == ceilings["citevqa.ceiling.parser"]["value"]
    shutil.rmtree(run)
    run, short = answer(quoteweave, folder, 'quotes = "document"\nwindow = 2000')
    assert short["cut_quotes"] > 0
    first = json.loads((run / "predictions.jsonl").read_text("utf-8").splitlines()[0])
    shutil.rmtree(run)
    arguments = ("--config", folder / "run.toml", "--out", run, "-c", folder / "c")
    printed = quoteweave("run", "--dataset", "citevqa", "--references", folder / QUESTIONS, *arguments).err
    assert short["notes"][first["notes"][0]] >= 1
    assert any(f": {note}" in printed for note in short["notes"])
    assert "left out, at the end of the documents: the window of 2,000 tokens holds no more" in first["notes"][0]
    assert figures(quoteweave, run, folder)["figures"]["citevqa.ceiling.context"]["value"] < 1


def test_answers_are_written_as_the_authors_script_reads_them(quoteweave: Quoteweave, folder: Path) -> None:
    run, _ = answer(quoteweave, folder, 'retriever = ["lexical"]')
    out = folder / "answers.json"
    asked = ("--dataset", "citevqa", "--references", folder / QUESTIONS)
    exported = quoteweave("eval", "export", run, *asked, "--citevqa", out, "--json")
    assert exported.code == 0, exported.err
    assert (exported.json()["answers"], exported.json()["failed"]) == (QUESTIONS_ASKED, 0)
    items = json.loads(out.read_text("utf-8"))
    assert all('<bbox page="' in item["model_predict"] for item in items if item["dataset_type"] == "Single-Doc")
    assert all('<bbox doc="' in item["model_predict"] for item in items if item["dataset_type"] != "Single-Doc")
    ours, theirs = (
        {
            name: one["value"]
            for name, one in figures(quoteweave, path, folder, "--convention", "published")["figures"].items()
        }
        for path in (run, out)
    )
    boxes = [name for name in theirs if name.startswith("citevqa.")]
    assert boxes == ["citevqa.recall", "citevqa.precision", "citevqa.f1"]
    assert {name: theirs[name] for name in boxes} == {name: ours[name] for name in boxes}
    said = quoteweave("eval", "export", run, *asked)
    assert said.code == 2
    assert "--trec-rag FILE or --citevqa FILE" in said.err


def test_a_pdf_that_is_not_there_and_a_page_that_it_lacks_are_told(quoteweave: Quoteweave, folder: Path) -> None:
    path = folder / QUESTIONS
    first, second, *_ = json.loads(path.read_text("utf-8"))
    first["PDF_Source"] = ["data/pdf/never-downloaded.pdf"]
    for element in first["Evidence"]:
        element["source_pdf_name"] = "never-downloaded.pdf"
    second["Evidence"].append({**second["Evidence"][0], "source_page_id": 400})
    second["Evidence"].append({**second["Evidence"][0], "bbox": [900, 100, 100, 200]})
    path.write_text(json.dumps([first, second]), "utf-8")
    (folder / "run.toml").write_text('retriever = ["lexical"]', "utf-8")
    arguments = ("--config", folder / "run.toml", "--out", folder / "run", "-c", folder / "c")
    ran = quoteweave("run", "--dataset", "citevqa", "--references", path, *arguments)
    assert ran.code == 1
    assert "the collection has no document 'never-downloaded.pdf'" in ran.err
    value = figures(quoteweave, folder / "run", folder)
    assert (value["failed"], value["figures"]["citevqa.recall"]["n"]) == (1, 1)
    notes = " ".join(value["notes"])
    assert "1 gold box on pages that the document lacks: left out ('h1')" in notes
    assert "1 gold box reversed, without area or outside the page: left out ('h1')" in notes


def test_a_judge_makes_attributed_accuracy(quoteweave: Quoteweave, folder: Path) -> None:
    run, _ = answer(quoteweave, folder, 'retriever = ["lexical"]')
    asked = ("--dataset", "citevqa", "--references", folder / QUESTIONS)

    def reply(request: Mapping[str, Any]) -> Reply:
        about_evidence = "Regions cited:" in str(request["messages"][0]["content"])
        return Reply(text='{"relevance": 3}' if about_evidence else '{"answer": 4}')

    with ModelServer(reply) as server:
        judging = ("--model", "judge-1", "--base-url", server.base_url, "--json")
        judged = quoteweave("eval", "judge", run, *asked, *judging)
        people = quoteweave("eval", "judge", run, *asked, *judging, "--human", run / "judgements.jsonl")
    assert judged.code == 0, judged.err
    assert judged.json()["judge"] == {"answer": 4, "relevance": 3}
    assert people.code == 2
    assert "--human and --preset are of five criteria" in people.err
    value = figures(quoteweave, run, folder, "--judgements", run / "judgements.jsonl")
    told = {name: value["figures"][f"citevqa.{name}"]["value"] for name in ("answer", "relevance", "saa", "recall")}
    assert (told["answer"], told["relevance"]) == (0.8, 0.6)
    assert told["saa"] == told["recall"]  # each question has one gold box, so that evidence is right where it is met


def test_the_commands_of_the_guide_run(quoteweave: Quoteweave, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "runs.md").read_text("utf-8").partition("## Answers with boxes")[2]
    commands = re.findall(r"^\$ quoteweave (.*)$", guide.partition("\n## ")[0], re.MULTILINE)
    assert len(commands) == 4
    monkeypatch.chdir(folder)
    Path("config.toml").write_text('retriever = ["lexical"]', "utf-8")
    done = [quoteweave(*command.split()) for command in commands]
    assert [outcome.code for outcome in done] == [0, 0, 0, 0], [outcome.err for outcome in done]
    assert "citevqa.ceiling.context" in done[2].out
    assert len(json.loads(Path("answers.json").read_text("utf-8"))) == QUESTIONS_ASKED


def test_a_run_takes_the_folder_as_scoring_does(quoteweave: Quoteweave, folder: Path) -> None:
    (folder / "run.toml").write_text('retriever = ["lexical"]', "utf-8")
    for name, references in (("of-folder", folder), ("of-file", folder / QUESTIONS)):
        ran = quoteweave(
            *("run", "--dataset", "citevqa", "--references", references, "--config", folder / "run.toml"),
            *("--out", folder / name, "-c", folder / "c"),
        )
        assert ran.code == 0, ran.err
    assert read_run_record(folder / "of-folder").fingerprints == read_run_record(folder / "of-file").fingerprints
