"""Guessing the language of questions and texts."""

import pytest

from quoteweave.core.text.languages import guess_language


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


@pytest.mark.parametrize("text", ["", "timber dues 2023", "港の深さ", "Revenue Adobe"])
def test_a_text_without_such_words_has_none(text: str) -> None:
    assert guess_language(text) is None
