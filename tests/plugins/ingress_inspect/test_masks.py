"""What is hidden of a configuration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.ingress_inspect.masks import masked
from tinyhost_plugins.ingress_inspect.words import words


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("stats auth admin:swordfish", "stats auth admin:[hidden]"),
        ("stats auth swordfish", "stats auth swordfish:[hidden]"),
        ("stats uri /", "stats uri /"),
        (
            ":443 ssl crt /etc/a.pem crt-list /b alpn h2",
            ":443 ssl crt [hidden] crt-list [hidden] alpn h2",
        ),
        ("crt-base /etc/ssl", "crt-base [hidden]"),
        ("ssl-dh-param-file /x", "ssl-dh-param-file [hidden]"),
        ("setenv TOKEN a b", "setenv TOKEN [hidden]"),
        ("presetenv TOKEN a", "presetenv TOKEN [hidden]"),
        ("cluster-secret abc", "cluster-secret [hidden]"),
        ("user ann insecure-password pw groups x", "user ann insecure-password [hidden]"),
        ("dynamic-cookie-key abc", "dynamic-cookie-key [hidden]"),
        ("log http://me:pw@host/x local0", "log http://[hidden]@host/x local0"),
        ("description see http://host/a@b", "description see http://host/a@b"),
        ("http-check send hdr Authorization pw", "http-check send hdr Authorization [hidden]"),
        (
            r"option httpchk GET / HTTP/1.1\r\nAuthorization:\ Basic\ pw\r\nHost:\ x",
            "option httpchk GET / HTTP/1.1\r\nAuthorization [hidden]",
        ),
        ('http-check send hdr X-Api-Key pw body "x"', "http-check send hdr X-Api-Key [hidden]"),
        (
            'http-request add-header Proxy-Authorization "Basic pw" if x',
            "http-request add-header Proxy-Authorization [hidden]",
        ),
        ("http-request set-var(txn.token) str(pw)", "http-request set-var(txn.token) [hidden]"),
        (
            'http-request deny unless { req.hdr(cookie) -m sub "id=pw" }',
            "http-request deny unless { req.hdr(cookie) [hidden]",
        ),
        (r"tcp-check send AUTH\ pw\r\n", "tcp-check send [hidden]"),
        ("tcp-check connect", "tcp-check connect"),
        ("lua-load /a.lua pw", "lua-load /a.lua [hidden]"),
        ("cookie SERVERID insert dynamic", "cookie SERVERID insert dynamic"),
        ("ssl-default-bind-options no-tls-tickets", "ssl-default-bind-options no-tls-tickets"),
        (
            "http-request set-header X-Forwarded-Host %[req.hdr(host)]",
            "http-request set-header X-Forwarded-Host %[req.hdr(host)]",
        ),
        ("maxconn 20000", "maxconn 20000"),
    ],
)
def test_passwords_keys_and_paths_of_certificates_are_hidden(line: str, shown: str) -> None:
    assert masked(words(line)) == shown


@given(st.lists(st.text(max_size=10), max_size=6))
def test_no_line_makes_it_fail(line: list[str]) -> None:
    assert isinstance(masked(line), str)
    assert "s3cret" not in masked([*line, "crt", "s3cret"])
