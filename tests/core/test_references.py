import copy
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.place_names import PlaceName
from quoteweave.core.text.references.mentions import (
    caption_label,
    heading_names,
    labels_asked_for,
    labels_in,
    page_names,
    places_in,
)
from quoteweave.core.text.references.reference_words import reference_words


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("What does Figure 3 show?", ["figure 3"]),
        ("Fig. 3: Sales", ["figure 3"]),
        ("fig.3", ["figure 3"]),
        ("FIGS. 3a", ["figure 3"]),
        ("Figure\u00a012.1.", ["figure 12.1"]),
        ("Table II", ["table 2"]),
        ("table xiv", ["table 14"]),
        ("Chart 4, then Graph 4", ["figure 4"]),
        ("Table 4 and Figure 4", ["table 4", "figure 4"]),
        ("Figures 3 and 4; Tables 2, 3 & 5", ["figure 3", "figure 4", "table 2", "table 3", "table 5"]),
        ("Tab. 1", ["table 1"]),
        ("Boxes 2 and 3", ["box 2", "box 3"]),
        ("Fig.2, Table1, Table.III", ["figure 2", "table 1", "table 3"]),
        ("Table S1, Figure A.2, Figure B-3", ["table s1", "figure a.2", "figure b-3"]),
        ("Exhibit C shows", ["figure c"]),
        ("Algorithm 1", ["algorithm 1"]),
        ("Abb. 3 und 4; Tabelle II", ["figure 3", "figure 4", "table 2"]),
        ("Gráfico 2 y 3, cuadro 1", ["figure 2", "figure 3", "table 1"]),
        ("如图3-1和表2所示", ["figure 3-1", "table 2"]),
    ],
)
def test_labels(text: str, labels: list[str]) -> None:
    assert list(map(str, labels_in(text))) == labels


@pytest.mark.parametrize(
    "text",
    [
        "",
        "figure",
        "the figures of 2019",
        "configure 3",
        "tablet 3",
        "代表3人",
        "il tableau l'indique",
        "Combien de tableaux",
        "la figura i dati",
        "a table a page long",
        "exhibit a strong growth",
        "figure ill drawn",
        "Table IIX",
        "table ı",  # Turkish: `I` without regard to case, and no Roman numeral
        "table İ",
    ],
)
def test_what_is_no_label(text: str) -> None:
    assert labels_in(text) == []


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Figure 3: The quay", "figure 3"),
        ("  Fig. 3a. The quay", "figure 3"),
        ("TABLE IV Tonnes by month", "table 4"),
        ("Table 2", "table 2"),
        ("Chart 4 – Tonnes", "figure 4"),
        ("Figure 3 “The quay”", "figure 3"),
        ("Algorithm 1 (dredging)", "algorithm 1"),
        ("Abb. 3 Übersicht", "figure 3"),
        ("Tabelle 2: Tonnen", "table 2"),
        ("Tableau 5 : Évolution", "table 5"),
        ("Cuadro 1. Toneladas", "table 1"),
        ("Gráfico 2 Évora", "figure 2"),
        ("图 3-1 码头", "figure 3-1"),
        ("表2：吨数", "table 2"),
        ("図3．埠頭", "figure 3"),
        ("Table 1 shows the tonnes", None),
        ("Figures 3 and 4 show the quay", None),
        ("Abbildung 3 zeigt den Kai", None),
        ("La figura 3", None),
        ("图3所示", None),
        ("The quay (Figure 3)", None),
        ("Table of contents", None),
        ("", None),
    ],
)
def test_captions_begin_with_their_label(text: str, label: str | None) -> None:
    assert caption_label(text) == (label and PlaceName.parse(label))


