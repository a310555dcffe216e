"""Fingerprints: short names of settings, which change when the settings do."""

import hashlib
import json
from collections.abc import Mapping


def fingerprint(settings: Mapping[str, object]) -> str:
    """Twelve hexadecimal digits of SHA-256 of the settings as JSON, their order left aside."""
    text = json.dumps(dict(settings), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """What changed between two settings, in words: "max_length: 512 → 256, dtype: …"; empty where nothing did."""
    keys = [key for key in dict.fromkeys([*before, *now]) if before.get(key) != now.get(key)]
    return ", ".join(f"{key}: {before.get(key)!r} → {now.get(key)!r}" for key in keys)
