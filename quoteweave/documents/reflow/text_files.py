"""Reads text files within size limits, in their encoding; plain text becomes quotes."""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

from quoteweave.core.errors import DocumentError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.encodings import decode
from quoteweave.documents.reflow.paginate import FlowBlock, cell_text, paginate_blocks

_UNSTORABLE = lazy_regex("[\x00\ud800-\udfff]")
# Characters that are struck out one by one, by a combining line over each.
_STRIKE = "\u0336"
_STRUCK = lazy_regex(f"(?:[^\n{_STRIKE}]{_STRIKE})+")


def read_text(path: Path, *, megabytes: int, declared: re.Pattern[bytes] | None = None) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file with `\\n` line ends, and a warning if the encoding was guessed.

    See `decode` for the encoding, which the first group of `declared` finds in text that declares one. What combining
    characters strike out is marked as in Markdown. Raises DocumentError if the file cannot be read or is larger than
    `megabytes`.
    """
    try:
        size = path.stat().st_size
        if size > megabytes * 10**6:
            raise DocumentError(
                f"{path.name!r} has {size / 10**6:.0f} MB; this format is read up to {megabytes} MB; split the file"
            )
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{path.name!r} cannot be read: {error.strerror or error}") from error
    text, warnings = decode(data, declared)
    text = without_unstorable(text.replace("\r\n", "\n").replace("\r", "\n"))
    return _STRUCK.sub(_with_marks, text) if _STRIKE in text else text, warnings


def _with_marks(struck: re.Match[str]) -> str:
    words = struck.group().replace(_STRIKE, "")
    return words.replace(words.strip(), f"~~{words.strip()}~~") if words.strip() else words


def without_unstorable(text: str) -> str:
    """The text without NULs, and with a replacement character for each lone surrogate, as neither can be stored."""
    return _UNSTORABLE.sub(lambda match: "" if match.group() == "\x00" else "\ufffd", text)


MAX_MEGABYTES = 64
# From how many characters at the start of a file it is determined whether capitals distinguish anything in it.
_SAMPLE = 100_000
# A heading in capitals: words and characters that join them, and brackets, whose content need not be in capitals.
_CAPITALS = lazy_regex(r"(?=.{3,80}\Z)[\w&'’\"“”(][\w \t&'’\"“”(),.:/–—-]*[\w)'’\"“”?!]")
_MAX_TITLE, _MAX_UNDERLINED = 80, 200
_UNDERLINED = lazy_regex(
    r"(?:(?P<above>[=~^*#+\"`-])(?P=above)+\n)?(?P<title>[^\n]*)\n"
    r"(?P<line>(?P<mark>[=~^*#+\"`-])(?P=mark)+)(?:\n|\Z)"
)
# What a terminal or printer is told: to strike a letter twice ("N\bN", as bold), over a line or over another letter, of
# which the last is shown, or to change colours.
_CONTROLS = lazy_regex(r"\x08_|_\x08(?=\S)|([^\n\x08])\x08(?=\1|[^\W_])|\x08|\x1b\[[\d;?]{0,20}[A-Za-z]")
# Ends of pages and paragraphs, and of lines, that are no line ends of files.
_BREAKS = {"\f": "\n\n", "\u2029": "\n\n", "\u2028": "\n", "\x85": "\n", "\v": "\n"}
# "1. SCOPE", "IV. SCOPE", "CHAPTER 1", "BOOK II: SCOPE".
_NUMBERED = lazy_regex(r"\s*(?:\d{1,2}[.)]?\s|[IVX]{1,5}[.)]\s|[^\W\d_]+\s+(?:\d{1,2}|[IVX]{1,5})(?:[.:)–—-]|\s*\Z))")
_BRACKETS = lazy_regex(r"\([^()]*\)")
_WORD = lazy_regex(r"[^\W\d_]{3}")
# A term and, after two spaces or more, its explanation; no item's number, line of code, or row of three columns.
_TWO_COLUMNS = lazy_regex(
    r"[ ]*(?!\d{1,3}[.)]?[ ])(?P<term>[^\s;{}]+(?:[ ][^\s;{}]+){0,3})[ ]{2,}"
    r"(?P<explanation>(?![#;%]|//|/\*)\S+(?:[ ]\S+)*)"
)
_MIN_TERMS = 2
# Where something begins after a gap in a line. Prose in two columns side by side has so many lines at least, and words
# in each; these shares of lines in which the second column begins at one position, of words among what is between
# spaces, and of lines that go on within a sentence.
_AFTER_GAP, _PROSE_WORD = (
    lazy_regex(r"(?<=\S  )\s*(?=\S)"),
    lazy_regex(r"[(\"'“‘]?[^\W\d_]+(?:['’-][^\W\d_]+)*[)\"'”’.,;:!?]*"),
)
_MIN_LINES, _MIN_WORDS, _BEGIN_AT_ONE, _ARE_WORDS, _GO_ON = 5, 4, 0.8, 0.8, 0.4
_BORDER, _BORDER_PART, _MIN_ROWS = lazy_regex(r"[ ]*=+(?:[ ]+=+)+[ ]*"), lazy_regex(r"=+|-+"), 3
# Tables with more columns would take time by their columns and rows.
_MAX_COLUMNS = 200
_DASHES = lazy_regex(r"[ ]*--+(?:[ ]+--+)+[ ]*")
_RULE, _BAR = lazy_regex(r"(?=.*[-=─═])[-=+|:─-╿]{3,}"), lazy_regex(r"[|│║]")
_END_BAR = lazy_regex(r"\A[|│║]|[|│║]\Z")
# If there are fewer headings, they may be addresses, or shouted words.
_MIN_HEADED = 3
# The most characters and words of a heading right above its text, which only its shape tells from text: "Pets".
_MAX_SHORT, _MAX_SHORT_WORDS = 40, 5
_SENTENCE_END = lazy_regex(r"[.!?][\"'”’)]*\Z")
# The beginning of a line that gives the value of something: "Serves: 10".
_LABEL = lazy_regex(r"[^:\n]{1,60}:(?:\s|\Z)")


def parse_text(path: Path) -> ParsedDocument:
    """Parse a plain text file: its paragraphs, and headings in capitals or underlined, become quotes on virtual pages.

    Raises DocumentError when the file cannot be read, is larger than 64 MB, or holds more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    return paginate_blocks(text_blocks(text), name=path.name, warnings=warnings)


