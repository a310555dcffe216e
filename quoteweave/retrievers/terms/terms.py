"""Domain terms: their synonyms, the components they are computed from, and the places where those are listed.

"Return on assets" occurs nowhere in most annual reports; net income and total assets do, in statements whose titles the
question does not name. Terms are data, in TOML:

    places = 2                          these terms apply only to documents that contain at least 2 of the places

    [[term]]
    name = "return on assets"           as people write it; words match in all inflected forms
    also = ["ROA"]                      other names
    made_of = ["net income", "total assets"]

    [[term]]
    name = "total assets"
    stands_in = ["balance sheet"]       places are terms too, recognised by their components

Terms of finance are included (`finance.toml`).
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from quoteweave.collection.arrays import np
from quoteweave.core.errors import UsageError
from quoteweave.core.fingerprints import fingerprint
from quoteweave.core.records import Record
from quoteweave.core.text.tokens import words
from quoteweave.index.lexical import LexicalIndex

if TYPE_CHECKING:
    from quoteweave.index.term_weights import Mask, Scores


MAX_FILE_BYTES = 1_000_000
"""Largest file of terms. The included terms take 12 kB; a larger file is something else, or not written by hand."""

_FORM = "see docs/retrieval.md for the form of terms"

Phrase = tuple[str, ...]
"""Words as `core.text.tokens` splits them."""


class Term(Record):
    """A domain term."""

    name: str = Field(min_length=1)
    also: tuple[str, ...] = Field(default=(), description="other names of it")
    made_of: tuple[str, ...] = Field(default=(), description="terms, or words, that it is computed from or consists of")
    stands_in: tuple[str, ...] = Field(default=(), description="names of the terms that are the places where it stands")


class TermExpansion(Record):
    """What a question's term is expanded to."""

    name: str = Field(description="the term")
    words_asked: Phrase = Field(description="its words, as the question has them")
    asked_name: str = Field(description="which of its names has these words, as it is written among the terms")
    other_names: tuple[str, ...] = Field(description="its names that the question does not have")
    parts: tuple[str, ...] = Field(description="other names of it, and what it is made of")
    places: tuple[str, ...] = Field(description="where that stands")
    is_listed: bool = Field(description="whether the term itself stands in places; else it is computed from others")

    def __str__(self) -> str:
        term = f"{self.asked_name} = {', '.join(self.parts)}" if self.parts else self.asked_name
        return f"{term} (in {', '.join(self.places)})" if self.places else term


