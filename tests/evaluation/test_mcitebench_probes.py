"""Understanding against attribution: four and five options, with distractors of the same paper or of others."""

from pathlib import Path

import pytest
from made_mcitebench import line, locating, write
from made_selection import answered

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.datasets.mcitebench import make_probes
from quoteweave.evaluation.metrics.registry import METRICS, MetricOptions
from quoteweave.evaluation.scoring.breakdowns import groups_of

# Other papers whose tables and texts may serve as distractors for "q", and one whose figure and tables have other
# numbers.
OTHERS = [
    locating(name, idx_2_image={"8": f"images/{name}-f3.png"}, evidence_keys=["Figure 8"])
    | {"idx_2_table": {str(5 + n): f"images/{name}-t1.png", str(7 + n): f"images/{name}-t2.png"}}
    for n, name in enumerate("rs")
]


def quotes(example: Example) -> dict[str, str]:
    """Name to document."""
    assert example.context is not None
    return {hit.quote.id: hit.quote.document for hit in example.context.hits}


def test_the_same_sources_four_answers_or_five_sources(tmp_path: Path) -> None:
    path = write(tmp_path, [line("e"), locating("q"), locating("two", evidence_keys=["Figure 3", "Table 1"])])
    path.write_text(path.read_text().replace('"evidence_count": 1', '"evidence_count": null'))
    (source,) = load_dataset("mcitebench-source", path)
    (attribution,) = load_dataset("mcitebench-attribution", path)
    (understanding,) = load_dataset("mcitebench-understanding", path)
    assert [one.id for one in (source, attribution, understanding)] == ["e:source", "q:attribution", "q:understanding"]
    assert (list(understanding.choices), understanding.reference.answer) == (list("ABCD"), "B")
    assert understanding.choices["B"] == "Coal."
    assert set(attribution.choices.values()) == set(quotes(attribution)) == set(quotes(understanding))
    assert attribution.choices[str(attribution.reference.answer)] == "Figure 3"
    assert [one.task for one in (source, attribution, understanding)] == [
        "choose_source",
        "choose_source",
        "choose_answer",
    ]
    assert groups_of(attribution)["modality"] == ("figure",)


def test_unrelated_distractors_come_from_other_papers_and_the_gold_source_stays(tmp_path: Path) -> None:
    path = write(tmp_path, [locating("q"), *OTHERS], pictures=False)
    (probe, *_) = load_dataset("mcitebench-attribution-unrelated", path)
    found = quotes(probe)
    assert found.pop("Figure 3") == "paper-q.pdf"
    assert set(found.values()) <= {"paper-r.pdf", "paper-s.pdf"}
    assert {name for name in found if name.isdigit()} == {"1", "2"}
    assert len([name for name in found if name.startswith("Table")]) == 2
    assert set(probe.choices.values()) == {"Figure 3", *found} == set(probe.sources)
    assert load_dataset("mcitebench-attribution-unrelated", path)[0] == probe, "drawn by a seed"
    examples = load_dataset("mcitebench", path)
    drawn = {str(make_probes(examples, "understanding", unrelated=True, seed=seed)[0].context) for seed in range(9)}
    assert len(drawn) > 1


def test_too_few_other_papers_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, [locating("q"), locating("r")], pictures=False)
    load_dataset("mcitebench-understanding-unrelated", path)
    alone = write(tmp_path, [locating("q")], pictures=False)
    with pytest.raises(DatasetError, match="question 'q': no other paper of the file has a paragraph"):
        load_dataset("mcitebench-understanding-unrelated", alone)


def test_each_task_has_its_accuracy(tmp_path: Path) -> None:
    path = write(tmp_path, [locating("q")], pictures=False)
    for name, metric, other in (
        ("mcitebench-understanding", "answer_choice", "source_identification"),
        ("mcitebench-attribution", "source_identification", "answer_choice"),
    ):
        (probe,) = load_dataset(name, path)
        right = str(probe.reference.answer)
        wrong = next(letter for letter in probe.choices if letter != right)
        made = METRICS[metric](MetricOptions())
        rows = [made.row(answered(said, probe.id), probe) for said in (f"{right}. It says so.", wrong, "It is coal.")]
        assert [figure.of(rows) for figure in made.aggregates] == [pytest.approx(1 / 3), pytest.approx(1 / 3)]
        assert METRICS["source_selection"](MetricOptions()).row(answered("A [1]", probe.id), probe) == {}
        assert METRICS[other](MetricOptions()).row(answered(right, probe.id), probe) == {}


def test_exact_match_by_modality_is_of_explanations_with_two_gold_items(tmp_path: Path) -> None:
    two = {"evidence_keys": ["Table 1", "Table 2"], "evidence_count": 2, "evidence_modal": "mix"}
    contents = {"evidence_contents": ["images/q-t1.png", "images/q-t2.png"]}
    for made, groups in (
        (line("q", **two, **contents), ("mixed",)),
        (locating("q", **two, **contents), ()),
        (line("q"), ()),
    ):
        (example,) = load_dataset("mcitebench", write(tmp_path, [made], pictures=False))
        assert groups_of(example).get("modality_of_two", ()) == groups
