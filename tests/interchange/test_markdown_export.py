import pytest
from cited_answers import CONTEXT, URLS, made_answer
from markdown_it import MarkdownIt

from quoteweave.core.answers import Answer
from quoteweave.generation.citations import build_answer, with_citations
from quoteweave.interchange.exports import ExportedTurn
from quoteweave.interchange.exports.markdown import to_markdown


def plain(text: str) -> Answer:
    return build_answer("What?", text, CONTEXT, model="m")


def test_an_answer_has_footnotes_that_link_to_its_quotes() -> None:
    written = to_markdown(made_answer())
    body, _, notes = written.partition("\n\n[^1]:")
    image = f"![freight by month]({URLS.image('d1:0:7')})[^4]"
    assert body == (
        "## What was shipped?\n\n"
        "Grain 🌾 was shipped [^1]. It went by rail or [^2][^3] by ship:\n\n"
        f"{image}\n\n- dues rose [^3][^5]\n- and so on"
    )
    assert f"[^1]:{notes}".splitlines() == [
        f"[^1]: [port.pdf, page 1]({URLS.quote('d1:0:1')}): “shipped 4,210 tonnes of grain”",
        f"[^2]: [port.pdf, page 1]({URLS.quote('d1:0:2')}): “Timber went by rail.”",
        f"[^3]: [reports/dues \\[2023\\].pdf, page 3]({URLS.quote('d2:2:1')}): “Dues rose by 3 per cent.”",
        f"[^4]: [port.pdf, page 1]({URLS.quote('d1:0:7')}): “May 4,210 June 3,900”",
        f"[^5]: [port.pdf, page 1]({URLS.quote('d1:0:1')}): “The harbour shipped 4,210 tonnes of grain in May.”",
    ]


def test_turns_share_their_footnotes() -> None:
    turns = [
        ExportedTurn(question="And *rail*?", answer=plain("By rail [2].")),
        ExportedTurn(question="Grain?", answer=plain("Grain [1], by rail [2].")),
    ]
    assert to_markdown(turns, title="Port #1") == (
        "# Port \\#1\n\n## And \\*rail\\*?\n\nBy rail [^1].\n\n## Grain?\n\nGrain [^2], by rail [^1].\n\n"
        "[^1]: port.pdf, page 1\n[^2]: port.pdf, page 1\n"
    )


def test_what_the_check_found_is_said() -> None:
    answer = plain("Grain [1].")
    (citation,) = answer.citations
    refused = citation.model_copy(update={"verdict": "unsupported", "reason": "The number 5 is not in it."})
    told = with_citations(answer, [refused], warnings=["1 sentence has no support."])
    written = to_markdown(told)
    assert "\n\n> 1 sentence has no support.\n\n" in written
    assert "[^1]: port.pdf, page 1: Not supported by the source: The number 5 is not in it.\n" in written
    denied = citation.model_copy(update={"verdict": "supported", "checker_verdict": False})
    source = "Not supported by the source: The checker does not find it supported by what it cites.\n"
    assert to_markdown(with_citations(answer, [denied])).endswith(f"[^1]: port.pdf, page 1: {source}")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> [1]",
        "<img src=x onerror=alert(1)> [1]",
        "![<b>x</b>](image1)",
        "`<b>` and <b>bold</b> [1]",
        "<!-- [1]",
    ],
)
def test_no_html_of_a_model_reaches_the_page(text: str) -> None:
    tokens = MarkdownIt("commonmark", {"html": True}).parse(to_markdown(plain(text)))
    every = [*tokens, *(child for token in tokens for child in token.children or [])]
    assert {token.type for token in every}.isdisjoint({"html_block", "html_inline"})


def test_code_and_other_peoples_footnotes_stay_literal() -> None:
    written = to_markdown(plain("Call `a[1] < b` [1] as in [^9].\n\n```\nif a<b: [2]\n```"))
    assert "Call `a[1] < b` [^1] as in \\[^9].\n\n```\nif a<b: [2]\n```\n" in written


def test_an_image_without_a_url_is_named() -> None:
    assert "See (Image: freight)[^1]." in to_markdown(plain("See ![freight](image1)."))
