"""Where the `tinyhost` program begins: the quick ways, and the long one.

`tinyhost run` with nothing configured has nobody to ask, so the command takes this
process's place at once. A few commands are done by a running host where there is one; see
`hot`. All else goes to `main`, whose imports take longer than many a command.
"""

from __future__ import annotations

import os
import sys

from tinyhost import runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    from tinyhost_cli import hot

    code = hot.run(sys.argv[1:])
    if code is not None:
        sys.exit(code)
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
    file = runtime.plain_config_file(environ)
    if environ.get("TINYHOST_CONFIG") or file is None or os.path.lexists(file):
        return None
    try:
        here = os.getcwd()  # noqa: PTH109 (pathlib takes as long as all of this)
    except OSError:
        return None
    if runtime.find_root(here, runtime.home_of(environ)) is not None:
        return None
    # A host may run with plugins that were loaded by hand.
    return None if runtime.find_socket(here, environ) else list(args[2:])


if __name__ == "__main__":
    main()
