"""Whole packages: an example in three languages, the guarded path, what cannot be started."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tinyhost
from tinyhost import CallDenied, LoadError, RemoteError
from tinyhost.builtins.base import BuiltinPlugin
from tinyhost.config import parse_config
from tinyhost.hooks import ToolExecuteAfter, ToolExecuteAfterOutput
from tinyhost.layers import load_layers
from tinyhost.opening import open_host
from tinyhost.permissions import Origin
from tinyhost.zuno.package import Package
from tinyhost.zuno.tools import tool_specs

AddPackage = Callable[..., Path]

# A package as its author might write it, in three languages. Each outlines a review.
PYTHON = """\
import json
import sys


def outline(params):
    if params.get("tool") != "review_outline":
        raise ValueError(f"unknown tool: {params.get('tool')}")
    subject = params.get("arguments", {}).get("subject")
    if not isinstance(subject, str) or not subject.strip():
        raise ValueError("subject must be a string that is not blank")
    text = f"# Review: {subject.strip()}\\n\\n- Goal\\n- Risks \\u2013 and tests\\n"
    return {"title": "Review outline", "output": text, "metadata": {"example": True}}


def handle(request):
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        if params.get("protocolVersion") != "zuno.plugin/1":
            raise ValueError("unsupported protocol version")
        return {"protocolVersion": "zuno.plugin/1"}
    if method == "tools/call":
        return outline(params)
    if method == "shutdown":
        return {}
    raise ValueError(f"unknown method: {method}")


for line in sys.stdin:
    request = {}
    try:
        request = json.loads(line)
        message = {"jsonrpc": "2.0", "id": request["id"], "result": handle(request)}
    except Exception as error:
        failure = {"code": -32000, "message": str(error)}
        message = {"jsonrpc": "2.0", "id": request.get("id"), "error": failure}
    print(json.dumps(message, ensure_ascii=False), flush=True)
    if request.get("method") == "shutdown":
        break
"""

NODE = """\
import readline from "node:readline"

const send = (message) => process.stdout.write(JSON.stringify(message) + "\\n")
const lines = readline.createInterface({ input: process.stdin, crlfDelay: Infinity })

for await (const line of lines) {
  const { id, method, params } = JSON.parse(line)
  const done = (result) => send({ jsonrpc: "2.0", id, result })
  if (method === "initialize") done({ protocolVersion: "zuno.plugin/1" })
  else if (method === "tools/call") {
    const subject = (params.arguments.subject ?? "").trim()
    const error = { code: -32000, message: "subject must be a string that is not blank" }
    if (!subject) send({ jsonrpc: "2.0", id, error })
    else {
      const output = `# Review: ${subject}\\n\\n- Goal\\n- Risks \\u2013 and tests\\n`
      done({ title: "Review outline", output, metadata: { example: true } })
    }
  } else if (method === "shutdown") {
    done({})
    break
  }
}
"""

SHELL = r"""#!/bin/sh
# Takes just enough of JSON apart for one string argument.
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"zuno.plugin/1"}}\n' "$id" ;;
    *'"method":"tools/call"'*)
      subject=$(printf '%s' "$line" | sed -n 's/.*"subject":" *\([^"]*[^" ]\) *".*/\1/p')
      if [ -z "$subject" ]; then
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"subject must be a string that is not blank"}}\n' "$id"
      else
        printf '{"jsonrpc":"2.0","id":%s,"result":{"title":"Review outline","output":"# Review: %s\\n\\n- Goal\\n- Risks \\u2013 and tests\\n","metadata":{"example":true}}}\n' "$id" "$subject"
      fi ;;
    *'"method":"shutdown"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id"; exit 0 ;;
  esac
