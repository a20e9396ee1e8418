"""Answers as rows over the types: what they are of given people, what they are divided by, and what designs for them are made for."""

import math

import numpy as np
import pytest

from ldp_core import analysis, mechanisms, optimize
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.workloads import (
    Detect,
    DifferencePart,
    HistogramPart,
    MeanPart,
    PredicatesPart,
    PrefixPart,
    SharePart,
    TotalPart,
    custom,
    over_attributes,
    rates_of,
)
from ldp_core.workloads.answers import ratios_of

SEX = CategoricalAttribute(name="sex", values=("f", "m"))
ARM = CategoricalAttribute(name="arm", values=("a", "b", "c"))
SCORE = RangeAttribute(name="score", low=1, high=6, bins=6, integer=True, outside="clamp")
HAPPY = CategoricalAttribute(name="happy", values=("yes", "no"))
PEOPLE = np.random.default_rng(5).integers(1, 90, (2, 3, 6))
SCORES = np.arange(1, 7)
IN_ARM = PEOPLE.sum(axis=0)
OVER = DifferencePart(of=PrefixPart(attribute="score"), attribute="arm", first="c", second="a")


def domain(known=False):
    return Domain(attributes=(SEX, ARM.model_copy(update={"known": known}), SCORE))


def told(part, known=False, people=PEOPLE):
    """{name: answer} of a part, and its line."""
    (line,) = over_attributes([part], domain(known), counts=people.ravel()).questionnaire.lines
    queries = np.arange(line.workload.num_queries)
    return dict(zip(map(line.workload.query_name, queries), line.values(people.ravel(), queries), strict=True)), line


@pytest.mark.parametrize("known", [False, True], ids=["secret", "known"])
def test_shares_and_averages_of_given_people(known):
    shares = np.cumsum(IN_ARM, axis=1) / IN_ARM.sum(axis=1, keepdims=True)
    averages = IN_ARM @ SCORES / IN_ARM.sum(axis=1)
    found, line = told(SharePart(of=PrefixPart(attribute="score"), within=("arm",)), known)
    assert list(found.values()) == pytest.approx(100 * shares.T.ravel())
    assert found["share score up to 2 in arm b"] == pytest.approx(100 * shares[1, 1])
    assert line.key == "points of the group"
    found, line = told(MeanPart(attribute="score", by=("arm",)), known)
    assert found == pytest.approx({f"average of score in arm {k}": x for k, x in zip("abc", averages, strict=True)})
    assert line.key == "score"
    found, line = told(OVER, known)
    assert list(found.values()) == pytest.approx(100 * (shares[2] - shares[0]))
    assert line.key == "difference of points of the group"
    assert line.target == Detect(5.0)
    found, _ = told(OVER.model_copy(update={"of": MeanPart(attribute="score")}), known)
    assert found == pytest.approx({"average of score, c minus a": averages[2] - averages[0]})


def test_answers_about_everybody_have_their_own_units():
    counts, mean = PEOPLE.sum(axis=(0, 1)), IN_ARM.sum(axis=0) @ SCORES / PEOPLE.sum()
    assert told(MeanPart(attribute="score"))[0] == pytest.approx({"average of score": mean})
    assert told(TotalPart(attribute="score"))[0] == pytest.approx({"total of score": mean})  # a person
    found, line = told(HistogramPart(attribute="score"))
    assert list(found.values()) == pytest.approx(100 * counts / counts.sum())
    assert (line.key, line.workload.num_queries) == ("points", 6)


