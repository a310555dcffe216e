"""A run's folder for the trials with damaged files, and everything that is read of it again."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER, QUESTIONS = "runs", "questions.jsonl"
_SAID = "They rose to {} in 2023 [1]."
_COUNT = 12


def make_run(root: Path) -> None:
    """Questions, a run with its judgements, trajectories, verdicts of an entailment model and kept calls."""
    from quoteweave.attribution.agent.actions import Select
    from quoteweave.attribution.agent.trajectory import AgentSettings, Reply, Step, TrajectorySetup, open_trajectory
    from quoteweave.attribution.literature.sources.papers import Paper
    from quoteweave.core.answers import Context
    from quoteweave.core.examples import Prediction
    from quoteweave.core.files.jsonl import open_for_append
    from quoteweave.core.fingerprints import file_sha256
    from quoteweave.core.records import Hit, Quote
    from quoteweave.core.runs import Configuration, RunRecord, open_run
    from quoteweave.evaluation.judges.judgements import ASPECTS, JUDGEMENTS, AnswerVerdict

    folder = root / FOLDER
    folder.mkdir()
    quote = Quote(id="d:0:0", document="d.pdf", page=0, page_label="1", bbox=(0, 0, 9, 9), kind="text", layout="list")
    context = Context(texts=(Hit(rank=1, score=0.5, quote=quote.model_copy(update={"text": "Calls rose in 2023."})),))
    lines = [{"question": f"How many calls were there in {number}?", "id": str(number)} for number in range(_COUNT)]
    (root / QUESTIONS).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    fingerprints = {"references": file_sha256(root / QUESTIONS)}
    configuration: Configuration = {"dataset": "questions", "retriever": "lexical", "quotes": 20}
    with open_run(folder, RunRecord(configuration=configuration, fingerprints=fingerprints)) as run:
        for number in range(_COUNT):
            run.append(
                Prediction(
                    example=str(number), scope="context", context=context, response=_SAID.format(number), seconds=0.25
                )
            )
    with open_for_append(folder / JUDGEMENTS) as write:
        for number in range(_COUNT):
            given = {"model": "judge", "prompt": "0" * 64, "request": f"{number:064}", "attempts": 1}
            write(AnswerVerdict(example=str(number), scores=dict.fromkeys(ASPECTS, number % 5 + 1), raw="ok", **given))
    paper, setup = Paper(id="p1", title="Freight in May"), {"rule": {}, "settings": AgentSettings(), "prompts": {}}
    described = TrajectorySetup(excerpt="Ships carry grain [CITATION].", model="m", source="made", **setup)
    with open_trajectory(folder / "trajectories" / "1.jsonl", described) as recorder:
        reply = Reply(text="The first one it is.", seconds=1.5)
        recorder.add_reply(reply)
        step = Step(number=1, replies=(reply,), rationale="why", action=Select(paper_id="p1"), observed="")
        recorder.add_step(step.model_copy(update={"shown": (paper,)}))
        recorder.end("selected", selected=paper)
    for number in range(3):
        _call(folder, number)


def run_acts(root: Path, notes: list[str]) -> dict[str, Callable[[], Any]]:
    """What is done with the run beside a collection, by name; notes about damage are added to `notes`."""
    folder = root / FOLDER
    return {
        "run": lambda: _read(folder),
        "scores": lambda: _scores(root, notes),
        "trajectory": lambda: _trajectory(folder, notes),
        "calls": lambda: [_call(folder, number) for number in range(3)],
    }


def _read(folder: Path) -> Any:
    from quoteweave.core.runs import read_run_record, read_statuses

    return read_run_record(folder), len(read_statuses(folder)) and None


def _scores(root: Path, notes: list[str]) -> Any:
    from quoteweave.evaluation import ScoringRequest, score
    from quoteweave.evaluation.judges.judgements import JUDGEMENTS

    run = root / FOLDER
    asked = {"run": run, "dataset": "questions", "references": root / QUESTIONS, "judgements": run / JUDGEMENTS}
    found = score(ScoringRequest(**asked, partial=True), intervals=None).scores
    notes.extend(found.notes)
    return found.questions, found.figures


def _trajectory(folder: Path, notes: list[str]) -> Any:
    from quoteweave import read_trajectory

    path = folder / "trajectories" / "1.jsonl"
    found = read_trajectory(path)
    if found.ending is None:  # `review` reports it, and a run goes on from there
        notes.append(f"{path}: the trajectory is under way")
    return found


def _call(folder: Path, number: int) -> Any:
    """The model's reply, which is the same again if the stored call is damaged."""
    from quoteweave.core.chat.completions import Completion
    from quoteweave.endpoints.call_cache import CachedChat
    from quoteweave.testing import FakeChat

    said = Completion(text=_SAID.format(number), model="m")
    chat = CachedChat(FakeChat([said]), folder / "calls")
    return asyncio.run(chat.complete([{"role": "user", "content": f"question {number}"}])).text
