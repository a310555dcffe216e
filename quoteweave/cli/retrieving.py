"""How `search`, `ask` and `eval` find quotes: options that they share, and the steps made from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.core.records import Filter
    from quoteweave.endpoints.connection import PatienceOptions
    from quoteweave.models.checkpoints import Hardware
    from quoteweave.pipeline.search import Search, Trace
    from quoteweave.retrievers.registry import Means
    from quoteweave.retrievers.step_registry import Chats
    from quoteweave.retrievers.terms import Terms

DEFAULT = "lexical"
MOST_SHOWN = 80  # characters of what was searched for
_PANEL = "Retrieval"

RetrieversOption = Annotated[
    list[str] | None,
    typer.Option(
        "--retriever",
        "-r",
        help="How quotes are found: lexical (the default), bm25, tfidf, a name that quoteweave models lists, or A+B of "
        "text and pictures. Given again, rankings are fused.",
        metavar="NAME",
        rich_help_panel=_PANEL,
    ),
]
FusionOption = Annotated[
    str | None,
    typer.Option(
        help="How several are fused: pages (each adds to the evidence for a page; the default with lexical), rrf (by "
        "ranks; the default without) or scores; with weights as in scores:0.7,0.3.",
        metavar="RULE",
        rich_help_panel=_PANEL,
    ),
]
TermsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--terms",
        help="Terms of your field, by which lexical searches too: a TOML file, whose form docs/retrieval.md explains. "
        "Given again, the terms of all files count.",
        metavar="FILE",
        rich_help_panel=_PANEL,
    ),
]
ExpandOption = Annotated[
    str | None,
    typer.Option(
        help="Make several clauses of the question: by rules (rules), by what a first search finds (rm3), or by a "
        "chat model (chat, or chat:MODEL@URL).",
        metavar="HOW",
        rich_help_panel=_PANEL,
    ),
]
RerankOption = Annotated[
    str | None,
    typer.Option(
        help="Put what was found in a better order: a name that quoteweave models lists, cross-encoder=PATH, "
        "endpoint:MODEL@URL, or a chat model (chat, or chat:MODEL@URL).",
        metavar="NAME",
        rich_help_panel=_PANEL,
    ),
]
ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Say why each quote ranks where it does: words, references, terms, structure.",
        rich_help_panel=_PANEL,
    ),
]
DeviceOption = Annotated[
    str | None,
    typer.Option(help="Where models run: cuda, mps, cpu; the best there is.", metavar="NAME", rich_help_panel=_PANEL),
]
BatchSizeOption = Annotated[
    int | None,
    typer.Option(min=1, help="Items that a model takes at once.", metavar="N", rich_help_panel=_PANEL),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code",
        help="Run the code that a checkpoint brings along, for models that cannot be had otherwise.",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class Finding:
    """How quotes are to be found, as the options say."""

    retrievers: Sequence[str] | None = None
    fusion: str | None = None
    expand: str | None = None
    rerank: str | None = None
    device: str | None = None
    batch_size: int | None = None
    trust_remote_code: bool = False
    patience: "PatienceOptions | None" = None
    """With endpoints."""
    explain: bool = False
    """Whether to say why hits rank where they do."""
    terms: "tuple[Terms, ...]" = ()
    """Those of which questions may speak, beside the shipped ones."""


def means_for(collection: "Collection", finding: Finding) -> "Means":
    """What the retrievers of a collection are made with; messages of what leaves the machine go to stderr."""
    from quoteweave.models.checkpoints import when_downloading
    from quoteweave.pipeline.pictures import CollectionPictures
    from quoteweave.retrievers.registry import Means

    when_downloading(tell)
    return Means(hardware_for(finding), CollectionPictures(collection), tell, finding.patience or {}, finding.terms)


def read_all_terms(paths: Sequence[Path] | None) -> "tuple[Terms, ...]":
    """The terms of each file. Raises UsageError for one that is not as it should be."""
    if not paths:  # what reads them is not loaded for nothing
        return ()
    from quoteweave.retrievers.terms import read_terms

    return tuple(read_terms(path) for path in paths)


def recorded(terms: "Sequence[Terms]") -> dict[str, str]:
    """What a run is known by that searches by these terms: their fingerprint, wherever their files are."""
    return {"terms": ", ".join(each.fingerprint for each in terms)} if terms else {}


def hardware_for(finding: Finding) -> "Hardware":
    """What models run on."""
    from quoteweave.models.checkpoints import Hardware

    return Hardware(device=finding.device, batch_size=finding.batch_size, trust_remote_code=finding.trust_remote_code)


def tell(line: str) -> None:
    """A line for people, on stderr."""
    from quoteweave.cli.output import printable
    from quoteweave.core.urls import without_credentials

    typer.echo(printable(without_credentials(line)), err=True)


def make_search(
    collection: "Collection", finding: Finding, where: "Filter | None" = None, chats: "Chats | None" = None
) -> "Search":
    """The search that the options name. Raises UsageError."""
    from quoteweave.pipeline.search import Search
    from quoteweave.retrievers.registry import make_fused
    from quoteweave.retrievers.step_registry import NO_CHATS, make_expander, make_reranker

    means, names = means_for(collection, finding), finding.retrievers or [DEFAULT]
    retriever, expander, reranker = make_fused(names, finding.fusion, collection, means), None, None
    if finding.expand:
        expander = make_expander(finding.expand, names, collection, where=where, means=means, chats=chats or NO_CHATS)
    if finding.rerank:
        reranker = make_reranker(finding.rerank, means=means, chats=chats or NO_CHATS)
    return Search(retriever, expander=expander, reranker=reranker, explain=finding.explain)


def tell_trace(trace: "Trace") -> None:
    """Say on stderr what was searched for, where that is not the question alone, and what went wrong."""
    if trace.expander is not None:
        for clause in trace.clauses:
            first, _, rest = clause.partition("\n")  # the clause of rm3 has a line for each word
            tell(f"searched for: {first[:MOST_SHOWN]}{' …' if rest or len(first) > MOST_SHOWN else ''}")
    for line in trace.read:
        tell(f"question read: {line}")
    for note in trace.notes:
        tell(f"note: {note}")
