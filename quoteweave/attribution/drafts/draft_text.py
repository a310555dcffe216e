"""Finds the running text of a draft: Markdown, plain text or LaTeX, with all else blanked out and no character moved.

What is found in the running text stands at the same place in the draft, so that marks can be set there. Only what reads
as sentences is kept; it errs towards leaving out.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Record
from quoteweave.core.text.marks import parse_marks

if TYPE_CHECKING:
    from markdown_it.token import Token

DraftFormat = Literal["markdown", "text", "latex"]
MarkStyle = Literal["numbers", "keys"]
"""How marks are written: as numbers, `[1]`, or as keys of BibTeX entries, `[@key]`, in LaTeX `\\cite{key}`."""
_SUFFIXES: dict[str, DraftFormat] = {".tex": "latex", ".ltx": "latex", ".txt": "text"}
JOINER = "\u2060"
"""Replaces characters within a sentence that are markup and not text; `without_joiners` takes it out."""

_LINE = lazy_regex(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_FRONT_MATTER = lazy_regex(
    r"(?:---[ \t]*\r?\n.*?^(?:---|\.\.\.)|\+{3}[ \t]*\r?\n.*?^\+{3})[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
_QUOTED = lazy_regex(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_COMMENT = lazy_regex(
    r"<!--.*?(?:-->|\Z)"
    r"|(?m:^[ \t]*\[\^[^\[\]\s]+\]:)|\[\^[^\[\]\s]+\]"
    # A link definition, such as `[label]: address "title"`, is no text of a paragraph.
    r"|(?m:^[ \t]*\[[^\[\]\r\n]+\]:[ \t]*\S+(?:[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|\([^()\r\n]*\)))?[ \t]*\r?$)"
    r"|(?m:^[ \t]*:{3}[^\r\n]*)"  # Pandoc's blocks
    r"|<br\b[^<>]*>|\\(?=\r?\n)",
    re.DOTALL,
)
_TAG = lazy_regex(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?>")
_DOLLARS = lazy_regex(r"(?<!\\)\$\$(?:(?!\n[ \t]*\r?\n).)*?\$\$", re.DOTALL)
# A formula by Pandoc's rule, under which "$5 to $10" has none.
_INLINE_DOLLARS = lazy_regex(r"(?<![\w\\$])(\$)(?=[^\s$])((?:[^$\\\r\n]|\\.)+)(?<!\s)(\$)(?![\d$])")
_LINK = lazy_regex(r"(?<!!)\[([^\[\]\n]*)\](\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\))")
# The signs in `2 * 3`, `a_name` and `3*4` are no emphasis.
_EMPHASIS = lazy_regex(r"(?<![\\*_])(?:(?<!\w)(?:\*{1,3}|_{1,3})(?=\S)|(?<=\S)(?:\*{1,3}|_{1,3})(?!\w))(?![*_])")

# A mark's number between two characters that occur in no text.
_HIDDEN = lazy_regex("\ufdd0(\\d+)\ufdd1")
_HIDING = dict.fromkeys(map(ord, "\ufdd0\ufdd1"))


class Draft(Record):
    """A text that is to be cited, how it is written, and which marks are to be set in it.

    >>> cite(collection, Draft(text="The harbour shipped 4,210 tonnes of grain.", marks="keys")).sentences[0].status
    'cited'
    """

    text: str = Field(description="the text to be cited")
    form: DraftFormat = Field(default="markdown", description="how the text is written")
    marks: MarkStyle = Field(default="numbers", description="numbers in brackets, or keys of BibTeX entries")
    every_sentence: bool = Field(
        default=False, description="whether a source is looked for also where a sentence states nothing, such as a plan"
    )


def draft_format(name: str) -> DraftFormat:
    """The format of a draft by the end of its file's name: LaTeX, plain text, or else Markdown."""
    return _SUFFIXES.get(PurePath(name).suffix.lower(), "markdown")


def running_text(draft: str, form: DraftFormat) -> str:
    """Return the draft's running text, as long as the draft; all else is replaced by spaces.

    In Markdown, this blanks out front matter, headings, tables, code, HTML, formulas between `$$`, the signs around
    other formulas, and the addresses of links. In LaTeX, it blanks out comments, all before and after the document,
    headings, environments that are no text (figures, tables, formulas, code), and commands with their arguments, except
    the text whose font a command sets.
    """
    text = f" {draft[1:]}" if draft.startswith("\ufeff") else draft
    if form == "latex":
        return _latex(text)
    return _markdown(text) if form == "markdown" else text


