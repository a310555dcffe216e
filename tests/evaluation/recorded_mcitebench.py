"""Made responses, and what MCiteBench's published scripts make of them: caiyuhu/MCiteBench at d9d41d3, evaluation/.

The scripts ran on these inputs with their calls of a judge answered from the tables below: `recall` on 0 to 2 and
`precision` on 0 or 1, by sentence and citation, `rating` on 0 to 2; None is a call that raises. Expected figures are
per cent, None where a response is left out. Every response has the same items. `RANDOM_CASES` were drawn at random, and
judged over HTTP by a scripted server, once for the scripts as they are and once for our own commands.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

TEXTS = {"1": "Trains run daily.", "2": "Coal came by rail.", "3": "It rained."}
FIGURES = {"3": "images/f.jpg", "12": "images/g.jpg"}
TABLES = {"1": "images/t.jpg"}


class Expected(NamedTuple):
    recall: float | None
    precision: float | None
    f1: float | None
    source_recall: float | None
    source_precision: float | None
    source_f1: float | None
    exact_match: float | None
    accuracy: float


class Case(NamedTuple):
    name: str
    expected: Expected
    cited: Sequence[Sequence[str]]
    """Of each sentence that was split off, as written."""
    recall: Sequence[int | None]
    precision: Sequence[Mapping[str, int | None]]
    keys: Sequence[str] = ("Figure 3",)
    contents: Sequence[str] = ("images/f.jpg",)
    rating: int | None = 2
    kind: str = "explanation"
    response: str = "Said."
    explanation: str = "It is so."
    answer: str = "Coal."


LEFT_OUT = (None,) * 7

CASES = (
    Case(
        "all right",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
    ),
    Case(
        "half supported by two items",
        Expected(50.0, 50.0, 50.0, 100.0, 50.0, 66.66666666666667, 0.0, 100.0),
        [["Figure 3", "1"]],
        [1],
        [{"Figure 3": 1, "1": 0}],
    ),
    Case(
        "an item named twice",
        Expected(50.0, 66.66666666666666, 57.14285714285714, 100.0, 50.0, 66.66666666666667, 0.0, 100.0),
        [["1", "1", "Table 1"]],
        [1],
        [{"1": 1, "Table 1": 0}],
        keys=("Section 2",),
        contents=("Trains run daily.",),
    ),
    Case(
        "an item in two spellings",
        Expected(50.0, 66.66666666666666, 57.14285714285714, 100.0, 33.33333333333333, 50.0, 0.0, 100.0),
        [["Figure 3", "fig 3", "1"]],
        [1],
        [{"Figure 3": 1, "fig 3": 1, "1": 0}],
    ),
    Case(
        "an item named twice beside one that is not there",
        Expected(100.0, 66.66666666666666, 80.0, 100.0, 33.33333333333333, 50.0, 0.0, 100.0),
        [["1", "01", "9"]],
        [2],
        [{"1": 1, "01": 1}],
        keys=("Section 2",),
        contents=("Trains run daily.",),
    ),
    Case(
        "an irrelevant item named three times",
        Expected(100.0, 25.0, 40.0, 100.0, 50.0, 66.66666666666667, 0.0, 100.0),
        [["2", "2", "2", "Figure 3"]],
        [2],
        [{"2": 0, "Figure 3": 1}],
    ),
    Case(
        "gold evidence named twice",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        keys=("Figure 3", "Figure 3 (b)"),
        contents=("images/f.jpg", "images/f.jpg"),
    ),
    Case(
        "gold evidence in two spellings",
        Expected(100.0, 100.0, 100.0, 50.0, 100.0, 66.66666666666667, 0.0, 100.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        keys=("Figure 3", "figure 3"),
        contents=("images/f.jpg", "images/f.jpg"),
    ),
    Case(
        "a gold text named twice",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0),
        [["1", "1"]],
        [2],
        [{"1": 1}],
        keys=("Section 2", "Section 4"),
        contents=("Trains run daily.", "Trains run daily."),
    ),
    Case("nothing split off", Expected(*LEFT_OUT, 100.0), [], [], []),
    Case("sentences without citations", Expected(*LEFT_OUT, 100.0), [[], []], [2, 2], [{}, {}]),
    Case(
        "one sentence without citations",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0),
        [["Figure 3"], []],
        [2, 2],
        [{"Figure 3": 1}, {}],
    ),
    Case(
        "lower case", Expected(100.0, 100.0, 100.0, 0.0, 0.0, 0.0, 0.0, 100.0), [["figure 3"]], [2], [{"figure 3": 1}]
    ),
    Case(
        "Fig without stop", Expected(100.0, 100.0, 100.0, 0.0, 0.0, 0.0, 0.0, 100.0), [["Fig 3"]], [2], [{"Fig 3": 1}]
    ),
    Case("Fig with stop", Expected(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100.0), [["Fig. 3"]], [2], [{"Fig. 3": 1}]),
    Case(
        "part of a figure",
        Expected(50.0, 50.0, 50.0, 0.0, 0.0, 0.0, 0.0, 100.0),
        [["Figure 3a"], ["1"]],
        [2, 2],
        [{"Figure 3a": 1}, {"1": 1}],
    ),
    Case(
        "brackets kept",
        Expected(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100.0),
        [["[1]"]],
        [2],
        [{"[1]": 1}],
        keys=("Section 2",),
        contents=("Trains run daily.",),
    ),
    Case(
        "an item that is not there",
        Expected(50.0, 50.0, 50.0, 100.0, 50.0, 66.66666666666667, 0.0, 100.0),
        [["Figure 9"], ["Figure 3"]],
        [2, 2],
        [{"Figure 9": 1}, {"Figure 3": 1}],
    ),
    Case(
        "nothing that is there",
        Expected(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100.0),
        [["Figure 9", "7"]],
        [2],
        [{"Figure 9": 1, "7": 1}],
    ),
    Case(
        "support off the scale",
        Expected(50.0, 100.0, 66.66666666666666, 100.0, 50.0, 66.66666666666667, 0.0, 100.0),
        [["Figure 3"], ["1"]],
        [3, 1],
        [{"Figure 3": 1}, {"1": 1}],
    ),
    Case(
        "all support off the scale",
        Expected(None, 100.0, None, 100.0, 100.0, 100.0, 100.0, 100.0),
        [["Figure 3"]],
        [3],
        [{"Figure 3": 1}],
    ),
    Case(
        "relevance off the scale",
        Expected(100.0, 0.0, 0.0, 100.0, 50.0, 66.66666666666667, 0.0, 100.0),
        [["Figure 3", "1"]],
        [2],
        [{"Figure 3": 2, "1": 0}],
    ),
    Case("everything off the scale", Expected(*LEFT_OUT, 100.0), [["Figure 3"]], [3], [{"Figure 3": 2}]),
    Case("a failed support", Expected(*LEFT_OUT, 100.0), [["Figure 3"], ["1"]], [None, 2], [{"Figure 3": 1}, {"1": 1}]),
    Case(
        "a failed relevance", Expected(*LEFT_OUT, 100.0), [["Figure 3"], ["1"]], [2, 2], [{"Figure 3": 1}, {"1": None}]
    ),
    Case("not supported at all", Expected(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100.0), [["1"]], [0], [{"1": 0}]),
    Case(
        "two gold, both cited",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0),
        [["Figure 3"], ["1"]],
        [2, 2],
        [{"Figure 3": 1}, {"1": 1}],
        keys=("Figure 3", "Section 2"),
        contents=("images/f.jpg", "Trains run daily."),
    ),
    Case(
        "two gold, one cited",
        Expected(100.0, 100.0, 100.0, 50.0, 100.0, 66.66666666666667, 0.0, 100.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        keys=("Figure 3", "Table 1"),
        contents=("images/f.jpg", "images/t.jpg"),
    ),
    Case(
        "gold key in lower case",
        Expected(100.0, 100.0, 100.0, 0.0, 0.0, 0.0, 0.0, 100.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        keys=("figure 3 (b)",),
    ),
    Case(
        "gold key abbreviated",
        Expected(100.0, 100.0, 100.0, 0.0, 0.0, 0.0, 0.0, 100.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        keys=("Fig. 3",),
    ),
    Case(
        "gold key of another kind",
        Expected(100.0, 100.0, 100.0, 0.0, 0.0, 0.0, 0.0, 100.0),
        [["Table 1"]],
        [2],
        [{"Table 1": 1}],
        keys=("Figure 1 and Table 1",),
        contents=("images/t.jpg",),
    ),
    Case(
        "the same item in two sentences",
        Expected(75.0, 75.0, 75.0, 100.0, 50.0, 66.66666666666667, 0.0, 100.0),
        [["Figure 3"], ["Figure 3", "2"]],
        [2, 1],
        [{"Figure 3": 1}, {"Figure 3": 1, "2": 0}],
    ),
    Case(
        "rating failed",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, -50.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        rating=None,
    ),
    Case(
        "rating 1",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 50.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        rating=1,
    ),
    Case(
        "rating off the scale",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 150.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        rating=3,
    ),
    Case(
        "locating with explanation",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 50.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        rating=1,
        kind="locating",
    ),
    Case(
        "locating without explanation",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, -50.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        kind="locating",
        explanation="",
    ),
    Case("empty response", Expected(*LEFT_OUT, -50.0), [], [], [], response=""),
    Case(
        "no gold answer",
        Expected(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, -50.0),
        [["Figure 3"]],
        [2],
        [{"Figure 3": 1}],
        answer="",
    ),
)

_RANDOM = json.loads((Path(__file__).parent / "recorded" / "mcitebench_runs.json").read_text("utf-8"))["cases"]
RANDOM_CASES = tuple(Case(**{**case, "expected": Expected(*case["expected"])}) for case in _RANDOM)
