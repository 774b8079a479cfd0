"""Rules about the machine: disks, power, processes, users."""

from __future__ import annotations

from . import marks, paths
from .call import Call, Findings
from .rules_files import written
from .tables import names

_POWER_UNITS = names(
    "poweroff.target reboot.target halt.target shutdown.target rescue.target emergency.target"
    " kexec.target poweroff reboot halt shutdown rescue emergency kexec"
)
_POWER_VERBS = names("reboot poweroff halt kexec soft-reboot rescue emergency")


def make_filesystem(call: Call) -> Findings:
    """mkfs and its like. A plain file, as for a disk image, is nobody's disk."""
    options = call.options("tTLNbiIgGmMOorUE")
    if options.only_asks or not call.args or "V" in options.short:
        return
    words = [arg for arg in call.args if not arg.startswith("-")]
    plain = [word for word in words if _is_plain_file(word)]
    if any(paths.is_device(word) or marks.is_unknown(word) for word in words) or not plain:
        yield call.finding("format-disk")


def _is_plain_file(word: str) -> bool:
    if marks.is_unknown(word) or word.isdigit():
        return False
    return ("/" in word or "." in word) and not word.startswith("/dev/")


def partition(call: Call) -> Findings:
    """fdisk, sfdisk, gdisk, parted and so on, unless they only print."""
    options = call.options("btcosS")
    if options.only_asks or options.has("lpdJV", "list", "print", "dump", "json", "verify"):
        return
    if "print" in options.operands or not options.operands:
        return
    yield call.finding("format-disk")


def sgdisk(call: Call) -> Findings:
    options = call.options()
    if options.operands and not options.only_asks:
        asks = options.has("pivO", "print", "info", "verify", "print-mbr")
        if not asks or options.has("zZodn", "zap", "zap-all", "clear", "delete"):
            yield call.finding("format-disk")


def wipe(call: Call) -> Findings:
    """wipefs only lists what it would wipe unless it is told which."""
    options = call.options("topO")
    if options.has("ao", "all", "offset") and not options.has("n", "no-act"):
        yield call.finding("format-disk")


def discard(call: Call) -> Findings:
    options = call.options("olp")
    if options.operands and not options.only_asks:
        yield call.finding("write-to-device")


def volume_tool(call: Call) -> Findings:
    """Subcommands that destroy a volume, a pool or an encrypted disk."""
    words = [arg.lower().lstrip("-") for arg in call.args]
    if set(words) & _VOLUME_VERBS.get(call.name, frozenset()):
        yield call.finding("format-disk")


_VOLUME_VERBS = {
    "cryptsetup": frozenset(("luksformat", "erase", "lukserase", "reencrypt")),
    "diskutil": names(
        "erasedisk erasevolume zerodisk randomdisk secureerase partitiondisk reformat"
    ),
    "dmsetup": frozenset(("remove_all", "wipe_table")),
    "hdparm": frozenset(("security-erase", "security-erase-enhanced", "trim-sector-ranges")),
    "mdadm": frozenset(("zero-superblock",)),
    "nvme": frozenset(("format", "sanitize")),
    "zfs": frozenset(("destroy",)),
    "zpool": frozenset(("destroy", "labelclear")),
}


def remove_volume(call: Call) -> Findings:
    options = call.options()
    if options.operands and not options.only_asks and "t" not in options.short:
        yield call.finding("format-disk")


def disk_dump(call: Call) -> Findings:
    for arg in call.args:
        if arg.startswith("of="):
            yield from written(call, arg[3:])


def power(call: Call) -> Findings:
    options = call.options("t")
    if options.only_asks or (call.name == "shutdown" and "c" in options.short):
        return
    if options.has("w", "wtmp-only"):
        return
    yield call.finding("power-off")


def run_level(call: Call) -> Findings:
    if call.args and call.args[0] in ("0", "1", "6", "s", "S"):
        yield call.finding("power-off")


def service_manager(call: Call) -> Findings:
    """systemctl and loginctl."""
    options = call.options("HMtpsno")
    words = options.operands
    if not words or options.has("", "dry-run") or options.only_asks:
        return
    verb, units = words[0], words[1:]
    starts = verb in ("start", "isolate") and any(unit in _POWER_UNITS for unit in units)
    if verb in _POWER_VERBS or starts:
        yield call.finding("power-off")


def kill(call: Call) -> Findings:
    targets = _kill_targets(call.args)
    if any(target in ("-1", "1") for target in targets):
        yield call.finding("kill-everything")


def _kill_targets(args: tuple[str, ...]) -> list[str]:
    """Process ids; the first argument with a hyphen is the signal."""
    if args[:1] == ("-0",) or args[:2] in (("-s", "0"), ("-n", "0")):
        return []  # asks whether the process is there
    rest = list(args)
    if rest and rest[0] in ("-s", "-n", "--signal"):
        rest = rest[2:]
    elif rest and rest[0].startswith("-") and rest[0] != "--":
        if rest[0] in ("-l", "-L", "--list", "--table"):
            return []
        rest = rest[1:]
    return [arg for arg in rest if arg != "--"]


def kill_all(call: Call) -> Findings:
    yield call.finding("kill-everything")


def kill_by_name(call: Call) -> Findings:
    """pkill with a pattern that fits every process, or with a user and no pattern."""
    options = call.options("sgGPtuUF")
    words = options.operands
    everything = any(word in (".", ".*", "", "^", "$") for word in words)
    whole_user = not words and options.has("uU", "user", "euid", "uid")
    if everything or whole_user:
        yield call.finding("kill-everything")


def delete_user(call: Call) -> Findings:
    if call.options("R").operands:
        yield call.finding("delete-user")


def crontab(call: Call) -> Findings:
    if call.options("u").has("r"):
        yield call.finding("crontab-remove")
