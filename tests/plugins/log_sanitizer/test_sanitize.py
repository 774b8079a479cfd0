"""What holds for any text: JSON stays JSON, the rest stays as it is, time stays in proportion."""

from __future__ import annotations

import json
import random
import re
import string
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyhost_plugins.log_sanitizer import vendors
from tinyhost_plugins.log_sanitizer.samples import build, load
from tinyhost_plugins.log_sanitizer.sanitize import Rules, lines_with_secrets, sanitize

MARKER = re.compile(r"\[REDACTED:([a-z0-9-]+)\]")
TEXTS = [sample.text for sample in load()]
KEYS = st.sampled_from(
    ["password", "token", "api_key", "name", "value", "kind", "data", "auth", "cookie", "a", "é"]
)
LEAVES = st.one_of(
    st.sampled_from([*TEXTS, "Secret", "DB_PASSWORD", "hunter2"]),
    st.text(max_size=30),
    st.integers(),
    st.floats(allow_nan=False),
    st.none() | st.booleans(),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
PIECES = st.lists(
    st.sampled_from(
        [*TEXTS, "\n", " ", '"', "\\", "{", "}", "password=", "token: ", "://u:", "@", "-----"]
    )
    | st.text(max_size=8),
    max_size=6,
).map("".join)


def same_shape(before: Any, after: Any) -> bool:
    """Whether values differ only where a text, or the number of a password, was masked."""
    if isinstance(before, dict) and isinstance(after, dict):
        return len(before) == len(after) and all(map(same_shape, before.values(), after.values()))
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(same_shape, before, after))
    if isinstance(after, str) and MARKER.search(after):
        return not isinstance(before, dict | list | bool) and before is not None
    return before == after or (isinstance(before, str) and isinstance(after, str))


