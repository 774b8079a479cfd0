"""The params and results of the methods and notifications of bingo's wire.

Those of contexts and of hooks are in context_messages and hook_messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import attrs

from .asking_types import Answer, Question
from .forms import Choice, Uint32, tagged
from .model_types import ModelEvent, ModelRequest, ProviderError
from .session_types import ItemBody
from .types import (
    CommandSpec,
    CompactorSpec,
    Completion,
    ContributorSpec,
    HookSpec,
    Level,
    ProviderSpec,
    ServiceSpec,
    ToolOutput,
    ToolSpec,
)
from .views import View

# --- initialize


@attrs.frozen(kw_only=True)
class HostFolders:
    """Folders of the host's; a plugin keeps its own state below dataDir."""

    home: str
    config_dir: str
    data_dir: str


@attrs.frozen(kw_only=True)
class InitializeParams:
    """The host's side of the handshake; config is null when there is none."""

    protocol: Uint32
    plugin_root: str
    config: Any
    env: HostFolders


@attrs.frozen(kw_only=True)
class InitializeResult:
    """The plugin's side: what it is, and all that it offers."""

    protocol: Uint32
    name: str
    version: str
    tools: tuple[ToolSpec, ...] = ()
    commands: tuple[CommandSpec, ...] = ()
    contributors: tuple[ContributorSpec, ...] = ()
    compactors: tuple[CompactorSpec, ...] = ()
    providers: tuple[ProviderSpec, ...] = ()
    hooks: tuple[HookSpec, ...] = ()
    services: Mapping[str, ServiceSpec] = attrs.field(factory=dict)


# --- tools


@attrs.frozen(kw_only=True)
class ToolCallParams:
    """Run a tool."""

    call_id: str
    name: str
    input: Any
    cwd: str
    session: str
    turn: str


@attrs.frozen(kw_only=True)
class ToolCallResult:
    """What it put out."""

    output: ToolOutput


@attrs.frozen(kw_only=True)
class ToolProgress:
    """The last line of a running call, in place of the one before."""

    call_id: str
    tail: str


@attrs.frozen(kw_only=True)
class ToolCancel:
    """Nobody waits for the call any more."""

    call_id: str


# --- commands


@tagged("kind", "applied")
@attrs.frozen(kw_only=True)
class OutcomeApplied:
    """It is done."""

    message: str | None = None


@tagged("kind", "view")
@attrs.frozen(kw_only=True)
class OutcomeView:
    """It shows something."""

    view: View


@tagged("kind", "prompt")
@attrs.frozen(kw_only=True)
class OutcomePrompt:
    """Text to be put to the model, as if it had been typed."""

    text: str


@tagged("kind", "record")
@attrs.frozen(kw_only=True)
class OutcomeRecord:
    """An entry for the conversation."""

    body: ItemBody


CommandOutcome = Annotated[
    OutcomeApplied | OutcomeView | OutcomePrompt | OutcomeRecord, Choice("CommandOutcome")
]


@attrs.frozen(kw_only=True)
class CommandRunParams:
    """Run a command; args is what was typed behind its name, as it is."""

    name: str
    args: str
    cwd: str
    session: str


@attrs.frozen(kw_only=True)
class CommandRunResult:
    """What came of it."""

    outcome: CommandOutcome


@attrs.frozen(kw_only=True)
class CommandCompleteParams:
    """How could the arguments go on?"""

    name: str
    partial: str
    cwd: str


@attrs.frozen(kw_only=True)
class CommandCompleteResult:
    """Like this."""

    completions: tuple[Completion, ...] = ()


# --- providers


@attrs.frozen(kw_only=True)
class ProviderStreamParams:
    """Ask for a response; call is the host's name for the stream."""

    id: str
    call: str
    request: ModelRequest


@attrs.frozen(kw_only=True)
class ProviderStreamResult:
    """The end of the stream."""

    error: ProviderError | None = None


@attrs.frozen(kw_only=True)
class ProviderDelta:
    """More of a response."""

    call: str
    event: ModelEvent


@attrs.frozen(kw_only=True)
class ProviderCancel:
    """Nobody waits for the response any more."""

    call: str


# --- services


@attrs.frozen(kw_only=True)
class ServiceCallParams:
    """Call a method of a service."""

    key: str
    method: str
    params: Any = attrs.field(default=None, metadata={"always": True})


@attrs.frozen(kw_only=True)
class ServiceCallResult:
    """What it answered."""

    result: Any = attrs.field(default=None, metadata={"always": True})


@attrs.frozen(kw_only=True)
class AskParams:
    """bingo.host ask: put a question to the person, for a call that runs."""

    call: str
    question: Question


@attrs.frozen(kw_only=True)
class AskResult:
    """bingo.host ask: the answer."""

    answer: Answer


@attrs.frozen(kw_only=True)
class NoticeParams:
    """bingo.host notice: say a line to the person."""

    message: str
    level: Level = Level.INFO


@attrs.frozen(kw_only=True)
class NoticeResult:
    """bingo.host notice: done."""
