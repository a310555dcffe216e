"""How often the source of a sentence is found in the literature without a model, over the made library.

The library (`quoteweave.testing.LibraryServer`, which speaks both services' APIs) has 500 papers, 60 excerpts whose
sources it has, ten of each kind, and 12 whose sources it lacks. An excerpt's own paper and later ones are hidden. Full
texts are served as PDFs, fetched and parsed. Measured: recall of the source among the first 1, 5 and 10 candidates,
with 95 % intervals; the seconds of an excerpt, at loopback latencies and without a limit of requests a second; and for
comparison the same without reading full texts, and plain BM25 (bm25s, English stemming) over the title and abstract of
every paper that is not hidden, which knows the whole library.

A table of verdicts says how often the finding of each excerpt's source, in that paper's own words, is judged supported
by its text, and how often the same sentence is if it has another number, another subject, outcome or factor of the same
topic, or the other direction, which the paper does not say.

With `--paced N` only the time from a sentence to its attribution with passage and box is measured, as a person waits
who pastes a sentence: for N excerpts, each with a new folder of papers and at the rate that an API key allows.

With `--rank-by NAME` candidates are ranked by that retriever, or by several, fused, in place of `lexical`; with
`--dead-links` no file can be fetched, and it is counted how many first passages are snippets of Semantic Scholar's.

`source_confidence.py` measures how often the first candidate is right.
"""

import asyncio
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from common import Table, arguments, bounds, machine, print_results, working_folder
from library_process import serving_library

from quoteweave.attribution.drafts.post_hoc_runs import PassageFinder
from quoteweave.attribution.excerpts import Excerpt, read_excerpts
from quoteweave.attribution.literature.attributor import FOLLOWED, READ, LiteratureAttributor
from quoteweave.attribution.literature.library.fetching import FetchLimits, PdfFetcher
from quoteweave.attribution.literature.library.paper_library import PaperLibrary
from quoteweave.attribution.literature.opening import FETCH_SECONDS, open_literature
from quoteweave.attribution.literature.sources.make_source import SourceName, SourceOptions, make_source
from quoteweave.attribution.literature.sources.paper_metadata import SNIPPETS
from quoteweave.attribution.literature.sources.papers import Paper, PaperSource
from quoteweave.attribution.literature.sources.unseen import HidingRule, Unseen
from quoteweave.attribution.records import Attribution, Outcome
from quoteweave.core.records import Hit, Quote
from quoteweave.evaluation.statistics.intervals import clustered_interval
from quoteweave.pipeline.settings import RetrievalSettings
from quoteweave.testing import LibraryServer, make_library
from quoteweave.testing.literature.records import Finding, MadeExcerpt, MadeLibrary, MadePaper

DEPTHS = (1, 5, 10)
KINDS = ("plain", "restated", "same_group", "survey", "full_text", "old")
SOURCES: tuple[tuple[SourceName, ...], ...] = (("semantic-scholar",), ("openalex",), ("semantic-scholar", "openalex"))


OPPOSITES = {
    **{"raised": "lowered", "increased": "reduced", "rose": "fell", "rise": "fall"},
    **{"lowered": "raised", "reduced": "increased", "decreased": "increased", "fell": "rose"},
    **{"fall": "rise", "drop": "rise", "decline": "rise"},
}


