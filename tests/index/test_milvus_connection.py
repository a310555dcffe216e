"""Where a Milvus index lies, who may open it, and what is said when its Milvus is away, broken or lost on the way."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_documents import made_document, put
from milvus_server import Line, MilvusServer

from quoteweave.collection.collection import Collection
from quoteweave.collection.unreferenced import MILVUS_POINTER as POINTER
from quoteweave.core.errors import (
    CollectionError,
    CollectionLocked,
    EndpointRefused,
    EndpointUnreachable,
    FingerprintMismatch,
    MissingExtra,
    StorageError,
    UsageError,
)
from quoteweave.index.milvus.connection import TOKEN_VARIABLE, URI_VARIABLE, Milvus, Server
from quoteweave.index.milvus.index import MilvusIndex
from quoteweave.maintenance.check import check
from quoteweave.retrievers.spec import RetrieverSpec
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing.fakes import FakeEncoder
from quoteweave.testing.vector_fixtures import DIMENSION, VectorFixture, make_vector_fixture

GUIDE = (Path(__file__).parents[2] / "docs" / "milvus.md").read_text("utf-8")
MILL = "mill.txt"
QUERY = [np.ones((1, DIMENSION), np.float32)]
SECRET = "root:pa55word"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (URI_VARIABLE, TOKEN_VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VectorFixture]:
    made = make_vector_fixture(tmp_path_factory.mktemp("made"))
    with made.collection:
        yield made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    with closing(MilvusServer(tmp_path_factory.mktemp("server"))) as server:
        yield server


@pytest.fixture
def saved(server: MilvusServer, made: VectorFixture, tmp_path: Path) -> Path:
    """The folder of an index on the server."""
    folder = tmp_path / "saved"
    folder.mkdir()
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path / "place", uri=server.uri)) as index:
        add(index, made)
        index.save(folder)
    return folder


def add(index: MilvusIndex, made: VectorFixture) -> None:
    index.add(made.shard(MILL, {row: np.full((1, DIMENSION), row, np.float32) for row in made.rows(MILL)}))


def test_the_example_of_the_guide_runs(server: MilvusServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example.replace("http://localhost:19530", server.uri), "docs/milvus.md", "exec"), {})
    assert [path.name for path in tmp_path.iterdir()] == ["somewhere"]


def test_an_index_on_a_server_is_found_by_its_pointer(saved: Path, server: MilvusServer, made: VectorFixture) -> None:
    with closing(MilvusIndex(DIMENSION, saved, database_folder=saved / "place")) as index:
        assert index.rows.tolist() == made.rows(MILL)
        assert index.search(QUERY, 1)[0].rows.tolist() == made.rows(MILL)[-1:]
    assert json.loads((saved / POINTER).read_text())["uri"] == server.uri
    assert not (saved / "place").exists()


def test_the_environment_says_where_new_indexes_lie(
    server: MilvusServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URI_VARIABLE, server.uri)
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path / "place")) as index:
        index.save(tmp_path)
        assert json.loads((tmp_path / POINTER).read_text())["uri"] == server.uri
        index.drop()
    assert not (tmp_path / "place").exists()


def test_a_saved_index_is_opened_at_the_address_that_is_given(
    saved: Path, server: MilvusServer, made: VectorFixture
) -> None:
    line = Line(server.port)
    with closing(MilvusIndex(DIMENSION, saved, database_folder=saved, uri=line.uri)) as index:
        assert index.rows.tolist() == made.rows(MILL)
        line.cut()
        with pytest.raises(EndpointUnreachable, match=re.escape(line.uri)):
            index.search(QUERY, 1)


def test_an_embedded_index_stays_embedded(made: VectorFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path)) as index:
        add(index, made)
        index.save(tmp_path)
    assert json.loads((tmp_path / POINTER).read_text())["uri"] == "embedded"
    monkeypatch.setenv(URI_VARIABLE, "http://127.0.0.1:9")
    with closing(MilvusIndex(DIMENSION, tmp_path, database_folder=tmp_path)) as index:
        assert index.rows.tolist() == made.rows(MILL)


def test_a_lost_connection_is_made_anew_and_the_call_repeated(
    server: MilvusServer, made: VectorFixture, tmp_path: Path
) -> None:
    line, rows = Line(server.port), made.rows(MILL)
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path, uri=line.uri)) as index:
        calls: list[Callable[[], object]] = [
            lambda: add(index, made),
            lambda: index.search(QUERY, 1),
            lambda: index.rows,
            lambda: index.remove(np.array(rows[:1])),
            lambda: index.save(tmp_path),
        ]
        for call in calls:
            line.hang_up()
            call()
            line.cut()
            with pytest.raises(EndpointUnreachable, match=re.escape(line.uri)):
                call()
            line.mend()
            call()
        assert index.rows.tolist() == rows[1:]


@pytest.mark.parametrize("uri", ["http://127.0.0.1:9", f"http://{SECRET}@127.0.0.1:9/base?token={SECRET}"])
def test_a_missing_server_is_named_with_what_to_start(tmp_path: Path, uri: str) -> None:
    with pytest.raises(EndpointUnreachable, match=r"http://127\.0\.0\.1:9.*refused.*standalone") as caught:
        MilvusIndex(DIMENSION, database_folder=tmp_path, uri=uri, token=SECRET)
    assert "pa55word" not in _everything(caught.value)


def test_a_check_takes_an_index_of_a_missing_server_for_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        closing(MilvusServer(tmp_path / "server")) as server,
        Collection.create(tmp_path / "c") as collection,
    ):
        with collection.writer() as writer:
            put(writer, tmp_path, "port.txt", made_document(["Coal and rope."]))
        monkeypatch.setenv(URI_VARIABLE, server.uri)
        VectorRetriever(collection, FakeEncoder(), spec=RetrieverSpec(name="fake", kind="milvus")).refresh()
    report = check(tmp_path / "c")
    assert report.damaged == ()
    assert any("was not opened: no Milvus answers at" in note for note in report.notes)


@pytest.mark.parametrize("uri", ["localhost:19530", "milvus.db", "ftp://host", "http://", f"http://{SECRET}@h:port"])
def test_what_is_no_uri_is_refused_without_showing_it(tmp_path: Path, uri: str) -> None:
    with pytest.raises(UsageError, match=URI_VARIABLE) as caught:
        MilvusIndex(DIMENSION, database_folder=tmp_path, uri=uri)
    assert "pa55word" not in _everything(caught.value)


def test_secrets_of_a_uri_are_kept_apart() -> None:
    server = Server.at("https://root:pa%3Ass@[::1]:19530/base/?x=1")
    assert (server.uri, server.token) == ("https://[::1]:19530/base", "root:pa:ss")
    assert Server.at("http://key@host", "other").token == "other"
    assert "pa:ss" not in repr(server)


def test_a_token_is_sent_where_it_is_asked_for_and_stored_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(MilvusServer(tmp_path / "server", token=SECRET)) as server:
        with pytest.raises(EndpointRefused, match=TOKEN_VARIABLE):
            MilvusIndex(DIMENSION, database_folder=tmp_path, uri=server.uri)
        with closing(
            MilvusIndex(DIMENSION, database_folder=tmp_path, uri=server.uri.replace("//", f"//{SECRET}@"))
        ) as index:
            index.save(tmp_path)
        assert "pa55word" not in (tmp_path / POINTER).read_text()
        monkeypatch.setenv(URI_VARIABLE, server.uri)
        monkeypatch.setenv(TOKEN_VARIABLE, SECRET)
        with closing(MilvusIndex(DIMENSION, tmp_path, database_folder=tmp_path)) as index:
            assert index.rows.tolist() == []


def test_a_token_is_not_sent_to_an_address_that_a_folder_names(
    saved: Path, server: MilvusServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.tokens.clear()
    monkeypatch.setenv(TOKEN_VARIABLE, SECRET)
    MilvusIndex(DIMENSION, saved, database_folder=saved, token=SECRET).close()
    assert server.tokens == {None}


def test_an_index_whose_collection_is_gone_is_to_be_built_again(saved: Path) -> None:
    with closing(MilvusIndex(DIMENSION, saved, database_folder=saved)) as index:
        index.drop()
        with pytest.raises(CollectionError, match="build it again"):
            index.search(QUERY, 1)
    with pytest.raises(CollectionError, match="build it again"):
        MilvusIndex(DIMENSION, saved, database_folder=saved)


def test_an_index_that_was_never_saved_leaves_nothing_behind(saved: Path, server: MilvusServer) -> None:
    with closing(Milvus(Server.at(server.uri))) as other, other.client() as client:
        before = client.list_collections()
        with closing(MilvusIndex(DIMENSION, database_folder=saved, uri=server.uri)):
            assert len(client.list_collections()) == len(before) + 1
        assert client.list_collections() == before


def test_a_closed_index_refuses_and_may_be_closed_again(tmp_path: Path) -> None:
    index = MilvusIndex(DIMENSION, database_folder=tmp_path)
    index.close()
    index.close()
    for call in (lambda: index.search(QUERY, 1), lambda: index.rows, lambda: index.save(tmp_path)):
        with pytest.raises(UsageError, match="is closed; open it again"):
            call()


def test_an_index_that_is_closed_under_a_call_says_so(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pymilvus import MilvusClient

    iterate = MilvusClient.query_iterator
    for place in (saved, tmp_path):
        index = MilvusIndex(DIMENSION, saved if place == saved else None, database_folder=place)

        def close_and_call(client: MilvusClient, *given: Any, index: MilvusIndex = index, **named: Any) -> Any:
            index.close()
            return iterate(client, *given, **named)

        monkeypatch.setattr(MilvusClient, "query_iterator", close_and_call)
        with pytest.raises(UsageError, match="is closed; open it again"):
            _ = index.rows


@pytest.mark.parametrize(
    "damage",
    [
        lambda pointer: pointer.unlink(),
        lambda pointer: pointer.write_bytes(b"\xff"),
        lambda pointer: pointer.write_text("{}"),
        lambda pointer: pointer.write_text(re.sub("quoteweave_", "customers_", pointer.read_text())),
        lambda pointer: pointer.write_text(re.sub(r'"dimension": \d+', '"dimension": 0', pointer.read_text())),
    ],
)
def test_a_damaged_pointer_is_named(saved: Path, damage: Callable[[Path], Any]) -> None:
    damage(saved / POINTER)
    with pytest.raises(CollectionError, match=f"{POINTER} is missing or damaged; build"):
        MilvusIndex(DIMENSION, saved, database_folder=saved)


def test_another_dimension_is_refused_when_opened(saved: Path) -> None:
    with pytest.raises(FingerprintMismatch, match=f"{DIMENSION} dimensions.*makes 384"):
        MilvusIndex(384, saved, database_folder=saved)


def test_what_a_server_refuses_is_said(saved: Path, server: MilvusServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from milvus_lite.engine.collection import Collection

    with closing(MilvusIndex(DIMENSION, saved, database_folder=saved)) as index:
        monkeypatch.setattr(Collection, "search", lambda *_, **__: 1 / 0)
        with pytest.raises(EndpointRefused, match=f"{server.uri} refused: division by zero"):
            index.search(QUERY, 1)


def test_indexes_of_a_process_share_the_folder_until_the_last_is_closed(made: VectorFixture, tmp_path: Path) -> None:
    first, second = MilvusIndex(DIMENSION, database_folder=tmp_path), MilvusIndex(2, database_folder=tmp_path)
    first.close()
    assert second.rows.tolist() == []
    second.close()
    with closing(MilvusServer(tmp_path)), pytest.raises(CollectionLocked, match=re.escape(str(tmp_path))):
        MilvusIndex(DIMENSION, database_folder=tmp_path)
    MilvusIndex(DIMENSION, database_folder=tmp_path).close()


def test_a_folder_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "milvus").write_text("a letter")
    with pytest.raises(CollectionError, match=re.escape(str(tmp_path / "milvus"))):
        MilvusIndex(DIMENSION, database_folder=tmp_path / "milvus")
    assert (tmp_path / "milvus").read_text() == "a letter"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_may_not_be_written_is_named_with_what_to_do(
    made: VectorFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    from milvus_lite.db import MilvusLite
    from milvus_lite.engine.collection import Collection

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(tmp_path / "LOCK"))

    advice = rf"cannot write {re.escape(str(tmp_path))}: .*{os.strerror(number)}.*; allow writing there"
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path)) as index:
        index.save(tmp_path)
        with monkeypatch.context() as patch:
            patch.setattr(Collection, "upsert", refuse)
            with pytest.raises(StorageError, match=advice):
                add(index, made)
    monkeypatch.setattr(MilvusLite, "_acquire_lock", refuse)
    with pytest.raises(StorageError, match=advice):
        MilvusIndex(DIMENSION, tmp_path, database_folder=tmp_path)


def test_files_that_are_damaged_are_named_and_harm_no_other_index(made: VectorFixture, tmp_path: Path) -> None:
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path)) as index:
        add(index, made)
        index.save(tmp_path)
    for path in (tmp_path / "collections").rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged")
    with pytest.raises(CollectionError, match=rf"{re.escape(str(tmp_path))}.*build"):
        MilvusIndex(DIMENSION, tmp_path, database_folder=tmp_path)
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path)) as index:
        add(index, made)
        assert index.rows.tolist() == made.rows(MILL)


@pytest.mark.parametrize("suffix", ["idx", "sidx"])
def test_a_file_for_lookups_that_a_kill_cut_short_is_made_anew(
    made: VectorFixture, tmp_path: Path, suffix: str
) -> None:
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path)) as index:
        add(index, made)
        index.save(tmp_path)
    (path,) = (tmp_path / "collections").rglob(f"*.{suffix}")
    path.write_bytes(b"")
    with closing(MilvusIndex(DIMENSION, tmp_path, database_folder=tmp_path)) as index:
        assert index.search(QUERY, 1)[0].rows.tolist() == made.rows(MILL)[-1:]
    assert path.stat().st_size


def test_a_full_disk_is_said_and_what_was_there_is_found(
    made: VectorFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from milvus_lite.engine.collection import Collection

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path)) as index:
        add(index, made)
        with monkeypatch.context() as patch:
            patch.setattr(Collection, "upsert", full)
            with pytest.raises(StorageError, match="make room"):
                add(index, made)
            patch.setattr(Collection, "query", lambda *_, **__: 1 / 0)
            with pytest.raises(CollectionError, match=f"{re.escape(str(tmp_path))}.*division by zero.*build"):
                _ = index.rows
        assert index.rows.tolist() == made.rows(MILL)


@pytest.mark.parametrize(("module", "named"), [("pymilvus", "pymilvus"), ("milvus_lite.exceptions", "milvus-lite")])
def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, named: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"^{named} is not installed.*quoteweave\[milvus\]"):
        MilvusIndex(DIMENSION, database_folder=tmp_path)


def test_no_thread_outlives_the_index(made: VectorFixture, tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path)) as index:
        add(index, made)
        index.search(QUERY, 3)
        index.save(tmp_path)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()


CHILD = """
import os, signal, sys
from pathlib import Path
import numpy as np
from quoteweave.core.errors import QuoteweaveError
from quoteweave.index.milvus import index as milvus
from quoteweave.collection.collection import Collection
from quoteweave.testing.vector_fixtures import DIMENSION, VectorFixture

