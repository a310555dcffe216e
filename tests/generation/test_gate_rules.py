"""The verdicts of the gate on single sentences, by hand."""

from decimal import Decimal

import pytest
from builders import make_context, make_quote
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_gate_answers import built, verdict

from quoteweave.core.records import Quote
from quoteweave.generation.gate.sentence_check import check_sentence

CALLS = "The port received 1,058 vessel calls, against 1,020 in the year before."
TABLE = "Group | 2022 | 2023 | Change\nGrain | 512 | 547 | +6.8%\nTimber | 318 | 296 | –6.9%\nFish | 109 | 121 | +11.0%"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The port received 1058 vessel calls.", CALLS),
        ("The port received 1 058 vessel calls.", CALLS),
        ("The rate rose by 12.4 %.", "The rate rose by 12.4% in all."),
        ("The rate rose by 12,4 per cent.", "The rate rose by 12.4% in all."),
        ("The ship cost $5m.", "The new ship cost $5 million."),
        ("The ship cost 5 million euros.", "The new ship cost EUR 5,000,000."),
        (
            "In 2023 it was $547 million for grain.",
            make_quote(TABLE, layout="table", unit="$ in millions, except per share data"),
        ),
        ("In 2023 it was $547 mn for grain.", make_quote(TABLE, layout="table", unit="in mn")),
        ("In 2023 it was 547 Mio. EUR for grain.", make_quote(TABLE, layout="table", unit="in Mio. EUR")),
        ("In 2023 it was $547,000 for grain.", make_quote(TABLE, layout="table", unit="$’000")),
        ("The port had 3 accidents.", "There were three accidents in the port."),
        ("The port had forty-one blocks moved.", "The storm moved 41 blocks in the port."),
        ("The rod met wood at 2.9 m.", "The rod met a layer of wood at 290 cm."),
        ("The storm came on 17/02/2023.", "The storm of the night of 17 February 2023 came."),
        ("The storm came in February 2023.", "The storm of 17 February came. It was the worst of 2023."),
        ("The train leaves at 3:40 pm.", "The train leaves at 15:40."),
        ("Loading rose from 300 to 420 tonnes.", "It raised the rate of loading from 300–420 tonnes an hour; it rose."),
        ("Sample H7–3 was a birch twig.", "A birch twig was bagged as sample H7-3."),
        ("The crew said “the last rod bent”.", "The crew said: the last\nrod bent."),
        ("Calls reached 1,204 in the port.", "The port: calls reached l,2O4 in all."),
        ("Grain reached 547 thousand tonnes.", "Grain, in thousand tonnes: 547"),
        ("Grain reached 547,000 tonnes.", "Grain, in thousand tonnes: 547"),
        ("The rod was 0.5 m long.", "The rod was ½ m long."),
        ("The rod was 1.125 m long.", "The rod was 1⅛ m long."),
        ("The rod was 1/3 m long.", "The rod was ⅓ m long."),
        ("The line ran at 100 Mb/s.", "The line ran at 100 Mbps."),
        ("The line ran at 100 MB/s.", "The line ran at 100 MBps."),
        ("The rod was 1.5 m long.", "The rod was 1 1/2 m long."),
        ("The effect was significant (p < 0.05).", "The effect was significant (p < .05)."),
        ("The port has 5 cranes.", "Cranes of the port . . . . .5"),
        ("The sample weighed 300 µg.", "The sample weighed 0.3 mg."),
        ("Two-thirds of the grain was wheat.", "Wheat was two thirds of the grain."),
        ("Three quarters of the grain was wheat.", "Wheat was 75% of the grain."),
        ("The port shipped 512 tonnes with and without rain.", "With and without rain the port shipped 512 tonnes."),
        ("Tables 4 and 3 list the ports by their ships.", "Tables 3 and 4 list the ports by their ships."),
        (
            "Of the old harbour book, pages 10 to 20 and 5 to 8 were lost.",
            "Of the old harbour book, pages 5 to 8 and 10 to 20 were lost.",
        ),
        ("On pages 3 and 4, 120 ships are named.", "On pages 3 and 4, 120 ships are named."),
        ("The port shipped 512 tonnes.", "With or without rain the port shipped 512 tonnes."),
    ],
)
def test_what_occurs_is_supported_however_it_is_written(sentence: str, quote: Quote | str) -> None:
    assert verdict(sentence, quote) == "supported"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Errors fell by about two fifths.", "Errors fell by 38.7 percent with the lexicon."),
        ("Two-thirds of the grain was wheat.", "Wheat was 66.7% of the grain."),
    ],
)
def test_a_fraction_in_words_may_be_a_rounded_percentage(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) == "unchecked"


