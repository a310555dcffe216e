"""Match predictions with the examples that they answer, and refuse those of another dataset or setting."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from quoteweave.core.answers import C15, C20, ContextSize
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example, Prediction, Scope, question_hash
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import join_names, pluralize
from quoteweave.core.records import Kind
from quoteweave.core.runs import RUN_FILE, UNREACHABLE, read_run_record
from quoteweave.evaluation.datasets import dataset_file
from quoteweave.evaluation.text.responses import citations

_MAX_SHOWN = 3
"""How many ids a message names."""
_MIN_CITING = 20
_MAX_NUMBER = 40
_MAX_BEYOND_SHARE = 0.25
"""If many answers cite, a larger share that cites beyond its context is not a model's mistake: of nine models' answers
over MMDocRAG's 20 quotes at most 0.03 do so; treated as answers over 15 quotes, at least 0.38."""


def match_predictions(
    examples: Sequence[Example],
    predictions: Sequence[Prediction],
    *,
    partial: bool = False,
    same_references: bool = False,
) -> list[Prediction]:
    """The predictions, in the order of the examples.

    Raises DatasetError, with counts and instances, if a question is answered twice, if answers are to questions that
    the dataset does not ask, if many cite quotes that their questions do not have, and, unless `partial`, if questions
    are not answered.
    """
    counts = Counter(prediction.example for prediction in predictions)
    example_ids = [example.id for example in examples]
    problems = [
        _fault("answered more than once", [name for name, count in counts.items() if count > 1]),
        _fault("answered that the dataset does not ask", sorted(counts.keys() - set(example_ids))),
        "" if partial else _fault("not answered", [name for name in example_ids if name not in counts]),
    ]
    faults = [problem for problem in problems if problem]
    if faults:
        advice = _advice(problems)
        raise DatasetError(
            f"{pluralize(len(predictions), 'answer does', 'answers do')} not fit "
            f"{pluralize(len(examples), 'question')}: {'; '.join(faults)}{advice}"
        )
    by_example = {prediction.example: prediction for prediction in predictions}
    if not same_references:  # a run that names these references was made over no others
        _check_setting(examples, by_example)
    return [by_example[name] for name in example_ids if name in by_example]


def _advice(problems: Sequence[str]) -> str:
    """Advice on every problem that there is, in the order of `match_predictions`."""
    ways = (
        "keep one answer to each question",
        "take these answers out of the file, or name the dataset that asks them with --dataset and --references",
        "--partial scores those that are answered",
    )
    return "".join(f"; {way}" for problem, way in zip(problems, ways, strict=True) if problem)


def match_run(
    run: Path,
    dataset: str,
    references: Path | None,
    examples: Sequence[Example],
    predictions: Sequence[Prediction],
    *,
    partial: bool = False,
) -> list[Prediction]:
    """The predictions of a run over a dataset, in the order of the examples.

    Raises what `match_predictions` and, unless the run's record names these references, `check_size` raise.
    """
    same_references = run_names_references(run, dataset, references)
    matched = match_predictions(examples, predictions, partial=partial, same_references=same_references)
    if not same_references:
        check_size(dataset, examples, matched)
    return matched


def _check_setting(examples: Sequence[Example], predictions: Mapping[str, Prediction]) -> None:
    """Raise DatasetError if answers were made over more quotes than the examples have.

    A number below 0 is not written as in a quote's name, such as `[03]`, and so says nothing about that.
    """
    cited = [
        (example, _own_citations(example, predictions[example.id])) for example in examples if example.id in predictions
    ]
    citing = [(example, marks) for example, marks in cited if marks]
    beyond = [
        f"{example.id}: {', '.join(missing)}"
        for example, marks in citing
        if example.context
        and (missing := [f"{kind} {n}" for kind, n in marks if n >= 0 and not example.context.quote(kind, n)])
    ]
    _refuse_many(beyond, len(citing))


def _refuse_many(beyond: Sequence[str], citing: int) -> None:
    if citing >= _MIN_CITING and len(beyond) > _MAX_BEYOND_SHARE * citing:
        raise DatasetError(
            f"{_fault('answers cite quotes that their questions do not have', beyond)}, of {citing} that cite; "
            "they were made over another setting: name its references (mmdocrag-20 has more quotes than mmdocrag-15)"
        )


_CONTEXT_SIZES: Mapping[str, ContextSize] = {"mmdocrag-15": C15, "mmdocrag-20": C20}
"""Datasets whose questions all have that many candidates, so that a file with only the gold need not list them."""


def check_size(dataset: str, examples: Sequence[Example], predictions: Sequence[Prediction]) -> None:
    """Raise DatasetError if answers were made over more quotes than a dataset has whose file has only the gold."""
    gold_only = {example.id for example in examples if example.context is None}
    if dataset not in _CONTEXT_SIZES or not gold_only:
        return
    most = {"text": _CONTEXT_SIZES[dataset].texts, "image": _CONTEXT_SIZES[dataset].images}
    cited = [
        (prediction.example, _cited_numbers(prediction.response))
        for prediction in predictions
        if prediction.response and prediction.context is None and prediction.example in gold_only
    ]
    beyond = [
        f"{name}: {', '.join(missing)}"
        for name, marks in cited
        if (missing := [f"{kind} {n}" for kind, n in marks if not 1 <= n <= most[kind]])
    ]
    _refuse_many(beyond, sum(bool(marks) for _, marks in cited))


_PUBLISHED_NAME = lazy_regex(
    r"(.+_(?:multimodal|pure-text)_quotes(?:15|20))(?:_response|_llm-judge)?\.jsonl(?:\.gz)?", re.IGNORECASE
)
"""File names of answers and judgements by MMDocRAG's authors, with model, mode and setting."""


