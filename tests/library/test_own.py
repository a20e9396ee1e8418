"""The mechanism from a file: the strategy matrices accepted, and how a design holds one."""

import base64
import io
import re
import zlib

import numpy as np
import pytest

from ldp_core import analysis, library, mechanisms, workloads
from ldp_core.designs import Configuration, MechanismRecipe, load_configuration
from ldp_core.limits import MOST_SUPPLIED_CHARACTERS
from ldp_core.mechanisms import strategy_files
from tests.refused import refused


def response(n=4, epsilon=1.0):
    """(n, n) randomized response."""
    table = np.ones((n, n))
    np.fill_diagonal(table, np.exp(epsilon))
    return table / table.sum(axis=0)


def uneven(n=4, m=6, seed=0):
    table = np.random.default_rng(seed).uniform(1, 2, (m, n))
    return table / table.sum(axis=0)


def csv(matrix, header=""):
    content = io.StringIO()
    np.savetxt(content, matrix, delimiter=",", header=header, comments="")
    return content.getvalue().encode()


def npz(matrix):
    content = io.BytesIO()
    np.savez_compressed(content, matrix=matrix)
    return content.getvalue()


def npy(matrix):
    content = io.BytesIO()
    np.save(content, matrix)
    return content.getvalue()


def packed(matrix):
    return library.own.packed(npy(matrix), np.shape(matrix)[1])


def written(table, reports=None):
    """A table packed as it is, with nothing checked."""
    numbers = base64.b64encode(zlib.compress(np.asarray(table, "<f8").tobytes())).decode()
    return f"{reports or len(table)}x{len(table[0])}:{numbers}"


def built(matrix, epsilon=20.0):
    return library.create("own", n=np.shape(matrix)[1], epsilon=epsilon, matrix=packed(matrix))


@pytest.mark.parametrize("write", [csv, npy, npz])
@pytest.mark.parametrize("turned", [False, True])
def test_a_file_is_read_whichever_way_round_it_is(write, turned):
    Q = uneven()
    read = strategy_files.read_strategy(write(Q.T if turned else Q), 4)
    np.testing.assert_array_equal(read, Q)


@pytest.mark.parametrize("write", [csv, npy, npz])
def test_a_square_file_is_turned_round_where_the_sums_say_so(write):
    Q = uneven(5, 5)
    assert np.abs(Q.sum(axis=1) - 1).max() > 0.01
    for n in (5, None):
        np.testing.assert_array_equal(strategy_files.read_strategy(write(Q.T), n), Q)
        np.testing.assert_array_equal(strategy_files.read_strategy(write(Q), n), Q)


def test_types_are_found_by_their_labels_in_either_direction():
    Q, labels = uneven(3, 5), ("red", "green", "blue")
    order = [2, 0, 1]
    header = ",".join(labels[place] for place in order)
    np.testing.assert_array_equal(strategy_files.read_strategy(csv(Q[:, order], header), 3, labels), Q)
    rows = "\n".join(f"{labels[place]}," + ",".join(map(repr, Q[:, place].tolist())) for place in order)
    np.testing.assert_array_equal(strategy_files.read_strategy(rows.encode(), 3, labels), Q)


def test_it_is_the_mechanism_that_the_matrix_is():
    w = workloads.prefix(8)
    made = library.create("own", epsilon=1.0, workload=w, matrix=packed(response(8)))
    same = mechanisms.create("randomized_response", n=8, epsilon=1.0)
    np.testing.assert_allclose(made.variance_profile(w), same.variance_profile(w), rtol=1e-9)
    needed = analysis.sample_complexity(made, w, alpha=0.01)
    assert needed == pytest.approx(analysis.sample_complexity(same, w, alpha=0.01), rel=1e-9)
    assert made.audit().epsilon == pytest.approx(1.0, abs=1e-12)
    few = workloads.custom([[1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]])
    assert library.create("own", epsilon=1.0, workload=few, matrix=packed(response(8))).digest == made.digest


