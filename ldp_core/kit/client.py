"""Draws one person's report from the description of a device, `device.json`. Needs nothing but Python (3.10 or
newer) and its standard library.

    python client.py device.json 17 3              the reports of two people, of types 17 and 3
    python client.py device.json '{"age": 42}'     of a person of 42 years

    device = Device(json.load(open("device.json")))
    device.report({"age": 42})                     "2 0 1 1 0"

Every call draws a new report, and every report spends privacy: send one, and keep it. A report is a line of whole numbers.


The description
---------------
    {"format": "ldp-device/1", "design": id, "epsilon": "1.0", "mechanism": title, "domain": {...} or null, "domain_id": id, "sampler": {...}}

"design" is the first 16 hexadecimal digits of the SHA-256 of {"epsilon", "format", "sampler"} as JSON: keys in alphabetical order, no
blanks. "domain_id" is the same of "domain", each number written as the 16 digits of its double (IEEE 754, highest byte first), and all pairs
"key":value in alphabetical order; older descriptions have none. Descriptions with another id are refused.

All random choices are made by below(n), a whole number from 0 to n - 1, evenly: with b the number of binary digits of n - 1, take
ceil(b / 8) random bytes, the first one highest; keep the lowest b bits; take new bytes until the number is below n. Nothing is drawn
for n = 1. Equal bytes give equal reports. Probabilities are whole numbers of 2^-53: "with chance P" is below(2^53) < P.

A sampler is an object with a "kind"; the outermost one has "sizes" as well. It is given a value and draws a report, a list of numbers:

The value is a list of whole numbers, the i-th of them from 0 to sizes[i] - 1: a single number, the person's type, or one for each
attribute of a survey. All kinds but "one_of" and "each" use its first number only, u.

    table     columns           columns[u] are the chances of the reports 0, 1, ..., which sum to 2^53: with r = below(2^53), the
                                first number y for which columns[u][0] + ... + columns[u][y] is larger than r.
    response  n, truth          with chance "truth" u, else below(n).
    subset    n, size, inside   "size" of the numbers below n, increasing. With chance "inside" u is one of them. The k others, of the n - 1
                                numbers other than u, by Floyd's method: for j = n - 1 - k, ..., n - 2 draw t = below(j + 1) and take t, or j
                                if t is taken already; then those from u on are raised by 1, which leaves u out.
    bits      n, own, other     for j = 0, ..., n - 1: 1 with chance "own" (j = u) or "other" (any other j), else 0.
    hash      n, buckets, digits, keep
                                draws key = below(2^64), then "digits" coefficients and an offset, each below(buckets). The own bucket is
                                mix(key + u * 0x9E3779B97F4A7C15) + the sum of the coefficients of the binary digits of u that are 1 (the
                                lowest first) + offset, modulo "buckets". With chance "keep" that is sent, else the bucket 1 + below(buckets
                                - 1) further on, modulo "buckets". The report: key, coefficients, offset, bucket. With all numbers modulo
                                2^64, mix(z) is: z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
    sign      n, first, count, flip
                                i = below(count); the sign is 1 if (first + i) & u has an odd number of binary digits 1, else 0. With
                                chance "flip" the other sign. The report is 2 i + sign.
    moved     n, cells, inside  "cells" is a text of n digits 0 and 1. A place is drawn: with chance "inside" evenly among those of 1 (the
                                k-th of them in order, k drawn by below), else among those of 0. The report is the place XOR u.
    rotated   n, cells, inside  A place is drawn as in "moved", with n at least the number of types. The report is (place - u) modulo n.
    pattern   sizes, cells, inside
                                A place is drawn as in "moved". u and the place number the cells of a table with these sizes, the
                                last axis fastest. For every axis of size s, in order, a permutation of 0, ..., s - 1 that takes the
                                place's coordinate a to u's b: the other numbers in increasing order, shuffled (for i = s - 2, ..., 1 swap
                                those at i and below(i + 1)), then b put in at position a. The report: all permutations.
    one_of    draws, parts, shares (may be absent), width, fill
                                draws a part whatever the value is: below(number of parts), or by "shares" as from the column of a table. The
                                report: the number of the part, its report, and "fill" until there are "width" numbers.
    each      draws, parts      the reports of all parts, in order.

A part is {"draw": k, "value": terms}: the sampler draws[k], given the one number that is the sum of times * ((v[i] % modulo) // divide)
over the terms [i, modulo, divide, times], v being the value; or given the value as it is, where there are no terms.


Values as people say them
-------------------------
"domain" is {"attributes": [...]}; `encode` turns {name: value} into a number for each attribute, from 0 to "size" - 1. Where the
sampler takes one number only, it is that of the combination, the last attribute fastest. For every attribute:

    kind      "categories", "numbers" (with "edges": bin i holds edges[i] <= x < edges[i + 1], the last bin its upper end as well),
              "range" (bins of one width, see `_edge`: "low", "high", "bins", "integer") or "dates" (see `_period`: "unit", "first", "periods",
              "day_first")
    words     texts that stand for a number: categories, labels of bins, "(other)" and "(missing)"
    other     the number of values outside, null where there is none; "clamp": true takes the nearest bin or period instead
    missing   the number of missing values, null where such people send no report
    unread    true where a text that is no number (date) counts as missing
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import struct
import sys
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import accumulate
from typing import Any

FORMAT = "ldp-device/1"
ONE = 2**53
Value = int | Sequence[int] | Mapping[str, object]
Source = Callable[[int], bytes]
"""Gives so many random bytes."""
Below = Callable[[int], int]
Draw = Callable[[Sequence[int], Below], "list[int]"]
"""One report for a value."""


class Device:
    """What draws the reports of people. ValueError, one sentence, for a description that is damaged or was altered."""

    def __init__(self, description: Mapping[str, Any]):
        try:
            if description["format"] != FORMAT:
                raise ValueError(f"This is no device of the format {FORMAT}: export the design again.")
            if description["design"] != design_id(description):
                raise ValueError(
                    "The sampler or epsilon of this device was altered: its design id does not match. Export it again."
                )
            if "domain_id" in description and description["domain_id"] != domain_id(description["domain"]):
                raise ValueError("The domain of this device was altered: its id does not match. Export it again.")
            self.design: str = description["design"]
            self.sizes: list[int] = description["sampler"]["sizes"]
            self.attributes: list[dict[str, Any]] = (description["domain"] or {"attributes": []})["attributes"]
            self._draw = _sampler(description["sampler"])
        except (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"This is no whole description of a device ({error!r}): export the design again."
            ) from None

    def report(self, value: Value, source: Source = secrets.token_bytes) -> str:
        """One report of a person with ``value``: their type, a number for each attribute, or {attribute: value} in people's words.

        ValueError where it is outside the domain. ``source`` gives random bytes: others than those of `secrets` are for tests.
        """

        def below(n: int) -> int:
            bits = (n - 1).bit_length()
            while True:
                drawn = int.from_bytes(source((bits + 7) // 8), "big") & ((1 << bits) - 1)
                if drawn < n:
                    return drawn

        return " ".join(map(str, self.draw(value, below)))

    def draw(self, value: Value, below: Below) -> list[int]:
        """The numbers of a report, all random choices being made by ``below``."""
        return self._draw(self._numbers(value), below)

    def _numbers(self, value: Value) -> list[int]:
        """The value that the sampler takes."""
        if isinstance(value, Mapping):
            value = encode(self.attributes, value)
        numbers = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        sizes = [attribute["size"] for attribute in self.attributes]
        if len(self.sizes) == 1 and len(numbers) == len(sizes) > 1:
            numbers = [_joined(_checked(numbers, sizes), sizes)]
        return _checked(numbers, self.sizes)


def design_id(description: Mapping[str, Any]) -> str:
    """16 hexadecimal digits that tell apart all that decides about reports."""
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


def _checked(numbers: Sequence[object], sizes: Sequence[int]) -> list[int]:
    if len(numbers) != len(sizes):
        wanted = "one whole number" if len(sizes) == 1 else f"{len(sizes)} whole numbers"
        raise ValueError(f"A value is {wanted}; there {'is' if len(numbers) == 1 else 'are'} {len(numbers)}.")
    found = []
    for number, size in zip(numbers, sizes, strict=True):
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < size:
            raise ValueError(
                f"The value {number!r} is outside the domain: it must be a whole number from 0 to {size - 1}."
            )
        found.append(number)
    return found


def _joined(numbers: Sequence[int], sizes: Sequence[int]) -> int:
    """The number of a combination, the last one fastest."""
    found = 0
    for number, size in zip(numbers, sizes, strict=True):
        found = found * size + number
    return found


# --- samplers: each function takes what the description says and gives what draws a report ----------------------------


def _sampler(told: Mapping[str, Any]) -> Draw:
    if told["kind"] not in KINDS:
        raise ValueError(
            f"This client does not know samplers of the kind {told['kind']!r}: get the client of the same kit."
        )
    return KINDS[told["kind"]](told)


def _chance(number: int) -> int:
    if not isinstance(number, int) or not 0 <= number <= ONE:
        raise ValueError(f"A chance must be a whole number from 0 to 2^53; the device has {number!r}.")
    return number


def _cumulative(chances: Sequence[int]) -> list[int]:
    sums = list(accumulate(map(_chance, chances)))
    if sums[-1] != ONE:
        raise ValueError(
            f"The chances in a column of the device sum to 2^53 {sums[-1] - ONE:+d} and not to 2^53: export it again."
        )
    return sums


def _table(told: Mapping[str, Any]) -> Draw:
    sums = [_cumulative(column) for column in told["columns"]]
    return lambda value, below: [bisect_right(sums[value[0]], below(ONE))]


def _response(told: Mapping[str, Any]) -> Draw:
    n, truth = told["n"], _chance(told["truth"])
    return lambda value, below: [value[0] if below(ONE) < truth else below(n)]


def _bits(told: Mapping[str, Any]) -> Draw:
    n, own, other = told["n"], _chance(told["own"]), _chance(told["other"])
    return lambda value, below: [int(below(ONE) < (own if j == value[0] else other)) for j in range(n)]


def _subset(told: Mapping[str, Any]) -> Draw:
    n, size, inside = told["n"], told["size"], _chance(told["inside"])

    def draw(value: Sequence[int], below: Below) -> list[int]:
        u = value[0]
        own = below(ONE) < inside
        others: set[int] = set()
        for j in range(n - 1 - (size - own), n - 1):
            t = below(j + 1)
            others.add(j if t in others else t)
        return sorted([t + (t >= u) for t in others] + [u] * own)

    return draw


def _hash(told: Mapping[str, Any]) -> Draw:
    buckets, digits, keep = told["buckets"], told["digits"], _chance(told["keep"])

    def draw(value: Sequence[int], below: Below) -> list[int]:
        u, key = value[0], below(2**64)
        coefficients = [below(buckets) for _ in range(digits)]
        offset = below(buckets)
        bucket = _mix(key + u * 0x9E3779B97F4A7C15) + sum(a for i, a in enumerate(coefficients) if u >> i & 1) + offset
        if below(ONE) >= keep:
            bucket += 1 + below(buckets - 1)
        return [key, *coefficients, offset, bucket % buckets]

    return draw


def _mix(z: int) -> int:
    """SplitMix64 (Steele et al. 2014)."""
    z %= 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def _sign(told: Mapping[str, Any]) -> Draw:
    first, count, flip = told["first"], told["count"], _chance(told["flip"])

    def draw(value: Sequence[int], below: Below) -> list[int]:
        i = below(count)
        minus = bin((first + i) & value[0]).count("1") & 1
        return [2 * i + (minus ^ (below(ONE) < flip))]

    return draw


def _places(told: Mapping[str, Any]) -> Callable[[Below], int]:
    """Draws a cell: one of those inside, with its chance, or one of those outside."""
    cells, inside = told["cells"], _chance(told["inside"])
    ones, zeros = ([i for i, digit in enumerate(cells) if digit == wanted] for wanted in "10")
    if not ones or not zeros or len(ones) + len(zeros) != len(cells):
        raise ValueError("The cells of a sampler must be digits 1 and 0, and both be there: export the design again.")

    def draw(below: Below) -> int:
        chosen = ones if below(ONE) < inside else zeros
        return chosen[below(len(chosen))]

    return draw


def _moved(told: Mapping[str, Any]) -> Draw:
    place = _places(told)
    return lambda value, below: [place(below) ^ value[0]]


def _rotated(told: Mapping[str, Any]) -> Draw:
    place, n = _places(told), len(told["cells"])
    return lambda value, below: [(place(below) - value[0]) % n]


def _pattern(told: Mapping[str, Any]) -> Draw:
    sizes, place = told["sizes"], _places(told)

    def draw(value: Sequence[int], below: Below) -> list[int]:
        report = []
        for size, a, b in zip(sizes, _apart(place(below), sizes), _apart(value[0], sizes), strict=True):
            moved = [k for k in range(size) if k != b]
            for i in range(size - 2, 0, -1):
                j = below(i + 1)
                moved[i], moved[j] = moved[j], moved[i]
            moved.insert(a, b)
            report += moved
        return report

    return draw


def _apart(number: int, sizes: Sequence[int]) -> list[int]:
    """The inverse of `_joined`."""
    found = []
    for size in reversed(sizes):
        number, digit = divmod(number, size)
        found.append(digit)
    return found[::-1]


def _parts(told: Mapping[str, Any]) -> list[Draw]:
    draws = [_sampler(draw) for draw in told["draws"]]
    return [_read(part.get("value"), draws[part["draw"]]) for part in told["parts"]]


def _read(terms: Sequence[Sequence[int]] | None, draw: Draw) -> Draw:
    if terms is None:
        return draw
    return lambda value, below: draw(
        [sum(times * (value[i] % modulo // divide) for i, modulo, divide, times in terms)], below
    )


def _one_of(told: Mapping[str, Any]) -> Draw:
    parts, width, fill = _parts(told), told["width"], told["fill"]
    sums = _cumulative(told["shares"]) if "shares" in told else None

    def draw(value: Sequence[int], below: Below) -> list[int]:
        number = below(len(parts)) if sums is None else bisect_right(sums, below(ONE))
        report = [number, *parts[number](value, below)]
        return report + [fill] * (width - len(report))

    return draw


def _each(told: Mapping[str, Any]) -> Draw:
    parts = _parts(told)
    return lambda value, below: [number for part in parts for number in part(value, below)]


KINDS: dict[str, Callable[[Mapping[str, Any]], Draw]] = {
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


# --- values as people say them -----------------------------------------------------------------------------------------

MISSING_WORDS = {"na", "n/a", "nan", "null", "none", "?"}
NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity)", re.ASCII | re.IGNORECASE)
TIME = r"(?:[T ]+\d{1,2}:\d\d.*)?"
DATES = [
    re.compile(pattern + TIME, re.ASCII)
    for pattern in (
        r"(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})",
        r"(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})",
        r"(?P<d>\d{1,2})[ -](?P<name>[A-Za-z]{3,9})\.?[ -](?P<y>\d{4})",
        r"(?P<name>[A-Za-z]{3,9})\.? (?P<d>\d{1,2}),?[ -](?P<y>\d{4})",
    )
] + [re.compile(r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)", re.ASCII)]
LABELS = {"week": r"(\d{4})-W(\d\d)", "month": r"(\d{4})-(\d\d)", "quarter": r"(\d{4})-Q([1-4])", "year": r"(\d{4})()"}
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]  # fmt: skip


def encode(attributes: Sequence[Mapping[str, Any]], values: Mapping[str, object]) -> list[int]:
    """A number for each attribute of a person. ValueError for a value outside, missing or absent that has none."""
    absent = [attribute["name"] for attribute in attributes if attribute["name"] not in values]
    if absent or not attributes:
        raise ValueError(
            f"A value is needed for {absent[0]}." if absent else "This device has no domain: give numbers."
        )
    return [_encoded(attribute, values[attribute["name"]]) for attribute in attributes]


def _encoded(attribute: Mapping[str, Any], value: object) -> int:
    text, named = _text(value), f"The value {value!r} of {attribute['name']}"
    place = None if _is_missing(text) else _place(attribute, text)
    if place is not None and (0 <= place < attribute["ordinary"] or attribute["clamp"]):
        return min(max(place, 0), attribute["ordinary"] - 1)
    if place is None and text in attribute["words"]:
        return int(attribute["words"][text])
    if _is_missing(text) or (place is None and attribute["kind"] != "categories" and attribute["unread"]):
        if attribute["missing"] is None:
            raise ValueError(f"{named} is missing, and people without one send no report.")
        return int(attribute["missing"])
    if place is None and attribute["kind"] != "categories":
        raise ValueError(f"{named} is not a {attribute['kind'].rstrip('s').replace('range', 'number')}.")
    if attribute["other"] is None:
        raise ValueError(f"{named} is outside the domain.")
    return int(attribute["other"])


def _text(value: object) -> str:
    """A value as text, blank where there is none: whole numbers without a point, no outer blanks."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < ONE:
        value = int(value)
    return str(value).strip()


