"""Kinds of error in answers: counted by group, a judge's compared with people's, and the page on which people label.

The page is one HTML file that loads nothing from elsewhere.
"""

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.templates import open_template, policy_hash
from quoteweave.core.files.whole_files import output_file
from quoteweave.core.records import Record
from quoteweave.evaluation.judges.batch import JudgingItem
from quoteweave.evaluation.judges.error_judge import ERROR_KINDS, ErrorKind, answer_hash, describe_search
from quoteweave.evaluation.metrics.answers.title_match import TitleMatch
from quoteweave.evaluation.report.questions import MAX_CHARACTERS, PictureReader, ShownQuote, shown_quotes
from quoteweave.evaluation.scoring.breakdowns import groups_of
from quoteweave.evaluation.statistics.aggregates import CORRELATION, Aggregate, Row
from quoteweave.evaluation.statistics.intervals import Estimate, Intervals, cluster_intervals, estimates
from quoteweave.evaluation.text.responses import answer_of

Labels = Mapping[str, Sequence[str]]
"""Example id to the names of the kinds of error in its answer; empty for an answer without errors."""
CELLS = ("both", "judge_alone", "people_alone", "neither")


class ErrorCounts(Record):
    """How many answers have each kind of error. An answer may have several."""

    answers: int = Field(ge=0, description="that were looked at")
    sound: int = Field(ge=0, description="of these, without any of the kinds")
    kinds: Mapping[str, int] = Field(description="kind to the answers that have it")


class ErrorAnalysis(Record):
    """Kinds of error over all answers, and by group."""

    total: ErrorCounts
    groups: Mapping[str, Mapping[str, ErrorCounts]] = Field(
        description="breakdown, such as domain or question_type, to group to its counts"
    )


class ErrorAgreement(Record):
    """A judge's kinds of error beside people's."""

    n: int = Field(ge=1, description="answers that both have looked at")
    left_out: int = Field(ge=0, description="answers that one of them alone has looked at")
    figures: Mapping[str, Estimate] = Field(
        description="kind, then .exact (share of answers of which both say the same), .kappa (Cohen's), .precision and "
        ".recall (of the judge, people's labels being right); intervals are over questions"
    )


def wrong_papers(items: Sequence[JudgingItem]) -> list[JudgingItem]:
    """The answers that name a paper other than the cited one, or none; technical errors are not among them.

    An answer is right by the authors' match of titles, or by a common identifier.

        >>> example = Example(id="7", query=Query(text="Grain went by rail [CITATION]."), task="name_paper",
        ...                   reference=Reference(short_answer="Freight in May"))
        >>> named = [Prediction(example="7", scope="context", response=title) for title in ("Freight in May", "Cranes")]
        >>> [answer.response for answer, _ in wrong_papers([(one, example) for one in named])]
        ['Cranes']
    """
    match = TitleMatch()
    rows = [(item, match.row(*item)) for item in items if item[0].error is None]
    return [item for item, row in rows if row.get("title_match") == 0 and not row.get("identifier_match")]


def count_errors(labels: Labels, kinds: Sequence[str], examples: Sequence[Example]) -> ErrorAnalysis:
    """Count kinds over the labelled answers, and by the groups of their questions.

    Raises DatasetError for labels of questions that are not among these.

        >>> examples = load_dataset("mmdocrag-20", Path("gold.jsonl"))
        >>> found = count_errors({"0": ["excessive_citation"], "1": []}, ["excessive_citation"], examples)
        >>> found.total.answers, found.total.sound, found.total.kinds["excessive_citation"]
        (2, 1, 1)
    """
    examples_by_id = {example.id: example for example in examples}
    unknown = [name for name in labels if name not in examples_by_id]
    if unknown:
        raise DatasetError(f"{unknown[0]!r} is labelled, and is no question of this dataset; check the file of labels")
    members: defaultdict[str, defaultdict[str, list[Sequence[str]]]] = defaultdict(lambda: defaultdict(list))
    for name, labelled_kinds in labels.items():
        for breakdown, groups in groups_of(examples_by_id[name]).items():
            for group in groups:
                members[breakdown][group].append(labelled_kinds)
    return ErrorAnalysis(
        total=_count_kinds(list(labels.values()), kinds),
        groups={
            breakdown: {group: _count_kinds(groups[group], kinds) for group in sorted(groups)}
            for breakdown, groups in members.items()
        },
    )


def _count_kinds(labels: Sequence[Sequence[str]], kinds: Sequence[str]) -> ErrorCounts:
    tally = Counter(name for answer_kinds in labels for name in set(answer_kinds))
    sound = sum(not answer_kinds for answer_kinds in labels)
    return ErrorCounts(answers=len(labels), sound=sound, kinds={name: tally[name] for name in kinds})


def error_agreement(
    judge: Labels, people: Labels, kinds: Sequence[str], *, intervals: Intervals | None = cluster_intervals
) -> ErrorAgreement:
    """Compare a judge's kinds with people's, each kind by itself. Raises DatasetError if no answer has both.

    >>> found = error_agreement({"0": ["a"], "1": []}, {"0": ["a"], "1": []}, ["a"], intervals=None)
    >>> found.n, found.figures["a.kappa"].value
    (2, 1.0)
    """
    shared = [name for name in judge if name in people]
    if not shared:
        raise DatasetError("no answer is labelled by both the judge and people; check that the ids agree")
    rows = [_row(judge[name], people[name], kinds) for name in shared]
    figures = [aggregate for kind in kinds for aggregate in _figures(kind)]
    left_out = len(judge.keys() | people.keys()) - len(shared)
    return ErrorAgreement(n=len(shared), left_out=left_out, figures=estimates(figures, rows, shared, intervals))


