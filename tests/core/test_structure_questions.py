"""What a question asks of a document's structure, and which questions ask for something else."""

import importlib.util
import re
import time

import pytest

from quoteweave.core.place_names import PlaceName
from quoteweave.core.text.whole_document import structure_questions
from quoteweave.core.text.whole_document.structure_questions import read_structure_request, states_number


@pytest.mark.parametrize(
    ("question", "kinds", "wants"),
    [
        ("How many figures are available in the entire document?", ("figure",), "count"),
        ("how many pages", ("page",), "count"),
        ("How many tables are there in these slides?", ("table",), "count"),
        ("What are the captions of all figures and tables?", ("figure", "table"), "names"),
        ("Which chapters does the report contain?", ("chapter",), "names"),
        ("List all headings.", ("heading",), "names"),
        ("Wie viele Abbildungen hat das Dokument?", ("figure",), "count"),
        ("Wie viele Tabellen sind abgebildet?", ("table",), "count"),
        ("Combien de figures y a-t-il dans ce rapport?", ("figure",), "count"),
        ("Combien d'annexes existent ?", ("appendix",), "count"),
        ("¿Cuántos gráficos están disponibles?", ("chart",), "count"),
        ("¿Qué capítulos contiene el documento?", ("chapter",), "names"),
        ("How many appendices are included?", ("appendix",), "count"),
        ("Which tables are shown?", ("table",), "names"),
        ("What are the main chapters of the report?", ("chapter",), "names"),
        ("What are the sections called?", ("section",), "names"),
        ("Does the report have an appendix?", ("appendix",), "names"),
        ("Is there an appendix?", ("appendix",), "names"),
    ],
)
def test_parts_are_counted_or_named(question: str, kinds: tuple[str, ...], wants: str) -> None:
    request = read_structure_request(question)
    assert request is not None
    assert (request.kinds, request.wants, request.places, request.naming_words) == (kinds, wants, (), ())


def test_a_request_may_name_pages_sections_and_the_document() -> None:
    pages = read_structure_request("How many charts are on pages 2 to 4?")
    assert pages is not None
    assert pages.places == tuple(PlaceName("page", each) for each in "234")
    headings = read_structure_request("List the headings of chapter 3")
    assert headings is not None
    assert (headings.kinds, headings.places) == (("heading",), (PlaceName("chapter", "3"),))
    within = read_structure_request("How many tables are in the appendices?")
    assert within is not None
    assert (within.kinds, within.places) == (("table",), (PlaceName("appendix"),))
    named = read_structure_request("How many tables does the harbour report have?")
    assert named is not None
    assert named.naming_words == ("harbour",)


@pytest.mark.parametrize(
    "question",
    [
        "What is the caption of Figure 3?",
        "Who has tables?",
        "How many slides have charts?",
        "How many people were asked?",
        "What does the table show for 2015?",
        "How many documents have tables?",
        "How many people drew charts?",
        "How many plots are available?",  # of land, of novels
        "How many rooms exist?",
        "Which figures are given for 2015?",
        "What is displayed in the photographs?",
        "What is shown in the figures?",
    ],
)
def test_other_questions_are_none(question: str) -> None:
    assert read_structure_request(question) is None


def test_what_has_to_be_looked_at_names_no_document() -> None:
    request = read_structure_request("How many charts compare Europe with Asia?")
    assert request is not None
    assert set(request.naming_words) >= {"europ", "asia"}


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("How many figures are in this document?", True),
        ("How many tables are there in these slides?", True),
        ("How many charts are on page 2?", True),
        ("Wie viele Tabellen enthält der Bericht?", True),
        ("How many tables are there in total?", False),
        ("How many slides are available?", False),
        ("how many chapters", False),
    ],
)
def test_whether_a_question_says_that_it_is_about_the_document(question: str, says: bool) -> None:
    request = read_structure_request(question)
    assert request is not None
    assert (request.says_document, request.naming_words) == (says, ())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("There are 12 tables in total.", True),
        ("forty-two new garden tables", True),
        ("Dozens of tables are left.", True),
        ("Tables: 12", True),
        ("| Tables | 1,200 |", True),
        ("Es gibt zwölf Tabellen.", True),
        ("See the tables.", False),
        ("The 2019 tables are out.", False),
        ("10 List of tables", False),
        ("12 chairs. Tables were sold.", False),
        ("12 tablets", False),
    ],
)
def test_texts_that_say_a_number_of_tables(text: str, says: bool) -> None:
    assert states_number(text, ["table"]) is says


@pytest.mark.parametrize("run", ["1,", "1.", "a-", "a ", "1 a "])
def test_a_long_run_of_numbers_or_words_is_read_in_no_time(run: str) -> None:
    start = time.perf_counter()
    assert not states_number(run * 20_000, ["table", "figure"])
    assert time.perf_counter() - start < 15


