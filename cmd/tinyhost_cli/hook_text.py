"""What `hook invoke` prints for people. The value is that of present.hook_value."""

from __future__ import annotations

from tinyhost_cli import output
from tinyhost_sdk import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def show(
    name: str, value: Mapping[str, Any], encode: Callable[[object], str] = codec.encode_readable
) -> None:
    """The verdict, and each plugin's answer. encode: makes JSON text of what is in the value."""
    if not value["plugins"]:
        output.problem(f"no loaded plugin declared the hook {name}{_meant(name)}")
        return
    output.say(value["verdict"])
    output.table(
        ("PLUGIN", "MS", "ANSWER"),
        [(one["name"], f"{one['ms']:.1f}", _answer(one, encode)) for one in value["plugins"]],
    )


def _answer(one: Mapping[str, Any], encode: Callable[[object], str]) -> str:
    if "error" in one:
        return f"failed: {one['error']}"
    return encode(one["output"])


def _meant(name: str) -> str:
    import difflib

    from tinyhost_sdk import names

    close = [] if name in names.HOOKS else difflib.get_close_matches(name, names.HOOKS, n=1)
    return f"; did you mean {close[0]}?" if close else ""
