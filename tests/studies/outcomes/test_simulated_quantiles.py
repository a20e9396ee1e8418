"""Quantiles of noisy running totals, against a count of the people in order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute, NumericAttribute
from ldp_core.people import people_of
from ldp_core.studies import outcomes
from ldp_core.workloads.axes import axes_of
from ldp_core.workloads.surveys import Group

PEOPLE = st.lists(st.integers(0, 9), min_size=1, max_size=60)


@given(PEOPLE, st.floats(0.01, 1.0))
def test_positions_of_true_totals_are_the_types_of_people_in_order(people, share):
    counts = np.bincount(people, minlength=10)
    (place,) = outcomes.positions(np.cumsum(counts).astype(float), len(people), [share])
    # The first type at which at least this share of the people is reached.
    reached = np.array([(np.array(people) <= type_).mean() for type_ in range(10)])
    assert place == np.flatnonzero(reached >= share - 1e-9)[0]


@given(PEOPLE, st.floats(0.01, 0.99))
def test_the_right_type_has_no_rank_error(people, share):
    counts = np.bincount(people, minlength=10)
    place = outcomes.positions(np.cumsum(counts).astype(float), len(people), [share])
    assert outcomes.rank_errors(place, counts, [share]) == pytest.approx([0], abs=1e-8)


def test_rank_errors_by_hand():
    counts = np.array([10, 20, 0, 30, 40])  # up to: 10, 30, 30, 60, 100 per cent
    places = np.array([[0], [1], [2], [3], [4]])
    errors = outcomes.rank_errors(places, counts, [0.5])[:, 0]
    # Type 3 covers ranks 30 to 60 per cent; type 1 ends 20 points too low, type 4 begins 10 points too high.
    assert errors == pytest.approx([-0.4, -0.2, -0.2, 0.0, 0.1])


@pytest.mark.parametrize("gaps", [{}, {"missing": "category", "outside": "other"}])
def test_scales_of_totals_within_groups_and_of_whatever_else_tells_them(gaps):
    axes = axes_of(
        [
            CategoricalAttribute(name="sex", values=("male", "female")),
            NumericAttribute(name="age", edges=(0, 10, 30, 40), **gaps),
            CategoricalAttribute(name="size", values=("small", "medium", "large"), ordered=True, **gaps),
        ]
    )
    shape = tuple(axis.size for axis in axes)
    counts = np.arange(np.prod(shape)) ** 2
    ages = counts.reshape(shape).sum(axis=(0, 2)).cumsum()[:3]
    sizes = counts.reshape(shape).sum(axis=(0, 1)).cumsum()[:3]
    parts = workloads
    told = {
        parts.HistogramPart(attribute="size"): sizes,
        parts.PrefixPart(attribute="age"): ages,
        parts.PrefixPart(attribute="age", by=("sex",)): ages,
        parts.RangesPart(attribute="size", by=("sex", "age")): sizes,
        parts.JointHistogramPart(): ages,
        parts.MarginalsPart(groups=(("sex", "size"),)): sizes,
        parts.AllMarginalsPart(): ages,
    }
    if not gaps:  # rectangles leave out people without either
        told[parts.RectanglesPart(attributes=("age", "size"))] = ages
    else:
        assert outcomes.scales_of(parts.RectanglesPart(attributes=("age", "size")).build(axes), axes) == ()
    for part, totals in told.items():
        (scale,) = outcomes.scales_of(part.build(axes), axes)
        assert scale.totals.answers(counts).tolist() == totals.tolist()
        assert list(scale.labels) == list(axes[1 if totals is ages else 2].labels)
        assert len(scale.left_out) == len(gaps)
    below = [parts.Predicate(expression=f"age {bound}") for bound in ("< 10", "< 30", "<= 40")]
    conditions = parts.PredicatesPart(predicates=below).build(axes)
    assert outcomes.scales_of(conditions, axes)[0].of == "age"
    without = parts.PredicatesPart(predicates=below[:2]).build(axes)  # does not tell how many there are
    assert outcomes.scales_of(without, axes) == ()
    assert outcomes.scales_of(parts.HistogramPart(attribute="sex").build(axes), axes) == ()


def test_scales_come_from_bins_types_or_not_at_all():
    bins = axes_of([NumericAttribute(name="age", edges=(0, 10, 30, 40))])
    names = axes_of([CategoricalAttribute(name="colour", values=("red", "green", "blue"))])
    for make in (workloads.histogram, workloads.prefix, workloads.all_range):
        (scale,) = outcomes.scales_of(make(3), bins)
        assert (scale.values.tolist(), scale.unit) == ([5, 20, 35], "age")
    assert outcomes.scales_of(workloads.histogram(3), names) == ()
    (scale,) = outcomes.scales_of(workloads.prefix(3), names)
    assert (scale.values.tolist(), scale.unit) == ([0, 1, 2], "types")
    assert outcomes.scales_of(workloads.all_marginals(2), bins) == ()
    other = axes_of([NumericAttribute(name="age", edges=(0, 10, 30), outside="other")])
    (scale,) = outcomes.scales_of(workloads.histogram(3), other)
    assert (scale.values.tolist(), scale.left_out) == ([5, 20], ("(other)",))
    assert scale.totals.answers(np.array([3, 4, 5])).tolist() == [3, 7]
    assert outcomes.scales_of(workloads.prefix(3), other)[0].unit == "types"


def test_surveys_have_the_order_of_a_column_that_a_table_tells():
    axes = axes_of(
        [
            CategoricalAttribute(name="sex", values=("male", "female")),
            NumericAttribute(name="age", edges=(0, 10, 30, 40)),
            NumericAttribute(name="hours", edges=(0, 20, 40, 60, 80)),
            NumericAttribute(name="rooms", edges=(1, 2, 3, 4), missing="category"),
        ]
    )
    shape = tuple(axis.size for axis in axes)
    counts = np.arange(np.prod(shape)).reshape(shape)
    people = people_of(counts.ravel(), shape)

    def survey(*asked):
        return workloads.Survey(shape, [Group(members, base) for members, base in asked], axes)

    pairs = ((0, 1), workloads.histogram(6)), ((1, 2), workloads.histogram(12))
    for asked, names in (
        (pairs, ["age", "hours"]),
        ((*pairs, ((2,), workloads.prefix(4))), ["hours", "age"]),  # first what is asked for
        ((((0,), workloads.histogram(2)), ((2, 3), workloads.histogram(16))), ["hours", "rooms"]),
        ((((3,), workloads.histogram(4)),), ["rooms"]),
        ((((0,), workloads.histogram(2)),), []),  # without an order
    ):
        scales = outcomes.scales_of(survey(*asked), axes)
        assert [scale.of for scale in scales] == [scale.unit for scale in scales] == names
        for scale in scales:
            place = [axis.name for axis in axes].index(scale.of)
            others = tuple(i for i in range(4) if i != place)
            assert scale.left_out == (("(missing)",) if scale.of == "rooms" else ())
            assert len(scale.values) == axes[place].ordinary
            totals = counts.sum(others).cumsum()[: axes[place].ordinary]
            assert scale.totals.answers(people).tolist() == totals.tolist()


def test_missing_values_are_left_out_of_quantiles():
    name = "sampled_sets"
    asked = [
        NumericAttribute(name="x", edges=(0, 1, 2, 3)),
        NumericAttribute(name="y", edges=(0, 1, 2, 3, 4), missing="category"),
    ]
    axes = axes_of(asked)
    workload = workloads.survey((3, 5), 2, axes=axes)
    records = np.random.default_rng(0).choice(5, (4000, 2), p=[0.3, 0.3, 0.1, 0.0, 0.3]) % (3, 5)
    people = people_of(records, (3, 5))
    mechanism = mechanisms.create(name, workload=workload, epsilon=4.0)
    found = outcomes.compare({name: mechanism}, workload, people, [], 3, 7, scales=outcomes.scales_of(workload, axes))
    assert found.curves["attribute"].tolist() == ["x"] * 3 + ["y"] * 4
    curve = found.curves[found.curves["attribute"] == "y"]
    shares = np.bincount(records[:, 1], minlength=5) / 4000
    assert curve["true"].to_numpy() == pytest.approx(shares.cumsum()[:4])
    assert curve["label"].tolist() == list(axes[1].labels)[:4]
    stream = np.random.SeedSequence(7).spawn(3)[0]
    estimate = mechanism.estimate(mechanism.simulate(people, np.random.default_rng(stream)))
    assert curve["first"].to_numpy() == pytest.approx(estimate.table((1,)).cumsum()[:4] / 4000)
    rows = found.quantiles[found.quantiles["attribute"] == "y"].set_index("quantile")
    held = shares.cumsum()[:4] / shares[:4].sum()
    for quantile, label in rows["true_label"].items():
        assert label == axes[1].labels[int(np.searchsorted(held, quantile - 1e-9))]
