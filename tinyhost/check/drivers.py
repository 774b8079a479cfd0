"""What differs between the wires when a plugin is checked; the rest is the dialect object's."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from tinyhost_sdk import names

from .. import codec

NOTHING = "tinyhost-check-no-such-thing"
_METHOD = "tinyhost/no-such-method"


@attrs.frozen(kw_only=True)
class Driver:
    """Raw requests of one wire. Params are JSON text, and have no effect on any plugin.

    unknown_tool: a call of a tool that does not exist: the method, and the params with the
        arguments' place marked by "@ARGS@".
    tool_codes: error codes that say so; empty if any will do.
    says_so_in_result: a result with isError may say so as well.
    method_codes: the same, for methods that do not exist.
    wrong_params: requests with params of the wrong form.
    notifications: what may be sent without harm, and must not be answered.
    cancels: notifications that cancel what is not under way.
    max_line: bytes of the longest line that any plugin of this wire has to read.
    probes: harmless requests, one of which every plugin answers.
    """

    unknown_tool: tuple[str, str]
    tool_codes: frozenset[int] = frozenset()
    says_so_in_result: bool = False
    method_codes: frozenset[int] = frozenset()
    wrong_params: Sequence[tuple[str, str]] = ()
    notifications: Sequence[tuple[str, str]] = ()
    cancels: Sequence[tuple[str, str]] = ()
    max_line: int = names.MAX_LINE_TO_PLUGIN
    probes: Sequence[tuple[str, str]] = ()
    unknown_method: str = _METHOD

    def call_nothing(self, args: str = "{}") -> tuple[str, str]:
        """A call of a tool that does not exist, with these arguments."""
        method, params = self.unknown_tool
        return method, params.replace("@ARGS@", args)

    def harmless(self) -> Sequence[tuple[str, str]]:
        """Requests to try until one is answered, the most harmless first."""
        return [*self.probes, (self.unknown_method, "{}"), self.call_nothing()]


def _text(name: str = NOTHING) -> str:
    return codec.dumps(name)


DRIVERS = {
    "native": Driver(
        unknown_tool=(
            names.TOOL_CALL,
            f'{{"name":{_text()},"args":@ARGS@,"context":{{"sessionId":"ses_check","directory":"/"}}}}',
        ),
        tool_codes=frozenset({names.INVALID_PARAMS}),
        method_codes=frozenset({names.METHOD_NOT_FOUND}),
        wrong_params=[
            (names.TOOL_CALL, "{}"),
            (names.TOOL_CALL, "[]"),
            (names.TOOL_CALL, '{"name":7,"args":{}}'),
        ],
        notifications=[
            (_METHOD, "{}"),
            (names.TOOL_CALL, f'{{"name":{_text()},"args":{{}}}}'),
        ],
        cancels=[
            (names.TOOL_CANCEL, '{"id":424242}'),
            (names.TOOL_CANCEL, '{"id":1}'),
            (names.TOOL_CANCEL, '{"id":"1"}'),
            (names.TOOL_CANCEL, "{}"),
        ],
    ),
    "zuno": Driver(
        unknown_tool=(
            "tools/call",
            f'{{"tool":{_text()},"arguments":@ARGS@,"sessionId":"ses_check","messageId":"m",'
            '"callId":"c","agent":"check"}',
        ),
        wrong_params=[("tools/call", "{}"), ("tools/call", '{"tool":7,"arguments":[]}')],
        max_line=8 * names.MIB,
    ),
    "bingo": Driver(
        unknown_tool=(
            "tool/call",
            f'{{"callId":"check","name":{_text()},"input":@ARGS@,"cwd":"/","session":"check",'
            '"turn":"check"}',
        ),
        says_so_in_result=True,
        wrong_params=[("tool/call", "{}"), ("tool/call", '{"name":7}')],
        notifications=[(_METHOD, "{}"), ("tool/cancel", '{"callId":"never"}')],
        cancels=[("tool/cancel", '{"callId":"never"}'), ("provider/cancel", '{"call":"never"}')],
    ),
    "mcp": Driver(
        unknown_tool=("tools/call", f'{{"name":{_text()},"arguments":@ARGS@}}'),
        says_so_in_result=True,
        method_codes=frozenset({names.METHOD_NOT_FOUND}),
        wrong_params=[("tools/call", "{}"), ("tools/call", '{"name":7}')],
        notifications=[
            ("notifications/tinyhost/unknown", "{}"),
            ("notifications/cancelled", '{"requestId":424242,"reason":"check"}'),
        ],
        cancels=[("notifications/cancelled", '{"requestId":424242,"reason":"check"}')],
        probes=[("ping", "{}")],
    ),
}
