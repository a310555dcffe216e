"""What was found in the literature for an unfinished draft, kept so that `cite` goes on where it was broken off."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pydantic import Field

from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.literature.library.paper_library import caches_folder
from quoteweave.attribution.records import Attribution
from quoteweave.core.errors import DatasetError, QuoteNotFound
from quoteweave.core.files.jsonl import iter_records, open_for_append
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.records import Record
from quoteweave.version import __version__


class _Line(Record):
    """A line of a file of searches: what was found for a claim, or the file of entries that was written."""

    claim: str = ""
    text: str = ""
    found: Attribution | None = None
    written: str | None = Field(default=None, description="SHA-256 of the entries")


class KeptSearches:
    """The literature, with what was found in it for the claims of an unfinished draft; implements `FindsSource`.

    `earlier` is how many claims an earlier command has looked for; these are not looked for again. `has_lost` says
    whether more were kept, which cannot be used: they are `unreadable`, or their passages are gone.
    """

    def __init__(
        self,
        literature: LiteratureAttributor,
        lines: Sequence[_Line],
        write: Callable[[_Line], None],
        *,
        unreadable: bool = False,
    ) -> None:
        self._literature, self._write = literature, write
        kept = {(line.claim, line.text): line.found for line in lines if line.found}
        self._attributions = {key: attribution for key, attribution in kept.items() if self._is_there(attribution)}
        self.has_lost = unreadable or len(self._attributions) < len(kept)
        self._written = {line.written for line in lines}
        self.earlier, self.finished = len(self._attributions), False

    async def attribute_excerpt(self, excerpt: Excerpt) -> Attribution:
        """Return what was found earlier, or look for it now and keep it. Raises SourceError and StorageError."""
        key = (excerpt.claim, excerpt.text)
        attribution = self._attributions.get(key)
        if attribution is None:
            attribution = self._attributions[key] = await self._literature.attribute_excerpt(excerpt)
            self._write(_Line(claim=excerpt.claim, text=excerpt.text, found=attribution))
        return attribution.model_copy(update={"excerpt": excerpt})

    def has_written(self, entries: Path) -> bool:
        """Whether an earlier command wrote this file, so that it may be written over."""
        return file_sha256(entries) in self._written

    def note_written(self, entries: Path) -> None:
        """Note that the draft is not finished, but its file of entries is written."""
        self._write(_Line(written=file_sha256(entries)))

    def _is_there(self, attribution: Attribution) -> bool:
        """Whether the passages are still in the folder of papers."""
        try:
            for candidate in attribution.candidates:
                self._literature.collection.quote(candidate.citation.quote_id)
        except QuoteNotFound:
            return False
        return True


@contextmanager
def keep_searches(
    literature: LiteratureAttributor, draft: str, settings: Mapping[str, object]
) -> Iterator[KeptSearches]:
    """Keep what is found for a draft, named by its path, in the user's cache folder until `finished` is set.

    `settings` is what else the searches depend on, such as the sources; for other values another file is used. Raises
    UsageError if another command is citing the same draft, and StorageError.

    >>> with open_literature("openalex") as literature, keep_searches(literature, "draft.md", {}) as kept:
    ...     cited = cite(collection, Path("draft.md").read_text("utf-8"), literature=kept)
    ...     kept.finished = cited.stopped is None
    """
    identity = json.dumps({"draft": draft, "version": __version__, **settings}, sort_keys=True, default=str)
    file = caches_folder() / "unfinished" / f"{hashlib.sha256(identity.encode()).hexdigest()}.jsonl"
    with ExitStack() as opened:
        write = opened.enter_context(open_for_append(file))  # before it is read, as another command may be writing it
        unreadable = False
        while (lines := _lines_in(file)) is None:
            unreadable = True
            file.unlink(missing_ok=True)  # all is looked for again, and kept in a new file
            opened.close()
            write = opened.enter_context(open_for_append(file))
        searches = KeptSearches(literature, lines, write, unreadable=unreadable)
        yield searches
        if searches.finished:
            file.unlink(missing_ok=True)


def _lines_in(file: Path) -> list[_Line] | None:
    """The lines of a file of searches; None if it has another format or is damaged."""
    try:
        return [line for _, line in iter_records(file, _Line, drop_cut=True)]
    except DatasetError:
        return None
