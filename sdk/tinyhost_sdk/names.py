"""The words and numbers of the native wire, shared by host and plugins."""

PROTOCOL_VERSION = "1.0"

# Methods, host to plugin.
INITIALIZE = "initialize"
HOOK_INVOKE = "hook/invoke"
TOOL_CALL = "tool/call"
# Notifications. The host sends tool/cancel only to a plugin that offered to take it.
TOOL_CANCEL = "tool/cancel"  # host to plugin: {"id": <request id>}
TOOL_PROGRESS = "tool/progress"  # plugin to host: {"id": <request id>, "message": "..."}

# Error codes (JSON-RPC 2.0 section 5.1, and the native wire's own -32000).
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HANDLER_ERROR = -32000

SESSION_START = "session.start"
SESSION_END = "session.end"
PERMISSION_ASK = "permission.ask"
SHELL_ENV = "shell.env"
TOOL_EXECUTE_BEFORE = "tool.execute.before"
TOOL_EXECUTE_AFTER = "tool.execute.after"
DISPOSE = "dispose"

# The order in which plugins advertise them.
HOOKS = (
    SESSION_START,
    SESSION_END,
    PERMISSION_ASK,
    SHELL_ENV,
    TOOL_EXECUTE_BEFORE,
    TOOL_EXECUTE_AFTER,
    DISPOSE,
)

KIB = 1024
MIB = 1024 * KIB

MAX_LINE_FROM_PLUGIN = 10 * MIB
# The Go SDK reads lines with a 1 MiB scanner buffer and dies on a longer one.
MAX_LINE_TO_PLUGIN = 1 * MIB
MAX_DEPTH = 128
