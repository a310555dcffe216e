"""The library as services search it: by identifiers, words and dates."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from datetime import date, timedelta
from functools import cached_property, lru_cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.testing.literature.records import MadeLibrary, MadePaper
from quoteweave.testing.literature_server.answers import Refusal

_K1, _B = 1.2, 0.75


class WordIndex:
    """Ranks texts by BM25 (Robertson et al., 1994; k1 = 1.2, b = 0.75) over stemmed words without stop words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.words = [words(text) for text in texts]
        self._mean = sum(map(len, self.words)) / max(1, len(self.words))
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, text_words in enumerate(self.words):
            for word, count in Counter(text_words).items():
                self._postings[word].append((at, count))

    def scores(self, query: str) -> dict[int, float]:
        """The score of each text that contains a word of the query, by the text's position."""
        scores: dict[int, float] = defaultdict(float)
        for word in words(query):
            having = self._postings.get(word, [])
            weight = math.log(1 + (len(self.words) - len(having) + 0.5) / (len(having) + 0.5))
            for at, count in having:
                length = _K1 * (1 - _B + _B * len(self.words[at]) / self._mean)
                scores[at] += weight * count * (_K1 + 1) / (count + length)
        return dict(scores)

    def ranked(self, query: str, within: Collection[int]) -> list[tuple[int, float]]:
        """The texts of `within` that contain a word of the query, with their scores, best first."""
        scores = self.scores(query)
        return sorted(((at, scores[at]) for at in within if at in scores), key=lambda scored: (-scored[1], scored[0]))


_DAY = lazy_regex(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


class Catalogue:
    """The papers of a library in the order of their ids; `pdf_url` gives the address of a paper's open-access file."""

    def __init__(self, library: MadeLibrary, pdf_url: Callable[[MadePaper], str]) -> None:
        self.library, self.papers = library, library.papers
        self._pdf_url = pdf_url
        self.abstracts, self.texts = _indexes(library)
        """Indexes of titles and abstracts, and of these with open-access full texts; both in the order of `papers`."""

    def pdf_url(self, paper: MadePaper) -> str | None:
        """The declared address of its open-access file; None where it has none."""
        return self._pdf_url(paper) if paper.open_access else None

    @cached_property
    def places(self) -> dict[str, int]:
        """The position in `papers` of each identifier in lower case: the paper's id, `corpusid:…`, `doi:…`, `w…`, …."""
        places = dict[str, int]()
        for at, paper in enumerate(self.papers):
            names = [paper.id, f"corpusid:{paper.corpus_id}", paper.openalex]
            names += [f"doi:{paper.doi}"] if paper.doi else []
            names += [f"arxiv:{paper.arxiv}"] if paper.arxiv else []
            places |= {name.lower(): at for name in names}
        return places

    def find(self, name: str) -> MadePaper | None:
        """The paper with an identifier, whatever its case."""
        at = self.places.get(name.lower())
        return None if at is None else self.papers[at]


@lru_cache(maxsize=4)
def _indexes(library: MadeLibrary) -> tuple[WordIndex, WordIndex]:
    """The indexes of titles with abstracts and of full texts, made once for all servers, since it takes a moment."""
    abstracts = [f"{paper.title} {paper.known_abstract or ''}" for paper in library.papers]
    texts = [paper.full_text if paper.open_access else "" for paper in library.papers]
    return WordIndex(abstracts), WordIndex([f"{a} {b}" for a, b in zip(abstracts, texts, strict=True)])


def assumed_day(paper: MadePaper) -> date | None:
    """A paper's day as services assume it: the first of January where they know only the year."""
    known = paper.published
    return None if known is None else date(known.year, known.month or 1, known.day or 1)


def last_day(text: str) -> date:
    """The last day of `2020`, `2020-06` or `2020-06-30`. Raises ValueError for anything else."""
    match = _DAY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no date")
    year, month, day = (None if part is None else int(part) for part in match.groups())
    first = date(year or 0, month or 1, day or 1)
    if day:
        return first
    after = date(first.year + 1, 1, 1) if not month else date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return after - timedelta(days=1)


def offset_of(token: str | None) -> int:
    """How many papers the token for the next page leaves out. Raises Refusal for what is no such token."""
    offset = (token or "made library 0").removeprefix("made library ")
    if not offset.isdecimal():
        raise Refusal(400, {"error": "Invalid token", "message": f"{token} is no token of this server."})
    return int(offset)


def token_of(offset: int) -> str:
    """The token for the page after so many papers."""
    return f"made library {offset}"
