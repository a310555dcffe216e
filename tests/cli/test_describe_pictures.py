"""`quoteweave describe` against a scripted vision model: words that are searched, kept, and paid for once."""

import base64
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from command_line import Quoteweave
from made_collections import made_quote, put
from PIL import Image

from quoteweave.cli.commands import describe as describing
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Usage
from quoteweave.testing import ModelServer, Reply


def picture(colour: str) -> bytes:
    file = BytesIO()
    Image.new("RGB", (2, 2), colour).save(file, "PNG")
    return file.getvalue()


ONE, TWO = picture("red"), picture("blue")
WORDS = {ONE: "A bar chart of barley: 12 in May.", TWO: "A map of the harbour."}


@pytest.fixture
def port(tmp_path: Path) -> Path:
    """A text quote, two pictures of which one stands twice, and one that is not stored."""
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        one, two = (collection.images.put(data, suffix=".png") for data in WORDS)
        put(
            writer,
            tmp_path,
            "a.pdf",
            [made_quote("Text."), made_quote("", layout="chart", image=one, caption="Fig. 1", unit="in tons")],
        )
        both = [
            made_quote("", layout="chart", image=one, caption="Fig. 1", unit="in tons"),
            made_quote("", layout="figure", image=two),
        ]
        put(writer, tmp_path, "b.pdf", [*both, made_quote("seen", layout="figure"), made_quote("Last.")])
    return tmp_path / "c"


def seen(request: Mapping[str, Any]) -> bytes:
    url = request["messages"][0]["content"][1]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,")
    return base64.b64decode(url.partition(",")[2])


def said(request: Mapping[str, Any]) -> Reply:
    return Reply(text=WORDS[seen(request)], usage=Usage(input_tokens=1000, output_tokens=20))


