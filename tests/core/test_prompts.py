import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.chat.prompts import Prompt, load_prompt
from quoteweave.core.errors import UsageError


def prompt(text: str) -> Prompt:
    return Prompt(name="p", file="own/p.txt", text=text, sha256="")


def test_the_packages_prompts_load_with_their_hash() -> None:
    found = load_prompt("cited_answer_system")
    assert "$abstention" in found.text
    assert found.sha256 == hashlib.sha256(found.text.encode()).hexdigest()


def test_a_folder_overrides_by_file_name_and_only_that(tmp_path: Path) -> None:
    (tmp_path / "cited_answer_user.txt").write_text("Frage: $question", encoding="utf-8")
    assert load_prompt("cited_answer_user", tmp_path).text == "Frage: $question"
    assert load_prompt("cited_answer_system", tmp_path) == load_prompt("cited_answer_system")


def test_render_fills_each_field_once() -> None:
    assert prompt("$a costs $$5, ${b}s too, $a").render({"a": "x", "b": "$a"}) == "x costs $5, $as too, x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$a", r"own/p\.txt: \$b is missing"),
        ("$a $b $c", r"own/p\.txt: there is nothing to put for \$c.*\$a, \$b"),
        ("$a $b costs $5", r"own/p\.txt: a '\$' stands before something that is no field"),
    ],
)
def test_fields_must_be_exactly_those_given(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        prompt(text).render({"a": "1", "b": "2"})


@given(st.text())
def test_a_value_is_put_in_as_it_is(value: str) -> None:
    assert prompt("<$a>").render({"a": value}) == f"<{value}>"


def test_what_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no prompt of the name missing: .*missing\.txt"):
        load_prompt("missing", tmp_path)
    with pytest.raises(UsageError, match=r"nowhere does not exist; .* cited_answer_user\.txt"):
        load_prompt("cited_answer_user", tmp_path / "nowhere")
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    with pytest.raises(UsageError, match=r"latin\.txt cannot be read as UTF-8 text"):
        load_prompt("latin", tmp_path)
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(UsageError, match=r"folder\.txt cannot be read"):
        load_prompt("folder", tmp_path)
