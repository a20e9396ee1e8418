"""Designs exported and imported again, with all parts, without some, or with parts of others; of untrusted strategies, priors and zips
those come in that keep the promise. `adversary/test_fuzz_bundles.py` changes them at random."""

import dataclasses
import hashlib
import io
import json
import math
import os
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldp_core
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.data.tables import CategoricalRecipe, DateRecipe, NumericRecipe, ReadOptions, build_domain
from ldp_core.designs import (
    Configuration,
    MechanismRecipe,
    Population,
    UploadedData,
    WorkloadRecipe,
    export,
    load,
)
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.quantised import quantised
from ldp_core.workloads import KWayMarginalsPart, MatrixPart, Predicate, PredicatesPart, PrefixPart
from tests.deploy.kit.kits import members
from tests.refused import refused


def domain(n: int) -> Domain:
    return Domain(attributes=(CategoricalAttribute(name="answer", values=tuple(map(str, range(n))), origin="data"),))


def randomized_response(n: int, epsilon: float) -> np.ndarray:
    kept, other = math.exp(epsilon), 1.0
    return (np.full((n, n), other) + (kept - other) * np.eye(n)) / (kept + n - 1)


CONFIGURATION = Configuration(
    domain=domain(4),
    population=Population(users=3000, origin="declared", shape="uniform"),
    mechanism=MechanismRecipe(name="optimized_gradient"),
)
STRATEGY = quantised(randomized_response(4, 1.0), 1.0)
OUTCOME = {"worst_case_variance": 12.5}


def explicit(strategy: np.ndarray, prior: np.ndarray | None = None, epsilon: float = 1.0) -> ExplicitMechanism:
    return ExplicitMechanism("optimized_gradient", strategy, epsilon, prior=prior)


EXPORTED = export(CONFIGURATION, OUTCOME, explicit(STRATEGY))


