"""Fingerprints: short hashes that identify settings and files, and change when these do."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path


def fingerprint(settings: Mapping[str, object]) -> str:
    """The first twelve hexadecimal digits of the SHA-256 of the settings as JSON with sorted keys."""
    text = json.dumps(dict(settings), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def json_sha256(value: Mapping[str, object]) -> str:
    """SHA-256 of a value as JSON, in hexadecimal; the order of fields does not matter, that of lists does."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal. Raises OSError where it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe_differences(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Describe the changes between two settings: "max_length: 512 → 256, dtype: …"; empty if nothing changed."""
    keys = [key for key in dict.fromkeys([*before, *now]) if before.get(key) != now.get(key)]
    return ", ".join(f"{key}: {before.get(key)!r} → {now.get(key)!r}" for key in keys)
