"""Who does what, to what, and when: what clauses say by their verb, and what they only seem to say."""

import pytest
from harbour_quotes import ask, context, quote

from quoteweave.generation.extractive.acts.asked_acts import asked_act
from quoteweave.generation.extractive.acts.clauses import MAX_ACTS, MAX_AROUND, Act, acts_in, head_nouns
from quoteweave.generation.extractive.acts.opposites import has_opposite_word


def acts(text: str, verb: str, *, is_participle: bool = False) -> list[Act]:
    return list(acts_in(text, verb, is_participle=is_participle))


def test_the_doer_stands_before_an_active_verb_and_behind_by() -> None:
    (active,) = acts("In 1957, the board founded the club.", "found")
    (passive,) = acts("The club was founded in 1957 by the board.", "found")
    assert (active.doer.strip(), active.is_passive, active.tense) == ("the board", False, "past")
    assert (passive.doer, passive.is_passive, passive.tense) == ("the board.", True, "past")
    assert active.is_done_to({"club"})
    assert passive.is_done_to({"club"})


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("The roof was repaired.", "past"),
        ("The roof has been repaired.", "perfect"),
        ("The roof is repaired every year.", "present"),
        ("The roof is to be repaired.", "future"),
        ("The roof will be repaired.", "future"),
        ("The roof may be repaired.", "possible"),
        ("The landlord has to repair the roof.", "present"),
        ("The roof, repaired in May, leaks.", "perfect"),
    ],
)
def test_an_act_is_of_a_time(text: str, time: str) -> None:
    assert [act.tense for act in acts(text, "repair")] == [time]


@pytest.mark.parametrize(
    "text",
    [
        "They refused to repair it.",
        "The roof was to be repaired.",
        "If they repair it, it holds.",
        "Whether they repair it",
    ],
)
def test_what_is_wished_or_so_in_a_case_is_not_told_as_so(text: str) -> None:
    assert [act.is_asserted for act in acts(text, "repair")] == [False]


@pytest.mark.parametrize(
    "text", ["They never repaired it.", "It was not repaired.", "Nobody repaired it.", "It was nearly repaired."]
)
def test_what_is_denied_is_told_as_so_but_denied(text: str) -> None:
    assert [(act.is_asserted, act.is_denied) for act in acts(text, "repair")] == [(True, True)]


def test_what_follows_an_article_or_a_preposition_is_no_verb() -> None:
    found = acts("The design of the bridge, and talk of design.", "design")
    assert [(act.is_noun, act.subject) for act in found] == [(True, "the bridge")]


@pytest.mark.parametrize(
    ("text", "verb", "subject"),
    [
        ("Approval of the budget is due.", "approve", "the budget is due."),
        ("The opening hours of the shop are long.", "open", "the shop are long."),
        ("These summarised texts are long.", "summarised", "texts are long."),
        ("They run nine widely-used tests.", "used", "tests."),
    ],
)
def test_a_noun_and_an_attribute_say_an_act_of_what_follows(text: str, verb: str, subject: str) -> None:
    assert [(act.is_noun, act.subject.strip()) for act in acts(text, verb)] == [(True, subject)]


@pytest.mark.parametrize(
    ("text", "verb"),
    [("Across three surveys", "surveyed"), ("The manager is new", "manage"), ("subject to declaration", "declared")],
)
def test_a_noun_of_nothing_says_no_act(text: str, verb: str) -> None:
    assert acts(text, verb) == []


