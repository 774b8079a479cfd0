"""A temporary folder with all that the measured programs need, laid out as if installed."""

from __future__ import annotations

import compileall
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

from tinyhost.environment import child_environment
from tinyhost.manager import Manager
from tinyhost.manager_scope import open_manager
from tinyhost.model import PluginSettings, PluginSpec

ROOT = Path(__file__).resolve().parent.parent
# Import package -> where it is in the repository, as setup.cfg has it.
_PACKAGES = {
    "tinyhost": "tinyhost",
    "tinyhost_sdk": "sdk/tinyhost_sdk",
    "tinyhost_cli": "cmd/tinyhost_cli",
    "tinyhost_plugins": "cmd/tinyhost_plugins",
    "bench_children": "bench/children",
}
# What pip writes for an entry point.
_CONSOLE_SCRIPT = """\
#!{python}
import sys
from {module} import {function}
if __name__ == '__main__':
    sys.argv[0] = sys.argv[0].removesuffix('.exe')
    sys.exit({function}())
"""


class Workspace:
    """Used with `with`; the folder is removed at the end.

    environment: what children start with, the floors' as the plugins'.
    stderr: path of a file for the standard error of children that no host reads.
    """

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="tinyhost-bench-")
        self.root = Path(self._temporary.name).resolve()
        self.stderr = self.root / "stderr"
        self._code = self.root / "site-packages"
        self._plugins = self.root / "config" / "plugins"

    def __enter__(self) -> Self:
        self._plugins.mkdir(parents=True)
        (self.root / "home").mkdir()
        (self.root / "state").mkdir()
        for package, source in _PACKAGES.items():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / source, self._code / package, ignore=ignore)
        compileall.compile_dir(self._code, quiet=2)
        self._settings = PluginSettings(env={"PYTHONPATH": str(self._code)})
        self.environment = child_environment(self._settings, self._host_environment())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._temporary.cleanup()

    def _host_environment(self) -> dict[str, str]:
        # The person's own configuration and PYTHON* settings must not change the results.
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "TINYHOST_", "XDG_"))
        }
        return kept | {
            "HOME": str(self.root / "home"),
            "TINYHOST_CONFIG_DIR": str(self.root / "config"),
            "TINYHOST_STATE_DIR": str(self.root / "state"),
        }

    def console_script(self, name: str, module: str, function: str) -> str:
        """Write the program of an entry point and return its path."""
        return _write_script(self.root / name, module, function)

    def add_plugin(self, name: str, module: str, function: str) -> str:
        """Put an entry point's program into the plugin folder and return its path."""
        return _write_script(self._plugins / name, module, function)

    def add_program(self, name: str, program: Path) -> str:
        """Put a copy of a compiled program into the plugin folder and return its path."""
        return str(shutil.copy2(program, self._plugins / name))

    def spec(self, name: str) -> PluginSpec:
        """What to load a plugin by."""
        return PluginSpec(name, settings=self._settings)

    def open_manager(self) -> AbstractAsyncContextManager[Manager]:
        """A manager that knows the workspace's plugins."""
        return open_manager(directory=self.root, environ=self._host_environment())

    def python(self, *arguments: str) -> Sequence[str]:
        """A command that runs this interpreter."""
        return [sys.executable, *arguments]


def _write_script(path: Path, module: str, function: str) -> str:
    text = _CONSOLE_SCRIPT.format(python=sys.executable, module=module, function=function)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)
