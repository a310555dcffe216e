"""Answers in another language than their quotes: right ones are not blamed, wrong numbers are."""

import pytest
from harbour_quotes import context

from quoteweave.generation.citations import build_answer
from quoteweave.generation.gate.answer_check import check_citations

QUOTE = (
    "The port received 1,204.5 tonnes of grain in 2023, a share of 12.4 %. On 17 February 2023 the storm closed it for "
    "3 days. Revenue was EUR 5.2 million, and 48,300 passengers came at 14:30."
)


def verdict(sentence: str) -> str | None:
    given = context([QUOTE])
    (citation,) = check_citations(build_answer("?", sentence, given, model="m"), given).citations
    return citation.verdict


@pytest.mark.parametrize(
    "sentence",
    [
        "Der Hafen nahm 2023 insgesamt 1.204,5 Tonnen Getreide auf, das sind 12,4 % [1].",
        "Der Umsatz betrug 5,2 Millionen Euro [1].",
        "Es kamen 48.300 Passagiere um 14.30 Uhr [1].",
        "La tempête du 17 février 2023 l'a fermé [1].",
        "Le port a reçu 1 204,5 tonnes de céréales, soit 12,4 % [1].",
        "Выручка составила 5,2 млн евро, или 12,4 % [1].",
        "该港在2023年接收了1,204.5吨谷物，占12.4%[1]。",
        "استقبل الميناء ١٬٢٠٤٫٥ طنًا من الحبوب في عام ٢٠٢٣، أي ١٢٫٤٪ [1].",
        "في 17 فبراير 2023 أغلقته العاصفة، وبلغت الإيرادات 5.2 مليون يورو [1].",
        "बंदरगाह को १,२०४.५ टन अनाज मिला, १२.४% [1]।",
    ],
)
def test_a_right_answer_is_not_blamed(sentence: str) -> None:
    assert verdict(sentence) != "unsupported"


@pytest.mark.parametrize(
    "sentence",
    [
        "Der Hafen nahm 1.304,5 Tonnen Getreide auf [1].",
        "Der Umsatz betrug 5,7 Millionen Euro [1].",
        "Le port a reçu 12,9 % des céréales [1].",
        "استقبل الميناء ١٬٣٠٤٫٥ طنًا [1].",
        "الحصة ١٢٫٩٪ [1].",
    ],
)
def test_a_wrong_number_is_blamed(sentence: str) -> None:
    assert verdict(sentence) == "unsupported"
