"""Whatever is put, replaced and removed: what is gone is never found again, through any index, and what stays is."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_collections import made_quote, make_collection, put

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Filter, Query
from quoteweave.index.faiss import factory as faiss_kinds
from quoteweave.index.faiss import search as faiss_search
from quoteweave.index.kinds import EXACT_KINDS, FAISS_KINDS, MULTI_VECTOR_KINDS
from quoteweave.index.maxsim import index as maxsim_index
from quoteweave.index.sync import sync_indexes
from quoteweave.retrievers.spec import RetrieverSpec
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing import FakeEncoder

NAMES = ("a.txt", "b.txt", "c.txt")
Change = tuple[str, tuple[str, ...] | None, Literal["upkeep", "search", "index"]]
WORDS = ("grain", "timber", "coal", "salt", "wool")
FEW, ALL = 2, 100  # a first stage narrows a search for few, and none that wants more than there are
COMPARING_ALL = (*EXACT_KINDS, "fp16")
EVERY_WAY: list[Change] = [
    ("a.txt", ("grain", "coal"), "upkeep"),
    ("b.txt", ("coal", "salt", "salt"), "search"),
    ("a.txt", ("wool", "coal"), "index"),
    ("b.txt", None, "upkeep"),
    ("c.txt", (), "search"),
    ("b.txt", ("coal", "salt", "salt"), "search"),
    ("a.txt", None, "search"),
]
OF_ONE_WORD: list[Change] = [("a.txt", ("grain",), "upkeep"), ("b.txt", ("grain", "grain"), "index")]

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


def follow(
    root: Path,
    kinds: Sequence[str],
    unit: Literal["quote", "page"],
    done: Sequence[Change],
    reached: Callable[[str], None] = lambda kind: None,
) -> None:
    """Makes the changes one by one; no index may ever find what is gone, and one brought up to date finds all.

    After each check of a kind, `reached` is called with it.
    """
    there: dict[str, tuple[str, ...]] = {"old.txt": WORDS}
    with make_collection(root, {"old.txt": WORDS}) as collection:
        encoders = {kind: FakeEncoder(multi_vector=kind in MULTI_VECTOR_KINDS) for kind in kinds}
        retrievers = {
            kind: VectorRetriever(collection, encoder, spec=RetrieverSpec(name="fake", kind=kind, unit=unit))
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
                reached(kind)


def change(collection: Collection, folder: Path, name: str | None, texts: Sequence[str] | None, keeps_up: bool) -> None:
    with collection.writer() as writer:
        if name is not None and texts is None:
            writer.remove(name)
        elif name is not None and texts is not None:
            put(writer, folder / "files", name, [made_quote(text, page=i % 2) for i, text in enumerate(texts)])
        if keeps_up:
            assert sync_indexes(collection, writer) == ()


def check(retriever: VectorRetriever, there: Mapping[str, Sequence[str]], at: object, *, complete: bool) -> None:
    everything = Counter((name, text) for name, texts in there.items() for text in texts)
    for k in (FEW, ALL):
        found = retriever.search([Query(text=word) for word in WORDS], k)
        for word, hits in zip(WORDS, found, strict=True):
            said = Counter((hit.quote.document, hit.quote.text) for hit in hits)
            assert said <= everything, (at, word)
            assert not complete or said.total() == min(k, everything.total()), (at, word)
        for name, texts in there.items():
            (hits,) = retriever.search([Query(text="grain")], k, where=Filter(documents=(name,)))
            within = Counter(hit.quote.text for hit in hits)
            assert within <= Counter(texts), at
            assert not complete or within.total() == min(k, len(texts)), at
            assert {hit.quote.document for hit in hits} <= {name}, at
        if complete:
            alive = set(retriever.collection.select().tolist())
            assert set(retriever.search_rows([Query(text="grain")], k)[0].rows.tolist()) <= alive


@contextmanager
def first_stages_of_few_items() -> Iterator[list[str]]:
    """Has graphs, lists and candidates go before the comparison of a handful of items too; gives the calls of them."""
    import faiss

    reached: list[str] = []
    lists = faiss.IndexIVFPQ

    def counted(name: str, of: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            reached.append(name)
            return of(*arguments, **named)

        return call

    def of_two_bits(quantizer: Any, dimension: int, number: int, parts: int, bits: int, metric: int) -> Any:
        return lists(quantizer, dimension, number, parts, min(bits, 2), metric)  # which four vectors can train

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SPARE": 0, "EF_SEARCH": 1, "COST_PER_CANDIDATE": 0, "PROBES": 1}.items():
            patch.setattr(faiss_search, name, value)
        for name, value in {"ENOUGH_TO_TRAIN": 4, "VECTORS_FOR_A_CENTROID": 1}.items():
            patch.setattr(faiss_kinds, name, value)
        for name in ("TIMES_POOLED", "TIMES_COMPRESSED", "MIN_WANTED"):
            patch.setattr(maxsim_index, name, 1)
        patch.setattr(faiss, "IndexIVFPQ", of_two_bits)
        for parameters in ("SearchParametersHNSW", "SearchParametersIVF"):
            patch.setattr(faiss, parameters, counted("quick", getattr(faiss, parameters)))
        for stage in (maxsim_index.MeanVectorCandidates, maxsim_index.CompressedCandidates):
            patch.setattr(stage, "nearest", counted("nearest", stage.nearest))
        yield reached


def test_what_is_gone_is_never_found_and_what_stays_is() -> None:
    kinds = (*FAISS_KINDS, *MULTI_VECTOR_KINDS)
    narrowed: set[str] = set()

    some = st.lists(st.sampled_from(kinds), min_size=3, max_size=3, unique=True)

    @settings(max_examples=10)
    @given(done=changes, unit=st.sampled_from(["quote", "page"]), kinds=some)
    @example(done=OF_ONE_WORD, unit="page", kinds=kinds)
    @example(done=EVERY_WAY, unit="quote", kinds=kinds)
    def holds(done: list[Change], unit: Literal["quote", "page"], kinds: Sequence[str]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            follow(Path(folder), kinds, unit, done, note)

    with first_stages_of_few_items() as reached:

        def note(kind: str) -> None:
            if reached:
                narrowed.add(kind)
                reached.clear()

        holds()
    assert narrowed == {*kinds} - {*COMPARING_ALL}


def test_in_milvus_too(tmp_path: Path) -> None:
    follow(tmp_path, ["milvus"], "quote", EVERY_WAY)
