"""What a person gets who installs the wheel, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None, status: int = 0) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    source = out / "source"
    run("git", "clone", "-q", ROOT, source, cwd=out)
    changed = run("git", "ls-files", "-mo", "--exclude-standard", "-z", cwd=ROOT)
    for name in filter(None, changed.split("\0")):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            target.write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "build", "--wheel", "--outdir", out, source, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with the wheel; gives its bin folder."""
    venv = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", venv, cwd=venv)
    run(venv / "bin" / "pip", "install", "-q", wheel, cwd=venv)
    return venv / "bin"


def clean_env(folder: Path) -> dict[str, str]:
    """No virtual environment is active, and the person has no configuration."""
    return {
        "PATH": os.defpath,
        "HOME": str(folder),
        "TINYHOST_CONFIG_DIR": str(folder / "config"),
        "TINYHOST_STATE_DIR": str(folder / "state"),
    }


def test_the_wheel_holds_the_packages_and_their_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "tinyhost",
        "tinyhost_cli",
        "tinyhost_plugins",
        "tinyhost_registry",
        "tinyhost_sdk",
    }
    assert "tinyhost/data/config.schema.json" in names
    assert "tinyhost/py.typed" in names
    assert "tinyhost_cli/templates/sh/plugin.tmpl" in names
    assert sum(name.startswith("tinyhost_registry/") for name in names) == 31


def test_a_real_plugin_loads_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    env = clean_env(tmp_path)
    said = run(installed / "tinyhost", "plugin", "load", "safety-net", cwd=empty, env=env)
    assert "safety-net" in said
    assert "permission.ask" in said
    asked = {"toolName": "bash", "toolArgs": json.dumps({"command": "rm -rf /"})}
    said = run(
        *(installed / "tinyhost", "hook", "invoke", "permission.ask", "--plugin", "safety-net"),
        *("--json", "--input", json.dumps(asked)),
        cwd=empty,
        env=env,
        status=1,
    )
    answer = json.loads(said)
    assert answer["output"]["allowed"] is False
    assert answer["plugins"][0]["name"] == "safety-net"
    assert list(empty.iterdir()) == []


def test_the_sdk_needs_none_of_the_hosts_libraries(installed: Path, tmp_path: Path) -> None:
    code = (
        "import sys, tinyhost_sdk;"
        "found = {'trio', 'attrs', 'attr', 'cattrs', 'click', 'msgspec', 'json'} & set(sys.modules);"
        "sys.exit(str(found) if found else 0)"
    )
    run(installed / "python", "-c", code, cwd=tmp_path, env=clean_env(tmp_path))
