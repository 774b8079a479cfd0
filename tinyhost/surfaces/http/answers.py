"""Answers: JSON, and errors in one form.

An error is `{"error": "text", "detail": {...}}`. Clients written for tinycode read the text;
others find in `detail` the type of the error and its fields, as all surfaces have them.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from ... import errors
from ...codec import dumps
from ...journal_read import JournalError
from ...present import error_value

# The most special first. What a plugin does wrong is a failure behind the host, not in it.
_STATUSES: tuple[tuple[type[errors.TinyhostError], int], ...] = (
    (errors.PluginNotFound, 404),
    (errors.ToolNotFound, 404),
    (errors.NotLoaded, 404),
    (errors.PluginAlreadyLoaded, 409),
    (errors.PluginSkipped, 409),
    (errors.InvalidCall, 400),
    (errors.CallDenied, 403),
    (errors.CallTimeout, 504),
    (errors.ManagerClosed, 503),
    (errors.ConfigError, 422),
    (errors.FrameTooLarge, 502),
    (errors.PluginError, 502),
    (JournalError, 404),
)


class Json(Response):
    """A JSON answer."""

    media_type = "application/json"

    def __init__(
        self, value: Any, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        # A plugin may have sent half a surrogate pair, which UTF-8 has no form for.
        data = dumps(value).encode("utf-8", "replace")
        super().__init__(data, status, headers)


class Refused(errors.TinyhostError):
    """A request that is answered by an error: its status, and headers that go with it."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        self._status, self._headers = status, headers
        super().__init__(message)

    @property
    def answer(self) -> Json:
        """The answer."""
        names = {name.replace("_", "-"): value for name, value in self._headers.items()}
        return error_answer(self._status, str(self), {"type": _word(self._status)}, names)


def _word(status: int) -> str:
    return HTTPStatus(status).phrase.title().replace(" ", "").replace("-", "")


def error_answer(
    status: int,
    message: str,
    detail: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
) -> Json:
    """An error in the form that all have."""
    return Json({"error": message, "detail": dict(detail)}, status, headers)


def failure_answer() -> Json:
    """The answer to what failed for a reason that is nobody's business but the log's."""
    message = "the host failed to answer; its log says why"
    return error_answer(500, message, {"type": "InternalError"})


def answer_of(error: errors.TinyhostError) -> Json:
    """The answer that tells of an error."""
    if isinstance(error, Refused):
        return error.answer
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
    detail = error_value(error)
    return error_answer(status, str(detail.pop("message")), detail)