@pytest.mark.parametrize(
    ("numeral", "number"),
    [
        ("I", 1),
        ("III", 3),
        ("IV", 4),
        ("VI", 6),
        ("IX", 9),
        ("XIX", 19),
        ("XL", 40),
        ("XLIX", 49),
        ("LXXXVIII", 88),
        ("XC", 90),
        ("CXXXV", 135),
    ],
)
def test_roman_numerals(numeral: str, number: int) -> None:
    assert labels_in(f"Plate {numeral}") == labels_in(f"Figure {numeral.lower()}") == [PlaceName("figure", str(number))]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("on page 12", ["page 12"]),
        ("pages 3-5", ["page 3", "page 4", "page 5"]),
        ("pp. 3–5", ["page 3", "page 4", "page 5"]),
        ("from Page 3 to Page 5", ["page 3", "page 4", "page 5"]),
        ("pages 3 to 400", ["page 3", "page 400"]),
        ("pages 9 to 3", ["page 9", "page 3"]),
        ("p. 7 and slide 7", ["page 7"]),
        ("Page number 4", ["page 4"]),
        ("pages 3 and 9", ["page 3", "page 9"]),
        ("slides 3, 4 and 6", ["page 3", "page 4", "page 6"]),
        ("on page three and four", ["page 3", "page 4"]),
        ("in the preface, page iv", ["page iv"]),
        ("on page xciv, la page ci-contre", ["page xciv"]),
        ("the second page", ["page #2"]),
        ("the 2nd slide", ["page #2"]),
        ("the last page", ["page #-1"]),
        ("the second to last page", ["page #-2"]),
        ("the second-to-last page", ["page #-2"]),
        ("the penultimate page", ["page #-2"]),
        ("the first two pages", ["page #1", "page #2"]),
        ("the last 2 slides", ["page #-1", "page #-2"]),
        ("the first 99999 pages of 5", []),
        ("What color is the car on the cover?", ["page #1"]),
        ("What does the warranty cover?", []),
        ("Which contents does the box have, and who references the treaty?", []),
        ("Which references are in the references?", ["references"]),
        ("Which page I should read is the part I need", []),
        ("What does Part I say?", ["part 1"]),
        ("Where does part I end, and Part I begin?", ["part 1 #-1", "part 1 #1", "part 1"]),
        ("In the part I mean", []),
        ("part I, part II", ["part 1", "part 2"]),
        ("auf der 5. Seite", ["page #5"]),
        ("It is 5. Page through it", []),
        ("no último dia 12 de maio", []),
        ("UNİT 14, artıcle 5, BİBLİOGRAPHY", ["unit 14", "article 5", "references"]),
        ("on the back cover", ["page #-1"]),
        ("in the table of contents", ["contents"]),
        ("what is said in chapter 3 and Section 4.2", ["chapter 3", "section 4.2"]),
        ("chapter IV", ["chapter 4"]),
        ("Appendix A", ["appendix a", "appendix"]),
        ("the topic of UNIT 14", ["unit 14"]),
        ("Was steht auf Seite drei?", ["page 3"]),
        ("auf der letzten Seite, im Inhaltsverzeichnis", ["page #-1", "contents"]),
        ("à la deuxième page", ["page #2"]),
        ("en la última página", ["page #-1"]),
        ("第12页", ["page 12"]),
        ("最后一页和封面", ["page #-1", "page #1"]),
        ("the first and last pages", ["page #1", "page #-1"]),
        ("the second, third and 5th slides", ["page #2", "page #3", "page #5"]),
        ("third slide from the end", ["page #-3"]),
        ("the twenty-first page", ["page #21"]),
        ("the two last slides, the final 3 pages", ["page #-1", "page #-2", "page #-3"]),
        ("les trois premières pages", ["page #1", "page #2", "page #3"]),
        ("l'avant-dernière page", ["page #-2"]),
        ("vorletzte Seite", ["page #-2"]),
        ("on page F-12 and page IV", ["page f-12", "page iv"]),
        ("chapter three, Section two", ["chapter 3", "section 2"]),
        ("the third chapter", ["chapter 3"]),
        ("im dritten Kapitel", ["chapter 3"]),
        ("el capítulo tres, el segundo capítulo", ["chapter 3", "chapter 2"]),
        ("第三章 第2节", ["chapter 3", "section 2"]),
        ("the last chapter", ["chapter last"]),
        ("What is in chapter I of the book, and in section I?", ["chapter 1", "section 1"]),
        ("el capítulo I del libro, la parte I del informe", ["chapter 1", "parte 1"]),
        ("le chapitre I du livre, la partie I traite", ["chapter 1", "partie 1"]),
        ("the part I am in, the section I read", []),
        (
            "chapters i to iii, sections i, ii and iv",
            ["chapter 1", "chapter 2", "chapter 3", "section 1", "section 2", "section 4"],
        ),
        ("pages iv–vi, pages VIII to X", ["page iv", "page v", "page vi", "page viii", "page ix", "page x"]),
        ("chapters 3 and i think so, pages II and I think", ["page ii", "chapter 3"]),
        ("the second part of it, part v says, im zweiten Teil der Vorlesung", ["part 5", "part 2", "teil 2"]),
        ("les chapitres 2 et l'annexe, chapters 3 and i'm sure", ["chapter 2", "chapter 3", "appendix"]),
        ("pages 3, 4 and X-rays", ["page 3", "page 4"]),
        ("the third part of the annual report, der dritte Teil des Buches", ["part 3", "teil 3"]),
        ("im 3. Abschnitt, auf der 2. Seite", ["page #2", "section 3"]),
        ("the second to last chapter", []),
        ("the second last chapter", []),
        ("the second last page, the third to last slide", ["page #-2", "page #-3"]),
        ("Which is the next step once the pump has started?", []),
        ("When is the lesson due?", []),
        ("a 30 second session on a 10 second slide", []),
        ("In which part one finds it", []),
        ("What happens to the page once it is loaded, and is page 3 or once more read?", ["page 3"]),
        ("el capítulo once, la página once", ["page 11", "chapter 11"]),
        ("capitolo due, l'article deux, het artikel twee", ["chapter 2", "article 2", "artikel 2"]),
        ("el primer capítulo y el tercer apartado", ["chapter 1", "section 3"]),
        ("the primer section", []),
        ("the first page of chapter 2", ["chapter 2 #1", "chapter 2"]),
        ("the last page of the appendix", ["appendix #-1", "appendix"]),
        ("附录里写了什么？", ["appendix"]),
        ("付録には何がありますか", ["appendix"]),
        ("On what page does the first part end?", ["part 1 #-1", "part 1"]),
        ("Where does chapter three begin?", ["chapter 3 #1", "chapter 3"]),
        ("Wo endet Kapitel 3?", ["chapter 3 #-1", "chapter 3"]),
        ("What is chapter 6 about?", ["chapter 6 #1", "chapter 6"]),
        ("What does the report say about chapter 3?", ["chapter 3"]),
        ("the paragraph about Appendix A", ["appendix a", "appendix"]),
        ("the end of the contents", []),
        ("the first page of the table of contents", ["contents #1", "contents"]),
        ("the first two pages of chapter 3", ["chapter 3 #1", "chapter 3 #2", "chapter 3"]),
        ("the last two pages of part two", ["part 2 #-1", "part 2 #-2", "part 2"]),
        ("the second and third pages of chapter 4", ["chapter 4 #2", "chapter 4 #3", "chapter 4"]),
        ("page 2 of chapter 3", ["chapter 3 #2", "chapter 3"]),
        ("on page 2 in chapter 3", ["page 2", "chapter 3"]),
        ("page 3 of 20, pagina 3 of 4", ["page 3", "page 4"]),
        ("the last page but two, the final page but one", ["page #-3", "page #-2"]),
        ("the last chapter but one, the third chapter from the end", []),
        ("the first page of the last chapter but one", []),
        ("chapters 5 to 7", ["chapter 5", "chapter 6", "chapter 7"]),
        ("sections 2.1 to 2.3 and 4", ["section 2.1", "section 2.2", "section 2.3", "section 4"]),
        ("Kapitel 5-7", ["chapter 5", "chapter 6", "chapter 7"]),
        ("chapters 3 and I think", ["chapter 3"]),
        ("Items 7, 7A and 8", ["item 7", "item 7a", "item 8"]),
        ("Item 1A, steps 1 to 3", ["step 1", "step 2", "step 3", "item 1a"]),
        ("the first steps", []),
        ("Appendices A to C", ["appendix a", "appendix", "appendix b", "appendix c"]),
        ("12 pages", []),
        ("homepage 3", []),
        ("in six pages a day", []),
        ("Parts I and II", ["part 1", "part 2"]),
        ("chapters V to IX", [f"chapter {n}" for n in range(5, 10)]),
        ("chapters 3 and I and my cat", ["chapter 3"]),
        ("la tercera parte de la población, a quarta parte dos navios, la terza parte dell'acqua", []),
        ("la troisième partie au contrat, um quarto parte", []),
        ("in parte i costi, in parte li vende, en partie l'effet", []),
        ("la segunda parte del libro, la terza parte dell'opera", ["parte 2", "parte 3"]),
        ("Em que parte dos navios?", []),
        ("la parte dos del libro, parte i del testo", ["parte 2", "parte 1"]),
        ("la deuxième partie de ce rapport, partie 3, parte IV", ["partie 3", "parte 4", "partie 2"]),
        ("What are the last two slides of part 2 about?", ["part 2 #-1", "part 2 #-2", "part 2"]),
        ("What is page 5 of chapter 2 about?", ["chapter 2 #5", "chapter 2"]),
        ("chapters 1 to " + "1" * 5000, ["chapter 1"]),
        ("Table 3, chapter " + "1" * 5000, []),
    ],
)
def test_places(text: str, places: list[str]) -> None:
    assert list(map(str, places_in(text))) == places


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("3.2 Results", ["section 3.2", "section 3", "chapter 3"]),
        ("2 Methods", ["section 2", "chapter 2"]),
        ("IV. Methods", ["section 4", "chapter 4"]),
        ("CXXXV. THE CHASE", ["section 135", "chapter 135"]),
        ("CHAPTER XCIX", ["chapter 99"]),
        ("Appendix C", ["appendix c", "appendix"]),
        ("Annexe ci-dessous", []),
        ("Chapter 3: Results", ["chapter 3"]),
        ("CHAPTER THREE: Results", ["chapter 3"]),
        ("Chapter Twenty-One", ["chapter 21"]),
        ("Third Chapter", ["chapter 3"]),
        ("Erster Teil: Der Hafen", ["teil 1"]),
        ("第三章 港口", ["chapter 3"]),
        ("A.1 Prompts", ["section a.1", "section a", "appendix a"]),
        ("Appendix B. Tables", ["appendix b", "appendix"]),
        ("Appendix: Technical data", ["appendix"]),
        ("Anhang – Tabellen", ["appendix"]),
        ("Annexe : tableaux", ["appendix"]),
        ("Annex-wide rules", []),
        ("附录A 数据", ["appendix"]),
        ("付録", ["appendix"]),
        ("Inhalt", ["contents"]),
        ("Inhoud", ["contents"]),
        ("Note 7 - Leases", ["note 7"]),
        ("Table of Contents", ["contents"]),
        ("7. References", ["section 7", "chapter 7", "references"]),
        ("Appendix", ["appendix"]),
        ("Chapter Thirty", ["chapter 30"]),
        ("Thirty Years of the Harbour", []),
        ("Seize the Day", []),
        ("2015 results", []),
        ("I am here", []),
        ("10-K", []),
        ("LL. B. degree", []),
        ("UNİT 3", ["unit 3"]),
        ("Contents", ["contents"]),
        ("PART II Item 8", ["part 2", "item 8"]),
        ("PART II, Item 8. Statements", ["part 2", "item 8"]),
        ("Item 1A. Risk Factors", ["item 1a"]),
        ("ITEM 15(a)", ["item 15"]),
        ("Chapter One Hundred Years of War", ["chapter ?"]),
        ("Part Two Hundred Men", ["part ?"]),
        ("Chapter Twenty One Pilots", ["chapter ?"]),
        ("Chapter Twenty-One Pilots", ["chapter 21"]),
        ("Chapter Twenty One: Pilots", ["chapter 21"]),
        ("Preface", ["chapter ?"]),
        ("2. Phase transitions of water", ["section 2", "chapter 2"]),
        ("Second part of the voyage", ["part 2"]),
        ("Zweiter Teil der Vorlesung", ["teil 2"]),
        ("7. Acknowledgements", ["section 7", "chapter 7"]),
        ("1" + ".1" * 9 + " x", []),
        ("", []),
    ],
)
def test_names_of_headings(heading: str, names: list[str]) -> None:
    assert list(map(str, heading_names(heading))) == names


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("What does figure two show?", ["figure 2"]),
        ("What is in Table three?", ["table 3"]),
        ("Compare Figure 1 with Figure two.", ["figure 1", "figure 2"]),
        ("In the chart two lines cross", []),
        ("What does the figure one sees show?", []),
        ("When is the table due?", []),
        ("tabla once, figura due, figura dois", ["table 11", "figure 2"]),
        ("two figures", []),
        ("What does figure twenty-two show?", ["figure 22"]),
    ],
)
def test_questions_write_the_numbers_of_labels_as_words_too(question: str, labels: list[str]) -> None:
    assert list(map(str, labels_asked_for(question))) == labels


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("page twenty one", ["page 21"]),
        ("slide one hundred and two, page a hundred", ["page 102", "page 100"]),
        ("pages twenty-one and thirty two", ["page 21", "page 32"]),
        ("the twenty first page, the one hundred and second page", ["page #21", "page #102"]),
        ("chapter forty", ["chapter 40"]),
        ("Seite dreizehn, Seite einundzwanzig, die dreizehnte Seite", ["page 13", "page 21", "page #13"]),
        ("página veinte, la página treinta y dos", ["page 20", "page 32"]),
        ("la vigésima primera página, a décima primeira página", ["page #21", "page #11"]),
        ("page soixante-douze, la vingt et unième page", ["page 72", "page #21"]),
        ("pagina ventuno, la ventesima pagina", ["page 21", "page #20"]),
        ("bladzijde tweeëntwintig, de dertiende bladzijde", ["page 22", "page #13"]),
        ("第二十一页和第一百零二页", ["page 21", "page 102"]),
        ("page one million, page twenty thirty", []),
        ("pages ten-twelve, pages nineteen - twenty-one", [f"page {n}" for n in (10, 11, 12, 19, 20, 21)]),
        ("Seiten drei - fünf, pages dix-sept-dix-huit", ["page 3", "page 4", "page 5", "page 17", "page 18"]),
        ("page two ten rows, page three two charts, page four twenty men", ["page 2", "page 3", "page 4"]),
        ("chapter five six methods, page three two million people", ["page 3", "chapter 5"]),
        ("page deux cent", []),
        ("the hundred and first page, the hundred and twentieth page", ["page #101", "page #120"]),
        ("página treinta y una, página vinte e uma", ["page 31", "page 21"]),
        ("page vingt et une, page trente et une", ["page 21", "page 31"]),
        ("page twenty\u2011one, page thirty\u2013one, page twenty\u2010two", ["page 21", "page 31", "page 22"]),
        ("pages twenty\u2013twenty-two", ["page 20", "page 21", "page 22"]),
        ("第廿一页, 第１２页", ["page 21", "page 12"]),
        ("section two point one, page one-half, page seven-eighths", []),
        ("On page twenty one finds the map", []),
        ("the two hundredth page, la centésima primera página", ["page #200", "page #101"]),
        ("la centesima prima pagina, die hundert und erste Seite", []),
        ("the two thousand and first page, la cent deuxième page, page a thousand and one", []),
        ("What does page twenty one say?", ["page 21"]),
        ("第一二页", []),
        ("a thirty second lesson", []),
        ("the first three pages", ["page #1", "page #2", "page #3"]),
        ("la page numéro deux, Seite Nummer drei", ["page 2", "page 3"]),
    ],
)
def test_a_number_in_words_is_read_whole_or_not_at_all(text: str, places: list[str]) -> None:
    assert list(map(str, places_in(text))) == places


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("the first and second-last pages", ["page #1", "page #-2"]),
        ("the second and third to last pages", ["page #-2", "page #-3"]),
        ("the next-to-last page", ["page #-2"]),
        ("What is on the slide before the last?", ["page #-2"]),
        ("the page before the last page.", ["page #-2"]),
        ("the page before the last update", []),
        ("drittletzte Seite, op een na laatste bladzijde", ["page #-3", "page #-2"]),
        ("倒数第二页", ["page #-2"]),
        ("渔民在哪一页？", []),
        ("这一页", []),
        ("第一页", ["page 1"]),
        ("最后一章", ["chapter last"]),
        ("最後の章", ["chapter last"]),
        ("Où finit la deuxième partie ?", ["partie 2 #-1", "partie 2"]),
        ("la primera parte", ["parte 1"]),
        ("het tweede deel", ["deel 2"]),
        ("最后一张幻灯片", ["page #-1"]),
        ("最后两页", ["page #-1", "page #-2"]),
        ("前三页", ["page #1", "page #2", "page #3"]),
        ("2枚目のスライド、最後から2ページ", ["page 2", "page #-2"]),
        ("Wat staat er op dia 3 en op de laatste dia?", ["page 3", "page #-1"]),
        ("no dia 3 de maio", []),
        ("la page de garde", ["page #1"]),
        ("¿Qué hay en el índice?", ["contents"]),
        ("Was steht in § 5 und §7?", ["section 5", "section 7"]),
        ("el índice de precios", []),
    ],
)
def test_pages_from_the_end_and_words_of_other_languages(text: str, places: list[str]) -> None:
    assert list(map(str, places_in(text))) == places


