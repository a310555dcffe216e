"""Rewrites the asserts of test files once for all processes that share the tests.

Each process collects all files, in the same order, and would rewrite each that no earlier run has: a fifth of a second
for the longest. As all begin at once, they would do so side by side. Each rewrites its share of the files first, and
finds most of the others done by the time it comes to them. To come too early costs time alone: files are rewritten as
pytest does, which puts them in place whole.
"""

from collections.abc import Container
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def rewrite_share(config: pytest.Config, left_out: Container[str]) -> None:
    """Rewrite this process's share of the files to be collected, but for those with the names that are left out."""
    sharing: dict[str, int | str] | None = getattr(config, "workerinput", None)
    if sharing is None:
        return
    number, count = int(str(sharing["workerid"]).removeprefix("gw")), int(sharing["workercount"])
    if count > 1:
        files = [path for path in _files(config) if path.name not in left_out]
        for path in files[number::count]:
            _rewrite(path, config)


def _files(config: pytest.Config) -> list[Path]:
    named = [Path(argument.partition("::")[0]) for argument in config.args]
    return sorted({file for path in named for file in ([path] if path.is_file() else path.rglob("test_*.py"))})


def _rewrite(path: Path, config: pytest.Config) -> None:
    folder = rewrite.get_cache_dir(path)
    compiled = folder / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite.try_makedirs(folder) and rewrite._read_pyc(path, compiled) is None:
        source, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, compiled)
