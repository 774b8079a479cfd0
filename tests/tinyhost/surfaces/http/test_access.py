"""Who gets in: the token's file, addresses to listen at, names in Host headers."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tinyhost.errors import ConfigError
from tinyhost.surfaces.http import access


def test_a_token_is_made_once_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "state" / "http-token"
    token = access.ensure_token(file)
    assert access.ensure_token(file) == token == file.read_text().strip()
    assert len(token) >= 43
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["http-token"]


def test_hosts_that_start_at_once_agree_on_one_token(tmp_path: Path) -> None:
    file = tmp_path / "http-token"
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(access.ensure_token, [file] * 32))
    assert len(tokens) == 1


def loosen(file: Path) -> None:
    file.chmod(0o640)


def empty(file: Path) -> None:
    file.write_text("")


def shorten(file: Path) -> None:
    file.write_text("abc\n")


def link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))


@pytest.mark.parametrize("spoil", [loosen, empty, shorten, link])
def test_a_token_file_that_cannot_be_trusted_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    file = tmp_path / "http-token"
    token = access.ensure_token(file)
    spoil(file)
    with pytest.raises(ConfigError) as caught:
        access.ensure_token(file)
    assert str(file) in str(caught.value)
    assert token not in str(caught.value)


def test_a_token_that_cannot_be_made_is_told_with_its_place() -> None:
    file = Path("/proc/self/nothing/http-token")  # where nobody can make anything
    with pytest.raises(ConfigError, match="the token for HTTP cannot be written") as caught:
        access.ensure_token(file)
    assert str(file) in str(caught.value)


def test_the_page_gets_the_token_where_no_server_sees_it() -> None:
    assert access.page_url("http://127.0.0.1:1", "abc") == "http://127.0.0.1:1/#token=abc"


def test_the_token_file_is_in_the_state_folder(tmp_path: Path) -> None:
    environ = {**os.environ, "TINYHOST_STATE_DIR": str(tmp_path)}
    assert access.token_file(environ) == tmp_path / "http-token"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        ("localhost:0", ("127.0.0.1", 0)),
        (":8080", ("127.0.0.1", 8080)),
        ("8080", ("127.0.0.1", 8080)),
        ("", ("127.0.0.1", 4096)),
        ("box.example", ("box.example", 4096)),
        ("0.0.0.0:1", ("0.0.0.0", 1)),
        ("[::1]:99", ("::1", 99)),
        ("[::1]", ("::1", 4096)),
        ("::1", ("::1", 4096)),
    ],
)
def test_an_address_to_listen_at_is_read(text: str, found: tuple[str, int]) -> None:
    assert access.parse_bind(text) == found


@pytest.mark.parametrize("text", ["a:b", "a:-1", "a:65536", "[::1]x", "a:٣", "a:99999999999"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        access.parse_bind(text)


@pytest.mark.parametrize(
    ("header", "bound", "allowed"),
    [
        ("127.0.0.1:4096", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("localhost:9", "127.0.0.1", True),
        ("LOCALHOST.:9", "127.0.0.1", True),
        ("tiny.localhost", "127.0.0.1", True),
        ("[::1]:9", "127.0.0.1", True),
        ("evil.example", "127.0.0.1", False),
        ("evil.example:4096", "127.0.0.1", False),
        ("localhost.evil.example", "127.0.0.1", False),
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        ("10.0.0.7", "127.0.0.1", False),
        ("10.0.0.7:80", "0.0.0.0", True),
        ("box.example", "box.example", True),
        ("evil.example", "0.0.0.0", False),
        ("proxy.example", "127.0.0.1", True),
        ("", "127.0.0.1", False),
        ("[::1", "127.0.0.1", False),
        ("[::1]evil.example", "127.0.0.1", False),
        ("localhost:x", "127.0.0.1", False),
        ("localhost:1:2", "127.0.0.1", False),
        ("localhost:٣", "127.0.0.1", False),
        ("evil.example/.localhost", "127.0.0.1", False),
        ("evil.example#.localhost", "127.0.0.1", False),
        ("evil.example@tiny.localhost", "127.0.0.1", False),
        (".localhost", "127.0.0.1", False),
    ],
)
def test_only_requests_meant_for_this_server_are_let_in(
    header: str, bound: str, allowed: bool
) -> None:
    assert access.host_allowed(header, bound, {"proxy.example"}) is allowed


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Box.Example", "box.example"),
        ("box.example.", "box.example"),
        ("my_box", "my_box"),
        ("10.0.0.7", "10.0.0.7"),
        ("::5", "::5"),
        ("[FD00::5]", "fd00::5"),
    ],
)
def test_a_further_name_is_a_host_or_an_address(text: str, name: str) -> None:
    assert access.parse_name(text) == name
    assert access.host_allowed(f"[{name}]:1" if ":" in name else name, "127.0.0.1", {name})


@pytest.mark.parametrize(
    "text", ["", "https://box.example", "box.example:443", "box.example/", "*", "bóx", "a b", "[x]"]
)
def test_a_further_name_that_no_host_header_has_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="without scheme, port and path"):
        access.parse_name(text)


@given(st.text(max_size=40))
def test_a_name_that_is_not_loopback_never_gets_to_a_loopback_server(header: str) -> None:
    if access.host_allowed(header, "127.0.0.1", ()):
        assert access.is_loopback(access.host_name(header))
