"""Cache the verdicts of an entailment model as JSON Lines, so that no pair is asked twice."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from quoteweave.core.errors import UsageError
from quoteweave.core.files.jsonl import iter_records, open_for_append
from quoteweave.core.protocols import Entailment
from quoteweave.core.records import Record

AT_ONCE = 256
"""Pairs in one call; verdicts are written after each."""


class CachedEntailmentVerdict(Record):
    """The verdict of a model on one pair."""

    pair: str = Field(description="SHA-256 of premise and claim")
    entails: bool
    model: str


class CachedEntailment:
    """Meets `core.protocols.Entailment` by another model, which is asked only of what `path` does not hold.

    Raises DatasetError for a file of something else, UsageError for one by another model, StorageError where it cannot
    be written.
    """

    def __init__(self, model: Entailment, path: Path) -> None:
        self._model, self._path = model, path
        self._known: dict[str, bool] = {}
        for _, verdict in iter_records(path, CachedEntailmentVerdict, drop_cut=True) if path.exists() else ():
            if verdict.model != model.name:
                raise UsageError(
                    f"{path} holds what {verdict.model} said, not {model.name}; name another file with --kept"
                )
            self._known[verdict.pair] = verdict.entails

    @property
    def name(self) -> str:
        """The other model's."""
        return self._model.name

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """The verdicts of the other model, stored as soon as they are known. Raises what the other model raises."""
        keys = [_key(pair) for pair in pairs]
        new = list({key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._known}.items())
        # Of like length together, as models like it.
        new.sort(key=lambda item: len(item[1][0]) + len(item[1][1]))
        with open_for_append(self._path) as write:
            for start in range(0, len(new), AT_ONCE):
                part = new[start : start + AT_ONCE]
                for (key, _), entails in zip(part, self._model.entails([pair for _, pair in part]), strict=True):
                    write(CachedEntailmentVerdict(pair=key, entails=entails, model=self._model.name))
                    self._known[key] = entails
        return [self._known[key] for key in keys]


def _key(pair: tuple[str, str]) -> str:
    return hashlib.sha256(repr(pair).encode("utf-8", "surrogatepass")).hexdigest()
