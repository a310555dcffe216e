"""Files made for the tests: PDFs, pictures, and what hostile or broken programs write."""

import io
import struct
import textwrap
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hostile_pdfs import assembled
from PIL import Image

from quoteweave.documents.worker_pool import ProcessLimits, StopReason, TaskOutcome

PROSE = (
    "The harbour was dredged in spring. The cranes were moved to the north quay, and the ferries kept to their hours. "
)


def pdf(
    path: Path, pages: Sequence[str], *, password: str | None = None, size: tuple[float, float] = (612, 264)
) -> Path:
    """A digital PDF: on each page the text, broken into lines of 80 characters."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    encryption = StandardEncryption(password, strength=128) if password else None
    canvas = Canvas(str(path), pagesize=size, encrypt=encryption)
    for text in pages:
        for row, line in enumerate(textwrap.wrap(text, 80)):
            canvas.drawString(72, size[1] - 72 - 14 * row, line)
        canvas.showPage()
    canvas.save()
    return path


def raw_pdf(path: Path, objects: Sequence[str | bytes]) -> Path:
    """A PDF of these objects, numbered from 1; the first is the catalogue."""
    path.write_bytes(assembled([content if isinstance(content, bytes) else content.encode() for content in objects]))
    return path


LETTER = "/MediaBox [0 0 612 792]"
HELVETICA = "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>"


def page_pdf(
    path: Path,
    content: str,
    *objects: str | bytes,
    page: str = LETTER,
    resources: str = "/Font <</F1 5 0 R>>",
    kids: str = "3 0 R",
    count: int = 1,
    catalogue: str = "",
) -> Path:
    """A page with that content stream, these entries and resources; `objects` are numbered from 5."""
    return raw_pdf(
        path,
        [
            f"<</Type /Catalog /Pages 2 0 R {catalogue}>>",
            f"<</Type /Pages /Kids [{kids}] /Count {count}>>",
            f"<</Type /Page /Parent 2 0 R {page} /Contents 4 0 R /Resources <<{resources}>>>>",
            stream(content),
            *objects,
        ],
    )


def renaming_pdf(path: Path, content: str, names: Mapping[str, str], *, page: str = LETTER) -> Path:
    """A page whose font /F1, Helvetica, says that these letters are others: UTF-16 in hexadecimal."""
    rows = "".join(f"<{ord(letter):02x}> <{name}>\n" for letter, name in names.items())
    codes = f"1 begincodespacerange <00> <ff> endcodespacerange\n{len(names)} beginbfchar\n{rows}endbfchar"
    font = HELVETICA.replace(">>", " /ToUnicode 6 0 R>>")
    return page_pdf(path, content, font, stream(f"begincmap\n{codes}\nendcmap"), page=page)


def one_page_pdf(path: Path, content: str, *, page: str = LETTER) -> Path:
    """A page with that content stream and these entries; /F1 is Helvetica whose capitals say Hebrew letters."""
    return renaming_pdf(path, content, {chr(ord("A") + i): f"{0x5D0 + i:04x}" for i in range(26)}, page=page)


def half_broken_pdf(path: Path) -> Path:
    """Two pages, of which the first is none."""
    content = "BT /F1 12 Tf 100 600 Td (The second page can be read.) Tj ET"
    return page_pdf(path, content, HELVETICA, "(no page)", kids="6 0 R 3 0 R", count=2)


def stream(content: str) -> str:
    return f"<</Length {len(content)}>>\nstream\n{content}\nendstream"


def picture(path: Path, size: tuple[int, int] = (40, 50), mode: str = "RGB", **options: Any) -> Path:
    Image.new(mode, size, "white" if mode in ("RGB", "L", "RGBA") else 0).save(path, **options)
    return path


def png_that_claims(width: int, height: int) -> bytes:
    """A valid PNG header with almost nothing behind it."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(b"\0" * 1000))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def tiff_that_claims(*sizes: tuple[int, int]) -> bytes:
    """A TIFF with a frame of each size, all of one strip that holds a few bytes."""
    data = b"II*\x00" + struct.pack("<I", 8)
    for number, (width, height) in enumerate(sizes, 1):
        tags = [(256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, height), (279, 9)]
        following = len(data) + 2 + 12 * len(tags) + 4 if number < len(sizes) else 0
        entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
        data += struct.pack("<H", len(tags)) + entries + struct.pack("<I", following)
    return data


def jpeg_bytes(size: tuple[int, int]) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise(size, 90).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Text files by name; folders in names are made."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


class InlineWorkers:
    """Workers that do what they are told at once, in this process."""

    def __init__(self, count: int, limits: ProcessLimits | None = None) -> None:
        self.count, self.limits = count, ProcessLimits(memory=600_000_000)

    def submit(self, limits: ProcessLimits, call: Callable[..., Any], *args: Any) -> "Future[TaskOutcome[Any]]":
        future: Future[TaskOutcome[Any]] = Future()
        outcome: TaskOutcome[Any] = TaskOutcome()
        try:
            outcome.items.extend(call(*args))
        except MemoryError:
            outcome.stop = StopReason.MEMORY
        except Exception as error:
            outcome.error = error
        future.set_result(outcome)
        return future

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass
