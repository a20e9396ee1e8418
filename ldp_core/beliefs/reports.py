"""Beliefs about the sender of one report of a given mechanism, from its table of probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldp_core.limits import MOST_CHANNEL_ENTRIES
from ldp_core.mechanisms import ExplicitMechanism, Mechanism
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.strata import StratifiedMechanism
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.trees.node_reports import HierarchicalTree
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.priors import check_prior

_ENTRIES_AT_ONCE = 2**20


@dataclass(frozen=True)
class Exposure:
    """The most that one report of a mechanism reveals about its sender.

    Attributes:
        between: logarithm of the largest factor by which it can change the odds of one value against another; infinite where some
            reports settle it, as the rare ones of (epsilon, delta) mechanisms can.
        single: the same for one value against all others, people being spread over these as in the prior. None where no table
            of probabilities is available.
        guess: chance that the best guess at the value of a person drawn from the prior is right. None likewise.
    """

    between: float
    single: float | None
    guess: float | None


def exposure(mechanism: Mechanism, prior: np.ndarray | None = None) -> Exposure:
    """The most that one report of ``mechanism`` reveals: exact, from its probabilities, or None if
    they do not say.

    Sets of types and unary encodings have formulas, as they have too many reports to write out;
    others use the table of P(report | type) if it is available or has at most `MOST_CHANNEL_ENTRIES`.
    """
    p, audit = check_prior(prior, mechanism.n), mechanism.audit()
    between = math.inf if audit.delta > 0 else audit.epsilon
    if isinstance(mechanism, StratifiedMechanism):
        return _of_strata(mechanism, p, between)
    single, guess = _revealed(mechanism, p, between)
    if single is None or guess is None:
        return Exposure(between, single, guess)
    return Exposure(between, min(single, between), min(guess, 1.0))  # rounding must not overstep what is certain


def _revealed(mechanism: Mechanism, p: np.ndarray, between: float) -> tuple[float | None, float | None]:
    """`Exposure.single` and `Exposure.guess`, the latter for any weights ``p`` of the types."""
    if isinstance(mechanism, RandomizedResponse | SubsetSelection):
        return _of_sets(mechanism, p)
    if isinstance(mechanism, UnaryEncoding):
        # The report with no other bit set is the least likely under every other type at once.
        return between, _guess_of_bits(mechanism, p)
    if (table := _table(mechanism)) is not None:
        return of_table(table, p)
    return None, _guess_of_nodes(mechanism, p) if isinstance(mechanism, HierarchicalTree) else None


def _guess_of_nodes(mechanism: HierarchicalTree, p: np.ndarray) -> float | None:
    """sum_y max_u p_u P(y | u) of reports about one node on a random level: the likeliest type of a node stands for it."""
    guesses = []
    for level, oracle in enumerate(mechanism.oracles):
        best = np.zeros(oracle.n)
        np.maximum.at(best, mechanism.tree.nodes_of(level, np.arange(mechanism.n)), p)
        if (guess := _revealed(oracle, best, 0.0)[1]) is None:
            return None
        guesses.append(guess / mechanism.gains[level])
    return sum(guesses)


def _of_strata(mechanism: StratifiedMechanism, p: np.ndarray, between: float) -> Exposure:
    """What a report reveals to somebody who knows the stratum anyway: the most of any, and right guesses in all."""
    single, guess = list[float | None](), list[float | None]()
    for made, types in zip(mechanism.strata, mechanism.types, strict=True):
        if (share := float(p[types].sum())) > 0:
            seen = exposure(made, p[types] / share)
            single.append(seen.single)
            guess.append(None if seen.guess is None else share * seen.guess)
    known = [one for one in single if one is not None], [one for one in guess if one is not None]
    whole = [len(one) == len(single) for one in known]
    return Exposure(between, max(known[0]) if whole[0] else None, sum(known[1]) if whole[1] else None)


def _table(mechanism: Mechanism) -> np.ndarray | None:
    """(m, n) P(report | type), None where it is too large or there are infinitely many reports."""
    if isinstance(mechanism.drawn, ExplicitMechanism):
        return mechanism.strategy
    channel = mechanism.channel
    if channel is None or math.prod(channel.shape) > MOST_CHANNEL_ENTRIES:
        return None
    return np.asarray(channel @ np.eye(mechanism.n))


def of_table(table: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """Of P(y | u) (m, n): largest log of P(y | u) / P(y | not u) over reports y and types u, and sum_y max_u p_u P(y | u)."""
    left, heavy = 1 - p, int(p.argmax())
    others = _others(p, heavy)
    rows, largest, guess = max(1, _ENTRIES_AT_ONCE // p.size), 0.0, 0.0
    for start in range(0, len(table), rows):
        Q = table[start : start + rows]
        joint = Q * p
        guess += float(joint.max(axis=1).sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = (joint.sum(axis=1, keepdims=True) - joint) / left
            rest[:, heavy] = Q @ others  # hardly anything may be left when most people have this type
            ratios = Q / np.maximum(rest, 0)
        largest = max(largest, float(np.nanmax(ratios)))
    return (math.log(largest) if largest > 0 else 0.0), guess


def _others(p: np.ndarray, u: int) -> np.ndarray:
    """(n,) how people who are not of type ``u`` are spread; evenly where there are none."""
    rest = np.where(np.arange(p.size) == u, 0.0, p)
    return rest / rest.sum() if rest.any() else (np.arange(p.size) != u) / (p.size - 1)


def _of_sets(mechanism: RandomizedResponse | SubsetSelection, p: np.ndarray) -> tuple[float, float]:
    """`of_table` of reports that are sets of k types, without the C(n, k) of them.

    About type u the strongest set holds the k - 1 rarest of the others. Among all sets a share t_i has the i-th commonest type
    as its commonest (t_0 = k/n, and so on); then the best guess is that type, or the commonest of all from outside the set.
    """
    n, k = mechanism.n, mechanism.size if isinstance(mechanism, SubsetSelection) else 1
    inside, outside = mechanism.p * n / k, (1 - mechanism.p) * n / (n - k)  # times the number of sets
    rising = np.argsort(p, kind="stable")
    rarest = np.concatenate([[0.0], np.cumsum(p[rising])])
    among = rarest[k - 1] + np.where(np.arange(n) < k - 1, p[rising[k - 1]] - p[rising], 0.0)
    left = rarest[-1] - p[rising]
    with np.errstate(divide="ignore", invalid="ignore"):
        among = np.where(left > 0, among / left, (k - 1) / (n - 1))
    lightest = float(np.clip(among, 0.0, 1.0).min())
    single = math.log(inside / (outside + (inside - outside) * lightest))
    falling = p[rising[::-1]]
    ranks = np.arange(n - k + 1)
    shares = k / n * np.cumprod(np.concatenate([[1.0], (n - k - ranks[:-1]) / (n - 1 - ranks[:-1])]))
    guesses = np.maximum(falling[: n - k + 1] * inside, falling[0] * outside)
    return single, float(shares @ guesses)


def _guess_of_bits(mechanism: UnaryEncoding, p: np.ndarray) -> float:
    """sum_y max_u p_u P(y | u) over all 2^n vectors of bits, from the rank of the commonest type whose bit is set: i with
    probability (1 - q)^i q if all bits were those of other types."""
    on, off, q = mechanism.p / mechanism.q, (1 - mechanism.p) / (1 - mechanism.q), mechanism.q
    falling = -np.sort(-p)
    none = np.exp(np.arange(p.size + 1) * math.log1p(-q))  # that the first bits are not set
    guesses = np.maximum(falling * on, falling[0] * off)
    return float(q * none[:-1] @ guesses + none[-1] * falling[0] * off)
