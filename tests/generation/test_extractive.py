"""What the extractive generator answers, what it only shows, when it abstains, and how all that reads."""

import asyncio
import re

import pytest
from builders import QuoteFields
from harbour_quotes import EVERYTHING, IMAGES, TEXTS, context, image, quote
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Answer, Context, ImageBlock, TextBlock
from quoteweave.core.protocols import Generator
from quoteweave.core.records import Hit, Layout, Query, Quote
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.generator import NOTHING_FOUND, TABLES_DIFFER, ExtractiveGenerator
from quoteweave.generation.extractive.selection import keep_best_document
from quoteweave.generation.extractive.statements import caption_title, image_name, text_statements
from quoteweave.generation.extractive.tables.asked_names import says_calendar_year
from quoteweave.generation.relevance import question_terms
from quoteweave.generation.sentences import split_sentences


def ask(question: str, given: Context = EVERYTHING, generator: Generator | None = None) -> Answer:
    return asyncio.run((generator or ExtractiveGenerator()).answer(Query(text=question), given))


ANSWERABLE = {
    "How many passengers did the ferry to the Outer Isles carry?": "ferry",
    "What happened in the storm of February?": "storm",
    "How much does a return ticket to Grünhorn cost?": "tickets",
    "Do dogs need a ticket?": "dogs",
    "How long does the ride to the summit take?": "rack",
    "What is the mean absolute error of LagStage?": "ice",
    "At what value is the base temperature fixed?": "base",
    "How many vessel calls did the port receive?": "calls",
    "How often did cruise ships call?": "ferry",
    "Why did grain gain?": "grain",
    "How long did ships wait for a berth?": "grain",
    "What were the harbour dues for containers in 2022?": "dues",
    "How did dues for grain change?": "dues",
    "Can I take my bicycle in May?": "dogs",
}
# No sentence says what is asked of these in words that are the question's: "steep" and "steepest", "pilot" and
# "pilotage", a colour, a chart's bars.
LOCATABLE = {
    "Which vessels need a pilot?": "pilots",
    "How steep is the railway above Käsern?": "rack",
    "When does the train that leaves Sölmatt at 10:40 arrive at Grünegg?": "trains",
    "What colour are the bands on the lighthouse?": "mole",
    "How did vessel calls change by quarter in 2023?": "quarters",
    "What does the ferry to the Outer Isles cost?": "ferry",
    "Who sells tickets?": "tickets",
}
UNANSWERABLE = [
    "What is the capital of France?",
    "Who won the football world cup in 2022?",
    "How many containers did Rotterdam handle?",
    "What is the melting point of copper?",
    "Which programming language was used?",
    "What is the salary of the harbour master?",
    "How many dolphins live in Tolland Sound?",
    "How do I reset my password?",
    "When was the Eiffel Tower built?",
    "Does the railway accept credit cards?",
    "Which bank financed the railway?",
    "How deep is the lake?",
    "What is the accuracy of the neural network on ImageNet?",
]


@pytest.mark.parametrize(("question", "evidence"), ANSWERABLE.items())
def test_the_first_citation_is_the_evidence(question: str, evidence: str) -> None:
    answer = ask(question)
    assert answer.status == "answered"
    assert answer.citations[0].quote_id == (TEXTS | IMAGES)[evidence].id


@pytest.mark.parametrize(("question", "evidence"), LOCATABLE.items())
def test_the_first_place_is_the_evidence_where_no_sentence_answers(question: str, evidence: str) -> None:
    answer = ask(question)
    assert answer.status == "located"
    assert answer.citations[0].quote_id == (TEXTS | IMAGES)[evidence].id
    assert len({(citation.document, citation.page) for citation in answer.citations}) <= 3


@pytest.mark.parametrize("question", UNANSWERABLE)
def test_abstains_in_plain_words_where_nothing_bears_on_the_question(question: str) -> None:
    answer = ask(question)
    assert (answer.status, answer.text, answer.citations) == ("abstained", NOTHING_FOUND, ())


@pytest.mark.parametrize("question", ["", "What is it?", "Tell me about it.", "東京の人口は何人ですか", "Сколько?"])
def test_abstains_where_a_question_has_no_words_to_look_for(question: str) -> None:
    assert ask(question).status == "abstained"


@pytest.mark.parametrize("given", [Context(), context([""]), context(["", "  \n "], [image(None)])])
def test_abstains_where_the_context_says_nothing(given: Context) -> None:
    assert ask("How many passengers did the ferry carry?", given).status == "abstained"


def test_a_short_answer_word_for_word() -> None:
    answer = ask("What happened in the storm of February?")
    assert answer.text == (
        "The storm of 17 February moved forty-one armour blocks on the West Mole and closed the port to all traffic "
        "for three days [1].\n\nThis is from page 1 of harbour.pdf."
    )
    assert (answer.model, answer.seconds, answer.unresolved, answer.warnings) == ("extractive", 0.0, (), ())


@pytest.mark.parametrize("question", ANSWERABLE)
def test_every_sentence_but_the_last_carries_a_mark(question: str) -> None:
    body, last = ask(question).text.rsplit("\n\n", 1)
    *said, rest = re.split(r" \[\d+\]\.\s*|\. !\[[^]]*\]\(image\d\)\s*", body)
    assert [len(split_sentences(sentence)) for sentence in said] == [1] * len(said) != []
    assert rest == "" or re.fullmatch(r"!\[[^]]*\]\(image\d\)", rest)
    assert re.fullmatch(r"This is from pages? [\d, and]+ of \w+\.pdf\.", last)


