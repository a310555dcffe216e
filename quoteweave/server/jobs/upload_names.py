"""Names of uploaded documents: makes a path that is valid on any system of a sender's file name, or refuses it.

Only the last part of a file's name counts, as a browser may send a whole path; folders are given separately.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex

MAX_BYTES = 180
"""Bytes of one part of a name, at most: file systems take 255, but a file's name is longer while it is written."""
MAX_FOLDERS = 16
_REFUSED_ON_WINDOWS = lazy_regex(r'[<>:"|?*\\/]')
# Windows ignores spaces before the suffix, so that "CON .txt" is the device, too.
_DEVICES = lazy_regex(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\..*)?", re.IGNORECASE)
# Unicode categories of control characters, marks of text direction, lone surrogates, private and unassigned characters,
# and line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Invisible characters that are needed to write Persian, Indian languages and emoji."""


def document_path(filename: str, folder: str = "") -> str:
    """Return the name of an uploaded file's document, a path with forward slashes within the given folder.

    Raises UsageError if nothing is left of the file's name, and for a folder that leads elsewhere.
    """
    last_part = re.split(r"[/\\]", filename)[-1]
    name = _valid_part(last_part)
    if not name:
        raise UsageError(f"{filename[:100]!r} is no name of a file; give each file of the upload a name")
    return "/".join([*_folders(folder), name])


def _folders(folder: str) -> list[str]:
    parts = [part for part in folder.split("/") if part]
    names = [_valid_part(part) for part in parts]
    if len(parts) > MAX_FOLDERS or not all(names) or not {".", ".."}.isdisjoint(parts):
        raise UsageError(
            f"the folder {folder[:100]!r} cannot stand before names; give words such as 'manuals' or 'manuals/2024'"
        )
    return names


def _valid_part(part: str) -> str:
    """One part of a path in a form that every system takes; empty if nothing is left of it."""
    visible = "".join(map(_visible, unicodedata.normalize("NFC", part)))
    bare = _REFUSED_ON_WINDOWS.sub("_", visible).strip(f" .{_JOINERS}")
    return _shortened(f"_{bare}" if _DEVICES.fullmatch(bare) else bare)


def _visible(character: str) -> str:
    """The character as it may stand in a name: every kind of space becomes a space, invisible ones are left out."""
    kind = unicodedata.category(character)
    if kind == "Zs":
        return " "
    return "" if kind in _HIDDEN and character not in _JOINERS else character


def _shortened(name: str) -> str:
    """The name; a long one is cut and gets a hash of the whole, so that names with the same beginning differ."""
    if len(name.encode()) <= MAX_BYTES:
        return name
    suffix = PurePosixPath(name).suffix
    end = f"~{hashlib.sha256(name.encode()).hexdigest()[:12]}{suffix if len(suffix.encode()) <= 16 else ''}"
    return name.encode()[: MAX_BYTES - len(end.encode())].decode(errors="ignore").rstrip(" .") + end


def known_name(path: str, known: Iterable[str]) -> str:
    """Return the name of the document that a file at `path` replaces: that path, or a name that would become it.

    A document that was added from a folder may have a name that no upload can have, such as one with a colon.
    """
    names = list(known)
    if path in names:
        return path
    replaced = [name for name in names if "/".join(map(_valid_part, name.split("/"))) == path]
    return replaced[0] if len(replaced) == 1 else path
