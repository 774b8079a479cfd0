"""Judges a command text, or a ready list of arguments: pure, nothing is run or opened."""

from __future__ import annotations

from . import interpreters, marks, outputs, rules_files, wrappers
from .call import Call
from .catalog import Finding
from .limits import MAX_COMMANDS_INSIDE, MAX_TEXT, TooMuch
from .policy import ExtraRule, Policy
from .rules import NOT_FOR_LOCAL_FILES, RULES_BY_COMMAND
from .script import Script
from .tables import names
from .words import Scope

_SHELLS = names("bash sh zsh dash ksh ash mksh fish rbash")
_SHELL_VALUES = frozenset(("-o", "+o", "-O", "+O", "--rcfile", "--init-file"))
_READ_SCRIPTS = frozenset(("at", "batch"))
_ALL_COMMANDS_OF_FIND = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_REMOVERS = frozenset(("rm", "unlink", "shred", "rmdir", "srm", "mv"))
_FIND_VALUES = names(
    "-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -ctime -atime -newer -size"
    " -type -user -group -perm -maxdepth -mindepth"
)


def judge(
    command: str | tuple[str, ...],
    policy: Policy,
    *,
    stdin: str | None = None,
    cwd: str = ".",
) -> list[Finding]:
    """What speaks against running a command; empty for nothing.

    command: text for a shell, or a command with its arguments.
    stdin: what the command reads, when that is known.
    cwd: the directory it starts in; "." for the session's own.

    The work is bounded: what is too large or too tangled gives the finding "unchecked".
    Never raises.
    """
    return _Judge(policy).judge(command, stdin, cwd)


