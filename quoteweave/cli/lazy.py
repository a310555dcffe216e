"""Groups of commands that import a command's module when it is run, so that the program starts at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command, or a group of commands, that is not imported yet."""

    help: str
    """The first line of its help."""
    module: str = ""
    """Where the command's function is; it has the name `function`, and `EPILOG` says what its JSON holds."""
    function: str = ""
    epilog: str = "JSON"
    """The name of the text in the module that stands below its help."""
    commands: Mapping[str, "LazyCommand"] = field(default_factory=dict)
    """Those of a group."""

    def load(self, name: str) -> Any:
        """The command, imported; of a group, the group alone."""
        if self.commands:
            return typer.main.get_command(group(self.commands, self.help, name))
        module = import_module(self.module)
        app = typer.Typer(pretty_exceptions_enable=False, add_completion=False, context_settings=CONTEXT)
        app.command(name, epilog=getattr(module, self.epilog))(getattr(module, self.function))
        return typer.main.get_command(app)

    def summary(self, name: str) -> Any:
        """What stands for the command where commands are listed."""
        return TyperCommand(name, help=self.help)


CONTEXT = {"help_option_names": ["-h", "--help"]}


def group(commands: Mapping[str, LazyCommand], help: str, name: str | None = None) -> typer.Typer:
    """A group of these commands, to which options of its own may be added by a callback."""

    class Group(TyperGroup):
        """Lists commands without importing them."""

        listing = False

        def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
            """Their names, in the order of the table."""
            return [*commands]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
            """The command of that name, imported unless it is only listed."""
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
            """As in any group; of those that are like an unknown name, nothing is imported."""
            self.listing = bool(args) and args[0] not in commands
            try:
                return super().resolve_command(ctx, args)
            finally:
                self.listing = False

    made = typer.Typer(
        name=name,
        help=help,
        cls=Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings=CONTEXT,
        add_completion=name is None,
    )

    if name is not None:

        def callback() -> None:
            """Does nothing; a group wants one."""

        made.callback(help=help)(callback)
    return made
