"""The lexical index beside a collection that changes: always in step, whatever the order and batches of the changes."""

import multiprocessing
import os
import random
import tempfile
import threading
import tracemalloc
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from made_collections import changing, made_quote, make_collection, prepare, put

from quoteweave.collection.collection import Collection
from quoteweave.collection.segments import builder as segment_builder
from quoteweave.collection.segments import store as segment_store
from quoteweave.collection.segments.merge import merge_segments
from quoteweave.collection.segments.segment import read_segment, write_segment
from quoteweave.collection.segments.store import SegmentStore
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import CollectionError
from quoteweave.core.records import Filter, Query
from quoteweave.core.text.tokens import Vocabulary
from quoteweave.index import lexical, term_weights
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.sparse import Bm25Retriever, TfidfRetriever

WORDS = ("grain", "timber", "harbour", "crane", "ship", "rail", "Figure 2", "page 1", "!")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


def found(retriever: Bm25Retriever, question: str = "grain") -> list[str]:
    return sorted(hit.quote.document for hit in retriever.search([Query(text=question)], 50)[0])


def add(collection: Collection, folder: Path, name: str, text: str) -> None:
    with collection.writer() as writer:
        put(writer, folder / "files", name, [made_quote(text)])


def segment_files(collection: Collection) -> set[str]:
    return {path.name for path in (collection.root / "lexical").glob("*")}


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path, {"a": ["grain"], "b": ["grain by ship"]}) as made:
        yield made


@pytest.mark.parametrize("field", ["quotes", "pages", "outline"])
def test_documents_are_scored_as_if_each_were_searched_alone(field: str, tmp_path: Path) -> None:
    pages = [made_quote(text, page=page) for page, text in enumerate(["grain by rail", "grain, grain", "a ship"])]
    titled = [made_quote("Grain", page=0, layout="title"), *pages]
    others = [[made_quote("grain by ship")], [made_quote("rail", layout="header")], [made_quote("rail")]]
    with make_collection(tmp_path, dict(zip("abcd", [titled, *others], strict=True))) as collection:
        index = lexical.current_lexical_index(collection)
        of = index.document_of[index.page_of] if field == "quotes" else index.document_of
        asked = ["grain", "rail", "grain", "crane"]
        for among in ([0, 1, 2, 3], [0, 2], [2, 3], [2], [1]):
            positions, scores = index.scores_in_documents(field, asked, among)
            assert positions.tolist() == np.flatnonzero(np.isin(of, among)).tolist()
            for document in among:
                alone = index.scores(field, asked, within=of == document)[of == document].tolist()
                np.testing.assert_allclose(scores[of[positions] == document], alone, rtol=1e-6)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["grain", "timber", "!", None])), max_size=8))
def test_after_any_changes_what_is_found_is_what_is_there(steps: list[tuple[str, str | None]]) -> None:
    present: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, Collection.create(Path(folder) / "collection") as collection:
        retriever = LexicalRetriever(collection)
        for name, text in steps:
            if text is not None:
                present[name] = text
                add(collection, Path(folder), name, text)
            elif present.pop(name, None) is not None:
                with collection.writer() as writer:
                    writer.remove(name)
            for word in ("grain", "timber"):
                assert found(retriever, word) == [name for name, text in sorted(present.items()) if text == word]
            assert segment_files(collection) == {path.name for path in collection.segments()[0]}


@settings(max_examples=12)
@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.tuples(texts, st.integers(0, 2)), max_size=4)),
    texts,
    st.randoms(use_true_random=False),
)
def test_order_and_batches_of_adding_change_no_result(
    documents: dict[str, list[tuple[str, int]]], question: str, chance: random.Random
) -> None:
    def results(order: Sequence[str], batch: int, detour: bool) -> list[list[tuple[str, str, float]]]:
        with tempfile.TemporaryDirectory() as folder, Collection.create(Path(folder) / "collection") as collection:
            with collection.writer() as writer:
                if detour:
                    put(writer, Path(folder) / "files", "a", [made_quote("grain that goes again")])
                    put(writer, Path(folder) / "files", "z", [made_quote("timber that goes again")])
                for start in range(0, len(order), batch):
                    writer.store(
                        [
                            prepare(
                                writer,
                                Path(folder) / "files",
                                name,
                                [made_quote(t, page=p) for t, p in documents[name]],
                            )
                            for name in order[start : start + batch]
                        ]
                    )
                for name in {"a", "z"} - documents.keys() if detour else ():
                    writer.remove(name)
            retrievers = [kind(collection) for kind in (Bm25Retriever, LexicalRetriever, TfidfRetriever)]
            found = [retriever.search([Query(text=question)], 50)[0] for retriever in retrievers]
            return [[(hit.quote.id, hit.quote.text, hit.score) for hit in hits] for hits in found]

    detour = bool(documents)  # documents of these names are there for a while, with other words
    names = sorted(documents)
    expected = results(names, max(1, len(names)), False)
    chance.shuffle(names)
    ways = [(0, 1, False), (0, 2, detour), (3, 1, False), (3, 2, detour)]
    with pytest.MonkeyPatch.context() as patch:
        for ratio, batch, with_detour in chance.sample(ways, 2):
            patch.setattr(segment_store, "RATIO", ratio)  # never merged; merged where sizes are near
            assert results(names, batch, with_detour) == expected


