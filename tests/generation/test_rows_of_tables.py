"""Rows and cells of tables that a question names in its own way, and near ones that it does not."""

import pytest
from harbour_quotes import ask, context, image
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Answer
from quoteweave.generation.extractive.tables.heads import read_rows, split_header

INVOICE = (
    "Pos. | Description | Qty | Unit price | Amount\n1 | Fire door FD30, ash veneer | 2 | £412.50 | £825.00\n"
    "2 | Door closer | 4 | £64.00 | £256.00\n3 | Fitting, hours | 22 | £46.00 | £1,012.00\n"
    "Subtotal | | | | £2,093.00\nVAT 20 % | | | | £418.60\nTotal due | | | | £2,511.60"
)
TASKS = (
    "Who | What | By\nKeith | Clear gutter 19 | 22 February\nDora | Write to the council | 1 March\n"
    "Keith | Buy paint | 5 April"
)
SYSTEMS = "System | Server | Client\nmacOS 14 | yes | no\nLinux | yes | yes"
REAGENTS = "Reagent | Shelf life | Storage\nTE buffer | 3 months | cold room\nProteinase K | 12 months | freezer"
FURNITURE = "Item | Qty | Condition\nWardrobe | 2 | fair\nDesk | 4 | good"
STATUS = (
    "Status | Code | Meaning\n402 | no_credit | The balance is too low\n404 | not_found | There is no such shipment"
)
DIRECTORS = "Years | Director\n1931–1958 | Olaf Brandt\n1959–1983 | Muriel Ashdown\n1984–2001 | Pia Rask"
SWIMMING = (
    "Ticket | Adult | Child | Senior (65+)\nSingle swim | £5.20 | £2.60 | £3.90\n"
    "Ten swims | £44.00 | £22.00 | £33.00\nAnnual pass | £310.00 | £150.00 | £230.00"
)
PARTS = (
    "Quantity | Unit | Designation | Order number | Model\n1 | Pcs | Water tank lid | 33 2635 6000 | all\n"
    "1 | Pcs | Water tank | 33 2635 6010 | all\n2 | Pcs | Drip tray grid | 33 2871 1000 | 1500"
)
OFFICERS = (
    "Name | Position | Age\nWalter Jelk | President and Chief Executive Officer | 64\n"
    "Richard A. Galt | Executive Vice President and Chief Financial Officer. Mr. Galt has been | 59\n"
    "Ida Holm | Senior Vice President, Merchandising | 61\nPer Aune | Deputy Chief Information Officer | 50"
)
COUNTRIES = "Country | Capital | Currency\nOsmark | Skarn | crown\nVelland | Tolm | mark\nNorrin | Upper Skarn | crown"
WORKS = (
    "Item | Quantity | Unit price | Total\nSlates | 420 | 3.50 | 1,470.00\n"
    "Labour (hours) | 56 | 38.00 | 2,128.00\nSkip | 1 | 102.00 | 102.00"
)
WORKS_DONE = "Item | Quantity | Price\nSlates | 420 | 1,470.00\nSkip | 1 | 102.00\nGutters | 12 | 540.00"
STAFF = "- | 2021 | 2022\nRevenue (million euros) | 59.3 | 61.7\nEmployees | 312 | 298"
TICKETS = "Ticket | Weekday | Weekend\nAdult | 9.00 | 11.00\nStudent | 6.00 | 7.00"
VISITS = "Ticket | Weekday | Weekend\nAdult | 120 | 340\nStudent | 60 | 95"
KEYS = "Leistung | Preis\nErsatzschlüssel | 35 Euro\nNamensschild | 12 Euro"
TERMS = "Term | Explanation\nPressing | Automatic pressing of coffee\nRinsing | Intermediate cleaning"
DUTIES = "Task | Interval\nPressing | once a day\nRinsing | every week"
SPARES = (
    "Number | Unit | Designation | Order No. | Model\nWater tank | - | - | - | -\n"
    "1 | Pcs | Water tank, blue | 33 2635 6010 | all\n1 | Pcs | Water tank lid | 33 2635 6000 | all\n"
    "1 | Pcs | Water tank sieve | 33 7006 2608 | all\nHopper | - | - | - | -\n1 | Pcs | Hopper lid | 33 2636 4000 | all"
)
BOUGHT = "Scanner | 3 May 2019\nPrinter | 9 July 2021"
VERSIONS = "System | Server | Client\nmacOS 14 | 3.2 | 3.4\nLinux | 3.1 | 3.3"
BOATS = (
    "No. | Vessel | Length (m) | Built\n1 | Heron, pilot boat | 14.2 | 2004\n2 | Kestrel, tug | 28.5 | 2011\n"
    "3 | Gull, tug | 31.0 | 1998"
)
STOPS = "Stop | Line 1 | Line 2\nOsk pier | 8:10 | 9:25\nSkarn | 8:32 | 9:50"
ALLERGENS = "Allergen | Soup | Pie\nMilk | no | yes\nGluten | yes | yes"
POSTS = (
    "Person | Post | Since\nAda Byron | Treasurer | 2019\nOla Ros | Deputy chair | 2021\n"
    "Per Aune | Treasurer of the youth club | 2022"
)
PROGRAMME = (
    "Time | Event | Speaker | Room\n9:00 | Registration and coffee | - | Foyer\n"
    "9:30 | Opening address | Ada Byron | Great Hall\n11:00 | Keynote: Carbon in peat | Ida Holm | Great Hall\n"
    "14:00 | Panel on eels | Chair: Ola Ros | Room 2\n17:00 | Walk to Osk Moor | Guide: Per Aune | Meet at the gate"
)
TIMETABLE = (
    "Day | Start | Subject | Teacher | Room\nMonday | 9:00 | French | Ida Holm | R1\n"
    "Monday | 10:00 | Music | Ola Ros | R2\n"
    "Tuesday | 9:00 | French | Eva Berg | R1\nTuesday | 11:00 | Art | Ola Ros | R3"
)
FAULTS = (
    "Symptom | Cause | Remedy\nPump does not start | No power | Check the plug\nPump hums | Dirt | Clean the strainer"
)
STORE = (
    "Code | Part | Stock | Supplier | Price £\nP-101 | Wing nut M6 | 840 | Lund | 0.20\n"
    "P-102 | Wing nut M8 | 95 | Holm | 0.30\nP-210 | Rope 30 m | 6 | Lund | 41.50"
)
READINGS = (
    "Date | Gas reading (m3) | Power reading (kWh) | Read by\n2025-11-30 | 512 | 3100 | Ida\n"
    "2025-12-31 | 601 | 3390 | Ola\n2026-01-31 | 722 | 3702 | Ida"
)
BILLS = (
    "Bills | Heating EUR | Water EUR\nApril 2026 | 96.20 | 31.00\nMay 2026 | 41.75 | 30.40\nJune 2026 | 12.10 | 33.10"
)
MONTHS = BILLS.replace("Bills", "Month")
COSTS = "Costs | January | February\nFuel | 210 | 180\nRopes | 95 | 60"
SEEDS = "Variety | Seeds per packet | Price £\nCarrot | 800 | 1.85\nTomato | 25 | 2.40"
SPENT = "Budget | Planned | Spent\nMusic | 400 | 455\nTents | 900 | 870"
TRAVEL = "Day | For | Cost EUR | Paid by\n3 May | Train | 45.00 | Ida\n4 May | Hotel | 120.00 | Ola"
PAID = "For | Cost EUR | Paid by\nTrain | 45.00 | Ida\nHotel | 120.00 | Ola"
ROWERS = "Boat | Rower | Metres\nHeron | Tariq | 900\nGull | Emil | 700"
GRADES = "Grade | Grade point | Description\nB+ | 4.0 | good\nB | 3.5 | fair\nB- | 3.0 | pass\nC | 2.5 | weak"

