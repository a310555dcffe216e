"""Made-up answers over made-up documents, with drawn page pictures, for the tests of what is shown to people."""

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache

from builders import make_context
from PIL import Image, ImageDraw, ImageFont

from quoteweave.core.answers import (
    Answer,
    AnswerBlock,
    Citation,
    Context,
    ImageBlock,
    TextBlock,
    UnresolvedMark,
    Usage,
    Verdict,
)
from quoteweave.core.boxes import Box
from quoteweave.core.records import Layout, Page, Quote
from quoteweave.pipeline.answer_page.render import render_answers
from quoteweave.pipeline.answer_page.sections import AnswerView
from quoteweave.pipeline.pictures_for_people import PagePicture

WIDTH, HEIGHT, SCALE = 612.0, 792.0, 2
REPORT, NOTES = "reports/harbour-tidal-pilot-2023.pdf", "notes/site-visit.md"
Found = tuple[Verdict | None, str | None, bool | None]
_MARK = re.compile(r"!\[([^\]]*)\]\(image(\d+)\)|\[(\d+(?:, ?\d+)*)\]")

INTRO = """The Harbour Tidal Pilot began feeding the grid in March 2023 with two floating turbines of 500 kW each,
moored in the western channel. Over the twelve months that followed it delivered 3.1 GWh, enough for some 870 homes."""
GROWTH = """Output grew in each quarter as the crew learnt to slack the moorings ahead of spring tides. The fourth
quarter alone delivered 1.12 GWh, more than twice the first, with no further equipment installed."""
FILLER = """Inspection divers visited the moorings every six weeks. Marine growth on the blades stayed within the
expected range and was removed twice, in June and in October, each time within a single slack tide."""
COSTS = """Maintenance cost 214,000 euros, 18 per cent below budget. Most of the difference came from vessel days: the
quick-release moorings let a small workboat do what had been planned for a crane barge."""
TABLE = """Item Budget Actual
Vessel days 132,000 81,000
Spare parts 74,000 83,000
Divers 55,000 50,000"""
VISIT = "The skipper says a turbine can be swapped in one slack tide, about forty minutes, by a crew of three."


def make_quote(place: str, text: str, bbox: Box, layout: Layout = "paragraph", **more: str) -> Quote:
    """A quote whose id, document, page and label come from a place such as 'report.pdf:3'."""
    document, page = place.rsplit(":", 1)
    kind = "image" if layout in {"figure", "chart", "table", "page"} else "text"
    fields = {"page_label": str(int(page) + 1), **more}
    name = f"{document}:{page}:{bbox[1]:.0f}"
    return Quote.model_validate(
        {"id": name, "document": document, "page": int(page), "bbox": bbox, "kind": kind, "layout": layout}
        | {"text": text if layout == "table" else " ".join(text.split())}
        | fields
    )


def rendered(
    answer: Answer, context: Context, pages: Sequence[PagePicture] = (), crops: Mapping[str, bytes] | None = None
) -> str:
    """The page of one answer, under its question."""
    view = AnswerView(answer=answer, context=context, pages=tuple(pages), crops=crops or {})
    return render_answers([view], answer.question)


def make_answer(question: str, text: str, context: Context, **more: object) -> Answer:
    """An answer whose citations and blocks follow from the marks of its text."""
    citations: list[Citation] = []
    unresolved: list[UnresolvedMark] = []
    blocks: list[AnswerBlock] = [TextBlock(text=text)]
    for match in _MARK.finditer(text):
        kind, numbers = ("image", match[2]) if match[2] else ("text", match[3])
        place = {"mark": match[0], "start": match.start(), "end": match.end(), "kind": kind}
        for number in map(int, numbers.split(",")):
            quote = context.quote("image" if match[2] else "text", number)
            if quote is None:
                unresolved.append(UnresolvedMark.model_validate(place | {"number": number}))
                continue
            quote_fields = {"quote_id": quote.id, "document": quote.document, "page": quote.page}
            quote_fields |= {"page_label": quote.page_label, "bbox": quote.bbox, "number": number}
            quote_fields |= {"has_pages": quote.has_pages, "has_picture": quote.has_picture}
            citations.append(Citation.model_validate(place | quote_fields))
            if match[2]:
                blocks.append(ImageBlock(summary=match[1], image=quote.image, citation=citations[-1]))
    fields = {"status": "answered", "model": "extractive", "seconds": 0.42} | more
    fields |= {"question": question, "text": text, "blocks": blocks, "citations": citations, "unresolved": unresolved}
    return Answer.model_validate(fields)


def make_found(answer: Answer, verdicts: Sequence[Found]) -> Answer:
    """The answer with these verdicts, reasons and words of a checker on its citations, in their order."""
    citations = tuple(
        citation.model_copy(update={"verdict": verdict, "reason": reason, "checker_verdict": checker_verdict})
        for citation, (verdict, reason, checker_verdict) in zip(answer.citations, verdicts, strict=True)
    )
    images = iter([citation for citation in citations if citation.kind == "image"])
    blocks = tuple(
        block.model_copy(update={"citation": next(images)}) if isinstance(block, ImageBlock) else block
        for block in answer.blocks
    )
    return answer.model_copy(update={"citations": citations, "blocks": blocks})


