import hashlib
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_documents import made_document, made_page, made_quote, origin_of, put, stored_files

from quoteweave.collection.collection import Collection
from quoteweave.collection.prepared import PackedTexts
from quoteweave.collection.segments import store
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import DamagedDocument, UsageError
from quoteweave.core.records import ParsedDocument

rebuild = Writer.rebuild_lexical


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection.create(tmp_path / "c")


def test_ids_follow_from_name_and_content_alone(tmp_path: Path, collection: Collection) -> None:
    with collection.writer() as writer:
        first = put(writer, tmp_path, "a.txt", made_document(["one"]))
        writer.remove("a.txt")
        again = put(writer, tmp_path, "a.txt", made_document(["one"]))
        assert put(writer, tmp_path, "b.txt", made_document(["one"])).id != again.id
        assert put(writer, tmp_path, "a.txt", made_document(["two"])).id != again.id
    content = hashlib.sha256(b"one").hexdigest()
    assert first.id == again.id == hashlib.sha256(f"a.txt\0{content}".encode()).hexdigest()[:12]


def test_a_document_of_the_same_name_is_replaced_whole(tmp_path: Path, collection: Collection) -> None:
    old_image = collection.images.put(b"old", suffix=".png")
    with collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["one", "two", "three"], image=old_image))
    old_rows, old_source = collection.select().tolist(), collection.source_file("a.txt")
    with collection.writer() as writer:
        new_image = collection.images.put(b"new", suffix=".png")
        put(writer, tmp_path, "a.txt", made_document(["four"], image=new_image))
    assert [document.quotes for document in collection.documents()] == [2]
    assert [quote.text for quote in collection.document_quotes("a.txt")] == ["four", ""]
    assert len(collection.pages("a.txt")) == 1
    assert collection.quotes_at(old_rows) == [None] * 4
    assert stored_files(collection.images.root) == {collection.images.path(new_image)}
    assert not old_source.exists()


def test_an_image_that_two_documents_share_stays_until_both_are_gone(tmp_path: Path, collection: Collection) -> None:
    image = collection.images.put(b"shared", suffix=".png")
    with collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["same"], image=image))
        put(writer, tmp_path, "b.txt", made_document(["same"], image=image))
    assert collection.source_file("a.txt") == collection.source_file("b.txt")
    with collection.writer() as writer:
        writer.remove("a.txt")
    assert collection.images.path(image).exists()
    assert collection.source_file("b.txt").exists()
    with collection.writer() as writer:
        writer.remove("b.txt")
    assert stored_files(collection.root / "images") == stored_files(collection.root / "sources") == set()


def test_the_revision_grows_with_each_change_of_documents_and_no_other(tmp_path: Path, collection: Collection) -> None:
    seen = [collection.revision()]
    with collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["one"]))
        seen.append(collection.revision())
        writer.set_metadata("a.txt", {"year": "2020"})
        seen.append(collection.revision())
        writer.set_metadata("a.txt", {"year": "2020"})
        writer.fail("b.txt", root=tmp_path, reason="empty", content=None)
        writer.clear_failure("b.txt")
        writer.publish("made", "f1", build=lambda folder: None, revision=seen[-1])
        assert collection.revision() == seen[-1]
        writer.remove("a.txt")
        seen.append(collection.revision())
    assert seen == sorted(set(seen))


def test_metadata_changes_leave_quotes_and_rows(tmp_path: Path, collection: Collection) -> None:
    with collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["one"]), metadata={"year": "2020", "lang": "en"})
        rows = collection.select().tolist()
        writer.set_metadata("a.txt", {"year": "2021"})
    assert collection.document("a.txt").metadata == {"year": "2021"}
    assert collection.origins()["a.txt"].metadata == {"year": "2021"}
    assert collection.select().tolist() == rows


def test_failures_are_remembered_until_the_document_goes_in(tmp_path: Path, collection: Collection) -> None:
    with collection.writer() as writer:
        writer.fail("b.pdf", root=tmp_path, reason="needs a password", content="ab" * 32)
        writer.fail("a.txt", root=tmp_path, reason="empty", content=None)
        writer.fail("a.txt", root=tmp_path, reason="still empty", content=None)
    failed = collection.failures()
    assert [(failure.name, failure.root, failure.reason, failure.content) for failure in failed] == [
        ("a.txt", tmp_path, "still empty", None),
        ("b.pdf", tmp_path, "needs a password", "ab" * 32),
    ]
    with collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["one"]))
        writer.clear_failure("b.pdf")
        writer.clear_failure("never failed")
    assert collection.failures() == []


def test_a_name_that_is_not_unicode_fails_alone_and_can_be_listed(tmp_path: Path, collection: Collection) -> None:
    name = b"caf\xe9.txt".decode("utf-8", "surrogateescape")
    with collection.writer() as writer:
        with pytest.raises(DamagedDocument, match=r"caf\\udce9\.txt.*document record"):
            put(writer, tmp_path, name, made_document(["text"]))
        writer.fail(name, root=tmp_path / name, reason=f"{name}: not Unicode", content=None)
        assert [failure.name for failure in collection.failures()] == [r"caf\udce9.txt"]
        writer.clear_failure(name)
    assert collection.failures() == []


