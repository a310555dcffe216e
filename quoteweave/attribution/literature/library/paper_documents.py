"""Papers as documents: a description as Markdown, and whether a file that was fetched is the paper that was meant."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from quoteweave.attribution.literature.sources.paper_metadata import SNIPPETS
from quoteweave.attribution.literature.sources.papers import Paper
from quoteweave.attribution.literature.sources.unseen import is_same_title
from quoteweave.core.records import Quote
from quoteweave.core.text.tokens import normalize_text
from quoteweave.evaluation.metrics.answers.title_match import letters

MAX_DESCRIBED_CHARACTERS = 20_000
"""Of an abstract that are kept."""
_MAX_TITLE_CHARACTERS = 1_000
_FIRST_PAGES = 2  # of a file, on which its title is looked for: the first may be a repository's cover
_MAX_LINES = 400
_LONG_TITLE = 25  # letters, from which on no other paper has them in a row by chance
_SHORTEST_TITLE = 4
_REFERENCES = re.compile(r"(?:\d+\.?\s*)?(?:references|bibliography|literature cited)\b", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+|\b[IVX]+\b")
_WORD = re.compile(r"[^\W_]+")
# What CommonMark, its tables, strikethrough, formulas and HTML could take for something else than text.
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~$!#]")
_SPECIAL_AT_START = re.compile(r"^([-+=:]|\d+(?=[.)]))")


def as_markdown(paper: Paper, snippets: Sequence[str] = ()) -> str:
    """Return the paper's title as a heading, its abstract, and under a heading of their own passages of its text.

    >>> as_markdown(Paper(id="1", title="Grain *by* rail", abstract="- It went.\\nBy rail."))
    '# Grain \\\\*by\\\\* rail\\n\\n\\\\- It went.\\n\\nBy rail.\\n'
    """
    title = _escaped(paper.title[:_MAX_TITLE_CHARACTERS]) or _escaped(paper.id)
    paragraphs = map(_escaped, (paper.abstract or "")[:MAX_DESCRIBED_CHARACTERS].splitlines())
    passages = [_escaped(snippet[:MAX_DESCRIBED_CHARACTERS]) for snippet in snippets]
    parts = [f"# {title}", *paragraphs, f"## {SNIPPETS}" if passages else "", *passages]
    return "\n\n".join(filter(None, parts)) + "\n"


class Description(NamedTuple):
    """What a document that only describes a paper says of it."""

    abstract: str
    snippets: tuple[str, ...]

    def lacks(self, paper: Paper, snippets: Sequence[str]) -> bool:
        """Whether the paper's abstract, or one of the snippets, is not there."""
        held = letters(" ".join(self.snippets))
        return (not self.abstract and bool((paper.abstract or "").strip())) or any(
            letters(snippet) not in held for snippet in snippets
        )


def described_in(quotes: Sequence[Quote]) -> Description:
    """Return what a description's quotes say of the paper."""
    texts = [(quote.section == SNIPPETS, quote.text) for quote in quotes if quote.layout != "title"]
    abstract = "\n".join(text for of_text, text in texts if not of_text)
    return Description(abstract, tuple(text for of_text, text in texts if of_text))


def _escaped(text: str) -> str:
    """A line of Markdown that reads as this text, with single spaces."""
    line = " ".join(text.encode("utf-8", "replace").decode().replace("\0", " ").split())
    line = _SPECIAL.sub(lambda special: f"\\{special[0]}", line)
    return _SPECIAL_AT_START.sub(lambda first: f"\\{first[0]}" if not first[0].isdigit() else f"{first[0]}\\", line)


def is_paper_meant(paper: Paper, quotes: Sequence[Quote]) -> bool:
    """Whether a document's first two pages have the paper's title.

    It counts where a line or two have it, but for slips up to CiteME's ratio and with the same numbers; where a heading
    begins with it, or is its beginning; and, if it is long, anywhere before the references. What was published under
    another title is not recognized, and a paper whose title is not known may be any.
    """
    title = letters(paper.title)
    if not title:
        return True
    pages = list(_before_references(quotes))
    lines = [line for quote in pages for line in quote.words().splitlines() if line.strip()][:_MAX_LINES]
    pairs = (f"{one} {other}" for one, other in pairwise(lines))
    return (
        any(_is_title_but_for_slips(paper.title, line) for line in (*lines, *pairs))
        or any(_begins(paper.title, quote.text) for quote in pages if quote.layout == "title")
        or (len(title) >= _LONG_TITLE and _stands_in(paper.title, lines))
    )


def _before_references(quotes: Sequence[Quote]) -> Iterator[Quote]:
    """The quotes of the first pages; running heads too, as a title may stand there alone."""
    for quote in quotes:
        if quote.page < _FIRST_PAGES and not _REFERENCES.match(quote.section or ""):
            yield quote


def _is_title_but_for_slips(title: str, line: str) -> bool:
    """Whether a line is the title; parts of a series differ by a number alone."""
    return is_same_title(title, line) and _NUMBERS.findall(title.upper()) == _NUMBERS.findall(line.upper())


def _begins(title: str, heading: str) -> bool:
    """Whether a heading begins with the title, or the title with a long heading; both by whole words."""
    shorter, longer = sorted((_as_words(title), _as_words(heading)), key=len)
    long_enough = _SHORTEST_TITLE if shorter == _as_words(title) else _LONG_TITLE
    return len(shorter) >= long_enough and longer.startswith(shorter)


def _stands_in(title: str, lines: Sequence[str]) -> bool:
    """Whether the title stands somewhere in the lines; one with numbers by whole words, as 1 is no 12 and I no II."""
    if _NUMBERS.search(title.upper()):
        return _as_words(title) in _as_words(" ".join(lines))
    return letters(title) in "".join(map(letters, lines))


def _as_words(text: str) -> str:
    """The words of a text without case and accents, a space before and after each."""
    return f" {' '.join(_WORD.findall(normalize_text(text)))} "
