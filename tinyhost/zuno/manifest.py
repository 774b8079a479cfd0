"""extension.json, `zuno.extension/v1`: checked key by key, and all its problems told."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..json_schema import BadSchema, compile_schema
from .agents import read_agent
from .package import (
    API_VERSION,
    Package,
    Problem,
    ProcessRuntime,
    Skill,
    Tool,
    WasiRuntime,
    Workflow,
)
from .reading import Reader, join, parse, shown

MAX_TIMEOUT_MS = 300_000

_KEYS = (
    "apiVersion",
    "id",
    "description",
    "agents",
    "workflows",
    "skills",
    "runtime",
    "tools",
)
_PROCESS_KEYS = ("kind", "command", "args", "capabilities", "timeoutMs")
_TOOL_KEYS = ("description", "parameters", "effect", "replay", "concurrency", "uiIntent")
_WASI_KEYS = (
    "kind",
    "artifact",
    "capabilities",
    "environment",
    "fuel",
    "memoryMiB",
    "timeoutMs",
)
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_CONTRIBUTION = re.compile(r"(?!/)[A-Za-z0-9_.:/-]{1,96}")
_SKILL = re.compile(r"[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_EFFECTS = ("readOnly", "userMediated", "delegating", "sideEffecting")
_REPLAYS = ("never", "safe")
_CONCURRENCIES = ("exclusive", "parallelSafe", "isolatedBackground")
_INTENTS = ("generic", "subagent")
_GRANTS = ("workspace.read", "workspace.write", "network")
_NO_PARAMETERS = {"type": "object", "properties": {}, "additionalProperties": False}

_T = TypeVar("_T")
_Runtime = ProcessRuntime | WasiRuntime


class BadManifest(Exception):
    """A manifest that cannot be used: `problems`, in the order of its keys."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, problems)))


def read_manifest(data: bytes) -> Package:
    """Check a manifest's bytes. Raises BadManifest with all that is wrong."""
    try:
        value = parse(data)
    except ValueError as error:
        raise BadManifest([Problem("", str(error))]) from None
    problems: list[Problem] = []
    top = Reader(problems, value, "", _KEYS)
    if not isinstance(value, dict):
        raise BadManifest(problems)
    package = _read(top)
    if problems:
        raise BadManifest(problems)
    return package


def _read(top: Reader) -> Package:
    version = top.text("apiVersion", required=True)
    if version not in (None, API_VERSION):
        top.say("apiVersion", f"is {shown(version)}; only {API_VERSION} is known")
    id = top.text("id", required=True) or ""
    if id and not _ID.fullmatch(id):
        top.say("id", f"{shown(id)} is not 1 to 64 of a-z, 0-9, '.', '_', '-', not a mark first")
    description = top.text("description", required=True) or ""
    agents = _by_name(top, "agents", "agent", read_agent)
    workflows = _by_name(top, "workflows", "workflow", _workflow)
    skills = _skills(top)
    runtime = _runtime(top)
    tools = _by_name(top, "tools", "tool", _tool_reader(runtime))
    _check_whole(top)
    return Package(
        id=id,
        description=description,
        agents=agents,
        workflows=workflows,
        skills=skills,
        runtime=runtime,
        tools=tools,
    )


def _check_whole(top: Reader) -> None:
    filled = [key for key in _KEYS[3:] if top.value.get(key)]
    if not filled:
        top.say(None, "the package is empty: it needs agents, workflows, skills, or tools")
    elif "tools" in filled and not top.has("runtime"):
        top.say("tools", "need a runtime to run in")
    elif top.has("runtime") and "tools" not in filled:
        top.say("runtime", "has no tools, and would run code only by being started")


def _by_name(top: Reader, key: str, kind: str, read: Callable[[Reader, str], _T]) -> tuple[_T, ...]:
    found: list[_T] = []
    for name, value in top.members(key).items():
        path = join(top.at(key), name)
        if not _CONTRIBUTION.fullmatch(name):
            reason = (
                f"the {kind}'s name is not 1 to 96 of letters, digits and _.:/- without a / first"
            )
            top.problems.append(Problem(path, reason))
        reader = Reader(top.problems, value, path)
        if isinstance(value, dict):
            found.append(read(reader, name))
    return tuple(found)


# --- workflows and skills


def _workflow(reader: Reader, name: str) -> Workflow:
    reader.only(("description", "prompt"))
    return Workflow(
        name=name,
        prompt=reader.text("prompt", required=True) or "",
        description=reader.text("description", filled=False) or "",
    )


def _skills(top: Reader) -> tuple[Skill, ...]:
    found: list[Skill] = []
    for index, value in enumerate(top.array("skills")):
        path = f"{top.at('skills')}[{index}]"
        reader = Reader(top.problems, value, path, ("name", "description", "content"))
        if not isinstance(value, dict):
            continue
        name = reader.text("name", required=True, filled=False)
        if name is not None and not _SKILL.fullmatch(name):
            reader.say("name", f"{shown(name)} is not 1 to 64 of a-z, 0-9 and - between them")
        if name in [skill.name for skill in found]:
            reader.say("name", f"{shown(name)} is the name of an earlier skill")
        found.append(
            Skill(
                name=name or "",
                description=reader.text("description", required=True) or "",
                content=reader.text("content", required=True) or "",
            )
        )
    return tuple(found)