def test_groups_of_groups_and_conditions():
    males = {"expression": "score > 3 and sex = m"}
    found, _ = told(SharePart(of=PredicatesPart(predicates=[males]), within=("arm",)))
    assert list(found.values()) == pytest.approx(100 * PEOPLE[1, :, 3:].sum(axis=1) / IN_ARM.sum(axis=1))
    found, _ = told(MeanPart(attribute="score", by=("sex", "arm")))
    assert list(found.values()) == pytest.approx((PEOPLE @ SCORES / PEOPLE.sum(axis=2)).ravel())
    found, _ = told(OVER.model_copy(update={"by": ("sex",)}))
    own = np.cumsum(PEOPLE, axis=2) / PEOPLE.sum(axis=2, keepdims=True)
    assert list(found.values()) == pytest.approx(100 * (own[:, 2] - own[:, 0]).T.ravel())
    assert list(found)[:2] == ["share score up to 1 in sex f, c minus a", "share score up to 1 in sex m, c minus a"]


def test_one_of_two_values_is_told():
    both = Domain(attributes=(ARM, HAPPY))
    asked = over_attributes([SharePart(of=HistogramPart(attribute="happy"), within=("arm",))], both).questionnaire
    assert [asked.workload.query_name(k) for k in range(3)] == [f"share happy yes in arm {k}" for k in "abc"]


@pytest.mark.parametrize(
    "part",
    [OVER, SharePart(of=HistogramPart(attribute="score"), within=("arm",)), MeanPart(attribute="score", by=("arm",))],
)
def test_the_row_of_an_answer_is_its_derivative_by_the_counts(part):
    """As far as it goes: what people of a type change, beyond what they change by being counted."""
    _, line = told(part)
    counts, queries, users = PEOPLE.ravel().astype(float), np.arange(line.workload.num_queries), PEOPLE.sum()
    (asked,) = ratios_of(line.group_question, False)
    step = 1e-4 * np.eye(len(counts))
    ends = [asked.values(asked.linear.answers(counts + sign * step)) for sign in (1, -1)]
    slopes = (ends[0] - ends[1]).T / 2e-4
    assert line.workload.rows(queries) * line.unit.factor / users == pytest.approx(slopes, rel=1e-5, abs=1e-7)
    assert asked.errors(asked.linear.answers(counts)).matrix == pytest.approx(slopes, rel=1e-5, abs=1e-7)


def test_known_sizes_are_divided_by_and_secret_ones_are_asked():
    part = MeanPart(attribute="score", by=("arm",))
    secret, known = (over_attributes([part], domain(known), counts=PEOPLE.ravel()) for known in (False, True))
    assert known.questionnaire.workload is known
    assert known.num_queries == 3
    assert len(known.strata.designs) == 1  # groups of any size are asked alike
    assert secret.num_queries == 3 + 3
    sizes = secret.answers(PEOPLE.ravel()) / PEOPLE.sum()
    assert sizes[3:] == pytest.approx([0.1 * 5] * 3, rel=0.1)  # a tenth of each, times the range; two digits of sizes
    compared = over_attributes([OVER], domain())
    assert compared.num_queries == 6 + 2 * 6 + 2
    assert compared.questionnaire.workload.num_queries == 6


def test_a_tiny_group_counts_as_a_tenth_in_designs_and_as_it_is_in_errors():
    people = np.array([[5, 5], [600, 400], [300, 700]])
    both = Domain(attributes=(ARM, HAPPY))
    part = SharePart(of=HistogramPart(attribute="happy"), within=("arm",))
    workload = over_attributes([part], both, counts=people.ravel())
    design, true = (
        np.abs(workload.rows(np.arange(3))).max(axis=1),
        np.abs(workload.questionnaire.workload.rows(np.arange(3))).max(axis=1),
    )
    assert (true / design)[0] == pytest.approx(0.1 / (10 / 2010), rel=0.1)
    assert (true / design)[1:] == pytest.approx([1, 1], rel=0.1)


def test_a_group_without_people_is_told_nothing_of():
    people = PEOPLE.copy()
    people[:, 1] = 0
    for known in (False, True):
        found, line = told(MeanPart(attribute="score", by=("arm",)), known, people)
        assert math.isnan(found["average of score in arm b"])
        assert not math.isnan(found["average of score in arm a"])
        assert np.isfinite(line.workload.rows(np.arange(3))).all()
        assert all(np.isfinite(w.rows(np.arange(w.num_queries))).all() for w, _ in line.design)


