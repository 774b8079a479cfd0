"""Configurations, read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.ingress_inspect.haproxy import SECTIONS, Config, parse, read_server
from tinyhost_plugins.ingress_inspect.room import NoRoom, Room
from tinyhost_plugins.ingress_inspect.words import words

from . import router_config as rc
from .conftest import backends


def read(text: str) -> Config:
    return parse(text.splitlines())


def test_a_router_s_configuration_has_all_its_sections() -> None:
    found = read(rc.config("/conf", backends()))
    assert "maxconn 20000" in found.settings
    (defaults,) = found.defaults
    assert (defaults.timeouts["client"], defaults.timeouts["tunnel"]) == ("30s", "1h")
    assert [proxy.name for proxy in found.frontends] == [
        *("stats", "public", "public_ssl", "fe_sni", "fe_no_sni"),
    ]
    assert [proxy.name for proxy in found.backends] == [
        *("stats", "be_sni", "be_no_sni", "openshift_default"),
        "be_edge_http:openshift-console:console",
        "be_http:openshift-monitoring:grafana",
        "be_tcp:openshift-authentication:oauth",
        "be_secure:openshift-monitoring:prometheus",
    ]
    assert (found.stray_lines, found.conditional, dict(found.others)) == (0, False, {})


def test_servers_have_names_with_colons_and_the_reserve_is_counted_apart() -> None:
    found = {proxy.name: proxy for proxy in read(rc.config("/conf", backends())).backends}
    console = found["be_edge_http:openshift-console:console"]
    assert (console.servers, console.idle) == (2, 0)
    assert (console.reserve, console.mode, console.balance) == (1, "http", "random")
    oauth = found["be_tcp:openshift-authentication:oauth"]
    assert (oauth.mode, oauth.balance, oauth.servers) == ("tcp", "source", 1)
    assert found["openshift_default"].servers == 0


def test_reserved_servers_of_a_re_encrypting_backend_are_no_servers() -> None:
    line = "server _dynamic-pod-1 172.4.0.4:8765 weight 0 ssl disabled check inter 5000ms"
    (found,) = read(f"backend be_secure:a:b\n {line}\n").backends
    assert (found.servers, found.reserve) == (0, 1)


def test_the_defaults_of_a_proxy_are_the_last_before_it_or_those_it_is_made_from() -> None:
    found = read(
        "defaults a\n mode http\n balance source\n"
        "defaults b from a\n balance random\n"
        "backend one\nbackend two from a\nbackend three\n mode tcp\n balance leastconn\n"
        "defaults\nbackend four\ndefaults from b\nbackend five\nbackend six from nowhere\n"
    )
    assert [(p.name, p.mode, p.balance) for p in found.backends] == [
        ("one", "http", "random"),
        ("two", "http", "source"),
        ("three", "tcp", "leastconn"),
        ("four", "tcp", ""),
        ("five", "http", "random"),
        ("six", "http", "random"),
    ]


def test_lines_of_other_sections_are_not_taken_for_a_proxy_s() -> None:
    found = read(
        "backend one\n server a 1.1.1.1:1\npeers mates\n server b 1.1.1.1:2\n"
        "resolvers dns\n timeout retry 1h\ncache c\nglobal\n maxconn 5\n server c 1.1.1.1:3\n"
    )
    (one,) = found.backends
    assert (one.servers, one.timeouts) == (1, ())
    assert dict(found.others) == {"peers": 1, "resolvers": 1, "cache": 1}


@pytest.mark.parametrize(
    ("line", "weight", "disabled", "takes_traffic"),
    [
        ("server pod:a:web:http:10.0.0.1:80 10.0.0.1:80 cookie x weight 256", 256, False, True),
        ("server a b weight 0", 0, False, False),
        ("server a b disabled", None, True, False),
        ("server a b disabled enabled", None, False, True),
        ("server a b weight x", None, False, True),
    ],
)
def test_a_server_has_a_weight_and_a_state(
    line: str, weight: int | None, disabled: bool, takes_traffic: bool
) -> None:
    found = read_server(words(line))
    assert (found.name, found.address) == tuple(line.split()[1:3])
    assert (found.weight, found.disabled, found.takes_traffic) == (weight, disabled, takes_traffic)


def test_servers_that_take_no_traffic_are_counted() -> None:
    (found,) = read(
        "backend b\n server a 1.1.1.1:1 weight 0\n server b 1.1.1.1:2 disabled\n"
        " server c 1.1.1.1:3 disabled enabled\n server d 1.1.1.1:4 weight x\n server e\n server\n"
        " server-template t 2-4 x:1\n server-template u 3 x:1\n server-template v x y\n"
        " server-template w 9-1 x:1\n server-template x 99999999999 x:1\n"
    ).backends
    assert (found.servers, found.idle) == (4, 2)
    assert found.reserve == 3 + 3 + 1_000_000


def test_conditional_blocks_and_lines_before_a_section_are_told() -> None:
    found = read("stray\nstray again\n.if defined(X)\nbackend a\n.else\nbackend b\n.endif\n")
    assert (found.stray_lines, found.conditional) == (2, True)
    assert [proxy.name for proxy in found.backends] == ["a", "b"]


@given(
    st.lists(
        st.lists(
            st.one_of(
                st.sampled_from(sorted(SECTIONS)),
                st.sampled_from(["server", "timeout", "mode", "from", "bind", "weight", "balance"]),
                st.sampled_from(["server-template", "disabled", "1-3", ".if", "#", "'", "\\", '"']),
                st.text(max_size=5),
            ),
            max_size=6,
        ).map(" ".join),
        max_size=30,
    )
)
def test_no_text_makes_it_fail(lines: list[str]) -> None:
    found = parse(lines)
    for proxy in found.proxies:
        assert isinstance(proxy.mode + proxy.balance, str)
        assert 0 <= proxy.idle <= proxy.servers
    for text in found.settings:
        assert text.isprintable()
        assert len(text) <= 300


def test_a_large_configuration_is_read_whole() -> None:
    many = [rc.http_backend(f"be_http:ns:r{n}", rc.server("p", "10.0.0.1")) for n in range(2000)]
    found = read(rc.config("/conf", many))
    assert len(found.backends) == 2004


def test_what_is_the_same_in_two_configurations_is_kept_once() -> None:
    room = Room(100_000)
    text = ["backend a", "balance source", "server s 10.0.0.1:80", "backend b"]
    first, second = parse(text, room), parse([*text[3:], *text[:3]], room)
    assert [proxy.name for proxy in second.proxies] == ["b", "a"]
    assert second.proxies[0] is first.proxies[1]
    assert second.proxies[1] is first.proxies[0]


@pytest.mark.parametrize(
    "line", ["backend b{}", "bind :{}", "timeout t{} 1s", "defaults d{}", "frontend f{}"]
)
@pytest.mark.parametrize("section", ["backend x", "defaults"])
def test_what_would_take_more_memory_than_there_is_is_not_read(section: str, line: str) -> None:
    taken = 0

    def lines() -> Iterator[str]:
        nonlocal taken
        yield section
        for taken in range(100_000):
            yield line.format(taken)

    with pytest.raises(NoRoom):
        parse(lines(), Room(1_000_000))
    assert taken < 20_000


def test_settings_take_room_and_servers_take_none() -> None:
    with pytest.raises(NoRoom):
        parse(["global", *(f"setting {n}" for n in range(10_000))], Room(1_000_000))
    servers = (f"server s{n} 10.0.0.1:{n}" for n in range(50_000))
    (found,) = parse(["backend b", *servers], Room(10_000)).proxies
    assert found.servers == 50_000


def test_of_a_huge_line_only_the_beginning_is_looked_at() -> None:
    (found,) = parse(["backend b", "server a 10.0.0.1:80 " + "x " * 100_000 + "disabled"]).proxies
    assert (found.servers, found.idle) == (1, 0)
    (setting,) = parse(["global", "setting " + "y" * 100_000]).settings
    assert len(setting) == 300


def test_many_sections_made_from_others_are_read_in_linear_time() -> None:
    names = [f"d{n}" for n in range(20_000)]
    text = [*(f"defaults {n}" for n in names), *(f"backend {n} from d19999" for n in names)]
    assert len(parse(text).proxies) == 20_000
