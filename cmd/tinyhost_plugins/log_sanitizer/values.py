"""Telling secrets from what else stands beside the name of one: types, words, references."""

from __future__ import annotations

import base64
import binascii
import re

from .names import ANY, SOLID, Kind
from .spans import is_marker

# Types, states and other words of code and messages.
_OTHER_WORDS = """
    string strings str text bytes byte int integer number bool boolean char varchar object array
    any none null nil true false undefined optional required invalid missing incorrect wrong
    expired unset empty set yes no on off ok failed enabled disabled unknown n/a na redacted
    hidden masked prompt stdin env file const let var self this default the a an is are was has
    must for from to and or not value values here changed updated reset protected password
    passwd token secret key auth authentication authorization login user username name type
    basic bearer bcrypt argon2 scrypt sha256 md5 same-origin include omit inherit ask never
    always interactive static dynamic valid accepted files compat systemd sensitive generated
    random vault secretstr secretbytes sha1 sha512 argon2id argon2i pbkdf2 yescrypt
"""
_WORDS = frozenset(_OTHER_WORDS.split())
_PLACEHOLDER = re.compile(
    r"[<\[(].{0,200}[>\])]|[A-Za-z]{1,20}\[\w{0,60}\]|[*•.x_\-?#]{2,200}|X{3,200}|.{0,80}\.\.\.+"
    r"|.{0,60}(?i:your|placeholder|example\b|redacted|change[-_]?this|insert[-_]).{0,200}",
    re.DOTALL,
)
_REFERENCE = re.compile(
    r"\$[({A-Za-z_0-9?@*!-]|\{\{|\{%|%\(|%[A-Za-z_]+%|\$$|%[sdvq]$|@[A-Z_]+@$|!|&[A-Za-z(#]|#\{"
)
# A name of what stands where a template or a sed script puts a secret in: @@PW@@, %%PW%%, __PW__.
_STAND_IN = re.compile(r"@@\w{1,60}?@@|%%\w{1,60}?%%|__[A-Za-z]\w{0,60}?__$")
# The rest of a regular expression, such as s/password=.*/.../ and "password=.+?&".
_WILDCARD = re.compile(r"\.[*+]\??(?:$|[/#|,;:$)@!~&])")
# A hash as crypt(3) writes it; shorter ones than the known are hashes, too, where a name says so.
_CRYPT = re.compile(r"\$[a-z0-9\-]{1,20}\$[\w./+=,$\-]{8,400}")
_ADDRESS = re.compile(r"[A-Za-z][\w+.\-]{1,20}://|(?:~|\.{1,2})/|[A-Za-z]:\\")
_DOTTED = re.compile(r"[A-Za-z_]\w{0,60}(?:(?:\.|::|->|\?\.)[A-Za-z_]\w{0,60})+")
_CALL = re.compile(r"[A-Za-z_][\w.]{0,100}[(\[]")
_WORDS_JOINED = re.compile(r"[a-z]{1,16}(?:[_\-][a-z]{1,16})+")
_PLAIN = re.compile(r"[A-Za-z_]+")
_TYPE = re.compile(r"(?:[A-Z][a-z]+){2,}|[A-Z]+")
_PHRASE = re.compile(r"[a-z]{2,16}(?:-[a-z]{2,16}){2,}")
_DIGIT_OR_SYMBOL = re.compile(r"\d|[^\w.\-:/]")
_MEMBER = re.compile(
    r"(?:self|this|cls|os|sys|process|config|settings|args|options|opts|env|ctx|context|req|request"
    r"|params|props|data|user|cfg|conf|app|state|form|body|event|input)(?:\.|->|\?\.|::)"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Generators of one case leave pieces as long as words, but with numbers between them, or no vowel.
_ONE_CASE = re.compile(r"(?<![A-Za-z0-9])(?:[a-z0-9]{11,256}|[A-Z0-9]{11,256})(?![A-Za-z0-9])")
_NUMBER_WITHIN = re.compile(r"(?<=[A-Za-z])\d+(?=[A-Za-z])")
_NO_VOWEL = re.compile(r"[b-df-hj-np-tv-xz]{6}", re.IGNORECASE)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_HEX = re.compile(r"[0-9a-f]{16,}|[0-9A-F]{16,}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


def quoted(value: str, kind: Kind, name: str) -> bool:
    """Whether a value in quotes, or a string in JSON, is a secret."""
    if _is_crypt(value, kind):
        return True
    if is_other(value, name):
        return False
    if kind.label == "registry-auth":
        return _is_user_and_password(value)
    if kind.level == ANY:
        # PWD is the working directory, too.
        is_folder = name.lower().endswith("pwd") and _is_path(value)
        return value.count(" ") <= 3 and not is_folder
    if " " in value.strip() or _is_address(value):
        return False
    if kind.level == SOLID and len(value) >= 6:
        return not _is_identifier(value)
    return looks_random(value)


def whole(value: str, kind: Kind, name: str) -> bool:
    """Whether all that follows NAME= in a line of its own is a secret."""
    if _is_crypt(value, kind):
        return True
    if is_other(value, name) or (kind.level == ANY and _is_path(value)):
        return False
    if name.lower() == "pass" and value.isdigit():
        return False
    code = value.rstrip(",;)")
    if code != value and (_DOTTED.fullmatch(code) or _PLAIN.fullmatch(code)):
        return False
    # Code has blanks around its =, or names in small letters.
    if _MEMBER.match(value) or (_CALL.match(value) and not name.isupper()):
        return False
    return quoted(value, kind, name)


def alone(value: str, kind: Kind, name: str) -> bool:
    """Whether the one word after `name:` in a line of its own is a secret."""
    if value.endswith((",", ";")):
        return loose(value.rstrip(",;"), kind, name)
    if kind.level == ANY and _may_be_chosen(value, name):
        return not is_other(value, name) and name.lower() != "pass"
    return loose(value, kind, name)


def _may_be_chosen(value: str, name: str) -> bool:
    """Whether somebody may have chosen a word as a password, where it stands as one in YAML.

    Code has types there (`password: HashedPassword`), but not after names in capitals.
    """
    if name.isupper():
        return len(value) >= 4 and not (_is_path(value) or _is_member(value))
    if value.isalpha() and not (_TYPE.fullmatch(value) and _is_identifier(value)):
        return len(value) >= 5
    return _PHRASE.fullmatch(value) is not None


def loose(value: str, kind: Kind, name: str) -> bool:
    """Whether a bare word is a secret that may as well be code, or part of a sentence."""
    if _is_crypt(value, kind):
        return True
    if is_other(value, name) or _is_address(value):
        return False
    if _is_member(value):
        return False
    if kind.label == "registry-auth":
        return _is_user_and_password(value)
    if kind.level == ANY:
        if value.isdigit():
            return len(value) >= 4
        return len(value) >= 4 and _DIGIT_OR_SYMBOL.search(value) is not None
    if kind.level == SOLID and len(value) >= 6 and not _PLAIN.fullmatch(value):
        return not _is_identifier(value)
    return looks_random(value)


def looks_random(value: str) -> bool:
    """Whether a value seems to come from a random generator, not from somebody's head."""
    if len(value) < 8 or " " in value or value.isdigit() or _is_address(value):
        return False
    if _HEX.fullmatch(value):
        return True
    return not _is_identifier(value)


def is_base64(value: str) -> bool:
    """Whether a value is something in base64, as a whole."""
    return len(value) >= 4 and _BASE64.fullmatch(value) is not None


def _is_identifier(value: str) -> bool:
    """Whether a value is made of words, as names of things are: my-app-2, TokenKind.Word."""
    value = value[:256]
    parts = _PARTS.findall(value)
    words = [part for part in parts if part[0].isalpha()]
    numbers = [part for part in parts if part[0].isdigit()]
    letters = sum(map(len, words))
    if not words or _WORDS_JOINED.fullmatch(value):
        return True
    if any(map(_is_scrambled, _ONE_CASE.findall(value))):
        return False
    if any(len(number) > 4 for number in numbers) or len(numbers) > len(words):
        return False
    if not numbers and len(words) == 1 and letters < 20:
        return True
    symbols = sum(not character.isalnum() and character not in "-_./: " for character in value)
    return not symbols and letters / len(words) >= 3.5 and max(map(len, words)) < 20


def _is_member(value: str) -> bool:
    """Whether a value is one of code: settings.db.password."""
    return _DOTTED.fullmatch(value) is not None and _is_identifier(value)


def _is_scrambled(run: str) -> bool:
    return len(_NUMBER_WITHIN.findall(run)) >= 2 or _NO_VOWEL.search(run) is not None


def is_other(value: str, name: str) -> bool:
    """Whether a value is evidently no secret: a type, a placeholder, a reference, a marker."""
    stripped = value.strip(" \t.,;:")
    folded = stripped.lower()
    return (
        not stripped
        or folded in _WORDS
        or folded == name.strip("-_.$@").lower()
        or is_marker(value)
        or _PLACEHOLDER.fullmatch(stripped) is not None
        or refers(value)
    )


def refers(text: str, at: int = 0) -> bool:
    """Whether what stands at a place begins as what stands for a secret does, however long it is."""
    return any(form.match(text, at) for form in (_REFERENCE, _STAND_IN, _WILDCARD))


def _is_crypt(value: str, kind: Kind) -> bool:
    return kind.label == "password-hash" and _CRYPT.fullmatch(value) is not None


def _is_address(value: str) -> bool:
    """Whether a value is a URL or a path; base64 may begin with a slash, too."""
    if _ADDRESS.match(value):
        return True
    return value.startswith("/") and all(map(_is_identifier, value[:400].split("/")))


def _is_path(value: str) -> bool:
    return value.startswith(("/", "~/", "./", "../")) and "=" not in value


def _is_user_and_password(value: str) -> bool:
    if not 12 <= len(value) <= 8192:
        return False
    try:
        return b":" in base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
