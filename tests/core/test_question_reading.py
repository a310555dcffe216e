import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.place_names import PlaceName
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, analyse_question
from quoteweave.core.text.question_words import asked_thing, describes_thing
from quoteweave.core.text.tokens import words


@pytest.mark.parametrize(
    ("question", "asked", "instructions"),
    [
        (
            "What is the gross margin in FY2022? Answer in percentage terms, round to 2 decimal places.",
            "What is the gross margin in FY2022?",
            ["Answer in percentage terms, round to 2 decimal places."],
        ),
        (
            "Who are the judges? Write the answer in list format.",
            "Who are the judges?",
            ["Write the answer in list format."],
        ),
        ("What is the total debt?Answer in millions.", "What is the total debt?", ["Answer in millions."]),
        ("How high is the ratio, rounded to one decimal?", "How high is the ratio", ["rounded to one decimal?"]),
        ("Who had a revenue of $46,298 million?", "Who had a revenue of $46,298 million?", []),
        ("Who paid 1,200 euros, in percent?", "Who paid 1,200 euros", ["in percent?"]),
        # What a question begins with is what it asks, even where it looks like an instruction.
        ("List the 3 places named in the report.", "List the 3 places named in the report.", []),
        ("Give the list", "Give the list", []),
        (
            "Tell which countries in the report have the percentage.",
            "Tell which countries in the report have the percentage.",
            [],
        ),
        ("Who is he? Show the percentage of votes he got.", "Who is he? Show the percentage of votes he got.", []),
        ("Describe the steps to return an order.", "Describe the steps to return an order.", []),
        ("Two samples. Calculate the percentage of oak.", "Two samples. Calculate the percentage of oak.", []),
        ("How do I format a list in Word?", "How do I format a list in Word?", []),
    ],
)
def test_what_only_says_how_to_answer_is_not_searched_for(question: str, asked: str, instructions: list[str]) -> None:
    analysis = analyse_question(question)
    assert (analysis.text, list(analysis.instructions)) == (asked, instructions)


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("How many bar charts are there?", ["chart"]),
        ("Which table lists the ports?", ["table"]),
        ("What color is the car?", ["figure"]),
        ("In the pie chart, what does the red slice show?", ["chart", "figure"]),
        ("Was zeigt die Tabelle?", ["table"]),
        ("What does the table of contents list?", []),
        ("Which chart is on the cover page?", ["chart"]),
        ("Wie viele Balkendiagramme und Karten gibt es?", ["chart", "figure"]),
        ("Combien de diagrammes y a-t-il ?", ["chart"]),
        ("¿Qué columnas tienen las tablas y qué muestran las imágenes?", ["table", "figure"]),
        ("What does Figure 3 show?", []),  # it is named
        ("Who won the race?", []),
        ("What is said of stables and mapping?", []),
    ],
)
def test_kinds_of_pictures(question: str, kinds: list[str]) -> None:
    assert list(analyse_question(question).picture_types) == kinds


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What is a quay?", "definition"),
        ("What is http://p.p/?", "definition"),
        ("What is retrieval-augmented generation?", "definition"),
        ("What is the depth of the quay?", "statement"),
        ("What does BM25 stand for?", "definition"),
        ("Was ist ein Kai?", "definition"),
        ("How many ships called?", "count"),
        ("What is the number of ships?", "count"),
        ("What is a safe number of ships?", "count"),
        ("Which pier is safe with a small number of ships?", "statement"),
        ("How many more ships called than before?", "calculation"),
        ("How many charts are there?", "parts"),
        ("What percentage of ships called?", "percent"),
        ("How much does a ticket cost?", "money"),
        ("How deep is it?", "amount"),
        ("When was it built?", "date"),
        ("Who built it?", "person"),
        ("Where was it built?", "place"),
        ("Why was it built?", "reason"),
        ("How do I build it?", "steps"),
        ("Is it deep?", "yes_or_no"),
        ("What colour is it?", "look"),
        ("What is the telephone number of the port?", "contact"),
        ("Wie viele Schiffe kamen?", "count"),
        ("Pourquoi ?", "reason"),
        ("¿Cuándo se construyó?", "date"),
        ("The port", "statement"),
    ],
)
def test_what_kind_of_answer_is_asked_for(question: str, asks: str) -> None:
    assert analyse_question(question).asks == asks


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What is the title of the slides?", True),
        ("Who is the author?", True),
        ("What is the telephone number of the home?", True),
        ("What is the total?", False),
        ("Which subtitles are there?", False),
        ("What is the job title of Ms. Lee?", False),
        ("What is the title of Figure 2?", False),
        ("Who is the author of the quotation on page 3?", False),
        ("How many people contact the hotline?", False),
    ],
)
def test_what_stands_on_a_first_page(question: str, asks: bool) -> None:
    assert analyse_question(question).asks_front is asks


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What is this document about?", True),
        ("Give me a short summary of the paper.", True),
        ("What does this report say?", True),
        ("What is this about?", True),
        ("What's it about?", True),
        ("What is harbour-report.pdf about?", True),
        ("Summarise notes/Minutes.MD, please.", True),
        ("What is node.js about?", False),
        ("What are these documents about?", True),
        ("What about it?", False),
        ("Worum geht es in diesem Dokument?", True),
        ("De quoi parle ce rapport ?", True),
        ("¿De qué trata este documento?", True),
        ("What does this report say about timber?", False),
        ("Summarise chapter 3", False),
        ("How many main topics does the report have?", False),
        ("What is this?", False),
        ("Where did she study?", False),
    ],
)
def test_what_asks_for_the_whole_of_a_document(question: str, asks: bool) -> None:
    read = analyse_question(question)
    assert (read.asks_overview, read.asks_front) == (asks, asks)


