"""Clusters of ink become figures."""

from dataclasses import replace

from made_pages import A4, line, paragraph, prose

from quoteweave.core.boxes import Box
from quoteweave.documents.layout.figures import Figure, find_figures
from quoteweave.documents.sources.lines import Line

SLIDE = (960.0, 540.0)


def figures(clusters: list[Box], lines: list[Line], page: tuple[float, float] = A4) -> list[Figure]:
    return sorted(find_figures(clusters, lines, page), key=lambda figure: figure.box)


def test_labels_close_to_a_drawing_are_part_of_it() -> None:
    labels = [line("Tonnes", 100, 88), line("2019", 110, 305), line("2020", 200, 305), line("North", 62, 200)]
    (figure,) = figures([(100, 100, 300, 300)], [*labels, *prose(100, 400)])
    assert figure.box == (62, 88, 300, 315)
    assert figure.text == "Tonnes\nNorth\n2019 2020"
    assert set(figure.lines) == set(labels)


def test_captions_titles_and_paragraphs_are_left_out() -> None:
    around = [
        line("Figure 1: Tonnes of cargo", 100, 305),
        line("Cargo through the northern quay", 100, 86, bold=True),
        *prose(310, 100, rows=15),
    ]
    (figure,) = figures([(100, 100, 300, 300)], around)
    assert figure.box == (100, 100, 300, 300)
    assert figure.lines == ()


def test_a_shaded_paragraph_is_no_figure() -> None:
    assert figures([(40, 90, 250, 165)], prose(50, 100)) == []


def test_a_page_background_is_no_figure_but_a_full_page_picture_is() -> None:
    page: Box = (0, 0, 600, 800)
    assert (
        figures([page], paragraph(["a title that says something here", "and another such"] * 2, 50, 100, pitch=60))
        == []
    )
    assert [figure.box for figure in figures([page], [line("Spring", 50, 100)])] == [page]


def test_small_drawings_are_no_figures() -> None:
    assert figures([(100, 100, 130, 130)], []) == []


def test_panels_side_by_side_and_stacked_are_one_figure() -> None:
    side_by_side: list[Box] = [(50, 100, 200, 250), (240, 100, 390, 250)]
    assert [figure.box for figure in figures(side_by_side, [])] == [(50, 100, 390, 250)]
    stacked: list[Box] = [(50, 100, 200, 200), (50, 240, 200, 340)]
    assert [figure.box for figure in figures(stacked, [])] == [(50, 100, 200, 340)]


def test_text_between_panels_keeps_them_apart() -> None:
    stacked: list[Box] = [(50, 100, 240, 200), (50, 250, 240, 350)]
    between = paragraph(["the harbour was dredged again in early spring"] * 2, 50, 212)
    assert len(figures(stacked, between)) == 2


def test_two_captions_keep_panels_apart_and_one_does_not() -> None:
    panels: list[Box] = [(50, 100, 200, 250), (240, 100, 390, 250)]
    two = [line("Figure 1: The quay", 60, 262), line("Figure 2: The mole", 250, 262)]
    assert [figure.box for figure in figures(panels, two)] == panels
    assert len(figures(panels, [line("Figure 1: The quay and the mole, seen from the sea", 90, 262)])) == 1


def test_panels_of_unlike_size_or_far_apart_stay_apart() -> None:
    assert len(figures([(50, 100, 200, 250), (240, 100, 390, 150)], [])) == 2
    assert len(figures([(50, 100, 200, 250), (300, 100, 450, 250)], [])) == 2


def test_numbers_make_a_chart() -> None:
    ticks = [line(number, 104, y) for number, y in (("0", 280), ("50", 230), ("100", 180), ("150%", 130))]
    assert figures([(100, 100, 300, 300)], ticks)[0].layout == "chart"
    assert figures([(100, 100, 300, 300)], [*ticks[:3], line("Quay", 200, 200)])[0].layout == "figure"


def test_on_a_slide_scattered_labels_and_drawings_are_one_picture() -> None:
    icons: list[Box] = [(100, 200, 150, 250), (100, 380, 150, 430)]
    labels = [line(text, 102, 268 + 28 * i) for i, text in enumerate(("70,000", "visits", "425", "sailed"))]
    assert [figure.box for figure in figures(icons, labels, SLIDE)] == [(100, 200, 150, 430)]
    assert [figure.box for figure in figures(icons, labels, (540.0, 960.0))] == icons


