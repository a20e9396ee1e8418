"""The promises of every registered mechanism, in every family."""

import math
import re

import numpy as np
import pytest
from written_out import EveryReport, check_errors, check_guarantee, same, within

from ldp_core import library, mechanisms, workloads
from tests.refused import refused

N = 8
COUNTS = np.array([260, 0, 90, 31, 400, 7, 0, 150])
MAKERS = (workloads.histogram, workloads.prefix, workloads.all_range)
SURVEYS = [name for name in mechanisms.names() if library.spec(name).surveys_only]
"""They are built from surveys, and have tests of their own."""
OTHER_QUESTIONS = {"duchi", "piecewise", "hybrid", "privset"}
"""They answer no workload of `MAKERS`: see `test_one_value.py` and `tests/optimize/test_lists.py`."""
NAMES = [name for name in mechanisms.names() if name not in {*SURVEYS, *OTHER_QUESTIONS}]
CLOSED = [name for name in NAMES if not library.spec(name).needs_workload]
# Draws one number a user (in chunks): a billion users would take a minute.
PER_USER = {"rejection_gaussian", "ball_sampling"}
TABLE = {"hierarchical_2d"}
"""Mechanisms whose types are the combinations of two attributes."""
NEEDED = {"randomized_response", "subset_selection", "hadamard", "hierarchical", "optimized_gradient"}


