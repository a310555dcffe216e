from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.collection.views import TextView, Unit
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import similar_names
from quoteweave.index.kinds import MULTI_VECTOR_KINDS, SINGLE_VECTOR_KINDS
from quoteweave.models.checkpoints import DType
from quoteweave.retrievers.spec import RetrieverSpec, parse_spec

NAMES = st.sampled_from(["bge", "colpali", "qwen3-embedding-0.6b"])
PATHS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=1, max_size=20).map(
    lambda t: f"/m/{t}/x"
)
SPECS = st.builds(
    RetrieverSpec,
    name=NAMES,
    checkpoint=st.none() | PATHS,
    kind=st.none() | st.sampled_from([*SINGLE_VECTOR_KINDS, *MULTI_VECTOR_KINDS]),
    unit=st.sampled_from(get_args(Unit)),
    view=st.none() | st.sampled_from([*get_args(TextView), "mixed"]),
    experiment=st.none() | st.just("mmdocir"),
    prefixes=st.none() | NAMES,
    input_types=st.none() | st.sampled_from([("query", "passage"), ("search_query", "search_document")]),
    query_model=st.none() | NAMES,
    dimensions=st.none() | st.integers(1, 9999),
    dtype=st.none() | st.sampled_from(get_args(DType)),
)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("bge", RetrieverSpec(name="bge")),
        ("bge@hnsw", RetrieverSpec(name="bge", kind="hnsw")),
        (
            "bge=/models/my-bge@hnsw@vlm_text",
            RetrieverSpec(name="bge", checkpoint="/models/my-bge", kind="hnsw", view="vlm_text"),
        ),
        ("bge@vlm_text@hnsw", RetrieverSpec(name="bge", kind="hnsw", view="vlm_text")),
        (
            "colpali@page@two-stage@bfloat16",
            RetrieverSpec(name="colpali", unit="page", kind="two-stage", dtype="bfloat16"),
        ),
        ("bge=/models/a@b+c=d", RetrieverSpec(name="bge", checkpoint="/models/a@b+c=d")),
        ("openai:text-embedding-3-small", RetrieverSpec(name="openai", endpoint="text-embedding-3-small")),
        (
            "openai:org/model:tag@http://127.0.0.1:8000/v1@flat",
            RetrieverSpec(name="openai", endpoint="org/model:tag", url="http://127.0.0.1:8000/v1", kind="flat"),
        ),
        (
            "openai:e5@as:e5@256d@hnsw",
            RetrieverSpec(name="openai", endpoint="e5", prefixes="e5", dimensions=256, kind="hnsw"),
        ),
        (
            "openai:e5@http://user:p%40ss@host:8000/v1@input_type@queries:e5-query",
            RetrieverSpec(
                name="openai",
                endpoint="e5",
                url="http://user:p%40ss@host:8000/v1",
                input_types=("query", "passage"),
                query_model="e5-query",
            ),
        ),
        ("openai:e5@input_type:a,b", RetrieverSpec(name="openai", endpoint="e5", input_types=("a", "b"))),
        (" lexical ", RetrieverSpec(name="lexical")),
    ],
)
def test_a_word_is_read_into_its_parts(text: str, spec: RetrieverSpec) -> None:
    assert parse_spec(text) == spec


@given(SPECS)
def test_what_is_written_is_read_again(spec: RetrieverSpec) -> None:
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
    assert similar_names(text, ["bge", "bge-reranker", "colpali"]) == near


def test_what_is_shown_of_an_address_has_no_secrets() -> None:
    spec = parse_spec("openai:m@https://me:pass@host:8000/v1?api-version=1&api-key=k@hnsw")
    assert spec.shown == "openai:m@https://host:8000/v1?api-version=1@hnsw"
    assert parse_spec("openai:m@http://host:8000@hnsw").shown == "openai:m@http://host:8000@hnsw"
