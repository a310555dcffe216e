"""Match gold references with quotes: by id in the dataset's own context, by layout element in a retrieved one."""

from collections.abc import Mapping
from dataclasses import dataclass

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Kind, Quote
from quoteweave.evaluation.text.source_marks import item_name

Item = str | tuple[str, int]
"""The id of a quote, or the document and layout id of a layout element."""

KINDS: tuple[Kind, Kind] = ("text", "image")
_PLACE = lazy_regex(r"(text|image)([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold of one question, in terms of the quotes that the generator was given."""

    kinds: Mapping[Item, Kind | None]
    """Gold items with their kinds; None if the dataset does not give the kind."""
    context: Context | None
    """The quotes to which the marks of the response refer by number; None if only their numbers are known."""
    by_layout: bool
    """Whether items are layout elements."""

    def item(self, kind: Kind, number: int) -> Item | None:
        """The item to which a mark refers; None if the context has no such quote."""
        if self.context is None:
            return f"{kind}{number}"
        quote = self.context.quote(kind, number)
        return None if quote is None else self._of(quote)

    def places(self) -> dict[str, Item]:
        """Place in the context, such as `text3`, to the gold item that is there."""
        if self.context is None:
            return {str(item): item for item in self.kinds if _PLACE.fullmatch(str(item))}
        hits = {"text": self.context.texts, "image": self.context.images}
        placed = {f"{kind}{n}": self._of(hit.quote) for kind in KINDS for n, hit in enumerate(hits[kind], start=1)}
        return {place: item for place, item in placed.items() if item in self.kinds}

    def _of(self, quote: Quote) -> Item:
        return item_of(quote) if self.by_layout else quote.id


def gold_of(prediction: Prediction, example: Example) -> Gold | None:
    """The gold quotes; None if it is not known which quotes of the context are gold.

    Quotes of the example's own context are gold by id. Retrieved quotes are gold by (document, layout id) in
    collections whose quotes have layout ids (those imported from MMDocIR's layouts), and by id if a dataset's gold
    names quotes of the collection; otherwise gold is not known. Kinds are taken only from the dataset: retrieved quotes
    would only tell the kinds of gold that was found, and recall by kind would count only that.
    """
    ids, context = own_gold(example), prediction.context
    if context is None or prediction.scope == "context":
        return None if ids is None else Gold(ids, context or example.context, by_layout=False)
    if example.reference.layouts:
        retrieved = [hit.quote for hit in context.hits]
        if retrieved and all(quote.layout_id is None for quote in retrieved):
            return None
        return Gold(_layouts(example), context, by_layout=True)
    if ids is None or example.context is not None or any(_PLACE.fullmatch(str(item)) for item in ids):
        return None
    return Gold(ids, context, by_layout=False)


def own_gold(example: Example) -> dict[Item, Kind | None] | None:
    """Gold ids of the example with their kinds, from its own context or else from names such as `image7`.

    None if the dataset names no gold quotes at all; empty if it says that none is gold.
    """
    if example.reference.relevant is None:
        return None
    kinds = {} if example.context is None else {hit.quote.id: hit.quote.kind for hit in example.context.hits}
    ids = [item for item, grade in example.reference.relevant.items() if grade > 0]
    return {item: kinds.get(item, _kind_by_name(item)) for item in ids}


def _kind_by_name(item: str) -> Kind | None:
    named = _PLACE.fullmatch(item)
    if named is None:
        return None
    return "text" if named[1] == "text" else "image"


def _layouts(example: Example) -> dict[Item, Kind | None]:
    """Gold layout elements with their kinds, as far as the dataset gives them."""
    return {layout_element(layout.document, layout.layout_id): layout.kind for layout in example.reference.layouts}


def item_of(quote: Quote) -> Item:
    """The layout element of a quote, or its id if it has none."""
    return quote.id if quote.layout_id is None else layout_element(quote.document, quote.layout_id)


def layout_element(document: str, layout_id: int) -> tuple[str, int]:
    """The key of a layout element, the same for documents named with `.pdf` and without."""
    return document.removesuffix(".pdf"), layout_id


_NAMED = lazy_regex(r"[0-9]{1,9}|(?:Figure|Table) [0-9.]+")


def gold_items(example: Example) -> frozenset[str] | None:
    """Names of the gold items; None if the dataset does not name any in this way."""
    relevant = example.reference.relevant
    if relevant is None:
        return None
    gold = frozenset(item_name(item) for item, grade in relevant.items() if grade > 0)
    return gold if gold and all(_NAMED.fullmatch(item) for item in gold) else None
