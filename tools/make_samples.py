"""Make the sample documents and the questions about them.

The documents are drawn by code alone, so that every box in the annotations is the one that was drawn. With the same
versions of reportlab, Pillow and numpy the files come out the same, byte for byte.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from samples.annotations import Sample, write_annotations
from samples.field_notes import build_field_notes
from samples.guide import build_visitor_guide
from samples.harbour import build_harbour_report
from samples.paper import build_paper

BUILDERS: dict[str, Callable[[Path], Sample]] = {
    "harbour-report.pdf": build_harbour_report,
    "two-column-paper.pdf": build_paper,
    "field-notes-scan.pdf": build_field_notes,
    "visitor-guide.pdf": build_visitor_guide,
}
DEFAULT_OUT = Path(__file__).resolve().parent.parent / "quoteweave" / "samples"


def make_samples(out: Path) -> list[Path]:
    """Write `pdf/*.pdf` and `annotations.jsonl` into a folder; return the files."""
    folder = out / "pdf"
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name for name in BUILDERS]
    samples = [build(file) for build, file in zip(BUILDERS.values(), files, strict=True)]
    annotations = out / "annotations.jsonl"
    write_annotations(samples, annotations)
    return [*files, annotations]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help="folder to write to (%(default)s)")
    for file in make_samples(parser.parse_args().out):
        print(f"{file.stat().st_size:>8,}  {file}")


if __name__ == "__main__":
    main()
