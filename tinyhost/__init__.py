"""A plugin host for programs that act on a person's behalf.

    async with tinyhost.open_manager(tinyhost.load_config()) as manager:
        await manager.load("safety-net")

Names are imported when they are first used, so that using a part costs only that part.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would take longer than many a command
if TYPE_CHECKING:
    from typing import Any

    from . import hooks as hooks
    from . import ids as ids
    from .builtins.base import BuiltinPlugin as BuiltinPlugin
    from .builtins.base import BuiltinTool as BuiltinTool
    from .codec import RawJson as RawJson
    from .codec import dumps as dumps
    from .codec import loads as loads
    from .config import Config as Config
    from .config import load_config as load_config
    from .dispatch import Dispatcher as Dispatcher
    from .errors import CallDenied as CallDenied
    from .errors import CallTimeout as CallTimeout
    from .errors import ConfigError as ConfigError
    from .errors import FrameTooLarge as FrameTooLarge
    from .errors import InvalidCall as InvalidCall
    from .errors import LoadError as LoadError
    from .errors import ManagerClosed as ManagerClosed
    from .errors import OutcomeUncertain as OutcomeUncertain
    from .errors import PluginAlreadyLoaded as PluginAlreadyLoaded
    from .errors import PluginDied as PluginDied
    from .errors import PluginError as PluginError
    from .errors import PluginNotFound as PluginNotFound
    from .errors import PluginNotInstalled as PluginNotInstalled
    from .errors import PluginSkipped as PluginSkipped
    from .errors import ProtocolError as ProtocolError
    from .errors import RemoteError as RemoteError
    from .errors import TinyhostError as TinyhostError
    from .errors import ToolNotFound as ToolNotFound
    from .host import Command as Command
    from .host import Host as Host
    from .host import Outcome as Outcome
    from .host import Session as Session
    from .host import Verdict as Verdict
    from .layers import load_layers as load_layers
    from .manager import Manager as Manager
    from .manager_scope import open_manager as open_manager
    from .model import CallContext as CallContext
    from .model import ClientCallbacks as ClientCallbacks
    from .model import Confinement as Confinement
    from .model import Limits as Limits
    from .model import McpServer as McpServer
    from .model import PluginInfo as PluginInfo
    from .model import PluginSettings as PluginSettings
    from .model import PluginSpec as PluginSpec
    from .model import Sandbox as Sandbox
    from .model import State as State
    from .model import Timeouts as Timeouts
    from .model import ToolResult as ToolResult
    from .model import ToolSpec as ToolSpec
    from .offers import NotOffered as NotOffered
    from .offers import Offers as Offers
    from .opening import open_host as open_host
    from .outcomes import Caller as Caller
    from .permissions import Action as Action
    from .permissions import Origin as Origin
    from .plugin import Plugin as Plugin
    from .running import RunningHost as RunningHost

_HOME = {
    "builtins.base": ("BuiltinPlugin", "BuiltinTool"),
    "codec": ("RawJson", "dumps", "loads"),
    "config": ("Config", "load_config"),
    "dispatch": ("Dispatcher",),
    "errors": (
        "CallDenied",
        "CallTimeout",
        "ConfigError",
        "FrameTooLarge",
        "InvalidCall",
        "LoadError",
        "ManagerClosed",
        "OutcomeUncertain",
        "PluginAlreadyLoaded",
        "PluginDied",
        "PluginError",
        "PluginNotFound",
        "PluginNotInstalled",
        "PluginSkipped",
        "ProtocolError",
        "RemoteError",
        "TinyhostError",
        "ToolNotFound",
    ),
    "host": ("Command", "Host", "Outcome", "Session", "Verdict"),
    "layers": ("load_layers",),
    "manager": ("Manager",),
    "manager_scope": ("open_manager",),
    "model": (
        "CallContext",
        "ClientCallbacks",
        "McpServer",
        "Confinement",
        "Limits",
        "PluginInfo",
        "PluginSettings",
        "PluginSpec",
        "Sandbox",
        "State",
        "Timeouts",
        "ToolResult",
        "ToolSpec",
    ),
    "offers": ("NotOffered", "Offers"),
    "opening": ("open_host",),
    "outcomes": ("Caller",),
    "permissions": ("Action", "Origin"),
    "plugin": ("Plugin",),
    "running": ("RunningHost",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
__all__ = sorted(_MODULE_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    from importlib import import_module

    module = _MODULE_OF.get(name)
    if module is not None:
        value = getattr(import_module(f".{module}", __name__), name)
    elif name in ("hooks", "ids"):
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
