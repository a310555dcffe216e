"""Questions as a newcomer asks them, in other words than the documents: what answers them, and what must not."""

import pytest
from builders import QuoteFields
from harbour_quotes import ask, context, image, quote

from quoteweave.core.answers import Answer
from quoteweave.core.records import Quote
from quoteweave.generation.extractive.generator import SECTION_GOES_ON
from quoteweave.generation.extractive.named.places import ASKING_LABEL
from quoteweave.generation.relevance import question_terms

KILN: QuoteFields = {"document": "kiln-manual.md", "has_pages": False, "section": "Care"}
PROGRAMMES = (
    "No. | Name | Top temperature | Firing time\n1 | Bisque | 960 °C | 9 h\n2 | Stoneware | 1,240 °C | 12 h\n"
    "3 | Porcelain | 1,280 °C | 13 h"
)
SALES = "Product | 2022 (t) | 2023 (t)\nMussels | 410 | 455\nCrabs | 120 | 98\nCod | 300 | 305"


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("When must I return the form?", "Return the form by 3 May.", "3 May"),
        ("By when must I register?", "Register online before 30 April 2025.", "30 April"),
        ("When should I clean the kiln?", "Clean the kiln before its first use.", "first use"),
        ("Who do I report to?", "You will report to Ms Judith Bell.", "Judith Bell"),
        ("Who do I report lost keys to?", "Report lost keys to the caretaker, Mr Anton Weiss.", "Weiss"),
        ("What is my salary?", "Your salary will be 31,000 euros a year.", "31,000"),
        ("Who can volunteer?", "Anyone aged 18 or over can volunteer.", "18 or over"),
        ("Who must wear a lifejacket?", "A lifejacket must be worn by everyone under 16.", "everyone"),
        ("Who must approve claims above 500 euros?", "Claims above 500 euros must be approved by Ida Holm.", "Holm"),
        ("Who is the clerk?", "Apologies came from Ida Holm and the clerk, Mr Ola Ros.", "Ola Ros"),
        ("When is the trip?", "The trip lasts five days, from 22 to 26 May.", "22 to 26 May"),
        ("How long is the quay closed?", "The quay is closed until 20 April.", "20 April"),
        ("How long does the course take?", "Complete the course first; it takes about two hours.", "two hours"),
        ("When does the kiln switch itself off?", "The kiln switches itself off after ten minutes.", "ten minutes"),
        ("When does the coach leave?", "The coach leaves the town at 6 am.", "6 am"),
        ("Who started the choir?", "The choir was founded by Dora Pickering in 1962.", "Pickering"),
        ("Can I bring my dog?", "Assistance dogs are welcome; other animals stay outside.", "other animals"),
        ("May we bring food?", "Food is prohibited in the galleries.", "prohibited"),
        ("How old were members on average?", "The mean age of members was 66 years.", "66"),
        ("How often did the nurse phone?", "A nurse rang each member once a week.", "once a week"),
        ("Which version of Python do I need?", "The minimum version of Python is now 3.11.", "3.11"),
        ("Who paid for the roof?", "The roof was paid for by the Lowgate Trust.", "Lowgate Trust"),
        ("How long is the warranty?", "The shop gives three years of guarantee on frames.", "three years"),
        ("What should I bring?", "Visitors sign in at the desk; bring a passport.", "passport"),
        ("Why is search faster now?", "Searching is much faster, because the index is in memory.", "in memory"),
        ("How tall should the bean poles be?", "Put up poles for beans, 2 metres tall, and sow.", "2 metres"),
        ("Where do I register?", "New members register at the boathouse office on Mondays.", "boathouse"),
        ("Where are the keys kept?", "Keys are kept in the porter's lodge.", "lodge"),
        ("Where do we gather if there is a fire?", "If there is a fire, gather in the rose garden.", "rose garden"),
        ("What is the license of Ardent?", "Ardent is released under the MIT license.", "MIT"),
        ("What is ARD_HOME?", "ARD_HOME - folder in which data are kept.", "folder"),
        ("What is the group viewers for?", "viewers: Can read results", "Can read"),
        ("What do I do if I am ill?", "If you are ill, phone the office.", "phone the office"),
        ("How much does the kiln weigh?", "The kiln is sold for 900 euros. The kiln weighs 46 kg.", "46 kg"),
        ("How heavy is the kiln?", "The kiln is made of steel. It weighs 46 kg without shelves.", "46 kg"),
        ("What colour is the lamp while the kiln heats?", "While it heats the kiln, the lamp is orange.", "orange"),
        ("When may I fly business class?", "Business class is allowed on flights longer than seven hours.", "seven"),
        ("Is limescale damage covered?", "Damage caused by limescale is not covered.", "not covered"),
        ("Can I pay in cash?", "Payment is possible by card; cash is not accepted.", "not accepted"),
        ("Why is lunch getting more expensive?", "The price of lunch rises because energy costs more.", "because"),
        ("How can I sign up for a course?", "To register for a course, send an e-mail to a@b.example.", "a@b"),
        ("Where do I report bugs in the kiln?", "Send bug reports on the kiln to bugs@kiln.example.", "bugs@"),
        ("How many days a week can I work at home?", "All may work at home on up to three days a week.", "three"),
        ("How long is the export licence valid?", "The export license is valid for two years.", "two years"),
        ("How long is the warranty?", "Norvik grants a warranty of 36 months from the day of purchase.", "36 months"),
        ("How much is the deposit?", "The tenants pay a deposit of £1,770 before they move in.", "£1,770"),
        ("Why is no poison used?", "No poison is used, since hedgehogs live on the site.", "hedgehogs"),
        ("Why was plot 19 split?", "Plot 19 was split because it was too large.", "too large"),
        ("How often is the catalogue backed up?", "The catalogue is backed up every Sunday.", "every Sunday"),
        ("How late is the museum open on Thursdays?", "The museum is open on Thursdays until 20:00.", "20:00"),
        ("Are dogs allowed?", "Dogs need the written consent of the landlord.", "consent"),
        ("Who supervised the thesis?", "Supervisor of the thesis: Prof. Pierre Lemaire.", "Lemaire"),
        ("When did the trial run?", "The trial ran from May 2017 to April 2019.", "May 2017"),
        ("How many modules must students take?", "All students take 2 modules.", "2 modules"),
        ("How large is the outer quay?", "The outer quay is longer than 15 metres.", "15 metres"),
        ("How large is the team of Ada Byron?", "Ada Byron leads a team of nine.", "nine"),
        ("How large is the flat of Ada Byron?", "The flat of Ada Byron measures 74 square metres.", "74"),
        ("How large is the debt of Merrow?", "The debt of Merrow reached $3.2 million.", "3.2"),
        ("Is breakfast included in the price?", "The price includes breakfast.", "breakfast"),
        ("How many members owe rent?", "Nine members owe rent.", "Nine"),
        ("How many keys must be returned?", "All five keys are returned at the desk.", "five"),
        ("Who teaches the swimming lessons?", "The swimming lessons are given by Petra Hollmann.", "Petra Hollmann"),
        ("Who repairs the boiler?", "The landlord repairs the roof, the walls and the boiler.", "landlord"),
        ("When does the lease end?", "The lease runs from 1 June 2024 to 31 May 2026.", "31 May 2026"),
        ("When does the fair begin?", "The fair at the school runs from 3 May 2024 to 9 May 2024.", "3 May"),
        ("How much notice must I give?", "Either side may end it with two months' notice.", "two months"),
        ("When is the rent due?", "The tenant pays the rent on the first day of each month.", "first day"),
        ("When are refunds paid?", "Refunds are paid within 14 days of a written request.", "14 days"),
        ("How long do I have to hand in receipts?", "Receipts must be handed in within 60 days.", "60 days"),
        ("Who first climbed Mount Skarn?", "Ida Holm was the first woman to climb Mount Skarn.", "Ida Holm"),
        ("What is a breccia?", "Now, a breccia is a rock made of angular fragments.", "angular"),
        ("What is the total?", "Labour, 2.5 hours at 48.00: 120.00\nTap: 86.50\nTotal: GBP 206.50", "206.50"),
        ("How much is the VAT?", "Subtotal: GBP 241.50\nVAT 20 %: 48.30", "48.30"),
        ("Who is the customer?", "INVOICE No. 25\nDate: 3 June 2025\nCustomer: Mrs Asha Kaur", "Kaur"),
        ("How much is the fee for juniors?", "The fee is 15 pounds for adults and 8 pounds for juniors.", "8 pounds"),
        ("When is the regatta?", "The summer regatta takes place on 21 June at Holt Bridge.", "21 June"),
        ("When is payment due?", "Payment is due within 21 days.", "21 days"),
        ("By when must claims be submitted?", "Claims are submitted within 30 days of the trip.", "30 days"),
        ("When do entries close?", "Lena Voss takes the entries, which close on 31 May.", "31 May"),
        ("When did the first settlers come?", "The first settlers came in the 12th century.", "12th century"),
        ("When must I return the keys?", "The keys are returned on the last working day.", "last working day"),
        ("How many hotels are there?", "There are two hotels and a campsite.", "two hotels"),
        ("How many places are there?", "The number of places is limited to 48.", "48"),
        ("How long is the guarantee?", "The guarantee is valid for three years.", "three years"),
        ("How high is Mount Varde?", "Its highest point, Mount Varde, rises 186 metres.", "186 metres"),
        (
            "Where is the next meeting?",
            "The next meeting is on Friday 11 April at 19:30 in the clubhouse.",
            "clubhouse",
        ),
        ("Where can I hire a bicycle?", "Bicycles can be hired at the pier for 15 euros a day.", "pier"),
        ("What colour is the lamp?", "The blue lamp lights up.", "blue"),
        ("What are the checkpoints?", "There are three checkpoints: Bield Gate, Raven Scar and Hollow Moss.", "Scar"),
        ("Who was elected secretary?", "Ada Byron was elected as the new secretary.", "Ada Byron"),
        ("When is the next meeting of the board?", "The next board meeting is on 2 December.", "2 December"),
        ("How much is the monthly fee?", "The fee is 34 euros a month.", "34 euros"),
        ("What does admission cost for students?", "Admission: 35 euros, students 15 euros.", "15 euros"),
        ("What does error E24 mean?", "E24: the drain hose is blocked.", "drain hose"),
        ("Where should I put my bike?", "Bicycles are to be put in the shed.", "shed"),
        ("Am I allowed to use a gas stove in the tent?", "Gas stoves are forbidden in the tents.", "forbidden"),
        ("How much is the rent?", "The monthly rent is 840 euros, payable in advance.", "840 euros"),
        ("How high is the loan?", "The loan amounts to 18,000 euros.", "18,000"),
        ("What happens if it rains?", "If it rains on that day, the race is put off.", "put off"),
        ("When does the loan end?", "The loan expires on 30 June 2030.", "30 June"),
        ("When will the interviews be held?", "Interviews take place on 2 September.", "2 September"),
        ("When does the train depart?", "The train leaves the town at 8:39.", "8:39"),
        ("When will the water be cut off?", "The water will be interrupted on 16 July.", "16 July"),
        ("What is the policy number?", "Policy number: HB-20931.", "HB-20931"),
        ("Where is the frame number?", "The frame number is under the bottom bracket.", "bracket"),
        ("Where do lectures take place?", "Lectures take place on Tuesdays from 10:15 to 12:00 in room B 118.", "118"),
        ("How much is the tripod?", "A tripod is sold separately for 39 euros.", "39"),
        ("How much does the tank hold?", "The tank holds 5,000 litres.", "5,000"),
        ("Who is the president?", "Ada Byron is the president, and Ida Holm is the vice president.", "Ada Byron"),
        ("Who is the secretary?", "Ada Byron, the secretary, keeps the log.", "Ada Byron"),
        ("Which key cuts the tape?", "Key K2 cuts the tape.", "K2"),
        ("When was the festival first held?", "The festival was first held in 1998.", "1998"),
        ("What is the minimum temperature?", "The minimum temperature is -22 °C.", "-22"),
        ("Where is the frame number?", "The frame number is on the left side of the frame.", "left side"),
        ("Where are cars parked?", "Cars are parked on the field beyond the quay.", "field"),
        ("Where does the warden live?", "The warden lives in cabin 1.", "cabin 1"),
        ("Is damage by floods insured?", "Damage by floods and earthquakes is not insured.", "not insured"),
        ("Who is the secretary?", "Ada Byron is the secretary, and Ida Holm keeps the list.", "Ada Byron"),
    ],
)
def test_a_sentence_in_other_words_answers(question: str, text: str, says: str) -> None:
    answer = ask(question, context([text]))
    assert answer.status == "answered"
    assert says in answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many modules must students take?", "For example, students take 2 modules if one is approved."),
        ("How many modules must students take?", "Students whose results are poor take 3 modules a year."),
        ("Who was elected chair?", "Ada Byron was elected as the new secretary."),
        ("How much is the monthly fee?", "The fee is 34 euros a day."),
        ("What does admission cost for pupils?", "Admission: 35 euros, students 15 euros."),
        ("What does error E25 mean?", "E24: the drain hose is blocked."),
        ("Where should I put my car?", "Bicycles are to be put in the shed."),
        ("Am I allowed to use a gas stove in the tent?", "Charcoal grills are forbidden in the tents."),
        ("How much is the rent?", "The garage rent is 60 euros."),
        ("What happens if it rains?", "If it rains into the tank, the oil is spoilt."),
        ("Who was elected secretary?", "Ada Byron was elected deputy secretary."),
        ("Who was nominated treasurer?", "Ola Ros, who was nominated by Ada Byron, was elected treasurer."),
        ("What are the annual fees?", "In the yearly report, fees of 12 euros are listed."),
        ("What is the annual fee?", "Entry to the annual fair costs 5 euros."),
        ("What is the monthly fee?", "The fee for the first month is 1 euro."),
        ("When does the loan end?", "The offer of the loan expires on 1 May."),
        ("When does the bus of line 3 leave?", "The boat of line 3 departs at 9:15."),
        ("How many passengers are left?", "120 passengers departed on 3 May."),
        ("When is it open?", "Open day: 3 May"),
        ("What do we do if the machine starts?", "If the machine does not start, check the plug."),
        ("What happens if it does not rain?", "If it rains, the race is put off."),
        ("When is the pool closed?", "The sauna is shut on Sundays."),
        ("When is the competition held?", "The competition will not take place on 3 May."),
        ("Who was elected secretary?", "Ida Holm was proposed as secretary but not elected."),
        ("What happens if I am late?", "If you apply late, the fee doubles."),
        ("Am I allowed to keep cats?", "Cats are not allowed to be fed."),
        ("Where is the market held?", "The first place went to Ada Byron at the market."),
        ("How many parts are there?", "Part number: 4711"),
        ("How large is the science wing?", "The science wing was opened in 2022 and cost £3.2 million."),
        ("How large is the outer quay?", "Boats longer than 15 metres moor at the outer quay."),
        ("How long does a tour of the mole take?", "Those who take a tour of the mole of more than 3 hours pay extra."),
        ("How large is plot 19?", "Plot 19 is shared by three members."),
        ("How long is a wall?", "A wall costs 14,500 euros to build and 1,900 euros a year."),
        ("Is the bridge included in the reserve?", "The reserve will fall because the bridge must be paid."),
        ("How long is the warranty?", "Norvik grants a discount of 36 months."),
        ("How much is the fee?", "A cancellation fee of £25 is charged."),
        ("Why is no poison used?", "No poison is used, since 2019."),
        ("How often is the catalogue backed up?", "The catalogue is backed up in 3 files."),
        ("How late is the museum open on Thursdays?", "The museum is open on Thursdays in 2 rooms."),
        ("Why did the bars in the chart rise?", "The bars in the chart rise because prices rose."),
        ("What should I do if there is no sound?", "Do not use it where there is no sound of traffic."),
        ("Who does Ms Bell report to?", "You will report to Ms Judith Bell."),
        ("Where is the water tank?", "The water tank coupling is located behind the lid."),
        ("Where are the keys kept?", "The spare keys are kept in the porter's lodge."),
        ("Where do I register?", "New members do not register at the boathouse office."),
        ("What is the license of Ardent?", "Ardent uses Holm, which is released under the MIT license."),
        ("How long is the fire drill?", "The fire drill is held twice a year."),
        ("When was the firm founded?", "The firm started a campaign in 2010."),
        ("How much does Ida Holm earn?", "Ida Holm paid 500 euros for the boat."),
        ("When did Ida Holm resign?", "Ida Holm received notice of it on 1 May 2024."),
        ("When did Ida Holm marry?", "The marriage of Ida Holm ended in 1980."),
        ("How much does the ring cost?", "The phone costs 300 euros."),
        ("What is the price now?", "The price was 5 euros then."),
        ("Where does Ida Holm live now?", "Ida Holm lived in Osk as a child."),
        ("When did Ida Holm study?", "Ida Holm had her trial in 1990."),
        ("How flat is the roof?", "The apartment has a roof of 3 degrees."),
        ("How many lessons are there?", "There are three classes in the school."),
        ("Can I bring a friend?", "Smoking is forbidden for friends of the club."),
        ("Which animals are forbidden?", "Small animals are permitted."),
        ("When are bicycles prohibited?", "Bicycles are permitted after 9 a.m."),
        ("Can I use the kitchen?", "Kitchen staff are welcome to the party."),
        ("Where is the market held?", "The place of the market fee is in the list of Osk."),
        ("Who is the secretary?", "Ada Byron was the secretary until 2019."),
        ("Who is the secretary?", "We thank Ada Byron, the secretary, and the chair."),
        ("Where can I find the serial number?", "45 Using Skarn Mail 49 Using Skarn Air 51 The Serial Number in Osk 9"),
    ],
)
def test_a_sentence_of_another_form_does_not_answer(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


@pytest.mark.parametrize(
    ("question", "heading", "text", "status"),
    [
        ("Is the red lentil soup vegan?", "Red lentil soup", "This soup is vegan.", "answered"),
        (
            "How long can the red lentil soup be frozen?",
            "Red lentil soup",
            "The soup can be frozen for 3 months.",
            "answered",
        ),
        ("Is the red lentil soup vegan?", "Red lentils and soup bowls", "This soup is vegan.", "located"),
        ("Is the red lentil soup vegan?", "Red lentil soup", "The soup spoon is vegan.", "located"),
        ("Is water included in the rent?", "4. Rent", "Water is included.", "answered"),
        ("Is water included in the rent?", "Rent of boats", "Water is included.", "located"),
        (
            "Which parts are not covered by the warranty?",
            "Warranty",
            "Seals are wearing parts, not covered.",
            "answered",
        ),
        ("How often should I turn the compost?", "Compost", "Turn the heap every three weeks.", "answered"),
        ("How long does it take to charge the battery?", "Battery", "A full charge takes five hours.", "answered"),
        ("How long does it take to repair the bike?", "Bike", "A tyre repair takes two hours.", "located"),
        ("How long does delivery of the sofa take?", "Delivery", "The sofa can be returned for 14 days.", "located"),
        ("How heavy is the small boat?", "Small boat", "The trailer for the boat weighs 300 kg.", "located"),
        ("When should I plant garlic?", "October and November", "Plant garlic with the pointed end up.", "answered"),
        ("When should I plant garlic?", "Garlic in May", "Plant garlic with the pointed end up.", "located"),
        ("When was the bridge built?", "March 2020", "The bridge was built of oak.", "located"),
        ("When is rent due?", "3 May 2024", "Rent is due in advance.", "located"),
        ("When should I plant garlic?", "1 to 2", "Plant garlic with the pointed end up.", "located"),
        ("When should I plant garlic?", "1 " * 40 + "x", "Plant garlic with the pointed end up.", "located"),
        ("When is the shop open?", "Sunday", "The shop is never open.", "located"),
        ("When are the quiet hours?", "Quiet hours", "From 22:00 to 6:00, noise is forbidden.", "answered"),
        ("What are the quiet hours?", "Quiet hours", "From 22:00 to 6:00, noise is forbidden.", "answered"),
        ("When is the deadline?", "Deadline", "On 3 May the jury meets.", "located"),
        ("What are the training times?", "Training times", "On Tuesdays the pool is closed.", "located"),
        ("What are the opening hours?", "Opening hours", "From 12:00 to 13:00, the office is closed.", "located"),
        ("What are the opening hours?", "Opening hours", "Mondays to Fridays, 9 am to 5 pm.", "answered"),
        ("When are the visiting hours?", "Quiet hours", "From 22:00 to 6:00, noise is forbidden.", "abstained"),
        ("When were the quiet hours introduced?", "Quiet hours", "From 22:00 to 6:00, noise is forbidden.", "located"),
        ("When is the invoice due?", "Invoice 17", "Due date: 3 May 2026", "answered"),
        ("When is the delivery due?", "Invoice 17", "Due date: 3 May 2026", "abstained"),
    ],
)
def test_what_the_heading_says_need_not_be_said_again(question: str, heading: str, text: str, status: str) -> None:
    assert ask(question, context([quote(text, section=heading)])).status == status


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("When is the meeting?", "3 May"),
        ("Where does it take place?", "Room 4"),
        ("Where is the party?", None),
        ("When does the meeting end?", None),
        ("When is the ferry?", None),
        ("Where do they serve?", None),
    ],
)
def test_an_invitation_says_by_labels_when_and_where_it_is(question: str, says: str | None) -> None:
    given = context(
        [
            "The meeting is open to all, and the ferry too.",
            "When: Friday, 3 May, 14:00 to 16:30\nWhere: Room 4, 11 Tanner Street, Osk",
        ]
    )
    answer = ask(question, given)
    assert (says is None) == (answer.status != "answered")
    assert says is None or says in answer.text


