"""Calls that do what `quoteweave attribute` and `quoteweave cite` do, and one that has the agent find papers."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.trajectory import RESUMABLE, AgentSettings, Trajectory
from quoteweave.attribution.attribute import Attributor, attribution_of
from quoteweave.attribution.drafts.cited_draft import CitedDraft
from quoteweave.attribution.drafts.draft_text import Draft
from quoteweave.attribution.drafts.post_hoc import FindsSource, cite_draft
from quoteweave.attribution.excerpts import MAX_EXCERPT_CHARACTERS, Excerpt, read_excerpts
from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.literature.opening import Sources, open_literature
from quoteweave.attribution.literature.sources.papers import PaperSource
from quoteweave.attribution.literature.sources.queries import read_limit
from quoteweave.attribution.literature.sources.unseen import HidingRule
from quoteweave.attribution.records import Attribution
from quoteweave.attribution.settings import CANDIDATES, make_confirming_checker
from quoteweave.collection.collection import Collection
from quoteweave.core.concurrency.pools import for_each
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import EndpointUnreachable, SourceUnreachable
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Filter
from quoteweave.generation.sentences import split_sentences
from quoteweave.pipeline.composition.make_search import make_search
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.search import Trace
from quoteweave.pipeline.settings import RetrievalSettings

MASK = "[CITATION]"
"""What stands in an excerpt for the citation that is looked for."""
AT_ONCE = 64
"""Excerpts that are looked for at the same time."""
_OTHER_MASK = "[other citation]"
_MASKS = lazy_regex(r"\[(?:CITATION|REF)\]")
_STOP = lazy_regex(r"[.!?…。！？]+[\"'”’»)\]]*$")


def find_papers(
    text: str,
    source: PaperSource | None,
    model: ChatModel,
    *,
    settings: AgentSettings | None = None,
    rule: HidingRule | None = None,
    saved: Path | None = None,
) -> tuple[Trajectory, ...]:
    """Have a chat model find the paper for each citation mark of a text, or for each sentence of one without marks.

    The model searches and reads in `source`, as `settings` allow; `rule` hides the paper that the text is from, and
    later ones. Of each trajectory, `outcome` is `selected` or what went wrong, `selected` the paper, and `steps` what
    led there. With the folder `saved` every step is kept in it as it happens (`1.jsonl` is that of the first mark): a
    second call resumes what was broken off, and returns what has ended without asking anybody.

    A failure of the model or the source ends its trajectory, and is no exception. Raises UsageError for a text that
    cannot be read, for no source where one is searched, and for a budget that is spent; QuestionTooLong; DatasetError
    and StorageError for files in `saved`.

    >>> (found,) = find_papers("Grain shipments doubled in May [4].", source, model)
    >>> found.outcome, found.selected.title
    ('selected', 'Freight in May')
    """
    return run_sync(_find_all(CiteAgent(model, source, settings), masked_excerpts(text), rule, saved))


async def _find_all(
    agent: CiteAgent, excerpts: Sequence[str], rule: HidingRule | None, saved: Path | None
) -> tuple[Trajectory, ...]:
    trajectories: dict[int, Trajectory] = {}

    async def find(number: int) -> None:
        path = None if saved is None else saved / f"{number}.jsonl"
        trajectories[number] = await agent.find(excerpts[number - 1], id=str(number), rule=rule, saved=path)

    numbers = range(1, len(excerpts) + 1)
    await for_each(numbers, find, concurrency=min(AT_ONCE, len(excerpts)))
    return tuple(trajectories[number] for number in numbers)


def masked_excerpts(text: str) -> list[str]:
    """Return an excerpt for each citation mark of a text, in which [CITATION] stands for it.

    A text without marks gives one for each sentence, as if it ended with a citation. Of a long text the 600 characters
    on each side of the mark are taken. Raises what `read_excerpts` raises.

    >>> masked_excerpts("Blur hurts networks [4], but people see well [7].")[1]
    'Blur hurts networks [4], but people see well [CITATION].'
    >>> masked_excerpts("Blur hurts networks.")
    ['Blur hurts networks [CITATION].']
    """
    return [_masked_excerpt(text, excerpt) for excerpt in read_excerpts(text)]


def _masked_excerpt(text: str, excerpt: Excerpt) -> str:
    if excerpt.mark is None:
        # The text is searched for the sentence, as the claim lacks words that introduce a source.
        sentence = split_sentences(text[excerpt.start :])[0].text
        stop = _STOP.search(sentence)
        end = excerpt.start + (len(sentence) if stop is None else stop.start())
        return " ".join(f"{text[:end].rstrip()} {MASK}{text[end:]}".split())
    around = MAX_EXCERPT_CHARACTERS // 2
    end = excerpt.start + len(excerpt.mark)
    before, after = text[: excerpt.start], text[end:]
    if excerpt.cut:
        before = "…" + before[-around:].partition(" ")[2] if len(before) > around else before
        after = after[:around].rpartition(" ")[0] + "…" if len(after) > around else after
    before, after = (_MASKS.sub(_OTHER_MASK, part) for part in (before, after))
    return f"{before}{MASK}{after}".strip()


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

    Each gets at most `k` candidates. `settings` say how to search; `AttributionSettings` also say what confirms the
    passages.

    Raises UsageError for a text without words and for settings that name nothing; QuestionTooLong; IndexMissing and
    FingerprintMismatch for a retriever without an index of these settings; CollectionError where the collection is
    damaged; ModelError and EndpointError of models that rank or check.

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
    with `not_from` no paper of that title.

    Raises UsageError for a date, a source or a text that cannot be read, and for too many marks; QuestionTooLong;
    SourceError where none of the sources can be asked; CollectionError and StorageError for the folder of papers.
    """
    with open_literature(sources, papers=papers, before=read_limit(before), not_from=not_from) as literature:
        return run_sync(literature.attribute(text, k))


