"""What is computed from the cells of a table, with the numbers that it was made of, and what is not."""

import pytest
from harbour_quotes import DUES

from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.tables.arithmetic import compute_from_table
from quoteweave.generation.relevance import question_terms

WHOLE = "Group | 2021 | 2022\nContainer | 1,204 | 1,310\nGrain | 486 | 512\nTimber | 331 | 318\nTotal | 2,021 | 2,140"


def computed(question: str, table: str = WHOLE) -> str:
    asked = question_terms(question)
    return compute_from_table(table, asked, set(words(f"Dues of each group of {table}")))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What is the highest in 2021?",
            "in 2021, Container is the highest of 3 rows: 1,204, before Grain with 486",
        ),
        ("Which group is the lowest in 2021?", "in 2021, Timber is the lowest of 3 rows: 331, before Grain with 486"),
        ("Which is the highest in 2021 and 2022?", ""),
        ("What is the highest for grain?", ""),
        (
            "What is the difference between grain and timber in 2022?",
            "in 2022, the difference between Grain (512) and Timber (318) is 194",
        ),
        (
            "What is the difference for grain between 2021 and 2022?",
            "in Grain, the difference between 2021 (486) and 2022 (512) is 26",
        ),
        ("What is the difference in 2022?", ""),
        (
            "What is the sum of grain and timber in 2021?",
            "in 2021, the sum of Grain (486) and Timber (331) is 817",
        ),
        (
            "What is the sum of all groups in 2021?",
            "in 2021, the sum of Container (1,204), Grain (486) and Timber (331) is 2,021",
        ),
        ("What is the ratio of grain to timber in 2022?", "in 2022, the ratio of Grain (512) to Timber (318) is 1.61"),
        ("What is the ratio of timber to grain in 2022?", "in 2022, the ratio of Timber (318) to Grain (512) is 0.621"),
        ("What is the total of grain and timber in 2021?", "in 2021, the sum of Grain (486) and Timber (331) is 817"),
        ("What is the sum of grain, timber and coal in 2022?", ""),
        (
            "Which have at least 500 in 2022?",
            "in 2022, 2 of 3 rows are at least 500: Container (1,310) and Grain (512)",
        ),
        ("Which groups have more than 2 kg in 2022?", ""),
        ("Which groups have more than 0.5 million in 2022?", ""),
        (
            "Which groups have more than 500 in 2022?",
            "in 2022, 2 of 3 rows are above 500: Container (1,310) and Grain (512)",
        ),
        ("Which groups have less than 500 in 2022?", "in 2022, 1 of 3 rows is below 500: Timber (318)"),
        ("Which groups have more than 2,000 in 2022?", "in 2022, 0 of 3 rows are above 2,000"),
        ("Which groups have more than 512 in 2022?", "in 2022, 1 of 3 rows is above 512: Container (1,310)"),
        (
            "Which groups have at least 512 in 2022?",
            "in 2022, 2 of 3 rows are at least 512: Container (1,310) and Grain (512)",
        ),
        ("Which groups have no more than 318 in 2022?", "in 2022, 1 of 3 rows is at most 318: Timber (318)"),
        ("Which groups have less than 318 in 2022?", "in 2022, 0 of 3 rows are below 318"),
        ("Which groups without more than 400 in 2022 are there?", ""),
        ("Which groups have neither more than 400 in 2022?", ""),
        ("Which groups have more than 400 and less than 600 in 2022?", ""),
        ("What is the difference between the highest and lowest in 2022?", ""),
        ("What were the dues for grain in 2022?", ""),
    ],
)
def test_what_is_computed(question: str, expected: str) -> None:
    assert computed(question) == expected


def test_percentages_differ_by_points_and_add_up_to_percentages() -> None:
    table = "Answer | Men | Women\nAgree | 45 % | 52 %\nRefuse | 40 % | 38 %\nUnsure | 15 % | 10 %"
    assert computed("What is the difference between agree and refuse among men?", table) == (
        "in Men, the difference between Agree (45 %) and Refuse (40 %) is 5 percentage points"
    )
    assert computed("What is the sum of agree and refuse among women?", table).endswith("is 90 %")