def test_a_sign_for_a_fraction_is_no_contradiction_of_its_word() -> None:
    assert verdict("A third of the grain was wheat.", "⅓ of the grain was wheat.") == "unchecked"


def test_quarters_of_a_year_are_no_fraction() -> None:
    assert verdict("Calls fell for two quarters.", "Calls fell for 2 quarters.") == "supported"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The port received 1,068 vessel calls.", CALLS),
        ("On pages 3 and 4, 120 ships are named.", "On pages 3 and 4, 130 ships are named."),
        ("Figures 3, 5 and 7 show 112 ships.", "Figures 3, 5 and 7 show 113 ships."),
        ("The rate rose by 12.9 %.", "The rate rose by 12.4% in all of 2023, 2022, 2021."),
        ("The rod met wood at 290 km.", "The rod met a layer of wood at 290 cm."),
        ("The share was 290 %.", "The rod met a layer of wood at 290 cm."),
        ("The ship cost $290.", "The ship cost EUR 290."),
        ("The storm came on 19 February.", "The storm of the night of 17 February came."),
        ("The storm came on 17 February 2021.", "The storm of the night of 17 February 2023 came."),
        ("The train leaves at 10:45.", "The train leaves at 10:40."),
        ("Sample H7-8 came from a birch.", "A birch twig was bagged as sample H7-3."),
        ("The crew said “the first rod bent”.", "The crew said: the last rod bent."),
        ("The rod was 5 m long.", "The rod was ½ m long."),
        ("The rod was 3 m long.", "The rod was ⅓ m long."),
        ("The rod was 3 m long.", "The rod was 1/3 m long."),
        ("The coil had 5 MΩ.", "The coil had 5 mΩ."),
        ("The line ran at 100 MBps.", "The line ran at 100 Mbps."),
        ("The line ran at 100 Mbit/s.", "The line ran at 100 kB/s."),
        ("The effect was 5 in the trial.", "The effect was .05 in the trial."),
        ("The sample drew 3 mA.", "The sample drew 3 µA."),
        ("The engine gave 3 MW.", "The engine gave 3 mW."),
        ("The rate was 5 %.", "The rate was 5 ‰."),
        ("The ratio of ships to boats was 3:1.", "The ratio of ships to boats was 1:3."),
        ("There were five accidents.", "There were four accidents in the port."),
        ("Errors fell by about two fifths.", "Errors fell by 21.3 percent with the lexicon."),
        ("There were 2O4 calls, so 240.", "There were 204 calls."),
    ],
)
def test_what_does_not_occur_is_unsupported(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) == "unsupported"


@pytest.mark.parametrize(
    "sentence",
    [
        "Grain and timber together came to 843.",  # 547 + 296
        "Grain grew by 35 from one year to the next.",  # 547 - 512
        "Fish made up 22.1% of grain.",  # 121 / 547
        "Fish grew by 11.0092 per cent.",  # (121 - 109) / 109
        "There was 4.5 times as much grain as fish.",  # 547 / 121
        "The three groups came to a total of 964.",  # 547 + 296 + 121
        "On average a group had 321.3 in the last year.",  # 964 / 3
        "There were nearly 550 of grain.",  # 547, rounded
        "Two of them grew.",  # the answer's own count
    ],
)
def test_what_is_worked_out_is_unchecked(sentence: str) -> None:
    assert verdict(sentence, make_quote(TABLE, layout="table")) == "unchecked"


