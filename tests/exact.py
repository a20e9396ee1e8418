"""The epsilon of mechanisms in exact rational arithmetic, from the numbers they draw reports with."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ldp_core.mechanisms.hrr import HadamardRandomizedResponse, sign_probabilities
from ldp_core.mechanisms.local_hashing import LocalHashing
from ldp_core.mechanisms.noise.additive import AdditiveMechanism, LaplaceNoise
from ldp_core.mechanisms.noise.ball import BallMechanism
from ldp_core.mechanisms.noise.rejection import RejectionMechanism
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.mechanisms.trees.node_reports import HierarchicalTree
from ldp_core.mechanisms.unary import UnaryEncoding


@lru_cache(maxsize=4096)
def e_to_the(x) -> tuple[Fraction, Fraction]:
    """e^x for a rational x from 0 to 32, or its text, from below and above: the decimal module rounds it correctly."""
    x = Fraction(x)
    with localcontext(prec=80):
        found = Fraction((Decimal(x.numerator) / x.denominator).exp())
    return found * (1 - Fraction(1, 10**58)), found * (1 + Fraction(1, 10**58))


def all_sets(n):
    """(2^n, n) every row of zeros and ones."""
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)


def exceeds(mechanism) -> str | None:
    """Why reports tell two types apart by more than epsilon; None where they do not."""
    for what, ratio in ratios(mechanism):
        if ratio > e_to_the(mechanism.epsilon)[0]:
            excess = float(ratio / e_to_the(mechanism.epsilon)[0] - 1)
            return f"{what} has odds of {excess:.3g} more than e^epsilon"
    return None


def ratios(mechanism):
    """Pairs of a drawn value and the largest odds (a Fraction) by which it distinguishes two types."""
    if isinstance(mechanism, HierarchicalTree):
        for oracle in mechanism.oracles:
            yield from ratios(oracle)
        return
    strategy = getattr(mechanism, "strategy", None)
    if strategy is not None:
        yield "a row of the strategy", max(map(_odds_of_row, np.unique(_ends(strategy), axis=0).tolist()))
    known = drawn(mechanism)
    if known is not None:
        yield "a draw", known
    elif strategy is None:
        raise TypeError(f"nothing is known of {type(mechanism).__name__}")


def _ends(strategy):
    return np.stack([strategy.max(axis=1), strategy.min(axis=1)], axis=1)


def _odds_of_row(ends):
    high, low = map(Fraction, ends)
    return high / low if low else Fraction(10**30)


def drawn(mechanism) -> Fraction | None:
    """The largest odds of a report by the numbers that `privatize` compares a uniform draw with."""
    if isinstance(mechanism, UnaryEncoding):
        p, q = Fraction(mechanism.p), Fraction(mechanism.q)
        return p * (1 - q) / (q * (1 - p))
    if isinstance(mechanism, LocalHashing):
        kept = Fraction(mechanism.p)
        return kept * (mechanism.buckets - 1) / (1 - kept)
    if isinstance(mechanism, RandomizedResponse):
        truthful = Fraction(mechanism.truthful)
        return 1 + mechanism.n * truthful / (1 - truthful)
    if isinstance(mechanism, SubsetSelection):
        p, k = Fraction(mechanism.p), mechanism.size
        return p * (mechanism.n - k) / ((1 - p) * k)
    if isinstance(mechanism, AdditiveMechanism) and isinstance(mechanism.noise, LaplaceNoise):
        return _laplace(mechanism)
    if isinstance(mechanism, Haar | HadamardRandomizedResponse):
        flipped = Fraction(sign_probabilities(mechanism.epsilon)[1])  # of the sign of a coefficient drawn evenly
        return (1 - flipped) / flipped
    if isinstance(mechanism, RejectionMechanism):
        return _rejection(mechanism)
    if isinstance(mechanism, BallMechanism):  # a point of the likely half of one type and the unlikely half of another
        towards = Fraction(float(mechanism._halves[0].max()))
        return towards / (1 - towards)
    return None


def _laplace(mechanism) -> Fraction:
    """At most e^(L1 distance/scale) for the types farthest apart: that exponent against epsilon, then back to odds."""
    columns = [list(map(Fraction, column)) for column in mechanism.vectors.T.tolist()]
    farthest = max(sum(abs(a - b) for a, b in zip(one, other, strict=True)) for one in columns for other in columns)
    exponent = farthest / Fraction(mechanism.noise.scale)
    return e_to_the(mechanism.epsilon)[0] * (1 if exponent <= Fraction(mechanism.epsilon) else 1 + exponent)


def _rejection(mechanism) -> Fraction:
    """Draws are sent with chances in [e^-c, e^c]/2 for the band c, whose odds are e^2c. All types
    send nothing equally often, as all vectors have one length (up to rounding)."""
    lengths = (mechanism.vectors**2).sum(axis=0)
    assert np.ptp(lengths) <= 1e-9 * lengths.max()
    band = 2 * Fraction(mechanism.acceptance.band)
    return e_to_the(mechanism.epsilon)[0] * (1 if band <= Fraction(mechanism.epsilon) else 2)


def exact_delta(mechanism) -> float:
    """The delta of normal noise for the types farthest apart: Balle and Wang 2018, Theorem 8, by the error function."""
    vectors = mechanism.vectors
    distance = (
        max(np.linalg.norm(vectors - other[:, None], axis=0).max() for other in vectors.T) / mechanism.noise.scale
    )
    if distance == 0:
        return 0.0

    def below(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    shift = mechanism.epsilon / distance
    return below(distance / 2 - shift) - math.exp(mechanism.epsilon) * below(-distance / 2 - shift)
