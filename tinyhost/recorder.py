"""What of a host's doings goes into the journal, and in which form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import journal_records
from .asking import Asker, Question, Reply
from .dispatch import AfterResult, DispatchResult, PermissionResult
from .errors import cut
from .journal import Journal
from .journal_records import Cleaner
from .permissions import Action, Decision, ToolUse
from .plugin import Plugin


class Recorder:
    """Writes to the journal if there is one; calls outside a session are not recorded.

    cleaner: masks what is secret in records; the journal's, where there is one.
    listeners: are told of everything, calls outside a session too: the session's id, the kind
    and the fields, neither masked nor cut.
    """

    def __init__(self, journal: Journal | None, secrets: Iterable[str] = ()) -> None:
        self._journal = journal
        self.cleaner = Cleaner(secrets) if journal is None else journal.cleaner
        self.listeners: list[Callable[[str, str, Mapping[str, Any]], None]] = []

    def _record(self, session_id: str, kind: str, fields: Mapping[str, Any]) -> None:
        if self._journal is not None and session_id:
            self._journal.record(session_id, kind, fields)
        for listener in self.listeners:
            listener(session_id, kind, fields)

    def session_start(self, session_id: str, directory: str, plugins: Iterable[Plugin]) -> None:
        """A session begins, with these plugins loaded."""
        self._record(session_id, "session", {"event": "start", "directory": directory})
        for plugin in plugins:
            self.plugin(session_id, "loaded", plugin)

    def session_end(self, session_id: str) -> None:
        """A session ends; its file is closed."""
        self._record(session_id, "session", {"event": "end"})
        if self._journal is not None:
            self._journal.close_session(session_id)

    def plugin(self, session_id: str, event: str, plugin: Plugin, text: str = "") -> None:
        """A plugin was loaded, unloaded, died or was restarted."""
        kind = "load" if event in ("loaded", "restarted") else "exit"
        info = plugin.info
        fields = {"plugin": info.name, "id": info.id, "event": event, "version": info.version}
        self._record(session_id, kind, fields | ({"text": cut(text)} if text else {}))

    def hook(self, session_id: str, result: DispatchResult, **more: Any) -> None:
        """Plugins were asked or told. Nothing is written when none of them was."""
        if result.answers:
            self._record(session_id, "hook", journal_records.hook_fields(result, **more))

    def ask(self, question: Question) -> None:
        """The person, or whoever stands in for them, is asked about a call."""
        reasons = [reason.to_json() for reason in question.reasons]
        fields = {"tool": question.tool_id, "args": question.use.args, "reasons": reasons}
        self._record(question.session_id, "ask", fields)

    def decision(
        self, session_id: str, use: ToolUse, decision: Decision, asked: PermissionResult
    ) -> None:
        """A call was allowed, denied, or left to be asked about."""
        deciding = decision.deciding
        fields = journal_records.decision_fields(
            use.tool_id,
            use.args,
            decision.action.value,
            by=deciding[0].kind.value if deciding else "",
            plugin=asked.plugin if decision.action is Action.DENY else "",
            reason=decision.explain(),
            reasons=[reason.to_json() for reason in decision.reasons],
        )
        self._record(session_id, "decision", fields)

    def call(
        self,
        session_id: str,
        tool: str,
        args: Any,
        final_args: Any,
        after: AfterResult,
        ms: float,
        *,
        plugin: str = "",
    ) -> None:
        """A tool ran, with these arguments in the end, and this came of it.

        plugin: the one whose tool it is.
        """
        fields = journal_records.call_fields(
            tool,
            args,
            final_args=final_args,
            result=after.text,
            is_error=after.is_error,
            ms=ms,
            **({"plugin": plugin} if plugin else {}),
        )
        self._record(session_id, "call", fields)

    def missing(self) -> tuple[int, str]:
        """How many records the journal could not be given, and a word on why; 0, ""."""
        journal = self._journal
        if journal is None or not journal.failures:
            return 0, ""
        return journal.failures, (
            f"the journal in {journal.folder} lacks {journal.failures} records that could not be"
            f" written: {journal.last_error}"
        )

    def close(self) -> None:
        """Close all files."""
        if self._journal is not None:
            self._journal.close()


class RecordedAsker:
    """An asker whose questions are recorded."""

    def __init__(self, asker: Asker, recorder: Recorder) -> None:
        self._asker, self._recorder = asker, recorder

    async def ask(self, question: Question) -> Reply:
        """Record the question, and put it."""
        self._recorder.ask(question)
        return await self._asker.ask(question)

    def refusal(self, question: Question) -> str:
        """What the asker has to say after a NO."""
        return self._asker.refusal(question)
