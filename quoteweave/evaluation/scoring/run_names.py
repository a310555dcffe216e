"""Name runs by what tells them apart: their model, retriever or other settings, else their paths."""

import json
from collections.abc import Sequence
from pathlib import Path

from quoteweave.core.runs import RUN_FILE, read_run_record

_SUFFIXES = (".gz", ".jsonl", ".json")
_MOST_SETTINGS = 3
"""Where runs differ in more settings than these, their names would be longer than their paths."""
_BY_VALUE = ("model", "retriever", "answer_with")
"""Settings whose value is known for what it is without the setting's name."""


def run_names(paths: Sequence[Path]) -> list[str]:
    """Names of saved runs, of which no two are the same.

    Run folders go by the settings in which their records differ, such as `gpt-4.1` and `qwen3-8b`, or `images true` and
    `images false`. Files, and folders that differ in nothing or in more than three settings, go by their file names
    without what they all end in (`gpt-4.1_multimodal` of `gpt-4.1_multimodal_quotes20.jsonl.gz`); by the part of their
    paths that differs, where file names are the same; and by their whole paths, where that is none. A single run goes
    by its file name. Raises DatasetError for a run folder whose record cannot be read.

        >>> run_names([Path("gpt/answers.jsonl"), Path("qwen/answers.jsonl")])
        ['gpt', 'qwen']
    """
    for names in (_by_settings(paths), _by_file_name(paths), _by_differing_part(paths)):
        if all(names) and len(set(names)) == len(paths):
            return names
    return [str(path) for path in paths]


def _by_settings(paths: Sequence[Path]) -> list[str]:
    if len(paths) < 2 or not all((path / RUN_FILE).is_file() for path in paths):
        return []
    settings = [read_run_record(path).configuration for path in paths]
    keys = dict.fromkeys(key for one in settings for key in one)
    differing = [key for key in keys if any(one.get(key) != settings[0].get(key) for one in settings)]
    if len(differing) > _MOST_SETTINGS:
        return []
    shown = sorted(differing, key=lambda key: key not in _BY_VALUE)
    return [", ".join(_setting(key, one.get(key)) for key in shown) for one in settings]


def _setting(key: str, value: object) -> str:
    if value is None:
        return f"no {key}"
    parts = value if isinstance(value, list) else [value]
    listed = ", ".join(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in parts)
    return listed if key in _BY_VALUE else f"{key} {listed}"


def _by_file_name(paths: Sequence[Path]) -> list[str]:
    names = [_stem(path.name) for path in paths]
    if len(set(names)) < len(names):
        return names
    parts = [name.split("_") for name in names]
    while len(parts) > 1 and all(len(part) > 1 and part[-1] == parts[0][-1] for part in parts):
        parts = [part[:-1] for part in parts]
    return ["_".join(part) for part in parts]


def _by_differing_part(paths: Sequence[Path]) -> list[str]:
    parts = [path.parts for path in paths]
    while all(parts) and all(one[0] == parts[0][0] for one in parts):
        parts = [one[1:] for one in parts]
    while all(parts) and all(one[-1] == parts[0][-1] for one in parts):
        parts = [one[:-1] for one in parts]
    return ["/".join(one) for one in parts]


def _stem(name: str) -> str:
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name
