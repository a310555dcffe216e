"""The command line's entry: its commands, and how errors end it."""

import gc
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from io import TextIOWrapper
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from quoteweave.cli.console import printable
from quoteweave.cli.parameters import argument_name, choices, setting_name, value_form
from quoteweave.core.errors import QuoteweaveError, UsageError, settings_named_by
from quoteweave.core.urls import without_credentials


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command, or a group of commands, that is not imported yet."""

    help: str
    """The first line of its help."""
    module: str = ""
    """The module of the command's function, whose name is `function`."""
    function: str = ""
    commands: Mapping[str, "LazyCommand"] = field(default_factory=dict)
    """The commands of a group; empty for a command."""

    def load(self, name: str) -> Any:
        """Import the command and return it; for a group, none of its commands are imported."""
        if self.commands:
            return typer.main.get_command(group(self.commands, self.help, name))
        return _make_command(name, self.module, self.function)

    def summary(self, name: str) -> Any:
        """A stand-in for the command in lists of commands."""
        return TyperCommand(name, short_help=self.help)


@cache
def _make_command(name: str, module_name: str, function: str) -> Any:
    """The command of a function; cached, as the converters of its options are made when it is first called.

    Below its help stands the module's text on its JSON: `LIST_JSON` of the command `list`, else `JSON`.
    """
    module = _import_quickly(module_name)
    epilog = getattr(module, f"{name.upper()}_JSON", None) or module.JSON
    app = typer.Typer(add_completion=False, **OPTIONS)
    app.command(name, cls=Command, epilog=epilog)(getattr(module, function))
    return typer.main.get_command(app)


def _import_quickly(name: str) -> ModuleType:
    """Import a module without collecting garbage, which would take a quarter of the time and find hardly any.

    Imported objects are also excluded from later collections, the last of which would take a third of a second.
    """
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()


