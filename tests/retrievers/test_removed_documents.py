"""Whatever is put, replaced and removed: what is gone is never found again, through any index, and what stays is."""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_collections import made_quote, make_collection, put

from quoteweave.core.records import Filter, Query
from quoteweave.index.collection import Collection
from quoteweave.index.kinds import OF_MANY
from quoteweave.index.upkeep import refresh_indexes
from quoteweave.retrievers.spec import Spec
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing import FakeEncoder

NAMES = ("a.txt", "b.txt", "c.txt")
Change = tuple[str, tuple[str, ...] | None, Literal["upkeep", "search", "index"]]
WORDS = ("grain", "timber", "coal", "salt", "wool")

# Texts share words, so that what is gone would be found if it were there. None removes the document.
changes = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.none() | st.lists(st.sampled_from(WORDS), max_size=4).map(tuple),
        st.sampled_from(["upkeep", "search", "index"]),
    ),
    min_size=1,
    max_size=8,
)


def follow(root: Path, kinds: Sequence[str], unit: Literal["quote", "page"], done: Sequence[Change]) -> None:
    """Makes the changes one by one; no index may ever find what is gone, and one brought up to date finds all."""
    there: dict[str, tuple[str, ...]] = {"old.txt": WORDS}
    with make_collection(root, {"old.txt": WORDS}) as collection:
        encoders = {kind: FakeEncoder(many=kind in OF_MANY) for kind in kinds}
        retrievers = {
            kind: VectorRetriever(collection, encoder, spec=Spec(name="fake", kind=kind, unit=unit))
            for kind, encoder in encoders.items()
        }
        for retriever in retrievers.values():
            retriever.refresh()
        for number, (name, texts, how) in enumerate([*done, ("old.txt", None, "upkeep")]):
            change(collection, root, name if name in there or texts is not None else None, texts, how == "upkeep")
            there = {other: said for other, said in there.items() if other != name}
            if texts is not None:
                there[name] = texts
            for kind, retriever in retrievers.items():
                if how == "index":
                    retriever.refresh()
                check(retriever, there, (number, kind), complete=how == "index")


def change(collection: Collection, folder: Path, name: str | None, texts: Sequence[str] | None, keeps_up: bool) -> None:
    with collection.writer() as writer:
        if name is not None and texts is None:
            writer.remove(name)
        elif name is not None and texts is not None:
            put(writer, folder / "files", name, [made_quote(text, page=i % 2) for i, text in enumerate(texts)])
        if keeps_up:
            assert refresh_indexes(collection, writer) == ()


def check(retriever: VectorRetriever, there: Mapping[str, Sequence[str]], at: object, *, complete: bool) -> None:
    everything = Counter((name, text) for name, texts in there.items() for text in texts)
    found = retriever.search([Query(text=word) for word in WORDS], 100)
    for word, hits in zip(WORDS, found, strict=True):
        said = Counter((hit.quote.document, hit.quote.text) for hit in hits)
        assert said == everything if complete else said <= everything, (at, word)
    for name in there:
        (hits,) = retriever.search([Query(text="grain")], 100, where=Filter(documents=(name,)))
        said = Counter((name, hit.quote.text) for hit in hits)
        assert said == Counter((name, text) for text in there[name]) if complete else said <= everything, at
    if complete:
        alive = set(retriever.collection.select().tolist())
        assert set(retriever.search_rows([Query(text="grain")], 100)[0].rows.tolist()) <= alive


@pytest.mark.parametrize("kind", ["flat", "fp16", "hnsw", "ivfpq", "exact", "two-stage", "pool2", "binary"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(done=changes, unit=st.sampled_from(["quote", "page"]))
def test_what_is_gone_is_never_found_and_what_stays_is(
    kind: str, done: list[Change], unit: Literal["quote", "page"]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        follow(Path(folder), [kind], unit, done)


def test_in_milvus_too(tmp_path: Path) -> None:
    done: list[Change] = [
        ("a.txt", ("grain", "coal"), "upkeep"),
        ("b.txt", ("coal", "salt", "salt"), "search"),
        ("a.txt", ("wool", "coal"), "index"),
        ("b.txt", None, "upkeep"),
        ("c.txt", (), "search"),
        ("b.txt", ("coal", "salt", "salt"), "search"),
        ("a.txt", None, "search"),
    ]
    follow(tmp_path, ["milvus"], "quote", done)