def test_references_quotations_and_sides() -> None:
    analysis = analyse_question('In Table 2 on page 7, what is the difference between sales and profit in "North Bay"?')
    assert (*analysis.labels, *analysis.places) == (PlaceName("table", "2"), PlaceName("page", "7"))
    assert analysis.quoted == ("North Bay",)
    assert [side.partition("difference ")[2] for side in analysis.sides] == [
        'sales in "North Bay"?',
        'profit in "North Bay"?',
    ]
    assert analyse_question("between us").sides == ()


@pytest.mark.parametrize(
    ("question", "wants"),
    [("How many ships came?", True), ("When did it end?", True), ("What share is red?", True), ("Who came?", False)],
)
def test_numbers_are_wanted(question: str, wants: bool) -> None:
    assert analyse_question(question).wants_number is wants


pieces = st.sampled_from(["list", "answer", "in", "format", "?", ".", " ", "between", "and", "Table", "3", "'"])


@given(st.text(max_size=300) | st.lists(pieces).map(" ".join))
def test_any_text_is_read_and_something_is_left_to_search_for(question: str) -> None:
    analysis = analyse_question(question)
    assert bool(words(analysis.text)) == bool(words(question))
    assert set(words(analysis.text)) <= set(words(question))


def test_a_long_text_is_searched_for_as_it_is() -> None:
    text = "What is coal? " + "Answer in list format. " * MAX_ANALYSED_CHARACTERS
    assert analyse_question(text[: MAX_ANALYSED_CHARACTERS - 100]).instructions
    assert (analyse_question(text).text, analyse_question(text).instructions) == (text, ())


@pytest.mark.parametrize("text", ["between" + " " * 1900, "list " * 399 + "?", "list order " * 180 + "?", "'" * 2000])
def test_hostile_texts_are_read(text: str) -> None:
    assert len(analyse_question(text).text) <= len(text)