def make_page(number: int, label: str | None = None) -> Page:
    return Page(number=number, label=label or str(number + 1), width=WIDTH, height=HEIGHT, text_source="text_layer")


class Drawing:
    """A page being drawn; each method returns the box of what it drew, in points."""

    def __init__(self) -> None:
        self.image = Image.new("RGB", (int(WIDTH * SCALE), int(HEIGHT * SCALE)), "white")
        self.pen = ImageDraw.Draw(self.image)

    def text(self, text: str, at: tuple[float, float], *, size: float = 11, columns: int = 88) -> Box:
        lines = "\n".join(textwrap.wrap(" ".join(text.split()), columns))
        font = ImageFont.load_default(size * SCALE)
        place = (at[0] * SCALE, at[1] * SCALE)
        self.pen.multiline_text(place, lines, "#222", font, spacing=5 * SCALE)
        left, top, right, bottom = self.pen.multiline_textbbox(place, lines, font, spacing=5 * SCALE)
        return (left / SCALE, top / SCALE, right / SCALE, bottom / SCALE)

    def bars(self, heights: list[float], box: Box) -> Box:
        step = (box[2] - box[0]) / len(heights)
        for place, height in enumerate(heights):
            left = box[0] + (place + 0.2) * step
            bar = (left, box[3] - 20 - height * (box[3] - box[1] - 40), left + 0.6 * step, box[3] - 20)
            self.pen.rectangle([edge * SCALE for edge in bar], fill="#3c7a89")
            self.text(f"Q{place + 1}   {height:.2f}", (left, box[3] - 14), size=9)
        self.pen.line([(box[0] * SCALE, (box[3] - 20) * SCALE), (box[2] * SCALE, (box[3] - 20) * SCALE)], "#888", 2)
        return box

    def table(self, rows: list[str], at: tuple[float, float]) -> Box:
        for place, row in enumerate(rows):
            *first, second, third = row.split(" ")
            top = at[1] + 22 * place
            for cell, left in ((" ".join(first), 0.0), (second, 200.0), (third, 320.0)):
                self.text(cell, (at[0] + left, top + 5), size=10)
            self.pen.line([(at[0] * SCALE, (top + 22) * SCALE), ((at[0] + 400) * SCALE, (top + 22) * SCALE)], "#999", 2)
        return (at[0], at[1], at[0] + 400, at[1] + 22 * len(rows))

    def png(self, box: Box | None = None) -> bytes:
        stream = io.BytesIO()
        crop = self.image.crop(tuple(int(edge * SCALE) for edge in box)) if box else self.image  # type: ignore[arg-type]
        crop.save(stream, "PNG")
        return stream.getvalue()


@cache
def tidal_view() -> AnswerView:
    """An answer of three pages in two documents: text, a chart, a table, bullets, bold, and an uncited quote."""
    first, second = Drawing(), Drawing()
    first.text("Harbour Tidal Pilot: the first year", (72, 70), size=20)
    intro = make_quote(f"{REPORT}:3", INTRO, first.text(INTRO, (72, 120)), page_label="iv")
    growth = make_quote(f"{REPORT}:3", GROWTH, first.text(GROWTH, (72, 190)), page_label="iv")
    filler = make_quote(f"{REPORT}:3", FILLER, first.text(FILLER, (72, 530)), page_label="iv")
    place = first.bars([0.48, 0.69, 0.81, 1.12], (120, 270, 500, 480))
    caption = "Figure 1: Energy delivered in each quarter, GWh"
    first.text(caption, (180, 490), size=10)
    chart = make_quote(f"{REPORT}:3", "Q1 0.48 Q2 0.69 Q3 0.81 Q4 1.12", place, "chart", caption=caption, image="c.png")
    chart = chart.model_copy(update={"page_label": "iv"})
    second.text("What it cost", (72, 70), size=20)
    costs = make_quote(f"{REPORT}:8", COSTS, second.text(COSTS, (72, 120)))
    cells = second.table(TABLE.splitlines(), (100, 230))
    table = make_quote(f"{REPORT}:8", TABLE, cells, "table", caption="Table 2: Cost of maintenance, euros")
    second.text(FILLER, (72, 360))
    heading = make_quote(f"{NOTES}:0", "Site visit, 14 May", (0, 0, 500, 20), "title")
    visit = make_quote(f"{NOTES}:0", VISIT, (0, 40, 500, 80))
    context = make_context(intro, growth, filler, costs, visit, chart, table)
    answer = make_answer("How did the tidal pilot perform in its first year, and why?", TIDAL_TEXT, context)
    pages = (
        PagePicture(document=REPORT, page=make_page(3, "iv"), image=first.png(), quotes=(intro, growth, chart, filler)),
        PagePicture(document=REPORT, page=make_page(8), image=second.png(), quotes=(costs, table)),
        PagePicture(document=NOTES, page=make_page(0), quotes=(heading, visit)),
    )
    return AnswerView(answer=answer, context=context, pages=pages, crops={"c.png": first.png(place)})


