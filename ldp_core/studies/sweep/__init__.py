"""Users needed over epsilon and over the number of types: Figures 1 and 2 of McKenna et al. 2020 for any workload.

A `Point` is one mechanism or lower bound for one workload and epsilon. `epsilons` and `sizes` lay points out, and `run`
computes them: cheap ones first, on this machine or on a Dask cluster, reusing what a cache knows. The numbers do not
depend on where or in which order they are computed: fits are cut off by rounds, never by time, and use one BLAS thread.
"""

from ldp_core.studies.sweep.grids import (
    COLUMNS,
    EPSILONS,
    LEFT_OUT_COLUMNS,
    SIZES,
    Sweep,
    epsilons,
    over_epsilon,
    resized,
    run,
    sizes,
)
from ldp_core.studies.sweep.points import (
    BOUNDS,
    CERTIFIED_TYPES,
    Cache,
    MemoryCache,
    Outcome,
    Point,
    computed,
    evaluate,
    outcome_of,
    recipe_of,
)
from ldp_core.studies.sweep.pools import SCHEDULER_VARIABLE

__all__ = [
    "BOUNDS",
    "CERTIFIED_TYPES",
    "COLUMNS",
    "EPSILONS",
    "LEFT_OUT_COLUMNS",
    "SCHEDULER_VARIABLE",
    "SIZES",
    "Cache",
    "MemoryCache",
    "Outcome",
    "Point",
    "Sweep",
    "computed",
    "epsilons",
    "evaluate",
    "outcome_of",
    "over_epsilon",
    "recipe_of",
    "resized",
    "run",
    "sizes",
]
