"""What the answer page says of citations: each verdict by its sign, in words, with its reason, beside the other."""

from unittest.mock import Mock

import pytest
from builders import make_context
from example_answers import HOSTILE, checked_view, make_answer, make_quote, rendered, tidal_view
from lxml import html
from lxml.html import HtmlElement
from test_highlighting import NoPages

from quoteweave.core.answers import Answer, Context, Verdict
from quoteweave.generation.gate.answer_check import check_citations
from quoteweave.generation.gate.policies import REFUSAL, apply_policy
from quoteweave.generation.highlights import find_highlights
from quoteweave.pipeline import highlighting
from quoteweave.pipeline.answer_page.sections import AnswerView, checked_citations, tally
from quoteweave.pipeline.highlighting import add_highlights

CONTEXT = make_context(make_quote("a.pdf:0", "Grain came to 547 tons.", (0, 0, 100, 20)))


def answer(verdict: Verdict | None, checker_verdict: bool | None = None, reason: str | None = None) -> Answer:
    made = make_answer("?", "So it is [1].", CONTEXT)
    update = {"verdict": verdict, "reason": reason, "checker_verdict": checker_verdict}
    return made.model_copy(update={"citations": tuple(one.model_copy(update=update) for one in made.citations)})


def page_of(shown: Answer, context: Context = CONTEXT) -> HtmlElement:
    return html.document_fromstring(rendered(shown, context))


def words(element: HtmlElement) -> str:
    return " ".join(element.text_content().split())


@pytest.mark.parametrize(
    ("verdict", "checker_verdict", "shown", "said"),
    [
        ("supported", None, "supported", "supported"),
        ("unsupported", None, "unsupported", "not supported"),
        ("unchecked", None, "unchecked", "not checked"),
        ("supported", False, "unsupported", "not supported"),
        ("unsupported", True, "unsupported", "not supported"),
        ("unchecked", True, "supported", "supported"),
        (None, True, "supported", "supported"),
        (None, False, "unsupported", "not supported"),
    ],
)
def test_a_mark_shows_the_worse_of_two_verdicts_and_any_before_none(
    verdict: Verdict | None, checker_verdict: bool | None, shown: str, said: str
) -> None:
    (chip,) = page_of(answer(verdict, checker_verdict)).find_class("chip")
    assert chip.get("class") == f"chip {shown}"
    assert chip.get("aria-label") == f"Citation 1, {said}: a.pdf, page 1"
    assert chip.xpath(".//*[@class='verdict']/use/@href") == [f"#icon-{shown}"]


def test_where_nobody_was_asked_nothing_is_shown() -> None:
    page = page_of(answer(None))
    assert page.find_class("chip")[0].get("class") == "chip"
    assert not [*page.find_class("verdict"), *page.find_class("found"), *page.find_class("tally")]


def test_sources_list_each_sentence_with_both_verdicts_and_the_reason() -> None:
    page = html.document_fromstring(rendered(checked_view().answer, checked_view().context))
    found = page.get_element_by_id("answer-1-text-2").find_class("found")
    assert [words(one) for one in found] == [
        "“The fourth quarter gave 1.32 GWh, more than twice the first.” "
        "By rule: not supported. 1.32 GWh does not occur in what it cites. By the checker: not supported",
        "“The crew learnt to slack the moorings ahead of spring tides.” "
        "By rule: supported By the checker: not supported",
    ]
    assert words(page.get_element_by_id("answer-1-text-1").find_class("sentence")[0]).startswith(
        "“The pilot delivered 3.1 GWh in"
    )
    assert not page.get_element_by_id("answer-1-text-3").find_class("found")


def test_each_mark_names_its_own_entry_in_the_sources() -> None:
    page = html.document_fromstring(rendered(checked_view().answer, checked_view().context))
    for place, chip in enumerate(page.find_class("chip"), start=1):
        source = page.get_element_by_id(chip.get("data-source"))
        (found,) = source.xpath(f".//*[@data-citation='{place}']")
        assert chip.get("data-citation") == str(place)
        assert "found" in found.get("class")


def test_the_head_counts_the_verdicts() -> None:
    view = checked_view()
    page = html.document_fromstring(rendered(view.answer, view.context, view.pages, view.crops))
    assert [words(one) for one in page.find_class("tally")[0]] == ["2 supported", "2 not supported", "2 not checked"]
    assert tally(checked_citations(tidal_view().answer)) == []


def test_a_hostile_reason_stays_text() -> None:
    page = page_of(answer("unsupported", reason=HOSTILE))
    assert len(page.xpath("//script")) == 1
    assert HOSTILE in page.find_class("finding")[0].text_content()


def test_an_answer_that_was_refused_says_so_and_why() -> None:
    context = CONTEXT
    refused = apply_policy(
        check_citations(make_answer("?", "Grain came to 557 tons [1].", context, model="m"), context), "refuse"
    )
    page = page_of(refused)
    assert words(page.find_class("notice")[0]) == f"The answer is withheld {REFUSAL}"
    assert "557 tons does not occur in what it cites." in words(page.find_class("warnings")[0])


def test_a_thousand_citations_are_each_shown() -> None:
    many = make_answer("?", "So it is [1]. " * 1000, CONTEXT)
    view = AnswerView(answer=many, context=CONTEXT)
    page = html.document_fromstring(rendered(view.answer, view.context))
    assert len({chip.get("data-citation") for chip in page.find_class("chip")}) == 1000


def test_a_mark_that_a_model_repeats_thousands_of_times_is_shown_in_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    repeated = make_answer("?", f"Grain came to 547 tons {'[1]' * 8000}.", CONTEXT)
    find = Mock(wraps=find_highlights)
    monkeypatch.setattr(highlighting, "find_highlights", find)
    shown = add_highlights(check_citations(repeated, CONTEXT), CONTEXT, NoPages())
    assert (len(shown.citations), find.call_count, shown.citations[-1].evidence) == (8000, 1, "words")
    assert rendered(shown, CONTEXT).count('class="chip') == 8000
