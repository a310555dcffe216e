"""Sentences that state the contrary of a claim, and others that only contain a denial or an opposite word."""

import pytest

from quoteweave.core.text.tokens import words
from quoteweave.generation.gate.contraries.opposite_words import find_contrary
from quoteweave.generation.sentences import sentence_texts


def contrary_of(claim: str, passage: str) -> str | None:
    return find_contrary(claim, sentence_texts(passage), dict.fromkeys(words(claim), 1.0))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The CD4 cells of the patients were counted.", "The CD4 T cells of the patients were counted."),
        ("The two groups were compared by a test.", "The two groups were compared by a t-test."),
        ("The quay was rebuilt in stone.", "No doubt the quay was rebuilt in stone."),
        ("The quay opens daily in winter.", "The quay opens daily in winter no matter the weather."),
        ("Platform 7 at the quay was rebuilt.", "Platform No. 7 at the quay was rebuilt."),
        ("Shed 3 of the port burned.", "Shed no. 3 of the port burned."),
        ("A receita do porto subiu em o ano de 2023.", "A receita do porto subiu no ano de 2023."),
        ("The drug cured most patients.", "The drug cured most patients with no side effects."),
        ("The drug had effects on side vision.", "The drug had effects on side vision with no side effects."),
        ("The quay was opened in 1990.", "The quay was not opened until 1990."),
        ("The crew of the tug won the cup.", "The crew of the tug that did not train won the cup."),
    ],
)
def test_a_word_of_denial_that_denies_nothing_of_the_claim_is_no_contrary(claim: str, passage: str) -> None:
    assert contrary_of(claim, passage) is None
    assert contrary_of(passage, claim) is None


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Der Frost zerstörte im April keine Ernte.", "Der Frost zerstörte im April die Ernte."),
        ("Das Mittel hat den Druck nicht gesenkt.", "Das Mittel hat den Druck gesenkt."),
        ("Le médicament n'a pas réduit la tension.", "Le médicament a réduit la tension."),
        ("Il farmaco non ha ridotto la pressione.", "Il farmaco ha ridotto la pressione."),
        ("Het middel heeft de druk niet verlaagd.", "Het middel heeft de druk verlaagd."),
        ("O remédio não reduziu a pressão.", "O remédio reduziu a pressão."),
    ],
)
def test_what_is_denied_in_another_language_is_the_contrary_too(claim: str, passage: str) -> None:
    assert contrary_of(claim, passage) == "denial"
    assert contrary_of(passage, claim) == "denial"
    assert contrary_of(claim, claim) is None


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Der Frost zerstörte im April nicht nur die Ernte.", "Der Frost zerstörte im April die Ernte."),
        ("Der Frost zerstörte nicht mehr als die Ernte.", "Der Frost zerstörte die Ernte."),
        ("Le médicament n'a pas réduit la tension.", "La tension n'a pas été réduite par le médicament."),
        ("A non linear model fits the data.", "A linear model fits the data."),
        ("Le port est ouvert sans pause.", "Le port n'est pas ouvert sans pause."),
    ],
)
def test_a_word_of_denial_of_another_language_may_deny_nothing(claim: str, passage: str) -> None:
    assert contrary_of(claim, passage) is None


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The import of 300 tons of coal was planned.", "300 tons of coal at the port were planned."),
        ("The latest survey counted 300 seals.", "The survey counted 300 seals, earlier ones fewer."),
        (
            "The harbour saw a positive result in 2019.",
            "The harbour saw a good result in 2019 after a negative one in 2018.",
        ),
        ("The report excluded the cost of fuel.", "The report failed to include the cost of fuel."),
        ("The form lists all ships in port.", "Ships that inform the office are on the lists in port."),
    ],
)
def test_an_opposite_word_of_something_else_is_no_contrary(claim: str, passage: str) -> None:
    assert contrary_of(claim, passage) is None
    assert contrary_of(passage, claim) is None


