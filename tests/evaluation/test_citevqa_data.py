"""CiteVQA's questions become examples; its answers predictions; what is malformed is named."""

import json
from pathlib import Path

import pytest
from made_citevqa import BOX, element, question, tag, written

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import PageBoxes, Prediction
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.datasets.citevqa import citevqa_answers, load_citevqa
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.published import comparability_notes, leaderboard, published_table
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest, score

LINE_OF_TEXT = (60, 80, 90, 920)
"""Written y first: from 60 to 90 down the page, from 80 to 920 across."""


def test_a_question_becomes_an_example(tmp_path: Path) -> None:
    path = written(tmp_path / "CiteVQA.json", question(element(3), element(5, type="table"), extra=1))
    (example,) = load_dataset("citevqa", path)
    assert (example.id, example.query.text) == ("q1", "How much grain was shipped?")
    assert (example.document, example.documents, example.subset) == ("a.pdf", ("a.pdf",), "Single-Doc")
    assert (example.domain, example.question_type) == ("Newspapers", "Factual Retrieval")
    assert example.evidence_types == ("text", "table")
    assert example.reference.answer == "4,210 tonnes."
    assert [(r.document, r.page, r.bbox) for r in example.reference.regions] == [("a.pdf", 2, BOX), ("a.pdf", 4, BOX)]


@pytest.mark.parametrize("folder", ["", "validation", "data/validation"])
def test_the_folder_of_the_dataset_will_do(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    written(tmp_path / folder / "CiteVQA.json", question(element()))
    assert len(load_citevqa(tmp_path)) == 1


def test_a_folder_without_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no CiteVQA.json in .*, nor in its data/validation"):
        load_citevqa(tmp_path)


def test_a_question_on_several_documents_names_them_in_order(tmp_path: Path) -> None:
    path = written(tmp_path / "q.json", question(element(doc=2), element(doc=1), documents=2))
    (example,) = load_citevqa(path)
    assert (example.document, example.documents) == (None, ("a.pdf", "b.pdf"))
    assert [region.document for region in example.reference.regions] == ["b.pdf", "a.pdf"]
    assert example.cluster == "b.pdf"


def test_gold_is_what_is_necessary_and_all_of_it_where_nothing_is_so_marked(tmp_path: Path) -> None:
    some = question(element(1), element(2, necessity="optional"), element(3, necessity=None))
    none = question(element(1, necessity="x"), element(2, necessity="y"), index="q2")
    first, second = load_citevqa(written(tmp_path / "q.json", some, none))
    assert [len(one.reference.regions) for one in (first, second)] == [1, 2]


def test_boxes_that_are_taller_than_wide_are_read_y_first(tmp_path: Path) -> None:
    path = written(tmp_path / "q.json", *(question(element(1, LINE_OF_TEXT), index=str(n)) for n in range(20)))
    example = load_citevqa(path)[0]
    assert example.reference.y_first
    assert example.reference.regions[0].bbox == (80, 60, 920, 90)
    few = written(tmp_path / "few.json", *(question(element(1, LINE_OF_TEXT), index=str(n)) for n in range(19)))
    assert not load_citevqa(few)[0].reference.y_first


def test_answers_score_alike_however_boxes_are_written(tmp_path: Path) -> None:
    """Both are read in one order, whichever it is."""
    for box in (LINE_OF_TEXT, (80, 60, 920, 90)):
        asks = [question(element(1, box), index=str(n)) for n in range(20)]
        gold = written(tmp_path / "q.json", *asks)
        said = [ask | {"model_predict": tag(1, box) if n % 2 else tag(1)} for n, ask in enumerate(asks)]
        request = ScoringRequest(run=written(tmp_path / "model.json", *said), dataset="citevqa", references=gold)
        assert score(request, intervals=None).figures["citevqa.recall"].value == 0.5


def test_gold_of_their_own_code_is_read(tmp_path: Path) -> None:
    said = f"4,210 tonnes. {tag(2, doc=2)}"
    path = written(tmp_path / "q.json", question(documents=2, Standard_Answer=None, answer_bboxes=said))
    (example,) = load_citevqa(path)
    assert example.reference.answer == "4,210 tonnes."
    assert [(r.document, r.page) for r in example.reference.regions] == [("b.pdf", 1)]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (question(), r"item 1: neither Evidence nor answer_bboxes holds gold; it is of another version"),
        (question(element(0)), r"item 1, Evidence.0.source_page_id"),
        (question(element(doc=0)), r"item 1, Evidence.0.source_doc_index"),
        (question(element(doc=2)), r"item 1, Evidence: document 2 and 'b.pdf' are not one of PDF_Source: a.pdf"),
        (question(element(source_pdf_name="b.pdf"), documents=2), r"document 1 and 'b.pdf' are not one of"),
        (question(element(bbox=[1, 2, 3])), r"item 1, Evidence.0.bbox"),
        (question(element(), PDF_Source=[]), r"item 1, PDF_Source"),
        (question(answer_bboxes=tag(1, doc=4)), r"page 1 of document 4, and there is 1 in PDF_Source"),
        (question(answer_bboxes=tag(0)), r"page 0 of document 1"),
        ({"index": "1", "question": "?"}, r"item 1, Question"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, wrong: object, told: str) -> None:
    with pytest.raises(DatasetError, match=told):
        load_citevqa(written(tmp_path / "q.json", wrong))


def test_an_id_that_comes_twice_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"item 2, index: 'q1' is item 1 already"):
        load_citevqa(written(tmp_path / "q.json", question(element()), question(element())))


