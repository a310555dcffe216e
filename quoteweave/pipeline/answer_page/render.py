"""Renders answers as one self-contained HTML page: the text, and beside it the cited pages with marked boxes.

The page makes no network requests: style, script and pictures are in the file, and its Content-Security-Policy allows
nothing else. All text of questions, documents and models is escaped, and never becomes an address.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer
from quoteweave.core.files.templates import open_template, policy_hash
from quoteweave.pipeline.answer_page.sections import (
    VERDICT_WORDS,
    AnswerView,
    MarkedBox,
    Pictures,
    Wording,
    section,
)
from quoteweave.pipeline.pictures_for_people import cited_pages, stored_crops
from quoteweave.pipeline.rag import Answered

if TYPE_CHECKING:
    from jinja2 import Template

_TEMPLATES = Path(__file__).parent / "templates"


def render_answers(views: Sequence[AnswerView], title: str, *, wording: Wording | None = None) -> str:
    """Render several answers as one HTML document, to be written as UTF-8; each stands beside its cited pages.

    A missing picture, or one that is no PNG, JPEG or WebP, is never an error: an image quote without its crop is cut
    out of the page's picture, a page without picture is shown as text, and if neither is possible, a note says so. The
    default `wording` is for answers to questions. Raises ValueError if an answer cites a quote that its context does
    not have.
    """
    from markupsafe import Markup

    pictures = Pictures()
    sections = [section(f"answer-{number}", view, pictures) for number, view in enumerate(views, start=1)]
    boxes = [box for answer_section in sections for sheet in answer_section.sheets for box in sheet.boxes]
    style = (_TEMPLATES / "answer.css").read_text("utf-8") + "".join(map(_placement, boxes))
    script = (_TEMPLATES / "answer.js").read_text("utf-8")
    wording = wording or Wording()
    return _template().render(
        title=title,
        wording=wording,
        titles={name: heading for view in views for name, heading in view.titles.items()} if wording.by_title else {},
        sections=sections,
        pictures=pictures.all(),
        words=VERDICT_WORDS,
        policy=_policy(style, script),
        # Only these two are inserted unescaped: they consist of files of this package, and numbers.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
    )


def _placement(box: MarkedBox) -> str:
    return (
        f"#{box.source.target}{{left:{box.left:.3f}%;top:{box.top:.3f}%;"
        f"width:{box.width:.3f}%;height:{box.height:.3f}%}}\n"
    )


def _template() -> "Template":
    return open_template(_TEMPLATES, "answer.html.j2")


def prepare_page() -> None:
    """Compile the page's template ahead of the first page, which would otherwise wait for it."""
    _template()


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; img-src data:; style-src {policy_hash(style)}; script-src {policy_hash(script)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def render_answered(answers: Sequence[Answered], collection: Collection, title: str) -> tuple[str, list[str]]:
    """Render answers over a collection as HTML, with a sentence on each document whose pages cannot be shown."""
    views, notes = view_answered(answers, collection)
    return render_answers(views, title), notes


def view_answered(answers: Sequence[Answered], collection: Collection) -> tuple[list[AnswerView], list[str]]:
    """Return answers over a collection with the pages that they cite, and a sentence on each that cannot be shown."""
    views, notes = list[AnswerView](), list[str]()
    for answered in answers:
        crops, lost_crops = stored_crops(collection, [hit.quote for hit in answered.context.images])
        pages, lost_pages = cited_pages(collection, answered.answer)
        notes += lost_pages
        answer = answered.with_search_notes()
        views.append(
            AnswerView(
                answer=answer.model_copy(update={"warnings": (*answer.warnings, *lost_crops, *lost_pages)}),
                context=answered.context,
                pages=tuple(pages),
                crops=crops,
                interpretation=answered.trace.interpretation,
                reasons=answered.trace.reasons,
                titles=_titles(answered.answer, collection),
            )
        )
    return views, notes


def _titles(answer: Answer, collection: Collection) -> dict[str, str]:
    cited = dict.fromkeys(citation.document for citation in answer.citations)
    titles = {name: collection.document(name).metadata.get("title") for name in cited}
    return {name: title for name, title in titles.items() if title}
