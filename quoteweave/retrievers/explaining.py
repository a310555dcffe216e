"""Why a page ranks where it does: its evidence in words."""

from quoteweave.core.protocols import Reason
from quoteweave.core.records import Quote
from quoteweave.core.text.tokens import words
from quoteweave.index.lexical import LexicalIndex
from quoteweave.retrievers.evidence import Evidence

# Words of the question that are shown of each part.
WORDS_SHOWN = 8
# Points below this are not worth a line.
LEAST_SHOWN = 0.01


def how_read(evidence: Evidence) -> tuple[str, ...]:
    """How the question was read, beyond its words, a line each."""
    lines = [f"term: {expansion}" for expansion in evidence.expansions]
    lines += [f"acronym: {meaning}" for meaning in evidence.acronyms]
    for reading in evidence.readings:
        named = [*reading.labels, *map(_shown_name, reading.places)]
        lines += [f"refers to: {', '.join(named)}"] if named else []
        lines += [f"asks about: {', '.join(f'{kind}s' for kind in reading.shows)}"] if reading.shows else []
        lines += ["asks for what stands on a first page"] if reading.asks_front else []
        lines += [f"compares: {side}" for side in reading.sides]
        lines += [f"only says how to answer: {instruction}" for instruction in reading.instructions]
    return tuple(dict.fromkeys(lines))


def reasons_for(evidence: Evidence, index: LexicalIndex, quote: Quote) -> tuple[Reason, ...]:
    """What speaks for the page of a quote, the heaviest first; nothing for one that is not in the index."""
    page = index.page(quote.document, quote.page)
    if page is None:
        return ()
    found = [
        Reason(part=part, points=round(float(points[page]), 3), detail=_detail(part, evidence, index, page))
        for part, points in evidence.parts.items()
        if points[page] >= LEAST_SHOWN
    ]
    return tuple(sorted(found, key=lambda reason: -reason.points))


def _detail(part: str, evidence: Evidence, index: LexicalIndex, page: int) -> str:
    """What a part comes from; nothing where its name says it all."""
    if part in ("words", "outline"):
        question = "\n".join(reading.text for reading in evidence.readings)
        return _matching(index, "pages" if part == "words" else part, page, question)
    if part == "reference":
        names = [name for reading in evidence.readings for name in (*reading.labels, *reading.places)]
        return ", ".join(_shown_name(name) for name in names if page in index.pages_called(name))
    found: dict[str, list[str]] = {
        "quotation": [text for reading in evidence.readings for text in reading.quoted],
        "kind": [str(kind) for reading in evidence.readings for kind in reading.shows],
        "terms": list(map(str, evidence.expansions)),
        "acronyms": evidence.acronyms,
    }
    return "; ".join(found.get(part, ()))


def _matching(index: LexicalIndex, field: str, page: int, question: str) -> str:
    """The words of a question that a page holds, those that count most first."""
    surfaces = {surface: words(surface) for surface in words(question, stem=False)}
    gained = {surface: float(index.scores(field, stems)[page]) for surface, stems in surfaces.items()}
    found = sorted((word for word, points in gained.items() if points > 0), key=lambda word: (-gained[word], word))
    more = f" and {len(found) - WORDS_SHOWN} more" if len(found) > WORDS_SHOWN else ""
    return ", ".join(found[:WORDS_SHOWN]) + more


def _shown_name(name: str) -> str:
    """'page #2' as people say it."""
    if not name.startswith("page #"):
        return name
    number = int(name.removeprefix("page #"))
    if number == -1:
        return "the last page"
    return f"page {number} of the file" if number > 0 else f"page {-number} from the end"