def _row(judge: Sequence[str], people: Sequence[str], kinds: Sequence[str]) -> Row:
    row: dict[str, float | None] = {f"{kind}.{cell}": 0.0 for kind in kinds for cell in CELLS}
    for kind in kinds:
        cell = CELLS[2 * (kind not in judge) + (kind not in people)]
        row[f"{kind}.{cell}"] = 1.0
    return row


def _figures(kind: str) -> list[Aggregate]:
    columns = tuple(f"{kind}.{cell}" for cell in CELLS)
    # The sums are the number of rows n, then the cells a (both), b (judge only), c (people only) and d (neither).
    return [
        Aggregate(f"{kind}.exact", columns, lambda sums: (sums[1] + sums[4]) / sums[0]),
        Aggregate(
            f"{kind}.kappa",
            columns,
            # (p - e) / (1 - e), where p is the share of agreement and e that of independent labels (Cohen, 1960)
            lambda sums: (
                2
                * (sums[1] * sums[4] - sums[2] * sums[3])
                / ((sums[1] + sums[2]) * (sums[2] + sums[4]) + (sums[1] + sums[3]) * (sums[3] + sums[4]))
            ),
            limits=CORRELATION,
        ),
        Aggregate(f"{kind}.precision", columns, lambda sums: sums[1] / (sums[1] + sums[2])),
        Aggregate(f"{kind}.recall", columns, lambda sums: sums[1] / (sums[1] + sums[3])),
    ]


_TEMPLATES = Path(__file__).parent / "templates"


class LabelledAnswer(Record):
    """One answer, as the page shows it."""

    id: str
    sha256: str
    question: str
    answer: str
    cut: int
    gold_answer: str
    quotes: tuple[ShownQuote, ...]


def sample_pairs(pairs: Sequence[JudgingItem], number: int | None, seed: int = 0) -> list[JudgingItem]:
    """That many answers, drawn by the seed, in their order; all for None. Failed answers are left out.

    Raises DatasetError if none is left.
    """
    answered = [pair for pair in pairs if pair[0].error is None and pair[0].response is not None]
    if not answered:
        raise DatasetError("there is no answer to label: all failed, or only quotes were retrieved")
    if number is None or number >= len(answered):
        return answered
    chosen = sorted(random.Random(seed).sample(range(len(answered)), number))
    return [answered[place] for place in chosen]


def write_error_page(
    pairs: Sequence[JudgingItem],
    path: Path,
    *,
    run: str,
    kinds: Sequence[ErrorKind] = ERROR_KINDS,
    pictures: PictureReader | None = None,
) -> set[str]:
    """Write the page for these answers. Labels are stored in the browser, and can be exported as JSON Lines.

    Returns the pictures that quotes name but that cannot be shown. Raises StorageError if the file cannot be written.

        >>> examples = load_dataset("mmdocrag-20", Path("gold.jsonl"))
        >>> pairs = list(zip(load_predictions(Path("ours.jsonl")), examples, strict=True))
        >>> write_error_page(pairs, Path("errors.html"), run="ours")
        set()
    """
    lost: set[str] = set()

    def read(name: str | None) -> str | None:
        data_url = None if pictures is None else pictures(name)
        if data_url is None and name is not None:
            lost.add(name)
        return data_url

    answers = [_labelled_answer(*pair, read) for pair in pairs]
    with output_file(path) as file:
        file.write(error_page(answers, run, kinds).encode("utf-8", "replace"))
    return lost


def error_page(answers: Sequence[LabelledAnswer], run: str, kinds: Sequence[ErrorKind] = ERROR_KINDS) -> str:
    """The HTML document, in which answers and quotes are data that are never read as HTML."""
    from markupsafe import Markup

    data = {
        "kinds": [kind.model_dump(mode="json") for kind in kinds],
        "answers": [answer.model_dump(mode="json") for answer in answers],
    }
    # The data are in a script element, which "</script" or "<!--" would end or change, so no string may contain these.
    escaped = (
        json.dumps(data, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )
    style, script = ((_TEMPLATES / f"errors.{kind}").read_text("utf-8") for kind in ("css", "js"))
    policy = f"default-src 'none'; img-src data:; style-src {policy_hash(style)}; script-src {policy_hash(script)}"
    return open_template(_TEMPLATES, "errors.html.j2").render(
        title=f"Errors in {run}",
        policy=policy,
        key=hashlib.sha256(escaped.encode()).hexdigest()[:16],
        style=Markup(style),  # noqa: S704  # a file of ours
        script=Markup(script),  # noqa: S704  # a file of ours
        data=Markup(escaped),  # noqa: S704  # escaped above
    )


def _labelled_answer(prediction: Prediction, example: Example, pictures: PictureReader) -> LabelledAnswer:
    search = prediction.paper_search
    answer = answer_of(prediction.response or "", "own").strip()
    # The length of a search is limited already, and its end says what was selected.
    steps = describe_search(search) if search is not None and search.steps else None
    return LabelledAnswer(
        id=example.id,
        sha256=answer_hash(prediction),
        question=example.query.text,
        answer=answer[:MAX_CHARACTERS] if steps is None else steps,
        cut=max(0, len(answer) - MAX_CHARACTERS) if steps is None else 0,
        gold_answer=example.reference.answer or example.reference.short_answer or "",
        quotes=tuple(shown_quotes(prediction, example, pictures)),
    )
