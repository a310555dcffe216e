"""Whether what was found is about the question at all."""

import pytest
from harbour_quotes import context, image, quote

from quoteweave.core.answers import Context
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Query
from quoteweave.generation.extractive.generator import (
    NOTHING_ON_PART,
    NOTHING_SEARCHED,
    ExtractiveGenerator,
    off_topic_abstention,
)
from quoteweave.generation.extractive.topic import (
    ABSENT,
    ADJACENT,
    CHANCE,
    HELD,
    REPEATED,
    SCATTER,
    THRESHOLD,
    abstention_reasons,
    is_on_topic,
    language_difference,
    topic_evidence,
    topic_margin,
)
from quoteweave.generation.relevance import question_terms


def about(question: str, given: Context, **rarity: float) -> bool:
    return is_on_topic(question_terms(question), given.model_copy(update={"rarity": rarity}))


def test_the_margin_by_hand() -> None:
    given = context([quote("Tolland ships timber."), quote("Timber is dry.", page=1)]).model_copy(
        update={"rarity": {"timber": 0.8, "tolland": 0.5, "elsinor": 1.0, "price": 0.4}}
    )
    # "timber" and "Tolland" are held; "Elsinore" stands nowhere; "ship timber" is said as it is asked.
    found = topic_evidence(question_terms("Does Tolland ship timber to Elsinore?"), given)
    ship = 0.6  # a word whose rarity is not known, and which is held
    held = (0.8 + 0.5 + ship) / (0.8 + 0.5 + ship + 1.0)
    repeated = 0.8 / 2  # "timber" in one further quote
    assert found.present == {"tolland", "ship", "timber"}
    assert (found.missing, found.absent) == (frozenset(), frozenset({"elsinor"}))
    assert found.margin == pytest.approx(
        HELD * held - ABSENT / 4 + REPEATED * repeated + ADJACENT * 2 - CHANCE * 0.8 - THRESHOLD
    )


def test_a_rare_word_that_stands_somewhere_by_itself_is_no_sign() -> None:
    chance = context(
        [quote("The Berlin School conceived it."), *(quote(f"Dues {n}", document=f"{n}.pdf") for n in range(7))]
    )
    assert not about("When did the Berlin Wall fall?", chance, berlin=0.85, wall=0.75, fall=0.4)
    said = context(
        [quote("The wall of the mole may fall."), quote("The wall was built.", page=1), quote("A wall.", page=2)]
    )
    assert about("When did the wall fall?", said, wall=0.75, fall=0.4)


def test_among_few_words_a_word_by_itself_is_a_sign_and_another_that_is_not_there_is_none() -> None:
    given = context(["A doctor's certificate is needed."])
    asked = {"doctor": 0.8, "certif": 0.8, "send": 1.0, "anna": 1.0}
    few, many = (given.model_copy(update={"rarity": asked, "variety": share}) for share in (0.1, 1.0))
    assert is_on_topic(question_terms("When does the doctor send the certificate?"), few)
    assert not is_on_topic(question_terms("When does the doctor send the certificate?"), many)
    assert not is_on_topic(
        question_terms("When does Anna give the certificate to a doctor?"), few
    )  # a name that is not there
    unknown = given.model_copy(update={"rarity": asked})
    for question in ("When does the doctor send the certificate?", "Which doctor is it?"):
        assert topic_margin(question_terms(question), unknown) == topic_margin(question_terms(question), many)


def test_among_few_words_a_synonym_of_a_word_that_no_page_has_is_a_sign() -> None:
    given = context(["Meals are served on the balcony from noon."]).model_copy(
        update={"rarity": {"lunch": 1.0, "eat": 1.0}, "synonyms": {"lunch": ("meal",)}}
    )
    few, many = (given.model_copy(update={"variety": share}) for share in (0.1, 1.0))
    assert is_on_topic(question_terms("When is lunch?"), few)
    assert not is_on_topic(question_terms("When is lunch?"), many)
    assert not is_on_topic(question_terms("When is lunch?"), few.model_copy(update={"synonyms": {}}))


