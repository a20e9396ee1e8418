"""Surveys with questions that follow an order or single out values, in blocks: against the whole matrix."""

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.bounds import survey_blocks
from ldp_core.workloads import AllRange, Custom, Group, Histogram, Predicates, Prefix, Product, Survey


def by_value(base, values):
    """The same questions for each value of an attribute."""
    return Product([base, Histogram(values)])


SINGLE = Predicates((4, 5), [[((0,), [1, 1, 0, 0]), ((1,), [0, 1, 0, 0, 0])], [((0,), [0, 0, 1, 0])]])
SURVEYS = {
    "totals": Survey((4, 3, 5), [*workloads.survey((4, 3, 5), 2, [0.5] * 3).groups, Group((0,), Prefix(4))]),
    "rectangles": Survey((4, 3, 5), [Group((0, 2), Product([AllRange(4), AllRange(5)])), Group((0, 1), Histogram(12))]),
    "conditions": Survey((4, 5, 3), [Group((0, 1), SINGLE), Group((1, 2), Histogram(15), 0.5), Group((2,), Prefix(3))]),
    "ranges, one value": Survey((6, 1, 4), [Group((0, 1), AllRange(6)), Group((0, 2), Histogram(24), 0.7)]),
    # Totals along either of two attributes that nothing asks about together, both by the values of a third one.
    "apart, by values": Survey(
        (4, 4, 3), [Group((0, 2), by_value(Prefix(4), 3)), Group((1, 2), by_value(Prefix(4), 3), 2.0)]
    ),
    "three apart, by values": Survey(
        (3, 2, 4, 3, 2),
        [
            Group((0, 4), by_value(Prefix(3), 2)),
            Group((1, 3, 4), Product([Prefix(2), Histogram(3), Histogram(2)])),
            Group((2, 3), by_value(AllRange(4), 3), 0.5),
            Group((0, 1, 3), Histogram(18), 0.3),
        ],
    ),
}
EVERY = pytest.mark.parametrize("survey", SURVEYS.values(), ids=SURVEYS)


def eigenvalues(survey):
    """Of the Gram matrix off the constants, from its definition."""
    W = survey.rows(np.arange(survey.num_queries))
    W = W - W.mean(axis=1, keepdims=True)
    return np.clip(np.linalg.eigvalsh(W.T @ W), 0, None)


@EVERY
def test_blocks_have_the_eigenvalues_of_the_whole_matrix(survey):
    parts = survey_blocks.parts_of(survey)
    found = np.repeat(parts.alone, parts.dims.astype(int)).tolist()
    for block in parts.blocks:
        found += np.repeat(np.linalg.eigvalsh(block.gram), int(block.dim)).tolist()
    whole = eigenvalues(survey)
    assert len(found) < survey.n  # the constant is in none
    np.testing.assert_allclose(np.sort(found)[::-1] * survey.n, whole[::-1][: len(found)], atol=1e-9 * whole[-1])
    np.testing.assert_allclose(whole[: -len(found)], 0, atol=1e-9 * whole[-1])


@EVERY
@pytest.mark.parametrize("most", [2048, 12, 6, 4])
def test_the_bound_in_blocks_is_never_above_that_of_the_whole_matrix(survey, most, monkeypatch):
    monkeypatch.setattr(survey_blocks, "MOST_CELLS", most)
    fresh = Survey(survey.shape, survey.groups)
    whole = bounds.centred_svd(Custom(survey.rows(np.arange(survey.num_queries))), 1.0)
    found = bounds.centred_svd(fresh, 1.0)
    assert found <= whole * (1 + 1e-9)
    if most == 2048:
        assert found >= whole * (1 - 1e-7)