def text_blocks(text: str) -> Iterator[FlowBlock]:
    """The paragraphs, lists, tables and headings of a text; headings above its first paragraph are of the top level.

    Underlined ones have levels by their marks, in the order in which these first occur. A page ends a paragraph.
    """
    for sign, breaks in _BREAKS.items():
        text = text.replace(sign, breaks)
    text = _CONTROLS.sub("", text) if "\x08" in text or "\x1b" in text else text
    sample = text[:_SAMPLE]
    capitals_distinguish = cache(partial(_has_more_small_letters, sample))  # counted only where a line is in capitals
    first_paragraphs = [*_paragraphs(sample)]
    head_paragraphs = _have_heads(first_paragraphs) and capitals_distinguish()
    have_short_heads = _have_short_heads(first_paragraphs)
    level, marks = 1, list[str]()
    for number, (block, is_last) in enumerate(_with_last(_paragraphs(text))):
        title, mark, paragraph = _split_underlined(block)
        if mark:
            marks += [mark] if mark not in marks else []
            yield FlowBlock(layout="title", text=title, level=1 + marks.index(mark))
        if not paragraph:
            continue
        first, _, rest = paragraph.partition("\n")
        heads = _is_heading(first) and capitals_distinguish()
        if heads and _NUMBERED.match(first):  # a part, even if it is the first heading
            level = 2
        if not rest and not is_last and (heads or (number == 0 and not mark and _is_title(first))):
            yield FlowBlock(layout="title", text=paragraph, level=level)
            continue
        # The author and date of a document are often directly below its title.
        is_short_head = have_short_heads and _is_short_head(first, rest)
        is_above = heads and rest and (level == 1 or head_paragraphs) and _is_above_text(first, rest)
        is_headed = is_above or is_short_head
        if is_headed:
            yield FlowBlock(layout="title", text=first, level=2 if is_short_head else level)
        yield from _body(rest if is_headed else paragraph)
        level = 2