@pytest.mark.parametrize(
    ("nouns", "head"),
    [
        ("The old tower of the church", ["tower"]),
        ("The ferry Halcyon", ["ferri", "halcyon"]),
        ("the statements included", ["statement"]),
        ("Line 6", ["line", "6"]),
        ("it", []),
    ],
)
def test_nouns_are_headed_by_the_last_before_a_preposition(nouns: str, head: list[str]) -> None:
    assert head_nouns(nouns) == head


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("Who repairs the roof?", "The landlord repairs the roof.", "landlord"),
        ("Who repairs the roof?", "The landlord must repair the roof.", "landlord"),
        (
            "Who built the Halcyon?",
            "The ferry Halcyon was built in 1987 by the Osk yard and refitted in 2014.",
            "Osk yard",
        ),
        (
            "Who services the boiler?",
            "The boiler is serviced once a year by Kessel & Co.; the chimney is swept twice a year.",
            "Kessel",
        ),
        ("Who accepted the offer?", "The board accepted the offer of Baxter & Sons.", "board"),
        (
            "Who founded the association?",
            "§ 1 The association was founded in 1921 by railway workers.",
            "railway workers",
        ),
        (
            "Who founded Merrow Shipping?",
            "Merrow Shipping builds boats. It was founded in 1957 by the Merrow Council.",
            "Merrow Council",
        ),
        (
            "Who elects the board?",
            "§ 6 The board consists of five members and is elected every three years by the general meeting.",
            "general meeting",
        ),
        (
            "Who calls the general meeting?",
            "§ 7 The general meeting is called by the president at least once a year.",
            "president",
        ),
        ("Who can exclude a member?", "A member may be excluded by the board after the second reminder.", "board"),
        ("Who owns the park?", "The town of Merrow owns the park.", "Merrow"),
        ("Who maintains the lifts?", "Lifts are maintained by the property manager.", "manager"),
        ("Who pays the premium?", "The employer pays the premium every month.", "employer"),
        ("Who won the match?", "The visitors won the match by three goals.", "visitors"),
        ("Who approves the budget?", "The budget is prepared by the treasurer and approved by the members.", "members"),
        (
            "Who is the landlord?",
            "This lease is made between Harald Brenner (the landlord) and Mia Okafor (the tenant).",
            "Brenner",
        ),
        (
            "Who is the treasurer?",
            "Present: Ana Ruiz (chair), Tom Keller (treasurer), Li Wei (secretary), Priya Nair.",
            "Tom Keller",
        ),
        ("Who is the captain?", "Call the captain, Ingrid Moe, only in an emergency.", "Ingrid"),
        ("How high may a fence be?", "Fences may be up to 1.2 metres high.", "1.2"),
        (
            "How often does the bus run?",
            "The bus from the pier to Skarn town takes 12 minutes and runs every half hour.",
            "half hour",
        ),
        ("How often should the filter be replaced?", "The filter is replaced every 50 litres.", "50"),
        (
            "How often is the board elected?",
            "§ 6 The board consists of five members and is elected every three years by the general meeting.",
            "three years",
        ),
        ("Who audits the port?", "The port is audited by the Harbour Audit Committee.", "Committee"),
        ("Who audits the port?", "Courts of the United States audit the port.", "Courts"),
        ("When must the fee be paid?", "Members pay the fee by 31 March.", "31 March"),
        (
            "Who audits the accounts?",
            "Ida Holm, the accountant that audited the accounts included in this report, agrees.",
            "Ida Holm",
        ),
        (
            "Who appoints the clerk if they cannot agree?",
            "If they cannot agree, the mayor appoints the clerk.",
            "mayor",
        ),
        ("When was the deposit paid?", "A deposit of 900 euros was paid on 2 May 2024.", "2 May"),
        ("When will the farm be completed?", "The farm is to be completed in 2026.", "2026"),
        ("Can I smoke on deck?", "Smoking is prohibited on all decks.", "prohibited"),
        ("Is smoking forbidden on deck?", "Smoking is permitted on all decks.", "permitted"),
        ("Are laptops banned?", "Laptops may be used everywhere.", "may"),
        ("Ist Musizieren verboten?", "Musizieren ist bis 20 Uhr erlaubt.", "erlaubt"),
        ("How much is the VAT?", "VAT (20 %): 498.00 euros.", "498"),
    ],
)
def test_what_is_said_of_the_act_answers(question: str, text: str, says: str) -> None:
    answer = ask(question, context([text]))
    assert answer.status == "answered"
    assert says in answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who repairs the roof?", "The roof repairs cost 3,950 pounds."),
        ("Who repairs the roof?", "The neighbour repaired the roof in 1998."),
        ("Who repaired the roof?", "The landlord repairs the roof."),
        ("Who repaired the roof?", "The landlord will repair the roof."),
        ("Who repaired the roof?", "The landlord refused to repair the roof."),
        ("Who repaired the roof?", "The landlord offered to repair the roof."),
        ("Who repaired the roof?", "The roof was not repaired by the landlord."),
        ("Who repaired the roof?", "The roof was repaired by the end of May."),
        ("Who repaired the roof?", "The roof was repaired by 12 May."),
        ("Who repaired the roof?", "The roof was repaired by hand."),
        ("Who closed the bridge?", "The bridge was closed to lorries built by the Osk yard."),
        ("Who built the house?", "The house was built in 1980 by the river."),
        ("Who sold the boat?", "The boat was not sold by the club."),
        ("Who elects the board?", "The board elects a chair every year."),
        ("Who excluded the member?", "A member may be excluded by the board after the second reminder."),
        ("Who raised the rent?", "The rent was raised by 20 pounds."),
        ("Who raised the rent?", "The rent was raised by a third of the sum."),
        ("Who won the match?", "The match was won by three goals."),
        ("Who pays the deposit?", "The deposit pays interest of 2 per cent."),
        ("Who wrote the report?", "The report was written by March."),
        ("Who cleans the pool?", "The pool is cleaned by ten o'clock."),
        ("Who approved the budget?", "The budget was prepared by the treasurer."),
        ("Who designed the bridge?", "The design of the bridge was admired by the council."),
        ("Who discovered the cave?", "The discovery of the cave by tourists began in 1950."),
        ("Who manages the shop?", "The shop manages without a till."),
        ("Who is the landlord?", "Harald Brenner (the tenant) and Mia Okafor met the landlord."),
        ("Who is the captain?", "The captain, Merrow and Tolland are boats."),
        ("How high is the fence?", "Fences may be up to 1.2 metres high."),
        ("How often is the filter replaced?", "The filter holds 50 litres and every valve is replaced."),
        ("Who founded the club?", "The youth section of the club was founded by Ida Holm."),
        ("Who sued the society?", "The society sued Ida Holm."),
        ("Who painted the ceiling?", "Ida Holm painted the walls and the ceiling was left white."),
        ("Who won the race?", "Ida Holm nearly won the race."),
        ("Who won the race?", "Ida Holm had hoped to win the race."),
        ("Who signed the contract?", "Ida Holm refused to sign the contract."),
        ("Who signed the contract?", "The contract was to be signed by Ida Holm."),
        ("Who leads the choir?", "The choir was led by Ida Holm until 2015."),
        ("Who owns the mill?", "The mill was owned by Ida Holm from 1910 to 1930."),
        ("When was the museum opened?", "The wing of the museum was opened in 1998."),
        ("When did the museum open?", "The museum opened its new wing in 1998."),
        ("When was the bridge closed?", "The bridge will be closed on 3 May 2025."),
        ("When was the bridge completed?", "The bridge should have been completed in 2015."),
        ("When did the meeting end?", "The meeting was to end at 18:00."),
        ("When does the shop close?", "The shop does not close before 18:00."),
        ("Can I fish in the lake?", "Ida Holm fishes in the lake."),
        ("Can I camp on the island?", "Ida Holm camped on the island in 1950."),
        ("Are dogs allowed on the beach?", "Dogs were allowed on the beach until 2015."),
        ("Can I keep a cat?", "The neighbours in the ground floor flat keep two cats."),
        ("When was the dividend paid?", "For 2022 a dividend of 1.05 euros was paid."),
        ("What is the maximum load of the lift?", "The maximum load of the trolley is 120 kg."),
        ("Who is the president of the club?", "Greta Lund is vice president of the club."),
        ("Who stole the painting?", "Ida Holm was accused of having stolen the painting."),
        ("Are dogs allowed on the beach?", "Horses are not allowed on the beach; dogs may swim in the lake."),
        ("How often does the board meet?", "The board is elected every three years by the meeting."),
        ("How large is a plot?", "The fee is 85 pounds for a plot of up to 250 square metres."),
    ],
)
def test_what_is_said_of_another_act_does_not(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


@pytest.mark.parametrize(
    ("title", "question", "text"),
    [
        (
            "Handbook of Elm Hill School",
            "When was the school founded?",
            "The choir was founded by Ida Tansley in 1974.",
        ),
        ("Handbook of Elm Hill School", "Who founded the school?", "The choir was founded by Ida Tansley in 1974."),
        ("Invoice", "When was the invoice paid?", "A deposit was paid on 2 May 2024."),
        ("Elm Hill Library", "When was the library sold?", "The kiosk was sold in 2011."),
        ("Elm Hill Library", "Is the library closed in August?", "The meeting room is closed in August."),
    ],
)
def test_what_is_done_to_another_thing_under_a_title_is_not_done_to_what_it_names(
    title: str, question: str, text: str
) -> None:
    assert ask(question, context([quote(text, section=title)])).status != "answered"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Do independents approve of the plan?", ("independents", "approve", False)),
        ("When does the shop of the museum close?", ("the shop of the museum", "close", False)),
        ("When must the thesis be submitted?", ("the thesis", "submitted", True)),
        ("When was the deposit paid?", ("the deposit", "paid", True)),
        ("Do dogs need a ticket?", ("dogs", "need", False)),
        ("Should I commit the table?", ("I", "commit", False)),
        ("When is the tower open?", None),
    ],
)
def test_a_question_asks_about_an_act(question: str, asked: tuple[str, str, bool] | None) -> None:
    act = asked_act(question)
    assert (act and (act.subject, act.verb, act.is_passive)) == asked