def test_a_page_is_called_by_its_label_and_by_its_place_from_both_ends() -> None:
    assert list(map(str, page_names("IV", 3, 10))) == ["page iv", "page #4", "page #-7"]
    assert list(map(str, page_names("#5", 3, None))) == ["page 5", "page #4"]


pieces = st.sampled_from(
    [
        "Figure",
        "table",
        "Fig.",
        "pp.",
        "page",
        "last",
        "Unit",
        "section",
        "bibliography",
        "chapter",
        "页",
        " ",
        "3",
        ".",
        "-",
        "to",
        ",",
        "I",
        "x",
        "İ",
        "ı",
        "٣",
        "three",
        "first",
        "of",
        "ends",
    ]
)


@given(st.text() | st.lists(pieces, max_size=12).map("".join))
def test_any_text_can_be_read(text: str) -> None:
    for label in labels_in(text):
        assert label.kind in {"figure", "table", "box", "algorithm"}
        assert label.number
    for place in [*places_in(text), *heading_names(text)]:
        assert str(place) == str(place).casefold()
        assert PlaceName.parse(str(place)) == place
        assert len(places_in(text)) < 60 * len(text) + 1


@pytest.mark.parametrize(
    "text",
    [
        " " * 100_000,
        "first " * 20_000,
        "page 1, " * 20_000,
        "last page " * 20_000,
        "第 " * 50_000,
        "1" * 100_000,
        "first, " * 20_000,
        "ends chapter " * 9_000,
        "twenty thirty " * 9_000,
        "二" * 100_000,
        "chapters " + "1-" * 5_000,
        "chapters " + "I-" * 5_000,
        "pages A-1, " + "A-1-" * 5_000 + "x_",
    ],
)
def test_long_texts_are_read_in_one_go(text: str) -> None:
    assert len(places_in(text)) <= 1