def test_without_a_word_of_calculation_no_number_is_taken_for_a_difference() -> None:
    # 547 - 318 = 229, but nothing says that the sentence compares.
    assert verdict("There was 229 of grain.", make_quote(TABLE, layout="table")) == "unsupported"
    assert verdict("There was 229 more grain than timber.", make_quote(TABLE, layout="table")) == "unchecked"


def test_few_numbers_need_no_word_of_calculation() -> None:
    assert verdict("The surplus was 0.5.", "Income was 14.2, expenditure 13.7.") == "unchecked"


def test_times_between_two_times_and_years_are_unchecked() -> None:
    assert verdict("The ride takes 61 minutes.", "It leaves at 07:40 and arrives at 08:41.") == "unchecked"
    assert verdict("It took 9 years.", "It began in 1995 and ended in 2004.") == "unchecked"


def test_all_that_is_cited_is_read_together() -> None:
    quotes = ("Grain came to 547.", "Timber came to 296.")
    assert verdict("Grain came to 547, timber to 296 [1, 2].", *quotes) == "supported"
    assert verdict("Grain came to 547 [1], timber to 296 [2].", *quotes) == "supported"
    assert verdict("Grain came to 547, timber to 296 [1].", *quotes) == "unsupported"


@pytest.mark.parametrize("field", ["text", "ocr_text", "vlm_text", "caption"])
def test_images_are_read_by_their_words(field: str) -> None:
    sentence = "Landings of fish came to 121 ![Landings of fish](image1)."
    told = {"ocr_text": "Landings", field: "Landings of fish: 121"}
    assert verdict(sentence, make_quote(layout="table", **told)) == "supported"  # type: ignore[arg-type]
    assert verdict(sentence.replace("121", "127"), make_quote(layout="table", **told)) == "unsupported"  # type: ignore[arg-type]


def test_what_an_image_mark_says_is_checked() -> None:
    assert verdict("![Grain came to 557](image1)", make_quote(TABLE, layout="table")) == "unsupported"


def test_an_image_without_words_leaves_its_sentence_unchecked() -> None:
    assert (
        verdict("It shows 14 ships ![the quay](image1).", make_quote(layout="figure", caption="The quay"))
        == "unchecked"
    )


def test_a_year_of_the_document_and_what_the_question_says_are_not_held_against_a_sentence() -> None:
    sentence = "In 2023 the port received 1,058 vessel calls [1]."
    assert verdict(sentence, CALLS) == "unsupported"
    assert verdict(sentence, CALLS, "Annual Report 2023") == "unchecked"
    assert verdict(sentence, CALLS, make_quote("Annual Report 2023", document="other.pdf")) == "unsupported"
    assert verdict(sentence, CALLS, question="How many calls in 2023?") == "unchecked"
    assert verdict(sentence, make_quote(CALLS, section="4 Traffic in 2023")) == "supported"
    assert verdict(sentence, make_quote(CALLS, document="annual-report-2023.pdf")) == "supported"


def test_a_number_that_only_the_question_says_is_not_vouched_for() -> None:
    sentence = "Yes, the port received 1,068 vessel calls [1]."
    assert verdict(sentence, CALLS, question="Did the port receive 1,068 vessel calls?") == "unchecked"


def test_a_sentence_without_numbers_is_judged_by_its_words() -> None:
    quote = "The terrace of the inn, ten steps from the platform, looks across to the Piz Sôr."
    assert verdict("The terrace of the inn looks across to the Piz Sôr.", quote) == "supported"
    assert verdict("From the inn one sees many mountains.", quote) == "unchecked"
    assert verdict("The inn.", quote) == "unchecked"


@pytest.mark.parametrize("repeated", ["5 % ", "from 9 to 12 in 2020, ", "the port handled more cargo and "])
def test_a_sentence_without_end_is_not_compared(repeated: str) -> None:
    told = "The port handled 5 % more cargo and rose from 9 to 12 in 2020."
    assert verdict(f"The port: {repeated * 1000}[1].", told) == "unchecked"


