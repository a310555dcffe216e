"""`quoteweave search`: the quotes that bear on a question."""

from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.options import (
    CollectionOption,
    DocumentOption,
    JsonOption,
    MetaOption,
    PagesOption,
    QuestionArgument,
    RetrieverOption,
    make_filter,
)
from quoteweave.cli.output import console, place, plain, print_json, snippet

if TYPE_CHECKING:
    from quoteweave.core.records import Hit
    from quoteweave.index.collection import Collection

JSON = """--json prints one object: question, hits; each hit has rank, score, quote_id, document,
page (from 0), page_label, bbox (points from the top left), kind (text or image), layout,
text, image (path of the crop, null where none is stored)."""


def search(
    question: QuestionArgument,
    collection: CollectionOption,
    k: Annotated[int, typer.Option("-k", min=1, help="How many quotes.", metavar="N")] = 10,
    doc: DocumentOption = None,
    pages: PagesOption = None,
    meta: MetaOption = None,
    kind: Annotated[str | None, typer.Option(help="Only text or only image quotes.", metavar="text|image")] = None,
    retriever: RetrieverOption = "lexical",
    as_json: JsonOption = False,
) -> None:
    """Find the quotes that bear on a question, best first."""
    from quoteweave.core.errors import UsageError
    from quoteweave.core.records import Query
    from quoteweave.index.collection import Collection
    from quoteweave.retrievers.registry import make_retriever

    if kind not in (None, "text", "image"):
        raise UsageError(f"--kind {kind!r}: write text or image")
    where = make_filter(doc, pages, meta).model_copy(update={"kind": kind})
    with Collection.open(collection) as opened:
        hits = make_retriever(retriever, opened).search([Query(text=question)], k, where=where)[0]
        if as_json:
            print_json({"question": question, "hits": [hit_json(hit, opened) for hit in hits]})
        else:
            _show(hits)


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
        "text": quote.words(),
        "image": str(collection.images.path(quote.image)) if quote.image else None,
    }


def _show(hits: "list[Hit]") -> None:
    if not hits:
        typer.echo("nothing found", err=True)
    out = console()
    for hit in hits:
        line = plain(f"{hit.rank:>2}  ").append_text(plain(place(hit.quote), "bold"))
        line.append(f"  {hit.quote.layout}  {hit.score:.2f}  {hit.quote.id}\n", style="dim")
        line.append_text(plain("    " + snippet(hit.quote)))
        out.print(line)
