"""Semantic Scholar as a source of papers: its Academic Graph API, version 1.

https://api.semanticscholar.org/api-docs/graph describes what is asked and what it answers.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from quoteweave.attribution.literature.sources.papers import (
    FieldOfStudy,
    Paper,
    PaperReader,
    PapersFound,
    PaperText,
    PublicationDate,
    Snippet,
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
    fault_of,
    first_page,
    later_date,
    read_date,
    searchable,
)
from quoteweave.attribution.literature.sources.service import SourceService
from quoteweave.attribution.literature.sources.source_client import SourceClient, SourceRequest
from quoteweave.core.errors import SourceRefused
from quoteweave.core.messages import pluralize

SEMANTIC_SCHOLAR = SourceService(
    name="Semantic Scholar",
    url="https://api.semanticscholar.org/graph/v1",
    url_variable="SEMANTIC_SCHOLAR_BASE_URL",
    key_variable="SEMANTIC_SCHOLAR_API_KEY",
    key_page="https://www.semanticscholar.org/product/api",
    key_header="x-api-key",
    too_often="Wait and ask again; without a key the limit is shared by all who have none.",
)
_FIELDS = "title,abstract,year,publicationDate,citationCount,venue,externalIds,url,openAccessPdf,authors"
_SNIPPET_FIELDS = "snippet.text,snippet.section,snippet.snippetKind"
_MAX_IN_ALL = 999
MAX_SNIPPETS = 500
"""Passages that are asked for, at most: 1,000 are sent, but only 500 papers described."""
_BULK_PAGES = 5
_IDENTIFIERS = {
    "DOI": "doi",
    "ArXiv": "arxiv",
    "ACL": "acl",
    "PubMed": "pubmed",
    "PubMedCentral": "pmc",
    "DBLP": "dblp",
    "MAG": "mag",
    "CorpusId": "corpus_id",
}


class _Sent(BaseModel):
    """Base of the API's objects: their names are in camel case, and fields that are not declared are ignored."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore")


class _Author(_Sent):
    name: SentText = ""


class _OpenAccess(_Sent):
    url: SentText = ""


class _Paper(_Sent):
    paper_id: str = Field(min_length=1)
    title: SentTitle
    abstract: SentText = ""
    year: int | None = None
    publication_date: str | None = None
    citation_count: int | None = Field(default=None, ge=0)
    venue: SentText = ""
    external_ids: Mapping[str, object] | None = None
    url: SentText = ""
    open_access_pdf: _OpenAccess | None = None
    authors: tuple[_Author, ...] | None = None

    def paper(self) -> Paper:
        sent = self.external_ids or {}
        known = {kind: str(sent[sent_kind]) for sent_kind, kind in _IDENTIFIERS.items() if sent.get(sent_kind)}
        if "doi" in known:
            known["doi"] = known["doi"].lower()
        return Paper(
            id=self.paper_id,
            title=self.title,
            abstract=self.abstract.strip() or None,
            authors=tuple(author.name for author in self.authors or () if author.name),
            published=later_date(read_date(self.publication_date), self.year),
            venue=self.venue or None,
            citations=self.citation_count,
            identifiers={**known, "semantic_scholar": self.paper_id},
            url=self.url or None,
            # The API gives no address for many papers that arXiv has.
            pdf_url=(self.open_access_pdf.url if self.open_access_pdf else "") or arxiv_file(known.get("arxiv")),
        )


class _PaperPage(_Sent):
    """A page of papers. Where nothing is found, `data` may be missing."""

    total: int | None = None
    next: int | None = None
    token: str | None = None
    data: Sequence[object] | None = None

    @model_validator(mode="after")
    def _says_what_was_found(self) -> "_PaperPage":
        if self.data is None and self.total != 0:
            raise ValueError("it has no papers (data), and does not say that there are none (total)")
        return self


class _SnippetText(_Sent):
    text: str = Field(min_length=1)
    section: str | None = None
    snippet_kind: str | None = None


class _SnippetPaper(_Sent):
    corpus_id: Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]
    title: SentText = ""


class _SentSnippet(_Sent):
    snippet: _SnippetText
    paper: _SnippetPaper


class _SentSnippets(_Sent):
    data: Sequence[object]


class _SentPapers(RootModel[Sequence[object]]):
    """Papers in the order in which they were asked for; null for those that are not known."""


