"""A draft with its citations: its sentences, its references, and how they are written out."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from quoteweave.attribution.drafts.bibtex import bibtex_entry, bibtex_keys, missing_fields
from quoteweave.attribution.drafts.draft_text import DraftFormat
from quoteweave.attribution.literature.sources.paper_metadata import paper_from_metadata
from quoteweave.attribution.literature.sources.papers import Paper
from quoteweave.attribution.records import Attribution, Candidate
from quoteweave.core.answers import Citation
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import join_names
from quoteweave.core.records import Record

SentenceStatus = Literal["cited", "likely", "no_source", "not_asked", "cited_already", "too_long", "not_factual"]
"""What became of a sentence, in this order: a passage supports it and is cited; a passage is cited that has most of its
words but could not be checked; no passage supports it; the documents do not support it and the literature could not be
asked; it already has the author's own citation mark; it is too long to search for; it states nothing that a passage
could support."""
Origin = Literal["documents", "literature"]
MAX_AUTHORS = 3
"""Authors of a paper that a list of references names, at most."""
HEADING = "References"
"""The heading of the list of what is cited."""
SECOND_HEADING = "Passages cited"
"""The heading of that list if the draft already has references of its own."""
_REFERENCES = lazy_regex(
    r"^[ \t]*(?:#{1,6}[ \t]+)?(?:\d+\.?[ \t]+)?[*_]{0,2}(?:References|Bibliography)[*_]{0,2}:?[ \t#]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_KEYS = lazy_regex(r"@([\w:.#$%&+?<>~/-]*\w)|\\[A-Za-z]*cite[A-Za-z]*\*?(?:\[[^\[\]]*\])*\{([^{}]+)\}")


class DraftSentence(Record):
    """One sentence of a draft, and what was found for it."""

    start: int = Field(ge=0, description="first character in the draft")
    end: int = Field(ge=0, description="one past its last character")
    mark_at: int = Field(ge=0, description="before which character of the draft its mark is set")
    text: str
    status: SentenceStatus
    number: int | None = Field(default=None, description="of its reference, from 1; None where it is not cited")
    attribution: Attribution | None = Field(default=None, description="None where no source was looked for")


class Reference(Record):
    """A passage that a draft cites."""

    found: Candidate
    origin: Origin = Field(description="whether it is of one's own documents, or of a paper that a source found")
    key: str | None = Field(
        default=None, description="of its document's BibTeX entry; None where marks are numbers; passages may share it"
    )

    @property
    def paper(self) -> Paper:
        """The paper as its source describes it; without one, the document described by its metadata."""
        return self.found.paper or paper_from_metadata(self.document, self.found.identifiers)

    @property
    def document(self) -> str:
        """The name of the passage's document."""
        return self.found.identifiers["document"]