STAGES = (
    "Day | Time | Harbour stage | Tent\nFriday | 19:00 | Brass Lads | Puppet theatre\n"
    "Friday | 21:00 | The Old Ferry Band | Poetry slam\nSaturday | 20:00 | Lena Moor Trio | Film night\n"
    "Sunday | 11:00 | Shanty choir | Pancakes"
)
BINS = (
    "Bin | For | Collected\nGreen | glass | every second Tuesday\nGrey | the rest | Fridays\nYellow | tins | Wednesdays"
)
BUS = "Stop | First bus | Last bus\nHarbour | 6:05 | 21:40\nHospital | 6:22 | 21:57\nFellgate | 6:35 | 22:10"
DOSES = "Medicine | Dose | How often\nHeparin | 40 mg | once a day\nAspirin | 1 g | every evening"


def asked(question: str, table: str, caption: str | None = None) -> Answer:
    return ask(question, context(images=[image(caption, table, layout="table", document="note.md")]))


@pytest.mark.parametrize(
    ("question", "table", "says"),
    [
        ("How much does one fire door cost?", INVOICE, "(Unit price: £412.50)"),
        ("How many hours of fitting were charged?", INVOICE, "(Qty: 22)"),
        ("How many fire doors were charged?", INVOICE, "(Qty: 2)"),
        ("What is the unit price of the door closer?", INVOICE, "(Unit price: £64.00)"),
        ("What is the total due?", INVOICE, "Total due (Amount: £2,511.60)"),
        ("What is the subtotal?", INVOICE, "£2,093.00"),
        ("What does Keith have to do by 22 February?", TASKS, "Clear gutter 19"),
        ("What does Dora have to do by 1 March?", TASKS, "Write to the council"),
        ("Does the server run on macOS 14?", SYSTEMS, "(Server: yes)"),
        ("Does the client run on macOS 14?", SYSTEMS, "(Client: no)"),
        ("How long can TE buffer be stored?", REAGENTS, "3 months"),
        ("How long does proteinase K keep?", REAGENTS, "12 months"),
        ("How many wardrobes are there?", FURNITURE, "Wardrobe (Qty: 2)"),
        ("What does status 402 mean?", STATUS, "The balance is too low"),
        ("Who was director in 1960?", DIRECTORS, "Muriel Ashdown"),
        ("What does an annual pass cost for a senior?", SWIMMING, "(Senior (65+): £230.00)"),
        ("What is the order number of the water tank lid?", PARTS, "33 2635 6000"),
        ("What is the order number of the water tank?", PARTS, "33 2635 6010"),
        ("Who is the chief financial officer?", OFFICERS, "Richard A. Galt"),
        ("Who is the chief executive officer?", OFFICERS, "Walter Jelk"),
        ("Which country has the currency mark?", COUNTRIES, "Velland"),
        ("How many hours of labour were charged?", WORKS, "(Quantity: 56)"),
        ("How many slates were used?", WORKS, "(Quantity: 420)"),
        ("How many employees did the company have in 2021?", STAFF, "(2021: 312)"),
        ("How much does an adult ticket cost at the weekend?", TICKETS, "(Weekend: 11.00)"),
        ("Was kostet ein Ersatzschlüssel?", KEYS, "35 Euro"),
        ("How much did the slates cost?", WORKS_DONE, "(Price: 1,470.00)"),
        ("How long is the Kestrel?", BOATS, "28.5"),
        ("When does line 2 leave Skarn?", STOPS, "(Line 2: 9:50)"),
        ("Does the pie contain milk?", ALLERGENS, "(Pie: yes)"),
        ("Who is the treasurer?", POSTS, "Ada Byron"),
        ("Where is proteinase K stored?", REAGENTS, "(Storage: freezer)"),
        ("What is pressing?", TERMS, "Automatic pressing"),
        ("What is the order number of the water tank lid?", SPARES, "33 2635 6000"),
        ("What is the grade point of a B+?", GRADES, "B+ (Grade point: 4.0)"),
        ("What is the grade point of a B?", GRADES, "B (Grade point: 3.5)"),
        ("What grade point does a B+ correspond to?", GRADES, "4.0"),
        ("Who gives the opening address?", PROGRAMME, "Opening address (Speaker: Ada Byron)"),
        ("Who gives the keynote?", PROGRAMME, "Ida Holm"),
        ("Who is the guide of the walk?", PROGRAMME, "Per Aune"),
        ("When does registration open?", PROGRAMME, "9:00"),
        ("What time is the opening address?", PROGRAMME, "9:30"),
        ("Where is the panel on eels?", PROGRAMME, "(Room: Room 2)"),
        ("In which room is the panel on eels?", PROGRAMME, "(Room: Room 2)"),
        ("What is Ada Byron's post?", POSTS, "(Post: Treasurer)"),
        ("Who teaches French on Tuesday?", TIMETABLE, "Tuesday, French (Teacher: Eva Berg)"),
        ("When is French on Monday?", TIMETABLE, "Monday, French (Start: 9:00)"),
        ("When is Art?", TIMETABLE, "Tuesday (Subject: Art; Start: 11:00)"),
        ("Which room is French in?", TIMETABLE, "French (Room: R1)"),
        ("What subject does Eva Berg teach?", TIMETABLE, "(Subject: French)"),
        ("What should I do if the pump does not start?", FAULTS, "Check the plug"),
        ("How many wing nuts M8 are in stock?", STORE, "Wing nut M8 (Stock: 95)"),
        ("What does the rope cost?", STORE, "Rope 30 m (Price £: 41.50)"),
        ("What was the gas reading on 31 December 2025?", READINGS, "(Gas reading (m3): 601)"),
        ("What was the power reading at the end of January 2026?", READINGS, "(Power reading (kWh): 3702)"),
        ("How much did we pay for water in May?", BILLS, "May 2026 (Water EUR: 30.40)"),
        ("How much was spent on fuel in January?", COSTS, "Fuel (January: 210)"),
        ("What did we pay for fuel in February?", COSTS, "Fuel (February: 180)"),
        ("How much does a packet of carrot cost?", SEEDS, "(Price £: 1.85)"),
        ("Who rows the Heron?", ROWERS, "Tariq"),
        ("How much was spent on music?", SPENT, "Music (Spent: 455)"),
        ("How much was spent on the train on 3 May?", TRAVEL, "3 May (Cost EUR: 45.00)"),
        ("How much was paid for the hotel?", PAID, "Hotel (Cost EUR: 120.00"),
        ("Who plays on Friday at 21:00 on the harbour stage?", STAGES, "Friday, 21:00 (Harbour stage: The Old Ferry"),
        ("What is in the tent on Friday at 21:00?", STAGES, "Friday, 21:00 (Tent: Poetry slam)"),
        ("What is in the tent on Sunday?", STAGES, "Sunday (Tent: Pancakes)"),
        ("When do the Old Ferry Band play?", STAGES, "Friday (Harbour stage: The Old Ferry Band; Time: 21:00)"),
        ("When is the poetry slam in the tent?", STAGES, "Time: 21:00"),
        ("When is the glass collected?", BINS, "glass (Collected: every second Tuesday)"),
        ("When does the first bus leave the harbour for Fellgate?", BUS, "Harbour (First bus: 6:05)."),
        ("When does the last bus leave the hospital?", BUS, "Hospital (Last bus: 21:57)"),
        ("How often do I take heparin?", DOSES, "Heparin (How often: once a day)"),
    ],
)
def test_the_cell_that_answers(question: str, table: str, says: str) -> None:
    answer = asked(question, table)
    assert answer.status == "answered"
    assert says in answer.text


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("How much does one door cost?", INVOICE),
        ("How much does a fire door frame cost?", INVOICE),
        ("How much does one fire door weigh?", INVOICE),
        ("How many fire doors were returned?", INVOICE),
        ("When was the total due paid?", INVOICE),
        ("What is the total due for the doors of the neighbour?", INVOICE),
        ("What does Keith have to do by 23 February?", TASKS),
        ("What does Keith have to do by 1 March?", TASKS),
        ("Does the server crash on macOS 14?", SYSTEMS),
        ("Does the server run on macOS 15?", SYSTEMS),
        ("Does the browser run on macOS 14?", SYSTEMS),
        ("How long must TE buffer be heated?", REAGENTS),
        ("When was the TE buffer stored?", REAGENTS),
        ("How many desks are broken?", FURNITURE),
        ("How many chairs are there?", FURNITURE),
        ("What does error 402 mean?", STATUS),
        ("What does status 403 mean?", STATUS),
        ("Who was director in 1925?", DIRECTORS),
        ("Who was treasurer in 1960?", DIRECTORS),
        ("What does an annual pass cost for a student?", SWIMMING),
        ("What does an annual pass cost for a senior of 60?", SWIMMING),
        ("What is the order number of the milk tank lid?", PARTS),
        ("Who is the chief information officer?", OFFICERS),
        ("Who is the vice president?", OFFICERS),
        ("Who was the first chief financial officer?", OFFICERS),
        ("Who appointed the chief financial officer?", OFFICERS),
        ("Which country has the currency crown?", COUNTRIES),
        ("Which country attacked Skarn?", COUNTRIES),
        ("How many hours of labour were saved?", WORKS),
        ("How many slates broke?", WORKS),
        ("How many employees left the company in 2021?", STAFF),
        ("How many employees did the company hire in 2021?", STAFF),
        ("How much does an adult ticket cost at the weekend?", VISITS),
        ("How much does a child ticket cost at the weekend?", TICKETS),
        ("Was wiegt ein Ersatzschlüssel?", KEYS),
        ("Where was proteinase K discovered?", REAGENTS),
        ("Where is the milk stored?", REAGENTS),
        ("How long is the tug Heron?", BOATS),
        ("When was the Kestrel sold?", BOATS),
        ("When was line 2 opened?", STOPS),
        ("Does the pie contain eggs?", ALLERGENS),
        ("Who is the deputy treasurer?", POSTS),
        ("Who elected the treasurer?", POSTS),
        ("What is the scanner used for?", BOUGHT),
        ("When was the scanner used?", BOUGHT),
        ("Does the server run on macOS 14?", VERSIONS),
        ("What is steaming?", TERMS),
        ("What is pressing?", DUTIES),
        ("What is the order number of the milk tank lid?", SPARES),
        ("What is the grade point of a C+?", GRADES),
        ("Who gives the registration?", PROGRAMME),
        ("Who pays for the keynote?", PROGRAMME),
        ("Who spoke after the keynote?", PROGRAMME),
        ("When does the opening address end?", PROGRAMME),
        ("Until when is the panel on eels?", PROGRAMME),
        ("When is the meeting?", PROGRAMME),
        ("Where is the panel on seals?", PROGRAMME),
        ("Where is the address?", PROGRAMME),
        ("Who teaches French?", TIMETABLE),
        ("Who else teaches French on Monday?", TIMETABLE),
        ("Who teaches French every day but Monday?", TIMETABLE),
        ("Which route is from Celle to Osk?", "Route | From | To | Price\n1 | Osk | Brede | 5\n3 | Osk | Celle | 7"),
        ("Who teaches Music on Tuesday?", TIMETABLE),
        ("In which room is Art on Monday?", TIMETABLE),
        ("When does Art end?", TIMETABLE),
        ("What should I do if the pump starts?", FAULTS),
        ("How do I start the pump?", FAULTS),
        ("How many wing nuts M10 are in stock?", STORE),
        ("How many wing nuts M8 were sold?", STORE),
        ("What does the rope of 50 m cost?", STORE),
        ("What was the gas reading on 30 December 2025?", READINGS),
        ("What was the gas reading at the beginning of December 2025?", READINGS),
        ("How much gas was used in December 2025?", READINGS),
        ("How much was spent on fuel in March?", COSTS),
        ("How much was earned on fuel in January?", COSTS),
        ("How much was spent on fuel in January?", COSTS.replace("Costs", "Cargo")),
        ("How much was spent on fuel in January?", COSTS.replace("Costs", "Sales")),
        ("Who built the Heron?", ROWERS),
        ("What was the oil reading at the end of January 2026?", READINGS),
        ("What was the gas reading before the end of January 2026?", READINGS),
        ("How much was spent on water in May?", MONTHS),  # nothing says that these are costs
        ("How much water was used in May?", BILLS),
        ("How much did we pay for water since May 2026?", BILLS),
        ("How much did we pay for water on 1 May 2026?", BILLS),
        ("How much did we pay for water in May 2027?", BILLS.replace(" 2026", "")),
        ("How much was spent on fuel in January?", COSTS.replace("Costs", "Planned costs")),
        ("How much was spent on fuel in January?", COSTS.replace("Costs", "Donations").replace("10", "10 euros")),
        ("Who paid for fuel in January?", COSTS),
        ("How many guests paid on 2 May?", "Day | Rain | Guests\n1 May | 3 mm | 120\n2 May | 0 mm | 145"),
        ("When does the bus from Osk leave?", "To | Leaves\nOsk | 9:15\nBrede | 9:40\nTolm | 12:05"),
        ("How long is the rope?", STORE),
        (
            "How much does a carrot seed cost?",
            "Variety | Monthly fee £ | Seeds per packet\nCarrot | 3 | 800\nTomato | 4 | 25",
        ),
        ("How much was spent on the hotel on 3 May?", TRAVEL),
        ("Who paid for the hotel on 3 May?", TRAVEL),
        ("How much does a seed of the carrot cost?", SEEDS),
        ("Who cleans the harbour stage on Friday at 21:00?", STAGES),
        ("Who plays on the harbour stage on Friday?", STAGES),
        ("Who plays on Sunday at 19:00 on the harbour stage?", STAGES),
        ("Who plays on Sunday at 11:00 on the harbour stage?", STAGES),
        ("Who plays on Friday at 21:00 in the tent?", STAGES),
        ("What is in the tent on Sunday at 21:00?", STAGES),
        ("When do the Brass Lads play in the tent?", STAGES),
        ("When do the Brass Lads arrive?", STAGES),
        ("Who is the glass collected by?", BINS),
        ("When was the glass collected?", BINS),
        ("When is the paper collected?", BINS),
        ("When does the last bus leave Fellgate for the harbour?", BUS),
        ("When does the first bus leave for the harbour?", BUS),
        ("How often do I give heparin to the dog?", DOSES),
        ("How often did patients take heparin?", "Group | Heparin | Aspirin\nPatients | 146 | 145"),
    ],
)
def test_no_cell_answers_what_is_asked_of_another_thing(question: str, table: str) -> None:
    assert asked(question, table).status != "answered"