@pytest.mark.parametrize(
    ("text", "name"),
    [("What is in ſection 3?", "section 3"), ("What is on SLİDE 3?", "page 3"), ("fıgure two", "figure 2")],
)
def test_letters_that_are_alike_without_case_are_read_alike(text: str, name: str) -> None:
    assert list(map(str, [*places_in(text), *labels_asked_for(text)])) == [name]
    assert heading_names("SECTİON two million") == [PlaceName("section", "?")]


REFERRING = (
    *("A1", "i", "Table", "ps", "ab", "ſection", "SLİDE", "fıgure"),
    *("page", "Page", "PAGES", "slides", "Seite", "第12页", "chapter", "Chapter 2", "appendix", "§5", "figure"),
    *("table of contents", "3", "7", "iv", "two", "of", "the", "last", "ends", "and", "grain"),
)


@given(st.lists(st.tuples(st.sampled_from(REFERRING), st.sampled_from(("", " ", " ", "-", ".", "\u00a0"))), max_size=8))
def test_a_pattern_finds_the_same_before_and_after_it_is_compiled(words: list[tuple[str, str]]) -> None:
    text = "".join(chain.from_iterable(words))
    for name, pattern in reference_words().patterns.items():
        fresh = copy.copy(pattern)
        fresh.__dict__.pop("compiled", None)
        found = [match.group() for match in fresh.finditer(text)]
        assert fresh.compiled
        assert found == [match.group() for match in fresh.finditer(text)], name