@pytest.mark.parametrize(
    ("claim", "passage", "reason"),
    [
        ("The barges are insured in Skarn.", "The barges aren\u2019t insured in Skarn.", "denial"),
        ("The lock can be opened at night.", "The lock cannot be opened at night.", "denial"),
        ("Barges sail to Skarn in winter.", "No barges sail to Skarn in winter.", "denial"),
        ("The harbour had a positive result.", "The harbour had a negative result.", "opposite_word"),
        ("The report excluded the cost of fuel.", "The report included the cost of fuel.", "opposite_word"),
        ("The trial of the tug succeeded.", "The trial of the tug failed.", "opposite_word"),
        ("The quay is stable in storms.", "The quay is unstable in storms.", "opposite_word"),
        ("The mole is visible at night.", "The mole is invisible at night.", "opposite_word"),
    ],
)
def test_what_denies_the_claim_or_has_its_opposite_is_its_contrary(claim: str, passage: str, reason: str) -> None:
    assert contrary_of(claim, passage) == reason
    assert contrary_of(passage, claim) == reason


@pytest.mark.parametrize("said", ["went up", "climbed", "soared", "doubled", "rose"])
def test_what_goes_up_does_not_go_down(said: str) -> None:
    for fallen in ("went down", "plunged", "halved", "fell"):
        claim = f"The error rate on named entities {said} in every language of the study."
        assert contrary_of(claim, claim.replace(said, fallen)) == "direction"
    assert contrary_of(claim, claim.replace(said, "rose")) is None


@pytest.mark.parametrize(
    ("claim", "passage", "reason"),
    [
        (
            "In Quechua, hours until the model stops improving shrank by 32.6%.",
            "Transfer increased the training time to convergence of the Quechua model by 32.6 percent.",
            "direction",
        ),
        (
            "In Quechua, hours until the model stops improving grew by 32.6%.",
            "Transfer increased the training time to convergence of the Quechua model by 32.6 percent.",
            None,
        ),
        (
            "In films in Wolof the error rate went up by about two fifths.",
            "The error rate on names fell by 43.2 percent in Wolof subtitles.",
            "direction",
        ),
        (
            "In films in Wolof the error rate went up by about a tenth.",
            "The error rate on names fell by 43.2 percent in Wolof subtitles.",
            None,
        ),
        ("Ferries carried 4% more cars in May.", "The price of bread fell by 4% in June.", None),
        (
            "The mean error of the model fell by 12.5% with a lexicon.",
            "The accuracy of the model rose by 12.5% as error dropped.",
            None,
        ),
        (
            "The error rate fell by 43.2%, and hours of training in Wolof rose.",
            "The error rate in Wolof fell by 43.2 percent, while the training time rose by 12 hours.",
            None,
        ),
    ],
)
def test_an_amount_that_changed_the_other_way_is_the_contrary_in_whatever_words(
    claim: str, passage: str, reason: str | None
) -> None:
    assert contrary_of(claim, passage) == reason


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The company made a profit of 5 million in May.", "The company made a loss of 5 million in May."),
        ("Smoking at the quay was banned in May.", "Smoking at the quay was allowed in May."),
        ("Das Rauchen am Kai ist gestattet.", "Das Rauchen am Kai ist verboten."),
        ("Se permite fumar en el muelle norte.", "Se prohíbe fumar en el muelle norte."),
        ("Il est permis de fumer sur le quai.", "Il est interdit de fumer sur le quai."),
    ],
)
def test_profits_and_bans_have_opposites(claim: str, passage: str) -> None:
    assert contrary_of(claim, passage) == "opposite_word"
    assert contrary_of(passage, claim) == "opposite_word"
    assert contrary_of(claim, claim) is None


def test_a_loss_that_is_no_loss_of_money_is_no_opposite_of_a_profit() -> None:
    assert contrary_of("The profit fell after the loss of a ship.", "After the loss of a ship the profit fell.") is None
