"""Names of uploaded documents: a sender's name of a file made fit to be a path on any system, or refused.

Only the last part of a file's name counts, for a browser may send a whole path; folders are named by themselves.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex

MAX_BYTES = 180
"""Most bytes of one part of a name: file systems take 255, and a file that is being written has a longer name."""
MAX_FOLDERS = 16
_REFUSED_ON_WINDOWS = lazy_regex(r'[<>:"|?*\\/]')
# Windows passes over spaces before the suffix: "CON .txt" is the device too.
_DEVICES = lazy_regex(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\..*)?", re.IGNORECASE)
# Control characters, marks that turn the direction of text, halves of surrogate pairs, line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Hidden characters that words of Persian, of Indian languages and emoji are written with."""


def document_path(filename: str, folder: str = "") -> str:
    """Return the name of an uploaded file's document, with forward slashes; always below no folder but its own.

    Raises UsageError where nothing is left of the file's name, and for a folder that leads elsewhere.
    """
    last = re.split(r"[/\\]", filename)[-1]
    name = _fit(last)
    if not name:
        raise UsageError(f"{filename[:100]!r} is no name of a file; give each file of the upload a name")
    return "/".join([*_folders(folder), name])


def _folders(folder: str) -> list[str]:
    parts = [part for part in folder.split("/") if part]
    fit = [_fit(part) for part in parts]
    if len(parts) > MAX_FOLDERS or any(part in (".", "..") or not name for part, name in zip(parts, fit, strict=True)):
        raise UsageError(
            f"the folder {folder[:100]!r} cannot stand before names; give words such as 'manuals' or 'manuals/2024'"
        )
    return fit


def _fit(part: str) -> str:
    """One part of a path as every system takes it; empty where nothing is left of it."""
    shown = "".join(map(_shown, unicodedata.normalize("NFC", part)))
    bare = _REFUSED_ON_WINDOWS.sub("_", shown).strip(f" .{_JOINERS}")
    return _shortened(f"_{bare}" if _DEVICES.fullmatch(bare) else bare)


def _shown(character: str) -> str:
    """The character as it may stand in a name: any space is a space, what cannot be seen is left out."""
    kind = unicodedata.category(character)
    if kind == "Zs":
        return " "
    return "" if kind in _HIDDEN and character not in _JOINERS else character


def _shortened(name: str) -> str:
    """A long name cut, with a hash of the whole, so that two that begin alike are two."""
    if len(name.encode()) <= MAX_BYTES:
        return name
    suffix = PurePosixPath(name).suffix
    end = f"~{hashlib.sha256(name.encode()).hexdigest()[:12]}{suffix if len(suffix.encode()) <= 16 else ''}"
    return name.encode()[: MAX_BYTES - len(end.encode())].decode(errors="ignore").rstrip(" .") + end


def known_name(path: str, known: Iterable[str]) -> str:
    """Return the name of the document that a file at `path` replaces: the same, or one that would be that path.

    A document that was added from a folder may have a name that no upload can have, as one with a colon.
    """
    names = list(known)
    if path in names:
        return path
    like = [name for name in names if _as_path(name) == path]
    return like[0] if len(like) == 1 else path


def _as_path(name: str) -> str:
    return "/".join(_fit(part) for part in name.split("/"))
