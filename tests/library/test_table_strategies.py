"""Supplied strategy matrices: the matrices accepted, their names, and how long they are known."""

import gc
import io
import pickle

import numpy as np
import pytest

from ldp_core import analysis, designs, library, mechanisms, workloads
from ldp_core.designs import Configuration, MechanismRecipe, SuppliedTable, load_configuration
from ldp_core.library.table_strategies import LOOKS, TableStrategy, exact_table, find
from ldp_core.limits import MOST_SUPPLIED_CHARACTERS
from ldp_core.mechanisms import strategy_files
from ldp_core.studies import sweep


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


def own(matrix, name="Ours", held=()):
    return SuppliedTable.from_file(npy(matrix), name, held, np.shape(matrix)[1])


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
    one, w = own(response(8)), workloads.prefix(8)
    assert library.spec(one.mechanism).title == "Ours"
    made = library.create(one.mechanism, epsilon=1.0, workload=w)
    same = mechanisms.create("randomized_response", n=8, epsilon=1.0)
    np.testing.assert_allclose(made.variance_profile(w), same.variance_profile(w), rtol=1e-9)
    needed = analysis.sample_complexity(made, w, alpha=0.01)
    assert needed == pytest.approx(analysis.sample_complexity(same, w, alpha=0.01), rel=1e-9)
    assert made.audit().epsilon == one.epsilon <= 1.0
    assert one.epsilon == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(made.strategy, one.table)  # what is drawn from is what was audited


@pytest.mark.parametrize("epsilon", [0.5, 3.3])
def test_rounding_in_a_file_does_not_cost_the_epsilon_that_was_meant(epsilon):
    for n in (2, 3, 7, 50):
        assert own(response(n, epsilon)).epsilon <= epsilon


def test_the_table_is_exact_and_stays_as_it_is():
    for Q in (response(), uneven(), uneven(7, 3, 1)):
        table = exact_table(Q)
        steps = table * 2.0**53
        np.testing.assert_array_equal(steps, np.rint(steps))
        assert {sum(map(int, column)) for column in steps.T} == {2**53}
        np.testing.assert_allclose(table, Q, atol=1e-14)
        np.testing.assert_array_equal(exact_table(table), table)


def test_it_takes_part_from_its_own_epsilon_on():
    one = own(response(4, 1.5))
    spec = library.spec(one.mechanism)
    assert spec.unsuitable(4, 1.5) is None
    assert spec.unsuitable(4, 2.0) is None
    said = spec.unsuitable(4, 1.0)
    assert "e^1.5 times" in said
    assert "your epsilon is 1:" in said
    assert "at least 1.5" in said
    assert "4 types and there are 5 here" in spec.unsuitable(5, 2.0)
    with pytest.raises(ValueError, match="your epsilon is 1:"):
        library.create(one.mechanism, n=4, epsilon=1.0)
    allowed = library.create(one.mechanism, n=4, epsilon=2.0)
    assert (allowed.epsilon, allowed.audit().epsilon) == (2.0, one.epsilon)


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
    with pytest.raises(ValueError, match=r".") as refused:
        SuppliedTable.from_file(content, "Ours", [], 4)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x=y",
        "[a](b)",
        "www.a.com",
        "<b>",
        ":red[a]",
        "a\nb",
    ],
)
def test_names_mean_nothing_wherever_they_are_shown(name):
    with pytest.raises(ValueError, match="cannot be called"):
        own(response(), name)


@pytest.mark.parametrize("name", ["semi-private", "収集"])
def test_names_in_any_script_are_welcome(name):
    one = own(response(), name)
    assert library.spec(one.mechanism).title == name
    assert load_configuration(Configuration(own=(one,)).to_json()).own == (one,)


def test_no_two_mechanisms_have_one_name():
    with pytest.raises(ValueError, match=r"cannot be called"):
        own(response(), "Haar wavelets (HaarHRR)")
    with pytest.raises(ValueError, match="a mechanism called RAPPOR already"):
        own(response(), "rappor")
    first = own(response())
    with pytest.raises(ValueError, match="a mechanism called Ours already"):
        own(uneven(), "ours", [first])


