"""Render quotes and answers for a judge's prompt, as text and as images."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from quoteweave.core.files.pictures import to_data_url
from quoteweave.core.records import Hit, Kind, Quote

ImageReader = Callable[[str], bytes]
"""From the stored crop that `Quote.image` names to its bytes; raises OSError where it cannot be read."""

Part = Mapping[str, object]
NamedQuote = tuple[str, Quote]
MAX_QUOTE_CHARACTERS = 6_000
"""Characters of a quote."""
_MEDIA_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif"}


def name_quotes(hits: Sequence[Hit], kind: Kind) -> list[NamedQuote]:
    """The quotes of a context, each with the mark by which an answer cites it."""
    return [(f"[{n}]" if kind == "text" else f"image{n}", hit.quote) for n, hit in enumerate(hits, start=1)]


def quotes_as_text(quotes: Sequence[NamedQuote]) -> str:
    """Each quote under its name, its words cut to `MAX_QUOTE_CHARACTERS` characters."""
    shown = [
        f"{name} ({_one_line(quote.document)}, {_one_line(quote.place)}, {quote.layout})\n{indent(_words(quote))}"
        for name, quote in quotes
    ]
    return "\n\n".join(shown) or "(none)"


def indent(text: str) -> str:
    """`text` off the margin, where only our own lines begin: nothing quoted can pass for a part of the prompt."""
    return "\n".join(f"    {line}" for line in text.splitlines() if line.strip()) or "    (no words)"


def image_parts(quotes: Sequence[NamedQuote], images: ImageReader | None) -> list[Part]:
    """The parts of a message that show what crops there are, each after its name; without a reader, none.

    A crop that cannot be read is left out: its words are in the prompt all the same.
    """
    parts: list[Part] = []
    for name, quote in quotes:
        if images is None or quote.image is None:
            continue
        try:
            data = images(quote.image)
        except OSError:
            continue
        media_type = _MEDIA_TYPES.get(PurePosixPath(quote.image).suffix.lower(), "image/png")
        parts.append({"type": "text", "text": f"{name}:"})
        parts.append({"type": "image_url", "image_url": {"url": to_data_url(data, media_type)}})
    return parts


def user_message(prompt: str, shown: Sequence[Part] = ()) -> Mapping[str, object]:
    """One message of a prompt and its pictures. Servers of text models refuse parts, so a mere text goes as it is."""
    return {"role": "user", "content": [{"type": "text", "text": prompt}, *shown] if shown else prompt}


def _words(quote: Quote) -> str:
    words = quote.words()
    return words if len(words) <= MAX_QUOTE_CHARACTERS else f"{words[:MAX_QUOTE_CHARACTERS]}…"


def _one_line(text: str) -> str:
    return " ".join(text.split())
