"""Papers as Semantic Scholar's Graph API describes them, by requested fields, and its filters of papers."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from quoteweave.testing.literature.library import page_of
from quoteweave.testing.literature.records import MadePaper
from quoteweave.testing.literature_server.answers import Refusal
from quoteweave.testing.literature_server.catalogue import Catalogue, assumed_day, days_of

AUTHOR_FIELDS = frozenset(
    {"authorId", "externalIds", "url", "name", "affiliations", "homepage", "paperCount", "citationCount", "hIndex"}
)
NESTED = frozenset({"citations", "references", "tldr", "embedding"})
"""Fields that the bulk search does not offer."""
_TYPES = {"survey": "Review", "resource": "Dataset"}
_NOTICE = "Notice: the file belongs to its authors; see its page for the licence."


class PaperFields:
    """Describes papers by fields such as `title,authors.name,citations.title`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._made: dict[str, Callable[[MadePaper], Any]] = {
            "paperId": lambda paper: paper.id,
            "corpusId": lambda paper: paper.corpus_id,
            "externalIds": _external_ids,
            "url": page_of,
            "title": lambda paper: paper.title,
            "abstract": lambda paper: paper.known_abstract,
            "venue": lambda paper: paper.venue,
            "publicationVenue": lambda paper: {"id": _digest(paper.venue), "name": paper.venue, "type": "journal"},
            "year": lambda paper: paper.published.year if paper.published else None,
            "referenceCount": lambda paper: len(paper.references) + len(paper.other_references),
            "citationCount": lambda paper: paper.citations,
            "influentialCitationCount": lambda paper: paper.citations // 10,
            "isOpenAccess": lambda paper: paper.open_access,
            "openAccessPdf": self._pdf,
            "fieldsOfStudy": lambda paper: [paper.field],
            "s2FieldsOfStudy": lambda paper: [{"category": paper.field, "source": "s2-fos-model"}],
            "publicationTypes": publication_types,
            "publicationDate": publication_date,
            "journal": lambda paper: {"name": paper.venue, "volume": None, "pages": None},
            "citationStyles": lambda paper: {"bibtex": _bibtex(paper)},
            "tldr": _summary,
            "embedding": lambda _: None,
        }

    def check(self, fields: Sequence[str], *, bulk: bool = False) -> None:
        """Raise Refusal for unknown fields, or those that the bulk search does not offer."""
        bad = [field for field in fields if not self._is_known(field, bulk)]
        if bad:
            raise Refusal(400, {"error": f"Unrecognized or unsupported fields: [{', '.join(bad)}]"})

    def _is_known(self, field: str, bulk: bool) -> bool:
        name, _, inner = field.partition(".")
        if bulk and name in NESTED:
            return False
        if name == "authors":
            return not inner or inner in AUTHOR_FIELDS
        if name in ("citations", "references"):
            return not inner or (self._is_known(inner, bulk=False) and inner.partition(".")[0] not in NESTED)
        return name in self._made and (not inner or field in ("embedding.specter_v1", "embedding.specter_v2"))

    def of(self, paper: MadePaper, fields: Sequence[str]) -> dict[str, Any]:
        """The requested fields of a paper, and its id."""
        made: dict[str, Any] = {"paperId": paper.id}
        for name in dict.fromkeys(field.partition(".")[0] for field in fields):
            inner = [field.partition(".")[2] for field in fields if field.startswith(f"{name}.")]
            if name == "authors":
                made[name] = [_author(paper, each, ("authorId", "name", *inner)) for each in paper.authors]
            elif name == "references":
                cited = [self._catalogue.library.paper(id) for id in paper.references]
                made[name] = [self.of(each, inner or ["title"]) for each in cited]
            elif name == "citations":
                made[name] = [self.of(each, inner or ["title"]) for each in self._catalogue.citing[paper.id]]
            else:
                made[name] = self._made[name](paper)
        return made

    def _pdf(self, paper: MadePaper) -> dict[str, str | None]:
        """The address of the PDF, which the service leaves empty for papers that are not open access."""
        url = self._catalogue.pdf_url(paper)
        if url is None:
            return {"url": "", "status": "CLOSED", "license": None, "disclaimer": _NOTICE}
        return {"url": url, "status": "GREEN", "license": "CCBY", "disclaimer": _NOTICE}


def publication_types(paper: MadePaper) -> list[str]:
    """The paper's types, such as `Review`."""
    return [_TYPES.get(paper.role, "JournalArticle")]


