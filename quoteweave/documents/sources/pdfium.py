"""The functions and constants of pdfium, by the names that pypdfium2.raw gives them.

pypdfium2 is imported when the first of them is used: that takes a moment, and most commands read no PDF.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    import pypdfium2.raw

    value = globals()[name] = getattr(pypdfium2.raw, name)
    return value
