"""The page of a trajectory, and what it says of where a search went wrong."""

import asyncio
import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from made_sources import MadeSource
from scripted_agents import EXCERPT, OTHER, OWN, PAPERS, RULE, SEARCH, SELECT, TARGET, does, find

from quoteweave.attribution.agent.actions import SearchSnippets
from quoteweave.attribution.agent.diagnosis import diagnose
from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.review import render_trajectory
from quoteweave.attribution.agent.trajectory import AgentSettings, Ending, Reply, Step, Trajectory, TrajectorySetup
from quoteweave.attribution.literature.sources.papers import Paper, PaperText, PublicationDate
from quoteweave.attribution.literature.sources.unseen import HidingRule
from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import EndpointUnreachable
from quoteweave.testing.fakes import FakeChat

GOLD = [TARGET.title]
WRONG = does("select", paper_id="o2")


class Citing(MadeSource):
    """A library whose texts have a title in their references."""

    async def read(self, paper: Paper) -> PaperText:
        return PaperText(
            outcome="full_text", text="As shown in [3]. [3] Reed. The  Origin of All\nGrain Freight. 1999."
        )


@pytest.mark.parametrize(
    ("script", "gold", "sentences"),
    [
        ([SEARCH, SELECT], GOLD, ["The paper selected is the one cited."]),
        ([SEARCH, SELECT], ["Other", "freight in May!"], ["The paper selected is the one cited."]),
        ([SEARCH, WRONG], GOLD, ["The paper cited was shown in step 1, at rank 2, and not selected."]),
        (
            [SEARCH, does("read", paper_id="t1"), does("search_snippets", query="x"), WRONG],
            GOLD,
            [
                "The paper cited was shown in step 1, at rank 2, and again in step 3, and not selected.",
                "It was read in step 2.",
            ],
        ),
        ([SEARCH, WRONG], ["Of Other Things"], ["The paper cited was never shown."]),
        (
            [SEARCH, does("read", paper_id="o2"), WRONG],
            ["The Origin of All Grain Freight"],
            [
                "The paper cited was never shown.",
                "Its title stood in what step 2 showed of other papers, and was not searched for.",
            ],
        ),
        (
            [SEARCH, WRONG],
            [OWN.title],
            ["The paper cited could not be found: it has the title of the paper that the excerpt is from."],
        ),
        (
            [SEARCH, EndpointUnreachable("gone")],
            GOLD,
            [
                "The paper cited was shown in step 1, at rank 2, and not selected.",
                "The model's endpoint failed.",
            ],
        ),
        (
            [SEARCH, EndpointUnreachable("gone")],
            [TARGET.title, OTHER.title],  # one search shows both
            [
                "The paper cited was shown in step 1, at rank 1, and not selected.",
                "The model's endpoint failed.",
            ],
        ),
    ],
)
def test_where_a_search_went_wrong_is_said(
    script: list[str | Exception], gold: list[str], sentences: list[str]
) -> None:
    found = diagnose(find(FakeChat(script), source=Citing(PAPERS)), gold)

    assert list(found.sentences) == sentences
    assert found.correct == (sentences == ["The paper selected is the one cited."])


def test_a_title_named_from_memory_is_right_or_wrong_and_was_not_to_be_shown() -> None:
    settings = AgentSettings(condition="no_commands")

    right, wrong = (diagnose(find(FakeChat([title]), settings), GOLD) for title in ("Freight in May", "Timber"))

    assert (right.correct, wrong.correct, wrong.sentences) == (True, False, ())


def test_the_page_shows_each_step_what_was_seen_and_the_outcome() -> None:
    usage = Usage(input_tokens=1_200, output_tokens=30)
    actions = (SEARCH, does("read", paper_id="no"), WRONG)
    script: list[str | Completion | Exception] = [
        "Hm, prose.",
        *(Completion(text=text, model="m", usage=usage) for text in actions),
    ]

    page = html.fromstring(render_trajectory(find(FakeChat(script)), GOLD))

    text = " ".join(page.text_content().split())
    assert page.xpath("//blockquote/mark")[0].text == "[CITATION]"
    assert [" ".join(step.text_content().split()) for step in page.xpath("//ol[@class='steps']/li//h2")] == [
        "Search grain",
        "Read no",
        "Select Timber by Rail",
    ]
    assert "Not done: no search had shown this paper." in text
    assert "2 papers shown, the paper cited at rank 2" in text
    assert "2018 · cited 41 times · t1" in text
    assert "Hm, prose." in text
    assert "1,200 tokens in, 30 out" in text
    assert "Where it went wrong The paper cited was shown in step 1, at rank 2, and not selected." in text
    assert "Not shown: 1 paper that may have been published after 2020." in text
    (gold,) = page.xpath("//li[contains(@class, 'gold')]")
    assert "the paper cited" in gold.text_content()
    assert "Leaks" not in text


