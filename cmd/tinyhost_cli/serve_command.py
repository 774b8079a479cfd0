"""`tinyhost serve`: keep plugins loaded, and let commands, agents and editors attach."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from tinyhost_cli.attached import directory_of
from tinyhost_cli.client import attach
from tinyhost_cli.common import serve_options
from tinyhost_cli.mcp_pipe import pipe_mcp
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinyhost.config import Config
    from tinyhost.running import RunningHost
    from tinyhost.surfaces.serving import Surface

    _Maker = Callable[[RunningHost], Surface]

_LOOPBACK = "127.0.0.1:4096"


@click.command()
@click.option(
    "--http",
    metavar="[HOST:PORT]",
    is_flag=False,
    flag_value=_LOOPBACK,
    help=f"Serve HTTP too, with MCP at /mcp and a page at /. Without HOST:PORT at {_LOOPBACK}.",
)
@click.option(
    "--http-name",
    "names",
    metavar="NAME",
    multiple=True,
    help="Take HTTP requests for this host name too, as behind a proxy with TLS. Repeatable.",
)
@click.option("--mcp", is_flag=True, help="Speak MCP on standard input and output, too.")
@click.option("--otel", is_flag=True, help="Send spans of sessions, hooks and calls by OTLP.")
@click.option("--grace", metavar="TIME", help='How long calls get to end at a stop, as "10s".')
@click.option("--foreground", is_flag=True, help="Stay in the foreground, which is the default.")
@serve_options
def serve(
    setup: Setup,
    http: str | None,
    names: tuple[str, ...],
    mcp: bool,
    otel: bool,
    grace: str | None,
    foreground: bool,
) -> int:
    """Load the configured plugins and keep them, until stopped.

    Commands that start plugins use those of this host from then on, as long as they are called
    with the same configuration. SIGHUP and `tinyhost reload` read the configuration anew;
    SIGTERM, Ctrl+C and `tinyhost stop` end it. Only one host runs for each configuration: with
    --mcp alone, a second one speaks for the one that is running.

    What happens is told on standard error: as text at a terminal, elsewhere as lines of JSON.
    """
    import trio

    from tinyhost.surfaces.serving import GRACE, Service
    from tinyhost.surfaces.serving import serve as run
    from tinyhost_cli import serve_log

    del foreground
    _check_addresses(http, names)
    if mcp and http is None:
        client = attach(setup.directory, setup.config_file)
        if client is not None:
            return pipe_mcp(client)
    serve_log.start(verbose=setup.verbose)
    service = Service(
        read_config=_reader(setup),
        directory=directory_of(setup),
        environ=dict(os.environ),
        grace=GRACE if grace is None else _seconds(grace),
        surfaces=tuple(_surfaces(http, names, mcp, otel)),
        on_ready=serve_log.ready,
        is_process=True,
    )
    try:
        trio.run(run, service)
    except Exception as error:
        return serve_log.failed(error)
    return 0


def _check_addresses(http: str | None, names: Sequence[str]) -> None:
    from tinyhost.errors import ConfigError
    from tinyhost.surfaces.http.access import parse_bind, parse_name

    if names and http is None:
        raise click.UsageError("--http-name goes with --http.")
    try:
        if http is not None:
            parse_bind(http)
        for name in names:
            parse_name(name)
    except ConfigError as error:
        raise click.UsageError(f"{error.reason}.") from None


def _reader(setup: Setup) -> Callable[[], Config]:
    from tinyhost.layers import load_layers

    directory = directory_of(setup)  # now, as the current folder may be deleted meanwhile
    return lambda: load_layers(directory, setup.config_file)


def _seconds(text: str) -> float:
    from tinyhost.durations import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise click.UsageError(f"The value of --grace cannot be used: {error}.") from None


def _surfaces(http: str | None, names: Sequence[str], mcp: bool, otel: bool) -> list[_Maker]:
    makers: list[_Maker] = []
    if otel:
        from tinyhost.surfaces.otel import otel_surface

        makers.append(otel_surface())
    if http is not None:
        makers.append(_http(http, names))
    if mcp:
        from tinyhost.surfaces.mcp import mcp_stdio

        makers.append(mcp_stdio())
    return makers


def _http(bind: str, names: Sequence[str]) -> _Maker:
    from tinyhost.surfaces.http import PAGE, http_surface
    from tinyhost.surfaces.mcp import is_installed, mcp_app

    mounts = {"/mcp": mcp_app} if is_installed() else {}
    return http_surface(bind, mounts=mounts, pages=PAGE, names=names)
