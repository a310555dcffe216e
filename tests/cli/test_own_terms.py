"""Terms of one's own in searches, asks and runs: whose they are, what they are recorded as, and what is refused."""

from pathlib import Path

import pytest
from command_line import Quoteweave, configured
from made_collections import made_quote, stored_collection
from made_runs import RunIt

from quoteweave.cli.eval.calibrate import retriever_and_model
from quoteweave.core.confidence import Calibration, ConfidenceModel, retriever_name
from quoteweave.core.errors import UsageError
from quoteweave.core.runs import read_run
from quoteweave.retrievers.terms.terms import read_terms

DRAUGHT = '[[term]]\nname = "draught"\nmade_of = ["depth of the keel"]\n'
BERTH = '[[term]]\nname = "berth"\nmade_of = ["length of the quay"]\n'


@pytest.fixture
def ships(tmp_path: Path) -> Path:
    """A document of several pages, of which tables show what draughts and berths are made of."""
    prose = [made_quote(f"On day {n} two ships came in.", page=n) for n in range(6)]
    tables = [
        made_quote("Depth of the keel: 3.1, 4.7", page=2, layout="table"),
        made_quote("Length of the quay: 120", page=4, layout="table"),
    ]
    return stored_collection(tmp_path / "ships", {"ships.pdf": [*prose, *tables]})


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def with_terms(command: str, folder: Path, file: Path) -> tuple[object, ...]:
    """How a command is given terms."""
    return ("--terms", file) if command == "search" else configured(folder, terms=[file])


def test_search_and_ask_find_by_the_terms_of_all_files(quoteweave: Quoteweave, ships: Path, tmp_path: Path) -> None:
    files = [write(tmp_path / "a.toml", DRAUGHT), write(tmp_path / "b.toml", BERTH)]
    options = [option for file in files for option in ("--terms", file)]
    assert quoteweave("search", "Which draught?", "-c", ships, "--json").json()["hits"] == []
    for question, page in (("Which draught?", 2), ("Which berth?", 4)):
        hits = quoteweave("search", question, "-c", ships, "--json", *options).json()["hits"]
        assert hits[0]["page"] == page
        context = quoteweave("ask", question, "-c", ships, "--json", *configured(tmp_path, terms=files)).json()[
            "context"
        ]
        assert context["images"][0]["quote"]["page"] == page
    fused = quoteweave("search", "Which berth?", "-c", ships, "--json", "-r", "lexical", "-r", "tfidf", *options).json()
    assert fused["hits"][0]["page"] == 4


