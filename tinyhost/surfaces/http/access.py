"""Who may use the HTTP surface: the token, and the names under which it may be called.

Light: a command that only shows the address imports this and no HTTP library.
"""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from ... import paths
from ...errors import ConfigError

_NAME = "http-token"
_BYTES = 32
_LONGEST = 1024  # bytes of a token file
_PLAIN_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]*")
_ADDRESS = "use HOST:PORT, with a port up to 65535"
_PORT = re.compile(r"(:[0-9]*)?")


def token_file(environ: Mapping[str, str]) -> Path:
    """Where the person's token is."""
    return paths.state_dir(environ) / _NAME


def ensure_token(file: Path) -> str:
    """The token in that file, which is made at the first time.

    Raises ConfigError when others may read the file, or it is not the person's own, or it
    cannot be made.
    """
    try:
        return read_token(file)
    except FileNotFoundError:
        pass
    try:
        _make_token(file)
    except OSError as error:
        reason = f"the token for HTTP cannot be written: {error.strerror or error}"
        raise ConfigError(reason, file=str(file)) from None
    return read_token(file)


def _make_token(file: Path) -> None:
    paths.make_private(file.parent)
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "w") as stream:  # noqa: PTH123 (a descriptor, not a path)
            stream.write(secrets.token_urlsafe(_BYTES) + "\n")
        try:
            os.link(temporary, file)  # which only one of several hosts succeeds in
        except FileExistsError:
            pass
    finally:
        temporary.unlink()


def read_token(file: Path) -> str:
    """The token in that file. Raises FileNotFoundError, and ConfigError as ensure_token does."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"the token cannot be read: {error.strerror}", file=str(file)) from None
    with open(handle, "rb") as stream:  # noqa: PTH123 (a descriptor, not a path)
        status = os.fstat(handle)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            reason = "others may read or have written the token; delete the file for a new one"
            raise ConfigError(reason, file=str(file))
        text = stream.read(_LONGEST).decode("ascii", "replace").strip()
    if len(text) < _BYTES or not text.isprintable() or " " in text:
        raise ConfigError("is not a token; delete the file for a new one", file=str(file))
    return text


def page_url(address: str, token: str) -> str:
    """The address of the page, with the token where no server and no log sees it.

    A browser keeps what stands behind the # to itself.
    """
    return f"{address}/#token={token}"


def parse_bind(text: str) -> tuple[str, int]:
    """Host and port of "HOST:PORT", ":PORT", "PORT", "HOST" or "[V6]:PORT".

    The host is 127.0.0.1 and the port 4096 where none is named. Raises ConfigError.
    """
    host, port = _split(text.strip())
    try:
        number = int(port) if port.isascii() and port.isdigit() else -1
    except ValueError:
        number = -1
    if not 0 <= number <= 65535:
        raise ConfigError(f"{text!r:.100} is not an address to listen at: {_ADDRESS}")
    return ("127.0.0.1" if host in ("", "localhost") else host), number


def _split(text: str) -> tuple[str, str]:
    if text.isdigit():
        return "", text
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, rest.removeprefix(":") or "4096"
    if text.count(":") > 1:  # a bare IPv6 address
        return text, "4096"
    host, _, port = text.partition(":")
    return host, port or "4096"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def host_name(header: str) -> str:
    """The host that a Host header names, without its port; "" for what is not one."""
    return _name_and_port(header)[0]


def _name_and_port(header: str) -> tuple[str, str]:
    """The port with its colon, or ""; the name is "" for what is no Host header."""
    if header.startswith("["):
        name, bracket, port = header[1:].lower().partition("]")
        good = bool(bracket) and _is_address(name)
    else:
        name, colon, digits = header.lower().partition(":")
        name, port = name.removesuffix("."), colon + digits
        # Not all that ends with ".localhost" is a name: "evil.example/.localhost" is none.
        good = _PLAIN_NAME.fullmatch(name) is not None
    return (name, port) if good and _PORT.fullmatch(port) else ("", "")


def parse_name(text: str) -> str:
    """A further name that a server goes by, as `host_allowed` takes it: a host or an address.

    Raises ConfigError for what no Host header names, and where a port is named.
    """
    name, port = _name_and_port(f"[{text}]" if ":" in text and _is_address(text) else text)
    if not name or port:
        raise ConfigError(
            f"{text!r:.100} is no name for the server: use a host's name or address, such as"
            " box.example, without scheme, port and path"
        )
    return name


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def host_allowed(header: str, bound: str, names: Collection[str]) -> bool:
    """Whether a request with that Host header is meant for a server that listens at `bound`.

    A page of somebody else whose name suddenly leads here (DNS rebinding) sends its own name.
    """
    name = host_name(header)
    if not name:
        return False
    if is_loopback(name) or name == bound.lower() or name in names:
        return True
    if is_loopback(bound):
        return False
    return _is_address(name)  # no name, so no rebinding