def test_among_few_words_a_frequent_one_that_no_page_has_counts_less_than_a_seldom_one() -> None:
    given = context(["A refund takes two weeks."]).model_copy(
        update={"rarity": {"refund": 0.6, "money": 1.0, "hamster": 1.0}}
    )
    money, hamster = (question_terms(f"When is the refund of {word}?") for word in ("money", "hamster"))
    few, many = (given.model_copy(update={"variety": share}) for share in (0.1, 1.0))
    assert is_on_topic(money, few)
    assert not is_on_topic(hamster, few)
    assert topic_margin(money, many) == topic_margin(hamster, many)


@pytest.mark.parametrize(("variety", "counted"), [(None, 1.0), (1.0, 1.0), (0.3, 0.3)])
def test_among_many_words_hits_from_many_documents_are_a_weaker_sign(variety: float | None, counted: float) -> None:
    one = [quote("A lynx was seen."), *(quote(f"Dues {n}", page=n) for n in range(1, 8))]
    many = [quote("A lynx was seen."), *(quote(f"Dues {n}", document=f"{n}.pdf") for n in range(1, 8))]
    margins = [
        topic_margin(
            question_terms("Where do lynx hunt?"),
            context(given).model_copy(update={"rarity": {"lynx": 0.8}, "variety": variety}),
        )
        for given in (one, many)
    ]
    assert margins[0] - margins[1] == pytest.approx(SCATTER * counted * 7 / 8)


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("What does the soup cost?", "Fish soup: 7 pounds", "Fish soup"),
        ("May I pay by cheque?", "Payment: no cheques.", "No cheques."),
        ("What happens to keys that nobody wants?", "Lost keys are sold.", "Lost coats are sold."),
    ],
)
def test_a_place_may_say_a_word_otherwise_among_many_words_but_not_its_thing(
    question: str, text: str, other: str
) -> None:
    rarity = {"soup": 0.8, "cost": 0.6, "pay": 0.6, "chequ": 0.8, "nobodi": 1.0, "key": 0.7}
    assert [about(question, context([shown]), **rarity) for shown in (text, other)] == [True, False]


def test_a_thing_that_no_page_has_is_not_taken_for_the_verb() -> None:
    given = context(["Water each lawn."]).model_copy(update={"rarity": {"water": 0.4, "fern": 1.0}, "variety": 0.1})
    assert not is_on_topic(question_terms("How often should I water a fern?"), given)


def test_among_many_words_a_frequent_verb_that_no_page_has_takes_nothing_from_what_is_held() -> None:
    rarity = {"helmet": 0.8, "wear": 1.0, "purr": 1.0}
    given = context(["A helmet is compulsory."]).model_copy(update={"rarity": rarity})
    many, few = (given.model_copy(update={"variety": share}) for share in (1.0, 0.0))
    asked = [question_terms(f"Do I have to {verb} a helmet?") for verb in ("wear", "purr")]
    assert [is_on_topic(one, many) for one in asked] == [True, False]
    assert topic_margin(asked[0], few) == topic_margin(asked[1], few)


def test_a_word_that_stands_nowhere_weighs_more_than_one_elsewhere() -> None:
    given = context(["The harbour has a mole."])
    assert about("What harbour mole is there?", given, harbour=0.4, mole=0.9)
    assert about("What harbour mole pilot is there?", given, harbour=0.4, mole=0.7, pilot=0.4)
    assert not about("What harbour mole volcano is there?", given, harbour=0.4, mole=0.7, volcano=1.0)


def test_words_that_other_quotes_of_the_document_have_too_are_a_stronger_sign() -> None:
    asked = {"lynx": 0.8, "hunt": 0.6, "night": 0.5}
    once = context([quote("A lynx was seen at noon.")])
    often = context([quote("A lynx was seen at noon."), quote("The lynx eats.", page=1), quote("Each lynx.", page=2)])
    margins = [
        topic_margin(question_terms("Do lynx hunt at night?"), given.model_copy(update={"rarity": asked}))
        for given in (once, often)
    ]
    assert margins[1] - margins[0] == pytest.approx(REPEATED * 0.8)


