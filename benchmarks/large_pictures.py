"""Adds made pictures that are much larger than a sheet of paper, and counts which of their words are found.

They show words of this project's glossary, in lines all over: the picture of a whole web page, a poster, and a sheet
of paper to compare them with. Prints the share of the words that the collection has, and the seconds and memory of
`quoteweave add`, all its processes together.
"""

import random
import re
import sys
import tempfile
from pathlib import Path

from common import Table, arguments, machine, print_results
from peak_memory import run_and_watch
from PIL import Image, ImageDraw, ImageFont

from quoteweave import Collection

# Width, height and size of letters, in pixels.
PICTURES = {
    "a sheet of paper": (1240, 1754, 18),
    "a whole web page": (1200, 8000, 16),
    "a poster": (6600, 4700, 40),
}
GLOSSARY = Path(__file__).parents[1] / "docs" / "glossary.md"


def main() -> None:
    """Run from the command line."""
    options = arguments(__doc__).parse_args()
    figures = dict[str, dict[str, float]]()
    with tempfile.TemporaryDirectory(prefix="quoteweave-") as folder:
        for name, (width, height, size) in PICTURES.items():
            file = Path(folder) / f"{name}.png"
            shown = _draw(file, width, height, size)
            command = [sys.executable, "-m", "quoteweave", "add", "-c", f"{file}.collection", str(file)]
            peak = run_and_watch(command)
            with Collection.open(Path(f"{file}.collection")) as collection:
                text = " ".join(quote.all_text() for quote in collection.quotes())
            found = len(shown & set(text.split())) / len(shown)
            figures[name] = {"words, %": 100 * found, "s": peak.seconds, "MB": peak.bytes / 1e6}
    columns = ("", "pixels", *next(iter(figures.values())))
    rows = [
        [name, f"{PICTURES[name][0]:,} × {PICTURES[name][1]:,}", *(f"{value:,.1f}" for value in measured.values())]
        for name, measured in figures.items()
    ]
    print_results(machine(), figures, [Table("large pictures", columns, rows)], options)


def _draw(file: Path, width: int, height: int, size: int) -> set[str]:
    """Write a picture full of lines, and return its words."""
    chance, font = random.Random(1), ImageFont.load_default(size)
    words = sorted(set(re.findall(r"\b[a-z]{3,12}\b", GLOSSARY.read_text("utf-8"))))
    picture, shown = Image.new("RGB", (width, height), "white"), set[str]()
    draw = ImageDraw.Draw(picture)
    for top in range(size, height - 2 * size, round(1.6 * size)):
        line = chance.sample(words, len(words))
        while draw.textlength(" ".join(line), font=font) > width - 4 * size:
            line = line[: len(line) * 9 // 10]
        draw.text((2 * size, top), " ".join(line), fill="black", font=font)
        shown.update(line)
    picture.save(file)
    return shown


if __name__ == "__main__":
    main()
