"""Whether a call may be made: what rules, plugins and the person say before its tool runs."""

from __future__ import annotations

import attrs

from . import codec
from .asking import Asker, Consent, save_project_rule
from .config import Config
from .dispatch import BeforeResult, Dispatcher
from .hooks import PermissionAsk, ToolExecuteBefore
from .missed import Missed
from .outcomes import Caller, Session
from .permissions import (
    Action,
    Decision,
    Origin,
    Policy,
    ToolUse,
    decide_call,
    failed_guards,
)
from .recorder import Recorder


class Decider:
    """policy: the rules that are in force, with those that the person has added since.

    caller: who makes the calls of a session that names nobody. asker: who is asked where the
    caller brings nobody. What is said is recorded.
    """

    def __init__(
        self,
        config: Config,
        dispatcher: Dispatcher,
        missed: Missed,
        recorder: Recorder,
        *,
        caller: Caller,
        asker: Asker,
    ) -> None:
        self._dispatcher, self._missed, self._recorder = dispatcher, missed, recorder
        self._caller = caller
        self._consent = Consent(asker, self._save_rule)
        self.grants = self._consent.grants
        self.reconfigure(config)

    def reconfigure(self, config: Config) -> None:
        """Go by the rules and settings of a configuration from now on."""
        self._config = config
        self.policy, _ = Policy.from_config(config)

    async def decide(self, use: ToolUse, session: Session) -> Decision:
        """Ask the rules, the guards and, where it comes to that, the person."""
        # Of the moment in which the others are asked: one that comes back meanwhile was not.
        missed = list(self._missed.guards())
        asked = await self._dispatcher.permission_ask(
            PermissionAsk(
                session_id=session.id,
                tool_name=use.tool_id,
                tool_args=use.args_text,
                permission=self.policy.honoured_category(use.plugin, use.permission),
            )
        )
        self._recorder.hook(session.id, asked, tool=use.tool_id)
        caller = session.caller or self._caller
        decision = decide_call(
            self.policy.decide(use),
            asked,
            [*missed, *failed_guards(asked, self._config.settings_for)],
            origin=caller.origin,
            mode=self.policy.mode,
            side_effects=use.side_effects,
        )
        # A client has a user of its own to ask, unless it lent us the means to ask them.
        if decision.action is Action.ASK and (caller.origin is not Origin.CLIENT or caller.asker):
            decision = await self._consent.settle(decision, use, session.id, caller.asker)
        self._recorder.decision(session.id, use, decision, asked)
        return decision

    async def before(self, use: ToolUse, session: Session) -> BeforeResult:
        """Let plugins rewrite the arguments, or stop the call; so does a rewrite that is no JSON."""
        result = await self._dispatcher.tool_execute_before(
            ToolExecuteBefore(session_id=session.id, tool_name=use.tool_id, tool_args=use.args_text)
        )
        if result.rewritten and not _is_json(result.tool_args):
            reason = "it rewrote the arguments into text that is not JSON"
            result = attrs.evolve(result, blocked_by=_rewriter(result), reason=reason)
        self._recorder.hook(session.id, result, tool=use.tool_id)
        return result

    async def _save_rule(self, directory: str, rule: str) -> None:
        await save_project_rule(self._config.file, directory, rule)
        self.policy = self.policy.with_project_rule(directory, rule)


def _is_json(text: str) -> bool:
    try:
        codec.RawJson(text)
    except ValueError:
        return False
    return True


def _rewriter(result: BeforeResult) -> str:
    """The last plugin that rewrote the arguments."""
    names = [a.plugin for a in result.answers if a.output and a.output.tool_args is not None]
    return names[-1]
