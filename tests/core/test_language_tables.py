"""Each language's table of words has the keys of English: what one still lacks is listed here, and nothing else."""

import tomllib
from collections.abc import Mapping
from importlib import resources

import pytest

_UNCOMMON = "alike around_forms colours forms light phrases quantities requesting"
_ROMANCE = f"{_UNCOMMON} calculations extremes instructing limits opposites prohibitable prohibiting"
_HEADINGS = "contents_heading from_end references_heading which"
_COUNTED = f"{_HEADINGS} and appendix back begins box chapter ends next_to_last of ordinals page part range section"
LACKING: Mapping[str, Mapping[str, str]] = {
    "question_words": {"de": _UNCOMMON, "fr": _ROMANCE, "es": _ROMANCE},
    "reference_words": {
        "de": _HEADINGS,
        "fr": f"{_HEADINGS} back",
        "es": f"{_HEADINGS} part",
        "it": f"{_HEADINGS} algorithm back part",
        "pt": f"{_HEADINGS} algorithm box part references",
        "nl": f"{_HEADINGS} back references",
        "zh": _COUNTED,
        "ja": f"{_COUNTED} algorithm numbers references table",
    },
}
# Keys that English has no use for: other forms of its ordinals, and counters behind a number in place of names.
_COUNTERS = {"counter", "chapter_counter", "part_counter", "section_counter"}
FURTHER = {"fr": {"masculine"}, "es": {"masculine", "before_noun"}, "it": {"masculine"}, "pt": {"masculine"}}
FURTHER |= {"zh": _COUNTERS, "ja": _COUNTERS}


@pytest.mark.parametrize("table", LACKING)
def test_every_language_has_the_keys_of_english(table: str) -> None:
    text = resources.files("quoteweave.core.text").joinpath(f"{table}.toml").read_text("utf-8")
    languages = tomllib.loads(text)
    english = languages.pop("en").keys()
    lacking = {name: english - keys.keys() for name, keys in languages.items()}
    further = {name: keys.keys() - english for name, keys in languages.items()}
    assert lacking == {name: set(LACKING[table].get(name, "").split()) for name in languages}
    assert further == {name: FURTHER.get(name, set()) if table == "reference_words" else set() for name in languages}
