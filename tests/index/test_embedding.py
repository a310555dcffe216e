"""Views become shards: what is encoded together, what is not encoded again, and what is refused."""

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from made_collections import made_quote, make_collection, put
from made_vectors import ColourPictures
from PIL import Image

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexPlan
from quoteweave.core.errors import EndpointUnreachable, MissingExtra, ModelFailed
from quoteweave.core.records import Quote
from quoteweave.index import embedding
from quoteweave.index.embedding import EmbedProgress, EmbedResult, embed_missing
from quoteweave.index.encoder_index import make_plan
from quoteweave.testing import FakeEncoder

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

PORT = {"a.txt": ["grain", "timber", "fish"], "b.txt": ["coal", "salt", "wool"], "c.txt": list("vwxyz")}


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path, PORT) as collection:
        yield collection


def run(
    collection: Collection,
    encoder: FakeEncoder,
    *,
    pictures: ColourPictures | None = None,
    progress: EmbedProgress | None = None,
) -> EmbedResult:
    with collection.writer() as writer:
        return embed_missing(collection, writer, encoder, plan_of(encoder), pictures=pictures, progress=progress)


def plan_of(encoder: FakeEncoder) -> IndexPlan:
    return make_plan(encoder, "fake")


def vectors(embedded: EmbedResult, name: str) -> list["Matrix"]:
    """What is stored of each item of a document."""
    stored = embedded.stored[name]
    shape = (int(stored.lengths.sum()), stored.dimension)
    mapped = np.memmap(stored.path, dtype=stored.dtype, mode="r", offset=stored.offset, shape=shape)
    return np.split(np.array(mapped), np.cumsum(stored.lengths)[:-1])


def change(collection: Collection, folder: Path, name: str, quotes: Sequence[Quote | str]) -> None:
    made = [made_quote(quote) if isinstance(quote, str) else quote for quote in quotes]
    with collection.writer() as writer:
        put(writer, folder, name, made)


@pytest.mark.parametrize("many", [False, True])
def test_what_is_stored_is_what_the_encoder_made_of_each_quote(port: Collection, many: bool) -> None:
    encoder = FakeEncoder(multi_vector=many)
    embedded = run(port, encoder)
    assert sorted(embedded.stored) == sorted(embedded.fresh) == sorted(PORT)
    assert embedded.encoded == 11
    for name, texts in PORT.items():
        assert embedded.stored[name].dtype == (np.float16 if many else np.float32)
        for stored, right in zip(vectors(embedded, name), encoder.encode_queries(texts), strict=True):
            np.testing.assert_allclose(stored, right, atol=1e-3 if many else 0)


def test_small_documents_share_a_call_and_a_long_one_takes_several(
    port: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "TEXTS_AT_ONCE", 4)
    encoder, told = FakeEncoder(), list[int]()
    progress = EmbedProgress(on_total=told.append, on_done=told.append)
    embedded = run(port, encoder, progress=progress)
    assert encoder.views == [["grain", "timber", "fish", "coal"], ["salt", "wool", "v", "w"], ["x", "y", "z"]]
    assert told == [11, 4, 4, 3]
    assert [len(vectors(embedded, name)) for name in PORT] == [3, 3, 5]


def test_no_more_pictures_are_loaded_than_are_encoded_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "PICTURES_AT_ONCE", 3)
    pictures, loaded = ColourPictures(), list[int]()

    def count(matrices: list["Matrix"]) -> list["Matrix"]:
        loaded.append(len(pictures.drawn))
        return matrices

    encoder = FakeEncoder(reads="image", spoil=count)
    with make_collection(tmp_path, {"a.pdf": ["red", "lime"], "b.pdf": ["blue"] * 5}) as collection:
        run(collection, encoder, pictures=pictures)
    assert encoder.views == [["#ff0000", "#00ff00", "#0000ff"], ["#0000ff"] * 3, ["#0000ff"]]
    assert loaded == [3, 6, 7]


class Batched(FakeEncoder):
    """Of pictures, in a batch of 32."""

    at_once = 4 * 32


def test_an_encoder_gets_as_many_pictures_as_it_says(tmp_path: Path) -> None:
    encoder = Batched(reads="image")
    with make_collection(tmp_path, {"a.pdf": ["red"] * 100, "b.pdf": ["blue"] * 30}) as collection:
        run(collection, encoder, pictures=ColourPictures())
    assert [len(call) for call in encoder.views] == [128, 2]


