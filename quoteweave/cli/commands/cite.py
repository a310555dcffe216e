"""`quoteweave cite`: finds a source for each factual sentence of a text."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.attribution.as_answers import draft_as_answer
from quoteweave.attribution.calls import cite as cite_text
from quoteweave.attribution.post_hoc import CitedDraft
from quoteweave.cli.answer_pages import HtmlOption, write_answer_page
from quoteweave.cli.console import print_json, print_notes, printable, writing_output
from quoteweave.cli.options.collection import (
    CollectionOption,
    DocumentOption,
    JsonOption,
    MetaOption,
    OpenOption,
    make_filter,
    parse_path,
)
from quoteweave.cli.options.derive import make_settings
from quoteweave.cli.options.models import RerankOption, RetrieversOption
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import pluralize
from quoteweave.pipeline.runs.search import name_chat_model
from quoteweave.pipeline.settings import RetrievalSettings

JSON = """--json prints one object: draft; sentences (start, end, text, status: cited, likely, no_source,
cited_already, too_long or not_factual; number, of its reference; attribution, as attribute prints it); references, the
passages cited, in the order of their numbers; and markdown, the draft with marks and references."""


def cite(
    draft: Annotated[
        Path,
        typer.Argument(
            help="The text, as Markdown or plain text; - reads it from stdin.", parser=parse_path, metavar="FILE"
        ),
    ],
    collection: CollectionOption,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the text with marks and references here, not on stdout.", metavar="FILE"),
    ] = None,
    doc: DocumentOption = None,
    meta: MetaOption = None,
    retriever: RetrieversOption = None,
    rerank: RerankOption = None,
    html: HtmlOption = None,
    open_it: OpenOption = False,
    as_json: JsonOption = False,
) -> None:
    """Cite your own text from your documents: a mark for each sentence that a passage supports.

    Nothing else of the text changes; a list of references follows it. Sentences
    without a passage stay without a mark; they are listed on stderr, as are
    those whose passage could not be checked.
    """
    settings = name_chat_model(make_settings(RetrievalSettings, {"retriever": retriever, "rerank": rerank}))
    text = _read(draft)
    with Collection.open(collection) as opened:
        where, progress = make_filter(doc, None, meta), TerminalProgress(quiet=as_json)
        cited = cite_text(opened, text, settings=settings, where=where, progress=progress)
        if as_json:
            print_json({**cited.model_dump(mode="json"), "markdown": cited.markdown})
        elif out is None:
            typer.echo(printable(cited.markdown))
        if out is not None:
            with writing_output(out):
                out.write_text(cited.markdown, "utf-8")
        _print_summary(cited)
        answer = draft_as_answer(cited, draft.name, opened)
        page = write_answer_page([answer], opened, draft.name, html=html, open_it=open_it)
    if open_it and page is not None:
        typer.launch(str(page))


def _read(draft: Path) -> str:
    """Return the text of the draft. Raises UsageError where it cannot be read, or is no text."""
    try:
        content = sys.stdin.buffer.read() if str(draft) == "-" else draft.read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{draft} cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{draft} is no text in UTF-8: byte {error.start + 1:,} belongs to no character") from error


def _print_summary(cited: CitedDraft) -> None:
    """Say what was cited, and name each sentence whose citation could not be checked, or that has none."""
    marked = sum(one.number is not None for one in cited.sentences)
    already = sum(one.status == "cited_already" for one in cited.sentences)
    lines = [f"{pluralize(marked, 'sentence')} cited, from {pluralize(len(cited.references), 'passage')}"]
    if already:
        lines.append(f"{pluralize(already, 'sentence')} had a citation already")
    for sentence in cited.sentences:
        text, found = " ".join(sentence.text.split()), sentence.attribution
        why = "" if found is None or found.reason is None else f": {found.reason.rstrip('.')}"
        if sentence.status == "likely":
            lines.append(f"to be checked, [{sentence.number}] for “{text}”{why}")
        elif sentence.status == "too_long":
            lines.append(f"not looked for, as it is longer than is searched for: “{text[:80]}…”")
        elif sentence.status == "no_source":
            lines.append(f"not cited, “{text}”{why}")
    print_notes(lines)