@pytest.mark.parametrize(
    ("question", "text", "labels", "document", "answers"),
    [
        ("Where is the event?", "The log records each event.", "Location: /var/log/app.log", "log.md", False),
        ("When is the party?", "The meeting ends before the party.", "When: 3 May\nWhere: Room 4", "a.md", False),
        ("When is the party?", "The meeting ends before it.", "When: 3 May\nWhere: Room 4", "party.md", True),
    ],
)
def test_labels_are_of_the_occasion_to_which_a_document_invites(
    question: str, text: str, labels: str, document: str, answers: bool
) -> None:
    given = [quote(one, document=document, has_pages=False) for one in (text, labels)]
    assert (ask(question, context(given)).status == "answered") == answers


def test_empty_lines_above_a_label_take_little_time() -> None:
    assert ASKING_LABEL.search("\n" * 200_000 + "Where: Room 4") is not None


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("How much does the trip cost?", "answered"),
        ("How much does the hotel cost?", "located"),
        ("How much does the boat trip cost?", "located"),
    ],
)
def test_the_first_line_of_a_text_may_be_its_heading(question: str, status: str) -> None:
    text = "Trip to Osk\nThe coach leaves the town for the hotel at 6 am. The cost is 340 euros a person."
    assert ask(question, context([quote(text)])).status == status
    assert "Trip to Osk" not in ask("When does the coach leave the town?", context([quote(text)])).text


