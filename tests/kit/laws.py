"""The exact law of a device, found by going through all outcomes of its random choices."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from ldp_core.kit.client import ONE

KEYS = (0, 12345678901234567890, 2**64 - 1)
"""What stands for all hash keys: the law of OLH given one of them."""


class Uniform:
    """A number drawn evenly from a range, of which is known only what was asked."""

    def __init__(self, choose):
        self.low, self.high, self.choose = 0, ONE, choose

    def __lt__(self, limit):
        if self.low < limit < self.high:
            chances = [
                Fraction(limit - self.low, self.high - self.low),
                Fraction(self.high - limit, self.high - self.low),
            ]
            if self.choose(chances) == 0:
                self.high = limit
            else:
                self.low = limit
        return self.high <= limit

    def __ge__(self, limit):
        return not self < limit


def law(device, value):
    """{report: its exact probability} for a person with ``value``."""
    found = defaultdict(Fraction)
    waiting = [()]
    while waiting:
        script = waiting.pop()
        path, weight = [], Fraction(1)

        def choose(chances):
            nonlocal weight
            place = len(path)
            if place < len(script):
                chosen = script[place]
            else:
                chosen = 0
                waiting.extend((*path, other) for other in range(1, len(chances)))
            path.append(chosen)
            weight *= chances[chosen]
            return chosen

        def below(n):
            if n == ONE:
                return Uniform(choose)
            if n == 2**64:
                return KEYS[choose([Fraction(1, len(KEYS))] * len(KEYS))]
            return choose([Fraction(1, n)] * n) if n > 1 else 0

        found[tuple(device.draw(value, below))] += weight
    return dict(found)


def largest_ratio(laws):
    """The largest ratio of the probabilities of one report under two laws."""
    reports = {report for one in laws for report in one}
    return max(max(one[report] for one in laws) / min(one[report] for one in laws) for report in reports)
