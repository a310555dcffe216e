"""Answers of TREC's RAG track: what is written is read back, by the forms of both years, and what is wrong is named."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders import make_context, make_example, make_quote, write_json_lines

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.formats.trec_rag import MAX_WORDS, TrecRagTag, Year, trec_rag_answers
from quoteweave.evaluation.text.responses import citations


def lines(text: str) -> list[str]:
    return text.splitlines()


def seen(count: int) -> Context:
    return make_context(*(make_quote(f"text {number}", id=f"d{number}") for number in range(1, count + 1)))


def answered(
    response: str | None, context: Context, *, error: str | None = None
) -> tuple[list[Example], list[Prediction]]:
    prediction = Prediction(example="27", scope="context", response=response, error=error)
    return [make_example("27", context=context)], [prediction]


def written(response: str, context: Context, year: Year = 2024, **tags: Any) -> list[Any]:
    found = trec_rag_answers(*answered(response, context), lines, TrecRagTag(run="r", year=year, **tags))
    return [json.loads(line) for line in found.lines]


def test_the_form_of_2024() -> None:
    (line,) = written("Ships [2] sailed [1, 2].\nThey sank.\nAll of them [2] [9].", seen(3))
    assert line == {
        "run_id": "r",
        "topic_id": "27",
        "topic": make_example("27").query.text,
        "references": ["d1", "d2", "d3"],
        "response_length": 7,
        "answer": [
            {"text": "Ships sailed.", "citations": [1, 0]},
            {"text": "They sank.", "citations": []},
            {"text": "All of them.", "citations": [1]},
        ],
    }


def test_the_form_of_2025() -> None:
    (line,) = written("Ships sailed [1].", seen(1), 2025, team="us")
    assert line["metadata"] == {
        "team_id": "us",
        "run_id": "r",
        "type": "automatic",
        "narrative_id": "27",
        "narrative": make_example("27").query.text,
    }
    assert line["references"] == ["d1"]
    assert "topic_id" not in line


@pytest.mark.parametrize("year", [2024, 2025])
def test_what_is_written_is_read_back(tmp_path: Path, year: Year) -> None:
    examples, predictions = answered("Ships [2] sailed [1].\nThey sank!\nWhy [2]?", seen(2))
    found = trec_rag_answers(examples, predictions, lines, TrecRagTag(run="r", team="us", year=year))
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(found.lines))
    (back,) = load_predictions(path)
    assert (back.example, back.response, back.model) == ("27", "Ships sailed [2][1]. They sank! Why [2]?", "r")
    assert back.context is not None
    assert [hit.quote.id for hit in back.context.texts] == ["d1", "d2"]
    assert back.notes == ()


def test_citations_of_images_are_read_back_as_such(tmp_path: Path) -> None:
    texts = [make_quote(name, id=name) for name in ("text1", "text2")]
    quotes = [*texts, *(make_quote(name, id=name, kind="image") for name in ("image1", "image2"))]
    examples, predictions = answered("Ships [2] sailed.\n![A ship](image2) It sank ![](image1).", make_context(*quotes))
    found = trec_rag_answers(examples, predictions, lines, TrecRagTag(run="r", year=2024))
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(found.lines))
    (back,) = load_predictions(path)
    assert back.context is not None
    assert [hit.quote.id for hit in back.context.images] == ["image1", "image2"]
    assert back.response is not None
    cited = citations(back.response, "published")
    assert (cited.text, set(cited.image)) == ((2,), {1, 2})


def test_quotes_above_the_limit_are_left_out_where_nothing_cites_them() -> None:
    examples, predictions = answered("Ships [22].\nMore [8].", seen(22))
    found = trec_rag_answers(examples, predictions, lines, TrecRagTag(run="r", year=2024))
    (line,) = (json.loads(one) for one in found.lines)
    assert line["references"] == [*(f"d{number}" for number in range(1, 20)), "d22"]
    assert [one["citations"] for one in line["answer"]] == [[19], [7]]
    assert found.dropped == 2
    cites_all = "Ships " + "".join(f"[{number}]" for number in range(1, 22)) + "."
    with pytest.raises(DatasetError, match="'27' cites 21 quotes, where TREC 2024 allows 20"):
        trec_rag_answers(*answered(cites_all, seen(22)), lines, TrecRagTag(run="r", year=2024))
    assert len(written(cites_all, seen(22), 2025)[0]["references"]) == 22


def test_what_is_left_out_is_counted() -> None:
    tag = TrecRagTag(run="r", year=2024)
    found = trec_rag_answers(*answered("word " * (MAX_WORDS + 1) + "[4].", seen(2)), lines, tag)
    assert (found.failed, found.out_of_range, found.dropped, found.long) == (0, 1, 0, 1)
    failed = trec_rag_answers(*answered(None, seen(1), error="timed out"), lines, tag)
    assert (failed.lines, failed.failed) == ((), 1)


FIRST = {
    "run_id": "r",
    "topic_id": "27",
    "topic": "Ships?",
    "references": ["a", "b"],
    "response_length": 2,
    "answer": [{"text": "Ships sailed.", "citations": [1, 0]}],
}
METADATA = {"team_id": "us", "run_id": "r", "type": "automatic", "narrative_id": 1, "narrative": "Ships."}
LATER = {"metadata": METADATA, "references": ["a", "b"], "answer": [{"text": "Ships sailed.", "citations": ["b", "a"]}]}


def read(folder: Path, *rows: object) -> list[Prediction]:
    path = folder / "rag.jsonl"
    write_json_lines(path, rows)
    return load_predictions(path)


def test_places_and_ids_say_the_same(tmp_path: Path) -> None:
    (first, later), (placed,) = read(tmp_path, FIRST, LATER), read(tmp_path, {**LATER, "answer": FIRST["answer"]})
    assert first.response == later.response == placed.response == "Ships sailed [2][1]."
    assert (first.example, later.example) == ("27", "1")


def test_a_length_that_is_not_that_of_the_answer_is_noted(tmp_path: Path) -> None:
    (found,) = read(tmp_path, {**FIRST, "response_length": 9})
    assert found.notes == ("response_length says 9 words, the answer has 2",)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"answer": [{"text": "x", "citations": [2]}]}, r"answer\.0\.citations: 2 is no place among 2 references"),
        ({"answer": [{"text": "x", "citations": [-1]}]}, r"answer\.0\.citations: -1 is no place"),
        ({"answer": [{"text": "x", "citations": ["c"]}]}, r"answer\.0\.citations: 'c' is not among the references"),
        ({"answer": [{"citations": [0]}]}, r"answer\.0\.text: Field required"),
        ({"references": ["a", "a"]}, "references: 'a' comes twice"),
        ({"references": [str(one) for one in range(21)]}, "references: 21, where the track allows 20"),
        ({"topic_id": None}, r"neither topic_id \(2024\) nor metadata\.narrative_id \(2025\)"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, changes: dict[str, object], told: str) -> None:
    with pytest.raises(DatasetError, match=rf"rag\.jsonl, line 1.*{told}"):
        read(tmp_path, {**FIRST, **changes})


def test_a_topic_that_comes_twice_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"line 2: topic '27' is answered already"):
        read(tmp_path, FIRST, FIRST)