@pytest.mark.parametrize(("heading", "status"), [("Invoice 2026-17", "answered"), ("Works", "abstained")])
def test_a_total_is_of_what_the_heading_above_the_table_names(heading: str, status: str) -> None:
    table = image(
        None, "Item | Hours | Amount\nSlates | - | £408\nLabour | 14 | £672\nTotal | - | £1,080", section=heading
    )
    given = context(images=[table.model_copy(update={"layout": "table"})])
    assert ask("What is the total amount of the invoice?", given).status == status


def scored(*names: str, head: str = "Player | Goals") -> str:
    return "\n".join([head, *(f"{name} | {20 - 3 * at}" for at, name in enumerate(names))])


@pytest.mark.parametrize(
    "names",
    [
        ("Ada Byron (Osk)", "Ida Holm (Skarn)", "Ola Ros (Osk)"),
        ("Byron, Ada", "Holm, Ida", "Ros, Ola"),
        ("Ronaldo", "Ida Holm", "Ola Ros"),
        ("Ada de la Cruz", "Ida Holm", "Ola Ros"),
    ],
)
def test_who_has_most_is_told_by_names_of_persons_in_any_form(names: tuple[str, ...]) -> None:
    answer = asked("Who scored the most goals?", scored(*names))
    assert answer.status == "answered"
    assert f"{names[0]} is the highest of 3 rows: 20" in answer.text


