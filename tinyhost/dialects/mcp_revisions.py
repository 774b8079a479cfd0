"""MCP's revisions: which of them a server speaks, and what each request then carries.

There are two kinds. Up to 2025-11-25 a handshake begins a session ("legacy" here). From
2026-07-28 each request says for itself who asks and in which revision ("modern"), servers
send no requests, and what they need to know is asked for in their results. A server is asked
in the modern way first, and whatever is not a modern answer leads to the handshake.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from .. import codec
from ..errors import CallTimeout, ProtocolError, RemoteError
from .base import Link

LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = ("2026-07-28",)

DISCOVER = "server/discover"
INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
UNSUPPORTED_VERSION = -32022

_META = "io.modelcontextprotocol/"
VERSION_KEY = _META + "protocolVersion"
# Servers that pass over what they do not know never answer, and they are to be ready soon.
_PROBE = 3.0  # seconds


@attrs.frozen(kw_only=True)
class Spoken:
    """What was agreed on with a server, and what it said of itself.

    capabilities: the server's, by kind. offered: this side's.
    """

    version: str
    modern: bool
    capabilities: Mapping[str, Any]
    offered: Mapping[str, Any]
    name: str = ""
    server_version: str = ""
    instructions: str = ""

    def offers(self, kind: str) -> bool:
        """Whether the server has that capability."""
        return type(self.capabilities.get(kind)) is dict

    def tells_changes(self, kind: str) -> bool:
        """Whether the server says when its list of that kind changes."""
        return self.offers(kind) and self.capabilities[kind].get("listChanged") is True

    def meta(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What each request carries for the revision.

        more: capabilities that are there for this request alone.
        """
        offered = {**self.offered, **(more or {})}
        return modern_meta(self.version, offered) if self.modern else {}


def client_info() -> dict[str, str]:
    """How this client introduces itself."""
    try:
        version = importlib.metadata.version("tinyhost-runtime")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    return {"name": "tinyhost", "version": version}


def modern_meta(version: str, offered: Mapping[str, Any]) -> dict[str, Any]:
    """What a request of a modern revision says of itself."""
    return {
        VERSION_KEY: version,
        _META + "clientInfo": client_info(),
        _META + "clientCapabilities": offered,
        _META + "logLevel": "info",
    }


async def negotiate(
    link: Link, offered: Mapping[str, Any], in_handshake: Mapping[str, Any] | None = None
) -> Spoken:
    """Find out what the server speaks, and make it ready for requests.

    offered: this side's capabilities. in_handshake: those for a server that is told of them
    but once, where they are others. Raises ValueError when there is no common revision,
    and what the request of the handshake raises.
    """
    spoken = await _discover(link, MODERN[0], offered)
    if spoken is not None:
        return spoken
    try:
        return await _initialize(link, offered if in_handshake is None else in_handshake)
    except RemoteError as error:
        # A slow server that took the first question after all knows no handshake any more.
        versions = _named_versions(error)
        mutual = [version for version in MODERN if version in versions]
        spoken = await _discover(link, mutual[0], offered) if mutual else None
        if spoken is None:
            raise
        return spoken


async def _discover(
    link: Link, version: str, offered: Mapping[str, Any], *, again: bool = True
) -> Spoken | None:
    """None: not a modern server. again: ask once more if a revision that is known is named."""
    params = codec.dumps({"_meta": modern_meta(version, offered)})
    timeout = min(_PROBE, link.timeouts.handshake / 2)
    try:
        said = await link.request(DISCOVER, params, timeout=timeout)
    except RemoteError as error:
        versions = _named_versions(error)
        mutual = [known for known in MODERN if known in versions]
        if mutual and again:
            return await _discover(link, mutual[0], offered, again=False)
        if versions and not any(known in versions for known in LEGACY):
            raise ValueError(_no_common(versions)) from error
        return None
    except (CallTimeout, ProtocolError):
        return None
    if type(said) is not dict or type(said.get("supportedVersions")) is not list:
        return None
    common = [known for known in MODERN if known in said["supportedVersions"]]
    return _read_spoken(said, common[0], offered, modern=True) if common else None


def _named_versions(error: RemoteError) -> list[str]:
    """The revisions that the refusal of another one names."""
    data = error.data
    if error.code != UNSUPPORTED_VERSION or not isinstance(data, dict):
        return []
    versions = data.get("supported")
    return [str(version) for version in versions] if isinstance(versions, list) else []


def _no_common(versions: Sequence[str]) -> str:
    theirs = ", ".join(versions)[:200]
    return f"it speaks MCP {theirs}, and this host {', '.join((*MODERN, *LEGACY))}"


async def _initialize(link: Link, offered: Mapping[str, Any]) -> Spoken:
    asked = {"protocolVersion": LEGACY[0], "capabilities": offered, "clientInfo": client_info()}
    said = await link.request(INITIALIZE, codec.dumps(asked), timeout=link.timeouts.handshake)
    if type(said) is not dict:
        raise ValueError("its answer to initialize is not an object")
    version = said.get("protocolVersion")
    if version not in LEGACY:
        raise ValueError(_no_common([str(version)]))
    spoken = _read_spoken(said, version, offered, modern=False)
    link.notify(INITIALIZED, "{}")
    return spoken


def _read_spoken(
    said: Mapping[str, Any], version: str, offered: Mapping[str, Any], *, modern: bool
) -> Spoken:
    info = said.get("serverInfo")
    if modern:
        meta = said.get("_meta")
        info = meta.get(_META + "serverInfo") if type(meta) is dict else None
    if type(info) is not dict:
        info = {}
    capabilities = said.get("capabilities")
    if type(capabilities) is not dict:
        raise ValueError("its capabilities are not an object")
    return Spoken(
        version=version,
        modern=modern,
        capabilities=capabilities,
        offered=offered,
        name=_text(info, "name"),
        server_version=_text(info, "version"),
        instructions=_text(said, "instructions"),
    )


def _text(of: Mapping[str, Any], key: str) -> str:
    value = of.get(key)
    return value if type(value) is str else ""