def test_without_a_gold_title_no_verdict_is_given_and_leaks_are_listed() -> None:
    unguarded = asyncio.run(CiteAgent(FakeChat([SEARCH, SELECT]), MadeSource(PAPERS)).find(EXCERPT))
    leaking = unguarded.model_copy(update={"setup": unguarded.setup.model_copy(update={"rule": RULE})})

    text = html.fromstring(render_trajectory(leaking)).text_content()

    assert "went wrong" not in text
    assert "The paper cited" not in text
    assert "step 1: “Freight in June”, published 2023 was shown (later than it)" in text


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (["prose"] * 3, "The model wrote no action, though it was asked again."),
        ([SEARCH, EndpointUnreachable("nobody at 127.0.0.1")], "nobody at 127.0.0.1"),
    ],
)
def test_a_search_that_broke_off_says_why(script: list[str | Exception], said: str) -> None:
    page = render_trajectory(find(FakeChat(script)))

    assert said in html.fromstring(page).text_content()


@pytest.mark.parametrize(
    ("script", "gold", "said"),
    [
        ([SEARCH, SEARCH], GOLD, "No paper was selected"),
        ([SEARCH, SEARCH], [], "No paper was selected"),
        ([SEARCH, EndpointUnreachable("gone")], GOLD, "The model's endpoint failed."),
    ],
)
def test_how_a_search_ended_is_said_once(script: list[str | Exception], gold: list[str], said: str) -> None:
    page = html.fromstring(render_trajectory(find(FakeChat(script), AgentSettings(most_actions=2)), gold))

    (box,) = page.xpath("//section[contains(@class, 'outcome')]")
    text = box.text_content()
    assert text.count(said) == 1
    assert len(re.findall("selected no paper|no paper was selected", text, re.IGNORECASE)) == 1


def test_of_a_wrong_title_from_memory_no_empty_list_of_what_went_wrong_is_shown() -> None:
    settings = AgentSettings(condition="no_commands")

    page = html.fromstring(render_trajectory(find(FakeChat(["Timber"]), settings), GOLD))

    (verdict,) = page.xpath("//h3[@class='verdict']")
    assert verdict.text_content() == "Wrong"
    assert not page.xpath("//ul[@class='sentences']")


HOSTILE = st.sampled_from(
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</style><style>*{display:none}</style>",
        "</pre></li></ol><a href='javascript:alert(1)'>x</a>",
        "{{ 7 * 7 }}{% raw %}",
        "<!--",
        "\u202egnol\u0000\ufffe",
        "&lt;b&gt;",
    ]
)


@given(words=st.lists(HOSTILE, min_size=8, max_size=8))
def test_nothing_that_papers_models_or_excerpts_say_becomes_part_of_the_page(words: list[str]) -> None:
    title, abstract, venue, id, said, excerpt, reason, note = words
    paper = Paper(id=id, title=title, abstract=abstract, venue=venue, published=PublicationDate(year=2000))
    reply = Reply(text=said, problem=reason, seconds=0, notes=(note,))
    step = Step(
        number=1,
        replies=(reply, reply),
        rationale=said,
        action=SearchSnippets(query=said),
        observed=abstract,
        shown=(paper,),
        notes=(note,),
    )
    setup = TrajectorySetup(
        excerpt=f"{excerpt} [CITATION]", model=said, source=venue, settings=AgentSettings(), prompts={},
        rule=HidingRule(own=OTHER.model_copy(update={"title": title})),
    )  # fmt: skip
    selected = Trajectory(setup=setup, steps=(step,), ending=Ending(kind="selected", selected=paper))
    failed = Trajectory(setup=setup, steps=(step,), ending=Ending(kind="endpoint", reason=reason, replies=(reply,)))

    for trajectory in (selected, failed):
        page = render_trajectory(trajectory, [title])
        tree = html.fromstring(page)
        tags = {element.tag for element in tree.iter() if isinstance(element.tag, str)}
        assert not tags & {"script", "img", "a", "link", "iframe", "object", "form", "svg", "base"}
        assert len(tree.xpath("//style")) == 1
        assert not [
            name
            for element in tree.iter()
            for name in element.attrib
            if name.startswith("on") or name in ("href", "src", "style")
        ]
        assert "49" not in tree.xpath("string(//blockquote)")


def test_the_policy_of_the_page_lets_its_own_style_in_and_nothing_else() -> None:
    page = render_trajectory(find(FakeChat([SEARCH, SELECT])))

    style = re.search("<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = html.fromstring(page).xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == [f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"]
