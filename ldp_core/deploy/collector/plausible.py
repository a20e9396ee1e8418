"""Reports that no device of the design draws: true values sent as they are, another epsilon, forged or broken senders.

Each number that is counted is a sum of independent yes-or-no draws, whatever values people have. Their chances lie between the least and
the most over the types, so that its tails are at most those of a binomial, for any number of reports. The number of reports about each
level or set is binomial too, with a known chance. Outputs that are kept (`Mechanism.channel`) are also compared, all together, with the
best mixture of types. Twice the log-likelihood ratio is at most that of the true shares: chi-squared with m - 1 degrees of freedom
(Wilks 1938) or, if outputs are rare, bounded for any number of reports (Agrawal 2020, Theorem 1.2). Bits that are drawn on their own
have a known total, to five standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import chdtrc, ndtr

from ldp_core import wording
from ldp_core.deploy.collector.collection import Collection
from ldp_core.estimators import mle
from ldp_core.mechanisms.base import Mechanism, Reports
from ldp_core.mechanisms.parts import InParts
from ldp_core.mechanisms.strata import InStrata
from ldp_core.mechanisms.surveys.sampled import SampledSets
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import SplitSurvey
from ldp_core.mechanisms.trees.node_reports import HierarchicalTree
from ldp_core.mechanisms.unary import UnaryMechanism

STANDARD_ERRORS = 5.0
LEVEL = 2 * float(ndtr(-STANDARD_ERRORS))
"""The chance of a false alarm in each comparison: that of five standard errors."""
_ENTRIES, _WORK, _ROUNDS, _ENOUGH = 2**22, 2**27, 30, 5.0
_CELLS = 2**18  # a quarter of a second
UNLIKE = (
    "Devices of this design do not draw such reports: {what}. They may be true values, come from another epsilon or design, or be made up; "
    "do not use these answers before you know."
)


def unlike_in_words(collection: Collection, mechanism: Mechanism) -> str:
    """Sentences that say how the counted reports are beyond chance for devices of ``mechanism``; empty where they are not."""
    what = next(_found(mechanism.drawn, collection.reports), "") if collection.users else ""
    return UNLIKE.format(what=what) if what else ""


def _found(mechanism: Mechanism, reports: Reports) -> Iterator[str]:
    """The deviations from every device, in words."""
    users, n = reports.users, mechanism.n
    if isinstance(mechanism, InStrata):  # how many people are in each group is not drawn
        for made, part in zip(mechanism.strata, mechanism.reports_of(reports), strict=True):
            yield from _found(made.drawn, part) if part.users else ()
    elif mechanism.channel is not None:
        tally = mechanism.tally(reports)
        yield from _outside(tally, users, *_extremes(mechanism), what="one report makes up {} of all")
        if len(tally) * n <= _ENTRIES and len(tally) * n * n <= _WORK:
            yield from _mixed(mechanism, tally)
    elif isinstance(mechanism, HierarchicalTree | SampledSets | SplitSurvey | ScrambledPatterns):
        yield from _parts(mechanism, reports)
    elif mechanism.bit_chances is not None:
        sums = reports.arrays[0]
        yield from _outside(sums, users, *_extremes(mechanism), what="one value is named in {} of the reports")
        if isinstance(mechanism, UnaryMechanism):
            p, q = mechanism.p, mechanism.q
            expected, spread = users * (p + (n - 1) * q), math.sqrt(users * (p * (1 - p) + (n - 1) * q * (1 - q)))
            if abs(float(sums.sum()) - expected) > STANDARD_ERRORS * spread + n:
                yield f"they name {wording.significant(float(sums.sum()) / users)} values each, and {wording.significant(expected / users)} are drawn"


def _parts(
    mechanism: HierarchicalTree | SampledSets | SplitSurvey | ScrambledPatterns, reports: Reports
) -> Iterator[str]:
    """The deviations of the numbers of reports about each part, and of these reports, in words."""
    sent, *arrays = reports.arrays
    shares = 1 / np.asarray(mechanism.gains) if isinstance(mechanism, HierarchicalTree) else mechanism.shares
    parts: list[tuple[Mechanism, Reports]] = []
    if isinstance(mechanism, InParts):
        parts = list(zip(mechanism.parts, mechanism.reports_of(reports), strict=True))
    elif len(arrays[0]) <= _CELLS:
        yield from _covered(mechanism, sent, arrays[0])
    yield from _outside(sent, reports.users, shares, shares, what="one part of the questions has {} of the reports")
    for oracle, part in parts:
        if part.users:
            yield from _found(oracle.drawn, part)


def _covered(mechanism: ScrambledPatterns, sent: np.ndarray, cover: np.ndarray) -> Iterator[str]:
    """How many of the images of each pattern hold each cell: a person's own cell is held most often, and no other by less than e^-epsilon of
    that, whatever the person's values are."""
    cells = [pattern.cells.size for pattern in mechanism.patterns]
    users, most = np.repeat(sent, cells), np.repeat(mechanism.true_probability, cells)
    some, least = users > 0, most * math.exp(-mechanism.epsilon)
    if some.any():
        yield from _outside(
            cover[some], users[some], least[some], most[some], what="one cell is in {} of the patterns sent"
        )


def _extremes(mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """(m,) the least and the most chance of each number over the types; 0 and 1 where too many chances would have to be written out."""
    chances = mechanism.bit_chances if mechanism.channel is None else mechanism.channel
    assert chances is not None
    m, n = chances.shape
    if m * n <= _ENTRIES:
        written = mle.written_out(chances)
        return written.min(axis=1), written.max(axis=1)
    two = (getattr(mechanism, "q", 0.0), getattr(mechanism, "p", 1.0))
    return np.full(m, min(two)), np.full(m, max(two))


def _outside(
    counts: np.ndarray, users: int | np.ndarray, least: np.ndarray, most: np.ndarray, what: str
) -> Iterator[str]:
    """The count that is farthest beyond what these chances give, in words, if chance does not explain it."""
    from scipy.stats import binom  # only where it is used: to load it takes a third of the start

    level, rounding = LEVEL / len(counts), 1e-12
    least, most = np.clip(least - rounding, 0, 1), np.clip(most + rounding, 0, 1)
    lower, upper = binom.cdf(counts, users, least), binom.sf(counts - 1, users, most)  # tails
    place = int(np.argmin(np.minimum(lower, upper)))
    if min(lower[place], upper[place]) < level:
        bound, word = (most[place], "most") if upper[place] <= lower[place] else (least[place], "least")
        yield f"{what.format(wording.share((counts / users)[place]))}, and at {word} {wording.share(float(bound))} is expected"


def _mixed(mechanism: Mechanism, tally: np.ndarray) -> Iterator[str]:
    """That no people draw reports in these proportions, if chance does not explain it."""
    Q, users, free = mle.written_out(mechanism.channel), float(tally.sum()), len(tally) - 1
    fit = mle.maximise(Q, tally, np.full(mechanism.n, 1 / mechanism.n), _ROUNDS)
    expected, sent = users * (Q @ fit.shares), tally > 0
    ratio = (
        float(tally[sent] @ np.log(tally[sent] / expected[sent])) - fit.gap
    )  # nats that the best mixture loses, at least
    if free < 1 or ratio <= free:
        return
    bound = free * (1 + math.log(ratio / free)) - ratio
    chance = float(chdtrc(free, 2 * ratio)) if expected.min() >= _ENOUGH else math.exp(bound)
    if chance < LEVEL:
        yield "no values of people lead to reports in these proportions"
