"""Recomputes what a device promises from `device.json` alone, in exact arithmetic, with Python's standard library.

    python audit.py device.json        ends with 0 where the promise holds, with 1 where it does not or the file is damaged

The promise: whatever one report is, it is at most e^epsilon times as likely from one person as from any other. All chances in the file
are whole numbers of 2^-53, and all else is drawn evenly, so the largest ratio of two likelihoods of one report is a fraction, found here
for every kind of sampler by a formula of its own (see the functions below; what the kinds do stands in client.py). It is compared with a
fraction that is never above e^epsilon: the first terms of 1 + x + x^2/2 + ..., x being the decimal number in the file.

The ratio is that of reports alone. In the format ldp-device/2 the number of random bytes adds nothing
to a report: it depends on the part that the report names, and on chance. In ldp-device/1 that number
can give the value away, and the output says so.

The audit does not check that the device that people use is the one in this file, or that their random
bytes are random. The ids show that a file was damaged by accident. An attacker who alters bins,
categories or chances can write matching ids: only a signature shows that.
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
from itertools import pairwise
from typing import Any, NamedTuple

FORMAT = "ldp-device/2"
OLDER = "ldp-device/1"
ONE = 2**53
UNBOUNDED = math.inf
MOST_EPSILON = 100
MOST = 2**31
LONGEST = 2**24
MOST_TOGETHER = 2**10
DEEPEST = 20
"""The largest number of types, of numbers in a report, of reports sent as one (and of attributes),
and of samplers within each other. A larger file is refused before it can take memory or time."""
NUMBER = re.compile(r"(?=.{1,60}$)\+?(\d+/0*[1-9]\d*|(\d+\.?\d*|\.\d+)([eE][+-]?0*\d{1,3})?)", re.ASCII)
"""Numbers that are worked out in no time: 1.25, 5e-1, and 1/3 for people who report several times."""
Ratio = Fraction | float
"""A fraction, or `UNBOUNDED` where a report is possible for one person and impossible for another."""


class Audited(NamedTuple):
    """The result of an audit."""

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
        older = description["format"] == OLDER
        if not older and description["format"] != FORMAT:
            raise ValueError(f"The format is not {FORMAT}.")
        if not isinstance(description["epsilon"], str):
            raise ValueError("Epsilon must be a decimal number in quotation marks.")
        if description["design"] != design_id(description):
            raise ValueError(
                "The design id is not that of the sampler and epsilon: one of them was altered after the device was exported."
            )
        known = domain_id(description["domain"])[: 16 if older else 64]
        if known != (description.get("domain_id", known) if older else description["domain_id"]):
            raise ValueError(
                "The id of the domain is not that of its values: they were altered after the device was exported."
            )
        if not older:
            _signature(description["signature"])
        sampler = _completed(description["sampler"]) if older else description["sampler"]
        limit = least_exponential(description["epsilon"])
        sizes = [_whole(size, "A size", 1, MOST) for size in _list(sampler["sizes"])]
        worst = _largest(sampler, sizes)
        _domain(description["domain"], sizes)
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"This is no whole description of a device ({error!r}).") from None
    return Audited(worst.ratio <= limit, worst.ratio, limit, worst.where)


def design_id(description: Mapping[str, Any]) -> str:
    """Hexadecimal digits of the SHA-256 of all that decides about reports: 64, and 16 in the older format."""
    older = description["format"] == OLDER
    keys = ("epsilon", "format", "sampler") if older else ("domain_id", "epsilon", "format", "mechanism", "sampler")
    decisive = json.dumps({key: description[key] for key in keys}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(decisive.encode()).hexdigest()[: 16 if older else 64]


def domain_id(domain: object) -> str:
    """64 hexadecimal digits that stand for everything that decides which value a person's words have."""
    return hashlib.sha256(_canonical(domain).encode()).hexdigest()


def _canonical(content: object) -> str:
    """JSON that comes out the same in every language: ASCII, pairs in order, each number as the 64 bits of its double."""
    if isinstance(content, Mapping):
        return "{" + ",".join(sorted(f"{json.dumps(key)}:{_canonical(item)}" for key, item in content.items())) + "}"
    if isinstance(content, list | tuple):
        return "[" + ",".join(map(_canonical, content)) + "]"
    if isinstance(content, int | float) and not isinstance(content, bool):
        return struct.pack(">d", content).hex()
    return json.dumps(content)


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