def test_each_has_a_look_of_its_own_and_there_is_an_end():
    held = []
    for number in range(len(LOOKS)):
        held.append(own(uneven(seed=number), f"Number {number}", held))
    styles = [library.spec(one.mechanism).style for one in held]
    assert len(set(styles)) == len(LOOKS)
    assert not set(styles) & {entry.style for entry in library.REGISTRY.values()}
    with pytest.raises(ValueError, match="at most 6"):
        own(response(), "One more", held)
    assert own(response(), "Another", held[1:]).look == 1


def test_it_is_forgotten_with_the_design_that_held_it():
    one = own(uneven(seed=77))
    name = one.mechanism
    again = load_configuration(Configuration(own=(one,)).to_json())
    del one
    gc.collect()
    assert find(name) is not None
    del again
    gc.collect()
    assert find(name) is None
    spec = library.spec(name)
    assert spec.title == "Ours"
    assert "no longer in this design" in spec.unsuitable(4, 1.0)
    with pytest.raises(ValueError, match="no longer in this design"):
        library.create(name, n=4, epsilon=1.0)


def test_a_point_of_a_sweep_takes_its_matrix_along():
    one, w = own(uneven(seed=5)), workloads.histogram(4)
    expected = sweep.points.evaluate(sweep.SweepPoint(one.mechanism, w, 1.0))
    assert not expected.reason
    sent, name = pickle.dumps(sweep.SweepPoint(one.mechanism, w, 1.0)), one.mechanism
    del one
    gc.collect()
    assert find(name) is None
    assert sweep.points.evaluate(pickle.loads(sent)) == expected


# --- in a configuration ---------------------------------------------------------------------------------------------


def test_a_configuration_holds_it():
    one = own(uneven())
    c = Configuration(
        own=(one,), mechanism=MechanismRecipe(name=one.mechanism), compared=("haar", one.mechanism), types="all"
    )
    again = load_configuration(c.to_json())
    assert again == c
    assert again.digest() == c.digest()
    np.testing.assert_array_equal(again.own[0].table, one.table)
    assert c.with_(targets={"points": 3.0}).digest() != c.digest()


def altered(**changes):
    document = Configuration(own=(own(uneven()),)).model_dump(mode="json")
    document["own"][0] |= changes
    return document


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (altered(data="AAAA"), "damaged"),
        (altered(reports=2**20, types=2**20), "too large"),
        (altered(name="[a](b)"), "cannot be called"),
        (altered(data=SuppliedTable.from_file(npy(uneven(4, 6, 3)), "x", [], 4).data[:-8]), "different size"),
        ({**altered(), "compared": [own(uneven(seed=9)).mechanism]}, "not with it or was changed"),
        ({**altered(), "own": [*altered()["own"]] * 2}, "already"),
    ],
)
def test_altered_files_get_one_sentence(document, said):
    with pytest.raises(ValueError, match=r".") as refused:
        load_configuration(designs.strict_json.write(document))
    assert said in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_table_altered_by_one_step_is_refused():
    one = own(uneven())
    for change in (2.0**-53, -(2.0**-53)):
        table = one.table.copy()
        table[0, 0] += change
        with pytest.raises(ValueError, match="sum to 1 exactly"):
            TableStrategy("Ours", 1, table)


def test_what_no_file_could_hold_is_refused():
    noise = uneven(1024, 400)
    with pytest.raises(ValueError, match=r"would take 3\.\d MB"):
        own(noise)
    large = own(uneven(512, 400))
    assert len(large.data) < MOST_SUPPLIED_CHARACTERS
    with pytest.raises(ValueError, match="remove another"):
        own(uneven(512, 400, 1), "Another", [large])
    Configuration(own=(large,)).check_size()
    with pytest.raises(ValueError, match="at most 2,048 types"):
        own(np.full((2, 2049), 0.5))