class Terms:
    """The terms of a domain. A name that several terms share means the first of them.

    Raises UsageError for terms that could never be found: a place that is no term or has no components, fewer places
    than a document must contain, and a name or component without any word to search for.
    """

    def __init__(self, terms: Sequence[Term], *, places: int = 0) -> None:
        self.least_places = places
        """These terms apply only to documents that contain at least this many of their places."""
        self._in_order = tuple(terms)
        self._terms = {term.name: term for term in reversed(terms)}
        self._named = {phrase: term.name for term in reversed(terms) for phrase in _phrases(term)}
        self._longest = max(map(len, self._named), default=0)
        for term in terms:
            self._check(term)
        if places > len(self.places):
            raise UsageError(
                f"a document is to show {places} places, and there are {len(self.places)}: lower places, or name more "
                "terms in stands_in"
            )

    def __iter__(self) -> Iterator[Term]:
        """Each term, in the order given."""
        return iter(self._in_order)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the terms, which changes whenever their expansions may; comments and layout do not count."""
        return fingerprint({"places": self.least_places, "terms": [term.model_dump() for term in self]})

    @cached_property
    def places(self) -> Mapping[str, Sequence[Sequence[Phrase]]]:
        """The components of each place by its name: for each component, its alternative phrases."""
        names = dict.fromkeys(place for term in self for place in term.stands_in)
        return {name: [self._phrases_for(part) for part in self._terms[name].made_of] for name in names}

    def phrases(self, name: str) -> Sequence[Phrase]:
        """The names of a term, its own first."""
        return _phrases(self._terms[name])

    def expansions(self, tokens: Sequence[str]) -> list[TermExpansion]:
        """Find and expand the terms in a question's words, each once; of overlapping names the longest counts."""
        expansions: dict[str, TermExpansion] = {}
        at = 0
        while at < len(tokens):
            sizes = range(min(self._longest, len(tokens) - at), 0, -1)
            phrase = next((p for size in sizes if (p := tuple(tokens[at : at + size])) in self._named), None)
            if phrase is not None:
                name = self._named[phrase]
                expansions.setdefault(name, self._expanded(name, phrase))
            at += len(phrase or (0,))
        return list(expansions.values())

    def _expanded(self, name: str, words_asked: Phrase) -> TermExpansion:
        names = dict.fromkeys((name, *self._terms[name].also))
        other_names = tuple(other_name for other_name in names if tuple(words(other_name)) != words_asked)
        asked_name = next(other_name for other_name in names if other_name not in other_names)
        is_place = name in self.places
        parts = {} if is_place else dict.fromkeys([name, *self._terms[name].also, *self._components(name)])
        places = dict.fromkeys(place for part in parts for place in self._places_of(part))
        return TermExpansion(
            name=name,
            words_asked=words_asked,
            asked_name=asked_name,
            other_names=other_names,
            parts=tuple(part for part in parts if tuple(words(part)) != words_asked),
            places=(name,) if is_place else tuple(places),
            is_listed=is_place or bool(self._terms[name].stands_in),
        )

    def _components(self, name: str) -> list[str]:
        """The components of a term, each followed by its own components.

        Each term is expanded once, as definitions may be circular and share components.
        """
        components: list[str] = []
        unexpanded, expanded = [name], set[str]()
        while unexpanded:
            part = unexpanded.pop()
            components.append(part)
            term = self._term(part)
            if term is not None and term.name not in expanded:
                expanded.add(term.name)
                unexpanded.extend(reversed(term.made_of))
        return components[1:]

    def _check(self, term: Term) -> None:
        for place in term.stands_in:
            if place not in self._terms:
                raise UsageError(f"term {term.name!r} stands in {place!r}, which is no term: add a [[term]] for it")
            if not self._terms[place].made_of:
                raise UsageError(f"term {place!r} is a place, which is known by what it is made of: add made_of to it")
        for name in (term.name, *term.also, *term.made_of):
            if not words(name):
                raise UsageError(f"term {term.name!r}: search looks for no word of {name!r}: write it in full")

    def _places_of(self, part: str) -> Sequence[str]:
        term = self._term(part)
        if term is None:
            return ()
        return (term.name,) if term.name in self.places else term.stands_in

    def _term(self, name: str) -> Term | None:
        term_name = self._named.get(tuple(words(name)))
        return self._terms[term_name] if term_name is not None else None

    def _phrases_for(self, part: str) -> list[Phrase]:
        term = self._term(part)
        return list(dict.fromkeys([tuple(words(part)), *(_phrases(term) if term else ())]))


def _phrases(term: Term) -> list[Phrase]:
    return [tuple(words(name)) for name in (term.name, *term.also)]


def read_terms(path: Path) -> Terms:
    """Read terms from a TOML file. Raises UsageError, with the place of the mistake, for an invalid file."""
    try:
        return _terms(_read(path).decode())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no TOML: it is not UTF-8") from error
    except RecursionError as error:
        raise UsageError(f"{path} is no file of terms: it nests too deep; {_FORM}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {_describe_error(error)}; {_FORM}") from error
    except ValueError as error:  # of TOML, or a number with thousands of digits
        raise UsageError(f"{path} is no TOML: {error}") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise UsageError(f"a file of terms has at most {MAX_FILE_BYTES // 1_000_000} MB; name several files instead")
    return content


class _File(Record):
    places: int = Field(default=0, ge=0)
    term: tuple[Term, ...] = Field(min_length=1)


def _terms(text: str) -> Terms:
    file = _File.model_validate(tomllib.loads(text))
    return Terms(file.term, places=file.places)


