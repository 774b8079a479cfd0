"""The plugin: reads its options, then answers three tools."""

from tinyhost_sdk import HandlerError, InitializeEvent, Plugin, Tool, ToolContext

from .options import Options, read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONTENT = {
    "content": {"type": "string", "description": "The whole text of the Containerfile"},
}
_LIMIT = {
    "limit": {
        "type": "integer",
        "minimum": 1,
        "description": "How many findings to show; the default is the plugin's option",
    },
}
_USE_CASE = {
    "useCase": {
        "type": "string",
        "description": "What is to run, such as: a FastAPI service, a Quarkus application",
    },
}


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    options = Options()

    def initialize(event: InitializeEvent) -> None:
        nonlocal options
        options = read_options(event.options)

    def lint(args: "Any", _context: ToolContext) -> str:
        # The rules are loaded with the first call, not while the plugin starts.
        from .findings import report
        from .lint import lint

        text = _text(args, "content", options.max_characters)
        limit = _limit(args.get("limit"), options.limit)
        return report(_reading(lint, text, options), limit)

    def bootc(args: "Any", _context: ToolContext) -> str:
        from .bootc import validate

        return str(_reading(validate, _text(args, "content", options.max_characters)))

    def base(args: "Any", _context: ToolContext) -> str:
        from .suggest import suggest

        return suggest(_text(args, "useCase", options.max_characters))

    return Plugin(
        "container-linter",
        version="1.0",
        tools=[
            Tool(
                "container_lint",
                "Check a Containerfile or Dockerfile: base images, tags, users, secrets, labels,"
                " layers, syntax. Each finding has a line, a rule and a fix.",
                _schema(_CONTENT | _LIMIT, "content"),
                lint,
            ),
            Tool(
                "bootc_validate",
                "Check whether a Containerfile makes an image for bootc, which machines boot from.",
                _schema(_CONTENT, "content"),
                bootc,
            ),
            Tool(
                "container_base_suggest",
                "Say which Red Hat Universal Base Image suits a stack.",
                _schema(_USE_CASE, "useCase"),
                base,
            ),
        ],
        on_initialize=initialize,
    )


def _schema(properties: "dict[str, Any]", required: str) -> "dict[str, Any]":
    return {
        "type": "object",
        "properties": properties,
        "required": [required],
        "additionalProperties": False,
    }


def _text(args: "Any", name: str, most: int) -> str:
    value = args.get(name) if type(args) is dict else None
    if type(value) is not str:
        fault = "is missing" if value is None else "is of another type"
        raise HandlerError(f"the argument {name} {fault}: it has to be a text")
    if len(value) > most:
        raise HandlerError(
            f"{name} has {len(value)} characters; at most {most} are read"
            " (the plugin's option maxCharacters)"
        )
    return value


def _limit(value: "Any", default: int) -> int:
    if value is None:
        return default
    # To JSON, 3.0 is a whole number.
    whole = type(value) is int or (type(value) is float and value.is_integer())
    if not whole or value < 1:
        raise HandlerError("limit has to be a whole number from 1")
    return int(value)


def _reading(read: "Any", *args: "Any") -> "Any":
    from .containerfile import TooManyStagesError

    try:
        return read(*args)
    except TooManyStagesError as error:
        raise HandlerError(str(error)) from None
