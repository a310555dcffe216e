"""ALCE and ALiiCE by `published`: the figures that the authors' codes printed for made responses, and each quirk."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from builders import make_context, make_example, make_quote
from made_entailment import ListedEntailment
from spacy_trees import made_tree

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.citations.alce import Alce
from quoteweave.evaluation.metrics.citations.aliice import Aliice, CitationSpread
from quoteweave.evaluation.metrics.citations.cited_claims import CitedResponse, entailments
from quoteweave.evaluation.metrics.citations.published_responses import (
    aliice_sentences,
    published_alce_responses,
    published_aliice_responses,
)
from quoteweave.evaluation.metrics.metric import Metric

if TYPE_CHECKING:
    from spacy.tokens import Doc

RECORDED = json.loads((Path(__file__).parent / "recorded" / "aliice_runs.json").read_text("utf-8"))
Pairs = list[tuple[Prediction, Example]]


def cut(text: str) -> list[str]:
    return re.split(r"(?<=[.!?\]])\s+", text) if text else []


def parse(texts: Sequence[str]) -> Iterable["Doc"]:
    for text in texts:
        tree = RECORDED["trees"][text]
        yield made_tree(tree["tokens"], heads=tree["heads"], deps=tree["deps"])


class Checksum:
    """Says what the recorded outputs were made with: it entails where a checksum says so."""

    name = "checksum"

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        return [crc32(f"premise: {premise} hypothesis: {claim}".encode()) % 5 < 3 for premise, claim in pairs]


def passages(*titled: Sequence[str]) -> Context:
    return make_context(
        *(
            make_quote(f"{title}\n{text}", id=str(number), document=title)
            for number, (title, text) in enumerate(titled, 1)
        )
    )


def pairs_of(run: Mapping[str, Any]) -> Pairs:
    shown = zip(run["responses"], run["passages"], strict=True)
    return [pair(response, passages(*titled), str(name)) for name, (response, titled) in enumerate(shown)]


def pair(response: str, context: Context, name: str = "q") -> tuple[Prediction, Example]:
    prediction = Prediction(example=name, scope="context", response=response)
    return prediction, make_example(name, context=context)


def figures(metric: Metric, pairs: Pairs) -> dict[str, float | None]:
    rows = [metric.row(*one) for one in pairs]
    return {figure.name: figure.of(rows) for figure in metric.aggregates}


def verdicts(responses: Mapping[str, CitedResponse]) -> dict[tuple[str, str], bool]:
    return entailments(responses.values(), Checksum())


@pytest.mark.parametrize("run", RECORDED["runs"])
def test_recorded_figures(run: dict[str, Any]) -> None:
    pairs = pairs_of(run)
    claims = published_aliice_responses(pairs, cut, parse)
    found = figures(Aliice(claims, verdicts(claims)), pairs)
    for first in (3, None):
        sentences = published_alce_responses(pairs, cut, first=first)
        found |= figures(Alce(sentences, verdicts(sentences), "published"), pairs)
    found |= figures(CitationSpread(cut, "published"), pairs)
    expected = {
        f"{metric}.{name}": value for metric in ("aliice", "alce", "alce.first3") for name, value in run[metric].items()
    }
    expected["cvcp.pooled"] = run["cvcp.pooled"]
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9)


def test_recorded_runs_reach_what_differs() -> None:
    responses = [response for run in RECORDED["runs"] for response in run["responses"]]
    for quirk in (r"\[0\]", r"\[(?:[6-9]|1\d)\]", r"\[\d+, ", r"\n.", r"<\|im_end\|>", r"(\[\d+\])\1", r"\] \[\d+\]"):
        assert any(re.search(quirk, response) for response in responses), quirk
    assert "" in responses


FIVE = passages(*((f"Book {number}", f"Text {number}.") for number in range(1, 6)))


def test_the_first_opening_mark_alone_goes_to_the_sentence_before() -> None:
    assert aliice_sentences("One. [1][2] Two. [3].", lambda text: text.split(" ", 1)) == ["One.[1]", "[2] Two. [3]."]
    assert aliice_sentences("One.\n[x] two [1].", str.splitlines) == ["One.[1]", "[x] two ."]
    assert aliice_sentences("[1] One.", str.splitlines) == ["[1] One."]


def test_a_claim_with_a_citation_out_of_range_is_left_out_whole() -> None:
    ten = passages(*((f"Book {number}", "") for number in range(1, 11)))
    long = " ".join(["word"] * 50)
    pairs = [pair(f"{long} [1][6].", ten), pair(f"{long} [1].", FIVE, "r")]
    found = published_aliice_responses(pairs, str.splitlines, parse)
    assert [len(found[name].claims) for name in "qr"] == [0, 1]
    assert (found["q"].out_of_range, found["q"].multiple_out_of_range) == (1, 1)
    six = published_aliice_responses(pairs, str.splitlines, parse, passages=6)
    assert six["q"].claims[0].premises == ("Title: Book 1\n", "Title: Book 6\n")


def test_nothing_exists_without_passages() -> None:
    none = make_context()
    assert published_alce_responses([pair("One [0].", none)], str.splitlines)["q"].out_of_range == 1


def test_an_empty_claim_and_the_last_passage() -> None:
    found = published_alce_responses([pair("One [0]\nTwo.", FIVE), pair("[1]", FIVE, "r")], str.splitlines)
    assert [claim.text for claim in found["q"].claims] == ["One"]
    assert found["q"].claims[0].premises == ("Title: Book 5\nText 5.",)
    assert found["r"].claims[0].text == ""
    assert (
        found["r"].claims[0].is_entailed(entailments(found.values(), ListedEntailment({"": ["Title: Book 1 Text 1."]})))
        is False
    )


def test_joint_support_and_citations_that_are_not_needed() -> None:
    # Four claims with several citations: three are entailed, of which two have four citations that are not needed.
    said = {"A": ["1"], "B": ["1 2"], "C": ["2"], "D": []}
    pairs = [pair("A [1][2][3]. B [1][2]. C [1][2][3]. D [1][2]. E [1]. F.", passages(*((n, "") for n in "123")))]
    sentences = published_alce_responses(pairs, cut, first=None)
    model = {
        (premise, claim.text): any(
            set(enough.split()) <= set(re.findall(r"Title: (\d)", premise)) for enough in said.get(claim.text[0], ())
        )
        for claim in sentences["q"].claims
        for premise, _ in claim.pairs()
    }
    found = figures(Alce(sentences, model, "published"), pairs)
    assert found["alce.multiple.pooled"] == pytest.approx(4 / 6)
    assert found["alce.joint_support.pooled"] == 0.75
    assert found["alce.overcitation.pooled"] == pytest.approx(4 / 3)
    assert found["alce.overcited_claims.pooled"] == pytest.approx(2 / 3)
