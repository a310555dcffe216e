"""Sources of papers in memory, for the tests of what stands before and behind sources."""

from collections.abc import Sequence

from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PapersFound,
    PaperText,
    PublicationDate,
    Snippet,
    SnippetsFound,
    SortBy,
)


class MadeSource:
    """Finds all of its papers for every query, in their order, whatever the limit of date is."""

    name = "made"

    def __init__(self, papers: Sequence[Paper], notes: Sequence[str] = ()) -> None:
        self.papers, self.notes = tuple(papers), tuple(notes)
        self.asked: list[tuple[int, PublicationDate | None]] = []
        self.read_ids: list[str] = []

    async def search(
        self,
        query: str,
        k: int = 10,
        *,
        by: SortBy = "relevance",
        before: PublicationDate | None = None,
    ) -> PapersFound:
        self.asked.append((k, before))
        return PapersFound(papers=self.papers[:k], notes=self.notes)

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        self.asked.append((k, before))
        snippets = tuple(Snippet(paper=paper, text=f"{query} in {paper.title}") for paper in self.papers[:k])
        return SnippetsFound(snippets=snippets, notes=self.notes)

    async def read(self, paper: Paper) -> PaperText:
        self.read_ids.append(paper.id)
        return PaperText(outcome="full_text", text=f"All of {paper.title}.")
