"""A library of papers: what it keeps of them, when it asks their links, and what it survives."""

import asyncio
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from file_server import FileServer, Request, answer, file_server
from forked_programs import read_in_forks
from killed_processes import die_at, in_a_process
from made_papers import paper_pdf

from quoteweave.attribution.literature.library import paper_library, parse_limits
from quoteweave.attribution.literature.library.fetching import FetchFailure, FetchLimits, PdfFetcher
from quoteweave.attribution.literature.library.paper_library import (
    MAX_SNIPPETS,
    NOT_OPEN,
    PaperLibrary,
    default_papers_folder,
)
from quoteweave.attribution.literature.library.parse_limits import ParseLimits, ParseWatch
from quoteweave.attribution.literature.sources.own_collection import OwnCollection
from quoteweave.attribution.literature.sources.paper_metadata import SNIPPETS
from quoteweave.attribution.literature.sources.papers import Paper, PaperText, PublicationDate
from quoteweave.collection.collection import Collection
from quoteweave.core.fingerprints import file_sha256
from quoteweave.documents.ingest import AddReport, add
from quoteweave.documents.worker_pool import ProcessLimits, WorkerPool
from quoteweave.maintenance.check import check
from quoteweave.pipeline.composition.make_search import make_search
from quoteweave.pipeline.settings import RetrievalSettings

GRAIN = Paper(
    id="ab12",
    title="Counting the Grain Ships of Skarn",
    abstract="Ships are counted.\nTwice.",
    authors=("Ada Reed", "Bo Lee"),
    published=PublicationDate(year=2019, month=5),
    venue="Port Letters",
    citations=12,
    identifiers={"doi": "10.1/Grain", "semantic_scholar": "ab12"},
    url="https://papers.example/ab12",
)
PAGES = ("The harbour of Skarn counted 4,210 tonnes of grain in May.", "Timber went by rail in June.")
FILE = paper_pdf(GRAIN.title, GRAIN.authors, PAGES)


@pytest.fixture(scope="module")
def server() -> Iterator[FileServer]:
    with file_server() as running:
        yield running


def linked(server: FileServer, path: str, paper: Paper = GRAIN) -> Paper:
    return paper.model_copy(update={"pdf_url": server.url(path)})


def library(folder: Path, *, parse: ParseLimits | None = None, limits: FetchLimits | None = None) -> PaperLibrary:
    return PaperLibrary(folder / "papers", PdfFetcher(limits, allowed_hosts=["127.0.0.1"]), limits=parse)


def read(
    folder: Path, paper: Paper, *, parse: ParseLimits | None = None, limits: FetchLimits | None = None
) -> PaperText:
    with library(folder, parse=parse, limits=limits) as opened:
        return asyncio.run(opened.read(paper))


def asked(server: FileServer, path: str) -> int:
    return sum(request.path == path for request in server.requests)


def test_described_papers_are_documents_of_a_collection_that_can_be_searched(tmp_path: Path) -> None:
    other = Paper(id="W7", title="On *cranes*", identifiers={"openalex": "W7"})
    with library(tmp_path) as opened:
        names = asyncio.run(opened.add_papers([GRAIN, other]))
        assert names == ("counting-the-grain-ships-of-skarn-2019-f5fcc97b", "on-cranes-00e4caac")
        assert opened.collection.document(names[0]).metadata == {
            "title": GRAIN.title,
            "authors": "Ada Reed; Bo Lee",
            "published": "2019-05",
            "year": "2019",
            "venue": "Port Letters",
            "citations": "12",
            "doi": "10.1/Grain",
            "semantic_scholar": "ab12",
            "source_id": "ab12",
            "url": "https://papers.example/ab12",
        }
    with Collection.open(tmp_path / "papers") as collection:
        own = OwnCollection(collection, make_search(collection, RetrievalSettings()))
        (found,) = asyncio.run(own.search("ships counted twice")).papers
        assert (found.title, found.abstract, found.citations) == (GRAIN.title, "Ships are counted.\nTwice.", 12)
        assert asyncio.run(own.search("cranes")).papers[0].title == "On *cranes*"
        assert asyncio.run(own.read(found)).outcome == "not_open_access"


