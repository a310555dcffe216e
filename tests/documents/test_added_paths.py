"""Paths for `add` may be strings, as people write them; a path alone is told, as a string is a list of letters too."""

import os
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


def test_paths_that_are_too_long_for_the_system_are_told_and_the_others_added(tmp_path: Path) -> None:
    longest = os.pathconf(tmp_path, "PC_PATH_MAX") - 1
    folder = tmp_path / "notes"
    while (left := longest - 5 - len(str(folder))) > 0:
        folder /= "n" * min(left - 1, 250) if left != 252 else "n" * 200
    folder.mkdir(parents=True)
    within = os.open(folder, os.O_RDONLY)
    os.close(os.open("README", os.O_CREAT, dir_fd=within))
    os.mkdir("folder", dir_fd=within)
    os.close(within)
    (tmp_path / "notes" / "a.txt").write_text("Grain came by ship.")
    with Collection.create(tmp_path / "collection") as collection:
        report = add(collection, [tmp_path / "notes"])
    assert report.added == ("a.txt",)
    assert {(Path(issue.name).name, "too long" in issue.reason) for issue in report.failed} == {
        ("README", True),
        ("folder", True),
    }
