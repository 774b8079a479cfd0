from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tinyhost.config import Config, load_config, parse_config
from tinyhost.errors import ConfigError
from tinyhost.model import PluginSettings, Timeouts

FILE = "/etc/tiny/config.json"


def load(text: str) -> Config:
    return parse_config(text, FILE)


def names(config: Config) -> list[str]:
    return [spec.name for spec in config.specs]


def messages(config: Config) -> list[tuple[str, str, int, int]]:
    return [(found.severity, found.key, found.line, found.column) for found in config.problems]


def test_plugins_keep_their_order_and_options() -> None:
    config = load('{"plugins": ["b", ["a", {"x": [1, null]}], ["c"], ["d", null]]}')
    assert [(spec.name, spec.options) for spec in config.specs] == [
        ("b", {}),
        ("a", {"x": [1, None]}),
        ("c", {}),
        ("d", {}),
    ]
    assert config.problems == ()


@pytest.mark.parametrize("text", ["{}", '{"plugins": []}', '{"plugins": null}'])
def test_no_plugins_is_an_empty_list(text: str) -> None:
    config = load(text)
    assert (config.specs, config.problems) == ((), ())


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("null", 'must be "name"'),
        ("{}", 'must be "name"'),
        ("3", 'must be "name"'),
        ("true", 'must be "name"'),
        ("[]", "has 0 elements"),
        ('["x", {}, 1]', "has 3 elements"),
        ("[1, {}]", "name must be a string"),
        ("[null]", "name must be a string"),
        ('["x", 3]', "options must be an object"),
        ('["x", "y"]', "options must be an object"),
        ('""', "must not be empty"),
        ('"../x"', "must not contain '..'"),
        ('"Big"', "is not allowed"),
    ],
)
def test_a_bad_entry_disables_itself_only(entry: str, text: str) -> None:
    config = load('{"plugins": ["first",\n ' + entry + ',\n "last"]}')
    assert names(config) == ["first", "last"]
    [problem] = config.problems
    assert (problem.severity, problem.key, problem.line) == ("error", "plugins[1]", 2)
    assert text in problem.message
    assert str(problem).startswith(f"{FILE}:2:")


def test_a_problem_points_at_the_part_that_is_wrong() -> None:
    config = load('{"plugins": [["x", 3]]}')
    assert messages(config) == [("error", "plugins[0]", 1, 20)]


def test_a_plugin_listed_twice_is_one_spec_with_the_later_options() -> None:
    config = load('{"plugins": [["a", {"n": 1}], "b",\n ["a", {"n": 2}]]}')
    assert [(spec.name, spec.options) for spec in config.specs] == [("a", {"n": 2}), ("b", {})]
    assert messages(config) == [("warning", "plugins", 2, 2)]


def test_a_disabled_plugin_is_not_loaded_and_its_options_are_remembered() -> None:
    config = load('{"plugins": ["a", "b"], "disabledPlugins": ["a", ["c", {"k": 1}]]}')
    assert names(config) == ["b"]
    assert config.disabled == {"a": {}, "c": {"k": 1}}
    assert [found.severity for found in config.problems] == ["warning"]
    assert config.spec_for("c").options == {"k": 1}


def test_settings_become_seconds_and_bytes() -> None:
    config = load(
        """{"plugins": ["a"], "settings": {"a": {
            "timeouts": {"handshake": "500ms", "hook": 2, "tool": "1m", "toolCap": "1h", "stop": "1s"},
            "env": {"A": "x"}, "passEnv": ["B", "C_*"], "directory": "/work",
            "maxLineBytes": 4096, "onGuardFailure": "deny",
            "onOutputFailure": "withhold"}}}"""
    )
    assert config.problems == ()
    assert config.specs[0].settings == PluginSettings(
        timeouts=Timeouts(handshake=0.5, hook=2.0, tool=60.0, tool_cap=3600.0, stop=1.0),
        env={"A": "x"},
        pass_env=("B", "C_*"),
        directory="/work",
        max_line=4096,
        on_guard_failure="deny",
        on_output_failure="withhold",
    )


def test_a_plugins_own_settings_win_over_those_of_all_plugins() -> None:
    config = load(
        """{"settings": {
            "a": {"timeouts": {"hook": 9}, "env": {"X": "own"}, "passEnv": ["B"]},
            "*": {"timeouts": {"hook": 1, "tool": 2}, "env": {"X": "all", "Y": "all"},
                  "passEnv": ["A", "B"], "onGuardFailure": "skip"}}}"""
    )
    own, other = config.settings_for("a"), config.settings_for("z")
    assert own.timeouts == Timeouts(hook=9.0, tool=2.0)
    assert own.env == {"X": "own", "Y": "all"}
    assert own.pass_env == ("A", "B")
    assert own.on_guard_failure == "skip"
    assert other.timeouts == Timeouts(hook=1.0, tool=2.0)
    assert other.env == {"X": "all", "Y": "all"}


