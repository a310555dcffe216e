"""Parses Markdown: CommonMark with tables, strikethrough, displayed formulas (`$$…$$`) and front matter.

markdown-it-py converts it to HTML, which `html` parses, including the HTML that Markdown may contain. A tag that is
never closed and would swallow what follows, or that HTML does not have ("<your name>"), is text.
"""

import json
import re
import tomllib
from collections.abc import Container, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.html import html_blocks
from quoteweave.documents.reflow.html_page.elements import KNOWN_NAMES, SWALLOWING
from quoteweave.documents.reflow.linked_images import LinkedImages
from quoteweave.documents.reflow.paginate import FlowBlock, paginate_blocks
from quoteweave.documents.reflow.text_files import read_text, without_unstorable

if TYPE_CHECKING:
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

# Parsing takes about a second per megabyte.
MAX_MEGABYTES = 16
_MAX_NESTING = 60
# By how many levels at most a list, with its item, is deeper than what contains it.
_DEEPEST_STEP = 2
_CONTAINERS = frozenset({"blockquote_open", "list_item_open"})
_MAX_FORMULA_LINES = 100

# YAML or TOML.
_FRONT_MATTER = lazy_regex(
    r"(?:---[ \t]*\n(.*?)^(?:---|\.\.\.)|\+\+\+[ \t]*\n(.*?)^\+\+\+)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
# Of front matter, in characters; YAML takes time quadratic in the depth of brackets, TOML in the dots of a name.
_MAX_FRONT_MATTER, _MAX_BRACKETS, _BRACKET, _MAX_DOTS = 50_000, 200, lazy_regex(r"[\[{]"), 1000
_PLAIN_VALUE = lazy_regex(r"^(\w[\w \t-]*+:[ \t]+)([^\s\"'\[{|>&*#].*?)[ \t]*$", re.MULTILINE)
_READ_FIELDS = ("subtitle", "author", "authors", "date", "abstract", "summary", "description")
# Beginnings of lines whose breaks are kept: labels ("**Present:** Ada"), and what CommonMark does not read: items with
# letters, footnotes, definitions, and rows of tables in other forms.
_LABEL = lazy_regex(r"[*_]{0,3}[A-ZÀ-Þ][^:\n|]{0,50}:(?:[*_]{1,3})?(?:\s|$)")
_OWN_LINE = lazy_regex(r"\(?[a-z]\)\s|\[\^[^\]\s]+\]:\s|:\s|\||\+[-=+]+\+\s*\Z")
# A value in front matter with at least so many words is prose.
_PROSE_WORDS = 8
_OPENED, _CLOSED = lazy_regex(r"<([A-Za-z][\w.:-]*)(?:[\s/][^<>]*)?>"), lazy_regex(r"</([A-Za-z][\w.:-]*)")
_BETWEEN_DIGITS = lazy_regex(r"(?<=\d)\*+(?=\d)")
_MATH_FENCES = frozenset({"math", "latex", "tex", "katex"})


def parse_markdown(path: Path, images: ImageStore) -> ParsedDocument:
    """Parse a Markdown file: its text, tables, formulas and local pictures become quotes on virtual pages.

    Raises DocumentError when the file cannot be read, is larger than 16 MB, or holds more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    title, field_lines, body, unread = _without_front_matter(text)
    pictures = LinkedImages(path.parent, images)
    html, losses = _html(body)
    blocks = html_blocks(html, name=path.name, pictures=pictures)
    heading = next((block.text for block in blocks if block.layout == "title" and block.level == 1), None)
    if title and title != heading:
        blocks.insert(0, FlowBlock(layout="title", text=title))
    is_headed = bool(blocks) and blocks[0].layout == "title" and blocks[0].level == 1
    blocks[int(is_headed) : int(is_headed)] = (FlowBlock(layout="paragraph", text=field) for field in field_lines)
    return paginate_blocks(
        blocks, name=path.name, warnings=(*warnings, *unread, *losses, *pictures.warnings), linked_files=pictures.files
    )


def _without_front_matter(text: str) -> tuple[str, list[str], str, tuple[str, ...]]:
    """What the front matter says: the title, and lines of other fields; the text after it; and a warning.

    Text between two lines of three dashes that is not YAML is ordinary text between two rules.
    """
    matter = _FRONT_MATTER.match(text)
    if matter is None or matter.end() > _MAX_FRONT_MATTER or len(_BRACKET.findall(matter[0])) > _MAX_BRACKETS:
        return "", [], text, ()
    if max(line.count(".") for line in matter[0].split("\n")) > _MAX_DOTS:
        return "", [], text, ()
    fields = _fields(matter[1] or matter[2] or "", is_toml=matter[2] is not None)
    if not fields:
        return "", [], text, ()
    other_fields = (texts for name, texts in fields.items() if name not in ("title", *_READ_FIELDS))
    is_prose = any(len(value.split()) >= _PROSE_WORDS for texts in other_fields for value in texts)
    unread = (
        ("What its front matter says was not read, but for a title, authors, date and abstract.",) if is_prose else ()
    )
    field_lines = [f"{name}: {', '.join(fields[name])}" for name in _READ_FIELDS if fields.get(name)]
    return ", ".join(fields.get("title", ())), field_lines, text[matter.end() :], unread


def _fields(matter: str, *, is_toml: bool) -> Mapping[str, Sequence[str]]:
    """The texts of each field of YAML or TOML; none if it is neither, or repeats parts of itself, perhaps endlessly."""
    import yaml

    # Many write values with colons ("Depth: A Study"), which YAML only allows in quotation marks.
    quoted = [] if is_toml else [_PLAIN_VALUE.sub(lambda field: field[1] + json.dumps(field[2]), matter)]
    for text in (matter, *quoted):
        try:
            if is_toml:
                fields = tomllib.loads(text)
            elif "*" in text and any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
                return {}
            else:
                fields = yaml.load(text, yaml.BaseLoader)  # noqa: S506 - it makes nothing but texts of values
            if isinstance(fields, dict):
                return {str(name).casefold(): list(_texts(value)) for name, value in fields.items()}
            return {}
        except (yaml.YAMLError, ValueError, OverflowError, RecursionError):  # both raise these for numbers and escapes
            continue
    return {}


def _texts(value: object) -> Iterator[str]:
    """The texts of a value, and of what it contains, those of mappings with their names."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from (f"{name}: {text}" for text in _texts(part))
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif text := " ".join(without_unstorable(str(value)).split()):  # which escapes may stand for
        yield text


def _html(text: str) -> tuple[str, tuple[str, ...]]:
    """Markdown as HTML, and warnings. Formulas become `math` elements with their TeX."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_NESTING + _DEEPEST_STEP}).enable(
        ["table", "strikethrough"]
    )
    markdown.block.ruler.before("table", "nested", _leave_out, {"alt": []})
    markdown.block.ruler.before("fence", "math", _math_block, {"alt": ["paragraph", "blockquote", "list"]})
    markdown.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    markdown.block.ruler.at("reference", _reference, {"alt": []})
    markdown.inline.ruler.before("emphasis", "stars", _stars)
    markdown.add_render_rule("math", _render_math)
    tokens = markdown.parse(text)
    closed = {name.lower() for name in _CLOSED.findall(text)}
    for token in tokens:
        if token.type == "fence" and token.info.strip().lower() in _MATH_FENCES:
            token.type = "math"
        elif token.type == "inline":
            _keep_lines(token)
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline"):
                part.content = _OPENED.sub(lambda tag: _shown(tag, closed), part.content)
    lost = any(token.type in _CONTAINERS and token.level >= _MAX_NESTING - 1 for token in tokens)
    warnings = (f"What is nested more than {_MAX_NESTING} deep was left out.",) if lost else ()
    return str(markdown.renderer.render(tokens, markdown.options, {})), warnings


def _keep_lines(token: "Token") -> None:
    """Keep the breaks before lines with labels and the like, which CommonMark would turn into spaces."""
    lines = token.content.split("\n")
    breaks = [child for child in token.children or () if child.type in ("softbreak", "hardbreak")]
    if len(breaks) != len(lines) - 1:  # a break within code or HTML
        return
    labelled = _LABEL.match(lines[0]) is not None
    for line_break, line in zip(breaks, map(str.lstrip, lines[1:]), strict=True):
        if _OWN_LINE.match(line) or (labelled and _LABEL.match(line)):
            line_break.type, line_break.tag = "hardbreak", "br"


def _shown(tag: re.Match[str], closed: Container[str]) -> str:
    """A tag unchanged, or as text."""
    name = tag.group(1).lower()
    is_text = name in SWALLOWING or name not in KNOWN_NAMES
    return escape(tag.group()) if is_text and name not in closed and not tag.group().endswith("/>") else tag.group()


def _leave_out(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """A rule for markdown-it, which would otherwise omit the rest of the document after a list nested too deeply."""
    if silent or state.level < _MAX_NESTING:
        return False
    after = (line for line in range(first, last) if not state.isEmpty(line) and state.sCount[line] < state.blkIndent)
    state.line = next(after, last)
    return True


def _reference(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """A rule for markdown-it, which would otherwise take a footnote of one word ("[^1]: Ibid.") for an address."""
    from markdown_it.rules_block import reference

    return not _line(state, first).startswith("[^") and reference(state, first, last, silent)


def _stars(state: "StateInline", silent: bool) -> bool:
    """A rule for markdown-it, which would otherwise take "2*3*4" for an emphasised 3: 234."""
    stars = _BETWEEN_DIGITS.match(state.src, state.pos)
    if stars is None:
        return False
    if not silent:
        state.pending += stars.group()
    state.pos = stars.end()
    return True


def _table(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """A rule for markdown-it, which would otherwise omit the cells of a row beyond those of the table's head."""
    from markdown_it.rules_block.table import escapedSplit, table

    before = len(state.tokens)
    is_table = table(state, first, last, silent)
    new_tokens, state.tokens[before:] = state.tokens[before:], []
    cells, number = list[str](), 0  # of a row, and how many of them were seen
    for token in new_tokens:
        if token.type == "tr_open" and token.map:
            cells, number = escapedSplit(re.sub(r"^\||\|$", "", _line(state, token.map[0]))), 0
        elif token.type in ("td_open", "th_open"):
            number += 1
        elif token.type == "tr_close":
            for cell in cells[number:]:
                state.push("td_open", "td", 1)
                inline = state.push("inline", "", 0)
                inline.content, inline.children, inline.map = cell.strip(), [], token.map
                state.push("td_close", "td", -1)
        state.tokens.append(token)
    return is_table


def _math_block(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """A rule for markdown-it: from `$$` at the start of a line to `$$` at the end of that or a later line."""
    if state.is_code_block(first) or not _line(state, first).startswith("$$"):
        return False
    lines = [_line(state, first)[2:]]
    # The limit prevents quadratic time for a file with many unclosed openings.
    for number in range(first + 1, min(last, first + _MAX_FORMULA_LINES)):
        if lines[-1].endswith("$$") or state.sCount[number] < state.blkIndent:
            break
        lines.append(_line(state, number))
    formula = "\n".join(lines)
    if not formula.endswith("$$"):
        return False
    if not silent:
        state.push("math", "math", 0).content = formula[:-2]
        state.line = first + len(lines)
    return True


def _line(state: "StateBlock", number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].rstrip()


def _render_math(_self: object, tokens: "Sequence[Token]", index: int, _options: object, _env: object) -> str:
    return f'<math display="block" alttext="{escape(tokens[index].content.strip())}"></math>\n'
