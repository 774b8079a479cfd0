"""Checks of single requests: such as make no sense, and such as must not be answered."""

from __future__ import annotations

from collections.abc import Set

from tinyhost_sdk import wire

from .case import Case
from .model import Failed, Skipped

# Beyond 32 bits, and the greatest whole number that a double holds exactly.
_IDS = (7, 1_000_003, 2**31 + 9, 2**53 - 1)


async def unknown_method(case: Case) -> str:
    """Told as what it is."""
    await case.start()
    answer = await case.ask(case.driver.unknown_method, "{}")
    return _expect_error(answer, case.driver.method_codes, "a method that does not exist")


async def unknown_tool(case: Case) -> str:
    """Told as what it is."""
    await case.start()
    answer = await case.ask(*case.driver.call_nothing())
    if case.driver.says_so_in_result and _is_error_result(answer):
        return "told in a result with isError"
    return _expect_error(answer, case.driver.tool_codes, "a tool that does not exist")


def _expect_error(answer: wire.Response, codes: Set[int], what: str) -> str:
    if answer.error is None:
        raise Failed(f"{what} was answered with a result, as if it did")
    if codes and answer.error.code not in codes:
        wanted = " or ".join(str(code) for code in sorted(codes))
        raise Failed(f"{what} was answered with the error {answer.error.code}, not {wanted}")
    return f"error {answer.error.code}"


def _is_error_result(answer: wire.Response) -> bool:
    result = answer.result
    if isinstance(result, dict) and isinstance(result.get("output"), dict):
        result = result["output"]
    return isinstance(result, dict) and result.get("isError") is True


async def wrong_params(case: Case) -> str:
    """Refused with an error, and survived."""
    await case.start()
    for method, params in case.driver.wrong_params:
        answer = await case.ask(method, params)
        told = case.driver.says_so_in_result and _is_error_result(answer)
        if answer.error is None and not told:
            raise Failed(f"{method} with the params {params} was answered with a result")
    await _without_params(case)
    await case.still_answers("requests with wrong params")
    return ""


async def _without_params(case: Case) -> None:
    assert case.session is not None
    method = case.driver.wrong_params[0][0]
    id, frame = case.session.request(method, "{}")
    answer = await case.send(frame.replace(b',"params":{}', b""), id, f"{method} without params")
    if answer.error is None and not _is_error_result(answer):
        raise Failed(f"{method} without params was answered with a result")


async def notifications(case: Case) -> str:
    """Not answered."""
    session = await case.start()
    before = len(session.strays)
    frames = [wire.notification(*notification) for notification in case.driver.notifications]
    for frame in frames:
        await case.write(frame)
    # What it says to them comes before the answer to what was sent later.
    await case.still_answers("notifications")
    if len(session.strays) > before:
        raise Failed(f"a notification was answered: {session.strays[before]}")
    return f"{len(frames)} passed over"


async def ids(case: Case) -> str:
    """Come back as they were."""
    await case.start()
    for id in _IDS:
        await case.ping(id=id)
    return f"up to {max(_IDS)}"


async def cancel_nothing(case: Case) -> str:
    """What is not under way can be cancelled without harm."""
    if not case.manifest.cancel:
        raise Skipped("it does not offer cancel")
    if not case.driver.cancels:
        raise Skipped("its wire has no such notification")
    session = await case.start()
    before = len(session.strays)
    await case.ping()
    for notification in case.driver.cancels:
        await case.write(wire.notification(*notification))
    await case.still_answers("the cancellation of what is not under way")
    if len(session.strays) > before:
        raise Failed(f"a cancellation was answered: {session.strays[before]}")
    return ""
