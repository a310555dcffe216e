"""Reads reStructuredText as plain text: without its markup, and without what its directives take from elsewhere.

docutils omits what is below directives that it does not know, and most files have those of Sphinx. Here all text is
kept except what `LEFT_OUT` and `RAW_LEFT_OUT` report, and what is for programs.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from textwrap import dedent

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.html_page.set_apart import raised
from quoteweave.documents.reflow.paginate import cell_text, paginate_blocks
from quoteweave.documents.reflow.text_files import MAX_MEGABYTES, iter_lines_of, read_text, text_blocks

LEFT_OUT = "Pictures and files that it takes from elsewhere were not read."
RAW_LEFT_OUT = "Its raw parts, such as HTML or LaTeX, were not read."
_LEFT_OUT = dict.fromkeys(("image", "figure", "include", "literalinclude", "toctree", "plot"), LEFT_OUT) | {
    "raw": RAW_LEFT_OUT
}
_FOR_PROGRAMS = frozenset(
    ("contents", "index", "highlight", "role", "default-role", "currentmodule", "meta", "tabularcolumns")
)
_BODY_SKIPPED = _FOR_PROGRAMS | _LEFT_OUT.keys() - {"figure"}  # the body of a figure is its caption
_CODE = frozenset(("code", "code-block", "sourcecode"))
_ARGUMENT_SKIPPED = _BODY_SKIPPED | _CODE | {"figure", "parsed-literal", "only", "ifconfig"}

_DIRECTIVE = lazy_regex(r"(?P<indent>[ \t]*)\.\. +(?:\|[^|]+\| +)?(?P<name>[\w:+-]*\w)::(?:[ \t]+(?P<argument>.*))?")
_FOOTNOTE = lazy_regex(r"[ \t]*\.\. +(?=\[)")
_COMMENT = lazy_regex(r"(?P<indent>[ \t]*)\.\.(?:[ \t].*)?")
_FIELD = lazy_regex(r"(?P<indent>[ \t]*):(?P<name>[^:`\s][^:`]*):(?:[ \t]+(?P<argument>.*))?")
_UP_TO_TEXT = lazy_regex(r"[ \t]*(?:(?:[-*+•]|\(?(?:\d+|[A-Za-z#])[.)])[ \t]+)?")
# Markup only counts where docutils recognises it: outside words, and directly at the text that it encloses. Markup that
# is itself quoted ('"*"') opens nothing.
_QUOTED = "|".join(rf"(?<={re.escape(left)})[*`]{{1,2}}{re.escape(right)}" for left, right in ('""', "''", "()", "[]"))
_INLINE = lazy_regex(
    rf"\\(?P<escaped>[ \t*`_|:\\])|(?<![\w!#$%&)*+,.;=>?@\\\]^`|}}~])(?!{_QUOTED})(?:"
    r"``(?P<literal>(?!\s)[^`\n]++)(?<!\s)``"
    r"|\[(?P<note>[\w#*.-]{1,60})\]_"
    r"|(?::(?P<role>[\w:+.-]{1,40}):)?`(?!\s)[~!]?(?P<text>[^`<>]{1,300}+)(?:<(?P<target>[^`<>]{1,300}+)>)?(?<!\s)`(?P<link>__?)?"
    r"|\*\*(?P<strong>[^\s*][^*\n]{0,200}+)(?<!\s)\*\*|\*(?P<emphasis>[^\s*][^*\n]{0,200}+)(?<!\s)\*"
    r")(?![\w#$%&(*+<=@\[^`{|~])"
)
# The border of a table without bars, and what is moved by markup that is left out: all up to the next gap.
_COLUMNS = lazy_regex(r"^[ ]*=+(?:[ ]+=+)+[ ]*$", re.MULTILINE)
_MOVED = lazy_regex(r"\x00+(?:[^\s\x00]+|[^\S\n](?!\s)|\x00+)*+")
_RAISING = {"sup": "sup", "superscript": "sup", "sub": "sub", "subscript": "sub"}
_ADDRESS = lazy_regex(r"(?:https?|mailto):")
_ROW = lazy_regex(r"[*+-] +(?P<cell>[*+-])(?:\s|\Z)")
_NAMED_DELIMITERS = {"tab": "\t", "space": " "}


def parse_restructured_text(path: Path) -> ParsedDocument:
    """Parse a file of reStructuredText: its paragraphs, lists, tables and headings become quotes.

    Raises DocumentError when the file cannot be read, is larger than 64 MB, or holds more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    reader = _Reader()
    plain = "\n".join(
        block if is_literal else _in_columns(_INLINE.sub(_shown_in_place, block))
        for is_literal, lines in groupby(reader.lines(text), itemgetter(0))
        for block in ("\n".join(line for _, line in lines),)
    )
    return paginate_blocks(text_blocks(plain), name=path.name, warnings=(*warnings, *reader.left_out))


