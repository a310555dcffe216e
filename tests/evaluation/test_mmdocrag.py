import gzip
from pathlib import Path

import pytest
from builders import write_json_lines

from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import GoldLayout
from quoteweave.evaluation.datasets import load_dataset


def text(number: int, **more: object) -> dict[str, object]:
    return {"quote_id": f"text{number}", "type": "text", "text": f"said {number}", "page_id": number, **more}


def image(number: int, **more: object) -> dict[str, object]:
    shown = {"img_path": f"images/{number}.jpg", "img_description": f"A chart, {number}."}
    return {"quote_id": f"image{number}", "type": "image", **shown, "page_id": 7, "layout_id": 40 + number, **more}


def question(**changes: object) -> dict[str, object]:
    return {
        "q_id": 12,
        "doc_name": "report.pdf",
        "domain": "Brochure",
        "question": "How many ships?",
        "evidence_modality_type": ["text", "chart"],
        "question_type": "Descriptive",
        "text_quotes": [text(n, layout_id=n) for n in range(1, 11)],
        "img_quotes": [image(n) for n in range(1, 6)],
        "gold_quotes": ["text3", "image2"],
        "answer_short": "12",
        "answer_interleaved": "Twelve ships [3]. ![ships](image2)",
        **changes,
    }


def written(path: Path, *lines: dict[str, object]) -> Path:
    write_json_lines(path, lines)
    return path


def test_a_question_with_its_candidates_and_gold(tmp_path: Path) -> None:
    (example,) = load_dataset("mmdocrag-15", written(tmp_path / "dev_15.jsonl", question(unknown_field=1)))
    assert (example.id, example.document, example.domain) == ("12", "report.pdf", "Brochure")
    assert (example.question_type, example.evidence_types) == ("Descriptive", ("text", "chart"))
    assert example.context is not None
    third, second = example.context.quote("text", 3), example.context.quote("image", 2)
    assert third is not None
    assert second is not None
    assert (third.id, third.text, third.page, third.page_label) == ("text3", "said 3", 3, "4")
    assert (second.id, second.image, second.vlm_text, second.layout_id) == (
        "image2",
        "images/2.jpg",
        "A chart, 2.",
        42,
    )
    gold = example.reference
    assert (gold.relevant, gold.short_answer, gold.pages) == ({"text3": 1, "image2": 1}, "12", (3, 7))
    assert gold.layouts == (
        GoldLayout(document="report.pdf", layout_id=3, kind="text"),
        GoldLayout(document="report.pdf", layout_id=42, kind="image"),
    )


def test_gold_alone_compressed(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"q_id": 0, "gold_quotes": ["image8", "text12"], "answer_short": "46"}\n'))
    (example,) = load_dataset("mmdocrag-20", path)
    assert (example.id, example.context, example.document) == ("0", None, None)
    assert example.reference.relevant == {"image8": 1, "text12": 1}
    with pytest.raises(DatasetError, match=r"line 1, gold_quotes: 'image8' is not among the 15 .* another setting\?"):
        load_dataset("mmdocrag-15", path)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"gold_quotes": ["text11"]}, "gold_quotes: 'text11' is not among"),
        ({"img_quotes": [image(n) for n in range(1, 9)]}, "has 18 candidate quotes; it is not of the setting of 15"),
        ({"img_quotes": [image(n) for n in (1, 2, 3, 5, 4)]}, "image quote 4: its id is 'image5', not image4"),
        ({"text_quotes": "many"}, "text_quotes"),
        ({"q_id": None}, "q_id"),
    ],
)
def test_what_cannot_be_read_is_named(changes: dict[str, object], told: str, tmp_path: Path) -> None:
    path = written(tmp_path / "dev_15.jsonl", question(q_id=1), question(**changes))
    with pytest.raises(DatasetError, match=r"dev_15\.jsonl, line 2") as caught:
        load_dataset("mmdocrag-15", path)
    assert told in str(caught.value)


def test_a_question_comes_once(tmp_path: Path) -> None:
    path = written(tmp_path / "dev_15.jsonl", question(), question())
    with pytest.raises(DatasetError, match="line 2, q_id: '12' is on line 1 already"):
        load_dataset("mmdocrag-15", path)


def test_a_cut_line_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "dev_15.jsonl", question())
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DatasetError, match=r"line 1, .*may be cut short"):
        load_dataset("mmdocrag-15", path)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"{}\n" * 5000)[:-20])
    with pytest.raises(DatasetError, match=r"cut\.gz cannot be read to its end|line 1"):
        load_dataset("mmdocrag-15", tmp_path / "cut.gz")


def test_names_and_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no dataset 'mmdocrag'; there are: .*mmdocrag-20"):
        load_dataset("mmdocrag", tmp_path)
    with pytest.raises(UsageError, match="name them with --references"):
        load_dataset("mmdocrag-20", None)
    with pytest.raises(DatasetError, match="does not exist"):
        load_dataset("mmdocrag-20", tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DatasetError, match="holds no question"):
        load_dataset("mmdocrag-20", tmp_path / "empty.jsonl")
