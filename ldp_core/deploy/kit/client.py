"""Draws one person's report from the description of a device, `device.json`. Needs nothing but Python (3.10 or
newer) and its standard library; checking a signature needs the package `cryptography` as well.

    python client.py device.json 17 3              the reports of two people, of types 17 and 3
    python client.py device.json '{"age": 42}'     of a person of 42 years
    python client.py --key KEY device.json 17      only if the device was signed with the private key to KEY

    device = Device(json.load(open("device.json")))
    device.report({"age": 42})                     "2 0 1 1 0"
    Device.signed(json.load(open("device.json")), KEY)

Every call draws a new report, and every report spends privacy: send one, and keep it. A report is a line of whole numbers.


The description
---------------
    {"format": "ldp-device/2", "design": id, "epsilon": "1.0", "mechanism": title, "domain": {...} or null, "domain_id": id,
     "signature": digits or null, "sampler": {...}}

The format is "ldp-device/3" where a table, or every table of "known", has "secret": some values are not secret then, and older clients refuse it.

No key may be absent, not even in samplers. "design" is the SHA-256, in 64 hexadecimal digits, of {"domain_id", "epsilon", "format",
"mechanism", "sampler"} as JSON: ASCII, keys in alphabetical order, no blanks. "domain_id" is that of "domain", with each number written
as the 16 digits of its double (IEEE 754, highest byte first) and all pairs "key":value in alphabetical order. "signature" is the Ed25519
signature (RFC 8032) of the ASCII text of "format", a blank, and "design", in 128 hexadecimal digits. A client refuses a description with
another id, one whose largest ratio of the likelihoods of a report is above e^epsilon, and one whose numbers are outside their ranges.

All random choices are made by below(n), a whole number from 0 to n - 1, evenly. Let b be the number of binary digits of n - 1. Take
ceil(b / 8) random bytes, the first byte highest; keep the lowest b bits; take new bytes until the number is below n. For
n = 1 nothing is drawn. Equal bytes give equal reports. Probabilities are whole numbers of 2^-53: "with chance P" is below(2^53) < P.

How many bytes are taken says nothing about the value. Given the parts that "one_of" drew, which the report names, every report
takes the same sequence of numbers n, whatever the value and all results are: a number that is not needed is drawn and thrown away
("spare" below). And how often below(n) takes new bytes is independent of its result.

A sampler is an object with a "kind"; the outermost one has "sizes" as well. It is given a value and draws a report, a list of numbers:

The value is a list of whole numbers, the i-th of them from 0 to sizes[i] - 1: a single number, the person's type, or one for each
attribute of a survey. All kinds except "one_of" and "each" use only its first number, u.

    table     columns           columns[u] are the chances of the reports 0, 1, ..., which sum to 2^53. Let r = below(2^53). The
                                report is the first number y such that columns[u][0] + ... + columns[u][y] > r.
                                Where "secret" is there, it holds the secret values u, increasing; all others are open. A report that no
                                secret value can send must be that of one open value alone, and is no part of the largest ratio.
    two_valued  low, high, cells, rest
                                a table in fewer letters. cells[u] has two hexadecimal digits for every 8 reports 0, 1, ...; report y has
                                the chance high[y] where their y-th binary digit, the highest first, is 1, else low[y]. One more
                                report, the last, has the chance rest[u]. The report is drawn as from a column of a table.
    response  n, truth          own = with chance "truth"; t = below(n), spare if own. The report is u if own, else t.
    subset    n, size, inside   "size" of the numbers below n, increasing. u is one of them with chance "inside". The k others, of the n - 1
                                numbers other than u, by Floyd's method: for j = n - 1 - k, ..., n - 2 draw t = below(j + 1) and take t, or j
                                if t is taken already; then those from u on are raised by 1, which leaves u out. If u is one of them,
                                a spare below(n - size) comes first.
    bits      n, own, other     for j = 0, ..., n - 1: 1 with chance "own" (j = u) or "other" (any other j), else 0.
    hash      n, buckets, digits, keep
                                draws key = below(2^64), then "digits" coefficients and an offset, each below(buckets). The own bucket is
                                mix(key + u * 0x9E3779B97F4A7C15) + the sum of the coefficients of the binary digits of u that are 1 (the
                                lowest first) + offset, modulo "buckets". It is sent with chance "keep", else the bucket 1 + below(buckets
                                - 1) further on, modulo "buckets"; it is drawn in any case. The report: key, coefficients, offset, bucket.
                                All numbers are taken modulo 2^64. mix(z) is: z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
                                z = (z ^ z >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
    sign      n, first, count, flip
                                i = below(count); the sign is 1 if (first + i) & u has an odd number of binary digits 1, else 0. It
                                is reversed with chance "flip". The report is 2 i + sign.
    pattern   sizes, cells, inside
                                "cells" is a text of n digits 0 and 1. A place is drawn: with chance "inside" the k-th of those of 1, k =
                                below(how many they are), else the k-th of those of 0. Both k are drawn, that of 1 first, and one of
                                them is spare. u and the place number the cells of a table with these sizes, the
                                last axis fastest. Every axis of size s gets, in order, a permutation of 0, ..., s - 1 that takes the
                                place's coordinate a to u's b: the other numbers in increasing order, shuffled (for i = s - 2, ..., 1 swap
                                those at i and below(i + 1)), then b put in at position a. The report: all permutations.
    one_of    draws, parts, shares, width, fill
                                draws a part whatever the value is: below(number of parts) if "shares" is null, or by them as from the
                                column of a table. The report: the number of the part, its report, and "fill" until there are "width"
                                numbers, those of the longest part.
    each      draws, parts      the reports of all parts, in order.
    classes   classes, draw     the sampler "draw", given the one number classes[u]: the class of types that u is in, from 0 up.
    known     draws, which, width
                                outermost only, given two numbers z and u, or z and more: z is no secret, as the collector knows it, and sent
                                as it is. The report: z, the report of the sampler draws[which[z]] for the others, and 0 until there are
                                "width" numbers. The format is "ldp-device/3" where there are more than two numbers, else "ldp-device/2".

A part is {"draw": k, "value": terms}: the sampler draws[k], given the one number that is the sum of times * ((v[i] % modulo) // divide)
over the terms [i, modulo, divide, times], v being the value; or given the value as it is, where the terms are null.


Values as people say them
-------------------------
"domain" is {"attributes": [...]}; `encode` turns {name: value} into a number for each attribute, from 0 to "size" - 1. If the
sampler takes one number only, it is that of the combination, the last attribute fastest. The kind "known" takes that of the attributes
with "known", which are sent in the clear, and that of all others or, where it takes more than two numbers, each of theirs. Every
attribute has:

    name      no two attributes have names that look the same: see `_looks`
    kind      "categories", "numbers" (with "edges": bin i holds edges[i] <= x < edges[i + 1], the last bin its upper end as well),
              "range" (bins of one width, see `_edge`: "low", "high", "bins", "integer") or "dates" (see `_period`: "unit", "first",
              "day_first")
    ordinary  the number of categories, bins or periods
    words     texts that stand for a number: categories, labels of bins, "(other)" and "(missing)". A value is compared as it
              is and, as are numbers and dates, in Unicode's normal form C, all blanks as spaces, without signs of no width
    other     the number of values outside, null where there is none; "clamp": true takes the nearest bin or period instead
    missing   the number of missing values, null where such people send no report
    no_answer numbers, such as 999, that stand for a missing value; this key may be absent
    holds     where a category is a combination of some "parts": "set" for any number of them, said in any order, "ranking" for all in
              order, "days" for one on each day, also said as "no x3, yes x4". People say a list, or a text with a "sign" between
              parts; words have "between" there. A blank is the set of none; these keys may be absent
    unread    true where a text that is no number (date) counts as missing
    known     true where the collector knows the value, and it is sent in the clear; this key may be absent
    secret    the numbers that are secret, increasing, where a table has "secret": a combination is open if all of its values are
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
import struct
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from itertools import accumulate, compress, groupby, pairwise
from operator import add, mul
from typing import Any, NamedTuple

FORMAT, LATER = "ldp-device/2", "ldp-device/3"
"""Of most devices, and of those that take several numbers beside one in the clear, or of people of whom only some values are secret."""
ONE = 2**53
MOST = 2**31
"""Most types, buckets, coefficients and such: JavaScript combines their binary digits."""
LONGEST = 2**24
MOST_TOGETHER = 2**10
DEEPEST = 20
"""The largest number of numbers in a report, of reports sent as one (and of attributes), and of
samplers within each other."""
MOST_EPSILON = 100
BLOCK = 256
"""Random bytes that the system gives at once: a call for every few bytes takes long."""
POOLS = list[bytes]()
"""The SHA-256 of the last of them, of all devices."""
EPSILON = re.compile(r"(?=.{1,60}$)\+?(\d+/0*[1-9]\d*|(\d+\.?\d*|\.\d+)([eE][+-]?0*\d{1,3})?)", re.ASCII)
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
BITS = bytes.maketrans(b"01", b"\0\1")
Value = int | Sequence[int] | Mapping[str, object]
Source = Callable[[int], bytes]
"""Returns this number of random bytes."""


Below = Callable[[int], int]
"""A whole number from 0 to n - 1, evenly."""
Draw = Callable[[Sequence[int], Below], "list[int]"]
"""One report for a value."""


class Device:
    """Draws the reports of people. ValueError, one sentence, for a description that is damaged, was
    altered, or breaks its promise."""

    def __init__(self, description: Mapping[str, Any]):
        made, sizes, attributes, (total, over) = checked(description)
        if not (made.low > 0 and made.high * over <= made.low * total):
            raise ValueError(
                f"This device breaks its promise: a report can be more than e^{description['epsilon']} times as "
                "likely for one person as for another. Do not use it."
            )
        self.design: str = description["design"]
        self.attributes, self.clear = attributes, in_the_clear(attributes)
        self.sizes = [attribute["size"] for attribute in attributes] if self.clear else sizes
        self._joins, self._draw = len(sizes) == 2, made.draw

    @classmethod
    def signed(cls, description: Mapping[str, Any], public_key: str) -> Device:
        """The device, if its signature was made with the private key to ``public_key``, 64 hexadecimal digits; else ValueError."""
        device = cls(description)
        _check_signature(description, public_key)
        return device

    def report(self, value: Value, source: Source | None = None) -> str:
        """One report of a person with ``value``: their type, a number for each attribute, or {attribute: value} in people's words.

        ValueError where it is outside the domain. ``source`` gives random bytes: others than those of `secrets` are for tests.
        """
        below = _below(source or _secure, BLOCK if source is None else 1)
        return " ".join(map(str, self._draw(self._numbers(value), below)))

    def draw(self, value: Value, below: Below) -> list[int]:
        """The numbers of a report, all random choices being made by ``below``."""
        return self._draw(self._numbers(value), below)

    def _numbers(self, value: Value) -> list[int]:
        """The value that the sampler takes."""
        if isinstance(value, Mapping):
            value = encode(self.attributes, value)
        numbers = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        sizes = [attribute["size"] for attribute in self.attributes]
        if self.clear:
            numbers, places = _checked(numbers, sizes), range(len(sizes))
            known, secret = (
                [i for i in places if self.attributes[i].get("known", False) is flag] for flag in (True, False)
            )
            joined = [known, secret] if self._joins else [known, *([i] for i in secret)]
            return [_joined([numbers[i] for i in some], [sizes[i] for i in some]) for some in joined]
        if len(self.sizes) == 1 and len(numbers) == len(sizes) > 1:
            numbers = [_joined(_checked(numbers, sizes), sizes)]
        return _checked(numbers, self.sizes)


def _secure(count: int) -> bytes:
    """Random bytes of the system. ValueError where they cannot be random, as the mocks of test set-ups are not: few
    different ones (256 random bytes have 162 or so), or some that came before. The first ones are only compared with."""
    drawn = secrets.token_bytes(count)
    sound = isinstance(drawn, bytes) and len(drawn) == count and len(set(drawn)) >= 64
    if not sound or (digest := hashlib.sha256(drawn).digest()) in POOLS:
        raise ValueError("There are no secure random numbers here: secrets.token_bytes is needed.")
    POOLS[:] = [*POOLS, digest][-16:]
    return drawn if len(POOLS) > 1 else _secure(count)


def _below(source: Source, at_least: int) -> Below:
    """Draws from the bytes of ``source``, at least ``at_least`` of them at a time."""
    block, used = b"", 0

    def below(n: int) -> int:
        nonlocal block, used
        if n == 1:
            return 0
        bits = (n - 1).bit_length()
        count = (bits + 7) >> 3
        while True:
            start, used = used, used + count
            if used > len(block):
                block, start, used = source(max(count, at_least)), 0, count
            drawn = int.from_bytes(block[start:used], "big") & ((1 << bits) - 1)
            if drawn < n:
                return drawn

    return below


def _checked(numbers: Sequence[object], sizes: Sequence[int]) -> list[int]:
    if len(numbers) != len(sizes):
        wanted = "one whole number" if len(sizes) == 1 else f"{len(sizes)} whole numbers"
        raise ValueError(f"A value is {wanted}; there {'is' if len(numbers) == 1 else 'are'} {len(numbers)}.")
    checked_numbers = []
    for number, size in zip(numbers, sizes, strict=True):
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < size:
            raise ValueError(
                f"The value {number!r} is outside the domain: it must be a whole number from 0 to {size - 1}."
            )
        checked_numbers.append(number)
    return checked_numbers


def _joined(numbers: Sequence[int], sizes: Sequence[int]) -> int:
    """The number of a combination, the last one fastest."""
    number_joined = 0
    for number, size in zip(numbers, sizes, strict=True):
        number_joined = number_joined * size + number
    return number_joined


# --- what is refused: altered, damaged and broken descriptions ----------------------------------------------------------


def checked(
    description: Mapping[str, Any],
) -> tuple[Sampler, list[int], Sequence[Mapping[str, Any]], tuple[int, int]]:
    """The sampler, the sizes of its values, the attributes of people, and `limit`, whether or not the promise holds. ValueError, one
    sentence, for a description that is damaged or was altered."""
    try:
        described = description["sampler"]
        secret = secret_values(described)
        if description["format"] != (wanted := format_of(described)):
            raise ValueError(f"This is no device of the format {wanted}: export the design again.")
        _check_ids(description)
        sizes = [_whole(size, "A size", 1, MOST) for size in _list(described["sizes"])]
        made, most = _sampler(described, sizes), limit(description["epsilon"])
        attributes = _attributes(description["domain"], sizes, described["kind"] == "known")
        if attributes and secret_combinations(attributes, secret) != secret:
            raise ValueError(
                "The secret values of the attributes are not those of the sampler: export the design again."
            )
        return made, sizes, attributes, most
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"This is no whole description of a device ({error!r}): export the design again.") from None


def format_of(described: Mapping[str, Any]) -> str:
    """The format of a device with this sampler."""
    several = described["kind"] == "known" and len(_list(described["sizes"])) > 2
    return LATER if several or secret_values(described) is not None else FORMAT


def secret_values(described: Mapping[str, Any]) -> list[int] | None:
    """The values that the sampler keeps secret, the same in all groups in the clear; None where it keeps all."""
    tables = _list(described["draws"]) if described["kind"] == "known" else [described]
    every = [table.get("secret") for table in tables]
    if any(one != every[0] for one in every):
        raise ValueError("Groups have different secret values: export the design again.")
    return None if every[0] is None else [_whole(u, "A secret value", 0, MOST - 1) for u in _list(every[0])]


def secret_combinations(attributes: Sequence[Mapping[str, Any]], secret: Sequence[int] | None) -> list[int] | None:
    """The combinations that are secret by the values of each of the ``attributes``, where ``secret`` says that not all are."""
    hidden = [one for one in attributes if not one.get("known")]
    if secret is None:
        return [] if any("secret" in one for one in hidden) else None
    if math.prod(one["size"] for one in hidden) > LONGEST:
        raise ValueError("The attributes of the device have too many values: export it again.")
    flags = [False]
    for one in hidden:
        values = {_whole(k, "A secret value", 0, one["size"] - 1) for k in one["secret"]}
        flags = [flag or k in values for flag in flags for k in range(one["size"])]
    return [u for u, flag in enumerate(flags) if flag]


def _check_ids(description: Mapping[str, Any]) -> None:
    """Accidents are refused here. An attacker can write matching ids, which only a signature stops."""
    if domain_id(description["domain"]) != description["domain_id"]:
        raise ValueError("The domain of this device was altered: its id does not match. Export it again.")
    if description["design"] != design_id(description):
        raise ValueError(
            "The sampler or epsilon of this device was altered: its design id does not match. Export it again."
        )
    signature = description["signature"]
    if signature is not None and not (isinstance(signature, str) and re.fullmatch("[0-9a-f]{128}", signature)):
        raise ValueError("A signature must have 128 hexadecimal digits, or be null: export the design again.")


def design_id(description: Mapping[str, Any]) -> str:
    """64 hexadecimal digits that stand for everything in a description."""
    decisive = {key: description[key] for key in ("epsilon", "format", "sampler", "domain_id", "mechanism")}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


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


def signed_text(description: Mapping[str, Any]) -> bytes:
    """The text that is signed."""
    return f"{description['format']} {description['design']}".encode()


def _check_signature(description: Mapping[str, Any], public_key: str) -> None:
    """ValueError, one sentence, unless the signature of the description fits ``public_key``."""
    if not isinstance(public_key, str) or not re.fullmatch("[0-9a-fA-F]{64}", public_key):
        raise ValueError("A public key has 64 hexadecimal digits.")
    if description.get("signature") is None:
        raise ValueError("This device is not signed, and a key was given: do not use it.")
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise ValueError("Signatures need the package cryptography: pip install cryptography") from None
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(description["signature"]), signed_text(description))
    except (InvalidSignature, ValueError):
        raise ValueError("The signature of this device does not fit the key: do not use it.") from None


def limit(epsilon: object) -> tuple[int, int]:
    """The sum of the first terms of 1 + x + x^2/2 + ..., x being epsilon, as two numbers whose ratio it is: less than e^epsilon
    by less than 2^-80 of it. All terms are positive, and the next ones more than halve."""
    x = Fraction(epsilon if isinstance(epsilon, str) and EPSILON.fullmatch(epsilon) else 0)
    if not 0 < x <= MOST_EPSILON:
        raise ValueError(f"Epsilon must be a number in quotation marks, above 0 and at most {MOST_EPSILON}.")
    total, term, over, k = 1, 1, 1, 0  # the sum, and its last term, are total and term divided by over
    while k * x.denominator < 2 * x.numerator or term << 80 > total:
        k += 1
        term *= x.numerator
        over *= x.denominator * k
        total = total * x.denominator * k + term
    return total, over


def _whole(number: object, what: str, least: int, most: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise ValueError(f"{what} must be a whole number from {least} to {most}; the device has {repr(number)[:40]}.")
    return number


def _list(content: object) -> Sequence[Any]:
    if not isinstance(content, list | tuple) or not content:
        raise ValueError("A list in the device is empty or no list: export the design again.")
    return content


def in_the_clear(attributes: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the attributes that are sent as they are, beside the report."""
    return [attribute["name"] for attribute in attributes if attribute.get("known")]


