"""Searches sources of the literature for the papers that a claim may cite, and fuses what they find.

They are searched by a few queries, made of the claim's words by rule. A whole sentence is a good query for a source
that ranks papers by any of its words. A source that requires all words finds nothing for it, but something for a few
rare words. How rare a word is among papers is not known before the search, so that it is guessed from the word's form.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from pydantic import Field

from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PaperSource,
    Snippet,
    stated_identifiers,
)
from quoteweave.attribution.literature.sources.service import count_waiting
from quoteweave.core.errors import SourceError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.evaluation.text.titles import letters

MAX_RARE_WORDS = 4
"""Words of a query of rare words; in the query with the context, half are the claim's and half the context's."""

_WORD = lazy_regex(r"[^\W_]+(?:[-'’][^\W_]+)*")
_NUMBER = lazy_regex(r"[\d.,]+%?")


def claim_queries(excerpt: Excerpt) -> tuple[str, ...]:
    """Return at most three queries, each of other words: the claim, its rare words, and some of these with its context.

    The claim is asked as it is written, since its numbers and its wording may be the source's. Rare words are those
    that are written as names or with digits, and else the longest that are not common in papers of any field. In the
    context, which is what stands around the claim, rare words are chosen by the same rule, the nearest of equal ones.

    >>> claim_queries(Excerpt(mark=None, start=0, claim="Blur fools the ResNet.", text="Blur fools the ResNet."))
    ('Blur fools the ResNet.', 'ResNet fools Blur')
    """
    claim = _content_words(excerpt.claim)
    rare, known = _rarest(claim, MAX_RARE_WORDS), set(map(str.lower, claim))
    context = _rarest([word for word in _near(excerpt) if word.lower() not in known], MAX_RARE_WORDS // 2)
    with_context = [*rare[: MAX_RARE_WORDS // 2], *context] if context else []
    queries = (excerpt.claim, " ".join(rare), " ".join(with_context))
    return tuple(dict.fromkeys(query for query in queries if words(query)))


def _content_words(text: str) -> list[str]:
    """The words of a text that are neither stop words nor numbers, each once."""
    word_by_lower = dict[str, str]()
    for match in _WORD.finditer(text):
        word = match[0]
        if word.lower() not in STOP_WORDS and not _NUMBER.fullmatch(word) and len(word) > 1:
            word_by_lower.setdefault(word.lower(), word)
    return list(word_by_lower.values())


def _near(excerpt: Excerpt) -> list[str]:
    """The content words around the claim, the nearest first."""
    at = excerpt.text.find(excerpt.claim)
    if at < 0:
        return _content_words(excerpt.text)
    before = _content_words(excerpt.text[:at])[::-1]
    after = _content_words(excerpt.text[at + len(excerpt.claim) :])
    return [word for pair in _alternating(before, after) for word in pair]


def _alternating(before: Sequence[str], after: Sequence[str]) -> Iterable[tuple[str, ...]]:
    for at in range(max(len(before), len(after))):
        yield tuple(words_of[at] for words_of in (before, after) if at < len(words_of))


def _rarest(content_words: Sequence[str], most: int) -> list[str]:
    ranked = sorted(range(len(content_words)), key=lambda at: (-_rarity(content_words[at], at), at))
    return [content_words[at] for at in ranked[:most] if _rarity(content_words[at], at) > 0]


@cache
def _common() -> frozenset[str]:
    """The stems of words that papers of any field have."""
    lines = resources.files(__package__).joinpath("common_words.txt").read_text("utf-8").splitlines()
    return frozenset(words(" ".join(line for line in lines if not line.startswith("#"))))


def _rarity(word: str, at: int) -> float:
    """How rare a word is likely to be among papers: 0 for one that they all have."""
    stems = words(word)
    if not stems or all(stem in _common() for stem in stems):
        return 0.0
    named = any(map(str.isdigit, word)) or word[1:] != word[1:].lower() or (at > 0 and word[0].isupper())
    return len(word) + (20 if named else 0)


PAPERS_PER_QUERY = 70
"""Papers that each query asks for, unless more candidates are wanted; with those asked for in place of hidden ones, one
request can return them."""
SNIPPETS = 20
"""Passages that a source is asked for."""
SENDS_SNIPPETS = "semantic-scholar"
"""The source whose passages are kept as a paper's text, as its full text may not be available."""
PASSAGES_SECONDS = 2.5
"""Seconds to wait for passages before papers are asked for as well."""
MIN_PAPERS = 10
"""If the claim finds fewer papers in a source, the source is asked the other queries too."""


