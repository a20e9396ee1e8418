"""The published mechanisms of people of whom only some values are secret (Murakami and Kawamoto 2019), as strategies over all types.

Both send covered reports, for sets h of secret types, that members of h send E times as often as all other people, and else an open type itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.privacy import check_epsilon, fitted_exp_epsilon
from ldp_core.workloads import Workload

EVERY_SECRET = "It is for people of whom only some values are secret, and here every value is: say on the Data page which ones are."


def randomized_response(workload: Workload, epsilon: float) -> ExplicitMechanism:
    """Their utility-optimised randomized response (Definition 5): the sets are single types."""
    s, E = int(workload.secret.sum()), fitted_exp_epsilon(check_epsilon(epsilon))
    return _made("utility_randomized_response", workload, epsilon, np.eye(s, dtype=bool), np.full(s, 1 / (s + E - 1)))


def rappor(workload: Workload, epsilon: float) -> ExplicitMechanism:
    """Their utility-optimised RAPPOR (Definition 7, theta = e^(epsilon/2) / (e^(epsilon/2) + 1)), without bits that say nothing about open types, and
    read in the best way."""
    s, E = int(workload.secret.sum()), fitted_exp_epsilon(check_epsilon(epsilon))
    theta = math.sqrt(E) / (math.sqrt(E) + 1)
    high = (np.arange(2**s)[:, None] >> np.arange(s) & 1).astype(bool)
    set_bits = high.sum(axis=1)
    weights = ((1 - theta) * E + theta) / E * (1 - theta) ** set_bits * theta ** (s - set_bits)
    return _made("utility_rappor", workload, epsilon, high, weights)


def _made(name: str, workload: Workload, epsilon: float, high: np.ndarray, weights: np.ndarray) -> ExplicitMechanism:
    """The mechanism of covered rows ``high`` (k, s) and their ``weights`` (k,)."""
    if workload.all_secret is workload:
        raise ValueError(EVERY_SECRET)
    secret, ratio = workload.secret, fitted_exp_epsilon(epsilon)
    covered = np.repeat(weights[:, None], workload.n, axis=1)
    covered[:, secret] *= np.where(high, ratio, 1.0)
    strategy = np.vstack([covered, np.diag(1 - covered.sum(axis=0))[~secret]])
    explanation = (
        "Whoever has an open value sends it, or a report as from people with a secret one; these send nothing else."
    )
    return ExplicitMechanism(name, strategy, epsilon, {}, explanation, secret=secret)


def domain_rule(most: int) -> Callable[[int, float, Workload | None], str | None]:
    """Why such a mechanism is not for some questions, None where it is for at ``most`` so many secret types."""

    def rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
        if workload is None or workload.all_secret is workload:
            return EVERY_SECRET
        if int(workload.secret.sum()) > most:
            return f"Its reports are written out for at most {most:,} secret types; there are {int(workload.secret.sum()):,}."
        return None

    return rule
