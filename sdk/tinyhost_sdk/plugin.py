"""Declaring a plugin: its tools and hooks, as objects or with decorators."""

from . import names
from .errors import DefinitionError
from .tool import Tool, check_callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar, overload

    from . import events

    F = TypeVar("F", bound=Callable[..., Any])
    SessionStartHandler = Callable[
        [events.SessionStart], events.SessionStartOutput | str | Sequence[str] | None
    ]
    PermissionAskHandler = Callable[[events.PermissionAsk], events.PermissionOutput | bool | None]
    ShellEnvHandler = Callable[
        [events.ShellEnv], events.ShellEnvOutput | Mapping[str, str | None] | None
    ]
    BeforeHandler = Callable[[events.ToolExecuteBefore], events.ToolExecuteBeforeOutput | None]
    AfterHandler = Callable[[events.ToolExecuteAfter], events.ToolExecuteAfterOutput | None]


class Hooks:
    """The plugin's handlers. Only those that are set are advertised.

    Each takes its event and may return None for "no opinion"; `dispose` takes nothing and
    runs once, when the plugin is let go. `custom` maps names of a host's own events to
    functions that take the event's JSON value and may return one.

    An exception is answered as an error with the exception's text. In tool.execute.before
    that keeps the tool from running.

    Raises DefinitionError.
    """

    __slots__ = ("_handlers",)

    def __init__(
        self,
        *,
        session_start: "SessionStartHandler | None" = None,
        session_end: "Callable[[events.SessionEnd], Any] | None" = None,
        permission_ask: "PermissionAskHandler | None" = None,
        shell_env: "ShellEnvHandler | None" = None,
        tool_execute_before: "BeforeHandler | None" = None,
        tool_execute_after: "AfterHandler | None" = None,
        dispose: "Callable[[], Any] | None" = None,
        custom: "Mapping[str, Callable[[Any], Any]] | None" = None,
    ) -> None:
        self._handlers: dict[str, Callable[..., Any]] = {}
        given = (
            session_start,
            session_end,
            permission_ask,
            shell_env,
            tool_execute_before,
            tool_execute_after,
            dispose,
        )
        for name, handler in zip(names.HOOKS, given, strict=True):
            if handler is not None:
                self.add(name, handler)
        for name, handler in (custom or {}).items():
            self.add(name, handler, custom=True)

    def add(self, name: str, handler: "Callable[..., Any]", *, custom: bool = False) -> None:
        """Set one handler. A name that is not one of names.HOOKS needs custom=True."""
        if not isinstance(name, str) or not name.strip():
            raise DefinitionError(f"hook name {name!r} is not a name")
        if custom and name in names.HOOKS:
            raise DefinitionError(f"hook {name} is not a custom hook; its name is reserved")
        if not custom and name not in names.HOOKS:
            raise DefinitionError(
                f"there is no hook {name!r}: use one of {', '.join(names.HOOKS)},"
                " or say custom=True for an event of the host's own"
            )
        if name in self._handlers:
            raise DefinitionError(f"hook {name} has two handlers")
        check_callable(handler, f"hook {name}", () if name == names.DISPOSE else ("event",))
        self._handlers[name] = handler

    def get(self, name: str) -> "Callable[..., Any] | None":
        return self._handlers.get(name)

    def names(self) -> "list[str]":
        """The names to advertise: in the order of names.HOOKS, then the custom ones."""
        standard = [name for name in names.HOOKS if name in self._handlers]
        return standard + [name for name in self._handlers if name not in names.HOOKS]


