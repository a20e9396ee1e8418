"""What the reports of one person let somebody believe about them.

Local privacy read as odds: whatever somebody suspects beforehand, an epsilon-LDP report multiplies the odds of any one value, or
group of values, against any other by at most e^epsilon (Bayes' rule with Definition 2.4 of McKenna et al. 2020; Kasiviswanathan
and Smith 2014 on what the prior may be: anything). k reports drawn independently, or one after the other, multiply them by at most
e^(k epsilon) (basic composition: Dwork and Roth 2014, Theorem 3.16). An (epsilon, delta) report tells apart any two values no
better than one that gives the value away with probability delta and keeps to epsilon otherwise (Kairouz, Oh and Viswanath 2015).

`told` works out what a mechanism really allows, from its table of probabilities. People are spread over the n types as in
``prior`` (n,), p below; None is evenly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from ldp_core.mechanisms import ExplicitMechanism, Mechanism
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon
from ldp_core.wording import rounded_up, significant

TABLE_ENTRIES = 2**22
"""Tables of probabilities that are not at hand are written out up to this size."""
NO_LIMIT = math.log(1e6)
"""Beyond this total epsilon "at most" limits nothing."""
CERTAIN = 0.9999
"""Beliefs above this are called certainty."""
_ENTRIES_AT_ONCE = 2**20


@dataclass(frozen=True)
class Told:
    """What one report of a mechanism can tell about its sender, at most.

    Attributes:
        between: logarithm of the largest factor by which it can change the odds of one value against another; infinite where some
            reports settle it, as the rare ones of (epsilon, delta) mechanisms can.
        single: the same for one value against all others, people being spread over these as in the prior. None where no table
            of probabilities is at hand.
        guess: chance that the best guess at the value of a person drawn from the prior is right. None likewise.
        attained: whether some report does what ``between`` says; where not, that is an upper bound, and ``single`` another.
    """

    between: float
    single: float | None
    guess: float | None
    attained: bool = True


def strongest(suspicion: float, epsilon: float, reports: int = 1) -> float:
    """The strongest belief that ``reports`` with this ``epsilon`` each can lead to, from ``suspicion``: odds times e^(k epsilon).

    ``epsilon`` may also be what a mechanism delivers (infinite: certainty). ValueError for a suspicion that is not above 0 and
    below 1.
    """
    if not 0 < suspicion < 1:
        raise ValueError(f"A suspicion is a probability above 0 and below 1; got {suspicion:g}.")
    return float(expit(logit(suspicion) + reports * epsilon))


def blind_guess(prior: np.ndarray | None, n: int) -> float:
    """Chance that the best guess at a person's value is right before any report: the share of the commonest type."""
    return float(check_prior(prior, n).max())


def best_guess(prior: np.ndarray | None, n: int, epsilon: float, delta: float = 0.0, reports: int = 1) -> float:
    """The largest chance, over all mechanisms with this guarantee, that the best guess at a person's value is right.

    For pure reports max_k P_k E/(E + k - 1), with E = e^(reports epsilon) and P_k the share of the k commonest types together.
    A report is worth the guess u it leads to, so V = sum_u p_u d_u with d_u = P(guess u | u), and since every other type leads
    there at least d_u/E often, d_v + sum_{u != v} d_u/E <= 1 for every v. The vertices of these d are k equal entries
    E/(E + k - 1), which randomized response on k types attains. With delta it is delta + (1 - delta) times that, by the same
    argument, attained by telling the truth with probability delta (derived in this project). For several reports this is a
    bound on whatever they tell together.
    """
    return _guess(_together(prior, n), epsilon, delta, reports)


def _together(prior: np.ndarray | None, n: int) -> np.ndarray:
    """(n,) the shares of the k commonest types together, k from 1."""
    return np.cumsum(-np.sort(-check_prior(prior, n)))


def _guess(together: np.ndarray, epsilon: float, delta: float, reports: int) -> float:
    """`best_guess`, with E/(E + k - 1) written for an E that may be beyond floating point."""
    shrunk = math.exp(-reports * check_epsilon(epsilon))
    pure = float((together / (1 + np.arange(together.size) * shrunk)).max())
    given_away = min(1.0, reports * delta)
    return min(1.0, given_away + (1 - given_away) * pure)


def over_epsilon(
    suspicion: float, prior: np.ndarray | None, n: int, epsilons: np.ndarray, delta: float = 0.0, reports: int = 1
) -> pd.DataFrame:
    """epsilon, belief, guess: `strongest` and `best_guess` at each of ``epsilons``."""
    together, at = _together(prior, n), [float(epsilon) for epsilon in epsilons]
    return pd.DataFrame(
        {
            "epsilon": at,
            "belief": [strongest(suspicion, epsilon, reports) for epsilon in at],
            "guess": [_guess(together, epsilon, delta, reports) for epsilon in at],
        }
    )


