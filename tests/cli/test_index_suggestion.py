"""The faster index that is suggested after a slow flat search is one that the command can build."""

import re
import shlex
from functools import partial
from pathlib import Path

import pytest
from made_collections import make_collection

from quoteweave.cli.progress import TerminalProgress
from quoteweave.index import recall
from quoteweave.index.recall import FaissRecall, suggest_faster_kind
from quoteweave.pipeline.composition import manage_indexes
from quoteweave.retrievers.spec import parse_spec
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing import FakeEncoder


@pytest.mark.parametrize(
    ("spec", "suggested"),
    [
        ("fake", "fake@hnsw"),
        ("fake@flat", "fake@hnsw"),
        ("fake@page@flat", "fake@hnsw@page"),
        ("fake=/my models/a@b@flat@float16", "fake=/my models/a@b@hnsw@float16"),
    ],
)
def test_the_kind_takes_the_place_of_the_one_there_was(
    spec: str, suggested: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recall, "suggest_faster_kind", partial(suggest_faster_kind, slow_s=-1))
    monkeypatch.setattr(recall, "measure_faiss_recall", lambda kind, _: FaissRecall(kind, kind == "hnsw", 0.001, 2))
    with make_collection(tmp_path, {"a.txt": ["grain", "coal"]}) as collection:
        retriever = VectorRetriever(collection, FakeEncoder(), spec=parse_spec(spec))
        retriever.refresh()
        manage_indexes.note_faster_kind(collection, retriever, TerminalProgress())
    told = re.search(r"quoteweave index build .*", " ".join(capsys.readouterr().err.splitlines()))
    assert told is not None
    assert shlex.split(told[0])[:6] == ["quoteweave", "index", "build", suggested, "-c", str(collection.root)]
    assert str(parse_spec(suggested)) == suggested
