"""Contexts, examples and predictions for tests of quote selection, small enough to count by hand."""

from collections.abc import Mapping, Sequence

from builders import make_context, make_example, make_quote

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, GoldLayout, Prediction, Reference
from quoteweave.core.records import Kind, Quote


def quote(kind: Kind, name: str, *, document: str = "a.pdf", layout_id: int | None = None) -> Quote:
    return make_quote(id=name, document=document, kind=kind, layout_id=layout_id)


def fixed(texts: int = 3, images: int = 2) -> Context:
    """A dataset's own context: text1…, with layout ids 1…, and image1…, with layout ids 101…."""
    named = [quote("text", f"text{n}", layout_id=n) for n in range(1, texts + 1)]
    return make_context(*named, *(quote("image", f"image{n}", layout_id=100 + n) for n in range(1, images + 1)))


def example(
    name: str = "q",
    gold: Sequence[str] | Mapping[str, int] | None = (),
    *,
    context: Context | None = None,
    layouts: Sequence[tuple[str, int]] = (),
    document: str | None = None,
) -> Example:
    relevant = gold if gold is None or isinstance(gold, Mapping) else dict.fromkeys(gold, 1)
    given_hits = () if context is None else context.hits
    kinds = {(hit.quote.document, hit.quote.layout_id): hit.quote.kind for hit in given_hits}
    places = tuple(GoldLayout(document=name, layout_id=at, kind=kinds.get((name, at))) for name, at in layouts)
    reference = Reference(relevant=relevant, layouts=places)
    return make_example(name, reference, context=context, document=document)


def answered(response: str | None, name: str = "q", *, retrieved: Context | None = None) -> Prediction:
    scope = "context" if retrieved is None else "collection"
    return Prediction(example=name, response=response, context=retrieved, scope=scope)
