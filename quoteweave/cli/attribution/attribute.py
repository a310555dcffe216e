"""`quoteweave attribute`: finds the source of a sentence, and shows the passage that supports it."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.attribution.as_answers import CLAIM_WORDING, attribution_as_answer, describe_paper, how_sure
from quoteweave.attribution.attribute import CANDIDATES
from quoteweave.attribution.calls import attribute as find_sources
from quoteweave.attribution.calls import attribute_by_agent, read_limit
from quoteweave.attribution.literature.opening import open_literature
from quoteweave.attribution.records import Attribution, Candidate
from quoteweave.attribution.settings import AttributionSettings
from quoteweave.cli.answers import HtmlOption, write_answer_page
from quoteweave.cli.console import console, plain, print_json, print_message, print_notes, shown_name, snippet
from quoteweave.cli.options.collection import (
    DocumentOption,
    JsonOption,
    MetaOption,
    OpenOption,
    OptionalCollectionOption,
    make_filter,
    valid_text,
)
from quoteweave.cli.options.literature import (
    BeforeOption,
    CheckOption,
    FieldOption,
    NotFromOption,
    PapersOption,
    Source,
    SourceOption,
    SourceTimeoutOption,
    require_source,
    source_options,
)
from quoteweave.cli.options.settings import CHAT, Given, make_settings, takes_settings
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import SourceError, UsageError
from quoteweave.pipeline.composition.make_rag import make_chat
from quoteweave.pipeline.composition.make_search import name_chat_model
from quoteweave.pipeline.settings import ChatSettings

JSON = """--json prints one object: attributions, one for each citation mark of the sentence, or one for the
sentence: excerpt (mark, start, claim, text, cut), outcome (supported, likely or not_found), reason, candidates
(rank, title, identifiers, score, outcome, coverage, kind, passage, and citation: document, page from 0,
bbox, verdict, reason, spans and regions, as ask has them; of the literature also paper, as its source describes it,
read, what became of reading it, and note, why the passage is not of its full text), signals and confidence, how sure
that is (null for your documents), and trace, how they were found. With -c and --source both, those of your documents
stand first."""

WITHIN = ("your documents", "the literature")
"""Where a source was looked for, if in both."""
OUTCOMES = {
    "supported": "supported by",
    "likely": "likely from",
    "not_found": "not found; the closest passages are in",
}


@takes_settings("retriever", "rerank", *CHAT)
def attribute(
    sentence: Annotated[
        str,
        typer.Argument(
            help="What the source has to state; [CITATION], [4] or the like marks the citation that is looked for.",
            parser=valid_text,
            metavar="SENTENCE",
        ),
    ],
    given: Given,
    collection: OptionalCollectionOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many candidates.", metavar="N")] = CANDIDATES,
    source: SourceOption = None,
    before: BeforeOption = None,
    not_from: NotFromOption = None,
    papers: PapersOption = None,
    source_timeout: SourceTimeoutOption = None,
    field: FieldOption = None,
    doc: DocumentOption = None,
    meta: MetaOption = None,
    check: CheckOption = None,
    html: HtmlOption = None,
    open_it: OpenOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the source of a sentence in your documents or in the literature, with the passage that supports it.

    Each citation mark is looked up separately, and a sentence without one as a
    whole. A source is supported if its passage has the numbers, names and words
    of the claim, as the gate checks them. It is likely if it has most of the words
    and the rest cannot be checked. Otherwise it is not found.

    If the literature cannot be searched, your documents still are, and the
    exit code is 1.

    -r ranks your documents, and the papers that a source finds: by words, by a
    model's vectors, or by several rankings, fused.

    With --check, a model checks the passages that the rules do not refuse: those that
    it confirms are supported, the others are not found.

    With --model, an agent searches and reads in the source until it chooses a
    paper. The passages of that paper are then checked.
    """
    if "model" in given and len(source or ()) != 1:
        raise UsageError("--model has an agent search the literature: name one source of it with --source")
    require_source(source, before=before, not_from=not_from, papers=papers, timeout_s=source_timeout, field=field)
    own = {"--doc": doc, "--meta": meta}
    if collection is None:
        _require_literature_alone(source, own)
    limit = read_limit(before)
    of_agent = {name: value for name, value in given.items() if name in CHAT}
    ranking = {name: value for name, value in given.items() if name not in CHAT}
    settings = name_chat_model(make_settings(AttributionSettings, {**ranking, "check": check}))
    progress = TerminalProgress(quiet=as_json)
    shown: list[tuple[Collection, list[Attribution]]] = []
    refused: SourceError | None = None
    with ExitStack() as opened:
        if collection is not None:
            documents = opened.enter_context(Collection.open(collection))
            where = make_filter(doc, None, meta)
            found = find_sources(documents, sentence, k, settings=settings, where=where, progress=progress)
            shown.append((documents, list(found)))
        if source:
            literature = opened.enter_context(
                open_literature(
                    [one.value for one in source],
                    papers=papers,
                    before=limit,
                    not_from=not_from,
                    options=source_options(source, source_timeout, field),
                )
            )
            literature.rank_by(settings, progress)
            try:
                chat = make_chat(make_settings(ChatSettings, of_agent)) if "model" in given else None
                with progress.task("searching the literature"):
                    found = (
                        run_sync(literature.attribute(sentence, k))
                        if chat is None
                        else attribute_by_agent(literature, sentence, chat)
                    )
            except SourceError as error:
                if collection is None:
                    raise
                refused = error
            else:
                shown.append((literature.collection, list(found)))
        page = _show(sentence, shown, html=html, open_it=open_it, as_json=as_json)
    if open_it and page is not None:
        typer.launch(str(page))
    if refused is not None:
        print_message(f"error: the literature could not be asked: {refused}")
        raise typer.Exit(1)