def test_a_paragraph_may_begin_with_its_heading() -> None:
    given = context(["Quiet hours. From 22:00 to 6:00, noise is forbidden.", "Keys. A lost key costs 45 euros."])
    assert ask("When are the quiet hours?", given).text.startswith("From 22:00 to 6:00")
    assert ask("When are the visiting hours?", given).status != "answered"


@pytest.mark.parametrize(
    ("question", "heading", "answers"),
    [
        ("How many carrots do I need?", "Ingredients", True),
        ("How much flour do I need?", "Ingredients", False),  # there are two kinds
        ("How many eggs do I need?", "Ingredients", False),
        ("How many carrots do I need?", "Sold in May", False),
        ("How many carrots were eaten?", "Ingredients", False),
    ],
)
def test_one_needs_what_a_list_of_ingredients_holds(question: str, heading: str, answers: bool) -> None:
    items = quote("- 2 carrots\n- 600 g rye flour\n- 200 g wheat flour\n- 3 egg whites", section=heading, layout="list")
    assert (ask(question, context([items])).status == "answered") == answers
    others = quote("- 5 carrots", section="For the salad", layout="list")
    assert ask("How many carrots do I need?", context([items, others])).status != "answered"  # of which list?


@pytest.mark.parametrize(
    ("question", "heading", "status"),
    [
        ("How heavy is the kiln?", "Specifications", "answered"),
        ("How heavy is the kiln?", "Carrying case", "located"),
        ("How heavy is the lid?", "Specifications", "located"),
    ],
)
def test_a_label_in_a_sheet_is_of_what_the_sheet_is_about(question: str, heading: str, status: str) -> None:
    found = context([quote("Weight: 46 kg\nLength: 2 m", section=heading), "The lid of the kiln is blue."])
    assert ask(question, found.model_copy(update={"titles": {"harbour.pdf": "Kiln of Norvik"}})).status == status