@pytest.mark.parametrize(
    ("question", "there"),
    [
        ("What does Figure 3 compare?", True),
        ("What does Figure 4 compare?", False),
        ("What is said on page 2?", True),
        ("What sings on page 7?", False),
    ],
)
def test_a_place_that_is_named_and_there_is_what_is_asked_about(question: str, there: bool) -> None:
    given = context([quote("Nothing.", page=1)], [image("Figure 3. Moles.", page=1)])
    assert about(question, given, compar=1.0, figur=1.0, said=1.0, sing=1.0) is there


def test_a_page_named_by_a_stop_word_is_asked_about() -> None:
    preface = quote("Moles dig.", page=2).model_copy(update={"page_label": "i"})
    assert is_on_topic(question_terms("What is on page i?"), context([preface]))


@pytest.mark.parametrize(
    ("question", "places", "is_asked"),
    [
        ("What is on the last slide?", ("page #-1",), True),
        ("What is on the last slide?", (), False),
        ("What does the last slide say of the kraken?", ("page #-1",), False),
        ("What does the last slide say of moles?", ("page #-1",), True),
    ],
)
def test_words_of_a_place_that_documents_have_need_not_stand_in_them(
    question: str, places: tuple[str, ...], is_asked: bool
) -> None:
    given = context([quote("Moles dig.", page=8)]).model_copy(update={"places": places})
    assert about(question, given, last=0.6, slide=1.0, say=0.5, kraken=1.0, mole=0.4) is is_asked


def test_words_of_a_place_that_documents_have_are_no_reason() -> None:
    given = ENGLISH.model_copy(update={"rarity": {"slide": 1.0, "kraken": 1.0}, "places": ("page #-1",)})
    answer = off_topic_abstention("Does the last slide show a kraken?", given)
    assert answer is not None
    assert answer.warnings == ("No page that was read has the word kraken.",)


@pytest.mark.parametrize("question", ["How many tables are there?", "What is the title?"])
def test_a_question_that_only_asks_is_about_the_document(question: str) -> None:
    assert about(question, context(["Dues."]))
    assert not about(question, Context())


@pytest.mark.parametrize("question", ["How many pilots are there?", "Who wrote it?", "How many figures are there?"])
def test_where_there_is_no_page_to_search_nothing_is_said_to_be_found(question: str) -> None:
    empty = Context(variety=0, rarity={"pilot": 1.0})
    answer = run_sync(ExtractiveGenerator().answer(Query(text=question), empty))
    assert (answer.status, answer.text) == ("abstained", NOTHING_SEARCHED)


def test_a_question_with_a_part_that_is_on_topic_is_on_topic() -> None:
    given = context([quote("Summer fair: 19 July, on the lawn."), quote("Byron (chair), Novak.", page=1)]).model_copy(
        update={"variety": 1.0, "rarity": {"fair": 0.9, "chair": 0.9, "committe": 0.9, "kraken": 1.0, "elsinor": 1.0}}
    )
    asked = "When is the fair? And who chairs the committee?"
    assert off_topic_abstention("When is the fair?", given) is None
    assert off_topic_abstention(asked, given) is None
    assert off_topic_abstention("Where is the kraken? And who chairs Elsinore?", given) is not None
    answer = run_sync(
        ExtractiveGenerator().answer(Query(text="When is the summer fair? And where is Elsinore?"), given)
    )
    assert answer.text.startswith("Summer fair: 19 July")
    assert "Byron" not in answer.text
    assert answer.warnings == (NOTHING_ON_PART.format("And where is Elsinore"),)
    answer = run_sync(
        ExtractiveGenerator().answer(Query(text="When is the summer fair? Write ascending integers."), given)
    )
    assert answer.warnings == (), "no question"


ENGLISH = context(
    [
        quote("Tolland Sound is the port of the county, and there are nine pilots who work in it by day and night."),
        quote("The pilots of Tolland Sound were delayed by fog.", page=1),
    ]
)


def test_the_reason_says_what_is_lacking() -> None:
    given = ENGLISH.model_copy(update={"rarity": {"kraken": 1.0, "hunt": 0.6, "pilot": 0.9}})
    answer = off_topic_abstention("Did the Kraken hunt pilots?", given)
    assert answer is not None
    assert answer.warnings == (
        "No page that was read has the word Kraken.",
        "The place that matches the question best, page 1 of harbour.pdf, has the word “pilots”, but not “hunt”.",
    )


