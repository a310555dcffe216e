"""How often the source of a sentence is found in the literature without a model, over the made library.

The library (`quoteweave.testing.LibraryServer`, which speaks both services' APIs) has 500 papers, 60 excerpts whose
sources it has, ten of each kind, and 12 whose sources it lacks. An excerpt's own paper and later ones are hidden. Full
texts are served as PDFs, fetched and parsed. Measured: recall of the source among the first 1, 5 and 10 candidates,
with 95 % intervals; the seconds of an excerpt, at loopback latencies and without a limit of requests a second; and for
comparison the same without reading full texts, and plain BM25 (bm25s, English stemming) over the title and abstract of
every paper that is not hidden, which knows the whole library.

With `--calibrate FILE` the chance that the first candidate is the source is fitted on all 72 excerpts of the first
source named, and written; what is said of them is by leave-one-out.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import Table, arguments, bounds, finish, machine, working_folder

from quoteweave.attribution.excerpts import read_excerpts
from quoteweave.attribution.from_literature import FOLLOWED, READ, LiteratureAttributor
from quoteweave.attribution.literature.fetching import PdfFetcher
from quoteweave.attribution.literature.make_source import SourceName, SourceOptions, make_source
from quoteweave.attribution.literature.paper_library import PaperLibrary
from quoteweave.attribution.literature.papers import Paper
from quoteweave.attribution.literature.unseen import HidingRule, Unseen
from quoteweave.attribution.records import Attribution
from quoteweave.evaluation.calibration import CalibrationExample, CalibrationReport, calibrate
from quoteweave.evaluation.statistics.bootstrap import clustered_interval
from quoteweave.testing import LibraryServer
from quoteweave.testing.literature.records import MadeExcerpt, MadeLibrary

DEPTHS = (1, 5, 10)
RISK = 0.2
"""Share of wrong sources among those that are given, at most, that a threshold is chosen for."""
KINDS = ("plain", "restated", "same_group", "survey", "full_text", "old")
SOURCES: tuple[tuple[SourceName, ...], ...] = (("semantic-scholar",), ("openalex",), ("semantic-scholar", "openalex"))


class Result(NamedTuple):
    """What was found for one excerpt."""

    excerpt: MadeExcerpt
    rank: int | None
    found: Attribution | None
    seconds: float


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--calibrate", type=Path, metavar="FILE", help="write what was fitted here")
    parser.add_argument("--source", action="append", help="only this; several names apart by commas")
    options = parser.parse_args()
    found = machine()
    chosen = SOURCES if options.source is None else [tuple(one.split(",")) for one in options.source]
    results: dict[str, list[Result]] = {}
    with LibraryServer() as server:
        results["BM25 over all titles and abstracts"] = _plain(server.library)
        for sources in chosen:
            name = " + ".join(sources)
            for label, (followed, read) in {name: (FOLLOWED, READ), f"{name}, no full texts": (0, 0)}.items():
                with working_folder(None) as folder:
                    results[label] = asyncio.run(_all(server, sources, folder, followed, read))
    figures: dict[str, Any] = {}
    rows = []
    for label, of in results.items():
        known = [one for one in of if one.excerpt.target is not None]
        recalls = {depth: _recall(known, depth) for depth in DEPTHS}
        by_kind = [_recall([one for one in known if one.excerpt.kind == kind], 1) for kind in KINDS]
        taken = statistics.median(one.seconds for one in of)
        rows.append(
            [label, *map(bounds, recalls.values()), *(f"{10 * one.mean:.0f}" for one in by_kind), f"{taken:.2f}"]
        )
        figures[label] = {**{f"recall@{depth}": one.model_dump() for depth, one in recalls.items()}, "seconds": taken}
    tables = [
        Table(
            "recall of the source in per cent, and of ten of each kind those whose first candidate is it",
            ("", *(f"@{depth}" for depth in DEPTHS), *KINDS, "seconds"),
            rows,
        )
    ]
    report = _calibrated(next(of for label, of in results.items() if label == " + ".join(chosen[0])))
    tables.append(_confidence(report))
    if options.calibrate is not None and report.calibration is not None:
        options.calibrate.write_text(report.calibration.model_dump_json(indent=1) + "\n", "utf-8")
    finish(found, {"sources": figures, "confidence": report.model_dump(mode="json")}, tables, as_json=options.json)


async def _all(
    server: LibraryServer, sources: Sequence[SourceName], folder: Path, followed: int, read: int
) -> list[Result]:
    urls = {"semantic-scholar": server.semantic_scholar_url, "openalex": server.openalex_url}
    results = []
    with PaperLibrary(folder / "papers", PdfFetcher(allowed_hosts=["127.0.0.1"])) as papers:
        for excerpt in (*server.library.excerpts, *server.library.absent):
            own = server.library.paper(excerpt.source)
            rule = HidingRule(own=Paper(id=own.id, title=own.title), before=own.published)
            asked = [
                Unseen(
                    make_source(name, papers, SourceOptions(base_url=urls[name], per_second=1000), api_key="k"), rule
                )
                for name in sources
            ]
            start = time.perf_counter()
            attributor = LiteratureAttributor(asked, papers, followed=followed, read=read)
            (found,) = await attributor.attribute(excerpt.text, max(DEPTHS))
            titles = [one.title for one in found.candidates]
            target = None if excerpt.target is None else server.library.paper(excerpt.target).title
            rank = titles.index(target) + 1 if target in titles else None
            results.append(Result(excerpt, rank, found, time.perf_counter() - start))
    return results


def _plain(library: MadeLibrary) -> list[Result]:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    texts = [f"{paper.title}\n{paper.abstract}" for paper in library.papers]
    index: Any = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stemmer=stemmer, stopwords="en", show_progress=False), show_progress=False)
    results = []
    for excerpt in library.excerpts:
        own, start = library.paper(excerpt.source), time.perf_counter()
        (words,) = bm25s.tokenize(
            [read_excerpts(excerpt.text)[0].text],
            stemmer=stemmer,
            stopwords="en",
            return_ids=False,
            show_progress=False,
        )
        scores = index.get_scores(words)
        rule = HidingRule(own=Paper(id=own.id, title=own.title), before=own.published)
        shown = [
            paper.id
            for at in sorted(range(len(scores)), key=lambda at: -scores[at])
            for paper in [library.papers[at]]
            if rule.reason(Paper(id=paper.id, title=paper.title, published=paper.published)) is None
        ]
        rank = shown.index(excerpt.target) + 1 if excerpt.target in shown else None
        results.append(Result(excerpt, rank, None, time.perf_counter() - start))
    return results


def _recall(results: Sequence[Result], depth: int) -> Any:
    hits = [float(one.rank is not None and one.rank <= depth) for one in results]
    return clustered_interval(hits, [one.excerpt.id for one in results])


def _calibrated(results: Sequence[Result]) -> CalibrationReport:
    asked = [
        CalibrationExample(one.found.signals, one.excerpt.target is not None, one.rank == 1)
        for one in results
        if one.found is not None and one.found.signals is not None
    ]
    return calibrate(asked, retriever="literature", model="attribution", risk=RISK)


def _confidence(report: CalibrationReport) -> Table:
    rows = [["right and wrong first candidates", f"{report.right} and {report.wrong}"]]
    rows.append(["area under the risk–coverage curve (least possible)", f"{report.aurc:.3f} ({report.least_aurc:.3f})"])
    if report.chosen is not None:
        rows.append([f"threshold for a risk of {RISK}", f"{report.chosen.threshold:.2f}"])
        rows.append(["given, of all", f"{report.chosen.answers} ({100 * report.chosen.coverage:.0f} %)"])
        rows.append(["wrong, of those given", f"{100 * report.chosen.risk:.0f} %"])
        for name, group in report.groups.items():
            rows.append([f"{name}: given of all", f"{group.given} of {group.questions}"])
    return Table("confidence, by leave-one-out", ("", ""), rows)


if __name__ == "__main__":
    main()
