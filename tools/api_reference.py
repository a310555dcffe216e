"""Generates docs/api.md: the public names by subject, each with its signature and the first line of its docstring.

Run it with `python tools/api_reference.py docs/api.md`.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import get_args

from pydantic import BaseModel

from quoteweave.core.lazy_regex import lazy_regex

HEAD = """# Python: public names

All names of `quoteweave` and `quoteweave.evaluation`, with what they take, and below a class its own methods, with
`await` where that is needed. `help(NAME)` says more: types, fields, exceptions and an example. The guides are
[python.md](python.md) and [evaluation.md](evaluation.md). This page is made by
`python tools/api_reference.py docs/api.md`.
"""
# The heading for a name is that of the first of these prefixes which its module's name has.
SUBJECTS: Mapping[str, str] = {
    "core.errors": "Exceptions",
    "core.protocols": "Protocols",
    "core.examples": "Experiments",
    "core.answers": "Answers",
    "core": "Records",
    "collection": "Collections and documents",
    "documents": "Collections and documents",
    "index": "Collections and documents",
    "retrievers": "Retrieval",
    "pipeline.composition.add_documents": "Collections and documents",
    "pipeline.composition.manage_indexes": "Collections and documents",
    "pipeline.composition.describe": "Collections and documents",
    "pipeline.runs.search_dataset": "Experiments",
    "pipeline.runs.answer_dataset": "Experiments",
    "pipeline.runs.config": "Experiments",
    "pipeline.presets": "Experiments",
    "pipeline.search": "Retrieval",
    "pipeline.settings": "Settings",
    "pipeline": "Answers",
    "endpoints": "Answers",
    "generation": "Answers",
    "models": "Answers",
    "attribution": "Sources of sentences",
    "client": "Asking a server",
    "interchange": "Answers",
    "version": "Settings",
}
ORDER = ("Collections and documents", "Retrieval", "Answers", "Settings", "Experiments", "Sources of sentences")
LAST = ("Asking a server", "Records", "Protocols", "Exceptions")
_CONSTANTS = {
    "C15": "the `ContextSize` of 10 text and 5 image quotes",
    "C20": "the `ContextSize` of 12 text and 8 image quotes",
    "DATASETS": "the names of the datasets, each with its loader",
    "METRICS": "the metrics that need no model, by name",
    "PAIR_LAYOUTS": "the layouts of `eval pairs`, by name",
    "__version__": "the version of quoteweave",
}
_MAX_SHOWN = 8
"""Parameters or fields of a name that are shown, at most; help() has all."""
_SHORT = lazy_regex(r"[-.\w]{1,16}|\(\)")  # defaults that are short enough to be shown


def api_reference() -> str:
    """The whole page, as Markdown."""
    sections: dict[str, list[str]] = {subject: [] for subject in (*ORDER, *LAST)}
    for name, module in _names("quoteweave"):
        subject = next(subject for prefix, subject in SUBJECTS.items() if f"{module}.".startswith(f"{prefix}."))
        sections[subject].append(_line("quoteweave", name))
    sections["Exceptions"] = list(_exceptions())
    sections["quoteweave.evaluation"] = [_line("quoteweave.evaluation", n) for n, _ in _names("quoteweave.evaluation")]
    parts = [f"## {subject}\n\n{''.join(lines)}" for subject, lines in sections.items()]
    return "\n".join((HEAD, *parts))


def _names(package: str) -> Iterator[tuple[str, str]]:
    """The public names of a package, each with the module that defines it, relative to the package."""
    stub = Path(str(import_module(package).__file__)).with_suffix(".pyi").read_text("utf-8")
    names = [
        (alias.name, node.module or "")
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    yield from sorted(names, key=lambda name_and_module: name_and_module[0].lower())


def _line(package: str, name: str) -> str:
    public = getattr(import_module(package), name)
    if isinstance(public, type) or inspect.isroutine(public):
        return f"- `{name}{_signature(public)}`: {_first_line(public)}\n{_methods(public)}"
    if choices := get_args(public):
        names = (choice.__name__ if isinstance(choice, type) else choice for choice in choices)
        return f"- `{name}`: one of {', '.join(f'`{name}`' for name in names)}\n"
    return f"- `{name}`: {_CONSTANTS[name]}\n"


def _first_line(public: object) -> str:
    paragraph = (inspect.getdoc(public) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def _methods(public: object) -> str:
    """A line for each public method that a class itself defines; none for records, protocols and exceptions."""
    if (
        not isinstance(public, type)
        or issubclass(public, BaseModel | Exception)
        or getattr(public, "_is_protocol", False)
    ):
        return ""
    lines = []
    for name, attribute in vars(public).items():
        if (inspect.isfunction(attribute) or isinstance(attribute, classmethod)) and not name.startswith("_"):
            method = getattr(public, name)
            bound = method if isinstance(attribute, classmethod) else method.__get__(public)
            awaited = "await " if inspect.iscoroutinefunction(method) else ""
            lines.append(f"  - `{awaited}.{name}{_signature(bound)}`: {_first_line(method)}\n")
    return "".join(lines)


def _signature(public: Callable[..., object]) -> str:
    """The parameters, without types; for a protocol, its methods."""
    if getattr(public, "_is_protocol", False):
        methods = [name for name in vars(public) if not name.startswith("_")]
        return f": {', '.join(methods)}"
    if isinstance(public, type) and issubclass(public, BaseModel):
        shown = list(public.model_fields)
    else:
        shown = _parameters(inspect.signature(public))
    return f"({', '.join([*shown[:_MAX_SHOWN], '…'] if len(shown) > _MAX_SHOWN else shown)})"


def _parameters(signature: inspect.Signature) -> list[str]:
    parameters = list(signature.parameters.values())
    names = [_parameter(parameter) for parameter in parameters]
    first = next((n for n, parameter in enumerate(parameters) if parameter.kind is parameter.KEYWORD_ONLY), None)
    return names if first is None else [*names[:first], "*", *names[first:]]


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return parameter.name
    default = repr(parameter.default)
    return f"{parameter.name}={default if _SHORT.fullmatch(default) else '…'}"


def _exceptions() -> Iterator[str]:
    """All exceptions as a tree, each below its base class."""
    from quoteweave.core.errors import QuoteweaveError

    def below(kind: type[Exception], depth: int) -> Iterator[str]:
        yield f"{'  ' * depth}- `{kind.__name__}`: {_first_line(kind)}\n"
        for subclass in kind.__subclasses__():
            if subclass.__module__ == kind.__module__:
                yield from below(subclass, depth + 1)

    yield from below(QuoteweaveError, 0)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(api_reference(), "utf-8")