OnPassages = Callable[[Sequence[Paper], Mapping[str, Sequence[str]]], None]
"""Called with papers, and with the passages that Semantic Scholar sent of them, by the papers' ids."""


class CandidatePaper(Record):
    """A paper that sources found for a claim."""

    paper: Paper = Field(description="as the source that ranks it best describes it, with what others know beside")
    score: float = Field(description="of its ranks in all searches (reciprocal rank fusion)")
    sources: tuple[str, ...] = Field(description="which sources found it")
    passage_rank: int | None = Field(
        default=None, ge=1, description="of its best passage among those that a source found; None without one"
    )
    snippets: tuple[str, ...] = Field(default=(), description="its passages that Semantic Scholar sent, best first")


class CandidatePapers(Record):
    """What the sources found for a claim, best first."""

    papers: tuple[CandidatePaper, ...]
    queries: tuple[str, ...]
    notes: tuple[str, ...] = Field(default=(), description="what was left out, and which source could not be asked")
    refused: Mapping[str, str] = Field(
        default_factory=dict, description="sources of which no search succeeded, and why, by name"
    )


async def find_candidate_papers(
    sources: Sequence[PaperSource],
    excerpt: Excerpt,
    k: int = PAPERS_PER_QUERY,
    *,
    on_passages: OnPassages = lambda _papers, _snippets: None,
) -> CandidatePapers:
    """Ask each source for papers and passages by the claim, and fuse the rankings of what they find.

    Each query asks for `PAPERS_PER_QUERY` papers, or for `k` if these are more.

    The further queries of `claim_queries` are asked of a source that finds few papers by the first. Papers count as one
    where they share an identifier, or have the same title. `on_passages` is called with the papers of the passages that
    a source found, best first, as soon as they are known. If a source cannot be asked, only its papers are missing, and
    a note names it. If none can be asked, raises the first one's SourceError, which says why for each.
    """
    queries = claim_queries(excerpt)
    if not queries:
        return CandidatePapers(papers=(), queries=())
    answers = await ask_sources(sources, queries, k, on_passages=on_passages)
    if not any(answer.rankings for answer in answers):
        raise _all_refused({source.name: answer.errors[0] for source, answer in zip(sources, answers, strict=True)})
    notes = dict.fromkeys(note for answer in answers for note in answer.notes)
    refused = {}
    for source, answer in zip(sources, answers, strict=True):
        if answer.errors and not answer.rankings:
            refused[source.name] = str(answer.errors[0])
            notes[f"{source.name} could not be asked: {answer.errors[0]}"] = None
        elif answer.errors:
            count = pluralize(len(answer.errors), "search", "searches")
            notes[f"{source.name} did not answer {count}: {answer.errors[0]}"] = None
    named_answers = list(zip((source.name for source in sources), answers, strict=True))
    return CandidatePapers(papers=_fused(named_answers), queries=queries, notes=tuple(notes), refused=refused)


async def ask_sources(
    sources: Sequence[PaperSource],
    queries: Sequence[str],
    k: int = PAPERS_PER_QUERY,
    *,
    on_passages: OnPassages = lambda _papers, _snippets: None,
) -> "Sequence[SourceAnswers]":
    """Ask each source all that `find_candidate_papers` asks; its answers hold its errors, too."""
    answers = [_ask_within(source, queries, max(k, PAPERS_PER_QUERY), on_passages) for source in sources if queries]
    return await asyncio.gather(*answers)


def _all_refused(errors: Mapping[str, SourceError]) -> SourceError:
    """The error of the first source, with the messages of the others, named, after its own."""
    (_, error), *further = errors.items()
    if further:
        messages = [str(error).rstrip("."), *(f"{name} could not be asked either: {other}" for name, other in further)]
        error.summary = ". ".join(messages)
        error.args = (error.summary,)
    return error


@dataclass(slots=True)
class SourceAnswers:
    """What one source answered to the queries of a claim."""

    rankings: list[Sequence[Paper]] = field(default_factory=list)
    snippets: Sequence[Snippet] = ()
    notes: list[str] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)

    @property
    def passages(self) -> list[Paper]:
        """The papers of the passages that it found, best first, each once; this is one of its rankings, too."""
        return list({snippet.paper.id: snippet.paper for snippet in self.snippets}.values())

    @property
    def texts(self) -> dict[str, list[str]]:
        """The passages of each paper, best first, by its id."""
        texts: dict[str, list[str]] = {}
        for snippet in self.snippets:
            texts.setdefault(snippet.paper.id, []).append(snippet.text)
        return texts


