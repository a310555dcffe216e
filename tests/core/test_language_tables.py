"""Each language's table of words has the keys of English: what one still lacks is listed here, and nothing else."""

import tomllib
from collections.abc import Mapping
from importlib import resources

import pytest

from quoteweave.core.text import foreign_languages, grammar, tokens

_UNCOMMON = (
    "alike around_forms colours comparing document_subjects forms happening headings inflections language_names "
    "measured occasions phrases place_nouns quantities requesting versus"
)
_ROMANCE = f"{_UNCOMMON} calculations extremes instructing light limits opposites beside_prohibiting prohibiting"
_FEW = f"{_ROMANCE} after_comparison asking_after changing compared compared_with comparison_fillers"
_FEW += " asking describing front joined_between lacking overview picture_types spans structure thing_kinds uses"
_HEADINGS = (
    "appendix_heading but durations from_end has_pronoun_i hundred is_about one pronouns references_heading "
    "said_of_places which"
)
_TEENS = "joined_ordinals ordinal_teens"
_UNSPACED = (
    f"{_TEENS} before_last decimal_point contents_heading joined larger_numbers last numbered ordinal_tens teens tens "
    "third_to_last"
)
_COUNTED = (
    f"{_HEADINGS} and begins box chapter ends next_to_last of ordinals page part part_plural plural_part "
    "range section within"
)
LACKING: Mapping[str, Mapping[str, str]] = {
    "question_words": {"de": f"{_UNCOMMON} light", "fr": _ROMANCE, "es": _ROMANCE}
    | dict.fromkeys(("it", "nl", "pt"), _FEW),
    "references/reference_words": {
        "de": f"{_HEADINGS} {_TEENS} ordinal_tens",
        "fr": f"{_HEADINGS} within back contents_heading",
        "es": f"{_HEADINGS} within {_TEENS}",
        "it": f"{_HEADINGS} within {_TEENS} algorithm back ordinal_tens",
        "pt": f"{_HEADINGS} within {_TEENS} algorithm box numbered references",
        "nl": f"{_HEADINGS} within {_TEENS} numbered ordinal_tens references",
        "zh": f"{_COUNTED} {_UNSPACED} back",
        "ja": f"{_COUNTED} {_UNSPACED} algorithm numbers references table",
    },
    "whole_document/front_matter": dict.fromkeys(("de", "fr", "es"), "abstract family_names"),
}
# Keys that English does not need: other forms of ordinals, counters behind a number in place of names, and words that
# distinguish a part of a document from a share.
_COUNTERS = {"counter", "chapter_counter", "part_counter", "section_counter"}
_SHARES = {"share", "share_of", "document"}
_COUNTERS |= {"first_counted", "last_counted", "to_last_counted", "last_chapter"}
FURTHER = {
    "de": {"irregular_numbers", "ordinal_endings", "ordinal_full_stop"},
    "fr": {"masculine", "irregular_numbers", "irregular_ordinals", "tens_with_teens", "feminine_numbers"} | _SHARES,
    "es": {"masculine", "before_noun", "contents_ending", "irregular_numbers", "feminine_numbers"} | _SHARES,
    "it": {"masculine", "contents_ending", "irregular_numbers", "ordinal_endings", "feminine_numbers"} | _SHARES,
    "pt": {"masculine", "contents_ending", "feminine_numbers"} | _SHARES,
    "nl": {"ordinal_endings"},
    "zh": _COUNTERS | {"not_counted"},
    "ja": _COUNTERS,
}


@pytest.mark.parametrize("table", LACKING)
def test_every_language_has_the_keys_of_english(table: str) -> None:
    text = resources.files("quoteweave.core.text").joinpath(f"{table}.toml").read_text("utf-8")
    languages = tomllib.loads(text)
    english = languages.pop("en").keys()
    lacking = {name: english - keys.keys() for name, keys in languages.items()}
    further = {name: keys.keys() - english for name, keys in languages.items()}
    assert lacking == {name: set(LACKING[table].get(name, "").split()) for name in languages}
    assert further == {
        name: FURTHER.get(name, set()) if table == "references/reference_words" else set() for name in languages
    }


def test_every_language_can_ask_for_each_part_of_the_front_matter() -> None:
    text = resources.files("quoteweave.core.text").joinpath("whole_document/front_matter.toml").read_text("utf-8")
    for language in tomllib.loads(text).values():
        assert language["asks"].keys() == {"author", "date", "title", "institution", "email"}


def test_stop_words_of_a_further_language_do_not_pass_for_english(monkeypatch: pytest.MonkeyPatch) -> None:
    german = frozenset(["die", "in", "ist", "kosten", "seite", "sind", "was", "viele", "von", "welche", "wie", "zeigt"])
    for module in (foreign_languages, grammar):
        monkeypatch.setattr(module, "STOP_WORDS", tokens.STOP_WORDS | german, raising=False)
    assert foreign_languages.foreign_function_words("Wie viele Tonnen sind in der letzten Tabelle?")
    assert not foreign_languages.foreign_function_words("How many tonnes are in the last table?")
    assert grammar.asks_german_was("Was zeigt die letzte Seite?")
