"""`quoteweave cite`: finds a source for each factual sentence of a text."""

import sys
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.attribution.as_answers import DRAFT_WORDING, draft_as_answer
from quoteweave.attribution.calls import cite as cite_text
from quoteweave.attribution.drafts.cited_draft import CitedDraft, DraftSentence
from quoteweave.attribution.drafts.draft_text import Draft, draft_format
from quoteweave.attribution.drafts.kept_searches import KeptSearches, keep_searches
from quoteweave.attribution.literature.opening import open_literature
from quoteweave.attribution.literature.sources.queries import read_limit
from quoteweave.attribution.settings import AttributionSettings
from quoteweave.cli.answers import write_answer_page
from quoteweave.cli.console import print_json, print_message, print_notes, printable
from quoteweave.cli.options.collection import (
    CollectionOption,
    DocumentOption,
    JsonOption,
    MetaOption,
    PageOptions,
    make_filter,
    parse_path,
)
from quoteweave.cli.options.literature import CheckOption, LiteratureOptions
from quoteweave.cli.options.settings import OptionValues, make_settings, takes_options
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.files.whole_files import output_file
from quoteweave.core.messages import join_names, pluralize
from quoteweave.pipeline.composition.make_search import name_chat_model
from quoteweave.pipeline.rag import Answered

MAX_NOTES = 5
"""Notes of the searches that are printed, at most."""
MAX_DRAFT_BYTES = 5_000_000
"""Bytes of a draft, at most; some 800,000 words."""
JSON = """--json prints one object: draft; form (markdown, text or latex); sentences (start, end, mark_at, text, status:
cited, likely, no_source, not_asked, cited_already, too_long or not_factual; number, of its reference; attribution, as
attribute prints it); references, the passages cited, in the order of their numbers (found, as a candidate of attribute;
origin, documents or literature; key, of its BibTeX entry, else null); stopped, why the literature could not be asked,
else null; text, the draft with marks and references; and bibtex, the entries."""


@takes_options("retriever", "rerank")
def cite(
    draft: Annotated[
        Path,
        typer.Argument(
            help="The text: Markdown, plain text (.txt) or LaTeX (.tex); - reads Markdown from stdin.",
            parser=parse_path,
            metavar="FILE",
        ),
    ],
    collection: CollectionOption,
    option_values: OptionValues,
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the text with marks and references here, not on stdout.", metavar="FILE"),
    ] = None,
    bib: Annotated[
        Path | None,
        typer.Option(help="Set keys as marks, and write their BibTeX entries here; a new file.", metavar="FILE"),
    ] = None,
    every_sentence: Annotated[
        bool,
        typer.Option(
            "--every-sentence",
            help="Look for a source also of sentences that state nothing, such as plans and opinions.",
        ),
    ] = False,
    literature_options: LiteratureOptions,
    doc: DocumentOption = None,
    meta: MetaOption = None,
    check: CheckOption = None,
    page: PageOptions,
    as_json: JsonOption = False,
) -> None:
    """Cite your own text from your documents or the literature: a mark for each sentence that is supported.

    Nothing else of the text changes; a list of references follows it. Sentences
    without a passage get no mark. They are listed on stderr, and so are
    those whose passage could not be checked.

    With --source, sentences that your documents do not support are searched for
    in the literature. If that fails halfway, what was found is
    written, the rest is listed, and the exit code is 1. Run the same command
    again to continue, also after it was killed.

    With --check, a model confirms the passages, as in attribute.

    Marks are numbers in brackets; with --bib they are keys such as
    @reed2016grain, in LaTeX \\cite{reed2016grain}. LaTeX needs --bib: its
    references are comments.
    """
    literature_options.require_source()
    settings = name_chat_model(make_settings(AttributionSettings, {**option_values, "check": check}))
    text, progress = _read(draft), TerminalProgress(quiet=as_json)
    with ExitStack() as stack:
        opened = stack.enter_context(Collection.open(collection))
        literature = searches = None
        if names := literature_options.names:
            print_message(f"sentences that your documents do not support are searched for at {' and '.join(names)}")
            papers, before, not_from = literature_options.papers, literature_options.before, literature_options.not_from
            opening = open_literature(
                names,
                papers=papers,
                before=read_limit(before),
                not_from=not_from,
                options=literature_options.source_options(),
            )
            literature = stack.enter_context(opening)
            identity: dict[str, object] = {"sources": sorted(names), "before": before, "not_from": not_from}
            identity |= {"papers": papers, "field": literature_options.field}
            identity |= {"retriever": settings.retriever, "rerank": settings.rerank, "check": settings.check}
            literature.rank_by(settings, progress)
            searches = stack.enter_context(keep_searches(literature, str(draft.resolve()), identity))
        _check_unwritten(bib, searches)
        _print_earlier_searches(searches)
        draft_to_cite = Draft(
            text=text,
            form=draft_format(draft.name),
            marks="numbers" if bib is None else "keys",
            every_sentence=every_sentence,
        )
        where = make_filter(doc, None, meta)
        cited = cite_text(opened, draft_to_cite, literature=searches, settings=settings, where=where, progress=progress)
        _write(cited, out=out, bib=bib, as_json=as_json)
        _keep_or_finish(searches, cited, bib)
        _print_summary(cited)
        answers = _page_answers(cited, draft.name, opened, None if literature is None else literature.collection)
        write_answer_page(answers, draft.name, page, wording=DRAFT_WORDING)
    if cited.stopped is not None:
        raise typer.Exit(1)


