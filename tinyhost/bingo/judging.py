"""hook/decide before a tool runs: one question for two of the host's hooks.

The host asks permission.ask first and tool.execute.before after it. A bingo hook answers both
at once, so the answer to the first is kept for the second, and nothing is asked twice. What
a plugin itself made of a call is judged by the answer it was made with.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import attrs

from tinyhost import codec, ids
from tinyhost.errors import PluginError, ProtocolError

from .forms import read, write
from .hook_messages import (
    HookAsk,
    HookBlock,
    HookDeny,
    HookOutcome,
    HookParams,
    HookResult,
    HookSite,
    HookValueCall,
    PayloadBeforeTool,
)
from .matching import Hook, wire_name
from .talk import Talk
from .types import HookPoint, ToolCall

DECIDE = "hook/decide"
_KEPT = 256  # calls whose answers nobody has come for,
_KEPT_SAME = 16  # and answers for each

_Key = tuple[str, str, str]  # session, tool, arguments as JSON text


class Stopped(PluginError):
    """A hook stops a call where nobody can be asked about it any more."""

    def __init__(self, plugin: str, reason: str) -> None:
        self.remote_message = reason
        super().__init__(plugin, f"plugin {plugin}: {reason}")


@attrs.frozen
class Judgement:
    """What the hooks of a plugin say of a call. args: what they made of it, or None.

    action: "deny", "ask" or "" for no objection. failed: it was not answered.
    """

    action: str = ""
    reason: str = ""
    args: str | None = None
    failed: bool = False

    def permission(self) -> dict[str, Any] | None:
        """As an answer to permission.ask."""
        if self.action == "deny":
            return {"allowed": False, "reason": self.reason}
        return {"ask": True, "reason": self.reason} if self.action == "ask" else None


async def decide(
    talk: Talk, hook: Hook, site: HookSite, point: HookPoint, payload: Any
) -> tuple[HookOutcome, Any]:
    """Ask one hook: its outcome, and the value beside it as it came, or None.

    Raises PluginError; an outcome in words that the wire does not have is one.
    """
    params = HookParams(id=hook.spec.id, site=site, point=point, payload=payload)
    raw = await talk.raw(DECIDE, params, timeout=talk.link.timeouts.hook, hook=True)
    result: HookResult = talk.read(DECIDE, HookResult, raw)
    return result.outcome, raw.get("value")


class Judge:
    """Asks the hooks before a tool runs, and keeps what they said for the second hook."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._said: OrderedDict[_Key, list[Judgement]] = OrderedDict()
        self._made: OrderedDict[_Key, list[Judgement]] = OrderedDict()

    async def ask(
        self, hooks: Sequence[Hook], site: HookSite, tool: str, args: str
    ) -> dict[str, Any] | None:
        """permission.ask. Raises PluginError when a hook does not answer."""
        key = (site.session, tool, args)
        own = _take(self._made, key)
        if own is not None:
            return own.permission()
        try:
            found = await self._judge(hooks, site, tool, args)
        except PluginError:
            _keep(self._said, key, Judgement(failed=True))
            raise
        _keep(self._said, key, found)
        return found.permission()

    async def before(
        self, hooks: Sequence[Hook], site: HookSite, tool: str, args: str
    ) -> dict[str, Any] | None:
        """tool.execute.before. Raises Stopped, and PluginError when a hook does not answer."""
        found = _take(self._said, (site.session, tool, args))
        if found is None:
            # The host did not ask about permission, so here is the only place to say no.
            found = await self._judge(hooks, site, tool, args)
            if found.action:
                asks = "wants the person asked, which nobody does here: "
                raise Stopped(
                    self._talk.plugin, (asks if found.action == "ask" else "") + found.reason
                )
        if found.args is None:
            return None
        _keep(self._made, (site.session, tool, found.args), found)
        return {"toolArgs": found.args}

    async def _judge(
        self, hooks: Sequence[Hook], site: HookSite, tool: str, args: str
    ) -> Judgement:
        """In the order of declaration; the first that objects is the last that is asked."""
        given = codec.loads(args.encode("utf-8", "surrogatepass"))
        call = ToolCall(call_id=ids.new_id("call"), name=wire_name(tool), input=given)
        found = Judgement()
        for hook in hooks:
            payload = write(PayloadBeforeTool(call=call))
            outcome, value = await decide(self._talk, hook, site, HookPoint.BEFORE_TOOL, payload)
            call = self._rewritten(hook, call, value)
            found = _judgement(f"hook {self._talk.plugin}:{hook.spec.id}", outcome)
            if found.action:
                break
        # As text: True and 1 are the same to Python.
        made = codec.dumps(call.input)
        return attrs.evolve(found, args=None if made == codec.dumps(given) else made)

    def _rewritten(self, hook: Hook, call: ToolCall, value: Any) -> ToolCall:
        """The call with the input that a hook gives it. Raises ProtocolError.

        A value of another kind is ignored, as the wire has it. One that names another tool is
        a failure of the hook: its input was meant for something else.
        """
        if value is None or value.get("kind") != "call":
            return call
        new = read(HookValueCall, value).call
        where = f"hook {self._talk.plugin}:{hook.spec.id}"
        if new.name != call.name:
            text = f"{where} rewrote a call of {call.name} into one of {new.name[:80]!r}"
            raise ProtocolError(self._talk.plugin, DECIDE, text)
        if new.call_id != call.call_id:
            self._talk.link.log(f"warning: {where} changed the id of a call, which does not count")
        return attrs.evolve(call, input=new.input)


def _judgement(hook: str, outcome: HookOutcome) -> Judgement:
    if isinstance(outcome, HookDeny | HookBlock):
        return Judgement("deny", f"{hook}: {outcome.reason}")
    if isinstance(outcome, HookAsk):
        return Judgement("ask", f"{hook}: {outcome.reason}")
    return Judgement()  # to redirect makes no sense here


def _keep(kept: OrderedDict[_Key, list[Judgement]], key: _Key, found: Judgement) -> None:
    same = kept.setdefault(key, [])
    same.append(found)
    del same[:-_KEPT_SAME]
    kept.move_to_end(key)
    while len(kept) > _KEPT:
        kept.popitem(last=False)


def _take(kept: OrderedDict[_Key, list[Judgement]], key: _Key) -> Judgement | None:
    found = kept.get(key)
    if not found:
        return None
    last = found.pop()  # older ones may be of calls that were never made
    if not found:
        del kept[key]
    return last
