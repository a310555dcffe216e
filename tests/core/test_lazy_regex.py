"""Patterns that are compiled when they are first used."""

import copy
import importlib
import pkgutil
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quoteweave
from quoteweave.core.lazy_regex import LazyRegex, lazy_regex


@given(st.text(alphabet="aAb 1.-", max_size=30))
def test_it_finds_what_a_compiled_pattern_finds(text: str) -> None:
    lazy, compiled = lazy_regex(r"(?P<word>a+)|(\d)", re.IGNORECASE), re.compile(r"(?P<word>a+)|(\d)", re.IGNORECASE)
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.sub("x", text) == compiled.sub("x", text)
    assert lazy.split(text) == compiled.split(text)
    assert [one.span() for one in lazy.finditer(text)] == [one.span() for one in compiled.finditer(text)]
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert lazy.groupindex == compiled.groupindex


def test_an_error_in_it_is_raised_by_the_first_use_and_each_later_one() -> None:
    lazy = lazy_regex("(")
    for _ in range(2):
        with pytest.raises(re.error, match="missing"):
            lazy.search("x")


def test_it_can_be_copied_before_and_after_its_first_use() -> None:
    lazy = lazy_regex("a")
    assert copy.deepcopy(lazy).findall("aa") == ["a", "a"]
    assert lazy.search("a")
    assert copy.copy(lazy).findall("aa") == ["a", "a"]


def test_importing_what_answers_questions_compiles_few() -> None:
    code = (
        "import re\n"
        "from quoteweave.core import lazy_regex as module\n"
        "used, take = set(), module.LazyRegex.__getattr__\n"
        "module.LazyRegex.__getattr__ = lambda self, name: used.add(self.pattern) or take(self, name)\n"
        "import quoteweave.pipeline.composition.make_rag, quoteweave.documents.parser\n"
        "print(len(used))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert int(run.stdout) < 10


def test_every_pattern_of_the_package_compiles_and_none_of_text_does_so_where_it_is_imported() -> None:
    checked = 0
    for found in pkgutil.walk_packages(quoteweave.__path__, "quoteweave."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for value in vars(module).values():
            for each in value if isinstance(value, tuple | list) else [value]:
                assert not (isinstance(each, re.Pattern) and isinstance(each.pattern, str)), f"{found.name}: {each}"
                if isinstance(each, LazyRegex):
                    assert each.groups >= 0, found.name  # compiles it
                    checked += 1
    assert checked > 500
