"""What a namespace costs, from the cost management service of console.redhat.com.

The offline token goes to the SSO server only, and the access token that it gives for it goes to
the console only.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping

from .._shared.http import Client, HttpError, Limits
from .facts import Cost, member, read_cost, text
from .options import Options

_EXCHANGE = "/auth/realms/redhat-external/protocol/openid-connect/token"
_COSTS = "/api/cost-management/v1/reports/openshift/costs/"
_EARLY = 60.0  # seconds before its end in which an access token is not used any more
_USUAL = 300.0  # seconds that an access token is taken to last when nothing is said


class Console:
    """The console, with the person's offline token. May be used by several threads.

    The text of an HttpError it raises holds neither token.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._offline = options.offline_token
        self._access = ""
        self._end = -math.inf

    def cost(
        self, cluster_id: str, namespace: str, cancelled: Callable[[], bool], deadline: float
    ) -> Cost | None:
        """None where nothing is known of the namespace. Raises HttpError."""

        def credentials(renew: bool) -> Mapping[str, str]:
            return {"authorization": f"Bearer {self._token(renew, cancelled, deadline)}"}

        client = Client(
            self._options.console_url,
            credentials=credentials,
            limits=Limits(seconds=self._options.seconds, tries=2),
            cancelled=cancelled,
            deadline=deadline,
        )
        query: dict[str, str | int] = {
            "filter[cluster]": cluster_id,
            "filter[project]": namespace,
            "filter[resolution]": "monthly",
            "filter[time_scope_units]": "month",
            "filter[time_scope_value]": -1,
            "group_by[project]": "*",
            "group_by[node]": "*",
        }
        return read_cost(client.get(_COSTS, query).json(), namespace)

    def _token(self, renew: bool, cancelled: Callable[[], bool], deadline: float) -> str:
        with self._lock:
            if renew or time.monotonic() >= self._end:
                self._exchange(cancelled, deadline)
            return self._access

    def _exchange(self, cancelled: Callable[[], bool], deadline: float) -> None:
        client = Client(
            self._options.sso_url,
            limits=Limits(seconds=self._options.seconds, tries=2),
            cancelled=cancelled,
            deadline=deadline,
        )
        form = {
            "grant_type": "refresh_token",
            "client_id": self._options.client_id,
            "refresh_token": self._offline,
        }
        answer = client.request("POST", _EXCHANGE, form=form).json()
        access = text(answer, "access_token")
        if not access:
            raise HttpError(f"{self._options.sso_url} gave no access token")
        seconds = member(answer, "expires_in")
        is_number = type(seconds) in (int, float) and 0 < seconds < math.inf
        self._end = time.monotonic() + (float(seconds) if is_number else _USUAL) - _EARLY
        self._access = access
        # The server may take the old one for spent.
        self._offline = text(answer, "refresh_token") or self._offline
