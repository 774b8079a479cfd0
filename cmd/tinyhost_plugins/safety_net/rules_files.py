"""Rules about files: rm, find, mv, chmod, chown, rsync, shred, truncate, tee, cp."""

from __future__ import annotations

from . import marks, paths
from .call import Call, Findings
from .catalog import Finding

_REMOVE_RULES = {
    paths.ROOT: "remove-system-path",
    paths.SYSTEM: "remove-system-path",
    paths.USERS: "remove-system-path",
    paths.HOME: "remove-home",
    paths.PERSONAL: "remove-home",
    paths.TEMP: "remove-shared-temp",
    paths.HERE: "remove-working-tree",
    paths.ABOVE: "remove-working-tree",
    paths.REPOSITORY: "remove-working-tree",
}
_NOT_OURS = (paths.ROOT, paths.SYSTEM, paths.USERS, paths.HOME, paths.TEMP, paths.PERSONAL)


def remove(call: Call) -> Findings:
    """rm and its like: recursively, or single files the system needs."""
    options = call.options()
    if options.only_asks:
        return
    recursive = options.has("rR", "recursive")
    for word in options.operands:
        if recursive:
            yield from remove_tree(call, word)
        elif paths.is_critical_file(word, call.cwd) and not call.allowed(word):
            yield Finding("overwrite-system-file", f"{call.name} {marks.show(word)}")
        elif _sweeps(word) and call.place(word) in _NOT_OURS:
            yield Finding(_REMOVE_RULES[call.place(word) or ""], f"{call.name} {marks.show(word)}")


def remove_tree(call: Call, word: str) -> Findings:
    """A directory and all that is in it."""
    found = f"{call.name} -r {marks.show(word)}"
    if call.piped and all(char in marks.UNKNOWN for char in word):
        yield Finding("remove-unseen-names", found)
        return
    if word.startswith(marks.MAYBE):
        if call.place("/" + word.lstrip(marks.MAYBE)) == paths.ROOT and "/" in word:
            yield Finding("remove-unset-variable", found)
        return
    rule = _REMOVE_RULES.get(call.place(word) or "")
    if rule:
        yield Finding(rule, found)


def _sweeps(word: str) -> bool:
    return marks.matches_anything(word.rstrip("/").rpartition("/")[2])


def find_delete(call: Call, roots: tuple[str, ...]) -> Findings:
    """find with -delete, or -exec with a command that deletes. Filters do not matter here."""
    for root in roots:
        if call.place(root) in _NOT_OURS:
            yield Finding("find-delete", f"find {marks.show(root)}")


def move(call: Call) -> Findings:
    options = call.options("StT")
    words = options.operands
    for word in words[:-1] if "t" not in options.short else words:
        if call.place(word) in (*_NOT_OURS, paths.ABOVE) or paths.is_critical_file(word, call.cwd):
            yield Finding("move-system-path", f"mv {marks.show(word)}")
    if len(words) > 1 and (words[-1] == "/dev/null" or paths.is_device(words[-1])):
        yield call.finding("move-system-path")


def change_mode(call: Call) -> Findings:
    options, mode, words = _mode_and_files(call)
    recursive = "R" in options or "--recursive" in options
    for word in words:
        place = call.place(word)
        if _all_rights_for_all(mode) or (_others_write(mode) and (recursive or place in _NOT_OURS)):
            yield call.finding("world-writable")
            return
        if place == paths.ROOT or (recursive and _keeps_system(call, word, place)):
            yield call.finding("recursive-permissions")
            return


def _mode_and_files(call: Call) -> tuple[str, str, list[str]]:
    options, words = "", []
    for arg in call.args:
        # -x, -w and -r are modes, not options.
        if arg.startswith("--") or (arg.startswith("-") and set(arg[1:]) <= set("Rvfc")):
            options += arg
        else:
            words.append(arg)
    if "--reference" in options:
        return options, "", words
    return options, (words[0] if words else ""), words[1:]


def _all_rights_for_all(mode: str) -> bool:
    if mode.isdigit():
        return mode[-1] == "7" and not _sticky(mode)
    return any(_grants(clause, "rwx") for clause in mode.split(","))


def _others_write(mode: str) -> bool:
    if mode.isdigit():
        return mode[-1] in "2367" and not _sticky(mode)
    return any(_grants(clause, "w") for clause in mode.split(","))


def _sticky(mode: str) -> bool:
    return len(mode) > 3 and int(mode[-4]) % 2 == 1 if mode[-4:-3].isdigit() else False


def _grants(clause: str, rights: str) -> bool:
    """Whether a clause such as a+rwx gives others these rights."""
    for sign in "+=":
        who, found, given = clause.partition(sign)
        if found and set(who) <= set("ugoa") and ("o" in who or "a" in who):
            return set(rights) <= set(given.replace("X", "x")) and "t" not in given
    return False


def _keeps_system(call: Call, word: str, place: str | None) -> bool:
    if place in (paths.ROOT, paths.USERS, paths.TEMP, paths.ABOVE):
        return True
    if place != paths.SYSTEM:
        return False
    # Data of services, such as /var/lib/x, is handed to another user as a matter of course.
    where = paths.locate(word, call.cwd)
    return (
        where is None or where.parts[0] not in ("var", "srv", "opt", "mnt") or len(where.parts) < 2
    )


def change_owner(call: Call) -> Findings:
    options = call.options()
    words = options.operands if "reference" in options.long else options.operands[1:]
    for word in words:
        place = call.place(word)
        if place == paths.ROOT or (
            options.has("R", "recursive") and _keeps_system(call, word, place)
        ):
            yield call.finding("recursive-permissions")
            return


def synchronise(call: Call) -> Findings:
    """rsync with an option that deletes what the source lacks."""
    options = call.options("ef")
    deletes = any(name.startswith(("delete", "del")) for name in options.long)
    if not deletes or options.has("n", "dry-run") or len(options.operands) < 2:
        return
    host, remote, path = options.operands[-1].partition(":")
    target = path if remote and "/" not in host else options.operands[-1]
    rule = _REMOVE_RULES.get(call.place(target) or "")
    if rule and call.place(target) in _NOT_OURS:
        yield call.finding(rule)


def shred(call: Call) -> Findings:
    options = call.options("ns")
    if options.operands and not options.only_asks:
        device = any(paths.is_device(word) for word in options.operands)
        yield call.finding("write-to-device" if device else "shred")


def truncate(call: Call) -> Findings:
    for word in call.options("sr").operands:
        if paths.is_device(word):
            yield call.finding("write-to-device")
        elif call.place(word) == paths.SYSTEM or paths.is_critical_file(word, call.cwd):
            yield call.finding("overwrite-system-file")


def copy(call: Call) -> Findings:
    """cp, install and ln write over their last operand; tee over all of them."""
    words = call.options("tSgmo").operands
    if len(words) > 1:
        yield from written(call, words[-1])


def tee(call: Call) -> Findings:
    options = call.options()
    for word in options.operands:
        yield from written(call, word, append=options.has("a", "append"))


def written(call: Call, word: str, *, append: bool = False) -> Findings:
    """A file that is written over."""
    found = f"{call.name} writes to {marks.show(word)}".strip()
    if paths.is_device(word):
        yield Finding("write-to-device", found)
    elif word == "/proc/sysrq-trigger":
        yield Finding("power-off", found)
    elif append or call.allowed(word):
        return
    elif paths.is_critical_file(word, call.cwd, programs=False):
        yield Finding("overwrite-system-file", found)
