import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import IndexMissing, UsageError
from quoteweave.core.records import Filter, Query
from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.fusion import FusedRetriever, SplitHybrid
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.make_retriever import (
    DEFAULT_RETRIEVER,
    ENSEMBLE,
    SPARSE_RETRIEVERS,
    Resources,
    make_fused,
    make_retriever,
    member_specs,
    retriever_names,
)
from quoteweave.retrievers.sparse import Bm25Retriever
from quoteweave.retrievers.terms.terms import Term, Terms
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing import ModelServer


class NoPictures:
    """Stands for the pictures of a collection that has none."""

    def crop_key(self, quote: object) -> None:
        return None

    crop = page = page_key = ocr_text = crop_key


PICTURES = Resources(pictures=NoPictures())  # type: ignore[arg-type]


@pytest.fixture
def port(tmp_path: Path) -> Collection:
    return make_collection(
        tmp_path, {"a.txt": ["grain ships"], "b.txt": ["timber", made_quote("kran", layout="chart")]}
    )


@pytest.mark.parametrize("name", SPARSE_RETRIEVERS)
def test_each_sparse_name_gives_a_retriever_over_the_collection(name: str, port: Collection) -> None:
    (hits,) = make_retriever(name, port).search([Query(text="timber")], 5)
    assert [hit.quote.text for hit in hits][:1] == ["timber"]


def test_the_names_mean_the_classes(port: Collection) -> None:
    assert type(make_retriever("bm25", port)) is Bm25Retriever
    assert type(make_retriever(DEFAULT_RETRIEVER, port)) is LexicalRetriever


def test_terms_are_what_lexical_searches_by(port: Collection) -> None:
    means = Resources(PICTURES.hardware, PICTURES.pictures, terms=(Terms([Term(name="cargo", made_of=("timber",))]),))
    for named in (["lexical"], ["bm25", "lexical"], ["lexical+colpali"]):
        make_fused(named, None, port, means)
    (hits,) = make_retriever("lexical", port, means).search([Query(text="cargo")], 5)
    assert hits == []  # it stands in no table
    for named in (["bm25"], ["bge", "tfidf"], ["bge+colpali"], ["ensemble"]):
        told = f"the retriever lexical searches by, and there is {', '.join(named)} alone: name lexical too"
        with pytest.raises(UsageError, match=re.escape(told)):
            make_fused(named, None, port, means)
    with pytest.raises(UsageError, match="there is bm25 alone"):
        make_retriever("bm25", port, means)


# The others run code of their checkpoints, and are refused without an opt-in.
@pytest.mark.parametrize("name", [name for name, row in catalogue().items() if not row.remote_code])
def test_each_model_of_the_catalogue_can_be_named_and_nothing_is_loaded(name: str, port: Collection) -> None:
    row, retriever = catalogue()[name], make_retriever(name, port, PICTURES)
    assert isinstance(retriever, VectorRetriever)
    assert (retriever.encoder.name, retriever.encoder.reads, retriever.encoder.multi_vector) == (
        name,
        row.reads,
        row.multi_vector,
    )
    with pytest.raises(IndexMissing, match=f"quoteweave index build {name} -c"):
        retriever.search([Query(text="timber")], 5)


def test_suffixes_choose_index_unit_view_and_dtype(port: Collection) -> None:
    retriever = make_retriever("bge@hnsw@page@ocr_text@bfloat16", port, PICTURES)
    assert isinstance(retriever, VectorRetriever)
    plan = retriever.encoder_index.plan
    assert (plan.kind, plan.unit, plan.view, plan.settings["dtype"]) == ("hnsw", "page", "ocr_text", "bfloat16")
    assert plan.spec == "bge@hnsw@page@ocr_text@bfloat16"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("dense", r"no retriever 'dense'; choose one of: lexical, bm25, tfidf"),
        ("colpalli", r"did you mean 'colpali'"),
        ("lexical@hnsw", "write lexical"),
        ("bm25=/path", "write bm25"),
        ("colbert@hnsw", "no index 'hnsw' for items of many vectors"),
        ("bge@two-stage", "no index 'two-stage' for items of one vector"),
        ("bge+e5", "two retrievers of text"),
        ("colpali+colqwen2", "two retrievers of pictures"),
        ("bge:model", "no retriever 'bge'"),
        ("BGE", "no retriever 'BGE'; did you mean 'bge'"),
        ("Lexical", "did you mean 'lexical'"),
        ("bge+colpalli", "no retriever 'colpalli'; did you mean 'colpali'"),
        ("bm52+colpali", "no retriever 'bm52'; did you mean 'bm25'"),
        ("bge@hsnw", r"'bge@hsnw': @hsnw is no suffix; did you mean @hnsw\? There are @flat, "),
        ("bge@float8", r"@float8 is no suffix; did you mean @.* or @float16"),
        ("colbert@pool9", r"@pool9 is no suffix; did you mean @pool\d or @pool\d\?"),
        ("bge@HNSW@page", r"@HNSW is no suffix; did you mean @hnsw\?"),
        ("colpali@pgae+bge", r"@pgae is no suffix; did you mean @page\?"),
        ("colpali+bge@zzz", r"'bge@zzz': @zzz is no suffix; There are @flat"),
        ("bge=/models/mine@hsnw", r"@hsnw is no suffix; did you mean @hnsw\?"),
        ("e5=owner/e5@flatt", r"@flatt is no suffix; did you mean @flat\? "),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(text: str, complaint: str, port: Collection) -> None:
    with pytest.raises(UsageError, match=complaint):
        make_retriever(text, port, PICTURES)


