"""Design of local differential privacy (LDP) collections: workloads, mechanisms, their exact errors, and lower bounds.

Tables become counts over types. A workload says what matters, a mechanism what users send. Analysis
and bounds say how good it is, simulation shows it, and designs take it into the world. Imports run
one way along these sentences.

Glossary:

    type                a value, or combination of values, that a person can have
    domain              the attributes of a person; their values combine into types
    query, workload     a linear count of people by type; a set of queries
    survey              a workload on tables of a few attributes each, for very many types
    mechanism           the randomised rule that turns a type into a report
    report              the message of one person, private by epsilon (and delta, if any)
    strategy            a mechanism as a table of probabilities of reports by type
    information matrix  the accuracy of a mechanism: M below; every variance follows from it
    profile             the variance that one user of each type adds to the answers
    case                the users whose error counts: the worst type, or an average over people
    prior               shares of the types that an average is over
    certificate         numbers that prove a lower bound on the error of every mechanism
    gap                 the share by which a design's error exceeds a proven bound, at most
    estimator           the rule that turns reports into answers
    configuration       the inputs of a design; the setting is all that follows from them
    kit                 a design's files for collecting: client, audit, collector

Notation (long names in signatures, these letters inside the mathematics, as in McKenna et al. 2020):

    n            number of types (values a person can have)
    N            number of users
    p            number of queries
    E            e^epsilon
    W  (p, n)    workload matrix                       G = W'W   Gram matrix
    Q  (m, n)    strategy: Q[y, u] = P(report y | type u); columns sum to 1, rows within a factor E
    D            diag(Q 1)                             M = Q' D^-1 Q   information matrix
    R  (n, m)    reconstruction of the counts, R Q = I (answers are W R y for a tally y of reports)
    L            objective tr(M^-1 G) = n * average variance per user + tr G
    alpha        target mean squared error of a share, averaged over the queries

Examples in docstrings go on from ``import numpy as np, ldp_core as ldp``.
"""

from typing import TYPE_CHECKING

from ldp_core import parts
from ldp_core.version import __version__

__all__ = [
    "__version__",
    "analysis",
    "beliefs",
    "bounds",
    "charts",
    "data",
    "deploy",
    "designs",
    "estimators",
    "frames",
    "library",
    "mechanisms",
    "optimize",
    "papers",
    "privacy",
    "simulate",
    "studies",
    "verdicts",
    "workloads",
]

if TYPE_CHECKING:
    from ldp_core import (
        analysis,
        beliefs,
        bounds,
        charts,
        data,
        deploy,
        designs,
        estimators,
        frames,
        library,
        mechanisms,
        optimize,
        papers,
        privacy,
        studies,
        verdicts,
        workloads,
    )
    from ldp_core.studies import simulate
else:
    # The module that notebooks use most is available at the top as well.
    __getattr__ = parts.of(__name__, __all__, simulate="studies.simulate")


def __dir__() -> list[str]:
    return __all__