def attribute_by_agent(literature: LiteratureAttributor, text: str, model: ChatModel) -> tuple[Attribution, ...]:
    """Have a chat model search and read until it chooses a paper for each citation mark, and check its passages.

    The model searches the first source. Without a choice there is no candidate, and the reason says how it ended.
    Raises EndpointUnreachable and SourceUnreachable where the endpoint, or the source, failed for every mark;
    UsageError and QuestionTooLong as `find_papers` does; CollectionError for the folder of papers.
    """
    excerpts, trajectories = read_excerpts(text), find_papers(text, literature.source, model)
    if all(trajectory.outcome in RESUMABLE for trajectory in trajectories):  # so that nothing is known of any source
        failed = next(trajectory.ending for trajectory in trajectories if trajectory.ending is not None)
        reason = failed.reason or failed.kind
        raise SourceUnreachable(reason) if failed.kind == "source" else EndpointUnreachable(reason)
    searches = zip(excerpts, trajectories, strict=True)
    return tuple(run_sync(_chosen(literature, excerpt, trajectory)) for excerpt, trajectory in searches)


async def _chosen(literature: LiteratureAttributor, excerpt: Excerpt, trajectory: Trajectory) -> Attribution:
    if trajectory.selected is not None:
        return await literature.attribute_paper(excerpt, trajectory.selected)
    ending = trajectory.ending
    why = "" if ending is None else f": {ending.reason or ending.kind}"
    nothing = attribution_of(excerpt, (), Trace(clauses=()))
    return nothing.model_copy(update={"reason": f"The agent chose no paper{why}"})


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

    `where` limits the collection. If the literature cannot be asked, `CitedDraft.stopped` says why.

    Raises UsageError for a draft without words, for numbers in one that has numbered marks already, and for numbers in
    LaTeX; IndexMissing, FingerprintMismatch, CollectionError, ModelError and EndpointError as `attribute` does.

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
