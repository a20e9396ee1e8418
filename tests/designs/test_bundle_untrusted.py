"""Untrusted strategies, priors and zips: those that keep the promise come in, all others are
refused in a sentence."""

import io
import math
import os
import struct
import zipfile

import numpy as np
import pytest
from design_files import (
    CONFIGURATION,
    EXPORTED,
    OUTCOME,
    STRATEGY,
    complaint,
    explicit,
    loaded_or_refused,
    members,
    npz,
    packed,
    randomized_response,
    with_strategy_file,
)
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.designs import (
    BundleError,
    export,
    load,
)
from ldp_core.mechanisms.quantised import quantised
from ldp_core.optimize.strategy import from_strategy

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
    "negative": (broken(0, 1, -0.1), "finite and not negative"),
    "sum": (broken(0, 0, STRATEGY[0, 0] + 1e-6), "must sum to 1"),
    "never certain": (np.eye(4), "audited epsilon is unlimited"),
    "too revealing": (randomized_response(4, 1.0 + 1e-6), "more than the 1 of the configuration"),
    "too few types": (randomized_response(3, 1.0), "for 3 types but the domain has 4"),
    "float32": (STRATEGY.astype(np.float32), "not a single matrix of float64"),
    "empty": (np.zeros((0, 4)), "not a single matrix of float64"),
}


@pytest.mark.parametrize("name", BAD_STRATEGIES)
def test_a_strategy_is_judged_by_its_own_probabilities(name):
    strategy, reason = BAD_STRATEGIES[name]
    assert reason in complaint(with_strategy_file(npz(strategy=strategy)))


def test_a_strategy_too_large_to_load_is_not_exported(lower):
    lower(MOST_STRATEGY_ENTRIES=15)
    with pytest.raises(BundleError, match="has 16 entries; at most 15 are kept"):
        export(CONFIGURATION, OUTCOME, explicit(STRATEGY))


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
    assert "not a single matrix of float64" in complaint(content)
    assert not (tmp_path / "sprung").exists()


def test_a_header_cannot_ask_for_more_memory_than_the_file_holds():
    with zipfile.ZipFile(io.BytesIO(npz(strategy=STRATEGY))) as archive:
        array = archive.read("strategy.npy")
    for shape in [b"(-4, -4)", b"(9**9, 4)", b"(4000000000, 4000000000)"]:
        huge = array.replace(b"(4, 4), }" + b" " * (len(shape) - 6), shape + b", }" + b" " * max(0, 6 - len(shape)))
        assert huge != array
        assert len(huge) == len(array)
        assert "not a single matrix" in complaint(with_strategy_file(packed({"strategy.npy": huge})))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged zip"),
        (npz(strategy=STRATEGY)[:-20], "damaged zip"),
        (npz(strategy=STRATEGY, more=STRATEGY), "holds 'more.npy'"),
        (packed({"strategy.npy": b"\x80\x04."}), "not a single matrix"),
    ],
)
def test_a_damaged_strategy_file_is_refused(content, reason):
    assert reason in complaint(with_strategy_file(content))


# --- priors ---------------------------------------------------------------------------------------------------------

PRIOR = np.array([0.4, 0.3, 0.3, 0.0])


def test_a_prior_travels_with_its_strategy():
    bundle = load(export(CONFIGURATION, OUTCOME, explicit(STRATEGY, PRIOR)))
    np.testing.assert_array_equal(bundle.mechanism.prior, PRIOR)
    np.testing.assert_array_equal(bundle.mechanism.strategy, STRATEGY)
    assert bundle.warnings == []
    before, after = (
        from_strategy("optimized", strategy, 1.0, {}, prior)
        for strategy, prior in ((STRATEGY, PRIOR), (bundle.mechanism.strategy, bundle.mechanism.prior))
    )
    assert before.digest == after.digest
    np.testing.assert_array_equal(before.reconstruction, after.reconstruction)


def test_files_without_a_prior_have_none():
    assert load(EXPORTED).mechanism.prior is None
    assert load(CONFIGURATION.to_json()).mechanism is None
    assert members(EXPORTED) == members(export(CONFIGURATION, OUTCOME, explicit(STRATEGY)))


BAD_PRIORS = {
    "nan": (np.array([math.nan, 0.5, 0.5, 0.0]), "one non-negative probability"),
    "negative": (np.array([-0.1, 0.6, 0.5, 0.0]), "one non-negative probability"),
    "sum": (PRIOR + 1e-6, "sums to 1"),
    "short": (np.full(3, 1 / 3), "each of the 4 types"),
    "empty": (np.zeros(0), "must be a list of float64"),
}


@pytest.mark.parametrize("name", BAD_PRIORS)
def test_a_broken_prior_is_refused(name):
    prior, reason = BAD_PRIORS[name]
    assert reason in complaint(with_strategy_file(npz(strategy=STRATEGY, prior=prior)))


def test_a_prior_alone_is_refused():
    assert "not a single matrix" in complaint(with_strategy_file(npz(prior=PRIOR)))
    assert "not a single matrix" in complaint(with_strategy_file(npz(strategy=PRIOR)))


def test_a_prior_taken_out_does_not_match_the_hash():
    parts = members(export(CONFIGURATION, OUTCOME, explicit(STRATEGY, PRIOR)))
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
        (packed(members(EXPORTED), zipfile.ZIP_BZIP2), "unusual method"),
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


def test_zip_bombs_are_refused(lower):
    lower(MOST_DESIGN_BYTES=100_000)
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
        if bundle.mechanism is not None:  # damage to the table of contents can lose a member
            np.testing.assert_array_equal(bundle.mechanism.strategy, STRATEGY)


@given(st.integers(0, 127), st.binary(min_size=1, max_size=6))
def test_no_damaged_header_of_a_matrix_crashes(position, value):
    with zipfile.ZipFile(io.BytesIO(npz(strategy=STRATEGY))) as archive:
        array = archive.read("strategy.npy")
    damaged = array[:position] + value + array[position + len(value) :]
    bundle = loaded_or_refused(with_strategy_file(packed({"strategy.npy": damaged})))
    if bundle is not None:  # the same matrix by another header: only its order can differ
        np.testing.assert_array_equal(np.sort(bundle.mechanism.strategy, axis=None), np.sort(STRATEGY, axis=None))