TIDAL_TEXT = """The pilot delivered **3.1 GWh** in its first twelve months, enough for some 870 homes [1]. Output rose \
in each quarter, and the fourth alone gave 1.12 GWh, more than twice the first [2].

![Energy delivered rose from 0.48 GWh in the first quarter to 1.12 GWh in the fourth](image1)

Two things explain this:

- The crew learnt to slack the moorings ahead of spring tides; no further equipment was installed [2].
- A turbine can be swapped within one slack tide by a crew of three [5].

Maintenance came in 18 per cent below budget, because a small workboat did what had been planned for a crane barge \
[4]. The table shows it: vessel days took 81,000 euros of a planned 132,000 ![Vessel days were far below budget; spare \
parts a little above](image2).

In short, the first year beat its plan in energy and in cost [1, 4]."""


@cache
def moorings_view() -> AnswerView:
    """A second answer over the same documents, with a warning and a mark that names nothing."""
    tidal = tidal_view()
    text = "Divers inspected them every six weeks [3]. A small workboat was enough for maintenance [4][9]."
    answer = make_answer(
        "How often were the moorings inspected?",
        text,
        tidal.context,
        model="llama-3.1-8b-instruct",
        seconds=3.87,
        usage=Usage(input_tokens=2381, output_tokens=64),
        warnings=("The mark [9] names no quote of the context and was left as it is.",),
    )
    return AnswerView(answer=answer, context=tidal.context, pages=tidal.pages[:2], crops=tidal.crops)


CHECKED_TEXT = """The pilot delivered **3.1 GWh** in its first twelve months, enough for some 870 homes [1]. The \
fourth quarter gave 1.32 GWh, more than twice the first [2].

![Energy delivered rose in each quarter](image1)

- The crew learnt to slack the moorings ahead of spring tides [2].
- Maintenance came in 18 per cent below budget, 47,000 euros in all [1, 4]."""
_FOUND: tuple[Found, ...] = (
    ("supported", None, True),
    ("unsupported", "1.32 GWh does not occur in what it cites.", False),
    ("unchecked", "It states nothing that can be checked.", None),
    ("supported", None, False),
    ("unchecked", "What can be checked is in the other quotes that the sentence cites.", True),
    ("unchecked", "47,000 euros may be worked out from what it cites.", None),
)


@cache
def checked_view() -> AnswerView:
    """Citations with each verdict of the gate, and of a checker beside it."""
    tidal = tidal_view()
    answer = make_answer("What did the pilot deliver?", CHECKED_TEXT, tidal.context, model="llama-3.1-8b-instruct")
    warnings = ("The checker does not find 2 of 5 cited sentences supported by what is cited.",)
    answer = make_found(answer.model_copy(update={"warnings": warnings}), _FOUND)
    return tidal.model_copy(update={"answer": answer})


@cache
def abstained_view() -> AnswerView:
    """A question that the documents do not answer."""
    context = tidal_view().context
    text = "Nothing in the documents bears on the price of solar panels."
    answer = make_answer("What does a solar panel cost?", text, context, status="abstained")
    return AnswerView(answer=answer, context=context)


HOSTILE = (
    """</script></style><script>window.canary=1</script><img src=x onerror="window.canary=2">'"><svg onload=canary=3>"""
)


@cache
def hostile_view() -> AnswerView:
    """Markup, addresses, scripts of many writing systems, and names and words of great length in every field."""
    name = f"javascript:alert(1)/{HOSTILE}/{'very-long-name-' * 14}.pdf"
    words = f"{HOSTILE} {{{{ 7 * 7 }}}} {{% raw %}} {'W' * 400}"
    words += " \u202eright to left\u202c \u2028 עברית العربية 漢字かな交じり文"
    drawing = Drawing()
    text = make_quote(f"{name}:0", words, drawing.text("Plain words", (72, 100)), page_label=HOSTILE)
    lone = make_quote(f"{name}:1", words, (0, 0, 100, 100), "title", page_label=HOSTILE, section=HOSTILE)
    figure = make_quote(f"{name}:0", words, (-50, 300, 9000, 9000), "figure", caption=HOSTILE, image=HOSTILE)
    context = make_context(text, lone, figure)
    text_with_marks = (
        f"{words} [1] **{HOSTILE}** [7]\n\n- [x](javascript:canary=4) [2]\n\n![{HOSTILE}](image1) `code` <b>b</b> # no"
    )
    answer = make_answer(f"{HOSTILE} ?", text_with_marks, context, model=HOSTILE, warnings=(HOSTILE, words))
    pages = (
        PagePicture(document=name, page=make_page(0, HOSTILE), image=drawing.png(), quotes=(text, figure)),
        PagePicture(document=name, page=make_page(1, HOSTILE), quotes=(lone,)),
    )
    checked = make_found(
        answer, [("unsupported", words, False), ("unchecked", HOSTILE, True), ("supported", None, None)]
    )
    return AnswerView(answer=checked, context=context, pages=pages)