class _Reader:
    """Reads lines without markup of directives, their options, comments and what is not for readers."""

    def __init__(self, left_out: dict[str, None] | None = None) -> None:
        self._is_within = left_out is not None  # whether it reads the inside of a table, which contains no others
        self.left_out = dict[str, None]() if left_out is None else left_out
        """What is reported as left out, in the order of the file."""
        self._skipped: int | None = None  # indentation of the directive or comment whose body is left out
        self._is_empty_comment = False
        self._literal: int | None = None  # indentation of the text that is followed by a literal block
        self._directive, self._indent = "", 0  # the directive whose options may follow, and its indentation
        self._table: tuple[str, dict[str, str], list[str]] | None = None  # an open one, its options, and its lines

    def lines(self, text: str) -> Iterator[tuple[bool, str]]:
        """Each line, and whether it belongs to a literal block, in which nothing is markup."""
        for line in iter_lines_of(text):
            indent = len(line) - len(line.lstrip())
            if self._is_skipped(line, indent):
                continue
            field = _FIELD.fullmatch(line)
            if self._directive and field is not None and indent > self._indent:
                if self._table is None:
                    yield False, (field["argument"] or "") if field["name"] == "caption" else ""
                else:
                    self._read_option(field["name"], field["argument"] or "", self._table[1])
                continue
            self._directive = ""
            if self._table is not None:
                if not line.strip() or indent > self._indent:
                    self._table[2].append(line)
                    continue
                yield from self._end_table()
            if self._literal is not None and (not line.strip() or indent > self._literal):
                yield True, line
                continue
            self._literal = None
            yield False, self._read_line(line, indent, field)
        yield from self._end_table()

    def _end_table(self) -> Iterator[tuple[bool, str]]:
        """The open table as rows of cells between bars.

        If it has only one, cannot be read, or lacks most of its cells, it is read as its lines.
        """
        if self._table is None:
            return
        (name, options, lines), self._table = self._table, None
        rows = [
            [cell_text(" ".join(line for _, line in _Reader(self.left_out).lines(cell))) for cell in row]
            for row in (_list_rows(lines) if name == "list-table" else _csv_rows(lines, options))
        ]
        columns = max(map(len, rows), default=0)
        if len(rows) < 2 or columns < 2 or len(rows) * columns > 2 * sum(map(len, rows)):
            yield from _Reader(self.left_out).lines("\n".join((options.get("header", ""), *lines)))
            return
        head, *below = ("| " + " | ".join(row + [""] * (columns - len(row))) + " |" for row in rows)
        yield from ((False, line) for line in ("", head, "|---" * columns + "|", *below, ""))

    def _is_skipped(self, line: str, indent: int) -> bool:
        if self._skipped is None:
            return False
        is_blank = not line.strip()
        # An empty comment has no body: it separates what is below it from what is above.
        ends = self._is_empty_comment if is_blank else indent <= self._skipped
        self._is_empty_comment = False
        if ends:
            self._skipped = None
        return not ends

    def _read_option(self, name: str, argument: str, options: dict[str, str]) -> None:
        if name in ("file", "url"):
            self.left_out[LEFT_OUT] = None
            self._skipped = self._indent
        options[name] = argument

    def _read_line(self, line: str, indent: int, field: "re.Match[str] | None") -> str:
        if (directive := _DIRECTIVE.fullmatch(line)) is not None:
            line = self._read_directive(directive["name"], directive["argument"] or "", indent)
        elif _FOOTNOTE.match(line):
            line = _FOOTNOTE.sub("", line)
        elif _COMMENT.fullmatch(line):
            self._skipped, self._is_empty_comment = indent, line.strip() == ".."
            return ""
        elif field is not None:
            line = f"{field['indent']}{field['name']}: {field['argument'] or ''}"
        elif line.rstrip().endswith("::") and (begins := _UP_TO_TEXT.match(line)) is not None:
            self._literal = begins.end() if begins.end() < len(line.rstrip()) - 2 else indent
        line = line.rstrip()
        if not line.endswith("::"):
            return line
        return line[:-1] if line[-3:-2].strip() else line[:-2]

    def _read_directive(self, name: str, argument: str, indent: int) -> str:
        self._directive, self._indent = name, indent
        if name in _LEFT_OUT:
            self.left_out[_LEFT_OUT[name]] = None
        if name in _BODY_SKIPPED:
            self._skipped = indent
        if name in _CODE:
            self._literal = indent
        if name in ("list-table", "csv-table") and not self._is_within:
            self._table = name, {}, []
        return "" if name in _ARGUMENT_SKIPPED else argument


