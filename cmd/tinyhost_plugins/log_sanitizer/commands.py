"""Passwords that are known by the command they are given to: curl -u, mysql -p, chpasswd."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import values
from .names import ANY, RANDOM, Kind, kind_of
from .spans import NAMED, Span

# What stands between a command and its option, in the same line.
_GAP = r"[^\r\n|;&]{0,200}?(?<!\S)"
# In a list of arguments, each has quotes around it.
_NEXT = r"(?:[ =]?[\"']?|[\"'],[ ]?[\"'])"
_LOGIN = re.compile(
    rf"(?<![^\s\"'\[,])(?:-(?:[A-Za-z]{{0,8}}u|U)(?P<gap>{_NEXT})|--(?:proxy-)?user{_NEXT})"
    r"(?P<who>[\w.@\\%+\-]{0,256}):(?P<password>[^\s\"'$]{0,256}+)"
)
_PLACED = re.compile(
    r"(?<!\S)sshpass -p ?[\"']?(?P<ssh>[^\s\"'$]{1,256}+)"
    r"|^[ \t]{0,8}(?:requirepass|masterauth)[ \t]{1,8}[\"']?(?P<redis>[^\s\"'$]{1,256}+)"
    r"|(?i:\b(?:identified by|with (?:encrypted )?password|set password) '(?P<sql>[^'\r\n]{1,256}+))"
    r"|(?<!\S)login \S{1,128}+\s{1,40}password (?P<netrc>\S{1,256}+)"
    r"|\becho [\"']?[\w.\-]{1,64}:(?P<changed>[^\s\"'$]{1,256}+)[\"']? ?\| ?(?:sudo )?chpasswd",
    re.MULTILINE,
)
_COMMAND = re.compile(
    rf"\b(?:(?:mysql|mariadb)[\w\-]{{0,20}} {_GAP}-p(?=\S)"
    rf"|7z[ar]?[ ]{_GAP}-p(?=\S)"
    rf"|redis-cli {_GAP}-a[ ]+|ldap\w{{1,20}} {_GAP}-w[ ]+|(?:un|7)?zip {_GAP}-P[ ]+"
    rf"|(?:docker|podman|oc|az|skopeo|buildah|helm registry) login {_GAP}-p[ ]*(?=[^\s\-])"
    rf"|twine upload {_GAP}-p[ ]+"
    rf"|(?:https?|xh) {_GAP}(?:-a|--auth)[ =][\"']?[\w.@\-]{{1,128}}:"
    rf"|smbclient {_GAP}-U[ ]?[\"']?[\w.\\/\-]{{1,128}}%"
    rf"|htpasswd (?:-[A-Za-z]{{1,8}} )*-[A-Za-z]{{0,8}}b[A-Za-z]{{0,8}} (?:-[A-Za-z]{{1,8}} )*\S{{1,200}} \S{{1,200}} )"
    r"[\"']?(?P<value>[^\s\"'$]{3,256}+)"
)
# A word, or what is in quotes.
_ARGUMENT = r"(?P<value>(?(quote)(?:(?!(?P=quote))[^\r\n]){1,256}+|(?!-)[^\s\"'<>|;&]{1,256}+))"
_QUOTE = r"(?:[ \t]{1,8}|[\"'],[ ]?)(?P<quote>[\"'])?"
# openssl -passin pass:x, apksigner --ks-pass pass:x; env:, file: and fd: say where it is kept.
_PASS = re.compile(rf"(?<![^\s\"'\[,])--?[\w\-]{{0,20}}?pass(?:in|out)?{_QUOTE}pass:{_ARGUMENT}")
# keytool and jarsigner, whose options take whatever word follows.
_STORE = re.compile(rf"(?<![^\s\"'\[,])-(?:src|dest)?(?:store|key)pass{_QUOTE}{_ARGUMENT}")
# What follows such an option in a sentence about it.
_PROSE = frozenset(("option", "options", "argument", "arguments", "arg", "parameter", "flag"))
_SETTING = re.compile(
    r"\b(?:config|configure) set (?P<name>[\w.\-:/@]{1,256}+)[ =]{1,4}[\"']?(?P<value>[^\s\"']{1,4096}+)"
)
# Where "-u a:b" is said of a user and a group.
_RUNS = re.compile(
    r"\b(?:docker|podman|nerdctl|buildah|crictl|ps|chroot|setpriv|exec|journalctl|systemctl) "
)
_BEFORE = 400  # characters of a line that are looked at

_PASSWORD = Kind("password", ANY)
_TOKEN = Kind("token", RANDOM)


def find(text: str, more: frozenset[str]) -> Iterator[Span]:
    for found in _COMMAND.finditer(text):
        if values.loose(found["value"], _PASSWORD, ""):
            yield Span(*found.span("value"), "password", NAMED)
    for found in _PLACED.finditer(text):
        assert found.lastgroup is not None
        if values.whole(found[found.lastgroup], _PASSWORD, ""):
            yield Span(*found.span(found.lastgroup), "password", NAMED)
    for found in (*_PASS.finditer(text), *_STORE.finditer(text)) if "pass" in text else ():
        value = found["value"]
        if value not in _PROSE and values.whole(value, _PASSWORD, ""):
            yield Span(*found.span("value"), "password", NAMED)
    for found in _LOGIN.finditer(text):
        yield from _login(text, found)
    for found in _SETTING.finditer(text):
        kind = kind_of(found["name"], more)
        if kind is not None and values.quoted(found["value"], kind, found["name"]):
            yield Span(*found.span("value"), kind.label, NAMED)


def _login(text: str, found: re.Match[str]) -> Iterator[Span]:
    if not _is_login(text, found):
        return
    if found["password"]:
        if values.whole(found["password"], _PASSWORD, ""):
            yield Span(*found.span("password"), "password", NAMED)
    elif values.looks_random(found["who"]):
        # Some services take a key as the user, and no password.
        yield Span(*found.span("who"), "token", NAMED)


def _is_login(text: str, found: re.Match[str]) -> bool:
    """Whether "-u a:b" says how to log in, and not as whom something runs, as in containers."""
    first = max(found.start() - _BEFORE, 0)
    before = text[max(first, text.rfind("\n", first, found.start()) + 1) : found.start()]
    if "curl" in before:
        return True
    who, group = found["who"], found["password"].rstrip("\\,;)")
    # Without a blank it may be another option, such as -url:x.
    is_plain = found[0].startswith(("-u", "--user")) and found["gap"] != "" and who and group
    return bool(is_plain) and not (who == group or (who + group).isdigit() or _RUNS.search(before))
