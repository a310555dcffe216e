"""Read a raw response: its answer without thinking, and the quotes it cites, by one of two mark grammars.

published  as for MMDocRAG's published figures (arXiv 2505.16470, appendix A.2, and its published outputs): `[n]`
           and `(imagen)` anywhere, including in code and links; `[1, 2]`, `[1-3]` and `[image2]` cite nothing.
own        the grammar of this project, `core.text.marks`: also `[1, 2]`, `[1-3]` and `[image2]`, but
           nothing in code or a link.

Figures of the two are not comparable: for one model's answers, text recall is 78.5 by the first, 85.7 by the second.

In CiteVQA, answers cite boxes (arXiv 2605.12882): `<bbox page="3" x1="82" … />`. Pages count from 1. Edges are
thousandths of the page's width and height, from its top left. Questions about several documents number these from 1, in
the order in which the dataset lists them: `<bbox doc="2" page="3" … />`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from quoteweave.core.boxes import PAGE_SIDE, Box, area
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Kind, Quote
from quoteweave.core.text.marks import Mark, parse_marks

MarkGrammar = Literal["own", "published"]

THINKING_ENDS = "</think>"
THINKING_BEGINS = "<think>"
PUBLISHED_ENDS = ("</think>\n\n", " seconds\n\n")
# A mere number is only a header if an empty line and an answer follow: "12 seconds" may be the answer itself.
_HEADER = lazy_regex(
    r"(?: ^[ \t>*_\#]*+ (?:thought|thinking|reasoned|reasoning)\b [^\n]* \b(?:for|took)\b [^\n]{1,30}"
    r" | \A \s*+ [0-9.]++ (?= [ ] seconds? [*_.) \t]*+ \n [ \t]*+ \n \s*+ \S) )"
    r" [ ] seconds? [*_.) \t]*+ \n",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_PUBLISHED_TEXT = lazy_regex(r"\[(\d+)\]")
_PUBLISHED_IMAGE = lazy_regex(r"\(image(\d+)\)")
_EDGE = r'="(\d{1,9}(?:\.\d{0,30})?|\.\d{1,30})"'
BOX_TAG = lazy_regex(
    rf'<bbox\s++(?:doc="(\d{{1,9}})"\s++)?page="(\d{{1,9}})"\s++x1{_EDGE}\s++y1{_EDGE}\s++x2{_EDGE}\s++y2{_EDGE}\s*+/?>'
)
"""A box that an answer cites, as CiteVQA's script reads it: document, page and the four edges."""
_MAX_DIGITS = 10
"""How many digits of a number are read: a longer one is out of range of any context, and would take long to read."""


@dataclass(frozen=True, slots=True)
class CitedNumbers:
    """Numbers of the quotes that a response cites, each once, in the order of first mention.

    A negative number stands for one that names no quote because it is written otherwise (`[03]`, by `published`).
    """

    text: tuple[int, ...]
    image: tuple[int, ...]

    def marks(self) -> list[tuple[Kind, int]]:
        """Each number with its kind, texts first."""
        texts: list[tuple[Kind, int]] = [("text", number) for number in self.text]
        return [*texts, *(("image", number) for number in self.image)]


def answer_of(response: str, marks: MarkGrammar) -> str:
    """The response without its thinking: what follows `</think>`, or else a header such as "Thought for 12 seconds".

    `own` cuts after the last `</think>` (an unfinished section leaves no answer), or after the first line that is such
    a header. `published` takes the text between the first `</think>` that ends a paragraph, or else the first "
    seconds" that does, and the next one, wherever they are: that removes what one answer of GPT-4.1 cites before it
    says "63 seconds", and keeps the thinking if no empty line follows it.
    """
    if marks == "published":
        end = next((end for end in PUBLISHED_ENDS if end in response), None)
        return response if end is None else response.split(end, 2)[1]
    if THINKING_ENDS in response:
        return response.rpartition(THINKING_ENDS)[2]
    header_found = _HEADER.search(response)
    begun = response.lstrip().startswith(THINKING_BEGINS)
    return "" if begun else response[header_found.end() :] if header_found else response


def citations(response: str, marks: MarkGrammar) -> CitedNumbers:
    """The citations in the answer of a raw response. Linear in its length."""
    answer = answer_of(response, marks)
    if marks == "published":
        return CitedNumbers(_numbers(_PUBLISHED_TEXT.findall(answer)), _numbers(_PUBLISHED_IMAGE.findall(answer)))
    parsed_marks = parse_marks(answer)
    text = (number for mark in parsed_marks if mark.kind == "text" for number in mark.numbers)
    placed = [(mark.start, number) for mark in parsed_marks if mark.kind == "image" for number in mark.numbers]
    # An image that is named without being shown, as in "(image2)", counts as cited, too.
    placed += [(bare.start(), int(bare[1][:_MAX_DIGITS])) for bare in _PUBLISHED_IMAGE.finditer(answer)]
    return CitedNumbers(tuple(dict.fromkeys(text)), tuple(dict.fromkeys(number for _, number in sorted(placed))))


def _numbers(digits: Iterable[str]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_as_named(number[:_MAX_DIGITS]) for number in digits))


