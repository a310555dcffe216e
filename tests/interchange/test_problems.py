"""Problem details: their kinds and titles."""

import ast
from pathlib import Path

import quoteweave
from quoteweave.core.errors import ModelFailed
from quoteweave.interchange.problems import TITLES, problem_of_error

SERVER = Path(quoteweave.__file__).parent / "server"


def test_each_kind_that_the_server_tells_has_a_title() -> None:
    calls = [
        node
        for path in SERVER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ("ProblemError", "_problem")
    ]
    kinds = {call.args[1].value for call in calls if isinstance(call.args[1], ast.Constant)}
    assert len(kinds) > 20
    assert kinds - TITLES.keys() == set()


def test_an_answer_without_the_model_is_offered_only_where_that_was_to_write_it() -> None:
    error = ModelFailed("no memory left")
    assert problem_of_error(error).fallback is None  # an encoder's: it would search for the other answer too
    error.while_answering = True
    assert problem_of_error(error).fallback == "extractive"