@pytest.mark.parametrize("command", ["search", "ask"])
def test_terms_that_nothing_searches_by_are_refused(
    command: str, quoteweave: Quoteweave, ships: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.toml", DRAUGHT)
    got = quoteweave(
        command, "Which draught?", "-c", ships, "-r", "bm25", "-r", "tfidf", *with_terms(command, tmp_path, file)
    )
    assert got.code == 2
    assert "terms are what the retriever lexical searches by, and there is bm25, tfidf alone" in got.err


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_file_that_cannot_be_used_is_told(command: str, quoteweave: Quoteweave, ships: Path, tmp_path: Path) -> None:
    absent = quoteweave(command, "Which draught?", "-c", ships, *with_terms(command, tmp_path, tmp_path / "none.toml"))
    assert (absent.code, absent.out) == (2, "")
    assert "none.toml cannot be read: No such file or directory" in absent.err.replace("\n", " ")
    file = write(tmp_path / "a.toml", DRAUGHT + "in = 1\n")
    wrong = quoteweave(command, "Which draught?", "-c", ships, *with_terms(command, tmp_path, file))
    assert wrong.code == 2
    assert "[[term]] 1, in is no key; there are: name, also, made_of, stands_in" in wrong.err.replace("\n", " ")


def test_a_calibration_is_of_the_terms_that_it_was_fitted_with(
    quoteweave: Quoteweave, ships: Path, tmp_path: Path
) -> None:
    file, other = write(tmp_path / "a.toml", DRAUGHT), write(tmp_path / "b.toml", BERTH)
    stage = ConfidenceModel(intercept=0, weights=(), threshold=0)
    fitted = Calibration(
        retriever=retriever_name(["lexical"], terms=read_terms(file).fingerprint),
        model="extractive",
        risk=0.1,
        answers=1,
        before=stage,
        after=stage,
        curve=(),
    )
    path = write(tmp_path / "calibration.json", fitted.model_dump_json())
    asked = ("ask", "Which draught?", "-c", ships)
    assert quoteweave(*asked, *configured(tmp_path, abstain=path, terms=[file])).code == 0
    refused = quoteweave(*asked, *configured(tmp_path, abstain=path, terms=[other]))
    assert refused.code == 2
    assert f"this is 'lexical; terms {read_terms(other).fingerprint}'" in refused.err.replace("\n", " ")


def test_a_calibration_without_synonyms_is_of_no_search_with_them(
    quoteweave: Quoteweave, run_it: RunIt, port: Path, tmp_path: Path
) -> None:
    assert run_it('retriever = ["lexical"]\nsynonyms = false\n', "-c", port, "--limit", 1).exception is None
    retriever, model = retriever_and_model(tmp_path / "runs")
    assert retriever == "lexical; synonyms none"
    stage = ConfidenceModel(intercept=0, weights=(), threshold=0)
    fitted = Calibration(retriever=retriever, model=model, risk=0.1, answers=1, before=stage, after=stage, curve=())
    path = write(tmp_path / "calibration.json", fitted.model_dump_json())
    asked = ("ask", "How much grain was shipped?", "-c", port)
    assert quoteweave(*asked, *configured(tmp_path, abstain=path, synonyms=False)).code == 0
    refused = quoteweave(*asked, *configured(tmp_path, abstain=path))
    assert refused.code == 2
    assert "is for the retriever 'lexical; synonyms none', and this is 'lexical'" in refused.err.replace("\n", " ")


def test_a_run_is_known_by_its_terms_wherever_their_file_is(run_it: RunIt, port: Path, tmp_path: Path) -> None:
    config = 'retriever = ["lexical", "tfidf"]\nterms = ["FILE"]\n'

    def resumed(file: Path) -> BaseException | None:
        return run_it(config.replace("FILE", str(file)), "-c", port, "--limit", 1).exception

    file = write(tmp_path / "a.toml", DRAUGHT)
    assert resumed(file) is None
    run = read_run(tmp_path / "runs")[0]
    assert run.fingerprints["terms"] == read_terms(file).fingerprint
    assert "terms" not in run.configuration
    assert resumed(write(tmp_path / "b.toml", f"# The same.\n{DRAUGHT}")) is None
    for text in (BERTH, DRAUGHT + BERTH):
        refused = resumed(write(tmp_path / "a.toml", text))
        assert isinstance(refused, UsageError)
        assert f"terms is '{run.fingerprints['terms']}' there and '{read_terms(file).fingerprint}' here" in str(refused)
    without = run_it('retriever = ["lexical", "tfidf"]\n', "-c", port, "--limit", 1).exception
    assert isinstance(without, UsageError)
    assert f"terms is '{run.fingerprints['terms']}' there and None here" in str(without)


def test_the_settings_of_a_run_that_retrieve_nothing_take_no_notice_of_terms(run_it: RunIt, tmp_path: Path) -> None:
    file = write(tmp_path / "a.toml", DRAUGHT)
    assert run_it(f'quotes = "dataset"\nterms = ["{file}"]\n', "--limit", 1).exception is None
    assert "terms" not in read_run(tmp_path / "runs")[0].fingerprints


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ('terms = ["none.toml"]', "none.toml cannot be read"),
        ('terms = ["a.toml"]\nretriever = ["bm25"]', "searches by, and there is bm25 alone"),
        ('terms = "a.toml"', 'terms: Input should be a list, such as ["terms.toml"]'),
    ],
)
def test_terms_that_a_run_cannot_search_by_are_told(
    config: str, message: str, run_it: RunIt, port: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.toml", DRAUGHT)
    result = run_it(config, "-c", port)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)