class SemanticScholar:
    """Searches Semantic Scholar. Implements `PaperSource`; `reader` reads the files that it links to.

    By relevance it ranks at most some thousand papers; by citations it finds papers that have all words of the query in
    title or abstract. Passages are searched for in its open-access papers. With `open_access_only`, papers without an
    open-access file are left out; with `field`, those of other fields of study. Limits of dates are sent, and applied
    to the results as well (`PaperSelection`).
    """

    name = "semantic-scholar"

    def __init__(
        self,
        client: SourceClient,
        reader: PaperReader,
        *,
        open_access_only: bool = False,
        field: FieldOfStudy | None = None,
    ) -> None:
        self._client, self._reader, self._open_access_only = client, reader, open_access_only
        self._of_field = {} if field is None else {"fieldsOfStudy": field}

    async def search(
        self, query: str, k: int = 10, *, by: SortBy = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        """Return at most `k` papers (`/paper/search`, or `/paper/search/bulk` by citations).

        Raises UsageError for a `k` below 1 and an unknown order, and what `SourceClient.read` raises.
        """
        require_order(by)
        words, note = searchable(query, k)
        selection = PaperSelection(_read_paper, before)
        if words:
            parameters = {"query": words, "fields": _FIELDS, **_published(before), **self._of_field}
            if self._open_access_only:
                parameters["openAccessPdf"] = ""
            await (self._ranked if by == "relevance" else self._most_cited)(parameters, k, selection)
        return PapersFound(papers=tuple(selection.papers[:k]), notes=(*note, *selection.notes()))

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        """Return at most `k` passages of some 500 words (`/snippet/search`), their papers described by `/paper/batch`.

        Raises what `search` raises.
        """
        words, note = searchable(query, k)
        if not words:
            return SnippetsFound(snippets=(), notes=note)
        limit = min(MAX_SNIPPETS, k if before is None else 2 * k)
        restrictions = {**_published(before), **self._of_field}
        parameters = {"query": words, "fields": _SNIPPET_FIELDS, "limit": str(limit), **restrictions}
        sent = (await self._client.read(SourceRequest("/snippet/search", parameters), _SentSnippets)).data[:limit]
        passages, faults = _read_snippets(sent)
        if faults and not passages:
            raise self._client.bad_reply(f"none of {len(faults)} passages can be read ({faults[0]})")
        selection = PaperSelection(_read_paper, before)
        papers = await self._described(passages, selection)
        snippets = [
            Snippet(
                paper=paper, text=passage.snippet.text, section=passage.snippet.section or passage.snippet.snippet_kind
            )
            for passage in passages
            if (paper := papers.get(passage.paper.corpus_id)) is not None
        ]
        if len(sent) == MAX_SNIPPETS and len(snippets) < k:
            note = (*note, f"Only the first {MAX_SNIPPETS} passages that it found were looked at.")
        if faults:
            note = (*note, f"Left out: {pluralize(len(faults), 'passage')} that cannot be read ({faults[0]}).")
        return SnippetsFound(snippets=tuple(snippets[:k]), notes=(*note, *selection.notes()))

    async def read(self, paper: Paper) -> PaperText:
        """Return the text of a paper, as the reader gives it."""
        return await self._reader.read(paper)

    async def _ranked(self, parameters: Mapping[str, str], k: int, selection: PaperSelection) -> None:
        offset, size = 0, first_page(k, selection.before)
        while len(selection.papers) < k and offset < _MAX_IN_ALL:
            limit = min(size, _MAX_IN_ALL - offset)
            request = SourceRequest("/paper/search", {**parameters, "offset": str(offset), "limit": str(limit)})
            try:
                page = await self._client.read(request, _PaperPage)
            except SourceRefused as error:
                if not offset or error.status != 400:
                    raise
                return  # its `next` may point beyond the last paper, which it then refuses
            selection.add(page.data or (), self._client.bad_reply)
            if page.next is None or page.next <= offset:
                return
            offset, size = page.next, MAX_PER_PAGE
        selection.is_cut = len(selection.papers) < k

    async def _most_cited(self, parameters: Mapping[str, str], k: int, selection: PaperSelection) -> None:
        token: dict[str, str] = {}
        for _ in range(_BULK_PAGES):
            request = SourceRequest("/paper/search/bulk", {**parameters, "sort": "citationCount:desc", **token})
            page = await self._client.read(request, _PaperPage)
            selection.add(page.data or (), self._client.bad_reply)
            if len(selection.papers) >= k or not page.token:
                return
            token = {"token": page.token}
        selection.is_cut = True

    async def _described(self, snippets: Sequence[_SentSnippet], selection: PaperSelection) -> Mapping[str, Paper]:
        """The papers that may be shown among those of passages, by corpus id."""
        titles = {snippet.paper.corpus_id: snippet.paper.title for snippet in snippets}
        if not titles:
            return {}
        ids = [f"CorpusId:{corpus_id}" for corpus_id in titles]
        request = SourceRequest("/paper/batch", {"fields": _FIELDS}, {"ids": ids})
        sent = (await self._client.read(request, _SentPapers)).root
        if len(sent) != len(titles):
            raise self._client.bad_reply(f"{len(sent)} papers for {len(titles)} that were asked for")
        shown: dict[str, Paper] = {}
        for corpus_id, item in zip(titles, sent, strict=True):
            # A paper that the API does not describe has no date, so that it is left out if there is a limit of date.
            paper = (
                Paper(id=f"CorpusId:{corpus_id}", title=titles[corpus_id]) if item is None else selection.readable(item)
            )
            if paper is not None and selection.admits(paper):
                shown[corpus_id] = paper
        return shown


def _read_paper(sent: object) -> Paper:
    return _Paper.model_validate(sent).paper()


def _read_snippets(sent: Sequence[object]) -> tuple[list[_SentSnippet], list[str]]:
    passages, faults = [], []
    for item in sent:
        try:
            passages.append(_SentSnippet.model_validate(item))
        except ValidationError as error:
            faults.append(fault_of(error))
    return passages, faults


def _published(before: PublicationDate | None) -> dict[str, str]:
    """The parameter that makes the API leave out later papers."""
    if before is None:
        return {}
    return {"year": f"-{before}"} if before.month is None else {"publicationDateOrYear": f":{before}"}
