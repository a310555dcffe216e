"""Passages of the papers, as Semantic Scholar's snippet search has them."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from quoteweave.testing.literature.records import MadeLibrary, MadePaper
from quoteweave.testing.literature_server.answers import Refusal
from quoteweave.testing.literature_server.catalogue import Catalogue, WordIndex
from quoteweave.testing.literature_server.semantic_scholar_papers import Passes

_ALL = ("text", "snippetKind", "section", "snippetOffset", "annotations.refMentions", "annotations.sentences")
_KNOWN = {*(f"snippet.{name}" for name in _ALL), "snippet.annotations"}
_MARK = re.compile(r"\[(\d+)\]")
_SENTENCE = re.compile(r"\S.*?(?:[.?!](?=\s|$)|$)", re.DOTALL)


@dataclass(frozen=True)
class _Snippet:
    at: int
    """Its paper's place."""
    kind: Literal["title", "abstract", "body"]
    section: str | None
    start: int
    """Its first character in the full text; 0 for a title or an abstract."""
    text: str


class Snippets:
    """All passages: titles and abstracts, and of open-access papers their sections."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._all, self._index = _indexed(catalogue.library)

    def search(self, query: str, passes: Passes, limit: int, fields: list[str]) -> list[dict[str, Any]]:
        """The best passages of the papers that pass, as the service describes them. Raises Refusal for bad fields."""
        bad = [field for field in fields if field not in _KNOWN]
        if bad:
            raise Refusal(400, {"error": f"Unrecognized or unsupported fields: [{', '.join(bad)}]"})
        papers = self._catalogue.papers
        within = [place for place, one in enumerate(self._all) if passes(papers[one.at])]
        ranked = self._index.ranked(query, within)[:limit]
        best = max((score for _, score in ranked), default=1.0)
        return [
            {
                "snippet": self._fields(self._all[place], fields or [f"snippet.{name}" for name in _ALL]),
                "score": round(score / (best + 1), 6),
                "paper": self._paper(papers[self._all[place].at]),
            }
            for place, score in ranked
        ]

    def _fields(self, one: _Snippet, fields: list[str]) -> dict[str, Any]:
        made: dict[str, Any] = {
            "text": one.text,
            "snippetKind": one.kind,
            "section": one.section,
            "snippetOffset": {"start": one.start, "end": one.start + len(one.text)},
            "annotations": {"refMentions": self._mentions(one), "sentences": _sentences(one.text)},
        }
        wanted: dict[str, Any] = {}
        for field in fields:
            name, _, inner = field.removeprefix("snippet.").partition(".")
            if inner:
                wanted.setdefault(name, {})[inner] = made[name][inner]
            else:
                wanted[name] = made[name]
        return wanted

    def _mentions(self, one: _Snippet) -> list[dict[str, Any]] | None:
        if one.kind != "body":
            return None
        library, references = self._catalogue.library, self._catalogue.papers[one.at].references
        found = []
        for mark in _MARK.finditer(one.text):
            number = int(mark[1]) - 1
            known = library.paper(references[number]) if number < len(references) else None
            corpus_id = None if known is None else str(known.corpus_id)
            found.append({"start": mark.start(), "end": mark.end(), "matchedPaperCorpusId": corpus_id})
        return found

    @staticmethod
    def _paper(paper: MadePaper) -> dict[str, Any]:
        status = "GREEN" if paper.open_access else "CLOSED"
        return {
            "corpusId": str(paper.corpus_id),
            "title": paper.title,
            "authors": list(paper.authors),
            "openAccessInfo": {"license": "CCBY" if paper.open_access else None, "status": status, "disclaimer": ""},
        }


@lru_cache(maxsize=4)
def _indexed(library: MadeLibrary) -> tuple[list[_Snippet], WordIndex]:
    """Made once for all servers of a library."""
    snippets = [one for at, paper in enumerate(library.papers) for one in _of(at, paper)]
    return snippets, WordIndex([one.text for one in snippets])


def _of(at: int, paper: MadePaper) -> list[_Snippet]:
    found = [_Snippet(at, "title", None, 0, paper.title)]
    if paper.known_abstract is not None:
        found.append(_Snippet(at, "abstract", None, 0, paper.known_abstract))
    start = 0
    for section in paper.sections if paper.open_access else ():
        start += len(section.heading) + 2
        found.append(_Snippet(at, "body", section.heading, start, section.text))
        start += len(section.text) + 2
    return found


def _sentences(text: str) -> list[dict[str, int]]:
    return [{"start": one.start(), "end": one.end()} for one in _SENTENCE.finditer(text)]
