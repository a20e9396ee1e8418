import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from examples import EPSILON, MECHANISMS, as_people, as_rows, table, values_of
from laws import largest_ratio, law

import ldp_core as ldp
from ldp_core.deploy.kit.audit import audit
from ldp_core.deploy.kit.client import Device
from ldp_core.deploy.kit.devices import NoDevice, describe
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.privacy import log_ratio
from ldp_core.workloads.lists import Lists
from tests.refused import refused


def device_of(mechanism, epsilon=EPSILON):
    """The device as it comes out of a file."""
    description = json.loads(json.dumps(describe(mechanism, epsilon)))
    return description, Device(description)


@pytest.fixture(scope="module", params=MECHANISMS)
def example(request):
    mechanism = MECHANISMS[request.param]()
    description, device = device_of(mechanism)
    return mechanism, description, device, {tuple(value): law(device, value) for value in values_of(mechanism)}


def test_the_audit_finds_the_largest_ratio_of_the_exact_law(example):
    mechanism, description, _, laws = example
    found = audit(description)
    assert found.holds
    secret = None if mechanism.protects_all else np.flatnonzero(mechanism.promised)
    assert largest_ratio(laws.values(), secret) == found.largest
    assert found.largest <= found.limit < math.exp(float(EPSILON)) * (1 + 1e-15)
    # The app's own audit speaks of the same probabilities, up to the rounding of its sums.
    assert log_ratio(found.largest, Fraction(1)) == pytest.approx(mechanism.audit().epsilon, rel=1e-13)


@pytest.mark.promise
def test_every_report_is_one_that_the_collector_takes(example):
    mechanism, _, _, laws = example
    if mechanism.name == "olh":
        pytest.skip("The law is for a few of 2^64 keys.")

    def counted(row):
        return tuple(array.tobytes() for array in mechanism.aggregate(row[None]).arrays)

    for value, reports in list(laws.items())[:3]:
        rows = as_rows(mechanism, [" ".join(map(str, report)) for report in reports])
        sent = mechanism.privatize(as_people(mechanism, [value] * 300), np.random.default_rng(1))
        assert rows.shape[1:] == sent.shape[1:]
        assert set(map(counted, sent)) <= set(map(counted, rows))


def test_tables_are_drawn_with_their_exact_probabilities():
    mechanism = table(5)
    _, device = device_of(mechanism)
    for u in range(5):
        expected = {(y,): Fraction(p) for y, p in enumerate(mechanism.strategy[:, u].tolist())}
        assert law(device, u) == expected


def test_response_subsets_and_bits_have_the_laws_of_their_formulas():
    rr = MECHANISMS["randomized_response"]()
    even = (1 - Fraction(rr.truthful)) / 5
    assert law(device_of(rr)[1], 3) == {(y,): even + Fraction(rr.truthful) * (y == 3) for y in range(5)}
    sets = MECHANISMS["subset_selection"]()
    p = Fraction(sets.p)
    assert law(device_of(sets)[1], 2) == {
        members: p / 5 if 2 in members else (1 - p) / 10 for members in combinations(range(6), 2)
    }
    for name in ("oue", "rappor"):
        mechanism = MECHANISMS[name]()
        p, q = Fraction(mechanism.p), Fraction(mechanism.q)
        for bits, chance in law(device_of(mechanism)[1], 1).items():
            wanted = [p if i == 1 else q for i in range(4)]
            assert chance == math.prod(a if bit else 1 - a for a, bit in zip(wanted, bits, strict=True))


