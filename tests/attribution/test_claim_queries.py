"""The query by which the literature is searched, made from a claim by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.attribution.excerpts import Excerpt, read_excerpts
from quoteweave.attribution.literature.candidate_papers import claim_queries


def test_the_claim_stands_first_then_its_rare_words_then_some_with_the_context() -> None:
    text = (
        "Texture matters. ResNet50 is fooled by gaussian blur, as ImageNet-C shows [CITATION]. Humans see well in fog."
    )
    claim, rare, both = claim_queries(read_excerpts(text)[0])
    assert claim == "ResNet50 is fooled by gaussian blur, as ImageNet-C shows."
    assert rare.split() == ["ImageNet-C", "ResNet50", "gaussian", "fooled"]
    assert both.split() == ["ImageNet-C", "ResNet50", "Texture", "Humans"]


def test_words_of_papers_of_any_field_and_numbers_are_not_rare() -> None:
    excerpt = Excerpt(mark=None, start=0, claim="The proposed method improves results by 12.5 in 2019.", text="")
    assert claim_queries(excerpt) == (excerpt.claim,)


@pytest.mark.parametrize("claim", ["船は港にいます。", "Die Schiffe liegen im Hafen.", "Суда стоят в порту."])
def test_a_claim_in_another_language_is_asked_as_it_is(claim: str) -> None:
    assert claim_queries(Excerpt(mark=None, start=0, claim=claim, text=claim))[0] == claim


def test_nothing_is_asked_of_a_claim_without_words() -> None:
    assert claim_queries(Excerpt(mark=None, start=0, claim="…", text="…")) == ()


@given(claim=st.text(max_size=300), text=st.text(max_size=600))
def test_queries_are_few_differ_and_are_of_the_excerpts_words(claim: str, text: str) -> None:
    queries = claim_queries(Excerpt(mark=None, start=0, claim=claim, text=text))
    assert len(set(queries)) == len(queries) <= 3
    assert all(word in f"{claim} {text}" for query in queries[1:] for word in query.split())
