"""After a removal no byte of what was removed is in the folder: every byte is searched, whatever was killed when."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from killed_processes import left_by_kills
from made_collections import made_quote, make_collection, put, reading

from quoteweave.collection.catalog import database as catalog
from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.image_texts import DESCRIPTIONS
from quoteweave.core.errors import UsageError
from quoteweave.index.encoder_index import EncoderIndex, make_plan
from quoteweave.index.removal import remove_documents
from quoteweave.index.sync import sync_indexes
from quoteweave.testing import FakeEncoder

NAME = "kanarienvogel/zaunkönig.txt"
WORDS = ("blaumeise", "rotkehlchen", "goldammer")
MANY = ("exact", "two-stage", "pool2", "binary")
SHARED = b"a picture that another document shows too"
OWN = b"a picture of the wren alone"
KEPT = {"kept.txt": [f"what stays {number}" for number in range(30)]}


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "READERS_MS", 0)


def canaries() -> list[bytes]:
    """What may be in no file: names, words, as they are and in other encodings, and the picture."""
    texts = ["kanarienvogel", "zaunkönig", "zaunk\\u00f6nig", *WORDS]
    return [OWN, *(text.encode(encoding) for text in texts for encoding in ("utf-8", "utf-16-le"))]


def found_in(root: Path, *more: bytes) -> dict[str, list[bytes]]:
    """Files that hold canaries, in their content or their name."""
    found: dict[str, list[bytes]] = {}
    for path in (path for path in root.rglob("*") if path.is_file()):
        data, name = path.read_bytes(), str(path.relative_to(root))
        whole = data.lower() + name.encode()
        held = [canary for canary in canaries() if canary in whole] + [canary for canary in more if canary in data]
        found |= {name: held} if held else {}
    return found


def store_of(collection: Collection, kind: str = "flat") -> EncoderIndex:
    encoder = FakeEncoder(multi_vector=kind in MANY)
    return EncoderIndex(collection, encoder, make_plan(encoder, f"fake@{kind}", kind=kind))


def build(collection: Collection, *kinds: str) -> None:
    with collection.writer() as writer:
        for kind in kinds:
            store_of(collection, kind).refresh(writer)
        sync_indexes(collection, writer)


def vectors(*texts: str, multi_vector: bool = False) -> list[bytes]:
    """As they lie on disk, in single and in half precision."""
    matrices = FakeEncoder(multi_vector=multi_vector).encode_views(list(texts))
    return [row.astype(dtype).tobytes() for matrix in matrices for row in matrix for dtype in ("float32", "float16")]


def words_of_pages(collection: Collection) -> list[bytes]:
    """How the words of its pages begin as they lie on disk; they are compressed, and begin with a checksum."""
    query = "SELECT substr(words, 1, 16) FROM page_words WHERE document = (SELECT key FROM documents WHERE name = ?)"
    with reading(collection.root) as db:
        return [head for (head,) in db.execute(query, (NAME,))]


def add_wren(collection: Collection, folder: Path) -> None:
    """A document with canaries: long enough for overflow pages, in between others that come and go."""
    with collection.writer() as writer:
        own, shared = (collection.images.put(data, suffix=".png") for data in (OWN, SHARED))
        pictures = [made_quote("", layout="figure", image=key) for key in (own, shared)]
        put(writer, folder, "other.txt", [made_quote("other"), made_quote("", layout="figure", image=shared)])
        texts = [word * length for word in WORDS for length in (1, 2000)]
        put(writer, folder, NAME, [*map(made_quote, texts), *pictures], metadata={"bird": "Goldammer"})
        writer.fail(NAME, root=folder, reason="goldammer", content=None)
        writer.fail(f"{folder}/{NAME}", root=folder, reason="its name is taken by zaunkönig", content=None)
    lines = [f'{{"key":"1","image":"{own}","text":"Rotkehlchen"}}', f'{{"key":"2","image":"{shared}","text":"shared"}}']
    (collection.root / DESCRIPTIONS).write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture
def with_wren(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path, KEPT) as collection:
        add_wren(collection, tmp_path / "files")
        yield collection


@pytest.mark.parametrize("kind", ["flat", "fp16", "hnsw", "ivfpq", "milvus", *MANY])
def test_no_byte_is_left_of_a_removed_document_in_any_index(with_wren: Collection, kind: str) -> None:
    pytest.importorskip("milvus_lite" if kind == "milvus" else "faiss")
    build(with_wren, kind)
    traces, words = vectors(*WORDS, multi_vector=kind in MANY), words_of_pages(with_wren)
    assert set(words) <= {canary for held in found_in(with_wren.root, *words).values() for canary in held}
    assert len(found_in(with_wren.root)) > 3
    assert {canary for held in found_in(with_wren.root, *traces).values() for canary in held} & set(traces)
    outcome = remove_documents(with_wren, [NAME])
    assert (outcome.removed, outcome.finished, outcome.index_notes, outcome.remaining_traces) == ((NAME,), (), (), ())
    assert found_in(with_wren.root, *traces, *words) == {}
    (kept,) = (with_wren.root / DESCRIPTIONS).read_text("utf-8").splitlines()
    assert '"shared"' in kept
    assert not with_wren.may_have_traces()
    asked = FakeEncoder(multi_vector=kind in MANY).encode_queries(["other"])
    (best,) = store_of(with_wren, kind).current().search(asked, 1, None)
    assert [quote and quote.text for quote in with_wren.quotes_at(best.rows.tolist())] == ["other"]


def test_no_byte_is_left_of_what_a_changed_document_said(with_wren: Collection, tmp_path: Path) -> None:
    build(with_wren, "flat")
    words = words_of_pages(with_wren)
    with with_wren.writer() as writer:
        put(writer, tmp_path / "files", NAME, [made_quote("something else")])
        sync_indexes(with_wren, writer)
        assert writer.finish_removals() == ()
    left = {canary for held in found_in(with_wren.root, *vectors(*WORDS), *words).values() for canary in held}
    assert left <= {text.encode() for text in ("kanarienvogel", "zaunkönig")}  # it is still there by that name


def test_pages_that_sqlite_rebalanced_keep_no_copies(tmp_path: Path) -> None:
    """SQLite's secure_delete leaves copies between the cells of pages that it rebalanced: here a document's id."""
    chance, here, gone = random.Random(7), dict[str, str](), set[str]()
    with make_collection(tmp_path, {}) as collection:
        with collection.writer() as writer:
            for number in range(80):
                if chance.random() < 0.6 or not here:
                    name = f"grauschnäpper-{number:02d}"
                    lengths = chance.choices([3, 10, 5], k=chance.choice([1, 5, 200]))
                    quotes = [made_quote(f"{name} " * length) for length in lengths]
                    here[name] = put(writer, tmp_path / "files", name, quotes).id
                else:
                    name = chance.choice(sorted(here))
                    writer.remove(name)
                    gone |= {name, here.pop(name)}
            writer.finish_removals()
        data = (collection.root / "catalog.sqlite").read_bytes()
    assert [canary for canary in gone if canary.encode() in data] == []
    assert all(text.encode() in data for both in here.items() for text in both)


def test_a_reader_in_the_way_is_told_and_the_next_writer_finishes(with_wren: Collection) -> None:
    build(with_wren, "flat")
    with reading(with_wren.root):
        outcome = remove_documents(with_wren, [NAME])
        assert outcome.removed == (NAME,)
        (told,) = outcome.remaining_traces
        assert "catalog.sqlite-wal still hold what was removed, because someone is reading" in told
        assert told.endswith("; so does: quoteweave check --removed NAME")
        assert any(path.startswith("catalog.sqlite") for path in found_in(with_wren.root))
        again = remove_documents(with_wren, [NAME])
        assert (again.removed, again.finished, again.remaining_traces) == ((), (NAME,), outcome.remaining_traces)
    outcome = remove_documents(with_wren, [NAME])
    assert (outcome.finished, outcome.remaining_traces) == ((NAME,), ())
    assert found_in(with_wren.root) == {}
    with pytest.raises(UsageError, match="no document is named"):
        remove_documents(with_wren, [NAME])


def test_a_removal_that_is_not_finished_tells_nothing_of_the_name(with_wren: Collection) -> None:
    with with_wren.writer() as writer:
        writer.remove(NAME)
        assert writer.unfinished_removals([NAME, "kept.txt"]) == {NAME}
    with reading(with_wren.root) as db:
        (salt, hashed) = db.execute("SELECT salt, hash FROM removals").fetchone()
    assert len(salt) == 32
    assert len(hashed) == 64


def remove(root: Path) -> None:
    with Collection.open(root) as collection:
        remove_documents(collection, [NAME])


def test_killed_at_any_step_the_same_command_or_another_finishes(with_wren: Collection, tmp_path: Path) -> None:
    build(with_wren, "flat")
    words = words_of_pages(with_wren)
    with_wren.close()
    half_done = 0
    left = left_by_kills(with_wren.root, tmp_path / "copies", remove, with_wren.root)
    for number, root in enumerate(left):
        with Collection.open(root) as collection:
            if number % 2 and not any(document.name == NAME for document in collection.documents()):
                with collection.writer() as writer:  # as any command that writes
                    assert (*sync_indexes(collection, writer), *writer.finish_removals()) == ()
                half_done += 1
            else:
                outcome = remove_documents(collection, [NAME]) if _is_known(collection) else None
                assert outcome is None or outcome.remaining_traces == ()
            assert {document.name for document in collection.documents()} == {"kept.txt", "other.txt"}
        assert found_in(root, *vectors(*WORDS), *words) == {}, f"killed in state {number}"
    assert len(left) > 20
    assert half_done > 3


def _is_known(collection: Collection) -> bool:
    with collection.writer() as writer:
        there = any(document.name == NAME for document in collection.documents())
        return there or bool(writer.unfinished_removals([NAME]))
