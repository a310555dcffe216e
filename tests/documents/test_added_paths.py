"""Paths for `add` may be strings, as people write them; a path alone is told, as a string is a list of letters too."""

from pathlib import Path

import pytest

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.documents.ingest import add


def test_paths_may_be_strings(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("Grain came by ship.")
    with Collection.create(tmp_path / "collection") as collection:
        assert add(collection, [str(tmp_path / "notes")]).added == ("a.txt",)
        assert add(collection, [tmp_path / "notes"]).unchanged == ("a.txt",)
        (tmp_path / "notes" / "a.txt").unlink()
        assert add(collection, [str(tmp_path / "notes")]).removed == ("a.txt",)


def test_a_path_alone_is_told_what_to_write(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "collection") as collection, pytest.raises(UsageError, match="a list of paths"):
        add(collection, str(tmp_path))
