"""Every check there is, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Sequence

from . import calls, endings, lines, offers, requests
from .model import Check, Outcome

_WARNING = Outcome.WARNING
_NATIVE = frozenset({"native"})
# Their own hosts send one correct request at a time, and never anything else.
_QUIET = frozenset({"zuno", "bingo"})
_TALKS_BACK = frozenset({"native", "bingo", "mcp"})

HANDSHAKE = Check(
    id="handshake",
    title="It starts and answers the handshake in time",
    rule="The first request is answered within 10 s, with a result. Nothing else works without.",
    fix="Flush its output after each line: to a pipe, most languages write only when a buffer is"
    " full. Else run the program by hand, send it the line below, and look at what it prints.",
    run=offers.handshake,
    anchor="initialize",
)
MANIFEST = Check(
    id="manifest",
    title="The host understands what it offers",
    rule="Members of the manifest have the right types, and tool names make ids that models"
    " accept. A manifest that is not understood fails the load.",
    fix="Correct the member that is named; leave out what there is nothing to say about, and"
    " declare every tool and hook that there is.",
    run=offers.manifest,
    anchor="initialize",
)

CHECKS: Sequence[Check] = (
    HANDSHAKE,
    MANIFEST,
    Check(
        id="identity",
        title="It says its id and version",
        rule="People see both, in lists and in reports of faults.",
        fix='Add "id" and "version" to the answer to initialize.',
        run=offers.identity,
        anchor="initialize",
        severity=_WARNING,
        dialects=_NATIVE,
    ),
    Check(
        id="tool-descriptions",
        title="Each tool says what it does",
        rule="The description is all that a model knows of a tool when it chooses one.",
        fix='Add a "description" of a sentence or two to each tool.',
        run=offers.descriptions,
        anchor="initialize",
        severity=_WARNING,
    ),
    Check(
        id="tool-schemas",
        title="The schemas of its tools are JSON Schemas",
        rule="Hosts and models read them; one that does not compile makes the tool useless.",
        fix="Correct the place that is named; a schema validator says more.",
        run=offers.schemas,
        anchor="initialize",
    ),
    Check(
        id="hook-names",
        title="No hook looks misspelt",
        rule="A hook that the host does not know is never called: a guard that never guards.",
        fix="Write the name as in docs/hooks.md.",
        run=offers.hook_names,
        anchor="hookinvoke",
        severity=_WARNING,
        dialects=_NATIVE,
    ),
    Check(
        id="unknown-method",
        title="A method that does not exist is refused",
        rule="The answer is an error, and its code is -32601. Later versions of the host may ask"
        " what this plugin does not know.",
        fix="Answer every request with an id that matches no method with that error.",
        run=requests.unknown_method,
        anchor="errors",
        lenient=_QUIET | {"mcp"},
    ),
    Check(
        id="unknown-tool",
        title="A tool that does not exist is refused",
        rule="The answer is an error, with the code -32602 on the native wire. A result would pass"
        " for the tool's success.",
        fix="Look the tool up first, and answer with that error when it is not there.",
        run=requests.unknown_tool,
        anchor="errors",
    ),
    Check(
        id="wrong-params",
        title="Params of the wrong form are refused",
        rule="A request with wrong or missing params is answered with an error, and the plugin goes"
        " on: a request without an answer blocks others until its deadline.",
        fix="Catch what goes wrong in a request's handler, and answer with the error -32602.",
        run=requests.wrong_params,
        anchor="errors",
        lenient=_QUIET,
    ),
    Check(
        id="notifications",
        title="Notifications are not answered",
        rule="A message without id wants no answer; what is said to it is noise on the wire.",
        fix="Pass over messages without id whose method you do not know.",
        run=requests.notifications,
        anchor="notifications",
        dialects=_TALKS_BACK,
        provokes=True,
    ),
    Check(
        id="ids",
        title="Ids come back as they were",
        rule="An answer's id is the same integer as the request's, also beyond 32 bits. Another"
        " one answers nothing.",
        fix="Copy the id, rather than convert it.",
        run=requests.ids,
        anchor="lines",
        provokes=True,
    ),
    Check(
        id="malformed-lines",
        title="Lines that are no requests end nothing",
        rule="What cannot be read is answered with an error without id, or dropped, and the next"
        " line is read: one bad line must not end a session.",
        fix="Catch the errors of the parser for each line by itself.",
        run=lines.malformed,
        anchor="lines",
        lenient=_QUIET,
        provokes=True,
    ),
    Check(
        id="crlf",
        title="Lines may end in CR LF",
        rule="White space around a message means nothing.",
        fix="Strip the line before you parse it.",
        run=lines.crlf,
        anchor="lines",
        lenient=_QUIET,
    ),
    Check(
        id="one-write",
        title="Several requests may arrive in one piece",
        rule="A pipe keeps no boundaries: every line in what was read is a message.",
        fix="Read lines, or keep what follows the first line end for later.",
        run=lines.one_write,
        anchor="lines",
        lenient=frozenset({"zuno"}),
    ),
    Check(
        id="slow-writer",
        title="A request may arrive byte by byte",
        rule="A pipe keeps no boundaries: a line, and a character, may come in pieces.",
        fix="Collect bytes until there is a line end, and decode then.",
        run=lines.slow_writer,
        anchor="lines",
    ),
    Check(
        id="slow-reader",
        title="No answer is lost when the host reads late",
        rule="When the pipe is full, writing has to wait. Answers that are dropped look like"
        " timeouts.",
        fix="Write to standard output in blocking mode, and repeat writes that were cut short.",
        run=lines.slow_reader,
        anchor="lines",
        lenient=frozenset({"zuno"}),
    ),
    Check(
        id="big-lines",
        title="It reads lines as long as it says",
        rule="A plugin reads lines up to the maxLineBytes that it announces, or 1 MiB if it"
        " announces none.",
        fix="Raise the limit of your line reader, or announce the one that there is.",
        run=lines.big_line,
        anchor="lines",
        lenient=_QUIET | {"mcp"},
    ),
    Check(
        id="concurrency",
        title="It takes as many requests side by side as it says",
        rule="Each of them is answered once, with its own id, in any order.",
        fix="Write whole lines under a lock, and keep the id with its request.",
        run=lines.concurrency,
        anchor="initialize",
        provokes=True,
    ),
    Check(
        id="hooks",
        title="Its hooks answer in time, with what the host understands",
        rule="Each declared hook is answered within 5 s, with an output of the right form. A guard"
        " that fails stops the call that it guards.",
        fix="Answer with an output as in docs/hooks.md, or without one for no opinion.",
        run=calls.hooks,
        anchor="hookinvoke",
    ),
    Check(
        id="odd-arguments",
        title="Its hooks take a tool's arguments in any form",
        rule="A model wrote them: they may be no object, and no JSON. The hook is answered all the"
        " same, with an output or an error.",
        fix="Take what cannot be read for a reason to deny, or for no opinion.",
        run=calls.odd_hooks,
        anchor="hookinvoke",
        dialects=_NATIVE,
    ),
    Check(
        id="call",
        title="The named tools answer",
        rule="The result has the form that the wire asks for.",
        fix="Name a tool that it offers. Answer with content as a string, and isError as true or"
        " false.",
        run=calls.call,
        anchor="toolcall",
    ),
    Check(
        id="progress",
        title="Progress belongs to the call that is under way",
        rule="A report has the id of the call, and a text; another one is dropped.",
        fix="Keep the id of the request, and send reports before its answer.",
        run=calls.progress,
        anchor="notifications",
    ),
    Check(
        id="cancel",
        title="A call can be cancelled",
        rule="A plugin that offers cancel takes the notification while a call is under way, and"
        " answers the next request.",
        fix="Read on while a call is under way, or do not offer cancel.",
        run=calls.cancel,
        anchor="notifications",
    ),
    Check(
        id="cancel-nothing",
        title="Cancelling what is not under way does no harm",
        rule="An answer and its cancellation may cross: then there is nothing left to cancel.",
        fix="Pass over ids that you do not know.",
        run=requests.cancel_nothing,
        anchor="notifications",
    ),
    Check(
        id="goodbye",
        title="It takes its leave when asked to",
        rule="The last request (dispose, or shutdown) is answered within the grace of 3 s.",
        fix="Answer first what takes long afterwards, or do less.",
        run=endings.goodbye,
        anchor="timeouts-and-the-end",
    ),
    Check(
        id="dispose-twice",
        title="A second dispose does nothing",
        rule="dispose runs once: when the host says so, or at end-of-file, whichever comes first.",
        fix="Keep in mind that it has run, and answer the second request without doing it again.",
        run=endings.dispose_twice,
        anchor="timeouts-and-the-end",
        severity=_WARNING,
        dialects=_NATIVE,
    ),
    Check(
        id="end-of-file",
        title="It ends when its input does",
        rule="A plugin exits within 3 s of end-of-file. After that it is killed.",
        fix="Leave the loop when reading returns nothing, and end what else is running.",
        run=endings.end_of_file,
        anchor="timeouts-and-the-end",
        lenient=frozenset({"bingo"}),
    ),
    Check(
        id="exit-status",
        title="Its exit status is 0",
        rule="An end that was asked for is no failure; another status looks like a crash.",
        fix="Exit with 0 after end-of-file, and catch the error of a closed pipe.",
        run=endings.exit_status,
        anchor="timeouts-and-the-end",
        severity=_WARNING,
    ),
    Check(
        id="children",
        title="No process that it started outlives it",
        rule="The host kills what a plugin leaves; what that was doing is lost.",
        fix="End your children, and wait for them, before you exit.",
        run=endings.children,
        anchor="timeouts-and-the-end",
        severity=_WARNING,
    ),
    Check(
        id="output",
        title="Its output is messages and nothing else",
        rule="Standard output belongs to the protocol. This host counts and drops what is no"
        " message; others end the plugin for it.",
        fix="Print to standard error, and give children another output than your own.",
        run=endings.output,
        anchor="lines",
    ),
    Check(
        id="start-time",
        title="It starts quickly",
        rule="Whoever uses the plugin waits for its start, and after 10 s the load fails.",
        fix="Put off what is slow until the first call.",
        run=offers.start_time,
        anchor="initialize",
        severity=_WARNING,
    ),
)
