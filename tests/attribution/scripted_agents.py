"""What the tests of the agent share: papers, a library, and replies with actions."""

import asyncio
import json
from pathlib import Path

from made_sources import MadeSource

from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.trajectory import AgentSettings, Trajectory
from quoteweave.attribution.literature.sources.papers import Paper, PaperSource, PublicationDate
from quoteweave.attribution.literature.sources.unseen import HidingRule
from quoteweave.core.protocols import ChatModel

EXCERPT = "Grain shipments doubled in May, as [CITATION] had foretold."
OWN = Paper(id="own", title="Our Own Paper on Harbours", published=PublicationDate(year=2020))
TARGET = Paper(
    id="t1",
    title="Freight in May",
    abstract="We foretell that grain shipments will double in May.",
    published=PublicationDate(year=2018),
    citations=41,
)
OTHER = Paper(id="o2", title="Timber by Rail", abstract="Timber.", published=PublicationDate(year=2016), citations=7)
LATER = Paper(id="l3", title="Freight in June", published=PublicationDate(year=2023))
PAPERS = (OTHER, LATER, TARGET, OWN)
RULE = HidingRule(own=OWN, before=PublicationDate(year=2020))


def does(name: str, rationale: str = "It says so.", **fields: str) -> str:
    """A reply with one action."""
    return json.dumps({"rationale": rationale, "action": {"name": name, **fields}})


SEARCH, SELECT = does("search_relevance", query="grain"), does("select", paper_id="t1")


def find(
    model: ChatModel,
    settings: AgentSettings | None = None,
    *,
    source: PaperSource | None = None,
    saved: Path | None = None,
    excerpt: str = EXCERPT,
) -> Trajectory:
    """One excerpt, with the made library unless another source is given."""
    agent = CiteAgent(model, source or MadeSource(PAPERS), settings)
    return asyncio.run(agent.find(excerpt, id="7", rule=RULE, saved=saved))
