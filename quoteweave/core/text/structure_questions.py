"""Reads questions about what a document consists of: "How many figures are there?", "List the headings of chapter 3".

Only a question that asks for nothing else is one: "How many charts compare Europe with Asia?" wants the charts to be
looked at. The words are data (`question_words.toml`, tables `structure`), by language.
"""

import re
import tomllib
from functools import cache
from importlib import resources
from typing import get_args

from quoteweave.core.answers import StructureKind, StructureRequest
from quoteweave.core.text.mentions import alternation, labels_in, places_in, without_places
from quoteweave.core.text.question_analysis import (
    MAX_ANALYSED_CHARACTERS,
    analyse_question,
    interrogative_words,
    request_words,
)
from quoteweave.core.text.tokens import words


def read_structure_request(question: str) -> StructureRequest | None:
    """Read what a question asks of a document's structure; None where it asks for anything else."""
    if len(question) > MAX_ANALYSED_CHARACTERS or labels_in(question):
        return None
    reading = analyse_question(question)
    if reading.asks not in ("parts", "count", "statement"):
        return None
    text, patterns = without_places(reading.text).casefold(), _patterns()
    kinds: list[StructureKind] = [kind for kind in get_args(StructureKind) if patterns[kind].search(text)]
    if len(kinds) > 1 and "page" in kinds:
        if patterns["counted pages"].search(text):  # "How many slides have charts?"
            return None
        kinds.remove("page")  # "How many tables are in these slides?"
    if len(kinds) > 1 and "heading" in kinds:  # "the headings of all tables"
        kinds.remove("heading")
    counts = patterns["counts"].search(text) is not None
    if not kinds or not (counts or "heading" in kinds or patterns["names"].search(text)):
        return None
    for name in (*kinds, "counts", "names", "heading", "besides"):
        text = patterns[name].sub(" ", text)
    rest = [word for word in words(text, stem=False) if word not in request_words()]
    return StructureRequest(
        kinds=tuple(kinds),
        wants="count" if counts else "names",
        places=tuple(places_in(reading.text)),
        document_words=tuple(word for word in words(" ".join(rest)) if word not in interrogative_words()),
    )


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    languages = tomllib.loads(resources.files(__package__).joinpath("question_words.toml").read_text("utf-8")).values()
    tables = [language["structure"] for language in languages if "structure" in language]
    names = (*get_args(StructureKind), "counts", "names", "besides")
    said = {name: alternation(word for table in tables for word in table.get(name, ())) for name in names}
    said["counted pages"] = rf"{said['counts']}\s+{said['page']}"
    return {name: re.compile(rf"(?<!\w){way}(?!\w)", re.IGNORECASE) for name, way in said.items()}
