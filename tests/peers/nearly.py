"""A plugin that does everything right but for one fault, which is named when it is started.

There is a class for each fault: `Plugin` with one thing done differently. Its name, in words,
is the fault's.
"""

import fcntl
import json
import os
import re
import sys
import threading
import time

HOOKS = ("session.start", "permission.ask", "tool.execute.after", "dispose")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}

PROTOCOL = {"cancel": True, "progress": True, "concurrency": 8, "maxLineBytes": 2 << 20}
MISSPELT = {"type": "object", "properties": {"n": {"type": "intger"}}}
INCOMPLETE = {**SCHEMA, "required": ["m"]}


class Plugin:
    version = "1.0"
    description = "Wait"
    schema = SCHEMA
    tool = "wait"
    hooks = HOOKS
    protocol = PROTOCOL

    def __init__(self):
        self.buffer = b""
        self.cancelled = {}
        self.lock = threading.Lock()
        self.disposed = 0
        self.threads = []

    # --- lines

    def main(self):
        self.begin()
        while data := os.read(0, 1 << 16):
            self.feed(data)
        self.end()

    def begin(self):
        pass

    def end(self):
        for thread in self.threads:
            thread.join()
        sys.exit(0)

    def feed(self, data):
        self.buffer += data
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            self.line(line)

    def line(self, line):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return self.malformed(line)
        if type(message) is not dict or type(message.get("method")) is not str:
            return None
        if "id" not in message:
            return self.notification(message)
        if type(message["id"]) is int:
            self.request(message)
        return None

    def malformed(self, line):
        pass

    def send(self, message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, data):
        with self.lock:
            while data:
                data = data[os.write(1, data) :]

    def reply(self, id, result):
        self.send({"id": id, "result": result})

    def fail(self, id, code, text):
        self.send({"id": id, "error": {"code": code, "message": text}})

    # --- messages

    def notification(self, message):
        if message["method"] == "tool/cancel":
            params = message.get("params")
            self.cancel(params.get("id") if type(params) is dict else None)

    def cancel(self, id):
        if type(id) is int and id in self.cancelled:
            self.cancelled[id].set()

    def request(self, message):
        id, params = message["id"], message.get("params")
        method = {
            "initialize": self.initialize,
            "hook/invoke": self.hook,
            "tool/call": self.call,
        }.get(message["method"])
        if method is None:
            self.unknown_method(id)
        elif type(params) is not dict or (
            method != self.initialize and type(params.get("name")) is not str
        ):
            self.wrong_params(id)
        else:
            method(id, params)

    def unknown_method(self, id):
        self.fail(id, -32601, "unknown method")

    def wrong_params(self, id):
        self.fail(id, -32602, "wrong params")

    def initialize(self, id, params):
        self.reply(id, self.manifest())

    def manifest(self):
        tool = {"name": self.tool, "description": self.description, "inputSchema": self.schema}
        offers = {"tools": [tool], "hooks": self.hooks, "protocol": self.protocol}
        return {"id": "nearly", "version": self.version, **offers}

    def hook(self, id, params):
        if params["name"] == "dispose":
            self.disposed += 1
            self.dispose(id)
        else:
            self.reply(id, {"output": self.opinion(params)})

    def dispose(self, id):
        self.reply(id, {})

    def opinion(self, params):
        return None

    def call(self, id, params):
        if params["name"] != self.tool:
            return self.unknown_tool(id)
        self.cancelled[id] = threading.Event()
        thread = threading.Thread(target=self.wait, args=(id, params.get("args") or {}))
        self.threads.append(thread)
        return thread.start()

    def unknown_tool(self, id):
        self.fail(id, -32602, "unknown tool")

    def wait(self, id, args):
        self.report(id)
        self.cancelled[id].wait(args.get("n", 0))
        self.reply(id, self.content())

    def report(self, id):
        self.send({"method": "tool/progress", "params": {"id": id, "message": "waiting"}})

    def content(self):
        return {"content": "done"}


# --- the handshake


class NeverAnswers(Plugin):
    def initialize(self, id, params):
        pass


class DiesAtOnce(Plugin):
    def begin(self):
        print("no configuration", file=sys.stderr)
        sys.exit(4)


class RefusesToStart(Plugin):
    def initialize(self, id, params):
        self.fail(id, -32000, "the option root is missing")


class BadToolName(Plugin):
    tool = "wait.for.it"


class ManifestOfAWrongType(Plugin):
    hooks = "permission.ask"


class NoVersion(Plugin):
    version = None


class NoDescription(Plugin):
    description = " "


class SchemaThatDoesNotCompile(Plugin):
    schema = MISSPELT


class SchemaThatRequiresWhatItDoesNotDescribe(Plugin):
    schema = INCOMPLETE


class MisspeltHook(Plugin):
    hooks = (*HOOKS, "permision.ask")


class HookInSnakeCase(Plugin):
    hooks = (*HOOKS, "tool_execute_before")


class SlowStart(Plugin):
    def begin(self):
        time.sleep(0.4)


# --- requests


class ResultForAnUnknownMethod(Plugin):
    def unknown_method(self, id):
        self.reply(id, {})


class OtherCodeForAnUnknownMethod(Plugin):
    def unknown_method(self, id):
        self.fail(id, -32000, "what?")


class NoAnswerToAnUnknownMethod(Plugin):
    def unknown_method(self, id):
        pass


class DiesOfAnUnknownMethod(Plugin):
    def unknown_method(self, id):
        os._exit(1)


class ResultForAnUnknownTool(Plugin):
    def unknown_tool(self, id):
        self.reply(id, {"content": "no such tool", "isError": True})