def test_a_document_is_found_as_soon_as_it_is_listed(collection: Collection, tmp_path: Path) -> None:
    retriever = Bm25Retriever(collection)
    with Collection.open(collection.root) as other, other.writer() as writer:
        for name in "cde":
            put(writer, tmp_path / "files", name, [made_quote("grain")])
            assert found(retriever) == [document.name for document in collection.documents()]
        writer.remove("a")
        assert found(retriever) == ["b", "c", "d", "e"]


def test_searching_writes_nothing_and_takes_no_lock(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection, Collection.open(collection.root) as other, other.writer():
        before = sorted(path for path in collection.root.rglob("*") if not path.name.endswith(("-shm", "-wal")))
        assert found(Bm25Retriever(collection)) == []
        after = sorted(path for path in collection.root.rglob("*") if not path.name.endswith(("-shm", "-wal")))
        assert after == before


def _replace_without_end(root: Path, folder: Path, started: "threading.Event", stop: "threading.Event") -> None:
    with Collection.open(root) as collection, collection.writer() as writer:
        number = 0
        while not stop.is_set():
            number += 1
            put(writer, folder, f"d{number % 7}", [made_quote(f"grain number {number}"), made_quote("grain too")])
            if number == 14:
                started.set()


def test_readers_beside_a_busy_writer_never_fail_and_see_whole_documents(
    collection: Collection, tmp_path: Path
) -> None:
    context = multiprocessing.get_context("spawn")
    started, stop = context.Event(), context.Event()
    writer = context.Process(target=_replace_without_end, args=(collection.root, tmp_path / "files", started, stop))
    writer.start()
    try:
        assert started.wait(60)
        retriever = Bm25Retriever(collection)
        for _ in range(60):
            names = found(retriever)
            assert {names.count(f"d{number}") for number in range(7)} == {2}
            assert names[:2] == ["a", "b"]
    finally:
        stop.set()
        writer.join(60)
    assert writer.exitcode == 0


def test_segments_are_few_and_each_document_is_in_one(tmp_path: Path) -> None:
    with make_collection(tmp_path, {f"d{i:03}": ["grain by rail"] for i in range(120)}) as collection:
        index = lexical.current_lexical_index(collection)
        assert len(index.segments) <= 6
        names = [name for segment in index.segments.values() for name in segment.names]
        assert sorted(names) == [f"d{i:03}" for i in range(120)]


def test_a_small_segment_stands_behind_a_large_one(tmp_path: Path) -> None:
    large = [made_quote(f"timber {i}", page=i) for i in range(700)]
    small = [made_quote("grain"), made_quote("Figure 2: ship", layout="caption")]
    with make_collection(tmp_path, {"a": large}) as made:
        with made.writer() as writer:
            put(writer, tmp_path / "files", "b", small)
        assert len(made.segments()[0]) == 2
        for retriever in (Bm25Retriever(made), LexicalRetriever(made), TfidfRetriever(made)):
            assert found(retriever) == ["b"] * len(found(retriever)) != []
        assert found(Bm25Retriever(made), "timber 699")[0] == "a"
        assert lexical.current_lexical_index(made).pages_with_reference("figure 2").tolist() == [700]


def test_words_of_a_removed_document_are_in_no_segment(collection: Collection, tmp_path: Path) -> None:
    add(collection, tmp_path, "secret name", "grain canarybird")
    with collection.writer() as writer:
        writer.remove("secret name")
        stored = b"".join(path.read_bytes() for path in (collection.root / "lexical").iterdir())
    assert b"grain" in stored
    assert b"canarybird" not in stored
    assert b"secret" not in stored


def test_a_part_of_a_picture_is_found_by_what_is_on_it(tmp_path: Path) -> None:
    """Its caption is of the whole, which would else rank below its shorter parts."""
    whole = made_quote("north quay south quay", layout="figure").model_copy(
        update={"caption": "Figure 1: Grain by rail", "section": "Timber"}
    )
    parts = [
        whole.model_copy(update={"text": f"{side} quay", "caption": f"Figure 1: Grain by rail (part {i} of 2)"})
        for i, side in enumerate(("north", "south"), 1)
    ]
    with make_collection(tmp_path, {"port": [whole, *parts]}) as collection:
        retriever = Bm25Retriever(collection)
        for question, captions in {"grain": 1, "timber": 1, "south": 2}.items():
            (hits,) = retriever.search([Query(text=question)], 5)
            assert len(hits) == captions, question
        assert hits[0].quote.text == "south quay"


def test_a_long_document_counted_in_parts_gives_the_same_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quotes = [
        made_quote(f"grain {i % 7} of the port", page=i // 3, layout="header" if i % 5 == 0 else "list").model_copy(
            update={"id": f"{i}"}
        )
        for i in range(40)
    ]
    names, files = ("first", "long", "last"), []
    for most in (segment_builder.MAX_GATHERED, 1, 20):
        monkeypatch.setattr(segment_builder, "MAX_GATHERED", most)
        builder = segment_builder.SegmentBuilder()
        for name, some in zip(names, (quotes[:2], quotes, quotes[:5]), strict=True):
            builder.add(name, enumerate(some))
        segment = builder.segment()
        assert segment is not None
        assert segment.names == names
        files.append(write_segment(tmp_path, segment))
    assert len(set(files)) == 1, "files are named by their content"
    assert segment_builder.SegmentBuilder().segment() is None


def test_only_the_words_of_what_changed_are_read_again(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    of_text = Vocabulary.of_text

    def spy(self: Vocabulary, text: str) -> "array[int]":
        read.append(text)
        return of_text(self, text)

    monkeypatch.setattr(Vocabulary, "of_text", spy)
    add(collection, tmp_path, "c", "grain by rail")
    assert read == ["grain by rail"]
    read.clear()
    add(collection, tmp_path, "b", "timber")
    with collection.writer() as writer:
        writer.remove("a")
    assert found(Bm25Retriever(collection)) == ["c"]
    assert read == ["timber"]


def test_a_failed_transaction_leaves_the_index_as_it_was(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = SegmentStore.update

    def fails(*given: Any, **named: Any) -> None:
        update(*given, **named)
        raise RuntimeError("in the middle")

    before = collection.segments()[0]
    with monkeypatch.context() as patch, collection.writer() as writer:
        patch.setattr(SegmentStore, "update", fails)
        with pytest.raises(RuntimeError):
            put(writer, tmp_path / "files", "c", [made_quote("grain")])
    assert collection.segments()[0] == before
    assert found(Bm25Retriever(collection)) == ["a", "b"]
    with collection.writer():
        pass
    assert segment_files(collection) == {path.name for path in before}


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_a_damaged_segment_is_named_and_can_be_made_again(collection: Collection, damage: str) -> None:
    (path,) = collection.segments()[0]
    data = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes({"flip": bytes(data), "cut": bytes(data[:-1]), "empty": b""}[damage])
    with pytest.raises(CollectionError, match=r"check .*--repair") as caught:
        found(Bm25Retriever(collection))
    assert str(path) in str(caught.value)
    with collection.writer() as writer:
        writer.rebuild_lexical()
    assert found(Bm25Retriever(collection)) == ["a", "b"]


def test_every_flip_of_a_segment_is_found_out(collection: Collection) -> None:
    (path,) = collection.segments()[0]
    data = path.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 60)):
        flipped = bytearray(data)
        flipped[at] ^= 0x10
        path.write_bytes(flipped)
        with pytest.raises(CollectionError, match="is damaged"):
            lexical.current_lexical_index(collection)


def test_a_quote_that_the_catalogue_lacks_is_damage_and_no_silence(collection: Collection) -> None:
    with changing(collection.root) as db:
        db.execute("DELETE FROM quotes WHERE id IN (SELECT id FROM quotes LIMIT 1)")
    with pytest.raises(CollectionError, match="lacks quotes"):
        found(Bm25Retriever(collection))


def test_an_opened_index_outlives_its_files(collection: Collection) -> None:
    index = lexical.current_lexical_index(collection)
    for path in collection.segments()[0]:
        path.unlink()
    assert (index.scores("quotes", ["grain"]) > 0).tolist() == [True, True]
    assert (index.scores("pages", ["ship"]) > 0).tolist() == [False, True]
    assert (index.cosines(["ship"]) > 0).tolist() == [False, True]
    assert list(index.pages_with_reference("page 1")) == [0, 1]


def test_a_description_is_found_and_its_quotes_get_new_rows(tmp_path: Path) -> None:
    quotes = [made_quote("Figure 1", layout="figure"), made_quote("timber")]
    with make_collection(tmp_path, {"a": quotes, "b": ["grain"]}) as collection:
        (picture, text), rows = collection.document_quotes("a"), collection.select().tolist()
        with collection.writer() as writer:
            writer.describe({"a": {picture.id: "a crane lifts grain"}})
        assert found(Bm25Retriever(collection), "crane grain") == ["a", "b"]
        assert found(Bm25Retriever(collection), "timber") == ["a"]
        assert collection.quotes_at(rows[:2]) == [None, None]
        assert collection.quote(text.id) == text


def test_headers_and_footers_are_words_of_their_page_but_no_quotes(tmp_path: Path) -> None:
    quotes = [made_quote("Annual report", layout="header"), made_quote("grain"), made_quote("timber", page=1)]
    with make_collection(tmp_path, {"a": quotes}) as collection:
        index = lexical.current_lexical_index(collection)
        assert index.rows.tolist() == collection.select().tolist()
        assert index.page_of.tolist() == [0, 1]
        assert index.page_count == 2
        assert (index.scores("pages", ["annual"]) > 0).tolist() == [True, False]
        assert index.scores("quotes", ["annual"]).tolist() == [0, 0]


def test_documents_stored_together_are_listed_together(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "collection") as collection, collection.writer() as writer:
        prepared = [prepare(writer, tmp_path / "files", name, [made_quote("grain")]) for name in "ab"]
        assert (collection.documents(), found(Bm25Retriever(collection))) == ([], [])
        writer.store(prepared)
        assert [document.name for document in collection.documents()] == found(Bm25Retriever(collection)) == ["a", "b"]
        assert isinstance(writer, Writer)


def test_rows_of_any_size_stay_what_they_are(collection: Collection, tmp_path: Path) -> None:
    """A repair gives rows beyond all that may have been given, and segments of either kind are merged."""
    with collection.writer(), changing(collection.root) as db:
        db.execute("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'quotes'", (1 << 33,))
    names = [f"later{number}" for number in range(40)]
    for number, name in enumerate(names):
        add(collection, tmp_path, name, f"word{number}")
    retriever = Bm25Retriever(collection)
    assert [found(retriever, f"word{number}") for number in range(40)] == [[name] for name in names]
    assert found(retriever) == ["a", "b"]


def test_a_filter_finds_a_document_that_is_replaced_meanwhile(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    select, replaced = Collection.select, list[str]()

    def replacing(self: Collection, where: Filter | None = None) -> object:
        if not replaced:
            replaced.append("a")
            with Collection.open(collection.root) as other:
                add(other, tmp_path, "a", "grain by rail")
        return select(self, where)

    retriever = Bm25Retriever(collection)
    assert found(retriever) == ["a", "b"]
    monkeypatch.setattr(Collection, "select", replacing)
    hits = retriever.search([Query(text="grain")], 5, where=Filter(documents=("a", "b")))[0]
    assert sorted(hit.quote.text for hit in hits) == ["grain by rail", "grain by ship"]


def test_collections_and_writers_keep_no_descriptor(collection: Collection, tmp_path: Path) -> None:
    def opened() -> int:
        return sum(1 for path in Path("/proc/self/fd").iterdir() if "catalog.sqlite" in os.path.realpath(path))

    if not Path("/proc/self/fd").exists():
        pytest.skip("counts descriptors by /proc")

    def use(times: int) -> int:
        for number in range(times):
            add(collection, tmp_path, "a", f"grain {number}")
            with Collection.open(collection.root) as other:
                assert found(Bm25Retriever(other)) == ["a", "b"]
        return opened()

    assert use(8) == use(2)


def test_rarity_is_a_share_and_few_pages_tell_no_word_common(tmp_path: Path) -> None:
    make_collection(tmp_path, {"a.md": ["grain silo"], "b.md": ["grain"]}).close()
    with Collection.open(tmp_path / "collection") as collection:
        index = lexical.current_lexical_index(collection)
    assert index.rarity("volcano") == 1.0
    # The rarity is as if 1 and 2 of 100 pages had the words: ln(1 + 99.5 / 1.5) / ln(1 + 100.5 / 0.5), and so on.
    assert index.rarity("silo") == pytest.approx(4.2095 / 5.3083, abs=1e-3)
    assert 3.6988 / 5.3083 < index.rarity("grain") < index.rarity("silo"), "few words do not show which are common"


def test_documents_that_are_alike_have_no_more_words_than_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_store, "RATIO", 0)  # none is merged
    with make_collection(tmp_path, {"a": ["rent and notice"]}) as collection:
        one = lexical.current_lexical_index(collection)
        for name in "bcd":  # a segment each
            add(collection, tmp_path, name, "notice and rent")
        alike = lexical.current_lexical_index(collection)
        add(collection, tmp_path, "e", " ".join(f"w{number}ord" for number in range(2 * lexical.MANY_WORDS)))
        mixed = lexical.current_lexical_index(collection)
    assert len(alike.segments) > 1
    assert 0 < one.variety(None, None) == alike.variety(None, None) == alike.variety(None, 2) < 0.1
    assert alike.rarity("notic") == pytest.approx(one.rarity("notic"), abs=0.05)
    assert (mixed.variety(None, None), mixed.variety(None, 0)) == (1.0, 1.0)
    assert mixed.rarity("notic") < alike.rarity("notic")
    assert mixed.variety(mixed.document_of < 4, 4) < 0.1


def test_segments_with_an_array_that_is_no_longer_used_are_read(tmp_path: Path) -> None:
    """Files of earlier versions end with one more: which texts go on."""
    with make_collection(tmp_path, {"a.pdf": ["grain"]}) as collection:
        (path,), _ = collection.segments()
        data = path.read_bytes()
        data += data[:192]  # the head of an array, and numbers
        older = tmp_path / f"{xxhash.xxh3_128_hexdigest(data)}.seg"
        older.write_bytes(data)
        read, whole = read_segment(older), read_segment(path)
    assert (read.names, read.vocabulary(), read.rows.tolist()) == (whole.names, whole.vocabulary(), whole.rows.tolist())


def test_a_segment_is_read_without_parsing_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python 3.11 that fails at times where several threads do so at once, as those of a server do."""
    with make_collection(tmp_path, {"a.pdf": ["grain"]}) as collection:
        (path,), _ = collection.segments()

        def broken(_: object) -> object:
            raise SystemError("AST constructor recursion depth mismatch")

        monkeypatch.setattr("ast.literal_eval", broken)
        assert read_segment(path).quote_counts.tolist() == [1]


def test_merging_takes_little_memory_where_every_word_is_another() -> None:
    parts = []
    for first in (0, 50_000):
        builder = segment_builder.SegmentBuilder()
        texts = (" ".join(f"w{number}x" for number in range(i, i + 100)) for i in range(first, first + 50_000, 100))
        builder.add(f"{first}.txt", ((first + i, made_quote(text, page=i)) for i, text in enumerate(texts)))
        part = builder.segment()
        assert part is not None
        parts.append(part)
    tracemalloc.start()
    try:
        merged = merge_segments(parts, ())
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 12e6  # 20e6 where all words are held at once
    assert merged.vocabulary() == sorted({token for part in parts for token in part.vocabulary()})
    without = merge_segments(parts, {"0.txt"})
    assert without.vocabulary() == parts[1].vocabulary()


def test_a_merged_segment_is_written_in_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = []
    for first in (0, 5_000):
        builder = segment_builder.SegmentBuilder()
        texts = (" ".join(f"w{(i * step) % 997}x" for step in range(1, 60)) for i in range(first, first + 5_000))
        builder.add(f"{first}.txt", ((first + i, made_quote(text, page=i // 50)) for i, text in enumerate(texts)))
        part = builder.segment()
        assert part is not None
        parts.append(part)
    monkeypatch.setattr("quoteweave.collection.segments.merge.MOVED_AT_ONCE", 10_000)
    merged = merge_segments(parts, ())
    whole = dict(merged.fields)
    assert len(whole["quotes"].items) > 500_000
    tracemalloc.start()
    try:
        name = write_segment(tmp_path, merged)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1.5e6  # 5e6 where the postings of a field are held at once
    read = read_segment(tmp_path / name)
    for field, postings in whole.items():
        found = read.fields[field]
        assert found.starts.tolist() == postings.starts.tolist()
        assert found.items.tolist() == postings.items.tolist()
        assert found.counts.tolist() == postings.counts.tolist()
        assert found.lengths.tolist() == postings.lengths.tolist()


def test_words_are_scored_alike_however_many_at_once(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(collection, tmp_path, "c", "timber and grain by rail, grain by ship")
    tokens, within = ["grain", "rail", "grain", "ship", "unknown"], np.array([True, False, True])

    def scores() -> list[list[float]]:
        index = lexical.current_lexical_index(collection)
        return [index.scores("quotes", tokens, within=each).tolist() for each in (None, within)]

    together = scores()
    monkeypatch.setattr(term_weights, "POSTINGS_AT_ONCE", 1)
    assert scores() == together
    assert together[0][2] > together[0][1] > 0
