"""A plugin that answers with the token it was given, or does what it is told instead.

peer.py NAME [file=PATH] [at_once=N]: NAME goes into each answer; each token whose call is carried out is
appended to the file, after NAME. What arrives in one read is answered in reverse order.
"""

import os
import signal
import sys
import time


def member(line, name):
    """The text of a member of a line that the host wrote. No parser, so that it starts fast."""
    found = line.partition(b'"%s":' % name)[2]
    return found.partition(b",")[0].partition(b"}")[0].strip(b'" ')


def say(data):
    while data:
        data = data[os.write(1, data) :]


class Peer:
    def __init__(self, name, file="", at_once="1"):
        self.name = name.encode()
        self.at_once = at_once.encode()
        self.record = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND) if file else -1
        self.owed = b""  # an answer that is held back until after the next one

    def serve(self):
        rest = b""
        while data := os.read(0, 65536):
            *lines, rest = (rest + data).split(b"\n")
            say(b"".join([self.answer(line) for line in reversed(lines)]))

    def answer(self, line):
        id = member(line, b"id")
        method = member(line, b"method")
        if method == b"initialize":
            result = (
                b'{"id":"soak","tools":[{"name":"do"}],"hooks":["tell"],'
                b'"protocol":{"concurrency":%s}}' % self.at_once
            )
        elif method == b"tool/call":
            return self.call(id, line)
        else:
            result = b'{"output":{"token":"%s %s"}}' % (self.name, member(line, b"token"))
        return b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (id, result)

    def call(self, id, line):
        token, deed = member(line, b"token"), member(line, b"deed")
        if self.record >= 0:
            os.write(self.record, self.name + b"/" + token + b"\n")
        reply = b'{"jsonrpc":"2.0","id":%s,"result":{"content":"%s %s"}}\n'
        reply %= id, self.name, token
        if deed == b"die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif deed == b"exit":
            sys.exit(7)
        elif deed == b"slow":
            time.sleep(0.02)
        elif deed == b"hang":
            return b""
        elif deed == b"late":
            reply, self.owed = b"", self.owed + reply
            return reply
        elif deed == b"junk":
            reply = b'noise\n\xff\xfe\n[1,2]\n{"id":true,"result":1}\n' + reply + b"{half\n"
        elif deed == b"twice":
            reply += reply
        elif deed == b"bad":
            reply = b'{"jsonrpc":"2.0","id":%s}\n' % id
        elif deed == b"error":
            reply = b'{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"%s"}}\n' % (
                id,
                token,
            )
        elif deed == b"child" and os.fork() == 0:
            os.setsid()
            os.execv("/bin/sleep", ["sleep", "1000"])
        owed, self.owed = self.owed, b""
        return reply + owed


if __name__ == "__main__":
    Peer(sys.argv[1], **dict(word.split("=", 1) for word in sys.argv[2:])).serve()
