"""OpenAlex as a source of papers.

https://developers.openalex.org describes what is asked and what it answers.
"""

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from html import unescape

from pydantic import BaseModel, ConfigDict, Field

from quoteweave.attribution.literature.sources.papers import (
    FieldOfStudy,
    Paper,
    PaperReader,
    PapersFound,
    PaperText,
    PublicationDate,
    SnippetsFound,
    SortBy,
    require_order,
)
from quoteweave.attribution.literature.sources.queries import (
    MAX_PER_PAGE,
    PaperSelection,
    SentText,
    SentTitle,
    arxiv_file,
    first_page,
    later_date,
    read_date,
    searchable,
)
from quoteweave.attribution.literature.sources.service import SourceService
from quoteweave.attribution.literature.sources.source_client import SourceClient, SourceRequest
from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex

OPENALEX = SourceService(
    name="OpenAlex",
    url="https://api.openalex.org",
    url_variable="OPENALEX_BASE_URL",
    key_variable="OPENALEX_API_KEY",
    key_page="https://openalex.org/settings/api",
    key_parameter="api_key",
    too_fast=frozenset({403, 429}),
    too_often="Too many requests, or those of a day are spent: ask less at once, or wait until midnight UTC.",
)
_FIELDS = (
    "id,doi,ids,title,publication_date,publication_year,cited_by_count,authorships,primary_location,best_oa_location,"
    "abstract_inverted_index"
)
# Semantic Scholar's fields that OpenAlex has, with OpenAlex's ids (https://api.openalex.org/fields).
_FIELD_IDS: Mapping[FieldOfStudy, str] = {
    "Agricultural and Food Sciences": "11",
    "Biology": "11|13|24|28",
    "Business": "14",
    "Chemistry": "16",
    "Computer Science": "17",
    "Economics": "20",
    "Engineering": "15|21|22",
    "Environmental Science": "23",
    "Geology": "19",
    "Materials Science": "25",
    "Mathematics": "26",
    "Medicine": "27|29|35|36",
    "Physics": "31",
    "Psychology": "32",
}
_MAX_PAGES = 10
_SENTENCE_WORDS = 8
_NO_SNIPPETS = (
    "OpenAlex has no search for passages: it finds papers by their full text, without saying where. Search for papers "
    "and read them, or search for passages in Semantic Scholar or your own documents."
)
_ARXIV = lazy_regex(r"(?:10\.48550/arxiv\.|arxiv\.org/(?:abs|pdf)/)([\w./-]+)", re.IGNORECASE)
_TAGS = r"\w+:[\w-]+|i|b|u|p|em|strong|italic|bold|su[bp]|inf|scp?|span|title|br|tt"
_MARKUP = lazy_regex(rf"</?(?:{_TAGS})(?:\s+[\w:-]+\s*=[^<>]*|\s*/)?>", re.IGNORECASE)


