"""Time and memory of scoring saved answers: 2,000 of them, as many as MMDocRAG's evaluation has questions.

Measured are quote selection, from files and from memory, with either grammar of marks, with and without intervals; BLEU
and ROUGE-L; intervals; and, if the research data has mmdocrag/, the reproduction of all published figures of nine
models, as a command, with its memory. The answers are made up, about as long as the published ones and with as many
marks.
"""

import json
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from common import Table, arguments, machine, median_seconds, print_results, research_data
from peak_memory import Peak, run_and_watch

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.citations.quote_selection import QuoteSelection
from quoteweave.evaluation.scoring.saved_runs import (
    QUOTE_SELECTION_ONLY,
    LoadedRun,
    ScoringRequest,
    load_run,
    score_run,
)
from quoteweave.evaluation.statistics.intervals import cluster_intervals
from quoteweave.evaluation.text.responses import MarkGrammar

SENTENCE = "revenue rose in the second quarter while costs of the northern region fell by a third of what they were"
WORDS = tuple(SENTENCE.split())
TEXTS, IMAGES = 12, 8
SENTENCES = 9
Step = tuple[str, float | None, Callable[[], object]]
"""The name of what is measured, the seconds that it may take, and a call of it."""


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--answers", type=int, metavar="N", default=2000, help="answers to make (%(default)s)")
    parser.add_argument("--repeats", type=int, metavar="N", default=5, help="calls of each, median told (%(default)s)")
    options = parser.parse_args()
    host = machine()
    with TemporaryDirectory(prefix="quoteweave-") as folder:
        sources = make_files(Path(folder), options.answers)
        loaded = load_run(sources)
        timings = [
            (name, limit, median_seconds(call, options.repeats))
            for name, limit, call in selection_steps(sources, loaded)
        ]
    peak = reproduction()
    rows = [[name, f"{elapsed:.2f}", "" if limit is None else f"{limit:.0f}"] for name, limit, elapsed in timings]
    if peak is not None:
        rows.append(["reproduction of nine models, whole command", f"{peak.seconds:.2f}", "60"])
        rows.append(["its memory, MB (limit 500)", f"{peak.bytes / 1e6:.0f}", ""])
    figures = {
        "answers": options.answers,
        "seconds": {name: elapsed for name, _, elapsed in timings},
        "reproduction": None if peak is None else {"seconds": peak.seconds, "megabytes": peak.bytes / 1e6},
    }
    table = Table(f"seconds, {options.answers:,} answers", ("", "median", "limit"), rows)
    print_results(host, figures, [table], options)


def make_files(folder: Path, answers: int) -> ScoringRequest:
    """A file of responses and one of gold quotes."""
    chance = random.Random(5)
    responses = [{"q_id": n, "response": make_answer(chance), "in_tok": 3000, "out_tok": 300} for n in range(answers)]
    gold = [{"q_id": n, "gold_quotes": make_gold(chance), "answer_short": make_answer(chance)} for n in range(answers)]
    for name, rows in (("responses", responses), ("gold", gold)):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return ScoringRequest(
        run=folder / "responses.jsonl",
        dataset="mmdocrag-20",
        references=folder / "gold.jsonl",
        metrics=QUOTE_SELECTION_ONLY,
    )


def make_answer(chance: random.Random) -> str:
    """Sentences of twenty words, each with a mark of a text or an image quote."""
    lines = []
    for _ in range(SENTENCES):
        mark = f"[{chance.randint(1, TEXTS)}]"
        if chance.random() < 0.3:
            mark = f"\n![{' '.join(chance.choices(WORDS, k=10))}](image{chance.randint(1, IMAGES)})\n"
        lines.append(f"{' '.join(chance.choices(WORDS, k=20))} {mark}.")
    return " ".join(lines)


def make_gold(chance: random.Random) -> list[str]:
    """One or two image quotes, and up to three text quotes."""
    images = chance.sample(range(1, IMAGES + 1), chance.randint(1, 2))
    texts = chance.sample(range(1, TEXTS + 1), chance.randint(0, 3))
    return [*(f"image{n}" for n in images), *(f"text{n}" for n in texts)]


def selection_steps(sources: ScoringRequest, loaded: LoadedRun) -> list[Step]:
    """Quote selection, and intervals of its figures."""
    named: Sequence[MarkGrammar] = ("published", "own")
    by_marks = {marks: sources.model_copy(update={"marks": marks}) for marks in named}
    by_words, metric = _of(sources, "bleu", "rouge_l"), QuoteSelection("own")
    pairs: list[tuple[Prediction, Example]] = list(zip(loaded.predictions, loaded.examples, strict=True))
    rows = [metric.row(prediction, example) for prediction, example in pairs]
    clusters = [example.id for example in loaded.examples]
    return [
        *((f"quote selection, marks {marks}", 2.0, partial(score_run, loaded, by_marks[marks])) for marks in named),
        ("quote selection from files", 2.0, lambda: score_run(load_run(sources), sources)),
        ("the same, with intervals of every figure and group", None, partial(_with_intervals, sources)),
        (
            "BLEU and ROUGE-L, gold as long as the answers",
            60.0,
            partial(score_run, loaded, by_words),
        ),
        ("every metric that needs no model", None, partial(score_run, loaded, _of(sources))),
        ("intervals of all its figures", 2.0, partial(cluster_intervals, metric.aggregates, rows, clusters)),
    ]


def reproduction() -> Peak | None:
    """Time and memory of the command that a user would run; None without the published files."""
    data = research_data()
    if not (data / "mmdocrag").is_dir():
        return None
    return run_and_watch([sys.executable, "-m", "quoteweave", "eval", "reproduce", "--data", str(data)])


def _of(sources: ScoringRequest, *metrics: str) -> ScoringRequest:
    """A request for these metrics, or for all of them if none is named."""
    return sources.model_copy(update={"metrics": metrics or None})


def _with_intervals(sources: ScoringRequest) -> object:
    return score_run(load_run(sources), sources, intervals=cluster_intervals)


if __name__ == "__main__":
    main()