def _require_literature_alone(source: Sequence[Source] | None, own: Mapping[str, object]) -> None:
    """Raises UsageError without documents where no source is named, and for options of documents."""
    if not source:
        raise UsageError("say where to look: -c DIR for your documents, --source NAME for the literature, or both")
    if useless := [name for name, value in own.items() if value]:
        raise UsageError(f"{useless[0]} is of your documents, and none are named: add -c DIR, or leave it out")


def _show(
    sentence: str,
    shown: Sequence[tuple[Collection, Sequence[Attribution]]],
    *,
    html: Path | None,
    open_it: bool,
    as_json: bool,
) -> Path | None:
    """Print what was found in each collection, and write its page; return the page's path."""
    every = [one for _, found in shown for one in found]
    print_notes(dict.fromkeys(note for one in every for note in one.trace.notes))
    named = WITHIN if len(shown) > 1 else ("",) * len(shown)
    if as_json:
        print_json({"attributions": [one.model_dump(mode="json") for one in every]})
    else:
        _print_all(shown, named)
    answers = {
        over: [attribution_as_answer(one, over, within=within) for one in found]
        for (over, found), within in zip(shown, named, strict=True)
    }
    first, *others = answers
    return write_answer_page(
        answers[first],
        first,
        sentence,
        html=html,
        open_it=open_it,
        others={over: answers[over] for over in others},
        wording=CLAIM_WORDING,
    )


def _print_all(shown: Sequence[tuple[Collection, Sequence[Attribution]]], named: Sequence[str]) -> None:
    for (_, found), within in zip(shown, named, strict=True):
        if within:
            console().print(plain(f"in {within}:", "dim"))
        for one in found:
            _print(one)


def _print(found: Attribution) -> None:
    out = console()
    out.print(plain(f"{found.excerpt.mark or 'the sentence'}  {found.excerpt.claim}", "bold"))
    if not found.candidates:
        out.print(plain(f"  not found: {found.reason}"))
        return
    supporting = [one for one in found.candidates if one.outcome == "supported"]
    out.print(plain(f"  {OUTCOMES[found.outcome]}"))
    if found.confidence is not None:
        out.print(plain(f"  {how_sure(found)}", "dim"))
    of_passage = found.candidates[0].citation.reason or ""  # which is printed with the passage
    if beside := (found.reason or "").removeprefix(of_passage).strip():
        out.print(plain(f"  {beside}", "dim"))
    for one in supporting or found.candidates[: 1 if found.outcome == "likely" else None]:
        _print_candidate(one)


def _print_candidate(found: Candidate) -> None:
    citation = found.citation
    line = plain(f"  {found.rank:>2}  ").append_text(plain(found.under(shown_name(found.title)), "bold"))
    # Papers are in the order of three rankings and the gate's verdicts, which their scores alone do not explain.
    score = f"{found.score:.2f}  " if found.paper is None else ""
    line.append(f"  {score}{citation.quote_id}\n", style="dim")
    line.append_text(plain(f"      {snippet(_from_closest_sentence(found), 'paragraph')}"))
    if found.paper is not None:
        line.append_text(plain(f"\n      {describe_paper(found.paper)}, {found.paper.url}", "dim"))
    if found.note is not None:
        line.append_text(plain(f"\n      {found.note}", "dim"))
    if citation.reason is not None:
        line.append_text(plain(f"\n      {citation.reason}", "dim"))
    console().print(line)


def _from_closest_sentence(found: Candidate) -> str:
    """The passage from the sentence on that is closest to the claim; of a picture all of it."""
    start = max(found.passage.find(found.closest), 0) if found.kind == "text" else 0
    return f"{'… ' if start else ''}{found.passage[start:]}"
