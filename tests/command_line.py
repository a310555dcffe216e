"""What tests of the command line get back from the `quoteweave` fixture."""

import json
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class Outcome(NamedTuple):
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one JSON value that stdout holds."""
        return json.loads(self.out)


class Quoteweave(Protocol):
    """Runs the command line in this process."""

    def __call__(self, *arguments: object) -> Outcome: ...


def configured(folder: Path, **settings: Any) -> tuple[str, Path]:
    """The option of `ask` for a file, written into the folder, with these settings; `calls` is one of its limits."""
    calls = settings.pop("calls", None)
    lines = [f"{key} = {json.dumps(value, default=str)}\n" for key, value in settings.items()]
    limits = [] if calls is None else [f'[limits]\ncalls = "{calls}"\n']
    (folder / "ask.toml").write_text("".join((*lines, *limits)), "utf-8")
    return "--config", folder / "ask.toml"
