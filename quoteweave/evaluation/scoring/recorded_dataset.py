"""Compare what a run records of its dataset with the dataset that it is scored by."""

from collections.abc import Sequence
from pathlib import Path

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.messages import join_names, pluralize
from quoteweave.core.runs import RUN_FILE, read_run_record
from quoteweave.evaluation.datasets import dataset_file

REFERENCES = ("references", "annotations")
"""The fingerprint of the dataset's file in the record of a run of answers, and of one of rankings."""
_SHOWN = 3


def run_names_references(run: Path, dataset: str, references: Path | None) -> bool:
    """Whether the run's record names exactly these references. Raises DatasetError."""
    return _recorded_dataset(run) == dataset and _same_file(run, dataset, references) is True


def dataset_notes(
    run: Path, dataset: str, references: Path | None, examples: Sequence[Example], predictions: Sequence[Prediction]
) -> list[str]:
    """Say that the run was made over another dataset, another file of it, or other questions under the same ids.

    Raises DatasetError for a record that cannot be read.
    """
    recorded = _recorded_dataset(run)
    if recorded not in (None, dataset):
        return [f"the run says that it was asked of {recorded}, not of {dataset}"]
    notes = []
    if _same_file(run, dataset, references) is False:
        notes.append(
            f"the run was made over another file than {references} (its SHA-256 is not the one that the run records): "
            "where that is another version of the dataset, these answers are scored by gold that is not theirs"
        )
    if other := _asked_otherwise(examples, predictions):
        answers = pluralize(len(other), "answer is to another question", "answers are to other questions")
        notes.append(
            f"{answers} than the dataset asks under the same id ({join_names(other, _SHOWN)}): they were made over "
            "another version of it, and their scores mean nothing"
        )
    return notes


def _recorded_dataset(run: Path) -> object:
    """The dataset recorded in a run folder; None where none is recorded."""
    return read_run_record(run).configuration.get("dataset") if (run / RUN_FILE).is_file() else None


def _same_file(run: Path, dataset: str, references: Path | None) -> bool | None:
    """Whether the run records the hash of this file; None where either is not known."""
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
    """The ids of answers that name another question than the dataset does; white space is not compared."""
    asked = {example.id: example.query.text.split() for example in examples}
    return [
        one.example
        for one in predictions
        # A file with gold alone has no questions.
        if one.answer is not None and asked.get(one.example) and one.answer.question.split() != asked[one.example]
    ]
