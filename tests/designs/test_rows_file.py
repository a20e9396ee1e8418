"""Base rows that are moved as files: they come back the same, and nothing else is taken for them."""

import json

import numpy as np
import pytest

from ldp_core import designs
from ldp_core.data.domain import Domain
from ldp_core.deploy.kit import package
from ldp_core.designs import Configuration, bundle, rows_file
from ldp_core.designs.zips import zipped
from ldp_core.mechanisms import OrbitMechanism, RingMechanism
from tests.declared import numbers

TYPES, PLACES = 6, 9


def mechanism(epsilon=1.0):
    high = np.random.default_rng(0).random((3, PLACES)) < 0.4
    high[:, 0], high[:, 1], high[0] = True, False, np.arange(PLACES) == 0
    return RingMechanism("optimized", high, np.array([0.1, 0.7, 0.2]), TYPES, epsilon, {"seed": 3})


def flipped(epsilon=1.0):
    high = np.random.default_rng(0).random((3, 8)) < 0.4
    high[:, 0], high[:, 1], high[0] = True, False, np.arange(8) == 0
    return OrbitMechanism("optimized", high, np.array([0.1, 0.7, 0.2]), epsilon, {"seed": 3})


def file(made):
    """rows.json."""
    return bundle._unzip(package.design(configuration(made.n), {}, made), bundle.MEMBERS)[bundle.ROWS]


def configuration(types=TYPES, **changes):
    return Configuration(domain=Domain(attributes=(numbers("x", 0.0, types, types),))).with_(**changes)


@pytest.mark.parametrize("written", [mechanism(), flipped()], ids=["rotated", "flipped"])
def test_a_mechanism_comes_back_the_same(written):
    found = rows_file.read(file(written), "optimized")
    assert type(found) is type(written)
    assert found.digest == written.digest
    assert file(found) == file(written)
    assert (found.high == written.high).all()
    assert found.shares.tolist() == written.shares.tolist()


@pytest.mark.parametrize("count", [2, 7, 24, 100])
def test_shares_are_not_changed_by_being_given_again(count):
    high = np.tile(mechanism().high, (count, 1))[:count]
    shares = np.random.default_rng(count).dirichlet(np.full(count, 0.5))
    once = RingMechanism("optimized", high, shares, TYPES, 1.0)
    assert rows_file.read(file(once), "optimized").shares.tolist() == once.shares.tolist()


def test_a_file_that_does_not_say_how_rows_are_moved_is_of_rotated_ones():
    earlier = json.loads(file(mechanism()))
    del earlier["moved"]
    assert rows_file.read(json.dumps(earlier).encode(), "optimized").digest == mechanism().digest


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("moved",), "flipped"),
        (("moved",), "shuffled"),
        (("types",), 10),
        (("types",), 1),
        (("places",), 20),
        (("places",), 2**40),
        (("rows",), []),
        (("rows", 0, "cells"), "zz"),
        (("rows", 0, "cells"), "80"),
        (("rows", 0, "cells"), "80ff"),
        (("rows", 0, "cells"), "0000"),
        (("rows", 0, "share"), 0.5),
        (("rows", 0, "share"), -0.1),
        (("rows", 0, "more"), 1),
        (("epsilon",), -1.0),
    ],
)
def test_an_altered_file_is_refused_in_a_sentence(path, value):
    altered = json.loads(file(mechanism()))
    part = altered
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(ValueError, match=r"^The file of rows cannot be used: .*Export the design again\.$"):
        rows_file.read(json.dumps(altered).encode(), "optimized")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"types": 4}, "a place for every type"),
        ({"places": 2**16, "rows": [{"cells": "a0", "share": 1 / 257}] * 257}, "more than 16,777,216 places"),
        ({"places": 9, "types": 9, "rows": [{"cells": "a000", "share": 1.0}]}, "a power of two of types"),
    ],
)
def test_rows_that_are_flipped_have_a_place_for_every_type(change, said):
    altered = json.loads(file(flipped())) | change
    with pytest.raises(ValueError, match=said):
        rows_file.read(json.dumps(altered).encode(), "optimized")


@pytest.mark.parametrize("made", [mechanism(), flipped()], ids=["rotated", "flipped"])
def test_a_design_of_moved_rows_is_exported_and_loaded(made):
    content = package.design(configuration(made.n), {}, made)
    found = designs.load(content)
    assert found.warnings == []
    assert found.mechanism.digest == made.digest
    assert "loaded from a file" in found.mechanism.explain()
    assert len(content) < 20_000


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"epsilon": "0.5"}, "is for epsilon 1"),
        ({"domain": configuration(5).domain}, "for 6 types but the domain has 5"),
        ({"domain": None}, "no domain"),
    ],
)
def test_rows_of_another_design_are_refused(changes, sentence):
    members = bundle._unzip(package.design(configuration(), {}, mechanism()), bundle.MEMBERS)
    with pytest.raises(designs.BundleError, match=sentence):
        designs.load(zipped({**members, bundle.CONFIGURATION: configuration(**changes).to_json()}))
