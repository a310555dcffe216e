"""Prompt texts: read from the package or from the user's own folder, filled in strictly, identified by their hash."""

import hashlib
from collections.abc import Collection, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from pydantic import Field

from quoteweave.core.errors import UsageError
from quoteweave.core.records import Record

SHIPPED = "quoteweave:"
"""The prefix of the name of a set of prompts that comes with the package, in place of a folder of prompts."""


class Prompt(Record):
    """One prompt. Its text has fields, written `$name` or `${name}`; a literal dollar sign is written `$$`."""

    name: str
    file: str = Field(description="where the text was read, for messages")
    text: str
    sha256: str = Field(description="of the text in UTF-8, in hexadecimal; part of every run")

    def render(self, values: Mapping[str, str], *, optional: Collection[str] = ()) -> str:
        """Replace each field of the text by its value; values are never expanded themselves.

        Raises UsageError, naming file and field, unless the fields of the text are exactly those of `values`; those in
        `optional` may be missing.
        """
        template = Template(self.text)
        if not template.is_valid():
            raise UsageError(f"{self.file}: a '$' stands before something that is no field; write '$$' for the sign.")
        fields = set(template.get_identifiers())
        known = ", ".join(f"${name}" for name in sorted(values)) or "none"
        for name in sorted(fields - values.keys()):
            raise UsageError(f"{self.file}: there is nothing to put for ${name}; this prompt's fields are: {known}.")
        for name in sorted(values.keys() - fields - set(optional)):
            raise UsageError(f"{self.file}: ${name} is missing; this prompt must use each of its fields: {known}.")
        return template.substitute(values)


def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Load the prompt `name`: `folder`/NAME.txt if that file exists, else the one shipped with the package.

    `folder` may also be `quoteweave:SET`, a set of prompts that comes with the package, such as `quoteweave:mmdocrag`.
    Raises UsageError when `folder` is no folder, when its file cannot be read as UTF-8 text, or when there is no
    prompt of that name.
    """
    file = f"{name}.txt"
    source = _root(folder if folder is not None and has_prompt(name, folder) else None) / file
    try:
        text = source.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"There is no prompt of the name {name}: {source} does not exist.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The prompt {source} cannot be read as UTF-8 text: {error}.") from error
    return Prompt(name=name, file=str(source), text=text, sha256=hashlib.sha256(text.encode()).hexdigest())


def indented(text: str, nothing: str = "(no words)") -> str:
    """Indent a quoted text: only a prompt's own lines begin at the margin, so that no text can pass for one."""
    return "\n".join(f"    {line}" for line in text.splitlines()) or f"    {nothing}"


def has_prompt(name: str, folder: Path) -> bool:
    """Whether the folder or shipped set has a prompt of its own by that name. Raises UsageError when there is none."""
    root = _root(folder)
    if not root.is_dir():
        kind = "set of prompts" if is_shipped(folder) else "folder of prompts"
        raise UsageError(f"The {kind} {folder} does not exist; name one that holds files such as {name}.txt.")
    file = root / f"{name}.txt"
    return file.is_file() or file.is_dir()  # a folder cannot be read, which loading it reports


def is_shipped(folder: Path) -> bool:
    """Whether this names a set of prompts that comes with the package."""
    return str(folder).startswith(SHIPPED)


def _root(folder: Path | None) -> Traversable:
    shipped = resources.files("quoteweave") / "prompts"
    if folder is None:
        return shipped
    return shipped / str(folder).removeprefix(SHIPPED) if is_shipped(folder) else folder
