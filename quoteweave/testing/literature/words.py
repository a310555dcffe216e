"""What the papers of the made library are about, and the sentences that they are worded in."""

from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BeforeValidator

from quoteweave.core.records import Record


class Phrase(Record):
    """What is said of one thing, in the words of the paper that studied it and in those of papers that cite it."""

    own: str
    cited: str


def _phrase(written: Any) -> Any:
    if not isinstance(written, str):
        return written
    own, _, cited = written.partition(" | ")
    return {"own": own, "cited": cited}


ReadPhrase = Annotated[Phrase, BeforeValidator(_phrase)]


class Topic(Record):
    """A topic: what is studied, what acts on it, what is measured, and how."""

    name: str
    field: str
    venues: tuple[str, ...]
    background: tuple[str, ...]
    subjects: tuple[ReadPhrase, ...]
    factors: tuple[ReadPhrase, ...]
    outcomes: tuple[ReadPhrase, ...]
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    withheld: bool = False
    """Whether its papers are left out of the library."""


@cache
def topics() -> tuple[Topic, ...]:
    """All topics, in the order of their file."""
    return tuple(Topic.model_validate(each) for each in _read("topics.yaml"))


@cache
def wording() -> dict[str, Any]:
    """The templates and names of `wording.yaml`, by what they are for."""
    read: dict[str, Any] = _read("wording.yaml")
    return read


def _read(name: str) -> Any:
    import yaml

    return yaml.safe_load(files(__package__).joinpath(name).read_text("utf-8"))