def test_what_a_title_names_need_not_stand_in_each_sentence() -> None:
    given = context([quote("The trial firings are discussed in Section 6.", **KILN)])
    named = given.model_copy(update={"titles": {"kiln-manual.md": "Versatile Kilns of Skarn"}})
    asked = "What is discussed in Section 6 of Versatile Kilns of Skarn?"
    assert ask(asked, named).status == "answered"
    assert ask(asked, given).status == "located"
    assert ask("What is the largest of the Versatile Kilns of Skarn?", named).status != "answered"


def test_what_is_below_a_level_introduces_nothing() -> None:
    text = "It is checked whether the pressure falls below a safety level (by default 2 bar) or not."
    assert ask("What is the default safety level?", context([text])).status == "answered"
    listed = "The valves that control the harbour crane are listed below and in Annex 2."
    assert ask("Which valves control the harbour crane?", context([listed])).status == "located"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What should I do if the pump does not start?", "If the pump fails to start, check the fuse of the pump."),
        ("Why does the engine not start in winter?", "The engine fails to start in winter because the oil is thick."),
        ("What did the harbour do during the strike?", "During the strike, the harbour hired crane drivers."),
        ("What share of the budget goes to maintenance?", "Maintenance takes most of the budget – 45%, up from 30%."),
    ],
)
def test_what_is_said_in_another_way_or_order_answers(question: str, text: str) -> None:
    assert ask(question, context([text])).status == "answered"


