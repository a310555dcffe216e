"""Commands that write are killed (SIGKILL) at random moments, over every kind of index.

After each kill the collection must be whole, the next command must work, and the same command again must end where an
undisturbed one ends: nothing lost, nothing doubled, nothing left behind, and no byte of what was removed. Every second
time another command that writes comes first, and must leave nothing behind either.

    python benchmarks/faults/kills.py --trials 200
"""

import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).resolve().parent.parent))

import made_trials as made
from common import Table, arguments, machine, print_results

from quoteweave.testing import ModelServer


@dataclass(slots=True)
class Scene:
    """A collection before a command, and its state after the command."""

    kind: str
    command: str
    root: Path
    after: made.State
    """The state after the command, apart from the index."""
    seconds: float
    """How long the command takes."""


def main() -> None:
    """Runs the trials, and prints counts."""
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = machine()
    made.prepare()
    chance, kills, wrong = random.Random(given.seed), Counter[tuple[str, str]](), list[str]()
    with (
        TemporaryDirectory(prefix="quoteweave-kills-") as named,
        ModelServer(made.describe) as server,
    ):
        folder = Path(named)
        scenes = _scenes(folder, server.base_url)
        wrong += [f"{scene.command}, undisturbed: {what}" for scene in scenes for what in scene.after.wrong]
        print(*wrong, sep="\n", file=sys.stderr)
        while sum(kills.values()) < given.trials:
            scene, before = scenes[sum(kills.values()) % len(scenes)], len(wrong)
            if _killed(scene, folder, chance, server.base_url, wrong):
                kills[scene.kind, scene.command] += 1
                print(f"{sum(kills.values())} kills, {len(wrong)} wrong", *wrong[before:], sep="\n", file=sys.stderr)
    rows = [[kind, *(str(kills[kind, command]) for command in made.COMMANDS)] for kind in made.kinds()]
    table = Table("Kills by index and command", ["index", *made.COMMANDS], rows)
    summary = Table("Outcome", ["kills", "wrong"], [[str(sum(kills.values())), str(len(wrong))]])
    figures = {"kills": sum(kills.values()), "wrong": wrong}
    print_results(found, figures, [table, summary], given)
    sys.exit(bool(wrong))


def _scenes(folder: Path, url: str) -> list[Scene]:
    """A scene for each command and kind of index, from collections that are made once and copied."""
    log, files = folder / "log", folder / "files"
    plain, described = folder / "plain", folder / "described"
    made.make_files(files)
    made.make_import(folder)
    _done(["add", files, "-c", plain, "--no-ocr"], log)
    made.copied(plain, described)
    _done(_arguments(folder, described, "lexical", "describe", url), log)
    made.change_files(files)
    after, scenes = {}, []
    for kind in made.kinds():
        indexed = made.copied(described, folder / f"{kind}-described")
        undescribed = made.copied(plain, folder / f"{kind}-plain")
        for root in (indexed, undescribed):
            _done(["index", "build", made.spec_of(kind), "-c", root], log)
        for command in made.COMMANDS:
            root = {"index": described, "describe": undescribed}.get(command, indexed)
            if command not in after:
                copy, start = made.copied(root, folder / "copy"), time.perf_counter()
                _done(_arguments(folder, copy, kind, command, url), log)
                after[command] = made.state_of(copy, kind), time.perf_counter() - start
            scenes.append(Scene(kind, command, root, *after[command]))
    return scenes


def _done(arguments: list[object], log: Path) -> None:
    if made.run(arguments, log):
        raise SystemExit(f"{arguments} failed: {log.read_text()}")


def _arguments(folder: Path, root: Path, kind: str, command: str, url: str) -> list[object]:
    return {
        "add": ["add", folder / "files", "-c", root, "--no-ocr"],
        "remove": ["remove", made.GONE, made.PICTURE, "-c", root],
        "index": ["index", "build", made.spec_of(kind), "-c", root],
        "import": ["import", "mineru", folder / "kranich_content_list.json", "-c", root],
        "describe": ["describe", "--model", "v", "--base-url", url, "--yes", "-c", root],
    }[command]


def _killed(scene: Scene, folder: Path, chance: random.Random, url: str, wrong: list[str]) -> bool:
    """Run one trial; return whether the command was still running when it was to be killed."""
    root, log = made.copied(scene.root, folder / "trial"), folder / "log"
    arguments, start = _arguments(folder, root, scene.kind, scene.command, url), time.perf_counter()
    process, moment = made.start(arguments, log), chance.uniform(0, scene.seconds)
    process.join(moment)
    process.kill()
    process.join()
    if process.exitcode != -signal.SIGKILL:
        scene.seconds = time.perf_counter() - start
        return False
    what = f"{scene.kind} {scene.command}, killed after {moment:.2f} s"
    if chance.random() < 0.5:
        wrong += [f"{what}: {said}" for said in made.state_of(root, "lexical").wrong if said.endswith(made.NEVER)]
        _next(["index", "build", made.spec_of(scene.kind), "-c", root], log, f"{what}, then index", wrong)
        wrong += [f"{what}, then index: {said}" for said in made.state_of(root, scene.kind).wrong]
    _next(arguments, log, what, wrong)
    state = made.state_of(root, scene.kind)
    wrong += [f"{what}: {said}" for said in state.wrong]
    if state.documents != scene.after.documents:
        wrong.append(f"{what}: other documents or quotes than undisturbed: {sorted(state.documents)}")
    return True


def _next(arguments: list[object], log: Path, what: str, wrong: list[str]) -> None:
    code, said = made.run(arguments, log), log.read_text("utf-8", "replace")
    gone = arguments[0] == "remove" and code == 2 and "no document is named" in said
    if code and not gone:
        wrong.append(f"{what}: the next command ended with {code}: {said[-300:]}")
    if "Traceback" in said:
        wrong.append(f"{what}: an error that is not ours: {said[-300:]}")


if __name__ == "__main__":
    main()
