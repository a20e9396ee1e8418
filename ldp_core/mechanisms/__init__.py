"""The mechanism library. Adding one is a file with its mathematics and a line in `REGISTRY`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from ldp_core.mechanisms import (
    adaptive,
    fourier,
    gaussian,
    haar,
    hadamard,
    hierarchical,
    hrr,
    matrix,
    optimized,
    rejection,
)
from ldp_core.mechanisms.base import FLOATING_POINT, Audit, Estimate, FiniteOutput, Mechanism, Reports
from ldp_core.mechanisms.exchangeable import RandomizedResponse, SubsetSelection
from ldp_core.mechanisms.explicit import STRATEGY_ENTRIES, ExplicitMechanism
from ldp_core.mechanisms.unary import RECONSTRUCTIONS as UNARY_RECONSTRUCTIONS
from ldp_core.mechanisms.unary import LocalHashing, UnaryEncoding
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from ldp_core.wording import meant
from ldp_core.workloads import Workload

__all__ = [
    "FLOATING_POINT",
    "REGISTRY",
    "Audit",
    "Estimate",
    "ExplicitMechanism",
    "FiniteOutput",
    "Mechanism",
    "Reports",
    "Spec",
    "create",
    "names",
    "spec",
]


@dataclass(frozen=True)
class Spec:
    """What the library knows of a mechanism before building it. Costs and bits are per user, in words or formulas."""

    name: str
    title: str
    build: Callable[..., Mechanism]
    made_for: str
    paper: str
    bits: str
    user_cost: str
    collector_cost: str
    delta: bool = False
    """Whether the guarantee is (epsilon, delta) rather than pure."""
    continuous: bool = False
    """Whether reports carry continuous noise, whose guarantee is one of mathematics only: see ``caveat``."""
    needs_workload: bool = False
    fitted: bool = False
    """Whether building it is a numerical optimisation that may take long (and takes ``callback`` and ``cancel``)."""
    closed_form: bool = False
    """Whether its exact variances are known without a matrix over the types, and so for any number of them."""
    epsilon_range: tuple[float, float] = (MIN_EPSILON, MAX_EPSILON)
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Parameters an analyst may choose, with their values; the first is the default."""
    domain_rule: Callable[[int, float, Workload | None], str | None] = lambda n, epsilon, workload: None
    """Why the mechanism cannot run on n types with this workload, None when it can."""

    @property
    def privacy(self) -> str:
        kind = "(epsilon, delta)" if self.delta else "pure epsilon"
        return f"{kind}, in real numbers only" if self.continuous else kind

    @property
    def caveat(self) -> str:
        """What has to be said beside the guarantee; empty where it holds for what is drawn."""
        return FLOATING_POINT if self.continuous else ""

    def unsuitable(self, n: int, epsilon: float, workload: Workload | None = None) -> str | None:
        """Why this mechanism is not for ``n`` types at this epsilon, said before anything is built; None when it is."""
        low, high = self.epsilon_range
        if not low <= epsilon <= high:
            return f"It works for epsilon from {low:.3g} to {high:.3g}."
        return self.domain_rule(n, epsilon, workload)


def _needs_entries(outputs: Callable[[int, float], float]) -> Callable[[int, float, Workload | None], str | None]:
    """The domain rule of mechanisms that write out an (outputs x n) strategy."""

    def rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
        rows = outputs(n, epsilon)
        if rows * n <= STRATEGY_ENTRIES:
            return None
        return f"It needs a strategy matrix of about {rows:,.0f} x {n:,} entries, too large to write out. Use coarser bins."

    return rule


