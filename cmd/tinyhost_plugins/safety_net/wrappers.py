"""Commands that run another command: what is left when they are taken away."""

from __future__ import annotations

from typing import NamedTuple

Argv = tuple[str, ...]


class Wrapper(NamedTuple):
    """How to find the inner command.

    with_value: short and long options that take their value from the next argument.
    skip: operands that stand before the inner command.
    assignments: NAME=value may stand before it too.
    script: options whose value is a whole script for a shell.
    joins: the inner command is joined with blanks and given to a shell.
    """

    with_value: str = ""
    skip: int = 0
    assignments: bool = False
    script: tuple[str, ...] = ()
    joins: bool = False


_CONTAINER = "-e --env -u --user -w --workdir --env-file --detach-keys -n --namespace"
WRAPPERS: dict[str, Wrapper] = {
    "builtin": Wrapper(),
    "busybox": Wrapper(),
    "caffeinate": Wrapper("-t -w"),
    "chroot": Wrapper("--userspec --groups", skip=1),
    "chrt": Wrapper("-T -P -D", skip=1),
    "command": Wrapper(),
    "coproc": Wrapper(),
    "doas": Wrapper("-u -C", assignments=True),
    "env": Wrapper("-u -C --unset --chdir", assignments=True, script=("-S", "--split-string")),
    "exec": Wrapper("-a"),
    "fakeroot": Wrapper("-l -s -i -b"),
    "flock": Wrapper("-w -E --timeout", skip=1, script=("-c", "--command")),
    "ionice": Wrapper("-c -n -p -P -u --class --classdata"),
    "ltrace": Wrapper("-e -o -s -p -u -n -a"),
    "nice": Wrapper("-n --adjustment"),
    "noglob": Wrapper(),
    "nocorrect": Wrapper(),
    "nohup": Wrapper(),
    "nsenter": Wrapper("-t -S -G --target"),
    "pkexec": Wrapper("--user"),
    "proxychains": Wrapper("-f"),
    "proxychains4": Wrapper("-f"),
    "runuser": Wrapper("-u -g -G --user", script=("-c", "--command")),
    "script": Wrapper("-I -O -B -E -m -o", skip=1, script=("-c", "--command")),
    "setarch": Wrapper(),
    "setpriv": Wrapper("--reuid --regid --groups"),
    "setsid": Wrapper(),
    "sg": Wrapper(skip=1, script=("-c",)),
    "ssh": Wrapper(
        "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", skip=1, joins=True
    ),
    "sshpass": Wrapper("-p -f -d"),
    "stdbuf": Wrapper("-i -o -e --input --output --error"),
    "strace": Wrapper("-e -o -s -p -u -P -a -b -E -I -O -S -X"),
    "su": Wrapper("-g -G -s -w --shell", skip=1, script=("-c", "--command")),
    "sudo": Wrapper(
        "-u -g -p -C -D -h -R -r -t -T -U --user --group --prompt --chdir --chroot --host --role"
        " --type --other-user --command-timeout --close-from",
        assignments=True,
    ),
    "systemd-run": Wrapper("-p -u -E -M -H -d -t --property --unit --setenv --slice --description"),
    "taskset": Wrapper(skip=1),
    "time": Wrapper("-f -o --format --output"),
    "timeout": Wrapper("-k -s --kill-after --signal", skip=1),
    "torsocks": Wrapper(),
    "toybox": Wrapper(),
    "unbuffer": Wrapper(),
    "unshare": Wrapper("-S -G -R -w --root --wd"),
    "watch": Wrapper("-n --interval", joins=True),
    "xvfb-run": Wrapper("-e -f -n -p -s -w"),
}
_CONTAINERS = frozenset(("docker", "podman", "nerdctl", "kubectl", "oc"))


class Inner(NamedTuple):
    """What a wrapper runs: `argv`, or `script` as text for a shell, or both."""

    argv: Argv = ()
    script: str | None = None