@pytest.mark.parametrize(("rarity", "absent"), [(1.0, True), (0.5, False)])
def test_a_word_that_the_best_place_says_otherwise_is_not_said_to_stand_there(rarity: float, absent: bool) -> None:
    given = context([quote("Apologies: Dolores Reyes."), quote("The January gale.", page=1)]).model_copy(
        update={"rarity": {"absent": rarity, "januari": 0.3}, "synonyms": {"absent": ("apologies",)}, "variety": 0.1}
    )
    terms = question_terms("Who was absent in January?")
    assert topic_evidence(terms, given).present == {"absent"}
    reasons = ("No page that was read has the word absent.",) if absent else ()
    assert abstention_reasons(terms, given, terms.text) == reasons


@pytest.mark.parametrize("question", ["Where do I hand in pilots?", "Do I submit pilots?"])
def test_the_reason_has_no_word_that_was_not_asked_and_no_verb(question: str) -> None:
    given = ENGLISH.model_copy(update={"rarity": {"submit": 0.6, "pilot": 0.9, "hand": 0.9}})
    terms = question_terms("Where do I submit pilots?")
    assert abstention_reasons(terms, given, question) == ()


def test_a_question_in_another_language_is_located_by_its_names() -> None:
    absent = {"viel": 1.0, "lots": 1.0, "arbeit": 1.0, "tolland": 0.5, "sound": 0.4}
    given = ENGLISH.model_copy(update={"rarity": absent})
    answer = run_sync(ExtractiveGenerator().answer(Query(text="Wie viele Lotsen arbeiten in Tolland Sound?"), given))
    assert answer.status == "located"
    assert answer.warnings[0].startswith("The question seems to be in German, and what was found in English:")


def test_a_question_in_another_language_without_names_is_told_so() -> None:
    given = ENGLISH.model_copy(update={"rarity": {"pilot": 1.0}})
    answer = off_topic_abstention("Combien de pilotes travaillent dans le port ?", given)
    assert answer is not None
    assert answer.warnings[0] == (
        "The question seems to be in French, and what was found in English: words are matched as they are written, so "
        "ask in the language of the documents."
    )
    nothing = off_topic_abstention("Combien de pilotes travaillent dans le port ?", Context())
    assert nothing is not None
    assert nothing.warnings[0].startswith("The question seems to be in French: words are matched as they are written")


@pytest.mark.parametrize(
    ("question", "absent", "language"),
    [
        ("Was kostet die Eintrittskarte?", "kostet", "German"),
        ("Welche Batterien passen?", "welch", "German"),
        ("Quelles piles conviennent ?", "quell", "French"),
    ],
)
def test_a_short_question_is_foreign_where_no_page_has_its_question_word(
    question: str, absent: str, language: str
) -> None:
    given = ENGLISH.model_copy(update={"rarity": {absent: 1.0}})
    answer = off_topic_abstention(question, given)
    assert answer is not None
    assert answer.warnings[0].startswith(f"The question seems to be in {language}, and what was found in English:")


def test_a_foreign_word_that_pages_have_makes_no_question_foreign() -> None:
    given = ENGLISH.model_copy(update={"rarity": {"der": 0.7, "spiegel": 1.0}})
    answer = off_topic_abstention("Der Spiegel circulation", given)
    assert answer is not None
    assert answer.warnings[0] == "No page that was read has the word Spiegel."


def test_a_foreign_name_makes_no_question_foreign() -> None:
    given = ENGLISH.model_copy(update={"rarity": {"los": 1.0, "angel": 1.0}})
    answer = off_topic_abstention("Los Angeles crime rate", given)
    assert answer is not None
    assert answer.warnings[0].startswith("No page that was read has the words Los and Angeles")


