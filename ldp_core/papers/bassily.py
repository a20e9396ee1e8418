"""Bassily 2019 (with its shorter version): the errors of its algorithms, simulated, beside what its theorems say of them.

The paper has no experiments. Errors are expected lengths (largest entries for adaptive queries) of the error of the answers
about the population that the users are drawn from, in shares, as in `ldp_core.bounds.few_users`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import estimators, mechanisms, workloads
from ldp_core.bounds import few_users
from ldp_core.data.population import expected_counts
from ldp_core.data.tables import NumericRecipe, build_domain
from ldp_core.designs import Configuration, DeclaredData, MechanismRecipe, Population, Simulation, WorkloadRecipe
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.noise.adaptive import AdaptiveSession, SimulatedUsers
from ldp_core.papers import stored
from ldp_core.papers.panel import Panel, Paper, Row, frame_of
from ldp_core.run import Budget, Callback, Cancel
from ldp_core.workloads import HistogramPart, Workload

EPSILON = 1.0
DELTA = 1e-6
QUERIES = 64
TYPES = 32
"""The number of random queries of +1 and -1 in the first two panels; it exceeds the number of
types."""
HISTOGRAM_TYPES = 1024
ADAPTIVE_QUERIES = 20
USERS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
RUNS = 20

Errors = Mapping[str, np.ndarray]
"""(runs,) errors by the name of the series."""


@cache
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
        asked = rng.choice([-1.0, 1.0], size=(queries, n))
        errors.append(max(abs(session.ask(query).value - query.mean()) for query in asked))
    return np.array(errors)


def shares(shape: str, n: int) -> np.ndarray:
    """(n,) a population: one type alone ("point"), or a shape of `expected_counts`."""
    if shape == "point":
        return np.eye(n)[0]
    counts = expected_counts("zipf" if shape == "zipf" else "uniform", n, 10**9)
    return counts / counts.sum()


def against_users(
    simulated: Callable[[int, np.random.Generator], Errors],
    lines: Callable[[int], Mapping[str, float]],
    callback: Callback | None,
    cancel: Cancel | None,
) -> pd.DataFrame:
    """A panel's frame: mean errors of ``simulated`` collections, and what theorems say, for each number of users."""
    budget, rows = Budget(None, len(USERS), cancel, callback), list[Row]()
    for users in USERS:
        if budget.stopped() is not None:
            break
        rows += _means(users, simulated(users, np.random.default_rng(users)))
        rows += [(name, float(users), value, math.nan, math.nan) for name, value in lines(users).items()]
        budget.tell()
    return frame_of(rows)


def _means(x: float | str, errors: Errors) -> Iterator[Row]:
    for name, errors_of_name in errors.items():
        deviation = float(errors_of_name.std(ddof=1)) / math.sqrt(errors_of_name.size)
        yield name, x, float(errors_of_name.mean()), deviation, math.nan


# --- Theorems 3.2 and 3.4: any queries ------------------------------------------------------------------------------


@cache
def offline(algorithm: str, queries: int = QUERIES) -> Mechanism:
    """Algorithm 2 with the printed noise ("gaussian"), or Algorithm 4 as corrected ("rejection_gaussian")."""
    parameters: dict[str, Any] = {"delta": DELTA, "calibration": "paper"} if algorithm == "gaussian" else {}
    return mechanisms.create(algorithm, workload=signs(queries), epsilon=EPSILON, **parameters)


def offline_errors(algorithm: str, queries: int, users: int, rng: np.random.Generator) -> Errors:
    """Errors with the projection and without, about an even population."""
    workload = signs(queries)
    titles = {"unbiased": "Not projected", "polytope": "Projected"}
    population = population_errors(
        offline(algorithm, queries), workload, shares("uniform", TYPES), users, RUNS, rng, tuple(titles)
    )
    return {titles[name]: errors for name, errors in population.items()}


def offline_lines(algorithm: str, users: int) -> dict[str, float]:
    """The bounds of Theorem 3.2 or 3.4, where it has any."""
    r = math.sqrt(QUERIES)
    if algorithm == "gaussian":
        bound = few_users.gaussian(QUERIES, TYPES, users, EPSILON, DELTA, r)
        mended = few_users.gaussian(QUERIES, TYPES, users, EPSILON, DELTA, r, "sharp")
        more = {"Projected, corrected proof": mended.projected}
    elif users < few_users.LEAST_USERS:
        return {}
    else:
        bound, more = few_users.rejection(QUERIES, TYPES, users, EPSILON, r), {}
    theorem = "Theorem 3.2" if algorithm == "gaussian" else "Theorem 3.4"
    return {
        f"{theorem}, not projected": bound.unprojected,
        f"{theorem}, projected": bound.projected,
        **more,
        "Answering 0": bound.trivial,
    }


