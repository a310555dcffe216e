"""Hides from a search what would give the answer away: the excerpt's own paper, and papers published after it.

CiteME's agent filters only searches for papers, and removes the excerpt's paper by its title; the search for snippets
that CiteGuard (arXiv 2510.17853) added has no filter by date. Here one rule applies to every search and reading.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeVar, get_args

from pydantic import Field

from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PapersFound,
    PaperSource,
    PaperText,
    PublicationDate,
    Snippet,
    SnippetsFound,
    SortBy,
    identifiers_of,
)
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.evaluation.text.titles import MIN_RATIO, letters, ratio

T = TypeVar("T")

HidingReason = Literal["own_paper", "later", "undated"]
"""Why a paper is hidden: it is the excerpt's own; it may have been published later; or its date is not known."""
SPARE = 10
"""Papers or snippets that are asked for beyond `k`, so that a few hidden ones need no second request."""
MAX_REQUESTED = 1_000
"""Papers or snippets asked for at most, however many of them are hidden."""
_TITLE_CHARACTERS = 500
_MIN_TITLE_WORDS = 4
"""Titles of fewer words may occur in any text, and are not looked for."""
_RUN_WORDS, _MIN_RUNS, _MIN_SHARE = 8, 8, 0.6
"""To tell whether a text has an excerpt, runs of `_RUN_WORDS` consecutive words are compared. The excerpt must have at
least `_MIN_RUNS` of them, and the text at least the share `_MIN_SHARE`."""
_QUOTED = lazy_regex(r"“[^”]*”|\"[^\"]*\"|„[^“]*“|«[^»]*»")
_REASONS: Mapping[HidingReason, str] = {
    "own_paper": "with the title or an identifier of the paper that the excerpt is from",
    "later": "that may have been published after {before}",
    "undated": "without a date, where nothing that was published after {before} may be seen",
}


class HidingRule(Record):
    """What is hidden while the source of an excerpt is looked for.

    >>> rule = HidingRule(own=Paper(id="1", title="Ships of Skarn"), before=PublicationDate(year=2020))
    >>> rule.reason(Paper(id="2", title="Ships of Skarn.")), rule.reason(Paper(id="3", title="Cranes"))
    ('own_paper', 'undated')
    """

    own: Paper | None = Field(default=None, description="the paper that the excerpt is from; its `id` is not compared")
    before: PublicationDate | None = Field(default=None, description="when that was published")

    def reason(self, paper: Paper, before: PublicationDate | None = None) -> HidingReason | None:
        """Return why a paper is hidden, or None if it may be shown.

        A paper counts as the excerpt's own if they share an identifier; if their titles are equal or match by CiteME's
        rule (a ratio above 0.8, in either order); or if its title contains the other, as titles of supplements do. So a
        paper with a very similar title, such as another part of a series, is hidden as well. `before` is a further
        limit of date.
        """
        # A copied rule may have another own paper.
        own_paper = self._own if self._own.paper is self.own else _OwnPaper(self.own)
        if own_paper.is_same(paper):
            return "own_paper"
        limits = [limit for limit in (self.before, before) if limit is not None]
        if limits and paper.published is None:
            return "undated"
        later = any(paper.published.may_follow(limit) for limit in limits) if paper.published is not None else False
        return "later" if later else None

    @cached_property
    def _own(self) -> "_OwnPaper":
        return _OwnPaper(self.own)


class _OwnPaper:
    """The excerpt's own paper, or None, with what found papers are compared with."""

    def __init__(self, paper: Paper | None) -> None:
        self.paper = paper
        self._identifiers = frozenset[str]() if paper is None else identifiers_of(paper)
        self._title = TitleMatcher("" if paper is None else paper.title)

    def is_same(self, paper: Paper) -> bool:
        return self.paper is not None and (
            not self._identifiers.isdisjoint(identifiers_of(paper))
            or self._title.is_same(paper.title)
            or self._title.is_within(paper.title)
        )


