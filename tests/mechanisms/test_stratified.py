"""Mechanisms, designs and proofs where the collector knows a column: those of the groups, added up."""

from dataclasses import replace

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import analysis, bounds, library, mechanisms, optimize, shuffled
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.deploy.kit import client, devices
from ldp_core.mechanisms import StratifiedMechanism
from ldp_core.mechanisms.moments import Rows
from ldp_core.workloads import (
    DifferencePart,
    HistogramPart,
    MeanPart,
    Prefix,
    PrefixPart,
    RangesPart,
    Representatives,
    Stratified,
    over_attributes,
)
from tests.refused import refused

ARM = CategoricalAttribute(name="arm", values=("a", "b", "c"), known=True)
SCORE = RangeAttribute(name="score", low=1, high=8, bins=8, integer=True)
UNLIKE = over_attributes(
    [
        PrefixPart(attribute="score", by=("arm",)),
        DifferencePart(of=HistogramPart(attribute="score"), attribute="arm", first="a", second="c", weight=2),
    ],
    [SCORE, ARM],
)
MEAN = over_attributes([MeanPart(attribute="score")], [SCORE, ARM])
COUNTS = np.random.default_rng(3).integers(0, 90, 24)
NAMES = [name for name in mechanisms.names() if not library.spec(name).surveys_only and name != "privset"]


def built(name, **more):
    workload = MEAN if name in ("duchi", "piecewise", "hybrid") else UNLIKE
    more |= {"max_rounds": 3, "time_limit": None} if library.spec(name).fitted else {}
    more |= {"delta": 1e-6} if library.spec(name).delta else {}
    return mechanisms.create(name, epsilon=1.0, workload=workload, **more), workload


def test_two_arms_need_64_per_cent_fewer_people():
    two = ARM.model_copy(update={"values": ("a", "b")})
    score = SCORE.model_copy(update={"high": 16, "bins": 16})
    parts = [PrefixPart(attribute="score", by=("arm",))]
    known = over_attributes(parts, [two, score])
    secret = over_attributes(parts, [two.model_copy(update={"known": False}), score])
    limits = {"epsilon": 1.0, "time_limit": None, "max_rounds": 200}
    design, kept = optimize.design(known, **limits), optimize.design(secret, **limits)
    assert design.objective == pytest.approx(2666, abs=1)
    assert kept.objective == pytest.approx(7456, abs=8)
    proof = bounds.certificate(known, 1.0, time_limit=None)
    assert proof.verify()
    assert proof.value == pytest.approx(2661, abs=0.5)
    assert bounds.centred_svd(known, 1.0) < proof.value < design.objective < bounds.certificate(secret, 1.0, None).value
    assert 1 - design.objective / kept.objective == pytest.approx(0.64, abs=0.005)
    users = [analysis.users_from_objective(value, known) for value in (design.objective, kept.objective)]
    assert 1 - users[0] / users[1] == pytest.approx(0.667, abs=0.005)
    one = optimize.design(known.strata.designs[0], **limits)
    assert design.objective == pytest.approx(2 * one.objective, rel=1e-12)
    assert np.array_equal(design.parts[0].strategy, one.strategy)  # one design for both
    made = mechanisms.ExplicitMechanism("written out", design.strategy, 1.0)
    assert analysis.objective(made, known) == pytest.approx(design.objective, rel=1e-9)
    assert analysis.objective(design.mechanism(), known) == pytest.approx(design.objective, rel=1e-6)


