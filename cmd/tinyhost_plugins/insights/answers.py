"""From a tool's name and arguments to its answer. Imported with the first call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tinyhost_sdk import HandlerError, ToolContext

from .._shared.archive import ArchiveError
from .._shared.report import View, view_of
from .._shared.texts import line
from . import alerts, etcd, health, memory, namespaces, nodes, operators, storage, summary
from .loading import Loaded
from .options import Options
from .sessions import Sessions

_PLAIN: dict[str, Callable[[Loaded, View], str]] = {
    "insights_etcd": etcd.answer,
    "insights_health": health.answer,
    "insights_nodes": nodes.answer,
    "insights_operators": operators.answer,
    "insights_storage": storage.answer,
    "insights_summary": summary.answer,
    "insights_uid_overlap": namespaces.answer,
}


class Answers:
    """Answers calls with the archives that the sessions have loaded. Raises HandlerError."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.sessions = Sessions(options)

    def use(self, archive: str, context: ToolContext) -> str:
        """insights_use."""
        return summary.after_loading(self._load(archive, context), self._view(0))

    def plain(self, tool: str, archive: str, limit: int, context: ToolContext) -> str:
        """The tools that need no more than an archive."""
        view = self._view(limit)
        return _PLAIN[tool](self._archive(archive, context), view)

    def memory(self, threshold: int, archive: str, limit: int, context: ToolContext) -> str:
        """insights_memory."""
        if not 0 <= threshold <= 100:
            raise HandlerError(f"threshold has to be a percentage from 0 to 100, not {threshold}")
        view = self._view(limit)
        return memory.answer(self._archive(archive, context), view, threshold)

    def alerts(self, severity: str, archive: str, limit: int, context: ToolContext) -> str:
        """insights_alerts."""
        view = self._view(limit)
        return alerts.answer(self._archive(archive, context), view, severity)

    def _view(self, limit: int) -> View:
        return view_of(limit, self._options.max_rows)

    def _archive(self, archive: str, context: ToolContext) -> Loaded:
        if archive:
            return self._load(archive, context)
        found = self.sessions.current(context.session_id)
        if found is None:
            raise HandlerError(
                "load an archive with insights_use first, or give its path as archive"
            )
        return found

    def _load(self, archive: str, context: ToolContext) -> Loaded:
        if not archive.strip():
            raise HandlerError("archive is empty; give the path of an Insights archive")
        try:
            path = Path(context.directory, Path(archive).expanduser())
            return self.sessions.use(context.session_id, path)
        except (ArchiveError, RuntimeError) as error:
            raise HandlerError(line(str(error), 1000)) from None
