"""Where the `tinyhost` program begins: the one way that needs no library, and all others.

`tinyhost run` with nothing configured has nobody to ask, so the command takes this
process's place at once. All else goes to `main`, whose imports take longer than many a
command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence


def main() -> None:
    """The entry point of the `tinyhost` program."""
    if (text := refusal(os.name)) is not None:
        sys.exit(text)
    command = unguarded_command(sys.argv[1:], os.environ)
    if command is not None:
        try:
            os.execvp(command[0], command)
        except (OSError, ValueError):
            pass  # the long way says what is wrong
    from tinyhost_cli import main as long_way

    long_way.main()


def refusal(system: str) -> str | None:
    """Why tinyhost cannot run on a system, by its os.name; None where it can."""
    if system == "posix":
        return None
    return (
        "tinyhost: this system is not supported: process groups, Unix signals and descriptors"
        " are what tinyhost ends plugins with. Run it on Linux, for example in WSL."
    )


def unguarded_command(args: Sequence[str], environ: Mapping[str, str]) -> list[str] | None:
    """The command of `run -- COMMAND...` when no configuration exists, else None."""
    if len(args) < 3 or args[0] != "run" or args[1] != "--":
        return None
    file = _config_file(environ)
    if file is None or os.path.lexists(file) or _in_project():
        return None
    return list(args[2:])


def _in_project() -> bool:
    """Whether a project's configuration may count here; the long way knows exactly."""
    try:
        here = os.getcwd()  # noqa: PTH109 (pathlib takes as long as all of this)
    except OSError:
        return True
    while not os.path.lexists(f"{here}/.tinyhost/config.json"):
        if here in ("/", ""):
            return False
        here = os.path.dirname(here)  # noqa: PTH120
    return True


def _config_file(environ: Mapping[str, str]) -> str | None:
    """The usual configuration file, as `paths.config_file` finds it; None where it is not plain."""
    if environ.get("TINYHOST_CONFIG") or sys.platform != "linux":
        return None
    folder = environ.get("TINYHOST_CONFIG_DIR")
    if not folder:
        home = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '')}/.config"
        folder = f"{home}/tinyhost"
    return f"{folder}/config.json" if folder.startswith("/") else None


if __name__ == "__main__":
    main()
