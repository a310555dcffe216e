"""The public names of quoteweave.evaluation: listed alike, each with an example that runs, and the guide's example."""

import doctest
import re
import sys
from pathlib import Path

import pytest
from builders import write_json_lines

from quoteweave import evaluation

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
RESPONSES = {"ours": "1111", "theirs": "1122"}
"""The text quote that each answer cites; gold is the first."""
CONSTANTS = {"DATASETS", "METRICS", "PAIR_LAYOUTS"}
NAMES = sorted(set(evaluation.__all__) - CONSTANTS)


@pytest.fixture
def saved_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder has gold and two runs of four questions."""

    def write(name: str, rows: list[dict[str, object]]) -> None:
        write_json_lines(tmp_path / f"{name}.jsonl", rows)

    write("gold", [{"q_id": n, "gold_quotes": ["text1"], "answer_short": "grain"} for n in range(4)])
    for name, cited in RESPONSES.items():
        write(name, [{"q_id": n, "response": f"Grain [{mark}]."} for n, mark in enumerate(cited)])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("saved_runs")
def test_the_example_of_a_public_name_runs(name: str) -> None:
    if name.startswith("write_"):
        pytest.importorskip("matplotlib")
    from quoteweave.core.examples import Example, Prediction, Reference
    from quoteweave.core.records import PageHit, Query
    from quoteweave.evaluation.statistics.aggregates import Row
    from quoteweave.evaluation.statistics.intervals import estimates

    at_hand = (Example, Prediction, Reference, PageHit, Query, Path, estimates)
    known = {each: getattr(evaluation, each) for each in evaluation.__all__}
    known |= {each.__name__: each for each in at_hand} | {"Row": Row}
    found = doctest.DocTestFinder(recurse=False).find(getattr(evaluation, name), name, globs=known)
    assert [bool(test.examples) for test in found] == [True], "a public name has an example"
    runner = doctest.DocTestRunner(verbose=False)
    for test in found:
        runner.run(test, out=sys.stderr.write)
    assert runner.summarize(verbose=False).failed == 0


def test_the_example_of_the_guide_runs_and_is_short(saved_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 12
    exec(compile(code, "docs/evaluation.md", "exec"), {})
    said = re.findall(r"print\(.*\)  # (.*)", code)
    printed = capsys.readouterr().out.splitlines()
    assert printed[:1] == said == ["[1.0, 0.5]"]
    assert printed[1].startswith("overall.f1: +0.50, p = ")
    assert (saved_runs / "report" / "report.html").is_file()


def test_the_guide_names_every_public_name() -> None:
    assert [name for name in evaluation.__all__ if f"`{name}`" not in GUIDE] == []
