"""`quoteweave search`: finds the quotes that are relevant to a question."""

from typing import Annotated

import typer

from quoteweave.cli.console import print_json, print_trace
from quoteweave.cli.hits import print_hits, shown_hit
from quoteweave.cli.options.collection import (
    DocumentOption,
    JsonOption,
    MetaOption,
    PagesOption,
    QuestionArgument,
    make_filter,
)
from quoteweave.cli.options.server import FolderOrNameOption, ServerOption, folder, name_on_server, refuse_others
from quoteweave.cli.options.settings import RANKING, RESOURCES, OptionValues, make_settings, takes_options
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Hit, Kind, Query
from quoteweave.interchange.quotes import hit_fields
from quoteweave.pipeline.composition.make_search import make_search, name_chat_model
from quoteweave.pipeline.pictures_for_people import stored_crops
from quoteweave.pipeline.settings import RetrievalSettings

JSON = """--json prints one object: question, hits, trace (clauses, interpretation, notes, candidates,
expander, reranker, seconds, and in a server's conversations standalone_question and rewritten_by;
with --explain reasons, by quote_id: part, points, detail); each hit has rank,
score, quote_id, document, page (from 0), page_label, bbox (points from the top left), kind (text or
image), layout, section, has_pages, text, image (path of the crop, null where none is stored); with
--server also regions, url and image_url, as citations of ask have them, and image is the image_url."""

CHOSEN = ("retriever", "fusion", "expand", "rerank", "explain")
"""Options that are sent to a server as settings of the request."""
ON_SERVER = frozenset(("question", "collection", "server", "k", "doc", "pages", "meta", "kind", "as_json", *CHOSEN))
"""Parameters that can be used with --server."""


@takes_options(*RANKING, "explain", *RESOURCES)
def search(
    ctx: typer.Context,
    question: QuestionArgument,
    option_values: OptionValues,
    collection: FolderOrNameOption = None,
    server: ServerOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many quotes.", metavar="N")] = 10,
    doc: DocumentOption = None,
    pages: PagesOption = None,
    meta: MetaOption = None,
    kind: Annotated[Kind | None, typer.Option(help="Only text or only image quotes.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the quotes that bear on a question, best first.

    With --server, a running server searches, which has indexes and models in
    memory already. Its settings say how it may be searched.
    """
    where = make_filter(doc, pages, meta).model_copy(update={"kind": kind})
    if server is not None:
        from quoteweave.cli.remote import remote_collection, search_server

        refuse_others(ctx, ON_SERVER)
        options = {key: value for key, value in option_values.items() if key in CHOSEN}
        search_server(
            remote_collection(server, name_on_server(ctx, collection), where, options), question, k, as_json=as_json
        )
        return
    settings = name_chat_model(make_settings(RetrievalSettings, option_values))
    with Collection.open(folder(collection)) as opened:
        finder = make_search(opened, settings, progress=TerminalProgress(quiet=as_json))
        result = run_sync(finder.find(Query(text=question), k, where=where))
        _, damage = stored_crops(opened, [hit.quote for hit in result.hits])
        trace = result.trace.model_copy(update={"notes": (*result.trace.notes, *damage)})
        print_trace(trace)
        if as_json:
            hits = [hit_json(hit, opened) for hit in result.hits]
            print_json({"question": question, "hits": hits, "trace": trace.model_dump(mode="json")})
        else:
            print_hits([shown_hit(hit) for hit in result.hits], trace.reasons, where)


def hit_json(hit: Hit, collection: Collection) -> dict[str, object]:
    """Return a hit as the documented JSON object, with the path of its crop."""
    image = str(collection.images.path(hit.quote.image)) if hit.quote.image else None
    return {**hit_fields(hit), "image": image}