def make(name, n=N, epsilon=1.0, maker=workloads.prefix, rounds=10, **parameters):
    """The mechanism, its fit (where it has one) cut short: the contract holds after any number of rounds."""
    if library.spec(name).needs_workload:
        quick = {"max_rounds": rounds, "time_limit": None} if "max_rounds" in library.spec(name).parameters else {}
        return mechanisms.create(name, n, epsilon, workload=maker(n), **quick, **parameters)
    told = {"shape": (2, n // 2)} if name in TABLE else {}
    return mechanisms.create(name, n, epsilon, **told, **parameters)


def answerable(mechanism):
    """The named workloads that the mechanism answers: at least one."""
    found = [maker(mechanism.n) for maker in MAKERS if mechanism.supports(maker(mechanism.n)) is None]
    assert found
    return found


def collected(mechanism, rng, trials, per_user):
    """Estimates of repeated collections from the users ``COUNTS``."""
    values = np.repeat(np.arange(mechanism.n), COUNTS)
    estimates = []
    for _ in range(trials):
        if per_user:
            reports = mechanism.aggregate(mechanism.privatize(rng.permutation(values), rng))
        else:
            reports = mechanism.simulate(COUNTS, rng)
        assert reports.users == COUNTS.sum()
        estimates.append(mechanism.estimate(reports))
    return estimates


def test_the_library_is_complete():
    assert set(NAMES) >= NEEDED
    for name in mechanisms.names():
        entry = library.spec(name)
        assert entry.name == name
        assert entry.title
        assert entry.made_for
        assert entry.paper_name != entry.title
        assert entry.paper


@pytest.mark.parametrize("name", NAMES)
def test_audit_is_within_the_guarantee_in_floating_point(name):
    rng = np.random.default_rng(0)
    for epsilon in [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 20, *np.exp(rng.uniform(math.log(0.001), math.log(20), 20))]:
        for n in (2, 3, N):
            if library.spec(name).unsuitable(n, epsilon, workloads.prefix(n)):
                continue
            mechanism = make(name, n, epsilon, rounds=3)
            audit = mechanism.audit()
            assert audit.epsilon <= mechanism.epsilon == epsilon
            assert audit.delta <= mechanism.delta
            assert audit.method
            one, other = audit.worst_pair
            assert one != other
            assert {one, other} <= set(range(n))


@pytest.mark.parametrize("name", NAMES)
def test_estimates_are_unbiased_with_the_stated_variances(name):
    """Against all reports where they can be written out, and otherwise against repeated collections."""
    mechanism = make(name)
    try:
        every = EveryReport(mechanism)
    except NotImplementedError:
        check_by_collecting(mechanism, answerable(mechanism)[-1])
        return
    for workload in answerable(mechanism):
        check_errors(every, workload, COUNTS)
    check_guarantee(every, spent=name in CLOSED)


def check_by_collecting(mechanism, workload, trials=500):
    for per_user in (True, False):
        estimates = collected(mechanism, np.random.default_rng(1), trials, per_user)
        assert all(estimate.unbiased for estimate in estimates)
        deviations = np.array([estimate.answers(workload) for estimate in estimates]) - workload.answers(COUNTS)
        squared = np.array([estimate.squared_error(workload, COUNTS) for estimate in estimates])
        variances = mechanism.query_variances(workload, COUNTS)
        assert within(deviations, 0, scale=COUNTS.sum())
        assert within(deviations**2, variances, scale=squared.mean())
        assert squared == pytest.approx((deviations**2).sum(axis=1))
        assert variances.sum() == pytest.approx(COUNTS @ mechanism.variance_profile(workload))
        if hasattr(mechanism, "covariance"):
            pairs, W = np.einsum("ti,tj->tij", deviations, deviations), workload.matrix
            assert within(pairs, W @ mechanism.covariance(COUNTS) @ W.T, scale=squared.mean())


@pytest.mark.parametrize("name", NAMES)
def test_collecting_is_reproducible_and_leaves_its_input_alone(name):
    mechanism, counts, values = make(name), COUNTS.copy(), np.repeat(np.arange(N), 3)
    kept = values.copy()
    one, again, other = (mechanism.simulate(counts, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert same(one, again)
    assert not same(one, other)
    one, again = (mechanism.aggregate(mechanism.privatize(values, np.random.default_rng(5))) for _ in range(2))
    assert same(one, again)
    assert np.array_equal(counts, COUNTS)
    assert np.array_equal(values, kept)


@pytest.mark.parametrize("name", NAMES)
def test_merging_reports_equals_collecting_together(name):
    mechanism, rng = make(name), np.random.default_rng(3)
    workload = answerable(mechanism)[-1]
    some = mechanism.aggregate(mechanism.privatize(np.arange(N), rng))
    more = mechanism.aggregate(mechanism.privatize(np.repeat(np.arange(N), 20), rng))
    both = some + more
    assert both.users == some.users + more.users == 21 * N
    assert both.mechanism_digest == mechanism.digest
    for total, a, b in zip(both.arrays, some.arrays, more.arrays, strict=True):
        assert np.array_equal(total, a + b)
    assert same(both, more + some)
    # Unbiased estimates are linear in the reports.
    answers = [mechanism.estimate(reports).answers(workload) for reports in (some, more, both)]
    assert answers[2] == pytest.approx(answers[0] + answers[1])


@pytest.mark.parametrize("name", NAMES)
def test_no_users_and_one_type_only(name):
    mechanism, rng = make(name), np.random.default_rng(4)
    workload = answerable(mechanism)[-1]
    nobody = mechanism.simulate(np.zeros(N, dtype=int), rng)
    assert nobody.users == 0
    assert mechanism.estimate(nobody).answers(workload) == pytest.approx(np.zeros(workload.num_queries))
    assert mechanism.aggregate(mechanism.privatize(np.array([], dtype=int), rng)).users == 0
    many = 10**5 if name in PER_USER else 10**9
    crowd = np.eye(N, dtype=int)[5] * many
    error = mechanism.estimate(mechanism.simulate(crowd, rng)).answers(workload) - workload.answers(crowd)
    spread = np.sqrt(np.maximum(mechanism.query_variances(workload, crowd), 0))
    assert (np.abs(error) <= 6 * spread + 1e-7 * many).all()


def test_no_two_mechanisms_share_a_digest():
    digests = {make(name, epsilon=epsilon).digest for name in NAMES for epsilon in (1.0, 1.0 + 1e-12)}
    assert len(digests) == 2 * len(NAMES)
    assert all(make(name).digest == make(name).digest for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_refused_in_words(name):
    mechanism, rng = make(name), np.random.default_rng(0)
    stranger = make(name, epsilon=0.75).simulate(np.ones(N, dtype=int), rng)
    refused("made by another mechanism", mechanism.estimate, stranger)
    refused("cannot be added", lambda: mechanism.simulate(COUNTS, rng) + stranger)
    assert "9" in mechanism.supports(workloads.prefix(N + 1))
    refused("types", lambda: mechanism.variance_profile(workloads.prefix(N + 1)))
    refused("one entry for each of the 8 types", mechanism.simulate, COUNTS[:-1], rng)
    for counts in (COUNTS - 1, COUNTS + 0.5, np.where(COUNTS == 0, np.nan, COUNTS)):
        refused("non-negative whole numbers", mechanism.simulate, counts, rng)
    for word, values in (
        ("from 0 to 7", [8]),
        ("from 0 to 7", [-1]),
        ("whole-number", [0.5]),
        ("dimensional", [[1, 2]]),
    ):
        refused(word, mechanism.privatize, np.array(values), rng)
    for draw, people in ((mechanism.privatize, np.array([1, 2])), (mechanism.simulate, COUNTS)):
        refused(r"from a generator, such as np\.random\.default_rng\(0\); got 7", draw, people, 7)
    for epsilon in (0, 20.1, math.nan, "one", None):
        refused(r"[Ee]psilon .*0\.001.* to 20", make, name, epsilon=epsilon)
    refused("no parameter 'colour'", make, name, colour="red")
    for n in (1, 2.5, True) if name in CLOSED else ():
        refused("at least 2 types", mechanisms.create, name, n, 1.0)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("optimized", {"target": "best"}, "Unknown target 'best'; choose one of average, worst_case."),
        ("optimized", {"seed": True}, "Seed must be a whole number of at least 0; got True."),
        ("matrix_l1", {"time_limit": math.nan}, "Time limit must be a number of at least 0; got nan."),
        ("gaussian", {"delta": None}, "Delta must be a number above 0"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(name, parameters, words):
    refused(re.escape(words), lambda: mechanisms.create(name, epsilon=1.0, workload=workloads.prefix(4), **parameters))


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_offered_works_and_the_first_is_the_default(name):
    for parameter, values in library.spec(name).choices.items():
        default = make(name)
        for value in values:
            to = {"workload": workloads.prefix(N)} if value == "fitted" and name == "hierarchical" else {}
            chosen = make(name, **{parameter: value}, **to)
            audit = chosen.audit()
            if value == "paper":  # ships as printed, with an audit that says what it really delivers
                assert audit.epsilon >= 1.0
                assert audit.method
            else:
                assert audit.epsilon <= 1.0
                assert audit.delta <= chosen.delta * (1 + 1e-9)
        assert make(name, **{parameter: values[0]}).digest == default.digest


def test_create_says_what_is_missing():
    refused(
        "Unknown mechanism 'laplace'; choose one of randomized_response", mechanisms.create, "laplace", n=4, epsilon=1.0
    )
    refused("Epsilon must be a number", mechanisms.create, "hadamard", n=4)
    refused("number of types n, or a workload", mechanisms.create, "hadamard", epsilon=1.0)
    refused("pass workload", mechanisms.create, "optimized_gradient", n=4, epsilon=1.0)
    refused("4 types but n = 5", lambda: mechanisms.create("hadamard", n=5, epsilon=1.0, workload=workloads.prefix(4)))
    assert mechanisms.create("hadamard", epsilon=1.0, workload=workloads.prefix(4)).n == 4


@pytest.mark.parametrize("name", [name for name in mechanisms.names() if not library.spec(name).fitted])
def test_exact_variances_of_many_types_need_a_closed_form(name):
    spec, workload = library.spec(name), workloads.prefix(8192)
    if spec.unsuitable(workload.n, 1.0, workload):
        return
    asked = {"workload": workload} if spec.needs_workload else {}
    mechanism = mechanisms.create(name, n=workload.n, epsilon=1.0, **asked)
    if spec.closed_form:
        assert mechanism.variance_profile(workload).shape == (workload.n,)
    else:
        refused("types", mechanism.variance_profile, workload)
