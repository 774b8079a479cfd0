"""What plugins are given in secret, and what is told of their calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost import open_host, paths
from tinyhost.config import parse_config
from tinyhost.permissions import Origin

AddPlugin = Callable[[str, str], Path]
TELLS = """import os
handshake(tools=['tell'])
serve(on_tool=lambda p: {'content': 'it is ' + os.environ['API_TOKEN']})
"""


async def test_a_secret_that_a_plugins_settings_are_made_of_is_in_no_record(
    add_plugin: AddPlugin, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The variable's own name does not tell that it is secret; the plugin's name for it does.
    monkeypatch.setenv("FROM_VAULT", 'hunter"2"')
    add_plugin("teller", TELLS)
    settings = {"teller": {"env": {"API_TOKEN": "${FROM_VAULT}-7"}}}
    heard: list[dict[str, Any]] = []
    async with open_host(
        parse_config(json.dumps({"settings": settings}), ""), origin=Origin.PERSON
    ) as host:
        await host.load_all(["teller"])
        host.record_listeners.append(
            lambda _session, _kind, fields: heard.append(host.cleaner.fields(fields))
        )
        session = await host.session_start()
        outcome = await host.call("plugin__teller__tell", {}, session)
        assert outcome.content == 'it is hunter"2"-7'
        await host.session_end(session)
    [journal] = (paths.state_dir() / "journal").glob("*.jsonl")
    for told in (journal.read_text(), json.dumps(heard)):
        assert "it is [redacted]" in told
        assert "hunter" not in told