def test_hundreds_of_pieces_and_thousands_of_labels_are_read() -> None:
    pieces: list[Box] = [(x, y, x + 23, y + 23) for x in range(0, 580, 34) for y in range(0, 580, 34)]
    labels = [line("a", 7 * (i % 80), 8 * (i // 80), size=4) for i in range(6000)]
    assert len(figures(pieces, labels)) == 1


def test_dots_and_outlined_letters_beside_a_chart_are_part_of_it() -> None:
    beside: Box = (310, 150, 318, 158)
    below: Box = (120, 305, 180, 314)
    far: Box = (100, 400, 108, 408)
    (figure,) = find_figures([(100, 100, 300, 300)], [], A4, specks=[beside, below, far])
    assert figure.box == (100, 100, 318, 314)


def test_an_axis_of_many_years_is_part_of_its_chart() -> None:
    axis = line("2010 2011 2012 2013 2014 2015 2016 2017 2018 2019", 110, 305)
    (figure,) = figures([(100, 100, 400, 300)], [axis])
    assert axis in figure.lines
    sentence = line("one two three four five six seven eight nine words", 110, 305)
    assert figures([(100, 100, 400, 300)], [sentence])[0].lines == ()


def test_dates_far_apart_below_a_chart_are_its_axis_and_what_is_centred_below_them_its_title() -> None:
    dates = [line("Feb 01", 110 + 60 * i, 305) for i in range(5)]
    axis = replace(dates[0], words=tuple(word for date in dates for word in date.words), box=(110, 305, 377, 315))
    title = line("Time", 239, 330)
    (figure,) = figures([(100, 100, 400, 300)], [axis, title])
    assert set(figure.lines) == {axis, title}


def test_what_is_centred_below_a_picture_is_a_title_of_an_axis_alone() -> None:
    axis = line("2010 2011 2012 2013 2014 2015", 150, 305)
    chart: Box = (100, 100, 400, 300)
    headings = ["IV. RESULTS", "4 Results", "12", "Source: own survey", "what is told here of the years above"]
    for heading in headings:
        width = line(heading, 0, 0).box[2]
        below = line(heading, 250 - width / 2, 330)
        assert figures([chart], [axis, below])[0].lines == (axis,), heading
    title, bold = line("Time", 240, 330), line("Time", 240, 330, bold=True)
    assert figures([chart], [axis, title])[0].lines == (axis, title)
    assert figures([chart], [axis, bold])[0].lines == (axis,)
    assert figures([chart], [axis, line("Time", 120, 330)])[0].lines == (axis,)
    assert figures([chart], [line("Time", 240, 314)])[0].lines == ()


def test_headings_of_a_form_below_a_picture_are_no_axis() -> None:
    words = [line(text, 110 + 70 * i, 305) for i, text in enumerate(["Name of one", "Date of birth", "Place of it"])]
    form = replace(words[0], words=tuple(word for part in words for word in part.words), box=(110, 305, 310, 315))
    assert figures([(100, 100, 400, 300)], [form])[0].lines == ()


def test_a_title_over_a_panel_is_part_of_it_where_it_is_centred() -> None:
    width = line("People convicted of nothing", 0, 0).box[2]
    facet = line("People convicted of nothing", 200 - width / 2, 88, bold=True)
    (figure,) = figures([(100, 100, 300, 300)], [facet])
    assert facet in figure.lines


def test_a_narrow_column_beside_a_chart_is_no_label_of_it() -> None:
    rows = ["people are more to", "likely than the old", "to vote by mail this", "time and the next so"]
    column = paragraph(rows, 5, 150)
    chart: Box = (max(line.box[2] for line in column) + 8, 100, 300, 300)
    assert [figure.box for figure in figures([chart], column)] == [chart]
    assert [figure.box[0] for figure in figures([chart], column[:1])] == [5]


def test_the_panels_of_a_figure_are_told_and_icons_are_not() -> None:
    panels: list[Box] = [(50, 100, 200, 250), (240, 100, 390, 250)]
    (figure,) = figures(panels, [line("2019", 100, 255), line("2020", 290, 255)])
    assert figure.panels == ((50, 100, 200, 265), (240, 100, 390, 265))
    (alone,) = figures(panels[:1], [])
    assert alone.panels == ()
    small: Box = (205, 240, 230, 265)
    (figure,) = figures([*panels, small], [])
    assert figure.panels == tuple(panels)


def test_what_is_drawn_is_a_panel_where_labels_make_the_most_of_a_figure() -> None:
    drawing: Box = (300, 100, 400, 200)
    labels = [line("what the crane lifts", 190, y) for y in (100, 140, 185)] + [line("what it stands on", 410, 150)]
    (figure,) = figures([drawing], labels)
    assert figure.box[0] == 190
    assert figure.panels == (drawing,)


def test_panels_with_their_labels_hold_every_line() -> None:
    panels: list[Box] = [(50, 100, 200, 250), (300, 100, 450, 250)]
    labels = [line("Tonnes", 100, 262), line("Calls", 330, 80)]
    figure = Figure((50, 80, 450, 272), "figure", tuple(labels), tuple(panels))
    assert figure.panels_with_labels() == ((50, 100, 200, 272), (300, 80, 450, 250))


def test_panels_whose_labels_lie_across_them_or_make_the_whole_have_none() -> None:
    across = [line("the tonnes and calls of every year since", 60, 262)]
    panels: list[Box] = [(50, 100, 200, 250), (210, 100, 300, 350)]
    assert across[0].box[2] > 210
    assert Figure((50, 80, 300, 350), "figure", tuple(across), tuple(panels)).panels_with_labels() == ()
    around = [line("Tonnes", 50, 50), line("Calls", 300, 250)]
    assert Figure((50, 50, 330, 260), "figure", tuple(around), ((100, 100, 250, 220),)).panels_with_labels() == ()
    assert Figure((50, 50, 330, 260), "figure", tuple(around), ()).panels_with_labels() == ()


def test_a_picture_that_text_flows_around_is_a_figure() -> None:
    """The box around the paragraph holds the picture, as its last line runs below it; none of its lines do."""
    beside = paragraph(["the harbour was dredged"] * 12, 50, 100)
    below = paragraph(["the harbour was dredged again in early spring and the quay was"], 50, 244)
    photograph: Box = (200, 105, 330, 235)
    assert [figure.box for figure in figures([photograph], beside + below)] == [photograph]
