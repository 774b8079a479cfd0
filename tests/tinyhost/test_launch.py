"""The words before a program: pure."""

from __future__ import annotations

import subprocess

import pytest

from tinyhost.launch import BARE, describe, wrap
from tinyhost.model import Confinement, Limits

EVERYTHING = Limits(memory=512 * 2**20, cpu=60.0, open_files=256, processes=64, nice=5)


def test_a_plugin_without_limits_and_sandbox_is_started_as_it_is() -> None:
    assert wrap(Limits(), None, "/", ceilings={}) is BARE
    assert BARE.prefix == ()


def test_each_limit_ends_the_start_when_it_cannot_be_set() -> None:
    [shell, option, script, _name] = wrap(EVERYTHING, None, "/", ceilings={}).prefix
    assert (shell, option) == ("/bin/sh", "-c")
    steps = script.split("; ")
    assert steps[-1] == 'exec nice -n 5 "$@"'
    assert script.count("|| exit 125") == 4
    assert "ulimit -n 256 || exit 125" in steps
    assert "ulimit -d 524288 || exit 125" in steps
    assert "ulimit -S -t 60 && ulimit -H -t 65 || exit 125" in steps


def test_a_shell_that_cannot_set_a_limit_does_not_run_the_program() -> None:
    prefix = list(wrap(Limits(open_files=64), None, "/", ceilings={}).prefix)
    prefix[2] = prefix[2].replace("64", "sixty-four")
    done = subprocess.run([*prefix, "/bin/echo", "ran"], capture_output=True, text=True)
    assert done.returncode in (2, 125)
    assert done.stdout == ""
    assert done.stderr


def test_nothing_is_asked_for_above_what_the_host_itself_may_have() -> None:
    ceilings = {"open_files": 100, "cpu": 30, "memory": 2**20, "processes": 10}
    script = wrap(EVERYTHING, None, "/", ceilings=ceilings).prefix[2]
    assert "ulimit -n 100 " in script
    assert "ulimit -S -t 30 && ulimit -H -t 30 " in script
    assert "ulimit -d 1024 " in script
    assert "ulimit -u 10 " in script


def test_parts_of_a_second_are_rounded_up() -> None:
    assert "-S -t 2 " in wrap(Limits(cpu=1.2), None, "/", ceilings={}).prefix[2]


def test_niceness_alone_sets_no_limit() -> None:
    wrapping = wrap(Limits(nice=3), None, "/", ceilings={}, nice="/usr/bin/nice")
    assert wrapping.prefix[2] == 'exec /usr/bin/nice -n 3 "$@"'


def test_limits_are_described_in_words() -> None:
    expected = "memory 512MiB, cpu 60 s, open files 256, processes 64, nice 5"
    assert describe(EVERYTHING) == expected
    assert describe(Limits()) == ""
    assert wrap(EVERYTHING, None, "/", ceilings={}).note == expected


@pytest.mark.parametrize(("engine", "relayed"), [("bubblewrap", True), ("landlock", False)])
def test_limits_are_set_inside_the_sandbox(engine: str, relayed: bool) -> None:
    confinement = Confinement(engine=engine, program="/engine")
    wrapping = wrap(Limits(open_files=9), confinement, "/proj", ceilings={})
    assert wrapping.prefix[0] == "/engine"
    assert wrapping.prefix.index("/bin/sh") > wrapping.prefix.index("--")
    assert wrapping.relayed is relayed


def words_of(**confinement: object) -> str:
    made = Confinement(engine="bubblewrap", program="bwrap", **confinement)  # type: ignore[arg-type]
    return " ".join(wrap(Limits(), made, "/proj", ceilings={}).prefix)


def test_bubblewrap_mounts_folders_before_what_is_in_them() -> None:
    words = words_of(system=["/usr"], read=["/proj/.git", "/data"], write=["/proj"])
    assert words.index("--bind /proj /proj") < words.index("--ro-bind /proj/.git /proj/.git")
    assert "--ro-bind /data /data" in words
    assert words.index("--tmpfs /tmp") < words.index("--ro-bind")
    assert words.endswith("--dir /proj --remount-ro / --chdir /proj --")


def test_bubblewrap_takes_network_capabilities_and_processes_away() -> None:
    words = words_of()
    for option in ("--unshare-pid", "--unshare-ipc", "--unshare-net", "--cap-drop ALL"):
        assert option in words
    assert "--unshare-net" not in words_of(network=True)
    assert "--die-with-parent" not in words
    assert "--new-session" not in words


def test_what_is_needed_to_run_is_not_mounted_over_what_can_be_written() -> None:
    words = words_of(system=["/usr", "/usr/lib", "/proj/venv"], write=["/proj"])
    assert "/proj/venv" not in words
    assert "/usr/lib" not in words


def test_the_whole_root_can_be_made_readable_or_writable() -> None:
    assert "--remount-ro" not in words_of(read=["/"])
    assert words_of(read=["/"]).index("--ro-bind / /") < words_of(read=["/"]).index("--tmpfs")
    assert "--bind / /" in words_of(write=["/"])


def test_a_link_is_made_again_unless_its_place_is_there() -> None:
    words = words_of(write=["/data/w"], links={"/home/me/w": "/data/w", "/x": "/elsewhere"})
    assert "--symlink /data/w /home/me/w" in words
    assert "/elsewhere" not in words
    assert "--symlink" not in words_of(read=["/home"], links={"/home/me/w": "/home/w"})


def test_landlock_gets_its_rules_as_words() -> None:
    made = Confinement(engine="landlock", program="py", system=["/usr"], read=["/r"], write=["/w"])
    words = " ".join(wrap(Limits(), made, "/", ceilings={}).prefix)
    assert words.startswith("py -I -S ")
    assert "--read /usr --read /r --read /proc --write /w --device /dev/" in words
    assert "--network" not in words
    assert words.endswith(" --")
