"""Which types are secret, from the columns that say so, and the problem with all open types put together."""

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.workloads import HistogramPart, PartlySecret, over_attributes
from ldp_core.workloads.secret import Lumped
from tests.refused import refused

ILL = CategoricalAttribute(name="ill", values=("no", "yes"), secret=("yes",))
REGION = CategoricalAttribute(name="region", values=("north", "south"), secret=())
AGE = RangeAttribute(name="age", low=0, high=3, bins=4, integer=True)


def asked(*attributes):
    return over_attributes([HistogramPart(attribute="ill")], attributes)


def test_a_type_is_open_where_all_of_its_values_are():
    assert asked(ILL).secret.tolist() == [False, True]
    assert asked(ILL, REGION).secret.tolist() == [False, False, True, True]
    old = AGE.model_copy(update={"secret": ("2", "3")})
    assert asked(ILL, old).secret.tolist() == [False, False, True, True] + [True] * 4
    assert asked(ILL, AGE).secret.all()  # a column whose values are all secret leaves no type open
    assert asked(ILL, AGE) == asked(ILL.model_copy(update={"secret": None}), AGE)


def test_without_open_values_everything_is_as_before():
    plain = ILL.model_copy(update={"secret": None})
    assert "secret" not in plain.model_dump_json()
    assert ldp.workloads.histogram(5).secret.all()
    workload = asked(plain)
    assert workload.all_secret is workload
    assert workload == ldp.workloads.histogram(2)
    assert asked(ILL) != workload
    assert asked(ILL).all_secret == workload
    assert ldp.workloads.from_spec(asked(ILL).spec) == asked(ILL)


def test_bad_secrets_are_refused_in_a_sentence():
    refused(
        "must be different values of the column",
        CategoricalAttribute,
        name="ill",
        values=("no", "yes"),
        secret=("maybe",),
    )
    refused(
        "knows its values already", CategoricalAttribute, name="ill", values=("no", "yes"), secret=("yes",), known=True
    )
    refused("no value is secret", Domain, attributes=(REGION,))
    many = RangeAttribute(name="age", low=0, high=4095, bins=4096, integer=True)
    refused("at most 2,048 types", asked, ILL, many, REGION)


def test_objectives_are_those_of_the_problem_with_all_open_types_together():
    rng, n = np.random.default_rng(0), 7
    workload = PartlySecret(ldp.workloads.custom(rng.standard_normal((5, n))), np.array([1, 0, 0, 1, 1, 0, 0], bool))
    p = rng.dirichlet(np.ones(n))
    rows, w = np.ones((12, n)), rng.random(12)
    rows[:, workload.secret] += 1.7 * rng.integers(0, 2, (12, 3))
    u, r, lumped = 0.3, n * p, Lumped.of(workload, p)
    M = (rows * (w / (rows @ r))[:, None]).T @ rows + np.diag(np.where(workload.secret, 0, u / r))
    few = np.column_stack([rows[:, workload.secret], np.ones(12)])
    small = (few * (w / (few @ lumped.masses))[:, None]).T @ few
    small[-1, -1] += u / lumped.masses[-1]
    whole = np.trace(np.linalg.solve(M, workload.gram_dense()))
    parts = np.trace(np.linalg.solve(small, lumped.root.T @ lumped.root)) + lumped.within / u
    assert parts == pytest.approx(whole, rel=1e-9)