@pytest.mark.parametrize(
    "bad",
    [
        made_quote("lone surrogate \ud800"),
        made_quote("x").model_copy(update={"bbox": (0.0, 0.0, math.inf, 1.0)}),
        made_quote("x").model_copy(update={"bbox": (math.nan, 0.0, 1.0, 1.0)}),
    ],
)
def test_what_json_cannot_hold_never_gets_in(tmp_path: Path, collection: Collection, bad: object) -> None:
    parsed = ParsedDocument(pages=(made_page(0),), quotes=()).model_copy(update={"quotes": (bad,)})
    with collection.writer() as writer:
        with pytest.raises(DamagedDocument, match=r"'a\.txt' cannot be stored: quote \w+:0:0 holds"):
            put(writer, tmp_path, "a.txt", parsed, content=b"x")
        path = tmp_path / "a.txt"
        origin = origin_of(path).model_copy(update={"root": Path("/caf\udce9")})
        with pytest.raises(DamagedDocument, match="rename that folder"):
            writer.put(path, name="a.txt", format="text", origin=origin, parsed=made_document(["text"]))
    assert collection.documents() == []


def test_a_parser_that_breaks_its_promise_changes_nothing(tmp_path: Path, collection: Collection) -> None:
    promises = [
        ParsedDocument(pages=(made_page(0),), quotes=(made_quote("x"), made_quote("y"))),
        ParsedDocument(pages=(made_page(0),), quotes=(made_quote("x", page=7),)),
        ParsedDocument(pages=(made_page(0), made_page(0)), quotes=()),
    ]
    with collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["one"]))
        for parsed in promises:
            with pytest.raises(ValueError, match=r"the parser of 'a\.txt' gave .* twice"):
                put(writer, tmp_path, "a.txt", parsed)
    assert [quote.text for quote in collection.document_quotes("a.txt")] == ["one"]


def test_changing_what_is_not_there_is_refused(collection: Collection) -> None:
    with collection.writer() as writer:
        with pytest.raises(UsageError, match=r"'a\.txt'"):
            writer.remove("a.txt")
        with pytest.raises(UsageError, match=r"'a\.txt'"):
            writer.set_metadata("a.txt", {})
        with pytest.raises(UsageError, match=r"'a\.txt'"):
            writer.keep_shards("f1", {"a.txt": "ab"})


def test_shards_live_as_long_as_a_document_refers_to_them(tmp_path: Path, collection: Collection) -> None:
    with collection.writer() as writer:
        for name in ("a.txt", "b.txt"):
            put(writer, tmp_path, name, made_document([name]))
            for fingerprint in ("f1", "f2"):
                collection.shards.put(fingerprint, f"key-{name[0]}", {})
                writer.keep_shards(fingerprint, {name: f"key-{name[0]}"})
        collection.shards.put("f1", "orphan", {})
    assert sorted(path.name for path in stored_files(collection.shards.root / "f1")) == ["key-a.npz", "key-b.npz"]
    with collection.writer() as writer:
        writer.remove("a.txt")
        writer.drop_index("f2")
    assert stored_files(collection.shards.root) == {collection.shards.root / "f1" / "key-b.npz"}


names = st.sampled_from(["a.txt", "b.txt", "c/a.txt"])
texts = st.lists(st.text(max_size=5), max_size=3)
changes = st.lists(
    st.tuples(st.just("put"), names, texts) | st.tuples(st.just("remove"), names, st.just([])), max_size=12
)


@given(changes)
def test_any_sequence_of_changes_leaves_what_a_plain_dict_would(steps: list[tuple[str, str, list[str]]]) -> None:
    model: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder, Collection.create(Path(folder, "c")) as collection:
        with collection.writer() as writer:
            for step, name, text in steps:
                if step == "put":
                    put(writer, Path(folder), name, made_document(text))
                    model[name] = text
                elif model.pop(name, None) is not None:
                    writer.remove(name)
        stored = {document.name: quotes for document, _, quotes in collection.iter_documents_quotes()}
        assert {name: [quote.text for quote in quotes] for name, quotes in stored.items()} == model
        assert list(stored) == sorted(model) == list(collection.origins())
        assert len(collection.select()) == collection.counts().quotes == sum(map(len, model.values()))
        assert collection.counts().pages == sum(len(collection.pages(name)) for name in model)
        assert len(stored_files(collection.root / "sources")) == len({"\n".join(text) for text in model.values()})


def test_the_texts_of_a_prepared_document_are_packed() -> None:
    texts = [f'{{"text": "Harbour {number} \u2028 grain"}}' for number in range(20_000)]
    packed = PackedTexts.of(iter(texts))
    assert (list(packed), len(packed)) == (texts, 20_000)
    assert len(packed.blocks) > 1
    assert sum(map(len, packed.blocks)) < sum(map(len, texts)) / 3
    assert list(PackedTexts.of([])) == []
    with pytest.raises(ValueError, match="line break"):
        PackedTexts.of(["a\nb"])


def test_segments_made_by_other_rules_are_made_anew_by_the_next_writer_and_only_then(
    tmp_path: Path, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_anew: list[Writer] = []

    def noting(self: Writer) -> None:
        made_anew.append(self)
        rebuild(self)

    monkeypatch.setattr(Writer, "rebuild_lexical", noting)
    with collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["one"]))
    with collection.writer():
        assert made_anew == []
    revision = collection.revision()
    monkeypatch.setattr(store, "SEGMENT_RULES", 999)
    for _ in range(2):
        with collection.writer():
            assert len(made_anew) == 1
    assert collection.revision() == revision  # indexes of vectors hold all that they held
