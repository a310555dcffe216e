"""Answers and conversations as Markdown, with footnotes (`[^1]`) that link to the cited quotes.

Code in an answer stays as it is. Elsewhere characters that could begin HTML are escaped, since models and documents are
not trusted. All other text is unchanged, as the lists, tables and bold words of answers are Markdown already.
"""

from collections.abc import Iterable, Sequence

from quoteweave.core.answers import Answer, Citation
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.marks import Code, Mark, MarkReader
from quoteweave.interchange.exports import ExportedTurn, footnote_words, turns_of
from quoteweave.interchange.quotes import citation_title
from quoteweave.interchange.shown_text import shown_image

_HTML = lazy_regex(r"<(?=[A-Za-z/!?])")
_MARKUP = lazy_regex(r"([\\`*_\[\]<>#|~])")


def to_markdown(exported: Answer | Sequence[ExportedTurn], *, title: str | None = None) -> str:
    """Write an answer, or the turns of a conversation, as one Markdown document.

    Each question is a heading above its answer and the answer's warnings. Footnotes are at the end, one for each
    combination of quote and cited words. Images are linked by their URL, if they have one (`quotes.QuoteUrls.answer`).
    """
    footnotes = _Footnotes()
    parts = [f"# {_line(title)}"] if title else []
    for turn in turns_of(exported):
        parts += [f"## {_line(turn.question)}", _answer_text(turn.answer, footnotes).strip()]
        parts += [f"> {_line(warning)}" for warning in turn.answer.warnings]
    parts += ["\n".join(footnotes.lines)] if footnotes.lines else []
    return "\n\n".join(filter(None, parts)) + "\n"


class _Footnotes:
    """Numbers footnotes in the order in which they are first referred to; equal ones share a number."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._numbers: dict[tuple[str, str], int] = {}

    def references(self, citations: Iterable[Citation]) -> str:
        """The references to the footnotes of these citations."""
        return "".join(f"[^{self._number(citation)}]" for citation in citations)

    def _number(self, citation: Citation) -> int:
        title, words = _line(citation_title(citation)), footnote_words(citation)
        number = self._numbers.setdefault((citation.quote_id, words), len(self.lines) + 1)
        if number > len(self.lines):
            source = title if citation.url is None else f"[{title}]({citation.url})"
            self.lines.append(f"[^{number}]: {source}{f': {_line(words)}' if words else ''}")
        return number


def _answer_text(answer: Answer, footnotes: _Footnotes) -> str:
    cited: dict[int, list[Citation]] = {}
    for citation in answer.citations:
        cited.setdefault(citation.start, []).append(citation)
    text, at = "", 0
    for token in MarkReader().end(answer.text):
        written = token.mark if isinstance(token, Mark) else str(token)
        if isinstance(token, Mark) and at in cited:
            image = _plain(shown_image(cited[at][0])) if token.kind == "image" else ""
            text += image + footnotes.references(cited[at])
        else:
            text += written if isinstance(token, Code) else _plain(written)
        at += len(written)
    return text


def _plain(text: str) -> str:
    """Text of an answer in which HTML, and footnotes that are not ours, have no effect."""
    return _HTML.sub("&lt;", text).replace("[^", r"\[^")


def _line(text: str) -> str:
    """A text on one line, escaped so that nothing in it acts as Markdown."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