class Result(NamedTuple):
    """What was found for one excerpt."""

    excerpt: MadeExcerpt
    rank: int | None
    found: Attribution | None
    seconds: float


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--source", action="append", help="only this; several names apart by commas")
    parser.add_argument("--paced", type=int, metavar="N", help="only the seconds of N excerpts, at the pace of a key")
    parser.add_argument("--rank-by", action="append", metavar="NAME", help="rank candidates by this retriever")
    parser.add_argument("--dead-links", action="store_true", help="have no file to be fetched")
    options = parser.parse_args()
    host = machine()
    chosen = SOURCES if options.source is None else [tuple(sources.split(",")) for sources in options.source]
    if options.paced:
        seconds = {name: _paced(name, options.paced) for (name, *more) in chosen if not more}
        rows = [
            [name, *(f"{value:.2f}" for value in (min(of), statistics.median(of), _p95(of), max(of)))]
            for name, of in seconds.items()
        ]
        columns = ("", "least", "median", "95 %", "most")
        paced = Table("seconds from a sentence to its attribution", columns, rows)
        print_results(host, {"seconds": seconds}, [paced], options)
        return
    results: dict[str, list[Result]] = {}
    with LibraryServer() as server:
        for paper in server.library.papers if options.dead_links else ():
            server.break_pdf(paper, "dead")
        results["BM25 over all titles and abstracts"] = _plain(server.library)
        for sources in chosen:
            name = " + ".join(sources)
            for label, (followed, read_count) in {name: (FOLLOWED, READ), f"{name}, no full texts": (0, 0)}.items():
                with working_folder(None) as folder:
                    limits = {"followed": followed, "read": read_count}
                    results[label] = asyncio.run(_all(server, sources, folder, limits, options.rank_by))
    figures: dict[str, Any] = {}
    rows = []
    for label, of in results.items():
        known = [result for result in of if result.excerpt.target is not None]
        recalls = {depth: _recall(known, depth) for depth in DEPTHS}
        by_kind = [_recall([result for result in known if result.excerpt.kind == kind], 1) for kind in KINDS]
        seconds_each = statistics.median(result.seconds for result in of)
        kind_recalls = [f"{10 * recall.mean:.0f}" for recall in by_kind]
        rows.append(
            [label, *map(bounds, recalls.values()), *kind_recalls, str(_from_snippets(of)), f"{seconds_each:.2f}"]
        )
        figures[label] = {
            **{f"recall@{depth}": recall.model_dump() for depth, recall in recalls.items()},
            "seconds": seconds_each,
        }
    tables = [
        Table(
            "recall of the source in per cent, and of ten of each kind those whose first candidate is it",
            ("", *(f"@{depth}" for depth in DEPTHS), *KINDS, "snippets", "seconds"),
            rows,
        )
    ]
    tables.append(_verdicts(make_library()))
    print_results(host, {"sources": figures}, tables, options)


async def _all(
    server: LibraryServer,
    sources: Sequence[SourceName],
    folder: Path,
    limits: Mapping[str, int],
    rank_by: Sequence[str] | None,
) -> list[Result]:
    results = []
    with PaperLibrary(folder / "papers", PdfFetcher(allowed_hosts=["127.0.0.1"])) as papers:
        for excerpt in (*server.library.excerpts, *server.library.absent):
            rule = rule_of(server.library.paper(excerpt.source))
            searched = [Unseen(source_of(server, name, papers), rule) for name in sources]
            start = time.perf_counter()
            attributor = LiteratureAttributor(searched, papers, **limits)
            if rank_by:
                attributor.rank_by(RetrievalSettings(retriever=tuple(rank_by)))
            (attribution,) = await attributor.attribute(excerpt.text, max(DEPTHS))
            titles = [candidate.title for candidate in attribution.candidates]
            target = None if excerpt.target is None else server.library.paper(excerpt.target).title
            rank = titles.index(target) + 1 if target in titles else None
            results.append(Result(excerpt, rank, attribution, time.perf_counter() - start))
    return results


def rule_of(paper: MadePaper) -> HidingRule:
    """The rule that hides the paper of an excerpt, and papers that were published later."""
    return HidingRule(own=Paper(id=paper.id, title=paper.title), before=paper.published)


def source_of(server: LibraryServer, name: SourceName, papers: PaperLibrary) -> PaperSource:
    """The made library as that service, without its limit of requests."""
    url = server.semantic_scholar_url if name == "semantic-scholar" else server.openalex_url
    return make_source(name, papers, SourceOptions(base_url=url, per_second=1000), api_key="k")


def _from_snippets(results: Sequence[Result]) -> int:
    first = [result.found.candidates[0] for result in results if result.found is not None and result.found.candidates]
    return sum(passage.citation.section == SNIPPETS for passage in first)


def _paced(name: SourceName, excerpts: int) -> list[float]:
    """The seconds of excerpts, one after another, each with a new folder of papers."""
    seconds, library = [], make_library()
    with serving_library() as server:
        url = server.semantic_scholar_url if name == "semantic-scholar" else server.openalex_url
        for excerpt in random.Random(1).sample(library.excerpts, excerpts):  # so that all kinds are among them
            source_paper = library.paper(excerpt.source)
            time.sleep(1.1)  # so that the next excerpt's first request does not wait
            with working_folder(None) as folder:
                start = time.perf_counter()
                with open_literature(
                    name,
                    papers=folder / "papers",
                    before=source_paper.published,
                    not_from=source_paper.title,
                    fetcher=PdfFetcher(FetchLimits(seconds=FETCH_SECONDS), allowed_hosts=["127.0.0.1"]),
                    options={name: SourceOptions(base_url=url)},
                ) as literature:
                    asyncio.run(literature.attribute(excerpt.text))
                    seconds.append(time.perf_counter() - start)
    return seconds


