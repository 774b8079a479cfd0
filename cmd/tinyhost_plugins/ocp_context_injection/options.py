"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

import os

from .._shared.options import OptionError, check_names, check_url, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TEXTS = (
    *("apiUrl", "apiToken", "caFile", "clusterId", "consoleOfflineToken", "clientId"),
    *("ssoUrl", "consoleUrl", "alertmanagerUrl", "kubeconfig", "program"),
)
FLAGS = ("atStart", "insecureSkipTlsVerify")
# The least, the default and the most of each option that is a number.
RANGES = {
    "startSeconds": (1, 3, 60),
    "timeoutSeconds": (1, 25, 600),
    "maxAgeSeconds": (0, 60, 3600),
    "maxNames": (1, 50, 1000),
}
# Variables that are looked at where an option is not set.
API_TOKEN, OFFLINE_TOKEN = "OCP_API_TOKEN", "OCP_OFFLINE_TOKEN"
_OPTIONS = (*TEXTS, *FLAGS, *RANGES)
_FILES = ("caFile", "kubeconfig")
_URLS = ("apiUrl", "ssoUrl", "consoleUrl", "alertmanagerUrl")
_SSO, _CONSOLE, _CLIENT = "https://sso.redhat.com", "https://console.redhat.com", "cloud-services"


class Options:
    """api_url, api_token, insecure: what oc_login may log in to, "" for nothing.
    ca_file: certificates of the cluster, "" for those that its kubeconfig and the system know.
    cluster_id: for CLUSTER_ID and the costs. offline_token, client_id, sso_url, console_url: for
    the costs. alertmanager_url: "" for the cluster's Route. kubeconfig: as the variable, "" for
    the person's own. program: "" for oc or kubectl. at_start: whether session.start tells of the
    cluster, within start_seconds. seconds: for a call of a tool. max_age: seconds that an answer
    is told again. max_names: operators and alerts in a list.
    """

    __slots__ = (
        *("alertmanager_url", "api_token", "api_url", "at_start", "ca_file", "client_id"),
        *("cluster_id", "console_url", "insecure", "kubeconfig", "max_age", "max_names"),
        *("offline_token", "program", "seconds", "sso_url", "start_seconds"),
    )

    def __init__(
        self,
        *,
        alertmanager_url: str = "",
        api_token: str = "",
        api_url: str = "",
        at_start: bool = True,
        ca_file: str = "",
        client_id: str = _CLIENT,
        cluster_id: str = "",
        console_url: str = _CONSOLE,
        insecure: bool = False,
        kubeconfig: str = "",
        max_age: int = RANGES["maxAgeSeconds"][1],
        max_names: int = RANGES["maxNames"][1],
        offline_token: str = "",
        program: str = "",
        seconds: int = RANGES["timeoutSeconds"][1],
        sso_url: str = _SSO,
        start_seconds: int = RANGES["startSeconds"][1],
    ) -> None:
        self.alertmanager_url = alertmanager_url
        self.api_token = api_token
        self.api_url = api_url
        self.at_start = at_start
        self.ca_file = ca_file
        self.client_id = client_id
        self.cluster_id = cluster_id
        self.console_url = console_url
        self.insecure = insecure
        self.kubeconfig = kubeconfig
        self.max_age = max_age
        self.max_names = max_names
        self.offline_token = offline_token
        self.program = program
        self.seconds = seconds
        self.sso_url = sso_url
        self.start_seconds = start_seconds


def read_options(options: "Mapping[str, Any]", environ: "Mapping[str, str]") -> Options:
    """Check the plugin's options; the environment may have the tokens, too.

    Raises OptionError, whose text holds no values.
    """
    check_names(options, _OPTIONS)
    texts = {key: _text(options, key) for key in TEXTS}
    if texts["apiToken"] and not texts["apiUrl"]:
        raise OptionError('option "apiToken" needs "apiUrl": it is sent to that server only')
    return Options(
        alertmanager_url=texts["alertmanagerUrl"],
        api_token=texts["apiToken"] or environ.get(API_TOKEN, "").strip(),
        api_url=texts["apiUrl"],
        at_start=_flag(options, "atStart", True),
        ca_file=texts["caFile"],
        client_id=texts["clientId"] or _CLIENT,
        cluster_id=texts["clusterId"],
        console_url=texts["consoleUrl"] or _CONSOLE,
        insecure=_flag(options, "insecureSkipTlsVerify", False),
        kubeconfig=texts["kubeconfig"],
        max_age=number(options, "maxAgeSeconds", RANGES),
        max_names=number(options, "maxNames", RANGES),
        offline_token=texts["consoleOfflineToken"] or environ.get(OFFLINE_TOKEN, "").strip(),
        program=texts["program"],
        seconds=number(options, "timeoutSeconds", RANGES),
        sso_url=texts["ssoUrl"] or _SSO,
        start_seconds=number(options, "startSeconds", RANGES),
    )


def _text(options: "Mapping[str, Any]", key: str) -> str:
    value = options.get(key)
    if value is None:
        return ""
    if type(value) is not str or not value.isprintable():
        raise OptionError(f'option "{key}" has to be a text of one line')
    value = value.strip()
    if value and key in _URLS:
        check_url(key, value)
    if value and key in _FILES:
        value = os.path.expanduser(value)  # noqa: PTH111
        if not os.path.isabs(value):  # noqa: PTH117
            raise OptionError(f'option "{key}" has to be a path that begins with / or ~/')
    return value


def _flag(options: "Mapping[str, Any]", key: str, default: bool) -> bool:
    value = options.get(key)
    if value is None:
        return default
    if type(value) is not bool:
        raise OptionError(f'option "{key}" has to be true or false')
    return value
