"""How the language of a question is told, and in which forms its words may stand in texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.text.foreign_languages import (
    MIN_STEM,
    foreign_function_words,
    foreign_language,
    foreign_languages,
    in_forms_of,
)
from quoteweave.core.text.tokens import normalize_text, words


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("Wie viele Zimmer hat die Wohnung?", "de"),
        ("Qui a présidé la séance ?", "fr"),
        ("¿Cuántos huevos se necesitan?", "es"),
        ("Quando vengono raccolti i rifiuti?", "it"),
        ("Hoe laat kan ik aankomen?", "nl"),
        ("Quem faz as reparações?", "pt"),
        ("Welche Kündigungsfrist gilt?", "de"),
        ("Wie hoch waren die Einnahmen?", "de"),  # all its small words are Dutch too
        ("Wie waren de leden?", "nl"),
        ("How many rooms has the flat in Los Angeles?", None),
        ("Comment on the results.", None),
        ("Los Angeles crime rate", None),
        ("Who won in Baden-Baden?", None),
    ],
)
def test_the_language_is_that_of_most_function_words(question: str, code: str | None) -> None:
    assert foreign_language(question) == (None if code is None else foreign_languages()[code])


def test_of_two_languages_that_are_as_likely_both_are_known() -> None:
    found = foreign_language("Como se instala a cafeteira?")
    assert found is not None
    assert {"acao", "acion"} <= found.endings


@pytest.mark.parametrize(
    ("question", "text", "written"),
    [
        ("Wie viele Zimmer hat die Wohnung?", "Die Wohnung hat einen Garten und besteht aus drei Zimmern.", "zimmern"),
        ("Darf ich einen Hund halten?", "Hunde dürfen nicht gehalten werden.", "hunde"),
        ("Welche Karten gibt es für Kinder?", "Die Karte für Kinder ist grün.", "karte"),
        ("Qui a présidé la séance ?", "La séance a été présidée par Mme Fontaine.", "presidee"),
        ("¿Cómo se prepara la tortilla?", "Preparación de la tortilla", "preparacion"),
        ("Como se instala a cafeteira?", "Instalação da cafeteira", "instalacao"),
        ("Quando vengono raccolti i rifiuti?", "Il rifiuto viene raccolto.", "rifiuto"),
        ("¿Cuándo fue renovado el muelle?", "La piscina fue renovada en mayo, el muelle en junio.", "renovada"),
    ],
)
def test_a_word_is_written_in_the_form_that_the_text_has(question: str, text: str, written: str) -> None:
    assert set(words(written)) <= set(words(in_forms_of(question, [text])))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie hoch ist die Rate?", "Der Rat tagt im Mai."),  # too short to be one word's forms
        ("Wie hoch ist die Miete?", "Die Miete und die Mieten steigen."),  # the text has it as it is asked
        ("Which mast is that?", "Masten stehen am Kai."),
        ("Wann beginnt es?", "Die Beginen wohnten hier."),
        ("Wie viel kostet das Messer?", "Die Messe kostet 12 Euro."),
        ("Wer ist der Vermieter?", "Die Vermietung ist im Haus."),
        ("Wo wohnt der Mieter?", "Die Miete ist hoch."),
        ("Wann kommt der Fahrer?", "Die Fahrt beginnt um 9 Uhr."),
        ("¿Cuánto mide el puerto?", "La puerta mide 3 metros."),
        ("¿Hay plato del día?", "La plata cuesta mucho."),
        ("Quando apre il posto?", "La posta apre alle 9."),
        ("Quand commence le cours ?", "La course commence à midi."),
        ("Quanto è largo il porto?", "La porta è larga 90 centimetri."),
    ],
)
def test_other_words_are_left_as_they_are(question: str, text: str) -> None:
    assert in_forms_of(question, [text]) == question


def test_the_verb_stands_behind_no_article() -> None:
    question = "Wie lade ich das Handy auf?"
    language = foreign_language(question)
    assert language is not None
    assert [word for word in ("lade", "Handy") if not language.is_noun(word, question)] == ["lade"]


@given(st.text(max_size=60), st.sampled_from(sorted(foreign_languages())))
def test_any_word_has_forms_that_share_its_beginning(word: str, code: str) -> None:
    language = foreign_languages()[code]
    bare = normalize_text(word).removeprefix(language.participle)
    for form in language.other_forms(word, word):
        assert form.isalpha()
        assert form.removeprefix(language.participle)[:MIN_STEM] == bare[:MIN_STEM]


def test_function_words_are_told_from_two_of_them_on() -> None:
    assert "los" in foreign_function_words("¿Los barcos de qué puerto?")
    assert not foreign_function_words("Los Angeles")
    assert "los" in foreign_function_words("Los Angeles", least=1)
