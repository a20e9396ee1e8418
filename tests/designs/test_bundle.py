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
    Bundle,
    BundleError,
    Configuration,
    ConfigurationError,
    MechanismRecipe,
    Population,
    UploadedData,
    WorkloadRecipe,
    export,
    load,
)
from ldp_core.designs import bundle as bundle_module
from ldp_core.library.optimized import from_strategy
from ldp_core.workloads import KWayMarginalsPart, MatrixPart, Predicate, PredicatesPart, PrefixPart


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
STRATEGY = randomized_response(4, 1.0)
OUTCOME = {"worst_case_variance": 12.5}
EXPORTED = export(CONFIGURATION, OUTCOME, STRATEGY)


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


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


def complaint(content: bytes) -> str:
    with pytest.raises(BundleError) as caught:
        load(content)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def loaded_or_refused(content: bytes) -> Bundle | None:
    """The bundle, or None if it is refused in one sentence; other errors pass through."""
    try:
        return load(content)
    except ValueError as error:
        if "\n" in str(error):
            raise
        return None


# --- what is exported ---------------------------------------------------------------------------------------------


@given(st.integers(2, 12), st.floats(0.01, 8))
def test_what_is_exported_is_imported(n, epsilon):
    configuration = CONFIGURATION.with_(domain=domain(n), epsilon=repr(epsilon))
    strategy = randomized_response(n, epsilon)
    bundle = load(export(configuration, OUTCOME, strategy))
    assert bundle.configuration == configuration
    np.testing.assert_array_equal(bundle.strategy, strategy)
    assert bundle.outcome["worst_case_variance"] == 12.5
    assert bundle.warnings == []


def test_a_strategy_a_little_above_epsilon_is_refused_with_enough_digits():
    strategy = randomized_response(4, 1 + 5e-10)
    with pytest.raises(BundleError, match=r"audited epsilon is 1\.0000000005\d*, more than the 1 of"):
        export(CONFIGURATION, OUTCOME, strategy)
    assert "audited epsilon is 1.0000000005" in complaint(with_strategy_file(npz(strategy=strategy)))


def test_equal_designs_give_equal_bytes():
    assert export(CONFIGURATION, OUTCOME, np.asfortranarray(STRATEGY)) == EXPORTED
    assert export(CONFIGURATION, OUTCOME, STRATEGY[::-1]) != EXPORTED
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
    assert export(bundle.configuration, bundle.outcome, bundle.strategy) == EXPORTED


def test_a_mechanism_without_a_strategy_has_two_files():
    content = export(CONFIGURATION.with_(mechanism=MechanismRecipe(name="hadamard")), {})
    assert set(members(content)) == {"configuration.json", "outcome.json"}
    bundle = load(content)
    assert bundle.strategy is None
    assert bundle.warnings == []


def test_results_become_strict_json():
    @dataclasses.dataclass
    class Row:
        name: str
        pair: tuple[int, int]

    outcome = {
        "float": np.float64(0.5),
        "int": np.int64(3),
        "bool": np.bool_(True),
        "array": np.array([[1.0, np.nan], [np.inf, 2.0]]),
        "nothing": None,
        "row": Row("a", (0, 1)),
        "nan": float("nan"),
    }
    recorded = load(export(CONFIGURATION, outcome, STRATEGY)).outcome
    assert {key: recorded[key] for key in outcome} == {
        "float": 0.5,
        "int": 3,
        "bool": True,
        "array": [[1.0, None], [None, 2.0]],
        "nothing": None,
        "row": {"name": "a", "pair": [0, 1]},
        "nan": None,
    }


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ({"a": {"b": object()}}, "outcome > a > b is a object"),
        ({"a": {1: 2}}, "has the key 1"),
        ({"a": "x" * 6_000_000}, "too many to load again"),
        ({"a": "\ud800"}, "half of a character"),
    ],
)
def test_results_that_cannot_be_written_are_refused(outcome, reason):
    with pytest.raises(ValueError, match=reason):
        export(CONFIGURATION, outcome, STRATEGY)


