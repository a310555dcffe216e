"""Excerpts of the made library in the form of CiteME's table."""

import csv
from pathlib import Path

from quoteweave.testing.literature.records import MadeLibrary, MadePaper

COLUMNS = (
    "id",
    "excerpt",
    "target_paper_title",
    "target_paper_url",
    "source_paper_title",
    "source_paper_url",
    "year",
    "split",
)


def write_citeme(library: MadeLibrary, path: Path) -> None:
    """Write the excerpts whose sources the library has as a CSV file with CiteME's columns.

    `year` is that of the paper that the excerpt is from, as in CiteME; `split` is `train` for every tenth excerpt and
    `test` else. Raises OSError where the file cannot be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number, excerpt in enumerate(library.excerpts, 1):
            target, source = library.paper(str(excerpt.target)), library.paper(excerpt.source)
            split = "test" if number % 10 else "train"
            row = (target.title, page_of(target), source.title, page_of(source), source.day.year, split)
            writer.writerow((excerpt.id, excerpt.text, *row))


def page_of(paper: MadePaper) -> str:
    """The address of a paper's page at Semantic Scholar."""
    return f"https://www.semanticscholar.org/paper/{paper.id}"