def test_long_patterns_are_compiled_only_where_a_text_is_searched_for_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("structure_questions_anew", structure_questions.__file__)
    assert spec is not None
    assert spec.loader is not None
    anew = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(anew)
    compiled: list[str] = []
    real = re.compile

    def noted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return real(pattern, flags)

    monkeypatch.setattr(re, "compile", noted)
    assert anew.read_structure_request("Who counted the grain that was shipped in May?") is None
    assert max(map(len, compiled), default=0) < 5_000
    assert anew.states_number("It has 12 tables.", ["table"])
    assert max(map(len, compiled)) > 5_000


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("What is the title of slide 4?", PlaceName("page", "4")),
        ("What is the heading of the last page?", PlaceName("page", "", page=-1)),
        ("Wie lautet der Titel von Folie 4?", PlaceName("page", "4")),
        ("Quel est le titre de la diapositive 4 ?", PlaceName("page", "4")),
    ],
)
def test_the_title_of_a_page_is_its_heading(question: str, page: PlaceName) -> None:
    asked = read_structure_request(question)
    assert asked is not None
    assert (asked.kinds, asked.wants, asked.places) == (("heading",), "names", (page,))


@pytest.mark.parametrize(
    "question",
    [
        "What is the title of the table on page 3?",
        "What is the title of the book on page 7?",
        "What is the title of Moss on page 2?",
    ],
)
def test_the_title_of_what_stands_on_a_page_is_another(question: str) -> None:
    assert read_structure_request(question) is None


@pytest.mark.parametrize(
    ("question", "kind", "part"),
    [
        ("What is chapter 2 called?", "chapter", PlaceName("chapter", "2")),
        ("What is the last chapter?", "chapter", PlaceName("chapter", "last")),
        ("On what page does section 4 begin?", "section", PlaceName("section", "4")),
        ("Wie heißt Kapitel 3?", "chapter", PlaceName("chapter", "3")),
        ("Quel est le dernier chapitre ?", "chapter", PlaceName("chapter", "last")),
        ("¿Cómo se llama el capítulo 3?", "chapter", PlaceName("chapter", "3")),
        ("Where does the appendix start?", "appendix", PlaceName("appendix")),
        ("Show me the table of contents", "chapter", PlaceName("contents")),
        ("What comes after chapter 4?", "chapter", PlaceName("chapter", "5")),
        ("Which section comes before section 4?", "section", PlaceName("section", "3")),
        ("Was kommt nach Kapitel 3?", "chapter", PlaceName("chapter", "4")),
        ("Quel chapitre suit le chapitre 3 ?", "chapter", PlaceName("chapter", "4")),
        ("What page does chapter 3 start on?", "chapter", PlaceName("chapter", "3")),
    ],
)
def test_the_heading_of_one_part_is_asked_for(question: str, kind: str, part: PlaceName) -> None:
    asked = read_structure_request(question)
    assert asked is not None
    wants = "names" if part.kind == "contents" else "title"
    assert (asked.kinds, asked.wants, asked.places) == ((kind,), wants, (part,))


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("On what page does the changelog begin?", ("changelog",)),
        ("On which page does the chapter Ship Dues start?", ("ship", "due")),
        ("Auf welcher Seite beginnt der Abschnitt Preise?", ("preis",)),
        ("Where does the race begin?", None),
        ("On what page does it begin?", None),
    ],
)
def test_a_heading_is_asked_for_by_its_words(question: str, heading: tuple[str, ...] | None) -> None:
    asked = read_structure_request(question)
    assert (asked.heading_words if asked else None) == heading


@pytest.mark.parametrize("question", ["List the sections of section 3", "Which subsections does section 3 have?"])
def test_sections_within_a_section_are_listed(question: str) -> None:
    asked = read_structure_request(question)
    assert asked is not None
    assert (asked.kinds, asked.wants, asked.places) == (("section",), "names", (PlaceName("section", "3"),))


@pytest.mark.parametrize(
    "question",
    [
        "What does chapter 3 cover?",
        "What is the fee in chapter 3?",
        "Where in section 2 are the tolls listed?",
        "On what page does chapter 3 begin to speak of cranes?",
        "Which ship is called Chapter 3 Moss?",
        "What is in the table of contents about cranes?",
        "What does the appendix say?",
        "Does the appendix have tables?",
        "Does the appendix have a title?",
        "Who is named in chapter 2?",
        "What is named in section 2?",
        "Who named chapter 2?",
        "How does chapter 2 begin?",
        "What does chapter 2 start with?",
        "When does chapter 2 start?",
        "What happens after chapter 2?",
        "What follows from chapter 2?",
        "What comes before chapter 1?",
        "Why is chapter 2 called so?",
        "Warum heißt Kapitel 2 so?",
        "Is there a table of contents?",
        "Where is the table of contents?",
        "On what page is the table of contents?",
        "What are the main chapters about?",
    ],
)
def test_what_stands_in_a_part_is_not_its_heading(question: str) -> None:
    asked = read_structure_request(question)
    assert asked is None or asked.kinds == ("table",)