@pytest.mark.parametrize(
    ("heading", "question", "says"),
    [
        ("Price (€)", "Which shops cost at least 9 euros?", "in Price (€), 1 of 3 rows is at least 9 euros: Ash (9)"),
        ("Price ($)", "Which shops cost at least 9 euros?", ""),
        ("Price (€m)", "Which shops cost at least 9 euros?", ""),
        ("Price (€ m)", "Which shops cost at least 9 euros?", ""),
        ("Price (€ Mio)", "Which shops cost at least 9 euros?", ""),
        ("Price (€ per tonne)", "Which shops cost at least 9 euros?", ""),
        ("Price (€ per kg)", "Which shops have a price of at least 9 kg?", ""),
        ("Price (EUR bn)", "Which shops cost at least 9 EUR?", ""),
        ("Price in EUR bn", "Which shops cost at least 9 EUR?", ""),
        ("Price per kg", "Which shops have a price of at least 9 kg?", ""),
        ("Price in EUR", "Which shops cost at least 9 EUR?", "in Price in EUR, 1 of 3 rows is at least 9 EUR: Ash (9)"),
        ("Price (USD bn)", "Which shops cost at least 9 dollars?", ""),
        (
            "Price (US$)",
            "Which shops cost at least 9 dollars?",
            "in Price (US$), 1 of 3 rows is at least 9 dollars: Ash (9)",
        ),
        ("Size (km)", "Which shops have a size below 7 km?", "in Size (km), 1 of 3 rows is below 7 km: Oak (5)"),
    ],
)
def test_a_limit_has_the_unit_that_is_named_above_the_numbers(heading: str, question: str, says: str) -> None:
    assert computed(question, f"Shop | {heading} | Note\nOak | 5 | x\nElm | 7 | x\nAsh | 9 | x") == says


def test_losses_count_as_such() -> None:
    table = "Shop | Sales | Note\nOak | 5 | x\nElm | -7 | x\nAsh | (9) | x"
    assert (
        computed("Which shop had the highest sales?", table)
        == "in Sales, Oak is the highest of 3 rows: 5, before Elm with -7"
    )
    assert computed("What is the sum of the sales of oak and ash?", table).endswith("is -4")


@pytest.mark.parametrize(
    ("cells", "said"), [(("€120", "€95"), "is €215"), (("$120", "$95"), "is $215"), (("€120", "95"), "")]
)
def test_a_sum_of_prices_has_their_currency(cells: tuple[str, str], said: str) -> None:
    table = f"Item | Price\nOak | {cells[0]}\nAsh | {cells[1]}\nElm | {cells[1]}"
    assert computed("What is the sum of the prices of oak and ash?", table).endswith(said)


@pytest.mark.parametrize("cells", ["5/5/1", "5 kg/6 m/1 kg", "5/6 to 7/1", "5/-/1", ".9/1/2", "<5/1/2"])
def test_what_cannot_be_ordered_is_not(cells: str) -> None:
    rows = "\n".join(f"{name} | {cell} | x" for name, cell in zip("abc", cells.split("/"), strict=True))
    assert computed("Which shop had the highest sales?", f"Shop | Sales | Note\n{rows}") == ""


def test_rows_that_are_not_named_whole_and_names_that_lack_one_leave_it_uncertain() -> None:
    models = "Model | Accuracy\nBM25 with RAPTOR | 52\nBM25 without RAPTOR | 49\nDPR with RAPTOR | 54"
    assert computed("Which model has the highest accuracy?", models).startswith("in Accuracy, DPR with RAPTOR is")
    assert computed("Which model without RAPTOR has the highest accuracy?", models) == ""
    shifted = (
        models.replace("Accuracy", "Accuracy F1")
        .replace("52", "52 | 1")
        .replace("49", "49 | 2")
        .replace("54", "54 | 3")
    )
    assert computed("Which model has the highest F1?", shifted) == ""