def _list_rows(lines: Sequence[str]) -> list[list[str]]:
    """The rows of a list of lists of cells; none if the lines are something else."""
    rows, column = list[list[list[str]]](), 0
    for line in dedent("\n".join(lines)).strip("\n").split("\n"):
        if (row := _ROW.match(line)) is not None:
            column = row.start("cell")
            rows.append([[line[column + 2 :]]])
        elif not rows or line[:column].strip():
            return []
        elif line[column : column + 2].rstrip() in ("*", "+", "-"):
            rows[-1].append([line[column + 2 :]])
        else:
            rows[-1][-1].append(line[column + 2 :])
    return [["\n".join(cell) for cell in row] for row in rows]


def _csv_rows(lines: Sequence[str], options: Mapping[str, str]) -> list[list[str]]:
    """The rows of comma-separated values, below those of the header; none if they cannot be read."""
    delimiter = options.get("delim", ",")
    body = dedent("\n".join(lines)).split("\n")
    try:
        reader = csv.reader(
            (f"{line}\n" for line in (options.get("header", ""), *body)),
            delimiter=_NAMED_DELIMITERS.get(delimiter, delimiter),
            quotechar=options.get("quote", '"'),
            escapechar=options.get("escape"),
            skipinitialspace=True,
        )
        return [row for row in reader if any(row)]
    except (csv.Error, TypeError):  # an option that is no single character
        return []


def _shown_in_place(mark: "re.Match[str]") -> str:
    """The text that the markup shows, and as many NULs as it is shorter."""
    shown = _shown_text(mark)
    return shown if "\n" in mark[0] else shown.ljust(len(mark[0]), "\0")


def _in_columns(text: str) -> str:
    """The text without NULs; spaces stand for them before the next gap of a table, whose columns stay in place."""
    return "\n\n".join(
        _MOVED.sub(lambda cell: cell[0].replace("\0", "") + " " * cell[0].count("\0"), part)
        if _COLUMNS.search(part)
        else part.replace("\0", "")
        for part in text.split("\n\n")
    )


def _shown_text(mark: "re.Match[str]") -> str:
    """The text that the markup shows, with an address to which it leads."""
    if mark["escaped"]:
        return mark["escaped"].strip()
    if mark["note"]:
        return f"[{mark['note']}]"
    shown = mark["literal"] or (mark["text"] or "").strip() or mark["strong"] or mark["emphasis"]
    if mark["role"] in _RAISING:
        return raised(shown, _RAISING[mark["role"]])
    address = mark["target"] if mark["target"] and mark["link"] and _ADDRESS.match(mark["target"]) else ""
    return f"{shown} ({address})" if address else shown
