"""Questions of plugins that are MCP servers, passed on to the client that made the call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import trio
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcphost import hosting

AddServer = Callable[[str], Mapping[str, Any]]

pytestmark = [
    # Asked by requests that are of the past since 2026-07-28.
    pytest.mark.filterwarnings("ignore:The (sampling|roots) capability is deprecated"),
]
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
ALLOW = {"permissions": {"allow": ["plugin__*"]}}
ALLOW_ALL = {"permissions": {"allow": ["plugin__*", "sampling__*"]}}

# Each asks what its call's argument "ask" says, and its result is the answers.
OLD = """
import json
declared = legacy()["params"]["capabilities"]
def call(request):
    answers = {}
    for key, question in request["params"]["arguments"]["ask"].items():
        send({"jsonrpc": "2.0", "id": key, **question})
        answer = recv()
        answers[key] = answer.get("result") or answer.get("error")
    return text(json.dumps([declared, answers]))
serve(call=call)
"""
NEW = """
import json
modern()
def call(request):
    params = request["params"]
    if "inputResponses" not in params:
        asked = params["arguments"]["ask"]
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}
    declared = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    return {"resultType": "complete", **text(json.dumps([declared, params["inputResponses"]]))}
serve(call=call)
"""
SERVERS = pytest.mark.parametrize("server", [OLD, NEW], ids=["old", "new"])

NAME = {"type": "object", "properties": {"name": {"type": "string"}}}
FORM = {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": NAME}}
MESSAGE = {"role": "user", "content": {"type": "text", "text": "Hi"}}
SAMPLE = {
    "method": "sampling/createMessage",
    "params": {"messages": [MESSAGE], "maxTokens": 9, "includeContext": "allServers"},
}
ROOTS = {"method": "roots/list", "params": {}}
WRITTEN = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Hello"}}


def page(url: str) -> dict[str, Any]:
    params = {"mode": "url", "message": "Go", "url": url, "elicitationId": "e"}
    return {"method": "elicitation/create", "params": params}


class Person:
    """A client's person and model; answers the host's questions with `allows`."""

    def __init__(self, name: str = "Ada", allows: str = "once") -> None:
        self.name, self.allows = name, allows
        self.asked: list[str] = []
        self.sampled: list[types.CreateMessageRequestParams] = []

    async def elicit(self, _context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        schema = getattr(params, "requested_schema", {"properties": {}})
        field = next(iter(schema["properties"]), None)
        value = {"name": self.name, "answer": self.allows}.get(str(field))
        content = {str(field): value} if field else None
        return types.ElicitResult(action="accept", content=content)

    async def sample(self, _context: Any, params: Any) -> types.CreateMessageResult:
        self.sampled.append(params)
        return types.CreateMessageResult.model_validate(WRITTEN)

    async def roots(self, _context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri="file:///theirs")])


def asking(server: Mapping[str, Any], rules: Mapping[str, Any] = ALLOW) -> dict[str, Any]:
    return {"mcpServers": {"curious": server}, **rules}


def text_of(result: types.CallToolResult) -> list[str]:
    return [part.text for part in result.content if isinstance(part, types.TextContent)]


async def ask(client: Client, **questions: Mapping[str, Any]) -> tuple[Any, Any]:
    """What the server was told that there is, and its answers."""
    result = await client.call_tool("plugin__curious__t", {"ask": questions})
    assert result.is_error is False, text_of(result)
    declared, answers = json.loads(text_of(result)[0])
    return declared, answers


@MODES
@SERVERS
async def test_a_form_goes_to_the_client_and_says_who_asks(
    server: str, mode: str, home: Path, add_server: AddServer
) -> None:
    person = Person()
    async with (
        hosting(home, asking(add_server(server))) as (_, url),
        Client(url, mode=mode, elicitation_callback=person.elicit) as client,
    ):
        _, answers = await ask(client, approval=FORM, second=FORM)
    accepted = {"action": "accept", "content": {"name": "Ada"}}
    assert answers == {"approval": accepted, "second": accepted}
    assert person.asked == ["Plugin curious asks: Who?"] * 2


@MODES
@SERVERS
async def test_the_model_is_used_once_the_person_agrees(
    server: str, mode: str, home: Path, add_server: AddServer
) -> None:
    person = Person()
    async with (
        hosting(home, asking(add_server(server))) as (_, url),
        Client(
            url, mode=mode, elicitation_callback=person.elicit, sampling_callback=person.sample
        ) as client,
    ):
        _, answers = await ask(client, q=SAMPLE)
    assert answers["q"]["content"] == WRITTEN["content"]
    [question] = person.asked
    assert "Plugin curious wants your client's model to write something" in question
    [sampled] = person.sampled
    assert sampled.max_tokens == 9
    assert sampled.include_context is None


@MODES
async def test_a_model_is_not_used_where_nobody_agrees(
    mode: str, home: Path, add_server: AddServer
) -> None:
    person = Person()
    async with (
        hosting(home, asking(add_server(OLD))) as (_, url),
        Client(url, mode=mode, sampling_callback=person.sample) as client,
    ):
        result = await client.call_tool("plugin__curious__t", {"ask": {"q": SAMPLE}})
    said, denial = text_of(result)
    assert json.loads(said)[1] == {"q": {"code": -1, "message": "it was not allowed"}}
    assert denial.startswith("sampling__curious was denied: ")
    assert "To allow it:" in denial
    assert person.sampled == []


async def test_a_rule_denies_a_question_of_any_kind(home: Path, add_server: AddServer) -> None:
    person = Person()
    rules = {"permissions": {"allow": ["plugin__*"], "deny": ["elicitation__curious"]}}
    async with (
        hosting(home, asking(add_server(OLD), rules)) as (_, url),
        Client(url, mode="auto", elicitation_callback=person.elicit) as client,
    ):
        result = await client.call_tool("plugin__curious__t", {"ask": {"q": FORM}})
    assert 'elicitation__curious was denied: the rule "elicitation__curious"' in text_of(result)[1]
    assert person.asked == []


@MODES
async def test_what_the_client_does_not_offer_is_refused(
    mode: str, home: Path, add_server: AddServer
) -> None:
    async with (
        hosting(home, asking(add_server(OLD), ALLOW_ALL)) as (_, url),
        Client(url, mode=mode) as client,
    ):
        declared, answers = await ask(client, form=FORM, sample=SAMPLE, other={"method": "x"})
    assert declared.keys() == {"roots", "sampling", "elicitation"}
    assert {key: answer["code"] for key, answer in answers.items()} == dict.fromkeys(
        answers, -32601
    )
    assert answers["form"]["message"] == "whoever made the call does not offer elicitation"


async def test_a_server_of_today_is_told_what_the_very_client_offers(
    home: Path, add_server: AddServer
) -> None:
    person = Person()
    async with hosting(home, asking(add_server(NEW), ALLOW_ALL)) as (_, url):
        async with Client(url, mode="auto") as client:
            declared, _ = await ask(client, q=ROOTS)
            assert declared == {"roots": {}}
            result = await client.call_tool("plugin__curious__t", {"ask": {"q": SAMPLE}})
            assert result.is_error is True
            assert "it asks for sampling/createMessage: whoever made" in text_of(result)[0]
        async with Client(url, mode="legacy", sampling_callback=person.sample) as client:
            declared, _ = await ask(client, q=SAMPLE)
            assert declared == {"roots": {}, "sampling": {}}


@MODES
async def test_roots_are_the_clients_where_they_are_for_its_call_alone(
    mode: str, home: Path, add_server: AddServer
) -> None:
    person = Person()
    for server, uri in ((NEW, "file:///theirs"), (OLD, home.as_uri())):
        async with (
            hosting(home, asking(add_server(server))) as (_, url),
            Client(url, mode=mode, list_roots_callback=person.roots) as client,
        ):
            _, answers = await ask(client, q=ROOTS)
            assert [root["uri"] for root in answers["q"]["roots"]] == [uri]


async def test_several_questions_of_one_round_are_put_together(
    home: Path, add_server: AddServer
) -> None:
    person = Person()
    async with (
        hosting(home, asking(add_server(NEW), ALLOW_ALL)) as (_, url),
        Client(
            url,
            mode="auto",
            elicitation_callback=person.elicit,
            sampling_callback=person.sample,
            list_roots_callback=person.roots,
        ) as client,
    ):
        arguments = {"ask": {"form": FORM, "sample": SAMPLE, "roots": ROOTS}}
        asked = await client.session.call_tool(
            "plugin__curious__t", arguments, allow_input_required=True
        )
        assert isinstance(asked, types.InputRequiredResult)
        assert (asked.input_requests or {}).keys() == {"form", "sample", "roots"}
        _, answers = await ask(client, **arguments["ask"])
    assert answers.keys() == {"form", "sample", "roots"}


@MODES
@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (page("javascript:alert(1)"), "has to be a web address"),
        (page("file:///etc/passwd"), "has to be a web address"),
        (page("https://x.y/\u202e"), "has to be a web address"),
        ({**FORM, "params": {"mode": "smoke"}}, "of mode 'smoke'"),
        ({**FORM, "params": {"message": "no schema"}}, "bad params of elicitation/create"),
        ({**SAMPLE, "params": {"maxTokens": 1}}, "bad params of sampling/createMessage: messages"),
        ({**SAMPLE, "params": {**SAMPLE["params"], "tools": []}}, "not offer tools in sampling"),
    ],
)
async def test_a_question_that_no_client_should_see_is_refused(
    question: Mapping[str, Any], reason: str, mode: str, home: Path, add_server: AddServer
) -> None:
    person = Person()
    async with (
        hosting(home, asking(add_server(OLD), ALLOW_ALL)) as (_, url),
        Client(
            url, mode=mode, elicitation_callback=person.elicit, sampling_callback=person.sample
        ) as client,
    ):
        _, answers = await ask(client, q=question)
    assert answers["q"]["code"] == -32602
    assert reason in answers["q"]["message"]
    assert person.asked == person.sampled == []


@MODES
async def test_a_web_address_is_passed_on(mode: str, home: Path, add_server: AddServer) -> None:
    person = Person()
    async with (
        hosting(home, asking(add_server(OLD))) as (_, url),
        Client(url, mode=mode, elicitation_callback=person.elicit) as client,
    ):
        _, answers = await ask(client, q=page("https://example.org/login"))
    assert answers["q"] == {"action": "accept"}
    assert person.asked == ["Plugin curious asks: Go"]


@MODES
@SERVERS
async def test_an_answer_to_a_plugin_is_no_answer_to_the_host(
    server: str, mode: str, home: Path, add_server: AddServer
) -> None:
    """A form that looks like the host's own, in a call that the host asks about as well."""
    fields = {"answer": {"type": "string", "enum": ["once", "session", "no"]}}
    fake = {"message": "ok?", "requestedSchema": {"type": "object", "properties": fields}}
    question = {"method": "elicitation/create", "params": fake}
    rules = {"permissions": {"ask": ["plugin__*"]}}
    asked: list[str] = []

    async def elicit(_context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        word = "session" if params.message.startswith("Plugin curious asks") else "once"
        return types.ElicitResult(action="accept", content={"answer": word})

    async with (
        hosting(home, asking(add_server(server), rules)) as (_, url),
        Client(url, mode=mode, elicitation_callback=elicit) as client,
    ):
        for _ in range(2):
            _, answers = await ask(client, approval=question)
            assert answers["approval"]["content"] == {"answer": "session"}
    hosts = "plugin__curious__t is to run in"
    assert [message.startswith(hosts) for message in asked] == [True, False] * 2


# The first call gets no answer until there is a second; that one asks.
CROWDED = """
import json
legacy()
waiting = []
def call(request):
    waiting.append(request)
    if len(waiting) < 2:
        return None
    send({"jsonrpc": "2.0", "id": "q", **request["params"]["arguments"]["ask"]})
    while (answer := recv()).get("id") != "q":
        pass
    for one in waiting:
        reply(one, text(json.dumps(answer.get("result") or answer["error"])))
    return None
serve(call=call)
"""


@pytest.mark.parametrize("same", [True, False])
async def test_a_question_that_could_be_for_two_clients_is_for_none(
    same: bool, home: Path, add_server: AddServer
) -> None:
    one, other = Person("one"), Person("other")
    results: list[str] = []

    async def call(client: Client) -> None:
        result = await client.call_tool("plugin__curious__t", {"ask": FORM})
        results.append(text_of(result)[0])

    async with (
        hosting(home, asking(add_server(CROWDED))) as (_, url),
        Client(url, mode="legacy", elicitation_callback=one.elicit) as first,
        Client(url, mode="legacy", elicitation_callback=other.elicit) as second,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(call, first)
        nursery.start_soon(call, first if same else second)
    if same:
        assert json.loads(results[0])["content"] == {"name": "one"}
    else:
        assert "busy with calls of several clients" in results[0]
        assert one.asked == []
    assert other.asked == []


async def test_a_call_that_was_given_up_may_still_be_what_a_question_is_about(
    home: Path, add_server: AddServer
) -> None:
    other = Person("other")
    server = add_server(CROWDED.replace("for one in waiting:", "for one in waiting[1:]:"))
    async with hosting(home, asking(server)) as (running, url):
        async with Client(url, mode="legacy") as client, trio.open_nursery() as nursery:
            nursery.start_soon(client.call_tool, "plugin__curious__t", {"ask": FORM})
            calls = running.host.manager.get("curious").info.counters
            while not calls.calls:
                await trio.sleep(0.01)
                calls = running.host.manager.get("curious").info.counters
            nursery.cancel_scope.cancel()
        async with Client(url, mode="legacy", elicitation_callback=other.elicit) as client:
            result = await client.call_tool("plugin__curious__t", {"ask": FORM})
    assert "busy with calls of several clients" in text_of(result)[0]
    assert other.asked == []


@MODES
async def test_a_question_ends_with_its_call(mode: str, home: Path, add_server: AddServer) -> None:
    server = add_server("""
        import json, pathlib
        legacy()
        def call(request):
            send({"jsonrpc": "2.0", "id": "q", **request["params"]["arguments"]["ask"]})
            while not pathlib.Path("asked").exists():
                time.sleep(0.01)
            reply(request, text("done without you"))
            while (noted := recv()).get("id") != "q":
                pass
            pathlib.Path("new").write_text(json.dumps(noted))
            pathlib.Path("new").rename("noted")
        serve(call=call)
        """)
    noted = home / "noted"

    async def late(_context: Any, _params: Any) -> types.ElicitResult:
        (home / "asked").touch()
        while not noted.exists():
            await trio.sleep(0.01)
        return types.ElicitResult(action="accept", content={"name": "late"})

    async with (
        hosting(home, asking(server)) as (_, url),
        Client(url, mode=mode, elicitation_callback=late) as client,
    ):
        result = await client.call_tool("plugin__curious__t", {"ask": FORM})
        assert text_of(result) == ["done without you"]
        with trio.fail_after(30):
            while not noted.exists():
                await trio.sleep(0.01)
    assert "the call that this is about is over" in noted.read_text()


async def test_a_plugin_may_not_ask_for_ever(home: Path, add_server: AddServer) -> None:
    person = Person()
    async with (
        hosting(home, asking(add_server(OLD))) as (_, url),
        Client(url, mode="legacy", elicitation_callback=person.elicit) as client,
    ):
        _, answers = await ask(client, **{f"q{number}": FORM for number in range(40)})
    assert len(person.asked) == 32
    assert answers["q39"]["message"] == "more than 32 questions in one call"


async def test_a_server_that_cannot_do_without_says_so_to_the_client(
    home: Path, add_server: AddServer
) -> None:
    server = add_server("""
        modern()
        def call(request):
            data = {"requiredCapabilities": {"sampling": {}}}
            error = {"code": -32021, "message": "it needs sampling", "data": data}
            send({"jsonrpc": "2.0", "id": request["id"], "error": error})
        serve(call=call)
        """)
    async with hosting(home, asking(server)) as (_, url):
        async with Client(url, mode="auto") as client:
            with pytest.raises(MCPError, match="it needs sampling") as caught:
                await client.call_tool("plugin__curious__t", {})
            assert caught.value.error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
            assert caught.value.error.data == {"requiredCapabilities": {"sampling": {}}}
        async with Client(url, mode="legacy") as client:  # which knows no such error
            assert (await client.call_tool("plugin__curious__t", {})).is_error is True
