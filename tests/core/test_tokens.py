"""Words are cut alike in questions and quotes."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.text.tokens import STOP_WORDS, Vocabulary, normalize_text, symbol_runs, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Harbour dues rose", ["harbour", "due", "rose"]),
        ("Which containers were handled in the harbours?", ["contain", "handl", "harbour"]),
        ("1,204 containers, 12.4% more", ["1204", "contain", "12.4"]),
        ("1,204,310.5 t", ["1204310.5"]),
        ("at 10:40, 3:1, 10:405", ["10:40", "3", "1", "10", "405"]),
        ("in 2019,2020 and 2021.", ["2019", "2020", "2021"]),
        ("12.4kg of CO2", ["12.4", "kg", "co2"]),
        ("long-term e-mail, code-mail snake_case", ["long", "term", "email", "code", "mail", "snake", "case"]),
        ("sales¹ of 5,196² rose 10⁻⁷", ["sale", "1", "5196", "2", "rose", "10", "7"]),
        ("50 m² of kWh³ and R², EV⁴⁰", ["50", "m2", "kwh", "3", "r2", "ev", "40"]),
        ("the harbour's tariff doesn't change", ["harbour", "tariff", "chang"]),
        ("", []),
        ("--- … !?", []),
        ("What is it?", []),
        ("24 units in the United Kingdom", ["24", "unit", "united", "kingdom"]),
    ],
)
def test_english(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zürich", "zurich"),
        ("Zu\u0308rich", "Zürich"),
        ("STRASSE", "straße"),
        ("ﬁnance", "finance"),
        ("E\u2011Mails", "emails"),
        ("\uff21\uff22\uff11\uff12", "ab12"),
        ("infor\u00admation", "information"),
        ("مُحَمَّد", "محمد"),
        ("שָׁלוֹם", "שלום"),
        ("ΑΘΗΝΑ", "Αθήνα"),
        ("ｶﾞｽ", "ガス"),
        (unicodedata.normalize("NFD", "한국어"), "한국어"),
    ],
)
def test_written_differently_and_still_the_same(one: str, other: str) -> None:
    assert words(one) == words(other) != []


def test_unspaced_scripts_give_pairs_of_characters() -> None:
    assert words("日本語") == ["日本", "本語"]
    assert words("水") == ["水"]
    assert words("第3回 ABC東京") == ["第", "3", "回", "abc", "東京"]
    assert words("東京。大阪") == ["東京", "大阪"]
    assert words("ท่าเรือ") == ["ท่", "่า", "าเ", "เร", "รื", "ือ"]


def test_accents_that_make_another_letter_are_kept() -> None:
    assert words("ガス") != words("カス")


def test_spaced_scripts_give_whole_words() -> None:
    assert words("Порт Санкт-Петербург") == ["порт", "санкт", "петербург"]
    assert words("हिन्दी भाषा।") == ["हिन्दी", "भाषा"]
    assert words("ميناء دبي") == ["ميناء", "دبي"]


def test_piled_up_marks_cost_no_more_than_other_text() -> None:
    assert words("harbo" + "\u0316\u0301" * 100_000 + " dues" + "\u0f71\u0f72" * 50_000) == ["harbo", "due"]


def test_options() -> None:
    assert words("The 1,204 containers", stem=False) == ["1204", "containers"]
    assert words("The containers", keep_stop_words=True) == ["the", "contain"]


@given(st.text())
def test_any_text_gives_words_that_are_cut_no_further(text: str) -> None:
    found = words(text, stem=False)
    assert words(" ".join(found), stem=False) == found
    assert not STOP_WORDS.intersection(found)
    assert len(words(text)) == len(found)


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert normalize_text(normalize_text(text)) == normalize_text(text)


# "İ" is folded to "i" and a mark, behind which a raised digit is a footnote's number, as behind any mark.
@given(st.text(alphabet=st.characters(max_codepoint=0x17F, exclude_characters="İ")))
def test_case_makes_no_difference(text: str) -> None:
    assert words(text.casefold()) == words(text)


@given(st.text(alphabet="aBz019,.:_-'% \n\u00a0‘’“”„–—…•·©®", max_size=30))
def test_ascii_and_marks_are_cut_as_they_are_beside_other_scripts(text: str) -> None:
    assert [*words(text), "ж"] == words(f"{text} ж")


@given(st.lists(st.text(alphabet="aBz019,.:' \n’–…") | st.sampled_from(["The harbours", "the", "Zürich"]) | st.text()))
def test_a_vocabulary_numbers_the_words_of_texts(texts: list[str]) -> None:
    vocabulary = Vocabulary()
    numbers = [vocabulary.of_text(text) for text in texts]
    known = ["", *vocabulary]
    assert [[known[number] for number in of_text] for of_text in numbers] == [words(text) for text in texts]
    assert list(vocabulary.of_words(known)) == list(range(len(known)))


def test_runs_of_symbols_are_what_stands_between_words_and_spaces() -> None:
    assert symbol_runs("a_b -- (Zürich)… 你好，“x”") == {"_", "--", "(", ")…", "，“", "”"}
    assert symbol_runs("-" * 19 + "+" * 3) == {"-" * 19 + "+", "-" * 18 + "++", "-" * 17 + "+++"}


@given(st.text("aZ09_-.é你…“ \t\n\u00a0\x1c") | st.text())
def test_every_symbol_of_a_text_stands_in_a_run_and_nothing_else_does(text: str) -> None:
    symbols = {character for character in text if not (character.isalnum() or character.isspace())}
    assert set("".join(symbol_runs(text))) == symbols
