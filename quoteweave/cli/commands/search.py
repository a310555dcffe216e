"""`quoteweave search`: finds the quotes that are relevant to a question."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from quoteweave.cli.console import console, place, plain, print_json, print_trace, snippet
from quoteweave.cli.options.collection import (
    CollectionOption,
    DocumentOption,
    JsonOption,
    KindName,
    MetaOption,
    PagesOption,
    QuestionArgument,
    make_filter,
    warn_if_empty,
)
from quoteweave.cli.options.derive import make_settings
from quoteweave.cli.options.models import (
    BatchSizeOption,
    CallLimitOption,
    DeviceOption,
    ExpandOption,
    ExplainOption,
    FusionOption,
    RerankOption,
    RetriesOption,
    RetrieversOption,
    TermsOption,
    TimeoutOption,
    TrustOption,
)
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.protocols import Reason
from quoteweave.core.records import Hit, Query
from quoteweave.pipeline.page_pictures import stored_crops
from quoteweave.pipeline.runs.search import make_search, name_chat_model
from quoteweave.pipeline.search import hit_fields
from quoteweave.pipeline.settings import RetrievalSettings

JSON = """--json prints one object: question, hits, trace (clauses, read, notes, candidates, expander,
reranker, seconds; with --explain reasons, by quote_id: part, points, detail); each hit has rank,
score, quote_id, document, page (from 0), page_label, bbox (points from the top left), kind (text or
image), layout, section, has_pages, text, image (path of the crop, null where none is stored)."""


def search(
    question: QuestionArgument,
    collection: CollectionOption,
    k: Annotated[int, typer.Option("-k", min=1, help="How many quotes.", metavar="N")] = 10,
    doc: DocumentOption = None,
    pages: PagesOption = None,
    meta: MetaOption = None,
    kind: Annotated[KindName | None, typer.Option(help="Only text or only image quotes.")] = None,
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
    where = make_filter(doc, pages, meta).model_copy(update={"kind": None if kind is None else kind.value})
    given = {
        "retriever": retriever,
        "fusion": fusion,
        "terms": terms,
        "expand": expand,
        "rerank": rerank,
        "explain": explain,
        "device": device,
        "batch_size": batch_size,
        "trust_remote_code": trust_remote_code,
        "timeout_s": timeout_s,
        "call_limit_s": call_limit_s,
        "retries": retries,
    }
    settings = name_chat_model(make_settings(RetrievalSettings, given))
    warn_if_empty(question)
    with Collection.open(collection) as opened:
        finder = make_search(opened, settings, where, progress=TerminalProgress(quiet=as_json))
        found = run_sync(finder.find(Query(text=question), k, where=where))
        _, damage = stored_crops(opened, [hit.quote for hit in found.hits])
        trace = found.trace.model_copy(update={"notes": (*found.trace.notes, *damage)})
        print_trace(trace)
        if as_json:
            hits = [hit_json(hit, opened) for hit in found.hits]
            print_json({"question": question, "hits": hits, "trace": trace.model_dump(mode="json")})
        else:
            _show(found.hits, trace.reasons)


def hit_json(hit: Hit, collection: Collection) -> dict[str, object]:
    """A hit as the documented JSON object, with the path of its crop."""
    image = str(collection.images.path(hit.quote.image)) if hit.quote.image else None
    return {**hit_fields(hit), "image": image}


def _show(hits: Sequence[Hit], reasons: Mapping[str, Sequence[Reason]]) -> None:
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
