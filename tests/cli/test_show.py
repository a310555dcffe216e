from pathlib import Path

import pytest
import typer
from command_line import Quoteweave
from made_collections import made_quote, make_collection
from PIL import Image

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Quote


@pytest.fixture
def chart(sample_collection: Path) -> Quote:
    with Collection.open(sample_collection) as collection:
        return next(q for q in collection.document_quotes("harbour-report.pdf") if q.layout == "chart")


def test_json_gives_the_quote_and_its_pictures(
    quoteweave: Quoteweave, chart: Quote, sample_collection: Path, tmp_path: Path
) -> None:
    got = quoteweave("show", chart.id, "-c", sample_collection, "--out", tmp_path / "new" / "folder", "--json")
    assert (got.code, got.err) == (0, "")
    value = got.json()
    assert list(value) == ["quote", "crop", "page", "spans"]
    assert Quote.model_validate(value["quote"]) == chart
    crop, page = Path(value["crop"]), Path(value["page"])
    assert crop.parent == page.parent == tmp_path / "new" / "folder"
    with Image.open(crop) as cut, Image.open(page) as whole:
        assert cut.width < whole.width
        assert cut.height < whole.height / 2


def test_without_out_the_pictures_go_to_a_fresh_folder(
    quoteweave: Quoteweave, chart: Quote, sample_collection: Path
) -> None:
    folders = [
        Path(quoteweave("show", chart.id, "-c", sample_collection, "--json").json()["page"]).parent for _ in range(2)
    ]
    assert folders[0] != folders[1]


def test_people_see_place_words_and_paths(
    quoteweave: Quoteweave, chart: Quote, sample_collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[str] = []
    monkeypatch.setattr(typer, "launch", launched.append)
    got = quoteweave("show", chart.id, "-c", sample_collection, "--out", tmp_path, "--open")
    assert f"harbour-report.pdf, page 3   chart  {chart.id}" in got.out
    assert "under: 4 Vessel traffic" in got.out
    assert "Figure 1: Vessel calls by quarter" in got.out
    name = chart.id.replace(":", "-")
    assert f"page: {tmp_path}/{name}-page.png" in got.out
    assert launched == [f"{tmp_path}/{name}-page.png"]


def test_a_document_without_pages_has_no_pictures(quoteweave: Quoteweave, tmp_path: Path) -> None:
    with make_collection(tmp_path, {"[i]notes[/i].md": [made_quote("Grain in [b]silos[/b].\x1b[2J")]}) as collection:
        (quote,) = collection.document_quotes("[i]notes[/i].md")
    got = quoteweave("show", quote.id, "-c", tmp_path / "collection", "--out", tmp_path / "out", "--json")
    assert got.json() == {"quote": quote.model_dump(mode="json"), "crop": None, "page": None, "spans": []}
    assert not (tmp_path / "out").exists()
    plain = quoteweave("show", quote.id, "-c", tmp_path / "collection")
    assert plain.out.splitlines() == [f"[i]notes[/i].md, page 1   paragraph  {quote.id}", "Grain in [b]silos[/b].[2J"]


def test_an_unknown_quote(quoteweave: Quoteweave, sample_collection: Path) -> None:
    got = quoteweave("show", "nothing:0:0", "-c", sample_collection, "--json")
    assert (got.code, got.out) == (1, "")
    assert got.err.startswith("error: no quote has the id 'nothing:0:0'")
    for given in (["\udcff:0:0"], ["nothing:0:0", "--claim", "\udcff"]):
        got = quoteweave("show", *given, "-c", sample_collection)
        assert got.code == 2
        assert "it is not valid text" in got.err


def test_a_place_that_cannot_be_written(
    quoteweave: Quoteweave, chart: Quote, sample_collection: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    got = quoteweave("show", chart.id, "-c", sample_collection, "--out", tmp_path / "file", "--json")
    assert (got.code, got.out) == (1, "")
    assert got.err.startswith(f"error: {tmp_path}/file/")
    assert "cannot be written" in got.err


def test_the_words_that_support_a_claim_are_told_and_marked_on_the_page(
    quoteweave: Quoteweave, sample_collection: Path, tmp_path: Path
) -> None:
    with Collection.open(sample_collection) as collection:
        quotes = collection.document_quotes("harbour-report.pdf")
    cited = next(quote for quote in quotes if "1,058 vessel calls" in quote.text)
    asked = ("show", cited.id, "-c", sample_collection, "--claim", "There were 1,058 vessel calls, and 1,020 before.")
    value = quoteweave(*asked, "--out", tmp_path / "marked", "--json").json()
    (span,) = value["spans"]
    assert cited.text[span["start"] : span["end"]].startswith("The port received 1,058 vessel calls")
    plain = quoteweave("show", cited.id, "-c", sample_collection, "--out", tmp_path / "plain", "--json").json()
    x1, y1, x2, _ = span["boxes"][0]
    with Image.open(value["page"]) as marked, Image.open(plain["page"]) as bare:
        scale = marked.width / 595.5
        inside, outside = ((x1 + x2) / 2 * scale, (y1 + 1) * scale), (10, 10)
        marked_pixel, bare_pixel = (page.convert("RGB").getpixel(inside) for page in (marked, bare))
        assert marked_pixel != bare_pixel
        assert marked.convert("RGB").getpixel(outside) == bare.convert("RGB").getpixel(outside)
    told = quoteweave(*asked, "--out", tmp_path / "told").out
    assert "supports it: “The port received 1,058 vessel calls" in told
    unsure = quoteweave(
        "show", cited.id, "-c", sample_collection, "--claim", "Whales sing.", "--out", tmp_path / "u"
    ).out
    assert "not sure which words" in unsure