class DiesOfWrongParams(Plugin):
    def wrong_params(self, id):
        raise TypeError("string indices must be integers")


class NoAnswerToWrongParams(Plugin):
    def wrong_params(self, id):
        pass


class AnswersNotifications(Plugin):
    def notification(self, message):
        if message["method"] == "tool/cancel":
            return super().notification(message)
        return self.fail(None, -32601, "unknown method")


class IdsOf32Bits(Plugin):
    def send(self, message):
        if message.get("id"):
            message["id"] &= 0x7FFFFFFF
        super().send(message)


class IdsAsFloats(Plugin):
    def unknown_method(self, id):
        super().unknown_method(float(id) if id > 10**6 else id)


# --- lines


class DiesOfMalformedLines(Plugin):
    def malformed(self, line):
        raise ValueError("not JSON")


class NoCarriageReturns(Plugin):
    def line(self, line):
        if not line.endswith(b"\r"):
            super().line(line)


class OneRequestForEachRead(Plugin):
    def feed(self, data):
        lines = data.splitlines(keepends=True)
        requests = [line for line in lines if line.startswith(b'{"jsonrpc":"2.0","id":')]
        few = 4 < len(requests) == len(lines) and len(data) < 1000
        if few and b"hook/invoke" not in data:
            data = lines[0]
        super().feed(data)


class NoPatienceForHalfALine(Plugin):
    def feed(self, data):
        if b"\n" not in self.buffer + data and len(self.buffer + data) < 1000:
            return
        super().feed(data)


class DropsAnswersWhenThePipeIsFull(Plugin):
    def write(self, data):
        fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_NONBLOCK)
        try:
            os.write(1, data)
        except BlockingIOError:
            pass


class BufferSmallerThanAnnounced(Plugin):
    def line(self, line):
        if len(line) < 1 << 20:
            super().line(line)


class DiesOfABigLine(Plugin):
    def line(self, line):
        if len(line) > 100_000:
            sys.exit("token too long")
        super().line(line)


class MixesUpRequestsSideBySide(Plugin):
    def hook(self, id, params):
        if params["name"] == "dispose":
            return super().hook(id, params)
        self.current = id
        thread = threading.Thread(target=self.answer_later)
        self.threads.append(thread)
        return thread.start()

    def answer_later(self):
        time.sleep(0.05)
        self.reply(self.current, {})


# --- hooks and tools


class OpinionOfAWrongType(Plugin):
    def opinion(self, params):
        return {"allowed": "no"} if params["name"] == "permission.ask" else None


class HookThatFails(Plugin):
    def hook(self, id, params):
        if params["name"] == "session.start":
            return self.fail(id, -32000, "no such folder")
        return super().hook(id, params)


class HookThatIsNotAnswered(Plugin):
    def hook(self, id, params):
        if params["name"] != "session.start":
            super().hook(id, params)


class DiesOfOddArguments(Plugin):
    def opinion(self, params):
        if params["name"] == "permission.ask":
            json.loads(params["input"]["toolArgs"]).get("path")


class ContentThatIsNoText(Plugin):
    def content(self):
        return {"content": ["done"]}


class ToolThatFails(Plugin):
    def content(self):
        return {"content": "no", "isError": True}


class ProgressOfNoCall(Plugin):
    def report(self, id):
        super().report(id + 1000)


class ProgressWithoutAText(Plugin):
    def report(self, id):
        self.send({"method": "tool/progress", "params": {"id": id, "message": 50}})


class DiesOfACancelledCall(Plugin):
    def cancel(self, id):
        if id in self.cancelled and not self.cancelled[id].is_set():
            os._exit(1)


class DiesOfACancelledNothing(Plugin):
    def cancel(self, id):
        self.cancelled[id].set()


# --- the end


class DisposeThatFails(Plugin):
    def dispose(self, id):
        self.fail(id, -32000, "the disk is full")


class DisposeThatFailsWhenItIsRepeated(Plugin):
    def dispose(self, id):
        if self.disposed == 1:
            super().dispose(id)
        else:
            self.fail(id, -32000, "closed already")


class DisposesTwice(Plugin):
    def dispose(self, id):
        print("nearly: disposed", file=sys.stderr, flush=True)
        super().dispose(id)


class Stays(Plugin):
    def end(self):
        time.sleep(60)


class AnotherExitStatus(Plugin):
    def end(self):
        os._exit(3)


class LeavesAChild(Plugin):
    def end(self):
        if not os.fork():
            os.setsid()
            os.closerange(0, 3)
            os.execv("/bin/sleep", ["sleep", "60"])
        super().end()


class Banner(Plugin):
    def begin(self):
        self.write(b"Starting the server...\n")


class PrintsInAHook(Plugin):
    def opinion(self, params):
        self.write(b"\x1b[2Jasked about " + params["name"].encode() + b"\n")


class PrintsAtTheEnd(Plugin):
    def end(self):
        self.write(b"bye")
        super().end()


class AsksTheHost(Plugin):
    def dispose(self, id):
        self.send({"id": 900, "method": "tool/call", "params": {"name": "x"}})
        super().dispose(id)


class AnswersTwice(Plugin):
    def dispose(self, id):
        super().dispose(id)
        super().dispose(id)


def _words(name):
    return " ".join(re.findall(r"[A-Z][a-z]*|[0-9]+", name)).lower()


FAULTS = {"": Plugin, **{_words(kind.__name__): kind for kind in Plugin.__subclasses__()}}


def main(name):
    FAULTS[name]().main()
