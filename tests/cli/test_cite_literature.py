"""`cite --source` over a server that speaks the sources' APIs: own documents first, then the literature."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import make_collection

from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.records import Attribution
from quoteweave.core.errors import SourceUnreachable
from quoteweave.testing.literature import MadePaper
from quoteweave.testing.literature_server import LibraryServer

OWN = "In 2023 the port shipped 4,210 tonnes of grain."
NOWHERE = "In 2021 the port of Skarn employed 9,411 people."


@pytest.fixture
def server(library_server: LibraryServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LibraryServer]:
    monkeypatch.setenv("OPENALEX_BASE_URL", library_server.openalex_url)
    monkeypatch.delenv("OPENALEX_API_KEY", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    yield library_server
    library_server.clear_faults()


@pytest.fixture
def paper(server: LibraryServer) -> MadePaper:
    """One whose abstract says what only it says, with a number."""
    return next(one for one in server.library.papers if one.known_abstract and "percent" in one.known_abstract)


@pytest.fixture
def draft(tmp_path: Path, paper: MadePaper) -> Path:
    make_collection(tmp_path, {"port.md": [OWN]}).close()
    path = tmp_path / "draft.md"
    path.write_text(f"{OWN}\n\n{finding_of(paper)}\n\n{NOWHERE}\n")
    return path


def finding_of(paper: MadePaper) -> str:
    return (
        next(sentence for sentence in (paper.known_abstract or "").split(". ") if "percent" in sentence).rstrip(".")
        + "."
    )


def options(draft: Path, *more: object) -> tuple[object, ...]:
    folder = draft.parent
    return (draft, "-c", folder / "collection", "--source", "openalex", "--papers", folder / "papers", *more)


def test_what_the_documents_do_not_support_is_cited_from_the_literature(
    quoteweave: Quoteweave, draft: Path, paper: MadePaper
) -> None:
    bib, page = draft.parent / "found.bib", draft.parent / "page.html"
    got = quoteweave("cite", *options(draft, "--bib", bib, "--html", page, "--json"))
    assert got.code == 0, got.err
    value = got.json()
    assert [one["status"] for one in value["sentences"]] == ["cited", "cited", "no_source"]
    own, published = value["references"]
    assert (own["origin"], published["origin"]) == ("documents", "literature")
    assert published["found"]["title"] == paper.title
    assert f"[@{published['key']}]." in value["text"]
    assert f"@misc{{{own['key']},\n" in bib.read_text("utf-8")
    assert f"{{{published['key']},\n" in bib.read_text("utf-8")
    assert "are searched for at openalex" in got.err
    assert paper.title in page.read_text("utf-8")


def test_a_source_that_refuses_leaves_what_the_documents_support(
    quoteweave: Quoteweave, draft: Path, server: LibraryServer
) -> None:
    server.fail("/openalex/works", 401, times=None)
    out = draft.parent / "cited.md"
    got = quoteweave("cite", *options(draft, "--out", out))
    assert got.code == 1
    assert out.read_text("utf-8").startswith(OWN.replace("grain.", "grain [1]."))
    assert "error: the literature could not be asked" in got.err
    assert f"not in your documents, and not asked of the literature: “{NOWHERE}”" in got.err


def test_a_draft_that_was_broken_off_goes_on_where_it_was(
    quoteweave: Quoteweave, draft: Path, server: LibraryServer, paper: MadePaper
) -> None:
    bib, out = draft.parent / "found.bib", draft.parent / "cited.md"
    asked = options(draft, "--bib", bib, "--out", out)
    attribute = LiteratureAttributor.attribute_excerpt
    with pytest.MonkeyPatch.context() as patch:

        async def broken(self: LiteratureAttributor, excerpt: Excerpt) -> Attribution:
            if "Skarn" in excerpt.claim:
                raise SourceUnreachable("the network is gone")
            return await attribute(self, excerpt)

        patch.setattr(LiteratureAttributor, "attribute_excerpt", broken)
        patch.setattr("quoteweave.attribution.drafts.post_hoc.CONCURRENCY", 1)  # in the order of the draft
        stopped = quoteweave("cite", *asked)
    assert stopped.code == 1
    assert "1 sentence left that your documents do not support; the same command goes on" in stopped.err
    before = len(server.requests)
    again = quoteweave("cite", *asked)
    assert again.code == 0, again.err
    assert "1 sentence was looked for by a command that did not finish, and was kept" in again.err
    searched = [request.params.get("search", "") for request in server.requests[before:]]
    assert any("Skarn" in words for words in searched)
    own = set(finding_of(paper).split()) & set(" ".join(searched).split())
    assert own <= set(NOWHERE.split()) | {"OR"}, "the sentence that was found is not asked for again"
    assert paper.title in bib.read_text("utf-8").replace("{", "").replace("}", "")
    assert len([one for one in (draft.parent / "caches").rglob("*.jsonl") if not one.name.startswith(".")]) == 0
    third = quoteweave("cite", *asked)
    assert (third.code, f"{bib} is there already" in third.err) == (2, True), "it is finished"


def test_what_was_kept_is_looked_for_anew_where_its_passages_are_gone(
    quoteweave: Quoteweave, draft: Path, server: LibraryServer
) -> None:
    server.fail("/openalex/works", 401, times=None)
    quoteweave("cite", *options(draft))
    (file,) = [one for one in (draft.parent / "caches").rglob("*.jsonl") if not one.name.startswith(".")]
    server.clear_faults()
    file.write_text('{"claim": "damaged"\n')
    got = quoteweave("cite", *options(draft))
    assert (got.code, "did not finish" in got.err) == (0, False)
    assert "some of what an earlier command found cannot be read, or has lost its passages" in got.err
    assert not file.exists()


def test_nothing_is_sent_of_what_the_documents_support(
    quoteweave: Quoteweave, draft: Path, server: LibraryServer
) -> None:
    draft.write_text(OWN)
    before = len(server.requests)
    got = quoteweave("cite", *options(draft))
    assert got.code == 0
    assert json.dumps([str(request) for request in server.requests[before:]]) == "[]"


def test_options_of_the_literature_want_a_source(quoteweave: Quoteweave, draft: Path) -> None:
    got = quoteweave("cite", draft, "-c", draft.parent / "collection", "--before", "2023")
    assert (got.code, "--before is of the literature, and no source of it is named" in got.err) == (2, True)