place, made = Path(sys.argv[1]), VectorFixture(Collection.open(Path(sys.argv[2])), Path(sys.argv[1]))
shard = made.shard("mill.txt", {row: np.full((1, DIMENSION), row, np.float32) for row in made.rows("mill.txt")})
milvus.ROWS_AT_ONCE = 5
"""
WORK = """
index = milvus.MilvusIndex(DIMENSION, database_folder=place)
index.add(shard)
index.search([np.ones((1, DIMENSION), np.float32)], 3)
index.save(place)
index.remove(index.rows[:1])
index.close()
index = milvus.MilvusIndex(DIMENSION, place, database_folder=place)
print(len(index.rows))
"""


def child(code: str, place: Path, made: VectorFixture, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CHILD + code, str(place), str(made.collection.root)]
    environment = {name: value for name, value in os.environ.items() if name != "GRPC_VERBOSITY"} | environment
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)


def test_normal_work_says_nothing_and_an_index_left_open_does_no_harm(made: VectorFixture, tmp_path: Path) -> None:
    # With tracing, gRPC logs every connection; without it, only one that the server closes before the client does.
    done = child(WORK, tmp_path, made, GRPC_TRACE="http")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{len(made.rows(MILL)) - 1}\n", "")
    with closing(MilvusIndex(DIMENSION, tmp_path, database_folder=tmp_path)) as index:
        assert index.rows.tolist() == made.rows(MILL)[1:]


def test_another_process_is_told_that_the_folder_is_in_use(made: VectorFixture, tmp_path: Path) -> None:
    opens = "milvus.MilvusIndex(DIMENSION, database_folder=place)"
    code = f"try:\n    {opens}\nexcept QuoteweaveError as error:\n    print(repr(error))"
    with closing(MilvusIndex(DIMENSION, database_folder=tmp_path)):
        done = child(code, tmp_path, made)
    assert done.stdout.startswith("CollectionLocked('another process has the Milvus index in ")
    assert done.stderr == ""


def test_after_a_kill_adding_again_mends_the_index(made: VectorFixture, tmp_path: Path) -> None:
    killing = """
index = milvus.MilvusIndex(DIMENSION, database_folder=place)
index.save(place)
entities, parts = milvus.entities, []
def kill_at_third(*given):
    parts.append(given)
    if len(parts) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return entities(*given)
milvus.entities = kill_at_third
index.add(shard)
"""
    assert child(killing, tmp_path, made).returncode == -signal.SIGKILL
    with closing(MilvusIndex(DIMENSION, tmp_path, database_folder=tmp_path)) as index:
        assert index.rows.tolist() == made.rows(MILL)[:10]
        add(index, made)
        assert index.rows.tolist() == made.rows(MILL)
        assert index.search(QUERY, 1)[0].rows.tolist() == made.rows(MILL)[-1:]


def _everything(error: BaseException) -> str:
    return repr(error) + str(error) + repr(error.__cause__) + str(error.__cause__)
