"""What lies in the folder of an embedded Milvus is what was saved, or the index is refused."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from quoteweave.core.errors import CollectionError
from quoteweave.index.milvus.index import MilvusIndex
from quoteweave.testing.vector_fixtures import DIMENSION, DOCUMENTS, VectorFixture, make_vector_fixture, make_vectors

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

Listed = dict[str, Any]


def without_a_file_of_items(listed: Listed) -> None:
    listed["partitions"]["_default"]["data_files"].pop()


def without_what_was_removed(listed: Listed) -> None:
    listed["partitions"]["_default"]["delta_files"].clear()


def with_another_order_of_changes(listed: Listed) -> None:
    listed["current_seq"] = 0


def by_another_metric(listed: Listed) -> None:
    listed["index_specs"]["vector"]["metric_type"] = "L2"


def with_a_space_more(listed: Listed) -> None:
    listed["index_specs"]["vector"]["build_params"] = {" ": " "}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[VectorFixture]:
    made = make_vector_fixture(tmp_path)
    yield made
    made.collection.close()


@pytest.fixture
def items(made: VectorFixture) -> "dict[int, Matrix]":
    rows = [row for document in DOCUMENTS for row in made.rows(document)]
    vectors = make_vectors(np.random.default_rng(0), len(rows), integers=True)
    return {row: vectors[number : number + 1] for number, row in enumerate(rows)}


@pytest.fixture
def saved(made: VectorFixture, items: "dict[int, Matrix]", tmp_path: Path) -> Path:
    """Where an index is saved from which an item was removed."""
    index = MilvusIndex(DIMENSION, database_folder=tmp_path / "place")
    for document in DOCUMENTS:
        index.add(made.shard(document, items))
    index.remove(np.array([min(items)]))
    (folder := tmp_path / "saved").mkdir()
    index.save(folder)
    index.close()
    return folder


def list_in(place: Path) -> Path:
    (path,) = place.glob("collections/*/manifest.json")
    return path


@pytest.mark.parametrize(
    "change",
    [
        without_a_file_of_items,
        without_what_was_removed,
        with_another_order_of_changes,
        by_another_metric,
        with_a_space_more,
    ],
)
def test_another_list_of_files_than_was_saved_is_refused(
    saved: Path, tmp_path: Path, change: Callable[[Listed], None]
) -> None:
    path = list_in(tmp_path / "place")
    listed = json.loads(path.read_bytes())
    change(listed)
    path.write_text(json.dumps(listed))
    with pytest.raises(CollectionError, match=r"manifest\.json is damaged: its content is not.*build the index again"):
        MilvusIndex(DIMENSION, saved, database_folder=tmp_path / "place")


def test_a_list_of_files_that_is_gone_is_not_replaced_by_an_older_one(saved: Path, tmp_path: Path) -> None:
    list_in(tmp_path / "place").unlink()
    with pytest.raises(CollectionError, match=r"manifest\.json is missing; build the index again"):
        MilvusIndex(DIMENSION, saved, database_folder=tmp_path / "place")


def test_another_schema_than_was_saved_is_refused(saved: Path, tmp_path: Path) -> None:
    path = list_in(tmp_path / "place").with_name("schema.json")
    path.write_text(path.read_text().replace("4096", "4095", 1))
    with pytest.raises(CollectionError, match=r"schema\.json is damaged"):
        MilvusIndex(DIMENSION, saved, database_folder=tmp_path / "place")


@pytest.mark.parametrize("lost", [False, True])
def test_a_list_that_milvus_wrote_since_is_taken_where_it_holds_the_same_items(
    saved: Path, items: "dict[int, Matrix]", tmp_path: Path, *, lost: bool
) -> None:
    path = list_in(tmp_path / "place")
    listed = json.loads(path.read_bytes())
    listed["version"] += 1
    if lost:
        without_a_file_of_items(listed)
    path.write_text(json.dumps(listed))
    if lost:
        with pytest.raises(CollectionError, match="holds other items than were saved; build the index again"):
            MilvusIndex(DIMENSION, saved, database_folder=tmp_path / "place")
    else:
        index = MilvusIndex(DIMENSION, saved, database_folder=tmp_path / "place")
        assert index.rows.tolist() == sorted(items)[1:]
        index.close()


def test_an_index_that_was_changed_and_not_saved_is_opened_as_it_is(
    saved: Path, items: "dict[int, Matrix]", tmp_path: Path
) -> None:
    index = MilvusIndex(DIMENSION, saved, database_folder=tmp_path / "place")
    index.remove(np.array(sorted(items)[:3]))
    index.close()
    again = MilvusIndex(DIMENSION, saved, database_folder=tmp_path / "place")
    assert again.rows.tolist() == sorted(items)[3:]
    (folder := tmp_path / "saved again").mkdir()
    again.save(folder)
    again.close()
    without_what_was_removed(listed := json.loads(list_in(tmp_path / "place").read_bytes()))
    list_in(tmp_path / "place").write_text(json.dumps(listed))
    with pytest.raises(CollectionError, match="its content is not what was written"):
        MilvusIndex(DIMENSION, folder, database_folder=tmp_path / "place")