def test_what_asks_for_a_definition_is_not_what_is_to_be_defined() -> None:
    assert analyse_question("What is a harbour due?").asked_by == "What is a"
    assert analyse_question("What is in-context learning?").asks == "definition"


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Compare prices between Varna and Oslo", ["Compare prices Varna", "Compare prices Oslo"]),
        ("Compare the prices in Varna and Oslo", ["prices in Varna", "prices in Oslo"]),
        ("Compare the University of Varna and Oslo", ["University of Varna", "Oslo"]),
        ("Compare fiscal 2019 and fiscal 2020", ["fiscal 2019", "fiscal 2020"]),
        ("Difference between wages in 2020 and 2021", ["Difference wages in 2020", "Difference wages in 2021"]),
        ("Unterschied zwischen den Kosten 2020 und 2021", ["Unterschied Kosten 2020", "Unterschied Kosten 2021"]),
        ("growth between the oak and the elm in 2019", ["growth oak in 2019", "growth elm in 2019"]),
        ("Compare oak with elm.", ["oak.", "elm."]),
        ("Unterschied zwischen der Eiche und der Ulme?", ["Unterschied Eiche?", "Unterschied Ulme?"]),
        ("la différence entre le chêne et l'orme ?", ["la différence chêne?", "la différence l'orme ?"]),
        ("between oak", []),
        ("Which trains run between Paris and London?", []),
        ("Was kostet der Zug zwischen Paris und London?", []),
        ("How many trains ran between 2019 and 2020?", ["How many trains ran 2019?", "How many trains ran 2020?"]),
        (
            "Compare revenue of 2019 with 2020 and explain why it fell",
            ["revenue of 2019 and explain why it fell", "revenue of 2020 and explain why it fell"],
        ),
        ("Compare oak with elm and ash.", ["oak.", "elm and ash."]),
        (
            "Compare oak to elm, and say which is older.",
            ["oak, and say which is older.", "elm, and say which is older."],
        ),
        ("Compare exports to China and imports from Japan.", ["exports to China from Japan.", "imports from Japan."]),
        ("Compare oak and explain the elm.", []),
        ("Compare oak and elm. Work with care.", ["oak. Work with care.", "elm. Work with care."]),
        (
            "Between 2019 and 2021 how did net income change?",
            ["2019 how did net income change?", "2021 how did net income change?"],
        ),
        (
            "Compare English with Spanish use of the web.",
            ["English use of the web.", "Spanish use of the web."],
        ),
        ("What are sales in 2019 vs. 2020?", ["What are sales in 2019?", "What are sales in 2020?"]),
        ("What do men vs women read?", ["What do men read?", "What do women read?"]),
        ("How is North Bay compared with Elm Hill?", ["How is North Bay?", "How is Elm Hill?"]),
        ("How did sales change from 2019 to 2021?", ["How did sales change 2019?", "How did sales change 2021?"]),
        ("Wie stieg der Umsatz von 2019 bis 2021?", ["Wie stieg der Umsatz 2019?", "Wie stieg der Umsatz 2021?"]),
        ("How does oak perform compared to elm?", []),
        ("How does oak perform vs. elm in winter?", []),
        ("What did the court decide in Brown vs. Board of Education?", []),
        ("How is Bank of Merrow compared with Bank of Elm?", []),
        ("Is Oak better, GPT vs. Elm?", ["Is Oak better, GPT?", "Is Oak better, Elm?"]),
        ("Sales in fiscal 2019 compared with fiscal 2018", ["Sales in fiscal 2019", "Sales in fiscal 2018"]),
        ("How far is it from Bergen to Oslo?", []),
        ("How far is it from 2000 to 2010 feet?", []),
        ("Who was president from 1990 to 1994?", []),
        ("When was EU vs. UK heard?", []),
        ("In Smith vs Jones, what was less than 500?", []),
        ("In the case Smith vs Jones, is the penalty higher?", []),
        ("Did Ali vs Frazier last more than ten rounds?", []),
        ("What is different about Kramer vs. Kramer compared with the book?", []),
        ("Who is better, Ali vs Frazier?", ["Who is better, Ali?", "Who is better, Frazier?"]),
        ("Do sales in Norway vs. Oman differ?", ["Do sales in Norway differ?", "Do sales in Oman differ?"]),
        ("How does North vs. South compare?", ["How does North compare?", "How does South compare?"]),
        ("Difference between EU vs. US law", ["Difference between EU law", "Difference between US law"]),
        ("CPU vs GPU speed", ["CPU speed", "GPU speed"]),
        ("What happened to sales from 2019 to 2021?", ["What happened to sales 2019?", "What happened to sales 2021?"]),
        ("What happened from 1914 to 1918?", []),
        ("Who was king from 1907 to 1911 and lost the war?", []),
        ("Smith vs. Jones: what was the cost?", []),
        ("price oak vs elm", ["price oak", "price elm"]),
        ("Which grows faster, oak vs elm?", ["Which grows faster, oak?", "Which grows faster, elm?"]),
        ("Does Python compared to Java need more?", ["Does Python need more?", "Does Java need more?"]),
        ("Vergleiche Eiche mit Ulme und erkläre, warum.", ["Eiche und erkläre, warum.", "Ulme und erkläre, warum."]),
    ],
)
def test_the_sides_of_a_comparison(question: str, sides: list[str]) -> None:
    assert [" ".join(side.split()) for side in analyse_question(question).sides] == sides


def test_codes_and_amounts_are_read_and_plain_numbers_are_neither() -> None:
    analysis = analyse_question("Is 12.4% of case 21-cv-1234 within 5 km, or 1,204.5, or a well-known 4.2 million?")
    assert (analysis.codes, analysis.amounts) == (("21-cv-1234",), ("5 km", "4.2 million"))


