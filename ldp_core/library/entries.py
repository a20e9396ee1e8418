"""The facts of every mechanism. A new one takes a file with its mathematics, and an entry here."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ldp_core.library import matrix, optimized, own
from ldp_core.library.specification import DELTA, Number, Parameter, Shares, Spec
from ldp_core.limits import MOST_FITTED_TYPES, MOST_SECRET_BITS, MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms import (
    block_designs,
    fourier,
    hadamard,
    hrr,
    one_value,
    privset,
    square_wave,
    utility_optimized,
)
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.local_hashing import LocalHashing
from ldp_core.mechanisms.noise import adaptive, additive, ball, gaussian, rejection
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.surveys import sampled
from ldp_core.mechanisms.trees import grid, haar, hierarchical, rectangles
from ldp_core.mechanisms.trees.node_reports import NODE_ORACLES
from ldp_core.mechanisms.unary import RECONSTRUCTIONS, UnaryEncoding
from ldp_core.optimize.base import too_large, vectors_too_large
from ldp_core.workloads import Workload
from ldp_core.workloads.problem import direction

FIT = {
    "max_rounds": Number(1, optional=True),
    "time_limit": Number(0, whole=False, optional=True),
    "callback": Parameter(),
    "cancel": Parameter(),
}
"""How long a fit may take, and how it is followed and ended."""
UNARY = {"reconstruction": Parameter(values=RECONSTRUCTIONS)}


def _needs_entries(outputs: Callable[[int, float], float]) -> Callable[[int, float, Workload | None], str | None]:
    """The domain rule of mechanisms that write out an (outputs x n) strategy."""

    def rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
        rows = outputs(n, epsilon)
        if rows * n <= MOST_STRATEGY_ENTRIES:
            return None
        return f"It needs a strategy matrix of about {rows:,.0f} x {n:,} entries, too large to write out. Use coarser bins."

    return rule


_ONE_QUESTION = "It answers one real-valued question, such as the average of a number column."


def _one_question(n: int, epsilon: float, workload: Workload | None) -> str | None:
    reason = _needs_entries(lambda n, epsilon: 2 * n + 3)(n, epsilon, workload)
    if reason is None and workload is not None and direction(workload) is None:
        return _ONE_QUESTION
    return reason


def _on_values(build: Callable[[np.ndarray, float], Mechanism], workload: Workload, epsilon: float) -> Mechanism:
    """The mechanism for the values that the one question of ``workload`` gives the types. ValueError for other questions."""
    z = direction(workload)
    if z is None:
        raise ValueError(_ONE_QUESTION)
    return build(workload.apply_gram(z), epsilon)


_vectors = partial(
    Spec,
    user_cost="n draws of noise",
    collector_cost="one vector sum, then a matrix product",
    continuous=True,
    needs_workload=True,
)
"""The entry of a mechanism whose reports are vectors with noise."""


# Colours are Okabe and Ito's colour-blind-safe palette, then darker and lighter relatives distinguished by their markers as well.
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
            paper_name="k-RR, direct encoding",
            bits="log2 n",
            collector_cost="one count per report",
            style=("#56B4E9", "circle"),
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
            collector_cost="k counts per report",
            style=("#0072B2", "square"),
            parameters={"size": Number(1, optional=True, typed=True)},
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
            collector_cost="n counts per report",
            style=("#44AA99", "triangle-down"),
            parameters=UNARY,
        ),
        Spec(
            "oue",
            "Optimised unary encoding",
            partial(UnaryEncoding, "oue"),
            closed_form=True,
            made_for="histograms where most types are rare",
            paper="Wang, Blocki, Li and Jha 2017",
            paper_name="OUE",
            bits="n",
            user_cost="n draws",
            collector_cost="n counts per report",
            style=("#88CCEE", "triangle-left"),
            parameters=UNARY,
        ),
        Spec(
            "olh",
            "Optimised local hashing",
            LocalHashing,
            closed_form=True,
            made_for="histograms with short reports; decoding is slow, so small domains",
            paper="Wang, Blocki, Li and Jha 2017",
            paper_name="OLH",
            bits="64 + (log2 n + 2) log2(e^eps + 1)",
            user_cost="one hash and one draw",
            collector_cost="n hashes per report",
            style=("#117733", "triangle-right"),
            parameters=UNARY,
        ),
        Spec(
            "hadamard",
            "Hadamard response",
            hadamard.build,
            made_for="histograms with short reports",
            paper="Acharya, Sun and Zhang 2019",
            bits="log2 n + 1 or 2",
            user_cost="a few draws",
            domain_rule=_needs_entries(lambda n, epsilon: math.prod(hadamard.blocks_and_size(n, epsilon))),
            style=("#009E73", "triangle-up"),
            parameters={"blocks": Number(1, optional=True, typed=True)},
        ),
        Spec(
            "projective_geometry",
            "Projective geometry response",
            block_designs.build,
            made_for="histograms with short reports, close to the optimum there",
            paper="Feldman, Nelson, Nguyen and Talwar 2022; as a count-mean sketch Pan 2024",
            bits="log2 of the hyperplanes, from log2 n up",
            domain_rule=_needs_entries(block_designs.outputs),
            style=("#0F8554", "triangle-se"),
            parameters={"order": Number(2, optional=True, typed=True), "kind": Parameter(values=block_designs.KINDS)},
        ),
        Spec(
            "hierarchical",
            "Hierarchical",
            hierarchical.build,
            made_for="ranges and cumulative counts on ordered domains",
            paper="Cormode, Kulkarni and Srivastava 2019",
            paper_name="HH_B",
            bits="log2 of the levels plus a report of the oracle",
            user_cost="one report of the oracle",
            collector_cost="as the oracle, then one pass over the tree",
            style=("#CC79A7", "pentagon"),
            parameters={
                "branching": Number(2, offered=(4, 2, 8, 16)),
                "oracle": Parameter(values=tuple(NODE_ORACLES), optional=True),
                "reconstruction": Parameter(values=hierarchical.RECONSTRUCTIONS, optional=True),
                "consistent": Parameter(values=(False, True), offered=()),
                "shares": Shares(),
            },
            may_use_workload=True,
        ),
        Spec(
            "hierarchical_2d",
            "Hierarchical over two attributes",
            grid.build,
            closed_form=True,
            made_for="ranges over two ordered attributes at once",
            paper="Cormode, Kulkarni and Srivastava 2019, Section 6",
            paper_name="HH_B, two dimensions",
            bits="log2 of the tables plus a report of the oracle",
            user_cost="one report of the oracle",
            collector_cost="as the oracle, then one pass over the trees",
            may_use_workload=True,
            domain_rule=rectangles.domain_rule,
            style=("#997700", "star-diamond"),
            parameters={
                "shape": Parameter(optional=True),
                "branching": Number(2, offered=(4, 2, 8, 16)),
                "oracle": Parameter(values=grid.ORACLES),
                "reconstruction": Parameter(values=grid.RECONSTRUCTIONS, offered=()),
            },
            legend="Hierarchical (2 attributes)",
        ),
        Spec(
            "hrr",
            "Hadamard randomized response",
            hrr.build,
            closed_form=True,
            made_for="histograms with short reports on large domains",
            paper="Nguyen et al. 2016; Cormode, Kulkarni and Srivastava 2019, Section 3.2",
            paper_name="HRR",
            bits="log2 n + 1",
            user_cost="one parity and one draw",
            collector_cost="one count per report, then a fast transform (or a matrix product for the optimal one)",
            style=("#AA4499", "star-triangle-up"),
            parameters={"reconstruction": Parameter(values=hrr.RECONSTRUCTIONS, optional=True)},
        ),
        Spec(
            "haar",
            "Haar wavelets (HaarHRR)",
            haar.Haar,
            made_for="ranges on large ordered domains, at small epsilon",
            paper="Cormode, Kulkarni and Srivastava 2019, Section 4.6",
            bits="log2 n + 1",
            user_cost="one parity and one draw",
            collector_cost="one count per report, then a fast transform",
            style=("#E69F00", "hexagon"),
        ),
        Spec(
            "square_wave",
            "Square wave",
            square_wave.build,
            made_for="smooth distributions on ordered domains, with smoothed likelihood (EMS)",
            paper="Li, Wang, Lopuhaä-Zwakenberg, Skoric and Li 2020",
            bits="log2 n, up to one more",
            domain_rule=_needs_entries(square_wave.outputs),
            style=("#7A6A53", "circle-cross"),
            parameters={"window": Number(0, optional=True, typed=True)},
        ),
        Spec(
            "privset",
            "PrivSet",
            privset.build,
            made_for="which of several items people chose, a few at once",
            paper="Wang, Huang, Nie, Wang, Xu and Yang 2018",
            bits="log2 of C(k + m, l), for at most m of k items",
            needs_workload=True,
            domain_rule=privset.unsuitable,
            style=("#AA4466", "arrow-up"),
            parameters={"size": Number(1, optional=True, typed=True)},
        ),
        Spec(
            "fourier",
            "Fourier",
            fourier.build,
            made_for="marginals of yes-or-no attributes",
            paper="Cormode, Kulkarni and Srivastava 2018",
            bits="log2 of the parities sampled, plus 1",
            user_cost="one parity and one draw",
            collector_cost="one count per report, then a transform",
            may_use_workload=True,
            domain_rule=fourier.domain_rule,
            style=("#7F7F7F", "cross"),
            parameters={"max_weight": Number(1, optional=True, typed=True)},
        ),
        *(
            Spec(
                name,
                title,
                partial(_on_values, build),
                made_for="the mean of one number",
                paper=paper,
                bits=bits,
                collector_cost="one count per report",
                needs_workload=True,
                domain_rule=_one_question,
                style=style,
            )
            for name, title, build, paper, bits, style in (
                (
                    "duchi",
                    "Duchi's one bit",
                    one_value.duchi,
                    "Duchi, Jordan and Wainwright 2018",
                    "1",
                    ("#999933", "diamond-wide"),
                ),
                (
                    "piecewise",
                    "Piecewise",
                    one_value.piecewise,
                    "Wang et al. 2019",
                    "log2 of 2n + 1",
                    ("#661100", "diamond-tall"),
                ),
                (
                    "hybrid",
                    "Hybrid",
                    one_value.hybrid,
                    "Wang et al. 2019",
                    "log2 of 2n + 3",
                    ("#6699CC", "star-diamond"),
                ),
            )
        ),
        _vectors(
            "matrix_l1",
            "Matrix mechanism (Laplace)",
            matrix.build_l1,
            made_for="any workload: a fitted vector plus Laplace noise",
            paper="Li et al. 2015; McKenna et al. 2018; Edmonds, Nikolov and Ullman 2020",
            paper_name="L1 matrix mechanism",
            bits="64 (n + n/16)",
            domain_rule=lambda n, epsilon, workload: vectors_too_large(n),
            style=("#CC6677", "hexagram"),
            parameters={"queries": Number(1, optional=True, typed=True), "seed": Number(0), **FIT},
            sweep_rounds={128: 300, 256: 30},
        ),
        _vectors(
            "matrix_l2",
            "Matrix mechanism (Gaussian)",
            matrix.build_l2,
            made_for="any workload: the best vector to send with Gaussian noise",
            paper="Edmonds, Nikolov and Ullman 2020; Balle and Wang 2018",
            paper_name="L2 matrix mechanism",
            bits="64 n",
            delta=True,
            domain_rule=lambda n, epsilon, workload: vectors_too_large(n),
            style=("#882255", "star-square"),
            parameters={"delta": DELTA, **FIT},
            sweep_rounds={1024: 100},
        ),
        _vectors(
            "gaussian",
            "Gaussian",
            gaussian.build,
            made_for="many queries and few users, with the projection",
            paper="Bassily 2019, Algorithms 1 and 2",
            paper_name="Algorithms 1 and 2 (Bassily)",
            bits="64 n",
            delta=True,
            domain_rule=lambda n, epsilon, workload: additive.too_large(n),
            style=("#6699CC", "diamond-tall"),
            parameters={"delta": DELTA, "calibration": Parameter(values=gaussian.CALIBRATIONS)},
        ),
        _vectors(
            "rejection_gaussian",
            "Rejection sampling",
            rejection.build,
            made_for="many queries and few users, with the projection; pure privacy",
            paper="Bassily 2019, Algorithms 3 and 4, corrected",
            paper_name="Algorithms 3 and 4 (Bassily)",
            bits="64 (n + 1), or nothing",
            user_cost="n draws of noise and an inner product",
            epsilon_range=rejection.EPSILON_RANGE,
            domain_rule=lambda n, epsilon, workload: additive.too_large(n),
            style=("#661100", "x"),
            parameters={"variant": Parameter(values=rejection.VARIANTS), "users": Number(2, optional=True)},
        ),
        _vectors(
            "ball_sampling",
            "Ball sampling",
            ball.build,
            made_for="any workload of few dimensions; pure privacy at every epsilon",
            paper="Duchi, Jordan and Wainwright 2018; Bassily 2019, Table 1, previous work",
            paper_name="previous work in Table 1 (Bassily)",
            bits="64 (n - 1)",
            user_cost="n draws of noise and an inner product",
            domain_rule=lambda n, epsilon, workload: additive.too_large(n),
            style=("#882255", "hexagon2"),
        ),
        Spec(
            "projected_hadamard",
            "Projected Hadamard response",
            hadamard.build_projected,
            made_for="histograms with few users, with Norm-Sub",
            paper="Bassily 2019, Algorithm 5",
            paper_name="Algorithm 5 (Bassily)",
            bits="log2 n + 1",
            domain_rule=_needs_entries(lambda n, epsilon: 2 * n),
            style=("#332288", "bowtie"),
        ),
        Spec(
            "adaptive",
            "One query each",
            adaptive.build,
            made_for="queries asked one by one",
            paper="Bassily 2019, Algorithm 6",
            paper_name="Algorithm 6 (Bassily)",
            bits="log2 p + 1",
            needs_workload=True,
            domain_rule=adaptive.domain_rule,
            style=("#DDCC77", "hourglass"),
        ),
        Spec(
            "sampled_sets",
            "One random set of columns",
            sampled.build,
            closed_form=True,
            made_for="surveys, where each person answers about one set of columns",
            paper="the field's practice; with subset selection by Ye and Barg 2018",
            bits="log2 of the sets plus a report of the oracle",
            user_cost="one draw and one report of the oracle",
            collector_cost="as the oracle, then one pass over the tables",
            needs_workload=True,
            surveys_only=True,
            style=("#77AADD", "octagon"),
            parameters={"oracle": Parameter(values=tuple(sampled.ORACLES)), "shares": Parameter(values=sampled.SHARES)},
        ),
        Spec(
            "optimized_gradient",
            "Optimised (projected gradient)",
            optimized.build_gradient,
            made_for="any workload: fitted to the chosen one",
            paper="McKenna, Maity, Mazumdar and Miklau 2020, Algorithms 1 and 2",
            paper_name="Algorithms 1 and 2 (McKenna et al.)",
            bits="log2 of the outputs, about log2 n + 2",
            user_cost="one draw from a table of 4n numbers",
            needs_workload=True,
            domain_rule=lambda n, epsilon, workload: too_large(n),
            style=("#999933", "diamond"),
            parameters={
                "seed": Number(0),
                "rows": Number(1, optional=True, typed=True),
                **FIT,
            },
            sweep_rounds={128: 300, 512: 100},
            aims=("average",),
            legend="Optimised (gradient)",
        ),
        Spec(
            "optimized",
            "Optimised",
            optimized.build_certified,
            closed_form=True,
            any_size=True,
            made_for="any workload: the best strategy there is, within a per cent or so",
            paper="this project, on the objective of McKenna et al. 2020",
            bits="log2 of the outputs, about log2 n + 4 (surveys: of a pattern and its shuffles)",
            user_cost="one draw from a table of up to 16n numbers (surveys: a few draws)",
            collector_cost="one count per report, then a matrix product (surveys: one pass over the tables)",
            needs_workload=True,
            domain_rule=optimized.domain_rule,
            style=("#D55E00", "star"),
            parameters={
                "seed": Number(0),
                "target": Parameter(values=optimized.TARGETS, offered=()),
                "prior": Parameter(),
                **FIT,
            },
            sweep_rounds={64: 100, 128: 30, 256: 10, 512: 3},
            aims=("worst_case", "average", "people", "histogram"),
        ),
        Spec(
            "utility_randomized_response",
            "Utility-optimised randomized response",
            utility_optimized.randomized_response,
            made_for="few secret values among open ones",
            paper="Murakami and Kawamoto 2019",
            paper_name="uRR",
            bits="log2 n",
            collector_cost="one count per report",
            needs_workload=True,
            secret_only=True,
            domain_rule=utility_optimized.domain_rule(MOST_FITTED_TYPES),
            style=("#0B3C5D", "circle-x"),
        ),
        Spec(
            "utility_rappor",
            "Utility-optimised RAPPOR",
            utility_optimized.rappor,
            made_for="several secret values among open ones",
            paper="Murakami and Kawamoto 2019",
            paper_name="uRAP",
            bits="about the number of secret values",
            needs_workload=True,
            secret_only=True,
            domain_rule=utility_optimized.domain_rule(MOST_SECRET_BITS),
            style=("#1F5F5B", "triangle-down-open"),
        ),
        Spec(
            "own",
            "Strategy matrix from a file",
            own.build,
            from_file=True,
            made_for="whatever its author had in mind",
            paper="uploaded",
            bits="log2 of its reports",
            domain_rule=own.rule,
            style=("#EE3377", "triangle-ne"),
            parameters={"matrix": Parameter()},
            legend="Matrix from a file",
        ),
    )
}
