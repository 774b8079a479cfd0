"""Secrets that are known by the name of an element or an attribute in XML, and of a cell beside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import values
from .names import kind_of
from .spans import NAMED, Span

_VALUE = (
    r"\s{0,200}(?:<!\[CDATA\[)?(?P<value>[^<>\[\]\s](?:[^<>\r\n\]]{0,4095}[^<>\s\]])?)"
    r"(?:\]\]>)?\s{0,200}</"
)
_ELEMENT = re.compile(rf"<(?P<name>[A-Za-z][\w.\-:]{{0,64}}+)(?: [^<>]{{0,400}})?>{_VALUE}")
# <property name="db.password">x</property>, <entry key="password">x</entry>
_NAMED = re.compile(
    rf"<[A-Za-z][^<>]{{0,200}}?[ ](?:name|key)=[\"'](?P<name>[\w.\-:]{{1,128}}+)[\"'][^<>]{{0,200}}>{_VALUE}"
)
# <name>db.password</name><value>x</value>, and <key>, <string> in property lists.
_BESIDE = re.compile(
    r"<(?P<tag>name|key)>\s{0,40}(?P<name>[\w.\-:]{1,128}+)\s{0,40}</(?P=tag)>\s{0,200}"
    rf"<(?:value|string|integer)>{_VALUE}"
)
_PAIR = re.compile(
    r"(?:key|name)[ \t]?=[ \t]?(?P<quote>[\"'])(?P<name>[\w.\-:]{1,128}+)(?P=quote)[ \t]{1,8}"
    r"value[ \t]?=[ \t]?(?P=quote)(?P<value>[^\"'\r\n]{1,4096}+)(?P=quote)",
    re.IGNORECASE,
)
# A row of two cells, as psql and Markdown write them.
_ROW = re.compile(
    r"^[ \t]{0,20}(?:\|[ \t]{0,40})?[`*]{0,2}(?P<name>[\w.\-]{1,128}+)[`*]{0,2}[ \t]{0,80}\|[ \t]{0,80}"
    r"[`*]{0,2}(?P<value>[^\s|`*]{4,4096}+)[`*]{0,2}[ \t]{0,200}\|?[ \t]{0,200}\r?$",
    re.MULTILINE,
)


def find(text: str, more: frozenset[str]) -> Iterator[Span]:
    """Yield the values of elements, attributes and rows whose names names.kind_of knows."""
    for expression in (_ELEMENT, _NAMED, _BESIDE, _PAIR) if "<" in text else (_PAIR,):
        for found in expression.finditer(text):
            kind = kind_of(found["name"], more)
            if kind is not None and values.quoted(found["value"], kind, found["name"]):
                yield Span(*found.span("value"), kind.label, NAMED)
    if "|" in text:
        for found in _ROW.finditer(text):
            kind = kind_of(found["name"], more)
            if kind is not None and values.loose(found["value"], kind, found["name"]):
                yield Span(*found.span("value"), kind.label, NAMED)
