"""What is sent: the same hook input and tool arguments for all rows."""

from __future__ import annotations

import json
from typing import Any

HOOK = "permission.ask"
TOOL = "echo"
SHORT_TEXT = "the quick brown fox " * 5

# Some 350 bytes as a request: a shell command that an agent wants to run.
HOOK_INPUT: dict[str, Any] = {
    "sessionId": "ses_01j9zq5w8h3k7m2n4p6r8t0v2x",
    "permission": "bash",
    "toolName": "bash",
    "toolArgs": json.dumps(
        {
            "command": "git -C /srv/app push --force-with-lease origin topic:forbidden",
            "description": "Publish the rewritten topic branch",
            "timeout": 120000,
        }
    ),
}
HOOK_PARAMS = {"name": HOOK, "input": HOOK_INPUT}
HOOK_OUTPUT = {"allowed": False, "reason": "the command contains: forbidden"}


def tool_params(text: str) -> dict[str, Any]:
    """The params of a tool call as the host sends them, for an empty context."""
    context = {"sessionId": "", "directory": ""}
    return {"name": TOOL, "args": {"text": text}, "context": context}


def expect(what: str, answer: object, wanted: object) -> None:
    """Refuse to measure what does not do its work. Raises RuntimeError."""
    if answer != wanted:
        raise RuntimeError(f"{what} answered {answer!r:.200} instead of {wanted!r:.200}")
