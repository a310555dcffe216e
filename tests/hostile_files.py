"""Pictures and texts that unpack to gigabytes, nest without end or never end a line; with `hostile_pdfs`, the bombs.

`write_bombs` writes them all, `write_damaged` any number of whole files with damage.
"""

import io
import random
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from hostile_pdfs import PDFS, TEXT, bomb, stream, zeros
from PIL import Image

WORDS = "Harbour words before the bomb.\n\n{}\n\nFerry words after the bomb.\n"
HTML = "<!DOCTYPE html><p>Harbour words before the bomb.</p>{}<p>Ferry words after the bomb.</p>"


def png(width: int, height: int, data: bytes, *, depth: int = 8, colour: int = 2, extra: bytes = b"") -> bytes:
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def tiff(width: int, height: int, data: bytes, *, frames: int = 1, loop: bool = False, samples: int = 1) -> bytes:
    """Frames that share one deflated strip; a loop leads from the last to the first."""
    content = b"II*\x00" + struct.pack("<I", 8 + len(data)) + data
    for number in range(frames):
        tags = [(256, width), (257, height), (258, 8), (259, 8), (262, 1 + (samples > 1)), (273, 8), (277, samples)]
        tags += [(278, height), (279, len(data))]
        after = len(content) + 2 + 12 * len(tags) + 4
        following = after if number < frames - 1 else 8 + len(data) if loop else 0
        content += struct.pack("<H", len(tags))
        content += b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags) + struct.pack(
            "<I", following
        )
    return content


def saved(size: tuple[int, int], kind: str, *, mode: str = "L", **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, kind, **options)
    return buffer.getvalue()


def scans(count: int) -> bytes:
    """A progressive JPEG that claims many passes over a large picture."""
    jpeg = saved((3000, 3000), "JPEG", progressive=True)
    at = jpeg.rindex(b"\xff\xda")
    return jpeg[:at] + jpeg[at:-2] * count + b"\xff\xd9"


def animated(count: int) -> bytes:
    frames = [Image.new("RGB", (900, 900), (number % 255, 0, 0)) for number in range(count)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "WEBP", save_all=True, append_images=frames[1:])
    return buffer.getvalue()


PICTURES: Mapping[str, Callable[[], bytes]] = {
    "claims.png": lambda: png(60_000, 60_000, zeros(1)),
    "flat.png": lambda: png(9400, 9400, zeros(266, b"\0")),
    "flat-16-bit.png": lambda: png(9400, 9400, zeros(708, b"\0"), depth=16, colour=6),
    "flat-grey-16-bit.png": lambda: png(9400, 9400, zeros(178, b"\0"), depth=16, colour=0),
    "long-line.png": lambda: png(80_000_000, 1, zeros(241, b"\0")),
    "too-much-data.png": lambda: png(100, 100, zeros(4000, b"\0")),
    "comment.png": lambda: png(100, 100, zeros(1), extra=chunk(b"zTXt", b"a\0\0" + zeros(900))),
    "profile.png": lambda: png(100, 100, zeros(1), extra=chunk(b"iCCP", b"a\0\0" + zeros(900))),
    "many-chunks.png": lambda: png(100, 100, zeros(1), extra=chunk(b"tEXt", b"a\0" + b"b" * 99) * 50_000),
    "many-passes.jpg": lambda: scans(2000),
    "large.jpg": lambda: saved((9400, 9400), "JPEG"),
    "large.webp": lambda: saved((16_383, 5400), "WEBP", mode="RGBA", lossless=True, method=0),
    "animated.webp": lambda: animated(60),
    "large.tiff": lambda: tiff(9400, 9400, zeros(265), samples=3),
    "claims.tiff": lambda: tiff(60_000, 60_000, zeros(1)),
    "many-frames.tiff": lambda: tiff(9000, 9000, zeros(81), frames=40),
    "frame-loop.tiff": lambda: tiff(10, 10, zeros(1), frames=3, loop=True),
    "too-many-frames.tiff": lambda: tiff(10, 10, zeros(1), frames=5000),
}
"""What writes each picture, by its file's name."""

_ENTITIES = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "words"}">' for i in range(12))
_PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
MANY = 200_000

