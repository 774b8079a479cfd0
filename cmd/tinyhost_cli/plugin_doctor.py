"""`tinyhost plugin doctor`: a plugin's own check of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tinyhost_cli import completion, output
from tinyhost_cli.common import host_options, read_config
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.command import Outcome
    from tinyhost.config import Config
    from tinyhost.launch_plan import Launch

_FLAG = "--check"


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="How long the check may take.",
)
@host_options
def doctor(setup: Setup, name: str, timeout: float) -> int:
    """Run a plugin's program with --check behind its arguments, and show what it says.

    Many plugins have such a check; one that knows none may say nothing, or not end by itself.
    It runs where and as the plugin would. Exit code 0 when its own is 0, else 1.
    """
    done, secrets = _run(setup, read_config(setup), name, timeout)
    out, err = (_text(data, secrets) for data in (done.stdout, done.stderr))
    if setup.as_json:
        output.emit(
            {
                "name": name,
                "ok": done.ok,
                "exitStatus": None if done.timed_out else done.returncode,
                "timedOut": done.timed_out,
                "stdout": out,
                "stderr": err,
            }
        )
    else:
        _show(name, done, out, err, timeout)
    return 0 if done.ok else 1


def _run(setup: Setup, config: Config, name: str, timeout: float) -> tuple[Outcome, set[str]]:
    import trio

    from tinyhost import command
    from tinyhost.errors import InvalidCall
    from tinyhost.manager_scope import open_manager
    from tinyhost_cli.hosting import until_signal

    if name in config.servers:
        raise InvalidCall(f"{name} is a server of mcpServers, which has no {_FLAG}")

    async def run() -> tuple[Outcome, set[str]]:
        async with open_manager(config, directory=setup.directory) as manager:
            launch: Launch = manager.launch(name)
        if launch.verify is not None:
            await launch.verify()
        words = [*launch.wrapping.prefix, *launch.command, _FLAG]
        done = await command.run(
            words, owner=name, env=launch.env, directory=launch.directory, timeout=timeout
        )
        return done, set(launch.secrets)

    return trio.run(until_signal, run)


def _text(data: bytes, secrets: set[str]) -> str:
    from tinyhost.redaction import redact, redact_shapes

    return redact_shapes(redact(data.decode("utf-8", "replace"), secrets))


def _show(name: str, done: Outcome, out: str, err: str, timeout: float) -> None:
    output.content(out)
    if err:
        output.note(err.rstrip("\n"))
    if done.timed_out:
        output.problem(f"{name} did not end within {timeout:g} s; it may know no {_FLAG}")
    elif not done.ok:
        # A check says what it found; a plugin without one complains that no host is there.
        output.problem(f"{name} {done.status}" + ("" if out else f"; it may know no {_FLAG}"))
    elif not out and not err:
        output.problem(f"{name} said nothing; it may know no {_FLAG}")
