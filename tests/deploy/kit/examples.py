"""A small mechanism of every kind that a device can have."""

from itertools import product

import numpy as np

import ldp_core as ldp
from ldp_core.mechanisms import ExplicitMechanism, OnClasses, Pattern, ScrambledPatterns
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.workloads import OnAttributes

EPSILON = "1.25"
SURVEY = ldp.workloads.survey([2, 3, 2])


def in_steps(strategy):
    """A table close to ``strategy`` in whole numbers of 2^-53 whose columns sum to 1."""
    steps = np.rint(np.asarray(strategy) * (1 - 1e-13) * 2.0**53).astype(np.int64)
    steps[steps.argmax(axis=0), np.arange(steps.shape[1])] += 2**53 - steps.sum(axis=0)
    return steps / 2.0**53


def table(n, outputs=6, epsilon=float(EPSILON), seed=0):
    """A random strategy that keeps epsilon, with room for the rounding of its largest entries."""
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((outputs, n)) < 0.5, np.exp(epsilon / 3), 1.0)
    return ExplicitMechanism("custom", in_steps(rows / rows.sum(axis=0)), epsilon)


def patterns(sizes):
    cells = np.zeros((sizes[0], sizes[1]), dtype=bool)
    cells[0, 0] = cells[0, 1] = True
    several = [Pattern((0, 1), cells), Pattern((1, 2), ~cells.T[:, :2]), Pattern((1,), np.array([True, False, False]))]
    return ScrambledPatterns("optimized", sizes, float(EPSILON), several, np.array([0.5, 0.2, 0.3]))


def split_survey():
    own = [GroupTable((0, 2), table(4)), GroupTable((1,), table(3, 3, seed=1))]
    return SplitSurvey("optimized", (2, 3, 2), float(EPSILON), own, patterns((2, 3, 2)), [0.3, 0.3, 0.4])


def _built(name, **parameters):
    return lambda: ldp.mechanisms.create(name, epsilon=float(EPSILON), **parameters)


def half_open(groups=False):
    """One secret value of two in a column, and none in another; perhaps with groups that the collector knows."""
    Axis = ldp.workloads.Axis
    axes = [Axis("ill", ("no", "yes"), 2, secret=(False, True)), Axis("town", tuple("abc"), 3, secret=(False,) * 3)]
    axes = [Axis("arm", ("old", "new"), 2, known=True), axes[0]] if groups else axes
    asked = ldp.workloads.over_attributes([ldp.workloads.JointHistogramPart()], axes)
    return ldp.optimize.design(asked, float(EPSILON), time_limit=None, max_rounds=3).mechanism()


MECHANISMS = {
    "table": lambda: table(5),
    "some values open": half_open,
    "randomized_response": _built("randomized_response", n=5),
    "subset_selection": _built("subset_selection", n=6, size=2),
    "oue": _built("oue", n=4),
    "rappor": _built("rappor", n=4),
    "olh": _built("olh", n=4),
    "hrr": _built("hrr", n=6, reconstruction="transform"),
    "haar": _built("haar", n=7),
    "tree of oue": _built("hierarchical", n=7, branching=2, oracle="oue", reconstruction="raw"),
    "tree of hrr": _built("hierarchical", n=7, branching=3, oracle="hrr", reconstruction="consistent"),
    "tree of randomized_response": _built(
        "hierarchical", n=7, branching=2, oracle="randomized_response", consistent=True
    ),
    "tree of subset_selection": _built("hierarchical", n=9, branching=3, oracle="subset_selection", consistent=True),
    "two trees of hrr": _built("hierarchical_2d", n=15, shape=[3, 5], branching=2, oracle="hrr"),
    "two trees of oue": _built("hierarchical_2d", n=6, shape=[3, 2], branching=3, oracle="oue"),
    "sampled_sets": _built("sampled_sets", workload=SURVEY),
    "sampled_sets of oue": _built("sampled_sets", workload=SURVEY, oracle="oue", shares="fitted"),
    "sampled_sets of randomized_response": _built("sampled_sets", workload=SURVEY, oracle="randomized_response"),
    "patterns": lambda: patterns((2, 3, 2)),
    "split_survey": split_survey,
    "classes of one column": lambda: OnClasses(table(3), np.repeat([0, 1, 2], 2)),
    "classes of a middle column": _built(
        "randomized_response", workload=OnAttributes((2, 3, 2), [1], ldp.workloads.histogram(3))
    ),
    "classes in a list": lambda: OnClasses(ldp.mechanisms.create("haar", 3, float(EPSILON)), np.array([0, 1, 0, 2, 2])),
}


def values_of(mechanism):
    """All values: types, or records."""
    sizes = mechanism.sizes if isinstance(mechanism, SurveyMechanism) else [mechanism.n]
    return [list(value) for value in product(*map(range, sizes))]


def as_people(mechanism, values):
    """What `privatize` takes."""
    found = np.array(values)
    return found if isinstance(mechanism, SurveyMechanism) else found[:, 0]


def as_rows(mechanism, lines):
    """What `aggregate` takes, from lines of reports."""
    wide = "olh" in (mechanism.name, mechanism.parameters.get("oracle"))
    rows = np.array([[int(number) for number in line.split()] for line in lines], dtype=np.uint64 if wide else np.int64)
    one = mechanism.privatize(as_people(mechanism, values_of(mechanism)[:1]), np.random.default_rng(0)).ndim == 1
    return rows[:, 0] if one else rows
