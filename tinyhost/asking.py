"""Asking the person about a call, and what becomes of the answer.

An answer settles an ask and nothing else: what is denied is never asked about.
"""

from __future__ import annotations

import enum
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

import attrs
import trio

from tinyhost import config_edit
from tinyhost.errors import ConfigError, TinyhostError
from tinyhost.patterns import exact_pattern
from tinyhost.permissions import Action, Decision, Reason, ReasonKind, ToolUse

_log = logging.getLogger(__name__)

_SHORT_RULE = 200  # characters of a rule that a message repeats


class Reply(enum.StrEnum):
    """What a person can answer."""

    ONCE = "once"
    SESSION = "session"  # and do not ask again for this in the session
    PROJECT = "project"  # and write a rule for the session's directory
    NO = "no"


@attrs.frozen(kw_only=True)
class Question:
    """What is asked. reasons: those that make it a question, never empty."""

    use: ToolUse
    session_id: str
    reasons: Sequence[Reason]

    @property
    def tool_id(self) -> str:
        """The tool that is to run."""
        return self.use.tool_id

    @property
    def args_text(self) -> str:
        """Its arguments, as JSON text."""
        return self.use.args_text

    @property
    def directory(self) -> str:
        """The session's directory."""
        return self.use.directory

    @property
    def project_rule(self) -> str | None:
        """The rule that PROJECT would write, or None when no rule can settle this ask.

        A rule that asks keeps asking, and so does a guard that failed: an allow rule beside
        it would change nothing.
        """
        helps = all(r.kind in (ReasonKind.MODE, ReasonKind.DEFAULT) for r in self.reasons)
        if not helps or self.directory[:1] != "/":
            return None
        return exact_pattern(self.tool_id, self.use.subject)

    @property
    def replies(self) -> Sequence[Reply]:
        """The answers that can be offered."""
        return [r for r in Reply if r is not Reply.PROJECT or self.project_rule is not None]


class Asker(Protocol):
    """Somebody who can be asked, or stands in where nobody can."""

    async def ask(self, question: Question) -> Reply:
        """Get an answer. Anything that goes wrong is a NO."""

    def refusal(self, question: Question) -> str:
        """What the caller is told after a NO."""


class Headless:
    """Nobody can be asked: every question is answered NO, with the way to allow it.

    config_file: the file that the text names.
    """

    def __init__(self, config_file: str) -> None:
        self._file = config_file

    async def ask(self, question: Question) -> Reply:  # noqa: ARG002 (it is always the same)
        """NO."""
        return Reply.NO

    def refusal(self, question: Question) -> str:
        """Name all that has to be changed so that the call goes ahead without a question."""
        why = "; ".join(map(str, question.reasons))
        ways = dict.fromkeys(self._way_out(reason, question) for reason in question.reasons)
        return f"{why}. Nobody can be asked here, so it is denied. To allow it: {'; '.join(ways)}"

    def _way_out(self, reason: Reason, question: Question) -> str:
        if reason.kind is ReasonKind.RULE:
            return f"change that rule in {self._file}, or call from a terminal"
        if reason.kind is ReasonKind.GUARD_FAILURE:
            name = reason.who
            return (
                f"restart the guard with `tinyhost plugin restart {name}`, unload it, or set"
                f' settings.{name}.onGuardFailure to "skip" in {self._file}'
            )
        if reason.kind is ReasonKind.PLUGIN:
            return f"call from a terminal, or unload plugin {reason.who}"
        return f"add {_rule_in_words(question)} to permissions.allow in {self._file}"


def _rule_in_words(question: Question) -> str:
    """The exact rule where it is short enough to be repeated in a message."""
    rule = exact_pattern(question.tool_id, question.use.subject)
    if rule is None or len(rule) > _SHORT_RULE or not rule.isprintable():
        return f'a rule such as "{question.tool_id}(PATTERN)"'
    return f"the rule {json.dumps(rule, ensure_ascii=False)}"


_Key = tuple[str, tuple[str, ...]]
_Causes = frozenset[tuple[ReasonKind, str]]


