"""How a package's process is started."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ..dialects.zuno import Program, Zuno
from ..errors import LoadError
from ..json_schema import Check, compile_schema
from ..launch_plan import Launch
from ..model import PluginSpec, Resolved, Timeouts
from ..ownership import file_problem
from .discovery import read_folder
from .package import Package, ProcessRuntime, WasiRuntime
from .tools import tool_specs


def prepare(spec: PluginSpec, found: Resolved, base: Launch) -> Launch:
    """The launch of a package that was found; the working directory of `base` is its workspace.

    The package's folder is where it runs. Raises LoadError, stage "resolve", for a package
    that has no process, and for a program that is not there.
    """
    package = _package(spec.name, found)
    runtime = _runtime(spec.name, package)
    command = (_program(spec.name, runtime, found.path, base.env), *runtime.args)
    for word in command:
        _refuse_unsafe(spec.name, found.path, word)
    timeouts = _timeouts(base.settings.timeouts, runtime.timeout)
    program = Program(
        package=package.id,
        root=found.path,
        workspace=base.directory,
        tools=tool_specs(package),
        timeout=runtime.timeout,
        check=_checker(package),
        secrets=base.secrets,
    )
    return attrs.evolve(
        base,
        dialect=functools.partial(Zuno, program),
        command=command,
        directory=found.path,
        settings=attrs.evolve(base.settings, timeouts=timeouts),
    )


def _package(name: str, found: Resolved) -> Package:
    again = read_folder(found.path, found.source)
    if again.package is None or again.problems:
        raise LoadError(name, "resolve", f"{found.path} {again.why_not}")
    return again.package


def _runtime(name: str, package: Package) -> ProcessRuntime:
    if isinstance(package.runtime, WasiRuntime):
        reason = "it is a WebAssembly component (runtime wasi), which tinyhost does not run"
        raise LoadError(name, "resolve", reason)
    if package.runtime is None:
        reason = (
            "it has nothing to start: it is a package of agents, workflows or skills;"
            f" see: tinyhost plugin info {name}"
        )
        raise LoadError(name, "resolve", reason)
    return package.runtime


def _program(name: str, runtime: ProcessRuntime, root: str, env: Mapping[str, str]) -> str:
    """An absolute path; a file of the package comes before a program of the system."""
    command = runtime.command
    if os.path.isabs(command):  # noqa: PTH117
        return command
    inside = os.path.normpath(f"{root}/{command}")
    if "/" in command or os.path.isfile(inside):  # noqa: PTH113
        return inside
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        path = f"{folder.rstrip('/')}/{command}"
        # A relative entry would mean whatever folder the plugin happens to be in.
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113, PTH117
            return path
    reason = f"its command {command!r} is neither in {root} nor on PATH; install it"
    raise LoadError(name, "resolve", reason)


def _refuse_unsafe(name: str, root: str, word: str) -> None:
    """Of the command, what is a file of the package must not be somebody else's to change."""
    path = os.path.normpath(os.path.join(root, word))  # noqa: PTH118
    if path.startswith(f"{root}/") and os.path.isfile(path) and (problem := file_problem(path)):  # noqa: PTH113
        raise LoadError(name, "resolve", f"{path} {problem}")


def _timeouts(configured: Timeouts, seconds: float) -> Timeouts:
    """The package's time for each request, unless the person has set another."""
    usual = Timeouts()
    handshake, tool = configured.handshake, configured.tool
    tool = seconds if tool == usual.tool else tool
    return attrs.evolve(
        configured,
        handshake=seconds if handshake == usual.handshake else handshake,
        tool=tool,
        tool_cap=tool,
    )


def _checker(package: Package) -> Callable[[str, Any], Sequence[str]]:
    """Schemas are compiled when their tool is first called."""
    schemas = {tool.name: tool.parameters for tool in package.tools}
    compiled: dict[str, Check] = {}

    def check(tool: str, value: Any) -> Sequence[str]:
        if type(value) is not dict:
            return ["the arguments must be an object"]
        if tool not in compiled:
            compiled[tool] = compile_schema(schemas[tool])
        return compiled[tool](value)

    return check
