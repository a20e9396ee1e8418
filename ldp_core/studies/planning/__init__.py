"""Planning a collection: any two of epsilon, users and error fix the third.

Let v be the variance per user of a mechanism on the workload (squared users, summed over the p
queries). N users give shares with a mean squared error over the queries of
``alpha = v(epsilon) / (p N)`` (McKenna et al. 2020, Corollary 5.4); its root is the standard error
of a typical query. The case says whose v to use: ``worst_case``, whatever values people have, or
``average``, over people spread evenly over the types. A lower bound in place of v gives a limit
that no unbiased epsilon-LDP mechanism can beat. If queries have weights, so does the mean over
them, and p is `Workload.squared_weights`.
"""

from ldp_core.studies.planning.solve import COLUMNS as COLUMNS
from ldp_core.studies.planning.solve import TIME_OVER as TIME_OVER
from ldp_core.studies.planning.solve import default_bound as default_bound
from ldp_core.studies.planning.solve import plan as plan