# --- Theorem 4.2: distributions -------------------------------------------------------------------------------------


def histogram_errors(users: int, rng: np.random.Generator) -> Errors:
    """Errors of Hadamard response, projected onto the simplex for three populations, and as it is."""
    mechanism, workload = _hadamard(), workloads.histogram(HISTOGRAM_TYPES)
    errors_by_mechanism: dict[str, np.ndarray] = {}
    for shape, title in (("uniform", "even"), ("zipf", "Zipf"), ("point", "all of one type")):
        names = ("unbiased", "norm_sub") if shape == "uniform" else ("norm_sub",)
        errors = population_errors(mechanism, workload, shares(shape, HISTOGRAM_TYPES), users, RUNS, rng, names)
        errors_by_mechanism |= {
            f"Projected, {title}" if name == "norm_sub" else "Not projected": errors[name] for name in names
        }
    return errors_by_mechanism


def histogram_lines(users: int) -> dict[str, float]:
    """The bounds of Theorem 4.2, and those with better constants."""
    paper, sharp = (few_users.histogram(HISTOGRAM_TYPES, users, EPSILON, form) for form in few_users.FORMS)
    return {
        "Theorem 4.2, not projected": paper.unprojected,
        "Theorem 4.2, projected": paper.projected,
        "Not projected, better constants": sharp.unprojected,
        "Projected, better constants": sharp.projected,
        "Answering 0": paper.trivial,
    }


@cache
def _hadamard() -> Mechanism:
    return mechanisms.create("projected_hadamard", n=HISTOGRAM_TYPES, epsilon=EPSILON)


def histogram_setting() -> Configuration:
    """Theorem 4.2 as a design."""
    n = HISTOGRAM_TYPES
    recipes = (NumericRecipe(column="value", method="range", low=0, high=n - 1, bins=n, integer=True),)
    return Configuration(
        data=DeclaredData(recipes=recipes),
        domain=build_domain(list(recipes)),
        population=Population(users=100_000, origin="declared", shape="zipf"),
        workload=WorkloadRecipe(parts=(HistogramPart(attribute="value"),)),
        epsilon=f"{EPSILON:g}",
        mechanism=MechanismRecipe(name="projected_hadamard"),
        compared=("projected_hadamard", "hadamard", "subset_selection"),
        simulation=Simulation(estimators=("unbiased", "norm_sub")),
    )


# --- Theorem 5.2: adaptive queries ----------------------------------------------------------------------------------


def adaptive_errors(users: int, rng: np.random.Generator) -> Errors:
    """Largest errors of sessions of `ADAPTIVE_QUERIES` queries."""
    return {"Largest error": largest_errors(16, ADAPTIVE_QUERIES, users, RUNS, rng)}


def adaptive_lines(users: int) -> dict[str, float]:
    """Theorem 5.2 and line (20) of its proof where they say something, and the order that nothing stays below."""
    d = ADAPTIVE_QUERIES
    lines = {
        "Lower bound, up to a constant": few_users.lower_order("adaptive", d, 16, users, EPSILON),
        "Answering 0": 1.0,
    }
    if users >= 8 * d * math.log(users):
        lines["Theorem 5.2"] = few_users.adaptive(d, users, EPSILON)
    lines["Equation (20)"] = few_users.adaptive(d, users, EPSILON, form="sharp")
    return {name: value for name, value in lines.items() if value < 1 or name == "Answering 0"}


# --- Table 1 --------------------------------------------------------------------------------------------------------

TABLE_USERS = (2000, 200_000)
TABLE_QUERIES = 256
OFFLINE = "Offline queries"
DISTRIBUTION = "Distribution"
ADAPTIVE = "Adaptive queries"


def orders(users: int) -> dict[str, dict[str, float]]:
    """Table 1 at epsilon 1 and r = 1, orders as they stand in it: by problem, the upper bound of the paper, that before it
    where one is given, and the lower bound; each at most r."""
    d, n, root = TABLE_QUERIES, HISTOGRAM_TYPES, 1 / (users * EPSILON**2)
    lower = {
        OFFLINE: few_users.lower_order("rejection", d, TYPES, users, EPSILON),
        DISTRIBUTION: few_users.lower_order("histogram", d, n, users, EPSILON),
        ADAPTIVE: few_users.lower_order("adaptive", ADAPTIVE_QUERIES, n, users, EPSILON),
    }
    before = {OFFLINE: math.sqrt(d * root), DISTRIBUTION: math.sqrt(n * root)}
    upper = {
        OFFLINE: min((math.log(TYPES) * math.log(users) * root) ** 0.25, before[OFFLINE]),
        DISTRIBUTION: min((math.log(n) * root) ** 0.25, before[DISTRIBUTION]),
        ADAPTIVE: lower[ADAPTIVE],  # the orders of the two are the same
    }
    columns = {"This work, order": upper, "Before, order": before, "Lower bound, order": lower}
    return {name: {problem: min(1.0, value) for problem, value in column.items()} for name, column in columns.items()}