TEXTS: Mapping[str, Callable[[], str]] = {
    "elements.html": lambda: HTML.format("<div>" * MANY + "deep" + "</div>" * MANY),
    "unclosed.html": lambda: HTML.format("<b><i><p>" * MANY),
    "tables.html": lambda: HTML.format("<table><tr><td>" * 20_000 + "deep" + "</table>" * 20_000),
    "lists.html": lambda: HTML.format("<ul><li>item" * 20_000 + "</ul>" * 20_000),
    "cells.html": lambda: HTML.format("<table><tr>" + "<td>cell" * MANY + "</table>"),
    "spans.html": lambda: HTML.format("<table><tr><td colspan=999999999 rowspan=999999999>a<td>b</table>"),
    "attributes.html": lambda: HTML.format("<p " + " ".join(f"a{i}=1" for i in range(MANY)) + ">x</p>"),
    "long-attribute.html": lambda: HTML.format(f'<p title="{"a" * 20_000_000}">x</p>'),
    "entities.xhtml": lambda: f"<!DOCTYPE html [{_ENTITIES}]>" + HTML.format("&a11;")[15:],
    "fetched.xhtml": lambda: '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///dev/zero">]>' + HTML.format("&x;")[15:],
    "references.html": lambda: HTML.format("&amp;" * 1_000_000),
    "comments.html": lambda: HTML.format("<!-- <!-- -- > " * MANY + "-->"),
    "forms.html": lambda: HTML.format("<form><select><option>" * MANY),
    "pictures.html": lambda: HTML.format("".join(f'<img src="{_PIXEL}{i}">' for i in range(5000))),
    "no-space.html": lambda: HTML.format("<p>" + "a" * 5_000_000),
    "quotes.md": lambda: WORDS.format(">" * MANY + " deep"),
    "items.md": lambda: WORDS.format("\n".join("  " * i + "- item" for i in range(1500))),
    "emphasis.md": lambda: WORDS.format("*a **a " * MANY),
    "emphasis-closed.md": lambda: WORDS.format("*" * MANY + "a" + "*" * MANY),
    "brackets.md": lambda: WORDS.format("[" * MANY),
    "links.md": lambda: WORDS.format("[a](" * MANY),
    "images.md": lambda: WORDS.format("![" * MANY + "a" + "](b)" * MANY),
    "backticks.md": lambda: WORDS.format(" ".join("`" * (i % 900 + 1) for i in range(20_000))),
    "columns.md": lambda: WORDS.format("|" + "a|" * 50_000 + "\n|" + "-|" * 50_000 + "\n|" + "b|" * 50_000),
    "definitions.md": lambda: WORDS.format("\n".join(f"[a{i}]: b" for i in range(MANY))),
    "angles.md": lambda: WORDS.format("<" * MANY + " <a " * MANY),
    "comments.md": lambda: WORDS.format("<!--" * MANY + "-->"),
    "formulas.md": lambda: WORDS.format("$$\n" * 50_000),
    "headings.md": lambda: WORDS.format("a\n=\n" * 50_000),
    "backslashes.md": lambda: WORDS.format("\\" * 2_000_000),
    "one-line.txt": lambda: WORDS.format("word " * 2_000_000),
    "no-space.txt": lambda: WORDS.format("a" * 10_000_000),
    "accents.txt": lambda: WORDS.format("e" + "\u0301" * 3_000_000),
    "wide.txt": lambda: WORDS.format("港" * 2_000_000),
    "blank.txt": lambda: WORDS.format(" \n\t\n" * 3_000_000),
    "paragraphs.txt": lambda: WORDS.format("a\n\n" * 250_000),
    "marks.txt": lambda: WORDS.format("\u202e\u2066\ufeff" * MANY),
}
"""What each text file says, by its name."""


def write_bombs(folder: Path) -> list[str]:
    """Every bomb; gives their names."""
    writers = {f"{name}.pdf": pdf for name, pdf in PDFS.items()} | dict(PICTURES)
    for name, write in writers.items():
        (folder / name).write_bytes(write())
    for name, text in TEXTS.items():
        (folder / name).write_text(text(), "utf-8")
    return [*writers, *TEXTS]


def write_damaged(folder: Path, count: int, seed: int = 0) -> list[str]:
    """So many small files of each format that were whole before bytes of them were changed, lost or said twice."""
    chance = random.Random(seed)
    undamaged = {
        "pdf": bomb(stream(TEXT * 20)),
        "png": saved((300, 300), "PNG", mode="RGB"),
        "jpg": saved((300, 300), "JPEG", mode="RGB"),
        "webp": saved((300, 300), "WEBP", mode="RGB"),
        "tiff": tiff(300, 300, zlib.compress(bytes(90_000)), frames=3),
        "html": (HTML.format("<table><tr><th>a<th>b<tr><td>1<td>2</table><ul><li>x<li>y</ul>") * 9).encode(),
        "md": (WORDS.format("| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n- y\n") * 9).encode(),
        "txt": (WORDS.format("words") * 9).encode(),
    }
    names = []
    for number in range(count):
        suffix = list(undamaged)[number % len(undamaged)]
        names.append(f"damaged-{number:04}.{suffix}")
        (folder / names[-1]).write_bytes(damaged(undamaged[suffix], chance))
    return names


def damaged(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 20)):
        start = chance.randrange(8, len(changed))  # the signature stays, so that the file is what it says
        end = min(len(changed), start + chance.randint(1, 60))
        kind = chance.randrange(4)
        if kind == 0:
            changed[start] = chance.randrange(256)
        elif kind == 1:
            changed[start:end] = chance.randbytes(end - start)
        elif kind == 2:
            changed[start:start] = changed[start:end] * chance.randint(1, 50)
        elif len(changed) > 200:
            del changed[start:end]
    return bytes(changed[: chance.randrange(100, len(changed) + 1)] if chance.random() < 0.2 else changed)
