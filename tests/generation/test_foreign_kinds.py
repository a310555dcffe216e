"""Answers to questions in other languages than English, by sentences that tell what is asked for, and no others."""

import pytest
from harbour_quotes import ask, context


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie hoch ist die Kaution?", "Der Mieter zahlt eine Kaution von 1.920 Euro in drei Raten."),
        ("Wie lang ist die Kündigungsfrist?", "Die Kündigungsfrist beträgt drei Monate."),
        ("Wie hoch ist die Kaution?", "Der Mieter leistet eine Kaution in Höhe von 2.535,00 Euro."),
        ("Wer ist Kassenwart?", "Vorsitzende ist Ute Hansen, Kassenwart ist Peter Lorenz."),
        ("Wann ist das Bootshaus geöffnet?", "Das Bootshaus ist von 8 bis 21 Uhr geöffnet."),
        ("Qui est le trésorier ?", "Le trésorier, M. Paul Girard, a présenté les comptes."),
        ("Où se trouve la salle de lecture ?", "La salle de lecture se trouve au premier étage."),
        ("Pourquoi la roue est-elle réparée ?", "La roue est réparée car une pale est fendue."),
        ("À quelle fréquence faut-il laver le filtre ?", "Il faut laver le filtre tous les deux mois."),
        ("¿Cada cuánto se cambia el filtro?", "El filtro se cambia cada seis meses."),
        ("¿Cuándo se celebró la junta?", "La junta se celebró el 6 de febrero en el portal."),
        ("Quanti campi ha il circolo?", "Il circolo ha cinque campi, di cui due coperti."),
        ("Chi esegue le riparazioni?", "Le riparazioni sono eseguite dall'officina Rossetti."),
        ("Wie werd secretaris?", "Karin ter Braak werd gekozen tot secretaris."),
        ("Mag ik barbecueën?", "Barbecueën is toegestaan."),
        ("Quando se realizou a assembleia?", "A assembleia realizou-se no dia 21 de março."),
        ("Quanto custa o almoço?", "A entrada é gratuita e o almoço custa 9 euros."),
    ],
)
def test_sentences_answer_that_tell_it_of_the_thing_itself(question: str, text: str) -> None:
    assert ask(question, context([text])).status == "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie hoch ist die Kaution?", "Die Verzinsung der Kaution beträgt 2 %."),
        ("Wie hoch ist die Kaution?", "Die Kaution betrug 300 Euro."),
        ("Wie alt ist der Turm?", "Der Turm ist 30 Meter hoch."),
        ("Wie hoch ist der Turm?", "Der Turm ist 30 Jahre alt."),
        ("Wie lange dauert der Austausch?", "Der Austausch kann nach zwei Wochen wiederholt werden."),
        ("Wie viele Mitglieder hat der Verein?", "Der Verein verlor zwölf Mitglieder."),
        ("Wer ist der Vorsitzende des Vereins?", "Der Vorsitzende des Vereins dankte Frau Ute Hansen."),
        ("Wer ist Ute Hansen?", "Ute Hansen wurde von Peter Lorenz begrüßt."),
        ("Quand commence le bail ?", "Avant que le bail commence, le loyer du 3 mai est payé."),
        ("¿Cuánto cuesta la matrícula?", "La devolución de la matrícula cuesta 15 euros."),
        ("Quando si tiene la riunione?", "La riunione del 3 maggio è stata annullata."),
        ("Quanto costa un biglietto per il museo?", "Il viaggio costa 22 euro, compreso il biglietto per il museo."),
        ("Wanneer is het concert?", "Voor het concert is er om 18 uur soep."),
        ("Quanto custa o almoço?", "A sobremesa depois do almoço custa 3 euros."),
    ],
)
def test_what_is_told_of_something_else_is_no_answer(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


def test_of_two_values_for_one_thing_neither_is_the_answer() -> None:
    said = ["Der Mieter zahlt eine Kaution von 300 Euro.", "Ein Gast zahlt eine Kaution von 500 Euro."]
    assert ask("Wie hoch ist die Kaution?", context(said)).status == "located"
