"""Run as a program: parses texts with BuildKit's own parser. JSON lines in, JSON lines out."""

from __future__ import annotations

import json
import sys
from typing import Any

import dockerfile


def parsed(text: str) -> list[Any] | None:
    """What each instruction is to BuildKit; None when it rejects the text."""
    try:
        commands = dockerfile.parse_string(text)
    except dockerfile.GoParseError:
        return None
    return [
        {
            "name": (one.cmd or "").upper(),
            "start": one.start_line,
            "end": one.end_line,
            "flags": list(one.flags),
            "json": one.json,
            "words": list(one.value),
            "heredocs": [
                [heredoc.name, heredoc.content.replace("\r\n", "\n")] for heredoc in one.heredocs
            ],
        }
        for one in commands
    ]


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(parsed(json.loads(line))), flush=True)
