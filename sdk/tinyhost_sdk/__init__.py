"""Write tinyhost plugins: a Plugin, its tools and hooks, and run()."""

from .errors import DefinitionError, HandlerError
from .events import (
    InitializeEvent,
    PermissionAsk,
    PermissionOutput,
    SessionEnd,
    SessionStart,
    SessionStartOutput,
    ShellEnv,
    ShellEnvOutput,
    ToolExecuteAfter,
    ToolExecuteAfterOutput,
    ToolExecuteBefore,
    ToolExecuteBeforeOutput,
)
from .plugin import Hooks, Plugin
from .run import run
from .tool import Tool, ToolContext, ToolResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import testing

__all__ = [
    "DefinitionError",
    "HandlerError",
    "Hooks",
    "InitializeEvent",
    "PermissionAsk",
    "PermissionOutput",
    "Plugin",
    "SessionEnd",
    "SessionStart",
    "SessionStartOutput",
    "ShellEnv",
    "ShellEnvOutput",
    "Tool",
    "ToolContext",
    "ToolExecuteAfter",
    "ToolExecuteAfterOutput",
    "ToolExecuteBefore",
    "ToolExecuteBeforeOutput",
    "ToolResult",
    "run",
    "testing",
]


def __getattr__(name: str) -> object:
    # Plugins that run need no test driver.
    if name == "testing":
        from importlib import import_module

        return import_module("tinyhost_sdk.testing")
    raise AttributeError(f"module 'tinyhost_sdk' has no attribute {name!r}")