def told(mechanism: Mechanism, prior: np.ndarray | None = None) -> Told:
    """What one report of ``mechanism`` can tell: exact, from its probabilities, or with None for what they do not say.

    For sets of types and unary encodings by formulas, as they have too many reports to write out; for others from the table of
    P(report | type) where it is at hand or has at most `TABLE_ENTRIES`.
    """
    p, audit = check_prior(prior, mechanism.n), mechanism.audit()
    between = math.inf if audit.delta > 0 else audit.epsilon
    if isinstance(mechanism, RandomizedResponse | SubsetSelection):
        single, guess = _of_sets(mechanism, p)
    elif isinstance(mechanism, UnaryEncoding):
        # The report with no other bit set is the least likely under every other type at once.
        single, guess = between, _guess_of_bits(mechanism, p)
    elif (table := _table(mechanism)) is not None:
        single, guess = _of_table(table, p)
    else:
        return Told(between, None, None)
    return Told(between, min(single, between), min(guess, 1.0))  # rounding must not overstep what is certain


def _table(mechanism: Mechanism) -> np.ndarray | None:
    """(m, n) P(report | type), None where it is too large or there are infinitely many reports."""
    if isinstance(mechanism, ExplicitMechanism):
        return mechanism.strategy
    channel = mechanism.channel
    if channel is None or math.prod(channel.shape) > TABLE_ENTRIES:
        return None
    return np.asarray(channel @ np.eye(mechanism.n))


def _of_table(table: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """Largest log of P(y | u) / P(y | not u) over reports y and types u, and sum_y max_u p_u P(y | u)."""
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
    """`_of_table` of reports that are sets of k types, without the C(n, k) of them.

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


# --- in words -------------------------------------------------------------------------------------------------------


def out_of(chance: float, base: int = 100) -> str:
    """A probability as people picture it: "73 of 100", "2.4 of 1,000". Never certain unless it is."""
    value = chance * base
    if chance >= 1:
        text = f"{base:,}"
    elif value > base - 0.005:
        return f"more than {base - 0.01:,.2f} of {base:,}"
    elif value > base - 1:
        text = f"{value:,.1f}" if value < base - 0.1 else f"{value:,.2f}"
    else:
        text = significant(value, 2) if value < 10 else f"{value:,.0f}"
    return f"{text} of {base:,}"


def base_of(least: float) -> int:
    """The power of ten, from 1,000 up, out of which the smallest of a few probabilities is at least 10."""
    return int(10 ** max(3, math.ceil(1 - math.log10(least) - 1e-9)))


def belief_in_words(suspicion: float, epsilon: float, delta: float = 0.0, reports: int = 1) -> str:
    """What any mechanism with this guarantee allows, as one sentence."""
    seen, belief = (
        "their report" if reports == 1 else f"all their {reports:,} reports",
        strongest(suspicion, epsilon, reports),
    )
    words = f"Whoever gives it {out_of(suspicion)} that a person has a certain value, or one of a certain group, can be led by {seen} "
    words += f"to about {out_of(belief)} at most" if belief <= CERTAIN else "to practical certainty"
    if reports * epsilon > NO_LIMIT:
        words += ": more than a million times the odds, and so no limit worth the name"
    if delta > 0:
        words += f"; but for delta: with probability {rounded_up(min(1.0, reports * delta), 2)} the value itself may be given away"
    return f"{words}."


def told_in_words(found: Told, title: str, suspicion: float, epsilon: float, reports: int = 1) -> str:
    """What the mechanism with this ``title`` allows, to follow `belief_in_words`."""
    most, of = (
        out_of(strongest(suspicion, found.between, reports)),
        "" if reports == 1 else f" after {reports:,} reports",
    )
    if math.isinf(found.between):
        words = f"{title} goes further in rare reports, up to practical certainty"
    elif found.between > epsilon + 1e-9:
        words = f"{title} goes further than this epsilon allows: to {most} for some pairs of values{of}"
    elif found.between < (1 - 1e-3) * epsilon:
        words = f"{title} stays below this: {most} at most for any pair of values{of}"
    elif not found.attained:
        words = f"{title} goes no further{of}"
    else:
        words = f"{title} reaches this for some pairs of values{of}"
    if reports > 1 or math.isinf(found.between):
        return f"{words}."
    if found.single is None and not found.attained:
        return f"{words}; how far it goes is not worked out."
    if found.single is None:
        return f"{words}. For one value against all others it goes no further; how far is not worked out."
    if found.single > found.between - 1e-3:
        return f"{words}, and the same for one value against all others."
    alone = strongest(suspicion, found.single)
    return f"{words}; for one value against all others, {out_of(alone) if alone <= CERTAIN else 'certainty'} at most."


def guess_in_words(found: Told | None, blind: float, limit: float, reports: int = 1, what: str = "value") -> str:
    """How often the best guess at a person's value, or another ``what`` of theirs, is right: blindly, with a report of the mechanism,
    and with any."""
    guess = None if found is None or reports > 1 else found.guess
    base = base_of(blind)
    reading = "a report" if reports == 1 else f"{reports:,} reports"
    words = f"The best guess at a person's {what} is right for {out_of(blind, base)} people without {reading}"
    if guess is not None:
        words += f", for {out_of(guess, base)} with it"
    return f"{words}, and for {out_of(limit, base)} at most with any mechanism that has this guarantee."
