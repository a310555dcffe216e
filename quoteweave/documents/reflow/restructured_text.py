"""Reads reStructuredText as plain text: without its marks, and without what its directives take from elsewhere.

docutils leaves out what stands below directives that it does not know, and most files have those of Sphinx. Here all
text stays but what `LEFT_OUT` tells of.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.paginate import paginate_blocks
from quoteweave.documents.reflow.text_files import MAX_MEGABYTES, iter_lines_of, read_text, text_blocks

_FROM_ELSEWHERE = frozenset(("image", "figure", "include", "literalinclude", "toctree", "plot", "csv-table"))
_FOR_PROGRAMS = frozenset(
    ("contents", "raw", "index", "highlight", "role", "default-role", "currentmodule", "meta", "tabularcolumns")
)
_CODE = frozenset(("code", "code-block", "sourcecode", "parsed-literal", "only", "ifconfig"))
LEFT_OUT = "Pictures and files that it takes from elsewhere were not read."

_DIRECTIVE = lazy_regex(r"(?P<indent>[ \t]*)\.\. +(?:\|[^|]+\| +)?(?P<name>[\w:+-]*\w)::(?:[ \t]+(?P<said>.*))?")
_FOOTNOTE = lazy_regex(r"[ \t]*\.\. +(?=\[)")
_COMMENT = lazy_regex(r"(?P<indent>[ \t]*)\.\.(?:[ \t].*)?")
_FIELD = lazy_regex(r"(?P<indent>[ \t]*):(?P<name>[^:`\s][^:`]*):(?:[ \t]+(?P<said>.*))?")
_INLINE = lazy_regex(
    r"``(?P<literal>[^`\n]+)``"
    r"|(?::[\w:+.-]{1,40}:)?`[~!]?(?P<text>[^`<>]{1,300}?)(?:[ \n]{0,20}<(?P<target>[^`<>]{1,300})>)?`(?P<link>__?)?"
    r"|\*\*(?P<strong>[^\s*][^*\n]{0,200}?)\*\*|(?<![\w*])\*(?P<emphasis>[^\s*][^*\n]{0,200}?)\*(?![\w*])"
)
_BLOCK_FOLLOWS = lazy_regex(r"(?:(?<=(\S))|[ \t]*)::[ \t]*\Z")
_ADDRESS = lazy_regex(r"(?:https?|mailto):")


def parse_restructured_text(path: Path) -> ParsedDocument:
    """Parse a file of reStructuredText: its paragraphs, lists, simple tables and headings become quotes.

    Raises DocumentError when the file cannot be read, is larger than 64 MB, or holds more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    named = {match["name"] for line in iter_lines_of(text) if (match := _DIRECTIVE.match(line)) is not None}
    left_out = () if named.isdisjoint(_FROM_ELSEWHERE) else (LEFT_OUT,)
    return paginate_blocks(text_blocks(_plain(text)), name=path.name, warnings=(*warnings, *left_out))


def _plain(text: str) -> str:
    lines = (_BLOCK_FOLLOWS.sub(lambda end: ":" if end[1] else "", line) for line in _lines(text))
    return _INLINE.sub(_said, "\n".join(lines))


def _lines(text: str) -> Iterator[str]:
    """The lines without marks of directives, their options, comments and what is not for readers."""
    skipped: int | None = None  # how far the directive is indented whose body is left out
    options = False
    for line in iter_lines_of(text):
        indent = len(line) - len(line.lstrip())
        if skipped is not None and (not line.strip() or indent > skipped):
            continue
        skipped, field = None, _FIELD.fullmatch(line)
        if options and field is not None:
            continue
        options = False
        if (directive := _DIRECTIVE.fullmatch(line)) is not None:
            name, options = directive["name"], True
            skipped = indent if name in _FROM_ELSEWHERE | _FOR_PROGRAMS else None
            yield "" if skipped is not None or name in _CODE else directive["said"] or ""
        elif _FOOTNOTE.match(line):
            yield _FOOTNOTE.sub("", line)
        elif _COMMENT.fullmatch(line):
            skipped = indent
        elif field is not None:
            yield f"{field['indent']}{field['name']}: {field['said'] or ''}".rstrip()
        else:
            yield line


def _said(mark: "re.Match[str]") -> str:
    """What a mark shows, with an address that it leads to."""
    shown = mark["literal"] or mark["text"] or mark["strong"] or mark["emphasis"]
    address = mark["target"] if mark["target"] and mark["link"] and _ADDRESS.match(mark["target"]) else ""
    return f"{shown} ({address})" if address else shown
