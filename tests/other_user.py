"""Programs run by a user who may not read and write everything, as root may."""

import stat
import sys
from pathlib import Path

import pytest
from forked_programs import run

NOBODY = 65534
# Modules that are imported on first use. They are imported before, as only root may be able to read the interpreter's
# folder later.
IMPORTS = "import encodings.idna, logging, os, sqlite3, sys, numpy, filelock, quoteweave.core.records"


def printed_by_nobody(imports: str, code: str, *arguments: object) -> list[str]:
    """The lines that the code prints once the program has imported what it needs and is no longer root.

    Skips the test where the program lacks a module because only root may look into the interpreter's folder.
    """
    program = f"{IMPORTS}\n{imports}\nif os.getuid() == 0:\n    os.setuid({NOBODY})\n{code}"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = run(command)
    last = done.stderr.strip().rpartition("\n")[2]
    if last.startswith(("ImportError", "ModuleNotFoundError")) and not _open_to_all(Path(sys.base_prefix)):
        pytest.skip(f"only root may look into the interpreter's folder, {sys.base_prefix}")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _open_to_all(folder: Path) -> bool:
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in (folder, *folder.parents))
