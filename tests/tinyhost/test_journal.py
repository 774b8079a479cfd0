from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyhost import journal as journal_module
from tinyhost.journal import Journal
from tinyhost.journal_read import (
    JournalError,
    find_journal,
    list_journals,
    read_file,
    read_header,
    read_session,
)
from tinyhost.journal_records import KINDS, Cleaner, safe_name

SECRET = "correct-horse-battery"

_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
# Names that begin with "f" are never those of secrets.
_fields = st.dictionaries(st.text(max_size=8).map("f{}".format), _values, max_size=5)
_records = st.lists(st.tuples(st.sampled_from(KINDS), _fields), min_size=1, max_size=8)


_opened: list[Journal] = []


def new_journal(state: Path, **options: Any) -> Journal:
    """A journal that is closed when the test ends."""
    _opened.append(Journal(state, **options))
    return _opened[-1]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop().close()


def file_of(state: Path, session: str = "s1") -> Path:
    return state / "journal" / f"{session}.jsonl"


def records_of(state: Path, session: str = "s1") -> list[dict[str, Any]]:
    return [dict(r) for r in read_session(find_journal(state / "journal", session))]


def numbers(state: Path) -> list[int]:
    return [record["n"] for record in records_of(state)]


def without_secret_names(value: Any) -> Any:
    """Such names may come up by chance below the top."""
    from tinyhost.redaction import looks_secret

    if isinstance(value, dict):
        return {k: without_secret_names(v) for k, v in value.items() if not looks_secret(k)}
    return [without_secret_names(v) for v in value] if isinstance(value, list) else value


# --- what is written


def test_a_file_is_a_header_and_one_line_for_each_record(tmp_path: Path) -> None:
    journal = new_journal(tmp_path, clock=lambda: 1_780_000_000.1234)
    assert journal.record("s1", "session", {"directory": "/p"})
    assert journal.record("s1", "call", {"tool": "bash", "args": {"a": [1, None]}})
    lines = [json.loads(line) for line in file_of(tmp_path).read_text().splitlines()]
    when = "2026-05-28T20:26:40.123Z"
    assert lines == [
        {
            "format": "tinyhost-journal",
            "version": 1,
            "session": "s1",
            "directory": "/p",
            "started": when,
            "after": 0,
        },
        {"t": when, "seq": 1, "kind": "session", "directory": "/p"},
        {"t": when, "seq": 2, "kind": "call", "tool": "bash", "args": {"a": [1, None]}},
    ]


