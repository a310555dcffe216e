"""What `quoteweave attribute` and `quoteweave cite` do, as one call each."""

from pathlib import Path
from typing import NamedTuple

from quoteweave.attribution.agent.calls import find_papers
from quoteweave.attribution.agent.trajectory import Trajectory
from quoteweave.attribution.attribute import CANDIDATES, Attributor, attribution_of
from quoteweave.attribution.confirmation import make_confirming_checker
from quoteweave.attribution.drafts.cited_draft import CitedDraft
from quoteweave.attribution.drafts.draft_text import Draft
from quoteweave.attribution.drafts.post_hoc import FindsSource, cite_draft
from quoteweave.attribution.excerpts import Excerpt, read_excerpts
from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.literature.opening import Sources, open_literature
from quoteweave.attribution.literature.sources.papers import PublicationDate
from quoteweave.attribution.records import Attribution
from quoteweave.collection.collection import Collection
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Filter
from quoteweave.pipeline.runs.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.runs.search import make_search
from quoteweave.pipeline.search import Trace
from quoteweave.pipeline.settings import RetrievalSettings


def attribute(
    collection: Collection,
    text: str,
    k: int = CANDIDATES,
    *,
    settings: RetrievalSettings | None = None,
    where: Filter | None = None,
    progress: Progress = NO_PROGRESS,
) -> tuple[Attribution, ...]:
    """Find the source of each citation mark of a text in a collection, or of each sentence of a text without marks.

    At most `k` candidates each; `settings` say how is searched, and `AttributionSettings` what confirms the passages
    too. Raises what `read_excerpts`, `make_search`, `make_checker` and `Search.context` raise.

    >>> found = attribute(collection, "In May 4,210 tonnes of grain were shipped [CITATION].")
    >>> found[0].outcome, found[0].candidates[0].citation.place
    ('supported', 'Freight in May')
    """
    attributor = _attributor(collection, settings, progress)
    return run_sync(attributor.attribute(text, k, where=where))


def attribute_literature(
    text: str,
    sources: Sources = "semantic-scholar",
    k: int = CANDIDATES,
    *,
    papers: Path | None = None,
    before: str | None = None,
    not_from: str | None = None,
) -> tuple[Attribution, ...]:
    """Find the source of each citation mark of a text in the literature, or of each sentence of a text without marks.

    At most `k` candidates each. Sources are services by name, or objects of your own that implement `PaperSource`. The
    papers that are found are kept in the folder `papers`. With `before`, such as `2023-05`, nothing later is shown, and
    with `not_from` no paper of that title. Raises what `open_literature` and
    `LiteratureAttributor.attribute` raise, and UsageError for a date that cannot be read.
    """
    with open_literature(sources, papers=papers, before=read_limit(before), not_from=not_from) as literature:
        return run_sync(literature.attribute(text, k))


def attribute_by_agent(literature: LiteratureAttributor, text: str, model: ChatModel) -> tuple[Attribution, ...]:
    """Have a chat model search and read until it chooses a paper for each citation mark, and check its passages.

    The model searches the first source. Without a choice there is no candidate, and the reason says how it ended.
    Raises what `find_papers` raises.
    """
    excerpts, found = read_excerpts(text), find_papers(text, literature.source, model)
    return tuple(run_sync(_chosen(literature, *each)) for each in zip(excerpts, found, strict=True))


async def _chosen(literature: LiteratureAttributor, excerpt: Excerpt, trajectory: Trajectory) -> Attribution:
    if trajectory.selected is not None:
        return await literature.attribute_paper(excerpt, trajectory.selected)
    ending = trajectory.ending
    why = "" if ending is None else f": {ending.reason or ending.kind}"
    nothing = attribution_of(excerpt, (), Trace(clauses=()))
    return nothing.model_copy(update={"reason": f"The agent chose no paper{why}"})


def read_limit(before: str | None) -> PublicationDate | None:
    """Read a date. Raises UsageError for what is none."""
    try:
        return None if before is None else PublicationDate.parse(before)
    except ValueError as error:
        raise UsageError(str(error)) from error


def cite(
    collection: Collection,
    draft: Draft | str,
    *,
    literature: FindsSource | None = None,
    settings: RetrievalSettings | None = None,
    where: Filter | None = None,
    progress: Progress = NO_PROGRESS,
) -> CitedDraft:
    """Find a source in a collection for each factual sentence of a draft, and in the literature for what is not there.

    `where` limits the collection. Raises what `cite_draft` raises.

    >>> cite(collection, "The harbour shipped 4,210 tonnes of grain.").text.splitlines()[0]
    'The harbour shipped 4,210 tonnes of grain [1].'
    """
    documents = _Documents(_attributor(collection, settings, progress), where)
    return run_sync(cite_draft(documents, draft, literature=literature, progress=progress))


class _Documents(NamedTuple):
    """The documents of a collection that a filter leaves; implements `FindsSource`."""

    attributor: Attributor
    where: Filter | None

    async def attribute_excerpt(self, excerpt: Excerpt) -> Attribution:
        """Find the source of one claim."""
        return await self.attributor.attribute_excerpt(excerpt, where=self.where)


def _attributor(collection: Collection, settings: RetrievalSettings | None, progress: Progress) -> Attributor:
    settings = settings or RetrievalSettings()
    search = make_search(collection, settings, progress=progress)
    return Attributor(collection, search, make_confirming_checker(settings, progress))
