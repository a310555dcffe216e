"""Identifiers of papers are read from addresses as people and sources write them."""

import pytest

from quoteweave.core.text.paper_identifiers import identifiers_of_address, normalized_identifiers, same_paper


@pytest.mark.parametrize(
    ("address", "identifiers"),
    [
        ("https://arxiv.org/abs/1502.03167", {"arxiv": "1502.03167"}),
        ("http://arxiv.org/pdf/1502.03167v3.pdf", {"arxiv": "1502.03167"}),
        ("https://arxiv.org/abs/cs/9301111v1", {"arxiv": "cs/9301111"}),
        ("https://arxiv.org/abs/math.GT/0309136", {"arxiv": "math.gt/0309136"}),
        ("https://huggingface.co/papers/2407.12861", {"arxiv": "2407.12861"}),
        ("https://doi.org/10.48550/arXiv.2407.12861", {"arxiv": "2407.12861", "doi": "10.48550/arxiv.2407.12861"}),
        ("https://dl.acm.org/doi/abs/10.1145/3442188.3445922", {"doi": "10.1145/3442188.3445922"}),
        ("https://doi.org/10.1016%2Fj.cell.2019.01.001?via=x", {"doi": "10.1016/j.cell.2019.01.001"}),
        ("https://www.semanticscholar.org/paper/Deep-Blur/" + "aB" * 20, {"semantic_scholar": "ab" * 20}),
        ("https://api.semanticscholar.org/CorpusID:231592740", {"corpus_id": "231592740"}),
        ("https://openalex.org/W2741809807", {"openalex": "w2741809807"}),
        ("https://aclanthology.org/2020.acl-main.703.pdf", {"acl": "2020.acl-main.703"}),
        ("https://www.aclweb.org/anthology/P19-1001/", {"acl": "p19-1001"}),
        ("https://openreview.net/forum?id=rJl-b3RcF7", {"openreview": "rJl-b3RcF7"}),
        ("https://proceedings.neurips.cc/paper/2012/hash/c399.html", {}),
        ("", {}),
    ],
)
def test_an_address_tells_identifiers(address: str, identifiers: dict[str, str]) -> None:
    assert identifiers_of_address(address) == identifiers


def test_identifiers_are_written_in_one_way() -> None:
    told = {
        "arxiv": "https://arxiv.org/abs/1502.03167v2",
        "doi": "DOI:10.1145/ABC",
        "openalex": "https://openalex.org/W7",
    }
    assert normalized_identifiers(told) == {"arxiv": "1502.03167", "doi": "10.1145/abc", "openalex": "w7"}
    assert normalized_identifiers({"document": "blur.pdf", "doi": ""}) == {"document": "blur.pdf"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"doi": "10.48550/arXiv.1502.03167"}, {"arxiv": "1502.03167v3"}, True),
        ({"doi": "10.1/a", "arxiv": "1502.03167"}, {"doi": "10.1/b", "arxiv": "1502.03167"}, True),
        ({"doi": "10.18653/v1/P19-1001"}, {"acl": "P19-1001"}, True),
        ({"arxiv": "1502.03167"}, {"arxiv": "1502.03168"}, False),
        ({"arxiv": "1502.03167"}, {"doi": "10.1145/abc"}, None),
        ({}, {}, None),
    ],
)
def test_papers_are_the_same_by_one_identifier(one: dict[str, str], other: dict[str, str], same: bool | None) -> None:
    assert same_paper(one, other) is same
    assert same_paper(other, one) is same