def test_of_a_text_without_end_the_first_acts_are_read_and_what_is_near_them() -> None:
    found = acts("the board never repaired it and " * 10_000, "repair")
    assert len(found) == MAX_ACTS
    assert max(len(part) for act in found for part in (act.subject, act.after)) <= MAX_AROUND


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the firm founded?", "The firm that Ida Holm founded was sold in 1990."),
        ("When was the bridge opened?", "The bridge, opened by the king, was closed in 2010."),
        ("When was the school founded?", "The choir was founded in 1974 by the school."),
        ("When was the law passed?", "The law passed by parliament changed the act of 1998."),
        ("When did Ida Holm die?", "Ida Holm, whose husband died in 1990, left Osk."),
        ("Where was the ship built?", "The ship, built in 1950, was sold to a firm in Osk."),
        ("Who is the chair?", "The chair thanked Ida Holm for the cake."),
        ("Who is the director of the museum?", "Ida Holm, a friend of the director of the museum, spoke."),
        ("Who is the president of the club?", "Ida Holm stood for president of the club and lost."),
        ("Who will chair the panel?", "Ida Holm, who chaired the panel in 2010, has retired."),
    ],
)
def test_what_another_verb_says_is_said_of_another_act(question: str, text: str) -> None:
    assert ask(question, context([quote(text)])).status != "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the firm founded?", "The firm that was founded by Ida Holm in 1950 was sold later."),
        ("When was the deposit paid?", "A deposit of 900 euros was paid on 2 May 2024."),
        ("When was the bridge opened?", "In May 2010 the bridge was opened by the king."),
        ("Where was the ship built?", "The ship, built in Skarn in 1950, was sold later."),
        ("Can ten-swim cards be refunded?", "Ten-swim cards cannot be refunded."),
        ("Are guests insured?", "Guests aren't insured."),
        ("Who is the chair of the club?", "Ida Holm was elected chair of the club."),
        ("Who will chair the panel?", "Ida Holm will chair the panel."),
    ],
)
def test_what_the_verb_of_the_question_says_answers(question: str, text: str) -> None:
    answer = ask(question, context([quote(text)]))
    assert answer.status == "answered"
    assert text.rstrip(".") in answer.text


