"""What pictures of mechanisms show, against closed forms and the reports that people really send."""

import math

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import charts

USERS = 20_000


def made(name, n=8, epsilon=1.0, **options):
    spec = ldp.library.spec(name)
    if spec.needs_workload:
        options |= {"workload": ldp.workloads.prefix(n)}
        options |= {"max_rounds": 5, "time_limit": None} if spec.fitted else {}
    else:
        options["n"] = n
    return ldp.mechanisms.create(name, epsilon=epsilon, **({"delta": 1e-6} if spec.delta else {}), **options)


def sent(mechanism, own):
    """The reports of `USERS` people of one type."""
    return mechanism.privatize(np.full(USERS, own), np.random.default_rng(own))


def agree(found, expected, spread):
    """Means over `USERS` reports lie within five standard errors of what is expected."""
    assert np.all(np.abs(found - expected) <= 5 * spread / math.sqrt(USERS) + 1e-12)


def chances_agree(found, expected):
    agree(found, expected, np.sqrt(expected * (1 - expected)))


OTHERS = {"sampled_sets", "duchi", "piecewise", "hybrid", "privset"}
"""These have pictures of their designs and columns, or answer other questions."""
CASES = [(name, n) for name in ldp.mechanisms.names() if name not in OTHERS for n in (8, 25)]


@pytest.mark.parametrize(("name", "n"), [case for case in CASES if case != ("fourier", 25)])
def test_every_mechanism_on_one_table_has_a_picture(name, n):
    table = made(name, n).report_table()
    assert table.entries.shape[1] == n
    assert np.all(np.isfinite(table.entries))
    figure = charts.report_table(table, [str(u) for u in range(n)])
    assert np.asarray(figure.data[0].z).size <= 512**2
    assert figure.layout.xaxis.title.text
    assert figure.layout.yaxis.title.text


TREE = {"branching": 2, "reconstruction": "consistent"}


@pytest.mark.parametrize(
    ("name", "options"),
    [("haar", {}), ("hierarchical", TREE | {"oracle": "hadamard"}), ("hierarchical", TREE | {"oracle": "hrr"}),
     ("randomized_response", {}), ("hrr", {"reconstruction": "transform"}), ("square_wave", {})],
)  # fmt: skip
def test_possible_reports_are_drawn_as_often_as_they_are_sent(name, options):
    mechanism = made(name, 6, **options)
    table = mechanism.report_table()
    assert table.kind == "reports"
    assert not table.sampled
    assert np.allclose(table.entries.sum(axis=0), 1)
    assert np.all(table.entries.max(axis=1) <= math.e * table.entries.min(axis=1) * (1 + 1e-9))
    for own in (0, 5):
        tally = mechanism.tally(mechanism.aggregate(sent(mechanism, own)))
        chances_agree(tally / USERS, table.entries[:, own])


@pytest.mark.parametrize(
    ("name", "p", "q"),
    [
        ("oue", 1 / 2, 1 / (math.e + 1)),
        ("rappor", math.exp(0.5) / (1 + math.exp(0.5)), 1 / (1 + math.exp(0.5))),
        ("olh", math.e / (math.e + 3), 1 / 4),  # four buckets
    ],
)
@pytest.mark.parametrize("n", [6, 40])
def test_bits_of_unary_encodings_are_drawn_by_their_chances(name, p, q, n):
    table = made(name, n).report_table()
    assert table.kind == "bits"
    assert np.allclose(table.entries, np.where(np.eye(n) > 0, p, q), rtol=1e-9)


@pytest.mark.parametrize("name", ["matrix_l1", "matrix_l2", "gaussian", "ball_sampling", "rejection_gaussian"])
def test_numbers_are_the_means_of_what_is_sent(name):
    mechanism = made(name, 6)
    table = mechanism.report_table()
    assert table.kind == "numbers"
    assert "noise" in table.note or "random vector" in table.note
    for own in (0, 5):
        raw = np.nan_to_num(sent(mechanism, own))  # rejection sampling: nothing is sent by some
        agree(raw.mean(axis=0), mechanism.attenuation * table.entries[:, own], raw.std(axis=0))