def test_reversed_gold_is_kept_as_it_is(tmp_path: Path) -> None:
    (example,) = load_citevqa(written(tmp_path / "q.json", question(element(1, (500, 300, 100, 100)))))
    assert example.reference.regions[0].bbox == (500, 300, 100, 100)


def test_their_answers_are_read_and_written(tmp_path: Path) -> None:
    asks = [question(element(), index="q1"), question(element(), index="q2"), question(element(), index="q3")]
    gold = written(tmp_path / "q.json", *asks)
    said = [asks[0] | {"model_predict": tag(1), "infer_model": "m"}, asks[1] | {"model_predict": None}]
    predictions = load_predictions(written(tmp_path / "model.json", *said))
    assert [(p.example, p.model, p.error) for p in predictions] == [("q1", "m", None), ("q2", None, "no response")]
    (item,) = citevqa_answers(gold, load_citevqa(gold), predictions)
    assert item == asks[0] | {"model_predict": tag(1), "infer_model": "m"}


def test_a_number_of_a_question_is_written_as_a_number(tmp_path: Path) -> None:
    gold = written(tmp_path / "q.json", question(element()) | {"index": 7})
    predictions = load_predictions(written(tmp_path / "model.json", {"index": 7, "model_predict": tag(1)}))
    (item,) = citevqa_answers(gold, load_citevqa(gold), predictions)
    assert item["index"] == 7


def test_answers_one_a_line_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "model.jsonl"
    path.write_text(json.dumps({"index": 7, "model_predict": "No."}) + "\n", "utf-8")
    assert load_predictions(path)[0].example == "7"


def scored(tmp_path: Path, *items: dict[str, object]) -> ScoringRequest:
    gold = written(tmp_path / "q.json", *(question(element(), index=str(n)) for n in range(len(items))))
    answers = [question(element(), index=str(n)) | {"model_predict": tag(1)} for n in range(len(items))]
    judged = written(tmp_path / "judged.json", *({"index": str(n)} | item for n, item in enumerate(items)))
    run = written(tmp_path / "model.json", *answers)
    return ScoringRequest(run=run, dataset="citevqa", references=gold, judgements=judged)


def test_scores_of_their_judge_are_read(tmp_path: Path) -> None:
    request = scored(tmp_path, {"qa_acc_score": 5, "rel_score": 3}, {"qa_acc_score": 3.0, "rel_score": 9})
    run = score(request, intervals=None)
    figures = {name: run.figures[f"citevqa.{name}"].value for name in ("answer", "relevance", "saa", "recall")}
    assert figures == {"answer": 0.8, "relevance": 0.6, "saa": 0.5, "recall": 1}
    assert run.figures["citevqa.relevance"].undefined == 1
    told = "1 malformed judgement (a score missing, misnamed or out of range): such scores are undefined"
    published = score(request.model_copy(update={"convention": "published"}), intervals=None)
    assert told in run.scores.notes
    assert told in published.scores.notes


def test_scores_that_their_script_divided_are_refused(tmp_path: Path) -> None:
    request = scored(tmp_path, {"qa_acc_score": 0.25, "rel_score": 0.2})
    with pytest.raises(DatasetError, match=r"no score exceeds 0.25; the released eval/run.py divides .* by 20"):
        score(request)
    with pytest.raises(DatasetError, match=r"qa_acc_score: no score exceeds 0.25"):
        score(scored(tmp_path, {"qa_acc_score": 0.25, "rel_score": 5}))
    with pytest.raises(DatasetError, match=r"holds no qa_acc_score and no rel_score"):
        score(scored(tmp_path, {"qa_acc_score": None}))