def test_a_caption_answers_where_one_document_has_a_picture_of_that_name() -> None:
    tables = [image(document=name, caption=f"Table 3: Cranes of {name}", layout="table") for name in ("a.pdf", "b.pdf")]
    assert ask("What does Table 3 list?", context(images=tables[:1])).status == "answered"
    assert ask("What does Table 3 list?", context(images=tables)).status == "located"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How much does the kiln cost?", "Spare elements cost 84 euros a set."),
        ("What colour is the lighthouse on the mole?", "The lighthouse on the mole has bands, and its lamp is red."),
        ("How do I bake the kiln bread?", "Mix the flour with 300 ml of the water."),
    ],
)
def test_what_belongs_to_another_thing_is_no_answer(question: str, text: str) -> None:
    given = context([quote(text, **KILN)]).model_copy(update={"titles": {"kiln-manual.md": "Kiln"}})
    assert ask(question, given).status != "answered"


def test_what_is_asked_for_is_in_the_statement_if_the_document_tells_of_it() -> None:
    texts = ["24 plots received 10 or 20 tonnes of biochar. Yield did not differ."]
    assert "24 plots" not in ask("What was the yield with 20 tonnes of biochar?", context(texts)).text.split("\n")[0]


def test_the_title_of_the_document_says_what_all_of_it_is_about() -> None:
    meeting = quote("The next meeting takes place on 23 January 2025.", section="Any other business", document="m.html")
    question = "When is the next meeting of the school council?"
    assert ask(question, context([meeting])).status == "located"
    titled = context([meeting]).model_copy(update={"titles": {"m.html": "School council: minutes"}})
    assert ask(question, titled).status == "answered"


def faq(heading: str, text: str) -> Quote:
    return quote(text, section=heading, document="hostel-faq.md", has_pages=False)


@pytest.mark.parametrize(
    ("question", "heading", "status"),
    [
        ("When can I check in at the hostel?", "When can I check in?", "answered"),
        ("May I bring a dog?", "Can I bring my dog?", "answered"),
        ("How do I get to the hostel?", "When can I check in?", "abstained"),
        ("When can I check out?", "When can I check in?", "located"),
        ("When can I check in with a dog?", "When can I check in?", "abstained"),
    ],
)
def test_the_text_under_a_heading_that_asks_the_question_answers(question: str, heading: str, status: str) -> None:
    assert ask(question, context([faq(heading, "From three, at the desk on the ground floor.")])).status == status


def test_several_documents_that_ask_the_question_all_answer() -> None:
    texts = ("From three.", "At noon, at the desk.", "From three.", "All day.", "After lunch.")
    asked = [
        quote(text, section="When can I check in?", document=f"{at}.md", has_pages=False)
        for at, text in enumerate(texts)
    ]
    answer = ask("When can I check in?", context(asked))
    assert [one.document for one in answer.citations] == ["0.md", "1.md", "3.md"]
    assert answer.warnings == ("Another document says something else on this: 4.md.",)


@pytest.mark.parametrize("number", ["7.12 ", "7.12. ", "12) ", "Q3: ", "Q. ", "Question 3. "])
def test_the_number_of_a_heading_that_asks_the_question_is_no_word_of_it(number: str) -> None:
    answer = ask("How do I put a loan on hold?", context([faq(f"{number}How do I put a loan on hold?", "Ask Ms Ros.")]))
    assert (answer.status, "Ask Ms Ros" in answer.text) == ("answered", True)


@pytest.mark.parametrize(("sentences", "cut"), [(3, False), (4, True)])
def test_what_is_left_of_the_section_that_answers_is_announced(sentences: int, cut: bool) -> None:
    told = " ".join(f"Loans of kind {i} are put on hold at the desk." for i in range(sentences))
    answer = ask("How do I put a loan on hold?", context([faq("How do I put a loan on hold?", told)]))
    assert (answer.warnings == (SECTION_GOES_ON,), bool(answer.warnings)) == (cut, cut)
    assert ("kind 2" in answer.text, "kind 3" in answer.text) == (True, False)


@pytest.mark.parametrize(
    ("question", "heading", "answers"),
    [
        ("What do I need for the soup?", "Ingredients", True),
        ("What do I need for the cake?", "Ingredients", False),
        ("What do I need to do?", "Ingredients", False),
        ("What should I bring?", "What to bring", True),
        ("What should I bring?", "Ingredients", False),
        ("Where did she study?", "Education", True),
        ("Where was she educated?", "Education", True),
        ("Where did she study mosses?", "Education", False),
        ("What did the study find?", "Education", False),
        ("How does it work?", "Experience", False),
        ("Where do I need it?", "Ingredients", False),
    ],
)
def test_a_heading_may_stand_for_the_question(question: str, heading: str, answers: bool) -> None:
    items = "\n".join(f"- item {i}" for i in range(5))
    one = quote(items, document="soup.md", has_pages=False, section=heading, layout="list")
    answer = ask(question, context([one]))
    assert (answer.status == "answered" and all(f"item {i}" in answer.text for i in range(5))) == answers


def test_a_heading_that_asks_something_else_introduces_no_steps() -> None:
    heading = "7.11 What is meant by return, loan and hold in the list of books?"
    items = "• return - the book is to be returned\n• loan - put it on the shelf\n• hold - take it to the desk"
    one = quote(items, document="faq.md", has_pages=False, section=heading, layout="list")
    assert not ask("How do I put a book on hold?", context([one])).text.startswith("Under")


