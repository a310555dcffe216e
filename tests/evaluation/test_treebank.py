"""Tokens by hand, and the same as nltk's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_answers import PROSE

from quoteweave.evaluation.text.nltk_rules import treebank_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ""),
        ("Sales rose.", "Sales rose ."),
        ("Sales of the U.S. rose by 3.5% (to $1,200).", "Sales of the U.S. rose by 3.5 % ( to $ 1,200 ) ."),
        ('He said "it\'s so"', "He said `` it 's so ''"),
        ("They can't; we cannot.", "They ca n't ; we can not ."),
        ("At 10:40: nothing...", "At 10:40 : nothing ..."),
        ("the dogs' bowls--two", "the dogs ' bowls -- two"),
    ],
)
def test_by_hand(text: str, tokens: str) -> None:
    assert treebank_tokens(text) == tokens.split()


AWKWARD = """
a can not cannot wanna gonna n't 's ' '' " `` ` . .. , : 1 - -- ( ) [ ] < * # % ? ! “ ” ‘ ’ « — 'tis d'ye
more'n 'll 'LL S é _ lem me
"""


@given(st.one_of(PROSE, st.lists(st.sampled_from([*AWKWARD.split(), " ", "\n"]), max_size=12).map("".join)))
def test_equals_nltk(text: str) -> None:
    from nltk.tokenize import NLTKWordTokenizer

    assert treebank_tokens(text) == NLTKWordTokenizer().tokenize(text)