def test_what_could_not_be_used_is_told(tmp_path: Path) -> None:
    asks = [question(element(), element(2, (500, 300, 100, 100)), index=str(n)) for n in range(5)]
    gold = written(tmp_path / "q.json", *asks)
    said = f"{tag(1)} {tag(1, (5, 5, 1, 1))} <bbox page=3>"
    run = written(tmp_path / "model.json", *(ask | {"model_predict": said} for ask in asks))
    strict = score(ScoringRequest(run=run, dataset="citevqa", references=gold), intervals=None).scores.notes
    listed = "('0', '1', '2', …)"
    assert f"5 gold boxes reversed, without area or outside the page: left out {listed}" in strict
    assert any(
        note.startswith("5 cited boxes reversed, ") and note.endswith(f"meet nothing {listed}") for note in strict
    )
    assert f"5 tags in answers that begin as a box and are none: not read {listed}" in strict
    assert "citevqa.recall: 1.0000 (n = 5) by the strict convention, 0.5000 (n = 5) by the published one" in strict
    request = ScoringRequest(run=run, dataset="citevqa", references=gold, convention="published")
    assert any("outside the page alone can be met" in note for note in score(request, intervals=None).scores.notes)


def test_intervals_are_over_documents_and_groups_are_those_of_the_dataset(tmp_path: Path) -> None:
    single = [question(element(), index=str(n)) for n in range(4)]
    several = [question(element(doc=2), index=f"s{n}", documents=2) for n in range(4)]
    gold = written(tmp_path / "q.json", *single, *several)
    run = written(
        tmp_path / "model.json",
        *(ask | {"model_predict": tag(1)} for ask in single),
        *(ask | {"model_predict": tag(1, doc=1)} for ask in several),
    )
    scores = score(ScoringRequest(run=run, dataset="citevqa", references=gold)).scores
    found = scores.figures["citevqa.recall"]
    assert (scores.clusters, found.value, found.clusters) == ("document", 0.5, 2)
    assert [found.low, found.high] == pytest.approx([0, 1], abs=1e-6)
    groups = {name: group["citevqa.recall"].value for name, group in scores.breakdowns["subset"].items()}
    assert groups == {"Single-Doc": 1, "Multi (N-Gold)": 0}


def test_a_run_stands_among_the_published_systems(tmp_path: Path) -> None:
    request = scored(tmp_path, {"qa_acc_score": 5, "rel_score": 5}, {"qa_acc_score": 5, "rel_score": 1})
    request = request.model_copy(update={"convention": "published"})
    ours = score(request, intervals=None).scores
    table = published_table("citevqa").model_copy(update={"questions": len(ours.questions)})
    (told,) = comparability_notes(table, [ours])
    assert "model and prompt are the same" in told
    ranked = leaderboard(table, [ours], by="citevqa.saa")
    assert (ranked[0].system, ranked[0].ours, ranked[1].figures["citevqa.saa"]) == ("model.json", True, 0.76)


@pytest.mark.parametrize("convention", ["strict", "published"])
def test_an_answer_that_failed_counts_in_no_figure_by_either_convention(tmp_path: Path, convention: Convention) -> None:
    asks = [question(element(), index="q1"), question(element(), index="q2")]
    said = [asks[0] | {"model_predict": tag(1)}, asks[1] | {"model_predict": None}]
    gold, run = written(tmp_path / "q.json", *asks), written(tmp_path / "model.json", *said)
    scores = score(ScoringRequest(run=run, dataset="citevqa", references=gold, convention=convention)).scores
    found = scores.figures["citevqa.recall"]
    assert (scores.failed, found.value, found.n) == (1, 1, 1)


def test_boxes_that_are_written_in_the_other_order_are_told(tmp_path: Path) -> None:
    """Of few boxes the shapes do not tell the order; the quotes of their pages do."""
    gold = written(tmp_path / "q.json", question(element(1, LINE_OF_TEXT)))
    page = PageBoxes(document="a.pdf", page=0, boxes=((80, 60, 920, 90),))
    prediction = Prediction(
        example="q1", scope="document", response="No.", context=Context(), quote_boxes={}, gold_pages=(page,)
    )
    run = tmp_path / "run.jsonl"
    run.write_text(prediction.model_dump_json() + "\n", "utf-8")
    notes = score(ScoringRequest(run=run, dataset="citevqa", references=gold), intervals=None).scores.notes
    assert any(note.startswith("quotes meet 0.0000 of the gold, and would meet 1.0000 with x and y") for note in notes)
    right = written(tmp_path / "q.json", question(element(1, (80, 60, 920, 90))))
    notes = score(ScoringRequest(run=run, dataset="citevqa", references=right), intervals=None).scores.notes
    assert not any("exchanged" in note for note in notes)
