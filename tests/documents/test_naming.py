"""What documents are called: short where that is enough, the same whatever came before, in whatever order."""

import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_files import write

from quoteweave.collection.records import UPLOADED, Origin
from quoteweave.documents.discovery import FoundFile, find_files
from quoteweave.documents.document_names import has_extended_name, name_files

FOLDERS = ("a", "b", "a/docs", "b/docs", "c/docs/deep", "c")
FILES = ("README.md", "docs/README.md", "guide.md", "deep/README.md", "b/README.md")


def named(
    paths: Sequence[Path], origins: dict[str, Origin] | None = None, prefix: str | None = None
) -> list[FoundFile]:
    return name_files(find_files(paths), origins or {}, content_of=str, prefix=prefix)


def origins_of(files: Sequence[FoundFile]) -> dict[str, Origin]:
    return {file.name: Origin(root=file.root, path=file.below, content=str(file.path), parser="p") for file in files}


def names(paths: Sequence[Path], origins: dict[str, Origin] | None = None, prefix: str | None = None) -> list[str]:
    return [file.name for file in named(paths, origins, prefix)]


def test_equal_names_have_their_folder_in_front_and_no_others(tmp_path: Path) -> None:
    write(tmp_path, {"a/README.md": "", "b/README.md": "", "b/guide.md": ""})
    folders = [tmp_path / "a", tmp_path / "b"]
    assert names(folders) == names(folders[::-1]) == ["a/README.md", "b/README.md", "guide.md"]
    assert [file.below for file in named(folders)] == ["README.md", "README.md", None]
    assert [has_extended_name(file, None) for file in named(folders)] == [True, True, False]


def test_folders_of_one_name_have_more_of_their_path_in_front(tmp_path: Path) -> None:
    write(tmp_path, {f"{folder}/docs/README.md": "" for folder in ("a", "b", "c/a")})
    folders = [tmp_path / folder / "docs" for folder in ("a", "b", "c/a")]
    assert names(folders[:2]) == ["a/docs/README.md", "b/docs/README.md"]
    assert names(folders) == sorted([f"{tmp_path.name}/a/docs/README.md", "b/docs/README.md", "c/a/docs/README.md"])


def test_what_is_there_keeps_its_name_and_what_comes_later_is_told_from_it(tmp_path: Path) -> None:
    write(tmp_path, {f"{folder}/docs/README.md": "" for folder in "abc"})
    origins: dict[str, Origin] = {}
    for folder in "abc":
        origins |= origins_of(named([tmp_path / folder / "docs"], origins))
    assert sorted(origins) == ["README.md", "b/docs/README.md", "c/docs/README.md"]


def test_single_files_are_told_apart_like_folders(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.txt": "", "b/x.txt": "", "x.txt": ""})
    assert names([tmp_path / "a" / "x.txt", tmp_path / "b"]) == ["a/x.txt", "b/x.txt"]
    assert names([tmp_path / "a" / "x.txt", tmp_path]) == ["a/x.txt", "b/x.txt", "x.txt"]


def test_a_name_that_was_chosen_does_not_lengthen_others(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.txt": "", "b/x.txt": ""})
    chosen = named([tmp_path / "a"], prefix="mine")
    assert [file.name for file in chosen] == ["mine/x.txt"]
    assert not has_extended_name(chosen[0], "mine")
    assert names([tmp_path / "b"], origins_of(chosen)) == ["x.txt"]
    both = named([tmp_path / "a", tmp_path / "b"], prefix="mine")
    assert [(file.name, has_extended_name(file, "mine")) for file in both] == [
        ("mine/a/x.txt", True),
        ("mine/b/x.txt", True),
    ]


def test_where_every_name_is_taken_the_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.txt": ""})
    whole = PurePosixPath((tmp_path / "a" / "x.txt").resolve()).relative_to("/")
    taken = ["/".join(whole.parts[first:]) for first in range(len(whole.parts))]
    elsewhere = Path(tempfile.gettempdir())
    origins = {name: Origin(root=elsewhere, path="other.txt", content="c", parser="imported-x") for name in taken[:-1]}
    origins["x.txt"] = Origin(root=tmp_path, path="a", content="c", parser="p")
    (refused,) = named([tmp_path / "a"], origins)
    assert refused.name == f"/{whole}"
    assert refused.refused is not None
    assert "another prefix" in refused.refused
    assert names([tmp_path / "a"], origins, prefix="p") == ["p/x.txt"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    return write(root, {f"{folder}/{file}": "" for folder in FOLDERS for file in FILES})


ADDS = st.lists(st.sampled_from([*FOLDERS, *(f"{folder}/{file}" for folder in FOLDERS for file in FILES)]), min_size=1)


@given(adds=st.lists(st.tuples(ADDS, st.sampled_from((None, None, "p"))), min_size=1, max_size=4), data=st.data())
def test_names_are_unique_kept_and_the_same_in_any_order_and_after_any_stop(
    tree: Path, adds: list[tuple[list[str], str | None]], data: st.DataObject
) -> None:
    origins: dict[str, Origin] = {}
    for paths, prefix in adds:
        given = [tree / path for path in paths]
        files = named(given, origins, prefix)
        assert len({file.name for file in files}) == len(files)
        assert len({file.file for file in files}) == len(files)
        assert all(file.file.is_file() for file in files)
        assert named(data.draw(st.permutations(given)), origins, prefix) == files
        stored = origins_of(data.draw(st.lists(st.sampled_from(files), unique_by=lambda file: file.name)))
        resumed = named(given, origins | stored, prefix)
        assert [file.name for file in resumed] == [file.name for file in files]
        before = {origin.file(name): name for name, origin in origins.items()}
        assert all(before.get(file.file, file.name) == file.name for file in files)
        origins |= origins_of(files)
        assert len({origin.file(name) for name, origin in origins.items()}) == len(origins)


def test_uploaded_files_have_the_names_that_they_were_given_and_no_folder_takes_them(tmp_path: Path) -> None:
    write(tmp_path, {"uploads/1/guide.md": "", "uploads/2/new.md": "", "docs/guide.md": "", "docs/new.md": ""})
    origins = origins_of(named([tmp_path / "docs" / "guide.md"]))
    paths = [tmp_path / "uploads" / "1" / "guide.md", tmp_path / "uploads" / "2" / "new.md"]
    given = {path: path.name for path in paths}
    files = name_files(find_files(paths), origins, content_of=str, upload_names=given)
    assert [(file.name, file.root, file.below) for file in files] == [
        ("guide.md", tmp_path / "docs", None),
        ("new.md", UPLOADED, None),
    ]
    # The file of that path is not there, which would otherwise say that its folder was moved.
    origins |= origins_of(files)
    assert names([tmp_path / "docs"], origins) == ["docs/new.md", "guide.md"]