def test_names_and_denials_that_quotes_lack_are_unchecked() -> None:
    assert verdict("In all, Tarn Haven received 1,058 vessel calls, against 1,020.", CALLS) == "unchecked"
    assert verdict("The port never received 1,058 vessel calls.", CALLS) == "unchecked"


def test_a_denial_is_looked_for_in_the_closest_sentence() -> None:
    quote = "Trains run every day in summer. The train at 10:40 does not stop at Brünn."
    assert verdict("Trains run every day, and the train at 10:40 does not stop at Brünn.", quote) == "supported"
    assert verdict("Trains run every day, and the train at 10:40 stops at Brünn.", quote) == "unchecked"
    assert verdict("Trains do not run every day in summer, but at 10:40.", quote) == "unchecked"


def test_what_a_number_counts_must_occur() -> None:
    quote = "The ferry carried 214,000 passengers and 38,500 cars."
    assert verdict("The ferry carried 38,500 cars.", quote) == "supported"
    assert verdict("The ferry carried 38,500 bicycles.", quote) == "unchecked"


def test_one_counts_nothing() -> None:
    said = "One consequence of the fog was that 12 ships stayed in the harbour."
    assert verdict(said, "A consequence of the fog: 12 ships stayed in the harbour.") == "supported"


def test_numbers_alone_do_not_bear_out_other_words() -> None:
    assert verdict("Wages and pensions cost 1,058 francs.", CALLS) == "unchecked"


def test_numbers_beside_each_other_in_a_chart_are_read_apart_and_together() -> None:
    chart = make_quote("Calls\n301 294\n239 226", layout="chart")
    assert verdict("There were 301 calls, then 294.", chart) == "supported"
    assert verdict("There were 301,294 calls.", chart) == "supported"


def test_a_quote_that_adds_nothing_is_unchecked_beside_one_that_bears_all() -> None:
    context = make_context(CALLS, "Dogs need a muzzle.")
    sentence = "The port received 1,058 vessel calls [1][2]."
    checked = check_sentence(sentence, built(sentence, context).citations, context)
    assert [citation.verdict for citation in checked] == ["supported", "unchecked"]


def test_the_reason_names_what_is_missing() -> None:
    context = make_context(CALLS)
    sentence = "The port received 1,068 vessel calls [1]."
    (checked,) = check_sentence(sentence, built(sentence, context).citations, context)
    assert checked.reason == "1,068 does not occur in what it cites."


def _ways(value: int) -> list[str]:
    return [f"{value}", f"{value:,}", f"{value:,}".replace(",", " "), f"{value:,}".replace(",", "\u202f"), f"{value}.0"]


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.data())
@settings(max_examples=100)
def test_how_a_number_is_written_never_changes_the_verdict(said: int, told: int, data: st.DataObject) -> None:
    # A blank in a quote may also separate two numbers; both readings count as stated.
    unambiguous = [way for way in _ways(told) if " " not in way]
    quote = f"The port counted {data.draw(st.sampled_from(unambiguous))} vessel calls."
    found = {verdict(f"The port counted {way} vessel calls.", quote) for way in _ways(said)}
    assert len(found) == 1
    assert (found == {"supported"}) == (said == told)


@given(st.decimals(0, 10**7, places=2, allow_nan=False), st.data())
@settings(max_examples=100)
def test_a_changed_digit_is_never_supported(told: Decimal, data: st.DataObject) -> None:
    written = f"{told:,.2f}"
    place = data.draw(st.sampled_from([at for at, character in enumerate(written) if character.isdigit()]))
    digit = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != written[place]]))
    changed = written[:place] + digit + written[place + 1 :]
    assume(Decimal(changed.replace(",", "")) not in (7, 12, 1998))
    quote = f"In 1998 the port paid {written} for 7 cranes and 12 buoys."
    assert verdict(f"The port paid {written} for cranes.", quote) == "supported"
    assert verdict(f"The port paid {changed} for cranes.", quote) != "supported"