def test_an_image_stands_after_the_sentence_that_names_it() -> None:
    given = context(["Figure 2 compares the vessel calls of the quarters."], [IMAGES["quarters"]])
    first, shown, rest = ask("What compares the vessel calls of the quarters?", given).blocks
    assert isinstance(first, TextBlock)
    assert first.text == "Figure 2 compares the vessel calls of the quarters [1]. "
    assert isinstance(shown, ImageBlock)
    assert (shown.summary, shown.image) == ("Vessel calls by quarter in 2022 and 2023", "ab/ab.png")
    assert shown.citation.quote_id == IMAGES["quarters"].id
    assert isinstance(rest, TextBlock)
    assert rest.text.strip() == "This is from pages 1 and 3 of harbour.pdf."


def test_a_label_means_the_image_of_the_same_document() -> None:
    texts = [quote("Figure 1 compares the dues of the ports."), quote("Cars are few.", document="other.pdf")]
    images = [image("Figure 1: Speeds.", document="other.pdf"), image("Fig. 1. Dues of the ports.")]
    answer = ask("What compares the dues of the ports?", context(texts, images))
    assert [(citation.kind, citation.number) for citation in answer.citations] == [("text", 1), ("image", 2)]


@pytest.mark.parametrize(
    ("caption", "name", "title"),
    [
        ("Figure 2: Vessel calls.", "Figure 2", "Vessel calls"),
        ("Fig. 3a. The mole", "Fig. 3a", "The mole"),
        ("Table 2-1 Dues by group", "Table 2-1", "Dues by group"),
        ("Abb. 4: Der Kai", "Abb. 4", "Der Kai"),
        ("表2：各月吨数", "表2", "各月吨数"),
        ("Dues by group", "The figure on page 1", "Dues by group"),
    ],
)
def test_an_image_is_called_by_the_label_of_its_caption(caption: str, name: str, title: str) -> None:
    assert (image_name(image(caption)), caption_title(image(caption))) == (name, title)


def test_rows_of_a_table_are_said_in_words() -> None:
    assert ask("What were the harbour dues for containers in 2022?").text == (
        "Table 1 (Harbour dues by group, in thousand euros) lists Container (2022: 1,310). "
        "![Harbour dues by group, in thousand euros](image1)\n\nThis is from page 2 of harbour.pdf."
    )


def test_rows_that_ocr_read_count_as_well() -> None:
    scanned = image(None, ocr_text="- | Wave I | Wave II\nDistricts | 31 | 44\nPeople | 52 | 72", layout="table")
    assert ask("How many districts in Wave II?", context(images=[scanned])).text.startswith(
        "The table on page 1 lists Districts (Wave II: 44). ![The table on page 1](image1)"
    )


def test_paired_values_of_a_chart_are_said_as_rows_of_a_table_are() -> None:
    chart = image(
        "Dues by port", "- | 2021 | 2022\nTolland | 31 | 44\nKäsern | 52 | -\nBase: 120 ports", layout="chart"
    )
    answer = ask("What were the dues of Tolland in 2022?", context(images=[chart]))
    assert answer.text.startswith(
        "The chart on page 1 (Dues by port) lists Tolland (2022: 44). ![Dues by port](image1)"
    )


@pytest.mark.parametrize("text", ["Tolland | 44 | 31", "2021 | 2022\nTolland | 44", "Tolland | dues\nKäsern | grain"])
def test_bars_between_the_labels_of_a_chart_make_no_cells(text: str) -> None:
    chart = image("Dues by port", text, layout="chart")
    assert " lists " not in ask("What were the dues of Tolland in 2022?", context(images=[chart])).text


def test_an_image_without_caption_says_what_it_reads() -> None:
    said = "The ticket counter opens at nine in the morning and at ten on Sundays"
    given = context(images=[image(None, f"Opening hours\n\n{said}.", layout="page")])
    answer = ask("How early does the ticket counter open?", given)
    assert answer.text.startswith(f"Page 1 reads, under “Opening hours”, “{said}”. ![Page 1](image1)")


@pytest.mark.parametrize(("score", "pages"), [(9.0, [1, 2]), (2.0, [1])])
def test_a_place_without_a_word_of_the_question_is_shown_where_it_ranks_with_the_best(
    score: float, pages: list[int]
) -> None:
    pier = quote("Passengers that the ferry carried last year came to the pier by bus.")
    cover = image(None, "Harbour board 2022, all rights reserved", page=1)
    given = Context(
        texts=(Hit(rank=1, score=10.0, quote=pier),),
        images=(Hit(rank=2, score=score, quote=cover),),
        rarity=dict.fromkeys(words("passengers ferry carry"), 0.5),
    )
    answer = ask("How many passengers did the ferry carry?", given)
    assert (answer.status, [citation.page + 1 for citation in answer.citations]) == ("located", pages)


def test_labels_of_a_picture_are_no_sentence() -> None:
    given = context(images=[image("Passengers of the ferry", "Ferry\n2021 2022 2023\nPassengers 31 44 52")])
    answer = ask("How many passengers did the ferry carry?", given)
    assert (answer.status, answer.text) == (
        "located",
        "No sentence was found that surely answers this. This place bears on it most:\n\n"
        "- The figure on page 1 (passengers, ferry): “Ferry 2021 2022 2023 Passengers 31 44 52”. "
        "![Passengers of the ferry](image1)",
    )


def test_what_has_to_be_looked_at_is_shown_and_not_said() -> None:
    texts = ["The lighthouse on the mole has bands of many colours, and its lamp is red."]
    answer = ask("What colour is the lighthouse on the mole?", context(texts))
    assert answer.status == "located"
    assert answer.text.startswith(
        "What is asked has to be looked at, counted or compared on the page. This place bears"
    )


def test_a_number_of_something_else_is_no_answer() -> None:
    texts = ["In 2023 the port had nine pilots, who guided 412 tankers and ferries."]
    assert ask("How many pilots had the port in 2023?", context(texts)).status == "answered"
    assert (
        ask("How many ferries had the port in 2023?", context(["In 2023 the port had 9 pilots for ferries."])).status
        == "located"
    )
    assert ask("How many pilots had the port in 2019?", context(texts)).status == "located"