async def _ask_within(source: PaperSource, queries: Sequence[str], k: int, on_passages: OnPassages) -> SourceAnswers:
    """Ask a source, but no longer than one claim may take."""
    with count_waiting():
        return await _ask(source, queries, k, on_passages)


async def _ask(source: PaperSource, queries: Sequence[str], k: int, on_passages: OnPassages) -> SourceAnswers:
    answers = SourceAnswers()

    async def papers(query: str) -> int:
        try:
            result = await source.search(query, k)
        except SourceError as error:
            answers.errors.append(error)
            return 0
        answers.rankings.append(result.papers)
        answers.notes += result.notes
        return len(result.papers)

    async def passages() -> None:
        try:
            result = await source.search_snippets(queries[0], SNIPPETS)
        except SourceError as error:
            answers.errors.append(error)
            return
        if result.snippets:  # a source that cannot search for passages finds none
            answers.snippets = result.snippets
            answers.rankings.append(answers.passages)
            answers.notes += result.notes
            on_passages(answers.passages, answers.texts if source.name == SENDS_SNIPPETS else {})

    # Passages are asked for first, so that their papers can be read while a slow source searches for papers.
    first = asyncio.create_task(passages())
    try:
        await asyncio.wait({first}, timeout=PASSAGES_SECONDS)
        _, count = await asyncio.gather(first, papers(queries[0]))
    finally:
        first.cancel()
    if count < MIN_PAPERS and not answers.errors:
        await asyncio.gather(*map(papers, queries[1:]))
    return answers


def _fused(answers: Sequence[tuple[str, SourceAnswers]]) -> tuple[CandidatePaper, ...]:
    # Imported late, so that sources are asked before its import takes time.
    from quoteweave.retrievers.fusion import fuse_ranks

    known_papers = _DistinctPapers()
    rankings = [
        list(dict.fromkeys([known_papers.add(paper, source) for paper in ranking]))
        for source, answer in answers
        for ranking in answer.rankings
    ]
    ranks: dict[str, int] = {}
    for source, answer in answers:
        for rank, paper in enumerate(answer.passages, 1):
            key = known_papers.add(paper, source)
            ranks[key] = min(rank, ranks.get(key, rank))
    texts: dict[str, list[str]] = {}
    for source, answer in answers:
        for snippet in answer.snippets if source == SENDS_SNIPPETS else ():
            texts.setdefault(known_papers.add(snippet.paper, source), []).append(snippet.text)
    return tuple(
        CandidatePaper(
            paper=known_papers.papers[key],
            score=score,
            sources=tuple(known_papers.sources[key]),
            passage_rank=ranks.get(key),
            snippets=tuple(texts.get(key, ())),
        )
        for key, score in fuse_ranks(rankings).items()
    )


class _DistinctPapers:
    """The papers that were found so far, each once."""

    def __init__(self) -> None:
        self.papers: dict[str, Paper] = {}
        self.sources: dict[str, list[str]] = {}
        self._keys: dict[str, str] = {}

    def add(self, paper: Paper, source: str) -> str:
        """Add a paper that a source found; return the key of all that are the same paper."""
        title = letters(paper.title)
        names = [*sorted(stated_identifiers(paper)), f"{source} {paper.id}", *([f"title {title}"] if title else [])]
        key = next((self._keys[name] for name in names if name in self._keys), names[0])
        self._keys.update((name, key) for name in names if name not in self._keys)
        self.papers[key] = _merged(self.papers.get(key, paper), paper)
        sources = self.sources.setdefault(key, [])
        if source not in sources:
            sources.append(source)
        return key


def _merged(paper: Paper, other: Paper) -> Paper:
    """A paper, completed by what only another description of it knows."""
    if paper is other:
        return paper
    fields = ("abstract", "published", "venue", "url", "pdf_url")
    missing = {field: getattr(other, field) for field in fields if getattr(paper, field) is None}
    citations = max((count for count in (paper.citations, other.citations) if count is not None), default=None)
    identifiers = {**other.identifiers, **paper.identifiers}
    return paper.model_copy(update={**missing, "citations": citations, "identifiers": identifiers})
