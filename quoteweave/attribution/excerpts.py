"""Reads what is to be attributed: a sentence or a short text, with citation marks as papers and drafts have them.

Marks are `[CITATION]`, `[12]`, `[3, 5]`, `[1-3]`, `(Reed et al., 2016; Lee, 2019)`, `Reed et al. (2016)`,
`\\cite{key}` and `[@key]`. A sentence that cites says things of its own: that somebody showed something, who and when.
These are no part of the claim.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from pydantic import Field

from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.core.text.question_analysis import check_question
from quoteweave.core.text.tokens import words
from quoteweave.generation.sentences import split_sentences

MIN_CLAIM_WORDS = 4
"""A part of a sentence between marks is a claim of its own only if it has so many words; else the whole sentence is."""
MIN_CLAUSE_WORDS = 3
"""The same for a part that ends like a clause, before a semicolon or a word such as "but", and not like a name."""
MAX_EXCERPT_CHARACTERS = 1_200
"""Characters around a mark that are searched for; also the greatest length of a text without marks."""
MAX_NESTED = 3
"""How often marks are removed from a text whose marks are nested, as in "[1[2]]"; of deeper ones only the brackets
are."""
_NO_BRACKETS = dict.fromkeys(map(ord, "[](){}"), " ")

# "(May 2019)" and "(Summer, 2019)" are dates: a single name needs a comma before its year, and no name is a month or a
# season.
_TIMES = (
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?:[a-z]*)\b|Spring|Summer|Autumn|Fall|Winter|Q[1-4]|H[12]"
)
_NAME = rf"(?!(?:{_TIMES})\b)[A-Z][\w'’-]+"
_YEAR = r"(?:19|20)\d\d[a-z]?"
_YEARS = rf"{_YEAR}(?:\s*,\s*{_YEAR})*"
_WORK = rf"(?:{_NAME}\s+(?:et\s+al\.?|(?:and|&)\s+{_NAME}),?\s+{_YEARS}|{_NAME},\s+{_YEARS})"
_LEAD = r"(?:see(?:\s+also)?|e\.g\.,?|cf\.)"
# "(Reed 2016)" may be anything, but after words such as "see" it is a work, a figure or a law; only works count.
_NO_AUTHOR = r"(?:Fig|Figure|Tab|Table|Section|Chapter|Equation|Appendix|Annex|Part|Act|Directive|Regulation|Windows)\b"
_BARE = rf"(?:{_WORK}|(?!{_NO_AUTHOR})(?={_NAME})[A-Z][\w'’-]*[a-z]\s+{_YEARS})"
_AUTHORS = rf"{_NAME}(?:\s+et\s+al\.?|\s+(?:and|&)\s+{_NAME})"
_SAYS = r"""(?:(?:have|has|had|also|first|already|recently|later)\s+)*(?:show(?:s|ed|n)?|finds?|found|reports?|reported
    |demonstrate[sd]?|observe[sd]?|note[sd]?|noticed|argue[sd]?|conclude[sd]?|suggest(?:s|ed)?|document(?:s|ed)?
    |establish(?:es|ed)?|prove[sdn]?|state[sd]?|claim(?:s|ed)?|reveal(?:s|ed)?|says?|said|estimate[sd]?|confirm(?:s|ed)?)
    """
# "Spain and Portugal (2016)" may be anything: names and a year are a mark only if these people are said to state or
# study something, or a statement is said to be theirs.
_NAMES = rf"{_NAME}(?:\s+(?:and|&)\s+{_NAME})?"
_STUDIES = r"""(?:(?:investigate|examine|analy[sz]e|propose|describe|evaluate)[sd]?|(?:survey|review|train)(?:s|ed)?
    |discuss(?:e[sd])?|stud(?:y|ies|ied))"""
_DONE = ("shown", "found", "reported", "noted", "observed", "described", "argued", "proposed")
_CREDITED = "|".join(
    rf"(?<=\b{before}\s)"
    for before in (r"[Aa]ccording\sto", r"[Ff]ollowing", r"[Ss]ee", *(rf"{done}\sby" for done in _DONE))
)
_MARK = lazy_regex(
    rf"""
      \[\s*(?:CITATION|CITE|REF)\s*\d*(?:\s*,\s*(?:CITATION|CITE|REF)\s*\d*)*\s*\]
    | \[\s*\d{{1,4}}(?:\s*[-–,;]\s*\d{{1,4}})*\s*\]
    | \[@[^\[\]\s][^\[\]]*\]
    | \\cite[a-z]*\*?(?:\[[^\[\]]*\])*\{{[^{{}}]+\}}
    | \((?:{_LEAD}\s+)?{_WORK}(?:\s*;\s*{_WORK})*\)
    | \({_LEAD}\s+{_BARE}(?:\s*;\s*{_BARE})*\)
    | {_NAME}\s+et\s+al\.?\s+\({_YEARS}\)
    | {_NAMES}\s+\({_YEARS}\)(?=\s+(?:{_SAYS}|{_STUDIES})\b)
    | (?:{_CREDITED}){_NAMES}\s+\({_YEARS}\)
    """,
    re.VERBOSE,
)
_CITED_WORK = lazy_regex(rf"({_NAME})[^;()\d]*?[\s,(]+({_YEARS})")
_ABBREVIATED = lazy_regex(r"\b(?:e\.\s?g\.|i\.\s?e\.),?", re.IGNORECASE)
# Adverbs that do not change what is claimed. Others, such as "never", "hardly" and "wrongly", may.
_ADVERB = r"""(?:long|also|often|again|now|since|already|first|well|widely|recently|repeatedly|commonly|generally
    |clearly|consistently|frequently|previously|independently|experimentally|increasingly)"""
# Words that introduce a source are not what the source states: "According to", "Reed et al. showed that".
_INTRODUCTION = lazy_regex(
    rf"""
    \A(?:
      (?i:according\s+to|following|as\s+(?:shown|reported|found|noted|observed|described|argued)\s+(?:by|in)|in|by)
        (?:\s+{_AUTHORS})?\s*,
    | (?i:as)\s+(?:{_AUTHORS}\s+)?{_SAYS}\s*,
    | (?:{_AUTHORS}|(?i:
        (?:(?:the|these|those|some|several|many|most|other|previous|earlier|prior|past|recent|existing)\s+)*
        (?:authors?|works?|stud(?:y|ies)|papers?|research(?:ers)?|experiments|literature)
      ))?\s*{_SAYS}\s+that\b
    | (?i:it)\s+(?:is|was|has\s+(?:{_ADVERB}\s+)?been)\s+(?:{_ADVERB}\s+)*
        (?:known|shown|found|reported|observed|documented|established|demonstrated|noted|argued|suggested)\s+that\b
    )\s*
    """,
    re.VERBOSE,
)
_ENDED = lazy_regex(r"(?<!\bet al)[.!?]\s*\Z")
_GOES_ON = lazy_regex(r"\s*[a-z]")
# Brackets that held a mark, and nothing else but words that introduce one.
_EMPTIED = lazy_regex(rf"\((?:{_LEAD}|and|[\s,;])*\0(?:{_LEAD}|and|[\s,;\0])*\)")
# A bracket that was left open or unopened when a text was cut at a mark.
_HALVES = lazy_regex(rf"\A[\s,;]*\)|\((?:{_LEAD}|and|[\s,;])*\Z")
_BEFORE_STOP = lazy_regex(r"\s+(?=[.,;:!?。，、；：！？])")
_CLAUSE_ENDS = lazy_regex(r"\s*(?:;|,?\s+(?:but|yet|while|whereas|although|though)\b)")


class Excerpt(Record):
    """A claim whose source is looked for, and the text around it that is searched for."""

    mark: str | None = Field(description="the citation mark as written; None where the text has none")
    start: int = Field(ge=0, description="first character of the mark in the text given; of the claim without a mark")
    claim: str = Field(description="what the source has to state: without marks, on one line")
    text: str = Field(description="what is searched for: the claim and what stands around it, without marks")
    cut: bool = Field(default=False, description="whether the text given is longer than what is searched for")


def read_excerpts(text: str) -> list[Excerpt]:
    """Return an excerpt for each citation mark of a text, or for each sentence of a text that has none.

    The claim of a mark is its sentence; if several marks share the sentence, the part after the mark before. Raises
    UsageError for a text without words, and for one without marks of more than `MAX_EXCERPT_CHARACTERS`;
    QuestionTooLong for a text that is too long to search for.

    >>> [(one.mark, one.claim) for one in read_excerpts("Blur hurts networks [4], but people see well [7, 9].")]
    [('[4]', 'Blur hurts networks'), ('[7, 9]', 'but people see well.')]
    """
    if not words(without_marks(text)):
        raise UsageError("there is no sentence to find the source of: the text given has no words")
    check_question(text)
    marks = list(_MARK.finditer(text))
    if not marks:
        return _sentences(text)
    marked = _MarkedText(text, marks)
    return [marked.excerpt(at) for at in range(len(marks))]


def without_marks(text: str) -> str:
    """Return the text on one line without its citation marks.

    >>> without_marks("Blur hurts networks [4] (Reed et al., 2016).")
    'Blur hurts networks.'
    """
    unmarked = text
    for _ in range(MAX_NESTED):
        if not _MARK.search(unmarked):
            break
        unmarked = _EMPTIED.sub(" ", _MARK.sub("\0", unmarked)).replace("\0", " ")
    else:
        unmarked = unmarked.translate(_NO_BRACKETS)
    return _BEFORE_STOP.sub("", " ".join(unmarked.split()))


def claim_of(sentence: str) -> str:
    """What the source of a sentence has to state: the sentence without marks and words that introduce a source.

    >>> claim_of("Reed et al. (2016) showed that blur hurts networks.")
    'Blur hurts networks.'
    """
    claim = without_marks(_ABBREVIATED.sub(" ", without_marks(sentence)))
    claim = _HALVES.sub("", claim).replace("( ", "(").strip(" ,;:")
    statement = _INTRODUCTION.sub("", claim)
    return claim if statement == claim or not words(statement) else statement[0].upper() + statement[1:]


def cited_works(text: str) -> list[tuple[str, str]]:
    """Return the first author's family name and the year of each work that a text cites by these, in its order.

    >>> cited_works("Blur hurts (Reed et al., 2016; Lee, 2019a), as Ho and Kim (2020) say.")
    [('Reed', '2016'), ('Lee', '2019a'), ('Ho', '2020')]
    """
    works = (work for mark in _MARK.finditer(text) for work in _CITED_WORK.finditer(mark[0]))
    return [(work[1], year) for work in works for year in re.findall(_YEAR, work[2])]


def has_citation_mark(text: str) -> bool:
    """Whether a text has a citation mark."""
    return _MARK.search(text) is not None


def leading_marks_end(text: str) -> int:
    """Return where the marks at the beginning of a text end, if a capitalized word follows; else 0.

    Such marks belong to the sentence before. In `[@reed] showed` the mark is part of the sentence that it begins.
    """
    end = 0
    while (mark := _MARK.match(text, end)) is not None:
        end = mark.end() + len(text[mark.end() :]) - len(text[mark.end() :].lstrip(" ,;"))
    return end if text[end : end + 1].isupper() or end == len(text) else 0


def _sentences(text: str) -> list[Excerpt]:
    """The sentences of a text without marks."""
    unmarked = without_marks(text)
    sentences = [sentence for sentence in split_sentences(text) if words(text[sentence.start : sentence.end])]
    if len(unmarked) > MAX_EXCERPT_CHARACTERS:
        raise UsageError(
            f"the text has {len(unmarked):,} characters in {pluralize(len(sentences), 'sentence')} and no citation "
            "mark: put [CITATION] after the sentence whose source is wanted, or have `quoteweave cite` find one for "
            "every sentence"
        )
    return [
        Excerpt(mark=None, start=sentence.start, claim=claim_of(text[sentence.start : sentence.end]), text=unmarked)
        for sentence in sentences
    ]


def _blanked(text: str) -> str:
    """The text with its marks replaced by spaces, so that no full stop within one ends a sentence."""
    return _MARK.sub(lambda mark: " " * len(mark[0]), text)


class _MarkedText:
    """A text with citation marks."""

    def __init__(self, text: str, marks: Sequence[re.Match[str]]) -> None:
        self._text, self._marks = text, marks
        self._starts = [mark.start() for mark in marks]
        self._sentences = split_sentences(_blanked(text))
        self._sentence_starts = [sentence.start for sentence in self._sentences]
        self._unmarked = without_marks(text)

    def excerpt(self, at: int) -> Excerpt:
        """The claim of the mark at this place among the marks, and what stands around it."""
        text, mark = self._text, self._marks[at]
        start, end = self._around(mark)
        begin = self._marks[at - 1].end() if at and self._starts[at - 1] >= start else start
        until = mark.start() if at + 1 < len(self._marks) and self._starts[at + 1] < end else end
        part = claim_of(text[begin:until])
        least = MIN_CLAUSE_WORDS if _CLAUSE_ENDS.match(text, mark.end()) else MIN_CLAIM_WORDS
        claim = part if len(part.split()) >= least else claim_of(text[start:end])
        if len(self._unmarked) <= MAX_EXCERPT_CHARACTERS:
            return Excerpt(mark=mark[0], start=mark.start(), claim=claim, text=self._unmarked)
        room = max(0, MAX_EXCERPT_CHARACTERS - (end - start)) // 2
        near = without_marks(text[max(0, start - room) : end + room])[-MAX_EXCERPT_CHARACTERS:]
        return Excerpt(mark=mark[0], start=mark.start(), claim=claim, text=near, cut=True)

    def _around(self, mark: re.Match[str]) -> tuple[int, int]:
        """Where the sentence of a mark begins and ends.

        A mark that stands after a sentence belongs to it, unless it is the subject of what follows: "[4] showed that".
        """
        before = bisect_left(self._sentence_starts, mark.start())
        sentence = self._sentences[max(0, before - 1)]
        if not before or (
            _ENDED.search(self._text, sentence.start, mark.start()) and _GOES_ON.match(self._text, mark.end())
        ):
            return mark.start(), max(sentence.end, mark.end())
        return sentence.start, max(sentence.end, mark.end())