def _body(paragraph: str) -> Iterator[FlowBlock]:
    """A paragraph; if it has two columns, of terms and explanations, the lines before them and a list of these.

    A column begins at the same position on at least two lines; a line with only the second continues the one above.
    Two columns of prose are two paragraphs.
    """
    if table := _bordered_table(paragraph) or _ruled_table(paragraph):
        yield FlowBlock(layout="table", text=table)
        return
    expanded = paragraph.expandtabs()
    if "  " not in expanded:  # no gap, so no columns
        yield FlowBlock(layout="paragraph", text=paragraph)
        return
    if columns := _prose_columns(expanded):
        yield from (FlowBlock(layout="paragraph", text=column) for column in columns)
        return
    before, items, column = list[str](), list[list[str]](), 0
    for line in expanded.split("\n"):
        match = _TWO_COLUMNS.fullmatch(line)
        if match is not None and column in (0, match.start("explanation")):
            column = match.start("explanation")
            items.append([f"- {match['term'].rstrip(' :')}: {match['explanation']}"])
        elif not items:
            before.append(line)
        elif len(line) - len(line.lstrip()) >= column:
            items[-1].append(line.strip())
        else:
            items = []
            break
    if len(items) < _MIN_TERMS:
        yield FlowBlock(layout="paragraph", text=paragraph)
        return
    if before:
        yield FlowBlock(layout="paragraph", text="\n".join(before))
    yield FlowBlock(layout="list", text="\n".join(map(" ".join, items)))


def _prose_columns(paragraph: str) -> list[str]:
    """The two columns of prose that a paragraph has side by side; none if it has one, or is a table or code."""
    lines = paragraph.split("\n")
    begin = Counter(gap.end() for line in lines for gap in _AFTER_GAP.finditer(line))
    if len(lines) < _MIN_LINES or not begin:
        return []
    (at, count), *further = begin.most_common(2)
    if count < _BEGIN_AT_ONE * len(lines) or any(2 * number > len(lines) for _, number in further):
        return []
    if any(line[at - 2 : at].strip() for line in lines):
        return []
    parts = ((line[:at], line[at:]) for line in lines)
    columns = [list(filter(None, map(str.strip, column_lines))) for column_lines in zip(*parts, strict=True)]
    return ["\n".join(column) for column in columns] if all(map(_is_prose_column, columns)) else []


def _is_prose_column(lines: Sequence[str]) -> bool:
    words = [word for line in lines for word in line.split()]
    is_enough = len(lines) >= _MIN_LINES and len(words) >= _MIN_WORDS * len(lines)
    are_words = sum(_PROSE_WORD.fullmatch(word) is not None for word in words) >= _ARE_WORDS * len(words)
    return is_enough and are_words and sum(line[0].islower() for line in lines) >= _GO_ON * len(lines)


