"""Synthetic people of a survey: the noise of the evidence is the true one, and the model's answers and rows are those of people."""

import numpy as np
import pytest

from ldp_core import anova
from ldp_core.mechanisms import ExplicitMechanism, Pattern, ScrambledPatterns, SplitSurvey, create
from ldp_core.mechanisms.surveys.split_survey import GroupTable
from ldp_core.optimize import SearchLimits, design
from ldp_core.optimize.surveys.design import design_survey
from ldp_core.people import Records
from ldp_core.studies import synthetic
from ldp_core.workloads import Axis, Group, Prefix, Survey, survey

pytest.importorskip("mbi")  # loaded before any test runs: charts look at what is loaded while another thread loads it

SIZES = (3, 4, 5)


@pytest.fixture(scope="module")
def mechanism():
    patterns = [
        Pattern(members, np.add.outer(*(np.arange(SIZES[i]) for i in members)) % 4 == 0)
        for members in [(0, 1), (0, 2), (1, 2)]
    ]
    return ScrambledPatterns("optimized", SIZES, 3.0, patterns, np.array([0.3, 0.3, 0.4]))


@pytest.fixture(scope="module")
def people():
    first = np.random.default_rng(1).integers(0, 3, 40_000)
    return Records(np.stack([first, first + (first > 1), np.arange(40_000) % 5], axis=1), SIZES)


@pytest.fixture(scope="module")
def split(mechanism):
    """People split between a strategy for running totals along the last two columns, and patterns."""
    strategy = design(Prefix(20), 3.0, time_limit=None, max_rounds=3).strategy
    own = [GroupTable((1, 2), ExplicitMechanism("optimized", strategy, 3.0))]
    return SplitSurvey("optimized", SIZES, 3.0, own, mechanism, [1.0, 2.0])


def test_a_model_of_a_split_has_the_mean_noise_of_each_component(split):
    everybody = Records(np.array(list(np.ndindex(SIZES)) * 300), SIZES)  # evenly spread, as the mean over the types is
    squares, trials = {}, 60
    for seed in range(trials):
        found = split.estimate(split.simulate(everybody, np.random.default_rng(seed)))
        for members, part in found.components.items():
            squares.setdefault(members, []).append(float((part**2).sum()))  # the truth is zero
    said = synthetic.evidence(split, found, everybody.users)
    assert len(said) == 6
    for members, seen in squares.items():
        expected = anova.dimensions(SIZES, members) * said[members].deviation ** 2
        assert abs(np.mean(seen) - expected) < 5 * np.std(seen) / trials**0.5, members


def test_the_model_of_a_split_of_people_answers_like_the_people(split, people):
    asked = Survey(SIZES, [*survey(SIZES, 2).groups, Group((1, 2), Prefix(20))])
    found = synthetic.make(split, asked, people)
    assert 0 < found.modelled < found.unbiased < 0.05


def test_the_noise_of_the_evidence_is_that_of_simulated_collections(mechanism, people):
    squares, trials = {}, 60
    for seed in range(trials):
        found = mechanism.estimate(mechanism.simulate(people, np.random.default_rng(seed)))
        for members, part in found.components.items():
            table = people.table(members).reshape([SIZES[i] for i in members])
            off = part - anova.component(table, range(len(members)))
            squares.setdefault(members, []).append(float((off**2).sum()))
    said = synthetic.evidence(mechanism, found, people.users)
    assert len(said) == 6
    for members, seen in squares.items():
        expected = anova.dimensions(SIZES, members) * said[members].deviation ** 2
        assert abs(np.mean(seen) - expected) < 5 * np.std(seen) / trials**0.5 + 0.02 * expected, members


def test_the_model_answers_like_the_people_and_rows_are_marked(mechanism, people):
    asked = survey(SIZES, 2)
    found = synthetic.make(mechanism, asked, people)
    assert 0 < found.modelled < found.unbiased < 0.05
    assert found.beyond is not None
    assert found.model.table((0, 1)).min() >= 0
    axes = [Axis(name, tuple("abcde"[:size]), size) for name, size in zip("xyz", SIZES, strict=True)]
    rows = synthetic.rows(found.model, axes, 5_000)
    assert list(rows.columns) == ["x", "y", "z", synthetic.NOTE]
    assert set(rows[synthetic.NOTE]) == {"yes"}
    shares = rows["x"].value_counts(normalize=True).reindex(list("abc"), fill_value=0).to_numpy()
    expected = found.model.table((0,)) / people.users
    assert np.abs(shares - expected).max() < 5 * (0.25 / 5_000) ** 0.5


def test_a_column_of_the_same_name_does_not_hide_the_mark():
    rows = synthetic.labelled(np.array([[0], [1]]), [Axis(synthetic.NOTE, ("a", "b"), 2)])
    assert list(rows.columns) == [synthetic.NOTE, f"{synthetic.NOTE}_"]


def test_constant_columns_are_modelled_and_unused_ones_named():
    rng = np.random.default_rng(3)
    asked = survey((3, 1, 4), 2)
    made = create("optimized", workload=asked, epsilon=3.0, max_rounds=1)
    found = synthetic.make(made, asked, rng.integers(0, asked.shape, size=(3000, 3)))
    people = found.model.people(50, rng)
    assert people.shape == (50, 3)
    assert (people[:, 1] == 0).all()
    axes = [Axis(name, ("a", "b", "c"), 3, True) for name in ("work", "sex", "age")]
    some = survey((3, 3, 3), [(0, 1)], axes=axes)
    made = design_survey(some, 3.0, SearchLimits(max_rounds=1)).mechanism()
    with pytest.raises(ValueError, match="The reports say nothing about age alone"):
        synthetic.make(made, some, rng.integers(0, some.shape, size=(300, 3)))
    with pytest.raises(ValueError, match="all types at once"):
        synthetic.make(create("randomized_response", 27, 3.0), some, rng.integers(0, some.shape, size=(300, 3)))


def test_without_its_package_a_joint_model_says_how_to_add_it(monkeypatch):
    asked = survey([3, 3, 2], ways=2)
    mechanism = create("optimized", workload=asked, epsilon=1.0, max_rounds=1)
    assert synthetic.unsuitable(mechanism, asked) is None
    monkeypatch.setattr("ldp_core.estimators.joint.fitting.find_spec", lambda name: None)
    assert "pip install mbi" in synthetic.unsuitable(mechanism, asked)
