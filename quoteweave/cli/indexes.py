"""Describes an index of a collection as a JSON object and in words."""

from collections.abc import Mapping

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexState, Manifest
from quoteweave.core.messages import pluralize
from quoteweave.index.encoder_index import counts_by_reason


def index_json(collection: Collection, state: IndexState, manifest: Manifest | None) -> dict[str, object]:
    """Return an index as the documented JSON object."""
    return {
        "name": state.name if manifest is None else manifest.name,
        "fingerprint": state.fingerprint,
        "up_to_date": manifest is not None and state.revision == collection.revision(),
        "spec": manifest and manifest.spec,
        "kind": manifest and manifest.kind,
        "items": manifest and manifest.count,
        "skipped": manifest and manifest.skipped,
        "left_out": manifest and counts_by_reason(manifest),
    }


def index_line(index: Mapping[str, object]) -> str:
    """Return the description of an index in words."""
    text = f"index {index['spec'] or index['name']}: "
    if index["kind"] is None:
        return f"{text}damaged or gone; quoteweave check --repair rebuilds it from its vectors"
    reasons = index["left_out"] if isinstance(index["left_out"], dict) else {}
    left_out = "".join(f", {count} left out {reason}" for reason, count in reasons.items())
    text += f"{index['kind']}, {pluralize(int(str(index['items'])), 'item')}{left_out}, "
    return text + ("up to date" if index["up_to_date"] else "out of date; quoteweave index build brings it up to date")
