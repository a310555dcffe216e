"""Reads reStructuredText as plain text: without its markup, and without what its directives take from elsewhere.

docutils omits what is below directives that it does not know, and most files have those of Sphinx. Here all text is
kept except what `LEFT_OUT` and `RAW_LEFT_OUT` report, and what is for programs.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.paginate import paginate_blocks
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

_DIRECTIVE = lazy_regex(r"(?P<indent>[ \t]*)\.\. +(?:\|[^|]+\| +)?(?P<name>[\w:+-]*\w)::(?:[ \t]+(?P<said>.*))?")
_FOOTNOTE = lazy_regex(r"[ \t]*\.\. +(?=\[)")
_COMMENT = lazy_regex(r"(?P<indent>[ \t]*)\.\.(?:[ \t].*)?")
_FIELD = lazy_regex(r"(?P<indent>[ \t]*):(?P<name>[^:`\s][^:`]*):(?:[ \t]+(?P<said>.*))?")
_UP_TO_TEXT = lazy_regex(r"[ \t]*(?:(?:[-*+•]|\(?(?:\d+|[A-Za-z#])[.)])[ \t]+)?")
# Markup only counts where docutils recognises it: outside words, and directly at the text that it encloses. Markup that
# is itself quoted ('"*"') opens nothing.
_QUOTED = "|".join(rf"(?<={re.escape(left)})[*`]{{1,2}}{re.escape(right)}" for left, right in ('""', "''", "()", "[]"))
_INLINE = lazy_regex(
    rf"(?<![\w!#$%&)*+,.;=>?@\\\]^`|}}~])(?!{_QUOTED})(?:"
    r"``(?P<literal>(?!\s)[^`\n]++)(?<!\s)``"
    r"|(?::[\w:+.-]{1,40}:)?`(?!\s)[~!]?(?P<text>[^`<>]{1,300}+)(?:<(?P<target>[^`<>]{1,300}+)>)?(?<!\s)`(?P<link>__?)?"
    r"|\*\*(?P<strong>[^\s*][^*\n]{0,200}+)(?<!\s)\*\*|\*(?P<emphasis>[^\s*][^*\n]{0,200}+)(?<!\s)\*"
    r")(?![\w#$%&(*+<=@\[^`{|~])"
)
_ADDRESS = lazy_regex(r"(?:https?|mailto):")


def parse_restructured_text(path: Path) -> ParsedDocument:
    """Parse a file of reStructuredText: its paragraphs, lists, simple tables and headings become quotes.

    Raises DocumentError when the file cannot be read, is larger than 64 MB, or holds more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    reader = _Reader()
    plain = "\n".join(
        block if is_literal else _INLINE.sub(_said, block)
        for is_literal, lines in groupby(reader.lines(text), itemgetter(0))
        for block in ("\n".join(line for _, line in lines),)
    )
    return paginate_blocks(text_blocks(plain), name=path.name, warnings=(*warnings, *reader.left_out))


class _Reader:
    """Reads lines without markup of directives, their options, comments and what is not for readers."""

    def __init__(self) -> None:
        self.left_out = dict[str, None]()  # what is reported as left out, in the order of the file
        self._skipped: int | None = None  # indentation of the directive or comment whose body is left out
        self._is_empty_comment = False
        self._literal: int | None = None  # indentation of the text that is followed by a literal block
        self._directive, self._indent = "", 0  # the directive whose options may follow, and its indentation

    def lines(self, text: str) -> Iterator[tuple[bool, str]]:
        """Each line, and whether it belongs to a literal block, in which nothing is markup."""
        for line in iter_lines_of(text):
            indent = len(line) - len(line.lstrip())
            if self._is_skipped(line, indent):
                continue
            field = _FIELD.fullmatch(line)
            if self._directive and field is not None and indent > self._indent:
                yield False, self._read_option(field)
                continue
            self._directive = ""
            if self._literal is not None and (not line.strip() or indent > self._literal):
                yield True, line
                continue
            self._literal = None
            yield False, self._read_line(line, indent, field)

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

    def _read_option(self, field: "re.Match[str]") -> str:
        if self._directive != "csv-table":
            return ""
        if field["name"] in ("file", "url"):
            self.left_out[LEFT_OUT] = None
            self._skipped = self._indent
        return f"{field['indent']}{field['said'] or ''}" if field["name"] == "header" else ""

    def _read_line(self, line: str, indent: int, field: "re.Match[str] | None") -> str:
        if (directive := _DIRECTIVE.fullmatch(line)) is not None:
            line = self._read_directive(directive["name"], directive["said"] or "", indent)
        elif _FOOTNOTE.match(line):
            line = _FOOTNOTE.sub("", line)
        elif _COMMENT.fullmatch(line):
            self._skipped, self._is_empty_comment = indent, line.strip() == ".."
            return ""
        elif field is not None:
            line = f"{field['indent']}{field['name']}: {field['said'] or ''}"
        elif line.rstrip().endswith("::") and (begins := _UP_TO_TEXT.match(line)) is not None:
            self._literal = begins.end() if begins.end() < len(line.rstrip()) - 2 else indent
        line = line.rstrip()
        if not line.endswith("::"):
            return line
        return line[:-1] if line[-3:-2].strip() else line[:-2]

    def _read_directive(self, name: str, said: str, indent: int) -> str:
        self._directive, self._indent = name, indent
        if name in _LEFT_OUT:
            self.left_out[_LEFT_OUT[name]] = None
        if name in _BODY_SKIPPED:
            self._skipped = indent
        if name in _CODE:
            self._literal = indent
        return "" if name in _ARGUMENT_SKIPPED else said


def _said(mark: "re.Match[str]") -> str:
    """The text that the markup shows, with an address to which it leads."""
    shown = mark["literal"] or (mark["text"] or "").strip() or mark["strong"] or mark["emphasis"]
    address = mark["target"] if mark["target"] and mark["link"] and _ADDRESS.match(mark["target"]) else ""
    return f"{shown} ({address})" if address else shown
