"""Which quotes an index of vectors lacks though their documents are in it, and why."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.index.collection import Collection
from quoteweave.index.records import IndexPlan, Manifest
from quoteweave.index.shards import StoredVectors
from quoteweave.index.views import item_rows


class LeftOut(Record):
    """A quote, or the first quote of a page, that an index lacks."""

    quote: str = Field(description="its id")
    document: str
    page_label: str
    reason: str


def iter_left_out(
    collection: Collection, plan: IndexPlan, stored: Mapping[str, StoredVectors], refused: Mapping[str, str]
) -> Iterator[LeftOut]:
    """Every one, by document and in its order. `refused` says why of those that have something to see, by id."""
    for name, rows, pages in collection.iter_retrievable_rows():
        vectors = stored.get(name)
        if vectors is None or vectors.lengths.all():
            continue
        lacking = item_rows(rows, pages, plan.unit)[vectors.lengths == 0]
        for quote in collection.quotes_at(lacking.tolist()):
            if quote is not None:
                reason = refused.get(quote.id) or f"{'the page' if plan.unit == 'page' else 'it'} has {_lack(plan)}"
                yield LeftOut(quote=quote.id, document=name, page_label=quote.page_label, reason=reason)


def counts_by_reason(manifest: Manifest) -> dict[str, int]:
    """How many items were left out for each kind of reason; kinds without any are left out too."""
    picture = manifest.view == "image"
    refused = "with a picture that cannot be had" if picture else "refused by the endpoint"
    counts = {f"with {_lack(manifest)}": manifest.skipped - len(manifest.refused), refused: len(manifest.refused)}
    return {reason: count for reason, count in counts.items() if count > 0}


def _lack(plan: IndexPlan) -> str:
    """What items lack that cannot be encoded at all."""
    lacks = {"image": "no picture", "ocr_text": "no words, nor any read by OCR", "vlm_text": "no words or description"}
    return lacks.get(plan.view, "no words")
