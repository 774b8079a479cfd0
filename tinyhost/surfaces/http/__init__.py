"""The HTTP API of a running host. It needs the extra `http`; see docs/http.md."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ConfigError

if TYPE_CHECKING:
    from ...running import RunningHost
    from ..serving import Surface
    from .surface import MakeApp

__all__ = ["PAGE", "http_surface"]

PAGE = str(Path(__file__).parent / "page")  # for `pages`

_EXTRA = (
    "HTTP needs the Python packages starlette and h11, which come with tinyhost's extra http:"
    " pip install 'tinyhost-runtime[http]'"
)


def http_surface(
    bind: str = "127.0.0.1:4096",
    *,
    mounts: Mapping[str, MakeApp] | None = None,
    pages: str | None = None,
    names: Sequence[str] = (),
) -> Callable[[RunningHost], Surface]:
    """A surface for `Service.surfaces`.

    bind: "HOST:PORT"; port 0 takes any that is free. mounts: path, as "/mcp" -> what makes an
    ASGI app for it; only who has the token reaches it. pages: a folder whose files are shown
    at "/" to anyone, so they hold nothing secret. names: further names that the server may be
    called by, as behind a proxy with TLS.

    Raises ConfigError for a bind or a name that is not one, and when the extra is not installed.
    """
    if not all(map(importlib.util.find_spec, ("h11", "starlette"))):
        raise ConfigError(_EXTRA)
    from .access import parse_bind, parse_name
    from .surface import HttpSurface

    parse_bind(bind)
    further = tuple(map(parse_name, names))

    def make(running: RunningHost) -> Surface:
        return HttpSurface(
            bind=bind,
            running=running,
            mounts=dict(mounts or {}),
            pages=pages,
            names=further,
        )

    return make
