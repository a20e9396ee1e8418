"""Recomputes what a device promises from `device.json` alone, in exact arithmetic, with Python's standard library.

    python audit.py device.json        ends with 0 where the promise holds, with 1 where it does not or the file is damaged

The promise: whatever one report is, it is at most e^epsilon times as likely from one person as from any other. All chances in the file
are whole numbers of 2^-53, and all else is drawn evenly, so the largest ratio of two likelihoods of one report is a fraction, found here
for every kind of sampler by a formula of its own (see the functions below; what the kinds do stands in client.py). It is compared with a
fraction that is never above e^epsilon: the first terms of 1 + x + x^2/2 + ..., x being the decimal number in the file.

Altered values of people (bins, categories) are found by their id, where the file has one.

What is not checked: that the device that people use is the one in this file, and that their random bytes are random.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

FORMAT = "ldp-device/1"
ONE = 2**53
UNBOUNDED = math.inf
MOST_EPSILON = 100
NUMBER = re.compile(r"(?=.{1,60}$)\+?[\d.]+([eE][+-]?0*\d{1,3})?(/\d+)?", re.ASCII)
"""Numbers that are worked out in no time: 1.25, 5e-1, and 1/3 for people who report several times."""
Ratio = Fraction | float
"""A fraction, or `UNBOUNDED` where a report is possible for one person and impossible for another."""


class Audited(NamedTuple):
    """What an audit found."""

    holds: bool
    """Whether ``largest`` is at most ``limit``, and so at most e^epsilon."""
    largest: Ratio
    """The largest ratio of the likelihoods of one report under two values."""
    limit: Fraction
    """At most e^epsilon, by less than 2^-80 of it."""
    where: str
    """A report and two values that reach it, in words."""


def audit(description: Mapping[str, Any]) -> Audited:
    """The largest ratio of likelihoods, and whether it keeps the promise. ValueError, one sentence, for a damaged description."""
    try:
        if description["format"] != FORMAT:
            raise ValueError(f"The format is not {FORMAT}.")
        if not isinstance(description["epsilon"], str):
            raise ValueError("Epsilon must be a decimal number in quotation marks.")
        if description["design"] != design_id(description):
            raise ValueError(
                "The design id is not that of the sampler and epsilon: one of them was altered after the device was exported."
            )
        if "domain_id" in description and description["domain_id"] != domain_id(description["domain"]):
            raise ValueError(
                "The id of the domain is not that of its values: they were altered after the device was exported."
            )
        sampler = description["sampler"]
        limit = least_exponential(description["epsilon"])
        largest, where = _largest(sampler, [_whole(size, "A size", 1) for size in sampler["sizes"]])
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"This is no whole description of a device ({error!r}).") from None
    return Audited(largest <= limit, largest, limit, where)


def design_id(description: Mapping[str, Any]) -> str:
    """16 hexadecimal digits: the beginning of the SHA-256 of all that decides about reports."""
    decisive = {key: description[key] for key in ("epsilon", "format", "sampler")}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]


def domain_id(domain: object) -> str:
    """16 hexadecimal digits that tell apart all that decides which value a person's words stand for."""
    return hashlib.sha256(_canonical(domain).encode()).hexdigest()[:16]


def _canonical(told: object) -> str:
    """JSON that comes out the same in every language: ASCII, pairs in order, each number as the 64 bits of its double."""
    if isinstance(told, Mapping):
        return "{" + ",".join(sorted(f"{json.dumps(key)}:{_canonical(one)}" for key, one in told.items())) + "}"
    if isinstance(told, list | tuple):
        return "[" + ",".join(map(_canonical, told)) + "]"
    if isinstance(told, int | float) and not isinstance(told, bool):
        return struct.pack(">d", told).hex()
    return json.dumps(told)


def least_exponential(epsilon: str) -> Fraction:
    """A fraction below e^epsilon, by less than 2^-80 of it: all terms of the series are positive, and what is left out is less than
    the last term taken, as soon as terms more than halve."""
    try:
        x = Fraction(epsilon if NUMBER.fullmatch(epsilon) else "none")
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"Epsilon {epsilon[:60]!r} is not a number.") from None
    if not 0 < x <= MOST_EPSILON:
        raise ValueError(f"Epsilon must be above 0 and at most {MOST_EPSILON}; it is {epsilon}.")
    total, term, k = Fraction(1), Fraction(1), 0
    while k < 2 * x or term * 2**80 > total:
        k += 1
        term = term * x / k
        total += term
    return total


# --- the largest ratio of each kind of sampler -------------------------------------------------------------------------


