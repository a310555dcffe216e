"""Answer questions about what a document consists of, from what was counted in it (`Context.structure`).

The answer says how the parts are known: by their numbered captions, by the numbers of headings, by the outline, or as
the parser found them, which may miss some. It names them with their pages, and cites those that the context shows.
"""

from collections.abc import Sequence

from quoteweave.core.answers import (
    Answer,
    AnswerStatus,
    Citation,
    Context,
    DocumentStructure,
    StructureCount,
    StructureElement,
    StructureKind,
)
from quoteweave.core.messages import pluralize
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import page_number
from quoteweave.generation.answer_text import add_mark, clip, escape_marks, join_with_and
from quoteweave.generation.citations import build_answer, with_citations
from quoteweave.generation.extractive.statements import image_mark

MAX_NAMED = {"names": 30, "count": 8}
"""The most parts that an answer names, by what the question wants; of further ones it gives the number."""
MAX_DIGITS = 3
"""The most digits of a number that counts parts; only between such numbers, some may be missing."""
MAX_NAME = 160
"""The most characters of a heading or caption."""
COUNTED_REASON = "Counted by the parser; the document does not say this itself."

_NUMBERED: frozenset[StructureKind] = frozenset({"figure", "chart", "table", "chapter"})
_BASES = {"captions": "by numbered captions", "numbers": "by the numbers of its headings", "outline": "by its outline"}
_PLURALS = {"appendix": "appendices"}


def structure_answer(question: str, context: Context, structure: DocumentStructure, model: str) -> Answer:
    """Return the answer from the parts that were counted; an abstention where none was found.

    It is `located` if the parts are known only as the parser took them, because people may count otherwise.
    """
    text = "\n\n".join(_paragraph(count, structure, context) for count in structure.counts)
    counts = [count for count in structure.counts if count.count]
    asked_kinds = structure.request.kinds
    surely_known = (count.kind == "heading" and "heading" in asked_kinds for count in counts)
    guessed = all(count.basis == "parser" for count in counts) and not any(surely_known)
    status: AnswerStatus = "located" if guessed else "answered"
    answer = build_answer(question, text, context, model=model, status=status if counts else "abstained")
    unchecked = {"verdict": "unchecked", "reason": COUNTED_REASON}
    return with_citations(answer, [citation.model_copy(update=unchecked) for citation in answer.citations])


def is_counted(citation: Citation) -> bool:
    """Whether a citation is for what was counted in the document, and is nowhere said in it."""
    return citation.reason == COUNTED_REASON


def counts_pages(context: Context) -> bool:
    """Whether the context is for a question of how many pages there are, and of nothing else."""
    return context.structure is not None and all(count.kind == "page" for count in context.structure.counts)


def _paragraph(count: StructureCount, structure: DocumentStructure, context: Context) -> str:
    document, within = escape_marks(structure.document), _within(structure.request.places) or _limited(structure)
    inner = (
        sum("." in element.label.number for element in count.elements if element.label)
        if count.kind == "section"
        else 0
    )
    inner = 0 if inner == count.count else inner
    plural = _PLURALS.get(count.kind, f"{count.kind}s")
    number = pluralize(count.count - inner, count.kind, plural)
    if not structure.pages_within:
        among = "" if structure.limits is None else f" is{_limited(structure)}"
        none = f"of those that the question names{among}" if structure.request.places else "that the filter leaves"
        return f"{document} has {pluralize(structure.pages, 'page')}, and none {none}."
    if not count.count:
        return f"The parser found no {plural}{within} in {document}."
    if count.kind == "page":
        if structure.limits is not None and not structure.request.places:
            within, number = f", of which {count.count} are asked about", pluralize(structure.pages, "page")
        return add_mark(f"{document} has {number}{within}", _mark(count.elements[-1], context))
    if structure.request.wants == "title":
        place = next(iter(structure.request.places), None)
        part = "" if place is None else place.phrase if place.number else f"the {place.kind}"
        sentence = f"This is {part} of {document}:" if part else f"{document} has this heading:"
        return "\n".join([sentence, "", _line(count.elements[0], context)])
    sentence_of_count = f"The parser found {number}{within} in {document}"
    if count.basis in _BASES:
        of_which = f" and {inner} within these" if inner else ""
        sentence_of_count = f"{document} has {number}{within}{of_which}, {_BASES[count.basis]}"
    most = MAX_NAMED[structure.request.wants]
    elements_left = count.count - most
    lines = [_line(element, context) for element in count.elements[:most]]
    lines += [f"- and {elements_left} more."] if elements_left > 0 else []
    notes = _notes(count, structure.request.places)
    return "\n".join([f"{sentence_of_count}:", "", *lines, *(["", notes] if notes else [])])