def _bordered_table(paragraph: str) -> str:
    """A table in rows of cells, whose columns are below the parts of its borders ("==== ====="); "" if it is no table.

    Or of those that underline its head ("---- -----"), if no cell is wider. A line without a first cell continues the
    row above; a line of "-" underlines a head of several columns.
    """
    lines = paragraph.expandtabs().split("\n")
    if len(lines) < _MIN_ROWS:
        return ""
    is_bordered = len(lines) > _MIN_ROWS and all(map(_BORDER.fullmatch, (lines[0], lines[-1])))
    border = lines[0] if is_bordered else lines[1]
    starts = [part.start() for part in _BORDER_PART.finditer(border)]
    if len(starts) > _MAX_COLUMNS:
        return ""
    fits = _DASHES.fullmatch(border) and all(
        not line[start - 1 : start].strip() for line in lines for start in starts[1:]
    )
    if not (is_bordered or fits):
        return ""
    spans = [slice(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]
    rows = list[list[list[str]]]()  # for each cell, the texts of its lines
    continues_row = False
    for line in lines:
        is_rule = not line.strip(" -") or _BORDER.fullmatch(line) is not None
        if not is_rule:
            cells = [cell_text(line[span]) for span in spans]
            if cells[0] or not continues_row:
                rows.append([[] for _ in spans])
            for parts, cell in zip(rows[-1], cells, strict=True):
                parts.extend(filter(None, (cell,)))
        continues_row = not is_rule
    return "\n".join(" | ".join(map(" ".join, row)) for row in rows)


def _ruled_table(paragraph: str) -> str:
    """A table of three columns or more between tabs, or of cells between bars with rules ("+---+"); "" if it is none.

    If there are several rules, a row between two may have several lines, of which those below the first lack cells.
    """
    lines = paragraph.split("\n")
    if "\t" in paragraph:
        rows = [list(map(cell_text, line.split("\t"))) for line in lines]
        is_table = len(rows) > 1 and len(rows[0]) > 2 and len(set(map(len, rows))) == 1 and all(rows[0])
        return "\n".join(map(" | ".join, rows)) if is_table else ""
    if _BAR.search(paragraph) is None:
        return ""
    parts = [list(part) for is_rule, part in itertools.groupby(lines, _is_rule) if not is_rule]
    if len(parts) == len(lines) or (len(parts) == 1 and len(parts[0]) in (1, len(lines))):
        return ""
    cells = [[list(map(str.strip, _BAR.split(_END_BAR.sub("", line.strip())))) for line in part] for part in parts]
    widths = {len(row) for part in cells for row in part}
    if len(widths) != 1 or widths == {1}:
        return ""
    if len(parts) > 2:
        cells = [[_joined_rows(part)] if not any(map(all, part[1:])) else part for part in cells]
    return "\n".join(map(" | ".join, itertools.chain.from_iterable(cells)))


def _joined_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return [" ".join(filter(None, cells)) for cells in zip(*rows, strict=True)]


def _is_rule(line: str) -> bool:
    return _RULE.fullmatch(line.strip()) is not None


def _have_heads(paragraphs: Iterable[str]) -> bool:
    """Whether `_MIN_HEADED` paragraphs begin with a line in capitals, as the parts of a curriculum vitae do."""
    parts = (paragraph.partition("\n") for paragraph in paragraphs)
    headed = (1 for first, _, rest in parts if rest and _is_heading(first) and _is_above_text(first, rest))
    return sum(itertools.islice(headed, _MIN_HEADED)) == _MIN_HEADED


def _is_above_text(first: str, rest: str) -> bool:
    """Whether a heading's line is above other text: further in, as in man pages, or beginning with no heading."""
    is_further_in = rest[:1].isspace() and not first[:1].isspace()
    return is_further_in or not _is_heading(rest.partition("\n")[0])


def _have_short_heads(paragraphs: Iterable[str]) -> bool:
    """Whether `_MIN_HEADED` paragraphs, and half of those with several lines, begin with a short heading."""
    parts = (paragraph.partition("\n") for paragraph in paragraphs)
    heads = [_is_short_head(first, rest) for first, _, rest in parts if rest]
    return sum(heads) >= max(_MIN_HEADED, len(heads) / 2)


def _is_short_head(first: str, rest: str) -> bool:
    """Whether a line has the shape of a title, above whole sentences or named values: no address and no verse."""
    begins = rest.lstrip()[:1]
    if len(first) > _MAX_SHORT or len(first.split()) > _MAX_SHORT_WORDS or not _is_title(first):
        return False
    if not (begins.isupper() or begins.isdecimal()):
        return False
    return _SENTENCE_END.search(rest) is not None or all(map(_LABEL.match, rest.split("\n")))


def _has_more_small_letters(text: str) -> bool:
    return 2 * sum(map(str.islower, text)) > sum(map(str.isalpha, text))


def _split_underlined(paragraph: str) -> tuple[str, str, str]:
    """Split off the heading at the beginning of a paragraph that has a line of marks below it, and possibly above it.

    Returns the heading, its marks, which determine its level ("=", or "==" with a line above), and the rest; without
    such a heading, two empty texts and the paragraph.
    """
    match = _UNDERLINED.match(paragraph) if "\n" in paragraph else None
    if match is None or match["above"] not in (None, match["mark"]):
        return "", "", paragraph
    title, marks = match["title"].strip(), len(match["line"])
    is_long = marks >= len(title) if len(title) > _MAX_TITLE else 2 * marks >= len(title)
    if not is_long or len(title) > _MAX_UNDERLINED or not any(map(str.isalpha, title)):
        return "", "", paragraph
    return title, match["mark"] * (2 if match["above"] else 1), paragraph[match.end() :]


def _is_heading(line: str) -> bool:
    """Whether a line is short, in capitals except in brackets, and neither a sentence nor the name of a value."""
    line = line.strip()
    if _CAPITALS.fullmatch(line) is None or _LABEL.match(line) is not None:
        return False
    outside = _BRACKETS.sub("", line)
    return outside.isupper() and _WORD.search(outside) is not None and 2 * sum(map(str.isalpha, outside)) > len(outside)


def _is_title(line: str) -> bool:
    """Whether a single line at the head of a file may be its title: it is short, no sentence and no value."""
    line = line.strip()
    is_short = len(line) <= _MAX_TITLE and line[-1:].isalnum() and (line[:1].isupper() or line[:1].isdecimal())
    return is_short and _WORD.search(line) is not None and _LABEL.match(line) is None


def _with_last(paragraphs: Iterator[str]) -> Iterator[tuple[str, bool]]:
    """Each paragraph, and whether it is the last."""
    before: str | None = None
    for paragraph in paragraphs:
        if before is not None:
            yield before, False
        before = paragraph
    if before is not None:
        yield before, True


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in iter_lines_of(text):
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def iter_lines_of(text: str) -> Iterator[str]:
    """Yield the lines one at a time: a list, or a StringIO, would take several times as much memory as the text."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]