def test_a_year_may_be_the_document_s() -> None:
    question = "How many calls did the port receive in 2023?"
    texts = [quote("The port received 1,058 calls."), quote("This report is on 2023.", page=1)]
    assert ask(question, context(texts)).text.startswith("The port received 1,058 calls [1].")
    assert ask(question.replace("2023", "2019"), context(texts)).status == "located"
    assert ask(question, context([quote("In 2022 the port received 1,020 calls."), texts[1]])).status == "located"


def dues(number: int, grain: int, coal: int) -> Quote:
    rows = f"Group | 2021 | 2022\nGrain | {grain} | {grain + 1}\nCoal | {coal} | {coal + 1}"
    return image(f"Table {number}: Dues of the harbour.", rows, layout="table", page=number)


def test_two_questions_may_be_answered_by_one_table() -> None:
    question = "What were the harbour dues for grain in 2021, and what were the harbour dues for coal in 2021?"
    answer = ask(question, context(images=[dues(1, 100, 200)]))
    assert answer.text.startswith(
        "Table 1 (Dues of the harbour) lists Grain (2021: 100); Table 1 (Dues of the harbour) lists Coal (2021: 200). "
        "![Dues of the harbour](image1)"
    )
    assert len(answer.citations) == 1


def test_two_questions_may_be_answered_by_more_tables_than_one_shows() -> None:
    coal = "Group | 2021 | 2022\nCoal | 7 | 8\nTar | 5 | 6"
    tables = [
        dues(1, 100, 200),
        dues(2, 100, 202),
        image("Table 3: Harbour dues of coal.", coal, layout="table", page=3),
    ]
    question = "What were the harbour dues for grain in 2021, and what were the harbour dues for coal in 2022?"
    answer = ask(question, context(images=tables), ExtractiveGenerator(keep=0.1, max_images=1))
    assert "Grain (2021: " in answer.text
    assert "Coal (2022: " in answer.text
    assert {citation.kind for citation in answer.citations} == {"image"}


def test_other_documents_are_left_out_unless_they_disagree() -> None:
    here = quote("The port received 1,058 calls in 2023.")
    same = quote("Calls received by the port in 2023 were 1,058.", document="b.pdf")
    other = quote("The port received 1,049 calls in 2023.", document="c.pdf")
    question = "How many calls did the port receive in 2023?"
    alone = ask(question, context([here, same]))
    assert [citation.document for citation in alone.citations] == ["harbour.pdf"]
    assert alone.warnings == ()
    both = ask(question, context([here, other]), ExtractiveGenerator(keep=0.3))
    assert {citation.document for citation in both.citations} == {"harbour.pdf", "c.pdf"}
    assert both.warnings == ("The documents give different numbers here: compare what they say.",)


def test_what_only_introduces_the_answer_is_none() -> None:
    texts = ["The harbour board has the following members:", "Harbour dues are due in May."]
    assert ask("Which members has the harbour board?", context(texts)).status == "located"


def test_what_compares_must_be_said_and_is_not_computed() -> None:
    given = context(["The West Mole is 310 metres long and the East Mole 120 metres long."])
    assert ask("Which mole is longer than the East Mole?", given).status == "located"
    given = context(["The highest crane of the harbour is the crane of the grain quay."])
    assert ask("Which is the highest crane of the harbour?", given).status == "answered"


def test_the_highest_number_of_a_column_is_computed_and_says_so() -> None:
    rows = "Group | 2021 | 2022\nContainer | 1,204 | 1,310\nGrain | 486 | 512\nTimber | 331 | 318"
    given = context(images=[image("Table 1: Harbour dues by group.", rows, layout="table")])
    answer = ask("Which group had the highest harbour dues in 2022?", given)
    assert answer.text.startswith(
        "By Table 1 (Harbour dues by group), in 2022, Container is the highest of 3 rows: 1,310, before Grain with 512."
    )
    (citation,) = answer.citations
    assert (citation.verdict, citation.reason) == (
        "unchecked",
        "The table's numbers were compared; it does not say this itself.",
    )


def test_a_heading_answers_nothing_but_a_definition() -> None:
    given = context([quote("Harbour Emission Limits (HEL)", layout="title"), "Ships keep to HEL."])
    assert ask("What does HEL stand for?", given).text.startswith("Harbour Emission Limits (HEL) [1].")
    assert ask("Which emission limits has the harbour?", given).status == "located"


def test_the_best_quote_comes_first_then_its_document_from_front_to_back() -> None:
    texts = [
        quote("The dues of the harbour doubled suddenly in spring.", page=4),
        quote("For boats, dues of the harbour were paid in spring.", document="a.pdf", page=1),
        quote("In spring, dues of the harbour pay for dredging.", page=2),
    ]
    answer = ask("dues harbour spring", context(texts), ExtractiveGenerator(keep=0.1))
    assert [citation.number for citation in answer.citations] == [1, 3]
    assert answer.text.endswith("This is from pages 3 and 5 of harbour.pdf.")


def test_nothing_is_said_twice() -> None:
    answer = ask("How many ships called at the port?", context(["Ninety ships called at the port."] * 3))
    assert len(answer.citations) == 1


def test_settings_bound_the_answer() -> None:
    texts = [f"The harbour dues of {name} rose by {name} per cent, {'and so on ' * 60}." for name in ("May", "June")]
    given = context([*texts, "Figure 1 gives harbour dues."], [image("Figure 1: Harbour dues.")])
    answer = ask("harbour dues", given, ExtractiveGenerator(max_sentences=1, max_images=0, max_characters=60))
    assert len(answer.citations) == 1
    generous = ask("harbour dues", given, ExtractiveGenerator(max_characters=60, keep=0.1))
    assert {citation.kind for citation in generous.citations} == {"text", "image"}
    assert "The harbour dues of May rose by May per cent… [1]" in generous.text


