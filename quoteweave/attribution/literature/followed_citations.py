"""Follows the citations of passages that say what a claim says: what they cite may be the claim's source, too.

Papers that cite one source for one fact say it in much the same words, often closer to each other's words than to the
source's. So if a sentence is like the claim and has a citation mark, this is no evidence that its own paper is the
source, but that the entry under that mark in the paper's list of references is. The idea is that of recommending
citations by the contexts in which they are cited (He et al., "Context-aware citation recommendation", WWW 2010).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from quoteweave.attribution.excerpts import cited_works, has_citation_mark
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.marks import parse_marks
from quoteweave.core.text.tokens import words
from quoteweave.generation.relevance import coverage, question_terms, weigh_terms
from quoteweave.generation.sentences import split_sentences

SENTENCES = 8
"""Sentences whose marks are followed, the most like the claim."""
MIN_COVERAGE = 0.3
"""Least share of the claim's words, weighed by rarity, in a sentence whose marks are followed."""
_HEADING = lazy_regex(
    r"(?:\d+\.?\s*|[A-Z]\.\s*)?(?:references|bibliography|literature cited|works cited)\b", re.IGNORECASE
)
# These do not say that a sentence reports what others found: what it is contrasted with at its beginning, up to the
# comma; earlier work that it is compared with; and earlier work of its own authors.
_CONTRAST = lazy_regex(
    r"""
    ^\s*(?:contrary\s+to|unlike|in\s+contrast\s+(?:to|with)|as\s+opposed\s+to)\b(?:\([^()]*\)|[^,;()])*
    | \b(?:(?:contrary\s+to|unlike|in\s+contrast\s+(?:to|with)|as\s+opposed\s+to|than)\s+(?:\w+\s+){0,2}?
      |our\s+(?:own\s+)?)(?:earlier|previous|prior|past)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Words for what was found before, by whomever. "It was found that" and "it is shown that" are not among them, as they
# may introduce one's own results; nor are "observed earlier in the season" or "found elsewhere in the lake".
_REPORTED = lazy_regex(
    r"""
    \b(?:earlier|previous|prior|past)\s+(?:(?:and|recent|empirical)\s+)*
      (?:works?|stud(?:y|ies)|research|results?|authors?|papers?|experiments?|reports?|findings?|literature|evidence)\b
    | \bit\s+is\s+(?:(?:well|widely|generally|now|often|long)\s+)*(?:known|reported|documented|established|accepted)\b
    | \bit\s+has\s+(?:(?!not\b|never\b|hardly\b)\w+\s+)?been\s+
      (?:known|shown|reported|found|observed|documented|established|demonstrated)\b
    | \b(?:reported|shown|found|observed|documented|described|demonstrated)\s+
      (?:(?:elsewhere|previously|earlier|before)(?:\s*(?:[^\w\s]|$)|\s+that\b)
        |previously\s+(?:by|in|for|to|on|with)\b)
    | \bet\s+al\b
    | \b(?:start|starting|build|builds|building|rest|rests|based|drawing|motivated)\b(?:(?!\bour\b).){0,40}
      \b(?:results?|findings?|observations?)\s+that\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_AUTHOR = lazy_regex(r"[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+){0,2}(?:,\s|\s+[A-Z]\.|\s+and\s|\s+[A-Z]{1,3}\b)")
_YEAR = lazy_regex(r"\b(?:19|20)\d\d[a-z]?\b")
_MAX_NAME_CHARACTERS = 60
_MIN_TITLE_LETTERS = 12  # a shorter title may occur within another
_ENTRY = lazy_regex(r"^\s*(?:\[(\d{1,4})\]|(\d{1,4})\.)\s+", re.MULTILINE)


def entries_cited_for(claim: str, hits: Sequence[Hit], references: Mapping[str, "ReferenceList"]) -> dict[str, float]:
    """Return the entries of lists of references that sentences like the claim cite, the most alike first.

    Each entry has the share of the claim's words, weighed by rarity, in the sentence citing it that is most like the
    claim. `references` has each document's list, by the document's name.
    """
    sentences = [
        (hit.quote.document, hit.quote.text[sentence.start : sentence.end])
        for hit in hits
        if hit.quote.kind == "text" and hit.quote.document in references
        for sentence in split_sentences(hit.quote.text)
    ]
    sentence_words = [frozenset(words(text)) for _, text in sentences]
    weights = weigh_terms(question_terms(claim), sentence_words)
    covered = [coverage(weights, stems) for stems in sentence_words]
    best = sorted(range(len(sentences)), key=lambda at: (-covered[at], at))[:SENTENCES]
    share_by_entry = dict[str, float]()
    for at in best:
        document, text = sentences[at]
        if covered[at] >= MIN_COVERAGE:
            for entry in references[document].cited_in(text):
                share_by_entry.setdefault(entry, covered[at])
    return share_by_entry


class ReferenceList:
    """The entries of a document's list of references; false if it has none that can be told apart."""

    def __init__(self, quotes: Sequence[Quote]) -> None:
        listed = "\n".join(quote.text for quote in quotes if in_references(quote))
        starts = list(_ENTRY.finditer(listed))
        self.numbered = {
            int(start[1] or start[2]): " ".join(listed[start.end() : following.start() if following else None].split())
            for start, following in zip_longest(starts, starts[1:])
        }
        """The entries of a numbered list, by their numbers."""
        self.named = () if starts else tuple(_entries(listed))
        """The entries of a list without numbers."""

    def __bool__(self) -> bool:
        return bool(self.numbered or self.named)

    def cited_in(self, text: str) -> list[str]:
        """Return the entries that a text's marks name: `[12]`, or `(Reed et al., 2016)` where there are no numbers.

        One author and year may name several entries: of Reed alone, and of Reed with others.
        """
        if self.numbered:
            numbers = [number for mark in parse_marks(text) for number in mark.numbers]
            return [self.numbered[number] for number in numbers if number in self.numbered]
        return [entry for author, year in cited_works(text) for entry in self.named if _is_of(entry, author, year)]


def _entries(listed: str) -> Iterator[str]:
    """The entries of a list without numbers: each begins on a new line with a name, and has a year."""
    entry: list[str] = []
    for line in filter(None, map(str.strip, listed.splitlines())):
        if entry and _AUTHOR.match(line) and _YEAR.search(" ".join(entry)):
            yield " ".join(entry)
            entry = []
        entry.append(line)
    if entry and _YEAR.search(" ".join(entry)):
        yield " ".join(entry)


def _is_of(entry: str, author: str, year: str) -> bool:
    """Whether an entry's first author has this family name, and its year is this."""
    first = re.match(rf"[^,;&]*?\b{re.escape(author)}\b", entry)
    return first is not None and len(first[0]) <= _MAX_NAME_CHARACTERS and re.search(rf"\b{year}\b", entry) is not None


def is_entry_of(entry: str, title: str) -> bool:
    """Whether an entry of a list of references is of a paper with that title, both in letters alone."""
    return len(title) >= _MIN_TITLE_LETTERS and title in entry


def in_references(quote: Quote) -> bool:
    """Whether a quote stands in a list of references."""
    return _HEADING.match(quote.section or "") is not None


def better_than_titles(claim: str, firsthand: Sequence[Hit], passages: Sequence[Hit]) -> list[Hit]:
    """Return the passages of a paper to be shown in place of `firsthand`, those that do not report what others found.

    If the firsthand passages are all titles, which only say what the paper is about, these are the passages that are no
    titles, provided that one of them has more of the claim's words. Else the list is empty.
    """
    if any(hit.quote.layout != "title" for hit in firsthand):
        return []
    words_by_quote = {hit.quote.id: frozenset(words(hit.quote.text)) for hit in passages}
    weights = weigh_terms(question_terms(claim), list(words_by_quote.values()))
    body_passages = [hit for hit in passages if hit.quote.layout != "title"]
    most = max((coverage(weights, words_by_quote[hit.quote.id]) for hit in firsthand), default=0.0)
    return body_passages if any(coverage(weights, words_by_quote[hit.quote.id]) > most for hit in body_passages) else []


def is_secondhand(claim: str, text: str) -> bool:
    """Whether the sentence of a text that is most like the claim cites others for it, or says that others found it."""
    sentences = [text[sentence.start : sentence.end] for sentence in split_sentences(text)]
    sentence_words = [frozenset(words(sentence)) for sentence in sentences]
    weights = weigh_terms(question_terms(claim), sentence_words)
    best = max(range(len(sentence_words)), key=lambda at: coverage(weights, sentence_words[at]), default=None)
    if best is None or coverage(weights, sentence_words[best]) == 0:
        return False
    without_contrast = _CONTRAST.sub(" ", sentences[best])
    return has_citation_mark(without_contrast) or _REPORTED.search(without_contrast) is not None