@pytest.mark.parametrize(("pixels", "calls"), [(3 * 64, [3, 3, 1]), (3 * 64 - 1, [3, 3, 1]), (1, [1] * 7)])
def test_the_pixels_that_are_in_memory_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pixels: int, calls: list[int]
) -> None:
    monkeypatch.setattr(embedding, "PIXELS_AT_ONCE", pixels)
    encoder = Batched(reads="image")
    with make_collection(tmp_path, {"a.pdf": ["red"] * 7}) as collection:
        run(collection, encoder, pictures=ColourPictures())  # each of 8 × 8 pixels
    assert [len(call) for call in encoder.views] == calls


def test_of_the_pictures_that_were_encoded_none_stays_in_memory(tmp_path: Path) -> None:
    alive: list[int] = []

    class Counted(ColourPictures):
        def crop(self, quote: Quote) -> Image.Image:
            picture = super().crop(quote)
            refs.append(weakref.ref(picture))
            alive.append(sum(ref() is not None for ref in refs))
            return picture

    refs: list[weakref.ref[Image.Image]] = []
    with make_collection(tmp_path, {"a.pdf": ["red"] * 40}) as collection:
        run(collection, FakeEncoder(reads="image"), pictures=Counted())
    assert max(alive) == embedding.PICTURES_AT_ONCE


def test_where_nothing_is_to_be_encoded_the_encoder_is_not_asked_how_many_it_takes(port: Collection) -> None:
    class Asked(FakeEncoder):
        @property
        def at_once(self) -> int:
            raise MissingExtra("torch", "models")

    run(port, FakeEncoder())
    assert run(port, Asked()).encoded == 0
    with pytest.raises(MissingExtra):
        run(port, Asked(settings={"other": 1}))


def test_what_has_not_changed_is_not_encoded_again(port: Collection, tmp_path: Path) -> None:
    encoder = FakeEncoder()
    first = run(port, encoder)
    with port.writer() as writer:
        writer.set_metadata("a.txt", {"year": "2020"})
        writer.remove("c.txt")
    change(port, tmp_path, "b.txt", ["coal", "tin"])
    second = run(port, encoder)
    assert encoder.views[1:] == [["coal", "tin"]]
    assert second.fresh == {"b.txt"}
    assert second.stored["a.txt"].path == first.stored["a.txt"].path
    assert run(port, encoder).encoded == 0
    assert len(list((port.root / "vectors").rglob("*.npz"))) == 2


def test_equal_documents_are_encoded_once_and_stay_as_long_as_one_of_them(tmp_path: Path) -> None:
    encoder = FakeEncoder()
    with make_collection(tmp_path, {"a.txt": ["grain"], "b.txt": ["grain"]}) as collection:
        run(collection, encoder)
        change(collection, tmp_path, "c.txt", ["grain"])
        embedded = run(collection, encoder)
        with collection.writer() as writer:
            writer.remove("a.txt")
            writer.remove("b.txt")
        assert run(collection, encoder).encoded == 0
        assert encoder.views == [["grain"]]
        assert len({stored.path for stored in embedded.stored.values()}) == 1


def test_settings_view_and_unit_have_shards_of_their_own(port: Collection) -> None:
    plans = [
        plan_of(FakeEncoder()),
        plan_of(FakeEncoder(settings={"max_length": 8})),
        plan_of(FakeEncoder(multi_vector=True)),
    ]
    plans += [make_plan(FakeEncoder(), "x", view="ocr_text"), make_plan(FakeEncoder(), "x", unit="page")]
    assert len({plan.shards for plan in plans}) == len(plans)
    hnsw = make_plan(FakeEncoder(), "another", kind="hnsw")
    assert (hnsw.shards, hnsw.fingerprint) == (plans[0].shards, f"{plans[0].shards}.hnsw")


def test_a_truncated_shard_costs_its_document_alone(port: Collection) -> None:
    encoder = FakeEncoder()
    path = run(port, encoder).stored["b.txt"].path
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    again = run(port, encoder)
    assert (encoder.views[1:], again.fresh) == ([PORT["b.txt"]], {"b.txt"})
    assert path.read_bytes()[:-200] == whole[:-200]  # zip archives hold the time


def test_what_has_no_words_is_left_out_and_costs_nothing(tmp_path: Path) -> None:
    encoder = FakeEncoder()
    quotes: dict[str, list[Quote | str]] = {
        "a.txt": ["grain", " ", "fish"],
        "b.txt": ["", made_quote("", layout="figure")],
        "c.txt": [],
    }
    with make_collection(tmp_path, quotes) as collection:
        embedded = run(collection, encoder)
        assert encoder.views == [["grain", "fish"]]
        assert [embedded.stored[name].lengths.tolist() for name in quotes] == [[1, 0, 1], [0, 0], []]
        assert run(collection, encoder).fresh == set()


