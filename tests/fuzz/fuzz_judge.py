"""The judge of the plugin safety-net: no text makes it raise, or take long.

Long texts are judged in a child process that is killed, and counts as an objection, when it
takes too long; here they are kept short, as libFuzzer has one process only.
"""

from __future__ import annotations

import time

from tinyhost_plugins.safety_net.judge import judge
from tinyhost_plugins.safety_net.policy import Policy

LONGEST = 2048  # bytes
SECONDS_MOST = 2.0
SEEDS = [
    b"rm -rf / && git push --force origin main",
    b"bash -c \"$(echo 'rm -rf ~')\" | sudo tee /etc/passwd",
    b"for f in a b; do find $f -exec rm {} +; done; cat <<'E' | sh\nrm -rf /\nE",
    b'x=rm; $x -rf ${HOME:?}/* 2>/dev/null & eval "$y"; [[ a =~ b ]] || dd if=/dev/zero of=/dev/sda',
    b"python3 -c 'import os; os.system(\"rm -rf /\")'; psql -c 'DROP TABLE users'; xargs -0 rm",
]


def check(data: bytes) -> None:
    """Judge it as a shell's text, and as words."""
    text = data[:LONGEST].decode("utf-8", "surrogateescape")
    began = time.process_time()
    for command in (text, tuple(text.split("\0"))):
        for finding in judge(command, Policy(), stdin=text):
            assert finding.rule
    took = time.process_time() - began
    assert took < SECONDS_MOST, f"{took:.1f} s"


if __name__ == "__main__":
    import harness

    harness.main(check, SEEDS)
