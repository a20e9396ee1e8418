"""The exact law of a device, found by going through all outcomes of its random choices."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

from ldp_core.deploy.kit.client import ONE

KEYS = (0, 12345678901234567890, 2**64 - 1)
"""Stands for all hash keys: the law of OLH given that its key is one of them."""


class Path:
    """One sequence of outcomes, which begins as ``script`` says and goes on with the first outcome of every choice."""

    def __init__(self, script):
        self.script, self.taken, self.weight, self.others, self.drawn = script, [], Fraction(1), [], []

    def choose(self, chances):
        place = len(self.taken)
        if place < len(self.script):
            chosen = self.script[place]
        else:
            chosen = 0
            self.others += [(*self.taken, other) for other in range(1, len(chances))]
        self.taken.append(chosen)
        self.weight *= chances[chosen]
        return chosen

    def below(self, n):
        found = self._below(n)
        self.drawn.append((n, found))
        return found

    def _below(self, n):
        if n == ONE:
            return Uniform(self)
        if n == 2**64:
            return KEYS[self.choose([Fraction(1, len(KEYS))] * len(KEYS))]
        return self.choose([Fraction(1, n)] * n) if n > 1 else 0

    @property
    def numbers(self):
        """The n of all calls below(n). How many bytes each takes is independent of its result, so that these decide about bytes."""
        return tuple(n for n, _ in self.drawn if n > 1)

    def bytes(self, last=False):
        """Random bytes with these results, none of them drawn again; the ``last`` of the numbers that would do, or the first."""
        found = b""
        for n, result in self.drawn:
            number = (result.high - 1 if last else result.low) if isinstance(result, Uniform) else result
            found += number.to_bytes(((n - 1).bit_length() + 7) // 8, "big")
        return found


class Uniform:
    """A number below 2^53, known only as far as it was compared."""

    def __init__(self, path):
        self.low, self.high, self.path = 0, ONE, path

    def __lt__(self, limit):
        if self.low < limit < self.high:
            width = self.high - self.low
            if self.path.choose([Fraction(limit - self.low, width), Fraction(self.high - limit, width)]):
                self.low = limit
            else:
                self.high = limit
        return self.high <= limit

    def __ge__(self, limit):
        return not self < limit


def paths(device, value):
    """(report, path) for every sequence of outcomes, for a person with ``value``."""
    waiting = [()]
    while waiting:
        path = Path(waiting.pop())
        report = device.draw(value, path.below)
        yield tuple(report), path
        waiting += path.others


def law(device, value, with_bytes=False):
    """{report: its exact probability} for a person with ``value``; or {(report, numbers): probability} with the n of all below(n)."""
    found = defaultdict(Fraction)
    for report, path in paths(device, value):
        found[(report, path.numbers) if with_bytes else report] += path.weight
    assert sum(found.values()) == 1
    return dict(found)


def largest_ratio(laws, secret=None):
    """The largest ratio of the probabilities of one report under two laws: infinite where one of them never sends it. Where ``secret`` names
    some of the laws, of the reports that one of these sends; infinite as well where two others share a report that none of these sends."""
    laws = list(laws)
    reports = {report for one in laws for report in one}
    if secret is not None:
        covered = {report for k in secret for report, chance in laws[k].items() if chance}
        alone = [sum(one.get(report, 0) > 0 for one in laws) for report in reports - covered]
        if max(alone, default=1) > 1:
            return math.inf
        reports = covered
    most_and_least = [
        (max(chances), min(chances)) for chances in ([one.get(report, 0) for one in laws] for report in reports)
    ]
    return max(most / least if least else math.inf for most, least in most_and_least)
