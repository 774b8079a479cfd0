"""extension.json: what is taken, and what is refused with its place and a reason."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.zuno.manifest import BadManifest, read_manifest
from tinyhost.zuno.package import Package, ProcessRuntime, WasiRuntime

GONE = object()

PROCESS: dict[str, Any] = {
    "apiVersion": "zuno.extension/v1",
    "id": "remote-search",
    "description": "Searches.",
    "runtime": {
        "kind": "process",
        "command": "bun",
        "args": ["plugin.mjs"],
        "capabilities": ["host.full"],
        "timeoutMs": 75000,
    },
    "tools": {
        "remote_search": {
            "description": "Search.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string", "format": "uri"}},
                "required": ["query"],
                "additionalProperties": False,
            },
            "effect": "sideEffecting",
            "replay": "never",
            "concurrency": "exclusive",
            "uiIntent": "generic",
        }
    },
    "agents": {
        "reviewer": {
            "description": "Reviews.",
            "mode": "subagent",
            "model": "example/large",
            "reasoning": "high",
            "temperature": 0.5,
            "top_p": 1,
            "prompt": "Review.",
            "hidden": False,
            "disable": False,
            "color": "#A0b1c2",
            "steps": 3,
            "tools": ["read", "glob"],
            "delegates": ["other"],
            "requiredSkills": ["safety"],
            "options": {"effort": 1},
            "someProviderKey": True,
            "permission": {
                "mode": "standard",
                "rules": {"*": "deny", "read": "allow", "shell": {"*": "ask", "rm *": "deny"}},
            },
        }
    },
    "workflows": {"review": {"description": "Review it", "prompt": "Review $ARGUMENTS"}},
    "skills": [{"name": "safety", "description": "Safe.", "content": "# Safety"}],
}
WASI: dict[str, Any] = {
    "apiVersion": "zuno.extension/v1",
    "id": "words",
    "description": "Counts words.",
    "runtime": {
        "kind": "wasi",
        "artifact": "./bin/plugin.wasm",
        "capabilities": ["workspace.read"],
        "environment": ["LANG"],
        "memoryMiB": 96,
    },
    "tools": {"word_count": {"description": "Count.", "effect": "readOnly", "replay": "safe"}},
}


def read(value: Any) -> Package:
    return read_manifest(json.dumps(value).encode())


def problems(value: Any) -> list[tuple[str, str]]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(BadManifest) as caught:
        read_manifest(data)
    return [(problem.path, problem.reason) for problem in caught.value.problems]


def changed(base: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one member set, or taken out; steps of the path are parted by spaces."""
    result = copy.deepcopy(base)
    *steps, last = path.split(" ")
    inner: Any = result
    for step in steps:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    if value is GONE:
        del inner[last]
    else:
        inner[last] = value
    return result


def test_everything_that_a_process_package_may_say_is_read() -> None:
    package = read(PROCESS)
    assert (package.id, package.kind) == ("remote-search", "process")
    assert package.runtime == ProcessRuntime(command="bun", args=("plugin.mjs",), timeout=75.0)
    [tool] = package.tools
    assert tool.parameters == PROCESS["tools"]["remote_search"]["parameters"]
    [agent] = package.agents
    assert agent.options == {"someProviderKey": True, "effort": 1}
    assert list(agent.permission_rules.items()) == [
        ("*", "deny"),
        ("read", "allow"),
        ("shell", {"*": "ask", "rm *": "deny"}),
    ]
    assert (agent.tools, agent.required_skills) == (("read", "glob"), ("safety",))
    assert (agent.steps, agent.color, agent.temperature) == (3, "#A0b1c2", 0.5)
    assert package.workflows[0].prompt == "Review $ARGUMENTS"
    assert package.skills[0].content == "# Safety"
    assert package.contributions() == [
        ("agent", "reviewer"),
        ("workflow", "review"),
        ("skill", "safety"),
        ("tool", "remote_search"),
    ]


def test_a_wasi_package_is_read() -> None:
    package = read(WASI)
    assert package.runtime == WasiRuntime(
        artifact="./bin/plugin.wasm",
        capabilities=("workspace.read",),
        environment=("LANG",),
        memory_mib=96,
    )


def test_what_is_left_out_has_its_default() -> None:
    value = changed(PROCESS, "tools", {"t": {"description": "x"}})
    value = changed(changed(value, "runtime timeoutMs", GONE), "runtime args", GONE)
    package = read(value)
    assert package.runtime == ProcessRuntime(command="bun", args=(), timeout=30.0)
    [tool] = package.tools
    assert tool.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert (tool.effect, tool.replay, tool.concurrency) == ("sideEffecting", "never", "exclusive")