@pytest.mark.parametrize("name", ["hrr", "haar", "two trees of hrr", "tree of hrr"])
def test_devices_have_the_channel_of_their_mechanism(name):
    mechanism = MECHANISMS[name]()
    _, device = device_of(mechanism)
    for u in (0, mechanism.n // 2, mechanism.n - 1):
        exact = law(device, u)
        channel = mechanism.channel @ np.eye(mechanism.n)[u]
        tallies = [mechanism.tally(mechanism.aggregate(as_rows(mechanism, [" ".join(map(str, one))]))) for one in exact]
        found = sum(float(chance) * one for chance, one in zip(exact.values(), tallies, strict=True))
        np.testing.assert_allclose(found, channel, atol=1e-15)


def test_scrambled_patterns_are_uniform_over_images():
    mechanism = MECHANISMS["patterns"]()
    exact = law(device_of(mechanism)[1], [1, 2, 0])
    p = [Fraction(one) for one in mechanism.true_probability.tolist()]
    for report, chance in exact.items():
        k, pattern = report[0], mechanism.patterns[report[0]]
        sizes, place, start = pattern.cells.shape, [], 1
        for i, size in zip(pattern.attributes, sizes, strict=True):
            place.append(report[start : start + size].index([1, 2, 0][i]))
            start += size
        inside, cells = int(pattern.cells.sum()), pattern.cells.size
        share = p[k] / inside if pattern.cells[tuple(place)] else (1 - p[k]) / (cells - inside)
        assert report[start:] == (-1,) * (1 + mechanism.width - start)
        told = chance / share * math.prod(math.factorial(size - 1) for size in sizes)
        assert told == Fraction(float(mechanism.shares[k]))


@pytest.mark.promise
@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_of_devices_are_estimated_without_bias(name):
    mechanism = MECHANISMS[name]()
    _, device = device_of(mechanism)
    values, people = values_of(mechanism), 4000
    drawn = np.random.default_rng(2).integers(len(values), size=people) ** 2 // len(values)
    reports = mechanism.aggregate(as_rows(mechanism, [device.report(values[i]) for i in drawn]))
    counts = np.bincount(drawn, minlength=len(values))
    survey = len(values[0]) > 1
    workload = ldp.workloads.survey(mechanism.sizes, 1) if survey else ldp.workloads.histogram(mechanism.n)
    if mechanism.drawn is not mechanism:  # which types of a class people have is not known
        workload = ldp.workloads.custom(np.eye(mechanism.drawn.n)[:, mechanism.classes])
    errors = mechanism.estimate(reports).answers(workload) - workload.answers(counts)
    scores = errors / np.sqrt(mechanism.query_variances(workload, counts))
    assert np.abs(scores).max() < 5  # standard errors, of at most 15 answers


def test_digits_of_random_bytes_decide_about_reports():
    """By hand: 53 bits of 7 bytes; a number that is too large is drawn again."""
    _, device = device_of(MECHANISMS["randomized_response"]())
    truth = device_of(MECHANISMS["randomized_response"]())[0]["sampler"]["truth"]
    taken = iter([truth.to_bytes(7, "big"), b"\xff", b"\x05", b"\xfc"])
    assert device.report(1, lambda many: next(taken)) == "4"  # 7 and 5 are not below 5, and 0xfc ends in 100
    taken = iter([(truth - 1 + 7 * 2**53).to_bytes(7, "big"), b"\xff", b"\x05", b"\xfc"])
    assert device.report(1, lambda many: next(taken)) == "1"
    assert next(taken, None) is None  # and what is not needed is drawn in the same way


def test_continuous_noise_has_no_device():
    workload = ldp.workloads.prefix(4)
    for name in ("matrix_l1", "matrix_l2", "gaussian", "rejection_gaussian", "ball_sampling"):
        parameters = {"max_rounds": 5} if name.startswith("matrix") else {}
        mechanism = ldp.mechanisms.create(name, epsilon=0.5, workload=workload, **parameters)
        refused(r"continuous noise.*Choose a mechanism", describe, mechanism, "0.5", kind=NoDevice)


def test_descriptions_are_refused_that_are_not_of_their_mechanism():
    refused(r"has epsilon 1\.25, not 1\.3", lambda: describe(table(5), "1.3"))
    domain = ldp.data.domain.Domain(
        attributes=(ldp.data.domain.CategoricalAttribute(name="a", values=("x", "y", "z")),)
    )
    refused("other types", lambda: describe(table(5), EPSILON, domain))
    rows = np.tile([[1.0, 1.5, 2.0], [2.0, 1.5, 1.0]], (2**10, 2**10))
    large = ExplicitMechanism("custom", rows / rows.sum(axis=0), 1.0)
    refused("coarser bins", describe, large, "1.0", kind=NoDevice)


def test_epsilon_may_be_a_fraction_where_people_report_several_times():
    mechanism = ldp.mechanisms.create("subset_selection", n=6, epsilon=1 / 3)
    assert audit(json.loads(json.dumps(describe(mechanism, "1/3")))).holds


LISTS = ldp.workloads.custom(Lists(4, 2).members.T)
WORKLOADS = [ldp.workloads.prefix(16), ldp.workloads.all_marginals(4), ldp.workloads.survey([2, 3, 2]), LISTS]
ROUNDS = {"optimized": {"max_rounds": 5}, "optimized_gradient": {"max_rounds": 10}}


@pytest.mark.promise
@pytest.mark.parametrize("epsilon", ["0.01", "0.7", "3", "20"])
def test_every_mechanism_of_the_library_keeps_its_epsilon_exactly(epsilon):
    left_out = {
        "matrix_l1",
        "matrix_l2",
        "gaussian",
        "rejection_gaussian",
        "ball_sampling",
        "hierarchical_2d",
    }  # the last one is among the examples
    described = set()
    for name in set(ldp.mechanisms.names()) - left_out:
        for workload in (*WORKLOADS, ldp.workloads.custom([[0.0, 1.0, 2.0, 5.0]])):
            if ldp.library.spec(name).unsuitable(workload.n, float(epsilon), workload) is None:
                mechanism = ldp.mechanisms.create(
                    name, epsilon=float(epsilon), workload=workload, **ROUNDS.get(name, {})
                )
                description, device = device_of(mechanism, epsilon)
                found = audit(description)
                assert found.holds, (name, workload)
                assert math.log(found.largest) <= mechanism.audit().epsilon * (1 + 1e-13)
                value = [0] * len(description["sampler"]["sizes"])
                assert mechanism.aggregate(as_rows(mechanism, [device.report(value) for _ in range(3)])).users == 3
                described.add(name)
    assert described == set(ldp.mechanisms.names()) - left_out
