"""The plugin: reads its options, then answers three tools."""

from tinyhost_sdk import HandlerError, InitializeEvent, Plugin, Tool, ToolContext

from .options import MOST_SHOWN, Options, read_options

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
        "maximum": MOST_SHOWN,
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

        args = _known(args, "content", "limit")
        text = _text(args, "content", options.max_characters)
        limit = _limit(args.get("limit"), options.limit)
        return report(_reading(lint, text, options), limit)

    def content_of(args: "Any") -> str:
        return _text(_known(args, "content"), "content", options.max_characters)

    def bootc(args: "Any", _context: ToolContext) -> str:
        from .bootc import validate

        return str(_reading(validate, content_of(args)))

    def base(args: "Any", _context: ToolContext) -> str:
        from .suggest import suggest

        return suggest(_text(_known(args, "useCase"), "useCase", options.max_characters))

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
                permission="read",
            ),
            Tool(
                "bootc_validate",
                "Check whether a Containerfile makes an image for bootc, which machines boot from.",
                _schema(_CONTENT, "content"),
                bootc,
                permission="read",
            ),
            Tool(
                "container_base_suggest",
                "Say which Red Hat Universal Base Image suits a stack.",
                _schema(_USE_CASE, "useCase"),
                base,
                permission="read",
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


def _known(args: "Any", *names: str) -> "Any":
    """The arguments. Raises HandlerError for one that the tool does not have."""
    if type(args) is not dict:
        raise HandlerError(f"the arguments have to be an object with {', '.join(names)}")
    for name in args:
        if name not in names:
            from .._shared.table import cell

            raise HandlerError(f"there is no argument {cell(name)}; there are {', '.join(names)}")
    return args


def _text(args: "Any", name: str, most: int) -> str:
    value = args.get(name)
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
    if not whole or not 1 <= value <= MOST_SHOWN:
        raise HandlerError(f"limit has to be a whole number from 1 to {MOST_SHOWN}")
    return int(value)


def _reading(read: "Any", *args: "Any") -> "Any":
    from .containerfile import TooManyStagesError

    try:
        return read(*args)
    except TooManyStagesError as error:
        raise HandlerError(str(error)) from None