def test_a_paper_that_another_source_describes_is_the_same_document_and_learns_of_it(tmp_path: Path) -> None:
    from_other = Paper(
        id="W9",
        title="Counting the grain ships",
        published=PublicationDate(year=2020),
        citations=15,
        identifiers={"doi": "https://doi.org/10.1/GRAIN", "openalex": "https://openalex.org/W9", "arxiv": "1905.1234"},
    )
    by_number = Paper(id="W9", title="Again", citations=3)
    with library(tmp_path) as opened:
        (name,) = asyncio.run(opened.add_papers([GRAIN]))
        assert asyncio.run(opened.add_papers([from_other, by_number, from_other])) == (name, name, name)
        revision = opened.collection.revision()
        assert asyncio.run(opened.add_papers([GRAIN, from_other, by_number])) == (name, name, name)
        assert opened.collection.revision() == revision  # there was nothing to write
        (document,) = opened.collection.documents()
    metadata = document.metadata
    assert (metadata["title"], metadata["published"], metadata["citations"]) == (GRAIN.title, "2019-05", "15")
    assert (metadata["openalex"], metadata["same_as"]) == ("https://openalex.org/W9", "source_id:W9")


def test_an_abstract_that_comes_later_is_added(tmp_path: Path) -> None:
    with library(tmp_path) as opened:
        (name,) = asyncio.run(opened.add_papers([GRAIN.model_copy(update={"abstract": None})]))
        assert asyncio.run(opened.read(GRAIN)).text == "Ships are counted.\nTwice."
        assert opened.collection.document(name).quotes == 3


def texts(opened: PaperLibrary, name: str) -> list[tuple[str | None, str]]:
    quotes = opened.collection.document_quotes(name)
    return [(quote.section, quote.text) for quote in quotes if quote.layout != "title"]


def test_snippets_stand_beside_the_abstract_until_the_full_text_is_there(tmp_path: Path, server: FileServer) -> None:
    bare, told = GRAIN.model_copy(update={"abstract": None}), "Grain rose\nby *40* %. It went by rail."
    server.answers["/grain"] = answer(FILE)
    with library(tmp_path) as opened:
        (name,) = asyncio.run(opened.add_papers([bare], {GRAIN.id: [told]}))
        assert texts(opened, name) == [(SNIPPETS, "Grain rose by *40* %. It went by rail.")]
        assert asyncio.run(opened.read(bare)).text.strip() == "", "a snippet is not the abstract"
        asyncio.run(opened.add_papers([GRAIN], {GRAIN.id: ["Timber.", told]}))
        asyncio.run(opened.add_papers([bare]))
        both = [(SNIPPETS, "Grain rose by *40* %. It went by rail."), (SNIPPETS, "Timber.")]
        assert texts(opened, name) == [(GRAIN.title, "Ships are counted."), (GRAIN.title, "Twice."), *both]
        revision = opened.collection.revision()
        asyncio.run(opened.add_papers([GRAIN], {GRAIN.id: [told, "Timber."]}))
        assert opened.collection.revision() == revision, "there was nothing to write"
        assert asyncio.run(opened.read(linked(server, "/grain"))).outcome == "full_text"
        asyncio.run(opened.add_papers([GRAIN], {GRAIN.id: ["Oats."]}))
        assert not [section for section, _ in texts(opened, name) if section == SNIPPETS]


def test_no_more_than_some_snippets_of_a_paper_are_kept(tmp_path: Path) -> None:
    with library(tmp_path) as opened:
        for start in (0, 8, 16):
            said = [f"Passage {number} of rail." for number in range(start, start + 8)]
            (name,) = asyncio.run(opened.add_papers([GRAIN], {GRAIN.id: said}))
        assert sum(section == SNIPPETS for section, _ in texts(opened, name)) == MAX_SNIPPETS