def test_marks_in_the_source_are_not_ours() -> None:
    hostile = "The dues rise [1] ![x](image1) to `4 [2] euros` as [3, 4] say."
    answer = ask("How far did dues rise?", context([hostile] * 4 + ["Other."], [image("![a](image9) ]["), image(None)]))
    assert [(citation.kind, citation.number) for citation in answer.citations] == [("text", 1)]
    assert answer.text.startswith("The dues rise (1) [x](image1) to '4 (2) euros' as (3, 4) say [1].")
    assert answer.unresolved == ()


def test_markup_stays_the_text_that_it_is() -> None:
    hostile = "<script>alert('dues')</script> raises <b>harbour</b> dues."
    answer = ask("What raises the dues?", context([quote(hostile, document="<i>a</i>\n[1].pdf")]))
    assert answer.text == (
        "<script>alert('dues')</script> raises <b>harbour</b> dues [1].\n\nThis is from page 1 of <i>a</i> (1).pdf."
    )


def test_text_without_spaces_is_answered_alike() -> None:
    given = context(["東京は日本の首都です。東京の人口は約1400万人です。", "大阪は商業の町です。"])
    answer = ask("東京の人口は何人ですか？", given)
    assert answer.text.startswith("東京の人口は約1400万人です [1]。")
    assert len(answer.citations) == 1


PIECES = "harbour dues rose [1] ![a](image1) | ` . Figure 1 2021 東京 。 <b> [ ] ( ) !".split()  # noqa: SIM905
WORDS = st.sampled_from([*PIECES, " ", "\n"])
TEXT = st.one_of(st.text(), st.lists(WORDS).map(" ".join), st.lists(WORDS).map("".join))


@given(st.lists(TEXT, max_size=3), st.lists(st.tuples(TEXT, TEXT), max_size=2), TEXT)
def test_any_text_gives_an_answer_whose_every_mark_resolves(
    texts: list[str], images: list[tuple[str, str]], question: str
) -> None:
    pictures = [image(caption, text, layout="table") for caption, text in images]
    generator = ExtractiveGenerator(keep=0.0)
    answer = ask(f"harbour dues {question}", context(texts, pictures), generator)
    assert answer.unresolved == ()
    assert answer.status == "abstained" or {TABLES_DIFFER}.issuperset(answer.warnings)
    assert answer == ask(f"harbour dues {question}", context(texts, pictures), generator)
    assert (answer.status == "abstained") == (not answer.citations)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where is the old mill, and how many minutes does it take to walk there?", False),
        ("Who built the pier, and how much did it cost?", True),
    ],
)
def test_a_part_that_names_its_thing_by_a_pronoun_is_about_that_of_the_first(question: str, said: bool) -> None:
    texts: list[Quote | str] = [
        "The old mill is located on Quay Lane.",
        quote("Ada: it takes 45 minutes to walk home from school.", id="b:0:0", document="b.md"),
        quote("Ole Berg built the pier in 1890.", id="c:0:0", document="c.md"),
        quote("The pier cost 5,200 crowns.", id="c:0:1", document="c.md"),
    ]
    given = context(texts)
    answer = ask(question, given)
    assert answer.status == "answered"
    assert "45 minutes" not in answer.text.partition("This place bears")[0]
    assert ("5,200" in answer.text) == said


