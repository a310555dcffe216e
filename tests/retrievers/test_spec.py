from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.collection.views import TextView, Unit
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import nearest
from quoteweave.index.kinds import OF_MANY, OF_ONE
from quoteweave.retrievers.spec import Dtype, Spec, parse_spec

NAMES = st.sampled_from(["bge", "colpali", "qwen3-embedding-0.6b"])
PATHS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=1, max_size=20).map(
    lambda t: f"/m/{t}/x"
)
SPECS = st.builds(
    Spec,
    name=NAMES,
    checkpoint=st.none() | PATHS,
    kind=st.none() | st.sampled_from([*OF_ONE, *OF_MANY]),
    unit=st.sampled_from(get_args(Unit)),
    view=st.none() | st.sampled_from(get_args(TextView)),
    prefixes=st.none() | NAMES,
    input_types=st.none() | st.sampled_from([("query", "passage"), ("search_query", "search_document")]),
    query_model=st.none() | NAMES,
    dimensions=st.none() | st.integers(1, 9999),
    dtype=st.none() | st.sampled_from(get_args(Dtype)),
)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("bge", Spec(name="bge")),
        ("bge@hnsw", Spec(name="bge", kind="hnsw")),
        (
            "bge=/models/my-bge@hnsw@vlm_text",
            Spec(name="bge", checkpoint="/models/my-bge", kind="hnsw", view="vlm_text"),
        ),
        ("bge@vlm_text@hnsw", Spec(name="bge", kind="hnsw", view="vlm_text")),
        ("colpali@page@two-stage@bfloat16", Spec(name="colpali", unit="page", kind="two-stage", dtype="bfloat16")),
        ("bge=/models/a@b+c=d", Spec(name="bge", checkpoint="/models/a@b+c=d")),
        ("openai:text-embedding-3-small", Spec(name="openai", endpoint="text-embedding-3-small")),
        (
            "openai:org/model:tag@http://127.0.0.1:8000/v1@flat",
            Spec(name="openai", endpoint="org/model:tag", url="http://127.0.0.1:8000/v1", kind="flat"),
        ),
        (
            "openai:e5@as:e5@256d@hnsw",
            Spec(name="openai", endpoint="e5", prefixes="e5", dimensions=256, kind="hnsw"),
        ),
        (
            "openai:e5@http://user:p%40ss@host:8000/v1@input_type@queries:e5-query",
            Spec(
                name="openai",
                endpoint="e5",
                url="http://user:p%40ss@host:8000/v1",
                input_types=("query", "passage"),
                query_model="e5-query",
            ),
        ),
        ("openai:e5@input_type:a,b", Spec(name="openai", endpoint="e5", input_types=("a", "b"))),
        (" lexical ", Spec(name="lexical")),
    ],
)
def test_a_word_is_read_into_its_parts(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec


@given(SPECS)
def test_what_is_written_is_read_again(spec: Spec) -> None:
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize(
    "text", ["", "=", "bge=", "=path", "openai:", ":model", "@hnsw", "bge@flat@hnsw", "bge@page@quote"]
)
def test_what_is_no_spec_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_spec(text)


@pytest.mark.parametrize("text", ["bge@fast", "bge@page@fast", "bge@fast@page", "bge@"])
def test_an_unknown_suffix_of_a_name_is_refused_and_named(text: str) -> None:
    with pytest.raises(UsageError, match=f"@{'' if text == 'bge@' else 'fast'} is no suffix"):
        parse_spec(text)


@pytest.mark.parametrize(
    ("text", "near"),
    [("BGE", ["bge"]), ("bge-rerank", ["bge-reranker"]), ("Colpali", ["colpali"]), ("xyz", []), ("dense", [])],
)
def test_what_was_meant_is_told_whatever_its_capitals(text: str, near: list[str]) -> None:
    assert nearest(text, ["bge", "bge-reranker", "colpali"]) == near


def test_what_is_shown_of_an_address_has_no_secrets() -> None:
    spec = parse_spec("openai:m@https://me:pass@host:8000/v1?api-version=1&api-key=k@hnsw")
    assert spec.shown == "openai:m@https://host:8000/v1?api-version=1@hnsw"
    assert parse_spec("openai:m@http://host:8000@hnsw").shown == "openai:m@http://host:8000@hnsw"
