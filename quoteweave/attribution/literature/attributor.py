"""Finds the sources of claims in the literature, without a model.

1. The sources are searched for papers and passages by the claim (`literature.candidate_papers`).
2. Of the papers whose passages are most like the claim full texts are read. Where a sentence like the claim cites a
   paper that was found too, this speaks for that paper (`literature.followed_citations`).
3. The best papers go into a library, which is a collection: their full texts if these can be read, else title and
   abstract. The library is searched for the whole excerpt, by `lexical` or the retrievers that `rank_by` names. The
   rankings by the sources, by citations, and by this search are fused.
4. The best are checked like the documents of any collection (`attribution.attribute`). A passage that reports what
   others found, as it cites them or says so, is not taken for the source.
5. Of papers that say the same, the earliest is ranked first. Then the chance that the first is the source is estimated
   (`literature.ranked_candidates`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from copy import copy
from typing import get_args

from quoteweave.attribution.attribute import (
    PASSAGES,
    Attributor,
    attribution_of,
    hits_by_document,
    interleave_hits,
    require_candidates,
)
from quoteweave.attribution.excerpts import Excerpt, read_excerpts
from quoteweave.attribution.literature.candidate_papers import CandidatePapers, find_candidate_papers
from quoteweave.attribution.literature.followed_citations import (
    ReferenceList,
    better_than_titles,
    entries_cited_for,
    in_references,
    is_entry_of,
    is_secondhand,
)
from quoteweave.attribution.literature.library.paper_library import NOT_OPEN, PaperLibrary
from quoteweave.attribution.literature.ranked_candidates import ranked_attribution
from quoteweave.attribution.literature.sources.paper_metadata import SNIPPETS, is_only_described
from quoteweave.attribution.literature.sources.papers import Paper, PaperSource, PaperText
from quoteweave.attribution.literature.sources.unseen import HidingRule, Unseen
from quoteweave.attribution.records import Attribution, Candidate, Outcome
from quoteweave.attribution.settings import CANDIDATES, make_confirming_checker
from quoteweave.core.answers import Context, ContextSize
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.evaluation.text.titles import letters
from quoteweave.pipeline.composition.make_search import make_search
from quoteweave.pipeline.composition.manage_indexes import build_index
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.search import RetrievedContext, Search, Trace
from quoteweave.pipeline.settings import RetrievalSettings
from quoteweave.retrievers.fusion import fuse_ranks
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.make_retriever import SPARSE_RETRIEVERS, member_specs, resolve_built_spec

POOL = ContextSize(texts=300, images=60)
"""Quotes that are searched for among the candidates: enough to have some of each, whether full text or abstract."""
KEPT = 20
"""Papers that go into the library, at most, unless more candidates are asked for."""
FOLLOWED = 4
"""Papers whose full texts are read to follow their citations, at most."""
READ = 3
"""Papers among the best whose full texts are read, so that their passages can be checked, at most."""
CITED_WEIGHT = 2.0
"""The weight in fusion of the ranking of papers that sentences like the claim cite; the others have weight 1."""
CHECKED = 10
"""Candidates that are checked, unless more are asked for."""
MAX_EXCERPTS = 20
"""Excerpts of one text, at most: each takes several requests."""
NOT_FETCHED = "Its full text was not fetched, as other papers rank before it."
SNIPPET = "The passage is from Semantic Scholar's snippet of its text, and has no page."
NOTHING_FOUND = "The sources found no paper for its words."
SECONDHAND = "The passage has it from others."
NOT_COMPARED = "Of the papers found, only the {} that rank best were compared with it."


class LiteratureAttributor:
    """Finds the sources of claims among papers that sources find, and keeps these in a library.

    At most `followed` full texts are read for their citations, and at most `read` as candidates. The library's fetcher
    limits how long that may take.
    """

    def __init__(
        self, sources: Sequence[PaperSource], library: PaperLibrary, *, followed: int = FOLLOWED, read: int = READ
    ) -> None:
        self._sources, self._library = tuple(sources), library
        self._followed, self._read = followed, read
        self.collection = library.collection
        """The collection of the papers that were found."""
        self._search = self._lexical = Search(LexicalRetriever(library.collection))
        self._attributor = Attributor(library.collection, self._search)
        self._has_checked = False

    async def attribute(self, text: str, k: int = CANDIDATES) -> tuple[Attribution, ...]:
        """Find the source of each citation mark of a text, or of each sentence of one without marks.

        Raises what `read_excerpts` raises, UsageError for a `k` below 1 and for more than `MAX_EXCERPTS` excerpts, and
        SourceError where none of the sources can be asked.
        """
        require_candidates(k)
        excerpts = read_excerpts(text)
        if len(excerpts) > MAX_EXCERPTS:
            raise UsageError(
                f"the text has {pluralize(len(excerpts), 'citation mark or sentence', 'citation marks or sentences')}, "
                f"and in the literature at most {MAX_EXCERPTS} are looked for at once: give fewer"
            )
        return tuple(await asyncio.gather(*(self.attribute_excerpt(excerpt, k) for excerpt in excerpts)))

    async def attribute_excerpt(self, excerpt: Excerpt, k: int = CANDIDATES) -> Attribution:
        """Find the source of one claim: at most `k` candidates. Raises SourceError where no source can be asked.

        Papers go by their keys (`_keyed`) until they are in the library, and then by the names of their documents.
        """
        candidates_found = await self._find_candidates(excerpt, k)
        if not candidates_found.papers:
            nothing = attribution_of(excerpt, (), Trace(clauses=candidates_found.queries, notes=candidates_found.notes))
            return nothing.model_copy(update={"reason": NOTHING_FOUND})
        papers = _keyed([found_paper.paper for found_paper in candidates_found.papers])
        by_passage = sorted(papers, key=lambda key: candidates_found.papers[int(key)].passage_rank or len(papers))
        texts = await self._texts({key: papers[key] for key in by_passage}, self._followed)
        cited = await self._cited(excerpt, papers, texts)
        best_keys = list(fuse_ranks([list(papers), list(cited)], [1, CITED_WEIGHT]))[: max(k, KEPT)]
        best = [papers[key] for key in best_keys]
        snippets = {papers[key].id: candidates_found.papers[int(key)].snippets for key in best_keys}
        await self._library.add_papers(best, snippets)  # together, before some are read one by one
        texts |= await self._texts({key: papers[key] for key in best_keys}, self._read)
        # Names are asked for again, as papers with the same file have become one document.
        names = dict(zip(best_keys, await self._library.add_papers(best, snippets), strict=True))
        within = Filter(documents=tuple(dict.fromkeys(names.values())))
        retrieved = await self._search.context(Query(text=excerpt.text), POOL, where=within)
        by_words = list(hits_by_document(_without_snippets(retrieved.context)))
        rankings = [[names[key] for key in ranking if key in names] for ranking in (papers, cited)]
        scores = fuse_ranks([*(list(dict.fromkeys(ranking)) for ranking in rankings), by_words], [1, CITED_WEIGHT, 1])
        candidates = (await self._checked(excerpt, list(scores)[: max(k, CHECKED)], retrieved))[:k]
        key_of_name = {names[key]: key for key in reversed(best_keys)}
        keys = [key_of_name[candidate.citation.document] for candidate in candidates]
        described = [
            self._described(candidate, papers[key], texts.get(key))
            for candidate, key in zip(candidates, keys, strict=True)
        ]
        shares = {names[key]: share for key, share in reversed(cited.items()) if key in names}
        trace = _trace(candidates_found, retrieved)
        attribution = ranked_attribution(excerpt, described, scores, shares, trace)
        if len(best_keys) == len(papers) or attribution.outcome == "supported":
            return attribution
        notes = (*trace.notes, NOT_COMPARED.format(len(best_keys)))
        return attribution.model_copy(update={"trace": trace.model_copy(update={"notes": notes})})

    def hiding(self, rule: HidingRule) -> "LiteratureAttributor":
        """Return an attributor whose sources show nothing that a rule hides; it shares all else with this one."""
        attributor = copy(self)
        attributor._sources = tuple(Unseen(source, rule) for source in self._sources)
        return attributor

    def rank_by(self, settings: RetrievalSettings, progress: Progress = NO_PROGRESS) -> None:
        """Rank candidates by these retrievers, the rankings of several fused, and by a reranker if one is set.

        With `AttributionSettings` a checker confirms their passages.

        They read titles and abstracts, and full texts where these could be had. A retriever by a model gets an index in
        the folder of papers, which is kept up to date from then on. Raises what `build_index` and `make_search` raise.

        >>> with open_literature("openalex", papers=Path("papers")) as literature:
        ...     literature.rank_by(RetrievalSettings(retriever=("lexical", "bm25")))
        """
        for part in (part for text in settings.retriever for part in member_specs(text)):
            if part not in SPARSE_RETRIEVERS:  # every collection has the index of these
                spec = resolve_built_spec(part, self.collection, progress.note)
                build_index(self.collection, spec, settings, wait=True, progress=progress)
        other_steps = settings.terms or settings.expand or settings.rerank or settings.explain
        is_lexical = settings.retriever == ("lexical",) and not other_steps
        self._search = self._lexical if is_lexical else make_search(self.collection, settings, progress=progress)
        checker = make_confirming_checker(settings, progress)
        self._attributor = Attributor(self.collection, self._search, checker)

    @property
    def source(self) -> PaperSource:
        """The first of its sources."""
        return self._sources[0]

    async def attribute_paper(self, excerpt: Excerpt, paper: Paper) -> Attribution:
        """Check the passages of a paper that was chosen as the source.

        It is likely where they do not support the claim, and not found where they say the contrary.
        """
        texts = await self._texts(_keyed([paper]), 1)
        (name,) = await self._library.add_papers([paper])
        context = await self._search.context(Query(text=excerpt.text), POOL, where=Filter(documents=(name,)))
        (best,) = await self._checked(excerpt, [name], context)
        is_decided = best.outcome == "supported" or best.rejection in ("contrary", "denied")
        outcome: Outcome = best.outcome if is_decided else "likely"
        described = self._described(best, paper, texts.get("0")).model_copy(update={"outcome": outcome})
        return attribution_of(excerpt, [described], context.trace)

    async def _find_candidates(self, excerpt: Excerpt, k: int) -> CandidatePapers:
        """What the sources find. Meanwhile readers are imported, and papers are read as soon as passages name them."""
        reading: list[asyncio.Task[object]] = [asyncio.create_task(asyncio.to_thread(self._library.import_readers))]

        def read_early(papers: Sequence[Paper], snippets: Mapping[str, Sequence[str]]) -> None:
            reading.append(asyncio.create_task(self._read_early(excerpt, papers, snippets)))

        try:
            candidate_papers = await find_candidate_papers(self._sources, excerpt, k, on_passages=read_early)
        except BaseException:
            for task in reading:
                task.cancel()
            await asyncio.gather(*reading, return_exceptions=True)
            raise
        await asyncio.gather(*reading)
        return candidate_papers

    async def _read_early(
        self, excerpt: Excerpt, papers: Sequence[Paper], snippets: Mapping[str, Sequence[str]]
    ) -> None:
        """Add the first papers of a ranking, which will be among the best whatever the others say, and read some."""
        names = await self._library.add_papers(papers[: KEPT // 2], snippets)
        await asyncio.gather(self._texts(_keyed(papers), self._followed), self._check_first(excerpt, names))

    async def _check_first(self, excerpt: Excerpt, names: Sequence[str]) -> None:
        """Check papers once while waiting for a source, as a process's first check compiles its patterns."""
        if not self._has_checked:
            self._has_checked = True
            where = Filter(documents=tuple(dict.fromkeys(names)))
            retrieved = await self._lexical.context(Query(text=excerpt.text), POOL, where=where)
            self._attributor.check(excerpt.claim, hits_by_document(retrieved.context), retrieved.context)

    async def _texts(self, papers: Mapping[str, Paper], most: int) -> dict[str, PaperText]:
        """The texts of the first `most` papers that have an open-access file, by their keys."""
        chosen = [key for key, paper in papers.items() if paper.pdf_url is not None][:most]
        await self._library.add_papers([papers[key] for key in chosen])  # together, before each is read
        texts = await asyncio.gather(*(self._library.read(papers[key]) for key in chosen))
        return dict(zip(chosen, texts, strict=True))

    async def _cited(
        self, excerpt: Excerpt, papers: Mapping[str, Paper], texts: Mapping[str, PaperText]
    ) -> dict[str, float]:
        """The papers that sentences like the claim cite in these texts, each with its best sentence's likeness.

        The likeness is the share of the claim's words, weighed by rarity, in the sentence. Best first.
        """
        read_documents = [text.document for text in texts.values() if text.outcome == "full_text" and text.document]
        collection = self._library.collection
        references = {name: ReferenceList(collection.document_quotes(name)) for name in dict.fromkeys(read_documents)}
        references = {name: entries for name, entries in references.items() if entries}
        if not references:
            return {}
        retrieved = await self._lexical.context(
            Query(text=excerpt.claim), POOL, where=Filter(documents=tuple(references), kind="text")
        )
        titles = {key: letters(paper.title) for key, paper in papers.items()}
        cited = dict[str, float]()
        for entry, share in entries_cited_for(excerpt.claim, retrieved.context.texts, references).items():
            for key in (key for key, title in titles.items() if is_entry_of(letters(entry), title)):
                cited.setdefault(key, share)
        return cited

    async def _checked(self, excerpt: Excerpt, names: Sequence[str], retrieved: RetrievedContext) -> list[Candidate]:
        """The documents as candidates, supported ones first, judged by passages that cite no others if they can be."""
        hits, context = await self._hits(excerpt, names, retrieved)
        by_document, reporting, secondhand = dict[str, list[Hit]](), dict[str, list[Hit]](), set[str]()
        for name in names:
            # A paper that has no word of the excerpt was still found by a source.
            document_hits = hits.get(name) or self._first_quote(name)
            passages = [hit for hit in document_hits if not in_references(hit.quote)][:PASSAGES]
            firsthand = [hit for hit in passages if not is_secondhand(excerpt.claim, hit.quote.text)]
            by_document[name] = firsthand or document_hits
            secondhand.update([] if firsthand else [name])
            if firsthand and (better := better_than_titles(excerpt.claim, firsthand, passages)):
                reporting[name] = better
        checked = self._attributor.check(excerpt.claim, by_document, context)
        checked = await self._attributor.confirm(excerpt.claim, checked)
        marked = [
            _secondhand(candidate) if candidate.citation.document in secondhand else candidate for candidate in checked
        ]
        reports = self._attributor.check(excerpt.claim, reporting, context)
        reported = {candidate.citation.document: _secondhand(candidate) for candidate in reports}
        ranked = sorted(marked, key=lambda candidate: _rank(candidate, names))
        return [
            reported.get(candidate.citation.document, candidate) if candidate.outcome == "not_found" else candidate
            for candidate in ranked
        ]

    async def _hits(
        self, excerpt: Excerpt, names: Sequence[str], retrieved: RetrievedContext
    ) -> tuple[dict[str, list[Hit]], Context]:
        """The hits of each document, and the hits of `lexical`, by which words are weighed.

        If another retriever found the passages, every second one is taken from `lexical`, because a retriever of whole
        pages does not rank the quotes of a page.
        """
        hits = hits_by_document(retrieved.context)
        if self._search is self._lexical:
            return hits, retrieved.context
        where = Filter(documents=tuple(names))
        lexical = (await self._lexical.context(Query(text=excerpt.text), POOL, where=where)).context
        lexical_hits = hits_by_document(lexical)
        return {name: interleave_hits(hits.get(name, ()), lexical_hits.get(name, ())) for name in names}, lexical

    def _first_quote(self, name: str) -> list[Hit]:
        return [Hit(rank=1, score=0.0, quote=quote) for quote in self._library.collection.document_quotes(name)[:1]]

    def _described(self, candidate: Candidate, paper: Paper, text: PaperText | None) -> Candidate:
        """A candidate with its paper, and with what became of reading the paper."""
        described = is_only_described(self._library.collection.document(candidate.citation.document))
        outcome, note = (text.outcome, text.note) if text is not None else (None, NOT_FETCHED)
        if not described:
            outcome, note = "full_text", None
        elif paper.pdf_url is None:
            outcome, note = "not_open_access", NOT_OPEN
        if described and candidate.citation.section == SNIPPETS:
            note = f"{SNIPPET} {note}" if note else SNIPPET
        return candidate.model_copy(update={"title": paper.title, "paper": paper, "read": outcome, "note": note})