class TitleMatcher:
    """Compares a title with many others. As each search gives a hundred, all that depends on the one title is kept.

    >>> title = TitleMatcher("Ships of Skarn")
    >>> title.is_same("SHIPS OF SKARN."), title.is_same("Cranes"), title.is_within("The ships of Skarn, revisited")
    (True, False, False)
    """

    def __init__(self, title: str) -> None:
        self._title = _clipped(title)
        self._letters, self._words = letters(self._title), _as_words(title)
        self._length = len(self._title.lower())
        self._places: dict[str, int] = {}  # for each character, a bit mask of its positions
        for position, character in enumerate(self._title.lower()):
            self._places[character] = self._places.get(character, 0) | 1 << position

    def is_same(self, other: str) -> bool:
        """Whether titles are equal except for case, accents and punctuation, or CiteME's match takes them for one."""
        other = _clipped(other)
        if not self._title or not other:
            return False
        if self._letters and self._letters == letters(other):
            return True
        return self._may_match(other) and (
            ratio(self._title, other) > MIN_RATIO or ratio(other, self._title) > MIN_RATIO
        )

    def is_within(self, text: str) -> bool:
        """Whether the title, of four words or more, stands in a text, whatever its case and punctuation."""
        return len(self._words.split()) >= _MIN_TITLE_WORDS and self._words in _as_words(text)

    def _may_match(self, other: str) -> bool:
        """Whether an upper bound of the ratio, from the longest common subsequence, is above the threshold."""
        lowered = other.lower()
        in_all = self._length + len(lowered)
        if 2 * min(self._length, len(lowered)) <= MIN_RATIO * in_all:
            return False
        return 2 * self._common_subsequence(lowered) > MIN_RATIO * in_all

    def _common_subsequence(self, other: str) -> int:
        """The length of the longest common subsequence, with each row of its table as one bit vector (Hyyrö 2004)."""
        every = (1 << self._length) - 1
        row = every
        for character in other:
            matched = row & self._places.get(character, 0)
            row = (row + matched | row - matched) & every
        return self._length - row.bit_count()


def is_same_title(title: str, other: str) -> bool:
    """Compare two titles as `TitleMatcher.is_same` does."""
    return TitleMatcher(other).is_same(title)


def has_title(text: str, title: str) -> bool:
    """Whether a title of four words or more stands in a text, whatever its case and punctuation."""
    return TitleMatcher(title).is_within(text)


def has_excerpt(text: str, excerpt: str) -> bool:
    """Whether a text has most of an excerpt word for word, like the paper that the excerpt is from.

    Quotations in the excerpt are not compared, as the paper cited has them too, nor are marks, which papers print in
    other forms.

    >>> sentence = "Blur hurts networks more than people, who see well enough even in fog and at night [CITATION]."
    >>> has_excerpt(sentence.replace("[CITATION]", "[7]"), sentence), has_excerpt("Blur hurts networks.", sentence)
    (True, False)
    """
    parts = re.split(r"\[[^\[\]]*\]", _QUOTED.sub("[]", excerpt))
    wanted = {run for part in parts for run in _runs(_as_words(part).split())}
    if len(wanted) < _MIN_RUNS:
        return False
    return len(wanted & set(_runs(_as_words(text).split()))) >= _MIN_SHARE * len(wanted)


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    """All runs of `_RUN_WORDS` consecutive words."""
    return [tuple(words[at : at + _RUN_WORDS]) for at in range(len(words) - _RUN_WORDS + 1)]


def _clipped(title: str) -> str:
    return title.strip()[:_TITLE_CHARACTERS]