REGISTRY: dict[str, Spec] = {
    spec.name: spec
    for spec in (
        Spec(
            "randomized_response",
            "Randomized response",
            RandomizedResponse,
            closed_form=True,
            made_for="small domains, or little privacy (large epsilon)",
            paper="Warner 1965; Kairouz, Bonawitz and Ramage 2016",
            bits="log2 n",
            user_cost="one draw",
            collector_cost="one count a report",
        ),
        Spec(
            "subset_selection",
            "Subset selection",
            SubsetSelection,
            closed_form=True,
            made_for="histograms: the exact optimum there",
            paper="Ye and Barg 2018; Wang et al. 2016",
            bits="log2 of C(n, k), k near n/(e^eps + 1)",
            user_cost="k draws",
            collector_cost="k counts a report",
        ),
        Spec(
            "rappor",
            "RAPPOR",
            partial(UnaryEncoding, "rappor"),
            closed_form=True,
            made_for="histograms, with the simplest reports",
            paper="Erlingsson, Pihur and Korolova 2014",
            bits="n",
            user_cost="n draws",
            collector_cost="n counts a report",
            choices={"reconstruction": UNARY_RECONSTRUCTIONS},
        ),
        Spec(
            "oue",
            "Optimised unary encoding",
            partial(UnaryEncoding, "oue"),
            closed_form=True,
            made_for="histograms where most types are rare",
            paper="Wang, Blocki, Li and Jha 2017",
            bits="n",
            user_cost="n draws",
            collector_cost="n counts a report",
            choices={"reconstruction": UNARY_RECONSTRUCTIONS},
        ),
        Spec(
            "olh",
            "Optimised local hashing",
            LocalHashing,
            closed_form=True,
            made_for="histograms with short reports; decoding is slow, so small domains",
            paper="Wang, Blocki, Li and Jha 2017",
            bits="64 + (log2 n + 2) log2(e^eps + 1)",
            user_cost="one hash and one draw",
            collector_cost="n hashes a report",
            choices={"reconstruction": UNARY_RECONSTRUCTIONS},
        ),
        Spec(
            "hadamard",
            "Hadamard response",
            hadamard.build,
            made_for="histograms with short reports",
            paper="Acharya, Sun and Zhang 2019",
            bits="log2 n + 1 or 2",
            user_cost="a few draws",
            collector_cost="one count a report, then a matrix product",
            domain_rule=_needs_entries(lambda n, epsilon: math.prod(hadamard.blocks_and_size(n, epsilon))),
        ),
        Spec(
            "hierarchical",
            "Hierarchical",
            hierarchical.build,
            made_for="ranges and cumulative counts on ordered domains",
            paper="Cormode, Kulkarni and Srivastava 2019",
            bits="log2 of the levels plus a report of the oracle",
            user_cost="one report of the oracle",
            collector_cost="as the oracle, then one pass over the tree",
            choices={
                "branching": (4, 2, 8, 16),
                "oracle": ("hadamard", "oue", "hrr", "randomized_response", "subset_selection"),
                "reconstruction": ("optimal", "consistent", "raw"),
            },
        ),
        Spec(
            "hrr",
            "Hadamard randomized response",
            hrr.build,
            closed_form=True,
            made_for="histograms with short reports on large domains",
            paper="Nguyen et al. 2016; Cormode, Kulkarni and Srivastava 2019, Section 3.2",
            bits="log2 n + 1",
            user_cost="one parity and one draw",
            collector_cost="one count a report, then a fast transform (or a matrix product for the optimal one)",
            choices={"reconstruction": ("optimal", "transform")},
        ),
        Spec(
            "haar",
            "Haar wavelets (HaarHRR)",
            haar.Haar,
            made_for="ranges on large ordered domains, at small epsilon",
            paper="Cormode, Kulkarni and Srivastava 2019, Section 4.6",
            bits="log2 n + 1",
            user_cost="one parity and one draw",
            collector_cost="one count a report, then a fast transform",
        ),
        Spec(
            "fourier",
            "Fourier",
            fourier.build,
            made_for="marginals of yes-or-no attributes",
            paper="Cormode, Kulkarni and Srivastava 2018",
            bits="log2 n + 1",
            user_cost="one parity and one draw",
            collector_cost="one count a report, then a transform",
            domain_rule=fourier.domain_rule,
        ),
        Spec(
            "matrix_l1",
            "Matrix mechanism (Laplace)",
            matrix.build_l1,
            made_for="any workload: a fitted vector plus Laplace noise",
            paper="Li et al. 2015; McKenna et al. 2018; Edmonds, Nikolov and Ullman 2020",
            bits="64 (n + n/16)",
            user_cost="n draws of noise",
            collector_cost="one vector sum, then a matrix product",
            continuous=True,
            needs_workload=True,
            fitted=True,
            domain_rule=matrix.domain_rule,
        ),
        Spec(
            "matrix_l2",
            "Matrix mechanism (Gaussian)",
            matrix.build_l2,
            made_for="any workload: the best vector to send with Gaussian noise",
            paper="Edmonds, Nikolov and Ullman 2020; Balle and Wang 2018",
            bits="64 n",
            user_cost="n draws of noise",
            collector_cost="one vector sum, then a matrix product",
            delta=True,
            continuous=True,
            needs_workload=True,
            fitted=True,
            domain_rule=matrix.domain_rule,
        ),
        Spec(
            "gaussian",
            "Gaussian",
            gaussian.build,
            made_for="many queries and few users, with the projection",
            paper="Bassily 2019, Algorithms 1 and 2",
            bits="64 n",
            user_cost="n draws of noise",
            collector_cost="one vector sum, then a matrix product",
            delta=True,
            continuous=True,
            needs_workload=True,
            choices={"calibration": gaussian.CALIBRATIONS},
            domain_rule=gaussian.domain_rule,
        ),
        Spec(
            "rejection_gaussian",
            "Rejection sampling",
            rejection.build,
            made_for="many queries and few users, with the projection; pure privacy",
            paper="Bassily 2019, Algorithms 3 and 4, corrected",
            bits="64 (n + 1), or nothing",
            user_cost="n draws of noise and an inner product",
            collector_cost="one vector sum, then a matrix product",
            continuous=True,
            needs_workload=True,
            epsilon_range=rejection.EPSILON_RANGE,
            choices={"variant": rejection.VARIANTS},
            domain_rule=rejection.domain_rule,
        ),
        Spec(
            "projected_hadamard",
            "Projected Hadamard response",
            hadamard.build_projected,
            made_for="histograms with few users, with Norm-Sub",
            paper="Bassily 2019, Algorithm 5",
            bits="log2 n + 1",
            user_cost="one draw",
            collector_cost="one count a report, then a matrix product",
            domain_rule=_needs_entries(lambda n, epsilon: 2 * n),
        ),
        Spec(
            "adaptive",
            "One query each",
            adaptive.build,
            made_for="queries asked one by one",
            paper="Bassily 2019, Algorithm 6",
            bits="log2 p + 1",
            user_cost="one draw",
            collector_cost="one count a report, then a matrix product",
            needs_workload=True,
            domain_rule=adaptive.domain_rule,
        ),
        Spec(
            "optimized_gradient",
            "Optimized (projected gradient)",
            optimized.build_gradient,
            made_for="any workload: fitted to the chosen one",
            paper="McKenna, Maity, Mazumdar and Miklau 2020, Algorithms 1 and 2",
            bits="log2 of the outputs, about log2 n + 2",
            user_cost="one draw from a table of 4n numbers",
            collector_cost="one count a report, then a matrix product",
            needs_workload=True,
            fitted=True,
            domain_rule=_needs_entries(lambda n, epsilon: 4 * n),
        ),
        Spec(
            "optimized",
            "Optimized (column generation)",
            optimized.build_certified,
            closed_form=True,
            made_for="any workload: the best strategy there is, within a per cent or so",
            paper="this project, on the objective of McKenna et al. 2020",
            bits="log2 of the outputs, about log2 n + 4",
            user_cost="one draw from a table of up to 16n numbers",
            collector_cost="one count a report, then a matrix product",
            needs_workload=True,
            fitted=True,
            domain_rule=optimized.domain_rule,
        ),
    )
}