def test_a_line_that_asks_the_question_is_answered_by_what_follows_it() -> None:
    asks = quote('How do you pronounce "Skarn"?', id="s:0:0", document="s.html", has_pages=False)
    says = quote('It rhymes with "barn".', id="s:0:1", document="s.html", has_pages=False)
    given = context([asks, says]).model_copy(update={"introduced": {asks.id: (says.id,)}})
    answer = ask("How do you pronounce Skarn?", given)
    assert answer.status == "answered"
    assert answer.citations[0].quote_id == says.id


def test_a_heading_that_is_the_noun_asked_for_is_answered_by_its_list_of_one_document_alone() -> None:
    own = quote("Swedish, Norwegian, German", section="Languages", document="cv-lind.md", has_pages=False)
    other = quote("English, Twi", section="Languages", document="cv-osei.md", has_pages=False)
    known = {"rarity": {"languag": 0.4, "speak": 0.9}, "variety": 0.2}
    alone, both = (context(quotes).model_copy(update=known) for quotes in ([own], [own, other]))
    assert ask("Which languages does she speak?", alone).text.startswith("Swedish, Norwegian, German [1].")
    assert ask("Which languages does she speak?", both).status != "answered"


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("How long does a stoneware firing take?", "Stoneware (Firing time: 12 h)"),
        ("Which programme has the lowest temperature?", "Bisque is the lowest of 3 rows: 960 °C"),
    ],
)
def test_a_column_that_numbers_the_rows_names_none(question: str, says: str) -> None:
    table = image("Programmes for firing", PROGRAMMES, layout="table", document="kiln.md")
    assert says in ask(question, context([], [table])).text


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Which product sold the most in 2023?", "Mussels is the highest of 3 rows: 455"),
        ("How much crabs and cod together did the port sell in 2023?", "is 403"),
    ],
)
def test_a_verb_of_the_question_may_be_the_noun_of_the_table(question: str, says: str) -> None:
    table = image("Sales of the port by product", SALES, layout="table", document="port.md")
    assert says in ask(question, context([], [table])).text


def test_documents_that_give_other_times_of_day_are_shown_side_by_side() -> None:
    one = quote("The first boat leaves Hollum harbour at 7:15.", id="a:0:0", document="a.md")
    other = quote("The first boat leaves Hollum harbour at 7:45.", id="b:0:0", document="b.md")
    answer = ask("When does the first boat leave Hollum harbour?", context([one, other]))
    assert "7:15" in answer.text
    assert "7:45" in answer.text
    assert "different dates" in answer.warnings[0]


def asked_of(question: str, title: str, section: str, text: str) -> Answer:
    """What a document of one section answers."""
    fields: QuoteFields = {"document": "leaflet.md", "has_pages": False, "section": section}
    return ask(question, context([quote(text, **fields)]).model_copy(update={"titles": {"leaflet.md": title}}))


@pytest.mark.parametrize(
    ("question", "title", "section", "text"),
    [
        ("Who is covered?", "Insurance", "Who is not covered?", "Visitors and contractors."),
        ("When is the library open?", "Library", "When is the library not open?", "On public holidays and Sundays."),
        ("What can I not pay with?", "Shop", "What can I pay with?", "Coins and cards are accepted."),
        ("Which languages are forbidden?", "Curriculum vitae", "Languages", "French"),
        ("Which allergens were removed?", "Menu", "Allergens", "Nuts"),
        (
            "When was the Beta router released?",
            "The Alpha and Beta routers",
            "Alpha",
            "The router was released in 2019.",
        ),
        (
            "How much does membership cost for juniors?",
            "Handbook and Guide for Juniors",
            "Fees",
            "Adults pay 120 euros.",
        ),
        ("What is allowed in the garden?", "House rules", "Garden", "Dogs are banned in the garden."),
        ("What is covered by the warranty?", "Terms", "Warranty", "Batteries are excluded from the warranty."),
    ],
)
def test_what_is_said_of_the_contrary_or_of_another_is_no_answer(
    question: str, title: str, section: str, text: str
) -> None:
    assert asked_of(question, title, section, text).status != "answered"


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("How do I set up a meeting?", "To set up a meeting, open the calendar and choose a day.", "calendar"),
        ("Who carried out the audit?", "The audit was carried out by Anna Kemp.", "Anna Kemp"),
        ("Are dogs allowed in the garden?", "Dogs are banned in the garden.", "banned"),
    ],
)
def test_what_the_document_says_in_the_words_of_the_question_answers(question: str, text: str, says: str) -> None:
    answer = ask(question, context([text]))
    assert answer.status == "answered"
    assert says in answer.text


def test_a_column_of_numbers_that_has_a_name_names_its_rows() -> None:
    rows = "Error | Meaning | Remedy\n1 | Lid open | Close the lid\n2 | Too hot | Let it cool\n3 | No fuse | Call us"
    answer = ask("What is the remedy of error 2?", context([], [image("Values", rows, layout="table")]))
    assert answer.status == "answered"
    assert "Let it cool" in answer.text
    assert "Close the lid" not in answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "When should blood pressure be measured?",
            "If blood pressure is measured at home, possible causes are these.",
        ),
        (
            "When should blood pressure be measured?",
            "You feel more stressed, and blood pressure is higher than it should be.",
        ),
        ("What is a mutation?", "In this type of mutation, a normal number of codons increases."),
        (
            "What is Document Cloud?",
            "Creative Cloud, a subscription service, is attractive to users of older versions.",
        ),
    ],
)
def test_what_only_mentions_the_subject_is_no_answer(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Should I charge the watch after a dive?", "Charge the watch as soon as possible after a dive."),
        ("When can I retire from the guild?", "You can retire from the guild at the age of 60 or more."),
        ("What is a moderator?", "In 1942 a moderator, a block of graphite, was built."),
    ],
)
def test_what_says_it_in_another_place_of_the_sentence_still_answers(question: str, text: str) -> None:
    assert ask(question, context([text])).status == "answered"


@pytest.mark.parametrize(
    "heading", ["How can the strap be replaced?", "How is the strap replaced?", "Strap: replaced?"]
)
def test_a_heading_that_asks_the_same_in_another_form_introduces_the_steps(heading: str) -> None:
    one = quote("1. Press the pin of the strap.\n2. Slide the strap out.", section=heading, layout="list")
    assert ask("How do I replace the strap?", context([one])).status == "answered"