def _without_snippets(context: Context) -> Context:
    """What was found without snippets: only papers that sources ranked high have them, and would gain twice."""
    return context.model_copy(update={"texts": tuple(hit for hit in context.texts if hit.quote.section != SNIPPETS)})


def _keyed(papers: Sequence[Paper]) -> dict[str, Paper]:
    """Papers by their positions as strings, by which rankings are fused."""
    return {str(number): paper for number, paper in enumerate(papers)}


def _rank(candidate: Candidate, names: Sequence[str]) -> tuple[int, bool, int]:
    """The lower, the better: by outcome, then by whether the passage lacks something, then in the order of `names`."""
    outcomes: tuple[Outcome, ...] = get_args(Outcome)
    lacks = candidate.citation.verdict == "unsupported"
    return outcomes.index(candidate.outcome), lacks, names.index(candidate.citation.document)


def _secondhand(candidate: Candidate) -> Candidate:
    """A candidate marked as not found, because its passages only report what others found."""
    citation = candidate.citation.model_copy(update={"reason": SECONDHAND})
    return candidate.model_copy(update={"outcome": "not_found", "citation": citation, "rejection": "secondhand"})


def _trace(candidates: CandidatePapers, context: RetrievedContext) -> Trace:
    notes = dict.fromkeys((*candidates.notes, *context.trace.notes))
    return context.trace.model_copy(update={"clauses": candidates.queries, "notes": tuple(notes)})
