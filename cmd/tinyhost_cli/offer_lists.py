"""Lists of what plugins offer to a person or to each other, with or without a running host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tinyhost_cli import attached, output
from tinyhost_cli.common import read_config, wanted_specs
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.manager import Loaded, Manager


def show(
    setup: Setup,
    kind: str,
    columns: Sequence[str],
    cells: Callable[[Mapping[str, Any]], Sequence[str]],
) -> int:
    """Print the "commands" or "services" of all plugins; 1 when a plugin did not load.

    cells: what stands in the columns, of one that is offered.
    """
    answer = attached.ask_host(setup, f"{kind.removesuffix('s')}/list", {})
    value = answer[0] if answer else _look_here(setup, kind)
    if setup.as_json:
        output.emit(value)
        return 1 if value["failed"] else 0
    if rows := value[kind]:
        output.table(columns, [cells(row) for row in rows])
    attached.report_failed(value["failed"])
    return 1 if value["failed"] else 0


def _look_here(setup: Setup, kind: str) -> Mapping[str, Any]:
    from tinyhost.present import command_value, loaded_value, service_value
    from tinyhost_cli.hosting import failures, with_plugins

    value_of: Callable[[Any], Any] = {"commands": command_value, "services": service_value}[kind]

    async def look(manager: Manager, loaded: Sequence[Loaded]) -> Mapping[str, Any]:
        rows = [value_of(offer) for offer in manager.offers.of(kind).values()]
        return {kind: rows, "failed": [loaded_value(result) for result in failures(loaded)]}

    config = read_config(setup)
    return with_plugins(setup, config, wanted_specs(setup, config), look)