@pytest.mark.parametrize("text", ["colpali+bge", "bge+colpali", "colqwen2+colbert", "bm25+colpali@page"])
def test_a_hybrid_asks_the_one_that_reads_text_for_text(text: str, port: Collection) -> None:
    hybrid = make_retriever(text, port, PICTURES)
    assert isinstance(hybrid, SplitHybrid)
    visual = next(part for part in member_specs(text) if part.startswith("col") and not part.startswith("colbert"))
    with pytest.raises(IndexMissing, match=visual):
        hybrid.search([Query(text="timber")], 1, where=Filter(kind="image"))


def test_the_published_hybrids_have_their_names() -> None:
    assert [member_specs(name) for name in ("colpali+colbert", "colqwen2+bge")] == [
        ["colpali", "colbert"],
        ["colqwen2", "bge"],
    ]
    assert member_specs("ensemble") == list(ENSEMBLE)
    assert member_specs("bge=/a+b/c") == ["bge=/a+b/c"]
    assert member_specs("colpali=/a+b+bge=/c+d") == ["colpali=/a+b", "bge=/c+d"]


def test_the_ensemble_fuses_the_four_of_the_paper(port: Collection) -> None:
    assert isinstance(make_retriever("ensemble", port), FusedRetriever)


def test_several_are_fused_by_the_rule_that_is_named(port: Collection) -> None:
    question = [Query(text="grain timber")]
    by_rank = make_fused(["bm25", "tfidf"], None, port).search(question, 5)[0]
    assert by_rank[0].score == pytest.approx(2 / 61)
    by_score = make_fused(["bm25", "tfidf"], "scores:0.9,0.1", port).search(question, 5)[0]
    assert by_score[0].score == pytest.approx(1.0)
    assert type(make_fused(["bm25"], None, port)) is Bm25Retriever


@pytest.mark.parametrize("rule", ["median", "rrf:x", "scores:1", "scores:1,-1"])
def test_a_rule_that_cannot_be_read_is_refused(rule: str, port: Collection) -> None:
    with pytest.raises(UsageError):
        make_fused(["bm25", "tfidf"], rule, port)


def test_an_endpoint_is_told_once_and_used(port: Collection) -> None:
    told: list[str] = []
    with ModelServer() as server:
        retriever = make_retriever(f"openai:m@{server.base_url}", port, Resources(notify=told.append))
        assert isinstance(retriever, VectorRetriever)
        retriever.refresh()
        (hits,) = retriever.search([Query(text="timber")], 1)
    assert hits[0].quote.text == "timber"
    assert told == [f"text of questions and quotes is sent to {urlsplit(server.base_url).netloc}"]


def test_an_endpoint_is_asked_with_the_prefixes_and_dimensions_of_its_spec(port: Collection) -> None:
    with ModelServer() as server:
        retriever = make_retriever(f"openai:m@{server.base_url}@as:e5@8d", port)
        assert isinstance(retriever, VectorRetriever)
        retriever.refresh()
        retriever.search([Query(text="timber")], 1)
    assert "passage: timber" in server.requests[0]["input"]
    assert server.requests[-1]["input"] == ["query: timber"]
    assert {request["dimensions"] for request in server.requests} == {8}


@pytest.mark.parametrize("text", ["openai:m@as:e6", "bge@256d", "bge@as:e5"])
def test_prefixes_of_no_model_or_for_none_are_refused(text: str, port: Collection) -> None:
    with pytest.raises(UsageError, match=r"e5|256d"):
        make_retriever(text, port)


def test_a_path_may_end_like_a_suffix_that_is_none(port: Collection, tmp_path: Path) -> None:
    for name in ("v1@final", "a@b/c"):
        (tmp_path / name).mkdir(parents=True)
        make_bert = tmp_path / name / "config.json"
        make_bert.write_text("{}", "utf-8")
        retriever = make_retriever(f"bge={tmp_path / name}@hnsw", port)
        assert isinstance(retriever, VectorRetriever)
        assert retriever.encoder_index.plan.kind == "hnsw"


def test_all_names_can_be_listed() -> None:
    assert {"lexical", "bge", "colpali", "ensemble"} <= set(retriever_names())
