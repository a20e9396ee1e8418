"""Bassily 2019 (with its shorter version): the errors of its algorithms, simulated, beside what its theorems say of them.

The paper has no experiments. Errors are expected lengths (largest entries for adaptive queries) of the error of the answers
about the population that the users are drawn from, in shares, as in `ldp_core.bounds.few_users`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from ldp_core import estimators, mechanisms, workloads
from ldp_core.bounds.theorems import few_users
from ldp_core.data.population import expected_counts
from ldp_core.designs import Simulation
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.noise.adaptive import AdaptiveSession, SimulatedUsers
from ldp_core.papers.panel import Panel, Paper, Row, frame_of
from ldp_core.papers.settings import FAMILIES, design
from ldp_core.workloads import Workload

EPSILON = 1.0
DELTA = 1e-6
QUERIES = 64
"""The number of random queries of +1 and -1 in the first two panels: more than there are types."""
TYPES = 32
HISTOGRAM_TYPES = 1024
ADAPTIVE_QUERIES = 20
USERS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
RUNS = 20

Errors = Mapping[str, np.ndarray]
"""(runs,) errors by the name of the series."""


def signs(queries: int = QUERIES, n: int = TYPES) -> Workload:
    """Random queries of +1 and -1, always the same."""
    return workloads.custom(np.random.default_rng(1).choice([-1.0, 1.0], size=(queries, n)))


def population_errors(
    mechanism: Mechanism,
    workload: Workload,
    population: np.ndarray,
    users: int,
    runs: int,
    rng: np.random.Generator,
    named: Sequence[str],
) -> Errors:
    """Errors of the answers of several estimators about ``population`` (n,), shares, each from the same ``runs`` collections."""
    errors_by_name: dict[str, list[float]] = {name: [] for name in named}
    for _ in range(runs):
        reports = mechanism.simulate(rng.multinomial(users, population), rng)
        for name in named:
            estimate = estimators.apply(name, reports, mechanism, workload)
            errors_by_name[name].append(math.sqrt(estimate.squared_error(workload, users * population)) / users)
    return {name: np.array(errors) for name, errors in errors_by_name.items()}


def largest_errors(n: int, queries: int, users: int, runs: int, rng: np.random.Generator) -> np.ndarray:
    """(runs,) largest errors of sessions of random queries of +1 and -1 about an even population."""
    errors = []
    for _ in range(runs):
        counts = rng.multinomial(users, np.full(n, 1 / n))
        session = AdaptiveSession(n, EPSILON, queries, SimulatedUsers(counts, EPSILON, queries, rng))
        vectors = rng.choice([-1.0, 1.0], size=(queries, n))
        errors.append(max(abs(session.ask(query).value - query.mean()) for query in vectors))
    return np.array(errors)


def against_users(
    simulated: Callable[[int, np.random.Generator], Errors], lines: Callable[[int], Mapping[str, float]]
) -> pd.DataFrame:
    """A panel's frame: mean errors of ``simulated`` collections, and what theorems say, for each number of users."""
    rows = list[Row]()
    for users in USERS:
        for name, errors in simulated(users, np.random.default_rng(users)).items():
            deviation = float(errors.std(ddof=1)) / math.sqrt(errors.size)
            rows.append((name, float(users), float(errors.mean()), deviation))
        rows += [(name, float(users), value) for name, value in lines(users).items()]
    return frame_of(rows)


def offline(mechanism: Mechanism, lines: Callable[[int], Mapping[str, float]]) -> pd.DataFrame:
    """A panel's frame of answers to `signs`, projected and not, about an even population."""
    titles, even = {"unbiased": "Not projected", "polytope": "Projected"}, np.full(TYPES, 1 / TYPES)

    def simulated(users: int, rng: np.random.Generator) -> Errors:
        errors = population_errors(mechanism, signs(), even, users, RUNS, rng, tuple(titles))
        return {titles[name]: found for name, found in errors.items()}

    return against_users(simulated, lines)


def theorem_3_2() -> pd.DataFrame:
    """Algorithm 2 with the printed noise."""

    def lines(users: int) -> Mapping[str, float]:
        sizes = "gaussian", QUERIES, TYPES, users, EPSILON, math.sqrt(QUERIES)
        bound = few_users.bound(*sizes, delta=DELTA)
        return {
            "Theorem 3.2, not projected": bound.unprojected,
            "Theorem 3.2, projected": bound.projected,
            "Projected, corrected proof": few_users.bound(*sizes, "sharp", DELTA).projected,
            "Answering 0": bound.trivial,
        }

    return offline(
        mechanisms.create("gaussian", workload=signs(), epsilon=EPSILON, delta=DELTA, calibration="paper"), lines
    )


def theorem_3_4() -> pd.DataFrame:
    """Algorithm 4 with the corrected step."""

    def lines(users: int) -> Mapping[str, float]:
        if users < few_users.LEAST_USERS:
            return {}
        bound = few_users.bound("rejection", QUERIES, TYPES, users, EPSILON, math.sqrt(QUERIES))
        return {
            "Theorem 3.4, not projected": bound.unprojected,
            "Theorem 3.4, projected": bound.projected,
            "Answering 0": bound.trivial,
        }

    return offline(mechanisms.create("rejection_gaussian", workload=signs(), epsilon=EPSILON), lines)


