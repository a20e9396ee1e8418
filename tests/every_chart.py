"""Every chart of the app on data that strains it: many mechanisms, long names, numbers close together."""

from functools import cache

import numpy as np
import pandas as pd

from ldp_core import analysis, beliefs, charts, frames, library, mechanisms, papers, workloads
from ldp_core.bounds.theorems import frequency
from ldp_core.bounds.theorems.statements import Setting
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.deploy import collector
from ldp_core.mechanisms.surveys.split_survey import GroupTable
from ldp_core.studies import asking, curves, outcomes, sweep, theorems
from ldp_core.workloads import (
    DifferencePart,
    HistogramPart,
    JointHistogramPart,
    MeanPart,
    PrefixPart,
    SharePart,
    over_attributes,
)

N = 24
MECHANISMS = (
    "randomized_response",
    "subset_selection",
    "hadamard",
    "hierarchical",
    "haar",
    "hierarchical(branching=8)",
)
ESTIMATORS = ("unbiased", "wnnls", "norm_sub")
WORDY = (
    "最寄りの駅までの通勤時間と交通手段についての回答",
    "HOUSEHOLDS WITH MORE THAN ONE MOTOR CAR AND A GARDEN",
    "i" * 80,
    "W" * 60,
)
"""Names of wide letters, and of narrow ones."""
AGES = [f"{17 + 3 * i}-{19 + 3 * i}" for i in range(N)]
AGE = RangeAttribute(name="age", low=17, high=88, bins=N, integer=True)
TENS = RangeAttribute(name=WORDY[0], low=0, high=99, bins=10, integer=True)
WORK = CategoricalAttribute(
    name="occupation",
    values=(
        "Adm-clerical", "Craft-repair", "Exec-managerial", "Handlers-cleaners", "Machine-op-inspct",
        "Protective services and armed forces", "Transport-moving",
    ),
)  # fmt: skip
COUNTS = np.random.default_rng(0).multinomial(48_842, np.linspace(2, 0.1, N) / np.linspace(2, 0.1, N).sum())
EPSILONS = (0.5, 1.0, 2.0, 4.0)


@cache
def figures(family, look):
    """The figures of a family by their names."""
    return {name: draw(look) for name, draw in FAMILIES[family]().items()}


@cache
def figure(name, look):
    """A figure by its name, drawn when it is first asked for."""
    return next(made[name] for family in FAMILIES.values() if name in (made := family()))(look)


@cache
def _inputs():
    domain = Domain(attributes=(AGE, WORK))
    counts = np.random.default_rng(1).multinomial(48_842, np.random.default_rng(2).dirichlet(np.full(domain.size, 0.3)))
    prefix, mixed = workloads.prefix(N), workloads.all_range(N)
    groups = [("age up to each value, of everybody", 100), ("all ranges", 150), ("other", 50)]
    strategy = mechanisms.create("hierarchical", n=N, epsilon=1.0, reconstruction="optimal").strategy
    bits = mechanisms.create("oue", n=N, epsilon=1.0).report_table()
    noisy = mechanisms.create("ball_sampling", workload=prefix, epsilon=1.0).report_table()
    survey = workloads.survey((16, 9, 7, 2, 5), 2)
    sent = mechanisms.create("optimized", workload=survey, epsilon=1.0, max_rounds=1, time_limit=None)
    own = [GroupTable((1,), mechanisms.ExplicitMechanism("optimized", np.ones((2, 9)) / 2, 1.0))]
    split = mechanisms.SplitSurvey("optimized", (16, 9, 7, 2, 5), 1.0, own, sent, [1.0, 2.0])
    long = [f"{WORDY[i % 4]} and {age}" for i, age in enumerate(AGES)]
    return {
        "marginal": lambda look: charts.marginal(AGE, COUNTS, look),
        "marginal, long names": lambda look: charts.marginal(WORK, COUNTS[:7], look),
        "joint": lambda look: charts.joint(domain, counts, "age", "occupation", look),
        "workload": lambda look: charts.workload_matrix(prefix, AGES, look),
        "workload, groups": lambda look: charts.workload_matrix(mixed, AGES, look, groups),
        "workload, long names": lambda look: charts.workload_matrix(workloads.Custom(np.eye(N), long), AGES, look),
        "workload, groups of long names": lambda look: charts.workload_matrix(
            workloads.union([workloads.histogram(N)] * 18), AGES, look, [(name, N) for name in long[:18]]
        ),
        "singular values": lambda look: charts.singular_values(prefix, look),
        "asked together": lambda look: charts.asked_together(survey, look),
        "attribute sets": lambda look: charts.attribute_sets(frames.attribute_sets(survey), look),
        "column sets": lambda look: charts.column_sets(frames.column_sets(sent, frames.names_of(survey)), look),
        "people by design": lambda look: charts.people_by_design(
            frames.people_by_design(split, frames.names_of(survey)), look
        ),
        "scrambled": lambda look: charts.scrambled(sent, frames.names_of(survey), look),
        "patterns": lambda look: charts.patterns(strategy, AGES, look, "hierarchical"),
        "patterns, compact": lambda look: charts.patterns(strategy, AGES, look, None, None, True),
        "bits": lambda look: charts.report_table(bits, AGES, look, "oue", None, True),
        "numbers": lambda look: charts.report_table(noisy, AGES, look),
    }


