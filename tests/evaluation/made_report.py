"""Runs for reports: three questions in the form of MMDocRAG, and answers whose figures can be counted by hand."""

from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from builders import write_json_lines

from quoteweave.evaluation.report.runs import Report, make_report
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest

HOSTILE = "<script>alert(1)</script><img src=https://evil.example/x onerror=alert(2)> $x_1$ | `a` **b**"
GOLD = {"q0": ["text1", "image1"], "q1": ["text2", "image2"], "q2": ["image1"]}
DOMAINS = {"q0": "News", "q1": "News", "q2": HOSTILE}
GOOD = {"q0": "[1] ![a](image1)", "q1": "[2] ![b](image2)", "q2": "![c](image1)"}
POOR = {"q0": f"[1] {HOSTILE}", "q1": "[3]", "q2": "![c](image1)"}
"""Overall F1 by question: 2/3, 0 and 1."""
JUDGED = ("Fluency", "Citation Quality", "Text-Image Coherence", "Reasoning Logic", "Factuality")
KINDS = ("domain", "question_type", "evidence_modality_type")
VOID = {"meta", "link", "br", "img"}


def questions(folder: Path, *, plain: bool = False) -> Path:
    """The dataset's file, with all candidate quotes; `plain` without kinds of questions, each of which is a plot."""
    rows = [_question(name) for name in GOLD]
    if plain:
        rows = [{key: value for key, value in row.items() if key not in KINDS} for row in rows]
    return write_json_lines(folder / "evaluation_20.jsonl", rows)


def _question(name: str) -> dict[str, object]:
    return {
        "q_id": name,
        "question": f"What of {name}? {HOSTILE}",
        "doc_name": f"{name}.pdf",
        "domain": DOMAINS[name],
        "question_type": "Causal",
        "evidence_modality_type": ["text", "chart"],
        "answer_short": "grain",
        "gold_quotes": GOLD[name],
        "text_quotes": [
            {"quote_id": f"text{n}", "page_id": n, "text": f"Words of text {n}. {HOSTILE}"} for n in range(1, 13)
        ],
        "img_quotes": [
            {"quote_id": f"image{n}", "page_id": n, "img_path": f"images/{n}.png", "img_description": f"Chart {n}"}
            for n in range(1, 9)
        ],
    }


def answers(path: Path, responses: Mapping[str, str | None], *, tokens: int = 100) -> Path:
    """A file of responses; None is an answer that failed."""
    rows: list[dict[str, object]] = []
    for name, response in responses.items():
        row: dict[str, object] = {"q_id": name, "response": response or "", "in_tok": 1000, "out_tok": tokens}
        rows.append(row if response is not None else {**row, "error": f"timed out {HOSTILE}"})
    return write_json_lines(path, rows)


def judgements(path: Path, scores: Mapping[str, int]) -> Path:
    return write_json_lines(
        path, [{"q_id": name, "response": dict.fromkeys(JUDGED, score)} for name, score in scores.items()]
    )


def gathered(
    folder: Path, runs: Mapping[str, Mapping[str, str | None]], *, plain: bool = False, **options: Any
) -> Report:
    references = questions(folder, plain=plain)
    requests = [
        ScoringRequest(run=answers(folder / name, responses), dataset="mmdocrag-20", references=references, **options)
        for name, responses in runs.items()
    ]
    return make_report(requests)


class Html(HTMLParser):
    """A page as browsers would read it: elements with their attributes, and the text of each outside style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.wrong: list[str] = []
        self.feed(page)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)

    def values(self, attribute: str) -> Iterator[str]:
        """Of every element that has it."""
        return (str(attributes[attribute]) for _, attributes in self.elements if attribute in attributes)
