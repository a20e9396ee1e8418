"""Two secret columns together: slope, correlation, independence."""

import json
import math

import numpy as np
import pytest

from ldp_core import mechanisms, optimize
from ldp_core.data.domain import Domain, RangeAttribute
from ldp_core.deploy import collector
from ldp_core.deploy.collector.associating import ALIKE, associations, in_words, independence
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import WorkloadRecipe
from ldp_core.designs.standalone import realise
from ldp_core.workloads import MomentsPart, SlopePart, over_attributes
from pages.ui.guide_tables import SLOPES
from tests.deploy.test_journeys import bins, designed, labels

X, Y = (RangeAttribute(name=name, low=1, high=10, bins=10, integer=True) for name in "xy")
WORKLOAD = over_attributes([MomentsPart(attributes=("x", "y"))], [X, Y])


def together(deviation=2.25, correlation=0.5):
    """Shares of 10 x 10 values: two normal numbers around 5.5, rounded to their range."""
    u = (np.arange(1, 11) - 5.5) / deviation
    u, v = (grid.ravel() for grid in np.meshgrid(u, u, indexing="ij"))
    shares = np.exp(-(u * u - 2 * correlation * u * v + v * v) / (2 - 2 * correlation**2))
    return shares / shares.sum()


def moments(shares):
    """The covariance and variances of x and y, value by value, and the slope's row of a person (derived by hand)."""
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(1.0, 11), np.arange(1.0, 11), indexing="ij"))
    mx, my = shares @ x, shares @ y
    both, vx, vy = shares @ ((x - mx) * (y - my)), shares @ (x - mx) ** 2, shares @ (y - my) ** 2
    return both, vx, vy, ((x - mx) * (y - my) - both / vx * (x - mx) ** 2) / vx


def of_reports(mechanism, counts, rng):
    empty = collector.Collection.empty(mechanism, "design")
    return type(empty)(**{**vars(empty), "reports": mechanism.simulate(counts, rng)})


def test_slope_and_correlation_are_those_of_the_people_and_their_intervals_hold():
    """In 40 collections, with four standard errors to spare; errors are those told."""
    counts, rng = np.rint(200_000 * together()).astype(int), np.random.default_rng(0)
    both, vx, vy, _ = moments(counts / counts.sum())
    true = np.array([both / vx, both / math.sqrt(vx * vy)])
    mechanism = optimize.design(WORKLOAD, 2.0, time_limit=None, max_rounds=4).mechanism()
    found = [associations(of_reports(mechanism, counts, rng), mechanism, [X, Y], ("x", "y")) for _ in range(40)]
    answers, errors = (np.array([own[name] for own in found]) for name in ("answer", "standard_error"))
    held = np.mean([(own["low"] <= true) & (true <= own["high"]) for own in found], axis=0)
    assert (np.abs(answers.mean(axis=0) - true) < 4 * answers.std(axis=0) / 40**0.5 + 0.01).all()
    assert (np.abs(answers.std(axis=0) / errors.mean(axis=0) - 1) < 4 / 80**0.5).all()
    assert (held >= 0.95 - 4 * 0.0345).all()


def test_columns_in_which_all_are_alike_have_a_sentence_and_those_that_go_together_a_correlation_of_at_most_1():
    mechanism, rng = optimize.design(WORKLOAD, 1.0, time_limit=None, max_rounds=3).mechanism(), np.random.default_rng(2)
    alike, equal = 3000 * np.eye(100, dtype=int)[55], 300 * np.eye(10, dtype=int).ravel()
    said = in_words(of_reports(mechanism, alike, rng), mechanism, [X, Y], ("x", "y"), 0.95, False)
    assert said[0] == ALIKE
    for _ in range(10):
        row = associations(of_reports(mechanism, equal, rng), mechanism, [X, Y], ("x", "y")).iloc[1]
        assert row["low"] <= row["answer"] <= row["high"] <= 1
        assert 0.3 < row["low"] < 1
    assert in_words(of_reports(mechanism, 0 * alike, rng), mechanism, [X, Y], ("x", "y"), 0.95, False) == [
        "There are no reports."
    ]


def by_definition(strategy, values, shares):
    """The variance that a person adds to the sum of the ``values`` of the types, from the probabilities of all reports."""
    rows = strategy / strategy.sum(axis=1, keepdims=True)
    of_report = values @ np.linalg.pinv(strategy.T @ rows) @ rows.T
    np.testing.assert_allclose(of_report @ strategy, values, atol=1e-8 * np.abs(values).max())
    return float((of_report**2 @ strategy - values**2) @ shares)


def of_sets(values, shares, size, ratio):
    """The same of reports that are sets of ``size`` types, a set with the person's own ``ratio`` times as likely: from the chances that a set holds one
    type, and two."""
    n = len(values)
    own = size * ratio / (size * ratio + n - size)
    other, pair = (size - 1) / (n - 1), (size - 1) * (size - 2) / ((n - 1) * (n - 2))
    without, pair_without = size / (n - 1), size * (size - 1) / ((n - 1) * (n - 2))
    rest, squares = values.sum() - values, (values**2).sum() - values**2
    held = values**2 + 2 * other * values * rest + other * squares + pair * (rest**2 - squares)
    mean, mean_without = values + other * rest, without * rest
    second = own * held + (1 - own) * (without * squares + pair_without * (rest**2 - squares))
    of_others = own * other + (1 - own) * without  # that a set holds a given other type
    shift = of_others * values.sum()
    first = own * mean + (1 - own) * mean_without - shift
    moment = second - 2 * shift * (first + shift) + shift**2
    return float((moment / (own - of_others) ** 2 - values**2) @ shares)