def test_a_long_run_of_digits_is_no_amount() -> None:
    assert analyse_question(f"How many {'1' * 4500} million ships, or {'1' * 4500}.5 km?").amounts == ()


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When did Ada Byron meet the engineers of Merrow?", ("Ada Byron", "Merrow")),
        ("Merrow's harbour: who built it?", ()),  # any sentence begins so
        ("Who made it? Was it Ada Byron, Ada Byron or “Byron & Sons”?", ("Ada Byron", "Byron", "Sons")),
        ("Does GPT-4 run on an iPhone?", ("GPT-4", "iPhone")),
        ("HOW DEEP IS MERROW?", ()),
        ("How Deep Is Merrow Harbour?", ()),
        ("How deep is the harbour?", ()),
    ],
)
def test_names_are_words_with_capitals_that_begin_no_sentence(question: str, names: tuple[str, ...]) -> None:
    assert analyse_question(question).names == names


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("What does the --locked flag do?", {"lock"}),
        ("What does cargo vendor do?", {"cargo", "vendor"}),
        ("What is the Reset button for?", {"reset"}),
        ("What is the purpose of build scripts?", {"build"}),
        ("Was bewirkt die Taste Reset?", {"reset"}),
        ("À quoi sert le bouton Reset ?", {"reset"}),
        ("¿Para qué sirve el botón Reset?", {"reset"}),
        ("What does the mayor say?", set()),
        ("What do I do when the button sticks?", set()),
        ("How does it work?", set()),
    ],
)
def test_the_thing_of_which_is_asked_what_it_does(question: str, thing: set[str]) -> None:
    assert asked_thing(question) == thing


@pytest.mark.parametrize(
    ("heading", "described"),
    [
        ("--locked", True),
        ("The --locked option", True),
        ("--locked or not locked?", False),
        ("Locked doors", False),
        ("Description", True),
        ("Options", False),
        ("", False),
    ],
)
def test_a_heading_describes_a_thing_by_its_name_or_in_a_document_of_that_title(heading: str, described: bool) -> None:
    assert describes_thing(heading, frozenset({"lock"}), frozenset({"manual", "lock"})) is described


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Was kostete der Wagen von 2001?", "money"),
        ("Was war der Umsatz 2029?", "statement"),
        ("Was ist ein Kai?", "definition"),
        ("Was the budget spent?", "yes_or_no"),
        ("Was Ada Byron the founder?", "yes_or_no"),
        ("Was war inevitable?", "yes_or_no"),
        ("Was war avoided?", "yes_or_no"),
        ("Was war the cause of the famine?", "yes_or_no"),
        ("Was hat policy changed in 2020?", "yes_or_no"),
        ("Was the man in the den?", "yes_or_no"),
        ("Was kosten die Karten?", "money"),
        ("Was kosten zwei Karten?", "money"),
        ("Was bedeutet die rote Flagge?", "definition"),
        ("Was passiert bei Regen?", "statement"),
        ("Was gibt es im Museum?", "statement"),
        ("Was kann ich buchen?", "statement"),
        ("Was muss der Gast zahlen?", "statement"),
        ("Was wiegt der Anker?", "statement"),
        ("Was enthält das Paket?", "statement"),
        ("Was gehört zum Paket?", "statement"),
        ("Was hat der Wirt?", "statement"),
    ],
)
def test_was_of_german_asks_for_more_than_yes_or_no(question: str, asks: str) -> None:
    assert analyse_question(question).asks == asks


@pytest.mark.parametrize(
    "question",
    [
        "Which hotels without more than 62 rooms are there?",
        "Which hotels have neither more than 62 rooms nor a lift?",
        "Which hotels never have more than 62 rooms?",
        "Which hotels don't have more than 62 rooms?",
        "Welche Hotels ohne mehr als 62 Zimmer gibt es?",
    ],
)
def test_a_limit_that_is_denied_is_none(question: str) -> None:
    assert analyse_question(question).threshold is None


def test_a_limit_that_begins_with_a_denial_or_stands_before_one_is_one() -> None:
    no_more = analyse_question("Which hotels have no more than 62 rooms?").threshold
    assert no_more is not None
    assert no_more.is_included
    assert not no_more.is_lower_bound
    assert analyse_question("Which hotels have more than 62 rooms without a lift?").threshold is not None
