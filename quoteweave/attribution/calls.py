"""What `quoteweave attribute` and `quoteweave cite` do, as one call each."""

from pathlib import Path

from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.trajectory import AgentSettings, Trajectory
from quoteweave.attribution.attribute import CANDIDATES, Attributor
from quoteweave.attribution.literature.papers import PaperSource
from quoteweave.attribution.literature.unseen import HidingRule
from quoteweave.attribution.post_hoc import CitedDraft, cite_draft
from quoteweave.attribution.records import Attribution
from quoteweave.collection.collection import Collection
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Filter
from quoteweave.pipeline.runs.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.runs.search import make_search
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

    At most `k` candidates each; `settings` say how is searched. Raises what `read_excerpts`, `make_search` and
    `Search.context` raise.

    >>> found = attribute(collection, "In May 4,210 tonnes of grain were shipped [CITATION].")
    >>> found[0].outcome, found[0].candidates[0].citation.place
    ('supported', 'Freight in May')
    """
    attributor = _attributor(collection, settings, progress)
    return run_sync(attributor.attribute(text, k, where=where))


def cite(
    collection: Collection,
    draft: str,
    *,
    settings: RetrievalSettings | None = None,
    where: Filter | None = None,
    progress: Progress = NO_PROGRESS,
) -> CitedDraft:
    """Find a source in a collection for each factual sentence of a draft. Raises what `cite_draft` raises.

    >>> cite(collection, "The harbour shipped 4,210 tonnes of grain.").markdown.splitlines()[0]
    'The harbour shipped 4,210 tonnes of grain [1].'
    """
    return run_sync(cite_draft(_attributor(collection, settings, progress), draft, where=where))


def find_paper(
    excerpt: str,
    source: PaperSource | None,
    model: ChatModel,
    *,
    settings: AgentSettings | None = None,
    rule: HidingRule | None = None,
    saved: Path | None = None,
) -> Trajectory:
    """Have a chat model find the paper that an excerpt cites, by searching and reading in a source of papers.

    [CITATION] stands in the excerpt where the paper is cited. `settings` say what the model may do; `rule` hides the
    paper that the excerpt is from, and later ones. The steps are appended to the file `saved`; a trajectory that it
    holds is resumed, and one that ended is returned without a call. Of the result, `outcome` is `selected` or what went
    wrong, `selected` the paper, and `steps` what led there. `CiteAgent` does the same for many excerpts at once.
    Raises what `CiteAgent` and `CiteAgent.find` raise.

    >>> found = find_paper("Grain shipments doubled in May [CITATION].", source, model)
    >>> found.outcome, found.selected.title
    ('selected', 'Freight in May')
    """
    return run_sync(CiteAgent(model, source, settings).find(excerpt, rule=rule, saved=saved))


def _attributor(collection: Collection, settings: RetrievalSettings | None, progress: Progress) -> Attributor:
    return Attributor(collection, make_search(collection, settings or RetrievalSettings(), progress=progress))
