"""Differences to detect: against the formula of other software, and by simulation of the test itself."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import charts, detection
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe, detecting
from ldp_core.designs.standalone import realise
from ldp_core.mechanisms import ExplicitMechanism, StratifiedMechanism
from ldp_core.mechanisms.base import Reports
from ldp_core.workloads import Detect, DifferencePart, HistogramPart, MeanPart, PrefixPart, SharePart, over_attributes
from tests.refused import refused

ARM = CategoricalAttribute(name="arm", values=("a", "b"), known=True)
ANSWER = CategoricalAttribute(name="answer", values=("no", "yes"))
SCORE = RangeAttribute(name="score", low=1, high=5, bins=5, integer=True)
PART = DifferencePart(of=HistogramPart(attribute="answer"), attribute="arm", first="a", second="b")
TYPES = over_attributes([PART], [ARM, ANSWER]).strata.types
NORMAL = NormalDist()


def forced(truth, yes):
    """Randomized response with forced answers: told ``truth`` with that chance, "yes" with another, else "no"."""
    table = np.array([[1 - yes, 1 - truth - yes], [yes, truth + yes]])
    epsilon = float(np.log(table / table[:, ::-1]).max())
    made = ExplicitMechanism("forced", table, epsilon + 1e-6)
    return StratifiedMechanism([made], [0, 0], TYPES)


def compared(made, people, shares):
    """``people`` (2,) of each group, of whom ``shares`` (2,) would say yes."""
    counts = np.zeros(4)
    for own, many, share in zip(TYPES, people, shares, strict=True):
        counts[own] = many * (1 - share), many * share
    (line,) = over_attributes([PART], [ARM, ANSWER], counts=counts).questionnaire.lines
    return detection.contrasts_of(made, line, counts)


def error_of_forced(truth, yes, share, people):
    """The standard error of R's package rr, written down anew: the inverse of the information of n answers, each "yes" with the
    probability truth * share + yes."""
    said = truth * share + yes
    return math.sqrt(said * (1 - said) / truth**2 / people)


def test_the_formula_written_down_anew_is_that_of_the_package_rr():
    """The one number that the package itself prints (in its tests): the power of 200 people to tell a share of 0.2 from none on
    one side, at the 1 % level, where 2/3 tell the truth and 1/6 are forced to say yes."""
    null, other = (error_of_forced(2 / 3, 1 / 6, share, 200) for share in (0.0, 0.2))
    power = 1 - NORMAL.cdf((NORMAL.inv_cdf(0.99) * null - 0.2) / other)
    assert power == pytest.approx(0.9868872, abs=5e-8)


CELLS = [
    # told the truth, forced yes, shares of yes, people of each group, level, power
    (2 / 3, 1 / 6, 0.55, 0.45, 500, 0.05, 0.5608),
    (1 / 2, 1 / 4, 0.60, 0.40, 300, 0.01, 0.4546),
    (3 / 4, 1 / 5, 0.45, 0.35, 800, 0.05, 0.8528),
]
"""What `rr::power.rr.test(type = "two.sample", alternative = "two.sided", design = "forced-known")` comes to with the share of the second
group as the null of both: computed by the formula above, not by R. The package has the standard error of no difference in its threshold; in
these cells "yes" is as far from half of the answers in either group, so that it is that of the difference too, as in our formula."""


@pytest.mark.parametrize(("truth", "yes", "first", "second", "people", "level", "power"), CELLS)
def test_two_groups_with_forced_answers_have_the_power_of_the_package_rr(
    truth, yes, first, second, people, level, power
):
    errors = [error_of_forced(truth, yes, share, people) for share in (first, second)]
    null, away = math.sqrt(2) * errors[1], NORMAL.inv_cdf(1 - level / 2)
    ends = (sign * away * null - (first - second) for sign in (-1, 1))
    low, high = (NORMAL.cdf(end / math.hypot(*errors)) for end in ends)
    assert low + 1 - high == pytest.approx(power, abs=5e-5)
    found = compared(forced(truth, yes), (people, people), (first, second))
    assert found.shares.tolist() == [[0.5, 0.5]]
    assert found.variances[0] == pytest.approx([people * error**2 for error in errors], rel=1e-9)
    after = detection.Contrasts(found.shares, found.variances)
    assert after.power(first - second, 2 * people, level) == pytest.approx(power, abs=5e-5)


def test_people_and_differences_are_inverse_and_follow_the_sizes_of_the_groups():
    found = compared(forced(0.5, 0.25), (3000, 1000), (0.3, 0.3))
    assert found.shares[0] == pytest.approx([0.75, 0.25])
    (users,) = found.users(0.1)
    first, second = (error_of_forced(0.5, 0.25, share, 1) ** 2 for share in (0.3, 0.4))  # the smaller group moves up
    spread = first / (0.75 * users) + second / (0.25 * users)
    assert (NORMAL.inv_cdf(0.975) + NORMAL.inv_cdf(0.8)) * math.sqrt(spread) == pytest.approx(0.1, rel=0.02)
    assert found.difference(users) == pytest.approx(0.1)
    assert found.power(0.1, users) == pytest.approx(0.8, abs=1e-3)
    assert found.users(0.1, power=0.9)[0] > users < found.users(0.1, level=0.01)[0]
    refused("got 80 % and 60 %", found.users, 0.1, level=0.6)
    assert np.isnan(compared(forced(0.5, 0.25), (3000, 0), (0.3, 0.2)).users(0.1)).all()


@pytest.mark.parametrize("epsilon", [1.0, 2.5, 6.0])
@pytest.mark.parametrize("arm", [0.02, 0.1, 0.5])
@pytest.mark.parametrize(("share", "difference"), [(0.01, 0.007), (0.05, 0.025), (0.3, 0.05), (0.96, 0.02)])
def test_a_move_of_the_group_that_costs_more_is_found_as_often_as_said(epsilon, arm, share, difference):
    """20,000 trials with binomials: people drawn, answers drawn, and a difference found where it is more than z of its own standard errors. The
    people as they are, whose variance is half of that after the move of 0.7 points, found it in 67 to 72 % of them."""
    rng, trials, z = np.random.default_rng(11), 20_000, NORMAL.inv_cdf(0.975)
    made = ldp.mechanisms.create(
        "randomized_response", epsilon=epsilon, workload=over_attributes([PART], [ARM, ANSWER])
    )
    (total,) = compared(made, (1e6 * arm, 1e6 * (1 - arm)), (share, share)).users(difference)
    no, yes = 1 / (math.exp(epsilon) + 1), 1 / (math.exp(-epsilon) + 1)

    def found(shares):
        means, squares = [], []
        for people, own in zip((round(total * arm), round(total * (1 - arm))), shares, strict=True):
            have = rng.binomial(people, own, trials)
            said = (rng.binomial(have, yes) + rng.binomial(people - have, no)) / people
            means.append((said - no) / (yes - no))
            squares.append(said * (1 - said) / (yes - no) ** 2 / people)
        return np.mean(np.abs(means[0] - means[1]) > z * np.sqrt(sum(squares)))

    away = -difference if share > 0.5 else difference  # where it costs more
    moved = [found((share + away, share)), found((share, share + away))]
    assert moved[0] == pytest.approx(0.8, abs=0.02)  # the smaller group, or one of two alike
    assert moved[1] >= 0.78
    assert found((share, share)) == pytest.approx(0.05, abs=0.007)


@pytest.mark.parametrize("name", ["subset_selection", "oue", "gaussian", "raw"])
def test_the_variance_after_a_move_is_that_of_the_people_who_moved(name):
    """By the people after the move written out; a share of nobody moves as well."""
    people, queries = np.array([900.0, 0, 100, 3000, 500, 1500]), np.array([0, 2, 4])
    line = ldp.analysis.questionnaire_of(ldp.workloads.prefix(6)).lines[0]
    if name == "raw":
        made = ldp.mechanisms.create("hierarchical", n=6, epsilon=1.0, reconstruction="raw", oracle="oue", branching=2)
    else:
        made = ldp.mechanisms.create(name, n=6, epsilon=1.0, workload=line.workload)
    found, rows, p = (
        detection.of_collections(made, line, people, queries),
        line.workload.rows(queries),
        people / people.sum(),
    )
    for i, row in enumerate(rows):
        step = 0.01 * people * (row - row @ p) / (p @ (row - row @ p) ** 2)
        after = detection.of_collections(made, line, 1e6 * (people + step), queries[i : i + 1]).variances[0, 0]
        assert after == pytest.approx(found.variances[i, 0] + 0.01 * found.slopes[i, 0] - 0.01**2, rel=1e-6)
        assert found.rooms[i, 0] == pytest.approx([row @ p, 1 - row @ p], abs=1e-6)
    nobody = detection.of_collections(made, line, np.array([0.0, 0, 0, 0, 0, 9000]), queries)
    assert np.isfinite(nobody.users(0.01)).all()


@pytest.mark.promise
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_difference_between_secret_groups_is_found_as_often_as_said(share):
    """1,500 collections: people drawn, reports drawn, the answer worked out from them, and a difference found where it is more than z standard errors."""
    rng, arm = np.random.default_rng(5), ARM.model_copy(update={"known": False})
    people = np.array([0.4 * (1 - share), 0.4 * share, 0.6 * (1 - share), 0.6 * share])
    workload = over_attributes(
        [PART], [arm, ANSWER], {"difference of points of the group": Detect(10.0)}, counts=people * 1e6
    )
    made, (line,) = (
        ldp.optimize.design(workload, 3.0, time_limit=None, max_rounds=5).mechanism(),
        workload.questionnaire.lines,
    )
    users = math.ceil(ldp.analysis.people_needed(made, workload, people * 1e6))
    moved = people + np.array([0.06 * -1, 0.06, 0, 0]) * (0.4 / 0.6)
    found = []
    for shares in (people, moved):
        answers = []
        for _ in range(1_500):
            reports = made.simulate(rng.multinomial(users, shares), rng)
            (asked,) = ldp.workloads.answers.ratios_of(line.group_question, False)
            answers.append(asked.values(made.estimate(reports).answers(asked.linear))[0])
        found.append(np.array(answers))
    error = found[0].std()
    assert np.mean(np.abs(found[0]) > NORMAL.inv_cdf(0.975) * error) == pytest.approx(0.05, abs=0.02)
    assert np.mean(found[1] > NORMAL.inv_cdf(0.975) * found[1].std()) == pytest.approx(0.8, abs=0.06)


def detected(part):
    """What a design with an arm that the collector knows and a score from 1 to 5 compares."""
    design = Configuration(
        domain=Domain(attributes=(ARM, SCORE)),
        population=Population(users=4000, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=(part,)),
        epsilon="2.0",
        mechanism=MechanismRecipe(name="subset_selection"),
    )
    setting = realise(design)
    return detecting.of_design(setting, setting.chosen_mechanism), setting


def test_averages_are_compared_in_their_unit_with_the_variance_of_reports():
    found, setting = detected(DifferencePart(of=MeanPart(attribute="score"), attribute="arm", first="a", second="b"))
    (line,) = setting.answers.lines
    assert found.table["name"].tolist() == ["average of score, a minus b"]
    made, rows = setting.chosen_mechanism.strata[0], np.arange(1, 6)[None] - 3.0
    adds = made.contributions(rows)
    contrasts = detection.contrasts_of(setting.chosen_mechanism, line, setting.counts)
    for k, group in enumerate(setting.counts.reshape(2, 5)):
        p = group / group.sum()
        expected = p @ adds.variances[0] + p @ rows[0] ** 2 - (p @ rows[0]) ** 2
        assert contrasts.variances[0, k] == pytest.approx(expected)
    assert "people find a difference of" in found.in_words()
    assert "between the two groups compared" in found.in_words()


def test_the_people_needed_of_a_design_are_those_that_find_its_differences():
    asked = SharePart(of=HistogramPart(attribute="score"), within=("arm",))
    for part in (DifferencePart(of=HistogramPart(attribute="score"), attribute="arm", first="a", second="b"), asked):
        found, setting = detected(part)
        needed = setting.users_needed(setting.chosen_mechanism, setting.case)
        assert (found.table["users_needed"].max() == pytest.approx(needed)) == isinstance(part, DifferencePart)
        again = detecting.of_design(setting, setting.chosen_mechanism, Detect(5.0, 0.9, 0.01))
        assert (again.table["users_needed"] > found.table["users_needed"]).all() or not isinstance(part, DifferencePart)


def test_the_curve_passes_through_what_the_people_of_the_design_find_and_needs_four_times_as_many_for_half():
    found, setting = detected(DifferencePart(of=MeanPart(attribute="score"), attribute="arm", first="a", second="b"))
    curve = found.curve.set_index("users")["difference"]
    assert curve[setting.users] == pytest.approx(found.table["difference"].max())
    assert curve[4 * setting.users] == pytest.approx(curve[setting.users] / 2, rel=0.02)  # but for the skewness
    assert (np.diff(curve.sort_index()) < 0).all()
    target = found.table["target"].iloc[0]
    nearest = (curve - target).abs().idxmin()
    assert nearest == pytest.approx(found.table["users_needed"].iloc[0], rel=0.35)  # points are a quarter apart
    assert found.table["relative"].isna().all()  # nobody knows what people spread evenly are a share of
    fig = charts.difference_over_users(found.curve, setting.users)
    assert list(fig.data[1].x) == [setting.users, 4 * setting.users]
    assert fig.layout.xaxis.type == fig.layout.yaxis.type == "log"


def test_an_answer_that_is_the_same_of_everybody_takes_nobody():
    """The running total up to the last value took 10^17 people where those of the groups were no whole numbers."""
    score = RangeAttribute(name="score", low=1, high=10, bins=10, integer=True)
    part = DifferencePart(of=PrefixPart(attribute="score"), attribute="arm", first="a", second="b")
    people = np.random.default_rng(0).integers(1, 300, 20)
    workload = over_attributes([part], [ARM, score], counts=people)
    made = ldp.mechanisms.create("subset_selection", workload=workload, epsilon=1.0)
    expected = ldp.analysis.people_needed(made, workload, people)
    for users in np.geomspace(10, 1e6, 20):
        counts = people / people.sum() * users
        assert ldp.analysis.people_needed(made, workload, counts) == pytest.approx(expected)
        contrasts = detection.contrasts_of(made, workload.questionnaire.lines[0], counts)
        assert contrasts.users(0.05)[-1] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "optimized"])
def test_the_test_has_the_size_and_the_power_that_it_says(name):
    """20,000 trials: people drawn, reports drawn, and a difference found where it is more than z of its own standard errors."""
    rng, trials = np.random.default_rng(3), 20_000
    limits = {"max_rounds": 20, "time_limit": None} if name == "optimized" else {}
    asked = ldp.workloads.prefix(5)
    made = ldp.mechanisms.create(name, n=5, epsilon=1.0, workload=asked, **limits)
    single = (Reports(made.digest, 1, one) for one in np.eye(len(made.strategy), dtype=int))
    worth = np.array([made.estimate(report).answers(asked)[1] for report in single])  # of each report for the answer
    first, second = np.array([0.3, 0.2, 0.2, 0.2, 0.1]), np.array([0.2, 0.2, 0.2, 0.2, 0.2])
    line = ldp.analysis.questionnaire_of(asked).lines[0]
    own, other = (detection.of_collections(made, line, 1000 * shares, np.array([1])) for shares in (first, second))
    both = detection.Contrasts(np.ones((1, 2)), np.stack([own.variances[:, 0], other.variances[:, 0]], axis=1))
    users = math.ceil(both.users(0.1)[0])

    def found(shares, others):
        sent = [rng.multinomial(users, made.strategy @ who, trials) for who in (shares, others)]
        means = [reports @ worth / users for reports in sent]
        spreads = [reports @ worth**2 / users - mean**2 for reports, mean in zip(sent, means, strict=True)]
        return np.mean(np.abs(means[0] - means[1]) > detection.reach(0.5, 0.05) * np.sqrt(sum(spreads) / users))

    assert found(second, second) == pytest.approx(0.05, abs=0.007)
    assert found(first, second) == pytest.approx(0.8, abs=0.015)


@pytest.mark.parametrize(("share", "silent", "epsilon"), [(0.1, 0.5, 1.0), (0.3, 0.2, 2.0)])
def test_private_answers_are_better_than_open_ones_from_the_people_told_on(share, silent, epsilon):
    """By the mean squared errors of two simulated surveys of so many people."""
    users, rng, trials = round(detection.break_even(share, silent, epsilon)), np.random.default_rng(0), 200_000
    concerned = rng.binomial(users, share, trials)
    openly = rng.binomial(concerned, 1 - silent) / users
    truth = 1 / (1 + np.exp(-epsilon))
    yes = rng.binomial(concerned, truth) + rng.binomial(users - concerned, 1 - truth)
    private = (yes / users - (1 - truth)) / (2 * truth - 1)
    errors = [np.mean((found - share) ** 2) for found in (openly, private)]
    assert errors[0] == pytest.approx(errors[1], rel=0.02)  # four standard errors are 1.3 %
