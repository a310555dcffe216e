"""Chosen statements become the text of an answer: their order, their marks, the images, and where it all comes from."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from quoteweave.core.answers import Context
from quoteweave.core.records import Quote
from quoteweave.generation.extractive.statements import Statement, labels, name, named_place, own_label, title
from quoteweave.generation.wording import cited, neutral


def compose(chosen: Sequence[Statement], context: Context, *, max_images: int, rest: str = "") -> str:
    """The answer's text, its last sentence included. `chosen` is best first and not empty.

    `rest` is what is shown for a part of the question that no statement answers.
    """
    ordered = in_order(chosen)
    named = [number for statement in ordered for number in _named(statement, context)]
    told = [statement.number for statement in ordered if statement.quote.kind == "image"]
    to_show = list(dict.fromkeys([*told, *named]))[:max_images]
    text, used = "", list[Quote]()
    for statement in ordered:
        if statement.quote.kind == "image":
            text += f"{statement.text} "
            images = [statement.number]
        else:
            text += f"{cited(statement.text, f'[{statement.number}]')} "
            images = [number for number in _named(statement, context) if number in to_show and number not in told]
        used.append(statement.quote)
        for number in images:
            to_show.remove(number)
            used.append(context.images[number - 1].quote)
            text += f"![{_summary(context.images[number - 1].quote)}](image{number})\n\n"
    return "\n\n".join(filter(None, [text.rstrip(), rest, sources(used)]))


def in_order(chosen: Sequence[Statement]) -> list[Statement]:
    """The best quote first, then the others of its document from front to back, then the next best document.

    Sentences of one quote stand as they do in it.
    """
    first = chosen[0].quote.id
    documents = list(dict.fromkeys(statement.quote.document for statement in chosen))

    def place(statement: Statement) -> tuple[int, bool, int, float, str, int]:
        quote = statement.quote
        rank = documents.index(quote.document)
        return (rank, quote.id != first, quote.page, quote.bbox[1], quote.id, statement.place)

    return sorted(chosen, key=place)


def sources(quotes: Iterable[Quote]) -> str:
    """One sentence that names pages, or headings: `This is from pages 2 and 5 of a.pdf and “Fees” of guide.md.`"""
    pages: defaultdict[str, dict[int, Quote]] = defaultdict(dict)
    headings: defaultdict[str, list[Quote]] = defaultdict(list)
    for quote in quotes:
        if quote.has_pages:
            pages[quote.document][quote.page] = quote
        else:
            headings[quote.document].append(quote)
    places = []
    for document, found in pages.items():
        numbers = [quote.page_label for _, quote in sorted(found.items())]
        places.append(f"page{'s' if len(numbers) > 1 else ''} {listed(numbers)} of {document}")
    for document, under in headings.items():
        places.append(f"{listed(list(dict.fromkeys(map(named_place, under))))} of {document}")
    return neutral(" ".join(f"This is from {listed(places)}.".split()))


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def _named(statement: Statement, context: Context) -> list[int]:
    """The numbers of the image quotes of the same document that a text's sentence names by their label."""
    if statement.quote.kind == "image":
        return []
    wanted = labels(statement.text)
    return [
        number
        for number, hit in enumerate(context.images, start=1)
        if hit.quote.document == statement.quote.document and own_label(hit.quote) in wanted
    ]


def _summary(quote: Quote) -> str:
    return neutral(title(quote) or name(quote)).replace("[", "(").replace("]", ")")
