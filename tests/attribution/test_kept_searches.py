"""Searches of an unfinished draft: what is kept of them is not searched for again, also after its file was damaged."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from quoteweave.attribution.attribute import attribution_of
from quoteweave.attribution.drafts.kept_searches import keep_searches
from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.records import Attribution
from quoteweave.core.errors import UsageError
from quoteweave.pipeline.search import Trace

CLAIM = Excerpt(mark=None, start=0, claim="Blur hurts networks.", text="Blur hurts networks.")


class FindsNothing:
    """Stands for the literature, and counts what it is asked for."""

    def __init__(self) -> None:
        self.searches = 0

    async def attribute_excerpt(self, excerpt: Excerpt) -> Attribution:
        self.searches += 1
        return attribution_of(excerpt, (), Trace(clauses=()))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def search(literature: FindsNothing) -> bool:
    """Search for the claim; return whether what was found before was lost."""
    with keep_searches(cast(LiteratureAttributor, literature), "draft.md", {}) as kept:
        asyncio.run(kept.attribute_excerpt(CLAIM))
        return kept.has_lost


def test_what_another_command_is_writing_is_neither_read_nor_removed(tmp_path: Path) -> None:
    literature = cast(LiteratureAttributor, FindsNothing())
    with keep_searches(literature, "draft.md", {}):
        (file,) = (path for path in tmp_path.rglob("*.jsonl"))
        file.write_bytes(b"of a later version\n")
        with pytest.raises(UsageError, match="written by another command"), keep_searches(literature, "draft.md", {}):
            pass
        assert file.read_bytes() == b"of a later version\n"


def test_a_damaged_file_is_replaced_so_that_what_is_found_next_is_kept(tmp_path: Path) -> None:
    literature = FindsNothing()
    assert not search(literature)
    assert not search(literature)
    assert literature.searches == 1
    (file,) = tmp_path.rglob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b"Blur", b"Blot", 1))
    assert search(literature), "it is told"
    assert literature.searches == 2
    assert not search(literature)
    assert literature.searches == 2