def publication_date(paper: MadePaper) -> str | None:
    """The paper's day, if the service knows it."""
    known = paper.published
    return str(known) if known is not None and known.day is not None else None


def _summary(paper: MadePaper) -> dict[str, str] | None:
    """The first sentence of the abstract, if the service has that."""
    if paper.known_abstract is None:
        return None
    return {"model": "tldr@v2.0.0", "text": f"{paper.known_abstract.split('. ')[0]}."}


def _external_ids(paper: MadePaper) -> dict[str, object]:
    known = {"ArXiv": paper.arxiv, "DOI": paper.doi}
    return {**{name: value for name, value in known.items() if value}, "CorpusId": paper.corpus_id}


def _author(paper: MadePaper, name: str, fields: Sequence[str]) -> dict[str, object]:
    id = str(int(_digest(f"{paper.group} {name}")[:8], 16))
    known: dict[str, object] = {
        "authorId": id,
        "externalIds": {},
        "url": f"https://www.semanticscholar.org/author/{id}",
        "name": name,
        "affiliations": [],
        "homepage": None,
        "paperCount": 1,
        "citationCount": paper.citations,
        "hIndex": 1,
    }
    return {field: known[field] for field in fields}


def _bibtex(paper: MadePaper) -> str:
    key = f"{paper.authors[0].split()[-1]}{paper.published.year if paper.published else ''}"
    known = {"author": " and ".join(paper.authors), "journal": paper.venue, "title": paper.title}
    lines = ",\n".join(f" {name} = {{{value}}}" for name, value in known.items())
    return f"@['JournalArticle']{{{key},\n{lines}\n}}\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


FILTERS = (
    "year",
    "publicationDateOrYear",
    "openAccessPdf",
    "minCitationCount",
    "venue",
    "fieldsOfStudy",
    "publicationTypes",
)
Passes = Callable[[MadePaper], bool]


def filter_of(params: Mapping[str, str]) -> Passes:
    """A function that tells whether a paper passes all filters of a request. Raises Refusal for an invalid value."""
    makers: dict[str, Callable[[str], Passes]] = {
        "year": _year,
        "publicationDateOrYear": _date_or_year,
        "openAccessPdf": lambda _: lambda paper: paper.open_access,
        "minCitationCount": _cited_often,
        "venue": _any_of(lambda paper: [paper.venue]),
        "fieldsOfStudy": _any_of(lambda paper: [paper.field]),
        "publicationTypes": _any_of(publication_types),
    }
    tests = list[Passes]()
    for name, value in params.items():
        if name in makers:
            try:
                tests.append(makers[name](value))
            except ValueError as error:
                raise unacceptable(name, value) from error
    return lambda paper: all(passes(paper) for passes in tests)


def number(params: Mapping[str, str], name: str, default: int, most: int) -> int:
    """A parameter that is a number from 0 to `most`. Raises Refusal for any other value."""
    value = params.get(name, str(default))
    if not value.isdecimal() or int(value) > most:
        raise unacceptable(name, value)
    return int(value)


def unacceptable(name: str, value: str) -> Refusal:
    """The service's refusal of a parameter."""
    return Refusal(400, {"error": f"Unacceptable query params: [{name}={value}]"})


def _year(value: str) -> Passes:
    """Passes papers of `2019`, `2016-2020`, `2010-` or `-2015`."""
    return _within(value, "-")


def _date_or_year(value: str) -> Passes:
    """Passes papers of `2019-03`, `2016-03-05:2020-06-06`, `1981-08-25:` or `:2015-01`."""
    return _within(value, ":")


def _within(value: str, between: str) -> Passes:
    first, found, last = value.partition(between)
    last = last if found else first
    if not first and not last:
        raise ValueError("a range without ends")
    begin = days_of(first)[0] if first else date.min
    end = days_of(last)[1] if last else date.max

    def passes(paper: MadePaper) -> bool:
        day = assumed_day(paper)
        return day is not None and begin <= day <= end

    return passes


def _cited_often(value: str) -> Passes:
    least = int(value)
    return lambda paper: paper.citations >= least


def _any_of(names: Callable[[MadePaper], list[str]]) -> Callable[[str], Passes]:
    def make(value: str) -> Passes:
        wanted = {each.strip().lower() for each in value.split(",")}
        return lambda paper: any(name.lower() in wanted for name in names(paper))

    return make
