"""Surveys with questions that follow an order or single out values, in blocks: against the whole matrix."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import linalg

from ldp_core import bounds, optimize, workloads
from ldp_core.bounds import survey_blocks, verify
from ldp_core.bounds.surveys.certificate import closed_form
from ldp_core.workloads import AllRange, Custom, Group, Histogram, Predicates, Prefix, Product, Survey
from tests.declared import ADULT


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


PAIRS = workloads.survey(ADULT, 2, weights=[0.5] * 55).groups
LARGE = {
    "totals": Survey(ADULT, [*PAIRS, *(Group((i,), Prefix(size)) for i, size in enumerate(ADULT))]),
    "ranges": Survey(ADULT, [*PAIRS, *(Group((i,), AllRange(ADULT[i])) for i in (0, 2, 4))]),
    "rectangles": Survey(ADULT, [*PAIRS, Group((0, 2), Product([AllRange(16), AllRange(16)]))]),
    "conditions": Survey(
        ADULT,
        [*PAIRS, Group((5, 6), Predicates((6, 5), [[((0,), [1, 0, 0, 1, 0, 0]), ((1,), [0, 1, 0, 0, 0])]], ["both"]))],
    ),
    "ranges by values": Survey(ADULT, [*PAIRS, *(Group((i, 8), by_value(AllRange(ADULT[i]), 10)) for i in (0, 2, 4))]),
}


def eigenvalues(survey):
    """Eigenvalues of the Gram matrix off the constants, from its definition."""
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
def test_the_bound_in_blocks_is_never_above_that_of_the_whole_matrix(survey, most, lower):
    lower(_MOST_CELLS=most)
    fresh = Survey(survey.shape, survey.groups)
    whole = bounds.centred_svd(Custom(survey.rows(np.arange(survey.num_queries))), 1.0)
    found = bounds.centred_svd(fresh, 1.0)
    assert found <= whole * (1 + 1e-9)
    if most == 2048:
        assert found >= whole * (1 - 1e-7)


def conditions_in_a_row(shape):
    """Conditions about two neighbouring columns each, which connect all tables."""
    pairs = [(i, i + 1) for i in range(len(shape) - 1)]
    half = [[int(value < size / 2) for value in range(size)] for size in shape]
    return Survey(
        shape,
        [
            Group((i, j), Predicates((shape[i], shape[j]), [[((0,), half[i]), ((1,), half[j])]]), 1.0 + i)
            for i, j in pairs
        ],
    )


@pytest.mark.parametrize("limit", ["_MOST_QUERIES", "_MOST_TABLES", "_MOST_ENTRIES"])
def test_conditions_that_hang_together_are_bounded_as_by_the_whole_matrix(limit, lower):
    survey = conditions_in_a_row((4, 3, 5, 2, 6))
    whole = bounds.centred_svd(Custom(survey.rows(np.arange(survey.num_queries))), 1.0)
    lower(_MOST_CELLS=64)
    assert bounds.centred_svd(survey, 1.0) == pytest.approx(whole, rel=1e-9)
    proof = closed_form(survey, 1.0)
    assert proof.verify()
    assert whole * (1 - 1e-6) < proof.value <= whole
    together = survey_blocks.nuclear_at_least(survey)
    lower(**{limit: 1})
    assert survey_blocks.nuclear_at_least(survey) < 0.9 * together


def test_conditions_about_all_of_eleven_columns_are_bounded_at_once():
    """Conditions that share a column have a correlation of a third: the sum of singular values is a little less than that of the lengths."""
    survey = conditions_in_a_row(ADULT)
    proof = closed_form(survey, 1.0)
    lengths = sum((1.0 + i) * np.sqrt(group.base.rows([0]).var()) for i, group in enumerate(survey.groups))
    exp_epsilon_minus_one = (proof.value / survey.n - survey.components.constant) * math.sinh(0.5) ** 2
    assert 0.85 * lengths**2 < exp_epsilon_minus_one < lengths**2
    assert proof.verify()


@EVERY
def test_blocks_are_off_by_no_more_than_they_say(survey, monkeypatch):
    """Against their definition, in longer numbers than those of 64 bits."""
    seen, table = [], survey_blocks._table
    monkeypatch.setattr(
        survey_blocks, "_table", lambda *args: seen.append((args[1], args[2], table(*args))) or table(*args)
    )
    list(survey_blocks.parts_of(survey).blocks)
    G = np.zeros((survey.n, survey.n), dtype=np.longdouble)
    for group in survey.groups:
        sizes = [size if i in group.attributes else 1 for i, size in enumerate(survey.shape)]
        cells = np.broadcast_to(np.arange(group.base.n).reshape(sizes), survey.shape).ravel()
        G += np.longdouble(group.weight) ** 2 * group.base.gram_dense()[np.ix_(cells, cells)]
    assert seen
    for members, block, (gram, rounding) in seen:
        E = np.ones((1, 1), dtype=np.longdouble)
        for i, size in enumerate(survey.shape):
            eye, ones = np.eye(size, dtype=np.longdouble), np.ones((1, size), dtype=np.longdouble)
            own = eye - ones / size if i in members else eye if i in block else ones / np.sqrt(np.longdouble(size))
            E = np.kron(E, own)
        shape = [survey.shape[i] for i in sorted((*members, *block))]
        places = sorted((*members, *block))
        order = [places.index(i) for i in (*members, *block)]
        H = (E @ G @ E.T).reshape(*shape, *shape).transpose([*order, *(len(shape) + k for k in order)])
        unit = math.prod(survey.shape[i] for i in members)
        H = np.einsum("acad->cd", H.reshape(unit, len(gram), unit, len(gram)))
        H = H / (math.prod(survey.shape[i] - 1 for i in members) * np.longdouble(survey.n))
        assert np.sqrt(((gram - H) ** 2).sum()) <= rounding <= 1e-11 * np.linalg.norm(gram)


# --- the proof --------------------------------------------------------------------------------------------------------


@cache
def proved(name):
    return closed_form(LARGE[name], 1.0)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("name", LARGE)
def test_the_certificate_is_the_closed_form_at_once(name):
    proof, told = proved(name), []
    assert proof.kind == "blocks"
    assert proof.verify()
    closed = bounds.centred_svd(LARGE[name], 1.0)
    assert closed * (1 - 2e-8) <= proof.value <= closed
    again = bounds.certificate(LARGE[name], 1.0, 0.0, callback=lambda progress: told.append(progress.bound))
    assert told[0] == proof.value
    assert again.value >= proof.value


@EVERY
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_certificate_is_that_of_the_whole_matrix(survey, epsilon):
    found, exp_epsilon_minus_one = closed_form(survey, epsilon), math.sinh(epsilon / 2) ** 2
    assert found.verify()
    whole = survey.n * survey.components.constant + np.sqrt(eigenvalues(survey)).sum() ** 2 / exp_epsilon_minus_one
    if found.value > survey.trace:
        assert found.value <= whole * (1 + 1e-7)  # roots of what rounding makes of eigenvalues of 0
    together = survey_blocks.nuclear_at_least(survey) ** 2 / exp_epsilon_minus_one
    assert found.value >= survey.n * (survey.components.constant + together) * (1 - 2e-8)
    assert found.value >= survey.trace * (1 - 2e-8)


@pytest.mark.parametrize(
    "survey",
    [
        pytest.param(survey, id=name, marks=[pytest.mark.slow] if "apart" in name else [])
        for name, survey in SURVEYS.items()
    ],
)
def test_no_mechanism_beats_the_certificate(survey):
    for epsilon in (0.5, 2.0):
        design = optimize.design(survey, epsilon, time_limit=None, max_rounds=6, seed=0)
        assert closed_form(survey, epsilon).value <= design.objective


@EVERY
def test_what_is_in_no_block_counts_with_its_trace(survey, monkeypatch):
    """No variance is negative: so the script says of the rest, and adds up to the trace of all."""
    monkeypatch.setattr("ldp_core.bounds.proof._MOST_ENTRIES", 20)
    found, whole = closed_form(survey, 1.0), bounds.centred_svd(survey, 1.0)
    document, arrays = found.to_file("1")
    assert verify.mean_diagonal(document, arrays) == pytest.approx(survey.trace / survey.n, rel=1e-8)
    assert found.verify()
    assert survey.trace * (1 - 1e-8) <= found.value <= max(whole, survey.trace) * (1 + 1e-9)


@pytest.mark.parametrize("n", [2, 16, 300])
def test_eigenvalues_are_bounded_tightly_from_below(n):
    """Running totals: 1 / (2 sin((2 k - 1) pi / (4 n + 2))) are the roots."""
    exact = (1 / (2 * np.sin((2 * np.arange(1, n + 1) - 1) * math.pi / (4 * n + 2)))).sum()
    G = Prefix(n).gram_dense()
    found = verify.roots_at_least(G, 0.0)
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-13)  # the sum itself is rounded
    off = 1e-3 * np.eye(n)  # of norm 1e-3 sqrt(n)
    below = verify.roots_at_least(G + off, 1e-3 * math.sqrt(n))
    assert below <= exact


@pytest.mark.parametrize("wrong", ["scaled", "larger", "turned", "other"])
def test_a_wrong_routine_weakens_the_bound_and_proves_nothing_untrue(wrong, monkeypatch):
    G, rng, right = AllRange(12).gram_dense(), np.random.default_rng(0), np.linalg.eigh
    exact = np.sqrt(np.linalg.eigvalsh(G)).sum()

    def eigh(H, **_):
        values, V = right(H)
        turned = linalg.qr(np.eye(len(H)) + 1e-3 * rng.standard_normal(H.shape))[0]
        return {
            "scaled": (values, V * 1.01),
            "larger": (values * 1.01, V),
            "turned": (values, V @ turned),
            "other": (values, rng.standard_normal(V.shape)),
        }[wrong]

    assert verify.roots_at_least(G, 0.0) > exact * (1 - 1e-9)
    monkeypatch.setattr(verify.np.linalg, "eigh", eigh)
    assert not verify.roots_at_least(G, 0.0) > exact * (1 - 1e-6)