def test_an_act_may_be_given_to_whom_it_is_done() -> None:
    text = "Staff should receive supervision six times each year."
    assert ask("How often should staff be supervised?", context([quote(text)])).status == "answered"
    assert ask("How often should managers be supervised?", context([quote(text)])).status != "answered"


def test_what_is_there_is_no_act() -> None:
    assert asked_act("How many instances are there in the dataset used for training?") is None


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What does the down button do?", "Press the up button.", True),
        ("What does the down button do?", "Press the up or the down button.", False),
        ("How far did sales fall?", "Sales ROSE by a tenth.", True),
        ("Wie weit sind die Preise gestiegen?", "Die Preise sind gesunken.", True),
        ("What does the button do?", "Press the up button.", False),
        ("Is it up or down?", "It is up.", False),
    ],
)
def test_opposites(question: str, text: str, expected: bool) -> None:
    assert has_opposite_word(question, text) is expected


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        ("Who is responsible for the quay?", "The county is jointly responsible for the quay, not the port.", True),
        ("Who is responsible for the quay?", "The owner, Byron Ltd, is responsible for the quay.", True),
        ("Who is responsible for the quay?", "The county is responsible for the road to the quay.", False),
        ("Who is responsible for the quay?", "The county was responsible for the quay until 2010.", False),
        ("Who is responsible for the quay?", "The county is not responsible for the quay.", False),
        ("Who is responsible for the quay?", "If the county is responsible for the quay, it must pay.", False),
        ("Who is entitled to vote?", "Members over 16 are entitled to vote.", True),
        ("Who is entitled to vote?", "Members over 16 are entitled to speak.", False),
        ("Who is entitled to vote?", "Guests are entitled to vote on the menu.", False),
        ("Who is responsible for the boats?", "The port is responsible for the boats of members.", False),
        ("Who is exempt from the dues?", "Rowers are exempt from the dues.", True),
        ("Who complained about berth 17?", "Mr Alan Brice, a rower, complained about berth 17.", True),
        ("Who opened the bridge?", "The mayor, Helen Prosser, opened the bridge.", True),
        (
            "Who opened the bridge?",
            "Ada Berg thanked the mayor, a tall woman, opened the letter and saw the bridge.",
            False,
        ),
    ],
)
def test_who_does_something_or_is_in_a_state_is_told_by_any_name(question: str, text: str, answers: bool) -> None:
    assert (ask(question, context([quote(text)])).status == "answered") == answers


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("The ferry sails at three.", True),
        ("The ferry sails at half past eight on weekdays.", True),
        ("The ferry sails at seven o'clock.", True),
        ("The ferry sails at three speeds.", False),
        ("The ferry sails at one and the same speed.", False),
    ],
)
def test_hours_may_be_words(text: str, answers: bool) -> None:
    assert (ask("When does the ferry sail?", context([quote(text)])).status == "answered") == answers
