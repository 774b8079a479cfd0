"""The HTTP client against servers on this machine: who gets credentials, and over what."""

from __future__ import annotations

import datetime
import ssl
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from local_server import LocalServer, QuietHandler, running

from tinyhost_plugins._shared.http import (
    Client,
    HttpError,
    StatusError,
    _tls,
    check_base,
)

from .conftest import QUICK, TOKEN, Reply, Serve, client, fails

# --- where credentials go


@pytest.mark.parametrize(
    ("base", "why"),
    [
        ("http://example.com", "no encryption"),
        ("http://127.0.0.1.example.com", "no encryption"),
        ("http://10.0.0.1:3000", "no encryption"),
        ("http://localhost.example.com", "no encryption"),
        ("ftp://localhost", "begins with https://"),
        ("localhost:3000", "is not a URL"),
        ("", "is not a URL"),
        ("https://", "is not a URL"),
        ("https://exa mple.com", "is not a URL"),
        ("https://example.com:99999", "is not a URL"),
        ("https://example.com?a=b", "no user, password, query"),
        ("https://example.com/#a", "no user, password, query"),
        ("https://u:hunter2@example.com", "no user, password, query"),
        ("https://example.com?t=hunter2", "no user, password, query"),
        ("https://example.com#hunter2", "no user, password, query"),
        ("https://[::1", "is not a URL"),
        ("https://example.com\n.evil", "is not a URL"),
        ("https://example..com", "is not a URL"),
        ("https://" + "a" * 64 + ".com", "is not a URL"),
    ],
)
def test_a_base_url_that_is_unsafe_or_none_is_refused(base: str, why: str) -> None:
    with pytest.raises(HttpError) as caught:
        Client(base)
    assert why in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "base",
    ["https://example.com", "http://localhost:3000", "http://127.8.9.1", "http://[::1]:80/x/"],
)
def test_a_base_url_with_encryption_or_on_this_machine_is_taken(base: str) -> None:
    assert str(check_base(base)) == base.rstrip("/").replace(":80/", "/")


def test_a_redirect_to_another_server_is_not_followed(serve: Serve) -> None:
    other = serve()
    server = serve(Reply(302, {"Location": other.url + "/stolen?x=" + TOKEN}))
    error = fails(server)
    assert "a redirect to http://127.0.0.1, which is another server" in str(error)
    assert other.requests == []


@pytest.mark.parametrize("target", ["https://127.0.0.1/x", "//evil.example/x", "http://u:p@{}/x"])
def test_nor_is_one_that_changes_scheme_host_or_user(serve: Serve, target: str) -> None:
    server = serve(Reply(307, {"Location": ""}))
    server.replies[0] = Reply(307, {"Location": target.format(server.url[7:])})
    assert "another server" in str(fails(server))
    assert len(server.requests) == 1


def test_a_get_follows_redirects_on_the_same_server_a_few_times(serve: Serve) -> None:
    server = serve(Reply(301, {"Location": "/b?page=2"}), Reply(body=b"1"))
    assert client(server).get("/a").json() == 1
    assert [request.path for request in server.requests] == ["/a", "/b?page=2"]
    assert all("authorization" in request.headers for request in server.requests)
    looping = serve(Reply(301, {"Location": "/again"}))
    assert "more than 3 redirects" in str(fails(looping))
    assert len(looping.requests) == 4


def test_a_post_is_sent_again_whole_or_not_at_all(serve: Serve) -> None:
    same = serve(Reply(307, {"Location": "/b"}), Reply(201))
    assert client(same).request("POST", "/a", json={"n": 1}).status == 201
    assert [(r.method, r.path, r.body) for r in same.requests] == [
        ("POST", "/a", b'{"n": 1}'),
        ("POST", "/b", b'{"n": 1}'),
    ]
    changed = serve(Reply(301, {"Location": "/moved"}))
    assert f"it has moved to {changed.url}/moved" in str(fails(changed, "POST"))
    assert len(changed.requests) == 1


@pytest.mark.parametrize("location", ["/made/1", "https://elsewhere.example/made/1", "http://["])
def test_a_post_that_leads_to_what_it_made_may_have_been_carried_out(
    serve: Serve, location: str
) -> None:
    server = serve(Reply(303, {"Location": location}))
    assert fails(server, "POST").unsure
    assert len(server.requests) == 1
    assert not fails(serve(Reply(301, {"Location": location})), "POST").unsure