def test_a_strategy_that_breaks_the_promise_is_not_exported():
    with pytest.raises(BundleError, match=r"audited epsilon is 1\.1, more than the 1 of the configuration"):
        export(CONFIGURATION, OUTCOME, randomized_response(4, 1.1))


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
    strategy /= strategy.sum(axis=0)  # entries of a row are within e^(1/2) of each other, and so are column sums
    prior = random.dirichlet(np.ones(12)) if with_prior else None
    bundle = load(export(SEVERAL, OUTCOME, strategy, prior))
    assert bundle.warnings == []
    assert bundle.configuration == SEVERAL
    assert bundle.configuration.digest() == SEVERAL.digest()
    np.testing.assert_array_equal(bundle.strategy, strategy)
    assert (bundle.prior is None) == (not with_prior)
    if with_prior:
        np.testing.assert_array_equal(bundle.prior, prior)
    domain = bundle.configuration.domain
    np.testing.assert_array_equal(domain.encode(TABLE).codes, SEVERAL.domain.encode(TABLE).codes)
    assert bundle.configuration.workload.build(domain) == SEVERAL.workload.build(SEVERAL.domain)
    assert bundle.configuration.workload.build(domain).query_name(6 + 6 + 4 + 6) == "young women"


def test_each_attribute_says_in_the_outcome_what_it_reveals():
    told = load(export(SEVERAL, OUTCOME)).outcome["read_off_the_data"]
    assert ["age" in told[0], "sex" in told[1], "day" in told[2], len(told)] == [True, True, True, 4]


def test_a_design_of_too_many_types_for_its_strategy_is_refused():
    with pytest.raises(BundleError, match="for 4 types but the domain has 12"):
        export(SEVERAL, OUTCOME, STRATEGY)


def test_a_design_too_large_to_load_is_not_exported():
    matrix = MatrixPart.of(np.random.default_rng(3).random((43_000, 12)))
    too_large = SEVERAL.with_(workload=WorkloadRecipe(parts=(matrix,)))
    with pytest.raises(ConfigurationError, match="at most 5 MB are read again: upload a matrix of fewer queries"):
        export(too_large, OUTCOME)


# --- what is missing or does not belong together --------------------------------------------------------------------


def test_a_bare_configuration_offers_to_optimise_again():
    bundle = load(CONFIGURATION.to_json())
    assert (bundle.configuration, bundle.outcome, bundle.strategy) == (CONFIGURATION, None, None)
    assert [warning for warning in bundle.warnings if "optimise again" in warning] == bundle.warnings != []


@pytest.mark.parametrize("mechanism", ["optimized_gradient", "hadamard"])
def test_a_removed_strategy_offers_to_optimise_again(mechanism):
    configuration = CONFIGURATION.with_(mechanism=MechanismRecipe(name=mechanism))
    parts = members(export(configuration, OUTCOME, STRATEGY))
    del parts["strategy.npz"]
    bundle = load(packed(parts))
    assert bundle.strategy is None
    assert "optimise again" in bundle.warnings[0]


def test_a_removed_outcome_is_said():
    parts = members(EXPORTED)
    del parts["outcome.json"]
    bundle = load(packed(parts))
    np.testing.assert_array_equal(bundle.strategy, STRATEGY)
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
        (b"{", "outcome.json is not valid JSON"),
        (b'{"a": NaN}', "contains NaN"),
        (b" " * 5_000_001, "too large"),
        (b"{}", "does not match the SHA-256"),
        (b'{"strategy": {"sha256": 3}}', "does not match the SHA-256"),
    ],
)
def test_a_broken_outcome_is_refused(content, reason):
    assert reason in complaint(packed({**members(EXPORTED), "outcome.json": content}))


# --- strategies -----------------------------------------------------------------------------------------------------


def test_a_changed_strategy_does_not_match_its_hash():
    changed = packed({**members(EXPORTED), "strategy.npz": npz(strategy=STRATEGY[::-1])})
    assert "does not match the SHA-256 recorded" in complaint(changed)


def broken(row: int, column: int, value: float) -> np.ndarray:
    result = STRATEGY.copy()
    result[row, column] = value
    return result


BAD_STRATEGIES = {
    "nan": (broken(0, 1, math.nan), "finite and not negative"),
    "infinite": (broken(0, 1, math.inf), "finite and not negative"),
    "negative": (broken(0, 1, -0.1), "finite and not negative"),
    "sum": (broken(0, 0, STRATEGY[0, 0] + 1e-6), "must sum to 1"),
    "never certain": (np.eye(4), "audited epsilon is unlimited"),
    "too revealing": (randomized_response(4, 1.0 + 1e-6), "more than the 1 of the configuration"),
    "too few types": (randomized_response(3, 1.0), "for 3 types but the domain has 4"),
    "float32": (STRATEGY.astype(np.float32), "not a single matrix of float64"),
    "big-endian": (STRATEGY.astype(">f8"), "not a single matrix of float64"),
    "three axes": (STRATEGY[None], "not a single matrix of float64"),
    "one number": (np.float64(1), "not a single matrix of float64"),
    "empty": (np.zeros((0, 4)), "not a single matrix of float64"),
}


