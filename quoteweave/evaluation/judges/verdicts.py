"""What a judge said of each answer, kept as JSON Lines: appended as it is said, and resumed.

Where an answer was judged more than once, the later line counts.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from quoteweave.core.answers import Usage
from quoteweave.core.errors import UsageError
from quoteweave.core.jsonl import iter_rows
from quoteweave.core.records import Record

JUDGEMENTS = "judgements.jsonl"
"""The file's name in a run folder."""


class Verdict(Record):
    """What a judge said of one answer; or the error."""

    example: str = Field(description="id of the example")
    scores: Mapping[str, int] | None = Field(description="criterion to score; None where the judgement failed")
    error: str | None = Field(default=None, description="why there are no scores; a failed judgement is never a 0")
    raw: str | None = Field(default=None, description="the judge's last reply, as it came; None where there was none")
    model: str = Field(description="the judge that was asked for")
    served_as: str | None = Field(default=None, description="the model that replied, as its endpoint calls it")
    prompt: str = Field(description="SHA-256 of the prompt's text")
    request: str = Field(description="SHA-256 of all that was sent: changes with the question, answer, gold and quotes")
    usage: Usage = Usage()
    attempts: int = Field(ge=1, description="how often the judge was asked")


def read_verdicts(path: Path, *, model: str, prompt: str) -> dict[str, Verdict]:
    """Example id to the last verdict on it; empty where there is no file. A line cut short by a crash is passed over.

    Raises DatasetError, naming line and field, for a file of something else, and UsageError for judgements by another
    model or prompt than those named: they are not to be mixed.
    """
    found: dict[str, Verdict] = {}
    for _, verdict in iter_rows(path, Verdict, drop_cut=True) if path.exists() else ():
        _check_same(path, verdict, model, prompt)
        found[verdict.example] = verdict
    return found


def _check_same(path: Path, verdict: Verdict, model: str, prompt: str) -> None:
    if verdict.model != model:
        said = f"by {verdict.model}, not by {model}"
    elif verdict.prompt != prompt:
        said = f"by another prompt (its SHA-256 begins with {verdict.prompt[:12]}, that of this one with {prompt[:12]})"
    else:
        return
    raise UsageError(f"{path} holds judgements {said}, and the two are not to be mixed; name another file with --out")
