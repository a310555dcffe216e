"""The pages that list things list all of them: public names, environment variables, extras, problems, options."""

import ast
import dataclasses
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_reference import api_reference

import quoteweave
from quoteweave import evaluation
from quoteweave.core.errors import QuoteweaveError
from quoteweave.interchange.problems import TITLES, error_class, problem_of_error

ROOT = Path(__file__).parents[1]
PACKAGE = Path(quoteweave.__file__).parent
INSTALL = (ROOT / "docs" / "install.md").read_text("utf-8")
VARIABLE = re.compile(r'"((?:QUOTEWEAVE|OPENAI|OPENALEX|SEMANTIC_SCHOLAR|XDG)_[A-Z_]+|NO_COLOR|TERM)"')
BETWEEN_PROCESSES = {"QUOTEWEAVE_SERVER_SETTINGS"}
BY_LIBRARIES = {"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "HF_HUB_OFFLINE"}


def first_cells(heading: str) -> set[str]:
    """The names in the first column of the table below a heading of docs/install.md."""
    section = INSTALL.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_the_page_of_public_names_is_that_of_the_code() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert page == api_reference(), "write it anew: python tools/api_reference.py docs/api.md"
    assert [name for name in quoteweave.__all__ if f"- `{name}" not in page] == []


def exceptions(kind: type[QuoteweaveError] = QuoteweaveError) -> Iterator[type[QuoteweaveError]]:
    """The exception and all that are kinds of it."""
    yield kind
    for subclass in kind.__subclasses__():
        if subclass.__module__ == kind.__module__:
            yield from exceptions(subclass)


def test_every_exception_can_be_imported_from_the_package() -> None:
    assert {kind.__name__ for kind in exceptions()} <= set(quoteweave.__all__)


PUBLIC = {name: getattr(package, name) for package in (quoteweave, evaluation) for name in package.__all__}
TAGS = {"type"}
"""Fields that tell events apart, each with one value."""


@pytest.mark.parametrize("name", sorted(name for name, public in PUBLIC.items() if isinstance(public, type)))
def test_help_says_what_each_field_means(name: str) -> None:
    public = PUBLIC[name]
    fields = set(getattr(public, "model_fields", ()))
    if dataclasses.is_dataclass(public):
        fields = {field.name for field in dataclasses.fields(public) if field.init}
    shown = set(re.findall(r"^ {4}(\w+): ", inspect.getdoc(public) or "", re.MULTILINE))
    assert fields - shown - TAGS == set()


# They read or write what the caller has in memory, or compute.
RAISES_NOTHING = {
    *("build_answer", "find_leaks", "list_presets", "render_trajectory", "wrong_papers"),
    *("collection_statistics", "dataset_statistics", "holm", "list_metrics", "mean_of", "ratio_of"),
}


@pytest.mark.parametrize("name", sorted(name for name, public in PUBLIC.items() if inspect.isfunction(public)))
def test_each_public_call_names_the_exceptions_that_it_raises(name: str) -> None:
    known = {kind.__name__ for kind in exceptions()} | {"ValueError"}
    named = known & set(re.findall(r"\w+", inspect.getdoc(PUBLIC[name]) or ""))
    assert bool(named) != (name in RAISES_NOTHING)


def test_the_table_of_environment_variables_has_all_that_are_read() -> None:
    sources = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py")]
    variables_read = {name for source in sources for name in VARIABLE.findall(source)}
    assert first_cells("Environment variables") == (variables_read - BETWEEN_PROCESSES) | BY_LIBRARIES


def test_the_table_of_extras_has_all_and_all_are_needed_for_something() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert first_cells("Extras") == set(project["optional-dependencies"])


def test_the_table_of_problems_has_each_with_its_status_and_exception() -> None:
    guide = (ROOT / "docs" / "serving.md").read_text("utf-8").partition("\n## Problem types\n")[2]
    rows = re.findall(r"^\| `([\w-]+)` \| (\d+) \| (.*?) \| `(\w+)` \|$", guide, re.MULTILINE)
    assert {kind: title for kind, _, title, _ in rows} == TITLES
    assert [kind for kind, status, _, raised in rows if error_class(int(status), kind).__name__ != raised] == []
    documented = {(kind, int(status)) for kind, status, _, _ in rows}
    assert set(statuses_in_the_server()) <= documented
    simple = [kind("") for kind in exceptions() if kind.__name__ not in ("MissingExtra", "InputsRefused")]
    assert {(problem.kind, problem.status) for problem in map(problem_of_error, simple)} <= documented


def statuses_in_the_server() -> Iterator[tuple[str, int]]:
    for path in (PACKAGE / "server").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                match [argument.value for argument in node.args[:2] if isinstance(argument, ast.Constant)]:
                    case [int(status), str(kind)] if kind in TITLES:
                        yield kind, status


def test_every_option_that_takes_a_value_says_its_form_or_its_choices() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    for shown in (
        "`--pages N or N-M`",
        "`--meta KEY=VALUE`",
        "`--expires 30d, 12h or DATE`",
        "`--usd-per-million IN OUT`",
    ):
        assert shown in page
    assert re.findall(r"^\| `--(?:seed|out|data|figure|source)` \|(?!.*one of)", page, re.MULTILINE) == []


def test_the_page_of_benchmarks_says_at_its_top_where_goals_are_missed() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    short, *sections = page.partition("**In short.**")[2].split("\n## ")
    missing = {section.partition("\n")[0] for section in sections if re.search(r"\*\*miss", section)}
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in missing}
    assert len(anchors) > 5
    assert anchors <= set(re.findall(r"\]\(#([\w-]+)\)", short))