def test_headers_and_footers_are_not_encoded(tmp_path: Path) -> None:
    encoder = FakeEncoder()
    with make_collection(tmp_path, {"a.txt": ["grain", made_quote("page 1", layout="footer")]}) as collection:
        run(collection, encoder)
    assert encoder.views == [["grain"]]


def one_less(matrices: list["Matrix"]) -> list["Matrix"]:
    return matrices[:-1]


def with_nan(matrices: list["Matrix"]) -> list["Matrix"]:
    matrices[-1][0, 3] = np.nan
    return matrices


def flat(matrices: list["Matrix"]) -> list["Matrix"]:
    return [matrix[0] for matrix in matrices]


def doubled(matrices: list["Matrix"]) -> list["Matrix"]:
    return [np.concatenate([matrix, matrix]) for matrix in matrices]


def narrow(matrices: list["Matrix"]) -> list["Matrix"]:
    return [matrix[:, :5] for matrix in matrices]


def huge(matrices: list["Matrix"]) -> list["Matrix"]:
    return [matrix * 1e6 for matrix in matrices]


@pytest.mark.parametrize(
    ("spoil", "many", "told"),
    [
        (one_less, False, "gave 4 results for 5 inputs"),
        (with_nan, False, r"gave numbers that are not finite .* for quote \w+:0:4"),
        (flat, False, r"gave an array of shape \(64,\) for quote \w+:0:0 where one vector should be"),
        (flat, True, r"gave an array of shape \(64,\) for quote \w+:0:0 where vectors should be"),
        (doubled, False, r"gave an array of shape \(2, 64\)"),
        (narrow, False, r"gave 5 numbers for quote \w+:0:0 where its vectors have 64"),
        (huge, True, r"gave numbers that are not finite .* for quote \w+:0:0 as float16"),
    ],
)
def test_what_are_no_vectors_is_refused_and_what_was_done_stays(
    port: Collection, spoil: Callable[..., list["Matrix"]], many: bool, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "TEXTS_AT_ONCE", 6)

    def spoiled(matrices: list["Matrix"]) -> list["Matrix"]:
        return matrices if len(encoder.views) == 1 else spoil(matrices)

    encoder = FakeEncoder(multi_vector=many, spoil=spoiled)
    with pytest.raises(ModelFailed, match=f"^fake {told}"):
        run(port, encoder)
    good = FakeEncoder(multi_vector=many)
    assert run(port, good).fresh == {"c.txt"}
    assert good.views == [PORT["c.txt"]]


def test_vectors_of_another_dimension_than_those_that_are_stored_are_refused(port: Collection, tmp_path: Path) -> None:
    settings = {"dimensions": None}
    run(port, FakeEncoder(settings=settings))
    change(port, tmp_path, "d.txt", ["new"])
    with pytest.raises(ModelFailed, match=r"gave 32 numbers for quote .* where its vectors have 64"):
        run(port, FakeEncoder(dimension=32, settings=settings))


def test_an_endpoint_that_fails_in_the_middle_loses_nothing(port: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "TEXTS_AT_ONCE", 4)

    def away(matrices: list["Matrix"]) -> list["Matrix"]:
        if len(encoder.views) == 2:
            raise EndpointUnreachable("nothing answers")
        return matrices

    encoder = FakeEncoder(spoil=away)
    with pytest.raises(EndpointUnreachable):
        run(port, encoder)
    encoder.spoil = None
    told = list[int]()
    assert run(port, encoder, progress=EmbedProgress(on_total=told.append, on_done=told.append)).encoded == 11 - 4
    assert encoder.views[2:] == [["salt", "wool", "v", "w"], ["x", "y", "z"]]
    assert told == [8, 1, 4, 3]


