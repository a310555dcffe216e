"""`quoteweave eval calibrate` over runs without a model: what it prints, and how it holds on questions never seen."""

import json
import random
import shutil
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from builders import write_json_lines
from command_line import Outcome, Quoteweave
from made_collections import made_quote, put

from quoteweave.collection.collection import Collection
from quoteweave.core.confidence import Calibration, load_calibration
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.protocols import Grade
from quoteweave.core.runs import read_run
from quoteweave.evaluation.calibration import cites_gold, is_answerable
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict, request_hash
from quoteweave.pipeline.gate import abstain_before, abstain_below
from quoteweave.retrievers.terms.terms import read_terms

Fact = tuple[str, str, int]
Calibrate = Callable[..., Outcome]

GOODS = ("grain", "timber", "coal", "salt", "wool", "tin", "slate", "herring")
PORTS = ("Lindholm", "Aarsund", "Grenmark", "Tolland", "Vester", "Ystrand")
YEARS = (1921, 1934, 1947, 1958)
ASKED = (
    "How many tonnes of {0} did {1} ship in {2}?",
    "In {2}, how many tonnes of {0} were shipped from {1}?",
    "What quantity of {0} was dispatched through {1} during {2}?",
    "How much {0} did the harbour of {1} send overseas in {2}?",
)
FACTS: list[Fact] = [(good, port, year) for good in GOODS for port in PORTS for year in YEARS]
random.Random(3).shuffle(FACTS)
TOLD, UNTOLD = FACTS[:96], FACTS[96:]
HEARSAY = (
    "By an almanac that is known for its errors {3} tonnes of {0} were shipped from {1} in {2}, of which the mayor and "
    "the board of the harbour knew nothing, as the quays were old, the cranes were slow and winters were long."
)
CONFIG = 'quotes = "retrieved"\nretriever = ["bm25"]\nwithin = "collection"\n'


def row(number: int, fact: Fact) -> dict[str, object]:
    """A question of MMDocRAG's form whose first text quote, where the documents tell the fact, is gold."""
    texts = [{"quote_id": f"text{n}", "page_id": 0, "layout_id": 1000 + n} for n in range(1, 13)]
    images = [{"quote_id": f"image{n}", "page_id": 0, "layout_id": 2000 + n} for n in range(1, 9)]
    told = fact in TOLD
    if told:
        texts[0]["layout_id"] = TOLD.index(fact)
    return {
        "q_id": f"q{number}",
        "doc_name": "trade",
        "question": ASKED[number % len(ASKED)].format(*fact),
        "text_quotes": texts,
        "img_quotes": images,
        "gold_quotes": ["text1"] if told else [],
    }


def asking(path: Path, facts: Sequence[Fact]) -> Path:
    path.write_text("".join(json.dumps(row(number, fact)) + "\n" for number, fact in enumerate(facts)))
    return path