@pytest.mark.parametrize(
    "sentence",
    [
        "Each patient received a dose of 20 milligrams on the first day, and none fell ill.",
        "In May 4,210 tonnes of grain were shipped, but no timber left the harbour.",
        "The drug lowered pressure by 12 mmHg; it did not change the pulse of the patients.",
        "The committee approved the budget of 3 million euros and did not raise the fees of members.",
    ],
)
def test_a_denial_in_another_clause_denies_nothing_of_this_one(sentence: str) -> None:
    assert verdict(sentence, sentence) == "supported"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        (
            "The drug changed the pulse of 12 patients.",
            "The drug lowered pressure; it did not change the pulse of 12 patients.",
        ),
        (
            "The drug changed the pulse of 12 patients.",
            "The drug did not, in most weeks, change the pulse of 12 patients.",
        ),
        ("The drug did not lower pressure by 12 mmHg.", "The drug lowered pressure by 12 mmHg, and none fell ill."),
    ],
)
def test_a_denial_of_what_is_said_is_one(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) != "supported"


@pytest.mark.parametrize(
    ("sentence", "quote", "outcome"),
    [
        ("Errors fell by about a twentieth in May.", "Errors fell by 43.2 percent in May.", "unsupported"),
        ("Errors fell by about a twentieth in May.", "Errors fell by 5.3 percent in May.", "unchecked"),
        ("Errors fell by a fifth in May.", "Errors fell by a fifth in May.", "supported"),
        ("Each got a dose of 10^5 cells.", "Each got a dose of 10⁶ cells.", "unsupported"),
        ("Errors fell by an eighth in May.", "Errors fell by 43.2 percent in May.", "unsupported"),
        ("A third of the ships came late.", "Of the ships, 32.8 percent came late.", "unchecked"),
        ("A third of the ships came late.", "Of the 36 ships, 12 came late.", "unchecked"),
        ("The port lost a third ship in May.", "The port lost another ship in May, its third.", "supported"),
        (
            "In one quarter of 2023 sales of grain fell.",
            "Sales of grain fell in the second quarter of 2023.",
            "unchecked",
        ),
        ("It rose by 5% in 2019 and 7% in 2020.", "It rose by 7% in 2019 and 5% in 2020.", "unsupported"),
        ("Loading takes a quarter of an hour.", "Loading takes a quarter of an hour.", "supported"),
        ("Sales grew by 39.6 percent.", "In two years sales grew by 32.6 percent in five ports.", "unsupported"),
    ],
)
def test_fractions_in_words_are_numbers(sentence: str, quote: str, outcome: str) -> None:
    assert verdict(sentence, quote) == outcome


def test_a_change_the_other_way_round_is_another() -> None:
    quote = "The share of farms that kept sheep fell from 61% to 48% between 2004 and 2019."
    assert (
        verdict("The share of farms that kept sheep fell from 61% to 48% between 2004 and 2019.", quote) == "supported"
    )
    assert verdict("The share of farms that kept sheep fell from 48% to 61%.", quote) == "unsupported"
    assert (
        verdict("The share of farms fell from 48% to 61%.", f"{quote} The other rose from 48% to 61%.") == "unchecked"
    )


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("The ferry carried 38,500 passengers and 214,000 cars, and a hybrid ship is to follow.", "unsupported"),
        ("Aspirin lowered the risk of stroke by 12% in women.", "supported"),
        ("Stroke lowered the risk of aspirin by 12% in women.", "unchecked"),
        ("The risk of stroke was lowered by aspirin, by 12% in women.", "supported"),
    ],
)
def test_what_is_exchanged_within_a_sentence_is_not_supported(sentence: str, outcome: str) -> None:
    quote = (
        "The ferry carried 214,000 passengers and 38,500 cars. The owner has said that a hybrid ship is to follow."
        " Aspirin lowered the risk of stroke by 12% in women."
    )
    assert verdict(sentence, quote) == outcome


