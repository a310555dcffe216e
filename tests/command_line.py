"""What tests of the command line get back from the `quoteweave` fixture."""

import json
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