class SessionGrants:
    """What was allowed for the rest of a session.

    A grant is for the exact tool id and, where the call names a command, the exact command;
    for other tools it is for any arguments. It settles only asks that have no cause it was
    not given for: when another rule asks, or a guard has failed since, the person is asked.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, dict[_Key, list[_Causes]]] = {}

    def grant(self, question: Question) -> None:
        """Remember an answer of SESSION."""
        session = self._sessions.setdefault(question.session_id, {})
        session.setdefault(_key(question), []).append(_causes(question))

    def covers(self, question: Question) -> bool:
        """Whether the question was answered before."""
        granted = self._sessions.get(question.session_id, {}).get(_key(question), ())
        return any(_causes(question) <= causes for causes in granted)

    def forget(self, session_id: str) -> None:
        """Drop what was granted for a session that ended."""
        self._sessions.pop(session_id, None)


def _key(question: Question) -> _Key:
    return question.tool_id, tuple(question.use.subject.commands)


def _causes(question: Question) -> _Causes:
    return frozenset((reason.kind, reason.who) for reason in question.reasons)


class Consent:
    """Settles decisions that are asks, one question at a time.

    asker: who is asked where no other is given. save: called with a directory and a rule when the answer is PROJECT;
    it writes the rule (see save_project_rule), and raises ConfigError when it cannot.
    """

    def __init__(self, asker: Asker, save: Callable[[str, str], Awaitable[None]]) -> None:
        self.grants = SessionGrants()
        self._asker, self._save = asker, save
        self._turns: WeakKeyDictionary[Asker, trio.Lock] = WeakKeyDictionary()

    async def settle(
        self, decision: Decision, use: ToolUse, session_id: str, asker: Asker | None = None
    ) -> Decision:
        """The decision itself unless it is an ask; else ALLOW or DENY, with the person's part.

        One asker is asked one question at a time, different ones side by side.
        """
        asker = asker or self._asker
        if decision.action is not Action.ASK:
            return decision
        question = Question(use=use, session_id=session_id, reasons=decision.deciding)
        if self.grants.covers(question):
            return _allowed(decision, "always for this session")
        async with self._turns.setdefault(asker, trio.Lock()):
            # The question before may have been the same one.
            if self.grants.covers(question):
                return _allowed(decision, "always for this session")
            reply = await self._reply(asker, question)
            return await self._settled(decision, question, reply, asker)

    @staticmethod
    async def _reply(asker: Asker, question: Question) -> Reply:
        try:
            return await asker.ask(question)
        except TinyhostError as error:  # the person went away, as people do
            _log.info("asking about %s brought no answer: %s", question.tool_id, error)
            return Reply.NO
        except Exception:
            # An asker is the embedding program's code; its failure must not allow anything.
            _log.exception("asking about %s failed", question.tool_id)
            return Reply.NO

    async def _settled(
        self, decision: Decision, question: Question, reply: Reply, asker: Asker
    ) -> Decision:
        if reply is Reply.ONCE:
            return _allowed(decision, "once")
        if reply is Reply.SESSION:
            self.grants.grant(question)
            return _allowed(decision, "always for this session")
        if reply is Reply.PROJECT:
            return _allowed(decision, await self._remember(question))
        text = asker.refusal(question)
        return _answered(decision, Action.DENY, Reply.NO, text)

    async def _remember(self, question: Question) -> str:
        rule = question.project_rule
        if rule is None:
            # It was not offered; the person still said yes to more than this once.
            self.grants.grant(question)
            return "always for this session"
        try:
            await self._save(question.directory, rule)
        except ConfigError as error:
            _log.warning("the rule for %s was not written: %s", question.tool_id, error)
            return f"once (the rule was not written: {error})"
        return "always for this project"


def _allowed(decision: Decision, how: str) -> Decision:
    return _answered(decision, Action.ALLOW, how, f"the person allows it, {how}")


def _answered(decision: Decision, action: Action, who: str, text: str) -> Decision:
    reason = Reason(ReasonKind.PERSON, who, text, action)
    return Decision(action, (reason, *decision.reasons))


async def save_project_rule(file: str, directory: str, rule: str) -> None:
    """Add an allow rule for a directory to a configuration file. Raises ConfigError."""
    await trio.to_thread.run_sync(config_edit.allow_in_project, file, directory, rule)
