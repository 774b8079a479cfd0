"""What a session makes of an ended process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tinyhost.check import session as session_module
from tinyhost.check.case import reported
from tinyhost.check.model import Failed
from tinyhost.check.session import NoAnswer, Session
from tinyhost.command import SHELL
from tinyhost.errors import CallTimeout
from tinyhost.process import spawn
from tinyhost_sdk import wire


async def test_what_nobody_had_the_time_to_read_is_read_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = spawn(
        "test",
        (SHELL, "-c", "echo a banner; echo last words >&2; exit 3"),
        env={"PATH": os.environ["PATH"]},
        directory=str(tmp_path),
    )
    session = Session(process, wire.Rules(), "mark", lambda message: True)
    try:
        assert await session.exited(20)
        with monkeypatch.context() as patch:
            patch.setattr(session_module, "_DRAIN", 0)
            await session.drain()
        assert any("a banner" in stray for stray in session.strays)
        with pytest.raises(NoAnswer, match="last words"):
            await session.write(b"more", seconds=20)
    finally:
        session.close()


def test_a_deadline_is_told_as_a_person_would_say_it() -> None:
    with pytest.raises(Failed, match=r"^no answer to initialize within 10 s$"), reported():
        raise CallTimeout("it", "initialize", 9.99752, sent=True)
