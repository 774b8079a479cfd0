"""Plugins as real processes: the standard streams, the end, and what must stay quiet."""

import os
import pty
import signal
import subprocess
import sys

import pytest

ECHO = """
plugin = Plugin("p")
@plugin.tool
def echo(text: str = "") -> str:
    return text
@plugin.hook("dispose")
def bye():
    print("disposed")
run(plugin)
"""


def test_a_plugin_answers_until_its_input_ends_and_is_disposed_once(start):
    child = start(ECHO)
    assert child.manifest["tools"][0]["name"] == "echo"
    assert child.tool("echo", {"text": "héllo"}) == {"content": "héllo"}
    assert child.call("hook/invoke", {"name": "dispose"})["result"] == {}
    assert child.end() == 0
    assert child.receive() is None
    assert child.log == "disposed\n"


def test_the_end_of_input_disposes(start):
    child = start(ECHO)
    assert child.end() == 0
    assert child.log == "disposed\n"


def test_a_last_request_without_newline_is_answered(start):
    child = start(ECHO)
    child.write(b'{"id":9,"method":"tool/call","params":{"name":"echo","args":{"text":"x"}}}')
    child.close_stdin()
    assert child.receive()["result"] == {"content": "x"}
    assert child.wait() == 0


def test_prints_and_child_processes_do_not_reach_the_protocol(start):
    child = start(
        """
import os, subprocess, sys
print("at import")
plugin = Plugin("p")
@plugin.tool
def noisy() -> str:
    print("a print")
    sys.stdout.write("written\\n")
    os.write(1, b"a raw write\\n")
    subprocess.run(["sh", "-c", "echo from a child; echo more >&2"], check=True)
    return "done"
run(plugin)
"""
    )
    assert child.tool("noisy") == {"content": "done"}
    assert child.end() == 0
    assert child.receive() is None
    assert child.log.splitlines() == [
        "at import",
        "a print",
        "written",
        "a raw write",
        "from a child",
        "more",
    ]


def test_children_of_a_tool_read_an_empty_standard_input(start):
    child = start(
        """
import subprocess, sys
plugin = Plugin("p")
@plugin.tool
def read() -> str:
    outer = subprocess.run(["cat"], capture_output=True, check=True).stdout
    return repr((outer, sys.stdin.read()))
run(plugin)
"""
    )
    assert child.tool("read") == {"content": "(b'', '')"}
    assert child.tool("read") == {"content": "(b'', '')"}


def test_children_of_a_tool_do_not_inherit_the_protocol(start):
    child = start(
        """
import os, subprocess, sys
plugin = Plugin("p")
@plugin.tool
def descriptors() -> list:
    code = "import os; print([fd for fd in range(3, 50) if os.path.exists(f'/dev/fd/{fd}')])"
    out = subprocess.run([sys.executable, "-c", code], close_fds=False, capture_output=True).stdout
    own = [fd for fd in range(3, 50) if os.path.exists(f"/dev/fd/{fd}")]
    return [len(own) >= 2, len(eval(out)) < 2]
run(plugin)
"""
    )
    assert child.tool("descriptors") == {"content": "[true,true]"}


def test_an_exception_is_answered_and_its_traceback_goes_to_stderr(start):
    child = start(
        """
plugin = Plugin("p")
@plugin.tool
def fail() -> str:
    raise ValueError("broken")
run(plugin)
"""
    )
    assert child.tool("fail") == {"content": "broken", "isError": True}
    assert child.tool("fail") == {"content": "broken", "isError": True}
    assert child.end() == 0
    assert child.log.count("ValueError: broken") == 2


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize(("code", "status"), [("3", 3), ("", 0), ("'a message'", 1)])
def test_a_system_exit_ends_the_process_with_its_status(start, concurrency, code, status):
    child = start(
        f"""
import sys
plugin = Plugin("p", concurrency={concurrency})
@plugin.tool
def leave() -> str:
    sys.exit({code})
@plugin.hook("dispose")
def bye():
    print("disposed")
run(plugin)
"""
    )
    child.start_tool("leave")
    assert child.receive() is None
    assert child.wait() == status
    assert "Traceback" not in child.log
    assert child.log.count("disposed") == 1
    assert ("a message" in child.log) == (status == 1)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_an_interrupt_ends_the_process_without_a_traceback(start, concurrency):
    child = start(ECHO.replace('"p"', f'"p", concurrency={concurrency}'))
    child.tool("echo")
    child.process.send_signal(signal.SIGINT)
    assert child.wait() == 130
    assert child.log == "disposed\n"


def test_an_interrupt_in_a_handler_ends_the_process_without_a_traceback(start):
    child = start(
        """
import sys, time
plugin = Plugin("p")
@plugin.tool
def sleep() -> str:
    print("asleep")
    time.sleep(60)
run(plugin)
"""
    )
    child.start_tool("sleep")
    child.wait_for_log("asleep")
    child.process.send_signal(signal.SIGINT)
    assert child.wait() == 130
    assert child.log == "asleep\n"


