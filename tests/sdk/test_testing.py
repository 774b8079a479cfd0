"""The driver that plugin authors use in their own tests."""

import pytest

import tinyhost_sdk
from tinyhost_sdk import Hooks, Plugin
from tinyhost_sdk.testing import RpcFailure, drive


def make(log=None):
    plugin = Plugin("p", hooks=Hooks(dispose=lambda: log is not None and log.append("disposed")))

    @plugin.tool
    def greet(name: str, context) -> str:
        return f"hello {name} in {context.directory} for {context.session_id}"

    @plugin.hook("permission.ask")
    def guard(event):
        return None if event.args() is None else event.args().get("safe")

    return plugin


def test_the_driver_calls_tools_and_hooks():
    with tinyhost_sdk.testing.drive(make()) as driver:
        assert [tool["name"] for tool in driver.manifest["tools"]] == ["greet"]
        result = driver.call_tool("greet", {"name": "Ada"}, session_id="s", directory="/d")
        assert result.content == "hello Ada in /d for s"
        assert not result.is_error
        assert driver.call_tool("greet").is_error
        ask = {"toolName": "bash", "toolArgs": '{"safe":false}'}
        assert driver.invoke_hook("permission.ask", ask) == {"allowed": False}
        assert driver.invoke_hook("permission.ask", {"toolArgs": "x"}) is None


def test_options_and_directory_reach_the_plugin():
    seen = []
    plugin = Plugin("p", on_initialize=seen.append)
    with drive(plugin, {"level": 3}, directory="/d"):
        assert (seen[0].options["level"], seen[0].directory) == (3, "/d")


def test_the_plugin_is_disposed_once_at_the_end_also_when_the_test_fails():
    log = []
    with pytest.raises(ZeroDivisionError), drive(make(log)):
        raise ZeroDivisionError
    assert log == ["disposed"]


def test_a_failing_dispose_fails_the_test():
    def fail():
        raise ValueError("stuck")

    with (
        pytest.raises(RpcFailure, match="error -32000: stuck"),
        drive(Plugin("p", hooks=Hooks(dispose=fail))),
    ):
        pass


def test_errors_of_the_wire_are_raised_with_their_code():
    with drive(make()) as driver:
        with pytest.raises(RpcFailure, match="unknown tool: none") as caught:
            driver.call_tool("none")
        assert caught.value.code == -32602
        with pytest.raises(RpcFailure, match="toolArgs is not a string"):
            driver.invoke_hook("permission.ask", {"toolArgs": {}})


def test_a_plugin_that_refuses_its_options_raises():
    def refuse(event):
        raise ValueError("option level is missing")

    with (
        pytest.raises(RpcFailure, match="option level is missing"),
        drive(Plugin("p", on_initialize=refuse)),
    ):
        raise AssertionError("started")


def test_progress_is_collected_and_a_call_can_be_cancelled_from_it():
    plugin = Plugin("p", concurrency=2)

    @plugin.tool
    def count(context):
        for number in range(5):
            context.progress(str(number))
            if context.cancelled:
                return f"stopped at {number}"
        return "done"

    with drive(plugin) as driver:
        assert driver.call_tool("count").content == "done"
        assert driver.progress == list("01234")
        driver.on_progress = lambda text: driver.cancel() if text == "2" else None
        assert driver.call_tool("count").content == "stopped at 2"


def test_a_value_that_json_cannot_carry_does_not_arrive():
    with drive(make()) as driver, pytest.raises(TypeError, match="cannot be written as JSON"):
        driver.call_tool("greet", {"name": {1}})