class _Judge:
    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.findings: list[Finding] = []
        self.script = Script(self.run, self.redirect, self.report)
        self._depth = 0

    def judge(self, command: str | tuple[str, ...], stdin: str | None, cwd: str) -> list[Finding]:
        size = len(command) if isinstance(command, str) else sum(map(len, command))
        try:
            if size > MAX_TEXT:
                raise TooMuch(f"{size} characters, more than {MAX_TEXT}")
            stdin = None if stdin is None else marks.clean(stdin[:MAX_TEXT])
            self._judge(command, stdin, marks.clean(cwd))
        except TooMuch as limit:
            self.report(Finding("unchecked", str(limit)))
        except RecursionError:
            self.report(Finding("unchecked", "nested too deeply"))
        return self.findings

    def _judge(self, command: str | tuple[str, ...], stdin: str | None, cwd: str) -> None:
        if not isinstance(command, str):
            self.run(tuple(map(marks.clean, command)), stdin, Scope(cwd=cwd))
            return
        text = marks.clean(command)
        self.script.text(text, stdin, Scope(cwd=cwd))
        # The grammar takes a continued line for two words even in the middle of one. Both
        # readings are judged, as the joined one is wrong in comments.
        joined = text.replace("\\\n", "")
        if joined != text:
            self.script.text(joined, stdin, Scope(cwd=cwd))

    def report(self, finding: Finding) -> None:
        if finding.rule not in self.policy.allow and finding not in self.findings:
            self.findings.append(finding)

    def redirect(self, word: str, append: bool, scope: Scope) -> None:
        call = Call("", (), None, scope.cwd, False, self.policy)
        for finding in rules_files.written(call, word, append=append):
            self.report(finding)

    def run(
        self, argv: tuple[str, ...], stdin: str | None, scope: Scope, piped: bool = False
    ) -> str:
        """Judge one command, and whatever it runs in turn; what it prints."""
        self.script.count()
        self._depth += 1
        try:
            if self._depth > MAX_COMMANDS_INSIDE:
                raise TooMuch(f"more than {MAX_COMMANDS_INSIDE} commands inside each other")
            return self._run(argv, stdin, scope, piped)
        finally:
            self._depth -= 1

    def _run(self, argv: tuple[str, ...], stdin: str | None, scope: Scope, piped: bool) -> str:
        name, args = _command_name(argv), argv[1:]
        if not name:
            return marks.ANY
        call = Call(name, args, stdin, scope.cwd, piped, self.policy)
        self._check(call, is_local="/" in argv[0] and argv[0][0] != "/")
        if name in scope.functions:
            return self.script.call_function(scope.functions[name], argv, stdin, scope)
        inner = wrappers.unwrap(name, args)
        if inner is not None:
            return self._inside(inner, call, scope)
        builtin = _BUILTINS.get(name)
        if builtin is not None:
            return builtin(self, call, scope)
        if name in _SHELLS:
            return self._shell(call, scope)
        program = interpreters.program(name, args)
        if program is not None:
            return self._program(call, program, scope)
        return outputs.output(call)

    def _check(self, call: Call, is_local: bool) -> None:
        """Report what the rules say. `is_local`: the command is a file, as in ./reboot."""
        if marks.DOWNLOAD in call.name:
            self.report(call.finding("download-to-shell"))
        elif marks.DECODED in call.name:
            self.report(call.finding("decoded-to-shell"))
        rule = RULES_BY_COMMAND.get(call.name)
        if is_local and rule in NOT_FOR_LOCAL_FILES:
            rule = None
        if rule is None and call.name.startswith(("mkfs.", "newfs_")):
            rule = RULES_BY_COMMAND["mkfs"]
        if rule is None and marks.is_unknown(call.name) and _looks_like_rm(call.args):
            rule = rules_files.remove
        for finding in rule(call) if rule is not None else ():
            self.report(finding)
        for extra in self.policy.extra:
            if _matches(extra, call):
                found = call.finding(extra.id)
                self.report(found._replace(why=extra.reason, instead=extra.instead))

    def _inside(self, inner: wrappers.Inner, call: Call, scope: Scope) -> str:
        printed = marks.ANY
        if inner.script is not None:
            text = " ".join((inner.script, *inner.argv)) if call.name == "env" else inner.script
            printed = self.script.text(text, call.stdin, scope.copy())
        elif inner.argv:
            printed = self.run(inner.argv, call.stdin, scope, call.piped)
        elif call.name in ("sudo", "su", "ssh", "doas", "chroot", "unshare", "nsenter", "busybox"):
            # Without a command they start a shell, or hand over their input to one.
            printed = self._stdin_script(call, scope)
        elif call.name == "command":
            printed = outputs.output(call)
        return printed

    def _shell(self, call: Call, scope: Scope) -> str:
        args = call.args
        inner = scope.copy()
        index = 0
        while (
            index < len(args) and args[index][:1] in ("-", "+") and args[index] not in ("-", "--")
        ):
            arg = args[index]
            if arg[:1] == "-" and arg[1:2] != "-" and "c" in arg:
                rest = list(args[index + 1 :])
                while rest and rest[0].startswith(("-", "+")):
                    rest.pop(0)
                if not rest:
                    return marks.ANY
                inner.positional = tuple(rest[1:]) or None
                return self.script.text(rest[0], call.stdin, inner)
            if arg == "-s":
                return self._stdin_script(call, scope)
            takes_value = arg in _SHELL_VALUES or (arg[:2] != "--" and arg[-1] in "oO")
            index += 2 if takes_value else 1
        operands = [arg for arg in args[index:] if arg not in ("-", "--")]
        if not operands or operands[0] in ("/dev/stdin", "/proc/self/fd/0"):
            return self._stdin_script(call, scope)
        return self._file_script(operands[0], scope)

    def _stdin_script(self, call: Call, scope: Scope) -> str:
        if call.stdin is None:
            return marks.ANY
        return self.script.text(call.stdin, None, scope.copy())

    def _file_script(self, word: str, scope: Scope) -> str:
        """A script that is a file: only <( ) can be seen into."""
        if word.startswith(marks.PROCESS):
            return self.script.text(word[1:], None, scope)
        return marks.ANY

    def _program(self, call: Call, program: interpreters.Program, scope: Scope) -> str:
        codes = list(program.codes)
        if program.reads_stdin and call.stdin is not None:
            if marks.DOWNLOAD in call.stdin:
                self.report(call.finding("download-to-shell"))
            codes.append(call.stdin)
        for code in codes:
            found = interpreters.actions(code, call.name)
            if found.forks:
                self.report(call.finding("fork-bomb"))
            for path in found.removed:
                path = marks.HOME + path[1:] if path.startswith("~") else path
                for finding in rules_files.remove_tree(call, path):
                    self.report(finding)
            for text in found.scripts:
                self.script.text(text, None, scope.copy())
            for command in found.commands:
                if command:
                    self.run(tuple(command), None, scope.copy())
        return outputs.output(call)

    def _eval(self, call: Call, scope: Scope) -> str:
        return self.script.text(" ".join(call.args), call.stdin, scope)

    def _source(self, call: Call, scope: Scope) -> str:
        word = call.args[0] if call.args else ""
        if word in ("/dev/stdin", "/proc/self/fd/0"):
            return self._stdin_script(call, scope)
        return self._file_script(word, scope)

    def _trap(self, call: Call, scope: Scope) -> str:
        words = [arg for arg in call.args if not arg.startswith("-")]
        return self.script.text(words[0], None, scope.copy()) if len(words) > 1 else ""

    def _alias(self, call: Call, scope: Scope) -> str:
        for arg in call.args:
            _, found, text = arg.partition("=")
            if found:
                self.script.text(text, None, scope.copy())
        return ""

    def _change_directory(self, call: Call, scope: Scope) -> str:
        words = [arg for arg in call.args if arg not in ("-L", "-P", "-e", "--")]
        target = words[0] if words else marks.HOME
        if target.startswith((marks.HOME, "/", *marks.UNKNOWN)):
            scope.cwd = target
        elif target == "-":
            scope.cwd = marks.ANY
        else:
            scope.cwd = f"{scope.cwd}/{target}"
        return ""

    def _set_positional(self, call: Call, scope: Scope) -> str:
        if "--" in call.args:
            scope.positional = ("", *call.args[call.args.index("--") + 1 :])
        return ""

    def _xargs(self, call: Call, scope: Scope) -> str:
        feed = call.stdin if call.stdin is not None else marks.ANY
        words = marks.split_words(marks.unquoted(feed.replace("\0", " ")))
        words = [word for word in words if word][:1000]
        argv = (wrappers.xargs if call.name == "xargs" else wrappers.parallel)(call.args, words)
        if not argv:
            return feed
        if call.name == "parallel" and " " in argv[0]:
            return self.script.text(" ".join(argv), None, scope.copy())
        return self.run(argv, None, scope, piped=True)

    def _find(self, call: Call, scope: Scope) -> str:
        args = list(call.args)
        while args and (args[0] in ("-H", "-L", "-P") or args[0].startswith("-O")):
            args.pop(0)
        end = next((i for i, arg in enumerate(args) if arg[:1] in ("-", "(", "!")), len(args))
        roots = tuple(args[:end]) or (".",)
        names = [f"{root.rstrip('/')}/{marks.ANY}" for root in roots]
        rest = args[end:]
        if "-delete" in rest and not _is_value(rest, rest.index("-delete")):
            self._find_deletes(call, roots)
        for index, arg in enumerate(rest):
            if arg in _ALL_COMMANDS_OF_FIND and not _is_value(rest, index):
                self._find_runs(call, rest[index + 1 :], roots, names, scope)
        return "\n".join(names)

    def _find_runs(
        self,
        call: Call,
        rest: list[str],
        roots: tuple[str, ...],
        names: list[str],
        scope: Scope,
    ) -> None:
        end = next((i for i, arg in enumerate(rest) if arg in (";", "+")), len(rest))
        inner = tuple(rest[:end])
        if not inner:
            return
        if wrapped_name(inner) in _REMOVERS:
            self._find_deletes(call, roots)
        for name in names:
            filled = tuple(arg.replace("{}", name) for arg in inner)
            self.run(filled, None, scope.copy(), piped=True)

    def _find_deletes(self, call: Call, roots: tuple[str, ...]) -> None:
        for finding in rules_files.find_delete(call, roots):
            self.report(finding)