def _is_missing(text: str) -> bool:
    return not text or text.casefold() in MISSING_WORDS


def _place(attribute: Mapping[str, Any], text: str) -> int | None:
    """The bin or period of a text, below 0 or past the last one outside; None where it is no number or date."""
    kind = attribute["kind"]
    if kind == "categories":
        return None
    if kind == "dates":
        period = _period(text, attribute["unit"], attribute["day_first"])
        return None if period is None else period - int(attribute["first"])
    if not NUMBER.fullmatch(text):
        return None
    number, bins = float(text), int(attribute["ordinary"])
    if kind == "range":
        place = bisect_right(range(bins + 1), number, key=lambda i: _edge(attribute, i)) - 1
        last = _edge(attribute, bins)
    else:
        place, last = bisect_right(attribute["edges"], number) - 1, attribute["edges"][-1]
    return bins - 1 if number == last else place


def _edge(attribute: Mapping[str, Any], i: int) -> float:
    """The i-th edge of bins of one width."""
    low, high, bins = attribute["low"], attribute["high"], attribute["bins"]
    if attribute["integer"]:
        width = -(-(int(high) - int(low) + 1) // bins)
        return float(min(low - 0.5 + width * i, high + 0.5))
    return float(high if i == bins else i * ((high - low) / bins) + low)


def _period(text: str, unit: str, day_first: bool | None) -> int | None:
    """The number of the day, week, ... (`unit`) that a text names or whose date it holds, None where it holds none."""
    day = _first_day(text, unit) or (_first_day(text, "month") if unit in ("quarter", "year") else None)
    day = day or next(filter(None, (_date(pattern.fullmatch(text), day_first) for pattern in DATES)), None)
    if day is None:
        return None
    months = day.year * 12 + day.month - 1
    return {
        "day": day.toordinal(),
        "week": (day.toordinal() - 1) // 7,
        "month": months,
        "quarter": months // 3,
        "year": day.year,
    }[unit]


def _first_day(text: str, unit: str) -> date | None:
    """Of the week, month, quarter or year with this label, such as 2026-W05, 2026-01, 2026-Q1 and 2026."""
    match = re.fullmatch(LABELS[unit], text, re.ASCII) if unit in LABELS else None
    if not match or not 1 <= int(match[1]) <= 9998:
        return None
    number = int(match[2] or 1)
    try:
        if unit == "week":
            return date.fromisocalendar(int(match[1]), number, 1)
        return date(int(match[1]), 3 * number - 2 if unit == "quarter" else number, 1)
    except ValueError:
        return None


def _date(match: re.Match[str] | None, day_first: bool | None) -> date | None:
    if match is None:
        return None
    found = match.groupdict()
    if "a" in found:  # 31.1.2026 has the day first; 31/1/2026 and 1/31/2026 where that is stated or clear
        a, b = int(found["a"]), int(found["b"])
        if not (found["s"] == "." or day_first or (day_first is None and (a > 12 or a == b))):
            if day_first is None and b <= 12:
                return None
            a, b = b, a
        day, month = a, b
    else:
        name = found.get("name", "").lower()
        named = (i for i, full in enumerate(MONTHS, 1) if name in (full, full[:3], full[:4]))
        day, month = int(found["d"]), next(named, 0) if name else int(found["m"])
    try:
        return date(int(found["y"]), month, day)
    except ValueError:
        return None


def main(arguments: Sequence[str]) -> int:
    """Prints a report for each value: a type's number, or JSON."""
    if len(arguments) < 2:
        print("Usage: python client.py device.json VALUE...   (a type's number, or JSON)", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            device = Device(json.load(file))
        for value in arguments[1:]:
            print(device.report(_read_value(value)))
    except (OSError, ValueError, RecursionError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _read_value(text: str) -> Value:
    try:
        return json.loads(text)
    except ValueError:
        raise ValueError(f'{text!r} is not a type\'s number, or JSON such as {{"age": 42}}.') from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