def test_subtotals_and_totals_beside_are_no_cells_of_their_own() -> None:
    rows = ["Answer | Men | Women | Total", "Agree | 45 | 52 | 97", "Refuse | 40 | 38 | 78", "Subtotal | 85 | 90 | 175"]
    table = "\n".join([*rows, "Unsure | 5 | 9 | 14"])
    assert computed("What is the total of agree among men and women?", table).endswith("is 97")
    assert computed("What is the highest among men?", table).startswith("in Men, Agree is")


def test_a_column_with_an_empty_cell_is_not_computed() -> None:
    assert computed("Which group is the highest in 2022?", DUES) == ""


def test_a_footnote_number_is_no_part_of_the_number_of_a_cell() -> None:
    noted = WHOLE.replace("1,204", "1,204¹").replace("486", "486²")
    answer = computed("What is the highest in 2021?", noted)
    assert answer == "in 2021, Container is the highest of 3 rows: 1,204¹, before Grain with 486²"
    assert "is 718" in computed("What is the difference between container and grain in 2021?", noted)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who scored the most goals?", "in Goals, Ada Byron is the highest of 3 rows: 17, before Ida Holm with 15"),
        ("Who scored the fewest goals?", ""),
        ("Who won the most games?", ""),
    ],
)
def test_who_has_the_most_is_told_by_a_table_of_the_best(question: str, expected: str) -> None:
    table = "Player | Goals | Games\nAda Byron | 17 | 22\nIda Holm | 15 | 21\nOla Ros | 9 | 20"
    assert computed(question, table) == expected


PARTS = "Port | Ships | Boats\nOsk | 60 | 9\nof which tankers | 20 | 4\nVarn | 30 | 6\nLom | 10 | 5\nTotal | 100 | 20"
HIDDEN_PARTS = PARTS.replace("of which tankers", "Tankers")


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        (
            "What is the sum of ships over all ports?",
            PARTS,
            "in Ships, the sum of Osk (60), Varn (30) and Lom (10) is 100",
        ),
        ("What is the sum of boats over all ports?", PARTS, "in Boats, the sum of Osk (9), Varn (6) and Lom (5) is 20"),
        ("What is the average of ships?", PARTS, "in Ships, the average of Osk (60), Varn (30) and Lom (10) is 33.33"),
        ("What is the sum of ships over all ports?", HIDDEN_PARTS, ""),
        ("What is the average of ships?", HIDDEN_PARTS, ""),
        ("Which port has the highest ships?", PARTS, "in Ships, Osk is the highest of 3 rows: 60, before Varn with 30"),
        (
            "What is the sum of ships of Osk and Varn?",
            HIDDEN_PARTS,
            "in Ships, the sum of Osk (60) and Varn (30) is 90",
        ),
        (
            "What is the sum of ships over all ports?",
            PARTS.partition("\nTotal")[0],
            "in Ships, the sum of Osk (60), Varn (30) and Lom (10) is 100",
        ),
    ],
)
def test_parts_of_a_row_are_not_added_to_it(question: str, table: str, expected: str) -> None:
    assert compute_from_table(table, question_terms(question), set(words(f"{table} port ports"))) == expected


@pytest.mark.parametrize("behind", ["for adults", "in summer", ""])
def test_the_word_behind_a_price_is_no_unit_of_it(behind: str) -> None:
    table = "Treatment | Price\nFilling | £95\nCrown | £280\nCheck | £30"
    asked = question_terms(f"Which treatments cost more than £90 {behind}?")
    result = compute_from_table(table, asked, set(words(f"{table} treatments cost adults summer")))
    assert result == "in Price, 2 of 3 rows are above £90: Filling (£95) and Crown (£280)"
