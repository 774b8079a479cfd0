"""Plugins that are wanted and were not there, where that matters.

A guard has allowed nothing by its silence, and a plugin that was to look through an output has
taken nothing out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import attrs

from tinyhost_sdk import names

from .dispatch import AfterResult
from .errors import LoadError, PluginAlreadyLoaded, PluginSkipped, TinyhostError, cut
from .known_guards import KnownGuards
from .manager import Loaded
from .model import PluginSettings
from .permissions import FailedGuard

_TEXT = 500  # characters of an error
_WITHHOLD = "withhold"


class Missed:
    """settings_for: the settings of a plugin, as they are now."""

    def __init__(self, guards: KnownGuards, settings_for: Callable[[str], PluginSettings]) -> None:
        self._known, self._settings_for = guards, settings_for
        self._errors: dict[str, TinyhostError] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._errors

    def note(self, result: Loaded) -> None:
        """A plugin was loaded, or was not."""
        name = result.spec.name
        if isinstance(result.error, PluginAlreadyLoaded | PluginSkipped):
            return  # it is there, or somebody else is loading it and will say what came of it
        self._errors.pop(name, None)
        if result.plugin is not None:
            self._known.remember(name, result.plugin.handles(names.PERMISSION_ASK))
        elif result.error is not None and self._matters(name):
            self._errors[name] = result.error

    def expect(self, name: str) -> None:
        """A plugin is away for a moment."""
        if self._matters(name):
            self._errors[name] = LoadError(name, "restart", "it is being started anew")

    def dismiss(self, name: str) -> None:
        """A plugin is not wanted any more."""
        self._errors.pop(name, None)

    def guards(self) -> Iterable[FailedGuard]:
        """The guards among them."""
        for name, error in self._errors.items():
            if name in self._known:
                policy = self._settings_for(name).on_guard_failure
                reason = f"it could not be loaded: {cut(str(error), _TEXT)}"
                yield FailedGuard(name, policy, reason)

    def now(self) -> Mapping[str, TinyhostError]:
        """Those that are missed at this moment, each with what became of it."""
        return dict(self._errors)

    def withhold(self, result: AfterResult, missed: Mapping[str, TinyhostError]) -> AfterResult:
        """What tool.execute.after came to, with a text in place of the output where one has to be.

        So it is when a plugin failed to look at it, or was missed, whose onOutputFailure says so.
        missed: as it was when the others began to look.
        """
        failed = {answer.plugin: answer.error for answer in result.failures}
        reasons = [
            f"plugin {name} was to look through it and failed: {cut(str(error), _TEXT)}"
            for name, error in {**missed, **failed}.items()
            if self._settings_for(name).on_output_failure == _WITHHOLD
        ]
        if not reasons:
            return result
        text = (
            f"[The output is withheld: {'; '.join(reasons)}. The tool has run all the same: do not"
            " run it again to see its output. The setting onOutputFailure decides on this.]"
        )
        return attrs.evolve(result, text=text, is_error=True, changed=True)

    def _matters(self, name: str) -> bool:
        policy = self._settings_for(name).on_output_failure
        return name in self._known or policy == _WITHHOLD
