"""Orders of a context: nothing lost, marks still mean what stands there, and each question in an order of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.records import Hit, Kind, Quote
from quoteweave.pipeline.runs.arrangement import Arrangement, with_image_view


def quote(kind: Kind, name: str, **words: str | None) -> Quote:
    return Quote.model_validate(
        {
            **{"id": name, "document": "d", "page": 0, "page_label": "1", "bbox": (0, 0, 1, 1), "kind": kind},
            **{"layout": "paragraph" if kind == "text" else "chart", **words},
        }
    )


def context(texts: int, images: int) -> Context:
    def hits(kind: Kind, count: int) -> tuple[Hit, ...]:
        return tuple(Hit(rank=n, score=1 / n, quote=quote(kind, f"{kind}{n}")) for n in range(1, count + 1))

    return Context(texts=hits("text", texts), images=hits("image", images))


def names(made: Context) -> tuple[list[str], list[str]]:
    return [hit.quote.id for hit in made.texts], [hit.quote.id for hit in made.images]


ORDERS = st.one_of(
    st.just(Arrangement()),
    st.builds(Arrangement, order=st.just("shuffled"), seed=st.integers(0, 9)),
    st.builds(Arrangement, order=st.just("gold_at"), place=st.integers(1, 30)),
)


@given(ORDERS, st.integers(0, 12), st.integers(0, 8), st.sets(st.integers(1, 12)))
def test_every_order_holds_the_same_quotes(order: Arrangement, texts: int, images: int, chosen: set[int]) -> None:
    given_, gold = context(texts, images), {f"text{n}" for n in chosen} | {f"image{n}" for n in chosen}
    made = order.arrange(given_, "q", gold)
    assert [sorted(kind) for kind in names(made)] == [sorted(kind) for kind in names(given_)]
    for hits in (made.texts, made.images):
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert made == order.arrange(given_, "q", gold)


def test_gold_stands_together_at_its_place_and_the_rest_keeps_its_order() -> None:
    made = Arrangement(order="gold_at", place=3).arrange(context(5, 2), "q", {"text1", "text5", "image1"})
    assert names(made) == (["text2", "text3", "text1", "text5", "text4"], ["image2", "image1"])


def test_questions_are_shuffled_apart_and_seeds_differ() -> None:
    orders = {
        tuple(names(Arrangement(order="shuffled", seed=seed).arrange(context(12, 8), example, ()))[0])
        for seed in range(3)
        for example in "abc"
    }
    assert len(orders) == 9


@pytest.mark.parametrize("order", [{"order": "gold_at"}, {"order": "kept", "place": 2}])
def test_an_order_and_its_place_go_together(order: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="place"):
        Arrangement.model_validate(order)


def test_one_view_of_images_is_kept_where_there_is_one() -> None:
    full = quote("image", "i", caption="Sales", text="Q1 5", ocr_text="Ql 5", vlm_text="Sales rise.")
    bare = quote("image", "j", text="Q1 5")
    given_ = Context(images=tuple(Hit(rank=1, score=1, quote=one) for one in (full, bare)))
    said = {
        view: [hit.quote.all_text() for hit in with_image_view(given_, view).images]
        for view in ("all", "ocr_text", "vlm_text")
    }
    assert said == {
        "all": ["Sales\nQ1 5\nSales rise.", "Q1 5"],
        "ocr_text": ["Sales\nQl 5", "Q1 5"],
        "vlm_text": ["Sales\nSales rise.", "Q1 5"],
    }


@pytest.mark.parametrize("view", ["ocr_text", "vlm_text"])
def test_a_view_that_no_image_has_is_not_passed_off_as_another(view: str) -> None:
    other = {"ocr_text": {"vlm_text": "Sales rise."}, "vlm_text": {"text": "Q1 5"}}[view]
    given_ = Context(images=(Hit(rank=1, score=1, quote=quote("image", "i", caption="Sales", **other)),))
    with pytest.raises(DatasetError, match=f"no image quote of this question has {view}"):
        with_image_view(given_, view)  # type: ignore[arg-type]