def _check_unwritten(bib: Path | None, searches: KeptSearches | None) -> None:
    """Raise UsageError if the file of entries exists, unless an unfinished command for this draft wrote it."""
    if bib is not None and bib.exists() and (searches is None or not searches.has_written(bib)):
        raise UsageError(f"{bib} is there already, and is not written over: name a new file")


def _print_earlier_searches(searches: KeptSearches | None) -> None:
    if searches is not None and searches.has_lost:
        print_message(
            "some of what an earlier command found cannot be read, or has lost its passages: it is sought anew"
        )
    if searches is not None and searches.earlier:
        verb = "was" if searches.earlier == 1 else "were"
        sentences = pluralize(searches.earlier, "sentence")
        print_message(f"{sentences} {verb} looked for by a command that did not finish, and {verb} kept")


def _keep_or_finish(searches: KeptSearches | None, cited: CitedDraft, bib: Path | None) -> None:
    """If the literature could not be asked to the end, keep what was found for the same command to continue."""
    if searches is None:
        return
    searches.finished = cited.stopped is None
    if not searches.finished and bib is not None:
        searches.note_written(bib)


def _write(cited: CitedDraft, *, out: Path | None, bib: Path | None, as_json: bool) -> None:
    """Write the draft and its entries; without a file, print the draft on stdout."""
    if as_json:
        print_json({**cited.model_dump(mode="json"), "text": cited.text, "bibtex": cited.bibtex})
    elif out is None:
        typer.echo(printable(cited.text))
    for path, content in ((out, cited.text), (bib, cited.bibtex)):
        if path is not None:
            with output_file(path) as file:
                file.write(content.encode())  # as bytes, so that line ends are not changed


def _page_answers(
    cited: CitedDraft, name: str, documents: Collection, papers: Collection | None
) -> dict[Collection, list[Answered]]:
    """The draft as its page shows it: over the documents, and over the papers if it cites any."""
    if papers is None:
        return {documents: [draft_as_answer(cited, name, documents)]}
    answers = {documents: [draft_as_answer(cited, f"{name}: your documents", documents)]}
    if any(reference.origin == "literature" for reference in cited.references):
        answers[papers] = [draft_as_answer(cited, f"{name}: the literature", papers, origin="literature")]
    return answers


def _read(draft: Path) -> str:
    """Return the text of the draft. Raises UsageError where it cannot be read, is too long, or is no text."""
    try:
        with nullcontext(sys.stdin.buffer) if str(draft) == "-" else draft.open("rb") as file:
            content = file.read(MAX_DRAFT_BYTES + 1)
        if len(content) > MAX_DRAFT_BYTES:
            raise UsageError(f"{draft} has more than {MAX_DRAFT_BYTES // 10**6} MB, the most of a draft; split it")
        text = content.decode()
    except OSError as error:
        raise UsageError(f"{draft} cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{draft} is no text in UTF-8: byte {error.start + 1:,} belongs to no character") from error
    if "\0" in text:
        raise UsageError(f"{draft} is no text: byte {content.index(0) + 1:,} is 0")
    return text


def _print_summary(cited: CitedDraft) -> None:
    """Say what was cited, and name each sentence whose citation could not be checked, or that has none."""
    if cited.stopped is not None:
        unsearched = sum(sentence.status == "not_asked" for sentence in cited.sentences)
        print_message(f"error: the literature could not be asked, or not to the end: {cited.stopped}")
        print_message(
            f"{pluralize(unsearched, 'sentence')} left that your documents do not support; "
            "the same command goes on with them"
        )
    marked = sum(sentence.number is not None for sentence in cited.sentences)
    already = sum(sentence.status == "cited_already" for sentence in cited.sentences)
    lines = [f"{pluralize(marked, 'sentence')} cited, from {pluralize(len(cited.references), 'passage')}"]
    if already:
        lines.append(f"{pluralize(already, 'sentence')} had a citation already")
    passed_over = sum(sentence.status == "not_factual" for sentence in cited.sentences)
    if passed_over:
        lines.append(
            f"{pluralize(passed_over, 'sentence')} not looked up, as needing no source (--every-sentence looks up all)"
        )
    lines += [
        f"the entry of {name} lacks {join_names(fields)}: write it there, or name it with --meta when the file is added"
        for name, fields in cited.incomplete.items()
    ]
    notes = dict.fromkeys(
        note for sentence in cited.sentences if sentence.attribution for note in sentence.attribution.trace.notes
    )
    lines += list(notes)[:MAX_NOTES]
    if len(notes) > MAX_NOTES:
        lines.append(f"and {pluralize(len(notes) - MAX_NOTES, 'other note')} on what was searched: see --json")
    print_notes(
        [*lines, *(line for sentence in cited.sentences if (line := _message_about(sentence, cited)) is not None)]
    )


def _message_about(sentence: DraftSentence, cited: CitedDraft) -> str | None:
    """The message about a sentence; None if it is cited, or needs no citation."""
    text, attribution = " ".join(sentence.text.split()), sentence.attribution
    reason = "" if attribution is None or attribution.reason is None else f": {attribution.reason.rstrip('.')}"
    if sentence.status == "likely" and sentence.number is not None:
        return f"to be checked, {cited.mark(sentence.number).strip(' ~')} for “{text}”{reason}"
    if sentence.status == "too_long":
        return f"not looked for, as it is longer than is searched for: “{text[:80]}…”"
    if sentence.status == "no_source":
        return f"not cited, “{text}”{reason}"
    if sentence.status == "not_asked":
        return f"not in your documents, and not asked of the literature: “{text}”"
    return None
