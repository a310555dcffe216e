"""Opens sources of papers, with a folder for what they find: services by name, and sources of one's own as objects.

What they found for the claims of a draft is kept until the draft is done: `cite` goes on where it was broken off.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import cast

from pydantic import Field

from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.from_literature import LiteratureAttributor
from quoteweave.attribution.literature.fetching import FetchLimits, PdfFetcher
from quoteweave.attribution.literature.make_source import SourceName, SourceOptions, make_source
from quoteweave.attribution.literature.paper_library import PaperLibrary, caches_folder, default_papers_folder
from quoteweave.attribution.literature.papers import Paper, PaperSource, PublicationDate
from quoteweave.attribution.literature.unseen import HidingRule, Unseen
from quoteweave.attribution.records import Attribution
from quoteweave.core.errors import DatasetError, QuoteNotFound, UsageError
from quoteweave.core.files.jsonl import iter_records, open_for_append
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.records import Record
from quoteweave.version import __version__

Sources = SourceName | PaperSource | Sequence[SourceName | PaperSource]
"""One source or several: services by their names, and objects that implement `PaperSource`."""
FETCH_SECONDS = 10.0
"""Seconds that the file of one paper may take to arrive while somebody waits for the source of a sentence."""


@contextmanager
def open_literature(
    sources: Sources,
    *,
    papers: Path | None = None,
    before: PublicationDate | None = None,
    not_from: str | None = None,
    fetcher: PdfFetcher | None = None,
    options: Mapping[SourceName, SourceOptions] = MappingProxyType({}),
) -> Iterator[LiteratureAttributor]:
    """Open sources, and the folder of papers: the one given, or `default_papers_folder`.

    Nothing that may have been published after `before` is shown, and no paper with the title `not_from`, which is that
    of the text that the sentence is from (`Unseen`). Files take `FETCH_SECONDS` at most unless a `fetcher` is given;
    `options` are of services. Raises UsageError for no source and for two of one name, and what `make_source` and
    `PaperLibrary` raise.

    >>> with open_literature(["openalex", my_source], papers=Path("papers")) as literature:
    ...     draft = cite(collection, "The harbour shipped 4,210 tonnes of grain.", literature=literature)
    """
    fetcher = fetcher or PdfFetcher(FetchLimits(seconds=FETCH_SECONDS))
    own = None if not_from is None else Paper(id="excerpt", title=not_from)
    rule = HidingRule(own=own, before=before)
    with open_sources(sources, papers=papers, fetcher=fetcher, options=options) as (opened, library):
        library.prepare()  # while the sources are asked
        hiding = opened if rule == HidingRule() else [Unseen(source, rule) for source in opened]
        yield LiteratureAttributor(hiding, library)


@contextmanager
def open_sources(
    sources: Sources,
    *,
    papers: Path | None = None,
    fetcher: PdfFetcher | None = None,
    options: Mapping[SourceName, SourceOptions] = MappingProxyType({}),
) -> Iterator[tuple[Sequence[PaperSource], PaperLibrary]]:
    """Open sources, and the library in which services keep the papers that are read. Raises as `open_literature`."""
    given = _each(sources)
    with PaperLibrary(papers or default_papers_folder(), fetcher) as library:
        yield [make_source(one, library, options.get(one)) if isinstance(one, str) else one for one in given], library


def _each(sources: Sources) -> list[SourceName | PaperSource]:
    """The sources, each once. Raises UsageError for none, and for two that have one name."""
    single = isinstance(sources, str) or not isinstance(sources, Sequence)
    every = cast("Sequence[SourceName | PaperSource]", [sources] if single else sources)
    given = [one for at, one in enumerate(every) if not isinstance(one, str) or one not in every[:at]]
    names = [one if isinstance(one, str) else one.name for one in given]
    if not names:
        raise UsageError("name a source of papers: semantic-scholar or openalex")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two sources of papers are called {twice!r}, so that what they find could not be told apart")
    return given


class _Line(Record):
    """A line of a file of searches: what was found for a claim, or the file of entries that was written."""

    claim: str = ""
    text: str = ""
    found: Attribution | None = None
    written: str | None = Field(default=None, description="SHA-256 of the entries")


class KeptSearches:
    """The literature, with what was found in it for the claims of an unfinished draft; implements `FindsSource`.

    `earlier` is how many claims an earlier command has looked for; these are not looked for again.
    """

    def __init__(
        self, literature: LiteratureAttributor, lines: Sequence[_Line], write: Callable[[_Line], None]
    ) -> None:
        self._literature, self._write = literature, write
        self._found = {(one.claim, one.text): one.found for one in lines if one.found and self._is_there(one.found)}
        self._written = {one.written for one in lines}
        self.earlier, self.finished = len(self._found), False

    async def attribute_excerpt(self, excerpt: Excerpt) -> Attribution:
        """Return what was found, or look for it and keep it. Raises SourceError, and StorageError."""
        key = (excerpt.claim, excerpt.text)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = await self._literature.attribute_excerpt(excerpt)
            self._write(_Line(claim=excerpt.claim, text=excerpt.text, found=found))
        return found.model_copy(update={"excerpt": excerpt})

    def has_written(self, entries: Path) -> bool:
        """Whether an earlier command wrote this file, so that it may be written over."""
        return file_sha256(entries) in self._written

    def note_written(self, entries: Path) -> None:
        """Note that the draft is not finished, but its file of entries is written."""
        self._write(_Line(written=file_sha256(entries)))

    def _is_there(self, found: Attribution) -> bool:
        """Whether the passages are still in the folder of papers."""
        try:
            for one in found.candidates:
                self._literature.collection.quote(one.citation.quote_id)
        except QuoteNotFound:
            return False
        return True


@contextmanager
def keep_searches(literature: LiteratureAttributor, draft: str, asked: Mapping[str, object]) -> Iterator[KeptSearches]:
    """Keep what is found for a draft, named by its path, in the user's folder of caches until `finished` is set.

    `asked` is what else the searches depend on, such as the sources. A file of another draft, or of other sources, is
    another one. Raises UsageError where another command cites the same draft, and StorageError.

    >>> with open_literature("openalex") as literature, keep_searches(literature, "draft.md", {}) as kept:
    ...     cited = cite(collection, Path("draft.md").read_text("utf-8"), literature=kept)
    ...     kept.finished = cited.stopped is None
    """
    named = json.dumps({"draft": draft, "version": __version__, **asked}, sort_keys=True, default=str)
    file = caches_folder() / "unfinished" / f"{hashlib.sha256(named.encode()).hexdigest()}.jsonl"
    with open_for_append(file) as write:
        try:
            lines = [line for _, line in iter_records(file, _Line, drop_cut=True)]
        except DatasetError:
            lines = []  # another format, or damaged: it is looked for anew
        kept = KeptSearches(literature, lines, write)
        yield kept
        if kept.finished:
            file.unlink(missing_ok=True)
