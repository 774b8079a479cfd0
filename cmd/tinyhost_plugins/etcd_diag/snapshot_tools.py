"""The texts of the tools that look into a snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from heapq import heappush, heappushpop

from .._shared import texts
from .._shared.table import cell, table
from . import kinds, text, values
from .pace import Pace
from .patterns import find, is_expression
from .snapshot import ABSENT, BAD, CUT, Snapshot
from .survey import Tally

MOST_FOUND = 1000
TOP_KINDS = 20
_MOST_KINDS = 200
_MOST_BUCKETS = 20
_LONGEST_KEY = 200
_OFTEN = 512

_HASHES = {
    "ok": "the SHA-256 at its end is right",
    BAD: "the SHA-256 at its end is WRONG: the file was changed or damaged after it was saved",
    CUT: "what follows its last whole page is no SHA-256: the file was CUT OFF, or something was added",
    ABSENT: "it has no SHA-256 at its end, as a copy of member/snap/db has none",
}


def overview(snapshot: Snapshot) -> str:
    """What `open` says: is the file sound, how much is in it, of what kinds."""
    found = snapshot.survey
    total = found.total()
    lines = [
        f"{text.named(snapshot.path.name)}: {texts.counted(total.live, 'key')} at revision"
        f" {found.last.main if found.last else 0}, {texts.size(snapshot.size)};"
        f" hash {snapshot.hash}",
        "",
        f"file: {text.named(snapshot.path)}",
        f"integrity: {_HASHES[snapshot.hash]}; {_pages(snapshot)}",
        _revisions(snapshot),
        f"history: {texts.counted(total.old, 'replaced revision')}"
        f" ({texts.size(total.old_bytes)}),"
        f" {texts.counted(found.tombstones, 'record of a deletion', 'records of deletions')};"
        f" {texts.counted(total.gone, 'key is', 'keys are')} deleted",
        f"buckets: {_buckets(found.entries)}",
        *_cluster(snapshot),
        "",
        _kind_table(snapshot, "count", TOP_KINDS, "call etcd_snapshot_resources for all"),
    ]
    return "\n".join(line for line in lines if line is not None)


def resources(snapshot: Snapshot, sort_by: str) -> str:
    """All kinds, with counts and sizes."""
    total = snapshot.survey.total()
    number = sum(1 for tally in snapshot.survey.kinds.values() if tally.live)
    return (
        f"{texts.counted(number, 'kind')}, {texts.counted(total.live, 'key')},"
        f" {texts.size(total.live_bytes)} of values; sorted by {sort_by}\n\n"
        + _kind_table(snapshot, sort_by, _MOST_KINDS, "sort the other way to see some of them")
    )


def get(snapshot: Snapshot, kind: str, namespace: str, name: str, most: int, pace: Pace) -> str:
    """One object: what etcd knows of it, and what may be seen of its value."""
    keys = _keys(snapshot, kind, namespace, name)
    known = [(key, found) for key in keys if (found := snapshot.lookup(key))]
    # The same word may mean a kind of which the object is gone, and one of which it is there.
    for key, found in sorted(known, key=lambda pair: pair[1].deleted):
        item, place = found.record, kinds.place(key, snapshot.prefixes)
        shown_key = _printable(key.encode())
        if found.deleted:
            return f"{shown_key} does not exist any more: its newest revision is a deletion"
        size = item.end - item.start
        value = snapshot.value(item, values.MOST_READ)
        shown = values.show(value, place)
        head = (
            f"{shown_key}: {texts.size(size)}, {shown.form}\n"
            f"version {item.version}, created at revision {item.created},"
            f" last changed at {item.modified}" + (f", lease {item.lease:x}" if item.lease else "")
        )
        return f"{head}\n\n{_cut(shown.body, most)}".rstrip()
    return _absent(snapshot, keys, name, pace)


def search(snapshot: Snapshot, pattern: str, most: int, pace: Pace) -> str:
    """Keys that match, in their order, with the sizes of their values."""
    note = "" if is_expression(pattern) else ", as plain text, for it is no valid expression"
    # Of all matches, the first ones are kept: a heap whose top is the last of them.
    heap: list[tuple[_Descending, int, texts.Span]] = []
    count = 0
    for (key, at), span in find(pattern, _live(snapshot, pace), _searched, pace):
        count += 1
        entry = (_Descending(key), at, span)
        if len(heap) < most:
            heappush(heap, entry)
        else:
            heappushpop(heap, entry)
    if not count:
        return f"no key matches {pattern!r}{note}"
    rows = [
        (texts.size(snapshot.value_size(at)), _matching(entry.key, span))
        for entry, at, span in sorted(heap, reverse=True)
    ]
    match = "matches" if count == 1 else "match"
    lines = [f"{texts.counted(count, 'key')} {match} {pattern!r}{note}", ""]
    lines += [f"{size:>10}  {key}" for size, key in rows]
    if count > len(rows):
        lines.append(
            f"{count - len(rows):,} more matches; ask for a narrower pattern,"
            f' or for more with "max" (up to {MOST_FOUND})'
        )
    return "\n".join(lines)


def storage(snapshot: Snapshot) -> str:
    """Where the bytes of the file go."""
    found, meta = snapshot.survey, snapshot.database.meta
    total = found.total()
    free = found.free_pages * meta.page_size
    share = text.percent(free, snapshot.size)
    old = texts.counted(total.old, "replaced revision")
    lines = [
        f"{text.named(snapshot.path.name)}: {texts.size(snapshot.size)} of which {texts.size(free)} ({share})"
        f" is free and {texts.size(total.live_bytes)}"
        f" ({text.percent(total.live_bytes, snapshot.size)}) are current values",
        "",
        f"current: {texts.counted(total.live, 'key')}, {texts.size(total.live_bytes)} of values",
        f"history: {old}, {texts.size(total.old_bytes)} of values;"
        f" {texts.counted(found.tombstones, 'deletion')}",
        f"pages: {snapshot.database.pages:,} of {texts.size(meta.page_size)},"
        f" {found.free_pages:,} free",
        f"advice: {_advice(snapshot, total, free)}",
        "",
        f"largest values (top {len(found.largest.entries())}):",
        *(f"{texts.size(size):>10}  {_printable(key)}" for size, key in found.largest.entries()),
        "",
        *_busiest(snapshot),
        _kind_table(snapshot, "size", TOP_KINDS, "call etcd_snapshot_resources for all"),
    ]
    return "\n".join(lines)


def _busiest(snapshot: Snapshot) -> list[str]:
    """Keys and their versions, without those that are as they were created."""
    entries = [entry for entry in snapshot.survey.busiest.entries() if entry[0] > 1]
    if not entries:
        return []
    return [
        "most often changed keys (times written since they were created):",
        *(f"{number:>10,}  {_printable(key)}" for number, key in entries),
        "",
    ]


def _advice(snapshot: Snapshot, total: Tally, free: int) -> str:
    if 2 * free > snapshot.size:
        return "more than half of the file is free; defragment the members, one after the other"
    if total.old_bytes > total.live_bytes:
        return (
            "the replaced revisions take more than the current ones; see whether the API server"
            " still compacts (it does every 5 minutes), and which keys change most"
        )
    return "neither defragmentation nor compaction would win much"


def _kind_table(snapshot: Snapshot, sort_by: str, most: int, more: str) -> str:
    def order(entry: tuple[tuple[str, str], Tally]) -> tuple[int, int, tuple[str, str]]:
        tally = entry[1]
        first, second = tally.live, tally.live_bytes
        if sort_by == "size":
            first, second = second, first
        return -first, -second, entry[0]

    rows = (
        (
            kinds.title(kind) or "(no name)",
            prefix.strip("/") or "-",
            tally.live,
            texts.size(tally.live_bytes),
            texts.size(tally.live_bytes // tally.live) if tally.live else "-",
            texts.size(tally.largest),
            tally.old,
            tally.gone,
        )
        for (prefix, kind), tally in sorted(snapshot.survey.kinds.items(), key=order)
    )
    headers = ("KIND", "BELOW", "KEYS", "SIZE", "AVERAGE", "LARGEST", "OLD REVISIONS", "DELETED")
    return table(headers, rows, most=most, more=more) if snapshot.survey.kinds else "no keys"


def _buckets(entries: dict[str, int]) -> str:
    parts = [f"{cell(name, 40)} {count:,}" for name, count in entries.items()]
    if len(parts) > _MOST_BUCKETS:
        parts[_MOST_BUCKETS:] = [f"and {len(parts) - _MOST_BUCKETS:,} more"]
    return ", ".join(parts)


def _pages(snapshot: Snapshot) -> str:
    database = snapshot.database
    text_of_pages = f"all {sum(database.used):,} pages in use are sound"
    if database.missing:
        text_of_pages += f", but {texts.size(database.missing)} are missing at the end of the file"
    if snapshot.survey.leaked:
        text_of_pages += f"; {snapshot.survey.leaked:,} pages are neither used nor free"
    return text_of_pages


def _revisions(snapshot: Snapshot) -> str:
    found = snapshot.survey
    if found.first is None or found.last is None:
        return "revisions: none"
    line = f"revisions: {found.revisions:,} records from {found.first.main} to {found.last.main}"
    done = found.numbers.get("finishedCompactRev")
    planned = found.numbers.get("scheduledCompactRev", 0)
    line += f", compacted up to {done}" if done else ", never compacted"
    if planned > (done or 0):
        line += f"; a compaction up to {planned} had begun"
    index = found.numbers.get("consistent_index")
    return line + (f"; raft index {index}" if index else "")


def _cluster(snapshot: Snapshot) -> list[str]:
    found = snapshot.survey
    lines = [f"{cell(name, 40)}: {cell(fact, 80)}" for name, fact in found.facts.items()]
    for raw in found.members:
        try:
            member = json.loads(raw)
            urls = ", ".join(map(str, member.get("peerURLs") or ()))
            lines.append(cell(f"member: {member.get('name') or '(no name)'} {urls}", 200))
        except (ValueError, AttributeError, TypeError, RecursionError):
            lines.append("member: cannot be read")
    return lines


def _keys(snapshot: Snapshot, kind: str, namespace: str, name: str) -> list[str]:
    """The keys that may be meant, likeliest first."""
    found = snapshot.survey.kinds
    prefixes = dict.fromkeys((*(prefix for prefix, _ in found if prefix), *snapshot.prefixes))
    words = kinds.candidates(kind, {known for prefix, known in found if prefix})
    tail = f"{namespace}/{name}" if namespace else name
    return [f"{prefix}{word}/{tail}" for word in words for prefix in prefixes]


def _absent(snapshot: Snapshot, keys: list[str], name: str, pace: Pace) -> str:
    lines = [f"there is no {cell(kinds.shown(keys[0]), 300)} in the snapshot"]
    wanted = {kinds.place(key, snapshot.prefixes).kind for key in keys}
    ending = f"/{name}".encode(errors="surrogatepass")
    near = sorted(
        key
        for key, _ in _live(snapshot, pace)
        if key.endswith(ending)
        and kinds.place(key.decode(errors="replace"), snapshot.prefixes).kind in wanted
    )
    if near:
        lines.append("of that name there are:")
        lines += [f"  {_printable(key)}" for key in near[:5]]
        lines += [f"  and {len(near) - 5:,} more"] if len(near) > 5 else []
    else:
        lines.append(
            "look for it with etcd_snapshot_search, or list kinds with etcd_snapshot_resources"
        )
    return "\n".join(lines)


def _live(snapshot: Snapshot, pace: Pace) -> Iterator[tuple[bytes, int]]:
    """The keys that exist, with their places. Raises HandlerError when the time is over."""
    for number, pair in enumerate(snapshot.live()):
        if not number % _OFTEN:
            pace.tick(f"searching the keys ({number:,} so far)")
        yield pair


def _searched(pair: tuple[bytes, int]) -> str:
    """What a pattern is compared with: what is shown. The rest could be guessed bit by bit."""
    return kinds.shown(pair[0].decode(errors="replace"))


def _matching(key: bytes, span: texts.Span) -> str:
    """A key that was found, with the match in the part that is shown."""
    shown = _printable(key)
    is_cut = shown.endswith("…")
    return texts.around(_searched((key, 0)), span, _LONGEST_KEY) if is_cut else shown


def _printable(key: bytes) -> str:
    return cell(kinds.shown(key.decode(errors="backslashreplace")), _LONGEST_KEY)


def _cut(body: str, most: int) -> str:
    if len(body) <= most:
        return body
    return (
        f"{body[:most]}\n({len(body) - most:,} of {len(body):,} characters are cut off;"
        ' "max_chars" allows more)'
    )


class _Descending:
    """A key that is smaller than those before it."""

    __slots__ = ("key",)

    def __init__(self, key: bytes) -> None:
        self.key = key

    def __lt__(self, other: _Descending) -> bool:
        return self.key > other.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)
