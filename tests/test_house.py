"""The rules of the house that no other tool keeps: sizes, signatures, light imports."""

import ast
import gc
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import grimp
import pytest
from slow_files import SLOW_FILES, TORCH_FILES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "quoteweave"
SOURCES = sorted(PACKAGE.rglob("*.py"))
# A limit guards readability; where it would make a file worse, that file says why and stands here.
LONGER_FILES: dict[str, int] = {}
# A client's options, all keyword-only, as the SDK's own; the methods that mteb calls have the parameters that it gives.
MORE_PARAMETERS = {
    "quoteweave/endpoints/chat.py",
    "quoteweave/endpoints/embeddings.py",
    "quoteweave/interchange/mteb.py",
}
HEAVY = ("torch", "transformers", "faiss", "pymilvus", "openai", "fastapi", "numpy", "cv2", "PIL", "pypdfium2")

# Functions that look names up by strings.
REPLACING = ("setattr", "getattr", "delattr", "patch", "object")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@pytest.fixture(scope="module")
def trees() -> Mapping[Path, ast.Module]:
    """The package's modules, each parsed once; to be let go of with this file's tests."""
    gc.disable()  # it would look through all trees again for each few
    try:
        return {path: ast.parse(path.read_text("utf-8")) for path in SOURCES}
    finally:
        gc.enable()


@pytest.fixture(scope="module")
def nodes(trees: Mapping[Path, ast.Module]) -> Mapping[Path, list[ast.AST]]:
    """All nodes of each tree: to walk through them takes longer than to parse them."""
    return {path: list(ast.walk(tree)) for path, tree in trees.items()}


@pytest.fixture(scope="module")
def functions(nodes: Mapping[Path, list[ast.AST]]) -> list[tuple[Path, Function]]:
    return [
        (path.relative_to(ROOT), node)
        for path, module_nodes in nodes.items()
        for node in module_nodes
        if isinstance(node, Function)
    ]


@pytest.fixture(scope="module")
def defined(nodes: Mapping[Path, list[ast.AST]]) -> Mapping[Path, set[str]]:
    return {path: _defined(module_nodes) for path, module_nodes in nodes.items()}


def test_files_are_short() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert {name: n for name, n in lengths.items() if n > LONGER_FILES.get(name, 400)} == {}


def test_a_folder_holds_about_a_dozen_modules() -> None:
    rooms = Counter(str(path.parent.relative_to(ROOT)) for path in SOURCES if path.stem != "__init__")
    assert {room: n for room, n in rooms.items() if n > 13} == {}


def test_functions_are_short(functions: list[tuple[Path, Function]]) -> None:
    lengths = {f"{path}:{node.name}": (node.end_lineno or 0) - node.lineno + 1 for path, node in functions}
    entry_points = "quoteweave/cli/"  # a command's options and help text are most of its length
    assert {name: n for name, n in lengths.items() if n > 40 and not name.startswith(entry_points)} == {}


def test_signatures_take_few_parameters_and_no_bags_of_them(functions: list[tuple[Path, Function]]) -> None:
    wide = {
        f"{path}:{node.name}"
        for path, node in functions
        if len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs) - _bound(node) > 6
        and not str(path).startswith(("quoteweave/cli/", "quoteweave/server/routes/"))
        and str(path) not in MORE_PARAMETERS
    }
    bags = {
        f"{path}:{node.name}"
        for path, node in functions
        if node.args.kwarg is not None and not node.name.startswith("_") and "P.kwargs" not in ast.unparse(node.args)
    }
    assert (wide, bags) == (set(), set())


def _bound(node: Function) -> int:
    first = node.args.args[0].arg if node.args.args else ""
    return int(first in ("self", "cls"))


def test_no_module_is_called_utils() -> None:
    assert [path for path in SOURCES if path.stem in ("utils", "helpers", "common", "misc")] == []


def test_variables_are_called_after_what_they_hold(functions: list[tuple[Path, Function]]) -> None:
    vague = re.compile(
        r"both|each|few|found|given|got|had|held|here|info|its|made|many|obj|ones?|others|own|res|said|seen|taken|that"
        r"|there|th[ei]se|things?|this|those|tmp|told|what|which|whole"
    )
    named = {
        f"{path}:{function.name}: {name}"
        for path, function in functions
        for name in _variables(function)
        if vague.fullmatch(name)
    }
    assert sorted(named) == []


def _variables(function: Function) -> Iterator[str]:
    """The parameters of a function, and what it binds."""
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_limits_are_called_max_and_min(defined: Mapping[Path, set[str]]) -> None:
    other_words = re.compile(r"_?(MOST|LONGEST|LARGEST|GREATEST|HIGHEST|LEAST|FEWEST|SHORTEST|SMALLEST|LOWEST)(_|$)")
    named = {(path, name) for path, names in defined.items() for name in names if other_words.match(name)}
    assert sorted(f"{path.relative_to(ROOT)}: {name}" for path, name in named) == []


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = grimp.build_graph("quoteweave", cache_dir=None)  # with imports for types alone
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    while leaves := [module for module, imported in imports.items() if not imported & imports.keys()]:
        for module in leaves:
            del imports[module]
    # The modules that are left import each other in a circle, or import such a module.
    assert {module: sorted(imported & imports.keys()) for module, imported in imports.items()} == {}


