"""Shares and averages within groups: the linear queries that they are made of, and what they are of given people."""

import numpy as np
import pytest

from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.workloads import (
    DifferencePart,
    HistogramPart,
    MeanPart,
    PredicatesPart,
    PrefixPart,
    SharePart,
    TotalPart,
    over_attributes,
    ratios_of,
)
from ldp_core.workloads.ratios import SIZES

SEX = CategoricalAttribute(name="sex", values=("f", "m"))
ARM = CategoricalAttribute(name="arm", values=("a", "b", "c"))
SCORE = RangeAttribute(name="score", low=1, high=6, bins=6, integer=True, outside="clamp")
PEOPLE = np.random.default_rng(5).integers(1, 90, (2, 3, 6))
SCORES = np.arange(1, 7)
IN_ARM = PEOPLE.sum(axis=0)
OVER = DifferencePart(of=PrefixPart(attribute="score"), attribute="arm", first="c", second="a", shares=True)


def domain(known=False):
    return Domain(attributes=(SEX, ARM.model_copy(update={"known": known}), SCORE))


def values(part, known=False):
    (ratios,) = ratios_of([part], domain(known))
    assert ratios.known == known
    return dict(zip(ratios.names, ratios.values(ratios.linear.answers(PEOPLE.ravel())), strict=True)), ratios


@pytest.mark.parametrize("known", [False, True], ids=["secret", "known"])
def test_shares_and_averages_of_given_people(known):
    shares = np.cumsum(IN_ARM, axis=1) / IN_ARM.sum(axis=1, keepdims=True)
    averages = IN_ARM @ SCORES / IN_ARM.sum(axis=1)
    told, _ = values(SharePart(of=PrefixPart(attribute="score"), within=("arm",)), known)
    assert list(told.values()) == pytest.approx(100 * shares.T.ravel())
    assert told["score up to 2 and arm b as a share of arm b"] == pytest.approx(100 * shares[1, 1])
    told, _ = values(MeanPart(attribute="score", by=("arm",)), known)
    assert told == pytest.approx(dict(zip([f"average of score, arm {k}" for k in "abc"], averages, strict=True)))
    told, _ = values(OVER, known)
    assert list(told.values()) == pytest.approx(100 * (shares[2] - shares[0]))
    told, _ = values(OVER.model_copy(update={"of": MeanPart(attribute="score")}), known)
    assert told == pytest.approx({"average of score, arm c less arm a": averages[2] - averages[0]})


def test_groups_of_groups_and_conditions():
    males = {"expression": "score > 3 and sex = m"}
    told, _ = values(SharePart(of=PredicatesPart(predicates=[males]), within=("arm",)))
    assert list(told.values()) == pytest.approx(100 * PEOPLE[1, :, 3:].sum(axis=1) / IN_ARM.sum(axis=1))
    told, _ = values(MeanPart(attribute="score", by=("sex", "arm")))
    assert list(told.values()) == pytest.approx((PEOPLE @ SCORES / PEOPLE.sum(axis=2)).ravel())
    told, _ = values(OVER.model_copy(update={"by": ("sex",)}))
    own = np.cumsum(PEOPLE, axis=2) / PEOPLE.sum(axis=2, keepdims=True)
    assert list(told.values()) == pytest.approx(100 * (own[:, 2] - own[:, 0]).T.ravel())


def test_the_error_of_a_ratio_is_that_of_a_linear_query():
    """The derivative of the answer by the count of each type."""
    for part in [OVER, SharePart(of=HistogramPart(attribute="score"), within=("arm",)), OVER.of]:
        for ratios in ratios_of([part], domain()):
            counts = PEOPLE.ravel().astype(float)
            rows = ratios.errors(ratios.linear.answers(counts)).matrix
            step = 1e-5 * np.eye(len(counts))
            ends = [ratios.values(ratios.linear.answers(counts + sign * step)) for sign in (1, -1)]
            assert rows == pytest.approx((ends[0] - ends[1]).T / 2e-5, rel=1e-5, abs=1e-6)


def test_what_is_asked_are_sums_and_sizes_of_secret_groups():
    part = MeanPart(attribute="score", by=("arm",))
    secret, known = (over_attributes([part], domain(known)) for known in (False, True))
    sums = known.answers(PEOPLE.ravel())
    assert secret.answers(PEOPLE.ravel()) == pytest.approx([*sums, *(3 * SIZES * IN_ARM.sum(axis=1))])
    assert sums == pytest.approx(3 * (IN_ARM @ (SCORES - 3.5)) / 5)
    assert secret.query_name(0) == "average of score (groups of equal size) and arm a"
    assert secret.query_name(3) == "arm a"
    even = np.tile([3, 1, 1, 1, 0, 0], 6)
    shares = known.answers(even) / even.sum()
    assert [known.unit(k).value(share, 1) for k, share in enumerate(shares)] == pytest.approx([2.0] * 3)
    assert known.unit(0).scale == "from 1 to 6, counted from its middle"
    assert secret.unit(3) is None
    assert len(known.strata.designs) == 1
    assert over_attributes([OVER], domain()).num_queries == 2 * 6 + 2
    assert "as if all groups were equally large" in part.caveat(domain())


def test_what_fits_nowhere_is_refused():
    for part, words in [
        (SharePart(of=MeanPart(attribute="score"), within=("arm",)), "ask for the average within each group"),
        (SharePart(of=TotalPart(attribute="score"), within=("arm",)), "A total has no share"),
        (SharePart(of=HistogramPart(attribute="arm"), within=("arm",)), "named twice"),
        (SharePart(of=HistogramPart(attribute="score"), within=("arms",)), "did you mean arm"),
        (OVER.model_copy(update={"of": MeanPart(attribute="score"), "shares": False}), "shares=True"),
        (OVER.model_copy(update={"second": "c"}), "compares two values"),
        (MeanPart(attribute="score", by=("score",)), "named twice"),
        (OVER.model_copy(update={"of": MeanPart(attribute="score", by=("sex",))}), "not divided once more"),
    ]:
        with pytest.raises(ValueError, match=words):
            part.build(domain())
    assert "shares" not in OVER.model_copy(update={"shares": False}).model_dump()
    assert not ratios_of([HistogramPart(attribute="score"), MeanPart(attribute="score")], domain())


def test_few_of_many_answers_are_told():
    part = SharePart(of=PrefixPart(attribute="score"), within=("sex", "arm"))
    assert [len(own.names) for own in ratios_of([part, part], domain(), most=20)] == [10, 10]