@pytest.mark.parametrize("epsilon", [0.5, 3.3])
def test_rounding_in_a_file_does_not_cost_the_epsilon_that_was_meant(epsilon):
    for n in (2, 3, 7, 50):
        assert built(response(n, epsilon), epsilon).audit().epsilon <= epsilon


def test_the_table_is_exact_and_stays_as_it_is():
    for Q in (response(), uneven(), uneven(7, 3, 1)):
        table = built(Q).strategy  # what is drawn from is what was audited
        steps = table * 2.0**53
        np.testing.assert_array_equal(steps, np.rint(steps))
        assert {sum(map(int, column)) for column in steps.T} == {2**53}
        np.testing.assert_allclose(table, Q, atol=1e-14)
        np.testing.assert_array_equal(built(table).strategy, table)


def test_it_takes_part_from_its_own_epsilon_on():
    refused(r"e\^1\.5 times .* your epsilon is 1: choose at least 1\.5 on", lambda: built(response(4, 1.5), 1.0))
    assert built(response(4, 1.5), 1.5).audit().epsilon <= 1.5
    allowed = built(response(4, 1.5), 2.0)
    assert allowed.epsilon == 2.0
    assert allowed.audit().epsilon == pytest.approx(1.5)


def test_other_types_and_no_file_get_one_sentence():
    refused(
        "for 4 types and there are 5 here", lambda: library.create("own", n=5, epsilon=1.0, matrix=packed(response()))
    )
    refused("Its file is missing", library.create, "own", n=5, epsilon=1.0)
    assert "own" not in library.names()
    assert "at most 2,048 types" in library.spec("own").unsuitable(2049, 1.0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "neither text in UTF-8 nor a NumPy file"),
        (npy(np.ones((2, 4, 4))), "one row per report"),
        (npy(uneven(5, 6)), "5 columns and there are 4 types"),
        (npy(uneven() * 1.1), "those of type 1 sum to 1.1."),
        (npy(np.array([[0.5, 1.5, 0.5, 0.5], [0.5, -0.5, 0.5, 0.5]])), "finite and not negative"),
        (npy(np.eye(4)), "people of type 2 never send report 1 and others do"),
        (npy(np.vstack([uneven(), np.zeros((1, 4))])), "is never sent; remove it"),
        (npy(response(4, 21.0)), "at most 20 is allowed"),
    ],
)
def test_bad_files_get_one_sentence(content, said):
    refused(re.escape(said), library.own.packed, content, 4)


def test_a_configuration_holds_it():
    c = Configuration(mechanism=MechanismRecipe(name="own", parameters={"matrix": packed(uneven())}), types="all")
    again = load_configuration(c.to_json())
    assert again == c
    np.testing.assert_array_equal(
        built(uneven()).strategy, library.create("own", 4, 2.0, **again.mechanism.parameters).strategy
    )


TABLE = built(uneven()).strategy
NEXT = TABLE + np.eye(6, 4) * 2.0**-53
LARGE = base64.b64encode(zlib.compress(bytes(2**24))).decode()


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ("AAAA", "damaged"),
        (7, "damaged"),
        ("6x4:AAAA", "damaged"),
        (written(TABLE)[:-8], "a different size"),
        (written(TABLE, 7), "a different size"),
        ("6x4:" + LARGE, "a different size"),
        ("1000000x1000000:AAAA", "at most 2,048 types"),
        (written(NEXT), "sum to 1 exactly"),
        (written(np.eye(4) / 2 + 0.125), "e^1.60944 times"),
        (written(np.eye(4)), "never send report 1"),
    ],
)
def test_an_altered_table_gets_one_sentence(matrix, said):
    assert len(refused(re.escape(said), library.create, "own", n=4, epsilon=1.0, matrix=matrix)) < 400


def test_what_no_file_could_hold_is_refused():
    refused(r"would take 3\.\d MB", lambda: packed(uneven(1024, 400)))
    large = packed(uneven(512, 400))
    assert len(large) < MOST_SUPPLIED_CHARACTERS
    Configuration(mechanism=MechanismRecipe(name="own", parameters={"matrix": large})).check_size()
    refused("at most 2,048 types", packed, np.full((2, 2049), 0.5))
