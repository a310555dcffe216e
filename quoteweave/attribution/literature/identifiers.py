"""The identifiers of a paper, of what its source states and of its URLs."""

from quoteweave.attribution.literature.papers import Paper
from quoteweave.core.text.paper_identifiers import identifiers_of_address, normalized


def identifiers_of(paper: Paper) -> frozenset[str]:
    """Return what identifies the paper, as `doi:10.1/x` or `arxiv:2407.12861`, of its identifiers and its URLs.

    Each is in one form (`normalized`). A paper's id at its source is not among them.

    >>> paper = Paper(id="1", title="", identifiers={"doi": "https://doi.org/10.48550/arXiv.2407.12861"})
    >>> sorted(identifiers_of(paper))
    ['arxiv:2407.12861', 'doi:10.48550/arxiv.2407.12861']
    """
    found = [normalized(paper.identifiers), *(identifiers_of_address(url or "") for url in (paper.url, paper.pdf_url))]
    return frozenset(f"{kind}:{value}" for one in found for kind, value in one.items())


def stated_identifiers(paper: Paper) -> frozenset[str]:
    """Return what `identifiers_of` does, but for what the link of its file tells.

    Sources link to other papers' files too, by which two papers would be taken for one.
    """
    return identifiers_of(paper.model_copy(update={"pdf_url": None}))