class Unseen:
    """A source that shows nothing of what a rule hides, in searches for papers and snippets and in reading.

    If it hides some of what the source found, it asks for more, so that there are still `k` results; a note says how
    many were hidden and why, but not which. If the rule hides the excerpt's own paper, texts and snippets with the
    words of `excerpt` are hidden too, as they are that paper under another title. Implements `PaperSource`; raises what
    its source raises.

    >>> own = OwnCollection(collection, Search(LexicalRetriever(collection)))
    >>> unseen = Unseen(own, HidingRule(own=Paper(id="-", title="Port.md")))
    >>> asyncio.run(unseen.search("grain")).papers
    ()
    """

    def __init__(self, source: PaperSource, rule: HidingRule, excerpt: str = "") -> None:
        self._source, self._rule = source, rule
        self._excerpt = "" if rule.own is None else excerpt  # its words are hidden only with its paper
        self._hidden: dict[str, HidingReason] = {}
        self._titles = set() if rule.own is None else {_as_words(rule.own.title)}  # titles of hidden papers

    @property
    def name(self) -> str:
        """The name of the source."""
        return self._source.name

    @property
    def hidden(self) -> Mapping[HidingReason, int]:
        """How many papers were hidden so far, each counted once, by reason."""
        return Counter(self._hidden.values())

    async def search(
        self, query: str, k: int = 10, *, by: SortBy = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        """Search for papers that the rule does not hide."""
        limit = self._limit(before)

        async def ask(count: int) -> tuple[Sequence[Paper], tuple[str, ...]]:
            result = await self._source.search(query, count, by=by, before=limit)
            return result.papers, result.notes

        papers, notes = await self._shown(ask, lambda paper: paper, k, before)
        return PapersFound(papers=tuple(papers), notes=notes)

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        """Search for passages of papers that the rule does not hide, whether the source filters by date or not."""
        limit = self._limit(before)

        async def ask(count: int) -> tuple[Sequence[Snippet], tuple[str, ...]]:
            result = await self._source.search_snippets(query, count, before=limit)
            for snippet in result.snippets:
                self._hide_if_own(snippet.paper, snippet.text)
            return result.snippets, result.notes

        snippets, notes = await self._shown(ask, lambda snippet: snippet.paper, k, before)
        return SnippetsFound(snippets=tuple(snippets), notes=notes)

    async def read(self, paper: Paper) -> PaperText:
        """Read a paper, unless the rule hides it: the outcome is then `withheld`, and the source is not asked."""
        reason = self._hide(paper, None) or self._hidden.get(paper.id)
        if reason is not None:
            return PaperText(outcome="withheld", text="", note=self._note(1, reason, None))
        paper_text = await self._source.read(paper)
        if self._hide_if_own(paper, paper_text.text):
            return PaperText(outcome="withheld", text="", note="Not shown: a paper whose text has the excerpt itself.")
        return paper_text

    def _hide_if_own(self, paper: Paper, text: str) -> bool:
        """If a paper's text has the excerpt, hide the paper from now on; return whether it does."""
        if not has_excerpt(text, self._excerpt):
            return False
        self._hidden[paper.id] = "own_paper"
        self._titles.add(_as_words(paper.title))
        return True

    def _limit(self, before: PublicationDate | None) -> PublicationDate | None:
        """The earlier of the two limits."""
        if before is None or self._rule.before is None:
            return before or self._rule.before
        return self._rule.before if before.may_follow(self._rule.before) else before

    async def _shown(
        self,
        ask: Callable[[int], Awaitable[tuple[Sequence[T], tuple[str, ...]]]],
        paper_of: Callable[[T], Paper],
        k: int,
        before: PublicationDate | None,
    ) -> tuple[list[T], tuple[str, ...]]:
        """At most `k` items that may be shown, and notes on those that may not."""
        count, found_before = k + SPARE, -1
        while True:
            items, notes = await ask(count)
            reasons = [(self._hide(paper_of(item), before), paper_of(item).id) for item in items]
            shown = [item for item, (reason, _) in zip(items, reasons, strict=True) if reason is None][:k]
            hidden = {id: reason for reason, id in reasons if reason is not None}
            if len(shown) == k or not hidden or len(items) <= found_before or count >= MAX_REQUESTED:
                return shown, (*self._harmless(notes), *self._notes(hidden.values(), before))
            count, found_before = min(2 * count, MAX_REQUESTED), len(items)

    def _hide(self, paper: Paper, before: PublicationDate | None) -> HidingReason | None:
        if self._hidden.get(paper.id) == "own_paper":
            return "own_paper"
        reason = self._rule.reason(paper, before)
        # A paper that only this search's own limit of date hides may be shown by another search.
        lasting = reason if before is None or reason is None else self._rule.reason(paper)
        if lasting is not None:
            self._hidden[paper.id] = lasting
            self._titles.add(_as_words(paper.title))
        return reason

    def _harmless(self, notes: Sequence[str]) -> list[str]:
        """The source's notes, without those that name a hidden paper."""
        return [note for note in notes if not any(title.strip() and title in _as_words(note) for title in self._titles)]

    def _notes(self, reasons: Collection[HidingReason], before: PublicationDate | None) -> list[str]:
        counted = Counter(reasons)
        return [self._note(counted[reason], reason, before) for reason in get_args(HidingReason) if reason in counted]

    def _note(self, count: int, reason: HidingReason, before: PublicationDate | None) -> str:
        return f"Not shown: {pluralize(count, 'paper')} {_REASONS[reason].format(before=self._limit(before))}."


def hide(sources: Sequence[PaperSource], before: PublicationDate | None, not_from: str | None) -> Sequence[PaperSource]:
    """Sources that show nothing later than `before` and no paper titled `not_from`; unchanged if both are None."""
    own_paper = None if not_from is None else Paper(id="excerpt", title=not_from)
    rule = HidingRule(own=own_paper, before=before)
    return sources if rule == HidingRule() else [Unseen(source, rule) for source in sources]


def _as_words(text: str) -> str:
    """The words of a text in lower case, a space before and after each."""
    words = " ".join(re.findall(r"[^\W_]+", text.lower()))
    return f" {words} "
