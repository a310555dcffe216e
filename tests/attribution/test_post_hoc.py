"""A draft is cited, and nothing else of it changes."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from made_collections import made_quote, make_collection, put

from quoteweave import Collection, LexicalRetriever, cite
from quoteweave.attribution.as_answers import DRAFT_WORDING, draft_as_answer
from quoteweave.attribution.attribute import Attributor
from quoteweave.attribution.drafts.draft_text import Draft
from quoteweave.attribution.drafts.post_hoc import cite_draft
from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.records import Attribution
from quoteweave.attribution.settings import AttributionSettings
from quoteweave.core.errors import SourceUnreachable, UsageError
from quoteweave.pipeline.answer_page.render import render_answers, view_answered
from quoteweave.pipeline.search import Search
from quoteweave.testing import ModelServer, Reply

DRAFT = """# The port in 2023

The port shipped 4,210 tonnes of grain in 2023. That was a good year!

- Timber went to Rotterdam by ship in 1999 (Reed et al., 2016)
- The port shipped 4,210 tonnes of grain, in 2023
- It employs 9,411 people.

```
The port shipped 4,210 tonnes of grain in 2023.
```
"""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    grain = made_quote("In 2023 the port shipped 4,210 tonnes of grain, most of it by rail.", page=3)
    with make_collection(tmp_path_factory.mktemp("port"), {"report.pdf": [grain], "b.md": ["It rained."]}) as made:
        yield made


def test_supported_sentences_get_marks_and_a_passage_is_one_reference(port: Collection) -> None:
    cited = cite(port, DRAFT)
    by_status = {one.status: one.text for one in cited.sentences}
    assert by_status["cited_already"].startswith("Timber")
    assert by_status["no_source"] == "It employs 9,411 people."
    assert "The port shipped 4,210 tonnes of grain in 2023 [1]. That was a good year!" in cited.text
    assert "- The port shipped 4,210 tonnes of grain, in 2023 [1]\n" in cited.text
    assert "grain in 2023.\n```" in cited.text, "code is not cited"
    assert len(cited.references) == 1
    assert "[1] report.pdf, page 4: “" in cited.text


def test_what_is_said_not_to_have_been_shown_is_not_cited_as_shown(port: Collection) -> None:
    said = "reported that in 2023 the port shipped 4,210 tonnes of grain, most of it by rail."
    cited = cite(port, f"It has been {said}\n\nIt has never been {said}\n")
    said_so, denied = cited.sentences
    assert said_so.status == "cited"
    assert denied.status != "cited"


def test_without_marks_and_references_the_draft_is_as_it_was(port: Collection) -> None:
    markdown = cite(port, DRAFT).text
    assert re.sub(r" \[\d+\]", "", markdown.partition("\n\n## References")[0]) == DRAFT.rstrip()


def test_a_draft_without_sources_stays_as_it_is(port: Collection) -> None:
    draft = "It employs 9,411 people.\n"
    cited = cite(port, draft)
    assert (cited.text, cited.references) == (draft, ())
    assert draft_as_answer(cited, "draft.md", port).answer.status == "abstained"


def test_the_page_shows_each_reference_and_warns_of_what_has_none(port: Collection) -> None:
    answered = draft_as_answer(cite(port, DRAFT), "draft.md", port)
    assert [one.document for one in answered.answer.citations] == ["report.pdf", "report.pdf"]
    assert any("9,411 people" in warning for warning in answered.answer.warnings)


def test_each_sentence_is_shown_its_own_words_of_a_passage_that_several_cite(tmp_path: Path) -> None:
    passage = "The queen lays no eggs in December. Colonies that were fed in November lost 31 percent of their bees."
    said = ["Colonies that were fed in November lost 31 percent of their bees.", "The queen lays no eggs in December."]
    with make_collection(tmp_path, {"bees.md": [passage]}) as made:
        cited = cite(made, "\n\n".join([*said, said[0]]))
        shown = draft_as_answer(cited, "draft.md", made).answer.citations
    marked = [(one.quoted or "")[one.spans[0].start : one.spans[0].end] for one in shown]
    assert [one.rstrip(".") for one in marked] == [one.rstrip(".") for one in (*said, said[0])]
    (reference,) = re.findall(r"^\[1\] .*", cited.text, re.MULTILINE)
    assert all(reference.count(one.rstrip(".")) == 1 for one in said)


@pytest.mark.parametrize("sign", ["*", "**", "_", "__", "***"])
def test_sentences_that_are_set_in_another_font_are_sentences_of_their_own(port: Collection, sign: str) -> None:
    said = f"{sign}The port shipped 4,210 tonnes of grain in 2023.{sign} {sign}It employs 9,411 people.{sign}"
    cited = cite(port, said)
    assert [one.status for one in cited.sentences] == ["cited", "no_source"]
    assert cited.text.startswith(said.replace("2023.", "2023 [1]."))


def test_a_sentence_longer_than_what_is_searched_for_is_named_and_not_passed_over(port: Collection) -> None:
    draft = "In 2023 the port shipped 4,210 tonnes of grain" + " and of coal" * 120 + ".\n"
    cited = cite(port, draft)
    assert [one.status for one in cited.sentences] == ["too_long"]
    assert draft_as_answer(cited, "draft.md", port).answer.warnings


def test_a_draft_with_numbered_marks_is_refused_with_its_line(port: Collection) -> None:
    with pytest.raises(UsageError, match=r"such as \[3\] in line 2"):
        cite(port, "First line.\nGrain went by rail [3].")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draft=st.text(alphabet="Grain 4,210 tonnes.\n#-|`!?", max_size=60).map("Grain went by rail. ".__add__))
@example(draft="Grain went by rail. \n ")
def test_any_draft_is_kept_but_for_its_marks(port: Collection, draft: str) -> None:
    body = re.split(r"\n[ \t]*\n## References", cite(port, draft).text)[0]  # a line of blanks is blank in Markdown
    assert re.sub(r" \[\d+\]", "", body).rstrip() == draft.rstrip()


def test_line_ends_and_the_mark_of_utf_8_are_kept(port: Collection) -> None:
    draft = "\ufeffThe port shipped 4,210 tonnes of grain in 2023.\r\nIt rained."
    text = cite(port, draft).text
    assert text.startswith(
        "\ufeffThe port shipped 4,210 tonnes of grain in 2023 [1].\r\nIt rained.\r\n\r\n## References"
    )
    assert text.replace("\r\n", "").count("\n") == 0


@pytest.mark.parametrize("ending", ["", "  ", "\n", " \n\n\n", "\n  "])
def test_blanks_at_the_end_are_kept_and_an_empty_line_stands_before_the_references(
    port: Collection, ending: str
) -> None:
    text = cite(port, f"The port shipped 4,210 tonnes of grain in 2023.{ending}").text
    before, _, _ = text.partition("## References")
    assert before.startswith(f"The port shipped 4,210 tonnes of grain in 2023 [1].{ending}")
    assert re.search(r"\n[ \t]*\n\Z", before)


def test_a_mark_stands_within_a_german_quotation(port: Collection) -> None:
    said = "In 2023 the port shipped 4,210 tonnes of grain"
    assert cite(port, f"„{said}.“ It rained.").text.startswith(f"„{said} [1].“ It rained.")


@pytest.mark.parametrize("draft", ["", " \n", "```\n```", "\ufeff"])
def test_a_draft_without_words_is_refused(port: Collection, draft: str) -> None:
    with pytest.raises(UsageError, match="the draft has no words"):
        cite(port, draft)


@pytest.mark.parametrize(
    ("draft", "statuses"),
    [
        ("Timber went by ship in 1999. [@reed2016] It employs 9,411 people.", ["cited_already", "no_source"]),
        ("It employs 9,411 people. [@reed2016] showed 12 ships.", ["no_source", "cited_already"]),
        ("Der Hafen verschiffte 9.411 Tonnen Getreide.", ["no_source"]),
    ],
)
def test_marks_behind_a_sentence_are_its_own(port: Collection, draft: str, statuses: list[str]) -> None:
    assert [one.status for one in cite(port, draft).sentences] == statuses


@pytest.mark.parametrize("fragment", ["4,210", "(2023)", "Tab. 3"])
def test_a_fragment_states_nothing(port: Collection, fragment: str) -> None:
    assert [one.status for one in cite(port, f"{fragment}\n\nIt rained in 2023.").sentences] == [
        "not_factual",
        "no_source",
    ]


def test_keys_can_be_told_from_numbers_of_the_authors(port: Collection) -> None:
    said = "It rained [1]. Timber went by ship in 1999 [2, 4]. The port shipped 4,210 tonnes of grain in 2023."
    cited = cite(port, Draft(text=said, marks="keys"))
    assert [one.status for one in cited.sentences] == ["not_factual", "cited_already", "cited"]
    assert cited.text.startswith(said.replace("2023.", "2023 [@report]."))
    shown = draft_as_answer(cited, "draft.md", port).answer
    assert shown.text == said.replace("[1]", "(1)").replace("[2, 4]", "(2, 4)").replace("2023.", "2023 [1].")


def test_keys_name_documents_and_avoid_those_of_the_draft(port: Collection) -> None:
    said = "The port shipped 4,210 tonnes of grain in 2023. Timber went by ship in 1999 [@Report]."
    cited = cite(port, Draft(text=said, marks="keys"))
    assert "grain in 2023 [@reporta]. Timber" in cited.text
    assert "\n\n`reporta`: report.pdf, page 4: “" in cited.text
    assert cited.bibtex == "@misc{reporta,\n  title = {report},\n  howpublished = {File report.pdf},\n}\n"
    assert cited.incomplete == {"report.pdf": ("title", "authors", "year")}
    assert not cite(port, said.replace("[@Report]", "(Reed, 2016)")).bibtex


def test_latex_is_cited_by_commands_and_listed_in_comments(port: Collection) -> None:
    said = "\\section{The port}\nThe port shipped $4{,}210$ tonnes of \\emph{grain in 2023}. % a remark\n"
    cited = cite(port, Draft(text=said, form="latex", marks="keys"))
    body, _, listed = cited.text.partition("\n\n")
    assert body == said.replace("2023}.", "2023}~\\cite{report}.").rstrip()
    assert all(line.startswith("% ") for line in listed.splitlines())
    assert "% report: report.pdf, page 4: “" in listed
    with pytest.raises(UsageError, match="name a file for their entries with --bib"):
        cite(port, Draft(text=said, form="latex"))


class KeepsExcerpts:
    """Finds nothing, and keeps what it was asked."""

    def __init__(self, port: Collection) -> None:
        self.asked: dict[str, str] = {}
        self._finds = Attributor(port, Search(LexicalRetriever(port)))

    async def attribute_excerpt(self, excerpt: Excerpt) -> Attribution:
        self.asked[excerpt.claim] = excerpt.text
        return await self._finds.attribute_excerpt(excerpt)


def test_a_sentence_is_searched_for_with_its_neighbours_in_the_paragraph(port: Collection) -> None:
    finds = KeepsExcerpts(port)
    draft = (
        "# Grain\n\nThe port is old [@reed2016]. It shipped 4,210 tonnes. Who knows more?\n\n- It has 12 quays.\n"
        "- Rain fell in 1999.\n"
    )
    asyncio.run(cite_draft(finds, draft))
    assert finds.asked == {
        "It shipped 4,210 tonnes.": "The port is old. It shipped 4,210 tonnes. Who knows more?",
        "It has 12 quays.": "It has 12 quays. Rain fell in 1999.",
        "Rain fell in 1999.": "It has 12 quays. Rain fell in 1999.",
    }


def test_neighbours_that_are_too_long_to_search_for_are_left_out(port: Collection) -> None:
    finds = KeepsExcerpts(port)
    asyncio.run(cite_draft(finds, f"It shipped 4,210 tonnes. It carried oats{' and rye' * 160} in 1999."))
    assert finds.asked["It shipped 4,210 tonnes."] == "It shipped 4,210 tonnes."


class MadeLiterature:
    """Finds sources in a collection of papers, until it has been asked so often."""

    def __init__(self, papers: Collection, answers: int = 100) -> None:
        self.asked: list[str] = []
        self._attributor, self._answers = Attributor(papers, Search(LexicalRetriever(papers))), answers

    async def attribute_excerpt(self, excerpt: Excerpt) -> Attribution:
        self.asked.append(excerpt.claim)
        if len(self.asked) > self._answers:
            raise SourceUnreachable("no answer from the made source")
        return await self._attributor.attribute_excerpt(excerpt)


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("papers")
    known = {"title": "Rail & Timber", "authors": "Ada Reed; Bo Lee", "published": "2016-05", "doi": "10.1/x"}
    with Collection.create(folder / "collection") as made:
        with made.writer() as writer:
            put(writer, folder, "paper.md", [made_quote("In 1999 Skarn sent 812 loads of timber.")], metadata=known)
        yield made


SAID = (
    "The port shipped 4,210 tonnes of grain in 2023. Skarn sent 812 loads of timber in 1999. It employs 9,411 people.\n"
)


def test_the_literature_is_asked_for_what_the_documents_do_not_support(port: Collection, papers: Collection) -> None:
    literature = MadeLiterature(papers)
    cited = cite(port, Draft(text=SAID, marks="keys"), literature=literature)
    assert sorted(literature.asked) == ["It employs 9,411 people.", "Skarn sent 812 loads of timber in 1999."]
    assert [one.status for one in cited.sentences] == ["cited", "cited", "no_source"]
    assert [one.origin for one in cited.references] == ["documents", "literature"]
    assert "timber in 1999 [@reed2016rail]." in cited.text
    assert "`reed2016rail`: Ada Reed, Bo Lee (2016). Rail & Timber. https://doi.org/10.1/x, " in cited.text
    assert "title = {Rail \\& Timber}" in cited.bibtex
    assert cited.stopped is None


@pytest.mark.parametrize(("answers", "second"), [(0, "not_asked"), (1, "cited")])
def test_a_source_that_goes_down_leaves_what_was_found(
    port: Collection, papers: Collection, answers: int, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoteweave.attribution.drafts.post_hoc.CONCURRENCY", 1)  # asked in the order of the draft
    cited = cite(port, SAID, literature=MadeLiterature(papers, answers))
    assert [one.status for one in cited.sentences] == ["cited", second, "not_asked"]
    assert cited.stopped == "no answer from the made source"
    assert "grain in 2023 [1]." in cited.text


@pytest.mark.parametrize(
    "said",
    [
        "In 2023 the port sent out 4,210 tonnes of grain.",
        "In 2023 the port lost 4,210 tonnes of grain to fire.",
        "Most of the grain of the port went by rail.",
    ],
)
def test_what_the_documents_only_likely_support_is_looked_for_in_the_literature_too(
    port: Collection, papers: Collection, said: str
) -> None:
    literature = MadeLiterature(papers)
    (sentence,) = cite(port, said, literature=literature).sentences
    assert (literature.asked, sentence.status) == ([said], "likely")


def test_what_a_checker_confirms_is_not_looked_for_in_the_literature(port: Collection, papers: Collection) -> None:
    literature = MadeLiterature(papers)
    with ModelServer(lambda _: Reply(text='{"supported": "yes"}')) as server:
        settings = AttributionSettings(check=f"chat:judge@{server.base_url}")
        said = "In 2023 the port sent out 4,210 tonnes of grain."
        (sentence,) = cite(port, said, settings=settings, literature=literature).sentences
    assert (literature.asked, sentence.status) == ([], "cited")


def test_each_origin_has_a_page_of_its_own(port: Collection, papers: Collection) -> None:
    cited = cite(port, SAID, literature=MadeLiterature(papers))
    own = draft_as_answer(cited, "draft.md", port)
    found = draft_as_answer(cited, "draft.md", papers, origin="literature")
    assert [one.document for one in own.answer.citations] == ["report.pdf"]
    assert [one.document for one in found.answer.citations] == ["paper.md"]


def test_the_page_of_a_latex_draft_names_a_sentence_without_a_source_as_it_reads(port: Collection) -> None:
    said = '\\begin{document}\nIt employs \\emph{9,411} people, 50\\% of M\\"unster.\n\\end{document}'

    cited = cite(port, Draft(text=said, form="latex", marks="keys"))

    (warning,) = draft_as_answer(cited, "draft.tex", port).answer.warnings
    assert warning == "No passage was found to support “It employs 9,411 people, 50% of Münster.”"


def test_the_page_of_a_latex_draft_says_that_it_is_one_and_shows_its_text(port: Collection) -> None:
    said = (
        "\\documentclass{article}\n\\begin{document}\n\\section{Trade}\nIn 2023 the \\emph{port}\nshipped 4{,}210 "
        "tonnes of grain.\nTimber went by ship~\\cite{reed2016}.\n\n\\begin{itemize}\n\\item One thing.\n"
        "\\item Another.\n\\end{itemize}\n\\end{document}\n"
    )
    cited = cite(port, Draft(text=said, form="latex", marks="keys"))
    answered = draft_as_answer(cited, "draft.tex", port)
    assert answered.answer.text == (
        "In 2023 the port shipped 4,210 tonnes of grain [1]. Timber went by ship \\cite{reed2016}.\n\n"
        "- One thing.\n- Another."
    )
    views, _ = view_answered([answered], port)
    page = render_answers(views, "draft.tex", wording=DRAFT_WORDING)
    assert "Draft with citations" in page
    assert "Answered" not in page
    body = page[page.index("<body>") : page.rindex("<script>")]
    assert "uestion" not in body.replace('class="question"', "").replace('-question"', "")


def test_headings_of_markdown_are_shown_as_such_and_front_matter_is_not(port: Collection) -> None:
    said = (
        "---\ntitle: x\n---\n# The *port* in `2023`\nIn 2023 the port shipped 4,210 tonnes of grain.\n\nTrade\n=====\n"
        "\n```\n# x *y*\n```\n\n> It *really* rained on `quay 2`, [they](http://a.b) **say**: 2 * 3 * 4.\n"
    )
    answered = draft_as_answer(cite(port, said), "draft.md", port)
    views, _ = view_answered([answered], port)
    page = render_answers(views, "draft.md", wording=DRAFT_WORDING)
    body = page[page.index("<body>") :]
    assert "<b>The port in 2023</b>" in body or "<strong>The port in 2023</strong>" in body
    assert "<b>Trade</b>" in body or "<strong>Trade</strong>" in body
    assert "title: x" not in body
    assert "=====" not in body
    assert "# x *y*" in body, "code is no heading"
    assert "It really rained on quay 2, they <b>say</b>: 2 * 3 * 4." in re.sub(r"(</?)strong>", r"\1b>", body)
    assert [one.document for one in answered.answer.citations] == ["report.pdf"]


def test_a_sentence_of_a_list_begins_behind_its_bullet(port: Collection) -> None:
    said = "- In 2023 the port shipped 4,210 tonnes of grain.\n2. In 2023 it shipped 4,210 tonnes of grain.\n"
    cited = cite(port, said)
    assert [one.text for one in cited.sentences] == [line.partition(" ")[2] for line in said.splitlines()]
    assert [said[one.start : one.end] for one in cited.sentences] == [one.text for one in cited.sentences]
    assert cited.text.startswith("- In 2023 the port shipped 4,210 tonnes of grain [1].\n2. In")


@pytest.mark.parametrize(
    ("own", "heading"),
    [
        ("", "## References"),
        ("\nThe references are below.\n", "## References"),
        ("\n## References\n\nReed. Blur. 2016.\n", "## Passages cited"),
        ("\n**Bibliography**\n\nReed. Blur. 2016.\n", "## Passages cited"),
        ("\n7. Bibliography\n\nReed. Blur. 2016.\n", "## Passages cited"),
        ("\nReferences\n==========\n\nReed. Blur. 2016.\n", "## Passages cited"),
    ],
)
def test_the_list_has_another_heading_where_the_draft_has_references(port: Collection, own: str, heading: str) -> None:
    draft = f"The port shipped 4,210 tonnes of grain in 2023.\n{own}"
    added = cite(port, draft).text[len(draft.rstrip()) :]
    assert re.findall(r"^## .+$", added, re.MULTILINE) == [heading]