def test_what_is_exchanged_is_supported_where_it_is_said_elsewhere() -> None:
    said = "Kenya beat Ghana by 3 goals in May."
    assert verdict(said, "Ghana beat Kenya by 3 goals in May.") == "unchecked"
    assert verdict(said, f"Ghana beat Kenya by 3 goals in May. {said}") == "supported"


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("The drug cured 40 patients.", "supported"),
        ("The drug killed 40 patients.", "unchecked"),
        ("Elk prey on wolves in winter.", "unchecked"),
        ("Wolves avoid open valleys at night.", "unchecked"),
    ],
)
def test_what_a_sentence_says_of_something_else_is_not_supported(sentence: str, outcome: str) -> None:
    quote = (
        "The drug cured 40 patients and killed 3. Wolves prey on elk in winter, and elk avoid open valleys at night."
    )
    assert verdict(sentence, quote) == outcome
    assert verdict(sentence, f"{quote} {sentence}") == "supported"


def test_what_stands_in_a_bracket_behind_a_number_is_not_what_it_counts() -> None:
    quote = "The share of pupils who walk fell from 61% to 48% between 2004 and 2019."
    assert verdict(quote.replace("2019.", "2019 (see below)."), quote) == "supported"


@pytest.mark.parametrize(
    ("sentence", "quote", "outcome"),
    [
        ("Dues rose by more than 12% in the port.", "Dues rose by 12% in the port.", "unchecked"),
        ("Dues rose by up to 12% in the port.", "Dues rose by 12% in the port.", "unchecked"),
        ("Dues rose by more than 12% in the port.", "Dues rose by up to 12% in the port.", "unchecked"),
        ("Dues rose by more than 12% in the port.", "In the port dues rose by over 12%.", "supported"),
        ("At least 40 ships called at the port.", "The ships that called at the port: 40 or more.", "supported"),
        ("Up to 40 ships called at the port.", "From 30 to 40 ships called at the port.", "supported"),
        ("Less than 1,204 tonnes of grain left the port.", "Grain that left the port, tonnes: <1,204", "supported"),
        ("More than 1,204 tonnes of grain left the port.", "1,204 tonnes of grain left the port.", "unchecked"),
        ("It ended 3 days after the storm.", "It ended within 3 days after the storm.", "unchecked"),
        ("It ended 3 days after the storm.", "It ended within 3 days of the storm; after this came rain.", "unchecked"),
        ("It ended within 3 days of the storm.", "It ended within 3 days of the storm; rain came after.", "supported"),
    ],
)
def test_a_bound_of_a_number_is_part_of_what_is_said(sentence: str, quote: str, outcome: str) -> None:
    assert verdict(sentence, quote) == outcome


def test_a_percentage_is_not_worked_out_of_another_and_a_bare_count() -> None:
    quote = "Transfer increased the time by 32.6 percent over five random seeds."
    assert verdict("Transfer increased the time by 27.6 percent.", quote) == "unsupported"
    assert verdict("Transfer increased the time by 37.6 percent in all.", quote) == "unsupported"
    both = "Of the pupils 32 percent walk and 12 percent cycle."
    assert verdict("Of the pupils 20 percent more walk than cycle.", both) == "unchecked"


@pytest.mark.parametrize(
    ("sentence", "only_words"),
    [
        ("The port lost 1,058 vessel calls.", True),
        ("The port proudly received 1,058 vessel calls.", True),
        ("The port received 1,058 vessel calls.", False),
        ("The port received 9,999 vessel calls.", False),
        ("The port received over 1,058 vessel calls.", False),
    ],
)
def test_a_citation_says_whether_only_words_differ(sentence: str, only_words: bool) -> None:
    context = make_context(CALLS)
    (checked,) = check_sentence(marked := f"{sentence} [1]", built(marked, context).citations, context)
    assert checked.only_words_differ is only_words