def test_a_termination_signal_has_its_usual_effect(start):
    child = start(ECHO)
    child.process.terminate()
    assert child.wait() == -signal.SIGTERM


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_host_that_stops_reading_is_left_quietly(start, concurrency):
    child = start(ECHO.replace('"p"', f'"p", concurrency={concurrency}'))
    child.process.stdout.close()
    child.start_tool("echo", {"text": "x" * 200_000})
    assert child.wait() == 1
    assert child.log == "disposed\n"


def test_progress_to_a_host_that_stopped_reading_does_not_disturb_the_tool(start):
    child = start(
        """
plugin = Plugin("p")
@plugin.tool
def work(context) -> str:
    context.progress("half")
    print("went on")
run(plugin)
"""
    )
    child.process.stdout.close()
    child.start_tool("work")
    assert child.wait() == 1
    assert child.log == "went on\n"


def test_a_broken_stderr_is_not_complained_about_at_the_end(environment, tmp_path):
    path = tmp_path / "plugin.py"
    path.write_text("import sys\nfrom tinyhost_sdk import *\nprint('early')\nrun(Plugin('p'))\n")
    read_end, write_end = os.pipe()
    os.close(read_end)
    result = subprocess.run(
        [sys.executable, str(path)],
        input=b'{"id":1,"method":"initialize"}\nnot a message\n',
        stdout=subprocess.PIPE,
        stderr=write_end,
        env=environment,
        check=False,
    )
    os.close(write_end)
    assert result.stdout.count(b"\n") == 1
    assert result.returncode == 0


def test_a_closed_stderr_is_replaced(tmp_path):
    path = tmp_path / "plugin.py"
    path.write_text("from tinyhost_sdk import *\nrun(Plugin('p'))\n")
    result = subprocess.run(
        ["sh", "-c", '"$0" "$1" 2>&-', sys.executable, str(path)],
        input=b'{"id":1,"method":"initialize"}\n',
        stdout=subprocess.PIPE,
        check=False,
    )
    assert result.returncode == 0
    assert result.stdout.startswith(b'{"jsonrpc":"2.0","id":1,"result"')


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_missing_standard_stream_is_an_error_with_a_reason(tmp_path, closed):
    path = tmp_path / "plugin.py"
    path.write_text("from tinyhost_sdk import *\nrun(Plugin('p'))\n")
    result = subprocess.run(
        ["sh", "-c", f'"$0" "$1" {closed}', sys.executable, str(path)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "needs standard input and output from a host" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_overlong_request_is_answered_and_the_session_goes_on(start):
    child = start(ECHO.replace('"p"', '"p", max_line_bytes=100_000'))
    assert child.manifest["protocol"]["maxLineBytes"] == 100_000
    reply = child.call("tool/call", {"name": "echo", "args": {"text": "x" * 300_000}})
    assert reply["error"]["code"] == -32600
    assert "longer than 100000 bytes" in reply["error"]["message"]
    assert child.tool("echo", {"text": "x" * 90_000}) == {"content": "x" * 90_000}


def test_megabytes_pass_in_both_directions(start):
    text = "x" * 5_000_000
    assert start(ECHO).tool("echo", {"text": text}) == {"content": text}


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_first_request_other_than_initialize_is_answered_and_ends_the_process(start, concurrency):
    child = start(ECHO.replace('"p"', f'"p", concurrency={concurrency}'), initialize=False)
    reply = child.call("tool/call", {"name": "echo"})
    assert reply["error"]["code"] == -32600
    assert child.wait() == 1
    assert child.log == ""


def test_a_plugin_that_refuses_its_options_is_answered_and_ends_the_process(start):
    child = start(
        """
plugin = Plugin("p")
@plugin.on_initialize
def configure(event):
    raise HandlerError(f"unknown option {list(event.options)[0]}")
run(plugin)
""",
        initialize=False,
    )
    reply = child.call("initialize", {"options": {"colour": "red"}})
    assert reply["error"] == {"code": -32000, "message": "unknown option colour"}
    assert child.wait() == 1


def test_input_that_ends_before_initialize_is_an_error(start):
    child = start(ECHO, initialize=False)
    assert child.end() == 1
    assert "before a host had said initialize" in child.log


def test_at_a_terminal_the_plugin_explains_itself(tmp_path):
    path = tmp_path / "tinyhost-plugin-sample"
    path.write_text("from tinyhost_sdk import *\n" + ECHO)
    host_end, terminal = pty.openpty()
    try:
        result = subprocess.run(
            [sys.executable, str(path)],
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    finally:
        os.close(host_end)
        os.close(terminal)
    assert result.returncode == 1
    assert result.stdout == ""
    assert "tinyhost-plugin-sample is a plugin for tinyhost" in result.stderr
    assert "tinyhost plugin load sample" in result.stderr
    assert "tools: echo" in result.stderr
    assert "hooks: dispose" in result.stderr
