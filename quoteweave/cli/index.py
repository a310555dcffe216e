"""`quoteweave index`: vectors for a collection, and the indexes made of them."""

from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.endpoint_options import CallLimitOption, RetriesOption, TimeoutOption, patience_of
from quoteweave.cli.indexing import EXACT, Building, build_index, recall_of
from quoteweave.cli.options import CollectionOption, JsonOption
from quoteweave.cli.output import print_json
from quoteweave.cli.retrieving import BatchSizeOption, DeviceOption, Finding, TrustOption, tell
from quoteweave.core.messages import MOST_NAMED, counted
from quoteweave.core.urls import without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quoteweave.cli.indexing import Measured
    from quoteweave.collection.collection import Collection
    from quoteweave.index.vector_store import IndexReport

JSON = """--json prints a list with one object an index: retriever, items (quotes or pages in it),
encoded (now), skipped (left out), left_out (list of {quote, document, page_label,
reason}: all that are skipped), unreadable (list of {quote, reason}: of these, pictures
that could not be had and texts that were refused now); null for one without vectors. With --recall also recall: recall
(share of exact search's first ten that it finds, null where there are too few items to
tell), items (measured on), and said, the same in words."""
TOO_FEW = "there are too few items to measure its recall: most or all are compared exactly"

DtypeOption = Annotated[
    str | None,
    typer.Option(help="Compute in float32, float16 or bfloat16; the same as NAME@DTYPE.", metavar="DTYPE"),
]


def index(
    collection: CollectionOption,
    retriever: Annotated[
        str | None,
        typer.Argument(help="A name that quoteweave models lists; all indexes there are, if left out.", metavar="NAME"),
    ] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Remove the index, and its vectors.")] = False,
    recall: Annotated[
        bool, typer.Option("--recall", help="Measure what the index finds of what an exact one does.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Drop one that was made with other settings.")] = False,
    device: DeviceOption = None,
    batch_size: BatchSizeOption = None,
    dtype: DtypeOption = None,
    trust_remote_code: TrustOption = False,
    timeout_s: TimeoutOption = None,
    call_limit_s: CallLimitOption = None,
    retries: RetriesOption = None,
    wait: Annotated[bool, typer.Option(help="Wait while another process writes to the collection.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Encode a collection's quotes with a model, for searching with it.

    Only what is missing is encoded; stopped at any moment, the same command
    goes on where it ended. The kind of index stands after an @: flat (the
    default), fp16, hnsw, ivfpq and milvus for models of one vector a quote;
    exact (the default), two-stage, pool2, pool3 and binary for those of many.
    Other suffixes: @page encodes whole pages, @ocr_text and @vlm_text read
    those of image quotes. NAME=/path takes another checkpoint; A+B builds both.
    """
    from quoteweave.collection.collection import Collection

    patience = patience_of(timeout_s, call_limit_s, retries)
    finding = Finding(device=device, batch_size=batch_size, trust_remote_code=trust_remote_code, patience=patience)
    with Collection.open(collection) as opened:
        specs = _wanted(opened, retriever, dtype)
        if drop:
            _drop(opened, specs)
            return
        if not specs:
            tell("there is no index to bring up to date; name a retriever to build one")
        how = Building(finding, wait=wait, replace=replace, quiet=as_json)
        reports = {spec: build_index(opened, spec, how) for spec in specs}
        found = {spec: recall_of(opened, spec, finding) for spec in specs} if recall else {}
    if as_json:
        print_json([{**_json(spec, report), "recall": _recall_json(spec, found)} for spec, report in reports.items()])
    else:
        for spec, report in reports.items():
            _show(spec, report, _said(found[spec]) if spec in found else None)


def _wanted(collection: "Collection", retriever: str | None, dtype: str | None) -> list[str]:
    """The single retrievers that are meant: those of the spec, or all that the collection has an index of."""
    from quoteweave.collection.stores.generations import manifest_of
    from quoteweave.core.errors import UsageError
    from quoteweave.retrievers.registry import as_built, members
    from quoteweave.retrievers.spec import parse_spec

    if retriever is None:
        manifests = [manifest_of(state) for state in collection.indexes()]
        return [manifest.spec for manifest in manifests if manifest is not None]
    specs = [parse_spec(text) for text in members(retriever)]
    if dtype is not None and any(spec.dtype not in (None, dtype) for spec in specs):
        raise UsageError(f"--dtype {dtype} and {retriever!r} say different things; give one of them")
    texts = [str(spec) if dtype is None else str(parse_spec(f"{spec}@{dtype}")) for spec in specs]
    return [as_built(text, collection, tell) for text in texts]


def _drop(collection: "Collection", specs: list[str]) -> None:
    from quoteweave.collection.stores.generations import manifest_of
    from quoteweave.core.errors import UsageError
    from quoteweave.index.sync import drop_index, finish_removals
    from quoteweave.retrievers.spec import parse_spec

    if not specs:
        raise UsageError("there is no index to drop")
    states = [(state, manifest_of(state)) for state in collection.indexes()]
    shown = [parse_spec(spec).shown for spec in specs]
    found = [state for state, manifest in states if manifest is not None and manifest.spec in shown]
    if not found:
        known = ", ".join(manifest.spec for _, manifest in states if manifest is not None) or "none"
        raise UsageError(f"there is no index of {' or '.join(shown)}; there are: {known}")
    with collection.writer() as writer:
        for state in found:
            drop_index(collection, writer, state)
        notes = finish_removals(collection, writer)
    for note in notes:
        tell(f"note: {note}")
    tell(f"dropped {counted(len(found), 'index', 'indexes')}")


def _json(spec: str, report: "IndexReport | None") -> dict[str, object]:
    from quoteweave.index.vector_store import IndexReport

    fields = report.model_dump(mode="json") if report else dict.fromkeys(IndexReport.model_fields)
    return {"retriever": without_credentials(spec), **fields}


def _recall_json(spec: str, found: "Mapping[str, Measured]") -> dict[str, object] | None:
    if spec not in found:
        return None
    measured = found[spec]
    numbers = {name: getattr(measured, name, None) for name in ("recall", "items")}
    return {**numbers, "recall": 1.0 if measured == EXACT else numbers["recall"], "said": _said(measured)}


def _said(measured: "Measured") -> str:
    return TOO_FEW if measured is None else str(measured)


def _show(spec: str, report: "IndexReport | None", recall: str | None) -> None:
    spec = without_credentials(spec)
    if report is None:
        typer.echo(f"{spec}: up to date")
        return
    for one in report.left_out[:MOST_NAMED]:
        quote = "" if one.quote in one.reason else f", quote {one.quote}"
        tell(f"left out: {one.document}, page {one.page_label}{quote}: {one.reason}")
    if len(report.left_out) > MOST_NAMED:
        tell(f"left out: {len(report.left_out) - MOST_NAMED:,} more; --json lists all")
    skipped = f", {report.skipped} left out" if report.skipped else ""
    typer.echo(f"{spec}: {report.items} in the index, {report.encoded} encoded now{skipped}")
    if recall is not None:
        typer.echo(f"  {recall}")