def test_a_question_of_two_is_answered_part_by_part() -> None:
    answer = ask("How many vessel calls did the port receive, and how did the quarters compare?")
    assert answer.status == "answered"
    assert answer.text == (
        "The port received 1,058 vessel calls, against 1,020 in the year before [4].\n\n"
        "This place bears on what else is asked:\n\n"
        "- Figure 2, page 3 (quarters): “0 100 200 300”. ![Vessel calls by quarter in 2022 and 2023](image2)\n\n"
        "This is from page 3 of harbour.pdf."
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        # Each shares most words with the question, and tells of something else.
        ("How many berths has the harbour let?", "Since 2015 berths of the harbour have been let by the year."),
        ("Where was the port founded?", "The information found on the website of the port is filed with the SEC."),
        ("Who founded the port of Merrow?", "The port of Merrow owns Merrow Towage Inc and Merrow Pilots LLC."),
        ("Which berth is the most used?", "The coal berth of the harbour is used almost daily."),
        ("When was Skarn Quay built?", "In 2023 Skarn Quay was widened."),
        ("How often should I grease the crane?", "2 Open the hatch and select the crane that you should grease."),
        ("How do I start the crane?", "The crane will start by itself after a power cut."),
        ("When was Merrow founded?", "Before he joined Merrow, Mr. Holm co-founded Pictra in 1996."),
        ("What were the sales of the port in 2019?", "Sales of the port rose by 5 per cent in 2021."),
        ("What does the up button of the crane do?", "The down button of the crane lowers the hook."),
        ("What are the limits of the crane?", "A new hook was made to overcome the limits of the crane."),
        ("Which buttons does the crane have?", "Grease of the crane is often found behind the buttons."),
        ("What is a quay?", "The length of a quay is measured in metres."),
        ("What is a quay?", "A quay is not a pier."),
        ("What is the weight of the crane?", "Do not put weight on the hook of the crane for 3 hours."),
        ("What was the revenue of the port in 2019?", "Online revenue of the port was $3 million in 2019."),
        ("What was the revenue of the port in 2019?", "The fall in revenue of the port in 2019 was driven by grain."),
        ("How do I start the crane?", "To save the hook, press the crane's start button."),
        ("How do I start the crane?", "Press the button of the crane to set how it will start again."),
        ("How do I open the gate?", "Press the bell, and never open the gate by hand."),
        ("How do I stop the crane?", "To start the crane, press the button that will stop it."),
        ("What is a quay?", "The quay is closed on Sundays until May."),
        ("What is a quay?", "A quay is seldom built by the port alone."),
        ("What is the rate of the loan?", "The rate of the loan was not fixed at 5 percent."),
        ("Who audited the port?", "We audited the port by the rules of Anna Holm."),
        ("Who audited the port?", "Before she audited the port, she worked for Anna Holm."),
        ("Who is Anna Holm?", "Anna Holm wrote the foreword with Dave West."),
        ("Was the request of the port granted?", "The pilots argued that the request of the port should be granted."),
        ("Which prompts does the port use?", "To use the port prompts a question: can the prompts of the port last?"),
        ("Which pilots does the port employ?", "For example, some pilots that the port employs are from Tolland."),
        ("Which pilots does the port employ?", "Pilots that the port employs ................ 12"),
        ("Where is the port of Merrow located?", "Tolland, located on the Blue River, was the first port of Merrow."),
        ("How do I charge the crane?", "3 Remove the plug after the crane is fully charged."),
        ("How do I charge the crane?", "To see how well to charge the crane, look at the lamp."),
        ("What is a quay?", "They mend part of a quay, a whole quay or several quays."),
        ("What is Plug&Quay?", "For Plug&Quay, the adapter is used."),
        ("What is the flow sensor?", "Mass Flow Sensor (MFS)."),
        ("What is the seat of the county?", "Seats of the county were the cause of wars in Tolland."),
        ("How long does the ferry to the isles take?", "The ferry to the isles takes 214,000 passengers."),
        ("How heavy is the crane?", "The crane lifts 30 containers."),
        ("Is there a crane?", "The quay is used by fishermen."),
        ("What is the budget?", "The chair praised the budget of 2019."),
        ("What is the budget?", "The budget is seldom kept."),
    ],
)
def test_a_statement_of_something_else_does_not_answer(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Is the harbour open on Sundays?", "The harbour is not open on Sundays."),
        ("How many people work at the port?", "In all 312 people work at the port."),
        ("Why did grain prices rise?", "Grain prices rise because summers are dry."),
        ("When was Skarn Quay built?", "Skarn Quay was built in 1931."),
        ("Who built Skarn Quay?", "Skarn Quay was built by Anna Holm."),
        ("How do I start the crane?", "To start the crane, press the green button."),
        ("What does the up button of the crane do?", "The up button of the crane moves the hook up and the jib down."),
        ("What are the limits of the crane?", "The limits of the crane are forty tons and thirty metres."),
        ("What was the revenue of the port in 2019?", "Total revenue of the port in 2019 was $3 million."),
        ("What is the weight of the crane?", "The weight of the crane is forty tons."),
        ("What is a quay?", "A quay is a wall at which ships lie."),
        ("What are quays?", "Quays (or wharves) are walls at which ships lie."),
        ("What is LagStage?", "We present LagStage, a model of the ice in lakes."),
        ("When was the survey conducted?", "The survey of the pilots, conducted in May 2021, found no delays."),
        ("Who is the director of the port?", "Mr. Holm is the director of the port."),
        ("What is the capital of the isles?", "The ferry to the isles calls at the capital (Skarn)."),
        ("Where are the headquarters?", "We own headquarters located in Richfield."),
        ("Where are the headquarters located?", "We let two houses in San Jose, where our headquarters are located."),
        ("What fuel is used by the ferry?", "The ferry employs a fuel that is made from straw."),
        ("Which classes does the port support?", "The port offers the following classes of berths: Day and Year."),
        ("How long does the ferry to the isles take?", "The ferry to the isles takes 35 minutes."),
        ("How heavy is the crane?", "The crane weighs 40 tonnes."),
        ("Is there a crane?", "A crane of 40 tonnes stands on the quay."),
        ("What is the price of a berth?", "The fee for a berth is 60 euros a day."),
        ("How much money may be spent on the crane?", "The port agreed to spend up to 9 pounds on the crane."),
        ("When does the board meet next?", "The next meeting of the board is on 3 April."),
        ("How much does the large crane cost?", "It was said that the cost of the large crane is 9 euros."),
        ("What is the budget?", "The budget is 14,500 euros."),
        ("What should I do if the crane hums?", "If the crane hums, pull the plug."),
    ],
)
def test_a_statement_in_the_question_s_words_answers(question: str, text: str) -> None:
    assert ask(question, context([text])).text.startswith(text.rstrip("."))


def test_sentences_that_count_otherwise_do_not_answer() -> None:
    seven = "At the port of Skarn seven ships of the new line were launched on 28 March 2015."
    six = "Merrow, the first vessel of steel in the county, was launched with six ships from abroad in May 2015."
    same = "In 2015 the yards of Tolland launched seven ships for six owners who were in need of them."
    question = question_terms("How many ships were launched in 2015?")
    one, other, agreeing = text_statements(context([seven, six, same]), limit=300)
    assert keep_best_document([one, other], question) == ([], False)
    assert keep_best_document([one, agreeing], question) == ([one, agreeing], False)


def test_the_first_cell_of_a_table_says_what_its_columns_are() -> None:
    table = image("Earnings", "Fiscal years ended | January 2022 | January 2023\nRevenue | 51 | 46", layout="table")
    assert "Revenue (January 2023: 46)" in ask("What was the revenue in fiscal 2023?", context(images=[table])).text


def test_a_sum_of_money_counts_nothing() -> None:
    text = "In 2021 the board approved a $5 billion share repurchase programme."
    assert ask("How many shares were repurchased in 2021?", context([text])).status == "located"


@pytest.mark.parametrize("year", ["2021", "FY2021", "fiscal 2021", "Fiscal year 2021", "the financial year 2021"])
def test_a_fiscal_year_is_its_year(year: str) -> None:
    table = image("Segments", "- | 2021 | 2020\nTotal depreciation | 759 | 787", layout="table")
    texts = ["In fiscal 2021 we opened stores.", "Our fiscal year ends in January.", "Rent fell in fiscal 2020."]
    assert (
        "Total depreciation (2021: 759)" in ask(f"What was total depreciation in {year}?", context(texts, [table])).text
    )