# --- runtime


def _runtime(top: Reader) -> _Runtime | None:
    if not top.has("runtime"):
        return None
    value = top.value["runtime"]
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind == "process":
        return _process(Reader(top.problems, value, "runtime", _PROCESS_KEYS))
    if kind == "wasi":
        return _wasi(Reader(top.problems, value, "runtime", _WASI_KEYS))
    reader = Reader(top.problems, value, "runtime")
    if isinstance(value, dict):
        reader.say("kind", f"is {shown(kind)}, not process or wasi")
    return None


def _process(reader: Reader) -> ProcessRuntime:
    command = reader.text("command", required=True) or ""
    if "\0" in command:
        reader.say("command", "holds a zero byte")
    args = reader.texts("args")
    for index, word in enumerate(args):
        if "\0" in word:
            reader.problems.append(Problem(f"runtime.args[{index}]", "holds a zero byte"))
    capabilities = reader.texts("capabilities")
    if capabilities != ["host.full"]:
        reader.say(
            "capabilities",
            'must be exactly ["host.full"]: a process has all that the person has',
        )
    return ProcessRuntime(command=command, args=tuple(args), timeout=_timeout(reader))


def _timeout(reader: Reader) -> float:
    if reader.has("timeoutMs") and reader.value["timeoutMs"] is None:
        reader.say("timeoutMs", "is null, not a whole number")
    return (reader.whole("timeoutMs", 1, MAX_TIMEOUT_MS) or 30_000) / 1000


def _wasi(reader: Reader) -> WasiRuntime:
    artifact = reader.text("artifact", required=True) or ""
    if artifact.startswith("/") or ".." in re.split(r"[/\\]", artifact):
        reader.say("artifact", "must be a path inside the package")
    capabilities = reader.texts("capabilities")
    for grant in dict.fromkeys(capabilities):
        if grant not in _GRANTS:
            reader.say("capabilities", f"{shown(grant)} is not one of {', '.join(_GRANTS)}")
    _check_repeats(reader, "capabilities", capabilities)
    environment = reader.texts("environment")
    for name in environment:
        if not _VARIABLE.fullmatch(name):
            reader.say("environment", f"{shown(name)} is not the name of a variable")
    _check_repeats(reader, "environment", environment)
    return WasiRuntime(
        artifact=artifact,
        capabilities=tuple(capabilities),
        environment=tuple(environment),
        fuel=reader.whole("fuel", 10_000, 1_000_000_000) or 10_000_000,
        memory_mib=reader.whole("memoryMiB", 8, 1024) or 64,
        timeout=_timeout(reader),
    )


def _check_repeats(reader: Reader, key: str, values: list[str]) -> None:
    for value in dict.fromkeys(values):
        if values.count(value) > 1:
            reader.say(key, f"{shown(value)} is repeated")


# --- tools


def _tool_reader(runtime: _Runtime | None) -> Callable[[Reader, str], Tool]:
    def read(reader: Reader, name: str) -> Tool:
        reader.only(_TOOL_KEYS)
        tool = Tool(
            name=name,
            description=reader.text("description", required=True) or "",
            parameters=_parameters(reader),
            effect=reader.choice("effect", _EFFECTS) or "sideEffecting",
            replay=reader.choice("replay", _REPLAYS) or "never",
            concurrency=reader.choice("concurrency", _CONCURRENCIES) or "exclusive",
            ui_intent=reader.choice("uiIntent", _INTENTS) or "generic",
        )
        for key in ("effect", "replay", "concurrency", "uiIntent"):
            if reader.has(key) and reader.value[key] is None:
                reader.say(key, "is null, not a string")
        _check_policy(reader, tool, runtime)
        return tool

    return read


def _check_policy(reader: Reader, tool: Tool, runtime: _Runtime | None) -> None:
    if tool.effect in ("userMediated", "delegating"):
        reader.say("effect", f"{tool.effect} is not for tools of a package")
    if tool.effect == "readOnly" and isinstance(runtime, ProcessRuntime):
        reader.say("effect", "a process can do anything, so its tools are sideEffecting")
    if tool.effect == "readOnly" and isinstance(runtime, WasiRuntime):
        for grant in ("network", "workspace.write"):
            if grant in runtime.capabilities:
                reader.say("effect", f"a tool with the capability {grant} is not readOnly")
    if tool.replay == "safe" and tool.effect != "readOnly":
        reader.say("replay", "safe is only for tools that are readOnly")
    if tool.concurrency != "exclusive":
        reader.say("concurrency", "only exclusive is possible: one call at a time")


def _parameters(reader: Reader) -> Mapping[str, Any]:
    if not reader.has("parameters"):
        return _NO_PARAMETERS
    inner = Reader(reader.problems, reader.value["parameters"], reader.at("parameters"))
    schema = inner.value
    if not isinstance(reader.value["parameters"], dict):
        return _NO_PARAMETERS
    if schema.get("type", "object") != "object":
        inner.say("type", f"is {shown(schema['type'])}, but arguments are an object")
        return _NO_PARAMETERS
    try:
        compile_schema(schema)
    except BadSchema as error:
        path = f"{inner.path}.{error.path}" if error.path else inner.path
        reader.problems.append(Problem(path, f"is not a JSON Schema: {error.reason}"))
    return schema
