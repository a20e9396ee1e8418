"""Dirichlet priors of estimates, from words and from earlier counts."""

import numpy as np
import pytest

from ldp_core.priors import dirichlet, read_histogram


def test_priors_that_know_nothing_are_one_number():
    assert dirichlet("jeffreys", 5) == 0.5
    assert dirichlet("even", 5) == 1.0


@pytest.mark.parametrize("kind", ["people", "histogram"])
def test_earlier_counts_add_to_jeffreys(kind):
    """A Dirichlet prior and multinomial counts are conjugate: parameters and counts add up."""
    assert np.allclose(dirichlet(kind, 3, np.array([0, 30, 10])), [0.5, 30.5, 10.5])
    assert np.allclose(dirichlet(kind, 3, np.array([0, 30, 10]), people=4), [0.5, 3.5, 1.5])
    assert np.allclose(dirichlet(kind, 2, np.array([0.25, 0.75])), [0.75, 1.25])


@pytest.mark.parametrize(
    ("kind", "counts", "people", "words"),
    [
        ("histogram", [1, 2], None, "for each of the 3 types"),
        ("people", [1, -2, 3], None, "0 or more"),
        ("histogram", [1, 2, np.inf], None, "0 or more"),
        ("histogram", [1, 2, 3], 0, "a number of people above 0"),
    ],
)
def test_bad_priors_are_refused_in_a_sentence(kind, counts, people, words):
    with pytest.raises(ValueError, match=words):
        dirichlet(kind, 3, counts, people)


@pytest.mark.parametrize(
    "text",
    [
        "1 0 2.5",
        "1;0;2.5\n",
        "age\tpeople\n20\t1\n30\t0\n40\t2.5\n",
    ],
)
def test_a_histogram_is_read_from_numbers_or_a_table(text):
    assert read_histogram(text, 3) == (1.0, 0.0, 2.5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "3 types, but 0 numbers"),
        ("a,1\nb,2", "3 plain numbers"),
        ("1 2 -3", "0 or more"),
        ("1 2 inf", "0 or more"),
    ],
)
def test_what_is_no_histogram_is_refused_in_a_sentence(text, words):
    with pytest.raises(ValueError, match=words):
        read_histogram(text, 3)
