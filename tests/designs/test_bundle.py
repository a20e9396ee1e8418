"""Designs exported and imported again, with all parts, without some, or with parts of others."""

import dataclasses
import hashlib
import io
import json
import math
import zipfile

import numpy as np
import pandas as pd
import pytest
from design_files import (
    CONFIGURATION,
    EXPORTED,
    OUTCOME,
    STRATEGY,
    complaint,
    domain,
    explicit,
    members,
    npz,
    packed,
    randomized_response,
    with_setting,
    with_strategy_file,
)
from hypothesis import given
from hypothesis import strategies as st

import ldp_core
from ldp_core.data.tables import CategoricalRecipe, DateRecipe, NumericRecipe, ReadOptions, build_domain
from ldp_core.designs import (
    BundleError,
    ConfigurationError,
    MechanismRecipe,
    UploadedData,
    WorkloadRecipe,
    export,
    load,
)
from ldp_core.mechanisms.quantised import quantised
from ldp_core.workloads import KWayMarginalsPart, MatrixPart, Predicate, PredicatesPart, PrefixPart

# --- what is exported ---------------------------------------------------------------------------------------------


@given(st.integers(2, 12), st.floats(0.01, 8))
def test_what_is_exported_is_imported(n, epsilon):
    configuration = CONFIGURATION.with_(domain=domain(n), epsilon=repr(epsilon))
    strategy = quantised(randomized_response(n, epsilon), epsilon)
    bundle = load(export(configuration, OUTCOME, explicit(strategy, epsilon=epsilon)))
    assert bundle.configuration == configuration
    np.testing.assert_array_equal(bundle.mechanism.strategy, strategy)
    assert bundle.outcome["worst_case_variance"] == 12.5
    assert bundle.warnings == []


def test_a_strategy_a_little_above_epsilon_is_refused_with_enough_digits():
    strategy = randomized_response(4, 1 + 5e-10)
    with pytest.raises(BundleError, match=r"audited epsilon is 1\.0000000005\d*, more than the 1 of"):
        export(CONFIGURATION, OUTCOME, explicit(strategy))
    assert "audited epsilon is 1.0000000005" in complaint(with_strategy_file(npz(strategy=strategy)))


def test_equal_designs_give_equal_bytes():
    assert export(CONFIGURATION, OUTCOME, explicit(np.asfortranarray(STRATEGY))) == EXPORTED
    assert export(CONFIGURATION, OUTCOME, explicit(STRATEGY[::-1])) != EXPORTED
    with zipfile.ZipFile(io.BytesIO(EXPORTED)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.namelist() == ["configuration.json", "outcome.json", "strategy.npz"]


def test_the_outcome_says_what_made_it_and_what_it_reveals():
    parts = members(EXPORTED)
    outcome = json.loads(parts["outcome.json"])
    assert outcome["configuration_digest"] == CONFIGURATION.digest()
    assert outcome["strategy"] == {
        "file": "strategy.npz",
        "sha256": hashlib.sha256(parts["strategy.npz"]).hexdigest(),
        "shape": [4, 4],
        "dtype": "float64",
    }
    assert outcome["software"]["numpy"] == np.__version__
    assert outcome["software"]["ldp_core"] == ldp_core.__version__
    assert "4 categories" in outcome["read_off_the_data"][0]
    assert "client" in outcome["simulation_seed_warning"]
    np.testing.assert_array_equal(np.load(io.BytesIO(parts["strategy.npz"]))["strategy"], STRATEGY)


def test_an_imported_outcome_can_be_exported_again():
    bundle = load(EXPORTED)
    assert export(bundle.configuration, bundle.outcome, bundle.mechanism) == EXPORTED


def test_a_mechanism_without_a_strategy_has_two_files():
    content = export(CONFIGURATION.with_(mechanism=MechanismRecipe(name="hadamard")), {})
    assert set(members(content)) == {"configuration.json", "outcome.json"}
    bundle = load(content)
    assert bundle.mechanism is None
    assert bundle.warnings == []


def test_results_become_strict_json():
    row = dataclasses.make_dataclass("Row", ["name", "pair"])("a", (0, 1))
    outcome = {"int": np.int64(3), "array": np.array([[1.0, np.nan], [np.inf, 2.0]]), "row": row}
    recorded = load(export(CONFIGURATION, outcome, explicit(STRATEGY))).outcome
    assert [recorded[key] for key in outcome] == [3, [[1.0, None], [None, 2.0]], {"name": "a", "pair": [0, 1]}]


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ({"a": {"b": object()}}, "outcome > a > b is a object"),
        ({"a": "x" * 6_000_000}, "too many to load again"),
        ({"a": "\ud800"}, "half of a character"),
    ],
)
def test_results_that_cannot_be_written_are_refused(outcome, reason):
    with pytest.raises(ValueError, match=reason):
        export(CONFIGURATION, outcome, explicit(STRATEGY))


def test_a_strategy_that_breaks_the_promise_is_not_exported():
    with pytest.raises(BundleError, match=r"audited epsilon is 1\.1\d*, more than the 1 of the configuration"):
        export(CONFIGURATION, OUTCOME, explicit(randomized_response(4, 1.1)))


