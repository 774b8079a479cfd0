"""Tell on standard error what was decided about a command, by whom and why.

The value is that of present.run_value, with `exitStatus`.
"""

from __future__ import annotations

from tinyhost_cli import output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def tell(value: Mapping[str, Any], *, explain: bool, as_json: bool) -> None:
    """Print the denial if there was one, or with `explain` everything that was decided."""
    if not (explain or value["denied"]):
        return
    if as_json:
        from tinyhost_sdk import codec

        output.note(codec.encode(value))
        return
    if value["denied"]:
        output.problem(f"denied: {value['reason']}")
    if explain:
        _show_everything(value)


def _show_everything(value: Mapping[str, Any]) -> None:
    for reason in (value["decision"] or {}).get("reasons", ()):
        output.problem(f"{reason['action'] or 'no objection'}: {reason['text']}")
    if value["args"]:
        output.problem(f"a plugin rewrote the arguments: {value['args']}")
    for context in value["contexts"]:
        output.problem(f"context: {context}")
    output.problem(f"the whole record: tinyhost journal show {value['session']}")