def check_judged(run: Path, judgements: Path) -> None:
    """Raise DatasetError for judgements of other answers: in another run's folder, or so named by the authors."""
    folder = judgements.resolve().parent
    if (folder / RUN_FILE).is_file() and (run / RUN_FILE).is_file() and folder != run.resolve():
        raise DatasetError(
            f"{judgements} is in the folder of another run than {run}; name judgements in the order of runs"
        )
    names = [_PUBLISHED_NAME.fullmatch(path.name) for path in (run, judgements)]
    stems = [match[1].casefold() for match in names if match is not None]
    if len(set(stems)) > 1:
        raise DatasetError(
            f"{judgements.name} judges the answers of {stems[1]}, by its name, and {run.name} has those of {stems[0]}; "
            "name judgements in the order of runs"
        )


def select_scope(predictions: Sequence[Prediction], scope: Scope | None) -> list[Prediction]:
    """The predictions of that scope. Raises UsageError if the run lacks it, or has several and none is named."""
    scopes = sorted({prediction.scope for prediction in predictions})
    if scope is None and len(scopes) > 1:
        raise UsageError(f"the run searched several scopes ({', '.join(scopes)}); name one with --scope")
    if scope is not None and scope not in scopes:
        raise UsageError(f"--scope {scope}: the run has {', '.join(scopes) or 'no predictions'}")
    return [prediction for prediction in predictions if scope in (None, prediction.scope)]


def _own_citations(example: Example, prediction: Prediction) -> list[tuple[Kind, int]]:
    """What an answer over the example's own quotes cites, if these are named by their places (`text3`)."""
    context, response = example.context, prediction.response
    if context is None or prediction.context is not None or not response:
        return []
    if not all(hit.quote.id == f"text{position}" for position, hit in enumerate(context.texts, start=1)):
        return []
    return _cited_numbers(response)


def _cited_numbers(response: str) -> list[tuple[Kind, int]]:
    # Only a single number in brackets, which another setting could have: "[2019, 2020]" are years.
    return [(kind, number) for kind, number in citations(response, "published").marks() if number <= _MAX_NUMBER]


def _fault(problem: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(repr(name) for name in names[:_MAX_SHOWN])
    return f"{len(names)} {problem} ({shown}{', …' if len(names) > _MAX_SHOWN else ''})"


REFERENCES = ("references", "annotations")
"""The keys of the dataset file's fingerprint in the records of a run of answers, and of a run of rankings."""


def run_names_references(run: Path, dataset: str, references: Path | None) -> bool:
    """Whether the run's record names exactly these references. Raises DatasetError."""
    return _recorded_dataset(run) == dataset and _is_same_file(run, dataset, references) is True


def other_references(run: Path, dataset: str, references: Path | None) -> str:
    """Says that the run's record names another file of the dataset than these references; "" if it does not.

    Raises DatasetError for a record that cannot be read.
    """
    if _recorded_dataset(run) not in (None, dataset) or _is_same_file(run, dataset, references) is not False:
        return ""
    return f"the run was made over another file than {references} (its SHA-256 is not the one that the run records)"


def dataset_notes(
    run: Path, dataset: str, references: Path | None, examples: Sequence[Example], predictions: Sequence[Prediction]
) -> list[str]:
    """Notes that the run was made over another dataset, another file of it, or other questions with the same ids.

    Raises DatasetError for a record that cannot be read.
    """
    recorded = _recorded_dataset(run)
    notes = _unreachable(run)
    if recorded not in (None, dataset):
        notes.append(
            f"the run says that it was asked of {recorded}, not of {dataset}: where these have other quotes under the "
            "same names, its scores mean nothing"
        )
    elif other_file := other_references(run, dataset, references):
        notes.append(
            f"{other_file}: where that is another version of the dataset, these answers are scored by gold that is not "
            "theirs"
        )
    if other_answers := _asked_otherwise(examples, predictions):
        answers = pluralize(len(other_answers), "answer is to another question", "answers are to other questions")
        notes.append(
            f"{answers}, or over other quotes, than the dataset has under the same id "
            f"({join_names(other_answers, _MAX_SHOWN)}): they were made over "
            "another version of it, and their scores mean nothing"
        )
    return notes


def _unreachable(run: Path) -> list[str]:
    """The recorded note on gold that the retriever could never have found; it counts as not found."""
    note = read_run_record(run).noted.get(UNREACHABLE) if (run / RUN_FILE).is_file() else None
    return [] if note is None else [note]


def _recorded_dataset(run: Path) -> object:
    """The dataset recorded in a run folder; None if none is recorded."""
    return read_run_record(run).configuration.get("dataset") if (run / RUN_FILE).is_file() else None


def _is_same_file(run: Path, dataset: str, references: Path | None) -> bool | None:
    """Whether the run recorded the hash of this file; None if either is not known."""
    if references is None or not (run / RUN_FILE).is_file():
        return None
    try:
        file = dataset_file(dataset, references)
    except DatasetError:
        return None
    recorded = read_run_record(run).fingerprints
    hashes = [recorded[name] for name in REFERENCES if name in recorded]
    return file_sha256(file) in hashes if hashes and file.is_file() else None


def _asked_otherwise(examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[str]:
    """The ids of answers to a question, or over quotes, other than the dataset's; white space is ignored."""
    examples_by_id = {example.id: example for example in examples if example.query.text}  # gold alone has no questions
    return [
        prediction.example
        for prediction in predictions
        if prediction.example in examples_by_id and _differs(prediction, examples_by_id[prediction.example])
    ]


def _differs(prediction: Prediction, example: Example) -> bool:
    if prediction.asked is not None:
        return prediction.asked != question_hash(example.query.text, example.context)
    return prediction.answer is not None and prediction.answer.question.split() != example.query.text.split()
