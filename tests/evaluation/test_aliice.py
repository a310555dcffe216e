"""ALiiCE's citation recall and precision, counted by hand over trees written by hand."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest
from made_entailment import ListedEntailment, asked, passages
from spacy_trees import made_tree

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.metrics.citations.alce import alce_responses
from quoteweave.evaluation.metrics.citations.aliice import Aliice, aliice_responses
from quoteweave.evaluation.metrics.citations.cited_claims import entailments
from quoteweave.evaluation.statistics.aggregates import Row
from quoteweave.evaluation.text.claims import MAX_SENTENCE_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Doc

ABC = passages("a", "b", "c", images=["chart", ""])
MADE = "Cups can be made of glass {} or plastic {}."
GLASS, PLASTIC = "Cups can be made of glass.", "Cups can be made of plastic."
WHOLE = "Cups can be made of glass or plastic."


def lines(text: str) -> list[str]:
    return text.splitlines()


class Parser:
    """Knows the tree of one sentence; all words of any other depend on its first."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, sentences: Sequence[str]) -> Iterable["Doc"]:
        self.calls.append(list(sentences))
        for sentence in sentences:
            words = sentence.removesuffix(".").split()
            heads, deps = [0] * len(words), ["ROOT", *["dep"] * (len(words) - 1)]
            if sentence == WHOLE:
                heads = [3, 3, 3, 3, 3, 4, 5, 5]
                deps = ["nsubjpass", "aux", "auxpass", "ROOT", "prep", "pobj", "cc", "conj"]
            yield made_tree(
                [*words, "."],
                spaces=[*[True] * (len(words) - 1), False, False],
                heads=[*heads, heads[0]],
                deps=[*deps, "punct"],
            )


def row_of(response: str, entailing: Mapping[str, Sequence[str]]) -> Row:
    pair = asked(response, ABC)
    responses = aliice_responses([pair], lines, Parser())
    metric = Aliice(responses, entailments(responses.values(), ListedEntailment(entailing)))
    return {name.removeprefix("aliice."): value for name, value in metric.row(*pair).items()}


def test_each_place_has_its_claim() -> None:
    # Glass is right; plastic needs both; the next is not entailed, and the last cites nothing.
    response = f"{MADE.format('[1]', '[2][3]')}\nCups break [1].\nCups cost."
    row = row_of(response, {GLASS: ["a"], PLASTIC: ["b c"], WHOLE: ["b"], "Cups cost.": ["a"]})
    assert row == {
        "multiple": 1,
        "jointly_supported": 1,
        "redundant": 0,
        "overcited": 0,
        "recall.squared": pytest.approx(4 / 9),
        "precision.squared": 0.75**2,
        "claims": 3,
        "citations": 4,
        "entailed": 2,
        "counting": 3,
        "recall": pytest.approx(2 / 3),
        "precision": 0.75,
        "out_of_range": 0,
        "without_words": 0,
        "whole_sentences": 0,
    }


def test_a_citation_that_is_not_needed_does_not_count() -> None:
    row = row_of(MADE.format("[1][2]", "[3][2]"), {GLASS: ["a"], PLASTIC: ["b", "c"]})
    assert (row["recall"], row["precision"]) == (1, 0.75)


def test_duplicates_count_once_in_a_claim_and_in_each_claim() -> None:
    row = row_of(MADE.format("[1][1]", "[1]"), {GLASS: ["a"]})
    assert (row["citations"], row["recall"], row["precision"]) == (2, 0.5, 0.5)


def test_out_of_range_is_left_out_and_counted() -> None:
    # The claim on plastic has no citation in range: it is none, yet it still parts the sentence.
    row = row_of(MADE.format("[1][9]", "[0]") + "\nCups break ![x](image3).", {GLASS: ["a"]})
    assert (row["claims"], row["recall"], row["precision"], row["out_of_range"]) == (1, 1, 1, 3)


def test_a_tree_that_fails_leaves_the_sentence_with_all_that_it_cites() -> None:
    # A citation at the root; and a sentence that is too long.
    long = " ".join(["word"] * MAX_SENTENCE_WORDS)
    row = row_of(f"Break [1] cups [2].\nCups {long} [1] cup [3].", {"Break cups.": ["a b"]})
    assert (row["whole_sentences"], row["claims"], row["entailed"], row["counting"]) == (2, 2, 1, 2)


def test_images_are_read_by_their_words() -> None:
    row = row_of("Cups ![sell](image1).\nCups ![](image2).", {"Cups sell.": ["chart"], "Cups.": [""]})
    assert (row["recall"], row["precision"], row["without_words"]) == (0.5, 0.5, 1)


@pytest.mark.parametrize("response", ["", "Cups cost.", "[1]", "Cups cost [7]."])
def test_nothing_cited_in_range_is_undefined(response: str) -> None:
    row = row_of(response, {"Cups cost.": ["a"]})
    assert (row["claims"], row["recall"], row["precision"]) == (0, None, None)


def test_only_what_cites_at_several_places_is_parsed_and_once() -> None:
    parse = Parser()
    both = MADE.format("[1]", "[2]")
    aliice_responses([asked(f"{both}\nA b [1][2].", ABC, "p"), asked(both, ABC, "q")], lines, parse)
    aliice_responses([asked("A b [1].", ABC)], lines, parse)
    assert parse.calls == [[WHOLE]]


def test_means_over_responses_and_one_batch_for_a_run() -> None:
    pairs = [
        asked(MADE.format("[1]", "[2]"), ABC, "p"),
        asked("Cups can be made of glass [1].", ABC, "q"),
        asked("No.", ABC, "r"),
    ]
    responses = aliice_responses(pairs, lines, Parser())
    model = ListedEntailment({GLASS: ["a"]})
    verdicts = entailments([*responses.values(), *alce_responses(pairs, lines).values()], model)
    together = ("a\nb", WHOLE), ("a", WHOLE), ("b", WHOLE)
    assert model.calls == [[("a", GLASS), ("b", PLASTIC), *together]]
    metric = Aliice(responses, verdicts)
    rows = [metric.row(*pair) for pair in pairs]
    assert {figure.name: figure.of(rows) for figure in metric.aggregates} == {
        "aliice.recall": 0.75,
        "aliice.precision": 0.75,
        "aliice.recall.std": 0.25,
        "aliice.precision.std": 0.25,
        "aliice.multiple.pooled": 0,
        "aliice.joint_support.pooled": None,
        "aliice.overcitation.pooled": None,
        "aliice.overcited_claims.pooled": None,
        "aliice.claims.total": 3,
        "aliice.out_of_range.total": 0,
        "aliice.without_words.total": 0,
        "aliice.whole_sentences.total": 0,
    }
    assert metric.aggregates[0].undefined(rows) == 1


def test_what_was_not_asked_is_undefined() -> None:
    pair, nothing = asked("Cups cost [1].", ABC), asked(None, ABC)
    responses = aliice_responses([pair], lines, Parser())
    assert Aliice(responses, {}).row(*pair) == Aliice({}, {}).row(*pair) == {}
    assert aliice_responses([nothing], lines, Parser()) == {}
    assert Aliice(responses, {}).row(*nothing) == {}
    with pytest.raises(DatasetError, match="'q' has no context"):
        aliice_responses([asked("Cups cost [1].", None)], lines, Parser())