def _completed(described: Mapping[str, Any]) -> dict[str, Any]:
    """A sampler of the older format, where "shares" and the "value" of a part may be absent."""
    if described["kind"] not in ("one_of", "each"):
        return dict(described)
    parts = [{"value": None} | part for part in _list(described["parts"])]
    return {"shares": None, **described} | {
        "draws": [_completed(draw) for draw in _list(described["draws"])],
        "parts": parts,
    }


def _signature(signature: object) -> None:
    if signature is not None and not (isinstance(signature, str) and re.fullmatch("[0-9a-f]{128}", signature)):
        raise ValueError("A signature must have 128 hexadecimal digits, or be null.")


# --- the values of people ----------------------------------------------------------------------------------------------


def _domain(domain: Mapping[str, Any] | None, sizes: Sequence[int]) -> None:
    """The attributes have the values that the sampler takes, and whatever people say has a number among them."""
    if domain is None:
        return
    attributes = _list(domain["attributes"])
    _whole(len(attributes), "The number of attributes", 1, MOST_TOGETHER)
    own = [_whole(attribute["size"], "The size of an attribute", 1, MOST) for attribute in attributes]
    if own != list(sizes) and [math.prod(own)] != list(sizes):
        raise ValueError("The attributes have other numbers of values than the sampler takes.")
    for attribute, size in zip(attributes, own, strict=True):
        if not isinstance(attribute["name"], str):
            raise ValueError("The name of an attribute is no text.")
        bins = _whole(attribute["ordinary"], "The number of bins", 1, size)
        for place in attribute["words"].values():
            _whole(place, "The number of a word", 0, size - 1)
        for name in ("other", "missing"):
            if attribute[name] is not None:
                _whole(attribute[name], f"The number of {name} values", 0, size - 1)
        _flags(attribute, "clamp")
        if attribute["kind"] not in READ:
            raise ValueError(f"An attribute has the unknown kind {attribute['kind']!r}.")
        READ[attribute["kind"]](attribute, bins)