# The first key of a vendor loads a library, which takes its time.
@settings(deadline=None)
@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_json_stays_valid_and_keeps_its_shape(value: Any, indent: int | None, ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    assert same_shape(json.loads(text), json.loads(sanitize(text).text))


@settings(deadline=None)
@given(st.lists(VALUES, max_size=4))
def test_lines_of_json_each_stay_valid(values: list[Any]) -> None:
    text = "\n".join(json.dumps({"at": index, "v": value}) for index, value in enumerate(values))
    for line in sanitize(text).text.splitlines() if text else []:
        json.loads(line)


@settings(deadline=None)
@given(PIECES)
def test_what_is_not_masked_stands_as_it_did(text: str) -> None:
    masked, counts = sanitize(text)
    assert len(MARKER.findall(masked)) - len(MARKER.findall(text)) <= counts.total()
    if not counts:
        assert masked == text
    # Without JSON in it, everything between two markers comes from the text, in order.
    if not re.search(r"^\s*[\[{]", text, re.MULTILINE):
        at = 0
        for piece in MARKER.sub("\0", masked).split("\0"):
            at = text.index(piece, at) + len(piece)


@settings(deadline=None)
@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    sanitize(text)
    sanitize(f'{{"password": "{text}"}}')


def test_json_keeps_its_blanks_its_numbers_and_its_order() -> None:
    text = '{ "b":1.0e10,\n\t"password" : "x\\u0041\\"y" , "a":123456789012345678901234567890 }'
    expected = text.replace('x\\u0041\\"y', "[REDACTED:password]")
    assert sanitize(text).text == expected


def test_a_number_as_password_becomes_a_text() -> None:
    assert sanitize('{"password": 12345678}').text == '{"password": "[REDACTED:password]"}'
    assert sanitize('{"max_tokens": 12345678}').text == '{"max_tokens": 12345678}'


def test_json_in_a_string_of_json_is_read_and_written_back() -> None:
    inner = json.dumps({"user": "é", "password": 'a"b'})
    for depth in range(3):
        masked = sanitize(json.dumps({"body": inner, "depth": depth}, ensure_ascii=False)).text
        value = json.loads(masked)["body"]
        for _ in range(depth):
            value = json.loads(value)["body"]
        assert json.loads(value) == {"user": "é", "password": "[REDACTED:password]"}
        inner = json.dumps({"body": inner})


def test_a_lone_surrogate_stays_escaped() -> None:
    text = '{"note": "é \\ud800 password=hunter2"}'
    masked = sanitize(text).text
    assert masked.encode("utf-8").decode() == masked
    assert json.loads(masked)["note"].startswith("é \ud800 password=[")


def test_very_deep_json_is_masked_as_text() -> None:
    text = "[" * 5000 + '{"password":"hunter2"}' + "]" * 5000
    assert '"password":"[REDACTED:password]"' in sanitize(text).text


def test_only_the_secret_of_a_list_of_manifests_is_masked() -> None:
    def manifest(kind: str) -> dict[str, Any]:
        return {"kind": kind, "data": {"user": "Ym9i"}}

    for kinds in (["Secret", "ConfigMap"], ["ConfigMap", "Secret"]):
        text = json.dumps({"kind": "List", "items": list(map(manifest, kinds))})
        data = {
            item["kind"]: item["data"]["user"] for item in json.loads(sanitize(text).text)["items"]
        }
        assert data == {"Secret": "[REDACTED:secret-data]", "ConfigMap": "Ym9i"}


def test_a_list_of_secrets_as_the_api_gives_it_is_masked() -> None:
    text = '{"kind":"SecretList","items":[{"metadata":{"name":"x"},"data":{"a":"Yg=="}}]}'
    assert sanitize(text).text == text.replace("Yg==", "[REDACTED:secret-data]")


def test_the_surer_of_two_classes_names_the_marker() -> None:
    (sample,) = build(["token=«github-token|ghp_~an36~»"])
    masked, counts = sanitize(sample.text)
    assert (masked, dict(counts)) == ("token=[REDACTED:github-token]", {"github-token": 1})


def test_an_allowed_class_is_left_alone_and_others_are_not() -> None:
    (sample,) = build(["eyJ~an20~.eyJ~an40~.~url43~ password=hunter2"])
    jwt = sample.text.split()[0]
    rules = Rules(allow=frozenset(("jwt",)))
    assert sanitize(sample.text, rules).text == f"{jwt} password=[REDACTED:password]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password: 'it''s me'", "password: '[REDACTED:password]'"),
        ("SET PASSWORD = 'a''b'; x = 'c'", "SET PASSWORD = '[REDACTED:password]'; x = 'c'"),
        ('password="a""b1"', 'password="[REDACTED:password]"'),
        ("password='' + 'x'", "password='' + 'x'"),
        ('password = """', 'password = """'),
        ("curl -ubob:hunter2 https://x", "curl -ubob:[REDACTED:password] https://x"),
        ("curl -u 1234:5678 https://x", "curl -u 1234:[REDACTED:password] https://x"),
        ("a\n  -u bob:hunter2 \\\n", "a\n  -u bob:[REDACTED:password] \\\n"),
    ],
)
def test_a_password_is_masked_to_its_end_and_no_further(text: str, expected: str) -> None:
    assert sanitize(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "docker run -u 1000:1000 alpine",
        "podman run --user 1001:0 x",
        "docker exec -u www-data:nogroup c ls",
        "docker run \\\n  --user node:node \\\n  x",
        "docker compose run --rm -u postgres:postgres db psql",
        "tool -url:https://example.com/x1 -user:bob",
    ],
)
def test_a_user_and_a_group_are_no_login(text: str) -> None:
    assert sanitize(text).text == text


@pytest.mark.parametrize(
    "alphabet",
    [
        string.ascii_letters + string.digits,
        string.ascii_lowercase + string.digits,
        string.ascii_uppercase + string.digits,
        string.ascii_uppercase + "234567",
        "0123456789abcdef",
    ],
)
def test_nearly_all_random_tokens_are_masked_whatever_letters_they_are_made_of(
    alphabet: str,
) -> None:
    random_ = random.Random(7)
    tokens = ["".join(random_.choices(alphabet, k=24)) for _ in range(300)]
    masked = sum(token not in sanitize(f"token={token}").text for token in tokens)
    assert masked >= 285


def test_each_variable_of_an_environment_with_zero_bytes_is_judged_by_itself() -> None:
    text = "PATH=/bin\0DB_PASSWORD=hunter2\0HOME=/root\0MYSQL_PWD=letmein\0LANG=C\0"
    masked = text.replace("hunter2", "[REDACTED:password]").replace(
        "letmein", "[REDACTED:password]"
    )
    assert sanitize(text).text == masked
    document = json.dumps({"environ": text})
    assert json.loads(sanitize(document).text) == {"environ": masked}


def test_what_follows_a_key_in_a_path_stays() -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    text = f"Credential={key}/20260102/us-east-1/s3/aws4_request"
    assert sanitize(text).text == text.replace(key, "[REDACTED:aws-key-id]")


def test_old_hashes_of_passwords_are_masked() -> None:
    (sample,) = build(["bob:«password-hash|$apr1$~an8~$~an22~»"])
    assert sanitize(sample.text).text == "bob:[REDACTED:password-hash]"
    (sample,) = build(["root:«password-hash|$1$~an4~$~an22~»:19000:0"])
    assert sanitize(sample.text).text == "root:[REDACTED:password-hash]:19000:0"
    assert sanitize("s/x/$1$2$3$4$5/").text == "s/x/$1$2$3$4$5/"


