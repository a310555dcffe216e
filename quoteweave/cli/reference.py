"""Generates the page docs/cli.md from the commands: python -m quoteweave.cli.reference docs/cli.md"""

import re
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from quoteweave.cli.app import COMMANDS
from quoteweave.cli.lazy import LazyCommand

HEAD = """# The command line

Made of the commands by `python -m quoteweave.cli.reference docs/cli.md`; tests compare it with them. What commands
print, their JSON key by key, and how the larger ones work is in [output.md](output.md); the keys of `--config` are in
[runs.md](runs.md#the-keys).
"""


def reference() -> str:
    """The whole page, as Markdown."""
    return "\n".join((HEAD, *_sections(COMMANDS, ())))


def _sections(commands: Mapping[str, LazyCommand], groups: tuple[str, ...]) -> list[str]:
    sections: list[str] = []
    for name, lazy in commands.items():
        if lazy.commands:
            sections += [f"## {' '.join((*groups, name))}\n\n{lazy.help}\n", *_sections(lazy.commands, (*groups, name))]
        else:
            sections.append(_section(" ".join((*groups, name)), lazy.load(name), depth=2 + len(groups)))
    return sections


def _section(name: str, command: Any, *, depth: int) -> str:
    arguments = [_shown(each) for each in command.params if not _is_option(each)]
    rows = [_row(each) for each in command.params if "--help" not in each.opts and not each.hidden]
    table = "".join(["| | | |\n|---|---|---|\n", *rows])
    return f"{'#' * depth} {' '.join((name, *arguments))}\n\n{_text(command.help or '')}\n\n{table}"


def _is_option(parameter: Any) -> bool:
    return any(name.startswith("-") for name in parameter.opts)


def _shown(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _row(parameter: Any) -> str:
    """A row of the table of a command's parameters."""
    option = _is_option(parameter)
    names = ", ".join((*parameter.opts, *parameter.secondary_opts)) if option else _shown(parameter)
    notes = ["required"] if parameter.required and option else []
    if parameter.show_default and _is_worth_showing(parameter.default):
        notes.append(f"default {parameter.default if parameter.show_default is True else parameter.show_default}")
    if parameter.envvar:
        notes.append(f"or {parameter.envvar}")
    kind = parameter.type_descriptor.annotation
    if isinstance(kind, type) and issubclass(kind, Enum):
        notes.append("one of " + ", ".join(str(each.value) for each in kind))
    text = re.sub(r"\s+", " ", parameter.help or "").replace("|", "\\|")
    return f"| `{names}` | {text} | {'; '.join(notes)} |\n"


def _is_worth_showing(default: object) -> bool:
    return default is not None and not isinstance(default, bool) and not callable(default) and default != ()


def _text(help: str) -> str:
    """The paragraphs of a help text, each on one line."""
    return "\n\n".join(" ".join(part.split()) for part in help.replace("\b", "").strip().split("\n\n"))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), "utf-8")