def theorem_4_2() -> pd.DataFrame:
    """Hadamard response, projected onto the simplex for three populations, and as it is."""
    n = HISTOGRAM_TYPES
    mechanism, workload = mechanisms.create("projected_hadamard", n=n, epsilon=EPSILON), workloads.histogram(n)
    zipf = expected_counts("zipf", n, 10**9) / 10**9
    populations = {"even": np.full(n, 1 / n), "Zipf": zipf, "all of one type": np.eye(n)[0]}

    def simulated(users: int, rng: np.random.Generator) -> Errors:
        found: dict[str, np.ndarray] = {}
        for title, population in populations.items():
            names = ("unbiased", "norm_sub") if title == "even" else ("norm_sub",)
            errors = population_errors(mechanism, workload, population, users, RUNS, rng, names)
            found |= {f"Projected, {title}" if name == "norm_sub" else "Not projected": errors[name] for name in names}
        return found

    def lines(users: int) -> Mapping[str, float]:
        paper, sharp = (few_users.bound("histogram", n, n, users, EPSILON, form=form) for form in few_users.FORMS)
        return {
            "Theorem 4.2, not projected": paper.unprojected,
            "Theorem 4.2, projected": paper.projected,
            "Not projected, better constants": sharp.unprojected,
            "Projected, better constants": sharp.projected,
            "Answering 0": paper.trivial,
        }

    return against_users(simulated, lines)


def theorem_5_2() -> pd.DataFrame:
    """Theorem 5.2 and line (20) of its proof where they say something, and the order that nothing stays below."""
    d = ADAPTIVE_QUERIES

    def simulated(users: int, rng: np.random.Generator) -> Errors:
        return {"Largest error": largest_errors(16, d, users, RUNS, rng)}

    def lines(users: int) -> Mapping[str, float]:
        found = {"Lower bound, up to a constant": few_users.lower_order("adaptive", d, 16, users, EPSILON)}
        if users >= 8 * d * math.log(users):
            found["Theorem 5.2"] = few_users.adaptive(d, users, EPSILON)
        found["Equation (20)"] = few_users.adaptive(d, users, EPSILON, form="sharp")
        return {"Answering 0": 1.0, **{name: value for name, value in found.items() if value < 1}}

    return against_users(simulated, lines)


SHARES = "Expected length of the error (shares)"
PAPER = Paper(
    "bassily",
    "Bassily",
    "Linear queries estimation with local differential privacy",
    2019,
    (
        Panel(
            "bassily-theorem-3-2",
            "Theorem 3.2",
            "Gaussian noise with a projection",
            f"{QUERIES} random queries of +1 and -1 about {TYPES} types, an even population; epsilon 1, delta 1e-6, noise as "
            f"printed; means of {RUNS} simulated collections.",
            "Users",
            SHARES,
            theorem_3_2,
            'All errors lie below the bound, though a step of its proof does not hold as printed ("corrected proof" is never '
            "larger). The printed noise delivers delta 5.7e-5 for these queries; exact calibration takes 1.27 times as much. The "
            "paper projects below 2,143 users; projecting still gains 28 % at 10,000.",
            log_x=True,
        ),
        Panel(
            "bassily-theorem-3-4",
            "Theorem 3.4",
            "Rejection sampling with a projection, pure privacy",
            f"{QUERIES} random queries of +1 and -1 about {TYPES} types, an even population; epsilon 1; means of {RUNS} "
            "simulated collections.",
            "Users",
            SHARES,
            theorem_3_4,
            "As printed, Algorithm 3 is not private for any epsilon: one type can send what another never sends. The errors "
            "are those of the corrected step, and the bound holds for it. Below 120 users the theorem says nothing.",
            log_x=True,
        ),
        Panel(
            "bassily-theorem-4-2",
            "Theorem 4.2",
            "Hadamard response projected onto the simplex",
            f"Shares of {HISTOGRAM_TYPES:,} types at epsilon 1; means of {RUNS} simulated collections.",
            "Users",
            SHARES,
            theorem_4_2,
            "Better constants follow from the same proof, and without the projection errors all but attain theirs. The proof "
            "projects below 44,274 users; a million users still gain 38 % by projecting.",
            10,
            log_x=True,
            design=partial(
                design,
                FAMILIES[0],
                HISTOGRAM_TYPES,
                100_000,
                "projected_hadamard",
                "zipf",
                compared=("projected_hadamard", "hadamard", "subset_selection"),
                simulation=Simulation(estimators=("unbiased", "norm_sub")),
            ),
        ),
        Panel(
            "bassily-theorem-5-2",
            "Theorem 5.2",
            f"{ADAPTIVE_QUERIES} adaptive queries, one a user",
            f"Random queries of +1 and -1 about 16 types at epsilon 1; means of {RUNS} simulated sessions.",
            "Users",
            "Expected largest error (shares)",
            theorem_5_2,
            "As printed the bound would be 0 for one query, and it speaks of 8 d ln N users or more only; equation (20) of its proof "
            "has neither flaw. Missing bounds are above 1, the error of answering 0.",
            log_x=True,
        ),
    ),
    (
        ("Figures", "The paper has none and no experiments; all errors here are found by simulation."),
        ("Table 1", "It lists orders without their constants. The theorems above have the constants."),
    ),
)