def names() -> list[str]:
    """Names `create` accepts."""
    return list(REGISTRY)


def spec(name: str) -> Spec:
    """The registry entry of ``name``. ValueError when there is none."""
    if name not in REGISTRY:
        raise ValueError(f"Unknown mechanism {name!r}; {meant(name, REGISTRY)}")
    return REGISTRY[name]


def create(
    name: str, n: int | None = None, epsilon: float = 1.0, workload: Workload | None = None, **parameters: Any
) -> Mechanism:
    """Build the mechanism ``name`` on ``n`` types (taken from ``workload`` when left out).

    Raises ValueError for an unknown name or parameter, a bad value, or a size the mechanism cannot handle.
    """
    entry = spec(name)
    if workload is not None and n is not None and workload.n != n:
        raise ValueError(f"The workload has {workload.n} types but n = {n} was asked for.")
    if workload is None and entry.needs_workload:
        raise ValueError(f"{entry.title} is fitted to a workload; pass workload=...")
    if n is None:
        if workload is None:
            raise ValueError("Pass the number of types n, or a workload.")
        n = workload.n
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
        raise ValueError(f"A mechanism needs a whole number of at least 2 types; got n = {n!r}.")
    try:
        if entry.needs_workload:
            return entry.build(workload, epsilon, **parameters)
        return entry.build(int(n), epsilon, **parameters)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        unknown = str(error).split("'")[1]
        known = [name for name in signature(entry.build).parameters if name not in ("n", "epsilon", "workload")]
        raise ValueError(f"{entry.title} has no parameter {unknown!r}; {meant(unknown, known)}") from None
