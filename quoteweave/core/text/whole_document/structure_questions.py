"""Reads questions about what a document consists of: "How many figures are there?", "List the headings of chapter 3".

Only a question that asks for nothing else is recognised: "How many charts compare Europe with Asia?" requires looking
at the charts. Words such as "available" and "shown" only say that something exists and do not change that. "How many
tables are available?" may be about the document's tables or about tables that it writes about: it certainly means the
former only if it names the document or a place in it (`StructureRequest.says_document`); otherwise the document's text
decides (`states_number`). The words are data (`question_words.toml`, tables `structure`), by language.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import get_args

from quoteweave.core.answers import StructureKind, StructureRequest
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import PlaceName
from quoteweave.core.text.question_analysis import (
    MAX_ANALYSED_CHARACTERS,
    QuestionAnalysis,
    analyse_question,
    interrogative_words,
    request_words,
)
from quoteweave.core.text.question_words import question_entries, question_languages
from quoteweave.core.text.references.mentions import labels_in, number_words, places_in, without_places
from quoteweave.core.text.tokens import words
from quoteweave.core.text.word_patterns import alternation

MAX_PAGES = 10_000
"""The most pages of a range; a longer one is reduced to its first and last page."""
# What the questions ask for, as `analyse_question` reads them: "combien d'annexes" reads as an amount.
_ASKS = frozenset({"parts", "count", "amount", "statement"})
_ASKS_TITLE = frozenset({"definition", "parts", "place", "statement"})
_DIVISIONS: frozenset[StructureKind] = frozenset({"chapter", "section", "heading"})
_PARTS: Mapping[str, StructureKind] = {"chapter": "chapter", "section": "section", "appendix": "appendix"}
_PLACE = r"(?:\s\w{1,3})?\s{2}"  # the article and the gap that are left where a part is taken out of a question
_ELIDED = lazy_regex(r"\bd['’]")  # "combien d'annexes"


@lru_cache(maxsize=64)  # called by the search, and by the answer for each picture
def read_structure_request(question: str) -> StructureRequest | None:
    """Read what a question asks of a document's structure; None where it asks for anything else.

    Words are taken out of the question's text as they are understood. What is left over has to name the document.
    """
    if len(question) > MAX_ANALYSED_CHARACTERS or labels_in(question):
        return None
    analysis = analyse_question(question)
    patterns, (kinds, text) = _patterns(), _kinds_in(analysis.text)
    part = None if kinds else _part_asked(text, analysis)
    if part is not None or analysis.asks not in _ASKS:
        return part
    counts = patterns["counts"].search(text) is not None
    titles_page = not kinds and patterns["title of"].search(text) and any(place.is_page for place in analysis.places)
    kinds = ["heading"] if titles_page else kinds
    if not kinds or (counts and not patterns["counted parts"].search(text)):  # "How many documents have tables?"
        return None
    # "What are the chapters?", but not "What are the chapters about?"
    lists = _DIVISIONS.issuperset(kinds) and all(patterns[name].search(text) for name in ("parts asked", "whole kind"))
    names_kind = counts or "heading" in kinds or lists or patterns["names"].search(text) is not None
    # "Which tables are shown?", but not "What is shown in the tables?"
    if not names_kind and not (patterns["exists"].search(text) and patterns["kind asked"].search(text)):
        return None
    for kind in kinds:
        text = patterns[kind].sub(" ", text)
    places = tuple(place for place in places_in(analysis.text) if str(place) not in kinds)
    places = _long_range(analysis.text, places) or places
    says_document = bool(places) or any(patterns[name].search(text) for name in ("document", "page"))
    naming_words = _naming_words(text)
    if naming_words and (titles_page or not names_kind):  # as in "Which figures are given for 2015?"
        return None
    return StructureRequest(
        kinds=tuple(kinds),
        wants="count" if counts else "names",
        places=places,
        naming_words=naming_words,
        says_document=says_document,
    )


def _naming_words(text: str) -> tuple[str, ...]:
    """The stems of the words of a question that say nothing of structure, and so have to name the document."""
    asking = ("counts", "title of", "called", "begins", "where", "names", "exists")
    for name in (*asking, "heading", "page", "document", "besides"):
        text = _patterns()[name].sub(" ", text)
    remaining_words = [word for word in words(text, stem=False) if word not in request_words()]
    return tuple(word for word in words(" ".join(remaining_words)) if word not in interrogative_words())


def _part_asked(text: str, analysis: QuestionAnalysis) -> StructureRequest | None:
    """What a question asks of one part, by its text without places: its heading, or whether the document has it."""
    parts = {place.without_page for place in analysis.places}  # "on what page chapter 3 begins"
    if len(parts) != 1:
        return None if parts else _heading_asked(text)
    (part,) = parts
    return _part_beside(part, text) or _named_part(part, text, analysis)


def _named_part(part: PlaceName, text: str, analysis: QuestionAnalysis) -> StructureRequest | None:
    """What a question asks of the part that it names.

    "What is chapter 4 called?", "On what page does the appendix begin?" and "What is the last chapter?" ask for its
    heading, "Show me the table of contents" for those of all chapters.
    """
    patterns = _patterns()
    if _naming_words(text):
        return None
    if part == PlaceName("contents"):
        shows = all(word in interrogative_words() or word in request_words() for word in words(text))
        shows = shows and analysis.asks == "statement"  # not "On what page is the table of contents?"
        return StructureRequest(kinds=("chapter",), wants="names", places=(part,)) if shows else None
    kind = _PARTS.get(part.kind)
    if kind is None:
        return None
    if kind == "appendix" and analysis.asks == "yes_or_no":
        return StructureRequest(kinds=(kind,), wants="names") if patterns["has part"].search(text) else None
    is_numbered_alone = part.number and patterns["is what"].fullmatch(text.strip(" \t\n?!.¿"))
    if not is_numbered_alone and not _asks_title(text, analysis):
        return None
    return StructureRequest(kinds=(kind,), wants="title", places=(part,), says_document=True)


def _part_beside(part: PlaceName, text: str) -> StructureRequest | None:
    """What a question asks of the part after or before a numbered one: "What comes after chapter 4?"."""
    kind, patterns = _PARTS.get(part.kind), _patterns()
    step = next(
        (by for way, by in (("comes after part", 1), ("comes before part", -1)) if patterns[way].search(text)), 0
    )
    if not step or kind is None or part.value is None or part.value + step < 1:
        return None
    for name in ("comes after", "comes before", "part names"):
        text = patterns[name].sub(" ", text)
    if _naming_words(text):
        return None
    place = PlaceName(part.kind, str(part.value + step))
    return StructureRequest(kinds=(kind,), wants="title", places=(place,), says_document=True)


def _heading_asked(text: str) -> StructureRequest | None:
    """The heading whose page a question asks for: "On what page does the Discussion section begin?"."""
    patterns = _patterns()
    if not (patterns["on page"].search(text) and patterns["begins"].search(text)):
        return None
    heading_words = _naming_words(patterns["part names"].sub(" ", text))
    if not heading_words:
        return None
    return StructureRequest(kinds=("heading",), wants="title", heading_words=heading_words, says_document=True)


def _asks_title(text: str, analysis: QuestionAnalysis) -> bool:
    """Whether a question, by its text without places, asks what a part is called or where it is."""
    patterns = _patterns()
    called = patterns["called"].search(text)
    # "Wie" asks for a person, but "wie heißt" for a title, too.
    asks_title = analysis.asks in _ASKS_TITLE or (called and called[0].startswith(analysis.asked_by.casefold()))
    if not asks_title or patterns["within part"].search(text):  # "Who is named in chapter 2?"
        return False
    return bool(called or patterns["title of"].search(text) or patterns["where"].search(text))


def asks_contents(request: StructureRequest) -> bool:
    """Whether a question asks for the table of contents."""
    return [place.kind for place in request.places] == ["contents"]


def _long_range(question: str, places: tuple[PlaceName, ...]) -> tuple[PlaceName, ...]:
    """All pages of a range of which `places_in` gives only the ends, which suffice for a search; () for others.

    Two pages are the ends of a range if the same words, with pages that are close to each other, name all between them.
    """
    numbers = [place.value for place in places if place.is_page and place.value is not None]
    if len(numbers) != 2 or len(places) != 2:
        return ()
    first, last = numbers
    closer = re.sub(rf"(?<!\d){last}(?!\d)", str(first + 2), question)
    if not 2 < last - first <= MAX_PAGES or PlaceName("page", str(first + 1)) not in places_in(closer):
        return ()
    return tuple(PlaceName("page", str(number)) for number in range(first, last + 1))


def _kinds_in(question: str) -> tuple[list[StructureKind], str]:
    """The kinds that a question asks for, empty if it asks for something else, and its text without places."""
    patterns = _patterns()
    text, full_text = (_ELIDED.sub("de ", part.casefold()) for part in (without_places(question), question))
    kinds: list[StructureKind] = [kind for kind in get_args(StructureKind) if patterns[kind].search(text)]
    # Appendices may be places too: "the tables in the appendices".
    if not kinds and patterns["appendix"].search(full_text):
        return ["appendix"], full_text
    if len(kinds) > 1 and "page" in kinds:
        if patterns["counted pages"].search(text):  # "How many slides have charts?"
            return [], text
        kinds.remove("page")  # "How many tables are in these slides?"
    if len(kinds) > 1 and "heading" in kinds:  # "the headings of all tables"
        kinds.remove("heading")
    return ([] if len(kinds) > 1 and "appendix" in kinds else kinds), text


@cache
def document_nouns() -> frozenset[str]:
    """Words for a document, such as "report" and "paper", in lower case."""
    return frozenset(question_entries("structure", "document"))


@cache
def part_words() -> frozenset[str]:
    """Stems of the words for one part of a document, such as "chapter"."""
    return frozenset(words(" ".join(question_entries("structure", "part_names"))))


def states_number(text: str, kinds: Iterable[StructureKind]) -> bool:
    """Whether a text states a number of things of these kinds: "12 tables", "dozens of photos", "Tables: 12"."""
    return any(_number_of(kind).search(text) for kind in kinds)


@cache
def _alternatives() -> dict[str, str]:
    """The words of all languages as alternatives of a pattern, by their meaning."""
    tables = [language["structure"] for language in question_languages() if "structure" in language]
    kinds = get_args(StructureKind)
    names = (
        *kinds,
        "counts",
        "called",
        "begins",
        "where",
        "on page",
        "within",
        "is what",
        "parts asked",
        "names",
        "exists",
    )
    names = (*names, "document", "besides", "numbers", "between", "whose", "part names", "comes after", "comes before")
    alternatives = {
        name: alternation(word for table in tables for word in table.get(name.replace(" ", "_"), ())) for name in names
    }
    title_of = alternation(word for table in tables for word in table.get("title_of", ()))
    alternatives["title of"] = rf"{title_of}(?=\W*(?:\w{{2,4}}\W+)?\Z)"  # an article may follow it
    alternatives["counted pages"] = rf"{alternatives['counts']}\s+{alternatives['page']}"
    any_kind = rf"(?:{'|'.join(alternatives[kind] for kind in kinds)})"
    alternatives["counted parts"] = rf"{alternatives['counts']}\s+(?:[^\W\d]+\s+)?{any_kind}"
    divisions = rf"(?:{'|'.join(alternatives[kind] for kind in sorted(_DIVISIONS))})"
    alternatives["whole kind"] = rf"{divisions}(?=\W*(?:\Z|{alternatives['whose']}\b|{alternatives['called']}\b))"
    alternatives["has part"] = rf"{alternatives['names']}(?={_PLACE})"
    for name in ("within", "comes after", "comes before"):
        alternatives[f"{name} part"] = rf"{alternatives[name]}(?={_PLACE})"
    alternatives["kind asked"] = rf"^\W*[\w'’]+\s+{any_kind}"
    return alternatives


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: _whole_words(way) for name, way in _alternatives().items()}


@cache
def _number_of(kind: StructureKind) -> re.Pattern[str]:
    """A pattern of statements of a number of things; compiling it takes longest of all, and few questions need it."""
    alternatives = _alternatives()
    # "2019 tables" are those of a year, not a number of tables.
    number = (
        rf"(?:(?<![\w.,])(?!(?:19|20)\d\d(?!\d))\d[\d.,]*+|{alternatives['numbers']}|{alternation(number_words())})"
    )
    # Matches "Hundreds of pictures" and "42 new garden tables", but not "10 List of tables" in a table of contents.
    between = rf"\s+(?:{alternatives['between']}\s+)?(?:(?!{alternatives['between']}\b)(?<!-)[^\W\d][\w-]*+\s+){{0,2}}"
    behind = rf"{alternatives[kind]}\s*(?:[:=|]|\b(?:is|was|are|were)\b)\s*{number}"
    return _whole_words(rf"{number}{between}{alternatives[kind]}|{behind}")


def _whole_words(way: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{way})(?!\w)", re.IGNORECASE)
