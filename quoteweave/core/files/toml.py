"""Reads TOML: what a user has written, and the tables of this package."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from quoteweave.core.errors import UsageError


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML document. Raises tomllib.TOMLDecodeError, also for deep nesting and huge numbers."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it nests too deep") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise tomllib.TOMLDecodeError(str(error)) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a TOML file. Raises UsageError, with the reason, where it cannot be read or is no TOML."""
    try:
        return parse_toml(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from error


def shipped_toml(package: str, name: str) -> dict[str, Any]:
    """Read the tables of a TOML file that lies beside the modules of a package of ours."""
    return tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))