@pytest.mark.slow
def test_the_table_of_the_guide():
    """Variances of the slope, a person, each from the chances of reports: two k-RR at half of epsilon, the best sets of pairs of values, moments, x known."""
    shares, people, (halves, histogram, moments_, known_) = together(), 10**6, SLOPES.values()
    values = moments(shares)[3]
    chances = (np.ones((10, 10)) + math.expm1(0.5) * np.eye(10)) / (math.exp(0.5) + 9)
    assert by_definition(np.kron(chances, chances), values, shares) == pytest.approx(halves, rel=0.001)
    best = min(of_sets(values, shares, size, math.e) for size in range(1, 100))
    assert best == pytest.approx(histogram, rel=0.001)
    asked = optimize.design(WORKLOAD, 1.0, time_limit=None, max_rounds=100)
    assert by_definition(asked.mechanism().strategy, values, shares) == pytest.approx(moments_, rel=0.02)
    known = Domain(attributes=(X.model_copy(update={"known": True}), Y))
    counts = np.rint(shares * people).astype(int)
    slope = over_attributes([SlopePart(of="y", on=("x",))], known, counts=counts)
    mechanism = optimize.design(slope, 1.0, time_limit=None, max_rounds=10).mechanism()
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(1.0, 11), np.arange(1.0, 11), indexing="ij"))
    step = (x - shares @ x) / (shares @ (x - shares @ x) ** 2)
    found = [
        by_definition(made.strategy, step[own] * y[own], shares[own])
        for made, own in zip(mechanism.strata, mechanism.types, strict=True)
    ]
    assert sum(found) == pytest.approx(known_, rel=0.02)


def rejected(shape, trials, seed):
    """How often the test of independence at 5 % rejects two independent columns, evenly spread."""
    columns, rng, size = [labels("a", shape[0]), labels("b", shape[1])], np.random.default_rng(seed), math.prod(shape)
    mechanism = mechanisms.create("subset_selection", n=size, epsilon=1.0)
    people = rng.multinomial(10_000, np.full(size, 1 / size), size=trials)
    found = (independence(of_reports(mechanism, counts, rng), mechanism, columns, ("a", "b")) for counts in people)
    return sum(chance <= 0.05 for _, _, chance in found)


def test_independence_is_seldom_rejected_where_it_holds_and_always_where_it_does_not():
    assert rejected((2, 3), 200, 0) <= 10 + 4 * 3.1
    columns, counts = [labels("a", 2), labels("b", 3)], np.array([4000, 500, 500, 500, 500, 4000])
    mechanism = mechanisms.create("subset_selection", n=6, epsilon=1.0)
    collection = of_reports(mechanism, counts, np.random.default_rng(1))
    _, freedom, chance = independence(collection, mechanism, columns, ("b", "a"))
    assert freedom == 2
    assert chance < 1e-6
    said = in_words(collection, mechanism, columns, ("b", "a"), 0.95, False)
    assert [one.rpartition(", ")[2] for one in said] == ["p < 0.0001."]  # a normal approximation is no more exact
    with pytest.raises(ValueError, match="too few reports"):
        independence(of_reports(mechanism, counts // 2000, np.random.default_rng(1)), mechanism, columns, ("a", "b"))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 3), (5, 5), (10, 10)])
def test_size_of_independence(shape):
    """5 %, less and more 0.7 % and the chance of 4,000 trials (two standard errors)."""
    assert abs(rejected(shape, 4000, 2) / 4000 - 0.05) <= 0.007 + 0.007


def test_the_command_says_what_the_design_tells(tmp_path, capsys):
    design = designed("rectangles", "optimized").with_(
        domain=Domain(attributes=(bins("x", 4), bins("y", 4))),
        workload=WorkloadRecipe(parts=(MomentsPart(attributes=("x", "y")),)),
    )
    (tmp_path / "kit.zip").write_bytes(package.kit(realise(design)))
    kit = open_kit(tmp_path / "kit.zip")
    reports = collector.simulated(kit.mechanism, kit.design, 400 + 1000 * np.eye(4, dtype=int).ravel(), 1)
    (tmp_path / "reports.csv").write_bytes(reports)
    call = ["collect", str(tmp_path / "kit.zip"), str(tmp_path / "reports.csv"), "--associate", "x", "y"]
    assert main([*call, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["associations"]
    held = collector.collect([tmp_path / "reports.csv"], kit.mechanism, kit.design)
    answers = associations(held, kit.mechanism, kit.domain, ("x", "y"))["answer"]
    assert said[0].startswith(f"Slope of y per 1 of x: {answers[0]:.4g}"[:30])
    assert said[1].startswith("Correlation")
    assert main(call) == 0
    assert said[1] in capsys.readouterr().out