class _Sent(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Named(_Sent):
    display_name: SentText = ""


class _Authorship(_Sent):
    author: _Named | None = None
    raw_author_name: SentText = ""

    @property
    def name(self) -> str:
        return (self.author or _Named()).display_name or self.raw_author_name


class _Location(_Sent):
    is_oa: bool | None = None
    pdf_url: SentText = ""
    landing_page_url: SentText = ""
    source: _Named | None = None


class _Work(_Sent):
    id: str = Field(min_length=1)
    title: SentTitle
    doi: SentText = ""
    ids: Mapping[str, object] | None = None
    publication_date: str | None = None
    publication_year: int | None = None
    cited_by_count: int | None = Field(default=None, ge=0)
    authorships: Sequence[_Authorship] | None = None
    primary_location: _Location | None = None
    best_oa_location: _Location | None = None
    abstract_inverted_index: Mapping[str, Sequence[int]] | None = None

    def paper(self) -> Paper:
        own_id, first, best = _last_part(self.id), self.primary_location or _Location(), self.best_oa_location
        identifiers = self._identifiers(own_id)
        linked = (best or _Location()).pdf_url or (first.pdf_url if first.is_oa else "")
        return Paper(
            id=own_id,
            title=_plain(self.title) or self.title,
            abstract=_plain(_abstract(self.abstract_inverted_index or {})) or None,
            authors=tuple(authorship.name for authorship in self.authorships or () if authorship.name),
            published=later_date(_date(self.publication_date), self.publication_year),
            venue=(first.source or _Named()).display_name or None,
            citations=self.cited_by_count,
            identifiers=identifiers,
            url=self.id if self.id.startswith("https://") else None,
            pdf_url=linked or arxiv_file(identifiers.get("arxiv")),
        )

    def _identifiers(self, own_id: str) -> dict[str, str]:
        doi = re.sub(r"^https?://(?:dx\.)?doi\.org/", "", self.doi).lower()
        sent = {name: str(value) for name, value in (self.ids or {}).items() if value}
        pages = " ".join(place.landing_page_url for place in (self.primary_location, self.best_oa_location) if place)
        arxiv = _ARXIV.search(f"{doi} {pages}")
        known = {
            "doi": doi,
            "arxiv": "" if arxiv is None else re.sub(r"v\d+$", "", arxiv[1]),
            "pubmed": _last_part(sent.get("pmid", "")),
            "pmc": _last_part(sent.get("pmcid", "")),
            "mag": sent.get("mag", ""),
            "openalex": own_id,
        }
        return {name: value for name, value in known.items() if value}


class _Meta(_Sent):
    next_cursor: str | None = None


class _Works(_Sent):
    meta: _Meta
    results: Sequence[object]


class OpenAlex:
    """Searches OpenAlex. Implements `PaperSource`; `reader` reads the files that it links to.

    It searches titles, abstracts and the full texts it has, and cannot search for passages. With `open_access_only`,
    papers that are not open access are left out; with `field`, those of other fields. Limits of dates are sent, and
    applied to the results as well (`PaperSelection`). The first of January is read as a date of which only the year is
    known, since OpenAlex writes such dates like that.
    """

    name = "openalex"

    def __init__(
        self,
        client: SourceClient,
        reader: PaperReader,
        *,
        open_access_only: bool = False,
        field: FieldOfStudy | None = None,
    ) -> None:
        """Raises UsageError for a field of Semantic Scholar's that OpenAlex does not have."""
        self._client, self._reader, self._open_access_only = client, reader, open_access_only
        if field is not None and field not in _FIELD_IDS:
            raise UsageError(f"OpenAlex has no field {field!r}; there are {', '.join(_FIELD_IDS)}")
        self._of_field = [] if field is None else [f"primary_topic.field.id:{_FIELD_IDS[field]}"]

    async def search(
        self, query: str, k: int = 10, *, by: SortBy = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        """Return at most `k` papers that have all words of the query (`/works?search=`).

        If no paper has them all, which is common for a sentence, papers with some of them are searched for by
        relevance, and a note says so. For a query as long as a sentence these are added in any case, after those that
        have all words, because the latter may only be the text that the sentence is from. Raises UsageError for a `k`
        below 1 and an unknown order, and what `SourceClient.read` raises.
        """
        require_order(by)
        words, note = searchable(query, k)
        selection = PaperSelection(lambda sent: _Work.model_validate(sent).paper(), before)
        if words:
            parameters = {"search": words, "select": _FIELDS}
            filters = [] if before is None else [f"to_publication_date:{_last_day(before)}"]
            filters += ["is_oa:true"] * self._open_access_only + self._of_field
            if filters:
                parameters["filter"] = ",".join(filters)
            if by == "citations":
                parameters["sort"] = "cited_by_count:desc"
            with_any_word = {**parameters, "search": words.replace(" ", " OR ")}
            has_full_matches = await self._add_found(parameters, k, selection)
            too_few = not has_full_matches or (len(words.split()) >= _SENTENCE_WORDS and len(selection.papers) < k)
            if too_few and by == "relevance" and " " in words and await self._add_found(with_any_word, k, selection):
                how_many = "Hardly a" if has_full_matches else "No"
                note = (*note, f"{how_many} paper has all words of the query; those shown have some of them.")
        selection.is_cut = selection.is_cut and len(selection.papers) < k
        return PapersFound(papers=tuple(selection.papers[:k]), notes=(*note, *selection.notes()))

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        """Return no passage, and a note that says why. Raises UsageError for a `k` below 1."""
        del before
        searchable(query, k)
        return SnippetsFound(snippets=(), notes=(_NO_SNIPPETS,))

    async def read(self, paper: Paper) -> PaperText:
        """Return the text of a paper, as the reader gives it."""
        return await self._reader.read(paper)

    async def _add_found(self, parameters: Mapping[str, str], k: int, selection: PaperSelection) -> bool:
        """Add what is found to the selection, page by page; return whether anything was found."""
        cursor, size, any_found = "*", first_page(k, selection.before), False
        for _ in range(_MAX_PAGES):
            request = SourceRequest("/works", {**parameters, "per_page": str(size), "cursor": cursor})
            works = await self._client.read(request, _Works)
            selection.add(works.results, self._client.bad_reply)
            any_found = any_found or bool(works.results)
            if len(selection.papers) >= k or not works.results or works.meta.next_cursor in (None, cursor):
                break
            cursor, size = works.meta.next_cursor, MAX_PER_PAGE
        else:
            selection.is_cut = True
        return any_found


def _abstract(index: Mapping[str, Sequence[int]]) -> str:
    """The text of an inverted index: words with their places."""
    placed = [(place, word) for word, places in index.items() for place in places]
    return " ".join(word for _, word in sorted(placed))


def _plain(text: str) -> str:
    """A text without the markup that publishers send with it."""
    return " ".join(unescape(_MARKUP.sub("", text)).split())


def _date(text: str | None) -> PublicationDate | None:
    date = read_date(text)
    return PublicationDate(year=date.year) if date and (date.month, date.day) == (1, 1) else date


def _last_day(date: PublicationDate) -> str:
    """The last day of a date, in the form that OpenAlex takes."""
    month = date.month or 12
    return str(PublicationDate(year=date.year, month=month, day=date.day or monthrange(date.year, month)[1]))


def _last_part(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2]
