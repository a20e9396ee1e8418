"""Users needed over epsilon and over the number of types: Figures 1 and 2 of McKenna et al. 2020 for any workload.

A `SweepPoint` is one mechanism or lower bound for one workload and epsilon. `epsilons` and `sizes`
lay points out, and `run` computes them: cheap ones first, on this machine or on a Dask cluster,
reusing what a cache knows. The numbers do not depend on the place or order of computation: fits are
cut off by rounds, never by time, and use one BLAS thread.
"""

from ldp_core.studies.sweep.grids import COLUMNS as COLUMNS
from ldp_core.studies.sweep.grids import EPSILONS as EPSILONS
from ldp_core.studies.sweep.grids import SIZES as SIZES
from ldp_core.studies.sweep.grids import TIME_OVER as TIME_OVER
from ldp_core.studies.sweep.grids import Sweep as Sweep
from ldp_core.studies.sweep.grids import epsilons as epsilons
from ldp_core.studies.sweep.grids import resized as resized
from ldp_core.studies.sweep.grids import run as run
from ldp_core.studies.sweep.grids import sizes as sizes
from ldp_core.studies.sweep.grids import without_figures as without_figures
from ldp_core.studies.sweep.points import BOUNDS as BOUNDS
from ldp_core.studies.sweep.points import Cache as Cache
from ldp_core.studies.sweep.points import Outcome as Outcome
from ldp_core.studies.sweep.points import SweepPoint as SweepPoint
from ldp_core.studies.sweep.points import evaluate as evaluate
from ldp_core.studies.sweep.points import outcome_of as outcome_of
from ldp_core.studies.sweep.pools import SCHEDULER_VARIABLE as SCHEDULER_VARIABLE
