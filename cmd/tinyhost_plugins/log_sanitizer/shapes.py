"""Tokens that are known by their own form, wherever they stand.

Every expression begins with a fixed word and reads on through one set of characters, up to a
bound: a text of any kind is read in time proportional to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .spans import SHAPED, Span

_LONG_FIELD = r"(?=[\w$./=,+\-]{0,150}?[\w./+]{20})"
_SHAPES = {
    "openai-key": r"sk-(?=[\w\-]{0,200}[0-9A-Z]|[a-z]{20})[\w\-]{20,300}+",
    "github-token": r"github_pat_\w{10,300}+",
    "openshift-token": r"sha256~[\w\-]{10,300}+",
    "slack-token": r"(?:xox[a-z]|xapp)-[0-9A-Za-z\-.%]{10,400}+",
    "google-key": r"AIza[\w\-]{30,60}+",
    "google-token": r"ya29\.[\w\-.]{20,2000}+",
    "google-secret": r"GOCSPX-[\w\-]{20,60}+",
    "npm-token": r"npm_[0-9A-Za-z]{30,60}+",
    "pypi-token": r"pypi-[\w\-]{50,500}+",
    "huggingface-token": r"hf_[0-9A-Za-z]{30,100}+",
    "stripe-key": r"(?:[rs]k_(?:live|test)|whsec)_[0-9A-Za-z+/=]{16,255}+",
    "docker-token": r"dckr_(?:pat|oat)_[\w\-]{20,100}+",
    "digitalocean-token": r"do[oprt]_v1_[0-9a-f]{40,100}+",
    "vault-token": r"hv[bsr]\.[\w\-]{20,400}+",
    "age-key": r"AGE-SECRET-KEY-1[0-9A-Z]{50,70}+",
    "shopify-token": r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,64}+",
    "square-key": r"sq0(?:atp|csp)-[\w\-]{20,60}+",
    "databricks-token": r"dapi[0-9a-f]{32}(?:-\d)?+",
    "gitlab-token": (r"gl(?:pat|dt|rt|ft|soat|cbt|ptt|imt|agent|oas|ffct|wt)-[\w\-.]{20,1100}+"),
    "jwt": r"eyJ[\w\-]{8,8000}+\.(?:[\w\-]{8,16000}+|[\w\-]{2,7}+(?=\.[\w\-]{8}))(?:\.[\w\-]{0,4000}+){0,3}",
    "password-hash": (
        # Of the fields between the dollars, the hash is the long one.
        rf"(?:(?:argon2)?\$(?:2[abxy]?|5|6|7|8|9|y|gy|sm3|scrypt|argon2(?:id|i|d)|pbkdf2(?:-sha\d{{1,3}})?)\$"
        rf"{_LONG_FIELD}[\w$./=,+\-]{{30,400}}+"
        r"|\$(?:1|apr1)\$[\w./]{1,8}+\$[\w./]{22}(?![\w./$])"
        # As Django and Werkzeug write them, and directories.
        rf"|(?:pbkdf2[_:]sha\d{{1,3}}[$:]|scrypt:\d{{1,8}}:\d{{1,3}}:)\d{{1,8}}\$"
        rf"{_LONG_FIELD}[\w$./=+\-]{{30,400}}+"
        r"|\{(?:S?SHA(?:256|384|512)?|S?MD5)\}[0-9A-Za-z+/]{22,200}+={0,2})"
    ),
}
# A token does not begin inside a word.
_SHAPE = re.compile(
    "(?<![0-9A-Za-z])(?:"
    + "|".join(f"(?P<{label.replace('-', '_')}>{form})" for label, form in _SHAPES.items())
    + ")"
)
# Of services whose tokens are rarer: each beginning, and what follows it.
_SERVICES = {
    "xai-": r"[0-9A-Za-z]{60,120}+",
    "gsk_": r"[0-9A-Za-z]{40,80}+",
    "r8_": r"[0-9A-Za-z]{37,60}+",
    "pplx-": r"[0-9A-Za-z]{40,80}+",
    "lin_api_": r"[0-9A-Za-z]{40,60}+",
    "glsa_": r"[0-9A-Za-z]{32}_[0-9a-f]{8}",
    "glc_": r"[0-9A-Za-z+/=]{32,400}+",
    "NRAK-": r"[0-9A-Z]{27}",
    "PMAK-": r"[0-9a-f]{24}-[0-9a-f]{34}",
    "figd_": r"[\w\-]{40,60}+",
    "ntn_": r"[0-9A-Za-z]{40,60}+",
    "sbp_": r"[0-9a-f]{40}",
    "pscale_": r"(?:tkn|pw|oauth)_[\w\-.=]{32,64}+",
    "dp.": r"(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z.\-]{40,80}+",
    "rubygems_": r"[0-9a-f]{48}",
    "oy2": r"[0-9a-z]{43}(?!\w)",
    "ATATT3": r"[\w\-=]{100,250}+",
    "ATBB": r"[0-9A-Za-z]{32}(?!\w)",
    "sntrys_": r"[0-9A-Za-z+/=_]{60,400}+",
    "sntryu_": r"[0-9a-f]{64}",
    "shippo_": r"(?:live|test)_[0-9a-f]{40}",
    "tskey-": r"[a-z]{3,12}-[0-9A-Za-z\-]{20,80}+",
    "ops_eyJ": r"[0-9A-Za-z+/=_\-]{60,2000}+",
    "CCIPAT_": r"[0-9A-Za-z]{22}_[0-9a-f]{40}",
}
_SERVICE = re.compile(
    "(?<![0-9A-Za-z])(?:"
    + "|".join(f"{re.escape(beginning)}{rest}" for beginning, rest in _SERVICES.items())
    + r"|[0-9A-Za-z]{14}\.atlasv1\.[\w\-]{60,80}+)"
)
_SERVICE_BEGINNINGS = (*_SERVICES, ".atlasv1.")
SERVICE = "service-token"
# Hardly any text has one of these, and finding a fixed word is much faster than the rest.
_BEGINNINGS = (
    *("sk-", "sha256~", "xox", "xapp-", "AIza", "ya29.", "GOCSPX", "npm_", "pypi-", "hf_"),
    *("sk_", "rk_", "whsec_", "dckr_", "_v1_", "hv", "AGE-", "shp", "sq0", "dapi", "gl", "eyJ"),
    *("github_pat_", "$", "{SSHA", "{SHA", "{SMD5}", "{MD5}"),
)
_LABELS = {label.replace("-", "_"): label for label in _SHAPES}

LABELS = (*_SHAPES, SERVICE)


def find(text: str) -> Iterator[Span]:
    if any(beginning in text for beginning in _BEGINNINGS):
        for found in _SHAPE.finditer(text):
            assert found.lastgroup is not None
            yield Span(found.start(), found.end(), _LABELS[found.lastgroup], SHAPED)
    if any(beginning in text for beginning in _SERVICE_BEGINNINGS):
        for found in _SERVICE.finditer(text):
            yield Span(found.start(), found.end(), SERVICE, SHAPED)