@cache
def _costs():
    workload = workloads.prefix(N)
    needed = pd.DataFrame(
        {"name": [*MECHANISMS, "optimized"], "users_needed": [9e4, 3.1e4, 2.2e4, 9800.0, 9400.0, 9450.0, 7100.0]}
    )
    limits = {"svd": 2100.0, "centred_svd": 6300.0, "certificate": 6900.0}
    seconds = np.linspace(0.2, 20, 60)
    history = pd.DataFrame({"seconds": seconds, "users_needed": 7100 + 9000 * np.exp(-seconds / 3)})
    proved = pd.DataFrame({"seconds": [0.1, 6.0, 14.0], "users_needed": [6300.0, 6700.0, 6900.0]})
    swept = sweep.epsilons(MECHANISMS, workload, EPSILONS).points
    sizes = sweep.sizes(MECHANISMS, workload, 1.0, (8, 16, 32, 64)).points
    few = swept[swept["name"].isin(["haar", "hierarchical", "certificate"])]
    beside = pd.DataFrame(
        {
            "design": [
                "Age up to each value, epsilon 1", "The same with epsilon 2",
                "Ages and occupations together, for the yearly report", "Other questions",
            ],
            "mechanism": ["haar", "optimized", "haar", "hierarchical"],
            "users_needed": [9400.0, 7100.0, 51_000.0, 9800.0],
            "users_bound": [6900.0, 6900.0, 9000.0, np.nan],
            "alike": [True, True, False, True],
        }
    )  # fmt: skip
    errors = _told()
    ages = library.create("subset_selection", n=N, epsilon=1.0)
    shares = COUNTS / COUNTS.sum()
    allowed = lambda at: beliefs.over_epsilon(0.5, shares, N, np.union1d(curves.epsilons(at), at))  # noqa: E731
    at = np.union1d(np.geomspace(0.1, 5, 9), 1.0)
    own = pd.DataFrame({"name": "subset_selection", "epsilon": at, "users_needed": 9e4 / at**2})
    reach = pd.concat([own, own.assign(name="centred_svd", users_needed=own["users_needed"] / 3)])
    answered = _session()
    told = swept[swept["name"].isin(MECHANISMS)]
    told = told.assign(guess=0.07 + 0.1 * told["epsilon"] ** 1.3, error=told["users_needed"] ** 0.5 / 40)
    return {
        "users needed": lambda look: charts.users_needed(needed, limits["certificate"], 8200, look),
        "users needed, on the lines": lambda look: charts.users_needed(needed[4:], 9300.0, 9450, look),
        "closing gap": lambda look: charts.closing_gap(history, proved, "optimized", look),
        "over epsilon": lambda look: charts.users_over_epsilon(swept, 1.0, None, set(swept["name"]), look=look),
        "over epsilon, few": lambda look: charts.users_over_epsilon(few, 1.0, None, set(few["name"]), look=look),
        "over size": lambda look: charts.users_over_size(sizes, 24, look),
        "over size, few": lambda look: charts.users_over_size(sizes[sizes["name"].isin(["haar", "svd"])], 24, look),
        "guesses": lambda look: charts.guesses(told, 0.07, 1.0, "percentage points", look),
        "guesses, few": lambda look: charts.guesses(told[told["name"] == "haar"], 0.07, 1.0, "targets", look),
        "side by side": lambda look: charts.side_by_side(beside, look),
        "query errors": lambda look: charts.query_errors(errors, look),
        "beliefs": lambda look: charts.beliefs(allowed(1.0), 1.0, 0.5, "subset_selection", 0.6, 0.12, look),
        "beliefs, small epsilon": lambda look: charts.beliefs(allowed(0.2), 0.2, 0.5, ages.name, 0.52, 0.09, look),
        "users over epsilon": lambda look: charts.users_over_epsilon(reach, 1.0, 48_842, look=look),
        "users over epsilon, marks": lambda look: charts.users_over_epsilon(
            reach, float(at[3]), 48_842, ["subset_selection"], look
        ),
        "answers of a session": lambda look: charts.session_answers(answered, look),
    }


def _told():
    workload, parts = over_attributes([PrefixPart(attribute="age")], Domain(attributes=(AGE,)), counts=COUNTS), []
    for name in MECHANISMS[1:5]:
        told = analysis.answers(mechanisms.create(name, n=N, epsilon=1.0), workload, COUNTS)
        parts.append(told.assign(mechanism=name, error=told["standard_error"] / told["target"]))
    return pd.concat(parts)