def without_joiners(text: str) -> str:
    """The text of a sentence on one line, without the characters that stand for markup."""
    return " ".join(text.replace(JOINER, "").split())


def readable_latex(draft: str) -> str:
    """Return the running text of a LaTeX draft, of the draft's length, with its citations as they are written."""
    text = running_text(draft, "latex")
    return _CITED.sub(lambda cited: draft[cited.start() : cited.end()], text)


def marks_in_round_brackets(text: str) -> str:
    """Return a text, of the same length, with its marks in round brackets, so that nothing takes them for citations."""
    shown = list(text)
    for mark in parse_marks(text):
        shown[mark.end - 1] = ")"
        shown[mark.start if mark.kind == "text" else mark.end - 1] = "(" if mark.kind == "text" else " "
    return "".join(shown)


def readable_markdown(text: str) -> str:
    """Return a Markdown draft for reading, in the little markup that answers have; its citation marks are kept.

    Paragraphs are on one line except for hard breaks; a heading is a paragraph in bold. Front matter is left out, and
    so are addresses of links and the signs of quotations, emphasis and code.
    """
    from markdown_it import MarkdownIt

    text = re.sub(r"\r\n?", "\n", text)
    matter = _FRONT_MATTER.match(text)
    marks: list[str] = []
    text = _hide_marks(text[matter.end() :] if matter else text, marks)
    lines = _LINE.findall(text)
    for opened, inline in pairwise(MarkdownIt("commonmark").enable("table").parse(text)):
        if opened.type not in ("heading_open", "paragraph_open") or opened.map is None:
            continue
        first, end = opened.map
        # Headings are never cited, so that a cited paragraph above a line of `---` or `===` is no heading.
        heading = opened.type == "heading_open" and not (opened.markup in "-=" and _HIDDEN.search(inline.content))
        content = _inline_text(inline.children or (), bold=not heading)
        if heading:
            content = f"\n**{content}**\n" if content else ""
        else:
            before = lines[first].rstrip().removesuffix(inline.content.partition("\n")[0].rstrip())
            content = re.sub(r">[ \t]?", "", before) + content
        lines[first:end] = [f"{content}\n", *[""] * (end - first - 1)]
    shown = marks_in_round_brackets("".join(lines))
    return _HIDDEN.sub(lambda hidden: marks[int(hidden[1])], shown)


def _hide_marks(text: str, marks: list[str]) -> str:
    """The text with its citation marks, which are added to `marks`, as characters that Markdown does not know."""
    shown, last = [], 0
    text = text.translate(_HIDING)
    for mark in parse_marks(text):
        shown += [text[last : mark.start], f"\ufdd0{len(marks)}\ufdd1"]
        marks.append(mark.mark)
        last = mark.end
    return "".join([*shown, text[last:]])


def _inline_text(parts: "Sequence[Token]", *, bold: bool) -> str:
    """The text of a paragraph or heading, with or without the signs of bold text."""
    pieces, depth = [], 0
    for part in parts:
        if part.tag == "strong":
            # Bold text within bold text gets no signs of its own.
            depth += part.nesting
            pieces.append("**" if bold and depth == (part.nesting > 0) else "")
        elif part.tag == "br":
            pieces.append("\n" if part.type == "hardbreak" and not depth and bold else " ")
        else:
            pieces.append(part.content)
    return "".join(pieces)


def one_line_per_paragraph(text: str) -> str:
    """Return running text for reading: each paragraph and item on one line, without what stands for commands."""
    text = re.sub(r"[^\S\n]+", " ", text.replace(JOINER, "").replace("\r", ""))
    paragraphs = (re.sub(r" ?\n ?(?!- )", " ", paragraph).strip() for paragraph in re.split(r"\n\s*\n", text))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _blank(match: re.Match[str]) -> str:
    return _blanked(match[0])