class CitedDraft(Record):
    """A draft with its sentences; `text` is the draft with marks and references.

    >>> draft = cite(collection, "The harbour shipped 4,210 tonnes of grain. It shipped 9,999 tonnes of tin.")
    >>> [sentence.status for sentence in draft.sentences]
    ['cited', 'no_source']
    """

    draft: str = Field(description="the text as given")
    form: DraftFormat = Field(description="how it is written")
    sentences: tuple[DraftSentence, ...] = Field(description="its sentences, in their order")
    references: tuple[Reference, ...] = Field(description="the passages cited, in the order of their numbers")
    stopped: str | None = Field(
        default=None, description="why the literature could not be asked for all sentences; None where it could"
    )

    @property
    def text(self) -> str:
        """The draft with a mark in each cited sentence, and the list of references after it; in LaTeX as comments."""
        marks = {number: self.mark(number) for number in range(1, len(self.references) + 1)}
        marked = insert_marks(self.draft, self.sentences, marks)
        if not self.references:
            return marked
        lines = [
            f"{self._label(number)} {_reference_line(reference, self.citations(number))}"
            for number, reference in enumerate(self.references, 1)
        ]
        if self.form == "markdown":
            lines = [line.replace("<", r"\<") for line in lines]  # text of documents must not become HTML in the draft
        if self.form == "latex":
            listed = "\n".join(["% The passages that are cited:", *(f"% {line}" for line in lines)])
        else:
            heading = SECOND_HEADING if _REFERENCES.search(self.draft) else HEADING
            listed = "\n\n".join([f"{'## ' if self.form == 'markdown' else ''}{heading}", *lines])
        after = "\n" * max(0, 2 - _line_ends(marked)) + f"{listed}\n"
        return marked + after.replace("\n", "\r\n" if "\r\n" in self.draft else "\n")

    def citations(self, number: int) -> list[Citation]:
        """Return the citations of a reference's passage, one for each sentence that cites it, in their order."""
        cited = (sentence.attribution for sentence in self.sentences if sentence.number == number)
        return [attribution.candidates[0].citation for attribution in cited if attribution is not None]

    def mark(self, number: int) -> str:
        """Return the mark that is set for a reference, with the space before it."""
        key = self.references[number - 1].key
        if key is None:
            return f" [{number}]"
        return f"~\\cite{{{key}}}" if self.form == "latex" else f" [@{key}]"

    @property
    def bibtex(self) -> str:
        """An entry for each key, in the order of the references; empty where marks are numbers."""
        papers = {reference.key: reference.paper for reference in self.references if reference.key is not None}
        return "\n".join(bibtex_entry(paper, key) for key, paper in papers.items())

    @property
    def incomplete(self) -> dict[str, tuple[str, ...]]:
        """What the entries of documents lack: each document's name with the names of the metadata that are missing."""
        cited_documents = [
            reference for reference in self.references if reference.key is not None and reference.origin == "documents"
        ]
        lacking = {reference.document: missing_fields(reference.paper) for reference in cited_documents}
        return {name: fields for name, fields in lacking.items() if fields}

    def _label(self, number: int) -> str:
        key = self.references[number - 1].key
        if key is None:
            return f"[{number}]"
        # Set as code, as Pandoc would take the bare key for a citation.
        return f"{key}:" if self.form == "latex" else f"`{key}`:"


def _line_ends(text: str) -> int:
    """The number of line breaks at the end of a text, not counting spaces between them."""
    ending = text[len(text.rstrip()) :]
    return len(ending.splitlines()) - (not ending.endswith(("\n", "\r"))) if ending else 0


def insert_marks(draft: str, sentences: Sequence[DraftSentence], marks: Mapping[int, str]) -> str:
    """Return the draft with the mark of each sentence's number before the sentence's full stop."""
    parts, last = [], 0
    for sentence in sentences:
        if sentence.number is not None:
            parts += [draft[last : sentence.mark_at], marks[sentence.number]]
            last = sentence.mark_at
    return "".join([*parts, draft[last:]])


def reference_keys(references: Sequence[Reference], draft: str) -> tuple[Reference, ...]:
    """Return the references with keys, one for each document; no key is in the draft already, ignoring case."""
    papers = {(reference.origin, reference.document): reference.paper for reference in references}
    used_keys = {key.strip().lower() for match in _KEYS.finditer(draft) for key in (match[1] or match[2]).split(",")}
    keys = dict(zip(papers, bibtex_keys(list(papers.values()), used_keys), strict=True))
    return tuple(
        reference.model_copy(update={"key": keys[reference.origin, reference.document]}) for reference in references
    )


def _reference_line(reference: Reference, citations: Sequence[Citation]) -> str:
    """A passage as a list of references names it, on one line: what it is of, its place, and the words that support."""
    candidate = reference.found
    quoted = [(citation.quoted or "")[span.start : span.end] for citation in citations for span in citation.spans]
    parts = dict.fromkeys(" ".join(part.split()) for part in quoted)
    words = " … ".join(part for part in parts if not any(part != other and part in other for other in parts))
    if reference.origin == "literature":
        document_name = _paper_name(reference.paper)
    else:
        document = candidate.citation.document
        document_name = candidate.title if candidate.title == document else f"{candidate.title} ({document})"
    return " ".join(candidate.under(document_name).split()) + (f": “{words}”" if words else "")


def _paper_name(paper: Paper) -> str:
    """A paper by authors, year, title and where it is: `Reed et al. (2016). Grain. Nature. https://doi.org/10.1/x`."""
    authors = join_names(paper.authors, MAX_AUTHORS).replace(" more", " others")
    year = "" if paper.published is None else f"({paper.published.year})"
    doi, arxiv = paper.identifiers.get("doi"), paper.identifiers.get("arxiv")
    at = f"https://doi.org/{doi}" if doi else f"arXiv:{arxiv}" if arxiv else paper.url
    parts = [" ".join(part for part in (authors, year) if part), paper.title, paper.venue, at]
    return ". ".join(part.strip(" .") for part in parts if part)