def _describe_error(error: ValidationError) -> str:
    """Describe the first validation error, with its field, and with the known fields where one is unknown."""
    first = error.errors(include_url=False, include_context=False)[0]
    loc = first["loc"]
    # Terms are counted from 1 where a person reads.
    is_in_term = len(loc) > 1 and isinstance(loc[1], int)
    place = f"[[term]] {int(loc[1]) + 1}, {'.'.join(map(str, loc[2:]))}" if is_in_term else ".".join(map(str, loc))
    if first["type"] == "extra_forbidden":
        return f"{place} is no key; there are: {', '.join((Term if is_in_term else _File).model_fields)}"
    if first["type"] == "tuple_type":
        return f"{place}: " + ('write a list, such as ["ROA"]' if is_in_term else "write each under [[term]]")
    return f"{place}: {first['msg']}"


@cache
def finance() -> Terms:
    """The included terms of financial reports."""
    return _terms(resources.files(__package__).joinpath("finance.toml").read_text("utf-8"))


# Share of a place's components that a page must contain in its tables and pictures.
MIN_COMPONENTS_SHARE = 0.5
# Added to that share for a title that names the place, on a page whose share exceeds the second number.
TITLE_SHARE, MIN_TITLED_SHARE = 0.25, 0.2
# Most words of a title beside the name: "Consolidated statements of income (in millions)".
MAX_TITLE_WORDS = 4


class TermPlaces:
    """The places of terms in an index: pages whose tables contain their components, and whose titles may name them.

    Each is looked up once.
    """

    def __init__(self, index: LexicalIndex) -> None:
        self._index = index
        self._pages: dict[Terms, dict[str, Scores]] = {}
        self._documents: dict[Terms, Mask] = {}

    def pages(self, terms: Terms, place: str) -> "Scores":
        """(m,) how well each page matches a place, 0 to 1; 0 in documents with too few of the terms' places."""
        if terms not in self._pages:
            self._look_up(terms)
        return self._pages[terms][place]

    def documents(self, terms: Terms) -> "Mask":
        """(m,) whether each page's document contains enough of the terms' places for the terms to apply."""
        if terms not in self._documents:
            self._look_up(terms)
        return self._documents[terms]

    def _look_up(self, terms: Terms) -> None:
        index = self._index
        shares = {name: self._shares(terms, name) for name in terms.places}
        places_shown = np.zeros(index.document_count, dtype=np.int64)
        best = {name: np.zeros(index.document_count, dtype=np.float32) for name in shares}
        for name, share in shares.items():
            np.maximum.at(best[name], index.document_of, share)
            places_shown += best[name] >= MIN_COMPONENTS_SHARE
        searched = self._documents[terms] = (places_shown >= terms.least_places)[index.document_of]
        self._pages[terms] = {
            name: np.where(
                (share >= MIN_COMPONENTS_SHARE) & searched, share / np.maximum(best[name], 1e-9)[index.document_of], 0
            ).astype(np.float32)
            ** 2
            for name, share in shares.items()
        }

    def pages_with(self, phrase: Phrase, *, tables: bool) -> "Scores":
        """(m,) 1 for pages with one quote, or one table or picture, that contains all words of a phrase."""
        quotes = self._index.quotes_with(phrase)
        quotes = quotes[self._index.is_image[quotes]] if tables else quotes
        return self._index.pages_with(quotes).astype(np.float32)

    def _shares(self, terms: Terms, place: str) -> "Scores":
        """(m,) what share of a place's components each page has; a title counts too, as rows may lie in paragraphs."""
        share, parts = self._index.no_points(), terms.places[place]
        for phrases in parts:
            share += np.maximum.reduce([self.pages_with(phrase, tables=True) for phrase in phrases])
        share /= np.float32(max(len(parts), 1))
        titled = (share > MIN_TITLED_SHARE) & self._titled(terms.phrases(place))
        return np.where(titled, np.minimum(share + np.float32(TITLE_SHARE), np.float32(1)), share)

    def _titled(self, phrases: Sequence[Phrase]) -> "Mask":
        """(m,) whether each page has a text of few words with all words of one of these names."""
        titled = np.zeros(self._index.page_count, dtype=np.bool_)
        for phrase in phrases:
            quotes = self._index.quotes_with(phrase, max_words=len(phrase) + MAX_TITLE_WORDS)
            titled[self._index.page_of[quotes[~self._index.is_image[quotes]]]] = True
        return titled
