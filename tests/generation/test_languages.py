"""Guessing the language of questions and texts."""

import pytest

from quoteweave.generation.languages import guess_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How many pilots work in the port?", "English"),
        ("Wie viele Lotsen arbeiten im Hafen?", "German"),
        ("Was ist die Hauptstadt der Mongolei?", "German"),
        ("Combien de pilotes travaillent dans le port ?", "French"),
        ("Quel est le chiffre d’affaires d’Adobe ?", "French"),
        ("¿Cuántos pilotos hay en el puerto?", "Spanish"),
        ("Quanti piloti sono nel porto?", "Italian"),
        ("Hoeveel loodsen zijn er in de haven?", "Dutch"),
        ("Quantos pilotos há no porto?", "Portuguese"),
    ],
)
def test_common_words_tell_a_language(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Was kostet die Eintrittskarte?", "German"),
        ("Wie reinige ich die Kaffeemaschine?", "German"),
        ("Combien coûte le billet ?", "French"),
        ("¿Qué pilas sirven?", "Spanish"),
        ("Quanto costa il biglietto?", "Italian"),
    ],
)
def test_a_short_question_is_told_by_its_question_words(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("a.com\nb.com\nc.com\nd.com\ne.com\nImage by the press, and by us", "English"),
        ("o o o o o o\nThis is the law of grouping.", "English"),
        ("El Paso and Del Rio\nMidland and Houston\nSan Antonio and Austin\nCity of Waco", "English"),
    ],
)
def test_a_word_that_is_everywhere_and_lone_letters_tell_little(text: str, language: str) -> None:
    assert guess_language(text) == language


def test_one_word_suffices_where_it_need_not_be_sure() -> None:
    assert guess_language("Welche Batterien passen?") is None
    assert guess_language("Welche Batterien passen?", sure=False) == "German"
    assert guess_language("Batterien 2023", sure=False) is None


@pytest.mark.parametrize("text", ["", "timber dues 2023", "港の深さ", "Revenue Adobe"])
def test_a_text_without_such_words_has_none(text: str) -> None:
    assert guess_language(text) is None
