"""The host: plugins, builtins, rules, the person and the record, in one guarded call path.

Every call, from whatever surface and to whatever tool, goes one way and once:

    rules + permission.ask -> tool.execute.before -> the tool -> tool.execute.after

`judge` is the part before the tool and `review` the part after it, for programs that run
the tool themselves; `call` and `run_command` do both around a tool of ours or a command.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import trio

from . import codec, ids, paths, spill
from .asking import Asker, Headless
from .attendance import Attendance
from .builtins.base import BuiltinPlugin
from .captured import COMMAND_TOOL, run_captured
from .config import Config
from .config_values import Problem
from .deciding import Decider
from .dispatch import AfterResult, Dispatcher
from .errors import CallDenied, InvalidCall
from .hooks import ShellEnv, ToolExecuteAfter
from .known_guards import KnownGuards
from .manager import Loaded, Manager
from .missed import Missed
from .model import CallContext, PluginSettings, PluginSpec, ToolResult, ToolSpec
from .outcomes import Caller, Command, Outcome, Session, Verdict
from .permissions import Action, Decision, Origin, Policy, ToolUse
from .plugin import Plugin, StartedPlugin
from .recorder import RecordedAsker, Recorder
from .redaction import looks_secret, secrets_in
from .sessions import Sessions
from .zuno.discovery import Found

__all__ = [
    "COMMAND_TOOL",
    "Command",
    "Host",
    "Outcome",
    "Run",
    "RunCommand",
    "Session",
    "Verdict",
    "run_captured",
]

Run = Callable[[str], Awaitable[ToolResult]]
RunCommand = Callable[[Command], Awaitable[ToolResult]]


class Host:
    """Made by `open_host`."""

    def __init__(
        self,
        manager: Manager,
        config: Config,
        *,
        directory: str,
        environ: Mapping[str, str],
        origin: Origin,
        asker: Asker | None,
        recorder: Recorder,
    ) -> None:
        self.manager = manager
        self.config = config
        self.directory = directory
        self.environ = environ
        self.origin = origin
        self.dispatcher = Dispatcher(manager.with_hook)
        self._recorder = recorder
        # Told of everything that happens; see Recorder.
        self.record_listeners = recorder.listeners
        self.cleaner = recorder.cleaner
        self.missing_records = recorder.missing
        recorded = RecordedAsker(asker or Headless(config.file), recorder)
        self._caller = Caller(origin, asker and recorded, environ)
        known = KnownGuards(paths.state_dir(environ))
        self._missed = Missed(known, self._settings_for)
        self._decider = Decider(
            config, self.dispatcher, self._missed, recorder, caller=self._caller, asker=recorded
        )
        self._attendance = Attendance(manager.with_hook, recorder.hook)
        self._sessions = Sessions(
            manager, self.dispatcher, self._attendance, recorder, self._decider.grants
        )
        manager.observers.append(self._sessions.observed)

    def _settings_for(self, name: str) -> PluginSettings:
        return self.config.settings_for(name)  # of the configuration as it is by then

    def caller(
        self,
        origin: Origin,
        asker: Asker | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Caller:
        """Somebody else who calls, for the `caller` of a Session.

        The secrets among their variables are masked in records from now on.
        """
        self.cleaner.learn(secrets_in(environ or {}))
        return Caller(origin, asker and RecordedAsker(asker, self._recorder), environ)

    @property
    def problems(self) -> Sequence[Problem]:
        """What is wrong with the configuration."""
        return self.config.problems

    @property
    def policy(self) -> Policy:
        """The rules that calls are decided by."""
        return self._decider.policy

    # --- plugins

    def register(self, builtin: BuiltinPlugin) -> BuiltinPlugin:
        """Add an in-process plugin of the program's own. Raises as Manager.load does."""
        return self.manager.register(builtin)

    async def load_all(
        self,
        specs: Iterable[PluginSpec | str] | None = None,
        *,
        on_done: Callable[[Loaded], None] | None = None,
    ) -> list[Loaded]:
        """Load the configuration's plugins, or those named; see Manager.load_all.

        A guard that could not be loaded counts as a failed one until it is; so does a plugin
        that was to look through outputs.
        """
        results = await self.manager.load_all(specs, on_done=on_done)
        for result in results:
            if isinstance(result.plugin, StartedPlugin):
                self.cleaner.know(result.plugin.secrets)
            self._missed.note(result)
        return results

    def reconfigure(self, config: Config) -> None:
        """Go by another configuration from now on. What is loaded stays as it is."""
        self.config = config
        self.manager.reconfigure(config)
        self._decider.reconfigure(config)

    def expect(self, name: str) -> None:
        """A plugin is away for a moment: meanwhile it counts as failed, where that matters."""
        self._missed.expect(name)

    def dismiss(self, name: str) -> None:
        """A plugin is not wanted any more: that it is not there harms no call."""
        self._missed.dismiss(name)

    def packages(self) -> Sequence[Found]:
        """The packages that are installed, with what they hold; see Manager.packages."""
        return self.manager.packages()

    def misses(self, name: str) -> bool:
        """Whether that is a plugin which could not be loaded, and calls bear the consequences."""
        return name in self._missed

    # --- sessions

    async def session_start(
        self,
        directory: str | os.PathLike[str] | None = None,
        session_id: str | None = None,
        caller: Caller | None = None,
    ) -> Session:
        """Begin a session and collect what plugins have to say to it.

        A plugin that is loaded or restarted later is told before its next hook or call.
        caller: who calls with the object that is returned.
        """
        where = os.path.abspath(directory or self.directory)  # noqa: ASYNC240, PTH100
        session = Session(session_id or ids.new_id("ses"), where, caller=caller)
        return await self._sessions.start(session)

    async def session_end(self, session: Session) -> None:
        """End a session: plugins are told, and what was granted for it is forgotten."""
        await self._sessions.end(session)

    @property
    def sessions(self) -> Sequence[Session]:
        """The sessions that have begun and not ended."""
        return list(self._sessions)

    def directory_of(self, session_id: str) -> str:
        """Where a session works."""
        session = self._sessions.get(session_id)
        return session.directory if session else self.directory

    # --- the guarded path

    async def judge(
        self,
        tool: str,
        args: object,
        session: Session,
        *,
        permission: str = "",
        plugin: str | None = None,
        side_effects: bool | None = None,
    ) -> Verdict:
        """Ask rules, plugins and the person about a call, and let plugins rewrite it.

        tool: the id that rules and hooks see. args: values, or RawJson. plugin: the name of
        the plugin that owns the tool. side_effects: False if it is known to have none.
        """
        text = codec.dumps({} if args is None else args)
        await self._attendance.greet(session.id)
        use = ToolUse(
            tool_id=tool,
            args=_parsed(text),
            args_text=text,
            plugin=plugin,
            permission=permission,
            side_effects=side_effects,
            directory=session.directory,
        )
        decision = await self._decider.decide(use, session)
        if decision.action is Action.DENY:
            return _verdict(decision, text)
        before = await self._decider.before(use, session)
        if before.blocked_by:
            reason = f"plugin {before.blocked_by} stopped it: {before.reason}"
            return Verdict(action=Action.DENY, args_text=text, reason=reason, decision=decision)
        if before.rewritten and before.tool_args != text:
            use = attrs.evolve(use, args=_parsed(before.tool_args), args_text=before.tool_args)
            # What a plugin made of the call is a call that nobody has judged yet.
            decision = await self._decider.decide(use, session)
        return attrs.evolve(
            _verdict(decision, use.args_text),
            rewritten=use.args_text != text,
            contexts=[*self._attendance.take_contexts(session.id), *before.contexts],
        )

    async def review(
        self, tool: str, args_text: str, output: str, is_error: bool, session: Session
    ) -> AfterResult:
        """Let plugins see and change what a tool put out, or withhold it where one failed."""
        await self._attendance.greet(session.id)
        if self.manager.with_hook("tool.execute.after"):
            output = spill.fit(output, paths.state_dir(self.environ), tool)
        missed = self._missed.now()
        result = await self.dispatcher.tool_execute_after(
            ToolExecuteAfter(
                session_id=session.id,
                tool_name=tool,
                tool_args=args_text,
                output=output,
                is_error=is_error,
            )
        )
        result = self._missed.withhold(result, missed)
        self._recorder.hook(session.id, result, tool=tool)
        late = self._attendance.take_contexts(session.id)
        return attrs.evolve(result, contexts=[*late, *result.contexts]) if late else result

    async def call(
        self,
        tool_id: str,
        args: object = None,
        session: Session | None = None,
        *,
        on_progress: Callable[[str], None] | None = None,
    ) -> Outcome:
        """Call a plugin's tool the guarded way.

        Raises ToolNotFound, CallDenied, and what the call itself raises; tool.execute.after
        is called also when it does.
        """
        plugin = self.manager.owner(tool_id)
        tool = plugin.tool(tool_id)
        session = session or Session("", self.directory)
        context = CallContext(session_id=session.id, directory=session.directory)

        async def run(text: str) -> ToolResult:
            return await plugin.call_tool(
                tool.name, codec.RawJson(text), context, on_progress=on_progress
            )

        return await self._guarded(tool_id, args, session, run, owner=plugin, spec=tool)

    async def run_command(
        self,
        command: str | Sequence[str],
        session: Session,
        run: RunCommand | None = None,
    ) -> Outcome:
        """Run a command the guarded way, as tool `bash` with args {"command": text}.

        command: shell text, or words that no shell reads. `run` runs it, in the environment
        that the plugins agreed on; without one it is run with nothing on its standard input,
        and its output is the content. Raises CallDenied, and what `run` raises.
        """
        runner = run or run_captured
        given = command if isinstance(command, str) else shlex.join(command)

        async def run_it(text: str) -> ToolResult:
            wanted = _command_text(text)
            as_given = not isinstance(command, str) and wanted == given
            argv = list(command) if as_given else ["/bin/sh", "-c", wanted]
            env = await self.shell_env(session)
            return await runner(Command(argv, env, session.directory))

        return await self._guarded(COMMAND_TOOL, {"command": given}, session, run_it)

    async def shell_env(self, session: Session) -> Mapping[str, str]:
        """The caller's environment with what plugins set and unset in it.

        Plugins see it without its secrets.
        """
        await self._attendance.greet(session.id)
        env = dict(self.environ_of(session))
        visible = {k: v for k, v in env.items() if not looks_secret(k)}
        result = await self.dispatcher.shell_env(
            ShellEnv(session_id=session.id, directory=session.directory, env=visible)
        )
        self._recorder.hook(session.id, result)
        for name, value in result.changes.items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env

    def environ_of(self, session: Session) -> Mapping[str, str]:
        """The variables that a session's commands start from."""
        caller = session.caller or self._caller
        return self.environ if caller.environ is None else caller.environ

    async def _guarded(
        self,
        tool: str,
        args: object,
        session: Session,
        run: Run,
        *,
        owner: Plugin | None = None,
        spec: ToolSpec | None = None,
    ) -> Outcome:
        verdict = await self.judge(
            tool,
            args,
            session,
            permission=(spec.permission or "") if spec else COMMAND_TOOL,
            plugin=owner.name if owner else None,
        )
        if verdict.action is not Action.ALLOW:
            raise CallDenied(tool, verdict.reason, verdict.decision)
        text, began = verdict.args_text, trio.current_time()
        failure: Exception | None = None
        try:
            await self._attendance.greet(session.id)
            result = await run(text)
        except Exception as error:
            failure = error
            result = ToolResult(str(error), is_error=True)
        ms = (trio.current_time() - began) * 1000
        after = await self.review(tool, text, result.content, result.is_error, session)
        given, name = _parsed(codec.dumps(args)), owner.name if owner else ""
        self._recorder.call(session.id, tool, given, _parsed(text), after, ms, plugin=name)
        if failure is not None:
            raise failure
        return Outcome(
            content=after.text,
            is_error=after.is_error,
            contexts=[*verdict.contexts, *after.contexts],
            verdict=verdict,
            details=result.details if after.text == result.content else {},
        )


def _verdict(decision: Decision, args_text: str) -> Verdict:
    return Verdict(
        action=decision.action,
        args_text=args_text,
        reason=decision.explain(),
        no_objection=decision.by_default,
        decision=decision,
    )


def _parsed(text: str) -> Any:
    return codec.loads(text.encode("utf-8", "surrogatepass"))


def _command_text(args_text: str) -> str:
    args = _parsed(args_text)
    command = args.get("command") if isinstance(args, dict) else None
    if not isinstance(command, str):
        raise InvalidCall('a plugin rewrote the arguments and left no "command" text in them')
    return command
