"""The costs: which server gets which token, and what is made of their answers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import pytest

from tinyhost_plugins._shared.http import HttpError
from tinyhost_plugins.ocp_context_injection.console import Console
from tinyhost_plugins.ocp_context_injection.facts import Cost
from tinyhost_plugins.ocp_context_injection.options import Options

from .conftest import ACCESS, CLUSTER_ID, COSTS, OFFLINE, SSO, Server, cost, report

Serve = Callable[..., Server]
NODES = [
    {"node": "w-0", "values": [cost(8.5)]},
    {"node": "w-1", "values": [cost(4)]},
]
SHOP = report({"project": "shop", "nodes": NODES})


class Services:
    """An SSO server and a console, and a client of them."""

    def __init__(self, serve: Serve, **sso: Any) -> None:
        granted = {"access_token": ACCESS, "expires_in": 900, **sso}
        self.sso = serve({SSO: granted})
        self.console = serve({COSTS: SHOP}, ACCESS)
        self.client = Console(
            Options(
                offline_token=OFFLINE,
                sso_url=self.sso.url,
                console_url=self.console.url,
                seconds=20,
            )
        )

    def cost(self, namespace: str = "shop", deadline: float = math.inf) -> Cost | None:
        return self.client.cost(CLUSTER_ID, namespace, lambda: False, deadline)

    def fails(self) -> str:
        with pytest.raises(HttpError) as caught:
            self.cost()
        assert OFFLINE not in str(caught.value)
        assert ACCESS not in str(caught.value)
        return str(caught.value)


def test_the_offline_token_goes_to_the_sso_server_and_what_it_gives_to_the_console(
    serve: Serve,
) -> None:
    services = Services(serve)
    assert services.cost() == Cost(12.5, "USD", "w-0", 8.5)
    (exchange,), (asked,) = services.sso.asked, services.console.asked
    assert exchange.form == {
        "grant_type": "refresh_token",
        "client_id": "cloud-services",
        "refresh_token": OFFLINE,
    }
    assert exchange.authorization == ""
    assert asked.authorization == f"Bearer {ACCESS}"
    assert asked.query == {
        "filter[cluster]": CLUSTER_ID,
        "filter[project]": "shop",
        "filter[resolution]": "monthly",
        "filter[time_scope_units]": "month",
        "filter[time_scope_value]": "-1",
        "group_by[project]": "*",
        "group_by[node]": "*",
    }
    assert OFFLINE not in repr(services.console.asked)


def test_an_access_token_is_used_until_shortly_before_its_end(serve: Serve) -> None:
    for sso, exchanges in (({}, 1), ({"expires_in": None}, 1), ({"expires_in": 59}, 3)):
        services = Services(serve, **sso)
        for _ in range(3):
            services.cost()
        assert len(services.sso.asked) == exchanges


def test_after_a_refusal_there_is_a_new_access_token_once(serve: Serve) -> None:
    services = Services(serve)
    services.cost()
    services.console.token = services.sso.answers[SSO]["access_token"] = "another-t0ken"
    services.cost()
    assert len(services.sso.asked) == 2
    services.console.token = "a-third"
    assert "HTTP 401 Unauthorized" in services.fails()
    assert len(services.sso.asked) == 3


def test_a_refresh_token_that_comes_with_the_answer_is_the_next_one(serve: Serve) -> None:
    services = Services(serve, expires_in=1, refresh_token="rotated-t0ken")
    services.cost()
    services.cost()
    assert [asked.form["refresh_token"] for asked in services.sso.asked] == [
        OFFLINE,
        "rotated-t0ken",
    ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"expires_in": 900}, "gave no access token"),
        ({"access_token": ""}, "gave no access token"),
        ([1], "gave no access token"),
        (
            (400, {"error": "invalid_grant", "error_description": f"{OFFLINE} is spent"}),
            "HTTP 400 Bad Request: [secret] is spent; invalid_grant",
        ),
    ],
)
def test_without_an_access_token_the_console_is_not_asked(
    serve: Serve, answer: Any, said: str
) -> None:
    services = Services(serve)
    services.sso.answers[SSO] = answer
    assert said in services.fails()
    assert services.console.asked == []


def test_a_namespace_nothing_is_known_of_has_no_cost(serve: Serve) -> None:
    assert Services(serve).cost("sho") is None


def test_after_the_deadline_no_token_is_sent(serve: Serve) -> None:
    services = Services(serve)
    with pytest.raises(HttpError):
        services.cost(deadline=time.monotonic() - 1)
    assert services.sso.asked == services.console.asked == []


def test_neither_token_is_sent_without_encryption() -> None:
    for options in (
        Options(offline_token=OFFLINE, sso_url="http://sso.example"),
        Options(offline_token=OFFLINE, console_url="http://console.example"),
    ):
        with pytest.raises(HttpError, match="has no encryption"):
            Console(options).cost(CLUSTER_ID, "shop", lambda: False, time.monotonic() + 5)
