"""Reports of HaarHRR that are none."""

import numpy as np

from ldp_core.mechanisms.trees.haar import Haar
from tests.refused import refused


def test_bad_input_is_refused():
    mechanism = Haar(8, 1.0)
    for raw, words in (
        (np.zeros(3, dtype=int), "a level and an output"),
        (np.array([[3, 0]]), "from 0 to 2"),
        (np.array([[2, 2]]), "from 0 to 1"),
        (np.array([[0.5, 0]]), "whole-number"),
    ):
        refused(words, mechanism.aggregate, raw)
