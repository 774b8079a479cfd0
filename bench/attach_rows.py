"""Commands that attach to a running host: the whole process of the command, not the host's."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from collections.abc import Iterator

from .harness import Row
from .programs import run_to_end
from .startup_rows import whole_processes
from .workspace import Workspace

_NAME = "bench-attach"
_EVENT = {"sessionId": "s", "toolName": "bash", "toolArgs": '{"command": "make"}'}
_FLOOR = "import json, socket"


async def measure(workspace: Workspace, quick: bool) -> list[Row]:
    """`hook invoke` and `run` by a host with one SDK plugin, against what they cannot do without."""
    script = workspace.console_script("tinyhost", "tinyhost_cli.entry", "main")
    hook = [script, "hook", "invoke", "permission.ask", "--input", json.dumps(_EVENT)]
    rows = []
    with _serving(workspace, script):
        if _NAME.encode() not in run_to_end(workspace, hook):
            raise RuntimeError("the running host's plugin did not answer")
        for name, what, command, goal in (
            ("attach.hook", "tinyhost hook invoke, by a running host", hook, 2.0),
            (
                "attach.run",
                "tinyhost run -- true, the same",
                [script, "run", "--", "/bin/true"],
                None,
            ),
        ):
            floor = workspace.python("-c", _FLOOR)
            own_times, floor_times = await whole_processes(workspace, quick, command, floor, b"")
            rows.append(
                Row(
                    name=name,
                    what=what,
                    against=f'python -c "{_FLOOR}"',
                    goal=goal,
                    seconds=own_times,
                    floor_seconds=floor_times,
                )
            )
    return rows


@contextlib.contextmanager
def _serving(workspace: Workspace, script: str) -> Iterator[None]:
    """A host with one plugin, ready; neither it nor its configuration is there afterwards."""
    folder = workspace.root / "home" / ".config" / "tinyhost"
    (folder / "plugins").mkdir(parents=True)
    plugin = workspace.console_script(_NAME, "bench_children.sdk_plugin", "main")
    shutil.move(plugin, folder / "plugins" / _NAME)
    env = {"PYTHONPATH": workspace.environment["PYTHONPATH"]}
    config = {"plugins": [_NAME], "settings": {_NAME: {"env": env}}}
    (folder / "config.json").write_text(json.dumps(config))
    process = subprocess.Popen(
        [script, "serve"],
        env=workspace.environment,
        cwd=workspace.root,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if '"control: ' in line:
                break
        else:
            raise RuntimeError(f"the host did not come up:\n{''.join(said)}")
        yield
    finally:
        process.terminate()
        process.communicate()
        shutil.rmtree(folder)
