"""Programs given on a command line to Python, Perl, Ruby, Node, PHP and awk.

Nobody can tell what such a program does without running it. What is looked for are calls,
with the text written out, that delete a tree or run a shell command.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .wrappers import Argv

_CODE_OPTIONS = {
    "python": "c",
    "perl": "eE",
    "ruby": "e",
    "node": "ep",
    "nodejs": "ep",
    "deno": "",
    "bun": "e",
    "php": "r",
    "lua": "e",
    "osascript": "e",
}
_AWKS = frozenset(("awk", "gawk", "mawk", "nawk"))
_TEXT = r"""(?P<quote>["'`])(?P<text>(?:(?!(?P=quote))[^\\]|\\.){0,4000})(?P=quote)"""
_WRAPPED = r"(?:os\.path\.expanduser\s?\(\s?|(?:pathlib\.)?Path\s?\(\s?)?"
_REMOVES = re.compile(
    r"(?:rmtree|rmSync|rmdirSync|rm_rf|rm_r|remove_tree|remove_dir_all|fs\.rm|fs\.rmdir)"
    r"\s?\(?\s?" + _WRAPPED + _TEXT,
    re.DOTALL,
)
_SHELLS_OUT = re.compile(
    r"(?:system|popen|Popen|execSync|exec|spawn|spawnSync|call|check_call|check_output|run|getoutput"
    r"|shell_exec|passthru|do\sshell\sscript)\s?\(?\s?" + _TEXT,
    re.DOTALL,
)
_RUNS_LIST = re.compile(
    r"(?:Popen|call|check_call|check_output|run|execv?p?|spawn|spawnSync)\s?\([^\[\n]{0,40}"
    r"\[(?P<items>[^\]]{0,2000})\]"
)
_BACKTICKS = re.compile(r"`(?P<text>[^`]{1,2000})`|%x[{(](?P<braced>[^})]{1,2000})[})]")
_ITEM = re.compile(r"""["']([^"']*)["']""")
_FORKS = re.compile(
    r"fork\s?(?:\(\))?\s?while|while\s?\(?\s?(?:True|1|true)\s?\)?[:{ \n]+\s?(?:os\.)?fork"
)
_MAX_CODE = 64 * 1024


class Program(NamedTuple):
    """Code for an interpreter. `reads_stdin`: there is none, it is read from standard input."""

    codes: list[str]
    reads_stdin: bool


def program(name: str, args: Argv) -> Program | None:
    """The code in the arguments; None when the command is not an interpreter."""
    if name in _AWKS:
        return Program([arg for arg in args if "system" in arg or "|" in arg], False)
    letters = _CODE_OPTIONS.get(name.rstrip("0123456789."))
    if letters is None:
        return None
    codes: list[str] = []
    for index, arg in enumerate(args):
        if not arg.startswith("-"):
            return Program(codes, False)
        if arg == "-":
            return Program(codes, not codes)
        if arg.startswith("--"):
            if arg.partition("=")[0] in ("--eval", "--print"):
                return Program([arg.partition("=")[2], *args[index + 1 : index + 2]], False)
        elif arg[-1] in letters:
            return Program(list(args[index + 1 : index + 2]), False)
        elif any(letter in letters for letter in arg[1:2]):
            return Program([arg[2:]], False)
        elif arg[1:2] == "m":
            return Program(codes, False)
    return Program(codes, True)


class Actions(NamedTuple):
    """What code does, as far as it is written out."""

    removed: list[str]
    scripts: list[str]
    commands: list[list[str]]
    forks: bool


def actions(code: str, name: str) -> Actions:
    """Look for calls that delete trees, run shell commands or fork without end."""
    code = code[:_MAX_CODE]
    removed = [_plain(match["text"]) for match in _REMOVES.finditer(code)]
    scripts = [_plain(match["text"]) for match in _SHELLS_OUT.finditer(code)]
    if name.rstrip("0123456789.") in ("perl", "ruby", "php"):
        scripts += [match["text"] or match["braced"] for match in _BACKTICKS.finditer(code)]
    commands = [_ITEM.findall(match["items"]) for match in _RUNS_LIST.finditer(code)]
    return Actions(removed, scripts, commands, _FORKS.search(code) is not None)


def _plain(text: str) -> str:
    return text.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\")
