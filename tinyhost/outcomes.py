"""What a host hands out: sessions, verdicts on calls, their outcomes, commands to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from . import codec
from .asking import Asker
from .permissions import Action, Decision, Origin


@attrs.frozen(eq=False)
class Caller:
    """Whoever calls, where a host serves others than the one it was opened for.

    origin, asker: as for open_host. environ: the variables that commands start from; None
    means the host's own.
    """

    origin: Origin
    asker: Asker | None = None
    environ: Mapping[str, str] | None = None


@attrs.frozen
class Session:
    """One conversation or run. contexts: what plugins had to say at its start.

    caller: who makes the calls that are made with this; None is the one whom the host was
    opened for. Several may call in one session, each with an object of their own.
    """

    id: str
    directory: str
    contexts: Sequence[str] = ()
    caller: Caller | None = None


@attrs.frozen(kw_only=True)
class Verdict:
    """What became of a call before its tool ran.

    action: DENY, ASK (only for a client that asks its own user) or ALLOW.
    no_objection: nobody decided anything; a client goes on as if there were no host.
    args_text: what the tool is to run with. reason: who denies or asks, and why.
    """

    action: Action
    args_text: str
    reason: str = ""
    no_objection: bool = False
    rewritten: bool = False
    contexts: Sequence[str] = ()
    decision: Decision

    @property
    def args(self) -> Any:
        """The arguments as values."""
        return codec.loads(self.args_text.encode("utf-8", "surrogatepass"))


@attrs.frozen(kw_only=True)
class Outcome:
    """A call's result after all plugins saw it, and the contexts that came with it.

    details: the tool's, as in ToolResult, which plugins do not see; none where a plugin changed
    the content, as it may have taken out what stands there too.
    """

    content: str
    is_error: bool
    contexts: Sequence[str]
    verdict: Verdict
    details: Mapping[str, Any] = attrs.field(factory=dict)

    def text(self) -> str:
        """The content, and the contexts behind it where there are any."""
        if not self.contexts:
            return self.content
        return "\n".join([self.content, "", "[Hook Context]", *self.contexts])


@attrs.frozen
class Command:
    """A command as it is to be run: its words, all its variables, and where."""

    argv: Sequence[str]
    env: Mapping[str, str]
    directory: str
