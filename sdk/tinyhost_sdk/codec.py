"""Strict JSON text to values and back, without importing the json package.

Importing `json` costs about as much as starting the interpreter, nearly all of it for
regular expressions that its C scanner never uses. A plugin answers its first request
sooner when it talks to that scanner directly. Where the scanner is missing (another
interpreter, a changed signature), the json package does the same job.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Encoder = Callable[[object], str]


class NotFinite(ValueError):
    """The text holds NaN, Infinity or a number too large for a float: not JSON values."""


def _refuse_constant(name: str) -> float:
    raise NotFinite(f"{name} is not a JSON value")


def _finite_float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise NotFinite(f"the number {text[:40]} is too large")
    return value


class _Settings:
    """What the C scanner asks of its decoder object."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_int: "Callable[[str], int]" = int
    parse_float: "Callable[[str], float]" = staticmethod(_finite_float)
    parse_constant: "Callable[[str], float]" = staticmethod(_refuse_constant)


def _any_int(text: str) -> int:
    # int() refuses thousands of digits, as the work grows with their square.
    return int(text) if len(text) < 4000 else 0


class _LenientSettings(_Settings):
    parse_int: "Callable[[str], int]" = staticmethod(_any_int)
    parse_float: "Callable[[str], float]" = staticmethod(float)
    parse_constant: "Callable[[str], float]" = staticmethod(float)


def _unencodable(value: object) -> object:
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _accelerated() -> "tuple[Any, Any, Encoder, Encoder]":
    import _json

    make_encoder: Any = _json.make_encoder
    make_scanner: Any = _json.make_scanner

    def encoder(quote: "Callable[[str], str]") -> "Encoder":
        # markers, default, string encoder, indent, key separator, item separator,
        # sort_keys, skipkeys, allow_nan
        def encode(value: object) -> str:
            chunks = make_encoder({}, _unencodable, quote, None, ":", ",", False, False, False)
            return "".join(chunks(value, 0))

        return encode

    ascii_text = encoder(_json.encode_basestring_ascii)
    if ascii_text({"a": [1, "\u00e9", None, True]}) != '{"a":[1,"\\u00e9",null,true]}':
        raise ImportError("the C encoder behaves in an unknown way")
    any_text = encoder(_json.encode_basestring)
    return make_scanner(_Settings), make_scanner(_LenientSettings), ascii_text, any_text


def _plain() -> "tuple[Any, Any, Encoder, Encoder]":
    import json

    def encoder(ensure_ascii: bool) -> "Encoder":
        return json.JSONEncoder(
            ensure_ascii=ensure_ascii, allow_nan=False, separators=(",", ":")
        ).encode

    strict: Any = json.JSONDecoder(parse_float=_finite_float, parse_constant=_refuse_constant)
    lenient: Any = json.JSONDecoder(parse_int=_any_int)
    return strict.scan_once, lenient.scan_once, encoder(True), encoder(False)


try:
    _scan, _scan_lenient, _encode, _encode_readable = _accelerated()
except (ImportError, AttributeError, TypeError):
    _scan, _scan_lenient, _encode, _encode_readable = _plain()

_SPACE = " \t\n\r"


def _decode(text: str, scan: "Any") -> "Any":
    stripped = text.strip(_SPACE)
    try:
        value, end = scan(stripped, 0)
    except StopIteration as stop:
        raise ValueError(f"not JSON: no value at character {stop.value}") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None
    except SystemError:
        # The C scanner takes its exception class from an imported json.decoder, and
        # fails without one. With it, the same call says what is wrong with the text.
        import json.decoder  # noqa: F401

        value, end = scan(stripped, 0)
    if end != len(stripped):
        raise ValueError(f"not JSON: extra text at character {end}")
    return value


def decode(text: str) -> "Any":
    """Turn JSON text into values. Integers of any size stay integers.

    Raises ValueError for text that is not JSON, and NotFinite, a ValueError, for NaN and
    infinities.
    """
    return _decode(text, _scan)


def decode_lenient(text: str) -> "Any":
    """Like decode, but takes any number: only to find out who sent a bad message."""
    return _decode(text, _scan_lenient)


def encode(value: object) -> str:
    """Turn values into one line of compact ASCII JSON text; lone surrogates are escaped.

    Raises ValueError for NaN, infinities and circular values, and TypeError for what JSON
    has no form for.
    """
    return _encoded(value, _encode)


def encode_readable(value: object) -> str:
    """Like encode, but letters outside ASCII stay as they are, for text that is read."""
    return _encoded(value, _encode_readable)


def _encoded(value: object, encoder: "Encoder") -> str:
    try:
        return encoder(value)
    except RecursionError:
        raise ValueError("the value is nested too deeply for JSON") from None