def _as_named(digits: str) -> int:
    """The number; a negative one, different for each spelling, if it is not written as in a quote's name."""
    number = int(digits)
    return number if digits == str(number) else -int(f"1{digits}")


def scored_text(prediction: Prediction, marks: MarkGrammar, *, marks_kept: bool = False) -> str | None:
    """The answer of a response, its thinking removed as by `marks`, and its marks too unless kept; or None."""
    if prediction.response is None:
        return None
    answer = answer_of(prediction.response, marks)
    return answer if marks_kept else without_marks(answer)


def compared_texts(
    prediction: Prediction, example: Example, marks: MarkGrammar, *, published: bool
) -> tuple[str, str] | None:
    """The answer and the gold answer as words of the two are compared; None if one of them is missing.

    By the `published` convention marks stay in both, and a short answer is no gold.
    """
    text, gold = scored_text(prediction, marks, marks_kept=published), example.reference.answer
    if not published:
        gold = without_marks(gold or example.reference.short_answer or "")
    return None if text is None or gold is None else (text, gold)


@lru_cache(maxsize=16)  # each metric asks for the answer that the one before has read
def without_marks(text: str) -> str:
    """Remove the citation marks from `text`; the summary in an image mark stays, as it is part of the answer.

    Marks are those of `core.text.marks` by either convention, so that the compared words do not depend on it, and the
    boxes that CiteVQA's answers cite.
    """
    return _replace_marks(BOX_TAG.sub("", text), lambda mark: f" {mark.summary} " if mark.summary else "")


def _replace_marks(text: str, replacement: Callable[[Mark], str]) -> str:
    parts, end = [], 0
    for mark in parse_marks(text):
        parts += [text[end : mark.start], replacement(mark)]
        end = mark.end
    return "".join([*parts, text[end:]])


def count_words(text: str) -> int:
    """How many pieces between white space contain a letter or a digit, unlike a full stop that followed a mark.

    >>> count_words("Sales rose , by 2 % .")
    4
    """
    return sum(any(map(str.isalnum, piece)) for piece in text.split())


NO_DOCUMENT = 0
"""The number that is written for a document that does not belong to the question."""
_ANY_TAG = lazy_regex(r"<\s*+bbox\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CitedBox:
    """One box as written in an answer."""

    document: int | None
    """Its number, from 1; None if the answer names none."""
    page: int
    """From 1; 0 is not a page."""
    box: Box
    """x1, y1, x2, y2 by the names in the answer; the box may be reversed."""


def cited_boxes(text: str) -> list[CitedBox]:
    """Every box in a text that is written as CiteVQA's own script reads it, in order; linear in the text's length."""
    boxes = []
    for document, page, *edges in BOX_TAG.findall(text):
        x1, y1, x2, y2 = map(float, edges)
        boxes.append(CitedBox(int(document) if document else None, int(page), (x1, y1, x2, y2)))
    return boxes


def unread_tags(text: str) -> int:
    """How many tags begin like a box without being one: their attributes, or the order of these, differ."""
    return len(_ANY_TAG.findall(text)) - len(BOX_TAG.findall(text))


def without_boxes(text: str, instead: str = "[citation]") -> str:
    """The text with each box replaced by `instead`."""
    return BOX_TAG.sub(instead, text)


def box_problem(box: Box) -> str | None:
    """Why a box cannot be compared with others: it is reversed, has no area, or is outside its page; else None."""
    if box[0] > box[2] or box[1] > box[3]:
        return "reversed"
    if not area(box):
        return "without area"
    return "outside its page" if min(box) < 0 or max(box) > PAGE_SIDE else None


def transposed(box: Box) -> Box:
    """The box with x and y exchanged."""
    return (box[1], box[0], box[3], box[2])


def boxed_response(prediction: Prediction, example: Example) -> str | None:
    """The response with boxes: its marks replaced by the boxes of the cited quotes, and of their captions.

    This is the form in which CiteVQA's script gets answers. A response that came with its own boxes is returned
    unchanged; a mark that names no quote of the context, or one without a page, cites no box.
    """
    context, boxes = prediction.context, prediction.quote_boxes
    if prediction.response is None or context is None or boxes is None:
        return prediction.response

    def boxed(mark: Mark) -> str:
        cited = (context.quote(mark.kind, number) for number in mark.numbers)
        tags = [tag for quote in cited if quote is not None for tag in _tags(quote, boxes.get(quote.id, ()), example)]
        return (f"{mark.summary} " if mark.summary else "") + "".join(tags)

    return _replace_marks(answer_of(prediction.response, "own"), boxed)


def _tags(quote: Quote, boxes: tuple[Box, ...], example: Example) -> Iterator[str]:
    named = example.documents
    number = named.index(quote.document) + 1 if quote.document in named else NO_DOCUMENT
    document = "" if len(named) == 1 and number else f'doc="{number}" '
    for box in boxes:
        x1, y1, x2, y2 = (f"{edge:g}" for edge in (transposed(box) if example.reference.y_first else box))
        yield f'<bbox {document}page="{quote.page + 1}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" />'