@pytest.mark.parametrize(
    ("names", "head"),
    [
        (("Merrow", "Skarn", "Osk"), "Player | Goals"),
        (("Merrow, Osk", "Skarn", "Tolm"), "Player | Goals"),
        (("Own goals", "Ida Holm", "Ola Ros"), "Player | Goals"),
        (("Ada Byron", "Ida Holm", "Ola Ros"), "Player | Own goals"),
        (("Ronaldo", "Ida Holm", "Ola Ros"), "Ship | Goals"),
    ],
)
def test_names_of_other_things_and_numbers_of_others_tell_not_who_has_most(names: tuple[str, ...], head: str) -> None:
    assert asked("Who scored the most goals?", scored(*names, head=head)).status != "answered"


@pytest.mark.parametrize(("what", "who"), [("goals", "Ada Byron"), ("own goals", "Ola Ros")])
def test_own_goals_are_a_column_of_their_own(what: str, who: str) -> None:
    table = "Player | Goals | Own goals\nAda Byron | 17 | 1\nIda Holm | 15 | 0\nOla Ros | 9 | 2"
    assert f"{who} is the highest" in asked(f"Who scored the most {what}?", table).text


CELLS = st.sampled_from(
    [
        "",
        "–",
        "Name",
        "Year",
        "Quantity",
        "Price",
        "Total",
        "2021",
        "2022",
        "Oak",
        "Oak, ash",
        "Ada Byron",
        "1",
        "2",
        "12",
        "3.50 euros",
        "5%",
    ]
)
QUESTIONS = (
    "How much is the oak?",
    "How many ash were sold in 2021?",
    "Who has the highest total?",
    "What is the price of oak in 2022?",
    "When was oak sold?",
    "What is the total of all oak?",
    "Where is the oak?",
    "Who is Ada Byron?",
)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=6), min_size=1, max_size=6), st.sampled_from(QUESTIONS))
def test_rows_of_any_widths_are_asked_without_an_error(rows: list[list[str]], question: str) -> None:
    text = "\n".join(" | ".join(row) for row in rows)
    answer = ask(question, context([], [image("Sales of oak and ash", text, layout="table")]))
    assert answer.status in {"answered", "located", "abstained"}


