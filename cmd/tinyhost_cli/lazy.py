"""A click group that imports a command's module when the command is used, and no sooner."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """lazy: the name of each command to the place of it, "module:attribute", and its help.

    The help text stands here so that `--help` and completion need no other module.
    """

    def __init__(
        self, name: str, *, lazy: Mapping[str, tuple[str, str]], help: str, **extra: Any
    ) -> None:
        super().__init__(name, help=help, no_args_is_help=True, **extra)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The commands in the order of the table."""
        return list(self._lazy)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        """Import a command, or return None when there is none of that name."""
        if cmd_name not in self._lazy:
            return None
        module, _, attribute = self._lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called, and name the nearest one when there is none."""
        name = args[0]
        if name not in self._lazy and not name.startswith("-") and not ctx.resilient_parsing:
            import difflib

            close = difflib.get_close_matches(name, self._lazy, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"There is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the section of the commands for --help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._lazy.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, or options, that begin with what is typed."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=text)
            for name, (_, text) in self._lazy.items()
            if name.startswith(incomplete)
        ]
        # The class above ours would import every command; the options are one step further up.
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]