@pytest.fixture(scope="module")
def trade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document that tells half of the facts, as numbered layout elements."""
    folder = tmp_path_factory.mktemp("trade")
    quotes = [
        made_quote(f"In {year} {port} shipped {100 + 7 * n} tonnes of {good}.").model_copy(update={"layout_id": n})
        for n, (good, port, year) in enumerate(TOLD)
    ]
    # Hearsay is no fact: a generator that goes by words alone takes it for one, with a lower score.
    quotes += [
        made_quote(HEARSAY.format(good, port, year, 100 + 7 * n)).model_copy(update={"layout_id": 500 + n})
        for n, (good, port, year) in enumerate(UNTOLD)
    ]
    with Collection.create(folder / "c") as collection, collection.writer() as writer:
        put(writer, folder, "trade.pdf", quotes)
    return folder / "c"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asking(tmp_path_factory.mktemp("seen") / "seen.jsonl", [*TOLD[:40], *UNTOLD[:40]])


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asking(tmp_path_factory.mktemp("few") / "few.jsonl", [*TOLD[:12], *UNTOLD[:12]])


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the runs that were made."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def run_of(quoteweave: Quoteweave, trade: Path, kept: Path, tmp_path: Path) -> Callable[..., Path]:
    """Makes a run, or copies one that another test has made of the same."""

    def run(references: Path, config: str = CONFIG) -> Path:
        made = kept / sha256(references.read_bytes() + config.encode()).hexdigest()
        (tmp_path / "config.toml").write_text(config)
        said = [
            "run",
            "--dataset",
            "mmdocrag-20",
            "--references",
            references,
            "--config",
            tmp_path / "config.toml",
            "-c",
            trade,
        ]
        if not made.exists():
            assert quoteweave(*said, "--out", made).code == 0
        return Path(shutil.copytree(made, tmp_path / f"run-{references.stem}", dirs_exist_ok=True))

    return run


@pytest.fixture
def calibrate(quoteweave: Quoteweave) -> Calibrate:
    def invoke(run: Path, references: Path, *options: object) -> Outcome:
        said = ["eval", "calibrate", run, "--dataset", "mmdocrag-20", "--references", references]
        return quoteweave(*said, *options)

    return invoke


def with_calibration(prediction: Prediction, example: Example, calibration: Calibration) -> Prediction:
    """The prediction as it would have been with the calibration."""
    assert prediction.context is not None
    assert prediction.answer is not None
    early = abstain_before(example.query.text, prediction.context, calibration)
    answer = early or abstain_below(prediction.answer, prediction.context, calibration)
    return prediction.model_copy(update={"answer": answer})


def refused(predictions: Sequence[tuple[Prediction, Example]]) -> float:
    """The share of the questions not to be answered that were not."""
    unanswerable = [prediction for prediction, example in predictions if not is_answerable(example)]
    statuses = [prediction.answer.status for prediction in unanswerable if prediction.answer]
    return statuses.count("abstained") / len(unanswerable)


def risk(predictions: Sequence[tuple[Prediction, Example]]) -> float:
    told = [right for prediction, example in predictions if (right := cites_gold(prediction, example)) is not None]
    return told.count(False) / len(told)


def test_what_was_fitted_holds_on_questions_that_it_never_saw(
    run_of: Callable[..., Path], calibrate: Calibrate, seen: Path, tmp_path: Path
) -> None:
    out = tmp_path / "calibration.json"
    assert calibrate(run_of(seen), seen, "--out", out, "--risk", 0.1).code == 0
    calibration = load_calibration(out, retriever="bm25", model="extractive")
    others = asking(tmp_path / "others.jsonl", [*TOLD[40:], *UNTOLD[40:]])
    examples = {example.id: example for example in load_dataset("mmdocrag-20", others)}
    pairs = [(prediction, examples[prediction.example]) for prediction in read_run(run_of(others))[1]]
    calibrated = [(with_calibration(prediction, example, calibration), example) for prediction, example in pairs]
    assert risk(pairs) > 0.3
    assert risk(calibrated) <= 0.1
    assert refused(calibrated) > refused(pairs) + 0.3
    given = [prediction for prediction, example in calibrated if cites_gold(prediction, example)]
    assert len(given) >= 0.5 * sum(is_answerable(example) for _, example in pairs)


def test_a_run_abstains_by_a_calibration(
    run_of: Callable[..., Path], calibrate: Calibrate, seen: Path, tmp_path: Path
) -> None:
    out = tmp_path / "calibration.json"
    assert calibrate(run_of(seen), seen, "--out", out).code == 0
    calibration = load_calibration(out, retriever="bm25", model="extractive")
    others = asking(tmp_path / "others.jsonl", [*TOLD[40:60], *UNTOLD[40:60]])
    examples = {example.id: example for example in load_dataset("mmdocrag-20", others)}
    plain = {prediction.example: prediction for prediction in read_run(run_of(others))[1]}
    abstaining = run_of(
        asking(tmp_path / "again.jsonl", [*TOLD[40:60], *UNTOLD[40:60]]), f'abstain = "{out}"\n{CONFIG}'
    )
    for prediction in read_run(abstaining)[1]:
        expected = with_calibration(plain[prediction.example], examples[prediction.example], calibration)
        assert prediction.answer is not None
        assert expected.answer is not None
        assert (prediction.answer.status, prediction.answer.text) == (expected.answer.status, expected.answer.text)
    told = calibrate(abstaining, others)
    assert told.code == 2
    assert "abstained by a calibration itself" in told.err


def test_the_curve_is_printed_with_what_it_means(
    run_of: Callable[..., Path], calibrate: Calibrate, seen: Path, tmp_path: Path
) -> None:
    run, out, svg = run_of(seen), tmp_path / "out" / "calibration.json", tmp_path / "curve.svg"
    told = calibrate(run, seen, "--out", out, "--svg", svg)
    assert told.code == 0
    assert "40 answers, 20 right and 20 wrong (50.0 %); 40 questions that the model did not answer" in told.out
    assert "← threshold" in told.out
    assert "40 unanswerable questions: 20 answered. With the calibration" in told.out
    assert "warning" not in told.out
    assert "</svg>" in svg.read_text()
    value = calibrate(run, seen, "--json").json()
    written = Calibration.model_validate_json(out.read_bytes())
    assert value["curve"] == json.loads(written.model_dump_json())["curve"]
    assert value["chosen"]["threshold"] == written.after.threshold
    assert value["before"] == written.before.threshold
    assert (value["right"], value["wrong"], value["declined"], value["unknown"]) == (20, 20, 40, 0)
    assert ("nothing is fitted on them" in told.out) is (value["nothing_found"] > 0)
    assert value["calibration"] is None
    assert written.answers == 40


def test_a_calibration_is_of_its_retriever_and_model_alone(
    run_of: Callable[..., Path], calibrate: Calibrate, few: Path, tmp_path: Path
) -> None:
    out = tmp_path / "calibration.json"
    config = CONFIG.replace('["bm25"]', '["bm25", "tfidf"]') + 'expand = "rules"\n'
    assert calibrate(run_of(few, config), few, "--out", out, "--risk", 0.5).code == 0
    load_calibration(out, retriever="bm25, tfidf; expand rules", model="extractive")
    with pytest.raises(UsageError, match=r"for the retriever 'bm25, tfidf; expand rules', and this is 'bm25'"):
        load_calibration(out, retriever="bm25", model="extractive")


def test_a_calibration_names_the_terms_that_were_searched_by(
    run_of: Callable[..., Path], calibrate: Calibrate, few: Path, tmp_path: Path
) -> None:
    file, out = tmp_path / "terms.toml", tmp_path / "calibration.json"
    file.write_text('[[term]]\nname = "freight"\nmade_of = ["tonnes"]\n')
    config = CONFIG.replace('["bm25"]', '["lexical"]') + f'terms = ["{file}"]\n'
    assert calibrate(run_of(few, config), few, "--out", out, "--risk", 0.5).code == 0
    load_calibration(out, retriever=f"lexical; terms {read_terms(file).fingerprint}", model="extractive")


def test_a_risk_that_no_threshold_keeps_is_told_and_nothing_written(
    run_of: Callable[..., Path], calibrate: Calibrate, tmp_path: Path
) -> None:
    # Each question is asked twice, and only once to be answered: nothing tells the two apart.
    path, rows = tmp_path / "odd.jsonl", [row(number, fact) for number, fact in enumerate([*TOLD[:12], *TOLD[:12]])]
    for one in rows[12:]:
        one["gold_quotes"] = []
    write_json_lines(path, rows)
    out = tmp_path / "calibration.json"
    told = calibrate(run_of(path), path, "--out", out, "--risk", 0.05)
    assert told.code == 1
    assert "No threshold keeps the risk at 5.0 %: the least is " in told.out
    assert "warning: with fewer than 20 right or 20 wrong answers" in told.out
    assert not out.exists()
    value = calibrate(run_of(path), path, "--json", "--risk", 0.05).json()
    assert (value["chosen"], value["before"], value["greatest_risk"], value["groups"]) == (None, None, None, {})


def test_a_run_without_wrong_answers_has_nothing_to_tell_apart(
    run_of: Callable[..., Path], calibrate: Calibrate, tmp_path: Path
) -> None:
    path = asking(tmp_path / "right.jsonl", TOLD[:8])
    told = calibrate(run_of(path), path)
    assert told.code != 0
    assert "nothing tells right from wrong ones" in told.err


def test_what_it_needs_is_told(run_of: Callable[..., Path], calibrate: Calibrate, seen: Path, tmp_path: Path) -> None:
    assert "no run folder" in calibrate(seen, seen).err
    told = calibrate(run_of(seen), seen, "--right", "judged")
    assert told.code == 2
    assert "quoteweave eval citations makes it" in told.err


def test_answers_can_be_right_by_a_judge(run_of: Callable[..., Path], calibrate: Calibrate, seen: Path) -> None:
    run = run_of(seen)
    examples = {example.id: example for example in load_dataset("mmdocrag-20", seen)}
    verdicts = [verdict(one, examples[one.example], right=n % 2 == 0) for n, one in enumerate(read_run(run)[1])]
    (run / "citations.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in verdicts[:-1]))
    value = calibrate(run, seen, "--right", "judged", "--risk", 0.9, "--json").json()
    told = [one.answer for one in read_run(run)[1] if one.answer and is_answerable(examples[one.example])]
    answered = sum(answer.status == "answered" for answer in told)
    assert 0 < value["right"] < answered
    # Those that are not to be answered are wrong whatever a judge says.
    assert value["right"] + value["wrong"] + value["unknown"] == answered + 20


def verdict(prediction: Prediction, example: Example, *, right: bool) -> EvidenceVerdict:
    return EvidenceVerdict(
        example=example.id,
        judge="j",
        splitter="rules",
        by_rule=True,
        request=request_hash(prediction, example),
        sentences=(),
        accuracy=Grade(score=2 if right else 1, model="j", prompt="p"),
    )