def _attributes(domain: Mapping[str, Any] | None, sizes: Sequence[int], known: bool) -> Sequence[Mapping[str, Any]]:
    """The attributes of people, whose values must be those that the sampler takes."""
    attributes = [] if domain is None else _list(domain["attributes"])
    _whole(len(attributes), "The number of attributes", 0, MOST_TOGETHER)
    stated = [_whole(attribute["size"], "The size of an attribute", 1, MOST) for attribute in attributes]
    flags = [attribute.get("known", False) for attribute in attributes]
    clear, secret = (
        [size for size, flag in zip(stated, flags, strict=True) if flag is wanted] for wanted in (True, False)
    )
    groups = math.prod(clear)
    fits = list(sizes) in ([groups, math.prod(secret)], [groups, *secret])
    in_groups = all(isinstance(flag, bool) for flag in flags) and any(flags) and fits
    if stated and not (in_groups if known else not any(flags) and list(sizes) in (stated, [math.prod(stated)])):
        raise ValueError("The attributes of the device have other values than its sampler takes: export it again.")
    if not all(map(_readable, attributes, stated)):
        raise ValueError("The values of an attribute of the device cannot be read: export it again.")
    if len({_looks(attribute["name"]) for attribute in attributes}) < len(attributes):
        raise ValueError(
            "Two attributes of the device have names that look the same, so that one could be taken for the other: rename one, "
            "and export the design again."
        )
    return attributes


