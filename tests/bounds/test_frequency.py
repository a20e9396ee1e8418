"""Lopuhaä-Zwakenberg et al. 2020: every figure that was worked out by hand for Theorem 4.5, and Corollary 4.3."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import analysis, bounds, library, mechanisms, workloads
from ldp_core.bounds.theorems import frequency
from tests.refused import refused

# n, epsilon, mechanism; N MSE of the efficient estimator at the even population (distribution, frequency); Corollary 4.3 there;
# Corollary 4.3 for Jeffreys' prior with standard errors, from 4,000 draws (2,000 at n = 10); the efficient estimator's there.
MECHANISMS = """
2 1.0 randomized_response 2.34135 1.84135 2.34135 1.84135 2.0857 0.0028 1.8413 0.0000 2.095 1.841
3 1.0 randomized_response 5.02675 4.36009 4.35330 3.77595 4.0361 0.0029 3.7215 0.0006 4.759 4.360
3 1.0 subset_selection 5.02675 4.36009 4.35330 3.77595 4.0361 0.0029 3.7215 0.0006 4.759 4.360
3 1.0 hadamard 12.18427 11.51760 10.55188 9.97453 9.7831 0.0071 9.4727 0.0047 11.535 11.136
3 1.0 oue 8.53557 7.86890 7.39202 6.81467 6.7957 0.0057 6.4742 0.0033 7.910 7.511
5 2.0 randomized_response 2.54210 1.74210 2.12500 1.45626 1.7465 0.0025 1.3847 0.0006 2.313 1.742
5 2.0 subset_selection 2.54210 1.74210 2.12500 1.45626 1.7465 0.0025 1.3847 0.0006 2.313 1.742
5 2.0 hadamard 5.50552 4.70552 4.34407 3.60809 3.5181 0.0057 3.1092 0.0035 4.819 4.248
5 2.0 oue 4.25863 3.45863 3.55990 2.89116 2.8680 0.0048 2.5019 0.0028 3.693 3.121
10 1.0 randomized_response 41.85830 40.95830 36.01040 35.23614 35.4696 0.0053 34.9030 0.0034 41.712 40.958
10 1.0 subset_selection 30.00406 29.10406 25.81228 25.03801 24.7966 0.0107 24.1860 0.0089 28.910 28.156
10 1.0 hadamard 45.45595 44.55595 35.83609 34.90040 35.0068 0.0285 34.2695 0.0291 45.176 44.422
10 1.0 oue 34.27430 33.37430 29.48594 28.71168 28.4389 0.0112 27.8307 0.0094 33.158 32.405
"""
# n, epsilon; printed form (distribution, frequency); sharp form at the even population; sharp form for Jeffreys' prior;
# certificate/n - 1; the best known mechanism.
PROTOCOL_FREE = """
2 0.5 4.75241 2.88248 8.33540 7.83540 2.08385 1.95885 7.83540 7.83540
2 1.0 0.67739 0.24920 2.34135 1.84135 0.58534 0.46034 1.84135 1.84135
2 1.5 0.16499 0.03681 1.23942 0.73942 0.30986 0.18486 0.73942 0.73942
5 0.5 11.88102 7.20620 41.91876 41.25002 11.18079 11.00242 49.45865 49.45866
5 1.0 1.69348 0.62300 9.85106 9.18232 2.62753 2.44916 11.42975 11.42975
5 1.5 0.41247 0.09203 3.95584 3.28710 1.05512 0.87675 3.94761 3.94761
32 0.5 76.03853 46.11970 434.40961 433.51539 120.93335 120.68441 469.65842 469.65852
32 1.0 10.83830 3.98719 102.08787 101.19365 28.41979 28.17085 109.73254 109.73256
32 1.5 2.63979 0.58902 40.99494 40.10071 11.41240 11.16346 43.45529 43.45530
"""
JEFFREYS = 0.5


def table(text):
    """The rows of a table, numbers as numbers with what half a unit of their last digit is."""

    def cell(word):
        if not word.replace(".", "").isdigit():
            return word
        return pytest.approx(float(word), abs=0.51 * 10.0 ** -len(word.partition(".")[2]))

    return [[cell(word) for word in line.split()] for line in text.strip().splitlines()]


def number(cell):
    return cell.expected


@pytest.mark.parametrize("row", table(MECHANISMS), ids=lambda row: f"{row[2]}-{number(row[0])}-{number(row[1])}")
def test_figures_of_mechanisms(row):
    n, epsilon, name = int(number(row[0])), number(row[1]), row[2]
    exact, even, jeffreys, errors, mean = row[3:5], row[5:7], row[7:11:2], row[8:12:2], row[11:13]
    mechanism, draws = mechanisms.create(name, n=n, epsilon=epsilon), 2000 if n == 10 else 4000
    shares = np.random.default_rng(1).dirichlet(np.full(n, JEFFREYS), size=draws)
    of_shares = float((shares**2).sum(axis=1).std()) / math.sqrt(draws)
    for place, error in enumerate(frequency.ERRORS):
        assert bounds.efficient_of(mechanism, error) == (exact[place], 0.0)
        assert bounds.large_sample_of(mechanism, error) == (even[place], 0.0)
        found, exp_epsilon_minus_one = bounds.large_sample_of(mechanism, error, JEFFREYS, draws)
        stated = number(errors[place])
        assert abs(found - number(jeffreys[place])) <= 4 * math.hypot(exp_epsilon_minus_one, stated) + 1e-4
        assert exp_epsilon_minus_one == pytest.approx(stated, rel=0.25, abs=1e-4)
        found, exp_epsilon_minus_one = bounds.efficient_of(mechanism, error, JEFFREYS, draws)
        # The mean of |P|^2, exact here, was drawn as well there.
        stated = math.hypot(exp_epsilon_minus_one, of_shares) if error == "distribution" else exp_epsilon_minus_one
        assert abs(found - number(mean[place])) <= 4 * math.hypot(exp_epsilon_minus_one, stated) + 6e-4


@pytest.mark.parametrize("row", table(PROTOCOL_FREE), ids=lambda row: f"{number(row[0])}-{number(row[1])}")
def test_figures_without_a_protocol(row):
    n, epsilon = int(number(row[0])), number(row[1])
    for place, error in enumerate(frequency.ERRORS):
        assert bounds.large_sample(n, epsilon, error) == row[2 + place]
        assert bounds.large_sample(n, epsilon, error, concentration=JEFFREYS) == row[2 + place]
        assert bounds.large_sample(n, epsilon, error, "sharp") == row[4 + place]
        assert bounds.large_sample(n, epsilon, error, "sharp", JEFFREYS) == row[6 + place]
    histogram = workloads.histogram(n)
    proof = bounds.certificate(histogram, epsilon, None)
    assert proof.value / n - 1 == pytest.approx(number(row[8]), rel=1e-7, abs=1.1e-5)
    best = mechanisms.create("subset_selection", n=n, epsilon=epsilon)
    assert bounds.efficient_of(best, "frequency")[0] == row[9]


@pytest.mark.parametrize(
    ("name", "n", "epsilon", "expected"),
    [
        ("randomized_response", 5, 1.0, 11.4297514),
        ("hadamard", 8, 2.0, 6.4755021),
        ("subset_selection", 10, 0.5, 126.3172254),
    ],
)
def test_an_efficient_estimator_of_an_even_population_is_the_unbiased_one(name, n, epsilon, expected):
    """N MSE_F = (L - tr G)/n on the histogram."""
    mechanism, histogram = mechanisms.create(name, n=n, epsilon=epsilon), workloads.histogram(n)
    assert bounds.efficient_of(mechanism, "frequency")[0] == pytest.approx(expected, abs=5.1e-8)
    assert (analysis.objective(mechanism, histogram) - n) / n == pytest.approx(expected, abs=5.1e-8)


def random_strategy(rng, n, epsilon, rows):
    """(2 rows, n) columns that sum to one, rows within e^epsilon: any such rows, complemented by their mirror images."""
    high = 1 + (math.exp(epsilon) - 1) * (rng.random((rows, n)) < rng.uniform(0.05, 0.95, (rows, 1)))
    weights = rng.dirichlet(np.ones(rows))[:, None]
    return np.vstack([high, 1 + math.exp(epsilon) - high]) * np.vstack([weights, weights]) / (1 + math.exp(epsilon))


def by_definition(Q, P):
    """I_P from scores of all types but the last, and det(I^-1 Sigma^-1 B) as the paper has it, with r_y the posterior."""
    pi, d = Q @ P, Q[:, :-1] - Q[:, -1:]
    information = d.T @ (d / pi[:, None])
    posterior = Q * P / pi[:, None]
    B = sum(pi[y] * (np.diag(r) - np.outer(r, r)) for y, r in enumerate(posterior))[:-1, :-1]
    sigma = (np.diag(P) - np.outer(P, P))[:-1, :-1]
    covariance = np.linalg.inv(information)
    return np.linalg.slogdet(covariance)[1], np.linalg.slogdet(covariance @ np.linalg.inv(sigma) @ B)[1], covariance


@settings(max_examples=40)
@given(st.integers(2, 6), st.floats(0.1, 4), st.integers(0, 2**32 - 1))
def test_determinants_and_traces_are_those_of_the_paper(n, epsilon, seed):
    rng = np.random.default_rng(seed)
    Q = random_strategy(rng, n, epsilon, 4 * n)
    mechanism, draws = SimpleNamespace(n=n, epsilon=epsilon, strategy=Q), 3
    populations = np.random.default_rng(seed).dirichlet(np.full(n, 2.0), size=draws)
    if np.linalg.cond(Q) > 1e4:
        return
    logs = [by_definition(Q, P) for P in populations]
    for place, error in enumerate(frequency.ERRORS):
        expected = n * math.exp(np.mean([log[place] for log in logs]) / (n - 1))
        assert bounds.large_sample_of(mechanism, error, 2.0, draws, seed)[0] == pytest.approx(expected, rel=1e-6)
    # The last type's variance is that of the sum of the others.
    whole = np.mean([np.trace(covariance) + covariance.sum() for _, _, covariance in logs])
    assert bounds.efficient_of(mechanism, "distribution", 2.0, draws, seed)[0] == pytest.approx(
        whole + (populations**2).sum(axis=1).mean() - frequency.mean_squared_shares(n, 2.0), rel=1e-6
    )
    assert bounds.efficient_of(mechanism, "frequency", 2.0, draws, seed)[0] == pytest.approx(
        whole - 1 + (populations**2).sum(axis=1).mean(), rel=1e-6
    )


@settings(max_examples=80)
@given(st.integers(2, 6), st.floats(0.1, 5), st.integers(0, 2**32 - 1), st.sampled_from(frequency.ERRORS))
def test_no_strategy_is_below_the_protocol_free_figures(n, epsilon, seed, error):
    Q = random_strategy(np.random.default_rng(seed), n, epsilon, 4 * n)
    if np.linalg.cond(Q) > 1e5:
        return
    mechanism = SimpleNamespace(n=n, epsilon=epsilon, strategy=Q)
    for concentration in (None, 3.0):
        found, exp_epsilon_minus_one = bounds.large_sample_of(mechanism, error, concentration, draws=400)
        exact, noise = bounds.efficient_of(mechanism, error, concentration, draws=400)
        known = 0.0 if concentration is None else 0.06  # |P|^2 of the draws is off its mean by as much, at most
        assert found <= exact * (1 + 1e-9) + 5 * (exp_epsilon_minus_one + noise) + known
        for form in frequency.FORMS:
            assert (
                bounds.large_sample(n, epsilon, error, form, concentration)
                <= found + 5 * exp_epsilon_minus_one + 1e-9 * found
            )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 1.7, 3.0])
def test_the_sharp_form_is_attained_by_two_even_types(epsilon):
    mechanism = mechanisms.create("randomized_response", n=2, epsilon=epsilon)
    for error in frequency.ERRORS:
        sharp = bounds.large_sample(2, epsilon, error, "sharp")
        assert sharp == pytest.approx(bounds.large_sample_of(mechanism, error)[0], rel=1e-9)
        assert sharp > bounds.large_sample(2, epsilon, error)


def test_where_frequencies_take_single_correlations_only():
    assert pytest.approx(1.7627, abs=5e-5) == frequency.HALF_CORRELATED
    n, exp_epsilon_minus_one = 5, 5 * math.exp(-5 * math.log(5) / 4)
    below, above = frequency.HALF_CORRELATED - 1e-9, frequency.HALF_CORRELATED + 1e-9
    together = math.sinh(below / 2) ** 2 / 4
    assert bounds.large_sample(n, below, "frequency", "sharp") == pytest.approx(
        exp_epsilon_minus_one * (1 / together - 1), rel=1e-6
    )
    assert bounds.large_sample(n, above, "frequency", "sharp") == pytest.approx(exp_epsilon_minus_one, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 6.0])
def test_one_reported_type_has_a_shorter_way_to_the_same(epsilon):
    mechanism = mechanisms.create("randomized_response", n=6, epsilon=epsilon)
    swapped = SimpleNamespace(n=6, epsilon=epsilon, strategy=mechanism.strategy[[1, 0, 2, 3, 4, 5]])
    for error in frequency.ERRORS:
        for figure in (bounds.large_sample_of, bounds.efficient_of):
            for concentration in (None, JEFFREYS):
                expected = figure(swapped, error, concentration, draws=100)
                assert figure(mechanism, error, concentration, draws=100) == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    ("name", "n", "concentration", "reason"),
    [
        ("oue", 13, 1.0, "at most 4,096"),
        ("olh", 8, 1.0, "at most 4,096"),
        ("hierarchical", 16, None, "is not written out for this mechanism"),
        ("ball_sampling", 4, None, "It sends numbers with noise, not one of a list of reports"),
        ("matrix_l1", 4, 1.0, "It sends numbers with noise"),
        ("oue", 5000, None, "Use coarser bins"),
    ],
)
def test_what_has_no_likelihood_here_says_so(name, n, concentration, reason):
    options = {"oracle": "oue"} if name == "hierarchical" else {}
    if library.spec(name).needs_workload:
        options |= {"workload": workloads.histogram(n)}
    mechanism = mechanisms.create(name, n=n, epsilon=1.0, **options)
    assert reason in frequency.why_not(mechanism, concentration)
    for figure in (bounds.large_sample_of, bounds.efficient_of):
        refused(reason, figure, mechanism, concentration=concentration)


def test_work_that_would_take_minutes_is_refused():
    mechanism = mechanisms.create("hadamard", n=600, epsilon=1.0)
    refused("draw at most", bounds.large_sample_of, mechanism, concentration=1.0)
    blind = SimpleNamespace(n=3, epsilon=1.0, strategy=np.array([[0.5, 0.5, 0.3], [0.5, 0.5, 0.7]]))
    refused("histogram distinguishes", bounds.large_sample_of, blind)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((1, 1.0), "number of types must be a whole number of at least 2"),
        ((True, 1.0), "number of types"),
        ((3, 0.0), "Epsilon"),
        ((3, 1.0, "both"), "error"),
        ((3, 1.0, "distribution", "printed"), "form"),
        ((3, 1.0, "distribution", "sharp", 0.0), "concentration must be a number above 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, reason):
    refused(reason, bounds.large_sample, *arguments)