def test_designs_take_two_digits_of_planning_data_and_no_more():
    part = SharePart(of=HistogramPart(attribute="score"), within=("arm",))
    (rates,) = rates_of([part], domain(), PEOPLE.ravel())
    assert all(float(f"{x:.2g}") == x for x in (rates.sizes.ravel() * 1.0).tolist())
    again = [over_attributes([part], domain(), counts=counts) for counts in ([rates], PEOPLE.ravel())]
    assert again[0] == again[1]  # the rows of the design
    even = over_attributes([part], domain())
    assert even.questionnaire.lines[0].rates.sizes == pytest.approx(np.full((1, 18), 1 / 3))


def test_targets_scale_rows_and_weights_count_lines():
    parts = [HistogramPart(attribute="score"), MeanPart(attribute="score", weight=2.0)]
    workload = over_attributes(parts, domain(), {"points": 5.0, "score": 0.2})
    rows = workload.rows(np.arange(7))
    scale = 100 / 5.0 / math.sqrt(6)
    assert rows[0].max() == pytest.approx(1.0)
    assert rows[6] * scale == pytest.approx(np.tile((SCORES - 3.5) * 2.0 / 0.2, 6))
    assert workload.questionnaire.norm * scale**2 == pytest.approx(1 + 4)
    alone = over_attributes(parts[:1], domain(), {"points": 5.0})
    assert alone.questionnaire.norm == pytest.approx(6 * 0.05**2)  # the papers' p alpha
    for target in (0, -1.0, math.nan, 1e-300, Detect(0.0)):
        with pytest.raises(ValueError, match=r"^The target for points must be at least 1e-50; got"):
            over_attributes(parts, domain(), {"points": target, "score": 0.2})


@pytest.mark.parametrize(("groups", "epsilon", "saved"), [(3, 1.0, 0.25), (3, 2.0, 0.05), (8, 1.0, 0.2), (8, 2.0, 0.2)])
def test_designs_for_answers_need_fewer_people_than_designs_for_counts(groups, epsilon, saved):
    """Variance of the shares of yes within secret groups: of designs for the sums and three tenths of the sizes, and for the answers."""
    yes = np.random.default_rng(0).uniform(0.1, 0.9, groups)
    people = np.stack([yes, 1 - yes], axis=1).ravel() / groups
    group = CategoricalAttribute(name="group", values=tuple(map(str, range(groups))))
    asked = SharePart(of=HistogramPart(attribute="happy"), within=("group",))
    answers = over_attributes([asked], Domain(attributes=(group, HAPPY)), counts=people)
    of_group = np.repeat(np.eye(groups), 2, axis=1)
    sums = custom(np.concatenate([of_group * np.tile([1, 0], groups), 0.3 * of_group]))
    noise = []
    for workload in (sums, answers):
        made = optimize.design(workload, epsilon, time_limit=None, max_rounds=20).mechanism()
        noise.append(made.variance_on(answers.questionnaire.workload, people))
    assert noise[1] < (1 - saved) * noise[0]


@pytest.mark.parametrize("n", [3, 43, 46, 49, 98, 4320])
def test_people_spread_evenly_are_the_same_however_that_is_said(n):
    """Shares of 1/n add up to less than one person, in the last digit, for some n."""
    axes = [CategoricalAttribute(name="value", values=tuple(map(str, range(n))))]
    targets = [
        over_attributes([HistogramPart(attribute="value")], axes, counts=counts).questionnaire.lines[0].target
        for counts in (None, np.full(n, 7), np.full(n, 1 / n))
    ]
    assert targets[0] == targets[1] == targets[2] < 30
    needed = [
        analysis.people_needed(
            mechanisms.create("randomized_response", n=n, epsilon=1.0), custom(np.eye(n)), counts, case
        )
        for counts, case in ((None, None), (np.full(n, 7), None), (None, analysis.average_case(n)))
    ]
    assert needed == pytest.approx([needed[0]] * 3, rel=1e-12)
