"""How often attribution finds the source of a sentence: each claim of `highlight_claims.jsonl`, which names its page.

The claims, those of the sets `before` and `after`, were written by hand about the sample documents and those that
`made_highlight_pages.py` draws, for another purpose (`highlights.py`). Claims of the kind `unsupported` say what their
page does not, so any source for one is wrong. Each claim is looked for among all these documents, and also among those
in the folder that `--beside` names.

found      the first candidate is a passage of the claim's page, and the outcome is supported or likely
not found  the outcome is not_found
wrong      another page is given as the source
left out   the claim's document is left out of the search, so that any source found is wrong
plain      BM25 over the same quotes (bm25s, English stemming) puts a quote of the claim's page first; it never abstains
"""

from collections.abc import Sequence
from pathlib import Path

from common import Table, arguments, machine, median_seconds, print_results, working_folder
from highlights import CLAIMS, SAMPLES, Claim
from made_highlight_pages import make_pages

from quoteweave import attribute
from quoteweave.attribution.records import Attribution
from quoteweave.collection.collection import Collection
from quoteweave.core.records import Filter, Quote
from quoteweave.documents.ingest import add

SETS = ("before", "after")  # sets of claims that are used; later ones were written for `highlights.py` alone
KINDS = ("repeated", "paraphrased", "cell", "part", "unsupported")
RESULTS = ("found", "not found", "wrong")


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--beside", type=Path, metavar="DIR", help="also search these documents (none)")
    parser.add_argument("--misses", action="store_true", help="print each claim whose page was not found")
    options = parser.parse_args()
    host = machine()
    claims = [Claim.model_validate_json(line) for line in CLAIMS.read_text("utf-8").splitlines()]
    claims = [claim for claim in claims if claim.set in SETS]
    with working_folder(None) as folder, Collection.open_or_create(folder / "collection") as collection:
        make_pages(folder)
        beside = [] if options.beside is None else [options.beside]
        add(collection, [SAMPLES, *sorted(folder.glob("*.pdf")), *beside])
        quotes = [quote for _, _, some in collection.iter_documents_quotes() for quote in some if quote.retrievable]
        results = [_result(claim, _attributed(claim, collection)) for claim in claims]
        left_out = [_result(claim, _attributed(claim, collection, leave_out=True)) for claim in claims]
        plain = _plain([claim.claim for claim in claims], quotes)
        seconds = median_seconds(lambda: [_attributed(claim, collection) for claim in claims], 3) / len(claims)
    right = [
        (quote.document, quote.page) == (claim.document, claim.page) for claim, quote in zip(claims, plain, strict=True)
    ]
    rows, figures = [], {}
    for kind in (*KINDS, "all"):
        chosen = [at for at, claim in enumerate(claims) if kind in (claim.kind, "all")]
        counts = {name: sum(results[at] == name for at in chosen) for name in RESULTS}
        counts["left out: wrong"] = sum(left_out[at] != "not found" for at in chosen)
        counts["plain: found"] = sum(right[at] for at in chosen)
        figures[kind] = {"claims": len(chosen), **counts}
        rows.append([kind, str(len(chosen)), *map(str, counts.values())])
    columns = ("claims", "", *RESULTS, "left out: wrong", "plain: found")
    tables = [Table(f"{len(quotes):,} quotes; {1000 * seconds:.0f} ms a claim", columns, rows)]
    if options.misses:
        missed = [
            [claims[at].kind, results[at], claims[at].claim] for at in range(len(claims)) if results[at] != "found"
        ]
        tables.append(Table("not found, or wrong", ("kind", "", "claim"), missed))
    print_results(host, {"quotes": len(quotes), "seconds_a_claim": seconds, "kinds": figures}, tables, options)


def _attributed(claim: Claim, collection: Collection, *, leave_out: bool = False) -> Attribution:
    other_documents = tuple(document.name for document in collection.documents() if document.name != claim.document)
    return attribute(collection, claim.claim, where=Filter(documents=other_documents) if leave_out else None)[0]


def _result(claim: Claim, attribution: Attribution) -> str:
    if attribution.outcome == "not_found":
        return "not found"
    citation = attribution.candidates[0].citation
    return "found" if (citation.document, citation.page) == (claim.document, claim.page) else "wrong"


def _plain(claims: Sequence[str], quotes: Sequence[Quote]) -> list[Quote]:
    """The quote that plain BM25 puts first, for each claim."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    words = bm25s.tokenize([quote.all_text() for quote in quotes], stemmer=stemmer, stopwords="en", show_progress=False)
    index = bm25s.BM25()
    index.index(words, show_progress=False)
    claim_tokens = bm25s.tokenize(list(claims), stemmer=stemmer, stopwords="en", show_progress=False)
    best, _ = index.retrieve(claim_tokens, k=1, show_progress=False)
    return [quotes[int(row[0])] for row in best]


if __name__ == "__main__":
    main()
