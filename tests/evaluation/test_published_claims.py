"""Claims as ALiiCE's authors split them: every recorded output of their code, and their quirks one by one."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spacy_trees import made_tree

from quoteweave.evaluation.text.published_claims import (
    MAX_SENTENCE_WORDS,
    published_claims,
    without_published_marks,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc

RECORDED = json.loads((Path(__file__).parent / "recorded" / "aliice_claims.json").read_text("utf-8"))
CASES: list[dict[str, Any]] = RECORDED["cases"]


def parser_of(case: dict[str, Any]) -> Callable[[Sequence[str]], Iterable["Doc"]]:
    """Gives the recorded tree to the one sentence that has to be parsed."""

    def parse(texts: Sequence[str]) -> Iterable["Doc"]:
        assert len(texts) == 1, "one sentence is parsed once"
        assert "tokens" in case, f"{texts[0]!r} is not parsed by the authors' code"
        yield made_tree(case["tokens"], heads=case["heads"], deps=case["deps"])

    return parse


def test_there_are_cases_of_every_kind() -> None:
    parsed = [case for case in CASES if "tokens" in case]
    assert len(CASES) > 100
    assert any(not case["whole"] and len(case["claims"]) > 3 for case in parsed)
    assert any(case["whole"] for case in parsed)
    assert any("tokens" not in case and case["claims"][0][1] for case in CASES), "too long to be parsed"


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["sentence"])[:40])
def test_recorded_outputs(case: dict[str, Any]) -> None:
    (found,) = published_claims([case["sentence"]], parser_of(case))
    assert [[claim.text, list(claim.numbers)] for claim in found.claims] == case["claims"]
    assert found.is_unsplit == case["whole"]


def named(sentence: str) -> dict[str, Any]:
    return next(case for case in CASES if case["sentence"] == sentence)


def test_what_joined_a_branch_stays() -> None:
    case = named("Cups can be made of glass[1] or plastic[2].")
    (found,) = published_claims([case["sentence"]], parser_of(case))
    assert [claim.text for claim in found.claims] == [
        "Cups can be made of glass or",
        "Cups can be made of plastic",
    ]


def test_sentences_are_parsed_together_and_only_those_that_have_to_be() -> None:
    cases = [named("Cups can be made of glass[1] or plastic[2]."), named("Run[1] fast[2].")]
    asked: list[list[str]] = []

    def parse(texts: Sequence[str]) -> Iterable["Doc"]:
        asked.append(list(texts))
        return [made_tree(case["tokens"], heads=case["heads"], deps=case["deps"]) for case in cases]

    plain, long = "Nothing cited.", " ".join(["word"] * MAX_SENTENCE_WORDS) + " more[1]."
    found = published_claims([plain, cases[0]["sentence"], long, cases[1]["sentence"]], parse)
    assert asked == [["Cups can be made of glass or plastic", "Run fast"]]
    assert [one.is_unsplit for one in found] == [True, False, True, cases[1]["whole"]]
    assert published_claims([plain], parse)[0].claims[0].text == plain
    assert len(asked) == 1


def test_a_model_without_a_parser_takes_nothing_apart() -> None:
    import spacy

    (found,) = published_claims(["Cups of glass[1] or wood[2]."], spacy.blank("en").pipe)
    assert found.is_unsplit
    assert found.claims[0].numbers == (1, 2)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Glass [1][2] breaks [3].", "Glass breaks."),
        ("Glass [1, 2] breaks | [3].", "Glass, 2 breaks."),
        ("See [12 and x] a]b", "See and x ab"),
        ("[1 [2] [ 3]", " [ 3"),
    ],
)
def test_marks_are_taken_out_as_theirs_are(text: str, left: str) -> None:
    # Recorded outputs of ALCE's remove_citations, which ALiiCE has too.
    assert without_published_marks(text) == left
