"""Errors of ranges and prefixes as Cormode, Kulkarni and Srivastava 2019 measured them (their Section 5).

N = 2^26 users spread like a Cauchy distribution with centre P n and scale n/10 over n types, cut at
the ends; trees of OUE with consistency (HH2, HH4, HH16) and HaarHRR. The paper's "mean squared
errors", times 1000, are **roots** of mean squared errors of shares, times 1000: that is the unit
here too, "thousandths".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd

from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.mechanisms.trees.hierarchical import ConsistentTree
from ldp_core.mechanisms.trees.levels import Tree
from ldp_core.papers.stored import FOLDER
from ldp_core.workloads import Workload

USERS = 2**26
CENTRE = 0.4
EPSILON = 1.1
EPSILONS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.1, 1.2, 1.4)
BRANCHINGS = {"HH2": 2, "HH4": 4, "HH16": 16}


def mechanism(series: str, n: int, epsilon: float) -> ConsistentTree | Haar:
    """The collection that the paper calls HH2, HH4, HH16 (each with a superscript c) or HaarHRR."""
    return Haar(n, epsilon) if series == "HaarHRR" else ConsistentTree(Tree(n, BRANCHINGS[series]), epsilon, "oue")


@cache
def printed() -> Mapping[tuple[int, int, str, float], float]:
    """Every number of Figures 5 and 6, by figure, log2 of the number of types, series and epsilon; NaN where none is printed."""
    table = pd.read_csv(FOLDER / "cormode_printed.csv").set_index(["figure", "log2_types", "epsilon"])
    return {
        (figure, size, series, epsilon): value
        for (figure, size, epsilon), row in table.iterrows()
        for series, value in row.items()
    }


def thousandths(mean_squared_error: float) -> float:
    """The root of a mean squared error of shares, times 1000."""
    return 1000 * math.sqrt(mean_squared_error)


def exact(collection: ConsistentTree | Haar, workload: Workload, counts: np.ndarray) -> float:
    """The exact error of a query of ``workload``, in thousandths."""
    total = float(counts @ collection.variance_profile(workload))
    return thousandths(total / workload.num_queries / float(counts.sum()) ** 2)