def _line(element: StructureElement, context: Context) -> str:
    """A bullet: the part's label and name, its page, and the mark of what shows it."""
    name = escape_marks(clip(element.name.rstrip(" ."), MAX_NAME)) or "without a caption"
    mark = _mark(element, context)
    named = f"{name} (page {_page(element)})"
    if element.kind == "image":
        return f"- {named}. {mark}"
    return f"- {add_mark(named, mark)}" if mark else f"- {named}."


def _mark(element: StructureElement, context: Context) -> str:
    """The mark of the quote that shows a part; "" where the context has none."""
    quote = context.quote(element.kind, element.number) if element.kind and element.number else None
    if quote is None or element.number is None:
        return ""
    return image_mark(quote, element.number) if quote.kind == "image" else f"[{element.number}]"


def _notes(count: StructureCount, places: Sequence[PlaceName]) -> str:
    """What the numbers leave open: numbers between them that were not found, and pictures without any.

    Between places that are apart, such as pages 3 and 5, the numbers may be elsewhere, and are not missing.
    """
    numbers = [element.label.number for element in count.elements if element.label]
    has_gaps = count.kind in _NUMBERED and (len(places) < 2 or _run(_page_numbers(places)))
    missing = _missing(numbers, from_one=not places and count.kind != "chapter") if has_gaps else []
    notes = []
    if missing:
        most = MAX_NAMED["count"]
        unnamed = [f"{len(missing) - most} more"] if len(missing) > most else []
        named = join_with_and([*(f"{count.kind.capitalize()} {number}" for number in missing[:most]), *unnamed])
        notes.append(f"No {'heading' if count.kind == 'chapter' else 'caption'} was found of {named}.")
    if count.unnumbered:
        pages = _pages(count.unnumbered)
        more = pluralize(len(count.unnumbered), "picture" if count.kind == "figure" else count.kind)
        notes.append(f"Besides, the parser found {more} without a numbered caption, on {pages}.")
    return " ".join(notes)


def _missing(numbers: Sequence[str], *, from_one: bool) -> list[str]:
    """The numbers missing between others, and from 1 on in a whole document: 3 for 2 and 4, 2.2 for 2.1 and 2.3."""
    by_chapter: dict[str, set[int]] = {}
    for number_text in numbers:
        chapter, dot, number = number_text.rpartition(".")
        if number.isdecimal() and len(number) <= MAX_DIGITS:
            by_chapter.setdefault(f"{chapter}{dot}", set()).add(int(number))
    return [
        f"{chapter}{number}"
        for chapter, present in by_chapter.items()
        for number in range(1 if from_one else min(present), max(present))
        if number not in present
    ]


def _pages(elements: Sequence[StructureElement]) -> str:
    labels = list(dict.fromkeys(map(_page, elements)))
    return f"page{'s' if len(labels) > 1 else ''} {join_with_and(labels)}"


def _page(element: StructureElement) -> str:
    return page_number(element.page_label, element.page)


def _limited(structure: DocumentStructure) -> str:
    """The pages to which a filter limits the question as a phrase; "" for all."""
    if structure.limits is None:
        return ""
    first, last = structure.limits
    return f" on page {first}" if first == last else f" on pages {first} to {last}"


def _within(places: Sequence[PlaceName]) -> str:
    """The places as a phrase: ` on pages 3 to 10`, ` in chapter 3`; "" for the whole document."""
    numbers = _page_numbers(places)
    if not places or places[0].kind == "contents":
        return ""
    if len(numbers) == len(places):
        if len(numbers) == 1:
            return f" on page {numbers[0]}"
        if _run(numbers):
            return f" on pages {min(numbers)} to {max(numbers)}"
        return f" on pages {join_with_and(list(map(str, numbers)))}"
    return " within what the question names" if places[0].is_page else f" in {places[0].phrase}"


def _page_numbers(places: Sequence[PlaceName]) -> list[int]:
    """The numbers of the pages among places."""
    return [place.value for place in places if place.is_page and place.value is not None]


def _run(numbers: Sequence[int]) -> bool:
    """Whether numbers are consecutive, so that none between them is left out."""
    return bool(numbers) and len(set(numbers)) == max(numbers) - min(numbers) + 1