def _session():
    session = asking.Asking(COUNTS, 1.0, 5, seed=1)
    domain = Domain(attributes=(AGE,))
    questions = [asking.condition(domain.attributes, f"age <= {k}") for k in (22, 34, 52)]
    return [session.ask(question) for question in [*questions, asking.average(domain.attributes, 0)]]


@cache
def _simulated():
    workload, names = workloads.prefix(N), ("hierarchical", "haar", "hierarchical(branching=8)")
    made = {name: mechanisms.create(name, n=N, epsilon=1.0) for name in names}
    scale = outcomes.Scale(np.arange(N, dtype=float), "years", workload)
    found = outcomes.compare(made, workload, COUNTS, AGES, 9, 0, ESTIMATORS, [scale])

    def one(frame, mechanism="haar", estimator="unbiased"):
        return frame[(frame["mechanism"] == mechanism) & (frame["estimator"] == estimator)]

    return {
        "answers": lambda look: charts.answers(one(found.answers), look),
        "errors": lambda look: charts.errors(found.errors, look),
        "distribution": lambda look: charts.distribution(one(found.curves), "age", look),
        "quantiles": lambda look: charts.quantile_errors(found.quantiles, "years", look),
        "intervals": lambda look: charts.result(one(found.answers), look),
    }


def _reach():
    users = np.union1d(np.geomspace(300, 3e5, 9), [3_000.0, 12_000.0])
    found = [
        pd.DataFrame({"unit": f"difference of {unit}", "users": users, "difference": 900 / users**0.5})
        for unit in ("points", WORDY[0])
    ]
    return pd.concat(found)


def _cells(workload):
    """The table that one collection answers."""
    found = collector.release(
        mechanisms.create("hadamard", workload=workload, epsilon=2.0), workload, np.full(workload.n, 9)
    )
    return workloads.answer_tables(workload.questionnaire)[0].cells(found, {})


@cache
def _results():
    """A question of many answers, and others of few: shares and averages in groups with long names, and differences of these."""
    group = CategoricalAttribute(name=WORDY[1], values=WORDY, known=True)
    domain = Domain(attributes=(AGE, group, CategoricalAttribute(name=WORDY[0], values=("yes", "no"))))
    share, mean = HistogramPart(attribute=WORDY[0]), MeanPart(attribute="age")
    over = {"attribute": WORDY[1], "first": WORDY[2], "second": WORDY[3]}
    parts = [PrefixPart(attribute="age"), SharePart(of=share, within=(WORDY[1],)), mean]
    parts += [DifferencePart(of=of, **over) for of in (share, mean)]
    people = np.random.default_rng(3).multinomial(20_000, np.full(domain.size, 1 / domain.size))
    workload = over_attributes(parts, domain, counts=people)
    mechanism = mechanisms.create("hadamard", workload=workload, epsilon=2.0)
    lines = analysis.question_lines(mechanism, workload, people)
    haar, ranges = mechanisms.create("haar", n=N, epsilon=1.0), workloads.all_range(N)
    wordy = CategoricalAttribute(name=WORDY[1], values=WORDY)
    few, several = (
        over_attributes([JointHistogramPart()], [AGE, wordy]),
        over_attributes([JointHistogramPart()], [AGE, TENS]),
    )
    cells = [_cells(workload) for workload in (few, several)]
    return {
        "result": lambda look: charts.result(collector.release(mechanism, workload, people), look),
        "result, promised": lambda look: charts.result(
            charts.promised(analysis.answers(mechanism, workload, people), lines), look
        ),
        "difference over users": lambda look: charts.difference_over_users(_reach(), 3_000, look),
        "table": lambda look: charts.table(cells[0], look),
        "table, errors apart": lambda look: charts.table(cells[1], look),
        "result, many": lambda look: charts.result(collector.release(haar, ranges, COUNTS), look),
    }


@cache
def _theory():
    histogram = workloads.histogram(N)
    mechanism = mechanisms.create("hadamard", n=N, epsilon=1.0)
    setting = Setting(histogram, 1.0, 48_842, mechanism)
    known = {"certificate": 2.5, **theorems.weighted(histogram, frequency.figures_of(mechanism))}
    table = theorems.table([entry for entry in theorems.entries(setting, 0.01, 5.0, known) if entry.alike])
    return {"bounds": lambda look: charts.on_one_axis(table, 0.02, "hadamard", look)}


@cache
def _panels():
    kept = [panel for paper in papers.PAPERS for panel in paper.panels if panel.seconds]
    found = {f"panel {panel.key}": (panel, panel.frame()) for panel in kept}

    def drawer(panel, frame):
        return lambda look: charts.panel(frame, panel.x, panel.y, panel.log_x, panel.log_y, look)

    return {name: drawer(*one) for name, one in found.items()}


FAMILIES = {
    "inputs": _inputs,
    "costs": _costs,
    "simulated": _simulated,
    "results": _results,
    "theory": _theory,
    "papers": _panels,
}
"""Draws each chart of a family from a look, by the chart's name; the data of the charts are
computed when the family is first drawn."""