def _looks(name: str) -> str:
    """A name without what cannot be seen: normal form KC, blanks as one space, no signs that show nothing."""
    text = unicodedata.normalize("NFKC", UNSEEN.sub("", name))
    return " ".join("".join(i for i in text if i.isspace() or unicodedata.category(i) not in ("Cc", "Cf")).split())


def _readable(attribute: Mapping[str, Any], size: int) -> bool:
    """Whether `encode` finds a number below ``size`` for what people may say."""
    bins = _whole(attribute["ordinary"], "The number of bins", 1, size)
    special = [place for place in (attribute["other"], attribute["missing"]) if place is not None]
    for place in (*attribute["words"].values(), *special):
        _whole(place, "The number of a value", 0, size - 1)
    kind, numbers = attribute["kind"], list[Any]()
    flags, ordered = [attribute["clamp"]], True
    if kind == "numbers":
        numbers = list(_list(attribute["edges"]))
        ordered = len(numbers) == bins + 1 and all(a < b for a, b in pairwise(numbers))
    elif kind == "range":
        numbers = [attribute["low"], attribute["high"], attribute["high"] - attribute["low"], attribute["bins"]]
        flags, ordered = [*flags, attribute["integer"]], numbers[2] >= 0 and attribute["bins"] == bins
    elif kind == "dates":
        numbers = [attribute["first"]]
        flags, ordered = (
            [*flags, attribute["day_first"] is not None and attribute["day_first"]],
            attribute["unit"] in UNITS and attribute["first"] % 1 == 0,
        )
    elif kind != "categories":
        return False
    elif "holds" in attribute:
        texts = [*_list(attribute["parts"]), attribute["sign"], attribute["between"]]
        ordered = attribute["holds"] in HOLDS and all(isinstance(text, str) and text for text in texts)
    flags.append(kind == "categories" or attribute["unread"])
    numbers += attribute.get("no_answer", ())
    finite = all(type(number) in (int, float) and math.isfinite(number) for number in numbers)
    return ordered and finite and isinstance(attribute["name"], str) and all(isinstance(flag, bool) for flag in flags)