def test_a_long_document_is_stored_in_parts_which_end_as_its_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "TEXTS_AT_ONCE", 2)
    words = ["one", "two", "three", "four", "five", "six", "seven"]

    def stopped(matrices: list["Matrix"]) -> list["Matrix"]:
        if len(encoder.views) == 3:
            raise KeyboardInterrupt
        return matrices

    with make_collection(tmp_path, {"long.txt": words}) as collection:
        encoder = FakeEncoder(spoil=stopped)
        with pytest.raises(KeyboardInterrupt):
            run(collection, encoder)
        assert len(list((collection.root / "vectors").rglob("*.npz"))) == 2
        damaged = max((collection.root / "vectors").rglob("*.npz"))
        damaged.write_bytes(damaged.read_bytes()[:100])
        encoder.spoil = None
        embedded = run(collection, encoder)
        assert encoder.views[3:] == [["three", "four"], ["five", "six"], ["seven"]]
        assert np.allclose(np.concatenate(vectors(embedded, "long.txt")), np.concatenate(encoder.encode_views(words)))
        assert len(list((collection.root / "vectors").rglob("*.npz"))) == 1


COLOURS: Mapping[str, Sequence[str]] = {"a.pdf": ["red", "lime", "blue"], "b.pdf": ["white", "black"]}


def test_a_picture_that_cannot_be_had_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    pictures, encoder = ColourPictures(), FakeEncoder(reads="image")
    pictures.broken, pictures.damaged = {"lime"}, {"white"}
    with make_collection(tmp_path, COLOURS) as collection:
        embedded = run(collection, encoder, pictures=pictures)
        assert encoder.views == [["#ff0000", "#0000ff", "#000000"]]
        assert [embedded.stored[name].lengths.tolist() for name in COLOURS] == [[1, 0, 1], [0, 1]]
        texts = {collection.quote(one.quote).text: one.reason for one in embedded.unreadable}
        assert texts["lime"].endswith(": 'a.pdf' cannot be drawn")
        assert "truncated" in texts["white"]
        assert len(texts) == 2

        again = run(collection, encoder, pictures=pictures)
        assert (again.unreadable, again.encoded) == (embedded.unreadable, 0)
        pictures.broken = set()
        mended = run(collection, encoder, pictures=pictures)
        assert (mended.fresh, [collection.quote(one.quote).text for one in mended.unreadable]) == ({"a.pdf"}, ["white"])
        assert mended.stored["a.pdf"].lengths.tolist() == [1, 1, 1]


def test_all_pictures_of_a_document_may_be_damaged(tmp_path: Path) -> None:
    pictures, encoder = ColourPictures(), FakeEncoder(reads="image")
    pictures.damaged = set(COLOURS["a.pdf"])
    with make_collection(tmp_path, {"a.pdf": COLOURS["a.pdf"]}) as collection:
        embedded = run(collection, encoder, pictures=pictures)
        assert embedded.stored["a.pdf"].lengths.tolist() == [0, 0, 0]
        assert (encoder.views, embedded.encoded, len(embedded.unreadable)) == ([], 0, 3)
        run(collection, FakeEncoder(reads="image", dimension=3), pictures=pictures)


def test_pictures_that_become_others_are_encoded_again_unless_fewer_can_be_seen(tmp_path: Path) -> None:
    """As those of an encrypted file do with its password, and again without it."""
    locked, unlocked, encoder = LockedPictures(), ColourPictures(), FakeEncoder(reads="image")
    with make_collection(tmp_path, COLOURS) as collection:
        assert len(run(collection, encoder, pictures=locked).unreadable) == 3
        seen = run(collection, encoder, pictures=unlocked)
        assert (seen.fresh, seen.unreadable, encoder.views[1:]) == ({"a.pdf"}, [], [["#ff0000", "#00ff00", "#0000ff"]])
        again = run(collection, encoder, pictures=locked)
        assert (again.fresh, again.stored["a.pdf"].key) == (set(), seen.stored["a.pdf"].key)
        assert again.stored["a.pdf"].lengths.tolist() == [1, 1, 1]
        assert run(collection, encoder, pictures=unlocked).unreadable == []
        assert len(encoder.views) == 2


class LockedPictures(ColourPictures):
    """Of which those of the first document cannot be drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = set(COLOURS["a.pdf"])

    def crop_key(self, quote: Quote) -> str | None:
        return f"{'locked' if quote.text in self.broken else ''}{super().crop_key(quote)}"


def test_documents_without_pictures_are_left_out(tmp_path: Path) -> None:
    encoder, pictures = FakeEncoder(reads="image"), ColourPictures(without=["b.pdf"])
    with make_collection(tmp_path, COLOURS) as collection:
        embedded = run(collection, encoder, pictures=pictures)
    assert encoder.views == [["#ff0000", "#00ff00", "#0000ff"]]
    assert embedded.stored["b.pdf"].lengths.tolist() == [0, 0]