def test_a_record_is_on_disk_when_record_returns(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    for number in range(3):
        journal.record("s1", "ask", {"n": number})
        assert numbers(tmp_path) == list(range(number + 1))


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        new_journal(tmp_path).record("s1", "ask", {})
        file_of(tmp_path).chmod(0o644)
        new_journal(tmp_path).record("s1", "ask", {})
    finally:
        os.umask(before)
    assert (tmp_path / "journal").stat().st_mode & 0o777 == 0o700
    assert file_of(tmp_path).stat().st_mode & 0o777 == 0o600


def test_an_unknown_kind_or_a_field_of_the_journals_own_is_refused(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    with pytest.raises(ValueError, match="no kind of record: cal; there are: session, hook"):
        journal.record("s1", "cal", {})
    with pytest.raises(ValueError, match="the journal sets seq itself"):
        journal.record("s1", "call", {"seq": 1})


@settings(max_examples=60, deadline=None)
@given(records=_records)
def test_any_records_come_back_the_same(
    records: list[tuple[str, dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    state = tmp_path_factory.mktemp("state")
    records = [(kind, without_secret_names(fields)) for kind, fields in records]
    journal = new_journal(state)
    for kind, fields in records:
        assert journal.record("s1", kind, fields)
    journal.close()
    found = records_of(state)
    assert [record.pop("seq") for record in found] == list(range(1, len(records) + 1))
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z", r.pop("t")) for r in found)
    assert found == [{"kind": kind, **fields} for kind, fields in records]


# --- session ids and files


@pytest.mark.parametrize("session", ["s1", "ses_01F8mA-x.y", "_", "a" * 80])
def test_a_plain_session_id_is_the_files_name(session: str) -> None:
    assert safe_name(session) == session


@pytest.mark.parametrize(
    "session", ["", ".", "..", "../x", "/etc/passwd", "a b", "é", "-x", "a" * 81, "a\0b", "\ud800"]
)
def test_any_other_session_id_stays_in_the_folder_and_is_found(
    session: str, tmp_path: Path
) -> None:
    assert new_journal(tmp_path).record(session, "ask", {"n": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["journal"]
    [file] = (tmp_path / "journal").glob("*.jsonl")
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*-[0-9a-f]{16}\.jsonl", file.name)
    assert records_of(tmp_path, session)[0]["n"] == 1


@given(first=st.text(max_size=100), second=st.text(max_size=100))
def test_different_sessions_have_different_files(first: str, second: str) -> None:
    assert (safe_name(first) == safe_name(second)) is (first == second)


def test_many_sessions_do_not_keep_many_files_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    journal = new_journal(tmp_path)
    for number in range(150):
        assert journal.record(f"s{number}", "ask", {})
    assert len(list(Path("/proc/self/fd").iterdir())) - before < 70
    assert journal.record("s0", "ask", {})
    assert [record["seq"] for record in records_of(tmp_path, "s0")] == [1, 2]
    journal.close_session("s0")
    journal.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


# --- secrets and size


def test_secret_values_and_values_of_secret_names_are_not_written(tmp_path: Path) -> None:
    journal = new_journal(tmp_path, secrets={SECRET, ""})
    inner = json.dumps({"password": "abc", "keep": [{"apiKey": 12}, 'a "b"']})
    journal.record(
        "s1",
        "call",
        {
            "tool": "bash",
            "args": json.dumps({"command": f"curl -u {SECRET}", "token": "abc", "body": inner}),
            "finalArgs": {"db_password": "abc", "pin_secret": [1, {"x": "abc"}], "n": 5},
            "result": '{"accessKey": "abc',
            SECRET: 1,
            "env": {"GITHUB_TOKEN": "abc", "HAS_SECRET": True, "EMPTY_TOKEN": ""},
        },
    )
    text = file_of(tmp_path).read_text()
    assert SECRET not in text
    assert "abc" not in text
    [record] = records_of(tmp_path)
    assert json.loads(record["args"])["command"] == "curl -u [redacted]"
    body = json.loads(json.loads(record["args"])["body"])
    assert body == {"password": "[redacted]", "keep": [{"apiKey": "[redacted]"}, 'a "b"']}
    masked = "[redacted]"
    assert record["finalArgs"] == {
        "db_password": masked,
        "pin_secret": [masked, {"x": masked}],
        "n": 5,
    }
    assert record["env"] == {"GITHUB_TOKEN": masked, "HAS_SECRET": True, "EMPTY_TOKEN": ""}


def test_secrets_that_are_learnt_are_masked_from_then_on(tmp_path: Path) -> None:
    journal = new_journal(tmp_path, secrets=["own-secret"])
    journal.record("s1", "call", {"said": "own-secret, theirs-secret"})
    journal.cleaner.learn(["theirs-secret", ""])
    journal.record("s1", "call", {"said": "own-secret, theirs-secret"})
    said = [record["said"] for record in records_of(tmp_path)]
    assert said == ["[redacted], theirs-secret", "[redacted], [redacted]"]


def test_of_learnt_secrets_those_met_last_count_and_the_own_ones_always() -> None:
    cleaner = Cleaner(["own-secret"])
    for number in range(2000):
        cleaner.learn([f"secret-{number}-", "often-met"])
    text = "own-secret often-met secret-0- secret-1999-"
    assert cleaner.text(text) == "[redacted] [redacted] secret-0- [redacted]"


@pytest.mark.parametrize(
    "many", [{str(n): [n] for n in range(200_000)}, [[n] for n in range(200_000)]], ids=type
)
def test_of_a_multitude_of_values_only_some_are_looked_at(many: Any) -> None:
    looked_at = []

    class Counting(Cleaner):
        def _value(self, value: Any, depth: int) -> Any:
            looked_at.append(depth)
            return super()._value(value, depth)

    cleaned = Counting().fields({"args": {"inner": many}, "decision": "deny"})
    assert len(looked_at) < 30_000
    assert cleaned["decision"] == "deny"
    kept = cleaned["args"]["inner"]
    left_out = kept[-1] if isinstance(kept, list) else kept["..."]
    assert left_out == f"[{200_001 - len(kept)} more]"


def test_json_text_without_secrets_is_kept_as_it_is_written(tmp_path: Path) -> None:
    args = '{ "a" : 1.50,\n "b": "x" }'
    new_journal(tmp_path).record("s1", "call", {"args": args})
    assert records_of(tmp_path)[0]["args"] == args


def test_a_secret_across_a_cut_is_masked_before_the_cut(tmp_path: Path) -> None:
    journal = new_journal(tmp_path, secrets={SECRET})
    for size in (16 * 1024 - 5, 2000 - 5):
        journal.record("s1", "call", {"x": "y" * size + SECRET, "result": "y" * size + SECRET})
    text = file_of(tmp_path).read_text()
    assert SECRET[:5] not in text


def test_long_texts_are_cut_with_a_marker(tmp_path: Path) -> None:
    new_journal(tmp_path).record("s1", "call", {"a": "x" * 20_000, "result": "y" * 3000})
    [record] = records_of(tmp_path)
    assert record["a"] == "x" * 16384 + "... [3616 more characters]"
    assert record["result"] == "y" * 2000 + "... [1000 more characters]"


def test_long_json_text_with_a_secret_is_masked_although_it_is_cut(tmp_path: Path) -> None:
    args = json.dumps({"token": "hide-me", "filler": "x" * 300_000})
    new_journal(tmp_path).record("s1", "call", {"args": args})
    [record] = records_of(tmp_path)
    assert "hide-me" not in record["args"]
    assert record["args"].endswith("more characters]")


@pytest.mark.parametrize(
    "fields",
    [{"a": ["x" * 1000] * 1000, "b": 1}, {f"k{n}": "x" * 100 for n in range(5000)}],
)
def test_a_record_is_one_line_of_bounded_size(fields: dict[str, Any], tmp_path: Path) -> None:
    new_journal(tmp_path).record("s1", "call", fields)
    _, line = file_of(tmp_path).read_bytes().splitlines()
    assert len(line) < 300_000
    assert b"bytes left out]" in line


def test_values_that_json_has_no_form_for_are_written_as_text(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    fields = {"a": b"\xff", "b": {1: float("nan")}, "c": (1, 2), "d": Path("/p"), "e": deep}
    journal = new_journal(tmp_path)
    assert journal.record("s1", "call", fields), journal.last_error
    [record] = records_of(tmp_path)
    assert record["a"] == "\ufffd"
    assert record["b"] == {"1": "nan"}
    assert (record["c"], record["d"]) == ([1, 2], "/p")


# --- torn lines, rotation, several writers


def test_a_line_torn_at_any_byte_is_cut_before_the_next_record(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    for number in range(3):
        journal.record("s1", "ask", {"n": number, "text": "é"})
    journal.close()
    whole = file_of(tmp_path).read_bytes()
    for size in range(len(whole) + 1):
        file_of(tmp_path).write_bytes(whole[:size])
        survivors = max(whole[:size].count(b"\n") - 1, 0)
        assert new_journal(tmp_path).record("s1", "ask", {"n": 99})
        found = records_of(tmp_path)
        assert [record["n"] for record in found] == [*range(survivors), 99]
        assert [record["seq"] for record in found] == list(range(1, survivors + 2))


def test_a_line_torn_by_another_process_is_cut_by_one_that_has_the_file_open(
    tmp_path: Path,
) -> None:
    journal = new_journal(tmp_path)
    journal.record("s1", "ask", {"n": 1})
    with file_of(tmp_path).open("ab") as file:
        file.write(
            b'{"t": "2026',
        )
    journal.record("s1", "ask", {"n": 2})
    assert numbers(tmp_path) == [1, 2]


def test_a_torn_line_longer_than_any_of_ours_is_cut(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    journal.record("s1", "ask", {"n": 1})
    with file_of(tmp_path).open("ab") as file:
        file.write(b"x" * 1_000_000)
    journal.record("s1", "ask", {"n": 2})
    assert numbers(tmp_path) == [1, 2]


def test_a_full_file_is_rotated_and_the_oldest_goes(tmp_path: Path) -> None:
    journal = new_journal(tmp_path, max_bytes=1000, keep=2)
    journal.record("s1", "session", {"directory": "/p", "n": 0})
    for number in range(1, 60):
        assert journal.record("s1", "ask", {"n": number, "text": "x" * 50})
    names = sorted(path.name for path in (tmp_path / "journal").glob("s1*"))
    assert names == ["s1.jsonl", "s1.jsonl.1", "s1.jsonl.2"]
    assert all((tmp_path / "journal" / name).stat().st_size <= 1000 for name in names)
    found = records_of(tmp_path)
    first = found[0]["n"]
    assert [record["n"] for record in found] == list(range(first, 60))
    assert [record["seq"] for record in found] == list(range(first + 1, 61))
    [listed] = list_journals(tmp_path / "journal")
    assert listed.directory == "/p"
    assert [read_header(part).directory for part in listed.parts] == ["/p"] * 3


def test_a_record_larger_than_a_file_may_be_has_a_file_of_its_own(tmp_path: Path) -> None:
    journal = new_journal(tmp_path, max_bytes=100)
    for number in range(3):
        assert journal.record("s1", "ask", {"n": number, "text": "x" * 500})
    assert numbers(tmp_path) == [0, 1, 2]


def test_a_deleted_file_or_folder_is_made_again(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    journal.record("s1", "ask", {"n": 1})
    file_of(tmp_path).unlink()
    assert journal.record("s1", "ask", {"n": 2})
    assert numbers(tmp_path) == [2]
    shutil.rmtree(tmp_path / "journal")
    # The first record finds out that the folder has gone.
    journal.record("s1", "ask", {"n": 3})
    assert journal.record("s1", "ask", {"n": 4})
    assert numbers(tmp_path)[-1] == 4


WRITER = """
import sys
from tinyhost.journal import Journal
journal = Journal(sys.argv[1], max_bytes=int(sys.argv[3]), keep=1000)
for number in range(150):
    assert journal.record("s1", "call", {"by": sys.argv[2], "n": number, "x": "y" * number})
assert journal.failures == 0
"""


@pytest.mark.parametrize("max_bytes", [10_000_000, 2000])
def test_four_processes_append_to_one_file(max_bytes: int, tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(name), str(max_bytes)])
        for name in range(4)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    found = records_of(tmp_path)
    assert [record["seq"] for record in found] == list(range(1, 601))
    for name in range(4):
        own = [record["n"] for record in found if record["by"] == str(name)]
        assert own == list(range(150))


# --- what goes wrong


def failing(journal: Journal) -> str:
    assert not journal.record("s1", "ask", {})
    return journal.last_error


def test_a_folder_that_cannot_be_made_is_counted_and_reported_once(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("in the way")
    said: list[str] = []
    journal = new_journal(tmp_path, report=said.append)
    assert failing(journal) == "File exists"
    assert failing(journal)
    assert journal.failures == 2
    [text] = said
    assert "session s1" in text
    assert "cannot be written: File exists; calls go on without it" in text


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.touch()
    (tmp_path / "journal").mkdir()
    file_of(tmp_path).symlink_to(target)
    assert failing(new_journal(tmp_path))
    assert target.read_text() == ""
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "journal").symlink_to(tmp_path)
    assert failing(new_journal(linked))


def test_a_pipe_in_place_of_the_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    os.mkfifo(file_of(tmp_path))
    assert "is not a regular file" in failing(new_journal(tmp_path))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"format":"other"}', "is not a tinyhost journal"),
        ("{}", "is not a tinyhost journal"),
        (
            '{"format":"tinyhost-journal","version":2,"session":"s1"}',
            "version 2: it was written by a newer tinyhost; update this one",
        ),
        ('{"format":"tinyhost-journal","version":"1"}', "version '1': not known"),
        ('{"format":"tinyhost-journal","version":1}', "the header is damaged"),
        (
            '{"format":"tinyhost-journal","version":1,"session":"s2","directory":"","started":"",'
            '"after":0}',
            "belongs to session 's2'",
        ),
    ],
)
def test_a_file_that_is_not_the_sessions_journal_is_left_alone(
    line: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "journal").mkdir()
    file_of(tmp_path).write_text(line + "\n")
    assert reason in failing(new_journal(tmp_path))
    assert file_of(tmp_path).read_text() == line + "\n"


def test_a_lock_that_is_never_given_back_costs_its_time_once(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    journal.record("s1", "ask", {"n": 1})
    with (tmp_path / "journal" / ".lock").open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        assert "another process keeps it locked" in failing(journal)
        assert journal._patience == 0
        failing(journal)
    assert journal.record("s1", "ask", {"n": 2})
    assert journal.failures == 2
    assert numbers(tmp_path) == [1, 2]


def test_a_lock_that_came_free_while_this_process_stood_still_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = new_journal(tmp_path)
    journal.record("s1", "ask", {"n": 1})
    with (tmp_path / "journal" / ".lock").open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        looks = 0

        def stand_still() -> float:
            nonlocal looks
            looks += 1
            if looks < 3:
                return 0.0
            fcntl.flock(holder, fcntl.LOCK_UN)
            return 100.0

        monkeypatch.setattr(journal_module.time, "monotonic", stand_still)
        assert journal.record("s1", "ask", {"n": 2}), journal.last_error
        monkeypatch.undo()
    assert numbers(tmp_path) == [1, 2]


FULL_DISK = """
import resource, sys
from tinyhost.journal import Journal
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
said = []
journal = Journal(sys.argv[1], report=said.append)
written = [journal.record("s1", "ask", {"n": n, "x": "y" * 300}) for n in range(10)]
assert written == [True] * sum(written) + [False] * (10 - sum(written)), written
assert journal.failures == 10 - sum(written) and len(said) == 1, said
content = open(sys.argv[1] + "/journal/s1.jsonl", "rb").read()
assert content.endswith(b"\\n") or not content, content
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert journal.record("s1", "ask", {"n": 99})
print(sum(written))
"""


@pytest.mark.parametrize("room", [10, 1000, 1300])
def test_a_full_disk_tears_no_line_and_writing_goes_on_when_there_is_room(
    room: int, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path), str(room)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert numbers(tmp_path) == [*range(int(done.stdout)), 99]
    assert [record["seq"] for record in records_of(tmp_path)] == list(
        range(1, int(done.stdout) + 2)
    )


def test_a_damaged_line_does_not_stop_appending(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    journal.record("s1", "ask", {"n": 1})
    with file_of(tmp_path).open("ab") as file:
        file.write(b"damaged\n")
    assert journal.record("s1", "ask", {"n": 2})
    bad: list[JournalError] = []
    found = list(read_file(file_of(tmp_path), bad.append))
    assert [(record["n"], record["seq"]) for record in found] == [(1, 1), (2, 2)]
    assert [error.line for error in bad] == [3]


def test_what_plugins_are_given_is_masked_however_many_callers_there_are() -> None:
    cleaner = Cleaner(["of-the-host"])
    cleaner.know(["of-a-plugin", ""])
    for number in range(600):
        cleaner.learn([f"of-caller-{number:03}"])
    text = cleaner.text("of-the-host of-a-plugin of-caller-000 of-caller-599")
    assert text == "[redacted] [redacted] of-caller-000 [redacted]"