def test_further_names_hold_secrets_too() -> None:
    rules = Rules(names=frozenset(("geheim",)))
    assert sanitize("GEHEIM=abc\n").text == "GEHEIM=abc\n"
    assert sanitize("GEHEIM=abc\n", rules).text == "GEHEIM=[REDACTED:password]\n"
    assert sanitize('{"geheim": "abc"}', rules).text == '{"geheim": "[REDACTED:password]"}'


def test_both_ends_of_a_key_that_was_cut_out_of_are_masked() -> None:
    (sample,) = build(["~rsa0~"])
    lines = sample.text.split("\n")
    text = "\n".join(["a", *lines[:3], "[900 characters are left out]", "b c", *lines[3:], "d"])
    assert sanitize(text).text == (
        "a\n[REDACTED:private-key]\n[900 characters are left out]\nb c\n[REDACTED:private-key]\nd"
    )


def test_the_library_with_the_rules_of_vendors_has_them_all() -> None:
    for vendor in vendors._VENDORS:
        assert vendors._rules(vendor.module, vendor.detector)


def test_the_lines_on_which_secrets_begin_are_told() -> None:
    (key,) = build(["~rsa0~"])
    text = (
        f'a\npassword=hunter2 curl -u a:hunter2 x\n\n{key.text}\nb\n{{"x": "token\\npw=hunter2"}}\n'
    )
    last = text.count("\n") - 1
    expected = {1: {"password"}, 3: {"private-key"}, last: {"password"}}
    assert lines_with_secrets(text) == expected
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(text.split("\n"), 1))
    assert list(lines_with_secrets(numbered)) == [1, 3, last]
    assert lines_with_secrets("a\nb") == {}


DASHES = "-" * 5
HOSTILE = (
    *("otpauth://totp/x?", 'password = "a" -> "', "discord.com/api/webhooks/123456789012345678/"),
    *("a", " ", "=", '"', "\\", "{", "[", '{"a":', "[1]\n", '{"x":1}\n', "sk-", "AKIA", "eyJa."),
    *("password=", 'password="', 'password=\\"', "password: ", "password: |\n ", "'password',"),
    *("glagent-", "://a:", "a://b:c/", f"{DASHES}BEGIN PRIVATE KEY{DASHES}\n", "Authorization: "),
    *(
        f"AAAA\n{DASHES}END PRIVATE KEY{DASHES}\n",
        "Bearer ",
        "Cookie: a=",
        "kind: Secret\n",
        "mysql -p",
    ),
    *("docker login ", "--token ", "<password>", "$6$", "password is ", '{"password":"', "A_"),
    *("1\ta\n2\tb\n", "a-1-", "\x1b]", "@@ -1 +1 @@\n+", "  kind: Secret\n kind: Secret\n"),
    *("apiVersion: v1\ndata:\n a: Zm9v\n", '"apiVersion":"v1","data":{"a":"Zm9v",'),
    *('},"kind":"Secret"', "    a: Zm9v\n  kind: Secret\n", "<key>password</key>", "password | "),
    *("<password>\n", "curl -b ", "-u a:", "htpasswd -b a ", "Authorization: Digest a="),
    *("password:\n  ", "password for bob", "Private-Lines: 1\nAAAA\n", "tskey-a", "[1,"),
    *('{"body":"{\\"password\\":\\"hunter2\\"}"}\n', '{"x":1}\npassword=hunter2\n', "SG.", "&"),
    *(
        "data:,",
        "data:,%41 ",
        "data:a/a;a=a;a=a",
        "data:;base64,QUFB ",
        "data:;base64,",
        "'data:,a",
    ),
    *(
        "-storepass ",
        "-storepass 'a",
        "-passin pass:",
        "-passin 'pass:x y",
        "--a-pass-",
        "$5$a$",
        "$9$",
    ),
    *("pbkdf2_sha256$1$", "{SSHA}", "@@A", "__a", "password=.*/", "password=$a/", "/password=a/"),
    '{"a":"{\\"b\\":\\"data:,a%3D1\\"}"}\n',
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        begun = time.process_time()
        sanitize(text)
        return time.process_time() - begun

    sanitize("password=hunter2 " + "x" * 100)
    small = min(seconds(8_000) for _ in range(3))
    # Sixteen times the length: in proportion is 16, with the square it would be 256.
    assert min(seconds(128_000) for _ in range(3)) < 60 * small + 0.1