def wrapped_name(argv: tuple[str, ...]) -> str:
    """The command word behind any wrappers."""
    for _ in range(10):
        inner = wrappers.unwrap(_command_name(argv), argv[1:])
        if inner is None or not inner.argv:
            break
        argv = inner.argv
    return _command_name(argv)


def _is_value(args: list[str], index: int) -> bool:
    return index > 0 and args[index - 1] in _FIND_VALUES


def _command_name(argv: tuple[str, ...]) -> str:
    word = argv[0] if argv else ""
    return word.rstrip("/").rpartition("/")[2] if "/" in word else word


def _looks_like_rm(args: tuple[str, ...]) -> bool:
    return bool(args) and any(
        arg[:1] == "-" and set(arg[1:]) & set("rR") and set(arg[1:]) <= set("rRfvi") for arg in args
    )


def _matches(rule: ExtraRule, call: Call) -> bool:
    from fnmatch import fnmatchcase

    first, *others = rule.words
    if not fnmatchcase(call.name, first):
        return False
    shown = iter([marks.show(arg) for arg in call.args])
    return all(any(fnmatchcase(arg, word) for arg in shown) for word in others)


_BUILTINS = {
    ".": _Judge._source,
    "alias": _Judge._alias,
    "cd": _Judge._change_directory,
    "eval": _Judge._eval,
    "find": _Judge._find,
    "parallel": _Judge._xargs,
    "pushd": _Judge._change_directory,
    "set": _Judge._set_positional,
    "source": _Judge._source,
    "trap": _Judge._trap,
    "xargs": _Judge._xargs,
    **dict.fromkeys(_READ_SCRIPTS, _Judge._stdin_script),
}