def _flags(attribute: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if not isinstance(attribute[name], bool):
            raise ValueError(f"{name!r} of an attribute must be true or false; the file has {attribute[name]!r}.")


def _finite(*numbers: Any) -> None:
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise ValueError(f"An end of a bin must be a number; the file has {number!r}.")


def _numbers(attribute: Mapping[str, Any], bins: int) -> None:
    edges = _list(attribute["edges"])
    _finite(*edges)
    _flags(attribute, "unread")
    if len(edges) != bins + 1 or any(low >= high for low, high in pairwise(edges)):
        raise ValueError(f"{bins} bins need {bins + 1} edges, each above the one before.")


def _range(attribute: Mapping[str, Any], bins: int) -> None:
    _finite(attribute["low"], attribute["high"], attribute["bins"], attribute["high"] - attribute["low"])
    _flags(attribute, "unread", "integer")
    if attribute["low"] > attribute["high"] or attribute["bins"] != bins:
        raise ValueError("A range of numbers must have its lower end first, and as many bins as it says.")


def _dates(attribute: Mapping[str, Any], bins: int) -> None:
    _finite(attribute["first"])
    _flags(
        {**attribute, "day_first": attribute["day_first"] is not None and attribute["day_first"]}, "unread", "day_first"
    )
    if attribute["unit"] not in ("day", "week", "month", "quarter", "year") or attribute["first"] % 1:
        raise ValueError("Dates must be days, weeks, months, quarters or years, counted from a whole number.")


READ: dict[str, Callable[[Mapping[str, Any], int], None]] = {
    "categories": lambda attribute, bins: None,
    "numbers": _numbers,
    "range": _range,
    "dates": _dates,
}


# --- the largest ratio of each kind of sampler -------------------------------------------------------------------------


class Found(NamedTuple):
    """The largest ratio of a sampler and where it is; the number of numbers in a report, and of reports
    that are sent as one."""

    ratio: Ratio
    where: str
    length: int = 1
    together: int = 1


def _largest(described: Mapping[str, Any], sizes: Sequence[int], depth: int = 0) -> Found:
    """The largest ratio for values whose numbers have these ``sizes``."""
    kind = described["kind"]
    if not isinstance(kind, str) or kind not in (*KINDS, *NESTED, "classes"):
        raise ValueError(f"A sampler has the unknown kind {kind!r}.")
    if depth > DEEPEST:
        raise ValueError(f"There are samplers within samplers, more than {DEEPEST} deep.")
    if kind == "classes":
        worst = _classes(described, sizes, depth)
    elif kind in NESTED:
        worst = NESTED[kind](described, _parts(described, sizes, depth))
    else:
        n = len(_list(described["columns"])) if kind == "table" else None
        n = (
            len(described["cells"])
            if kind == "pattern"
            else n or _whole(described["n"], "The number of types", 2, MOST)
        )
        if len(sizes) != 1 or sizes[0] > n:
            raise ValueError(f"A sampler for {n} values is given values of sizes {list(sizes)}.")
        worst = KINDS[kind](described)
    _whole(worst.length, "The length of a report", 1, LONGEST)
    return worst


def _whole(number: object, what: str, least: int, most: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise ValueError(
            f"{what} must be a whole number of at least {least} and at most {most}; the file has {repr(number)[:40]}."
        )
    return number


def _list(content: object) -> Sequence[Any]:
    if not isinstance(content, list | tuple) or not content:
        raise ValueError("A list is empty, or there is something else where a list belongs.")
    return content


def _chance(number: object) -> int:
    return _whole(number, "A chance", 0, ONE)


def _over(high: int, low: int) -> Ratio:
    """The larger of two likelihoods, given by numbers in proportion to them, over the smaller."""
    high, low = max(high, low), min(high, low)
    return Fraction(high, low) if low else UNBOUNDED


def _table(described: Mapping[str, Any]) -> Found:
    """The largest entry of a row over the smallest, the chances of one report for all types. Columns must sum to 2^53."""
    columns = described["columns"]
    for u, column in enumerate(map(_list, columns)):
        if len(column) != len(columns[0]):
            raise ValueError(f"The column of type {u} has {len(column)} chances, that of type 0 has {len(columns[0])}.")
        if (total := sum(map(_chance, column))) != ONE:
            raise ValueError(f"The chances of type {u} do not sum to 2^53 but to {abs(total - ONE)} {_side(total)}.")
    worst = Found(Fraction(1), "all reports are equally likely for all types")
    for y, row in enumerate(zip(*columns, strict=True)):
        high, low = max(row), min(row)
        if high and (ratio := _over(high, low)) > worst.ratio:
            worst = Found(ratio, f"report {y}, for types {row.index(high)} and {row.index(low)}")
    return worst


def _side(total: int) -> str:
    return "more" if total > ONE else "less"


def _response(described: Mapping[str, Any]) -> Found:
    """A report is the type u with chance t + (1 - t)/n for people of type u and (1 - t)/n for others."""
    n, truth = described["n"], _chance(described["truth"])
    return Found(_over(n * truth + ONE - truth, ONE - truth), "any report, for its own type and another")


def _two_cells(inside: int, size: int, n: int) -> Ratio:
    """The ratio of n equally likely places, ``size`` of them inside. The report names one with the
    chance inside/size, or (1 - inside)/(n - size)."""
    if not 0 < size < n:
        raise ValueError(f"A sampler needs places inside and outside; it has {size} of {n} inside.")
    return _over(inside * (n - size), (ONE - inside) * size)


def _subset(described: Mapping[str, Any]) -> Found:
    """The sampler of subsets. C(n - 1, k - 1) of the C(n, k) sets hold the person's type, and C(n -
    1, k) do not; they share the chance "inside", and the rest. The ratio of these two numbers is k
    to n - k."""
    size = _whole(described["size"], "The size of sets", 1, described["n"])
    ratio = _two_cells(_chance(described["inside"]), size, described["n"])
    return Found(ratio, "any set, for a type in it and one that is not", size)


def _bits(described: Mapping[str, Any]) -> Found:
    """The bits are independent, and two types differ in the chances of two of them. Let p and q be
    the chances of a 1 in the own bit and in others. The ratio of a report is largest if both bits
    speak for the same type, p (1 - q) / (q (1 - p))."""
    own, other = _chance(described["own"]), _chance(described["other"])
    ratio = _over(own * (ONE - other), other * (ONE - own))
    return Found(ratio, "any report with a 1 for one type and a 0 for another", described["n"])


def _hash(described: Mapping[str, Any]) -> Found:
    """The hash function is drawn whatever the type is. Given it, the own bucket has the chance "keep", all others share the rest."""
    buckets = _whole(described["buckets"], "The number of buckets", 2, MOST)
    digits = _whole(described["digits"], "The number of binary digits", 1, 64)
    if described["n"] > 2**digits:
        raise ValueError(f"{described['n']} types do not have numbers of {digits} binary digits.")
    ratio = _two_cells(_chance(described["keep"]), 1, buckets)
    return Found(ratio, "any report, for types in its bucket and in another", digits + 3)


def _sign(described: Mapping[str, Any]) -> Found:
    """The coefficient is drawn whatever the type is. Given it, its sign is sent with the chance 1 - flip, else the opposite one."""
    first = _whole(described["first"], "The first coefficient", 0, MOST)
    _whole(described["count"], "The number of coefficients", 1, MOST - first)
    flip = _chance(described["flip"])
    return Found(_over(ONE - flip, flip), "any sign, for types that have it and types that have the other")


def _cells(described: Mapping[str, Any], n: int) -> Ratio:
    cells = described["cells"]
    if not isinstance(cells, str) or len(cells) != n or cells.strip("01"):
        raise ValueError(f"The cells of a sampler must be a text of {n} digits 0 and 1.")
    return _two_cells(_chance(described["inside"]), cells.count("1"), n)


def _moved(described: Mapping[str, Any]) -> Found:
    """A report is the type moved by the place drawn: each comes from one place, inside with the chance inside/k, or outside."""
    if described["n"] & (described["n"] - 1):
        raise ValueError(f"Types are moved by their binary digits, so {described['n']} of them must be a power of two.")
    return Found(_cells(described, described["n"]), "any report, for types that it holds and types that it does not")


def _rotated(described: Mapping[str, Any]) -> Found:
    """A report says how far the type is before the place drawn, so that each comes from one place, as for "moved"."""
    return Found(_cells(described, described["n"]), "any report, for types that it holds and types that it does not")


def _pattern(described: Mapping[str, Any]) -> Found:
    """Given the place, every tuple of permutations that takes it to the person's cell is equally
    likely. Their number is the same for all places and cells, and a tuple comes from one place
    only. Only the chance of the place counts, therefore, as for "moved"."""
    _whole(len(_list(described["sizes"])), "The number of attributes", 1, MOST_TOGETHER)
    axes = [_whole(size, "The size of an attribute", 1, MOST) for size in described["sizes"]]
    if math.prod(axes) != len(described["cells"]):
        raise ValueError("A pattern must have as many cells as there are combinations of its attributes.")
    return Found(
        _cells(described, len(described["cells"])), "any scrambled set, for people inside and outside", sum(axes)
    )


def _one_of(described: Mapping[str, Any], parts: Sequence[Found]) -> Found:
    """The part is drawn whatever the value is and stands in the report, so its share cancels: the largest ratio of any part."""
    width = 1 + max(part.length for part in parts)
    if _whole(described["width"], "The width of reports", 1, LONGEST) != width:
        raise ValueError(f"Reports have the width {described['width']}, where the longest part needs {width}.")
    _whole(described["fill"], "What fills reports up", -1, 0)
    if described["shares"] is not None:
        shares = [_whole(share, "A share", 1, ONE) for share in _list(described["shares"])]
        if len(shares) != len(parts) or sum(shares) != ONE:
            raise ValueError(f"The {len(parts)} parts of a sampler need as many shares, which sum to 2^53.")
    k = max(range(len(parts)), key=lambda k: parts[k].ratio)
    return Found(parts[k].ratio, f"part {k}: {parts[k].where}", width, max(part.together for part in parts))


def _each(described: Mapping[str, Any], parts: Sequence[Found]) -> Found:
    """The reports of the parts are independent given the value, so the ratio of all is the product
    of theirs. It is at most the product of the largest, which two people reach who differ in
    everything that the parts read."""
    together = _whole(sum(part.together for part in parts), "The number of reports sent as one", 1, MOST_TOGETHER)
    bounded = all(part.ratio < UNBOUNDED for part in parts)
    high, low = (
        (math.prod(getattr(part.ratio, end) for part in parts) for end in ("numerator", "denominator"))
        if bounded
        else (0, 0)
    )
    where = f"all {len(parts)} parts together, for people who differ in all of them"
    return Found(Fraction(high, low) if bounded else UNBOUNDED, where, sum(part.length for part in parts), together)


def _classes(described: Mapping[str, Any], sizes: Sequence[int], depth: int) -> Found:
    """The sampler is given the class of a type. Types of one class have the same reports, so the ratio is that of the classes."""
    classes = [_whole(number, "A class", 0, MOST - 1) for number in _list(described["classes"])]
    if len(sizes) != 1 or sizes[0] > len(classes):
        raise ValueError(f"A list of classes for {len(classes)} values is given values of sizes {list(sizes)}.")
    worst = _largest(described["draw"], [max(classes) + 1], depth + 1)
    return worst._replace(where=f"{worst.where} (of classes)")


def _parts(described: Mapping[str, Any], sizes: Sequence[int], depth: int) -> list[Found]:
    """The audit of each part, whose values must be among those that its sampler takes. A sampler is
    audited once, for the largest values that any part gives it, so that the time is linear in the file."""
    draws, given = _list(described["draws"]), dict[int, list[int]]()
    for part in _list(described["parts"]):
        values = list(sizes) if part["value"] is None else [_values(part["value"], sizes)]
        k = _whole(part["draw"], "The number of a sampler", 0, len(draws) - 1)
        if len(given.setdefault(k, values)) != len(values):
            raise ValueError("A sampler is given values of different lengths.")
        given[k] = list(map(max, given[k], values))
    by_draw = {k: _largest(draws[k], values, depth + 1) for k, values in given.items()}
    return [by_draw[part["draw"]] for part in described["parts"]]


def _values(terms: Sequence[Sequence[int]], sizes: Sequence[int]) -> int:
    """How many values the sum of terms can have: one more than its largest."""
    largest = 0
    for i, modulo, divide, times in _list(terms):
        _whole(i, "The place of a number", 0, len(sizes) - 1)
        for number, least in ((modulo, 1), (divide, 1), (times, 0)):
            _whole(number, "A number that values are read with", least, MOST)
        largest += times * ((min(sizes[i], modulo) - 1) // divide)
    return _whole(largest + 1, "The number of values", 1, MOST)


KINDS: dict[str, Callable[[Mapping[str, Any]], Found]] = {
    "table": _table,
    "response": _response,
    "subset": _subset,
    "bits": _bits,
    "hash": _hash,
    "sign": _sign,
    "moved": _moved,
    "rotated": _rotated,
    "pattern": _pattern,
}
NESTED: dict[str, Callable[[Mapping[str, Any], Sequence[Found]], Found]] = {"one_of": _one_of, "each": _each}


def main(arguments: Sequence[str]) -> int:
    """Prints what was found."""
    if len(arguments) != 1:
        print("Usage: python audit.py device.json", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            description = json.load(file)
        audited = audit(description)
    except (OSError, ValueError, RecursionError) as error:
        print(f"The device is refused. {error}", file=sys.stderr)
        return 1
    audited_epsilon = UNBOUNDED
    if isinstance(audited.largest, Fraction):  # which may be too large for a float
        audited_epsilon = math.log(audited.largest.numerator) - math.log(audited.largest.denominator)
    print(f"Design {description['design']}, {description.get('mechanism', 'a mechanism')}")
    print(
        f"Promised: no report is more than e^{description['epsilon']} = {float(audited.limit):.9g} times as likely for one person as"
    )
    print(f"          for another (epsilon {description['epsilon']}).")
    print(
        f"Found:    {f'e^{audited_epsilon:.9g}' if 700 < audited_epsilon < UNBOUNDED else f'{float(audited.largest):.9g}'} times (epsilon {audited_epsilon:.9g}), in {audited.where}."
    )
    print("          The ratio is exact, from whole numbers over 2^53, and so is the comparison.")
    if description["format"] == OLDER:
        print(
            "Beware:   this older device takes a number of random bytes that can give its value away. Export it again."
        )
        if "domain_id" not in description:
            print(
                "          It has no id of its domain either: whether bins or categories were altered is not checked."
            )
    elif description["signature"] is not None:
        print("          It is signed. This script does not check the signature: client.py --key KEY does.")
    print("The promise holds." if audited.holds else "THE PROMISE DOES NOT HOLD.")
    return 0 if audited.holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
