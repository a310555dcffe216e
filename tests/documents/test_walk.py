"""Which files a path means, what they are called, and what is passed over."""

import os
import socket
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from made_files import write
from other_user import printed_by_nobody

from quoteweave.core.errors import UsageError
from quoteweave.documents.discovery import FoundFile, find_files


def names(*paths: Path) -> list[str]:
    return [file.name for file in find_files(paths)]


def refusals(*paths: Path) -> dict[str, str]:
    return {file.name: file.refused for file in find_files(paths) if file.refused}


def test_files_below_a_folder_are_named_by_their_path(tmp_path: Path) -> None:
    write(tmp_path, {"b.txt": "", "a/deep/x.md": "", "a/y.PDF": "", "a b.html": "", "a.folder.pdf/in.txt": ""})
    found = find_files([tmp_path])
    assert [file.name for file in found] == ["a b.html", "a.folder.pdf/in.txt", "a/deep/x.md", "a/y.PDF", "b.txt"]
    assert {file.root for file in found} == {tmp_path.resolve()}
    assert all((file.root / file.name).is_file() for file in found)


def test_what_is_no_document_is_passed_over(tmp_path: Path) -> None:
    write(
        tmp_path,
        dict.fromkeys(
            (".hidden.pdf", ".git/x.txt", "~$report.docx", "a.py", "b", "Makefile", "logo.svg", "all.zip"), ""
        ),
    )
    assert find_files([tmp_path]) == []


def test_a_file_without_a_suffix_is_a_document_if_its_name_is_usual_for_one_and_it_is_text(tmp_path: Path) -> None:
    documents = dict.fromkeys(("README", "sub/CHANGES", "LICENSE-MIT", "COPYING.LESSER"), "Text")
    others = dict.fromkeys(("Makefile", "METADATA", "BUILD", "LOCK", "READMES"), "Text")
    write(tmp_path, documents | others | {"notes.rst": "", "NEWS": "", "TODO": "\0\1", "README.DOCX": "Text"})
    passed_over = Counter[str]()
    found = {file.name: file.refused for file in find_files([tmp_path], passed_over)}
    assert "save it as PDF" in (found.pop("README.DOCX") or "")
    assert found == dict.fromkeys([*documents, "notes.rst"])
    assert passed_over == {"": len(others) + 2}


def test_documents_that_must_be_converted_are_refused_with_advice(tmp_path: Path) -> None:
    write(tmp_path, {"a.docx": "", "b.epub": ""})
    said = refusals(tmp_path)
    assert said["a.docx"].startswith(".docx files are not read; save it as PDF")
    assert "Calibre" in said["b.epub"]


def test_a_file_is_named_by_itself_whatever_it_is(tmp_path: Path) -> None:
    write(tmp_path, {".hidden.txt": "", "a.docx": "", "sub/x.bin": ""})
    paths = [tmp_path / ".hidden.txt", tmp_path / "a.docx", tmp_path / "sub" / "x.bin"]
    assert names(*paths) == [".hidden.txt", "a.docx", "x.bin"]
    found = find_files(paths)[2]
    assert found == FoundFile(str(paths[2]), tmp_path.resolve() / "sub", "x.bin", str(paths[2].resolve()))


@pytest.mark.parametrize(
    "name",
    [
        "a b.txt",
        '"quoted".txt',
        "a'b.txt",
        "a\nb.txt",
        "-rf.txt",
        "..%2f..%2fetc.txt",
        "$(x).txt",
        "名.txt",
        "\x1b[1m.txt",
    ],
)
def test_odd_names_are_kept_as_they_are(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    assert names(tmp_path / name) == [name]
    assert names(tmp_path) == ([] if name.startswith(".") else [name])


def test_a_name_that_is_not_utf_8_is_refused_by_a_name_that_can_be_shown(tmp_path: Path) -> None:
    (Path(os.fsdecode(bytes(tmp_path))) / os.fsdecode(b"caf\xe9.txt")).write_text("")
    (tmp_path / os.fsdecode(b"\xff")).mkdir()
    (tmp_path / os.fsdecode(b"\xff") / "a.txt").write_text("")
    said = refusals(tmp_path)
    assert sorted(said) == ["\\udcff/a.txt", "caf\\udce9.txt"]
    assert all("not valid UTF-8; rename it" in reason for reason in said.values())
    # The folder's own name does not show in the names of its files, but has to be stored with them.
    assert sorted(refusals(tmp_path / os.fsdecode(b"\xff"))) == ["a.txt"]


def test_each_file_is_found_once_and_named_from_the_outermost_folder(tmp_path: Path) -> None:
    write(tmp_path, {"sub/x.txt": "", "y.txt": ""})
    expected = ["sub/x.txt", "y.txt"]
    for paths in (
        [tmp_path, tmp_path / "sub", tmp_path / "y.txt"],
        [tmp_path / "sub" / "x.txt", tmp_path / "sub", tmp_path],
        [tmp_path / "sub" / "..", tmp_path],
    ):
        assert names(*paths) == expected


def test_a_single_file_keeps_to_its_folder_when_that_is_added_too(tmp_path: Path) -> None:
    write(tmp_path, {"x.txt": ""})
    assert find_files([tmp_path / "x.txt"]) == find_files([tmp_path])


def test_links_to_files_are_read_once_and_by_the_name_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, {"in/z.txt": "", "out/o.txt": ""})
    (tmp_path / "in" / "a.txt").symlink_to(tmp_path / "in" / "z.txt")
    (tmp_path / "in" / "b.txt").symlink_to(tmp_path / "out" / "o.txt")
    assert names(tmp_path / "in") == ["b.txt", "z.txt"]
    (link,) = find_files([tmp_path / "in" / "b.txt"])
    assert (link.root / link.name).resolve() == tmp_path.resolve() / "out" / "o.txt"


