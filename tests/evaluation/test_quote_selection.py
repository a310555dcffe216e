"""Quote selection, worked out by hand, and against sets counted the long way."""

import pytest
from builders import make_context
from hypothesis import given
from hypothesis import strategies as st
from made_selection import answered, example, fixed, quote

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.citations.quote_selection import QuoteSelection
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Row
from quoteweave.evaluation.text.responses import MarkGrammar


def row(prediction: Prediction, asked: Example, marks: MarkGrammar = "own", convention: Convention = "strict") -> Row:
    return QuoteSelection(marks, convention).row(prediction, asked)


def figures(rows: list[Row], convention: Convention = "strict") -> dict[str, float | None]:
    return {figure.name: figure.of(rows) for figure in QuoteSelection("own", convention).aggregates}


def counts(found: Row, group: str) -> list[float | None]:
    return [found[f"{group}.{column}"] for column in ("cited", "gold", "common")]


def test_precision_recall_and_f1_of_one_answer() -> None:
    # Gold: texts 1 and 3, image 2. Cited: texts 1 and 2, image 2.
    found = row(answered("A [1], B [2] ![c](image2)."), example(gold=["text1", "text3", "image2"], context=fixed()))
    assert counts(found, "text") == [2, 2, 1]
    assert counts(found, "image") == [1, 1, 1]
    assert counts(found, "overall") == [3, 3, 2]
    assert [found[f"text.{ratio}"] for ratio in ("precision", "recall", "f1")] == [0.5, 0.5, 0.5]
    assert found["image.f1"] == 1
    assert found["overall.f1"] == pytest.approx(2 / 3)
    assert found["overall.mean_of_kinds_f1"] == 0.75
    assert found["out_of_range"] == 0


def test_each_overall_f1_is_another_figure() -> None:
    # First: texts 1 of 1 right. Second: image right, and one text cited where two are gold, wrongly.
    rows = [
        row(answered("[1]"), example(gold=["text1"])),
        row(answered("[9] ![c](image1)"), example(gold=["text1", "text2", "image1"])),
    ]
    found = figures(rows)
    assert found["overall.f1"] == pytest.approx((1 + 2 / 5) / 2)
    assert found["overall.f1.pooled"] == pytest.approx(2 * 2 / (3 + 4))
    assert found["text.f1.pooled"] == pytest.approx(2 * 1 / (2 + 3))
    assert found["image.f1.pooled"] == 1
    assert found["overall.mean_of_kinds_f1.pooled"] == pytest.approx((2 / 5 + 1) / 2)
    assert found["overall.mean_of_kinds_f1"] == pytest.approx(
        (0 + 1) / 2
    )  # of the second alone: no image is gold in the first
    assert found["text.recall"] == pytest.approx((1 + 0) / 2)
    assert found["text.recall.pooled"] == pytest.approx(1 / 3)


def test_repeated_marks_count_once() -> None:
    found = row(answered("[1] [1] [1, 2] ![a](image1) ![b](image1)"), example(gold=["text1", "image1"]))
    assert counts(found, "text") == [2, 1, 1]
    assert counts(found, "image") == [1, 1, 1]


def test_marks_that_name_no_quote_are_wrong_citations_and_counted() -> None:
    asked = example(gold=["text1"], context=fixed(texts=3, images=2))
    found = row(answered("[1] [4] [0] ![a](image3)"), asked)
    assert found["out_of_range"] == 3
    assert counts(found, "text") == [3, 1, 1]
    assert counts(found, "image") == [1, 0, 0]
    assert row(answered("[1] [4]"), example(gold=["text1"]))["out_of_range"] is None  # the context is not known


@pytest.mark.parametrize("convention", ["strict", "published"])
def test_an_empty_answer_finds_nothing(convention: Convention) -> None:
    found = row(answered(""), example(gold=["text1", "image1"]), convention=convention)
    assert [found["overall.recall"], found["overall.f1"], found["text.f1"]] == [0, 0, 0]
    assert found["overall.precision"] == (None if convention == "strict" else 0)
    assert figures([found], convention)["overall.precision.pooled"] == (None if convention == "strict" else 0)


@pytest.mark.parametrize(("convention", "nothing"), [("strict", None), ("published", 0)])
def test_without_gold_of_a_kind_its_recall_and_f1_are_undefined(convention: Convention, nothing: float | None) -> None:
    found = row(answered("[1] ![a](image1)"), example(gold=["image1"]), convention=convention)
    assert [found[f"text.{ratio}"] for ratio in ("precision", "recall", "f1")] == [0, nothing, nothing]
    assert found["overall.f1"] == pytest.approx(2 / 3)
    assert found["image.f1"] == 1
    empty = row(answered("[1]"), example(gold=[]), convention=convention)
    assert [empty[f"overall.{ratio}"] for ratio in ("precision", "recall", "f1")] == [0, nothing, nothing]


def test_nothing_is_known_without_a_response_or_without_gold() -> None:
    assert row(answered(None), example(gold=["text1"])) == {}
    assert row(answered("[1]"), example(gold=None)) == {}
    found = figures([{}, row(answered("[1]"), example(gold=["text1"]))])
    assert found["overall.f1"] == 1
    assert figures([{}])["overall.f1"] is None


