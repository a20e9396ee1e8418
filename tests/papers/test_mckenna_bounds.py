"""McKenna et al. 2020: what their bounds say of six workloads, the formulas behind them, and figures of their program (n = 32, epsilon 1)."""

import math

import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.mechanisms.explicit import ExplicitMechanism
from tests.refused import refused

MAKERS = {
    "histogram": workloads.histogram,
    "prefix": workloads.prefix,
    "all_range": workloads.all_range,
    "all_marginals": lambda n: workloads.all_marginals(n.bit_length() - 1),
    "three_way": lambda n: workloads.k_way_marginals(n.bit_length() - 1, 3),
    "parity": lambda n: workloads.parity(n.bit_length() - 1),
}
# Workload, n, epsilon; sum of singular values; bounds on L by the SVD and the centred one; variance per user of the worst type by
# Corollary 5.7; users at a mean squared error of 0.01 by the two.
FIGURES = """
histogram 512 0.5 512.000000 158998.3733 4091973.9708 309.5437 60.4578 1560.7689
histogram 512 1.0 512.000000 96437.3882 961629.8384 187.3543 36.5926 366.6374
prefix 512 0.5 1377.313168 1150583.5447 20807908.1088 1990.7335 388.8151 7887.4894
prefix 512 1.0 1377.313168 697864.1964 4956978.0109 1106.5160 216.1164 1840.8394
all_range 512 0.5 26102.288884 413247222.0207 8674404133.7919 763176.4805 581.1224 12867.2093
all_range 512 1.0 26102.288884 250647110.1966 2047140520.9400 445598.1371 339.3017 3011.0672
all_marginals 512 0.5 8480.060377 43616483.4374 1089949429.2735 84676.4442 430.2009 10812.8612
all_marginals 512 1.0 8480.060377 26454734.4736 256157219.4132 51157.4033 259.9065 2539.2220
three_way 512 0.5 1888.285777 2162659.7781 51626476.3284 4139.9449 616.0632 14992.4050
three_way 512 1.0 1888.285777 1311719.4620 12136526.2051 2477.9521 368.7429 3514.9037
parity 512 0.5 11585.237503 81407167.1090 2095090673.0626 158486.3733 30954.3698 799113.6662
parity 512 1.0 11585.237503 49375942.7719 492354477.2467 95925.3882 18735.4274 187718.3278
prefix 32 0.5 58.575498 2081.0606 29862.6553 48.5331 151.6661 2864.7124
prefix 32 1.0 58.575498 1262.2271 7291.3210 22.9446 71.7019 660.4806
"""
ROWS = [line.split() for line in FIGURES.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row[:3]))
def test_figures_of_the_singular_value_bounds(row):
    workload, epsilon = MAKERS[row[0]](int(row[1])), float(row[2])
    total, svd, centred, worst, users, centred_users = map(float, row[3:])
    half = 0.51e-4
    assert workload.singular_values().sum() == pytest.approx(total, abs=0.51e-6)
    assert bounds.svd(workload, epsilon) == pytest.approx(svd, rel=1e-12, abs=half)
    assert bounds.centred_svd(workload, epsilon) == pytest.approx(centred, rel=1e-11, abs=half)
    assert (bounds.svd(workload, epsilon) - workload.trace) / workload.n == pytest.approx(worst, rel=1e-12, abs=half)
    assert analysis.users_from_objective(bounds.svd(workload, epsilon), workload) == pytest.approx(users, abs=half)
    found = analysis.users_from_objective(bounds.centred_svd(workload, epsilon), workload)
    assert found == pytest.approx(centred_users, rel=1e-11, abs=half)


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("kind", ["histogram", "prefix", "all_range", "parity"])
def test_the_worst_type_is_bounded_by_the_average(kind, epsilon):
    """Theorem 5.1, also for a fitted strategy, and for one that is as uneven as it can be."""
    workload = MAKERS[kind](8)
    uneven = np.full((9, 8), 1.0)
    uneven[0, 0] = math.exp(epsilon)
    uneven[1:] = np.where(np.eye(8), math.exp(epsilon), 1.0)
    uneven /= uneven.sum(axis=0)
    stretched = math.log((uneven.max(axis=1) / uneven.min(axis=1)).max())
    tried = [
        (mechanisms.create(name, n=8, epsilon=epsilon), epsilon)
        for name in ("randomized_response", "hadamard", "hierarchical")
    ]
    tried.append((mechanisms.create("optimized_gradient", epsilon=epsilon, workload=workload, max_rounds=30), epsilon))
    tried.append((ExplicitMechanism("uneven", uneven, stretched), stretched))
    for mechanism, granted in tried:
        average, worst = (
            figure(mechanism, workload) for figure in (analysis.average_variance, analysis.worst_case_variance)
        )
        assert average <= worst * (1 + 1e-12)
        assert worst <= bounds.worst_from_average(average, workload, granted)
    refused("Epsilon", bounds.worst_from_average, 1.0, workload, 0.0)