def test_what_a_document_is_about_is_shown_by_its_beginning() -> None:
    given = context(
        [quote("The harbour by its figures.", page=3), quote("Tolland ships timber.", page=0), quote("Dues.", page=7)]
    ).model_copy(update={"rarity": {"document": 1.0}})
    answer = run_sync(ExtractiveGenerator().answer(Query(text="What is this document about?"), given))
    assert answer.status == "located"
    assert [citation.page for citation in answer.citations] == [0]
    two = context([quote("Tolland ships timber."), quote("Dues.", document="b.pdf")])
    asked = run_sync(ExtractiveGenerator().answer(Query(text="What is this document about?"), two))
    assert asked.status == "abstained"
    assert "Which document" in asked.text


def test_a_contact_that_is_asked_for_alone_is_told_by_its_form() -> None:
    given = context([quote("Ada Byron, Quay 4, Merrow, +41 22 555 01 77")])
    assert about("What is her telephone number?", given, telephon=1.0)
    assert not about("What is her telephone number?", context([quote("Ada Byron, Quay 4")]), telephon=1.0)
    assert not about("What is the telephone number of Toyota Denmark?", given, telephon=1.0, toyota=1.0, denmark=1.0)


def test_what_somebody_did_need_not_be_said_where_the_rest_is() -> None:
    table = quote("Player | Goals | Assists\nAda Berg | 14 | 3\nOle Krog | 12 | 9", layout="table")
    given = context([table]).model_copy(update={"rarity": {"score": 1.0, "goal": 0.5}, "variety": 0.1})
    assert is_on_topic(question_terms("Who scored the most goals?"), given)
    none = given.model_copy(update={"rarity": {"score": 1.0, "save": 1.0}})
    assert not is_on_topic(question_terms("Who scored the most saves?"), none)


def test_all_words_of_a_question_in_one_place_are_no_chance() -> None:
    rare = {"approv": 0.7, "flight": 0.61}
    others = [quote(f"Rules {n}", document=f"{n}.pdf") for n in range(7)]
    both = context([quote("Flight: approval by the director."), *others])
    apart = context([quote("Flights are long."), quote("Approval is given.", document="b.md"), *others])
    assert about("Who has to approve a flight?", both, **rare)
    assert not about("Who has to approve a flight?", apart, **rare)


def test_a_question_is_in_the_language_of_the_documents_where_one_of_those_found_is_in_it() -> None:
    french = quote("La roue du moulin est réparée dans la salle, et les dépenses sont au compte de la commune.")
    spanish = quote("Las patatas se cortan en la cocina, y los huevos se mezclan con ellas.", document="tortilla.md")
    others = [french, quote("Le meunier est avec les enfants du village.", document="moulin.md")]
    question = "¿Cómo se cortan las patatas?"
    assert language_difference(question, context(others)) is not None
    assert language_difference(question, context([*others, spanish])) is None


@pytest.mark.parametrize(
    ("question", "texts", "found"),
    [
        ("Which mills opened after 1900?", ["The Alder mill opened in 1912."], True),
        ("Which mills opened before the end of 1950?", ["The Alder mill opened in 1912."], True),
        ("Which mills opened in 1900?", ["The mill is of brick."], False),
        ("How long is pier D?", ["Pier A is 70 metres long and pier B 90."], True),
        ("How wide is gate 9?", ["Gate 1 is 3 metres wide."], True),
        ("How long is pier D?", ["The pier has a lamp."], False),
    ],
)
def test_a_bound_or_a_label_of_another_need_not_be_there(question: str, texts: list[str], found: bool) -> None:
    given = context([quote(text, page=at) for at, text in enumerate(texts)]).model_copy(update={"variety": 0.1})
    absent = {"1900": 1.0, "1950": 1.0, "d": 1.0, "9": 1.0, "open": 0.8, "mill": 0.8, "pier": 0.8, "gate": 0.8}
    assert about(question, given, **absent) == found


def test_a_name_that_the_document_has_as_one_word_is_there() -> None:
    given = context(
        [quote("We own our headquarters in Osk.", document=name) for name in ("TALLSHOP_2023.pdf", "other.pdf")]
    )
    known = {"tall": 0.3, "shop": 0.3, "headquart": 0.9}
    evidence = topic_evidence(
        question_terms("Where is Tall Shop headquartered?"), given.model_copy(update={"rarity": known})
    )
    assert {"tall", "shop"} <= evidence.present
