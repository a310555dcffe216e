"""Prompt texts: read from the package or from the user's own folder, filled in strictly, and known by their hash."""

import hashlib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template

from pydantic import Field

from quoteweave.core.errors import UsageError
from quoteweave.core.records import Record


class Prompt(Record):
    """One prompt. Its text holds fields written `$name` or `${name}`; a dollar sign proper is written `$$`."""

    name: str
    file: str = Field(description="where the text was read, for messages")
    text: str
    sha256: str = Field(description="of the text in UTF-8, in hexadecimal; part of every run")

    def render(self, values: Mapping[str, str]) -> str:
        """Replace each field of the text by its value; values are never expanded themselves.

        Raises UsageError, naming file and field, unless the fields of the text are exactly those of `values`.
        """
        template = Template(self.text)
        if not template.is_valid():
            raise UsageError(f"{self.file}: a '$' stands before something that is no field; write '$$' for the sign.")
        fields = set(template.get_identifiers())
        known = ", ".join(f"${name}" for name in sorted(values)) or "none"
        for name in sorted(fields - values.keys()):
            raise UsageError(f"{self.file}: there is nothing to put for ${name}; this prompt's fields are: {known}.")
        for name in sorted(values.keys() - fields):
            raise UsageError(f"{self.file}: ${name} is missing; this prompt must use each of its fields: {known}.")
        return template.substitute(values)


def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Load the prompt `name`: `folder`/NAME.txt if that file exists, else the one shipped with the package.

    Raises UsageError when `folder` is no folder, when its file cannot be read as UTF-8 text, or when there is no
    prompt of that name.
    """
    file = f"{name}.txt"
    if folder is not None and not folder.is_dir():
        raise UsageError(f"The folder of prompts {folder} does not exist; name one that holds files such as {file}.")
    own = folder / file if folder is not None and (folder / file).exists() else None
    source = own or resources.files("quoteweave") / "prompts" / file
    try:
        text = source.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"There is no prompt of the name {name}: {source} does not exist.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The prompt {source} cannot be read as UTF-8 text: {error}.") from error
    return Prompt(name=name, file=str(source), text=text, sha256=hashlib.sha256(text.encode()).hexdigest())