def test_a_paper_twice_in_one_call_is_one_document(tmp_path: Path) -> None:
    same = GRAIN.model_copy(update={"id": "other", "identifiers": {"doi": "10.1/grain"}})
    with library(tmp_path) as opened:
        first, second = asyncio.run(opened.add_papers([GRAIN, same]))
        assert first == second
        assert len(opened.collection.documents()) == 1


def test_a_paper_without_an_open_file_is_said_to_be_so_with_its_abstract(tmp_path: Path) -> None:
    found = read(tmp_path, GRAIN)

    assert (found.outcome, found.text, found.note) == ("not_open_access", "Ships are counted.\nTwice.", NOT_OPEN)
    assert found.document is not None


def test_the_full_text_takes_the_place_of_the_description_and_is_fetched_once(
    server: FileServer, tmp_path: Path
) -> None:
    server.answers["/grain.pdf"] = answer(FILE)
    paper = linked(server, "/grain.pdf")
    described = read(tmp_path, GRAIN)
    first = read(tmp_path, paper)
    again = read(tmp_path, paper)
    without_link = read(tmp_path, GRAIN)

    assert (first.outcome, first.pages, first.note) == ("full_text", 2, None)
    assert first.document == described.document
    assert [page.splitlines()[-1] for page in first.text.split("\n\n")] == list(PAGES)
    assert again == without_link == first
    assert asked(server, "/grain.pdf") == 1
    with Collection.open(tmp_path / "papers") as collection:
        (document,) = collection.documents()
        assert (document.format, document.metadata["doi"]) == ("pdf", "10.1/Grain")
        own = OwnCollection(collection, make_search(collection, RetrievalSettings()))
        (snippet, *_) = asyncio.run(own.search_snippets("timber by rail")).snippets
        assert snippet.text == PAGES[1]
    assert check(tmp_path / "papers").damaged == ()


def test_papers_read_at_once_are_fetched_and_parsed_once(server: FileServer, tmp_path: Path) -> None:
    server.answers["/once.pdf"] = answer(FILE)
    paper = linked(server, "/once.pdf")

    async def read_twice(opened: PaperLibrary) -> list[PaperText]:
        return list(await asyncio.gather(opened.read(paper), opened.read(paper), opened.read(paper)))

    with library(tmp_path) as opened:
        first, *others = asyncio.run(read_twice(opened))
    assert first.outcome == "full_text"
    assert others == [first, first]
    assert asked(server, "/once.pdf") == 1