@pytest.mark.parametrize(
    "question", ["What Does The Manual Say?", "Please Explain The Results", "How Do I List Users?"]
)
def test_capitals_of_a_title_make_no_names(question: str) -> None:
    assert question_terms(question).terms == question_terms(question.lower()).terms


def test_the_number_of_a_part_denies_nothing() -> None:
    one = quote("1. Open the lid.\n2. Take the filter out.", section="Replace filter 3", layout="list")
    assert ask("How do I replace filter no. 3?", context([one])).status == "answered"


def test_steps_for_what_is_there_do_not_tell_what_to_do_where_it_is_not() -> None:
    one = quote("1. Press the button.\n2. Turn the dial.", section="To activate the sound mode", layout="list")
    assert ask("What should I do if there is no sound?", context([one])).status != "answered"


def test_how_long_something_takes_is_no_length() -> None:
    rows = "Route | Length | Climb\nHill | 30 km | 900 m\nShore | 12 km | 40 m"
    assert (
        ask("How long does the Hill route take?", context([], [image("Values", rows, layout="table")])).status
        != "answered"
    )


def test_what_only_asks_need_not_stand_in_the_row() -> None:
    rows = "Cargo | 2022 | 2023\nGrain | 512 | 547\nTimber | 300 | 310"
    given = context(["These figures are of the public quays."], [image("Cargo handled", rows, layout="table")])
    answer = ask("What is the figure for grain in 2023?", given)
    assert answer.status == "answered"
    assert "547" in answer.text


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("What is a mentor?", "mentor: a person who helps beginners with packaging.", "a person who helps"),
        ("What is a mentor?", "mentor A person who helps beginners with packaging.", "person who helps"),
        ("What is Harbourscript?", "GNU Harbourscript is a language that describes quays.", "a language"),
        ("What does dip stand for?", "dip: The name of this group, which is old, stands for dial-up.", "dial-up"),
        ("How many speakers does the radio have?", "A radio with a 9-speaker system hangs in the hall.", "9-speaker"),
        (
            "How do I recover erased templates?",
            "If you erased some templates, you can recover them by running the command again.",
            "by running",
        ),
        (
            "Where can I get the sources of the pilot?",
            "The sources are free, from http: //pilot.example/get.",
            "pilot.ex",
        ),
        (
            "For what share of ships does the crane work without manual changes?",
            "The crane of the pier will work for about 90% of ships without manual changes of the hook.",
            "90%",
        ),
    ],
)
def test_definitions_counts_and_ways_of_manuals_answer(question: str, text: str, says: str) -> None:
    answer = ask(question, context([text]))
    assert answer.status == "answered"
    assert says in answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        # of another thing in the same text
        (
            "What is the combined city mileage of the Shore Hybrid?",
            "The combined city mileage of the Shore is 32. The Hill Hybrid has another.",
        ),
        # the contrary
        ("What percentage of members who do not sail voted?", "48% of the members who sail voted."),
        # a number in a clause about something else
        ("What share of members sail?", "Members who sail – some 10% of the public has a boat – stand out."),
        # what something does is told by a sentence about it
        ("What does the crane driver do?", "You can stop the work of the crane driver with the lever."),
        (
            "What version of the crane does this describe?",
            "One can see a version of the crane in these places: the quay.",
        ),
    ],
)
def test_a_sentence_about_something_near_does_not_answer(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


def test_a_share_is_of_what_its_sentence_names_not_of_what_the_heading_does() -> None:
    one = quote(
        "The Liberals prefer a smaller state, and 17% prefer a bigger state.", section="Socialists and Liberals"
    )
    assert ask("What percent of Socialists prefer a bigger state?", context([one])).status != "answered"


def test_a_list_of_something_else_does_not_tell_what_is_asked_for() -> None:
    text = (
        "You can make a version of the crane that runs with a motor using the following instructions:\n- turn\n- wait"
    )
    assert ask("What version of the crane does the page describe?", context([text])).status != "answered"


@pytest.mark.parametrize(
    "question",
    ["What does Table 3 list?", "What is shown in Table 3?", "What is Table 3?", "What is the caption of Table 3?"],
)
def test_what_a_table_lists_is_told_by_its_caption(question: str) -> None:
    tables = [
        image(f"Table {number}. {name}", "a | b\nc | 1", layout="table")
        for number, name in ((2, "Ships"), (3, "Quays"))
    ]
    answer = ask(question, context(["Table 3 is below."], tables))
    assert answer.status == "answered"
    assert "The caption of Table 3 is “Quays”" in answer.text


def test_rows_of_one_name_under_several_headings_are_uncertain() -> None:
    rows = "Canada | 22 % | 5 %\nJapan | 23 % | 4 %\nIncreases in open shops:\nCanada | 20 % | 3 %\nJapan | 19 % | 2 %"
    given = context(["The net sales are below."], [image("Increases in net sales", rows, layout="table")])
    assert ask("By how much did net sales in Canada increase?", given).status != "answered"


def test_a_small_may_is_no_month() -> None:
    assert "may" not in question_terms("Which characters may a name contain?").terms
    assert "may" in question_terms("What was shipped in may 2021?").terms


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "How many members may the board have?",
            "When there are 5 members or fewer the board may appoint new ones until the number of members reaches 6.",
        ),
        ("Who appoints the secretary?", "If they cannot agree, Tomasz Wren appoints the secretary."),
        ("What can a harbour pilot do?", "A harbour pilot working on a task;"),
    ],
)
def test_what_is_so_in_one_case_or_a_fragment_does_not_answer(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


def test_who_acts_in_a_case_that_is_asked_for_is_told() -> None:
    answer = ask(
        "Who appoints the secretary if they cannot agree?",
        context(["If they cannot agree, Tomasz Wren appoints the secretary."]),
    )
    assert answer.status == "answered"


def test_a_name_with_an_article_is_defined() -> None:
    given = context(["Constitution for the Harbour Union (v1.9)", "The Harbour Union is a group of people who sail."])
    answer = ask("What is the Harbour Union?", given)
    assert "is a group of people" in answer.text
    assert (
        ask("What is the Harbour Union?", context(["Constitution for the Harbour Union (v1.9)"])).status != "answered"
    )


def test_what_answers_is_given_though_its_word_is_rare_in_the_collection() -> None:
    others = [quote(text, document=f"{text[:5]}.md") for text in ("The ferry left at noon.", "Grain went by rail.")]
    given = context(["dip: The group's name stands for dial-up.", *others])
    given = given.model_copy(update={"rarity": {"dip": 0.99}, "variety": 1.0})
    assert ask("What does dip stand for?", given).status == "answered"
    assert ask("What is the price of dip?", given).status == "abstained"


@pytest.mark.parametrize(
    ("question", "heading", "text", "answers"),
    [
        ("What should I do if the kiln does not start?", "The kiln does not start", "Check the fuse.", True),
        ("What should I do if the kiln does not stop?", "The kiln does not start", "Check the fuse.", False),
        ("What should I do if the kiln starts?", "The kiln does not start", "Check the fuse.", False),
        ("Why is firing slow?", "Firing is slow", "Change the fuse, because it is old.", True),
        ("Why is firing slow?", "Firing is slow", "Change the fuse.", False),
    ],
)
def test_a_heading_that_is_the_case_asked_of_is_answered_below_it(
    question: str, heading: str, text: str, answers: bool
) -> None:
    answer = ask(question, context([quote(text, section=heading)]))
    assert (answer.status == "answered") == answers


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who repairs the boiler?", "The landlord repairs the roof and the tenant cleans the boiler."),
        ("Who repairs the boiler?", "The landlord, the tenant and the boiler firm met."),
        ("When does the lease end?", "The deposit is returned within 30 days of the end of the lease."),
        ("When does the school end?", "The show at the school runs from 3 May 2024 to 9 May 2024."),
        ("When does the road end?", "The road runs from Osk to Merrow."),
        ("How much is the rent?", "The tenant pays a deposit of three months' rent."),
        ("How many domestic stores are there?", "There are 1,138 domestic and foreign stores."),
        ("How much is the fine for noise?", "The fine is 20 euros for waste and more for noise."),
        ("How much is the fine for noise?", "For waste the fine is 20 euros, for noise it is higher."),
        ("When do entries close?", "Lena Voss, who is in charge of entries, closed the door on 31 May."),
        ("When is the salary paid?", "You may get a bonus of up to 6 per cent of your salary, which is paid in April."),
        ("How big is an extra large plot?", "A large plot is 250 square metres."),
        ("When is the exam?", "The exam is hard, and the results came on 3 May."),
        ("Where can I buy a bicycle?", "Bicycles can be hired at the pier for 15 euros a day."),
        ("How many hotels are there?", "The two hotels of Osk are closed."),
        ("Who first climbed Mount Skarn?", "Ida Holm wanted to be the first to climb Mount Skarn."),
        ("What are the checkpoints?", "There are two closed checkpoints: Bield Gate and Raven Scar."),
    ],
)
def test_what_is_told_of_another_thing_or_of_more_does_not_answer(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


DUTIES = "Day | Speaker | Organiser\n3 May | Ada Byron | Ida Holm\n4 May | Eva Berg | Jon Ask"


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Who is speaking on 3 May?", "3 May (Speaker: Ada Byron)"),
        ("Who spoke on 4 May?", "4 May (Speaker: Eva Berg)"),
        ("Who organises 4 May?", "4 May (Organiser: Jon Ask)"),
        ("Who was spoken of on 4 May?", None),
        ("Who sang on 3 May?", None),
    ],
)
def test_a_column_that_names_the_doer_tells_who_does_it(question: str, says: str | None) -> None:
    answer = ask(question, context([], [image(None, DUTIES, layout="table")]))
    assert (says is None) == (answer.status != "answered")
    assert says is None or says in answer.text


