"""Inputs and outputs of hooks: read strictly, or refused with ValueError; and back again."""

from __future__ import annotations

from tinyhost import codec, hooks
from tinyhost_sdk import names

HOOKS = [
    names.SESSION_START,
    names.SESSION_END,
    names.PERMISSION_ASK,
    names.SHELL_ENV,
    names.TOOL_EXECUTE_BEFORE,
    names.TOOL_EXECUTE_AFTER,
]
SEEDS = [
    b'{"sessionId":"s","directory":"/","additionalContext":["a","b"]}',
    b'{"sessionId":"s","toolName":"t","toolArgs":"{}","permission":"bash","allowed":true,"reason":"r"}',
    b'{"sessionId":"s","directory":"/","env":{"A":"1","B":null}}',
    b'{"sessionId":"s","toolName":"t","toolArgs":"{}","output":"o","isError":false}',
]


def check(data: bytes) -> None:
    """Read it as the input and the output of every hook."""
    try:
        value = codec.loads(data)
    except ValueError:
        return
    for name in HOOKS:
        spec = hooks.spec_of(name)
        for kind in (spec.input, spec.output):
            if kind is None:
                continue
            try:
                read = hooks.from_wire(kind, value)
            except ValueError as error:
                if not str(error):
                    raise
                continue
            assert hooks.from_wire(kind, hooks.to_wire(read)) == read


if __name__ == "__main__":
    import harness

    harness.main(check, SEEDS)
