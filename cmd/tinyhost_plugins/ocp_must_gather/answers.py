"""From a tool's name and arguments to its answer. Imported with the first call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tinyhost_sdk import HandlerError, ToolContext

from .._shared.archive import ArchiveError
from .._shared.matching import check
from .._shared.must_gather import MustGatherError
from .._shared.pace import Pace
from .._shared.report import View, view_of
from .._shared.texts import counted, line
from . import (
    certs,
    events,
    health,
    machine_config,
    node_logs,
    nodes,
    operators,
    ovn,
    pods,
    prometheus,
    summary,
    version,
)
from .options import Options
from .report import Ask
from .sessions import Loaded, Sessions

NOT_LOADED = "load a must-gather with mg_use first, or give its path as path"
_PLAIN: dict[str, Callable[[Ask], str]] = {
    "mg_cluster_version": version.answer,
    "mg_health": health.answer,
    "mg_machine_config": machine_config.answer,
    "mg_operators": operators.answer,
    "mg_ovn": ovn.answer,
}


class Answers:
    """Answers calls about the must-gathers that the sessions have loaded. Raises HandlerError."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.sessions = Sessions(options)

    def use(self, path: str, context: ToolContext) -> str:
        """mg_use."""
        view, loaded = view_of(0, self._options.max_rows), self._load(path, context)
        # What is told of is what was found while it was opened, too.
        return self._told(
            lambda ask: summary.answer(ask, loaded), loaded, view, context, opening=True
        )

    def plain(self, tool: str, path: str, limit: int, context: ToolContext) -> str:
        """The tools that need no more than a must-gather."""
        return self._answer(_PLAIN[tool], path, limit, context)

    def nodes(self, role: str, path: str, limit: int, context: ToolContext) -> str:
        """mg_nodes."""
        return self._answer(lambda ask: nodes.answer(ask, role), path, limit, context)

    def certs(
        self, expired_only: bool, days: int, path: str, limit: int, context: ToolContext
    ) -> str:
        """mg_certs."""
        if wrong := certs.check_days(days):
            raise HandlerError(wrong)
        return self._answer(lambda ask: certs.answer(ask, expired_only, days), path, limit, context)

    def node_logs(self, node: str, pattern: str, most: int, path: str, context: ToolContext) -> str:
        """mg_node_logs."""
        check(pattern, "pattern")
        return self._answer(
            lambda ask: node_logs.answer(ask, node, pattern, most), path, 0, context
        )

    def prometheus(self, metric: str, path: str, limit: int, context: ToolContext) -> str:
        """mg_prometheus."""
        check(metric, "metric")
        return self._answer(lambda ask: prometheus.answer(ask, metric), path, limit, context)

    def pods(self, namespace: str, status: str, path: str, limit: int, context: ToolContext) -> str:
        """mg_pods."""
        return self._answer(lambda ask: pods.answer(ask, namespace, status), path, limit, context)

    def events(
        self, namespace: str, kind: str, reason: str, path: str, limit: int, context: ToolContext
    ) -> str:
        """mg_events."""
        check(reason, "reason")
        return self._answer(
            lambda ask: events.answer(ask, namespace, kind, reason), path, limit, context
        )

    def _answer(
        self, tell: Callable[[Ask], str], path: str, limit: int, context: ToolContext
    ) -> str:
        view = view_of(limit, self._options.max_rows)
        loaded = self._load(path, context) if path else self.sessions.current(context.session_id)
        if loaded is None:
            raise HandlerError(NOT_LOADED)
        text = self._told(tell, loaded, view, context)
        others = len(loaded.mg.others)
        if not others:
            return text
        which = f"This is of {line(loaded.mg.root.name)} only; mg_use lists"
        return f"{text}\n{which} {counted(others, 'other image')} of this must-gather"

    def _told(
        self,
        tell: Callable[[Ask], str],
        loaded: Loaded,
        view: View,
        context: ToolContext,
        *,
        opening: bool = False,
    ) -> str:
        """An answer about what the caller holds, which is released at the end."""
        pace = Pace(context, self._options.max_seconds)
        root = loaded.mg.root
        try:
            if not root.is_dir():
                raise HandlerError(
                    f"{line(str(root))} is gone; load the must-gather again with mg_use"
                )
            mg = loaded.for_call(pace.is_over, opening=opening)
            return tell(Ask(mg, pace, view.rows, view.characters))
        except MustGatherError as error:
            raise HandlerError(line(str(error), 1000)) from None
        finally:
            loaded.release()

    def _load(self, path: str, context: ToolContext) -> Loaded:
        if not path.strip():
            raise HandlerError("path is empty; give the folder or the archive of a must-gather")
        pace = Pace(context, self._options.max_seconds)
        try:
            place = Path(context.directory, Path(path).expanduser())
            return self.sessions.use(context.session_id, place, pace)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise HandlerError(f"{line(path)} cannot be loaded: {reason}") from None
        except (MustGatherError, ArchiveError, RuntimeError, ValueError) as error:
            raise HandlerError(line(str(error), 1000)) from None
