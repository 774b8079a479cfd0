"""Kubernetes quantities: 500M, 1Gi, 100m, 1e9."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}
_LONGEST = 64
_MOST = Decimal(2**63)
_UNITS = ((2**50, "Pi"), (2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))


def parse(quantity: object) -> Decimal | None:
    """The value of a quantity; None for what is not one, is negative, or is past 2**63."""
    if isinstance(quantity, bool) or not isinstance(quantity, str | int | float):
        return None
    given = str(quantity).strip()
    if not given or len(given) > _LONGEST or not given.isascii():
        return None
    # "E" alone is a suffix, "E9" an exponent; what ends in a digit or a point has no suffix.
    number = given.rstrip("numkKMGTPEi")
    factor = _SUFFIXES.get(given[len(number) :])
    if factor is None or set(number) - set("0123456789.+-eE") or not number:
        return None
    try:
        with localcontext() as context:
            context.prec = 80
            value = Decimal(number) * factor
    except ArithmeticError:
        return None
    return value if 0 <= value < _MOST else None


def in_bytes(quantity: object) -> int | None:
    """A quantity of memory or storage as whole bytes, rounded up."""
    value = parse(quantity)
    return None if value is None else int(value.to_integral_value(ROUND_CEILING))


def size(count: int | None) -> str:
    """Bytes for a person: "512Mi", "1.5Gi"; "-" for None."""
    if count is None:
        return "-"
    for factor, unit in _UNITS:
        if count >= factor:
            return f"{count / factor:.1f}".removesuffix(".0") + unit
    return str(count)
