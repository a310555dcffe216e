"""Whatever JSON a source sends, the outcome is papers or an error that says what is wrong with it; nothing else."""

import asyncio
import copy
from collections.abc import Callable, Coroutine

from hypothesis import given
from hypothesis import strategies as st
from scripted_sources import NamingReader, Script, reply
from test_openalex import SENT as WORK
from test_semantic_scholar import SENT as PAPER
from test_semantic_scholar import passage

from quoteweave.attribution.literature.sources.openalex import OPENALEX, OpenAlex
from quoteweave.attribution.literature.sources.papers import Paper, PapersFound, PublicationDate, SnippetsFound
from quoteweave.attribution.literature.sources.queries import plain_query
from quoteweave.attribution.literature.sources.semantic_scholar import SEMANTIC_SCHOLAR, SemanticScholar
from quoteweave.attribution.literature.sources.source_client import SourceLimits
from quoteweave.core.errors import SourceBadResponse

EARLIER = {**PAPER, "paperId": "b", "year": 2019, "publicationDate": None}
BEFORE = PublicationDate(year=2020, month=6)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["", "2020-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(value: object) -> list[tuple[object, ...]]:
    """The paths to all values within a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(), *((key, *rest) for key, inner in pairs for rest in places(inner))]


@st.composite
def spoilt(draw: st.DrawFn, sent: object) -> object:
    """What a source sends, with any values in one or two places."""
    spoilt = copy.deepcopy(sent)
    for _ in range(draw(st.integers(1, 2))):
        *path, last = draw(st.sampled_from([place for place in places(spoilt) if place] or [("",)]))
        inner: object = spoilt
        for key in path:
            inner = inner[key]  # type: ignore[index]
        inner[last] = draw(JSON)  # type: ignore[index]
    return spoilt


def shown(ask: Callable[[], Coroutine[object, object, PapersFound | SnippetsFound]]) -> tuple[Paper, ...]:
    """The papers that are shown; none where the reply is refused."""
    try:
        found = asyncio.run(ask())
    except SourceBadResponse:
        return ()
    return found.papers if isinstance(found, PapersFound) else tuple(one.paper for one in found.snippets)


def in_time(papers: tuple[Paper, ...]) -> bool:
    return all(paper.published is not None and not paper.published.may_follow(BEFORE) for paper in papers)


def client(script: Script) -> SemanticScholar:
    return SemanticScholar(script.client(SEMANTIC_SCHOLAR, limits=SourceLimits(per_second=1000)), NamingReader())


@given(
    spoilt({"total": 1, "offset": 0, "data": [PAPER, {**PAPER, "paperId": "b", "year": 2019, "publicationDate": None}]})
)
def test_papers_of_semantic_scholar(sent: object) -> None:
    replies = [reply(sent) for _ in range(12)]
    assert in_time(shown(lambda: client(Script(*replies)).search("ships", before=BEFORE)))
    assert in_time(shown(lambda: client(Script(*replies)).search("ships", by="citations", before=BEFORE)))


@given(spoilt([{"data": [passage("1", "Ships."), passage("2", "Boats.")]}, [PAPER, PAPER]]))
def test_passages_of_semantic_scholar(sent: object) -> None:
    replies = [reply(each) for each in sent] if isinstance(sent, list) else []
    papers = shown(lambda: client(Script(*replies)).search_snippets("ships", before=BEFORE))
    assert in_time(papers)


@given(
    spoilt({"meta": {"count": 2, "next_cursor": None}, "results": [WORK, {**WORK, "id": "https://openalex.org/W2"}]})
)
def test_works_of_openalex(sent: object) -> None:
    script = Script(*(reply(sent) for _ in range(20)))
    alex = OpenAlex(script.client(OPENALEX, limits=SourceLimits(per_second=1000)), NamingReader())
    assert in_time(shown(lambda: alex.search("ships", before=BEFORE)))


@given(st.text() | st.text(alphabet='ab +|-"*()~?!:\\[]ANDORT\u2013\ud800', max_size=40))
def test_a_query_is_plain_words_however_it_is_written(text: str) -> None:
    words, note = plain_query(text)
    assert not set(words) & set('+|-"*()~?!^:\\[]{}<>=\n\t')
    assert not {"AND", "OR", "NOT"} & set(words.split())
    assert plain_query(words) == (words, note)
    words.encode()
