from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tinyhost.builtins.shipped import shipped
from tinyhost.names import BUILTIN_NAMES


def test_the_builtins_come_in_the_order_of_their_hooks(tmp_path: Path) -> None:
    names = [plugin.name for plugin in shipped({}, tmp_path)]
    assert names == ["context-pruning", "notify", "code-review", "handoff"]


def test_the_names_are_those_that_a_configuration_need_not_load(tmp_path: Path) -> None:
    assert {plugin.name for plugin in shipped({}, tmp_path)} == set(BUILTIN_NAMES)


def test_tool_ids_and_hooks_are_as_documented(tmp_path: Path) -> None:
    infos = [plugin.info for plugin in shipped({}, tmp_path)]
    assert [tool.id for info in infos for tool in info.tools] == [
        "plugin__notify__notify",
        "plugin__code-review__code_review",
        "plugin__handoff__handoff_save",
    ]
    assert {info.name: set(info.hooks) for info in infos if info.hooks} == {
        "context-pruning": {"tool.execute.after", "session.end", "dispose"},
        "handoff": {"session.start", "session.end", "dispose"},
    }


def test_making_the_builtins_writes_nothing(tmp_path: Path) -> None:
    shipped({}, tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_the_package_itself_loads_no_builtin() -> None:
    code = "import sys, tinyhost.builtins; print([m for m in sys.modules if 'builtins.' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n"
