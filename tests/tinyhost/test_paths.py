from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tinyhost import paths


def test_own_variables_win_over_xdg() -> None:
    env = {
        "TINYHOST_CONFIG_DIR": "/c",
        "TINYHOST_STATE_DIR": "/s",
        "XDG_CONFIG_HOME": "/x",
        "XDG_STATE_HOME": "/x",
        "HOME": "/h",
    }
    assert paths.config_dir(env) == Path("/c")
    assert paths.config_file(env) == Path("/c/config.json")
    assert paths.plugins_dir(env) == Path("/c/plugins")
    assert paths.logs_dir(env) == Path("/s/logs")


def test_xdg_variables_are_used() -> None:
    env = {"XDG_CONFIG_HOME": "/x", "XDG_STATE_HOME": "/y", "HOME": "/h"}
    assert paths.config_dir(env) == Path("/x/tinyhost")
    assert paths.state_dir(env) == Path("/y/tinyhost")


@pytest.mark.parametrize("value", ["", "relative/dir"])
def test_an_empty_or_relative_xdg_value_is_ignored(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    env = {"XDG_CONFIG_HOME": value, "XDG_STATE_HOME": value, "HOME": "/h"}
    assert paths.config_dir(env) == Path("/h/.config/tinyhost")
    assert paths.state_dir(env) == Path("/h/.local/state/tinyhost")


def test_the_default_agrees_with_platformdirs() -> None:
    import platformdirs

    env = dict(os.environ)
    env.pop("TINYHOST_CONFIG_DIR", None)
    env.pop("TINYHOST_STATE_DIR", None)
    assert paths.config_dir(env) == platformdirs.user_config_path("tinyhost")
    assert paths.state_dir(env) == platformdirs.user_state_path("tinyhost")


def test_a_relative_own_variable_becomes_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert paths.config_dir({"TINYHOST_CONFIG_DIR": "here/../there"}) == tmp_path / "there"


def test_a_missing_home_is_looked_up() -> None:
    assert paths.config_dir({}).is_absolute()
    assert paths.tinycode_plugins_dir({}).is_absolute()


def test_tinycode_plugins_are_looked_for_where_tinycode_does() -> None:
    assert paths.tinycode_plugins_dir({"TINYCODE_CONFIG_DIR": "/t"}) == Path("/t/plugins")
    assert paths.tinycode_plugins_dir({"XDG_CONFIG_HOME": "/x"}) == Path("/x/tinycode/plugins")
    expected = Path("/h/.config/tinycode/plugins")
    assert paths.tinycode_plugins_dir({"HOME": "/h"}) == expected


def test_the_tilde_of_an_unknown_user_stays() -> None:
    assert paths.absolute("~no-such-user-here/x").name == "x"


def test_importing_paths_imports_no_third_party_package() -> None:
    code = "import sys, tinyhost.paths; print(*sorted(m.split('.')[0] for m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"platformdirs", "attr", "attrs", "trio"} & set(run.stdout.split())


def test_missing_folders_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        paths.make_private(tmp_path / "there" / "a" / "b")
        paths.make_private(tmp_path / "there" / "a" / "b")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / "there" / part).stat().st_mode) for part in ("", "a", "a/b")]
    assert modes == [0o755, 0o700, 0o700]


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        paths.make_private(tmp_path / "file")
    with pytest.raises(OSError, match="file"):
        paths.make_private(tmp_path / "file" / "below")
