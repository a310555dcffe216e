"""What the model is shown of searches and texts, within a limit of tokens; and how that is shortened later.

Titles, abstracts and names stand on one line each, so that nothing in them looks like a line of ours.
"""

from bisect import bisect_right
from collections.abc import Sequence

from quoteweave.attribution.agent.actions import FindInText, Read
from quoteweave.attribution.agent.trajectory import Step
from quoteweave.attribution.literature.sources.paper_text import find_in_text
from quoteweave.attribution.literature.sources.papers import Paper, PapersFound, PaperText, ReadOutcome, SnippetsFound
from quoteweave.core.chat.usage import estimate_tokens
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record

MAX_TITLE = 300
"""Characters that are shown of a title, at most."""
_ABSTRACT_LENGTHS = (2_000, 1_000, 500, 250, 0)
"""Lengths to which abstracts or passages are cut, in characters; the first with which all of them fit is taken."""
_BEGINNING = 0.6
"""Share of a shortened text that is taken from its beginning; the rest is its end, where the references stand."""
_PASSAGES = 6
"""Passages that are shown of a text when words are looked for in it, at most."""


class Observation(Record):
    """What came of an action."""

    text: str
    shown: tuple[Paper, ...] = ()
    notes: tuple[str, ...] = ()
    read: ReadOutcome | None = None


def observe_papers(result: PapersFound, limit: int) -> Observation:
    """Show the papers that a search found, in at most `limit` tokens; notes of the source are not shown."""
    if not result.papers:
        return Observation(text="No paper was found. Search with other words.", notes=result.notes)
    texts = [paper.abstract or "not known" for paper in result.papers]
    text, notes = _fitted(result.papers, "abstract", texts, limit)
    return Observation(text=text, shown=result.papers, notes=(*result.notes, *notes))


def observe_snippets(result: SnippetsFound, limit: int) -> Observation:
    """Show the passages that a search found, in at most `limit` tokens."""
    if not result.snippets:
        return Observation(text="No passage was found. Search with other words.", notes=result.notes)
    papers = [snippet.paper for snippet in result.snippets]
    texts = [f"({snippet.section}) {snippet.text}" if snippet.section else snippet.text for snippet in result.snippets]
    text, notes = _fitted(papers, "passage", texts, limit)
    shown = {paper.id: paper for paper in papers}
    return Observation(text=text, shown=tuple(shown.values()), notes=(*result.notes, *notes))


def observe_text(paper: Paper, full_text: PaperText, limit: int) -> Observation:
    """Show the text of a paper, in at most `limit` tokens: of a longer one the beginning and the end."""
    head = _head(paper, full_text)
    text, left_out = cut_text(full_text.text, limit - estimate_tokens(head) - 40)
    notes = () if full_text.note is None else (full_text.note,)
    if left_out:
        note = (
            f"Of the text of “{_line(paper.title)}”, {left_out:,} of {len(full_text.text):,} characters were left out."
        )
        notes = (*notes, note)
    return Observation(text=f"{head}\n\n{text}", shown=(paper,), notes=notes, read=full_text.outcome)


def find_passages(paper: Paper, full_text: PaperText, query: str, limit: int) -> Observation:
    """Show the passages of a paper's text that have the words of `query` in order, or else most of its words."""
    notes = () if full_text.note is None else (full_text.note,)
    passages = find_in_text(full_text.text, query, _PASSAGES)
    head = _head(paper, full_text)
    if not passages.passages:
        return Observation(
            text=f"{head}\n\nNo word of {query!r} is in it.", shown=(paper,), notes=notes, read=full_text.outcome
        )
    paged = (full_text.pages or 1) > 1
    shown_passages = [
        f"(page {passage.page + 1}) {passage.text}" if paged else passage.text for passage in passages.passages
    ]
    text, left_out = cut_text("\n…\n".join(shown_passages), limit - estimate_tokens(head) - 60)
    if left_out:
        notes = (*notes, f"Of the passages found, {left_out:,} characters were left out.")
    return Observation(
        text=f"{head}\n\nPassages with words of {query!r}:\n\n{text}",
        shown=(paper,),
        notes=notes,
        read=full_text.outcome,
    )


def shorten_to_titles(step: Step) -> str:
    """What is left of a step's observation where the conversation has to be shortened: ids and titles."""
    action = step.action
    if isinstance(action, Read | FindInText) and step.shown:
        return f"(The text of “{_line(step.shown[0].title)}” was shown here, and is left out for its length.)"
    if not step.shown:
        return step.observed
    lines = [f"- id: {_line(paper.id, None)} title: {_line(paper.title)}" for paper in step.shown]
    return "\n".join(["(Shortened to titles.)", *lines])


def shorten_to_count(step: Step) -> str:
    """What is left of a step's observation where titles are too long as well."""
    if not step.shown:
        return step.observed
    return f"(Shown here, and left out for its length: {pluralize(len(step.shown), 'paper')}.)"


def cut_text(text: str, limit: int) -> tuple[str, int]:
    """Cut a text to about `limit` tokens, from its middle; return it, and how many characters were left out.

    >>> cut_text("a" * 80, 20)[1]
    0
    """
    if estimate_tokens(text) <= limit:
        return text, 0
    room = max(0, limit - 20)
    begin = _longest(text, int(room * _BEGINNING))
    end = _longest(text[::-1], room - int(room * _BEGINNING))
    left_out = len(text) - begin - end
    gap = f"\n\n[… {left_out:,} characters are left out here …]\n\n"
    return f"{text[:begin]}{gap}{text[len(text) - end :]}", left_out


def _longest(text: str, limit: int) -> int:
    """The length of the longest beginning of a text that has at most the given number of tokens."""
    return bisect_right(range(1, len(text) + 1), limit, key=lambda length: estimate_tokens(text[:length]))


def _fitted(papers: Sequence[Paper], label: str, texts: Sequence[str], limit: int) -> tuple[str, tuple[str, ...]]:
    """The papers, each with its text; texts are cut until all fit, and a note says so where any was cut."""
    text, longest = "", 0
    for longest in _ABSTRACT_LENGTHS:
        entries = [_entry(paper, label, content, longest) for paper, content in zip(papers, texts, strict=True)]
        text = "\n\n".join(entries)
        if estimate_tokens(text) <= limit:
            break
    else:
        text, left_out = cut_text(text, limit)
        return text, (f"No {label} was shown, and {left_out:,} characters of the list left out, for their length.",)
    cut = sum(len(_line(content, None)) > longest for content in texts)
    return text, (f"{pluralize(cut, label)} cut to {longest:,} characters.",) if cut else ()


def _entry(paper: Paper, label: str, content: str, longest: int) -> str:
    year = "not known" if paper.published is None else paper.published.year
    citations = "not known" if paper.citations is None else paper.citations
    lines = [f"- id: {_line(paper.id, None)}", f"title: {_line(paper.title)}", f"year: {year}, citations: {citations}"]
    return "\n  ".join([*lines, f"{label}: {_line(content, longest)}"] if longest else lines)


def _head(paper: Paper, full_text: PaperText) -> str:
    title = f"“{_line(paper.title)}”"
    if full_text.outcome == "full_text":
        return f"The text of {title}:"
    why = full_text.note or full_text.outcome.replace("_", " ")
    if not full_text.text.strip():
        return f"The text of {title} cannot be had: {_line(why)}"
    return f"The text of {title} cannot be had: {_line(why)}\nIts abstract:"


def _line(text: str, longest: int | None = MAX_TITLE) -> str:
    line = " ".join(text.split())
    return line if longest is None or len(line) <= longest else f"{line[:longest]}…"