@pytest.mark.parametrize("year", ["fiscal 2021", "FY2021", "the financial year 2021"])
def test_a_calendar_year_is_no_fiscal_year(year: str) -> None:
    texts = ["Revenue was 6 million in calendar 2021.", "Revenue was 5 million in fiscal 2021.", "Rent fell in 2020."]
    assert ask(f"What was the revenue in {year}?", context(texts)).text.startswith("Revenue was 5 million")


@pytest.mark.parametrize(
    ("year", "cells"),
    [
        ("fiscal 2021", "Fiscal 2021: 51"),
        ("FY2021", "Fiscal 2021: 51"),
        ("calendar 2021", "Calendar 2021: 46"),
        ("calendar year 2021", "Calendar 2021: 46"),
        ("2021", "Fiscal 2021: 51; Calendar 2021: 46"),
    ],
)
def test_of_a_fiscal_and_a_calendar_year_that_is_taken_which_is_asked_for(year: str, cells: str) -> None:
    table = image("Berths", "- | Fiscal 2021 | Calendar 2021\nTotal dues | 51 | 46\nRent | 5 | 4", layout="table")
    texts = ["In fiscal 2021 we opened berths.", "Our fiscal year ends in January.", "Rent fell in fiscal 2020."]
    assert f"Total dues ({cells})" in ask(f"What were the total dues in {year}?", context(texts, [table])).text


@pytest.mark.parametrize(
    "years",
    [
        "fiscal years 2021 and 2022",
        "fiscal 2021 and fiscal 2022",
        "the financial years 2021 to 2022",
        "FY2021 and FY2022",
    ],
)
def test_several_fiscal_years_are_several_years(years: str) -> None:
    table = image("Berths", "- | 2022 | 2021 | 2020\nTotal dues | 51 | 46 | 44\nRent | 5 | 4 | 3", layout="table")
    texts = ["In fiscal 2021 we opened berths.", "Our fiscal year ends in January.", "Rent fell in fiscal 2020."]
    answer = ask(f"What were the total dues in {years}?", context(texts, [table])).text
    assert "Total dues (2022: 51; 2021: 46)" in answer


def test_a_text_on_calendar_years_is_not_of_the_fiscal_years_asked_for() -> None:
    question = question_terms("What were the dues in fiscal years 2021 and 2022?")
    assert says_calendar_year(question, "Dues in calendar years 2021 and 2022 were 5 and 6 million.")
    assert not says_calendar_year(question, "Dues in fiscal years 2020, 2021 and 2022 and in calendar 2021 fell.")


INCOME = """- | 2022 | 2021
Operating expenses:
Dredging and repairs | 30 | 28
Pilots | 12 | 11
Total operating expenses | 42 | 39
Interest | 3 | 2"""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What were the dredging and repairs expenses in 2021?", "Operating expenses: Dredging and repairs (2021: 28)"),
        ("What were the operating expenses for pilots in 2022?", "Operating expenses: Pilots (2022: 12)"),
        ("What were dredging and repairs in 2021?", "lists Dredging and repairs (2021: 28)"),
    ],
)
def test_the_name_of_its_group_says_what_a_row_is_of(question: str, said: str) -> None:
    given = context(["Expenses rose.", "Interest fell."], [image("Harbour", INCOME, layout="table")])
    assert said in ask(question, given).text


def test_a_row_below_the_total_of_a_group_is_not_of_it() -> None:
    given = context(["Expenses rose.", "Interest fell."], [image("Harbour", INCOME, layout="table")])
    assert ask("What were the interest expenses in 2022?", given).status != "answered"


def test_of_two_columns_both_headings_belong_to_each_row() -> None:
    table = image("Lamps", "Lamp | Meaning\nOrange | No current\nRed | Too hot", layout="table")
    assert "Orange (No current)" in ask("What does the orange lamp mean?", context(images=[table])).text


def test_the_heading_may_say_what_a_person_or_date_belongs_to() -> None:
    told = quote("Tomasz Wren is in charge.", document="plan.md", section="Move to the new office")
    assert ask("Who is in charge of the move?", context([told])).text.startswith("Tomasz Wren is in charge [1].")
    fragment = told.model_copy(update={"text": "Tomasz Wren, in charge"})
    assert ask("Who is in charge of the move?", context([fragment])).status != "answered"


def test_of_a_heading_what_stands_under_it_is_shown() -> None:
    title = quote("Move to the new office", id="p:0:0", document="plan.md", layout="title")
    text = quote("Order desks.", id="p:0:1", document="plan.md", section="Move to the new office")
    shown = ask("Whose is the move?", context([title, text])).text
    assert "(move): “Order desks” [2]." in shown
    assert "[1]" not in shown


def test_a_sentence_of_a_picture_that_is_mostly_numbers_is_none() -> None:
    text = "Out of the total 0.7 0.6 the 0.1 0 pilots asked in 3 ports 83 were from the 12 7 islands."
    chart = image("Pilots", text)
    assert ask("How many pilots were asked?", context(images=[chart])).status != "answered"


def test_a_row_of_another_length_than_the_names_is_not_said() -> None:
    rows = "- | 2023 | 2022 | 2021\nCosts | 1 | 2 | 3\nRevenue | $ | 46,298 | $ | 51,761 | $ | 47,262"
    answer = ask("What was the revenue in 2022?", context(images=[image("Statements", rows, layout="table")]))
    assert "2022: 51,761" in answer.text
    odd = rows.replace("$ | 46,298", "note | 46,298")
    shown = ask("What was the revenue in 2022?", context(images=[image("Statements", odd, layout="table")]))
    assert shown.status == "located"
    assert "2022: 46,298" not in shown.text


