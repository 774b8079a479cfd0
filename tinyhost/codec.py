"""JSON for the host: msgspec for speed, the SDK's codec for what msgspec refuses.

msgspec keeps integers of any size, but it turns NaN into null on the way out, refuses
lone surrogates both ways, and rounds the spelling of numbers. The functions here keep
every value that JSON text can hold: a float whose spelling Python would change travels as
a `SpelledFloat`, and text that msgspec cannot read or write goes through the slower codec.
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from tinyhost_sdk import codec


class SpelledFloat(float):
    """A float that remembers how it was written, so that it is passed on unchanged."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> SpelledFloat:
        self = super().__new__(cls, text)
        self.text = text
        return self


class RawJson(str):
    """JSON text on one line, to be sent exactly as it is written."""

    __slots__ = ()

    def __new__(cls, text: str) -> RawJson:
        """Check and take the text. Raises ValueError when it is not JSON."""
        loads(text.encode("utf-8", "surrogatepass"))
        # Outside strings a line break is white space, and inside them JSON allows none.
        return super().__new__(cls, text.replace("\r", " ").replace("\n", " "))


def _float(text: str) -> float:
    value = float(text)
    return value if repr(value) == text else SpelledFloat(text)


def _unknown(value: object) -> object:
    if isinstance(value, SpelledFloat):
        return msgspec.Raw(value.text.encode())
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _refuse_constant(name: str) -> float:
    raise codec.NotFinite(f"{name} is not a JSON value")


_decoder = msgspec.json.Decoder(float_hook=_float)
_encoder = msgspec.json.Encoder(enc_hook=_unknown)
_slow_decoder = json.JSONDecoder(parse_float=_float, parse_constant=_refuse_constant)


def loads(line: bytes) -> Any:
    """Decode JSON text. Raises ValueError. Bytes that are not UTF-8 become U+FFFD."""
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return _slow_decoder.decode(line.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None


def dumps(value: object) -> str:
    """Encode as one line of JSON text.

    Raises ValueError for NaN and infinities, and TypeError for what JSON has no form for.
    """
    if isinstance(value, RawJson):
        return str(value)
    try:
        text = _encoder.encode(value)
    except (UnicodeEncodeError, RecursionError):
        return codec.encode(value)
    # msgspec writes NaN as null, so text without a null cannot come from a NaN.
    if b"null" in text:
        _refuse_nan(value)
    return text.decode()


def _refuse_nan(value: object) -> None:
    if isinstance(value, dict):
        for item in value.values():
            _refuse_nan(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_nan(item)
    elif type(value) is float and not math.isfinite(value):
        raise ValueError("NaN and infinities cannot be written as JSON")
