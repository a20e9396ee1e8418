"""Linear regression of a secret answer on columns that the collector knows."""

import numpy as np
import pytest

from ldp_core import analysis, optimize
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.estimators import Estimated, line_answers
from ldp_core.people import Records
from ldp_core.workloads import SlopePart, over_attributes
from ldp_core.workloads.answers import ratios_of

ARM = CategoricalAttribute(name="arm", values=("old", "new", "none"), known=True)
AGE = RangeAttribute(name="age", low=18, high=77, bins=4, integer=True, known=True)
HAPPY = CategoricalAttribute(name="happy", values=("no", "yes"))
SPEND = RangeAttribute(name="spend", low=0, high=100, bins=5)
DOMAIN = Domain(attributes=(ARM, SPEND, AGE, HAPPY))
PARTS = [SlopePart(of="happy", on=("age", "arm")), SlopePart(of="spend", on=("arm",))]


def people(seed, users=3000):
    rng = np.random.default_rng(seed)
    arm, age = rng.integers(0, 3, users), rng.binomial(3, 0.4, users)
    spend = np.minimum(rng.poisson(1.0 + 0.5 * (arm == 1)), 4)
    return np.stack([arm, spend, age, (rng.random(users) < 0.2 + 0.15 * age + 0.1 * (arm == 2)).astype(int)], axis=1)


def fitted(records):
    """The coefficients by least squares, person by person."""
    arm, spend, age, happy = records.T
    dummies = [np.ones(len(arm)), arm == 1, arm == 2]
    of_happy = np.linalg.lstsq(
        np.stack([dummies[0], (25 + 15 * age - 18) / 20, *dummies[1:]], 1), 100.0 * happy, rcond=None
    )
    of_spend = np.linalg.lstsq(np.stack(dummies, 1), 10 + 20.0 * spend, rcond=None)
    return np.concatenate([of_happy[0][1:], of_spend[0][1:]])


def test_slopes_are_the_coefficients_of_least_squares_by_every_way_to_them():
    records = people(0)
    given = Records(records, DOMAIN.shape)
    workload = over_attributes(PARTS, DOMAIN, counts=given)
    lines, exact = workload.questionnaire.lines, fitted(records)
    assert [line.workload.query_name(0) for line in lines] == [
        "share happy yes, per 20 of age",
        "average of spend, arm new minus old",
    ]
    told = [line.values(given, np.arange(line.workload.num_queries)) for line in lines]
    np.testing.assert_allclose(np.concatenate(told), exact, rtol=0.05, atol=0.2)  # two digits of each group are taken
    counts = given.table(range(4))
    found = [own.values(own.linear.answers(counts)) for line in lines for own in ratios_of(line.group_question, False)]
    np.testing.assert_allclose(np.concatenate(found), exact, rtol=1e-9, atol=1e-9)


def test_columns_that_the_people_do_not_tell_apart_have_no_slope():
    records = people(1)
    records[:, 0] = (records[:, 2] > 1).astype(int)  # nobody has the third arm
    counts = Records(records, DOMAIN.shape).table(range(4))
    (own,) = ratios_of(
        over_attributes([SlopePart(of="happy", on=("arm",))], DOMAIN).questionnaire.lines[0].group_question, False
    )
    missing = own.values(own.linear.answers(counts))
    assert np.isfinite(missing[0])
    assert np.isnan(missing[1])
    records[:, 0] = 1
    with pytest.raises(ValueError, match="alike in the known columns"):
        over_attributes([SlopePart(of="happy", on=("arm",))], DOMAIN, counts=Records(records, DOMAIN.shape))


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (SlopePart(of="arm", on=("age",)), "3 values"),
        (SlopePart(of="happy", on=("spend",)), "does not know spend"),
        (SlopePart(of="happy", on=("happy",)), "named twice"),
        (SlopePart(of="happy", on=("arm",), by=("age",)), "not asked within groups"),
    ],
)
def test_what_is_no_regression_is_refused_in_a_sentence(part, sentence):
    with pytest.raises(ValueError, match=sentence):
        over_attributes([part], DOMAIN)


def test_errors_and_intervals_are_those_of_collections():
    """Standard errors of 1,000 collections within 4 of their standard errors, intervals that hold, for these people and the population."""
    rng, records = np.random.default_rng(2), people(2)
    counts = Records(records, DOMAIN.shape).table(range(4))
    workload = over_attributes(PARTS, DOMAIN, counts=counts)
    mechanism = optimize.design(workload, 2.0, time_limit=None, max_rounds=8).mechanism()
    said = analysis.answers(mechanism, workload, counts)["standard_error"].to_numpy()
    exact, trials = fitted(records), 1000
    asked = [own for line in workload.questionnaire.lines for own in ratios_of(line.group_question, False)]
    found, held = [], np.zeros(len(exact))
    for trial in range(trials):
        estimate = mechanism.estimate(mechanism.simulate(counts, rng))
        found.append(np.concatenate([own.values(estimate.answers(own.linear)) for own in asked]))
        if trial < 200:
            given = Estimated(mechanism, estimate, estimate, len(records))
            rows = [line_answers(line, False, given) for line in workload.questionnaire.lines]
            low, high = (np.concatenate([own[end] for own in rows]) for end in ("low", "high"))
            held += (low <= exact) & (exact <= high)
    assert (np.abs(np.mean(found, axis=0) - exact) < 4 * said / trials**0.5).all()
    assert (np.abs(np.std(found, axis=0) / said - 1) < 4 / (2 * trials) ** 0.5 + 0.02).all()
    assert (held >= 0.89 * 200).all()  # four standard errors below 95 %