def _blanked(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def _joined(match: re.Match[str]) -> str:
    return JOINER * len(match[0])


# Markdown


def _markdown(text: str) -> str:
    matter = _FRONT_MATTER.match(text)
    start = matter.end() if matter else 0
    body = text[start:]
    lines = [line for line in _LINE.findall(body) if line]
    paragraph_lines = set(_paragraph_lines(body))
    shown = "".join(line if number in paragraph_lines else _blanked(line) for number, line in enumerate(lines))
    shown = _TAG.sub(_unemphasised, _COMMENT.sub(_blank, _QUOTED.sub(_blank, shown)))
    shown = _DOLLARS.sub(_joined, _without_formulas(shown))
    shown = _INLINE_DOLLARS.sub(lambda formula: _ESCAPE.sub(_unescaped, _bare_formula(formula)), shown)
    shown = _LINK.sub(lambda link: f" {link[1]} {_blanked(link[2])}", shown)
    return _blanked(text[:start]) + _EMPHASIS.sub(_unemphasised, shown)


def _without_formulas(text: str) -> str:
    """The text with LaTeX's formula environments replaced by joiners; one that is never closed stays."""
    parts, last = list[str](), 0
    opened: re.Match[str] | None = None
    for command in _ENVIRONMENT.finditer(text):
        if command[1] == "begin":
            opened = command if _FORMULAS.fullmatch(command[2]) else opened
        elif opened is not None and command[2] == opened[2]:
            parts += [text[last : opened.start()], JOINER * (command.end() - opened.start())]
            last, opened = command.end(), None
    return "".join([*parts, text[last:]])


def _unemphasised(match: re.Match[str]) -> str:
    """Replace signs beside a space by spaces, so that a sentence can end before them; others by joiners."""
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    at_edge = not before.strip() or not after.strip()
    return (" " if at_edge else JOINER) * len(match[0])


def _paragraph_lines(text: str) -> Iterator[int]:
    """The numbers, from 0, of the lines of paragraphs, those of lists and quotations included."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for before, token in pairwise(tokens):
        if token.type == "inline" and before.type == "paragraph_open" and token.map is not None:
            yield from range(*token.map)


# LaTeX

_CODE = lazy_regex(
    r"\\begin\{(verbatim\*?|Verbatim|lstlisting|minted|comment|filecontents\*?)\}.*?(?:\\end\{\1\}|\Z)"
    r"|\\verb\*?([^\w\s*]).*?\2",
    re.DOTALL,
)
_REMARK = lazy_regex(r"(?<!\\)((?:\\\\)*)%[^\r\n]*")
_BEFORE = lazy_regex(r"\A.*?\\begin\{document\}", re.DOTALL)
_AFTER = lazy_regex(r"\\end\{document\}.*\Z", re.DOTALL)
_ENVIRONMENT = lazy_regex(r"\\(begin|end)\{([^{}]*)\}")
_TEXT_ENVIRONMENTS = """
document abstract itemize enumerate description quote quotation center flushleft flushright minipage
theorem lemma corollary proposition definition remark example proof
"""
_TEXTS = frozenset(_TEXT_ENVIRONMENTS.split())
_FORMULAS = lazy_regex(r"(?:equation|align|gather|multline|eqnarray|math|displaymath|alignat|flalign|dmath)\*?")
_DISPLAYED = lazy_regex(r"(?<!\\)(?:\\\[(?:(?!\\[\[\]]).)*+\\\]|\$\$.*?\$\$)", re.DOTALL)
_INLINE = lazy_regex(r"(?<!\\)(\$)((?:[^$\\]|\\.)+)(\$)|(\\\()((?:(?!\\[()]).)*+)(\\\))", re.DOTALL)
_CITED = lazy_regex(r"\\(?!nocite)[A-Za-z]*cite[A-Za-z]*\*?(?:\[[^\[\]]*\])*\{[^{}]+\}")
_ITEM = lazy_regex(r"\\item(?![A-Za-z])(?:\[[^\[\]]*\])?")
_FONT = lazy_regex(r"\\(?:emph|enquote|underline|mbox|text(?:[a-z]{2}|normal)?|textcolor\{[^{}]*\})\{")
_ACCENT = lazy_regex(r"""\\(?:(["'`^~])(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))|([cvk])\{([A-Za-z])\})""")
_ACCENTS = dict(zip("\"'`^~cvk", "\u0308\u0301\u0300\u0302\u0303\u0327\u030c\u0328", strict=True))
_LETTER = lazy_regex(r"\\(ss|ae|oe|aa|AE|OE|AA|o|O|l|L)(?![A-Za-z])(?:\{\})?")
_LETTERS = {
    **{"ss": "ß", "ae": "æ", "oe": "œ", "aa": "å", "AE": "Æ", "OE": "Œ", "AA": "Å"},
    **{"o": "ø", "O": "Ø", "l": "ł", "L": "Ł"},
}
_ESCAPE = lazy_regex(r"\\([%&$#_{}])|\\([,;:])|\{,\}|\\[-/]|\\\\(?:\[[^\[\]]*\])?|\\[\s!]")
_COMMAND = lazy_regex(r"\\[A-Za-z@]+\*?")


def _latex(text: str) -> str:
    """Return the running text of LaTeX. Each step replaces text by as many characters as it removes."""
    text = _REMARK.sub(lambda comment: comment[1] + _blanked(comment[0][len(comment[1]) :]), _CODE.sub(_blank, text))
    text = _AFTER.sub(_blank, _BEFORE.sub(_blank, text))
    text = _DISPLAYED.sub(_joined, _without_environments(text))
    text = _INLINE.sub(_bare_formula, text)
    text = _CITED.sub(lambda cited: f"\\cite{{{'x' * (len(cited[0]) - 7)}}}", text)
    text = _ITEM.sub(lambda item: f"- {' ' * (len(item[0]) - 2)}", text)
    text = _LETTER.sub(lambda letter: _LETTERS[letter[1]].rjust(len(letter[0]), JOINER), _ACCENT.sub(_accented, text))
    text = _FONT.sub(_without_font_command, _without_commands(_ESCAPE.sub(_unescaped, text)))
    marks = [citation.span() for citation in _CITED.finditer(text)]
    return _without_braces(text, marks).replace("~", " ")


def _without_environments(text: str) -> str:
    """The text with environments that hold no running text blanked out, and formulas replaced by joiners."""
    parts, last = [], 0
    name, depth, start = "", 0, 0
    for command in _ENVIRONMENT.finditer(text):
        if not depth:
            if command[1] == "begin" and command[2].rstrip("*") not in _TEXTS:
                name, depth, start = command[2], 1, command.start()
        elif command[2] == name:
            depth += 1 if command[1] == "begin" else -1
            if not depth:
                body = text[start : command.end()]
                parts += [text[last:start], JOINER * len(body) if _FORMULAS.fullmatch(name) else _blanked(body)]
                last = command.end()
    # An environment that is never closed extends to the end.
    return "".join([*parts, text[last:start], _blanked(text[start:])] if depth else [*parts, text[last:]])


def _bare_formula(match: re.Match[str]) -> str:
    opening, inside, closing = match.group(1, 2, 3) if match[1] else match.group(4, 5, 6)
    return f"{JOINER * len(opening)}{inside}{JOINER * len(closing)}"


def _accented(match: re.Match[str]) -> str:
    letter = match[2] or match[3] or match[5]
    return unicodedata.normalize("NFC", letter + _ACCENTS[match[1] or match[4]])[:1].rjust(len(match[0]), JOINER)


def _without_font_command(match: re.Match[str]) -> str:
    """Replace a command that begins a font: within a word by joiners, elsewhere by spaces."""
    inside = match.string[match.start() - 1 : match.start()].isalnum()
    return (JOINER if inside else " ") * len(match[0])


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is not None:
        # An escaped brace is printed, and must not be taken for a brace that groups.
        return f"{JOINER}{' ' if match[1] in '{}' else match[1]}"
    if match[2] is not None:
        return f"{JOINER}\u202f"
    return {"{,}": f"{JOINER},{JOINER}", "\\-": JOINER * 2, "\\/": JOINER * 2}.get(match[0]) or _blanked(match[0])


def _without_commands(text: str) -> str:
    """The text with commands and their arguments blanked out, except citations and text whose font they set."""
    parts, last, closings = [], 0, _closings(text)
    for command in _COMMAND.finditer(text):
        if command.start() < last or command[0] == "\\cite" or _FONT.match(text, command.start()):
            continue
        end = _arguments_end(closings, command.end())
        parts += [text[last : command.start()], _blanked(text[command.start() : end])]
        last = end
    return "".join([*parts, text[last:]])


def _closings(text: str) -> dict[int, int]:
    """The positions of opening braces and square brackets, each with the position at which it is closed."""
    opened: dict[str, list[int]] = {"{": [], "[": []}
    closings = {}
    for bracket in re.finditer(r"[{}\[\]]", text):
        if bracket[0] in opened:
            opened[bracket[0]].append(bracket.start())
        elif waiting := opened["{" if bracket[0] == "}" else "["]:
            closings[waiting.pop()] = bracket.start()
    return closings


def _arguments_end(closings: Mapping[int, int], start: int) -> int:
    """Where the arguments directly after a command end; an unclosed bracket begins no argument."""
    while start in closings:
        start = closings[start] + 1
    return start


def _without_braces(text: str, citation_spans: list[tuple[int, int]]) -> str:
    """The text without grouping braces; one at a sentence's end becomes a space, so that the sentence ends there."""
    chars = list(text)
    for brace in re.finditer(r"[{}]", text):
        at = brace.start()
        if not any(start <= at < end for start, end in citation_spans):
            follows = text[at + 1 : at + 2]
            chars[at] = " " if brace[0] == "}" and (not follows or follows.isspace()) else JOINER
    return "".join(chars)
