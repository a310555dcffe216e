"""How well the probability that `attribute` gives for a source in the literature is calibrated; it is also fitted here.

These sentences are looked for in the made library (`quoteweave.testing.LibraryServer`), full texts included:

- its 60 *excerpts*, whose sources it has and which use other words than their sources, and the 12 whose source it
  *lacks*, but for which papers of the same topic have similar findings; the paper that each excerpt is from, and later
  ones, are hidden;
- the finding of each excerpt's source in *its own words*, with the same papers hidden;
- sentences *unrelated* to all papers of the library, or about its topics but stated by none, in English and six other
  languages (`unrelated_sentences.jsonl`). Those of the set `closing` were written before the probability was fitted on
  the others, and are not used for fitting.

The same table counts the right and wrong first candidates that are cited by a sentence similar to the claim.

With `--calibrate FILE` the probability that the first candidate is the source is fitted on all but the closing set, and
written to the file. A source is given from the lowest probability at which at most a tenth of the given sources are
wrong, but not below one half. The table of outcomes is for the shipped calibration: right and wrong sources given, and
sentences without one.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from common import Table, arguments, machine, print_results, working_folder
from literature import own_words, rule_of, source_of

from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.literature.library.fetching import PdfFetcher
from quoteweave.attribution.literature.library.paper_library import PaperLibrary
from quoteweave.attribution.literature.sources.make_source import SourceName
from quoteweave.attribution.literature.sources.unseen import HidingRule, Unseen
from quoteweave.attribution.records import Attribution
from quoteweave.core.confidence import ALL_SIGNALS
from quoteweave.core.records import Record
from quoteweave.evaluation.calibration import CalibrationExample, CalibrationReport, calibrate
from quoteweave.testing import LibraryServer
from quoteweave.testing.literature.records import MadeLibrary

SENTENCES = Path(__file__).with_name("unrelated_sentences.jsonl")
RISK = 0.1
"""The threshold is chosen so that at most this share of the given sources is wrong."""
MIN_THRESHOLD = 0.5
"""Least threshold, so that a source called likely is more likely right than wrong."""
KINDS = ("excerpts", "lacked", "own words", "unrelated", "unrelated, closing set")


class UnrelatedSentence(Record):
    """A sentence that no paper of the made library states."""

    set: Literal["fitted", "closing"]
    text: str


class Asked(NamedTuple):
    """A sentence, the paper that it is from, and the title of its source, where it has one in the library."""

    kind: str
    text: str
    rule: HidingRule | None
    target: str | None


class Result(NamedTuple):
    """What was found for a sentence."""

    asked: Asked
    found: Attribution
    right: bool


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--source", default="semantic-scholar", choices=("semantic-scholar", "openalex"))
    parser.add_argument("--calibrate", type=Path, metavar="FILE", help="write what was fitted here")
    options = parser.parse_args()
    about = machine()
    with LibraryServer() as server, working_folder(None) as folder:
        results = asyncio.run(_attribute_all(server, options.source, folder))
    report = _calibrated([result for result in results if result.asked.kind != KINDS[-1]])
    if options.calibrate is not None and report.calibration is not None:
        after = report.calibration.after
        fitted = report.calibration.model_copy(
            update={"after": after.with_threshold(max(MIN_THRESHOLD, after.threshold))}
        )
        options.calibrate.write_text(fitted.model_dump_json(indent=1) + "\n", "utf-8")
    outcomes, counts = _outcomes(results)
    figures = {"outcomes": counts, "confidence": report.model_dump(mode="json")}
    print_results(about, figures, [outcomes, _confidence(report)], options)


def _questions(library: MadeLibrary) -> Iterator[Asked]:
    for excerpt in (*library.excerpts, *library.absent):
        rule = rule_of(library.paper(excerpt.source))
        target = None if excerpt.target is None else library.paper(excerpt.target)
        title = None if target is None else target.title
        yield Asked("lacked" if title is None else "excerpts", excerpt.text, rule, title)
        if target is not None:
            yield Asked("own words", own_words(target), rule, target.title)
    for line in SENTENCES.read_text("utf-8").splitlines():
        sentence = UnrelatedSentence.model_validate_json(line)
        yield Asked(KINDS[-1] if sentence.set == "closing" else "unrelated", sentence.text, None, None)


async def _attribute_all(server: LibraryServer, name: SourceName, folder: Path) -> list[Result]:
    results = []
    with PaperLibrary(folder / "papers", PdfFetcher(allowed_hosts=["127.0.0.1"])) as papers:
        source = source_of(server, name, papers)
        for question in _questions(server.library):
            searched = source if question.rule is None else Unseen(source, question.rule)
            attribution, *_ = await LiteratureAttributor([searched], papers).attribute(question.text)
            first = attribution.candidates[0].title if attribution.candidates else None
            results.append(Result(question, attribution, question.target is not None and first == question.target))
    return results


def _calibrated(results: Sequence[Result]) -> CalibrationReport:
    examples = [
        CalibrationExample(result.found.signals, result.asked.target is not None, result.right)
        for result in results
        if result.found.signals is not None
    ]
    return calibrate(examples, (*ALL_SIGNALS, "cited"), retriever="literature", model="attribution", risk=RISK)


def _outcomes(results: Sequence[Result]) -> tuple[Table, dict[str, Any]]:
    counts: dict[str, Any] = {}
    for kind in KINDS:
        of = [result for result in results if result.asked.kind == kind]
        outcomes = Counter((result.found.outcome, result.right) for result in of if result.found.outcome != "not_found")
        counts[kind] = {
            "sentences": len(of),
            "supported": outcomes["supported", True],
            "likely": outcomes["likely", True],
            "wrong": outcomes["supported", False] + outcomes["likely", False],
            "none": sum(result.found.outcome == "not_found" for result in of),
            "first right": sum(result.right for result in of),
            "of these cited": sum(result.right and _is_cited(result.found) for result in of),
            "first wrong": sum(bool(result.found.candidates) and not result.right for result in of),
            "of these cited too": sum(not result.right and _is_cited(result.found) for result in of),
        }
    given_columns = ("", "sentences", "right: supported", "right: likely", "wrong", "none given")
    columns = (*given_columns, "first right", "cited", "first wrong", "cited")
    rows = [[kind, *map(str, of.values())] for kind, of in counts.items()]
    return Table("what is given as the source, by the calibration that is shipped", columns, rows), counts


def _is_cited(attribution: Attribution) -> bool:
    return attribution.signals is not None and bool(attribution.signals.cited)


def _confidence(report: CalibrationReport) -> Table:
    rows = [["right and wrong first candidates", f"{report.right} and {report.wrong}"]]
    rows.append(["area under the risk–coverage curve (least possible)", f"{report.aurc:.3f} ({report.least_aurc:.3f})"])
    if report.chosen is not None:
        rows.append([f"least threshold for a risk of {RISK}", f"{report.chosen.threshold:.2f}"])
        rows.append(["given, of all", f"{report.chosen.answers} ({100 * report.chosen.coverage:.0f} %)"])
        rows.append(["wrong, of those given", f"{100 * report.chosen.risk:.0f} %"])
        points = [point for point in report.curve if point.threshold >= MIN_THRESHOLD]
        if points:
            rows.append([f"given from {MIN_THRESHOLD} on", f"{points[-1].answers}"])
            rows.append(["wrong, of those", f"{100 * points[-1].risk:.1f} %"])
        for name, group in report.groups.items():
            rows.append([f"{name}: given of all", f"{group.given} of {group.questions}"])
    return Table("confidence, by leave-one-out, the closing set left aside", ("", ""), rows)


if __name__ == "__main__":
    main()