def _largest(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """For values with so many possibilities in each of their numbers."""
    if told["kind"] not in KINDS:
        raise ValueError(f"A sampler has the unknown kind {told['kind']!r}.")
    if told["kind"] in ("one_of", "each"):
        return KINDS[told["kind"]](told, sizes)
    n = len(told["columns"]) if told["kind"] == "table" else None
    n = math.prod(told["sizes"]) if told["kind"] == "pattern" else n or _whole(told["n"], "The number of types", 2)
    if len(sizes) != 1 or sizes[0] > n:
        raise ValueError(f"A sampler for {n} values is given values of sizes {list(sizes)}.")
    return KINDS[told["kind"]](told, sizes)


def _whole(number: object, what: str, least: int, most: int | None = None) -> int:
    if (
        isinstance(number, bool)
        or not isinstance(number, int)
        or number < least
        or (most is not None and number > most)
    ):
        rest = f" and at most {most}" if most is not None else ""
        raise ValueError(f"{what} must be a whole number of at least {least}{rest}; the file has {number!r}.")
    return number


def _chance(number: object) -> int:
    return _whole(number, "A chance", 0, ONE)


def _over(high: int, low: int) -> Ratio:
    """The larger of two likelihoods, given by numbers in proportion to them, over the smaller."""
    high, low = max(high, low), min(high, low)
    return Fraction(high, low) if low else UNBOUNDED


def _table(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """The largest entry of a row over the smallest, the chances of one report for all types. Columns must sum to 2^53."""
    columns = told["columns"]
    for u, column in enumerate(columns):
        if len(column) != len(columns[0]):
            raise ValueError(f"The column of type {u} has {len(column)} chances, that of type 0 has {len(columns[0])}.")
        if (total := sum(map(_chance, column))) != ONE:
            raise ValueError(f"The chances of type {u} do not sum to 2^53 but to {abs(total - ONE)} {_side(total)}.")
    found: tuple[Ratio, str] = Fraction(1), "all reports are equally likely for all types"
    for y, row in enumerate(zip(*columns, strict=True)):
        high, low = max(row), min(row)
        if high and (ratio := _over(high, low)) > found[0]:
            found = ratio, f"report {y}, for types {row.index(high)} and {row.index(low)}"
    return found


def _side(total: int) -> str:
    return "more" if total > ONE else "less"


def _response(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """A report is the type u with chance t + (1 - t)/n for people of type u and (1 - t)/n for others."""
    n, truth = told["n"], _chance(told["truth"])
    return _over(n * truth + ONE - truth, ONE - truth), "any report, for its own type and another"


def _two_cells(inside: int, size: int, n: int) -> Ratio:
    """Of n equally likely places, ``size`` are inside. The report names one with the chance inside/size, or (1 - inside)/(n - size)."""
    if not 0 < size < n:
        raise ValueError(f"A sampler needs places inside and outside; it has {size} of {n} inside.")
    return _over(inside * (n - size), (ONE - inside) * size)


def _subset(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """Of the C(n, k) sets, C(n - 1, k - 1) hold the person's type and C(n - 1, k) do not; they share the chance "inside", and the rest.
    The ratio of these two numbers is k to n - k."""
    ratio = _two_cells(_chance(told["inside"]), _whole(told["size"], "The size of sets", 1), told["n"])
    return ratio, "any set, for a type in it and one that is not"


def _bits(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """The bits are independent, and two types differ in the chances of two of them: with p and q those of a 1 in the own bit and in
    others, the ratio of a report is largest where both speak for one type, p (1 - q) / (q (1 - p))."""
    own, other = _chance(told["own"]), _chance(told["other"])
    return _over(own * (ONE - other), other * (ONE - own)), "any report with a 1 for one type and a 0 for another"


def _hash(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """The hash function is drawn whatever the type is. Given it, the own bucket has the chance "keep", all others share the rest."""
    buckets = _whole(told["buckets"], "The number of buckets", 2)
    if told["n"] > 2 ** _whole(told["digits"], "The number of binary digits", 1, 64):
        raise ValueError(f"{told['n']} types do not have numbers of {told['digits']} binary digits.")
    return _two_cells(_chance(told["keep"]), 1, buckets), "any report, for types in its bucket and in another"


def _sign(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """The coefficient is drawn whatever the type is. Given it, its sign is sent with the chance 1 - flip, else the opposite one."""
    _whole(told["first"], "The first coefficient", 0)
    _whole(told["count"], "The number of coefficients", 1)
    flip = _chance(told["flip"])
    return _over(ONE - flip, flip), "any sign, for types that have it and types that have the other"


def _cells(told: Mapping[str, Any], n: int) -> Ratio:
    cells = told["cells"]
    if not isinstance(cells, str) or len(cells) != n or cells.strip("01"):
        raise ValueError(f"The cells of a sampler must be a text of {n} digits 0 and 1.")
    return _two_cells(_chance(told["inside"]), cells.count("1"), n)


def _moved(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """A report is the type moved by the place drawn: each comes from one place, inside with the chance inside/k, or outside."""
    if told["n"] & (told["n"] - 1):
        raise ValueError(f"Types are moved by their binary digits, so {told['n']} of them must be a power of two.")
    return _cells(told, told["n"]), "any report, for types that it holds and types that it does not"


def _rotated(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """A report says how far the type is before the place drawn, so that each comes from one place, as for "moved"."""
    return _cells(told, told["n"]), "any report, for types that it holds and types that it does not"


def _pattern(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """Given the place, every tuple of permutations that takes it to the person's cell is equally likely, and there are as many of them
    for all places and cells; a tuple comes from one place only. So only the chance of the place counts, as for "moved"."""
    axes = [_whole(size, "The size of an attribute", 1) for size in told["sizes"]]
    return _cells(told, math.prod(axes)), "any scrambled set, for people inside and outside"


def _one_of(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """The part is drawn whatever the value is and stands in the report, so its share cancels: the largest ratio of any part."""
    _whole(told["width"], "The width of reports", 1)
    if told["fill"] not in (0, -1):
        raise ValueError(f"Reports are filled up with 0 or -1; the file has {told['fill']!r}.")
    parts = _parts(told, sizes)
    if "shares" in told:
        shares = [_whole(share, "A share", 1, ONE) for share in told["shares"]]
        if len(shares) != len(parts) or sum(shares) != ONE:
            raise ValueError(f"The {len(parts)} parts of a sampler need as many shares, which sum to 2^53.")
    ratio, where, k = max(((*part, k) for k, part in enumerate(parts)), key=lambda found: found[0])
    return ratio, f"part {k}: {where}"


def _each(told: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Ratio, str]:
    """The reports of the parts are independent given the value, so the ratio of all is the product of theirs: at most the product of the
    largest, which two people reach who differ in everything that the parts read."""
    parts = _parts(told, sizes)
    ratio: Ratio = Fraction(1)
    for largest, _ in parts:
        ratio = ratio * largest
    return ratio, f"all {len(parts)} parts together, for people who differ in all of them"


def _parts(told: Mapping[str, Any], sizes: Sequence[int]) -> list[tuple[Ratio, str]]:
    """What each part comes to, the values that it is given being among those that its sampler takes."""
    known: dict[tuple[int, tuple[int, ...]], tuple[Ratio, str]] = {}
    found = []
    if not told["parts"]:
        raise ValueError("A sampler has no parts.")
    for part in told["parts"]:
        given = tuple(sizes) if part.get("value") is None else (_values(part["value"], sizes),)
        key = _whole(part["draw"], "The number of a sampler", 0), given
        if key not in known:
            known[key] = _largest(told["draws"][part["draw"]], given)
        found.append(known[key])
    return found


def _values(terms: Sequence[Sequence[int]], sizes: Sequence[int]) -> int:
    """How many values the sum of terms can have: one more than its largest."""
    largest = 0
    for i, modulo, divide, times in terms:
        _whole(i, "The place of a number", 0, len(sizes) - 1)
        for number, least in ((modulo, 1), (divide, 1), (times, 0)):
            _whole(number, "A number that values are read with", least)
        largest += times * ((min(sizes[i], modulo) - 1) // divide)
    return largest + 1


KINDS: dict[str, Callable[[Mapping[str, Any], Sequence[int]], tuple[Ratio, str]]] = {
    "table": _table,
    "response": _response,
    "subset": _subset,
    "bits": _bits,
    "hash": _hash,
    "sign": _sign,
    "moved": _moved,
    "rotated": _rotated,
    "pattern": _pattern,
    "one_of": _one_of,
    "each": _each,
}


def main(arguments: Sequence[str]) -> int:
    """Prints what was found."""
    if len(arguments) != 1:
        print("Usage: python audit.py device.json", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            description = json.load(file)
        found = audit(description)
    except (OSError, ValueError, RecursionError) as error:
        print(f"The device is refused. {error}", file=sys.stderr)
        return 1
    told = math.log(found.largest) if found.largest < UNBOUNDED else UNBOUNDED
    print(f"Design {description['design']}, {description.get('mechanism', 'a mechanism')}")
    print(
        f"Promised: no report is more than e^{description['epsilon']} = {float(found.limit):.9g} times as likely for one person as"
    )
    print(f"          for another (epsilon {description['epsilon']}).")
    print(f"Found:    {float(found.largest):.9g} times (epsilon {told:.9g}), in {found.where}.")
    print("          The ratio is exact, from whole numbers over 2^53, and so is the comparison.")
    print("The promise holds." if found.holds else "THE PROMISE DOES NOT HOLD.")
    return 0 if found.holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
