"""Files in `data:` addresses: decoded and judged, masked as a whole, and in bounded time."""

from __future__ import annotations

import base64
import gzip
import random
import time
import tracemalloc
import zlib
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyhost_plugins.log_sanitizer import data_urls
from tinyhost_plugins.log_sanitizer.sanitize import Rules, sanitize

SECRET = "user=bob\nDB_PASSWORD=hunter2?>~\nmode=fast\n"  # with + and / in its base64
HARMLESS = "user=bob\nmode=fast?>~\n"
MASKED = "[REDACTED:data-url]"


def b64(text: str | bytes) -> str:
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def packed(text: str) -> str:
    return b64(gzip.compress(text.encode(), mtime=0))


def spellings(text: str) -> list[tuple[str, str]]:
    """The head and the body of addresses with a text."""
    plain = "data:text/plain;charset=utf-8;base64,"
    return [
        ("data:,", quote(text)),
        ("data:,", quote(text, safe="")),
        ("data:text/plain;charset=utf-8,", "".join(f"%{byte:02x}" for byte in text.encode())),
        ("data:;base64,", b64(text)),
        ("data:;base64,", b64(text).rstrip("=")),
        (plain, b64(text)),
        (plain, base64.urlsafe_b64encode(text.encode()).decode()),
        (plain, quote(b64(text), safe="")),
        ("data:text/plain; charset=utf-8; BASE64,", b64(text)),
        ("data:;base64,", packed(text)),
        (
            "data:application/vnd.x+json;name=a%20b.json;base64,",
            b64(f'{{"a": "{text[:9]}"}}' + text),
        ),
    ]


PLACES = [
    "{}",
    "source: {}\n",
    "x '{}' y",
    'x "{}" y',
    "url({})",
    "<img src='{}'>",
    "`{}`",
    "[{}]",
    "{{source: {}}}",
]


@pytest.mark.parametrize("place", PLACES)
def test_what_holds_a_secret_is_masked_whole_and_the_rest_is_left(place: str) -> None:
    for head, body in spellings(SECRET):
        assert sanitize(place.format(head + body)).text == place.format(head + MASKED), head
    for head, body in spellings(HARMLESS):
        text = place.format(head + body)
        assert sanitize(text) == (text, {})


def test_one_file_counts_once_and_an_allowed_class_not_at_all() -> None:
    text = "data:;base64," + b64(SECRET * 3)
    assert dict(sanitize(text).counts) == {"data-url": 1}
    for label in ("data-url", "password"):
        assert sanitize(text, Rules(allow=frozenset((label,)))) == (text, {})
    rules = Rules(names=frozenset(("geheim",)))
    assert sanitize("data:;base64," + b64("geheim=abc\n"), rules).counts.total() == 1


def test_each_of_several_addresses_is_judged_by_itself() -> None:
    bodies = [quote(SECRET), quote(HARMLESS), quote(SECRET)]
    for before, between, after in (("'", "','", "'"), ("(", "),(", ")"), ("", " ", "")):
        text = before + between.join(f"data:,{body}" for body in bodies) + after
        masked = sanitize(text).text
        assert masked == text.replace(quote(SECRET), MASKED)


@pytest.mark.parametrize("body", [b64(SECRET), packed(SECRET * 20), quote(SECRET)])
def test_what_was_cut_off_at_its_end_is_judged_as_far_as_it_goes(body: str) -> None:
    head = "data:," if "%" in body else "data:;base64,"
    for missing in range(1, 12):
        assert sanitize(head + body[:-missing]).text == head + MASKED


def test_a_file_in_a_file_is_found() -> None:
    inner = "data:;base64," + packed(SECRET)
    for _ in range(3):
        inner = "data:," + quote(f'{{"source": "{inner}"}}')
        assert sanitize(f"source: {inner}").text == f"source: data:,{MASKED}"


def test_json_and_the_rest_of_a_manifest_stay_as_they_are() -> None:
    file = '{"path":"/etc/x","contents":{"source":"data:,%s"},"mode":384}'
    assert sanitize(file % quote(SECRET)).text == file % MASKED
    escaped = '{"text":"%s"}'
    text = escaped % (file % quote(SECRET)).replace('"', '\\"')
    assert sanitize(text).text == escaped % (file % MASKED).replace('"', '\\"')


def test_images_and_other_binary_files_are_left_alone() -> None:
    dice = random.Random(7)
    for size in (10, 1000, 60_000):
        text = f"src='data:image/png;base64,{b64(dice.randbytes(size))}'"
        assert sanitize(text).text == text
    damaged = b64(b"\x1f\x8b" + dice.randbytes(100))
    assert sanitize(f"data:;base64,{damaged}").text == f"data:;base64,{damaged}"


def test_what_unpacks_to_more_than_is_allowed_is_masked_unread() -> None:
    bomb = "data:;base64," + b64(gzip.compress(b"a" * 50_000_000, mtime=0))
    sanitize("password=hunter2")
    tracemalloc.start()
    try:
        assert sanitize(bomb).text == "data:;base64," + MASKED
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


def test_many_files_share_what_is_allowed_for_the_text() -> None:
    file = "data:;base64," + b64(gzip.compress(b"mode=fast\n" * 2000, 9, mtime=0))
    text = "\n".join([file] * 400)
    kept = sanitize(text).text.count(file)
    assert 3 <= kept < 400
    # The allowance grows with the text, so one of many bytes may have as much.
    assert sanitize(file).text == file

    def seconds(copies: int) -> float:
        begun = time.process_time()
        sanitize("\n".join([file] * copies))
        return time.process_time() - begun

    small = min(seconds(25) for _ in range(3))
    assert min(seconds(400) for _ in range(3)) < 60 * small + 0.1


def test_an_allowance_that_is_used_up_lets_nothing_through() -> None:
    allowance = data_urls.Allowance("")
    allowance.left = 0
    text = "data:;base64," + b64(HARMLESS) + " data:, data:," + quote(HARMLESS)
    spans = list(data_urls.find(text, lambda content: False, allowance))
    assert [text[span.start : span.end] for span in spans] == [b64(HARMLESS), quote(HARMLESS)]


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["gzip", "zlib", ""]), st.integers(0, 40))
def test_whatever_is_in_an_address_is_taken(data: bytes, how: str, cut: int) -> None:
    data = gzip.compress(data) if how == "gzip" else zlib.compress(data) if how == "zlib" else data
    for text in (
        "data:;base64," + b64(data),
        "data:," + quote(data),
        "data:;base64," + quote(data),
    ):
        once = sanitize(text[: len(text) - cut]).text
        assert sanitize(once).text == once