@pytest.mark.parametrize("id", ["a", "0", "a.b_c-d", "a..b", "a-", "a" * 64])
def test_odd_but_allowed_ids_are_taken(id: str) -> None:
    assert read({**PROCESS, "id": id}).id == id


@pytest.mark.parametrize("name", ["..", "a//b", "x/", "-x", ":a", "A.b_c:d/e-f", "x" * 96])
def test_odd_but_allowed_names_are_taken(name: str) -> None:
    package = read(changed(PROCESS, "tools", {name: {"description": "x"}}))
    assert [tool.name for tool in package.tools] == [name]


@pytest.mark.parametrize("kind", ["agents", "workflows", "skills"])
def test_a_package_without_code_needs_only_one_thing(kind: str) -> None:
    value = {key: PROCESS[key] for key in ("apiVersion", "id", "description", kind)}
    assert read(value).kind == "declarative"


# base, path, value, path of the problem, reason
P, W = PROCESS, WASI
REFUSED: list[tuple[dict[str, Any], str, Any, str, str]] = [
    (P, "extra", 1, "extra", "not a key that is known"),
    (P, "apiVersion", GONE, "apiVersion", "is required"),
    (P, "apiVersion", None, "apiVersion", "null"),
    (P, "apiVersion", 1, "apiVersion", "a number, not a string"),
    (P, "apiVersion", "zuno.extension/v2", "apiVersion", "only zuno.extension/v1 is known"),
    (P, "id", GONE, "id", "is required"),
    (P, "id", "", "id", "blank"),
    (P, "id", "Upper", "id", "a-z"),
    (P, "id", ".hidden", "id", "a-z"),
    (P, "id", "..", "id", "a-z"),
    (P, "id", "a/b", "id", "a-z"),
    (P, "id", "a" * 65, "id", "1 to 64"),
    (P, "id", "a\n", "id", "a-z"),
    (P, "description", GONE, "description", "is required"),
    (P, "description", " \n", "description", "blank"),
    (P, "description", "\ud800", "description", "surrogate"),
    (P, "runtime", GONE, "tools", "need a runtime"),
    (P, "tools", GONE, "runtime", "has no tools"),
    (P, "tools", {}, "runtime", "has no tools"),
    (P, "runtime", None, "runtime", "null, not an object"),
    (P, "runtime kind", "docker", "runtime.kind", "not process or wasi"),
    (P, "runtime kind", GONE, "runtime.kind", "not process or wasi"),
    (P, "runtime command", GONE, "runtime.command", "is required"),
    (P, "runtime command", " ", "runtime.command", "blank"),
    (P, "runtime command", "a\0b", "runtime.command", "zero byte"),
    (P, "runtime args", "x", "runtime.args", "not an array"),
    (P, "runtime args", None, "runtime.args", "null, not an array"),
    (P, "runtime args", ["a", 1], "runtime.args[1]", "not a string"),
    (P, "runtime args", ["a\0"], "runtime.args[0]", "zero byte"),
    (P, "runtime capabilities", GONE, "runtime.capabilities", "host.full"),
    (P, "runtime capabilities", [], "runtime.capabilities", "host.full"),
    (P, "runtime capabilities", ["workspace.read"], "runtime.capabilities", "host.full"),
    (P, "runtime capabilities", ["host.full"] * 2, "runtime.capabilities", "host.full"),
    (P, "runtime timeoutMs", 0, "runtime.timeoutMs", "from 1 to 300000"),
    (P, "runtime timeoutMs", 300001, "runtime.timeoutMs", "from 1 to 300000"),
    (P, "runtime timeoutMs", 1.5, "runtime.timeoutMs", "whole number"),
    (P, "runtime timeoutMs", True, "runtime.timeoutMs", "whole number"),
    (P, "runtime timeoutMs", "30s", "runtime.timeoutMs", "whole number"),
    (P, "runtime timeoutMs", None, "runtime.timeoutMs", "null"),
    (P, "runtime environment", [], "runtime.environment", "not a key"),
    (P, "runtime artifact", "x", "runtime.artifact", "not a key"),
    (P, "runtime fuel", 10000, "runtime.fuel", "not a key"),
    (P, "runtime memoryMiB", 64, "runtime.memoryMiB", "not a key"),
    (W, "runtime artifact", GONE, "runtime.artifact", "is required"),
    (W, "runtime artifact", "/x.wasm", "runtime.artifact", "inside the package"),
    (W, "runtime artifact", "a/../../x", "runtime.artifact", "inside the package"),
    (W, "runtime capabilities", ["host.full"], "runtime.capabilities", "not one of"),
    (W, "runtime capabilities", ["network"] * 2, "runtime.capabilities", "repeated"),
    (W, "runtime environment", ["1A"], "runtime.environment", "name of a variable"),
    (W, "runtime environment", ["A", "A"], "runtime.environment", "repeated"),
    (W, "runtime fuel", 9999, "runtime.fuel", "from 10000"),
    (W, "runtime memoryMiB", 7, "runtime.memoryMiB", "from 8"),
    (W, "runtime memoryMib", 64, "runtime.memoryMib", "not a key"),
    (W, "runtime command", "x", "runtime.command", "not a key"),
    (W, "runtime capabilities", ["network"], "tools.word_count.effect", "network"),
    (W, "runtime capabilities", ["workspace.write"], "tools.word_count.effect", "write"),
    (W, "tools word_count effect", "sideEffecting", "tools.word_count.replay", "readOnly"),
    (P, "tools", [], "tools", "an array, not an object"),
    (P, "tools", {"/x": {"description": "x"}}, 'tools."/x"', "tool's name"),
    (P, "tools", {"": {"description": "x"}}, 'tools.""', "tool's name"),
    (P, "tools", {"a b": {"description": "x"}}, 'tools."a b"', "tool's name"),
    (P, "tools", {"x" * 97: {"description": "x"}}, "tools." + "x" * 97, "tool's name"),
    (P, "tools remote_search", None, "tools.remote_search", "null, not an object"),
    (P, "tools remote_search more", 1, "tools.remote_search.more", "not a key"),
    (P, "tools remote_search description", " ", "tools.remote_search.description", "blank"),
    (P, "tools remote_search parameters", None, "tools.remote_search.parameters", "null"),
    (P, "tools remote_search parameters", [], "tools.remote_search.parameters", "an array"),
    (
        P,
        "tools remote_search parameters type",
        "string",
        "tools.remote_search.parameters.type",
        "arguments are an object",
    ),
    (
        P,
        "tools remote_search parameters properties",
        {"q": {"type": "text"}},
        "tools.remote_search.parameters.properties.q.type",
        "not a JSON Schema",
    ),
    (
        P,
        "tools remote_search parameters properties",
        {"q": {"pattern": "(["}},
        "tools.remote_search.parameters.properties.q.pattern",
        "not a 'regex'",
    ),
    (
        P,
        "tools remote_search parameters properties",
        {"q": {"$ref": "https://example.com/schema"}},
        "tools.remote_search.parameters.properties.q.$ref",
        "nothing is fetched",
    ),
    (
        P,
        "tools remote_search parameters properties",
        {"q": {"$ref": "#/$defs/q"}},
        "tools.remote_search.parameters.properties.q.$ref",
        "leads nowhere",
    ),
    (P, "tools remote_search effect", "readOnly", "tools.remote_search.effect", "anything"),
    (P, "tools remote_search effect", "userMediated", "tools.remote_search.effect", "not for"),
    (P, "tools remote_search effect", "delegating", "tools.remote_search.effect", "not for"),
    (P, "tools remote_search effect", "none", "tools.remote_search.effect", "not one of"),
    (P, "tools remote_search effect", None, "tools.remote_search.effect", "null"),
    (P, "tools remote_search replay", "safe", "tools.remote_search.replay", "readOnly"),
    (
        P,
        "tools remote_search concurrency",
        "parallelSafe",
        "tools.remote_search.concurrency",
        "only exclusive",
    ),
    (P, "tools remote_search uiIntent", "panel", "tools.remote_search.uiIntent", "not one of"),
    (P, "agents", None, "agents", "null, not an object"),
    (P, "agents", {"a b": {}}, 'agents."a b"', "agent's name"),
    (P, "agents reviewer", 1, "agents.reviewer", "a number"),
    (P, "agents reviewer name", "x", "agents.reviewer.name", "cannot rename itself"),
    (P, "agents reviewer disable", True, "agents.reviewer.disable", "cannot be disabled"),
    (P, "agents reviewer maxSteps", 3, "agents.reviewer.maxSteps", "is called steps"),
    (P, "agents reviewer steps", 0, "agents.reviewer.steps", "at least 1"),
    (P, "agents reviewer model", "large", "agents.reviewer.model", "provider/model"),
    (P, "agents reviewer model", GONE, "agents.reviewer.reasoning", "needs a model"),
    (P, "agents reviewer variant", "x", "agents.reviewer.variant", "together"),
    (P, "agents reviewer reasoning", "most", "agents.reviewer.reasoning", "not one of"),
    (P, "agents reviewer mode", "main", "agents.reviewer.mode", "not one of"),
    (P, "agents reviewer hidden", "no", "agents.reviewer.hidden", "true or false"),
    (P, "agents reviewer temperature", "hot", "agents.reviewer.temperature", "not a number"),
    (P, "agents reviewer color", "#12345", "agents.reviewer.color", "#rrggbb"),
    (P, "agents reviewer tools", [], "agents.reviewer.tools", "empty"),
    (P, "agents reviewer tools", ["a", "a"], "agents.reviewer.tools", "repeated"),
    (P, "agents reviewer tools", [" "], "agents.reviewer.tools", "blank"),
    (P, "agents reviewer delegates", "x", "agents.reviewer.delegates", "not an array"),
    (P, "agents reviewer requiredSkills", [1], "agents.reviewer.requiredSkills[0]", "string"),
    (P, "agents reviewer options", [], "agents.reviewer.options", "not an object"),
    (P, "agents reviewer permission more", 1, "agents.reviewer.permission.more", "not a key"),
    (P, "agents reviewer permission mode", "x", "agents.reviewer.permission.mode", "not one"),
    (
        P,
        "agents reviewer permission rules",
        {"read": "maybe"},
        "agents.reviewer.permission.rules.read",
        "not one of ask, allow, deny",
    ),
    (
        P,
        "agents reviewer permission rules",
        {"shell": {"rm *": True}},
        'agents.reviewer.permission.rules.shell."rm *"',
        "not one of",
    ),
    (
        P,
        "agents reviewer permission rules",
        {"webfetch": {"*": "ask"}},
        "agents.reviewer.permission.rules.webfetch",
        "no patterns",
    ),
    (P, "workflows", {"/x": {"prompt": "x"}}, 'workflows."/x"', "workflow's name"),
    (P, "workflows review prompt", " ", "workflows.review.prompt", "blank"),
    (P, "workflows review prompt", GONE, "workflows.review.prompt", "is required"),
    (P, "workflows review agent", "x", "workflows.review.agent", "not a key"),
    (P, "skills", {}, "skills", "an object, not an array"),
    (P, "skills", [1], "skills[0]", "not an object"),
    (P, "skills 0 name", "-x", "skills[0].name", "1 to 64"),
    (P, "skills 0 name", "Safety", "skills[0].name", "1 to 64"),
    (P, "skills 0 name", "x" * 65, "skills[0].name", "1 to 64"),
    (P, "skills 0 description", "", "skills[0].description", "blank"),
    (P, "skills 0 content", " ", "skills[0].content", "blank"),
    (P, "skills 0 more", " ", "skills[0].more", "not a key"),
    (P, "skills", [P["skills"][0]] * 2, "skills[1].name", "earlier skill"),
]


