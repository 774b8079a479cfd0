"""Before each start of a plugin: whether its files are those that the person agreed to."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import trio

from . import pins, remote, trust
from .bingo.discovery import PROJECT_BINGO
from .config import Config
from .errors import ConfigError, LoadError
from .extension_folders import PROJECT, PROJECT_ZUNO
from .model import Resolved
from .resolve import PROJECT_FOLDER

# Where the trust in a project covers what is found.
_TRUSTED = (PROJECT_FOLDER, PROJECT)


@attrs.frozen
class Integrity:
    """Of one plugin that was found. A project's programs count as pinned by the trust in it."""

    name: str
    found: Resolved
    config: Config

    async def check(self) -> None:
        """Raise LoadError, stage "resolve", when the plugin must not be started as it is."""
        project = self.config.project
        if project is not None and self.found.source in _TRUSTED:
            await trio.to_thread.run_sync(trust.check_unchanged, self.name, project)
        if self.found.source in (PROJECT_ZUNO, PROJECT_BINGO) and not self._is_hashed():
            reason = (
                f"the trust in a project does not cover {self.found.path}; look at it, and if you"
                f" trust it: tinyhost plugin pin {self.name}"
            )
            raise LoadError(self.name, "resolve", reason)
        if self._has_pins():
            file = self.config.file
            if self.found.source == remote.SOURCE:
                await trio.to_thread.run_sync(pins.refuse_pin, file, self.name)
                return
            await trio.to_thread.run_sync(pins.check_pin, file, self.name, self.found)

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """The variables of the plugin; one that is hashed with its folder must not change it."""
        if not self.found.folder or not self._is_hashed():
            return env
        return {"PYTHONDONTWRITEBYTECODE": "1", **env}

    def _is_hashed(self) -> bool:
        if self.found.source in _TRUSTED:
            return True
        try:
            return self._has_pins() and self.name in pins.read_pins(self.config.file)
        except ConfigError:
            return False  # the check says what is wrong with the file

    def _has_pins(self) -> bool:
        return bool(self.config.file) and pins.lock_file(self.config.file).exists()