def test_the_values_of_a_chart_are_read_as_rows() -> None:
    rows = "- | Yes | No\nIslands | 45 | 55\nMainland | 60 | 40\nSource: survey"
    chart = image(None, rows, layout="chart", id="harbour.pdf:0:1")
    shown = ask("Which bar of the chart is red, that of the islands or of the mainland?", context(images=[chart]))
    assert "“Islands, Yes: 45, No: 55; Mainland, Yes: 60, No: 40”" in shown.text
    said = ask("What is the difference for yes between the islands and the mainland?", context(images=[chart]))
    assert said.text.startswith(
        "By the chart on page 1, in Yes, the difference between Islands (45) and Mainland (60) is 15."
    )


def test_the_sentence_that_defines_is_chosen_where_a_term_has_its_meaning_in_a_field() -> None:
    under: QuoteFields = {"document": "book.html", "section": "What Is Ownership?", "has_pages": False}
    praise = quote("The more you know of ownership in Rust, the easier it is to write safe code.", **under)
    defines = quote("Ownership is a set of rules by which a Rust program manages memory.", **under)
    answer = ask("What is ownership in Rust?", context([praise, defines]))
    assert answer.text.startswith("Ownership is a set of rules by which a Rust program manages memory [2].")
    assert "easier" not in answer.text


def test_a_property_is_no_definition() -> None:
    text = "String literals are convenient, but not suitable for every situation."
    assert ask("What is a string literal?", context([text])).status == "located"
    text = "A string literal is text that is written into the program."
    assert ask("What is a string literal?", context([text])).status == "answered"


def test_a_place_that_introduces_shows_what_it_introduces() -> None:
    intro = quote("Bring these to the ferry to Seal Rock:", id="f:0:0", document="ferry.md")
    items = quote("- a warm coat\n- a torch", id="f:0:1", document="ferry.md", layout="list")
    given = context([intro, items]).model_copy(update={"introduced": {intro.id: (items.id,)}})
    answer = ask("Where does the ferry to Seal Rock leave?", given)
    assert answer.status == "located"
    assert "Seal Rock:” [1]. “a warm coat” [2]. “a torch” [2]." in answer.text


def test_what_is_introduced_is_cut_and_the_cut_is_told() -> None:
    intro = quote("The ferry to Seal Rock carries the following goods:", id="f:0:0", document="ferry.md")
    items = quote("\n".join(f"- crates of the goods number {at}" for at in range(60)), id="f:0:1", layout="list")
    given = context([intro, items]).model_copy(update={"introduced": {intro.id: (items.id,)}})
    answer = ask("What goods does the ferry to Seal Rock carry?", given)
    assert answer.status == "answered"
    shown = answer.text.count("\n- crates")
    assert f"\n\n{60 - shown} more are there.\n" in answer.text
    assert len(answer.text.split()) < 180


@pytest.mark.parametrize(("count", "whole"), [(20, True), (30, False)])
def test_a_list_is_whole_where_it_is_not_much_longer_than_an_answer(count: int, whole: bool) -> None:
    intro = quote("The ferry to Seal Rock carries the following goods:", id="f:0:0", document="ferry.md")
    items = quote("\n".join(f"- crates of the goods number {at}" for at in range(count)), id="f:0:1", layout="list")
    given = context([intro, items]).model_copy(update={"introduced": {intro.id: (items.id,)}})
    answer = ask("What goods does the ferry to Seal Rock carry?", given)
    assert (answer.text.count("\n- crates") == count) == whole
    assert (" more are there." in answer.text) != whole


def test_introduced_code_cannot_end_its_fence() -> None:
    intro = quote("To print the tide table, run:", id="f:0:0", document="ferry.md")
    code = quote("tide --print\n```\n[1] --all", id="f:0:1", document="ferry.md")
    given = context([intro, code]).model_copy(update={"introduced": {intro.id: (code.id,)}})
    answer = ask("How do I print the tide table?", given)
    assert [citation.mark for citation in answer.citations] == ["[1]", "[2]"]
    assert answer.text.count("```") == 2


def test_a_sentence_that_refers_back_comes_with_the_one_before_it() -> None:
    text = "The tide gauge has a battery of its own. It lasts 14 months."
    answer = ask("How long does the battery of the tide gauge last?", context([text]))
    assert answer.text.startswith("The tide gauge has a battery of its own [1]. It lasts 14 months [1].")


def test_what_a_state_leads_to_is_no_reason_for_it() -> None:
    text = "The gauge was moved. This will cause the gauge to stop and the harbour to close."
    assert ask("Why does the harbour close?", context([text])).status == "located"


def test_an_amount_in_a_clause_about_something_else_does_not_answer() -> None:
    text = (
        "The maker grants a guarantee of five years, and takes worn batteries back to charge the new battery at home."
    )
    assert ask("How long does it take to charge the battery?", context([text])).status == "located"
    text = "With the fast charger, it takes two hours to charge the battery."
    assert ask("How long does it take to charge the battery?", context([text])).status == "answered"


def test_how_far_wants_a_distance() -> None:
    asked = "How far is the West Mole from the station?"
    assert ask(asked, context(["The West Mole is far from the station: 40 minutes."])).status == "located"
    assert ask(asked, context(["The West Mole is 3 km from the station."])).status == "answered"


def test_the_first_of_several_is_not_the_one_that_is_asked_for() -> None:
    former = "The first harbour seat was Grünegg."
    assert ask("What is the harbour seat of Tolland?", context([f"Tolland: {former}", former])).status == "located"


def test_a_row_says_what_its_code_means() -> None:
    codes = image(
        None, "Code | Cause | Remedy\nE1 | Too hot | Wait\nE2 | Sensor lost | Check the magnet", layout="table"
    )
    answer = ask("What does E2 mean?", context(["The display shows error codes such as E2."], [codes]))
    assert answer.status == "answered"
    assert "Sensor lost" in answer.text
    assert "Too hot" not in answer.text