# --- several attributes -----------------------------------------------------------------------------------------------

TABLE = pd.DataFrame({"age": [18, 25, 40, 64], "sex": ["f", "m", "m", "f"], "day": ["2026-01-31", "2026-02-01"] * 2})
RECIPES = (NumericRecipe(column="age", bins=3), CategoricalRecipe(column="sex"), DateRecipe(column="day"))
PARTS = (
    KWayMarginalsPart(k=2),
    PrefixPart(attribute="age", by=["sex"], weight=2.0),
    PredicatesPart(predicates=[Predicate(expression="sex = f and age < 34", name="young women")]),
    MatrixPart.of(np.eye(12), names=[f"query {i}" for i in range(12)]),
)
SEVERAL = CONFIGURATION.with_(
    data=UploadedData(recipes=RECIPES, reading=ReadOptions(delimiter=";"), query="SELECT * FROM people"),
    domain=build_domain(RECIPES, TABLE),
    workload=WorkloadRecipe(parts=PARTS),
)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_design_of_several_attributes_comes_back_whole(seed, with_prior):
    random = np.random.default_rng(seed)
    strategy = random.uniform(1.0, math.e**0.5, size=(20, 12))
    # Entries of a row are within e^(1/2) of each other, and so are column sums.
    strategy = quantised(strategy / strategy.sum(axis=0), SEVERAL.epsilon)
    prior = random.dirichlet(np.ones(12)) if with_prior else None
    bundle = load(export(SEVERAL, OUTCOME, explicit(strategy, prior)))
    assert bundle.warnings == []
    assert bundle.configuration == SEVERAL
    assert bundle.configuration.digest() == SEVERAL.digest()
    np.testing.assert_array_equal(bundle.mechanism.strategy, strategy)
    assert (bundle.mechanism.prior is None) == (not with_prior)
    if with_prior:
        np.testing.assert_array_equal(bundle.mechanism.prior, prior)
    domain = bundle.configuration.domain
    np.testing.assert_array_equal(domain.encode(TABLE).codes, SEVERAL.domain.encode(TABLE).codes)
    assert bundle.configuration.workload.build(domain) == SEVERAL.workload.build(SEVERAL.domain)
    assert bundle.configuration.workload.build(domain).query_name(6 + 6 + 4 + 6) == "young women"


def test_each_attribute_says_in_the_outcome_what_it_reveals():
    told = load(export(SEVERAL, OUTCOME)).outcome["read_off_the_data"]
    assert ["age" in told[0], "sex" in told[1], "day" in told[2], len(told)] == [True, True, True, 4]


def test_a_design_of_too_many_types_for_its_strategy_is_refused():
    with pytest.raises(BundleError, match="for 4 types but the domain has 12"):
        export(SEVERAL, OUTCOME, explicit(STRATEGY))


def test_a_design_too_large_to_load_is_not_exported():
    matrix = MatrixPart.of(np.random.default_rng(3).random((43_000, 12)))
    too_large = SEVERAL.with_(workload=WorkloadRecipe(parts=(matrix,)))
    with pytest.raises(ConfigurationError, match="at most 5 MB are read again: upload a matrix of fewer queries"):
        export(too_large, OUTCOME)


# --- what is missing or does not belong together --------------------------------------------------------------------


def test_a_removed_outcome_is_said():
    parts = members(EXPORTED)
    del parts["outcome.json"]
    bundle = load(packed(parts))
    np.testing.assert_array_equal(bundle.mechanism.strategy, STRATEGY)
    assert "no outcome.json" in bundle.warnings[0]


def test_a_removed_configuration_is_refused():
    parts = members(EXPORTED)
    del parts["configuration.json"]
    assert "holds no configuration.json" in complaint(packed(parts))


def test_an_edited_configuration_makes_the_outcome_foreign():
    bundle = load(with_setting("target_alpha", 0.02))
    assert bundle.configuration.target_alpha == 0.02
    assert "belongs to other inputs" in bundle.warnings[0]


def test_a_lower_epsilon_is_refused_with_the_audited_one():
    assert "audited epsilon is 1, more than the 0.5" in complaint(with_setting("epsilon", "0.5"))


def test_another_or_no_domain_is_refused():
    other = json.loads(CONFIGURATION.with_(domain=domain(5)).to_json())["domain"]
    assert "for 4 types but the domain has 5" in complaint(with_setting("domain", other))
    assert "no domain it belongs to" in complaint(with_setting("domain", None))


def test_a_broken_configuration_is_refused_in_its_own_words():
    with pytest.raises(ConfigurationError, match="Epsilon 1000 is too large"):
        load(with_setting("epsilon", "1000"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[]", "must be a JSON object"),
        (b'{"a": NaN}', "contains NaN"),
        (b" " * 5_000_001, "too large"),
        (b"{}", "does not match the SHA-256"),
    ],
)
def test_a_broken_outcome_is_refused(content, reason):
    assert reason in complaint(packed({**members(EXPORTED), "outcome.json": content}))