def test_items_that_are_judged_irrelevant_are_no_gold() -> None:
    assert counts(row(answered("[1] [2]"), example(gold={"text1": 1, "text2": 0})), "text") == [2, 1, 1]


def test_the_two_grammars_give_different_figures() -> None:
    asked = example(gold=["text1", "text2"])
    assert counts(row(answered("[1, 2]"), asked, "published"), "text") == [0, 2, 0]
    assert counts(row(answered("[1, 2]"), asked, "own"), "text") == [2, 2, 2]


def test_recall_by_place_tells_of_each_gold_quote() -> None:
    asked = example(gold=["text1", "text3", "image2"], context=fixed())
    places = {name: value for name, value in row(answered("[3] [2]"), asked).items() if "position" in name}
    assert places == {
        "recall_at_position.text1": 0,
        "recall_at_position.text3": 1,
        "recall_at_position.image2": 0,
    }


class TestRetrieved:
    """Gold of the dataset's own quotes, found again among quotes of a collection."""

    OWN = fixed()
    LAYOUTS = (("a.pdf", 1), ("a.pdf", 101))

    def asked(self) -> Example:
        return example(gold=["text1", "image1"], context=self.OWN, layouts=self.LAYOUTS)

    def test_quotes_are_gold_by_document_and_layout_id(self) -> None:
        retrieved = make_context(
            quote("text", "d:0:5", layout_id=7),
            quote("text", "d:0:1", layout_id=1),
            quote("text", "e:0:1", document="b.pdf", layout_id=1),
        )
        found = row(answered("[2] [3]", retrieved=retrieved), self.asked())
        assert counts(found, "text") == [2, 1, 1]
        assert counts(found, "image") == [0, 1, 0]  # gold, though it was not retrieved
        assert found["recall_at_position.text2"] == 1
        assert "recall_at_position.text1" not in found

    def test_two_quotes_of_one_layout_element_are_one(self) -> None:
        retrieved = make_context(*(quote("text", f"d:0:{n}", layout_id=1) for n in range(2)))
        assert counts(row(answered("[1, 2]", retrieved=retrieved), self.asked()), "text") == [1, 1, 1]

    def test_a_collection_without_layout_ids_leaves_it_undefined(self) -> None:
        assert row(answered("[1]", retrieved=make_context(quote("text", "d:0:1"))), self.asked()) == {}

    def test_names_of_the_own_context_say_nothing_of_another(self) -> None:
        retrieved = make_context(quote("text", "text1"))
        assert row(answered("[1]", retrieved=retrieved), example(gold=["text1"])) == {}
        assert row(answered("[1]", retrieved=retrieved), example(gold=["text1"], context=self.OWN)) == {}

    def test_nothing_retrieved_is_nothing_found(self) -> None:
        assert counts(row(answered("[1]", retrieved=Context()), self.asked()), "overall") == [1, 2, 0]

    def test_gold_that_names_quotes_of_the_collection_is_matched_by_id(self) -> None:
        retrieved = make_context(quote("text", "d:0:1"), quote("text", "d:0:2"))
        found = row(answered("[2]", retrieved=retrieved), example(gold=["d:0:2", "d:9:9"]))
        assert counts(found, "overall") == [1, 2, 1]
        assert "text.cited" not in found

    def test_kinds_are_not_learnt_from_what_was_retrieved(self) -> None:
        asked = example(gold=None, layouts=[("a.pdf", 1)])
        retrieved = make_context(quote("image", "d:0:1", layout_id=1))
        found = row(answered("![a](image1)", retrieved=retrieved), asked)
        assert counts(found, "overall") == [1, 1, 1]
        assert "image.cited" not in found


NAMES = st.sets(st.sampled_from([*(f"text{n}" for n in range(1, 7)), *(f"image{n}" for n in range(1, 5))]))


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=12))
def test_figures_are_those_of_sets(pairs: list[tuple[set[str], set[str]]]) -> None:
    rows = []
    for number, (gold, cited) in enumerate(pairs):
        marks = " ".join(f"![a]({name})" if name[0] == "i" else f"[{name[4:]}]" for name in sorted(cited))
        rows.append(row(answered(marks, str(number)), example(str(number), gold=sorted(gold)), convention="published"))
    found = figures(rows, "published")
    for kind, letter in (("text", "t"), ("image", "i"), ("overall", "")):
        wanted = {(n, name) for n, (gold, _) in enumerate(pairs) for name in gold if name.startswith(letter)}
        got = {(n, name) for n, (_, cited) in enumerate(pairs) for name in cited if name.startswith(letter)}
        right = len(wanted & got)
        precision, recall = right / max(len(got), 1), right / max(len(wanted), 1)
        assert found[f"{kind}.precision.pooled"] == pytest.approx(precision)
        assert found[f"{kind}.recall.pooled"] == pytest.approx(recall)
        both = precision + recall
        assert found[f"{kind}.f1.pooled"] == pytest.approx(2 * precision * recall / both if both else 0)
