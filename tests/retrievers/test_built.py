"""An index that was built is found by the short name of its retriever, and by no name that says something else."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from made_collections import make_collection

from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.generations import MANIFEST, spec_of
from quoteweave.core.errors import UsageError
from quoteweave.index.encoder_index import EncoderIndex, make_plan
from quoteweave.retrievers.make_retriever import resolve_built_spec
from quoteweave.retrievers.spec import parse_spec
from quoteweave.testing import FakeEncoder

Build = Callable[[Sequence[str]], Collection]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Makes a collection with an index of each of these specs, by a small encoder that stands for their models."""

    def built(specs: Sequence[str]) -> Collection:
        collection = make_collection(tmp_path, {"a.txt": ["grain ships"]})
        with collection.writer() as writer:
            for number, spec in enumerate(specs):
                encoder = FakeEncoder(name=parse_spec(spec).name, settings={"seed": number})
                plan = make_plan(encoder, spec, kind=parse_spec(spec).kind)
                EncoderIndex(collection, encoder, plan).refresh(writer)
        return collection

    return built


@pytest.mark.parametrize(
    ("built", "asked", "meant"),
    [
        (["minilm=/m"], "minilm", "minilm=/m"),
        (["minilm=/m@hnsw"], "minilm", "minilm=/m@hnsw"),
        (["minilm@hnsw"], "minilm", "minilm@hnsw"),
        (["minilm=/m", "minilm=/m@hnsw"], "minilm", "minilm=/m"),
        (["minilm=/m", "minilm=/m@hnsw"], "minilm@hnsw", "minilm=/m@hnsw"),
        (["minilm=/m", "minilm"], "minilm", "minilm"),
        (["minilm=/m"], "minilm@fp16", "minilm@fp16"),
        (["minilm=/m"], "minilm=/other", "minilm=/other"),
        (["minilm=/m"], "bge", "bge"),
        (["sentence-transformers=/m"], "sentence-transformers", "sentence-transformers=/m"),
        (["openai:m@as:e5"], "openai:m", "openai:m@as:e5"),
        (["openai:m@http://elsewhere/v1"], "openai:m", "openai:m"),
        ([], "minilm", "minilm"),
    ],
)
def test_a_short_name_means_the_index_that_was_built(build: Build, built: list[str], asked: str, meant: str) -> None:
    told: list[str] = []
    with build(built) as collection:
        assert resolve_built_spec(asked, collection, told.append) == meant
    assert [line.split()[3] for line in told] == ([meant] if meant != asked else [])


def test_where_several_fit_they_are_listed(build: Build) -> None:
    with build(["minilm=/m", "minilm=/n", "bge"]) as collection:
        with pytest.raises(
            UsageError, match=r"may mean one of several indexes; name one of them: minilm=/m, minilm=/n$"
        ):
            resolve_built_spec("minilm", collection)
        assert resolve_built_spec("bge", collection) == "bge"


@pytest.mark.parametrize("damage", [Path.unlink, lambda manifest: manifest.write_bytes(b"\0")])
def test_a_short_name_means_its_damaged_index_and_no_other(build: Build, damage: Callable[[Path], object]) -> None:
    with build(["minilm=/m", "minilm=/m@vlm_text"]) as collection:
        state = next(state for state in collection.indexes() if spec_of(state) == "minilm=/m")
        damage(state.folder / MANIFEST)
        assert resolve_built_spec("minilm", collection) == "minilm=/m"
