"""Indexes that were built are found by the short names of their retrievers: `minilm` means that of `minilm=PATH`."""

from collections.abc import Callable, Sequence

from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.generations import manifest_of
from quoteweave.core.errors import UsageError
from quoteweave.retrievers.spec import Spec, parse_spec


def as_built(text: str, collection: Collection, tell: Callable[[str], None] = lambda _: None) -> str:
    """The spec of the index that `text`, the spec of a single retriever, means; `text` itself where none fits.

    An index fits that has all that `text` says, and what `text` leaves open; of these, those that differ in their
    checkpoint alone come first. `tell` hears of another spec than `text`. Raises UsageError, which lists them, where
    several fit.
    """
    spec = parse_spec(text)
    # What names its checkpoint or its endpoint's address is no short name.
    whole = spec.checkpoint is not None or spec.url is not None
    manifests = [] if whole else [manifest_of(state) for state in collection.indexes()]
    built = {manifest.spec for manifest in manifests if manifest is not None}
    if not built or str(spec) in built:
        return text
    fitting = [found for found in map(parse_spec, sorted(built)) if _fits(found, spec)]
    alike = [found for found in fitting if found.model_copy(update={"checkpoint": None}) == spec]
    chosen = alike or fitting
    if not chosen:
        return text
    if len(chosen) > 1:
        raise UsageError(f"{text!r} may mean one of several indexes; name one of them: {_listed(chosen)}")
    tell(f"{text}: the index {chosen[0]} is used, which was built under that name")
    return str(chosen[0])


def _fits(built: Spec, asked: Spec) -> bool:
    # Where text is sent is never taken from a collection, which somebody else may have made.
    if built.url != asked.url or built.endpoint != asked.endpoint:
        return False
    said = asked.model_dump(exclude_none=True, exclude_defaults=True)
    return all(getattr(built, field) == value for field, value in said.items())


def _listed(specs: Sequence[Spec]) -> str:
    return ", ".join(map(str, specs))
