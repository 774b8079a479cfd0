"""HAProxy with TLS before a server, set up as docs/http.md shows it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
import trio
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_PAGE = Path(__file__).parents[2] / "docs" / "http.md"
# Debian puts it where only administrators look.
_PROGRAM = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


@attrs.frozen
class Proxy:
    """port: where it listens on loopback. trust: believes its certificate."""

    port: int
    trust: ssl.SSLContext


@asynccontextmanager
async def tls_proxy(folder: Path, name: str, server: str) -> AsyncIterator[Proxy]:
    """Run one that goes by `name` and passes everything on to `server`, which is HOST:PORT."""
    assert _PROGRAM, "haproxy is not installed (Debian's package haproxy)"
    pem = _certificate(name)
    (folder / "proxy.pem").write_text(pem)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        # What connects before it has started waits in the socket that it is given.
        text = _configuration(f"fd@{listener.fileno()}", folder / "proxy.pem", server)
        (folder / "haproxy.cfg").write_text(text)
        process = await trio.lowlevel.open_process(
            [_PROGRAM, "-db", "-f", str(folder / "haproxy.cfg")],
            pass_fds=[listener.fileno()],
            stdin=subprocess.DEVNULL,
        )
        port = listener.getsockname()[1]
    try:
        yield Proxy(port, ssl.create_default_context(cadata=pem.partition("-----BEGIN PRIV")[0]))
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


def _configuration(listener: str, pem: Path, server: str) -> str:
    [text] = re.findall(r"^```haproxy\n(.*?)^```$", _PAGE.read_text(), re.M | re.S)
    for old, new in (
        ("bind :8443", f"bind {listener}"),
        ("/etc/haproxy/box.example.pem", str(pem)),
        ("127.0.0.1:4096", server),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def _certificate(name: str) -> str:
    """A certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return (signed.public_bytes(serialization.Encoding.PEM) + private).decode()
