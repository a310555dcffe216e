"""A source of papers: a reading list in JSON Lines, searched by the words of titles and abstracts."""

import re
from pathlib import Path

from quoteweave import Paper, PapersFound, PaperText, PublicationDate, SnippetsFound


class ReadingList:
    """Ranks papers, each a line of JSON with the fields of `Paper`, by how many words of the query they have."""

    name = "reading-list"

    def __init__(self, path: Path) -> None:
        self._papers = [Paper.model_validate_json(line) for line in path.read_text("utf-8").splitlines()]

    async def search(
        self, query: str, k: int = 10, *, by: str = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        """The papers with a word of the query; with a limit of date, those that surely are not later."""
        dated = self._papers
        if before is not None:
            dated = [paper for paper in dated if paper.published and not paper.published.may_follow(before)]
        shared = {paper.id: len(_words(query) & _words(f"{paper.title} {paper.abstract}")) for paper in dated}
        cited = {paper.id: -1 if paper.citations is None else paper.citations for paper in dated}
        order = cited if by == "citations" else shared
        ranked = sorted((paper for paper in dated if shared[paper.id]), key=lambda paper: -order[paper.id])
        return PapersFound(papers=tuple(ranked[:k]))

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:  # noqa: ARG002
        """No passages: it has no texts."""
        return SnippetsFound(snippets=(), notes=("The reading list has no texts to search for passages.",))

    async def read(self, paper: Paper) -> PaperText:
        """The abstract, which is all it has."""
        return PaperText(outcome="not_open_access", text=paper.abstract or "", note="The reading list has no texts.")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
