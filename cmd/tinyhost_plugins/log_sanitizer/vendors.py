"""Tokens of vendors, by the rules of the library detect-secrets.

Its import takes a third of a second, so it is put off until a text has the beginning of such a
token. Its expressions are matched only there and within a window, because some of them would
otherwise take time that grows with the square of the text. The parts of the library that ask a
vendor whether a token is valid are never called.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from .spans import SHAPED, Span

_WINDOW = 1200  # characters; the longest token that the rules know has 1,024 and a prefix


class _Vendor(NamedTuple):
    label: str
    module: str
    detector: str
    beginning: str  # an expression of bounded length
    value: int = 0  # characters of the beginning that name the secret and are no part of it


_VENDORS = (
    _Vendor("aws-key-id", "aws", "AWSKeyDetector", r"A(?:3T[A-Z0-9]|BIA|CCA|KIA|SIA)[A-Z0-9]{4}"),
    _Vendor("azure-storage-key", "azure_storage_key", "AzureStorageKeyDetector", "AccountKey=", 11),
    _Vendor("artifactory-key", "artifactory", "ArtifactoryDetector", "AKC[a-zA-Z0-9]{10}"),
    _Vendor(
        "discord-token", "discord", "DiscordBotTokenDetector", r"[MNO][\w-]{23,25}\.[\w-]{6}\."
    ),
    _Vendor("github-token", "github_token", "GitHubTokenDetector", "gh[pousr]_"),
    _Vendor("gitlab-token", "gitlab_token", "GitLabTokenDetector", "gl[a-z]{2,6}-|GR1348941"),
    _Vendor("mailchimp-key", "mailchimp", "MailchimpDetector", "[0-9a-z]{32}-us[0-9]"),
    _Vendor("pypi-token", "pypi_token", "PypiTokenDetector", "pypi-Ag"),
    _Vendor("sendgrid-key", "sendgrid", "SendGridDetector", r"SG\.[\w-]{22}\."),
    _Vendor("slack-token", "slack", "SlackDetector", "xox[abeoprs]-"),
    _Vendor("slack-webhook", "slack", "SlackDetector", r"https://hooks\.slack\.com/services/T"),
    _Vendor("square-key", "square_oauth", "SquareOAuthDetector", "sq0csp-"),
    _Vendor("stripe-key", "stripe", "StripeDetector", "[rs]k_live_"),
    _Vendor("telegram-token", "telegram_token", "TelegramBotTokenDetector", r"\d{8,10}:[\w-]{35}"),
)
_BY_GROUP = {vendor.label.replace("-", "_"): vendor for vendor in _VENDORS}
# A beginning stands at the start of a word; the library's own rules do not all ask for that.
# In addresses of Telegram's API, a word stands right before it.
_BEGINNING = re.compile(
    r"(?:(?<![0-9A-Za-z])|(?<=/bot))(?:"
    + "|".join(f"(?P<{group}>{vendor.beginning})" for group, vendor in _BY_GROUP.items())
    + ")"
)
# Many rules count exactly the characters that tokens had once; longer ones are taken whole.
_REST = re.compile(r"[0-9A-Za-z_\-+/=]{0,1200}+")
# After these, a slash begins something else: the method that is called, the scope of a key.
_IN_PATHS, _REST_IN_PATHS = ("telegram-token", "aws-key-id"), re.compile(r"[\w\-]{0,1200}+")

LABELS = tuple(vendor.label for vendor in _VENDORS)


def find(text: str) -> Iterator[Span]:
    """The tokens in a text. Raises ImportError when the library is missing."""
    at = 0
    while (found := _BEGINNING.search(text, at)) is not None:
        assert found.lastgroup is not None
        vendor = _BY_GROUP[found.lastgroup]
        start = found.start()
        end = _end(vendor, text, start)
        if end:
            yield Span(start + vendor.value, end, vendor.label, SHAPED)
        at = max(end, start + 1)


def _end(vendor: _Vendor, text: str, start: int) -> int:
    """Where the token that begins at `start` ends; 0 when the library knows no such token."""
    limit = min(start + _WINDOW, len(text))
    for rule in _rules(vendor.module, vendor.detector):
        # Some rules begin with the character before the token.
        for begin in (start, max(start - 1, 0)):
            found = rule.match(text, begin, limit)
            if found is not None and found.end() > start:
                end = found.end()
                if not (text[end - 1].isalnum() or text[end - 1] in "_-=+/"):
                    end -= 1
                form = _REST_IN_PATHS if vendor.label in _IN_PATHS else _REST
                rest = form.match(text, end)
                return rest.end() if rest else end
    return 0


@functools.cache
def _rules(module: str, detector: str) -> tuple[re.Pattern[str], ...]:
    loaded = import_module(f"detect_secrets.plugins.{module}")
    return tuple(getattr(loaded, detector).denylist)
