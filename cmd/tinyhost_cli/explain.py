"""Tell on standard error what was decided about a command, by whom and why."""

from __future__ import annotations

from typing import Any

from tinyhost.errors import CallDenied
from tinyhost.host import Outcome, Session
from tinyhost.permissions import Decision
from tinyhost_cli import output


class Explanation:
    """Collects what became of one command; `show` prints it."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._session = ""
        self._reason = ""
        self._decision: Decision | None = None
        self._contexts: list[str] = []
        self._args = ""
        self.was_denied = False

    def ran(self, session: Session, outcome: Outcome) -> None:
        """The command ran."""
        self._session = session.id
        self._decision = outcome.verdict.decision
        self._args = outcome.verdict.args_text if outcome.verdict.rewritten else ""
        self._contexts = [*session.contexts, *outcome.contexts]

    def denied(self, session: Session, error: CallDenied) -> None:
        """The command did not run."""
        self._session = session.id
        self.was_denied = True
        self._reason = error.reason
        if isinstance(error.decision, Decision):
            self._decision = error.decision

    def show(self, *, everything: bool, status: int) -> None:
        """Print the denial, or everything that was decided."""
        if self._as_json:
            from tinyhost.codec import dumps

            output.note(dumps(self._value(status)))
            return
        if self.was_denied:
            output.problem(f"denied: {self._reason}")
        if everything:
            self._show_everything()

    def _show_everything(self) -> None:
        if self._decision is not None:
            for reason in self._decision.reasons:
                word = reason.action.value if reason.action else "no objection"
                output.problem(f"{word}: {reason.text}")
        if self._args:
            output.problem(f"a plugin rewrote the arguments: {self._args}")
        for context in self._contexts:
            output.problem(f"context: {context}")
        output.problem(f"the whole record: tinyhost journal show {self._session}")

    def _value(self, status: int) -> dict[str, Any]:
        decision = self._decision.to_json() if self._decision is not None else None
        return {
            "session": self._session,
            "denied": self.was_denied,
            "reason": self._reason,
            "decision": decision,
            "contexts": self._contexts,
            "exitStatus": status,
        }