def test_pictures_are_described_once_searched_and_kept(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer(said) as server:
        options = ("-c", port, "--model", "v", "--base-url", server.base_url, "--usd-per-million", 10, 100, "--json")
        first, second = quoteweave("describe", *options), quoteweave("describe", *options)
        assert "Caption: Fig. 1 in tons" in str(server.requests[0]) or "Caption: Fig. 1 in tons" in str(
            server.requests[1]
        )
    assert len(server.requests) == 2
    value = first.json()
    assert (value["pictures"], value["described"], value["failed"], value["quotes"]) == (2, 2, {}, 3)
    assert (value["without_crop"], value["tokens"]) == (1, {"input": 2000, "output": 40})
    assert value["price_usd"] == pytest.approx(0.024)
    assert "2 pictures to describe with v" in first.err
    assert "pictures and captions are sent to 127.0.0.1" in first.err
    assert (second.json()["pictures"], second.json()["quotes"]) == (0, 0)
    hits = quoteweave("search", "barley in May", "-c", port, "-r", "bm25", "--json").json()["hits"]
    assert [(hit["document"], "barley" in hit["text"]) for hit in hits] == [("a.pdf", True), ("b.pdf", True)]
    with Collection.open(port) as collection:
        order = [quote.text or quote.vlm_text for quote in collection.document_quotes("b.pdf")]
    assert order == [WORDS[ONE], WORDS[TWO], "seen", "Last."]


def test_descriptions_that_may_be_cut_short_are_told(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer(lambda _: Reply(text="A bar chart of", finish_reason="length")) as server:
        told = quoteweave("describe", "-c", port, "--model", "v", "--base-url", server.base_url).err
    assert "note: 2 descriptions may be cut short: the model was ended early" in " ".join(told.split())


def test_a_document_that_is_added_again_gets_its_words_back_for_nothing(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    with ModelServer(said) as server:
        options = ("-c", port, "--model", "v", "--base-url", server.base_url, "--json")
        quoteweave("describe", *options)
        with Collection.open(port) as collection, collection.writer() as writer:
            image = collection.document_quotes("b.pdf")[1].image
            put(writer, tmp_path, "b.pdf", [made_quote("", layout="figure", image=image)])
        again = quoteweave("describe", *options).json()
    assert (again["pictures"], again["quotes"], len(server.requests)) == (0, 1, 2)


def test_a_damaged_description_is_told_and_asked_for_again_after_a_repair(quoteweave: Quoteweave, port: Path) -> None:
    path = port / "descriptions.jsonl"
    with ModelServer(said) as server:
        options = ("-c", port, "--model", "v", "--base-url", server.base_url, "--json")
        quoteweave("describe", *options)
        whole = path.read_bytes().splitlines(keepends=True)
        for damaged in (whole[1].replace(b'"text":"A', b'"text":"B'), b"{" + whole[1][2:]):
            path.write_bytes(whole[0] + damaged)
            assert (
                f"{path}, line 2, is damaged: its content is not what was writ" in quoteweave("describe", *options).err
            )
            checked = quoteweave("check", "-c", port).out
            assert "damaged: descriptions.jsonl: line 2 is not what was written" in checked
            repaired = quoteweave("check", "-c", port, "--repair")
            assert repaired.code == 0
            assert "quoteweave describe asks for their pictures again" in repaired.out
            assert quoteweave("describe", *options).json()["pictures"] == 1
            assert len(path.read_bytes().splitlines()) == 2
        path.write_bytes(whole[0] + whole[1][:-9])
        assert "line 2 is cut short; quoteweave describe asks" in quoteweave("check", "-c", port).out
        assert "the last description was cut short, and its picture" in quoteweave("describe", *options).err
    assert len(server.requests) == 5


def test_descriptions_lost_at_the_end_of_a_line_are_told(quoteweave: Quoteweave, port: Path) -> None:
    path = port / "descriptions.jsonl"
    with ModelServer(said) as server:
        options = ("-c", port, "--model", "v", "--base-url", server.base_url)
        quoteweave("describe", *options)
        assert "lost" not in quoteweave("check", "-c", port).out
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
        note = "lost; quoteweave describe asks for the pictures again"  # of one quote or two: pictures end in any order
        assert note in quoteweave("check", "-c", port).out
        described = quoteweave("describe", *options, "--json")
        assert note in " ".join(described.err.split())
        assert note in " ".join(described.json()["notes"])
    assert len(server.requests) == 3


def test_what_a_killed_writer_left_is_removed_where_nothing_is_to_be_described(
    quoteweave: Quoteweave, tmp_path: Path
) -> None:
    Collection.create(tmp_path / "c").close()
    left = [tmp_path / "c" / name for name in ("writer.json", "sources/ab/ab34")]
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    assert quoteweave("describe", "-c", tmp_path / "c", "--model", "v", "--base-url", "http://127.0.0.1:1").code == 0
    assert not any(path.exists() for path in left)


def test_what_failed_is_told_and_asked_again_and_others_are_kept(quoteweave: Quoteweave, port: Path) -> None:
    broken = [True]

    def faulty(request: Mapping[str, Any]) -> Reply:
        return Reply(status=400, text="no maps") if broken[0] and seen(request) == TWO else said(request)

    with ModelServer(faulty) as server:
        options = ("-c", port, "--model", "v", "--base-url", server.base_url)
        first = quoteweave("describe", *options)
        assert first.code == 1
        assert "1 picture described, 1 failed; 2 quotes have new words now" in first.out
        assert "no maps" in first.err
        broken[0] = False
        second = quoteweave("describe", *options, "--json").json()
    assert (second["pictures"], second["described"], second["quotes"]) == (1, 1, 1)


def test_a_picture_that_is_none_is_told_and_not_sent(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    with Collection.open(port) as collection, collection.writer() as writer:
        bad = [collection.images.put(data, suffix=".png") for data in (b"", b"no picture")]
        put(writer, tmp_path, "bad.pdf", [made_quote("", layout="figure", image=image) for image in bad])
    with ModelServer(said) as server:
        got = quoteweave("describe", "-c", port, "--model", "v", "--base-url", server.base_url, "--json")
    assert (got.code, len(server.requests)) == (1, 2)
    assert got.json()["described"] == 2
    assert sorted(got.json()["failed"].values()) == [
        "The stored picture is an empty file; it was not sent.",
        "The stored picture is no PNG, JPEG, WebP or GIF, or has no pixels; it was not sent.",
    ]


def test_without_a_model_it_says_how_to_name_one(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("describe", "-c", port)
    assert got.code == 2
    assert "--model" in got.err


def test_what_another_command_described_meanwhile_is_not_paid_again(
    quoteweave: Quoteweave, port: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = port / "descriptions.jsonl"
    with ModelServer(said) as server:
        options = ("-c", port, "--model", "v", "--base-url", server.base_url, "--json")
        quoteweave("describe", *options)
        whole = path.read_bytes().splitlines(keepends=True)
        path.unlink()
        # Another command ends while this one asks whether to go on.
        monkeypatch.setattr(describing, "confirm_price", lambda *_, **__: path.write_bytes(whole[0]))
        got = quoteweave("describe", *options)
    assert (len(server.requests), got.json()["pictures"], got.json()["described"]) == (3, 1, 1)
    told = "1 picture was described by another command meanwhile, and not described again"
    assert told in got.json()["notes"]
    assert told in " ".join(got.err.split())