# --- samplers: each function takes what the description says and the sizes of the values given -------------------------


class Sampler(NamedTuple):
    """``draw`` gives a report of ``length`` numbers. ``high`` to ``low`` is the largest ratio of the
    likelihoods of one report; up to ``together`` reports are sent as one."""

    draw: Draw
    length: int
    high: int
    low: int
    together: int = 1


def _sampler(described: Mapping[str, Any], sizes: Sequence[int], depth: int = 0) -> Sampler:
    kind = described["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"This client does not know samplers of the kind {kind!r}: get the client of the same kit.")
    if "secret" in described and kind != "table":
        _check_all_secret([described])
    if depth > DEEPEST:
        raise ValueError(f"The device has samplers within samplers, more than {DEEPEST} deep: export it again.")
    made = KINDS[kind](described, sizes, depth) if kind in NESTED else KINDS[kind](described, sizes)
    _whole(made.length, "The length of a report", 1, LONGEST)
    return made


def _over(chance: int, other: int) -> tuple[int, int]:
    """Two likelihoods, or numbers in proportion to them, as a ratio of at least 1: 1 to 0 where it has no bound."""
    return (max(chance, other), min(chance, other)) if chance and other else (1, 0)


def _worst(ratios: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The largest of ratios of at least 1."""
    high, low = 1, 1
    for one, other in ratios:
        if one * low > high * other:
            high, low = one, other
    return high, low


def _two_cells(inside: int, size: int, n: int) -> tuple[int, int]:
    """The ratio where ``size`` of ``n`` equally likely places are inside, and drawn with the chance ``inside``."""
    if not 0 < size < n:
        raise ValueError(f"A sampler needs places inside and outside; it has {size} of {n} inside.")
    return _over(inside * (n - size), (ONE - inside) * size)


def _types(n: object, sizes: Sequence[int], least: int = 2) -> int:
    """The number of types of a sampler that is given values of ``sizes``."""
    types = _whole(n, "The number of types", least, MOST)
    if len(sizes) != 1 or sizes[0] > types:
        raise ValueError(f"A sampler for {types} values is given values of sizes {list(sizes)}.")
    return types


def _chance(number: object) -> int:
    return _whole(number, "A chance", 0, ONE)


def _cumulative(chances: Sequence[int]) -> list[int]:
    sums = list(accumulate(map(_chance, _list(chances))))
    _check_sum(sums[-1])
    return sums


def _check_sum(total: int) -> None:
    if total != ONE:
        raise ValueError(
            f"The chances in a column of the device sum to 2^53 {total - ONE:+d} and not to 2^53: export it again."
        )


def _table(described: Mapping[str, Any], sizes: Sequence[int]) -> Sampler:
    columns = _list(described["columns"])
    _types(len(columns), sizes, 1)
    sums = [_cumulative(column) for column in columns]
    if any(len(column) != len(columns[0]) for column in columns):
        raise ValueError("The columns of the device have different numbers of chances: export it again.")
    rows: Iterable[Sequence[int]] = zip(*columns, strict=True)
    if "secret" in described:
        rows = _covered(rows, [_whole(u, "A secret value", 0, len(columns) - 1) for u in _list(described["secret"])])
    ratio = _worst((max(row), min(row)) for row in rows)
    return Sampler(lambda value, below: [bisect_right(sums[value[0]], below(ONE))], 1, *ratio)


def _covered(rows: Iterable[Sequence[int]], secret: Sequence[int]) -> list[Sequence[int]]:
    """The reports that a ``secret`` value can send. ValueError where another one is not that of one open value alone."""
    if any(a >= b for a, b in pairwise(secret)):
        raise ValueError("Secret values are named once, in order: export the design again.")
    covered = list[Sequence[int]]()
    for row in rows:
        if any(row[u] for u in secret):
            covered.append(row)
        elif len(row) - row.count(0) != 1:
            raise ValueError(
                "This device breaks its promise: a report that no secret value can send must be that of one open value alone. Do not use it."
            )
    return covered


def _two_valued(described: Mapping[str, Any], sizes: Sequence[int]) -> Sampler:
    low, high, rest = ([_chance(number) for number in _list(described[key])] for key in ("low", "high", "rest"))
    cells, digits = _list(described["cells"]), 2 * -(-len(low) // 8)
    _types(len(cells), sizes, 1)
    whole = all(isinstance(text, str) and len(text) == digits and not text.strip("0123456789abcdef") for text in cells)
    if not whole or len(low) != len(high) or len(cells) != len(rest):
        raise ValueError("The columns of the device have different numbers of chances: export it again.")

    gaps, lowest = [h - lo for h, lo in zip(high, low, strict=True)], sum(low)

    def bits(u: int) -> bytes:
        return f"{int(cells[u], 16):0{4 * digits}b}".encode().translate(BITS)

    for u in range(len(cells)):
        _check_sum(lowest + sum(compress(gaps, bits(u))) + rest[u])

    def draw(value: Sequence[int], below: Below) -> list[int]:
        sums = accumulate(map(add, low, map(mul, gaps, bits(value[0]))))  # all but the last, which is what is left
        return [bisect_right([*sums], below(ONE))]

    return Sampler(draw, 1, *_worst(map(_over, [*high, max(rest)], [*low, min(rest)])))


def _response(described: Mapping[str, Any], sizes: Sequence[int]) -> Sampler:
    n, truth = _types(described["n"], sizes), _chance(described["truth"])

    def draw(value: Sequence[int], below: Below) -> list[int]:
        truthful = below(ONE) < truth
        other = below(n)
        return [value[0] if truthful else other]

    return Sampler(draw, 1, *_over(n * truth + ONE - truth, ONE - truth))


def _bits(described: Mapping[str, Any], sizes: Sequence[int]) -> Sampler:
    n, p, q = _types(described["n"], sizes), _chance(described["own"]), _chance(described["other"])
    return Sampler(
        lambda value, below: [int(below(ONE) < (p if j == value[0] else q)) for j in range(n)],
        n,
        *_over(p * (ONE - q), q * (ONE - p)),
    )


def _subset(described: Mapping[str, Any], sizes: Sequence[int]) -> Sampler:
    n, inside = _types(described["n"], sizes), _chance(described["inside"])
    size = _whole(described["size"], "The size of sets", 1, n)

    def draw(value: Sequence[int], below: Below) -> list[int]:
        u = value[0]
        included = below(ONE) < inside
        others: set[int] = set()
        for j in range(n - 1 - size, n - 1):
            needed = not included or j > n - 1 - size  # one less of the others where u is in the set
            t = below(j + 1)  # drawn all the same, so that the number of bytes says nothing about the value
            if needed:
                others.add(j if t in others else t)
        return sorted([t + (t >= u) for t in others] + [u] * included)

    return Sampler(draw, size, *_two_cells(inside, size, n))


def _hash(described: Mapping[str, Any], sizes: Sequence[int]) -> Sampler:
    n, keep = _types(described["n"], sizes), _chance(described["keep"])
    digits = _whole(described["digits"], "The number of binary digits", 1, 64)
    buckets = _whole(described["buckets"], "The number of buckets", 2, MOST)
    if n > 2**digits:
        raise ValueError(f"{n} types do not have numbers of {digits} binary digits.")

    def draw(value: Sequence[int], below: Below) -> list[int]:
        u, key = value[0], below(2**64)
        coefficients = [below(buckets) for _ in range(digits)]
        offset = below(buckets)
        bucket = _mix(key + u * 0x9E3779B97F4A7C15) + sum(a for i, a in enumerate(coefficients) if u >> i & 1) + offset
        kept = below(ONE) < keep
        further = 1 + below(buckets - 1)
        return [key, *coefficients, offset, (bucket if kept else bucket + further) % buckets]

    return Sampler(draw, digits + 3, *_two_cells(keep, 1, buckets))


def _mix(z: int) -> int:
    """SplitMix64 (Steele et al. 2014)."""
    z %= 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def _sign(described: Mapping[str, Any], sizes: Sequence[int]) -> Sampler:
    _types(described["n"], sizes)
    first, flip = _whole(described["first"], "The first coefficient", 0, MOST), _chance(described["flip"])
    count = _whole(described["count"], "The number of coefficients", 1, MOST - first)

    def draw(value: Sequence[int], below: Below) -> list[int]:
        i = below(count)
        minus = bin((first + i) & value[0]).count("1") & 1
        return [2 * i + (minus ^ (below(ONE) < flip))]

    return Sampler(draw, 1, *_over(ONE - flip, flip))


def _places(described: Mapping[str, Any], n: int) -> tuple[Callable[[Below], int], int, int]:
    """Draws a cell of ``n``: one of those inside, with its chance, or one of those outside. And the ratio."""
    cells, inside = described["cells"], _chance(described["inside"])
    if not isinstance(cells, str) or len(cells) != n or cells.strip("01"):
        raise ValueError(f"The cells of a sampler must be a text of {n} digits 0 and 1.")
    ones, zeros = ([i for i, digit in enumerate(cells) if digit == wanted] for wanted in "10")

    def draw(below: Below) -> int:
        chosen = below(ONE) < inside
        i, j = below(len(ones)), below(len(zeros))
        return ones[i] if chosen else zeros[j]

    return draw, *_two_cells(inside, len(ones), n)


def _pattern(described: Mapping[str, Any], sizes: Sequence[int]) -> Sampler:
    _whole(len(_list(described["sizes"])), "The number of attributes", 1, MOST_TOGETHER)
    axes = [_whole(size, "The size of an attribute", 1, MOST) for size in described["sizes"]]
    place, high, low = _places(described, _types(len(described["cells"]), sizes))
    if math.prod(axes) != len(described["cells"]):
        raise ValueError("A pattern must have as many cells as there are combinations of its attributes.")

    def draw(value: Sequence[int], below: Below) -> list[int]:
        report = []
        for size, a, b in zip(axes, _apart(place(below), axes), _apart(value[0], axes), strict=True):
            moved = [k for k in range(size) if k != b]
            for i in range(size - 2, 0, -1):
                j = below(i + 1)
                moved[i], moved[j] = moved[j], moved[i]
            moved.insert(a, b)
            report += moved
        return report

    return Sampler(draw, sum(axes), high, low)


def _apart(number: int, sizes: Sequence[int]) -> list[int]:
    """The inverse of `_joined`."""
    digits = []
    for size in reversed(sizes):
        number, digit = divmod(number, size)
        digits.append(digit)
    return digits[::-1]


def _parts(described: Mapping[str, Any], sizes: Sequence[int], depth: int) -> list[Sampler]:
    """The sampler of each part. Each of "draws" is made once, for the largest values that a part gives it."""
    draws, given = _list(described["draws"]), dict[int, list[int]]()
    _check_all_secret(draws)
    read = [
        (_whole(part["draw"], "The number of a sampler", 0, len(draws) - 1), part["value"])
        for part in _list(described["parts"])
    ]
    for k, terms in read:
        values = list(sizes) if terms is None else [_reach(terms, sizes)]
        before = given.setdefault(k, values)
        if len(before) != len(values):
            raise ValueError("A sampler is given values of different lengths: export the design again.")
        given[k] = list(map(max, before, values))
    made = {k: _sampler(draws[k], values, depth + 1) for k, values in given.items()}
    return [made[k] if terms is None else made[k]._replace(draw=_read(terms, made[k].draw)) for k, terms in read]


def _check_all_secret(draws: Sequence[Mapping[str, Any]]) -> None:
    """What is drawn within another sampler keeps every value secret."""
    if any("secret" in draw for draw in draws):
        raise ValueError("Only tables by themselves have values that are not secret: export the design again.")


def _reach(terms: Sequence[Sequence[int]], sizes: Sequence[int]) -> int:
    """How many values the sum of terms can have: one more than its largest."""
    largest = 0
    for i, modulo, divide, times in _list(terms):
        _whole(i, "The place of a number", 0, len(sizes) - 1)
        for number, least in ((modulo, 1), (divide, 1), (times, 0)):
            _whole(number, "A number that values are read with", least, MOST)
        largest += times * ((min(sizes[i], modulo) - 1) // divide)
    return _whole(largest + 1, "The number of values", 1, MOST)


def _read(terms: Sequence[Sequence[int]], draw: Draw) -> Draw:
    return lambda value, below: draw(
        [sum(times * (value[i] % modulo // divide) for i, modulo, divide, times in terms)], below
    )


def _one_of(described: Mapping[str, Any], sizes: Sequence[int], depth: int) -> Sampler:
    parts, fill = _parts(described, sizes, depth), _whole(described["fill"], "What fills reports up", -1, 0)
    width = _whole(described["width"], "The width of reports", 1, LONGEST)
    sums = None if described["shares"] is None else _cumulative(described["shares"])
    if width != 1 + max(part.length for part in parts):
        raise ValueError("The width of reports is not that of the longest part: export the design again.")
    if sums is not None and (len(sums) != len(parts) or 0 in described["shares"]):
        raise ValueError(f"The {len(parts)} parts of a sampler need as many shares, none of them 0.")

    def draw(value: Sequence[int], below: Below) -> list[int]:
        number = below(len(parts)) if sums is None else bisect_right(sums, below(ONE))
        report = [number, *parts[number].draw(value, below)]
        return report + [fill] * (width - len(report))

    ratio = _worst((part.high, part.low) for part in parts)
    return Sampler(draw, width, *ratio, max(part.together for part in parts))


def _each(described: Mapping[str, Any], sizes: Sequence[int], depth: int) -> Sampler:
    parts = _parts(described, sizes, depth)
    length, together = sum(part.length for part in parts), sum(part.together for part in parts)
    _whole(together, "The number of reports sent as one", 1, MOST_TOGETHER)  # before very long numbers are computed
    high, low = math.prod(part.high for part in parts), math.prod(part.low for part in parts)
    return Sampler(
        lambda value, below: [number for part in parts for number in part.draw(value, below)],
        length,
        high,
        low,
        together,
    )


def _classes(described: Mapping[str, Any], sizes: Sequence[int], depth: int) -> Sampler:
    classes = [_whole(number, "A class", 0, MOST - 1) for number in _list(described["classes"])]
    _types(len(classes), sizes, 1)
    _check_all_secret([described["draw"]])
    made = _sampler(described["draw"], [max(classes) + 1], depth + 1)
    return made._replace(draw=lambda value, below: made.draw([classes[value[0]]], below))


def _known(described: Mapping[str, Any], sizes: Sequence[int], depth: int) -> Sampler:
    if depth or len(sizes) < 2:
        raise ValueError("What is sent in the clear comes first, and beside other numbers: export the design again.")
    draws = [_sampler(draw, sizes[1:], 1) for draw in _list(described["draws"])]
    which = [_whole(k, "The number of a sampler", 0, len(draws) - 1) for k in _list(described["which"])]
    width = _whole(described["width"], "The width of reports", 1, LONGEST)
    if len(which) != sizes[0] or width != 1 + max(draws[k].length for k in which):
        raise ValueError("The groups in the clear are not those of the samplers: export the design again.")
    ratio = _worst((draws[k].high, draws[k].low) for k in which)

    def draw(value: Sequence[int], below: Below) -> list[int]:
        report = [value[0], *draws[which[value[0]]].draw(value[1:], below)]
        return report + [0] * (width - len(report))

    return Sampler(draw, width, *ratio, max(draws[k].together for k in which))


KINDS: dict[str, Callable[..., Sampler]] = {
    "table": _table,
    "two_valued": _two_valued,
    "response": _response,
    "subset": _subset,
    "bits": _bits,
    "hash": _hash,
    "sign": _sign,
    "pattern": _pattern,
    "one_of": _one_of,
    "each": _each,
    "classes": _classes,
    "known": _known,
}
NESTED = ("one_of", "each", "classes", "known")
"""Kinds that hold other samplers."""


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
UNITS = ("day", *LABELS)
HOLDS = ("set", "ranking", "days")
RUN = re.compile("(.*[^ ]) *[x\u00d7] *([0-9]{1,3})", re.DOTALL)
"""A value on several days."""
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
    if "holds" in attribute:
        value = _combination(attribute, value)
    written, named = _text(value), f"The value {value!r} of {attribute['name']}"
    text, words = _plain(written), attribute["words"]
    code = (
        attribute["kind"] != "categories" and NUMBER.fullmatch(text) and float(text) in attribute.get("no_answer", ())
    )
    if code and attribute["missing"] is None:
        raise ValueError(f"{named} is a code for no answer, and people without one send no report.")
    if code:
        return int(attribute["missing"])
    place = None if _is_missing(text) else _place(attribute, text)
    if place is not None and (0 <= place < attribute["ordinary"] or attribute["clamp"]):
        return min(max(place, 0), attribute["ordinary"] - 1)
    if place is None and (written in words or text in words):
        return int(words[written if written in words else text])
    if _is_missing(text) or (place is None and attribute["kind"] != "categories" and attribute["unread"]):
        if attribute["missing"] is None:
            raise ValueError(f"{named} is missing, and people without one send no report.")
        return int(attribute["missing"])
    if place is None and attribute["kind"] != "categories":
        raise ValueError(f"{named} is not a {attribute['kind'].rstrip('s').replace('range', 'number')}.")
    if attribute["other"] is None:
        raise ValueError(f"{named} is outside the domain.")
    return int(attribute["other"])


def _combination(attribute: Mapping[str, Any], value: object) -> object:
    """The category of the parts that a list or a text holds; the value itself where they make none."""
    parts, holds = attribute["parts"], attribute["holds"]
    said = value if isinstance(value, list | tuple) else _text(value).split(attribute["sign"])
    names = [name for name in (_plain(_text(one)) for one in said) if name]
    if holds == "set" and set(names) <= set(parts):
        names = [part for part in parts if part in names] or ["(none)"]
    elif holds == "days":
        runs = [None if name in parts else RUN.fullmatch(name) for name in names]
        every = [
            day for name, run in zip(names, runs, strict=True) for day in ([run[1]] * int(run[2]) if run else [name])
        ]
        names = [f"{day} x{len(list(run))}" for day, run in groupby(every)]
    text = attribute["between"].join(names)
    return text if text in attribute["words"] or isinstance(value, list | tuple) else value


def _plain(text: str) -> str:
    """The text in normal form C, with all blanks as spaces and without signs of no width: what looks the same is the same."""
    text = re.sub("[\u00ad\u200b\u200e\u200f\u2060\ufeff]", "", text)
    text = re.sub("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]", " ", text)
    return unicodedata.normalize("NFC", text).strip()


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
    """The first day of the week, month, quarter or year with this label, such as 2026-W05, 2026-01,
    2026-Q1 and 2026."""
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
    groups = match.groupdict()
    if "a" in groups:  # 31.1.2026 has the day first; 31/1/2026 and 1/31/2026 where that is stated or clear
        a, b = int(groups["a"]), int(groups["b"])
        if not (groups["s"] == "." or day_first or (day_first is None and (a > 12 or a == b))):
            if day_first is None and b <= 12:
                return None
            a, b = b, a
        day, month = a, b
    else:
        name = groups.get("name", "").lower()
        named = (i for i, full in enumerate(MONTHS, 1) if name in (full, full[:3], full[:4]))
        day, month = int(groups["d"]), next(named, 0) if name else int(groups["m"])
    try:
        return date(int(groups["y"]), month, day)
    except ValueError:
        return None


def main(arguments: Sequence[str]) -> int:
    """Prints a report for each value: a type's number, or JSON."""
    key = arguments[1] if len(arguments) > 1 and arguments[0] == "--key" else None
    path, *values = (arguments if key is None else arguments[2:]) or [""]
    if not values:
        print("Usage: python client.py [--key KEY] device.json VALUE...   (a type's number, or JSON)", file=sys.stderr)
        return 2
    try:
        with open(path, encoding="utf-8") as file:
            description = json.load(file)
        device = Device(description) if key is None else Device.signed(description, key)
        for value in values:
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