done
"""

EXAMPLES = {
    "python": ("plugin.py", PYTHON, "python3", ["plugin.py"]),
    "node": ("plugin.mjs", NODE, "node", ["plugin.mjs"]),
    "shell": ("bin/review", SHELL, "bin/review", []),
}
TOOL = {
    "description": "Outline a review.",
    "parameters": {
        "type": "object",
        "properties": {"subject": {"type": "string"}},
        "required": ["subject"],
        "additionalProperties": False,
    },
    "effect": "sideEffecting",
    "replay": "never",
    "concurrency": "exclusive",
    "uiIntent": "generic",
}


def write_example(folder: Path, language: str) -> None:
    file, text, command, args = EXAMPLES[language]
    manifest = {
        "apiVersion": "zuno.extension/v1",
        "id": folder.name,
        "description": "Outlines reviews.",
        "runtime": {
            "kind": "process",
            "command": command,
            "args": args,
            "capabilities": ["host.full"],
            "timeoutMs": 30000,
        },
        "tools": {"review_outline": TOOL},
    }
    (folder / file).parent.mkdir(parents=True)
    (folder / file).write_text(text)
    (folder / file).chmod(0o755)
    (folder / "extension.json").write_text(json.dumps(manifest))


def runtime(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "process",
        "command": sys.executable,
        "args": ["plugin.py"],
        "capabilities": ["host.full"],
        **changes,
    }


@pytest.mark.parametrize("language", EXAMPLES)
async def test_an_example_runs_as_it_is(home: Path, language: str) -> None:
    write_example(home / "config" / "extensions" / "process-review", language)
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("process-review")
        [tool] = plugin.info.tools
        assert tool.id == "plugin__process-review__review_outline"
        assert tool.description == "Outline a review."
        assert tool.input_schema == TOOL["parameters"]
        result = await manager.call_tool("process-review", "review_outline", {"subject": " x 1 "})
        assert result.content == "# Review: x 1\n\n- Goal\n- Risks \u2013 and tests\n"
        assert result.details == {"title": "Review outline", "metadata": {"example": True}}
        with pytest.raises(RemoteError, match="subject must be"):
            await manager.call_tool("process-review", "review_outline", {"subject": " "})
        result = await manager.call_tool("process-review", "review_outline", {"subject": "again"})
        assert result.content.startswith("# Review: again")


# --- the guarded path


class After(BuiltinPlugin):
    """Sees outputs, and changes them if it is told to."""

    name = "after"

    def __init__(self, output: str | None = None) -> None:
        super().__init__()
        self.output = output
        self.seen: list[str] = []

    async def tool_execute_after(self, event: ToolExecuteAfter) -> ToolExecuteAfterOutput | None:
        self.seen.append(event.output)
        return ToolExecuteAfterOutput(output=self.output) if self.output else None


async def test_a_call_goes_the_guarded_way_and_keeps_its_details(
    add_package: AddPackage,
) -> None:
    add_package("p", "start()\nserve(lambda params: answer('out', metadata={'a': 1}))")
    after = After()
    async with open_host(origin=Origin.PERSON) as host:
        host.register(after)
        await host.load_all(["p"])
        outcome = await host.call("plugin__p__t", {})
        assert (outcome.content, outcome.is_error) == ("out", False)
        assert outcome.details == {"title": "t", "metadata": {"a": 1}}
        assert after.seen == ["out"]


async def test_details_are_dropped_where_a_plugin_changed_the_content(
    add_package: AddPackage,
) -> None:
    add_package("p", "start()\nserve(lambda params: answer('secret', metadata={'a': 'secret'}))")
    async with open_host(origin=Origin.PERSON) as host:
        host.register(After("cleaned"))
        await host.load_all(["p"])
        outcome = await host.call("plugin__p__t", {})
        assert (outcome.content, outcome.details) == ("cleaned", {})


async def test_rules_hold_for_tools_of_packages(add_package: AddPackage, home: Path) -> None:
    add_package("p", "start()\nserve()")
    rules = {"deny": ["plugin__p__t"]}
    config = parse_config(json.dumps({"permissions": rules}), str(home / "config" / "c.json"))
    assert not config.problems
    async with open_host(config, origin=Origin.PERSON) as host:
        await host.load_all(["p"])
        with pytest.raises(CallDenied):
            await host.call("plugin__p__t", {})


async def test_a_lost_answer_is_uncertain_through_the_host_too(add_package: AddPackage) -> None:
    add_package("p", "start()\nrecv()\nos._exit(1)")
    after = After()
    async with open_host(origin=Origin.PERSON) as host:
        host.register(after)
        await host.load_all(["p"])
        with pytest.raises(tinyhost.OutcomeUncertain):
            await host.call("plugin__p__t", {})
        assert "not known" in after.seen[0]


async def test_packages_without_code_are_there_for_the_program(
    add_package: AddPackage,
) -> None:
    add_package(
        "review-kit",
        runtime=None,
        tools=None,
        agents={"release-reviewer": {"mode": "subagent", "permission": {"rules": {"*": "deny"}}}},
        workflows={"release-review": {"prompt": "Review $ARGUMENTS"}},
        skills=[{"name": "release-safety", "description": "Safe.", "content": "# Safety"}],
    )
    add_package("broken", description="")
    async with open_host() as host:
        broken, kit = host.packages()
        assert not broken.usable
        assert isinstance(kit.package, Package)
        assert kit.package.agents[0].permission_rules == {"*": "deny"}
        assert kit.package.workflows[0].prompt == "Review $ARGUMENTS"
        assert kit.package.skills[0].content == "# Safety"
        with pytest.raises(LoadError, match=r"nothing to start.*tinyhost plugin info review-kit"):
            await host.manager.load("review-kit")


# --- how it is started


async def test_a_component_is_refused_with_a_reason(add_package: AddPackage) -> None:
    add_package("p", runtime={"kind": "wasi", "artifact": "plugin.wasm"})
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match="WebAssembly component"):
            await manager.load("p")


async def test_a_program_of_the_package_comes_before_one_on_path(
    add_package: AddPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = add_package("p", runtime=runtime(command="mine", args=[]))
    for place in (folder, tmp_path):
        program = place / "mine"
        words = (folder / "plugin.py").read_text().removesuffix("serve()")
        body = f"serve(lambda params: answer({str(place)!r}))"
        program.write_text(f"#!{sys.executable}\n{words}{body}")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for place in (folder, tmp_path):
        async with tinyhost.open_manager() as manager:
            await manager.load("p")
            assert (await manager.call_tool("p", "t")).content == str(place)
        (folder / "mine").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("no-such-program", "neither in .* nor on PATH"),
        ("./no-such-program", "does not exist"),
        ("/no/such/program", "does not exist"),
        ("./plugin.py", "may not be executed"),
    ],
)
async def test_a_missing_program_is_told(add_package: AddPackage, command: str, says: str) -> None:
    add_package("p", runtime=runtime(command=command))
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match=says):
            await manager.load("p")


async def test_a_program_that_others_can_write_is_refused(add_package: AddPackage) -> None:
    folder = add_package("p")
    (folder / "plugin.py").chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IWOTH)
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match=r"plugin\.py can be written by everybody"):
            await manager.load("p")


async def test_a_trusted_projects_package_runs_until_it_changes(
    project: Any, make_package: AddPackage, home: Path
) -> None:
    project.configure({"plugins": ["p"]})
    folder = make_package(project.folder / "extensions" / "p")
    async with tinyhost.open_manager(load_layers(project.root)) as manager:
        with pytest.raises(tinyhost.PluginNotFound):
            await manager.load("p")
    project.trust()
    async with tinyhost.open_manager(load_layers(project.root)) as manager:
        await manager.load("p")
        assert (await manager.call_tool("p", "t")).content == "done"
        assert [found.folder for found in manager.packages()] == [os.path.realpath(folder)]
        await manager.unload("p")
        (folder / "plugin.py").write_text("changed")
        with pytest.raises(LoadError, match="has changed since you trusted it"):
            await manager.load("p")


async def test_a_projects_zuno_folder_needs_a_pin_as_no_trust_covers_it(
    project: Any, make_package: AddPackage, home: Path
) -> None:
    from tinyhost.pins import pin_plugin
    from tinyhost.resolve import Resolver

    (home / "config" / "config.json").write_text('{"compat": ["zuno"]}')
    project.configure({"plugins": ["p"]})
    folder = make_package(project.root / ".zuno" / "extensions" / "p")
    project.trust()
    config = load_layers(project.root)
    async with tinyhost.open_manager(config) as manager:
        with pytest.raises(LoadError, match="tinyhost plugin pin p"):
            await manager.load("p")
        finder = Resolver(home / "config", "", scripts="", compat=("zuno",), project=config.project)
        pin_plugin(config.file, "p", finder.resolve("p"))
        await manager.load("p")
        await manager.unload("p")
        (folder / "plugin.py").write_text("changed")
        with pytest.raises(LoadError, match="has changed since it was pinned"):
            await manager.load("p")


# --- ids of tools


def test_ids_are_what_models_accept_and_differ() -> None:
    from tinyhost.zuno.manifest import read_manifest

    names = ["a.b", "a_b", "a/b", "a:b", "..", "-x", "x" * 96, "x" * 95 + "y"]
    value = {
        "apiVersion": "zuno.extension/v1",
        "id": "my.tools",
        "description": "x",
        "runtime": runtime(),
        "tools": {name: {"description": "\x1b[1mx"} for name in names},
    }
    specs = tool_specs(read_manifest(json.dumps(value).encode()))
    assert [spec.name for spec in specs] == names
    ids = [spec.id for spec in specs]
    assert len(set(ids)) == len(ids)
    assert ids[1] == "plugin__my_tools__a_b"
    assert all(len(id) <= 64 and id.replace("-", "_").isidentifier() for id in ids)
    assert specs[0].description == "x"