@pytest.mark.parametrize("name", BAD_STRATEGIES)
def test_a_strategy_is_judged_by_its_own_probabilities(name):
    strategy, reason = BAD_STRATEGIES[name]
    assert reason in complaint(with_strategy_file(npz(strategy=strategy)))


def test_a_strategy_too_large_to_load_is_not_exported(monkeypatch):
    monkeypatch.setattr(bundle_module, "STRATEGY_ENTRIES", 15)
    with pytest.raises(BundleError, match="has 16 entries; at most 15 are kept"):
        export(CONFIGURATION, OUTCOME, STRATEGY)


def test_rounding_alone_breaks_no_promise_and_any_layout_is_read():
    strategy = np.asfortranarray(randomized_response(4, 1.0 + 1e-12))
    np.testing.assert_array_equal(load(with_strategy_file(npz(strategy=strategy))).strategy, strategy)


def test_pickles_are_refused_and_never_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    content = with_strategy_file(npz(strategy=np.array([[Trap()]], dtype=object)))
    assert "not a single matrix of float64" in complaint(content)
    assert not (tmp_path / "sprung").exists()


def test_a_header_cannot_ask_for_more_memory_than_the_file_holds():
    with zipfile.ZipFile(io.BytesIO(npz(strategy=STRATEGY))) as archive:
        array = archive.read("strategy.npy")
    for shape in [b"(4, 5)", b"(-4, -4)", b"(9**9, 4)", b"((", b"(4000000000, 4000000000)"]:
        huge = array.replace(b"(4, 4), }" + b" " * (len(shape) - 6), shape + b", }" + b" " * max(0, 6 - len(shape)))
        assert huge != array
        assert len(huge) == len(array)
        assert "not a single matrix" in complaint(with_strategy_file(packed({"strategy.npy": huge})))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged zip"),
        (b"not a zip", "damaged zip"),
        (npz(strategy=STRATEGY)[:-20], "damaged zip"),
        (npz(strategy=STRATEGY, more=STRATEGY), "holds 'more.npy'"),
        (npz(other=STRATEGY), "holds 'other.npy'"),
        (packed({}), "not a single matrix"),
        (packed({"strategy.npy": b"\x80\x04."}), "not a single matrix"),
    ],
)
def test_a_damaged_strategy_file_is_refused(content, reason):
    assert reason in complaint(with_strategy_file(content))


# --- priors ---------------------------------------------------------------------------------------------------------

PRIOR = np.array([0.4, 0.3, 0.3, 0.0])


def test_a_prior_travels_with_its_strategy():
    bundle = load(export(CONFIGURATION, OUTCOME, STRATEGY, PRIOR))
    np.testing.assert_array_equal(bundle.prior, PRIOR)
    np.testing.assert_array_equal(bundle.strategy, STRATEGY)
    assert bundle.warnings == []
    before, after = (
        from_strategy("optimized", strategy, 1.0, {}, prior)
        for strategy, prior in ((STRATEGY, PRIOR), (bundle.strategy, bundle.prior))
    )
    assert before.digest == after.digest
    np.testing.assert_array_equal(before.reconstruction, after.reconstruction)


def test_files_without_a_prior_have_none():
    assert load(EXPORTED).prior is None
    assert load(CONFIGURATION.to_json()).prior is None
    assert members(EXPORTED) == members(export(CONFIGURATION, OUTCOME, STRATEGY, None))


BAD_PRIORS = {
    "nan": (np.array([math.nan, 0.5, 0.5, 0.0]), "one non-negative probability"),
    "infinite": (np.array([math.inf, 0.5, 0.5, 0.0]), "one non-negative probability"),
    "negative": (np.array([-0.1, 0.6, 0.5, 0.0]), "one non-negative probability"),
    "sum": (PRIOR + 1e-6, "sums to 1"),
    "short": (np.full(3, 1 / 3), "each of the 4 types"),
    "matrix": (PRIOR[None], "not a list of float64"),
    "number": (np.float64(1), "not a list of float64"),
    "float32": (PRIOR.astype(np.float32), "not a list of float64"),
    "empty": (np.zeros(0), "not a list of float64"),
    "object": (np.array([None] * 4), "not a list of float64"),
}


