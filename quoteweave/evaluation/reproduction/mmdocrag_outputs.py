"""The rows of MMDocRAG's tables whose outputs are in the authors' repository, as conditions to compute again.

MMDocRAG/MMDocRAG at 3d61762 has answers in `response/` and judgements in `response/evaluation/`, under the names that
its `eval_all.py` reads. The questions, `dataset/evaluation_15.jsonl` and `evaluation_20.jsonl`, are from its dataset's
page.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.published import PublishedTable, printed_rows, published_table
from quoteweave.evaluation.reproduction import DATA, Condition

MODES = ("pure-text", "multimodal")
_MADE_WITH = {"ocr_text": "_ocr", "not thinking": "-no-think"}
"""What follows the model's name in file names, by the setting of a row."""
_OF_ANOTHER_TABLE = ("vlm_text", "thinking")
"""Settings of rows whose outputs are the same as in Tables 3 and 8."""
_SPELLINGS = {
    " (think)": "",
    " (after fine-tuning)": "-ft",
    "-inst": "",
    "-flash-think": "-flash-tk",
    "17bx": "17b-",
    "internvl-": "internvl3-",
    " ": "-",
}
"""Spellings of models' names in the tables, with those in file names, in lower case."""


@dataclass(frozen=True, slots=True)
class PublishedOutputs:
    """The published rows with which a copy of the repository can be compared.

    Fields:
        conditions: the rows whose files exist; `$DATA` in their commands is the repository
        missing: the tables' other rows, by name
    """

    conditions: list[Condition]
    missing: list[str]


def find_repository(folder: Path) -> Path | None:
    """The folder itself, or a folder in it, with answers as in the repository; None if there is none."""
    tried = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())] if folder.is_dir() else []
    return next((path for path in tried if any((path / "response").glob("*_quotes??_response.jsonl"))), None)


def load_outputs(repository: Path) -> PublishedOutputs:
    """The rows of Tables 3, 5, 8 and 11 for which this copy has answers and judgements.

    Raises DatasetError if it has none, and if the questions to which the answers belong are not in `dataset/`.
    """
    conditions: list[Condition] = []
    missing: list[str] = []
    answers, judgements = _files(repository / "response"), _files(repository / "response" / "evaluation")
    for setting in (15, 20):
        for table in (f"mmdocrag-{setting}", f"mmdocrag-views-{setting}", f"mmdocrag-thinking-{setting}"):
            published = published_table(table)
            for row in printed_rows(table):
                if row["setting"] in _OF_ANOTHER_TABLE:
                    continue
                names = next(
                    (pair for pair in _names(row, setting) if pair[0] in answers and pair[1] in judgements), None
                )
                if names is None:
                    missing.append(f"{_name(row)} ({setting} quotes)")
                    continue
                paths = [f"response/{answers[names[0]]}", f"response/evaluation/{judgements[names[1]]}"]
                conditions.append(_condition(published, row, setting, paths))
    if not conditions:
        raise DatasetError(
            f"{repository} has no answers with their judgements: of no row of Tables 3, 5, 8 and 11 are the answers in"
            " response/ and the judgements in response/evaluation/, under the authors' names"
        )
    _check_questions(repository, conditions)
    return PublishedOutputs(conditions, missing)


def _files(folder: Path) -> dict[str, str]:
    """Lower-case name to name of each file: the authors' spellings differ only by case."""
    return {path.name.lower(): path.name for path in sorted(folder.glob("*.jsonl"))}


def _name(row: Mapping[str, str]) -> str:
    return f"{row['system']}, {row['setting']}"


def _names(row: Mapping[str, str], setting: int) -> Iterator[tuple[str, str]]:
    """Possible names of the files with the answers and the judgements of a row, in lower case."""
    model = row["system"].lower()
    for printed, written in _SPELLINGS.items():
        model = model.replace(printed, written)
    model += _MADE_WITH.get(row["setting"], "")
    for mode in (row["setting"],) if row["setting"] in MODES else MODES:
        stem = f"{model}_{mode}_quotes{setting}"
        yield f"{stem}_response.jsonl", f"{stem}_llm-judge.jsonl"


def _condition(published: PublishedTable, row: Mapping[str, str], setting: int, paths: list[str]) -> Condition:
    paper, _, place = published.source.rpartition(", Table")
    return Condition(
        paper=paper,
        table=f"Table{place}",
        row=_name(row),
        command=f"quoteweave eval score '{DATA}/{paths[0]}' --dataset mmdocrag-{setting} --references "
        f"{DATA}/{_questions(setting)} --judgements '{DATA}/{paths[1]}' --convention published",
        expected={figure: row[figure] for figure in published.ranks if row[figure]},
    )


def _questions(setting: int) -> str:
    return f"dataset/evaluation_{setting}.jsonl"


def _check_questions(repository: Path, conditions: list[Condition]) -> None:
    for setting in (15, 20):
        questions = _questions(setting)
        if any(questions in condition.command for condition in conditions) and not (repository / questions).is_file():
            raise DatasetError(
                f"{repository} holds answers to {questions}, but not that file; put it there from the dataset's page, "
                "huggingface.co/datasets/MMDocIR/MMDocRAG"
            )
