"""The exact law of a device, found by going through all outcomes of its random choices."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from ldp_core.kit.client import ONE

KEYS = (0, 12345678901234567890, 2**64 - 1)
"""What stands for all hash keys: the law of OLH given that its key is one of them."""


class Path:
    """One sequence of outcomes, which begins as ``script`` says and goes on with the first outcome of every choice."""

    def __init__(self, script):
        self.script, self.taken, self.weight, self.others = script, [], Fraction(1), []

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
        if n == ONE:
            return Uniform(self)
        if n == 2**64:
            return KEYS[self.choose([Fraction(1, len(KEYS))] * len(KEYS))]
        return self.choose([Fraction(1, n)] * n) if n > 1 else 0


class Uniform:
    """A number below 2^53 of which no more is known than was asked."""

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


def law(device, value):
    """{report: its exact probability} for a person with ``value``."""
    found, waiting = defaultdict(Fraction), [()]
    while waiting:
        path = Path(waiting.pop())
        report = device.draw(value, path.below)
        found[tuple(report)] += path.weight
        waiting += path.others
    assert sum(found.values()) == 1
    return dict(found)


def largest_ratio(laws):
    """The largest ratio of the probabilities of one report under two laws; every report must be possible under all."""
    reports = {report for one in laws for report in one}
    return max(max(one[report] for one in laws) / min(one[report] for one in laws) for report in reports)
