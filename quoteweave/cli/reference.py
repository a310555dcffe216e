"""Generates docs/cli.md from the commands, and the table of settings in docs/serving.md.

Run it with `python -m quoteweave.cli.reference docs/cli.md docs/serving.md`.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from quoteweave.cli.app import COMMANDS, LazyCommand
from quoteweave.pipeline.settings import AnswerSettings, ChatSettings
from quoteweave.server.settings import ServerSettings

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


BEGIN, END = "<!-- settings: begin -->", "<!-- settings: end -->"
_TABLES = ("answers", "models")


def settings_table() -> str:
    """The table of all settings of a server, as Markdown: name, default, meaning."""
    rows = [*_rows(ServerSettings, ""), *_rows(AnswerSettings, "answers.")]
    chat = ", ".join(f"`{name}`" for name in ChatSettings.model_fields)
    rows.append(("models.NAME.…", "", f"a further chat model that requests may name, by the same settings: {chat}"))
    lines = [f"| `{name}` | {default} | {meaning} |" for name, default, meaning in rows]
    return "\n".join(("| setting | default | meaning |", "|---|---|---|", *lines))


def with_settings(guide: str) -> str:
    """Return the guide with the table of today between its two marks."""
    before, _, rest = guide.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{settings_table()}\n{END}{after}"


def _rows(record: type[BaseModel], table: str) -> Iterator[tuple[str, str, str]]:
    for name, field in record.model_fields.items():
        if table or name not in _TABLES:
            yield f"{table}{name}", _default(field), (field.description or "").replace("|", "\\|")


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None or field.default in (None, ()):
        return ""
    shown = field.default
    if isinstance(shown, bool):
        return f"`{str(shown).lower()}`"
    return f"`{list(shown)}`".replace("'", '"') if isinstance(shown, tuple) else f"`{shown}`"


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        text = page.read_text("utf-8")
        page.write_text(with_settings(text) if BEGIN in text else reference(), "utf-8")