class Command(TyperCommand):
    """A command whose help lists its options under the headings that they name (`rich_help_panel`)."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Remedies of errors name the command's own options and keys of its files."""
        with settings_named_by(partial(setting_name, self.params)):
            return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse arguments as usual, but without the words of the validation library in messages on wrong values.

        Words behind the last argument mostly belong to a question without quotation marks.
        """
        ctx.allow_extra_args = True
        try:
            extra: list[str] = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise
        if extra and not ctx.resilient_parsing:
            has_arguments = any(parameter.param_type_name == "argument" for parameter in self.params)
            advice = (
                "Write an argument of several words in quotation marks; unexpected" if has_arguments else "Unexpected"
            )
            ctx.fail(f"{advice}: {' '.join(extra)}")
        return extra

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the usage line after the command's name."""
        arguments = (parameter for parameter in self.get_params(ctx) if parameter.param_type_name == "argument")
        return ["[OPTIONS]", *map(argument_name, arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The lists of arguments and of options."""
        lists: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            heading = "Arguments" if parameter.param_type_name == "argument" else "Options"
            if record := parameter.get_help_record(ctx):
                name_and_help = _with_form(parameter, ctx, *record)
                lists.setdefault(getattr(parameter, "rich_help_panel", None) or heading, []).append(name_and_help)
        for heading, records in lists.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def _with_form(parameter: Any, ctx: Any, name: str, help: str) -> tuple[str, str]:
    """A line of help with `N`, `PATH` or the choices in place of the Python types that typer writes."""
    form = f"<{'|'.join(allowed)}>" if (allowed := choices(parameter)) else ""
    if parameter.param_type_name == "argument":
        return f"{argument_name(parameter)} {form}".strip(), help
    type_name = None if parameter.is_flag else parameter.display_type_rich(ctx=ctx)
    return name.replace(str(type_name), form or value_form(parameter)) if type_name else name, help


# Help is plain text, as importing the library that draws it in boxes takes as long as all the rest of `--help`.
OPTIONS: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


def group(commands: Mapping[str, LazyCommand], help: str, name: str | None = None) -> typer.Typer:
    """A group of these commands, to which options of its own may be added by a callback."""

    class Group(TyperGroup):
        """Lists commands without importing them."""

        listing = False

        def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
            """The names of the commands, in the order of the table."""
            return [*commands]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
            """The command of that name, which is imported unless it is only listed."""
            if cmd_name not in commands:
                return None
            lazy = commands[cmd_name]
            return lazy.summary(cmd_name) if self.listing else lazy.load(cmd_name)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            """The help of the group."""
            self.listing = True
            try:
                super().format_help(ctx, formatter)
            finally:
                self.listing = False

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """Resolve as usual, which suggests similar names for an unknown one; none of them is imported."""
            if args and args[0] not in commands:
                self.commands = {command_name: lazy.summary(command_name) for command_name, lazy in commands.items()}
            return super().resolve_command(ctx, args)

    typer_app = typer.Typer(
        name=name,
        help=help,
        cls=Group,
        no_args_is_help=True,
        add_completion=name is None,
        **OPTIONS,
    )

    if name is not None:

        def callback() -> None:
            """Do nothing; typer needs a callback to make a group."""

        typer_app.callback(help=help)(callback)
    return typer_app


HELP = "Ask your documents, and check every claim of the answer on its page."
INTERRUPTED = 130


def _command(help: str, name: str, function: str | None = None) -> LazyCommand:
    return LazyCommand(help, f"quoteweave.cli.{name}", function or name.rpartition(".")[2])


INDEX = {
    "build": _command("Encode a collection's quotes with a model, for searching with it.", "commands.index", "build"),
    "list": _command("List the indexes of models that a collection has.", "commands.index", "list_all"),
    "remove": _command("Remove an index, and its vectors.", "commands.index", "remove"),
}
EVAL = {
    "retrieval": _command("Ask every question of a dataset and score what a retriever finds.", "eval.retrieval"),
    "score": _command("Score saved answers: which gold quotes they cite, and what a judge said of them.", "eval.score"),
    "compare": _command("Compare runs over the same questions, or rank them among published results.", "eval.compare"),
    "entailment": _command("Score citations by whether they entail what is said.", "eval.entailment"),
    "mauve": _command("Measure how similar answers are to gold answers, as texts (MAUVE).", "eval.score", "mauve"),
    "report": _command("Write a report of runs: a page, Markdown, plots/ (SVG, PDF) and tables/ (CSV).", "eval.report"),
    "pairs": _command(
        "Compare pairs of runs that differ in one thing, as MMDocRAG's tables do.", "eval.report", "pairs"
    ),
    "statistics": _command(
        "Count what a dataset or a collection holds, in numbers and plots.", "eval.report", "statistics"
    ),
    "export": _command("Export rankings, with gold (TREC) or alone, or answers.", "eval.export"),
    "reproduce": _command(
        "Recompute published figures from the outputs that were published with them.", "eval.reproduce"
    ),
    "judge": _command("Have a chat model grade saved answers by five criteria, 0 to 5.", "eval.judge"),
    "citations": _command(
        "Have a chat model check each sentence of saved answers against what it cites.", "eval.citations"
    ),
    "judges": _command("Compare two judges of cited answers, or a judge with people.", "eval.citations", "judges"),
    "errors": _command("Count the kinds of error in saved answers, by a chat model or by people.", "eval.errors"),
    "trajectories": _command(
        "Review searches for papers: where each went wrong, and what leaked.", "eval.errors", "trajectories"
    ),
    "calibrate": _command("Fit when to abstain.", "eval.calibrate"),
}
KEYS = {
    "add": _command("Make a key with which a program or a person may use the server.", "commands.server", "add_key"),
    "list": _command("List the keys, what each may do, and until when.", "commands.server", "list_keys"),
    "revoke": _command("Revoke a key: from the next request on it is refused.", "commands.server", "revoke_key"),
}
SFT = {
    "export": _command(
        "Write questions, quotes and gold answers as conversations, one a line.", "commands.sft", "export"
    ),
}
COMMANDS = {
    "add": _command("Add documents: PDF, PNG, JPEG, WebP, TIFF, Markdown, HTML, CSV and text.", "commands.add"),
    "import": _command(
        "Import what MinerU has parsed, MMDocIR's published layouts or pages, or a table of papers.",
        "commands.import_parsed",
    ),
    "describe": _command(
        "Have a vision model write what figures, charts, tables and scanned pages show.", "commands.describe"
    ),
    "ask": _command("Answer a question from the documents, every claim cited.", "commands.ask"),
    "search": _command("Find the quotes that bear on a question, best first.", "commands.search"),
    "attribute": _command(
        "Find the source of a sentence in your documents or in the literature, with the passage that supports it.",
        "attribution.attribute",
    ),
    "cite": _command(
        "Cite your own text from your documents or the literature: a mark for each sentence that is supported.",
        "attribution.cite",
    ),
    "serve": _command("Serve cited answers over HTTP, with a page on which people ask.", "commands.server", "serve"),
    "keys": LazyCommand("Make, list and revoke the keys of a server.", commands=KEYS),
    "mcp": _command(
        "Let language models search and ask collections, over the Model Context Protocol (stdio).",
        "commands.server",
        "mcp",
    ),
    "index": LazyCommand("Build, list and remove the indexes of models that a collection has.", commands=INDEX),
    "plan": _command("Estimate an index's time, disk, memory and price.", "commands.index", "plan"),
    "models": _command("List the models that retrieve and rerank by name, and what each takes.", "commands.models"),
    "run": _command("Answer every question of a dataset, and keep the answers to be scored.", "commands.run"),
    "show": _command("Show a quote: its words, its crop, and its page with the box drawn.", "commands.show"),
    "list": _command("List the documents of a collection.", "commands.documents", "list_documents"),
    "status": _command(
        "Show what a collection holds, and which files could not be read.", "commands.documents", "status"
    ),
    "remove": _command("Remove documents, and every trace of them, from a collection.", "commands.documents", "remove"),
    "check": _command(
        "Read every file of a collection, and say what is damaged or missing.", "commands.documents", "check"
    ),
    "demo": _command(
        "Build a collection from the sample documents, ask five questions, and write a page with the answers.",
        "commands.demo",
    ),
    "eval": LazyCommand("Measure on datasets with gold evidence.", commands=EVAL),
    "sft": LazyCommand("Make data to fine-tune chat models with.", commands=SFT),
}
"""Every command, in the order in which they are listed."""

app = group(COMMANDS, HELP)


def _version(is_asked: bool) -> None:
    if is_asked:
        # Imported here, as importing what reads versions takes a tenth of the time of `--help`.
        from quoteweave.version import __version__

        typer.echo(f"quoteweave {__version__}")
        raise typer.Exit


@app.callback()
def quoteweave(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Ask your documents, and check every claim of the answer on its page."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 something failed, 2 wrong use, 130 interrupted."""
    # Stops pydantic from looking for plugins in all installed packages each time that a command starts.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if not os.environ.get("COLUMNS", "").strip("0"):  # of a terminal of unknown width, on which nothing would be shown
        os.environ.pop("COLUMNS", None)
    _open_standard_files()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # the encoding may lack characters of names and quotes
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except UsageError as error:
        _complain(error)
        sys.exit(2)
    except QuoteweaveError as error:
        _complain(error)
        sys.exit(1)
    except OSError as error:  # files raise errors of our own, so that this is mostly about the output
        with suppress(OSError, ValueError):  # else flushing its buffer at exit would fail again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        target = "the output" if error.filename is None else error.filename
        remedy = "; allow it, then run the same command again" if isinstance(error, PermissionError) else ""
        _complain(OSError(f"{target} cannot be read or written ({error.strerror or error}){remedy}"))
        sys.exit(1)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            typer.echo("interrupted; what was done is kept, and the same command goes on from there", err=True)
        raise


def _open_standard_files() -> None:
    """Open the null device as files 0 to 2 where these are closed, as they are in programs that some schedulers start.

    Otherwise a file or socket of ours would get one of these numbers. Libraries in C write their messages to them, and
    processes that read files silence them. Python has None for the streams of files that were closed as it started.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout, sys.stderr = sys.stdout or os.fdopen(1, "w"), sys.stderr or os.fdopen(2, "w")


def _complain(error: Exception) -> None:
    typer.echo(printable(without_credentials(f"error: {error}")), err=True)


if __name__ == "__main__":
    main()