def test_a_relative_directory_counts_from_the_file() -> None:
    config = load('{"settings": {"a": {"directory": "sub/../here"}, "b": {"directory": "~"}}}')
    assert config.settings_for("a").directory == "/etc/tiny/here"
    assert config.settings_for("b").directory == str(Path("~").expanduser())


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ('{"timeouts": {"hook": "5 minutes"}}', "timeouts.hook"),
        ('{"timeouts": {"hook": true}}', "timeouts.hook"),
        ('{"timeouts": 5}', "timeouts"),
        ('{"env": {"A": 1}}', "env.A"),
        ('{"env": {"A=B": "x"}}', "env.A=B"),
        ('{"env": []}', "env"),
        ('{"passEnv": "A"}', "passEnv"),
        ('{"passEnv": ["*"]}', "passEnv[0]"),
        ('{"passEnv": ["A*B"]}', "passEnv[0]"),
        ('{"directory": ""}', "directory"),
        ('{"maxLineBytes": true}', "maxLineBytes"),
        ('{"maxLineBytes": 10.0}', "maxLineBytes"),
        ('{"maxLineBytes": 10}', "maxLineBytes"),
        ('{"onGuardFailure": "no"}', "onGuardFailure"),
        ('{"onGuardFailure": false}', "onGuardFailure"),
        ('{"onOutputFailure": "deny"}', "onOutputFailure"),
    ],
)
def test_a_bad_setting_is_left_at_its_default(settings: str, key: str) -> None:
    config = load('{"plugins": ["a"], "settings": {"a": ' + settings + "}}")
    assert config.specs[0].settings == PluginSettings()
    assert [(found.severity, found.key) for found in config.problems] == [
        ("error", f"settings.a.{key}")
    ]


def test_the_good_settings_beside_a_bad_one_are_used() -> None:
    config = load('{"settings": {"a": {"env": {"A": 1, "B": "b"}, "directory": "/d"}, "b": 3}}')
    assert config.settings_for("a").env == {"B": "b"}
    assert config.settings_for("a").directory == "/d"
    assert config.settings_for("b") == PluginSettings()


def test_an_unknown_key_warns_with_the_nearest_known_one() -> None:
    config = load('{"plugin": [], "settings": {"a": {"timeout": {}, "zzz": 1}}}')
    assert [found.severity for found in config.problems] == ["warning"] * 3
    assert 'did you mean "plugins"?' in config.problems[0].message
    assert 'did you mean "timeouts"?' in config.problems[1].message
    assert "known: timeouts, env" in config.problems[2].message


def test_a_repeated_key_warns_and_only_the_last_value_is_read() -> None:
    config = load('{"plugins": ["a", 3], "plugins": ["b"]}')
    assert names(config) == ["b"]
    assert messages(config) == [("warning", "plugins", 1, 23)]


def test_compat_takes_the_known_words_once() -> None:
    config = load('{"compat": ["tinycode", "bingo", "zuno", "tinycode", "tinycod"]}')
    assert config.compat == ("tinycode", "bingo", "zuno")
    [problem] = config.problems
    assert (problem.key, problem.severity) == ("compat[4]", "error")
    assert 'did you mean "tinycode"?' in problem.message


def test_keys_of_other_parts_are_kept_raw_without_a_warning() -> None:
    config = load('{"$schema": "s", "mcpServers": {}, "permissions": {}}')
    assert config.problems == ()
    assert config.raw["mcpServers"].kind == "object"
    assert config.raw["permissions"].kind == "object"


def test_problems_come_in_the_order_of_the_text() -> None:
    config = load('{"settings": 1,\n"compat": 2,\n"plugins": 3,\n"plugins": 4}')
    assert [found.line for found in config.problems] == [1, 2, 4, 4]


def test_options_given_by_hand_win_over_listed_ones() -> None:
    config = load('{"plugins": [["a", {"n": 1}]], "settings": {"b": {"directory": "/d"}}}')
    assert config.spec_for("a").options == {"n": 1}
    assert config.spec_for("a", {}).options == {}
    assert config.spec_for("b").settings.directory == "/d"


@pytest.mark.parametrize(
    ("text", "line", "column"), [('{"a": }', 1, 7), ("\n []", 2, 2), ("", 1, 1)]
)
def test_an_unusable_file_is_an_error_with_line_and_column(
    text: str, line: int, column: int, tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(file), line, column)


def test_a_missing_default_file_is_an_empty_configuration(tmp_path: Path) -> None:
    config = load_config(environ={"TINYHOST_CONFIG_DIR": str(tmp_path)})
    assert (config.file, config.exists) == (str(tmp_path / "config.json"), False)
    assert config.specs == ()


def test_the_default_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"plugins": ["a"]}')
    config = load_config(environ={"TINYHOST_CONFIG_DIR": str(tmp_path)})
    assert config.exists
    assert names(config) == ["a"]


@pytest.mark.parametrize("by_variable", [True, False])
def test_a_named_file_that_is_missing_is_an_error(by_variable: bool, tmp_path: Path) -> None:
    file = str(tmp_path / "none.json")
    arguments: dict[str, Any] = (
        {"environ": {"TINYHOST_CONFIG": file}} if by_variable else {"path": file}
    )
    with pytest.raises(ConfigError, match="no such file"):
        load_config(**arguments)


def test_a_path_given_wins_over_the_variable(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"plugins": ["a"]}')
    (tmp_path / "b.json").write_text('{"plugins": ["b"]}')
    env = {"TINYHOST_CONFIG": str(tmp_path / "b.json")}
    assert names(load_config(environ=env)) == ["b"]
    assert names(load_config(tmp_path / "a.json", environ=env)) == ["a"]


def test_a_folder_or_other_bytes_in_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path)
    (tmp_path / "x").write_bytes(b"{\n\xff}")
    with pytest.raises(ConfigError, match="UTF-8") as caught:
        load_config(tmp_path / "x")
    assert caught.value.line == 2
