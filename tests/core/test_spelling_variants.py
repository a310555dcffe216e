"""British and American spellings of a word, and questions spelled as texts are."""

import tomllib
from importlib import resources

import pytest

from quoteweave.core.text.spelling_variants import in_spelling_of, spelling_variant
from quoteweave.core.text.tokens import words


def test_each_pair_is_of_two_words_and_no_stem_is_listed_twice() -> None:
    file = resources.files("quoteweave.core.text").joinpath("spelling_variants.toml")
    pairs = tomllib.loads(file.read_text("utf-8"))["pairs"]
    stems = [stem for pair in pairs for word in pair for stem in words(word)]
    assert len(stems) == len(set(stems)) == 2 * len(pairs)
    for one, other in pairs:
        assert spelling_variant(one) == other
        assert spelling_variant(other) == one


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("licences", "license"),
        ("coloured", "color"),
        ("organised", "organized"),
        ("digitization", "digitisation"),
        ("analyse", "analyze"),
        ("analyzers", "analysers"),
        ("raise", None),
        ("size", None),
        ("table", None),
        ("2019", None),
        ("光", None),
        ("the", None),
    ],
)
def test_variants_are_told_by_the_stem_or_by_the_ending(word: str, other: str | None) -> None:
    assert spelling_variant(word) == other


@pytest.mark.parametrize(
    ("question", "texts", "spelled"),
    [
        ("What colour is the harbour?", ["The harbor is in color."], "What color is the harbor?"),
        ("What colour is it?", ["Its colour is named here.", "Its color is grey."], "What colour is it?"),
        ("What does the Harbour Act say?", ["The harbor is closed."], "What does the Harbour Act say?"),
        ("What colour is it?", ["Nothing of that."], "What colour is it?"),
        ("Harbour dues: what are they?", ["The harbor has dues."], "Harbor dues: what are they?"),
        ("When does it open?", ["It opens at ten."], "When does it open?"),
    ],
)
def test_a_question_is_spelled_as_texts_that_lack_its_spelling(question: str, texts: list[str], spelled: str) -> None:
    assert in_spelling_of(question, texts) == spelled