def unwrap(name: str, args: Argv) -> Inner | None:
    """The command inside a wrapper; None when the command is no wrapper."""
    if name in _CONTAINERS:
        return _in_container(args)
    wrapper = WRAPPERS.get(name)
    if wrapper is None:
        return None
    if name == "command" and args[:1] in (("-v",), ("-V",)):
        return Inner()
    script, rest = _skip_options(args, wrapper)
    if script is not None:
        return Inner(rest if name == "env" else (), script)
    if name == "flock" and len(rest) > 1 and rest[1] in wrapper.script:
        return Inner((), " ".join(rest[2:3]))
    if name in ("su", "script", "sg"):
        # Options may stand after the user's name.
        script, _ = _skip_options(rest[1:], wrapper)
        return Inner((), script)
    inner = rest[wrapper.skip :]
    return Inner((), " ".join(inner)) if wrapper.joins and inner else Inner(inner)


def _skip_options(args: Argv, wrapper: Wrapper) -> tuple[str | None, Argv]:
    with_value = wrapper.with_value.split()
    index = 0
    while index < len(args):
        arg = args[index]
        name, has_value, value = arg.partition("=")
        if arg == "--":
            index += 1
            break
        if arg in wrapper.script:
            return " ".join(args[index + 1 : index + 2]), args[index + 2 :]
        if has_value and name in wrapper.script:
            return value, args[index + 1 :]
        glued = next((short for short in wrapper.script if _is_glued(arg, short)), None)
        if glued is not None:
            return arg[2:], args[index + 1 :]
        if arg in with_value:
            index += 2
        elif arg.startswith("-") or (wrapper.assignments and _is_assignment(arg)):
            index += 1
        else:
            break
    while wrapper.assignments and index < len(args) and _is_assignment(args[index]):
        index += 1
    return None, args[index:]


def _is_glued(arg: str, short: str) -> bool:
    return len(short) == 2 and len(arg) > 2 and arg.startswith(short)


def _is_assignment(arg: str) -> bool:
    name, found, _ = arg.partition("=")
    return bool(found) and name.isidentifier()


def _in_container(args: Argv) -> Inner | None:
    """exec and run of docker and its like, and of kubectl after "--"."""
    index = 0
    while index < len(args) and args[index] not in ("exec", "rsh"):
        if args[index] in ("run", "delete", "apply", "system", "volume", "build"):
            return None
        index += 1
    if index >= len(args):
        return None
    rest = args[index + 1 :]
    if "--" in rest:
        return Inner(rest[rest.index("--") + 1 :])
    _, words = _skip_options(rest, Wrapper(_CONTAINER))
    return Inner(words[1:])


_XARGS_VALUES = (
    "-I -n -L -P -d -s -a -E -i -l --replace --max-args --max-lines --max-procs --delimiter"
)


def xargs(args: Argv, words: list[str]) -> Argv:
    """The command that xargs runs, with the words of its input put in."""
    placeholder = ""
    index = 0
    while index < len(args) and args[index].startswith("-") and len(args[index]) > 1:
        arg = args[index]
        if arg == "-I" or arg == "--replace":
            placeholder = args[index + 1] if index + 1 < len(args) else ""
        elif arg.startswith("-I"):
            placeholder = arg[2:]
        elif arg == "-i":
            placeholder = "{}"
        elif arg.startswith("--replace="):
            placeholder = arg.partition("=")[2]
        takes_value = arg in _XARGS_VALUES.split() and arg not in ("-i", "-l")
        index += 2 if takes_value else 1
    inner = args[index:]
    if not placeholder:
        return (*inner, *words)
    filled: list[str] = []
    for arg in inner:
        if placeholder in arg:
            filled.extend(arg.replace(placeholder, word) for word in words)
        else:
            filled.append(arg)
    return tuple(filled)


def parallel(args: Argv, words: list[str]) -> Argv:
    """The command that GNU parallel runs, for the words after ::: or of its input."""
    if ":::" in args:
        at = args.index(":::")
        args, words = args[:at], [word for word in args[at + 1 :] if word != ":::"]
    index = 0
    while index < len(args) and args[index].startswith("-"):
        index += 2 if args[index] in ("-j", "-n", "-N", "-L", "--jobs", "-a") else 1
    inner = args[index:]
    if any("{}" in arg for arg in inner):
        return xargs(("-I", "{}", *inner), words)
    return (*inner, *words)
