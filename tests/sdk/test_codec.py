"""JSON text without the json package, checked against it."""

import json
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_sdk import codec

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_every_value_comes_back_the_same(value):
    assert repr(codec.decode(codec.encode(value))) == repr(value)
    assert repr(codec.decode(codec.encode_readable(value))) == repr(value)


@given(VALUES)
def test_the_text_is_what_the_json_package_writes(value):
    assert codec.encode(value) == json.dumps(value, separators=(",", ":"))
    assert codec.encode_readable(value) == json.dumps(
        value, separators=(",", ":"), ensure_ascii=False
    )


@given(st.text(alphabet='{}[]",:01eE.+-truefalsn \\u\n', max_size=30))
def test_the_same_texts_are_refused_as_by_the_json_package(text):
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - of many texts
            codec.decode(text)
        return
    if math.inf in _numbers(expected) or -math.inf in _numbers(expected):
        with pytest.raises(codec.NotFinite):
            codec.decode(text)
    else:
        assert repr(codec.decode(text)) == repr(expected)


def _numbers(value):
    if isinstance(value, dict):
        return [number for item in value.values() for number in _numbers(item)]
    if isinstance(value, list):
        return [number for item in value for number in _numbers(item)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "[1e999]", '{"a":-1e400}'])
def test_numbers_that_are_not_finite_are_refused(text):
    with pytest.raises(codec.NotFinite):
        codec.decode(text)
    codec.decode_lenient(text)


@pytest.mark.parametrize("value", [math.nan, math.inf, {"a": [-math.inf]}, {math.nan: 1}])
def test_numbers_that_are_not_finite_are_not_written(value):
    with pytest.raises(ValueError, match="JSON"):
        codec.encode(value)


def test_an_integer_of_any_size_that_python_takes_is_kept():
    for text in (str(2**64), str(-(2**200)), "9" * 4000):
        assert codec.encode(codec.decode(text)) == text


def test_an_integer_of_too_many_digits_is_refused_but_its_message_can_still_be_attributed():
    text = '{"id":7,"result":' + "9" * 5000 + "}"
    with pytest.raises(ValueError, match="digits"):
        codec.decode(text)
    assert codec.decode_lenient(text)["id"] == 7


def test_what_json_has_no_form_for_is_refused_by_name():
    with pytest.raises(TypeError, match="a set cannot be written as JSON"):
        codec.encode({"a": {1}})


def test_a_circular_or_bottomless_value_is_refused():
    circle = []
    circle.append(circle)
    with pytest.raises(ValueError, match=r"[Cc]ircular"):
        codec.encode(circle)
    deep = []
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(ValueError, match="too deeply"):
        codec.encode(deep)
    while deep:  # taken apart by hand: not every interpreter frees such a value
        deep = deep[0]


def test_bottomless_text_is_refused():
    with pytest.raises(ValueError, match="too deeply"):
        codec.decode("[" * 200_000)


def test_lone_surrogates_survive_as_escapes():
    assert codec.decode('"\\ud800x"') == "\ud800x"
    assert codec.encode("\ud800x") == '"\\ud800x"'


@pytest.mark.parametrize("text", ["", " ", "{} {}", "[1,]", "'a'", '"\n"', "nul"])
def test_text_that_is_not_json_is_refused_also_before_json_was_imported(text):
    script = (
        "import sys; from tinyhost_sdk import codec\n"
        "assert 'json' not in sys.modules\n"
        "try: codec.decode(sys.argv[1])\n"
        "except ValueError as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", script, text], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_without_the_c_scanner_the_json_package_does_the_same_job():
    script = (
        "import sys; sys.modules['_json'] = None\n"
        "from tinyhost_sdk import codec\n"
        "assert codec.decode('[1, 2.5, \"\\\\ud800\"]') == [1, 2.5, '\\ud800']\n"
        "assert codec.encode({'é': 1}) == '{\"\\\\u00e9\":1}'\n"
        "assert codec.encode_readable({'é': 1}) == '{\"é\":1}'\n"
        "assert codec.decode_lenient('[' + '9' * 5000 + ', NaN]')[0] == 0\n"
        "for text in ('NaN', '1e999', '', '{}x'):\n"
        "    try: codec.decode(text)\n"
        "    except ValueError: continue\n"
        "    raise SystemExit(text)\n"
    )
    result = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", script], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
