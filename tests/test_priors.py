"""Dirichlet priors of estimates, from words and from earlier counts."""

import numpy as np
import pytest

from ldp_core.priors import dirichlet, read_histogram
from tests.refused import refused


def test_earlier_counts_add_to_jeffreys():
    """A Dirichlet prior and multinomial counts are conjugate: parameters and counts add up."""
    assert dirichlet(5) == 0.5
    assert np.allclose(dirichlet(3, np.array([0, 30, 10])), [0.5, 30.5, 10.5])
    assert np.allclose(dirichlet(2, np.array([0.25, 0.75])), [0.75, 1.25])


@pytest.mark.parametrize("counts", [[1, 2], [1, -2, 3], [1, 2, np.inf], [0, 0, 0], []])
def test_counts_that_are_none_are_refused_in_a_sentence(counts):
    refused("a number of 0 or more for each of the 3 types, not all 0", dirichlet, 3, np.array(counts))


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
    refused(words, read_histogram, text, 3)