def _p95(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=20, method="inclusive")[-1]


def _plain(library: MadeLibrary) -> list[Result]:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    texts = [f"{paper.title}\n{paper.abstract}" for paper in library.papers]
    index: Any = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stemmer=stemmer, stopwords="en", show_progress=False), show_progress=False)
    results = []
    for excerpt in library.excerpts:
        start = time.perf_counter()
        (words,) = bm25s.tokenize(
            [read_excerpts(excerpt.text)[0].text],
            stemmer=stemmer,
            stopwords="en",
            return_ids=False,
            show_progress=False,
        )
        scores = index.get_scores(words)
        rule = rule_of(library.paper(excerpt.source))
        shown = [
            paper.id
            for at in sorted(range(len(scores)), key=lambda at: -scores[at])
            for paper in [library.papers[at]]
            if rule.reason(Paper(id=paper.id, title=paper.title, published=paper.published)) is None
        ]
        rank = shown.index(excerpt.target) + 1 if excerpt.target in shown else None
        results.append(Result(excerpt, rank, None, time.perf_counter() - start))
    return results


def _verdicts(library: MadeLibrary) -> Table:
    chance, counts = random.Random(1), Counter[tuple[str, str]]()
    for excerpt in library.excerpts:
        paper = library.paper(str(excerpt.target))
        finder = PassageFinder(_passages(paper))
        for change, statement in _changed(paper, library, chance).items():
            attribution = asyncio.run(
                finder.attribute_excerpt(Excerpt(mark=None, start=0, claim=statement, text=statement))
            )
            counts[change, attribution.outcome] += 1
    changes = dict.fromkeys(change for change, _ in counts)
    outcomes = get_args(Outcome)
    rows = [[change, *(str(counts[change, outcome]) for outcome in outcomes)] for change in changes]
    return Table("findings in the source's own words, changed and not, by outcome", ("", *outcomes), rows)


def _passages(paper: MadePaper) -> list[Hit]:
    texts = [paper.abstract, *(part for section in paper.sections for part in section.text.split("\n\n"))]
    quotes = [make_quote(text, place) for place, text in enumerate(texts)]
    return [Hit(rank=rank, score=1 / rank, quote=quote) for rank, quote in enumerate(quotes, 1)]


def make_quote(text: str, place: int) -> Quote:
    """A paragraph as a quote."""
    where = {"document": "paper", "page": 0, "page_label": "1", "bbox": (0, 0, 1, 1)}
    return Quote.model_validate(
        {**where, "id": f"paper:0:{place}", "kind": "text", "layout": "paragraph", "text": text}
    )


def own_words(paper: MadePaper) -> str:
    """The sentence in which a paper states its first finding."""
    results = next(section.text for section in paper.sections if section.heading == "Results").split("\n\n")
    return next(part for part in results if f"{paper.findings[0].percent:g} percent" in part)


def _changed(paper: MadePaper, library: MadeLibrary, chance: random.Random) -> dict[str, str]:
    """The sentence of a paper's first finding: unchanged, and with one thing changed in each way."""
    finding, statement = paper.findings[0], own_words(paper)
    near = [other.findings[0] for other in library.papers if other.topic == paper.topic and other.findings]

    def other(part: Callable[[Finding], str]) -> str:
        original = part(finding).removeprefix("the ")
        alternatives = sorted({part(other_finding).removeprefix("the ") for other_finding in near} - {original})
        return re.sub(re.escape(original), chance.choice(alternatives), statement, flags=re.IGNORECASE)

    opposite = re.sub(rf"\b({'|'.join(OPPOSITES)})\b", lambda word: OPPOSITES[word[0]], statement)
    return {
        "as written": statement,
        "another number": statement.replace(f"{finding.percent:g}", f"{finding.percent + 3.4:g}"),
        "another subject": other(lambda finding: finding.subject.original),
        "another outcome": other(lambda finding: finding.outcome.original),
        "another factor": other(lambda finding: finding.factor.original),
        "the other direction": opposite,
    }


def _recall(results: Sequence[Result], depth: int) -> Any:
    hits = [float(result.rank is not None and result.rank <= depth) for result in results]
    return clustered_interval(hits, [result.excerpt.id for result in results])


if __name__ == "__main__":
    main()