def test_the_processes_that_parse_need_not_import_the_library(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit, told = WorkerPool.submit, set[str]()

    def submitted(self: WorkerPool, limits: ProcessLimits, call: Callable[..., Any], *more: Any, **named: Any) -> Any:
        told.add(getattr(call, "func", call).__module__)  # of a partial its function's
        return submit(self, limits, call, *more, **named)

    monkeypatch.setattr(WorkerPool, "submit", submitted)
    server.answers["/grain"] = answer(FILE)
    assert read(tmp_path, linked(server, "/grain")).outcome == "full_text"
    assert {name.rpartition(".")[0] for name in told} == {"quoteweave.documents"}


def test_the_same_bytes_are_kept_once_and_stand_for_both_records(server: FileServer, tmp_path: Path) -> None:
    server.answers["/one.pdf"] = server.answers["/two.pdf"] = answer(FILE)
    other = Paper(id="W9", title="Counting the grain ships of Skarn.", identifiers={"openalex": "W9"})
    with library(tmp_path) as opened:
        first = asyncio.run(opened.read(linked(server, "/one.pdf")))
        second = asyncio.run(opened.read(linked(server, "/two.pdf", other)))
        assert second == first
        assert asyncio.run(opened.read(linked(server, "/two.pdf", other))) == first
        (document,) = opened.collection.documents()
        sources = [path for path in (tmp_path / "papers" / "sources").rglob("*") if path.is_file()]
    assert (document.metadata["openalex"], asked(server, "/two.pdf"), len(sources)) == ("W9", 1, 1)


def test_the_bytes_of_one_paper_do_not_stand_for_another(server: FileServer, tmp_path: Path) -> None:
    server.answers["/one.pdf"] = server.answers["/wrong.pdf"] = answer(FILE)
    other = Paper(id="W9", title="On cranes", abstract="Cranes lift.")
    with library(tmp_path) as opened:
        asyncio.run(opened.read(linked(server, "/one.pdf")))
        found = asyncio.run(opened.read(linked(server, "/wrong.pdf", other)))
        assert len(opened.collection.documents()) == 2
    assert (found.outcome, found.text) == ("other_paper", "Cranes lift.")


@pytest.mark.parametrize("first", ["linking", "linked"])
def test_a_link_to_the_file_of_another_paper_does_not_make_one_paper_of_two(tmp_path: Path, first: str) -> None:
    own = GRAIN.model_copy(update={"identifiers": {"arxiv": "2301.00001"}})
    other = Paper(id="W9", title="On cranes", abstract="Cranes lift.", pdf_url="https://arxiv.org/pdf/2301.00001")
    papers = [other, own] if first == "linking" else [own, other]
    with library(tmp_path) as opened:
        names = asyncio.run(opened.add_papers(papers))
        read = asyncio.run(opened.read(own))
        metadata = {opened.collection.document(name).metadata["title"] for name in names}
    assert metadata == {GRAIN.title, "On cranes"}
    assert read.text == GRAIN.abstract


def test_processes_that_parse_are_started_once_a_file_comes_and_not_for_a_link_that_leads_to_none(
    server: FileServer, tmp_path: Path
) -> None:
    server.answers.update({"/no.pdf": answer(b"<html></html>"), "/1.pdf": answer(FILE)})
    started = set(psutil.Process().children(recursive=True))
    with library(tmp_path) as opened:
        asyncio.run(opened.read(linked(server, "/no.pdf")))
        assert set(psutil.Process().children(recursive=True)) == started
        asyncio.run(opened.read(linked(server, "/1.pdf")))
        assert set(psutil.Process().children(recursive=True)) > started


def test_papers_that_came_while_another_was_parsed_are_parsed_at_once(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cranes, rails = Paper(id="W8", title="Cranes that lift timber"), Paper(id="W9", title="Rails of the northern moor")
    again = Paper(id="W7", title="Counting the grain ships of Skarn.", identifiers={"openalex": "W7"})
    files = {"/1.pdf": FILE, "/2.pdf": FILE, "/4.pdf": paper_pdf(rails.title, (), ("Rails rust.",))}
    files |= {"/3.pdf": paper_pdf("Of bees", (), ("Bees hum.",)), "/5.pdf": paper_pdf("Long", (), ("One.",) * 3)}
    server.answers.update((path, answer(file)) for path, file in files.items())
    papers = [GRAIN, again, cranes, rails, Paper(id="W6", title="Long")]
    linking = [linked(server, f"/{number}.pdf", paper) for number, paper in enumerate(papers, 1)]
    added: list[int] = []
    hashed: list[Path] = []
    fetched: list[str] = []
    released = threading.Event()

    def counted(collection: Collection, paths: Sequence[Path], *options: Any) -> AddReport:
        added.append(len(paths))
        released.wait(30)  # the first stays with its file until all others have come
        return add(collection, paths, *options)

    def noted(path: Path) -> str:
        hashed.append(path)
        return file_sha256(path)

    monkeypatch.setattr(paper_library, "add", counted)
    monkeypatch.setattr(paper_library, "file_sha256", noted)

    class Counting(PdfFetcher):
        async def fetch(
            self, link: str, file: Path, on_pdf: Callable[[], object] = lambda: None
        ) -> FetchFailure | None:
            fetched.append(link)
            found = await super().fetch(link, file, on_pdf)
            if len(fetched) == len(linking):
                released.set()
            return found

    async def read_all(opened: PaperLibrary) -> list[PaperText]:
        await opened.add_papers(linking)
        return await asyncio.gather(*map(opened.read, linking))

    fetcher = Counting(allowed_hosts=["127.0.0.1"])
    with PaperLibrary(tmp_path / "papers", fetcher, limits=ParseLimits(pages=2)) as opened:
        found = [each.outcome for each in asyncio.run(read_all(opened))]
    assert found == ["full_text", "full_text", "other_paper", "full_text", "too_large"]
    assert max(added) >= 3  # all that came while the first was parsed, but for that of the same bytes
    assert sum(added) == 4  # each once, although together they have more pages than one may
    assert sum(path.name == paper_library.FILE for path in hashed) <= len(linking) + 1  # that of the same bytes twice


def test_the_time_of_a_paper_counts_from_when_its_own_reading_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(parse_limits, "time", SimpleNamespace(monotonic=lambda: now))
    watch = ParseWatch(ParseLimits(pages=2, seconds=10))
    assert watch.reason_to_stop("first", 2) is None
    now = 8.0
    assert watch.reason_to_stop("second", 2) is None
    now = 12.0
    assert watch.reason_to_stop("first", 2) == "It could not be parsed within 10 seconds."
    assert watch.reason_to_stop("second", 2) is None
    assert watch.reason_to_stop("third", 3) == "It has 3 pages; no more than 2 are read."


def _encrypted(tmp_path: Path) -> bytes:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "closed.pdf"), encrypt=StandardEncryption("secret", strength=128))
    canvas.drawString(72, 72, GRAIN.title)
    canvas.save()
    return (tmp_path / "closed.pdf").read_bytes()


