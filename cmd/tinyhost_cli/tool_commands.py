"""`tinyhost tool`: what tools plugins offer, and calling one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import attached, completion, output
from tinyhost_cli.common import (
    host_options,
    json_object,
    plugin_option,
    read_config,
    wanted_specs,
)
from tinyhost_cli.lazy import LazyGroup
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.host import Host, Outcome
    from tinyhost.manager import Loaded, Manager

tool = LazyGroup(
    "tool",
    help="List and call the tools of plugins.",
    lazy={
        "list": (f"{__name__}:list_tools", "List the tools of plugins"),
        "call": (f"{__name__}:call", "Call a tool, and print what it answers"),
    },
)


@click.command("list")
@plugin_option
@host_options
def list_tools(setup: Setup) -> int:
    """Load the plugins, and list the tools that they offer, after those that are built in.

    With --plugin only the tools of those plugins are listed. Exit code 1 when a plugin did
    not load.
    """
    answer = attached.ask_host(setup, "tool/list", {})
    value = answer[0] if answer else _list_here(setup)
    if setup.as_json:
        output.emit(value)
    else:
        _show_list(value)
    return 1 if value["failed"] else 0


def _list_here(setup: Setup) -> Mapping[str, Any]:
    from tinyhost.present import loaded_value, tool_value
    from tinyhost_cli.hosting import failures, with_host

    async def look(host: Host, loaded: Sequence[Loaded]) -> Mapping[str, Any]:
        tools = host.manager.tools()
        if setup.plugins:
            tools = [tool for tool in tools if tool.plugin in setup.plugins]
        failed = [loaded_value(result) for result in failures(loaded)]
        return {"tools": [tool_value(tool) for tool in tools], "failed": failed}

    config = read_config(setup)
    return with_host(setup, config, wanted_specs(setup, config), look)


def _show_list(value: Mapping[str, Any]) -> None:
    if value["tools"]:
        output.table(
            ("TOOL", "PLUGIN", "PERMISSION", "DESCRIPTION"),
            [
                (
                    tool["id"],
                    tool["plugin"],
                    tool["permission"] or "-",
                    tool["description"].strip().partition("\n")[0].rstrip(),
                )
                for tool in value["tools"]
            ],
        )
    attached.report_failed(value["failed"])


@click.command()
@click.argument("tool_id", shell_complete=completion.tool_ids)
@click.option(
    "--args", metavar="JSON", default="{}", help="Arguments, an object; '-' reads them. Default {}."
)
@click.option("--session", metavar="ID", default="", help="Session id to tell the plugin.")
@plugin_option
@host_options
def call(setup: Setup, tool_id: str, args: str, session: str) -> int:
    """Call a tool, as plugin__<plugin>__<tool>, and print what it answers.

    The call goes the guarded way: rules and guards are asked, and the after hooks see the
    answer. It goes to standard output (at a terminal, control characters are shown escaped),
    progress to standard error. Exit code 1 when the tool reports an error or is denied.
    """
    given = json_object(args, "--args")
    assert given is not None
    code = attached.call(setup, tool_id, given[1], session)
    return _call_here(setup, tool_id, given[1], session) if code is None else code


def _call_here(setup: Setup, tool_id: str, args_text: str, session: str) -> int:
    from tinyhost.codec import RawJson
    from tinyhost.errors import CallDenied
    from tinyhost.present import outcome_value
    from tinyhost_cli.hosting import report_failures, unheard, with_host

    arguments = RawJson(args_text)
    config = read_config(setup)
    specs = wanted_specs(setup, config)

    async def run(host: Host, loaded: Sequence[Loaded]) -> tuple[Outcome, float]:
        _check(tool_id, host.manager, loaded)
        missing = unheard(host, loaded, setup.plugins)
        if missing is not None:
            raise CallDenied(tool_id, missing)
        report_failures(loaded)
        opened = await host.session_start(setup.directory, session or None)
        began = time.perf_counter()
        try:
            outcome = await host.call(tool_id, arguments, opened, on_progress=output.note)
        finally:
            await host.session_end(opened)
        return outcome, (time.perf_counter() - began) * 1000

    result, ms = with_host(setup, config, specs, run)
    value = outcome_value(tool_id, result, ms)
    if setup.as_json:
        output.emit(value)
    else:
        attached.show_outcome(value)
    return 1 if result.is_error else 0


def _check(tool_id: str, manager: Manager, loaded: Sequence[Loaded]) -> None:
    """Raises ToolNotFound, or why the only plugin did not load."""
    from tinyhost.errors import ToolNotFound
    from tinyhost_cli.hosting import failures, report_failures

    try:
        manager.owner(tool_id)
    except ToolNotFound as error:
        failed = failures(loaded)
        if len(loaded) == 1 and failed:
            assert failed[0].error is not None
            raise failed[0].error from None
        report_failures(loaded)
        parts = tool_id.split("__")
        if len(parts) == 3 and parts[0] == "plugin" and parts[1] not in _names(loaded):
            error.add_note(
                f"No plugin {parts[1]} is loaded; if it is installed, add --plugin {parts[1]}"
            )
        raise


def _names(loaded: Sequence[Loaded]) -> Sequence[str]:
    return [result.spec.name.replace(".", "_") for result in loaded]
