"""`quoteweave attribute`: finds the source of a sentence, and shows the passage that supports it."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Annotated

import typer

from quoteweave.attribution.literature.asked_ahead import AskedAhead, ask_ahead
from quoteweave.attribution.literature.sources.make_source import SourceName
from quoteweave.attribution.literature.sources.queries import read_limit
from quoteweave.attribution.settings import CANDIDATES, AttributionSettings
from quoteweave.cli.console import print_message
from quoteweave.cli.options.collection import (
    DocumentOption,
    JsonOption,
    MetaOption,
    OptionalCollectionOption,
    PageOptions,
    make_filter,
    valid_text,
)
from quoteweave.cli.options.literature import CheckOption, LiteratureOptions
from quoteweave.cli.options.settings import CHAT, OptionValues, make_settings, takes_options
from quoteweave.core.errors import UsageError
from quoteweave.pipeline.settings import ChatSettings

JSON = """--json prints one object: attributions, one for each citation mark of the sentence, or one for the
sentence: excerpt (mark, start, claim, text, cut), outcome (supported, likely or not_found), reason, candidates
(rank, title, identifiers, score, outcome, coverage, kind, passage, and citation: document, page from 0,
bbox, verdict, reason, spans and regions, as ask has them; of the literature also paper, as its source describes it,
read, what became of reading it, and note, why the passage is not of its full text), signals and confidence, how sure
that is (null for your documents), and trace, how they were found. With -c and --source both, those of your documents
stand first."""


@takes_options("retriever", "rerank", *CHAT)
def attribute(
    sentence: Annotated[
        str,
        typer.Argument(
            help="What the source has to state; [CITATION], [4] or the like marks the citation that is looked for.",
            parser=valid_text,
            metavar="SENTENCE",
        ),
    ],
    option_values: OptionValues,
    *,
    collection: OptionalCollectionOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many candidates.", metavar="N")] = CANDIDATES,
    literature_options: LiteratureOptions,
    doc: DocumentOption = None,
    meta: MetaOption = None,
    check: CheckOption = None,
    page: PageOptions,
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
    names = literature_options.names
    if "model" in option_values and len(names) != 1:
        raise UsageError("--model has an agent search the literature: name one source of it with --source")
    literature_options.require_source()
    if collection is None:
        _require_literature_alone(names, {"--doc": doc, "--meta": meta})
    limit, not_from = read_limit(literature_options.before), literature_options.not_from
    agent_options = {name: value for name, value in option_values.items() if name in CHAT}
    ranking_options = {name: value for name, value in option_values.items() if name not in CHAT}
    settings = make_settings(AttributionSettings, {**ranking_options, "check": check})
    chat = make_settings(ChatSettings, agent_options) if "model" in option_values else None
    where = make_filter(doc, None, meta)
    options = literature_options.source_options()
    with ExitStack() as opened:
        sources_to_ask: Sequence[SourceName | AskedAhead] = names
        # Asked ahead only if no model is named, as a wrong name, known after the imports, must end the command first.
        if names and collection is None and not option_values and check is None:
            ahead = ask_ahead(names, sentence, k, before=limit, not_from=not_from, options=options)
            sources_to_ask = opened.enter_context(ahead)
        # Imported here, as it takes longer than services take to answer.
        from quoteweave.attribution.literature.opening import open_literature
        from quoteweave.cli.attribution.found_sources import FoundSources

        found_sources = FoundSources(sentence, k, settings, quiet=as_json, page=page.wanted)
        if collection is not None:
            found_sources.add_documents(opened, collection, where)
        if names:
            papers = literature_options.papers
            opening = open_literature(sources_to_ask, papers=papers, before=limit, not_from=not_from, options=options)
            found_sources.add_literature(opened.enter_context(opening), chat)
        found_sources.show(page, as_json=as_json)
    if found_sources.refused is not None:
        print_message(f"error: the literature could not be asked: {found_sources.refused}")
        raise typer.Exit(1)


def _require_literature_alone(names: Sequence[SourceName], document_options: Mapping[str, object]) -> None:
    """For a command without documents, raise UsageError if no source is named, and for options of documents."""
    if not names:
        raise UsageError("say where to look: -c DIR for your documents, --source NAME for the literature, or both")
    if useless := [name for name, value in document_options.items() if value]:
        raise UsageError(f"{useless[0]} is of your documents, and none are named: add -c DIR, or leave it out")