def packed(contents: dict[str, bytes] | list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", method) as archive:
        for name, content in contents.items() if isinstance(contents, dict) else contents:
            archive.writestr(name, content)
    return result.getvalue()


def npz(**arrays) -> bytes:
    result = io.BytesIO()
    np.savez_compressed(result, **arrays)
    return result.getvalue()


def with_strategy_file(content: bytes) -> bytes:
    """EXPORTED with another strategy.npz whose SHA-256 is recorded as it should be."""
    parts = members(EXPORTED)
    outcome = json.loads(parts["outcome.json"])
    outcome["strategy"]["sha256"] = hashlib.sha256(content).hexdigest()
    return packed({**parts, "strategy.npz": content, "outcome.json": json.dumps(outcome).encode()})


def with_setting(key: str, value) -> bytes:
    parts = members(EXPORTED)
    document = {**json.loads(parts["configuration.json"]), key: value}
    return packed({**parts, "configuration.json": json.dumps(document).encode()})


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
    refused(reason, lambda: export(CONFIGURATION, outcome, explicit(STRATEGY)))


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


# --- what is missing or does not belong together --------------------------------------------------------------------


def test_a_removed_outcome_is_said():
    parts = members(EXPORTED)
    del parts["outcome.json"]
    bundle = load(packed(parts))
    np.testing.assert_array_equal(bundle.mechanism.strategy, STRATEGY)
    assert "no outcome.json" in bundle.warnings[0]


def test_an_edited_configuration_makes_the_outcome_foreign():
    bundle = load(with_setting("targets", {"points": 2.0}))
    assert bundle.configuration.targets == {"points": 2.0}
    assert "belongs to other inputs" in bundle.warnings[0]


def test_a_lower_epsilon_is_refused_with_the_audited_one():
    assert "audited epsilon is 1, more than the 0.5" in refused(r".", load, with_setting("epsilon", "0.5"))


def test_another_or_no_domain_is_refused():
    other = json.loads(CONFIGURATION.with_(domain=domain(5)).to_json())["domain"]
    assert "for 4 types but the domain has 5" in refused(r".", load, with_setting("domain", other))
    assert "no domain it belongs to" in refused(r".", load, with_setting("domain", None))


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
    assert reason in refused(r".", load, packed({**members(EXPORTED), "outcome.json": content}))


# --- strategies -----------------------------------------------------------------------------------------------------


def test_a_changed_strategy_does_not_match_its_hash():
    changed = packed({**members(EXPORTED), "strategy.npz": npz(strategy=STRATEGY[::-1])})
    assert "does not match the SHA-256 recorded" in refused(r".", load, changed)


BROKEN = STRATEGY + np.array([[1e-6, 0, 0, 0]] + [[0] * 4] * 3)
BAD = {
    "nan": ({"strategy": STRATEGY * np.array([1, math.nan, 1, 1])}, "finite and not negative"),
    "a sum": ({"strategy": BROKEN}, "must sum to 1"),
    "never certain": ({"strategy": np.eye(4)}, "audited epsilon is unlimited"),
    "too revealing": ({"strategy": randomized_response(4, 1.0 + 1e-6)}, "more than the 1 of the configuration"),
    "a little too revealing": ({"strategy": randomized_response(4, 1 + 5e-10)}, "audited epsilon is 1.0000000005"),
    "too few types": ({"strategy": randomized_response(3, 1.0)}, "for 3 types but the domain has 4"),
    "float32": ({"strategy": STRATEGY.astype(np.float32)}, "not a single matrix of float64"),
    "empty": ({"strategy": np.zeros((0, 4))}, "not a single matrix of float64"),
    "more": ({"strategy": STRATEGY, "more": STRATEGY}, "holds 'more.npy'"),
    "a prior alone": ({"prior": np.full(4, 0.25)}, "not a single matrix"),
    "a prior below 0": (
        {"strategy": STRATEGY, "prior": np.array([-0.1, 0.6, 0.5, 0.0])},
        "one non-negative probability",
    ),
    "a prior's sum": ({"strategy": STRATEGY, "prior": np.full(4, 0.3)}, "sums to 1"),
    "a short prior": ({"strategy": STRATEGY, "prior": np.full(3, 1 / 3)}, "each of the 4 types"),
    "no prior": ({"strategy": STRATEGY, "prior": np.zeros(0)}, "must be a list of float64"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_strategy_is_judged_by_its_own_probabilities(name):
    arrays, reason = BAD[name]
    assert reason in refused(r".", load, with_strategy_file(npz(**arrays)))


def test_a_strategy_too_large_to_load_is_not_exported(lower):
    lower(MOST_STRATEGY_ENTRIES=15)
    refused("has 16 entries; at most 15 are kept", lambda: export(CONFIGURATION, OUTCOME, explicit(STRATEGY)))


def test_rounding_alone_breaks_no_promise_and_any_layout_is_read():
    strategy = np.asfortranarray(randomized_response(4, 1.0 + 1e-12))
    found = load(with_strategy_file(npz(strategy=strategy))).mechanism.strategy
    # It is corrected: the loaded strategy keeps epsilon exactly.
    np.testing.assert_array_equal(found, quantised(strategy, 1.0))
    np.testing.assert_allclose(found, strategy, rtol=1e-11)
    table = np.asfortranarray(found)
    np.testing.assert_array_equal(load(with_strategy_file(npz(strategy=table))).mechanism.strategy, table)


def test_pickles_are_refused_and_never_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    content = with_strategy_file(npz(strategy=np.array([[Trap()]], dtype=object)))
    assert "not a single matrix of float64" in refused(r".", load, content)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("shape", ["(-4, -4)", "(9**9, 4)", "(40, 40)", "(4, 3)", "(4000000000, 4000000000)"])
def test_a_header_cannot_ask_for_other_than_the_file_holds(shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    array = b"\x93NUMPY\x01\x00\x76\x00" + header + STRATEGY.tobytes()
    assert "not a single matrix" in refused(r".", load, with_strategy_file(packed({"strategy.npy": array})))


# --- hostile zips ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK", "damaged zip"),
        (EXPORTED[:-30], "damaged zip"),
        (packed({}), "holds no configuration.json"),
        (packed({**members(EXPORTED), "notes.txt": b"x"}), "holds 'notes.txt'"),
        (packed({"../configuration.json": CONFIGURATION.to_json()}), "holds '../configuration.json'"),
        (packed({"/etc/passwd": b"x"}), "holds '/etc/passwd'"),
        (packed(members(EXPORTED), zipfile.ZIP_BZIP2), "unusual method"),
    ],
)
def test_hostile_zips_are_refused(content, reason):
    assert reason in refused(r".", load, content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_given_twice_is_refused():
    twice = packed([("configuration.json", CONFIGURATION.to_json())] * 2)
    assert "one of its members twice" in refused(r".", load, twice)


def patched(content: bytes, offset: int, value: bytes) -> bytes:
    """`content` with bytes of its first central directory entry replaced."""
    start = content.index(b"PK\x01\x02") + offset
    return content[:start] + value + content[start + len(value) :]


def test_an_encrypted_zip_is_refused():
    assert "is encrypted" in refused(r".", load, patched(EXPORTED, 8, struct.pack("<H", 1)))


def test_an_understated_size_is_refused():
    assert "damaged zip" in refused(r".", load, patched(EXPORTED, 24, struct.pack("<I", 10)))


def test_an_overstated_size_is_refused_before_unpacking():
    assert "unpacks to more than" in refused(r".", load, patched(EXPORTED, 24, struct.pack("<I", 2**32 - 2)))


def test_zip_bombs_are_refused(lower):
    lower(MOST_DESIGN_BYTES=100_000)
    assert "unpacks to more than" in refused(r".", load, packed({"outcome.json": b" " * 200_000}))
    inner = packed({"strategy.npy": b"\0" * 200_000})
    assert "strategy.npz in the file unpacks to more than" in refused(r".", load, with_strategy_file(inner))
    assert "too large to be a design" in refused(r".", load, EXPORTED + b"\0" * 100_000)