def test_no_proxy_sees_what_goes_to_this_machine(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, server = serve(), serve()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    client(server).get("/a")
    assert (len(proxy.requests), len(server.requests)) == (0, 1)


def use_proxy(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Whatever the environment says about proxies, this is the one for https."""
    for name in ("NO_PROXY", "no_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", url)


class Refusing(QuietHandler):
    """A proxy that lets nobody through. seen: the requests that it has had."""

    seen: ClassVar[list[str]] = []

    def refuse(self) -> None:
        self.seen.append(f"{self.path}\n{self.headers}")
        self.send_error(407)

    do_CONNECT = refuse  # noqa: N815


def test_a_proxy_that_refuses_is_told_and_has_seen_no_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Refusing.seen.clear()
    with running() as start:
        proxy = start(LocalServer(Refusing))
        use_proxy(monkeypatch, proxy.url)
        caller = Client("https://api.example", limits=QUICK, credentials={"x-token": TOKEN})
        with pytest.raises(HttpError) as caught:
            caller.get("/x")
    assert "/x: the proxy does not let it through: 407 " in str(caught.value)
    assert Refusing.seen
    assert all(seen.startswith("api.example:443\n") for seen in Refusing.seen)
    assert TOKEN not in "".join(Refusing.seen)


@pytest.mark.parametrize(
    "proxy",
    [
        "socks5://bob:hunter2@127.0.0.1:1",
        "ftp://bob:hunter2@127.0.0.1:1",
        "http://bob:hunter2@127.0.0.1:port",
        "http://bob:hunter2@proxy..example:1",
    ],
)
def test_a_proxy_that_cannot_be_used_is_an_error_like_others(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    use_proxy(monkeypatch, proxy)
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(HttpError) as caught:
        Client("https://api.example", limits=QUICK).get("/x")
    assert "the proxy that HTTPS_PROXY or ALL_PROXY names cannot be used" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_certificates_of_the_environment_that_are_not_there_are_an_error_like_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    _tls.cache_clear()
    with pytest.raises(HttpError, match="no certificates could be read from what SSL_CERT_FILE"):
        Client("https://api.example", limits=QUICK).get("/x")


def test_credentials_that_no_header_can_hold_are_not_sent_and_not_shown(serve: Serve) -> None:
    server = serve()
    error = fails(server, credentials={"private-token": f"{TOKEN}\r\nx: y"})
    assert str(error) == "the credentials hold what the header private-token cannot hold"
    assert server.requests == []


# --- new credentials


def test_after_401_new_credentials_are_asked_for_once_and_the_body_is_sent_whole(
    serve: Serve,
) -> None:
    server, asked = serve(Reply(401), Reply(401)), []

    def credentials(renew: bool) -> dict[str, str]:
        asked.append(renew)
        return {"authorization": f"Bearer {TOKEN}-{len(asked)}"}

    error = fails(server, "POST", credentials=credentials)
    assert isinstance(error, StatusError)
    assert error.status == 401
    assert asked == [False, True]
    sent = [(r.headers["authorization"][-1], r.body) for r in server.requests]
    assert sent == [("1", b'{"a": 1}'), ("2", b'{"a": 1}')]


def test_the_same_credentials_are_not_sent_again_after_401(serve: Serve) -> None:
    server, header = serve(Reply(401)), {"authorization": f"Bearer {TOKEN}"}
    assert "HTTP 401 Unauthorized" in str(fails(server))
    assert "HTTP 401 Unauthorized" in str(fails(server, credentials=lambda _renew: header))
    assert len(server.requests) == 2


def test_credentials_may_come_from_a_request_of_their_own(serve: Serve) -> None:
    sso, server = serve(Reply(body=b'{"access_token": "abcdefgh"}')), serve()

    def credentials(_renew: bool) -> dict[str, str]:
        answer = Client(sso.url, limits=QUICK).request("POST", "/token", form={"r": TOKEN})
        return {"authorization": "Bearer " + answer.json()["access_token"]}

    client(server, credentials=credentials).get("/x")
    assert server.requests[0].headers["authorization"] == "Bearer abcdefgh"


# --- encryption


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that signs itself, and a server's context with it."""
    import ipaddress

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - day).not_valid_after(now + day)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    certificate = builder.sign(key, hashes.SHA256())
    folder = tmp_path_factory.mktemp("tls")
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.pem", folder / "key.pem")
    return folder / "ca.pem", context


def test_a_certificate_nobody_vouches_for_is_refused_at_once(
    serve: Serve, authority: tuple[Path, ssl.SSLContext]
) -> None:
    server = serve(tls=authority[1])
    assert "its certificate is not trusted" in str(fails(server, "POST"))
    assert server.requests == []


def test_an_authority_of_ones_own_can_be_named(
    serve: Serve, authority: tuple[Path, ssl.SSLContext], tmp_path: Path
) -> None:
    server = serve(tls=authority[1])
    assert client(server, ca_file=str(authority[0])).get("/x").json() == {}
    missing = str(tmp_path / "missing.pem")
    assert f"no certificates could be read from {missing}" in str(fails(server, ca_file=missing))
