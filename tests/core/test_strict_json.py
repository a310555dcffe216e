"""A name that JSON gives twice is told with its file and line, as the last value would hide the others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from quoteweave.core.confidence import read_calibration_file
from quoteweave.core.errors import DatasetError
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.files.strict_json import RepeatedName, load_json
from quoteweave.evaluation.datasets.rows import iter_items


class Row(BaseModel):
    id: str
    text: str = ""


@pytest.mark.parametrize(
    ("content", "name", "line"),
    [
        ('{"a": 1,\n "a": 2}', "a", 2),
        ('[{"a": 1}, {"a": 2},\n{"b": {"a": 1}, "a": "\\"a\\":",\n "b": 3}]', "b", 3),
        ('{"a{": "}", "\\u0061": 1,\n\n"a": 2}', "a", 3),
    ],
)
def test_a_repeated_name_has_its_line(content: str, name: str, line: int) -> None:
    for given in (content, content.encode(), content.encode("utf-16")):
        with pytest.raises(RepeatedName, match=f"an object has the key {name!r} twice") as error:
            load_json(given)
        assert error.value.lineno == line


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (lambda path: list(iter_records(path, Row)), '\n{"id": "1", "text": "x", "id": "2"}\n'),
        (lambda path: list(iter_items(path, Row)), '[{"id": "1",\n "text": "x", "id": "2"}]'),
        (read_calibration_file, '{"a": 1,\n "id": 2, "id": 3}'),
    ],
)
def test_files_that_give_a_name_twice_are_refused(read: Callable[[Path], Any], content: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(content, "utf-8")
    with pytest.raises(DatasetError, match=r"a\.json, line 2: an object has the key 'id' twice"):
        read(tmp_path / "a.json")
