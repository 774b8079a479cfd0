"""From a tool's name and arguments to its answer. Imported with the first call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tinyhost_sdk import HandlerError, ToolContext

from .._shared.archive import ArchiveError
from .._shared.pace import Pace
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
        if not archive.strip():
            raise HandlerError("archive is empty; give the path of an Insights archive")
        view = self._view(0)
        return self._ask(archive, context, lambda loaded: summary.after_loading(loaded, view))

    def plain(self, tool: str, archive: str, limit: int, context: ToolContext) -> str:
        """The tools that need no more than an archive."""
        view = self._view(limit)
        return self._ask(archive, context, lambda loaded: _PLAIN[tool](loaded, view))

    def memory(self, threshold: int, archive: str, limit: int, context: ToolContext) -> str:
        """insights_memory."""
        if not 0 <= threshold <= 100:
            raise HandlerError(f"threshold has to be a percentage from 0 to 100, not {threshold}")
        view = self._view(limit)
        return self._ask(archive, context, lambda loaded: memory.answer(loaded, view, threshold))

    def alerts(self, severity: str, archive: str, limit: int, context: ToolContext) -> str:
        """insights_alerts."""
        view = self._view(limit)
        return self._ask(archive, context, lambda loaded: alerts.answer(loaded, view, severity))

    def _view(self, limit: int) -> View:
        return view_of(limit, self._options.max_rows)

    def _ask(self, archive: str, context: ToolContext, answer: Callable[[Loaded], str]) -> str:
        """The answer about an archive, about the one that the session has loaded for ""."""
        try:
            pace = Pace(context, self._options.max_seconds)
            loaded = self._archive(archive, context, pace)
            return answer(loaded.for_call(pace.is_over))
        except ArchiveError as error:
            raise HandlerError(line(str(error), 1000)) from None

    def _archive(self, archive: str, context: ToolContext, pace: Pace) -> Loaded:
        if archive.strip():
            try:
                path = Path(context.directory, Path(archive).expanduser())
            except RuntimeError:
                raise HandlerError(f"{line(archive)}: there is no such home folder") from None
            return self.sessions.use(context.session_id, path, pace)
        found = self.sessions.current(context.session_id)
        if found is None:
            raise HandlerError(
                "load an archive with insights_use first, or give its path as archive"
            )
        return found
