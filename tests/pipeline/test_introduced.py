"""What a text that ends with a colon introduces: it comes with the text, whether the search found it or not."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer, Context, ContextSize
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Filter, Query, Quote
from quoteweave.documents.ingest import add
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.search import Search
from quoteweave.retrievers.lexical import LexicalRetriever

COMMAND = "pier-admin init --depth 4"
NEEDS = ("A licence of the harbour office.", "A radio on channel nine.")
INTRO = "To install the tide gauge service, run the following command:"
REST = "Moorings are checked each spring."


def write_html(folder: Path) -> Path:
    path = folder / "gauge.html"
    items = "".join(f"<li>{need}</li>" for need in NEEDS)
    path.write_text(
        f"<h1>Tide gauge</h1><h2>Setting up</h2><p>{INTRO}</p><pre>{COMMAND}</pre><p>{REST}</p>"
        f"<h2>Papers</h2><p>The skipper of a guest boat brings two things on board:</p><ul>{items}</ul><p>{REST}</p>",
        "utf-8",
    )
    return path


def write_markdown(folder: Path) -> Path:
    path = folder / "gauge.md"
    items = "\n".join(f"- {need}" for need in NEEDS)
    path.write_text(
        f"# Tide gauge\n\n## Setting up\n\n{INTRO}\n\n```sh\n{COMMAND}\n```\n\n{REST}\n\n"
        f"## Papers\n\nThe skipper of a guest boat brings two things on board:\n\n{items}\n\n{REST}\n",
        "utf-8",
    )
    return path


def write_pdf(folder: Path) -> Path:
    from reportlab.pdfgen.canvas import Canvas

    path = folder / "gauge.pdf"
    canvas = Canvas(str(path))
    lines = [
        ("Helvetica-Bold", 16, "Setting up"),
        ("Helvetica", 11, INTRO),
        ("Courier", 11, COMMAND),
        ("Helvetica", 11, REST),
        ("Helvetica-Bold", 16, "Papers"),
        ("Helvetica", 11, "The skipper of a guest boat brings two things on board:"),
        *(("Helvetica", 11, f"• {need}") for need in NEEDS),
        ("Helvetica", 11, REST),
    ]
    y = 760.0
    for font, size, text in lines:
        canvas.setFont(font, size)
        canvas.drawString(72, y, text)
        y -= 16 if text == f"• {NEEDS[0]}" else 34
    canvas.save()
    return path


@pytest.fixture(params=[write_html, write_markdown, write_pdf])
def collection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Collection]:
    write: Callable[[Path], Path] = request.param
    with Collection.create(tmp_path / "made") as made:
        add(made, [write(tmp_path)])
        yield made


def ask(collection: Collection, question: str) -> Answer:
    search = Search(LexicalRetriever(collection), collection=collection)
    return Rag(search, ExtractiveGenerator()).answer(question)


def test_an_introduced_command_is_shown_and_cited_by_itself(collection: Collection) -> None:
    answer = ask(collection, "How do I install the tide gauge service?")
    assert answer.status == "answered"
    introducing, command = answer.citations
    assert introducing.quoted is None or introducing.quoted.endswith(":")
    quotes = {quote.id: quote.text for quote in collection.document_quotes(answer.citations[0].document)}
    assert quotes[command.quote_id].strip() == COMMAND
    assert f"```\n{COMMAND}\n```\n{command.mark}" in answer.text
    assert answer.text.count("To install the tide gauge service") == 1


def test_an_introduced_list_is_shown_item_by_item(collection: Collection) -> None:
    answer = ask(collection, "What two things does the skipper of a guest boat bring on board?")
    assert answer.status == "answered"
    assert all(f"- {need.rstrip('.')} [" in answer.text for need in NEEDS)
    assert len({citation.quote_id for citation in answer.citations}) >= 2


def context(collection: Collection, question: str, size: ContextSize, where: Filter | None = None) -> Context:
    search = Search(LexicalRetriever(collection), collection=collection)
    return run_sync(search.context(Query(text=question), size, where=where)).context


def test_what_the_search_left_out_is_added_behind_its_hits(tmp_path: Path) -> None:
    quotes: list[str | Quote] = [
        "The pump needs three parts:",
        made_quote("• a seal\n• a valve\n• a hose", layout="list"),
        "Rain.",
    ]
    with make_collection(tmp_path, {"pump.md": quotes}) as made:
        found = context(made, "Which parts does the pump need?", ContextSize(texts=2, images=0))
        (first, added) = found.texts
        assert found.introduced == {first.quote.id: (added.quote.id,)}
        assert (added.quote.layout, added.rank) == ("list", 2)
        assert added.score <= first.score


def test_a_context_stays_as_large_as_it_was_asked_for(tmp_path: Path) -> None:
    """What is introduced takes the place of the last hits, and of half of them at most."""
    quotes: list[str | Quote] = [
        "Which parts the pump needs:",
        *(made_quote(f"• item {number}", layout="list") for number in range(4)),
        *(f"The pump was painted in {colour}." for colour in ("red", "green", "blue", "grey")),
    ]
    with make_collection(tmp_path, {"pump.md": quotes}) as made:
        sizes = {
            most: context(made, "Which parts does the pump need?", ContextSize(texts=most, images=0)).texts
            for most in (1, 2, 4)
        }
    assert {most: len(hits) for most, hits in sizes.items()} == {1: 1, 2: 2, 4: 4}
    assert [hit.quote.layout for hit in sizes[4]][2:] == ["list", "list"]
    assert [hit.rank for hit in sizes[4]] == [1, 2, 3, 4]


def test_headings_and_other_pages_of_a_filter_are_never_introduced(tmp_path: Path) -> None:
    quotes: list[str | Quote] = ["The pump needs three parts:", made_quote("Seals", layout="title"), "Seals are round."]
    beyond: list[str | Quote] = [
        "The crane lifts these loads:",
        made_quote("• steel\n• grain", page=1, layout="list"),
        made_quote("Rain.", page=1),
    ]
    with make_collection(tmp_path, {"pump.md": quotes, "crane.md": beyond}) as made:
        small = ContextSize(texts=2, images=0)
        assert context(made, "pump parts", small).introduced == {}
        assert len(context(made, "crane loads", small).texts) == 2
        assert len(context(made, "crane loads", small, Filter(documents=("crane.md",), last_page=0)).texts) == 1
        assert context(made, "crane loads", small, Filter(layouts=("paragraph",))).introduced == {}


def test_a_footnote_between_a_text_and_its_list_is_passed_over(tmp_path: Path) -> None:
    listed = made_quote("• a seal\n• a valve", layout="list")
    quotes: list[str | Quote] = ["The pump needs two parts:", "1Without the motor.", listed]
    with make_collection(tmp_path, {"pump.md": quotes}) as made:
        found = context(made, "pump parts", ContextSize(texts=2, images=0))
        (introduced,) = found.introduced.values()
        assert [hit.quote.layout for hit in found.texts if hit.quote.id in introduced] == ["list"]


def test_a_heading_that_is_the_question_introduces_what_stands_under_it(tmp_path: Path) -> None:
    quotes: list[str | Quote] = [made_quote("Who nominates pilots?", layout="title"), "Anyone who has served a year."]
    with make_collection(tmp_path, {"pilots.md": quotes}) as made:
        small = ContextSize(texts=2, images=0)
        assert len(context(made, "Who nominates pilots?", small).texts) == 2
        assert context(made, "How many pilots nominates the port?", small).introduced == {}


def test_prose_at_the_top_of_the_next_page_is_not_introduced(tmp_path: Path) -> None:
    quotes: list[str | Quote] = ["The crane lifts these loads:", made_quote("Left: the crane at night.", page=1)]
    with make_collection(tmp_path, {"crane.pdf": quotes}) as made:
        assert context(made, "crane loads", ContextSize(texts=2, images=0)).introduced == {}


@pytest.mark.parametrize(("items", "goes_on"), [(5, False), (30, True)])
def test_an_answer_says_that_a_list_goes_on_beyond_the_context(tmp_path: Path, items: int, goes_on: bool) -> None:
    quotes: list[str | Quote] = [
        "The crane lifts these loads:",
        *(made_quote(f"• load {number}", layout="list") for number in range(items)),
    ]
    with make_collection(tmp_path, {"crane.md": quotes}) as made:
        answer = ask(made, "Which loads does the crane lift?")
    shown = answer.text.count("\n- load ")
    assert (shown < items) == goes_on
    assert ("At least 21 more are there." in answer.text) == goes_on


TIDES = "The tide table hangs at the gate."
LOADS = (made_quote("• grain in sacks", layout="list"), made_quote("• timber in bundles", layout="list"))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_sentence_that_prohibits_what_was_found_is_added_to_the_smallest_context(tmp_path: Path, most: int) -> None:
    quotes: list[str | Quote] = ["The following is never carried across the yard:", *LOADS, TIDES]
    with make_collection(tmp_path, {"yard.md": quotes}) as made:
        size = ContextSize(texts=most, images=0)
        search = Search(LexicalRetriever(made), collection=made)
        answer = Rag(search, ExtractiveGenerator(), size=size).answer("Where is timber in bundles?")
        found = context(made, "Where is timber in bundles?", size)
    assert len(found.texts) == most
    assert any("never carried" in hit.quote.text for hit in found.texts)
    assert "timber in" not in answer.text or answer.text.find("never carried") < answer.text.find("timber in")


def test_what_introduces_a_found_item_is_added(tmp_path: Path) -> None:
    quotes: list[str | Quote] = ["It lifts these:", *LOADS, TIDES, "Bundles of timber float.", "Timber floats."]
    with make_collection(tmp_path, {"crane.md": quotes}) as made:
        found = context(made, "timber in bundles", ContextSize(texts=3, images=0))
    (introduced,) = found.introduced.values()
    texts = {hit.quote.id: hit.quote.text for hit in found.texts}
    assert [texts.get(id) for id in introduced][1:] == ["• timber in bundles"]
    assert {"It lifts these:", "• timber in bundles"} <= set(texts.values())


def test_a_sentence_that_prohibits_is_found_above_another_that_introduces(tmp_path: Path) -> None:
    quotes: list[str | Quote] = ["Never do this:", "In the yard:", LOADS[1], TIDES]
    with make_collection(tmp_path, {"yard.md": quotes}) as made:
        found = context(made, "timber in bundles", ContextSize(texts=2, images=0))
    assert "Never do this:" in [hit.quote.text for hit in found.texts]


def test_a_text_behind_a_heading_or_another_text_is_not_introduced(tmp_path: Path) -> None:
    heading = made_quote("Loads", layout="title")
    between: tuple[str | Quote, ...] = (heading, TIDES)
    for at, one in enumerate(between):
        folder = tmp_path / str(at)
        folder.mkdir()
        with make_collection(folder, {"yard.md": ["Never do this:", one, "Timber in bundles."]}) as made:
            assert context(made, "timber in bundles", ContextSize(texts=1, images=0)).introduced == {}


def test_indented_paragraphs_are_items_of_the_list_whose_bullets_are_drawn(tmp_path: Path) -> None:
    def at(text: str, left: float, top: float) -> Quote:
        return made_quote(text, bbox=(left, top, 500, top + 12))

    quotes: list[str | Quote] = [
        at("Never do any of the following:", 72, 100),
        at("Do not run the pump without its filter.", 100, 120),
        at("Do not tilt the pump by more than 45 degrees.", 100, 140),
        at("Children must not touch the pump.", 72, 160),
    ]
    with make_collection(tmp_path, {"pump.pdf": quotes}) as made:
        answer = ask(made, "What must never be done with the pump?")
    assert answer.status == "answered"
    assert "without its filter" in answer.text
    assert "45 degrees" in answer.text
    assert "Children" not in answer.text


@pytest.mark.parametrize(
    ("question", "most", "cut"),
    [("How do I set the gauge?", 2, True), ("How do I set the gauge?", 9, False), ("Who sets the gauge?", 2, False)],
)
def test_a_context_tells_of_which_sections_of_steps_it_lacks_some(
    tmp_path: Path, question: str, most: int, cut: bool
) -> None:
    path = tmp_path / "gauge.md"
    steps = "\n\n".join(f"Press button {at} of the gauge to set it." for at in range(4))
    path.write_text(f"# Gauge\n\n## Setting the gauge\n\n{steps}\n\n## Care\n\nOil the lid.\n", "utf-8")
    with Collection.create(tmp_path / "made") as made:
        add(made, [path])
        search = Search(LexicalRetriever(made), collection=made)
        found = run_sync(search.context(Query(text=question), ContextSize(texts=most, images=0))).context
    of_section = {hit.quote.id for hit in found.texts if hit.quote.section == "Setting the gauge"}
    assert (bool(found.cut_sections), set(found.cut_sections) <= of_section) == (cut, True)