def table_row(problem: str, users: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Errors found by simulation and the bound of the theorem, with r = 1."""
    if problem == OFFLINE:
        r = math.sqrt(TABLE_QUERIES)
        bound = few_users.rejection(TABLE_QUERIES, TYPES, users, EPSILON, r).value
        return offline_errors("rejection_gaussian", TABLE_QUERIES, users, rng)["Projected"] / r, bound / r
    if problem == DISTRIBUTION:
        return histogram_errors(users, rng)["Projected, even"], few_users.histogram(
            HISTOGRAM_TYPES, users, EPSILON
        ).value
    return adaptive_errors(users, rng)["Largest error"], few_users.adaptive(ADAPTIVE_QUERIES, users, EPSILON)


def table(callback: Callback | None, cancel: Cancel | None) -> pd.DataFrame:
    """Table 1 in numbers: its orders, the theorems with their constants, and errors found by simulation."""
    cells = [(problem, users) for users in TABLE_USERS for problem in (OFFLINE, DISTRIBUTION, ADAPTIVE)]
    budget, rows = Budget(None, len(cells), cancel, callback), list[Row]()
    for problem, users in cells:
        if budget.stopped() is not None:
            break
        errors, bound = table_row(problem, users, np.random.default_rng(users))
        x = f"{problem}, {users:,} users"
        rows += _means(x, {"Found here": errors})
        rows.append(("This work, theorem", x, bound, math.nan, math.nan))
        rows += [
            (series, x, values[problem], math.nan, math.nan)
            for series, values in orders(users).items()
            if problem in values
        ]
        budget.tell()
    return frame_of(rows)


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
            2.0,
            partial(against_users, partial(offline_errors, "gaussian", QUERIES), partial(offline_lines, "gaussian")),
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
            12.0,
            partial(
                against_users,
                partial(offline_errors, "rejection_gaussian", QUERIES),
                partial(offline_lines, "rejection_gaussian"),
            ),
            "As printed, Algorithm 3 is not private for any epsilon: one type can send what another never sends. The errors "
            "are those of the corrected step, and the bound holds for it. Below 120 users the theorem says nothing.",
            log_x=True,
            stored=partial(stored.read, "bassily-theorem-3-4"),
        ),
        Panel(
            "bassily-theorem-4-2",
            "Theorem 4.2",
            "Hadamard response projected onto the simplex",
            f"Shares of {HISTOGRAM_TYPES:,} types at epsilon 1; means of {RUNS} simulated collections.",
            "Users",
            SHARES,
            20.0,
            partial(against_users, histogram_errors, histogram_lines),
            "Better constants follow from the same proof, and without the projection errors all but attain theirs. The proof "
            "projects below 44,274 users; a million users still gain 38 % by projecting.",
            log_x=True,
            stored=partial(stored.read, "bassily-theorem-4-2"),
            design=histogram_setting,
        ),
        Panel(
            "bassily-theorem-5-2",
            "Theorem 5.2",
            f"{ADAPTIVE_QUERIES} adaptive queries, one a user",
            f"Random queries of +1 and -1 about 16 types at epsilon 1; means of {RUNS} simulated sessions.",
            "Users",
            "Expected largest error (shares)",
            2.0,
            partial(against_users, adaptive_errors, adaptive_lines),
            "As printed the bound would be 0 for one query, and it speaks of 8 d ln N users or more only; equation (20) of its proof "
            "has neither flaw. Missing bounds are above 1, the error of answering 0.",
            log_x=True,
        ),
        Panel(
            "bassily-table-1",
            "Table 1",
            "Upper and lower bounds in numbers",
            f"Epsilon 1, r = 1: {TABLE_QUERIES} queries of +1 and -1 about {TYPES} types, shares of "
            f"{HISTOGRAM_TYPES:,} types, and {ADAPTIVE_QUERIES} adaptive queries; even populations, means of {RUNS} simulated "
            "collections.",
            "Problem",
            "Error, in units of r",
            3.0,
            table,
            "Orders leave constants out. The constants make the theorems promise no more than answering 0 does at 2,000 users, where "
            "errors are 0.19 to 0.44.",
        ),
    ),
    (("Figures", "The paper has none and no experiments; all errors here are found by simulation."),),
)
