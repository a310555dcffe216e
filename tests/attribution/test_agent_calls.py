"""The papers of a text's citation marks, in one call."""

import json
from pathlib import Path

import pytest
from made_sources import MadeSource
from scripted_agents import PAPERS, RULE, SEARCH, SELECT, TARGET, does

from quoteweave import find_papers, read_trajectory
from quoteweave.attribution.calls import masked_excerpts
from quoteweave.core.errors import UsageError
from quoteweave.testing.fakes import FakeChat


@pytest.mark.parametrize(
    ("text", "excerpts"),
    [
        ("Blur hurts [CITATION].", ["Blur hurts [CITATION]."]),
        (
            "As [CITATION] say, blur hurts [REF].",
            ["As [CITATION] say, blur hurts [other citation].", "As [other citation] say, blur hurts [CITATION]."],
        ),
        ("Blur hurts \\cite{reed}!", ["Blur hurts [CITATION]!"]),
        ("Blur hurts networks", ["Blur hurts networks [CITATION]"]),
        (
            "Ships sail. Trains carry timber.",
            ["Ships sail [CITATION]. Trains carry timber.", "Ships sail. Trains carry timber [CITATION]."],
        ),
        (
            "It is well known that blur\nhurts networks. According to others, it helps!",
            [
                "It is well known that blur hurts networks [CITATION]. According to others, it helps!",
                "It is well known that blur hurts networks. According to others, it helps [CITATION]!",
            ],
        ),
        ("船は穀物を運ぶ。", ["船は穀物を運ぶ [CITATION]。"]),
        (
            "It  rained. Ships sail.\nIt rained.",
            [
                "It rained [CITATION]. Ships sail. It rained.",
                "It rained. Ships sail [CITATION]. It rained.",
                "It rained. Ships sail. It rained [CITATION].",
            ],
        ),
    ],
)
def test_each_mark_or_each_sentence_without_marks_is_an_excerpt(text: str, excerpts: list[str]) -> None:
    assert masked_excerpts(text) == excerpts


def test_of_twenty_pages_what_stands_around_a_mark_is_taken() -> None:
    page = "Ships carry grain along the coast in May. " * 80

    (excerpt,) = masked_excerpts(f"{page}Blur hurts networks [4], as is known. {page}")

    assert "Blur hurts networks [CITATION], as is known." in excerpt
    assert 1_000 < len(excerpt) < 1_220
    assert (excerpt[0], excerpt[-1]) == ("…", "…")


def test_every_mark_has_a_trajectory_and_a_second_call_asks_nobody(tmp_path: Path) -> None:
    text = "Ships carry grain [4]. Trains carry timber [5]."
    script = [SEARCH, SELECT, SEARCH, does("select", paper_id="o2")]
    found = find_papers(text, MadeSource(PAPERS), FakeChat(script), rule=RULE, saved=tmp_path)

    again = find_papers(text, MadeSource([]), FakeChat([]), rule=RULE, saved=tmp_path)

    assert again == found
    assert [one.setup.excerpt for one in found] == masked_excerpts(text)
    assert {one.selected.id for one in found if one.selected} == {"t1", "o2"}
    assert read_trajectory(tmp_path / "1.jsonl") == found[0]


def test_a_text_without_words_is_refused() -> None:
    with pytest.raises(UsageError, match="no words"):
        find_papers("[4]", MadeSource(PAPERS), FakeChat([]))


def test_a_trajectory_is_one_json_object_a_line(tmp_path: Path) -> None:
    find_papers("Ships carry grain [4].", MadeSource(PAPERS), FakeChat([SEARCH, SELECT]), saved=tmp_path)

    lines = [json.loads(line) for line in (tmp_path / "1.jsonl").read_text("utf-8").splitlines()]

    assert [line["line"] for line in lines] == ["setup", "reply", "step", "reply", "step", "ending"]
    assert lines[-1]["ending"]["selected"]["title"] == TARGET.title