@pytest.mark.parametrize(
    ("question", "text", "status"),
    [
        ("Who can nominate pilots?", "Existing members can nominate pilots.", "answered"),
        ("Who can nominate pilots?", "You can nominate pilots each year.", "located"),
        ("Should I commit the tide table?", "The gauge takes the latest commit into the tide table.", "located"),
        ("Should I commit the tide table?", "When in doubt, always commit the tide table.", "answered"),
        ("What is a berth?", "A berth defines the place at which a ship lies.", "answered"),
        ("What is a berth?", "At Tolland, a place at the quay is called a berth.", "answered"),
    ],
)
def test_who_may_what_is_advised_and_what_is_called_so(question: str, text: str, status: str) -> None:
    assert ask(question, context([text])).status == status


def test_the_text_under_the_heading_that_is_the_question_answers() -> None:
    away = quote("Pilots nominate pilots, and pilots are nominated.", id="g:0:0", document="g.md", has_pages=False)
    under = quote(
        "Anyone who has served a year.",
        id="g:1:0",
        document="g.md",
        page=1,
        has_pages=False,
        section="Who nominates pilots?",
    )
    answer = ask("Who nominates pilots?", context([away, under]))
    assert answer.status == "answered"
    assert answer.citations[0].quote_id == under.id


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does gauge yank do?", "$ gauge yank --version 2"),
        ("How do I run the gauge tests?", "You can also run one of the gauge tests: press the key."),
        ("How often is a stable chart released?", "A stable chart is released. It is supported for six weeks."),
    ],
)
def test_code_another_way_and_another_verb_answer_nothing(question: str, text: str) -> None:
    assert ask(question, context([text])).status == "located"


def test_several_sections_of_a_document_without_pages_are_shown() -> None:
    def of(section: str, text: str) -> Quote:
        return quote(text, document="pump.md", section=section, has_pages=False)

    cleaning = of("Cleaning", "The filter of the pump is cleaned with a brush each spring.")
    storing = of("Storing", "The filter of the pump lies in the cellar in winter.")
    other = of("Paint", "Paint of any sort sticks to it.")
    answer = ask("Who sells the filter of the pump?", context([cleaning, storing, other]))
    assert answer.status == "located"
    assert [line[: line.find("”")] for line in answer.text.splitlines() if line[:1] == "-"] == [
        "- “Cleaning",
        "- “Storing",
    ]
    paged = [one.model_copy(update={"has_pages": True}) for one in (cleaning, storing, other)]
    assert ask("Who sells the filter of the pump?", context(paged)).text.count("\n- ") == 1


def test_of_a_manual_the_place_is_shown_that_is_about_more_than_its_subject() -> None:
    def of(section: str, text: str, layout: Layout = "paragraph") -> Quote:
        return quote(text, document="README.md", section=section, layout=layout, has_pages=False)

    quotes = [
        of("Mail", "Write to the list of jq, which is what jq reads, about jq."),
        of("Help", "The manual of jq has a page on jq itself."),
        of("Contents", "Building from source\nNightly releases\nMail\nHelp\nSupport for jq", "list"),
        of("Nightly releases", "They lie in download/nightly/."),
    ]
    given = context(quotes).model_copy(update={"titles": {"README.md": "jq"}})
    answer = ask("Where are the nightly releases of jq?", given)
    assert answer.status == "located"
    assert answer.text.splitlines()[2].startswith("- “Nightly releases”")


def test_the_end_on_the_next_page_belongs_to_the_last_sentence_alone() -> None:
    text = "Some ports compete for steep cranes primarily on price. The board said that remaining competitive on price"
    rivals = quote(text)
    given = context([rivals]).model_copy(update={"sentence_ends": {rivals.id: "is one of its “ongoing” priorities."}})
    shown = ask("What colour are the steep cranes of the board?", given).text
    assert "cranes primarily on price. The board said" in shown
    assert "competitive on price is one of its ‘ongoing’ priorities.” [1]" in shown


def test_a_text_that_two_documents_have_is_shown_once() -> None:
    said = "The ferry to Seal Rock carries passengers, bicycles and crates of fish. " + " ".join(
        f"The deck hand who is on duty on day {day} of the month weighs all of them beforehand." for day in range(1, 5)
    )
    given = context(
        [
            quote(said, id="a:0:0", document="edition-1.md"),
            quote(said, id="b:0:0", document="edition-2.md"),
            quote("Passengers of the ferry wait on the quay.", id="c:0:0", document="quay.md"),
        ]
    )
    answer = ask("How many passengers did the ferry carry?", given)
    assert answer.status == "located"
    assert [citation.document for citation in answer.citations] == ["edition-1.md", "quay.md"]


def test_what_a_thing_does_is_told_under_its_name() -> None:
    told = "It lets air out of the boiler. Open it once a week."
    given = context(
        [
            quote("purge valve --open now", id="m:0:1", document="manual.md", section="Examples"),
            quote("Rust forms where the purge valve leaks.", id="m:0:2", document="manual.md", section="Care"),
            quote(told, id="m:0:3", document="manual.md", section="Purge valve"),
        ]
    )
    answer = ask("What does the purge valve do?", given)
    assert answer.text.startswith("It lets air out of the boiler [3]. Open it once a week [3].")


def test_a_sentence_that_only_mentions_a_thing_does_not_say_what_it_does() -> None:
    said = "--keep: Asserts that the exact same parts are used as when the existing Stores.lock file was written."
    assert ask("What is the Stores.lock file for?", context([said])).status == "located"


def test_of_the_words_of_a_caption_the_picture_is_shown() -> None:
    said = "Vessels delivered by year"
    given = Context(
        texts=(Hit(rank=1, score=9.0, quote=quote(said)),),
        images=(Hit(rank=1, score=8.0, quote=image(f"Figure 1: {said}", "5 2020", layout="chart")),),
    )
    answer = ask("How many vessels were delivered in 2021?", given)
    assert answer.status == "located"
    assert [citation.kind for citation in answer.citations] == ["image"]