class Plugin:
    """A plugin: what it offers, and how much it takes at a time.

    id: the name that the plugin gives itself.
    concurrency: how many requests may run side by side, in threads; with more than one,
        calls can be cancelled.
    max_line_bytes: the longest request that it reads, newline included.
    on_initialize: called with an InitializeEvent before anything else; it may read the
        options, and add tools and hooks. An exception refuses the start with its text.

    Raises DefinitionError.
    """

    def __init__(
        self,
        id: str,
        *,
        tools: "Iterable[Tool]" = (),
        hooks: "Hooks | None" = None,
        version: str = "",
        concurrency: int = 1,
        max_line_bytes: int = names.MAX_LINE_FROM_PLUGIN,
        on_initialize: "Callable[[events.InitializeEvent], Any] | None" = None,
    ) -> None:
        if not isinstance(id, str) or not id.strip():
            raise DefinitionError(f"plugin id {id!r} is not a name")
        if not isinstance(version, str):
            raise DefinitionError(f"plugin {id}: version is not text")
        if type(concurrency) is not int or concurrency < 1:
            raise DefinitionError(f"plugin {id}: concurrency is not a number from 1")
        if type(max_line_bytes) is not int or max_line_bytes < names.KIB:
            raise DefinitionError(f"plugin {id}: max_line_bytes is not a number from {names.KIB}")
        if hooks is not None and not isinstance(hooks, Hooks):
            raise DefinitionError(f"plugin {id}: hooks is a {type(hooks).__name__}, not a Hooks")
        self.id = id
        self.version = version
        self.concurrency = concurrency
        self.max_line_bytes = max_line_bytes
        self.hooks = Hooks() if hooks is None else hooks
        self.tools: dict[str, Tool] = {}
        self.initializer: Callable[[events.InitializeEvent], Any] | None = None
        for tool in tools:
            self.add_tool(tool)
        if on_initialize is not None:
            self.on_initialize(on_initialize)

    def add_tool(self, tool: Tool) -> None:
        """Offer one more tool. Raises DefinitionError for a name that is taken."""
        if not isinstance(tool, Tool):
            raise DefinitionError(f"plugin {self.id}: {tool!r:.80} is not a Tool")
        if tool.name in self.tools:
            raise DefinitionError(f"plugin {self.id}: there are two tools named {tool.name}")
        self.tools[tool.name] = tool

    if TYPE_CHECKING:

        @overload
        def tool(self, fn: F, /) -> F: ...

        @overload
        def tool(
            self,
            fn: None = None,
            /,
            *,
            name: str | None = None,
            description: str | None = None,
            parameters: Mapping[str, Any] | None = None,
            permission: str | None = None,
        ) -> Callable[[F], F]: ...

    def tool(
        self,
        fn: "Any" = None,
        /,
        *,
        name: "str | None" = None,
        description: "str | None" = None,
        parameters: "Mapping[str, Any] | None" = None,
        permission: "str | None" = None,
    ) -> "Any":
        """Make a function a tool; to be used with or without parentheses.

        The name is the function's, the description its docstring. Without `parameters` the
        schema comes from the annotations, arguments are checked against it and go in by
        name; a parameter annotated ToolContext, or named context, receives the context.
        With `parameters` the function is called with (args, context), unchecked.
        """

        def add(fn: "F") -> "F":
            label = name if name is not None else getattr(fn, "__name__", repr(fn))
            text, schema = description, parameters
            execute: Callable[..., Any] = fn
            if schema is None or text is None:
                from . import signature

                if text is None:
                    text = signature.docstring(fn)
                if schema is None:
                    schema, execute = signature.adapt(fn, label)
            self.add_tool(Tool(label, text, schema, execute, permission))
            return fn

        return add if fn is None else add(fn)

    def hook(self, name: str, /, *, custom: bool = False) -> "Callable[[F], F]":
        """Make a function the handler of a hook, such as "permission.ask".

        custom=True declares a name of the host's own; a mistyped name is an error without it.
        Raises DefinitionError, also for a name that was left out.
        """
        if not isinstance(name, str):  # else `@plugin.hook` alone would declare nothing
            given = getattr(name, "__name__", repr(name))
            raise DefinitionError(
                f"plugin {self.id}: which hook does {given} handle? Name it, as in"
                ' @plugin.hook("permission.ask")'
            )

        def add(fn: "F") -> "F":
            self.hooks.add(name, fn, custom=custom)
            return fn

        return add

    def on_initialize(self, fn: "F") -> "F":
        """Have a function called with the InitializeEvent, before the handshake is answered."""
        if self.initializer is not None:
            raise DefinitionError(f"plugin {self.id}: on_initialize is set twice")
        check_callable(fn, f"plugin {self.id}: on_initialize", ("event",))
        self.initializer = fn
        return fn

    def manifest(self) -> "dict[str, Any]":
        """The result of the handshake."""
        return {
            "id": self.id,
            "version": self.version,
            "tools": [tool.manifest() for tool in self.tools.values()],
            "hooks": self.hooks.names(),
            "protocol": {
                "concurrency": self.concurrency,
                "cancel": self.concurrency > 1,
                "progress": True,
                "maxLineBytes": self.max_line_bytes,
            },
        }
