"""Mechanisms of the library for people of whom the collector knows some attributes: one for each design of the strata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ldp_core.library.specification import Spec
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.strata import StratifiedMechanism
from ldp_core.optimize.base import DEFAULT
from ldp_core.optimize.strata import telling_of_all
from ldp_core.priors import check_prior
from ldp_core.workloads import Workload


def build(
    entry: Spec,
    workload: Workload,
    create: Callable[[Workload, Mapping[str, Any]], Mechanism],
    parameters: Mapping[str, Any],
) -> StratifiedMechanism:
    """The mechanism for ``workload``, which has strata: ``create(few, own)`` makes that of a stratum. ValueError where that is none for
    strata."""
    strata, stated = workload.strata, dict(parameters)
    assert strata is not None
    prior = stated.pop("prior", None)
    prior = None if prior is None else np.asarray(check_prior(prior, workload.n))
    cases, which = strata.cases(prior)
    callback, values, drawn = stated.get("callback"), list[float](), []
    for few, shares in cases:
        own = {**stated, **({} if shares is None else {"prior": shares})}
        if entry.fitted and "time_limit" in entry.parameters and len(cases) > 1:
            limit = stated.get("time_limit", DEFAULT.time_limit)
            own["time_limit"] = None if limit is None else limit / len(cases)
        if callback is not None:
            own["callback"] = telling_of_all(callback, strata, values, len(cases), prior)
        drawn.append(create(few, own))
    known = {"workload": workload.spec} if "workload" in drawn[0].parameters else {}
    return StratifiedMechanism(drawn, which, strata.types, {**drawn[0].parameters, **known})