@pytest.mark.parametrize(
    ("base", "path", "value", "where", "reason"),
    REFUSED,
    ids=[
        f"{path}={'gone' if value is GONE else ascii(value)[:40]}" for _, path, value, *_ in REFUSED
    ],
)
def test_it_is_refused_with_its_place_and_a_reason(
    base: dict[str, Any], path: str, value: Any, where: str, reason: str
) -> None:
    found = problems(changed(base, path, value))
    assert [said for place, said in found if place == where and reason in said], found


def test_all_problems_are_told_and_not_only_the_first() -> None:
    value = changed(changed(PROCESS, "id", "X"), "runtime timeoutMs", 0)
    value = changed(value, "skills 0 content", "")
    assert [path for path, _ in problems(value)] == ["id", "skills[0].content", "runtime.timeoutMs"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "line 1"),
        (b"// x\n{}", "not JSON"),
        (b'{"id": NaN}', "NaN"),
        (b'{"id": 1e999}', "too large"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'{"id": "\xff"}', "not UTF-8 at byte 8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "an array, not an object"),
        (b"null", "null, not an object"),
        (b" " * (4 * 1024 * 1024 + 1), "longer than"),
        (b"1" * 5000, ""),
    ],
)
def test_what_is_no_json_object_is_refused(data: bytes, reason: str) -> None:
    [(path, said)] = problems(data)
    assert path == ""
    assert reason in said


def test_a_package_with_nothing_in_it_is_refused() -> None:
    value = {key: PROCESS[key] for key in ("apiVersion", "id", "description")}
    [(_, reason)] = problems(value)
    assert "empty" in reason


def test_keys_that_are_repeated_are_refused_wherever_they_are() -> None:
    text = json.dumps(PROCESS)
    text = text.replace('"id":', '"id": "other", "id":', 1)
    text = text.replace('"remote_search":', '"remote_search": {}, "remote_search":', 1)
    text = text.replace('"prompt": "Review $', '"prompt": "x", "prompt": "Review $', 1)
    found = problems(text.encode())
    assert sorted(path for path, reason in found if reason == "is repeated") == [
        "id",
        "tools.remote_search",
        "workflows.review.prompt",
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    path=st.sampled_from(sorted({path for base, path, *_ in REFUSED if base is P})),
    value=json_values,
)
def test_no_value_anywhere_makes_it_fail_otherwise(path: str, value: Any) -> None:
    with contextlib.suppress(BadManifest):
        read(changed(PROCESS, path, value))


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail_otherwise(data: bytes) -> None:
    with pytest.raises(BadManifest):
        read_manifest(data)
