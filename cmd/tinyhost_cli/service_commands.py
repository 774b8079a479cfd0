"""`tinyhost service`: what plugins offer to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import attached, offer_lists, output
from tinyhost_cli.common import host_options, plugin_option, read_config, wanted_specs
from tinyhost_cli.lazy import LazyGroup
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.manager import Loaded, Manager

service = LazyGroup(
    "service",
    help="Call the services that plugins offer.",
    lazy={
        "list": (f"{__name__}:list_services", "List the services of plugins"),
        "call": (f"{__name__}:call", "Call a method of a service"),
    },
)


@click.command("list")
@plugin_option
@host_options
def list_services(setup: Setup) -> int:
    """Load the plugins, and list the services that they offer.

    Exit code 1 when a plugin did not load.
    """
    return offer_lists.show(
        setup,
        "services",
        ("SERVICE", "PLUGIN", "METHODS"),
        lambda row: (row["key"], row["plugin"], ", ".join(row["methods"]) or "-"),
    )


@click.command()
@click.argument("key")
@click.argument("method")
@click.option("--params", metavar="JSON", default="null", help="Any JSON value. By default null.")
@plugin_option
@host_options
def call(setup: Setup, key: str, method: str, params: str) -> int:
    """Call a method of a service, and print its result as JSON.

    Exit code 1 when there is no such service or method, or when it refuses.
    """
    from tinyhost.codec import loads
    from tinyhost_cli.hosting import report_failures, with_plugins

    try:
        value = loads(params.encode("utf-8", "surrogateescape"))
    except ValueError as error:
        raise click.UsageError(f"The value of --params is not JSON: {error}.") from None

    given = {"key": key, "method": method}
    if answer := attached.ask_host(setup, "service/call", given, {"params": params}):
        output.emit(answer[0] if setup.as_json else answer[0]["result"])
        return 0

    async def ask(manager: Manager, loaded: Sequence[Loaded]) -> Any:
        report_failures(loaded)
        return await manager.offers.call_service(key, method, value)

    config = read_config(setup)
    result = with_plugins(setup, config, wanted_specs(setup, config), ask)
    output.emit({"result": result} if setup.as_json else result)
    return 0
