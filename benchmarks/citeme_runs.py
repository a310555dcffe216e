"""Measures `quoteweave run` finding the papers of many excerpts: concurrent requests, their rate, and resuming."""

import multiprocessing
import re
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common import Table, arguments, machine, print_results
from library_process import LibraryProcess, serving_library
from model_process import serving

from quoteweave.attribution.agent.run_settings import PaperRunFile, PaperRunSettings
from quoteweave.attribution.agent.runs import TRAJECTORIES, answer_excerpts
from quoteweave.attribution.agent.trajectory import read_trajectory
from quoteweave.core.examples import Example
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.pipeline.runs.search_dataset import Questions
from quoteweave.pipeline.settings import Limits
from quoteweave.testing import Reply, make_library, write_citeme

AT_ONCE, ANSWER_S, EXCERPTS = 64, 1.0, 640
ACTIONS = 2  # a search and a choice
GOAL_UNDER_WAY = 58
PACED = 40  # searches at one a second
KILLED_AFTER_S = 5.0
Figures = dict[str, Any]


def main() -> None:
    """Run the three parts."""
    options = arguments(__doc__).parse_args()
    host = machine()
    with TemporaryDirectory() as folder, serving_library() as library:
        table = Path(folder) / "DATASET.csv"
        write_citeme(make_library(), table)
        parts = [part(Path(folder) / part.__name__, table, library) for part in (under_way, paced, killed_and_resumed)]
    figures: Figures = {key: value for part_figures, _ in parts for key, value in part_figures.items()}
    print_results(host, figures, [shown for _, shown in parts], options)


def agent(request: Mapping[str, Any]) -> Reply:
    """Searches by some words of the excerpt, then selects the first paper; each reply takes its time."""
    messages = [str(message["content"]) for message in request["messages"] if message["role"] != "system"]
    if len(messages) == 1:
        excerpt, number = re.findall(r"(.*) \(excerpt (\d+)\)", messages[0])[0]
        excerpt_words = list(dict.fromkeys(re.findall(r"[a-z]{5,}", excerpt)))
        first = 7 * int(number) % max(1, len(excerpt_words) - 2)
        query = " ".join(excerpt_words[first : first + 3])
        action = f'{{"name": "search_relevance", "query": "{query}"}}'
    else:
        shown = re.findall(r"id: (\S+)", messages[-1])
        action = f'{{"name": "select", "paper_id": "{shown[0] if shown else "none"}"}}'
    return Reply(text=f'{{"rationale": "So.", "action": {action}}}', delay_s=ANSWER_S)


def under_way(folder: Path, table: Path, library: LibraryProcess) -> tuple[Figures, Table]:
    """How many replies of the model are under way while excerpts are left."""
    with serving(agent) as server:
        run(folder, table, EXCERPTS, (library.semantic_scholar_url, server.base_url), per_second=1000)
        starts = sorted(server.arrivals())
    # Measured until the last excerpt has begun: after that, fewer requests are left than may run at once.
    last = starts[-AT_ONCE * ACTIONS]
    span = last - starts[0]
    mean = sum(min(start + ANSWER_S, last) - start for start in starts if start < last) / span
    expected = len(starts) * ANSWER_S / (starts[-1] + ANSWER_S - starts[0])
    figures = {"under_way": mean, "under_way_to_the_end": expected, "calls": len(starts)}
    rows = [
        ["until the last excerpts", f"{mean:.1f}", f"≥ {GOAL_UNDER_WAY}"],
        ["to the end of the last reply", f"{expected:.1f}", ""],
    ]
    title = (
        f"mean number of replies under way, {AT_ONCE} excerpts at once, {EXCERPTS} in all, replies of {ANSWER_S:.0f} s"
    )
    return figures, Table(title, ("", "mean", "goal"), rows)


def paced(folder: Path, table: Path, library: LibraryProcess) -> tuple[Figures, Table]:
    """How exactly the limit of one request a second is kept when many requests wait for their turn."""
    library.arrivals()
    with serving(agent) as server:
        run(folder, table, PACED, (library.semantic_scholar_url, server.base_url), per_second=1)
    times = sorted(library.arrivals())
    gaps = [later - earlier for earlier, later in pairwise(times)]
    rate = len(gaps) / (times[-1] - times[0])
    figures = {"requests_a_second": rate, "least_gap_s": min(gaps), "paced_requests": len(times)}
    rows = [
        ["requests a second", f"{rate:.3f}", "0.98 to 1.00"],
        ["least time between two, s", f"{min(gaps):.3f}", "≥ 0.98"],
    ]
    return figures, Table(f"{len(times)} searches of a source that allows one a second", ("", "", "goal"), rows)


def killed_and_resumed(folder: Path, table: Path, library: LibraryProcess) -> tuple[Figures, Table]:
    """The requests that a killed run repeats when it is resumed."""
    count = 3 * AT_ONCE
    with serving(agent) as server:
        addresses = (library.semantic_scholar_url, server.base_url)
        process = multiprocessing.get_context("spawn").Process(target=run, args=(folder, table, count, addresses, 1000))
        process.start()
        while not list((folder / TRAJECTORIES).glob("[!.]*.jsonl")):
            time.sleep(0.05)
        time.sleep(KILLED_AFTER_S)
        process.kill()
        process.join()
        saved = _replies(folder)
        before = len(server.arrivals())
        run(folder, table, count, addresses, per_second=1000)
        requests = len(server.arrivals())
    needed = _replies(folder)
    figures = {"needed": needed, "asked_before": before, "saved": saved, "asked_after": requests}
    rows = [
        ["calls that the run needs", str(needed), ""],
        ["asked before it was killed", str(before), ""],
        ["replies kept by then", str(saved), ""],
        ["asked by the resumed run", str(requests), str(needed - saved)],
    ]
    return figures, Table("a run killed in its midst and resumed", ("", "calls", "goal"), rows)


def _replies(folder: Path) -> int:
    """How many replies the trajectories of a run hold."""
    files = (folder / TRAJECTORIES).glob("[!.]*.jsonl")
    return sum(len(read_trajectory(path).replies) for path in files if path.stat().st_size)


def run(folder: Path, table: Path, count: int, addresses: tuple[str, str], per_second: float) -> None:
    """Run `count` excerpts, repeating those of the table."""
    import os

    os.environ["SEMANTIC_SCHOLAR_BASE_URL"], model_url = addresses
    os.environ.setdefault("OPENAI_API_KEY", "none")
    settings = PaperRunSettings.model_validate(
        {"model": "m", "base_url": model_url, "condition": "search", "source": "semantic-scholar"}
        | {"per_second": per_second, "papers": folder.with_name("papers"), "demonstration": False}
    )
    file = PaperRunFile(settings=(settings,), limits=Limits(concurrency=AT_ONCE))
    answer_excerpts(file, Questions("citeme", repeated(load_dataset("citeme", table), count), table), folder)


def repeated(examples: Sequence[Example], count: int) -> list[Example]:
    """Return `count` examples; repeated ones get another id and number, so that other words are searched for."""
    return [
        example.model_copy(
            update={
                "id": f"{number}",
                "query": example.query.model_copy(update={"text": f"{example.query.text} (excerpt {number})"}),
            }
        )
        for number in range(count)
        for example in [examples[number % len(examples)]]
    ]


if __name__ == "__main__":
    main()
