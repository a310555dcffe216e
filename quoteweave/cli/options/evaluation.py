"""Options that the commands of `eval` share for saved runs, scoring and judging."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Scope
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest
from quoteweave.evaluation.text.responses import MarkGrammar

RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN_OR_FILE", help="A run folder, or a file of responses or predictions.")
]
RunsArgument = Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders, or files of responses.")]
DatasetOption = Annotated[str, typer.Option(help="What was asked, such as mmdocrag-20.", metavar="NAME")]
ReferencesOption = Annotated[
    Path | None,
    typer.Option(help="The dataset's own file or folder; to score, a file of its gold alone will do.", metavar="PATH"),
]
PartialOption = Annotated[bool, typer.Option("--partial", help="Accept runs that answer only some of the questions.")]
JudgementsOption = Annotated[
    list[Path] | None,
    typer.Option(help="Output of eval judge for these answers; once for each run, in their order.", metavar="FILE"),
]
CitationsOption = Annotated[
    list[Path] | None,
    typer.Option(help="Output of eval citations for these answers; once for each run, in their order.", metavar="FILE"),
]
ConcurrencyOption = Annotated[int, typer.Option(min=1, help="Requests at the same time.", metavar="N")]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Only the first N.", metavar="N")]
PriceOption = Annotated[
    tuple[float, float] | None,
    typer.Option(help="The endpoint's price in US dollars per million tokens, input and output.", metavar="IN OUT"),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Start without asking for confirmation.")]


PlotFolderOption = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for a report with plots (extra: report).", metavar="DIR"),
]
ByOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Break figures down by this only, such as domain, or by two: domain,evidence. Can be repeated.",
        metavar="NAME[,NAME]",
    ),
]


ScopeOption = Annotated[Scope | None, typer.Option(help="Which scope to score, for runs that searched several.")]
ConventionOption = Annotated[
    Convention,
    typer.Option(
        help="strict: leave out what failed or is undefined. published: count as each benchmark's authors do, quirks "
        "included (docs/metrics.md)."
    ),
]
MarksOption = Annotated[
    MarkGrammar | None,
    typer.Option(help="published: [N] and (imageN) only. own: [1, 2] and [1-3] too. The default follows --convention."),
]


def files_per_run(option: str, files: Sequence[Path] | None, runs: Sequence[Path]) -> Sequence[Path | None]:
    """Pair files with runs; without files, return None for each run. Raises UsageError for a wrong number of files."""
    if len(files or []) not in (0, len(runs)):
        raise UsageError(
            f"{pluralize(len(files or []), 'file')} of {option} for {pluralize(len(runs), 'run')}; give "
            f"--{option} once for each run"
        )
    return files or [None] * len(runs)


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """What was asked, and how saved answers are read and counted."""

    dataset: DatasetOption
    references: ReferencesOption = None
    scope: ScopeOption = None
    convention: ConventionOption = "strict"
    marks: MarksOption = None
    partial: PartialOption = False

    def requests(
        self,
        runs: Sequence[Path],
        judgements: Sequence[Path] | None = None,
        citations: Sequence[Path] | None = None,
        by: Sequence[str] | None = None,
    ) -> list[ScoringRequest]:
        """The request to score each run. Raises UsageError for a wrong number of files."""
        judged, checked = files_per_run("judgements", judgements, runs), files_per_run("citations", citations, runs)
        shared = {**asdict(self), "by": None if by is None else tuple(by)}
        return [
            ScoringRequest(run=run, judgements=judgement_file, citations=citation_file, **shared)
            for run, judgement_file, citation_file in zip(runs, judged, checked, strict=True)
        ]
