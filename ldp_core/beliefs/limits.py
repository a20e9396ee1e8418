"""The strongest beliefs about one person that any mechanism with a guarantee allows.

Local privacy read as odds: whatever somebody suspects beforehand, an epsilon-LDP report multiplies the odds of any one value, or
group of values, against any other by at most e^epsilon (Bayes' rule with Definition 2.4 of McKenna et al. 2020; Kasiviswanathan
and Smith 2014 on what the prior may be: anything). k reports drawn independently, or one after the other, multiply them by at most
e^(k epsilon) (basic composition: Dwork and Roth 2014, Theorem 3.16). An (epsilon, delta) report distinguishes any two values no
better than one that gives the value away with probability delta and keeps to epsilon otherwise (Kairouz, Oh and Viswanath 2015).

People are spread over the n types as in ``prior`` (n,), p below; None is evenly. Where everybody knows which of K groups a person is in,
it is (K, m), the m types of each group in a row: guesses are right in each group as if there were no other.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon


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
    return float(_shares(prior, n).max(axis=1).sum())


def best_guess(prior: np.ndarray | None, n: int, epsilon: float, delta: float = 0.0, reports: int = 1) -> float:
    """The largest chance, over all mechanisms with this guarantee, that the best guess at a person's value is right.

    Pure reports give max_k P_k E/(E + k - 1), with E = e^(reports epsilon) and P_k the share of the
    k commonest types together. A report counts only by the guess u it leads to, so V = sum_u p_u
    d_u with d_u = P(guess u | u). Every other type leads there at least d_u/E often, so d_v +
    sum_{u != v} d_u/E <= 1 for every v. The vertices of these d are k equal entries E/(E + k - 1),
    which randomized response on k types attains. A delta gives delta + (1 - delta) times that, by
    the same argument, attained by telling the truth with probability delta (derived in this
    project). The bound for several reports covers all that they reveal together.
    """
    return _guess(_together(prior, n), epsilon, delta, reports)


def _together(prior: np.ndarray | None, n: int) -> np.ndarray:
    """(K, m) the shares of the k commonest types of each group together, k from 1."""
    return np.cumsum(-np.sort(-_shares(prior, n)), axis=1)


def _shares(prior: np.ndarray | None, n: int) -> np.ndarray:
    """(K, m) p, in one group where no groups are known."""
    return check_prior(prior if prior is None else np.ravel(prior), n).reshape(
        (1, n) if prior is None else np.atleast_2d(prior).shape
    )


def _guess(together: np.ndarray, epsilon: float, delta: float, reports: int) -> float:
    """`best_guess`, with E/(E + k - 1) written for an E that may be beyond floating point."""
    shrunk = math.exp(-reports * check_epsilon(epsilon))
    pure = float((together / (1 + np.arange(together.shape[1]) * shrunk)).max(axis=1).sum())
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