@pytest.mark.parametrize("name", [*NAMES, "hierarchical(reconstruction=raw)"])
def test_every_mechanism_is_that_of_each_group(name):
    made, workload = built(name)
    assert isinstance(made, StratifiedMechanism)
    rng = np.random.default_rng(0)
    profile = made.variance_profile(workload)
    for own, types in zip(made.strata, made.types, strict=True):
        assert profile[types] == pytest.approx(own.variance_profile(Representatives(workload, types)), rel=1e-9)
    total = analysis.objective(made, workload)
    assert total == pytest.approx(float(profile.sum()) + workload.trace, rel=1e-12)
    each = made.query_variances(workload, COUNTS)
    assert each.sum() == pytest.approx(profile @ COUNTS, rel=1e-9)
    assert made.query_variances(workload, COUNTS, np.array([0])) == pytest.approx(each[:1], rel=1e-9, abs=1e-6)
    assert made.audit().epsilon <= 1
    assert made.audit().epsilon == max(own.audit().epsilon for own in made.strata)
    assert {made.stratum[k] for k in made.audit().worst_pair} <= {0, 1, 2}
    people = np.repeat(np.arange(24), COUNTS)
    sent = made.privatize(rng.permutation(people), rng)
    assert np.array_equal(np.bincount(sent[:, 0].astype(int), minlength=3), COUNTS.reshape(8, 3).sum(axis=0))
    collected = [made.aggregate(sent), made.simulate(COUNTS, rng)]
    halves = made.aggregate(sent[:50]) + made.aggregate(sent[50:])
    for one, other in zip(halves.arrays, collected[0].arrays, strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    for reports in collected:
        estimate = made.estimate(reports)
        off = estimate.answers(workload) - workload.answers(COUNTS)
        assert np.all(np.abs(off) <= 6 * np.sqrt(np.maximum(each, 0)) + 1e-6)
        assert estimate.squared_error(workload, COUNTS) == pytest.approx(float(off @ off), rel=1e-9)
        assert estimate.total == pytest.approx(COUNTS.sum(), rel=0.5)


def test_reports_have_the_likelihood_of_the_written_table():
    made, workload = built("randomized_response")
    Q = made.strategy
    assert Q.sum(axis=0) == pytest.approx(np.ones(24))
    assert made.channel @ np.eye(24) == pytest.approx(Q)
    assert made.channel.T @ np.eye(24) == pytest.approx(Q.T)
    reports = made.simulate(COUNTS, np.random.default_rng(0))
    fitted = ldp.estimators.apply("wnnls", reports, made, workload).counts()
    assert fitted.min() >= 0
    assert made.tally(reports).sum() == COUNTS.sum()
    adds = made.query_contributions(workload, np.arange(10))
    assert adds.variances @ COUNTS == pytest.approx(made.query_variances(workload, COUNTS)[:10], abs=1e-6)
    assert np.array_equal(adds.means, workload.rows(np.arange(10)))
    refused("number of a group", made.aggregate, np.zeros(3))
    refused("another mechanism", lambda: built("hrr")[0].estimate(reports))


def test_designs_and_proofs_follow_a_prior():
    prior = np.random.default_rng(0).dirichlet(np.ones(24))
    prior[UNLIKE.strata.types[1]] = 0
    prior /= prior.sum()
    limits = {"epsilon": 1.0, "time_limit": None, "max_rounds": 30}
    design = optimize.design(UNLIKE, **limits, prior=prior)
    made = mechanisms.create("optimized", workload=UNLIKE, prior=prior, **limits)
    reached = bounds.average_variance(design.objective, UNLIKE, prior)
    assert reached == pytest.approx(float(prior @ made.variance_profile(UNLIKE)), rel=1e-6)
    proof = bounds.certificate(UNLIKE, 1.0, time_limit=None, prior=prior)
    assert proof.verify()
    assert 0.96 * reached < proof.variance < reached  # groups of one design share a search at their shares together
    closed = bounds.average_variance(bounds.centred_svd(UNLIKE, 1.0, prior), UNLIKE, prior)
    assert closed < proof.variance * (1 + 1e-6)


def test_the_objective_is_the_sum_over_the_groups():
    """From the whole Gram matrix and what each group reports: the estimate of groups of one design is the best for their people together."""
    strata = UNLIKE.strata
    prior = np.random.default_rng(1).dirichlet(np.ones(24))
    for shares in (None, prior):
        design = optimize.design(UNLIKE, 1.0, time_limit=None, max_rounds=10, prior=shares)
        each = np.full(24, 1 / 24) if shares is None else shares
        total = 0.0
        for types, k in zip(strata.types, design.which, strict=True):
            alike = np.flatnonzero(strata.which == k)
            Q, r = design.parts[k].strategy, strata.scale[alike] ** 2 @ each[strata.types[alike]]
            sent = Q / (Q @ r)[:, None]
            V = np.linalg.solve(Q.T @ sent, sent.T)  # (m, reports) what each report adds to the counts
            G = UNLIKE.gram_dense()[np.ix_(types, types)]
            total += 24 * each[types] @ Q.T @ np.einsum("uy,uv,vy->y", V, G, V)
        assert design.objective == pytest.approx(total, rel=1e-12)


def test_one_group_is_designed_and_proved_like_no_group():
    """The same bytes of the strategy and of what it costs, and the same bound."""
    plain = Prefix(7)
    one = Stratified(plain, (1, 7), (0,))
    limits = {"epsilon": 1.0, "time_limit": None, "max_rounds": 10}
    design, alone = optimize.design(one, **limits), optimize.design(plain, **limits)
    assert design.strategy.tobytes() == alone.strategy.tobytes()
    assert design.objective == alone.objective
    made, other = (mechanisms.create("optimized", workload=workload, **limits) for workload in (one, plain))
    assert made.strategy.tobytes() == other.strategy.tobytes()
    assert made.variance_profile(one).tobytes() == other.variance_profile(plain).tobytes()
    proof, whole = bounds.certificate(one, 1.0, None), bounds.certificate(plain, 1.0, None)
    assert proof.parts[0].value == pytest.approx(whole.value, rel=1e-9)
    assert proof.value == pytest.approx(whole.value, rel=1e-7)


@pytest.mark.parametrize("name", ["subset_selection", "optimized", "hierarchical"])
def test_groups_may_have_an_epsilon_each(name):
    """Who is in them is no secret; each group has the reports, errors and guarantee of its own."""
    more = {"max_rounds": 3, "time_limit": None} if name == "optimized" else {}
    whole = {epsilon: mechanisms.create(name, epsilon=epsilon, workload=UNLIKE, **more) for epsilon in (1.0, 0.5)}
    made = mechanisms.create(name, epsilon=(1.0, 0.5, 0.5), workload=UNLIKE, **more)
    profile = made.variance_profile(UNLIKE)
    for z, (types, epsilon) in enumerate(zip(UNLIKE.strata.types, (1.0, 0.5, 0.5), strict=True)):
        assert made.strata[z].digest == whole[epsilon].strata[z].digest
        assert 0.9 * epsilon < made.strata[z].audit().epsilon <= epsilon
        assert profile[types] == pytest.approx(whole[epsilon].variance_profile(UNLIKE)[types], rel=1e-9)
    assert made.epsilon == 1.0
    assert made.audit().epsilon == made.strata[0].audit().epsilon
    frame = ldp.simulate.run(made, UNLIKE, COUNTS, trials=200, seed=1)
    assert frame["total_squared_error"].mean() == pytest.approx(made.variance_on(UNLIKE, COUNTS), rel=0.15)
    device = client.Device(devices.describe(made, "1.0", Domain(attributes=(SCORE, ARM))))
    assert {device.report([score, arm]).split()[0] for score in range(8) for arm in range(3)} == {"0", "1", "2"}


def test_epsilons_are_one_for_each_group():
    for workload, epsilons, said in ((UNLIKE, (1.0, 0.5), "3 groups and 2"), (Prefix(4), [1.0], "no groups and 1")):
        refused(
            f"one for each group that the collector knows: there are {said} epsilons",
            mechanisms.create,
            "subset_selection",
            epsilon=epsilons,
            workload=workload,
        )
    refused("out of range", mechanisms.create, "subset_selection", epsilon=(1.0, 0.5, 99.0), workload=UNLIKE)


def test_proofs_of_other_questions_or_larger_sums_are_refused():
    proof = bounds.certificate(UNLIKE, 1.0, time_limit=None)
    assert proof.verify()
    first, second = proof.parts
    for forged in (
        replace(proof, value=proof.value * 1.001),
        replace(proof, epsilon=1.1),
        replace(proof, parts=(first,)),
        replace(proof, parts=(second, first)),
        replace(proof, parts=(replace(first, value=2 * first.value), second), value=proof.value * 1.001),
        replace(
            proof,
            parts=(first, replace(second, numbers={**second.numbers, "inverse": 1.01 * second.numbers["inverse"]})),
        ),
        replace(proof, prior=np.random.default_rng(0).dirichlet(np.ones(24))),
        replace(proof, workload=over_attributes([RangesPart(attribute="score")], [SCORE, ARM])),
    ):
        assert not forged.verify()


def test_the_worst_case_is_that_of_the_worst_group():
    made = mechanisms.create(
        "optimized", epsilon=1.0, workload=UNLIKE, target="worst_case", max_rounds=60, time_limit=None
    )
    worst = analysis.worst_case_variance(made, UNLIKE)
    proof = bounds.worst_case(UNLIKE, 1.0, time_limit=None)
    assert proof.verify()
    assert bounds.worst_case_variance(UNLIKE, 1.0) <= proof.variance * (1 + 1e-9) <= worst
    assert proof.variance > 0.97 * worst


@pytest.mark.parametrize("name", ["optimized", "oue", "randomized_response"])
def test_intervals_go_by_how_many_people_each_group_has(name):
    """95 of 100 intervals hold the truth, errors are those of the groups, and no group widens another's."""
    made, workload = built(name)
    counts, rng = 20 * COUNTS, np.random.default_rng(5)
    truth, spread = workload.answers(counts), np.sqrt(np.maximum(made.query_variances(workload, counts), 0))
    told, held, errors, widths = spread > 1e-3, [], [], []
    for _ in range(100):
        found = ldp.estimators.intervals(made, workload, made.estimate(made.simulate(counts, rng)))
        held.append((found.ends[:, 0] <= truth + 1e-6) & (truth - 1e-6 <= found.ends[:, 1]))
        errors.append(found.errors)
        widths.append(found.ends[:, 1] - found.ends[:, 0])
    assert 0.93 < np.mean(held) <= 0.995
    assert np.mean(errors, axis=0)[told] == pytest.approx(spread[told], rel=0.1)
    assert (np.mean(widths, axis=0)[told] < 1.25 * 3.92 * spread[told]).all()


@pytest.mark.parametrize("name", ["oue", "hrr", "optimized"])
def test_no_report_adds_more_than_is_said(name):
    made, workload = built(name)
    rows, rng = workload.matrix, np.random.default_rng(0)
    low, high, _ = made.ends(Rows(rows))
    for u in range(24):
        one = np.eye(24, dtype=int)[u]
        added = made.estimate(made.simulate(one, rng)).answers(workload)
        assert (low - 1e-7 <= added).all()
        assert (added <= high + 1e-7).all()


def test_a_report_reveals_what_it_does_to_somebody_who_knows_the_group():
    made, _ = built("randomized_response")
    alone = ldp.beliefs.exposure(made.strata[0])
    found = ldp.beliefs.exposure(made)
    assert (found.between, found.single) == (alone.between, alone.single)
    assert found.guess == pytest.approx(alone.guess)
    even, prior = np.full((3, 8), 1 / 24), np.random.default_rng(2).dirichlet(np.ones(24))
    assert ldp.beliefs.blind_guess(even, 24) == pytest.approx(1 / 8)
    assert ldp.beliefs.best_guess(even, 24, 1.0) == pytest.approx(found.guess)  # the best for even people
    limit = ldp.beliefs.best_guess(prior[made.types], 24, 1.0)
    alone = [ldp.beliefs.best_guess(own / own.sum(), 8, 1.0) * own.sum() for own in prior[made.types]]
    assert limit == pytest.approx(sum(alone))
    for name in ("randomized_response", "optimized", "subset_selection"):
        told = ldp.beliefs.exposure(built(name)[0], prior).guess
        assert ldp.beliefs.blind_guess(prior[made.types], 24) - 1e-12 <= told <= limit + 1e-12
    told = ldp.beliefs.over_epsilon(0.5, prior[made.types], 24, np.array([1.0]), 1e-3)
    assert told["guess"].to_list() == [ldp.beliefs.best_guess(prior[made.types], 24, 1.0, 1e-3)]


@pytest.mark.parametrize("asked", ["people", "worst_case", "average"])
def test_a_search_of_several_groups_tells_what_all_of_them_come_to(asked):
    """Groups whose people are spread otherwise have a search each, and the last one tells of all."""
    _, workload = built("randomized_response")
    prior, told = np.arange(1, 25) / 300, list[float]()
    given = {"people": {"prior": prior}, "worst_case": {"target": "worst_case"}, "average": {}}[asked]
    made = library.create(
        "optimized",
        epsilon=1.0,
        workload=workload,
        max_rounds=3,
        time_limit=None,
        callback=lambda progress: told.append(progress.objective),
        **given,
    )
    profile = made.variance_profile(workload)
    variance = {"people": prior @ profile, "worst_case": profile.max(), "average": profile.mean()}[asked]
    assert told[-1] == pytest.approx(bounds.equivalent_objective(variance, workload), rel=1e-3)


def test_mixing_is_promised_for_the_smallest_known_group():
    made, _ = built("randomized_response")
    people = np.zeros(24, dtype=int)
    people[made.types[:2]] = [[400], [50]]
    said = shuffled.promised(made, people)
    alone = shuffled.promised(made.strata[0], 50 * made.types.shape[1])
    assert f"of each group, of at least {50 * made.types.shape[1]} people, are mixed" in said
    assert said.split(": ")[1] == alone.split(": ")[1]
    refused("mixed within their group alone", shuffled.shuffled, made, 1000)


def test_vectors_with_noise_are_refused_in_a_sentence():
    _, workload = built("randomized_response")
    assert "Vectors with noise" in library.spec("gaussian").unsuitable(24, 1.0, workload)
    assert library.spec("subset_selection").unsuitable(24, 1.0, workload) is None
    assert "power of two" in library.spec("fourier").unsuitable(
        18, 1.0, over_attributes([MeanPart(attribute="score")], [SCORE.model_copy(update={"high": 6, "bins": 6}), ARM])
    )