@pytest.mark.parametrize("name", BAD_PRIORS)
def test_a_broken_prior_is_refused(name):
    prior, reason = BAD_PRIORS[name]
    assert reason in complaint(with_strategy_file(npz(strategy=STRATEGY, prior=prior)))


def test_a_prior_alone_is_refused():
    assert "not a single matrix" in complaint(with_strategy_file(npz(prior=PRIOR)))
    assert "not a single matrix" in complaint(with_strategy_file(npz(strategy=PRIOR)))
    with pytest.raises(BundleError, match="prior but no strategy"):
        export(CONFIGURATION, OUTCOME, None, PRIOR)
    with pytest.raises(BundleError, match="each of the 4 types"):
        export(CONFIGURATION, OUTCOME, STRATEGY, PRIOR[:3])


def test_a_prior_taken_out_does_not_match_the_hash():
    parts = members(export(CONFIGURATION, OUTCOME, STRATEGY, PRIOR))
    changed = packed({**parts, "strategy.npz": npz(strategy=STRATEGY)})
    assert "does not match the SHA-256 recorded" in complaint(changed)


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
        (packed({"configuration.json/": b""}), "holds 'configuration.json/'"),
        (packed(members(EXPORTED), zipfile.ZIP_BZIP2), "unusual method"),
        (packed(members(EXPORTED), zipfile.ZIP_LZMA), "unusual method"),
    ],
)
def test_hostile_zips_are_refused(content, reason):
    assert reason in complaint(content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_given_twice_is_refused():
    twice = packed([("configuration.json", CONFIGURATION.to_json())] * 2)
    assert "one of its members twice" in complaint(twice)


def patched(content: bytes, offset: int, value: bytes) -> bytes:
    """`content` with bytes of its first central directory entry replaced."""
    start = content.index(b"PK\x01\x02") + offset
    return content[:start] + value + content[start + len(value) :]


def test_an_encrypted_zip_is_refused():
    assert "is encrypted" in complaint(patched(EXPORTED, 8, struct.pack("<H", 1)))


def test_an_understated_size_is_refused():
    assert "damaged zip" in complaint(patched(EXPORTED, 24, struct.pack("<I", 10)))


def test_an_overstated_size_is_refused_before_unpacking():
    assert "unpacks to more than" in complaint(patched(EXPORTED, 24, struct.pack("<I", 2**32 - 2)))


def test_zip_bombs_are_refused(monkeypatch):
    monkeypatch.setattr(bundle_module, "MAX_BYTES", 100_000)
    assert "unpacks to more than" in complaint(packed({"outcome.json": b" " * 200_000}))
    inner = packed({"strategy.npy": b"\0" * 200_000})
    assert "strategy.npz in the file unpacks to more than" in complaint(with_strategy_file(inner))
    assert "too large to be a design" in complaint(EXPORTED + b"\0" * 100_000)


@given(st.data())
def test_no_damage_goes_unnoticed_or_crashes(data):
    """One byte changed anywhere and the end cut off: a sentence, or what was exported."""
    position = data.draw(st.integers(0, len(EXPORTED) - 1))
    value = data.draw(st.integers(0, 255))
    content = EXPORTED[:position] + bytes([value]) + EXPORTED[position + 1 :]
    bundle = loaded_or_refused(content[: data.draw(st.integers(1, len(content)) | st.just(len(content)))])
    if bundle is not None:
        assert bundle.configuration == CONFIGURATION
        if bundle.strategy is None:  # damage to the table of contents can lose a member
            assert "lacks the strategy" in bundle.warnings[-1]
        else:
            np.testing.assert_array_equal(bundle.strategy, STRATEGY)


@given(st.integers(0, 127), st.binary(min_size=1, max_size=6))
def test_no_damaged_header_of_a_matrix_crashes(position, value):
    with zipfile.ZipFile(io.BytesIO(npz(strategy=STRATEGY))) as archive:
        array = archive.read("strategy.npy")
    damaged = array[:position] + value + array[position + len(value) :]
    bundle = loaded_or_refused(with_strategy_file(packed({"strategy.npy": damaged})))
    if bundle is not None:  # the same matrix by another header: only its order can differ
        np.testing.assert_array_equal(np.sort(bundle.strategy, axis=None), np.sort(STRATEGY, axis=None))
