"""Plugins that are started anew while a call is on its way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import trio

from tinyhost import Host, open_host
from tinyhost.config import Config, parse_config
from tinyhost.outcomes import Session, Verdict
from tinyhost.permissions import Action, Origin
from tinyhost.plugin import StartedPlugin

AddPlugin = Callable[[str, str], Path]

# Says that it was asked, and answers when it may.
SLOW = """
def wait(params):
    open(folder + '/asked', 'w').close()
    while not os.path.exists(folder + '/go'):
        time.sleep(0.005)
    return {}
serve(on_hook=wait)
"""


def config(policy: str = "pass") -> Config:
    settings = {
        "slow": {"timeouts": {"hook": "60s"}},
        "filter": {"onOutputFailure": policy},
    }
    return parse_config(json.dumps({"settings": settings}), "")


def slow(hook: str, folder: Path) -> str:
    return f"import os, time\nfolder = {str(folder)!r}\nhandshake(hooks=[{hook!r}])\n{SLOW}"


async def start_anew(host: Host, name: str, folder: Path) -> None:
    """Load a plugin again while another is asked, and only then let that one answer."""
    while not (folder / "asked").exists():
        await trio.sleep(0.005)
    await host.load_all([name])
    (folder / "go").touch()


async def test_a_guard_that_comes_back_while_others_are_asked_was_missing_all_the_same(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("slow", slow("permission.ask", home))
    denies = "handshake(hooks=['permission.ask'])\nserve(on_hook=lambda p: {'output': DENIED})"
    add_plugin("guard", "DENIED = {'allowed': False, 'reason': 'never'}\n" + denies)
    verdicts: list[Verdict] = []

    async def judge(host: Host, session: Session) -> None:
        verdicts.append(await host.judge("bash", {"command": "ls"}, session))

    async with open_host(config(), origin=Origin.PERSON) as host:
        await host.load_all(["slow", "guard"])
        session = await host.session_start()
        host.expect("guard")
        await host.manager.unload("guard")
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(judge, host, session)
                await start_anew(host, "guard", home)
        assert verdicts[0].action is not Action.ALLOW
        assert "guard" in verdicts[0].reason
        assert (await host.judge("bash", {"command": "ls"}, session)).reason.endswith("never")


async def test_a_filter_that_comes_back_while_others_look_has_not_looked(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("slow", slow("tool.execute.after", home))
    works = "handshake(hooks=['tool.execute.after'])\nserve(on_hook=lambda p: MASKED)"
    add_plugin("filter", "MASKED = {'output': {'output': 'masked'}}\n" + works)
    texts: list[str] = []

    async def review(host: Host, session: Session) -> None:
        texts.append((await host.review("bash", "{}", "hunter2", False, session)).text)

    async with open_host(config("withhold"), origin=Origin.PERSON) as host:
        await host.load_all(["slow", "filter"])
        session = await host.session_start()
        host.expect("filter")
        await host.manager.unload("filter")
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(review, host, session)
                await start_anew(host, "filter", home)
        assert "hunter2" not in texts[0]
        assert "withheld" in texts[0]
        assert (await host.review("bash", "{}", "hunter2", False, session)).text == "masked"


FORGETS = """
import os, sys
dead = os.path.exists(folder + '/dead')
handshake(hooks=[] if dead else [hook])
if not dead:
    recv()
    open(folder + '/dead', 'w').close()
    sys.exit(3)
serve()
"""


async def test_a_guard_that_dies_and_comes_back_as_none_is_a_failed_guard_until_it_is_restarted(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("guard", f"folder, hook = {str(home)!r}, 'permission.ask'\n{FORGETS}")
    async with open_host(parse_config("{}", ""), origin=Origin.PERSON) as host:
        await host.load_all(["guard"])
        session = await host.session_start()
        for said in ("exited with status 3", "does not declare permission.ask any more", "guard"):
            verdict = await host.judge("bash", {"command": "ls"}, session)
            assert verdict.action is not Action.ALLOW
            assert said in verdict.reason
        plugin = host.manager.get("guard")
        assert isinstance(plugin, StartedPlugin)
        await plugin.restart()
        verdict = await host.judge("bash", {"command": "ls"}, session)
        assert verdict.action is Action.ALLOW
