"""Generates the table of settings in docs/serving.md: python -m quoteweave.cli.settings_reference docs/serving.md"""

import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from quoteweave.pipeline.settings import AnswerSettings, ChatSettings
from quoteweave.server.settings import ServerSettings

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
    page = Path(sys.argv[1])
    page.write_text(with_settings(page.read_text("utf-8")), "utf-8")
