"""Tells text layers that are garbled, as where a font has no character map."""

from collections.abc import Sequence

from quoteweave.documents.sources.lines import Line


def is_garbled(lines: Sequence[Line]) -> bool:
    """Whether a text layer is garbled: replacement and private-use characters, or an implausible mix of letters.

    Fonts without a character map are often read with a shifted alphabet. In European languages the eight letters of
    "senorita" are some 60 per cent of all, and in a shuffled alphabet some 30.
    """
    text = "".join(word.text for line in lines for word in line.words)
    odd = sum(c == "\ufffd" or "\ue000" <= c <= "\uf8ff" for c in text)
    latin = [c for c in text.lower() if "a" <= c <= "z"]
    shuffled = len(latin) >= 150 and sum(c in "senorita" for c in latin) < 0.42 * len(latin)
    return odd > 0.3 * len(text) or shuffled