def test_a_row_may_have_fewer_cells_than_another_and_as_many_as_the_heads() -> None:
    rows = (
        "Kind | Group | Weaver [1], [2]\nOthers | Long names | Oak [3] | [4], [5]\n"
        "Long Models | Ash [6] | [7], [8]\nShort | Elm [9] | [10]"
    )
    answer = ask("Are long models good at knots?", context([], [image("Kinds of knots", rows, layout="table")]))
    assert answer.status in {"located", "abstained"}


def test_of_many_cells_the_number_of_those_left_out_is_told() -> None:
    years = [str(year) for year in range(2015, 2023)]
    grain = [str(480 + at) for at in range(8)]
    rows = "\n".join(map(" | ".join, (["Cargo", *years], ["Grain", *grain], ["Ore", *"9" * 8])))
    asked = f"How much grain was shipped in {', '.join(years[:-1])} and {years[-1]}?"
    answer = ask(asked, context([], [image("Cargo shipped, tonnes", rows, layout="table")]))
    assert answer.status == "answered"
    assert "Grain (2015: 480; 2016: 481; 2017: 482; 2018: 483; 2019: 484; 2020: 485; and 2 more)" in answer.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How heavy is the Ash 20?", "Weight (kg) (Ash 20: 4.6)"),
        ("How large is the tank of the Ash 30?", "Tank (litres) (Ash 30: 1.8)"),
        ("How heavy is the tank of the Ash 30?", None),
        ("What is the net weight of the Ash 20?", None),
    ],
)
def test_a_unit_in_brackets_is_no_word_of_a_rows_name(question: str, said: str | None) -> None:
    rows = "- | Ash 20 | Ash 30\nTank (litres) | 1.2 | 1.8\nWeight (kg) | 4.6 | 6.1\nPump pressure (bar) | 15 | 19"
    answer = ask(question, context([], [image("Technical data", rows, layout="table")]))
    assert answer.status == ("answered" if said else "located")
    assert said is None or said in answer.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much is the meeting room?", None),
        ("How much vitamin A is in it?", None),
        ("How much vitamin C is in it?", "Vitamin (C) (Amount: 20)"),
        ("How long is the quay in ft?", "Length (ft) (Amount: 98)"),
        ("How heavy is the tank?", None),
        ("How much power is used?", "Power (W) (Amount: 1850)"),
        ("What is the total weight of the quay?", "Total weight (kg) (Amount: 4)"),
    ],
)
def test_what_in_brackets_tells_rows_apart_is_a_word_of_their_names(question: str, said: str | None) -> None:
    rows = (
        "Item | Amount\nMeeting room (hour) | 20\nMeeting room (day) | 100\nVitamin (C) | 20\nLength (m) | 30\n"
        "Length (ft) | 98\nTank (l) | 3\nTotal weight (kg) | 4\nPower (W) | 1850"
    )
    answer = ask(question, context([], [image("The quay and its tank, with the power used", rows, layout="table")]))
    assert answer.status == ("answered" if said else "located")
    assert said is None or said in answer.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What was the change in sick days with 20 mg?", "Change in sick days (20 mg: -2.4)"),
        ("What was the change in sick days with 30 mg?", None),
        ("What percentage had nausea with placebo?", "Nausea (%) (Placebo: 4)"),
        ("What percentage had sick days with placebo?", None),
        ("What percentage of the placebo group had nausea?", "Nausea (%) (Placebo: 4)"),
    ],
)
def test_sizes_beside_other_names_are_the_head_of_a_table(question: str, said: str | None) -> None:
    rows = (
        "- | Placebo | 20 mg | 40 mg\nSick days | 8.1 | 8.3 | 8.2\nChange in sick days | -1.9 | -2.4 | -3.8\n"
        "Nausea (%) | 4 | 9 | 16"
    )
    answer = ask(question, context([], [image("Results at week 12", rows, layout="table")]))
    assert answer.status == ("answered" if said else "located")
    assert said is None or said in answer.text


def test_sizes_below_others_name_no_columns() -> None:
    rows = "- | Oak | 20 mm | 40 mm\nAsh | Elm | 30 mm | 50 mm\nFir | Yew | 10 mm | 70 mm"
    assert split_header(read_rows(rows))[0] == []
