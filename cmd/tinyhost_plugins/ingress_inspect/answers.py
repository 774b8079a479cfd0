"""From a tool's name and arguments to its answer. Imported with the first call."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tinyhost_sdk import HandlerError, ToolContext

from .._shared.must_gather import MustGather, MustGatherError, open_must_gather
from .._shared.report import Report, named, view_of
from .._shared.texts import line
from . import backends, controllers, health, route_check, settings
from .configs import RouterConfig, read_configs
from .options import Options
from .pace import Pace, TooSlow

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LONGEST_FILTER = 500


class Call:
    """One call of a tool. Its methods are the tools; they raise HandlerError.

    The must-gather is read anew each time, so that an answer is never about former files.
    """

    def __init__(self, options: Options, path: str, limit: int, context: ToolContext) -> None:
        self._options = options
        self._pace = Pace(context, options.max_seconds)
        if not path.strip():
            raise HandlerError("path is empty; give the folder of an unpacked must-gather")
        self._path, self._directory = path, context.directory
        self._view = view_of(limit, options.max_rows)

    def controllers(self) -> str:
        """ingress_controllers."""
        return self._answer(lambda mg: controllers.answer(mg, self._view))

    def backends(self, text: str) -> str:
        """ingress_backends."""
        if len(text) > _LONGEST_FILTER:
            raise HandlerError(f"filter has more than {_LONGEST_FILTER} characters")
        return self._answer(
            lambda mg: backends.answer(mg, self._configs(mg), self._view, self._options, text)
        )

    def route_check(self, namespace: str) -> str:
        """ingress_route_check."""
        if namespace and not _NAMESPACE.fullmatch(namespace):
            raise HandlerError(
                f"{namespace[:100]!r} is no name of a namespace: small letters, digits and -"
            )
        return self._answer(
            lambda mg: route_check.answer(mg, self._view, self._options, self._pace, namespace)
        )

    def config(self) -> str:
        """ingress_config."""
        return self._answer(
            lambda mg: settings.answer(mg, self._configs(mg), self._view, self._options)
        )

    def health(self) -> str:
        """ingress_health."""
        return self._answer(lambda mg: health.answer(mg, self._view, self._options, self._pace))

    def _folder(self) -> Path:
        try:
            return Path(self._directory, Path(self._path).expanduser())
        except RuntimeError:
            raise HandlerError(f"{line(self._path)}: there is no such home folder") from None

    def _configs(self, mg: MustGather) -> list[RouterConfig]:
        return read_configs(mg, self._options, self._pace)

    def _answer(self, ask: Callable[[MustGather], Report]) -> str:
        try:
            mg = open_must_gather(self._folder())
            mg.tree.is_over = self._pace.is_over
            report = ask(mg)
        except (MustGatherError, TooSlow) as error:
            raise HandlerError(line(str(error), 1000)) from None
        if mg.others:
            report.section(
                f"Looked at: {mg.root}; not at {line(', '.join(map(str, mg.others)), 500)}"
            )
        if not mg.faults:
            return report.text()
        return f"{report.text()}\n\nNot read: {named(mg.faults, mg.tree.fault_count)}"