def test_links_that_lead_nowhere_or_round_in_circles_do_not_hold_it_up(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": ""})
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "circle.txt").symlink_to(tmp_path / "circle.txt")
    (tmp_path / "broken.txt").symlink_to(tmp_path / "nothing")
    assert names(tmp_path) == ["a.txt", "broken.txt", "circle.txt"]
    with pytest.raises(UsageError, match=r"circle.txt cannot be read \(Too many levels"):
        find_files([tmp_path / "circle.txt"])
    with pytest.raises(UsageError, match=r"broken.txt does not exist"):
        find_files([tmp_path / "broken.txt"])


def test_pipes_and_sockets_are_listed_without_being_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.pdf")
        assert names(tmp_path) == ["pipe.pdf", "socket.pdf"]


def test_a_path_that_does_not_exist_is_a_mistake(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": ""})
    for path in (tmp_path / "missing", tmp_path / "a.txt" / "b"):
        with pytest.raises(UsageError, match="does not exist"):
            find_files([tmp_path, path])


def test_a_collection_within_a_folder_is_passed_over_with_all_that_lies_in_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "", "c/collection.json": "", "c/catalog.sqlite": "", "c/sources/ab/x.txt": ""})
    write(tmp_path, {"d/catalog.sqlite": "", "d/b.txt": ""})
    assert names(tmp_path) == ["a.txt", "d/b.txt"]
    with pytest.raises(UsageError, match="is a collection, not a folder of documents"):
        names(tmp_path / "c")


def counts(*paths: Path) -> Counter[str]:
    passed_over = Counter[str]()
    find_files(paths, passed_over)
    return passed_over


def test_links_to_folders_that_are_not_looked_into_are_counted(tmp_path: Path) -> None:
    write(tmp_path, {"in/a.txt": "", "in/.hidden/b.txt": "", "in/c/collection.json": "", "in/c/catalog.sqlite": ""})
    for name, target in (("l", ".hidden"), ("m", "c"), ("n", "."), ("o", "..")):
        (tmp_path / "in" / name).symlink_to(tmp_path / "in" / target)
    assert counts(tmp_path / "in") == {"hidden folders": 1, "collections": 1, "links to folders": 3}


def test_what_another_path_leads_to_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path, {"in/.hidden/b.txt": "", "in/.c.txt": "", "in/d.py": "", "in/e.py": "", "out/o.txt": ""})
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    inside, outside = tmp_path / "in", tmp_path / "out"
    assert counts(inside) == {"hidden folders": 1, "hidden": 1, ".py": 2, "links to folders": 1}
    for paths in ((inside, outside), (outside, inside), (inside, inside / "link")):
        assert counts(*paths) == {"hidden folders": 1, "hidden": 1, ".py": 2}
    assert counts(inside, inside / ".hidden", inside / ".c.txt", inside / "d.py") == {".py": 1, "links to folders": 1}


def test_what_is_below_two_folders_is_counted_once(tmp_path: Path) -> None:
    write(tmp_path, {"sub/.hidden/b.txt": "", "sub/d.py": "", "sub/.c.txt": ""})
    assert counts(tmp_path / "sub", tmp_path) == {"hidden folders": 1, "hidden": 1, ".py": 1}


READING = """
from pathlib import Path
from quoteweave.core.errors import UsageError
from quoteweave.documents.discovery import find_files
"""
UNREADABLE = """
for folder in map(Path, sys.argv[1:]):
    try:
        print([(file.name, file.refused, file.is_folder) for file in find_files([folder])])
    except UsageError as error:
        print(error)
"""


def test_a_folder_that_may_not_be_looked_into_is_told_of() -> None:
    # Not under tmp_path, which only its owner may enter.
    with tempfile.TemporaryDirectory() as name:
        folder = write(Path(name), {"a.txt": "", "closed/b.txt": "", "listed/c.txt": ""})
        folder.chmod(0o755)
        (folder / "closed").chmod(0)
        (folder / "listed").chmod(0o444)
        looked_into = (folder, folder / "closed", folder / "closed" / "b.txt")
        said = printed_by_nobody(READING, UNREADABLE, *looked_into)
        for path in (folder / "closed", folder / "listed"):
            path.chmod(0o755)
    refused = "('closed', 'this folder cannot be read (Permission denied)', True)"
    assert said[0] == f"[('a.txt', None, False), {refused}, ('listed/c.txt', None, False)]"
    assert said[1] == f"{folder}/closed cannot be read (Permission denied)"
    assert said[2] == f"{folder}/closed/b.txt cannot be read (Permission denied)"


def test_an_address_is_told_to_be_downloaded_first() -> None:
    with pytest.raises(
        UsageError, match=r"^https://example\.com/a\.pdf is an address, and files are added: download it"
    ):
        find_files([Path("https://example.com/a.pdf")])