@pytest.mark.parametrize(
    ("what", "outcome", "note"),
    [
        ("html", "not_a_pdf", "text/html"),
        ("large", "too_large", "MiB"),
        ("long", "too_large", "It has 3 pages; no more than 2 are read."),
        ("damaged", "damaged", "paper.pdf"),
        ("encrypted", "damaged", "password"),
        ("other", "other_paper", "“Counting the Grain Ships of Skarn”"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_and_not_asked_again(
    server: FileServer, tmp_path: Path, what: str, outcome: str, note: str
) -> None:
    path = f"/{what}.pdf"
    bodies = {
        "html": b"<html>Log in</html>",
        "large": FILE + b"\0" * 20_000,
        "long": paper_pdf(GRAIN.title, pages=("a", "b", "c")),
        "damaged": FILE[:200],
        "encrypted": _encrypted(tmp_path) if what == "encrypted" else b"",
        "other": paper_pdf("On the cranes of Mole", pages=("Cranes lift.",)),
    }
    server.answers[path] = answer(bodies[what], "Content-Type: text/html")
    limits = FetchLimits(bytes=20_000)
    paper = linked(server, path)
    found = read(tmp_path, paper, parse=ParseLimits(pages=2), limits=limits)
    again = read(tmp_path, paper, parse=ParseLimits(pages=2), limits=limits)

    assert (found.outcome, found.text, found.pages) == (outcome, "Ships are counted.\nTwice.", None)
    assert note in (found.note or "")
    assert again == found
    assert asked(server, path) == 1
    with Collection.open(tmp_path / "papers") as collection:
        assert [document.format for document in collection.documents()] == ["markdown"]
        own = OwnCollection(collection, make_search(collection, RetrievalSettings()))
        assert asyncio.run(own.search_snippets("cranes lift")).snippets == ()


def test_a_link_that_could_not_be_reached_is_asked_again_and_so_is_another_link(
    server: FileServer, tmp_path: Path
) -> None:
    paper = linked(server, "/later.pdf")
    assert read(tmp_path, paper).outcome == "unreachable"
    server.answers["/later.pdf"] = answer(b"<html>")
    assert read(tmp_path, paper).outcome == "not_a_pdf"
    server.answers["/moved.pdf"] = answer(FILE)
    assert read(tmp_path, linked(server, "/moved.pdf")).outcome == "full_text"
    with Collection.open(tmp_path / "papers") as collection:
        assert "not_read" not in collection.documents()[0].metadata


def test_a_paper_that_takes_too_long_is_given_up(server: FileServer, tmp_path: Path) -> None:
    server.answers["/slow.pdf"] = answer(FILE)

    found = read(tmp_path, linked(server, "/slow.pdf"), parse=ParseLimits(seconds=0))

    assert (found.outcome, found.note) == ("too_large", "It could not be parsed within 0 seconds.")
    assert read(tmp_path, GRAIN.model_copy(update={"id": "2", "identifiers": {}})).outcome == "not_open_access"


def test_a_reading_that_is_cancelled_is_no_damage_of_the_paper(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers["/cancelled.pdf"] = answer(FILE)
    paper = linked(server, "/cancelled.pdf")

    async def cancel_while_it_is_kept(opened: PaperLibrary) -> None:
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        def tell_and_hash(path: Path) -> str:
            if path.name == paper_library.FILE:  # it was fetched, and is looked at
                loop.call_soon_threadsafe(begun.set)
            return file_sha256(path)

        monkeypatch.setattr(paper_library, "file_sha256", tell_and_hash)
        reading = asyncio.create_task(opened.read(paper))
        await begun.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

    with library(tmp_path) as opened:
        asyncio.run(cancel_while_it_is_kept(opened))
        (document,) = opened.collection.documents()
        assert "not_read" not in document.metadata
    assert read(tmp_path, paper).outcome == "full_text"
    assert asked(server, "/cancelled.pdf") == 1 + (document.format == "markdown")


def test_two_processes_read_the_same_paper(server: FileServer, tmp_path: Path) -> None:
    """The second fetches while the first, which holds its own answer back, has not stored it yet."""
    paper = linked(server, "/both.pdf")

    def reads_in_another_process(_: Request, connection: object) -> None:
        server.answers["/both.pdf"] = answer(FILE)
        statuses.append(in_a_process(_require_read, tmp_path, paper))
        connection.sendall(answer(FILE))  # type: ignore[attr-defined]

    statuses: list[int] = []
    server.answers["/both.pdf"] = reads_in_another_process
    found = read(tmp_path, paper, limits=FetchLimits(seconds=600))  # however long the other process takes to start

    assert (found.outcome, statuses, asked(server, "/both.pdf")) == ("full_text", [0], 2)
    with Collection.open(tmp_path / "papers") as collection:
        assert len(collection.documents()) == 1
    assert check(tmp_path / "papers").damaged == ()


def _require_read(folder: Path, paper: Paper) -> None:
    read_in_forks()
    assert read(folder, paper).outcome == "full_text"


def test_processes_that_describe_the_same_papers_wait_for_each_other_and_make_one_document_of_each(
    tmp_path: Path,
) -> None:
    papers = [Paper(id=str(number), title=f"On crane {number}") for number in range(6)]
    ready, tell = os.pipe()
    with library(tmp_path) as opened:
        children = []
        with opened.collection.writer():
            for first in (0, 2):
                child = os.fork()
                if child == 0:
                    _describe_in_a_child(tmp_path, papers[first : first + 4], tell)
                children.append(child)
            assert os.read(ready, 1) == os.read(ready, 1) == b"x"
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
        assert {document.metadata["source_id"] for document in opened.collection.documents()} == set("012345")
        assert len(opened.collection.documents()) == 6


def _describe_in_a_child(folder: Path, papers: list[Paper], tell: int) -> None:
    try:
        with library(folder) as opened:
            os.write(tell, b"x")
            asyncio.run(opened.add_papers(papers))
        os._exit(0)
    finally:
        os._exit(1)


HOSTILE = (
    *(
        "",
        " ",
        "\ud800",
        "a\0b",
        "a\nb\r\nc",
        "# x",
        "---\ntitle: y\n---",
        "[a](/etc/passwd)",
        "![a](b.png)",
        "<b>c</b>",
    ),
    *(
        "$$x$$",
        "\u202egrain",
        "1. one",
        "谷物 运输",
        "a;b",
        "doi:10.1/x",
        "../../etc",
        "| a | b |\n|---|---|",
        "x" * 3_000,
    ),
)


def test_whatever_sources_say_of_papers_can_be_kept_and_found_again(tmp_path: Path) -> None:
    papers = [
        Paper(
            id=f"{number} {HOSTILE[-number]}".replace("\ud800", "?"),
            title=title,
            abstract=HOSTILE[number - 1],
            authors=(HOSTILE[number - 2],),
            venue=HOSTILE[number - 3],
            identifiers={"doi": f"10.1/{number}/{HOSTILE[number - 4]}", "made": f"{number}{HOSTILE[number - 5]}"},
            url=HOSTILE[number - 6],
        )
        for number, title in enumerate(HOSTILE)
    ]
    with library(tmp_path) as opened:
        names = asyncio.run(opened.add_papers(papers))
        revision = opened.collection.revision()
        assert len(set(names)) == len(papers)
        assert asyncio.run(opened.add_papers(papers)) == names
        assert opened.collection.revision() == revision
        texts = [asyncio.run(opened.read(paper)) for paper in papers]
        assert [text.document for text in texts] == list(names)
        assert all(re.fullmatch(r"[\w-]{8,80}", name) for name in names)
        own = OwnCollection(opened.collection, make_search(opened.collection, RetrievalSettings()))
        assert [paper.id for paper in asyncio.run(own.search("运输")).papers]
    assert check(tmp_path / "papers").damaged == ()


def _describe_and_die(folder: Path, papers: list[Paper], moment: int) -> None:
    with library(folder) as opened:
        die_at(moment)
        asyncio.run(opened.add_papers(papers))


def test_a_process_that_is_killed_while_it_describes_papers_leaves_all_or_none(tmp_path: Path) -> None:
    papers = [GRAIN, Paper(id="2", title="On cranes"), Paper(id="3", title="On timber", abstract="It floats.")]
    counts = set()
    for moment in range(0, 1_000, 7):
        folder = tmp_path / str(moment)
        status = in_a_process(_describe_and_die, folder, papers, moment)
        with library(folder) as opened:
            counts.add(len(opened.collection.documents()))
            asyncio.run(opened.add_papers(papers))
            assert len(opened.collection.documents()) == 3
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert (counts, status) == ({0, 3}, 0)


def _read_and_die(folder: Path, paper: Paper, moment: int) -> None:
    read_in_forks()
    die_at(moment)
    read(folder, paper)


@pytest.mark.parametrize("moment", [20, 80, 140, 200])
def test_a_process_that_is_killed_while_it_reads_leaves_the_description_or_the_text(
    server: FileServer, tmp_path: Path, moment: int
) -> None:
    server.answers["/killed.pdf"] = answer(FILE)
    paper = linked(server, "/killed.pdf")
    described = read(tmp_path, GRAIN)
    assert in_a_process(_read_and_die, tmp_path, paper, moment) == -signal.SIGKILL
    with Collection.open(tmp_path / "papers") as collection:
        (document,) = collection.documents()
        assert (document.name, document.format in ("markdown", "pdf")) == (described.document, True)
    assert read(tmp_path, paper).outcome == "full_text"
    assert check(tmp_path / "papers").damaged == ()


def test_the_default_folder_is_a_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUOTEWEAVE_PAPERS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_papers_folder() == Path("/caches/quoteweave/papers")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_papers_folder() == Path.home() / ".cache" / "quoteweave" / "papers"
    monkeypatch.setenv("QUOTEWEAVE_PAPERS", "/my/papers")
    assert default_papers_folder() == Path("/my/papers")


def test_what_others_left_is_not_removed_on_the_event_loop(
    tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = list[threading.Thread]()
    glob = Path.glob

    def note(self: Path, pattern: str) -> Iterator[Path]:
        if pattern.startswith("quoteweave-used-"):
            threads.append(threading.current_thread())
        return glob(self, pattern)

    monkeypatch.setattr(Path, "glob", note)
    server.answers["/gone.pdf"] = answer(status="404 Not Found")
    with library(tmp_path) as papers:
        asyncio.run(papers.read(linked(server, "/gone.pdf")))
    assert threads
    assert threading.main_thread() not in threads
