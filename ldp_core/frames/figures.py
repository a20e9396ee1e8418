"""The costs of mechanisms, beside the bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from ldp_core import analysis, bounds, library, wording
from ldp_core.run import Cancel
from ldp_core.workloads import Workload

BOUND_TITLES = {"svd": "SVD bound", "centred_svd": "centred SVD bound", "certificate": "certificate"}
"""Names of bounds on users, for sentences."""


def catalogue(n: int, epsilon: float, workload: Workload) -> pd.DataFrame:
    """A row for every mechanism of the library: what it was made for, its privacy and costs, and a note where it cannot run on ``n`` types with this workload and epsilon (empty where it can)."""
    return pd.DataFrame(
        [
            {
                "mechanism": spec.title,
                "in_the_papers": spec.paper_name,
                "made_for": spec.made_for,
                "note": spec.unsuitable(n, epsilon, workload) or "",
                "privacy": spec.privacy,
                "bits_a_report": spec.bits,
                "user_computes": spec.user_cost,
                "collector_computes": spec.collector_cost,
                "source": spec.paper,
            }
            for spec in library.REGISTRY.values()
        ]
    )


def users_bounds(
    workload: Workload,
    epsilon: float,
    norm: float,
    case: analysis.Case = analysis.WORST_CASE,
    cancel: Cancel | None = None,
) -> dict[str, float]:
    """The people that every unbiased epsilon-LDP mechanism needs in this case, by each bound in closed form: a bound on the total variance a
    person, divided by ``norm`` (see `ldp_core.workloads.Questionnaire`). The worst case takes a search, which ``cancel`` (see `ldp_core.run`) ends
    early. Where only some values are secret, certificates alone are about that promise, and none is there yet. A survey has one number for the
    worst case and for even people."""
    if not bounds.every_value_is_secret(workload):
        return {"certificate": 0.0}
    if workload.survey is not None and workload.strata is None and (case.prior is None or case.uniform):
        return {"centred_svd": _even_people(bounds.centred_svd(workload, epsilon), workload, norm)}
    if case.prior is None:  # a bound on the average bounds the worst type too, and so does one on any other average
        svd = _users_by_svd(workload, epsilon, norm)
        variance = bounds.worst_case_variance(workload, epsilon, cancel=cancel)
    else:
        svd = _users_by_svd(workload, epsilon, norm) if case.uniform else None
        prior = None if case.uniform else case.prior
        variance = bounds.average_variance(bounds.centred_svd(workload, epsilon, prior), workload, case.prior)
    centred = max(0.0, variance) / norm
    return {"centred_svd": centred} if svd is None else {"svd": svd, "centred_svd": centred}


def _even_people(objective: float, workload: Workload, norm: float) -> float:
    """The people that a bound on L stands for."""
    return max(0.0, (objective - workload.trace) / workload.n) / norm


def _users_by_svd(workload: Workload, epsilon: float, norm: float) -> float | None:
    """None where the singular values would take matrices that are too large."""
    try:
        return _even_people(bounds.svd(workload, epsilon), workload, norm)
    except ValueError:
        return None


def users_certified(certificate: bounds.Proof, norm: float) -> float:
    """The people that every unbiased epsilon-LDP mechanism needs, by a certificate for the case in question."""
    return certificate.variance / norm


def strongest(limits: Mapping[str, float]) -> str:
    """Name of the bound to speak of: the largest, or the certificate where that is within 0.1 % of it."""
    best = max(limits, key=limits.__getitem__)
    return "certificate" if limits.get("certificate", -1.0) >= 0.999 * limits[best] else best


def gap(users_needed: float, users_bound: float) -> float:
    """How many more users a mechanism needs than the bound allows, as a share, both in whole people as they are printed; inf where
    the bound says nothing."""
    return max(0.0, wording.whole(users_needed) / wording.whole(users_bound) - 1) if users_bound > 0 else math.inf


def convergence(history: Sequence[tuple[float, float]], workload: Workload, norm: float) -> pd.DataFrame:
    """seconds, objective, users_needed of an optimiser's best strategy or of a bound, from (seconds, objective) pairs; the
    objective is on the scale of L, ``n variance + tr G``, of whatever case it was for."""
    frame = pd.DataFrame(history, columns=["seconds", "objective"], dtype=float)
    frame["users_needed"] = [_even_people(value, workload, norm) for value in frame["objective"]]
    return frame
