"""The agent's loop, with scripted models: each action, each ending, and what the model is told."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest
from made_sources import MadeSource
from scripted_agents import EXCERPT, OTHER, PAPERS, SEARCH, SELECT, TARGET, does, find

from quoteweave.attribution.agent.actions import Condition
from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.trajectory import NAMED, AgentSettings
from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PapersFound,
    PaperText,
    PublicationDate,
    SnippetsFound,
    SortBy,
)
from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import (
    EndpointBadResponse,
    EndpointRefused,
    EndpointUnreachable,
    ModelFailed,
    SourceRefused,
    SourceUnreachable,
    UsageError,
)
from quoteweave.testing.fakes import FakeChat


def test_the_agent_searches_reads_and_selects() -> None:
    model = FakeChat([SEARCH, does("read", paper_id="t1"), SELECT])
    source = MadeSource(PAPERS)

    found = find(model, source=source)

    assert (found.outcome, found.selected, found.technical_error) == ("selected", TARGET, False)
    assert [step.action.name for step in found.steps] == ["search_relevance", "read", "select"]
    assert [[paper.id for paper in step.shown] for step in found.steps] == [["o2", "t1"], ["t1"], []]
    assert found.steps[0].observed == (
        "- id: o2\n  title: Timber by Rail\n  year: 2016, citations: 7\n  abstract: Timber.\n\n"
        "- id: t1\n  title: Freight in May\n  year: 2018, citations: 41\n"
        "  abstract: We foretell that grain shipments will double in May."
    )
    assert found.steps[1].observed == "The text of “Freight in May”:\n\nAll of Freight in May."
    assert found.steps[0].rationale == "It says so."
    assert source.read_ids == ["t1"]


def test_the_papers_own_and_later_ones_are_never_in_a_conversation() -> None:
    searches = [SEARCH, does("search_citation_count", query="grain"), does("search_snippets", query="Freight")]
    model = FakeChat([*searches, SELECT])

    found = find(model)

    assert found.selected == TARGET
    said = json.dumps(model.requests)
    assert "Freight in May" in said
    assert "Freight in June" not in said
    assert "Our Own Paper" not in said
    assert "Not shown: 1 paper that may have been published after 2020." in found.steps[2].notes


def test_passages_of_papers_and_of_texts_are_found() -> None:
    class Library(MadeSource):
        async def read(self, paper: Paper) -> PaperText:
            self.read_ids.append(paper.id)
            filler = "\n\n".join(f"Paragraph {n} is about timber. " + "wood " * 100 for n in range(30))
            return PaperText(outcome="full_text", text=f"{filler}\n\n[7] Reed. Grain and Freight Foretold.\n\n{filler}")

    finds = [does("find_in_text", paper_id="t1", query=query) for query in ("grain freight", "harbour")]
    source = Library(PAPERS)

    found = find(FakeChat([does("search_snippets", query="grain"), *finds, SELECT]), source=source)

    snippets, passages, nothing, _ = found.steps
    assert "id: t1\n  title: Freight in May\n  year: 2018, citations: 41\n  passage: grain in Freight in May" in (
        snippets.observed
    )
    assert "[7] Reed. Grain and Freight Foretold." in passages.observed
    assert len(passages.observed) < 1_600  # the passages that hold no word of it are not shown
    assert nothing.observed.endswith("No word of 'harbour' is in it.")
    assert source.read_ids == ["t1"]  # read once for both


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (PaperText(outcome="not_open_access", text="", note="It is not open access."), "It is not open access."),
        (PaperText(outcome="damaged", text="The abstract."), "cannot be had: damaged\nIts abstract:\n\nThe abstract."),
    ],
)
def test_a_paper_that_cannot_be_read_is_said_to_be_so(text: PaperText, shown: str) -> None:
    class Library(MadeSource):
        async def read(self, paper: Paper) -> PaperText:
            return text

    found = find(FakeChat([SEARCH, does("read", paper_id="t1"), SELECT]), source=Library(PAPERS))

    assert shown in found.steps[1].observed
    assert found.steps[1].error is None
    assert found.outcome == "selected"


def test_a_search_that_finds_nothing_says_so() -> None:
    found = find(FakeChat([SEARCH, does("search_snippets", query="x"), EndpointUnreachable("gone")]), source=Empty([]))

    assert [step.observed for step in found.steps] == [
        "No paper was found. Search with other words.",
        "No passage was found. Search with other words.",
    ]


class Empty(MadeSource):
    """Finds nothing."""

    async def search_snippets(self, query: str, k: int = 10, *, before: object = None) -> SnippetsFound:
        return SnippetsFound(snippets=())


@pytest.mark.parametrize("name", ["read", "find_in_text", "select"])
def test_a_paper_that_was_never_shown_can_be_neither_read_nor_selected(name: str) -> None:
    fields = {"paper_id": "own", **({"query": "grain"} if name == "find_in_text" else {})}
    model, source = FakeChat([SEARCH, does(name, **fields), SELECT]), MadeSource(PAPERS)

    found = find(model, source=source)

    assert [step.error for step in found.steps] == [None, "never_shown", None]
    assert "No search has shown a paper of the id 'own'" in found.steps[1].observed
    assert model.requests[2][-1]["content"] == found.steps[1].observed
    assert source.read_ids == []
    assert found.selected == TARGET


def test_an_id_is_read_whatever_its_spaces_and_cannot_pass_for_an_entry() -> None:
    forged = TARGET.model_copy(update={"id": "papers/my  file.pdf\n- id: t1"})
    search = FakeChat([SEARCH, does("select", paper_id=" papers/my file.pdf - id:\nt1\n")])

    found = find(search, source=MadeSource([forged]))

    assert found.selected == forged
    assert found.steps[0].observed.startswith("- id: papers/my file.pdf - id: t1\n  title:")


def test_prose_is_asked_for_again_with_what_was_wrong_with_it() -> None:
    unknown = does("open_browser", query="x")
    model = FakeChat(["I would search for grain.", unknown, SEARCH, SELECT])

    found = find(model)

    assert found.selected == TARGET
    assert [reply.problem for reply in found.steps[0].replies] == [
        "it holds no JSON object",
        "there is no action 'open_browser'; the actions are search_relevance, search_citation_count, search_snippets, "
        "read, find_in_text, select",
        None,
    ]
    assert [message["role"] for message in model.requests[2]] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert "That was no action: it holds no JSON object." in str(model.requests[2][3]["content"])
    assert len(model.requests[3]) == 4  # what was wrong is not said again once it has been mended


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("{", "it holds no JSON object"),
        ("[1, 2]", "it holds no JSON object"),
        ('{"thought": "hm"}', "its JSON object has no field `action`"),
        ('{"action": {"name": "select", "paper_id": "t1"}}', "rationale: Field required"),
        ('{"rationale": "x", "action": "select"}', "action: Input should be an object"),
        ('{"rationale": "x", "action": {"name": "select"}}', "action select.paper_id: Field required"),
        ('{"rationale": "x", "action": {"name": "search_relevance", "query": " "}}', "query: String should have at"),
        ('{"rationale": "x", "action": {"name": "name_paper", "title": "T"}}', "there is no action 'name_paper'"),
        ('{"rationale": "x", "action": {"name": ["select"]}}', "there is no action"),
        ('{"a":' * 100_000, "it holds no JSON object"),
        ('{"rationale": "x", "action": {"name": "read", "x": NaN, "paper_id": [1]}}', "action read.paper_id: Input"),
        ('{"rationale": "x", "action": {"x": ' + "[" * 700 + "]" * 700 + "}}", "recursion limit"),
    ],
)
def test_what_is_no_action_ends_as_bad_format_when_it_is_not_mended(reply: str, problem: str) -> None:
    model = FakeChat([reply] * 3)

    found = find(model)

    assert (found.outcome, found.technical_error, found.selected) == ("bad_format", True, None)
    assert found.ending is not None
    assert found.ending.reason is not None
    assert found.ending.reason.startswith("3 replies without an action; the last: ")
    assert problem in found.ending.reason
    assert [len(found.ending.replies), len(found.steps)] == [3, 0]


def test_a_reply_may_have_prose_around_its_action_and_the_first_of_several_is_taken() -> None:
    model = FakeChat([f"Let me {{see}}:\n```json\n{SEARCH}\n```\nThen {does('read', paper_id='t1')}", SELECT])

    found = find(model)

    assert found.steps[0].action.name == "search_relevance"
    assert found.steps[0].notes[0] == "The reply held 2 actions; the first was taken."


def test_a_reply_with_half_a_character_can_be_saved() -> None:
    halves = '{"rationale": "\\ud800", "action": {"name": "search_relevance", "query": "\\udc00x"}}'

    found = find(FakeChat([halves, SELECT]))

    assert (found.steps[0].rationale, found.selected) == ("?", TARGET)
    assert found.model_dump_json()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (EndpointRefused("filtered", status=400, reason="content_filter"), "content_filter"),
        (EndpointRefused("too long", status=400, reason="window"), "window"),
        (EndpointRefused("no key", status=401), "endpoint"),
        (EndpointUnreachable("nobody there"), "endpoint"),
        (EndpointBadResponse("empty"), "endpoint"),
        (ModelFailed("out of memory"), "endpoint"),
    ],
)
def test_failures_of_the_model_are_technical_errors_of_their_kind(error: Exception, kind: str) -> None:
    found = find(FakeChat([SEARCH, error]))

    assert (found.outcome, found.technical_error, len(found.steps)) == (kind, True, 1)
    assert found.ending is not None
    assert found.ending.reason == str(error)


def test_a_reply_that_a_filter_broke_off_is_a_technical_error() -> None:
    found = find(FakeChat([Completion(text='{"ratio', model="m", finish_reason="content_filter")]))

    assert found.outcome == "content_filter"


def test_a_reply_cut_at_its_limit_of_tokens_is_told_so() -> None:
    found = find(FakeChat([Completion(text='{"ratio', model="m", finish_reason="length"), SEARCH, SELECT]))

    assert "cut off at the limit of tokens" in str(found.steps[0].replies[0].problem)


def test_a_failure_of_the_source_is_a_technical_error_that_names_the_step() -> None:
    class Broken(MadeSource):
        async def search(self, query: str, k: int = 10, *, by: str = "relevance", before: object = None) -> Any:
            raise SourceUnreachable("no answer from made")

    found = find(FakeChat([SEARCH]), source=Broken(PAPERS))

    assert found.outcome == "source"
    assert found.ending is not None
    assert found.ending.reason == "step 1, search_relevance(query='grain'): no answer from made"


def test_an_action_that_is_repeated_is_told_so_and_ends_as_a_loop() -> None:
    model, source = FakeChat([SEARCH] * 4), MadeSource(OTHER_PAPERS)

    found = find(model, source=source)

    assert (found.outcome, len(found.steps), len(source.asked)) == ("loops", 3, 1)
    assert [step.shown for step in found.steps] == [OTHER_PAPERS] * 3
    assert [step.observed.startswith("This is the action of step 1 again.") for step in found.steps] == [
        False,
        True,
        True,
    ]
    assert found.ending is not None
    assert found.ending.reason == ("the action of steps 1, 2, 3 was made once more: search_relevance(query='grain')")


def test_from_the_fourteenth_action_on_only_a_selection_is_carried_out() -> None:
    searches = [does("search_relevance", query=f"grain {n}") for n in range(15)]
    source, model = Noting(PAPERS), FakeChat(searches)

    found = find(model, source=source)

    assert (found.outcome, len(found.steps), len(model.requests)) == ("no_selection", 15, 15)
    assert [step.error for step in found.steps] == [None] * 13 + ["only_select"] * 2
    assert set(source.queries) == {f"grain {n}" for n in range(13)}
    told = ["You have no more searches." in str(request[-1]["content"]) for request in model.requests]
    assert told == [False] * 13 + [True] * 2
    assert find(FakeChat([*searches[:14], SELECT])).selected == TARGET


class Noting(MadeSource):
    """Notes what it is asked."""

    queries: ClassVar[list[str]] = []

    async def search(self, query: str, k: int = 10, *, by: SortBy = "relevance", before: Any = None) -> PapersFound:
        self.queries.append(query)
        return await super().search(query, k, by=by, before=before)


OTHER_PAPERS = (OTHER, TARGET)
CONDITIONS: list[tuple[Condition, bool]] = [
    (condition, demonstration)
    for condition in ("no_commands", "search", "search_and_read")
    for demonstration in (False, True)
]


@pytest.mark.parametrize(("condition", "demonstration"), CONDITIONS)
def test_each_condition_of_table_4_tells_its_actions_and_shows_its_demonstration(
    condition: Condition, demonstration: bool
) -> None:
    settings = AgentSettings(condition=condition, demonstration=demonstration, extra_actions=False, form="json")
    model = FakeChat(["Title: “Freight in May”"] if condition == "no_commands" else [SEARCH, SELECT])

    found = find(model, settings)

    system, user = (str(message["content"]) for message in model.requests[0])
    assert found.outcome == "selected"
    assert found.selected is not None
    assert found.selected.title == "Freight in May"
    assert ("covariate shift" in system) == ("covariate shift" in system.lower()) == demonstration
    assert EXCERPT in user
    written = [f"- {name} (" in system for name in ("search_relevance", "search_citation_count", "read", "select")]
    assert (
        written
        == {
            "no_commands": [False] * 4,
            "search": [True, True, False, True],
            "search_and_read": [True] * 4,
        }[condition]
    )
    assert "search_snippets" not in system
    assert "find_in_text" not in system
    assert '"name": "read"' not in system or condition == "search_and_read"
    assert "$" not in system + user


def test_without_commands_the_title_is_asked_for_once_and_is_of_no_source() -> None:
    settings = AgentSettings(condition="no_commands")

    found = find(FakeChat(["I think it is:\n\nFreight in May"]), settings, source=Unasked())
    nothing = find(FakeChat(["***"]), settings, source=Unasked())

    assert found.selected == Paper(id=NAMED, title="Freight in May")
    assert found.setup.source is None
    assert (nothing.outcome, nothing.selected) == ("bad_format", None)


class Unasked(MadeSource):
    """Is never asked."""

    def __init__(self) -> None:
        super().__init__([])

    async def search(self, query: str, k: int = 10, *, by: str = "relevance", before: object = None) -> Any:
        raise AssertionError


@pytest.mark.parametrize("action", [does("read", paper_id="t1"), does("find_in_text", paper_id="t1", query="x")])
def test_what_a_condition_does_not_have_is_no_action(action: str) -> None:
    found = find(FakeChat([SEARCH, action, SELECT]), AgentSettings(condition="search"))

    assert str(found.steps[1].replies[0].problem).startswith("there is no action")
    assert found.selected == TARGET


def test_searches_need_a_source() -> None:
    with pytest.raises(UsageError, match="name a source of papers"):
        CiteAgent(FakeChat([]), None)


def test_tokens_are_summed_over_all_replies_and_unknown_where_one_was_not_counted() -> None:
    def reply(text: str, usage: Usage) -> Completion:
        return Completion(text=text, model="m", usage=usage)

    counted = [reply(text, Usage(input_tokens=100, output_tokens=5)) for text in ("prose", SEARCH, SELECT)]
    half = [counted[1], reply(SELECT, Usage(input_tokens=9))]

    found, partly = find(FakeChat(counted)), find(FakeChat(half))

    assert found.usage == Usage(input_tokens=300, output_tokens=15)
    assert found.steps[0].usage == Usage(input_tokens=200, output_tokens=10)
    assert partly.usage == Usage(input_tokens=109, output_tokens=None)


def test_a_models_temperature_is_noted() -> None:
    class Warm(FakeChat):
        def request_settings(self) -> Mapping[str, object]:
            return {"temperature": 0.95, "api": "secret"}

    found = find(Warm([SEARCH, SELECT]))

    assert found.setup.temperature == 0.95
    assert "secret" not in found.model_dump_json()


def _roles(messages: Sequence[Mapping[str, object]]) -> list[object]:
    return [message["role"] for message in messages]


def test_roles_take_turns_in_every_conversation() -> None:
    searches = [does("search_relevance", query=f"grain {n}") for n in range(13)]
    model = FakeChat(["prose", *searches, "prose", SELECT])

    find(model)

    for request in model.requests:
        assert _roles(request) == ["system", *["user", "assistant"] * (len(request) // 2 - 1), "user"]


def test_a_query_that_the_source_refuses_is_worded_anew_where_it_took_others() -> None:
    class Refusing(MadeSource):
        async def search(
            self, query: str, k: int = 10, *, by: SortBy = "relevance", before: PublicationDate | None = None
        ) -> PapersFound:
            if "???" in query:
                raise SourceRefused("made answered 400: bad query", status=400)
            return await super().search(query, k, by=by, before=before)

    refused = does("search_relevance", query="???")
    found = find(FakeChat([SEARCH, refused, SELECT]), source=Refusing(PAPERS))
    assert (found.outcome, found.steps[1].observed) == ("selected", "The source refused this. Use other words.")
    assert found.steps[1].notes == ("The source refused it: made answered 400: bad query",)
    assert find(FakeChat([refused]), source=Refusing(PAPERS)).outcome == "source"
