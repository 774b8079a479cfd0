"""The journal: which sessions have one, and their records."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import trio

from ... import paths
from ...errors import InvalidCall
from ...journal import FOLDER
from ...journal_read import (
    Filter,
    JournalError,
    SessionJournal,
    find_journal,
    list_journals,
    read_session,
)
from ...journal_records import KINDS, timestamp
from .forms import Journal, Records
from .routes import SEQ, Call, Query, route

_DECISIONS = ["allow", "deny", "ask", "change"]
_LIMIT = {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 1000}
_PROBLEMS = 20  # told of one journal
_LAST = 253402300799.0  # the last second of the year 9999


def _folder(call: Call) -> Path:
    return paths.state_dir(call.running.host.environ) / FOLDER


@route("GET", "/journal", answer=list[Journal])
async def _list(call: Call) -> Any:
    """List the sessions that have a journal, the last written first."""
    found = await trio.to_thread.run_sync(list_journals, _folder(call))
    return [_journal_value(journal) for journal in found]


def _journal_value(journal: SessionJournal) -> dict[str, Any]:
    return {
        "session": journal.session,
        "directory": journal.directory,
        "started": journal.started,
        "updated": journal.updated,
        "size": journal.size,
        "problem": journal.problem,
    }


@route(
    "GET",
    "/journal/{session}",
    answer=Records,
    errors=(404,),
    query=[
        Query(name="after", description="Only records of greater seq.", schema=SEQ),
        Query(name="limit", description="How many at most.", schema=_LIMIT),
        Query(
            name="since",
            description="Only what is not older than this time (RFC 3339).",
            schema={"type": "string", "format": "date-time"},
        ),
        Query(
            name="kind",
            description="Only this kind.",
            many=True,
            schema={"type": "string", "enum": list(KINDS)},
        ),
        Query(name="plugin", description="Only what it has a part in.", many=True),
        Query(name="tool", description="Only of this tool; * is anything.", many=True),
        Query(
            name="decision",
            description="Only such decisions.",
            many=True,
            schema={"type": "string", "enum": _DECISIONS},
        ),
    ],
)
async def _show(call: Call) -> Any:
    """Show the records of a session, given by its id or an unambiguous beginning."""
    wanted = _filter(call.query)
    after, limit = call.query.get("after", 0), call.query.get("limit", 1000)
    folder, session = _folder(call), call.path["session"]
    return await trio.to_thread.run_sync(_records, folder, session, wanted, after, limit)


def _filter(query: Mapping[str, Any]) -> Filter:
    return Filter(
        plugins=query.get("plugin", ()),
        tools=query.get("tool", ()),
        decisions=query.get("decision", ()),
        kinds=query.get("kind", ()),
        since=_since(query["since"]) if "since" in query else "",
    )


def _since(text: str) -> str:
    """A time with a zone, in the journal's form."""
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise InvalidCall('since must be a time with a zone, such as "2026-01-31T12:00:00Z"')
    return timestamp(min(max(0.0, when.timestamp()), _LAST))


def _records(folder: Path, session: str, wanted: Filter, after: int, limit: int) -> Any:
    journal = find_journal(folder, session)
    problems: list[JournalError] = []
    fitting = (
        record
        for record in read_session(journal, problems.append)
        if record["seq"] > after and wanted.fits(record)
    )
    found = list(islice(fitting, limit + 1))
    shown = found[:limit]
    return {
        "session": journal.session,
        "records": shown,
        "next": shown[-1]["seq"] if len(found) > limit else None,
        "problems": [str(problem) for problem in problems[:_PROBLEMS]],
    }
