"""How pytest-xdist spreads this many tests over processes: as `--dist loadfile` does, but with less to do for each.

A process takes files of a folder that it has begun before it begins another, so that what they import, and the fixtures
of the session, are in fewer processes. All files that load torch count as one folder, and another process than the one
that has begun it takes of it last. What xdist looks up among all tests for each of them, it looks up in those at hand.
Of the six messages about a test that passed, three are sent.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from slow_files import TORCH_FILES
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

LONG = 0.5  # what `--durations` lists takes longer
TORCH = "torch"


class _Ids(list[str]):
    """The ids of all tests, in which each is found at once."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(ids)
        self._places = {id: place for place, id in enumerate(ids)}

    def index(self, id: str, *_: Any) -> int:
        return self._places[id]


class FolderScheduling(LoadFileScheduling):  # type: ignore[misc]  # as xdist has no annotations
    """Gives files in their order, but those of folders that the process has begun before others."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        self._begun: defaultdict[WorkerController, set[str]] = defaultdict(set)

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self.registered_collections[node] = _Ids(collection)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Also lets go of a file that is done: all tests of a process are counted at the end of each."""
        super().mark_test_complete(node, item_index, duration)
        file = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][file].values()):
            del self.assigned_work[node][file]

    def _assign_work_unit(self, node: WorkerController) -> None:
        folders = {file: _folder(file) for file in self.workqueue}
        node_folders, anyones = self._begun[node], set().union(*self._begun.values())
        begun = {folder: 1 + (folder == TORCH) for folder in anyones}
        file = min(folders, key=lambda file: (folders[file] not in node_folders, begun.get(folders[file], 0)))
        node_folders.add(folders[file])
        self.workqueue.move_to_end(file, last=False)
        super()._assign_work_unit(node)


def _folder(file: str) -> str:
    folder, _, name = file.rpartition("/")
    return TORCH if name in TORCH_FILES else folder


def send_less(plugins: pytest.PytestPluginManager) -> None:
    """Have this process say how a test ended, and of its setup and teardown only that one failed or was long."""
    for plugin in plugins.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":  # not xdist's own class, as its module is run, not imported
            plugin.sendevent = partial(_send_wanted, plugin.sendevent)


def _send_wanted(send: Callable[..., None], name: str, **fields: Any) -> None:
    report: dict[str, Any] = fields["data"] if name == "testreport" else {"when": "call"}
    if name != "logstart" and (report["when"] == "call" or report["outcome"] != "passed" or report["duration"] >= LONG):
        send(name, **fields)