def test_what_it_costs_to_enter_is_told_by_a_table_of_entries() -> None:
    fees = "Race | In advance | Club members\nLong | £18 | £15\nShort | £10 | £8"
    given = context([], [image("Race entry", fees, layout="table")])
    assert "Long (Club members: £15)" in ask("What does it cost a club member to enter the long race?", given).text


def test_a_company_that_the_documents_name_has_as_one_word_need_not_stand_in_each_row() -> None:
    rows = "Item | 2022 | 2023\nTotal assets | $ 17,504 | $ 15,803\nTotal debt | $ 1,202 | $ 1,176"
    given = context([], [image(None, rows, layout="table", document="BESTBUY_2023_10K.pdf")])
    assert "17,504" in ask("What were Best Buy's total assets in 2022?", given).text
    assert ask("What were Cold Bay's total assets in 2022?", given).status != "answered"


def test_a_quantity_alone_in_a_manual_is_that_of_what_the_manual_is_about() -> None:
    data = "Power | 2,200 W\nWeight | 1.1 kg\nWeight of the box | 0.3 kg"
    given = context([], [image(None, data, layout="table", document="kettle-manual.md")])
    assert "1.1 kg" in ask("How heavy is the kettle?", given).text
    assert "0.3 kg" not in ask("How heavy is the kettle?", given).text
    assert ask("How heavy is the base?", given).status != "answered"


def test_the_only_column_of_dates_tells_when() -> None:
    parts = "Part | Weight | Deadline\nProject | 20 % | 28 November\nExam | 50 % | 15 December"
    assert "15 December" in ask("When is the exam?", context([], [image(None, parts, layout="table")])).text


@pytest.mark.parametrize("verb", ["grow", "rise", "increase", "go up"])
def test_how_much_something_grew_is_not_told_by_how_much_it_is(verb: str) -> None:
    rows = "- | 2021 | 2020\nNet sales | 192 | 163\nIncreases in members | 5 | 4"
    sales = image("Net sales", rows, layout="table")
    question = f"How much did net sales {verb} in 2021?"
    assert "192" not in ask(question, context([], [sales])).text.partition("most:")[0]
    told = quote("Net sales increased by 18% in 2021.")
    answer = ask(question, context([told], [sales]))
    assert (answer.status, "18%" in answer.text) == ("answered", True)


def test_what_a_note_includes_is_not_how_many_there_are() -> None:
    note = quote("Includes 20 Pacific Sales stores and 19 Best Buy outlet stores.")
    assert ask("How many stores does Best Buy have?", context([note])).status != "answered"
    told = quote("Best Buy has 978 stores.")
    assert "978" in ask("How many stores does Best Buy have?", context([told])).text


@pytest.mark.parametrize("way", ["done", "carried out", "conducted"])
def test_what_was_done_may_be_said_to_be_conducted(way: str) -> None:
    told = quote("The survey was conducted in the summer of 2008.")
    assert "2008" in ask(f"When was the survey {way}?", context([told])).text
