"""Which hooks of a plugin are meant by a point and a tool. Answered without the plugin."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import attrs

from .types import HookPoint, HookSpec

# The points that have a tool.
TOOL_POINTS = (HookPoint.BEFORE_TOOL, HookPoint.AFTER_TOOL)
# Names of the host's own tools on this wire.
_TO_WIRE = {"bash": "Bash"}

_MAX_REPEATS = 4
_REPEAT = re.compile(r"(?<!\\)[*+?{]")
# A repeated group, or a reference, can take for ever to fail.
_COSTLY = re.compile(r"\)[*+?{]|\(\?|\\[0-9]")


@attrs.frozen
class Hook:
    """A declared hook, ready to be matched."""

    spec: HookSpec
    _covers: Callable[[str], bool]

    def takes(self, point: HookPoint, tool: str | None) -> bool:
        """Whether it is to be asked or told; tool is the wire's name, None where there is none.

        No points means every point. One that names a tool never takes a point without one.
        """
        if self.spec.points and point not in self.spec.points:
            return False
        if self.spec.tool is None:
            return True
        return tool is not None and self._covers(tool)


def wire_name(tool: str) -> str:
    """What a tool is called on this wire."""
    return _TO_WIRE.get(tool, tool)


def hooks_of(specs: Sequence[HookSpec]) -> list[Hook]:
    """Raises ValueError for a tool pattern that cannot be used.

    A guard that matched nothing because its pattern was not understood would let everything
    through, so such a plugin does not load.
    """
    return [Hook(spec, _matcher(spec.tool, index)) for index, spec in enumerate(specs)]


def _matcher(pattern: str | None, index: int) -> Callable[[str], bool]:
    """An exact name, a prefix and "*", or an expression for the whole name."""
    if pattern is None:
        return lambda _tool: True
    expression = _expression(pattern, f"hooks[{index}].tool")

    def covers(tool: str) -> bool:
        if tool == pattern or (pattern.endswith("*") and tool.startswith(pattern[:-1])):
            return True
        return expression is not None and expression.fullmatch(tool) is not None

    return covers


def _expression(pattern: str, where: str) -> re.Pattern[str] | None:
    if not pattern.strip("*"):
        return None  # "*": a prefix of nothing
    if _COSTLY.search(pattern) or len(_REPEAT.findall(pattern)) > _MAX_REPEATS:
        raise ValueError(
            f"{where}: {pattern[:80]!r} is too complicated: no repeated groups, look-arounds or"
            f" references, and at most {_MAX_REPEATS} repeats"
        )
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{where}: {pattern[:80]!r} is no expression: {error}") from None