def test_no_test_reaches_for_what_is_private(defined: Mapping[Path, set[str]]) -> None:
    private = {name for names in defined.values() for name in names if _is_private(name)}
    reached = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if _may_reach(text := path.read_text("utf-8"), private)  # to parse all of them takes as long as all else here
        for line, name in _reached(ast.parse(text), private)
    ]
    assert reached == []


def _may_reach(text: str, private: set[str]) -> bool:
    """Whether a private name stands in a text, or an import of ours may give one."""
    return not private.isdisjoint(re.findall(r"\b_\w+", text)) or bool(
        re.search(r"quoteweave[\w.]*(\._| import [^)]*\b_)", text)
    )


def _is_private(name: str) -> bool:
    return name.startswith("_") and name.strip("_") != "" and not name.endswith("__")


def _defined(nodes: Iterable[ast.AST]) -> set[str]:
    """Names of functions, classes, variables and attributes that are given a value."""
    names: set[str] = set()
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
    return names


def _reached(tree: ast.AST, private: set[str]) -> Iterator[tuple[int, str]]:
    """Line and name wherever a test imports, reads or replaces a private name, also in a program in a string."""
    nodes = list(ast.walk(tree))
    own_names = _defined(nodes)
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.partition(".")[0] == "quoteweave":
                parts = [*module.split("."), *(alias.name for alias in names)]
                yield from ((node.lineno, name) for name in parts if _is_private(name))
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if name in own_names:
                pass  # of a class of the test
            case ast.Attribute(attr=name) if name in private:
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called), args=args) if called in REPLACING:
                named = [arg.value for arg in args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
                yield from ((node.lineno, text) for text in named if text.rpartition(".")[2] in private)
            case ast.Constant(value=str(text)) if "import" in text and "quoteweave" in text:
                with suppress(SyntaxError):
                    yield from ((node.lineno, name) for _, name in _reached(ast.parse(text), private))


def test_each_part_starts_without_the_libraries_that_it_does_not_need() -> None:
    """The command line without any, a command that asks a service without what reads papers, evaluation without models.

    One after the other in one process, as each may import more than the one before. Of the server test_operations says
    the same.
    """
    reading = [f"quoteweave.{module}" for module in ("collection.collection", "retrievers.lexical", "documents.parser")]
    unneeded = {
        "cli.app": HEAVY,
        "cli.attribution.attribute": (*reading, "quoteweave.generation.gate", "numpy", "rich.console"),
        "core.protocols": HEAVY[:6],
        "evaluation.scoring.scorer": HEAVY[:6],
    }
    code = (
        "import sys; from importlib import import_module\n"
        f"for part, unneeded in {unneeded!r}.items():\n"
        "    import_module(f'quoteweave.{part}')\n"
        "    print(*(f'{part}: {name}' for name in unneeded if name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == ""


@pytest.mark.parametrize("package", ["quoteweave", "quoteweave.evaluation"])
def test_the_public_names_are_those_of_the_stub_and_can_all_be_had(package: str) -> None:
    public = import_module(package)
    stub = Path(str(public.__file__)).with_suffix(".pyi").read_text("utf-8")
    shown = {
        alias.asname: (f"{package}.{node.module}", alias.name)
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(public.__all__) == sorted(str(name) for name in shown)
    assert set(public.__all__) <= set(dir(public))
    for name, (module, original) in shown.items():
        assert getattr(public, str(name)) is getattr(import_module(module), original), name
    with pytest.raises(AttributeError, match="nothing"):
        _ = public.nothing


def test_every_module_says_what_it_is_for(trees: Mapping[Path, ast.Module]) -> None:
    bare = [str(path) for path, tree in trees.items() if not ast.get_docstring(tree)]
    assert bare == []


def test_an_installed_package_has_every_file_that_is_no_module() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    packed = {path for pattern in patterns["quoteweave"] for path in PACKAGE.glob(pattern)}
    data_files = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert sorted(str(path.relative_to(PACKAGE)) for path in data_files - packed) == []


def test_the_files_listed_as_slow_are_there() -> None:
    test_files = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert {*SLOW_FILES, *TORCH_FILES} <= test_files
    assert len(SLOW_FILES) < len(test_files) / 2  # or nobody tests anything before a commit


def test_the_changelog_has_an_entry_for_this_version() -> None:
    version = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert version is not None
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{version.group(1)}]" in changelog or "## [Unreleased]" in changelog


def test_constraints_pin_exact_versions_and_nothing_else() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[^\s;]+", line)] == []
