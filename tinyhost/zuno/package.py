"""What a package of the form zuno.extension/v1 is, once its manifest has been checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

MANIFEST = "extension.json"
API_VERSION = "zuno.extension/v1"


@attrs.frozen
class Problem:
    """Something wrong with a manifest. path: dotted, "" for the whole file."""

    path: str
    reason: str

    def __str__(self) -> str:
        """path: reason"""
        return f"{self.path}: {self.reason}" if self.path else self.reason


@attrs.frozen(kw_only=True)
class ProcessRuntime:
    """A program that the package's tools run in. timeout: seconds for each request."""

    command: str
    args: Sequence[str] = ()
    timeout: float = 30.0

    kind = "process"


@attrs.frozen(kw_only=True)
class WasiRuntime:
    """A WebAssembly component, which tinyhost reads about and does not run."""

    artifact: str
    capabilities: Sequence[str] = ()
    environment: Sequence[str] = ()
    fuel: int = 10_000_000
    memory_mib: int = 64
    timeout: float = 30.0

    kind = "wasi"


@attrs.frozen(kw_only=True)
class Tool:
    """A tool of the package's process. parameters: JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    effect: str = "sideEffecting"
    replay: str = "never"
    concurrency: str = "exclusive"
    ui_intent: str = "generic"


@attrs.frozen(kw_only=True)
class Agent:
    """An agent's settings, for programs that have agents. None is not said.

    permission_rules: as written: a tool to an action, or to patterns with actions, in order.
    options: what the manifest has under other keys too, for the model's provider.
    """

    name: str
    model: str | None = None
    variant: str | None = None
    reasoning: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    prompt: str | None = None
    description: str | None = None
    mode: str | None = None
    hidden: bool | None = None
    color: str | None = None
    steps: int | None = None
    tools: Sequence[str] | None = None
    delegates: Sequence[str] | None = None
    required_skills: Sequence[str] | None = None
    permission_mode: str | None = None
    permission_rules: Mapping[str, str | Mapping[str, str]] = attrs.field(factory=dict)
    options: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Workflow:
    """A command that a person gives: a prompt, with places such as $ARGUMENTS in it."""

    name: str
    prompt: str
    description: str = ""


@attrs.frozen(kw_only=True)
class Skill:
    """Instructions that an agent can take up. content: Markdown."""

    name: str
    description: str
    content: str


@attrs.frozen(kw_only=True)
class Package:
    """A whole package. runtime is None for a package without code."""

    id: str
    description: str
    agents: Sequence[Agent] = ()
    workflows: Sequence[Workflow] = ()
    skills: Sequence[Skill] = ()
    runtime: ProcessRuntime | WasiRuntime | None = None
    tools: Sequence[Tool] = ()

    @property
    def kind(self) -> str:
        """process, wasi or declarative"""
        return self.runtime.kind if self.runtime else "declarative"

    def contributions(self) -> Sequence[tuple[str, str]]:
        """Kind and name of each thing that the package adds."""
        groups: Sequence[tuple[str, Sequence[Agent | Workflow | Skill | Tool]]] = (
            ("agent", self.agents),
            ("workflow", self.workflows),
            ("skill", self.skills),
            ("tool", self.tools),
        )
        return [(kind, entry.name) for kind, entries in groups for entry in entries]
