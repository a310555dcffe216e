"""`quoteweave search`: the quotes that bear on a question."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.endpoint_options import CallLimitOption, RetriesOption, TimeoutOption, patience_of
from quoteweave.cli.options import (
    CollectionOption,
    DocumentOption,
    JsonOption,
    MetaOption,
    PagesOption,
    QuestionArgument,
    make_filter,
    tell_if_empty,
)
from quoteweave.cli.output import console, place, plain, print_json, snippet
from quoteweave.cli.retrieving import (
    BatchSizeOption,
    DeviceOption,
    ExpandOption,
    ExplainOption,
    Finding,
    FusionOption,
    RerankOption,
    RetrieversOption,
    TermsOption,
    TrustOption,
    make_search,
    read_all_terms,
    tell_trace,
)

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.core.protocols import Reason
    from quoteweave.core.records import Hit

JSON = """--json prints one object: question, hits, trace (clauses, read, notes, candidates, expander,
reranker, seconds; with --explain reasons, by quote_id: part, points, detail); each hit has rank,
score, quote_id, document, page (from 0), page_label, bbox (points from the top left), kind (text or
image), layout, section, text, image (path of the crop, null where none is stored)."""


def search(
    question: QuestionArgument,
    collection: CollectionOption,
    k: Annotated[int, typer.Option("-k", min=1, help="How many quotes.", metavar="N")] = 10,
    doc: DocumentOption = None,
    pages: PagesOption = None,
    meta: MetaOption = None,
    kind: Annotated[str | None, typer.Option(help="Only text or only image quotes.", metavar="text|image")] = None,
    retriever: RetrieversOption = None,
    fusion: FusionOption = None,
    terms: TermsOption = None,
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    explain: ExplainOption = False,
    device: DeviceOption = None,
    batch_size: BatchSizeOption = None,
    trust_remote_code: TrustOption = False,
    timeout_s: TimeoutOption = None,
    call_limit_s: CallLimitOption = None,
    retries: RetriesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the quotes that bear on a question, best first."""
    from quoteweave.collection.collection import Collection
    from quoteweave.core.crossing import wait_for
    from quoteweave.core.errors import UsageError
    from quoteweave.core.records import Query
    from quoteweave.pipeline.views import stored_crops

    if kind not in (None, "text", "image"):
        raise UsageError(f"--kind {kind!r}: write text or image")
    where = make_filter(doc, pages, meta).model_copy(update={"kind": kind})
    patience, own = patience_of(timeout_s, call_limit_s, retries), read_all_terms(terms)
    how = (retriever, fusion, expand, rerank, device, batch_size, trust_remote_code, patience)
    finding = with_chat_named(Finding(*how, explain=explain, terms=own))
    tell_if_empty(question)
    with Collection.open(collection) as opened:
        found = wait_for(make_search(opened, finding, where).find(Query(text=question), k, where=where))
        _, damage = stored_crops(opened, [hit.quote for hit in found.hits])
        trace = found.trace.model_copy(update={"notes": (*found.trace.notes, *damage)})
        tell_trace(trace)
        if as_json:
            hits = [hit_json(hit, opened) for hit in found.hits]
            print_json({"question": question, "hits": hits, "trace": trace.model_dump(mode="json")})
        else:
            _show(found.hits, trace.reasons)


def with_chat_named(finding: Finding) -> Finding:
    """A plain `chat` as the chat model that the environment names, where it names one."""
    from quoteweave.pipeline.settings import ModelSettings

    settings = ModelSettings.from_environment({})
    if settings.model is None:
        return finding
    named = f"chat:{settings.model}@{settings.base_url}" if settings.base_url else f"chat:{settings.model}"
    expand, rerank = (named if how == "chat" else how for how in (finding.expand, finding.rerank))
    return replace(finding, expand=expand, rerank=rerank)


def hit_json(hit: "Hit", collection: "Collection") -> dict[str, object]:
    """A hit as the documented JSON object."""
    quote = hit.quote
    return {
        "rank": hit.rank,
        "score": hit.score,
        "quote_id": quote.id,
        "document": quote.document,
        "page": quote.page,
        "page_label": quote.page_label,
        "bbox": quote.bbox,
        "kind": quote.kind,
        "layout": quote.layout,
        "section": quote.section,
        "text": quote.words(),
        "image": str(collection.images.path(quote.image)) if quote.image else None,
    }


def _show(hits: "Sequence[Hit]", reasons: "Mapping[str, Sequence[Reason]]") -> None:
    if not hits:
        typer.echo("nothing found", err=True)
    out = console()
    for hit in hits:
        line = plain(f"{hit.rank:>2}  ").append_text(plain(place(hit.quote), "bold"))
        line.append(f"  {hit.quote.layout}  {hit.score:.2f}  {hit.quote.id}\n", style="dim")
        line.append_text(plain("    " + snippet(hit.quote)))
        for reason in reasons.get(hit.quote.id, ()):
            line.append_text(plain(f"\n      {reason.points:>6.2f}  {reason.part}", "dim"))
            line.append_text(plain(f": {reason.detail}" if reason.detail else "", "dim"))
        out.print(line)
