"""Atomic claims, worked out by hand from trees that are written by hand, in the labels of spaCy's English models."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy_trees import made_tree

from quoteweave.core.errors import MissingExtra, ModelNotFound
from quoteweave.evaluation.text.claims import MAX_SENTENCE_WORDS, AtomicClaim, atomic_claims, spacy_parse

if TYPE_CHECKING:
    from spacy.tokens import Doc


def tree(*tokens: str) -> "Doc":
    """Tokens as `word/dep/head`, the head by its place from 0; stops and commas follow without a blank."""
    parts = [token.split("/") for token in tokens]
    words = [word for word, _, _ in parts]
    spaces = [following[:1] not in ".," for following in [*words[1:], "."]]
    return made_tree(words, spaces=spaces, deps=[dep for _, dep, _ in parts], heads=[int(head) for *_, head in parts])


def claims(doc: "Doc", *cited: int) -> list[str] | None:
    """The claims of marks right after these tokens."""
    found = atomic_claims(doc, [letters(doc, token) for token in cited])
    return None if found is None else [claim.text for claim in found]


def letters(doc: "Doc", token: int) -> int:
    return sum(len(one.text) for one in doc[: token + 1])


CUPS = ("Cups/nsubjpass/3", "can/aux/3", "be/auxpass/3", "made/ROOT/3", "of/prep/3")
GLASS = (*CUPS, "glass/pobj/4", "or/cc/5", "plastic/conj/5", "./punct/3")
THREE = (*CUPS, "glass/pobj/4", ",/punct/5", "wood/conj/5", "or/cc/7", "plastic/conj/7", "./punct/3")
TWO_CLAUSES = ("Cats/nsubj/1", "eat/ROOT/1", "mice/dobj/1", "and/cc/1", "dogs/nsubj/5", "eat/conj/1", "bones/dobj/5")


def test_the_first_of_two_things_is_above_the_second() -> None:
    assert claims(tree(*GLASS), 5, 7) == ["Cups can be made of glass.", "Cups can be made of plastic."]


def test_three_things() -> None:
    expected = [f"Cups can be made of {material}." for material in ("glass", "wood", "plastic")]
    assert claims(tree(*THREE), 5, 7, 9) == expected
    assert claims(tree(*THREE), 7, 9) == ["Cups can be made of glass, wood.", "Cups can be made of glass, plastic."]


def test_two_clauses_joined_at_the_root() -> None:
    assert claims(tree(*TWO_CLAUSES, "./punct/1"), 2, 6) == ["Cats eat mice.", "dogs eat bones"]


def test_two_clauses_joined_by_a_comma() -> None:
    doc = tree("Cats/nsubj/1", "eat/ROOT/1", "mice/dobj/1", ",/punct/1", "dogs/nsubj/5", "chew/conj/1", "bones/dobj/5")
    assert claims(doc, 2, 6) == ["Cats eat mice", "dogs chew bones"]


def test_a_clause_that_opens_the_sentence() -> None:
    # "In France [1], people eat snails [2]": the clause alone; and the sentence without it.
    doc = tree("In/prep/4", "France/pobj/0", ",/punct/4", "people/nsubj/4", "eat/ROOT/4", "snails/dobj/4", "./punct/4")
    assert claims(doc, 1, 5) == ["In France", "people eat snails."]


def test_nothing_between_branches_of_the_root() -> None:
    doc = tree("Cats/nsubj/1", "eat/ROOT/1", "mice/dobj/1", "./punct/1")
    assert claims(doc, 0, 2) == ["Cats", "mice"]


def test_a_cited_word_that_became_the_root_is_replaced() -> None:
    # Parted from "Cats", "mice whole" is left; then "whole" takes the place of "mice".
    doc = tree("Cats/nsubj/1", "eat/ROOT/1", "mice/dobj/1", "whole/amod/2", "./punct/1")
    assert claims(doc, 0, 2, 3) == ["Cats", "mice", "whole"]


def test_branches_of_a_word_below_the_root() -> None:
    # "He saw a bowl of wood [1] from Japan [2]": each without the other's branch.
    bowl = ("He/nsubj/1", "saw/ROOT/1", "a/det/3", "bowl/dobj/1", "of/prep/3", "wood/pobj/4")
    doc = tree(*bowl, "from/prep/3", "Japan/pobj/6", "./punct/1")
    assert claims(doc, 5, 7) == ["He saw a bowl of wood.", "He saw a bowl from Japan."]
    # With a comma between them, all else below "bowl" goes too, its article included.
    doc = tree(*bowl, ",/punct/3", "from/prep/3", "Japan/pobj/7", "./punct/1")
    assert claims(doc, 5, 8) == ["He saw a bowl of wood.", "He saw bowl from Japan."]


def test_marks_at_one_word_have_one_claim() -> None:
    places = [letters(tree(*GLASS), 5), letters(tree(*GLASS), 5), letters(tree(*GLASS), 7), letters(tree(*GLASS), 8)]
    assert atomic_claims(tree(*GLASS), places) == [
        AtomicClaim("Cups can be made of glass.", (0, 1)),
        AtomicClaim("Cups can be made of plastic.", (2, 3)),
    ]


def test_one_cited_word_has_the_sentence_whatever_its_tree() -> None:
    bare = made_tree(["Cups", "break", "."], spaces=[True, False, False])
    assert atomic_claims(bare, [10, 11]) == [AtomicClaim("Cups break.", (0, 1))]
    assert claims(tree(*GLASS), 3) == ["Cups can be made of glass or plastic."]


def test_a_mark_before_all_words_is_at_the_first() -> None:
    found = atomic_claims(tree(*GLASS), [0, letters(tree(*GLASS), 0), letters(tree(*GLASS), 7)])
    assert found is not None
    assert [claim.marks for claim in found] == [(0, 1), (2,)]


def many(words: int) -> "Doc":
    """Words that all depend on the second."""
    return tree(*("word/ROOT/1" if place == 1 else "word/dep/1" for place in range(words)))


def test_trees_that_fail() -> None:
    assert claims(tree(*GLASS), 3, 5) is None, "a citation at the root"
    assert atomic_claims(made_tree(["Cups", "of", "glass"]), [4, 11]) is None, "no dependencies"
    assert claims(tree("Cups/ROOT/0", "break/dep/0", "Cats/ROOT/2", "eat/dep/2"), 1, 3) is None, "two roots"
    assert atomic_claims(made_tree(["!", "?"]), [1, 2]) is None, "no words"
    assert claims(many(MAX_SENTENCE_WORDS), 0, 2) is not None
    assert claims(many(MAX_SENTENCE_WORDS + 1), 0, 2) is None, "too long"


@given(st.data())
def test_any_tree_gives_each_cited_word_a_claim_with_that_word(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 12))
    order = data.draw(st.permutations(range(size)))
    heads = {order[0]: order[0]}
    for place in range(1, size):
        heads[order[place]] = order[data.draw(st.integers(0, place - 1))]
    deps = data.draw(st.lists(st.sampled_from(["cc", "prep", "conj"]), min_size=size, max_size=size))
    deps = ["ROOT" if heads[place] == place else dep for place, dep in enumerate(deps)]
    words = [f"w{place}" for place in range(size)]
    doc = made_tree(words, deps=deps, heads=[heads[place] for place in range(size)])
    cited: Sequence[int] = data.draw(st.lists(st.sampled_from(order[1:]), unique=True, min_size=1, max_size=4))
    found = atomic_claims(doc, [letters(doc, token) for token in sorted(cited)])
    assert found is not None
    assert [claim.marks for claim in found] == ([(place,) for place in range(len(cited))])
    for token, claim in zip(sorted(cited), found, strict=True):
        said = claim.text.split()
        assert words[token] in said
        assert said == [word for word in words if word in said]


def test_spacy_is_wanting(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelNotFound, match="python -m spacy download no_such_model"):
        spacy_parse("no_such_model")
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"quoteweave\[citations\]"):
        spacy_parse()


def test_a_model_on_disk_parses(tmp_path: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(tmp_path)
    (doc,) = spacy_parse(str(tmp_path))(["Cups of glass."])
    assert doc.text == "Cups of glass."
