"""Base rows on a ring as files: they come back the same, and nothing else is taken for them."""

import json

import numpy as np
import pytest

from ldp_core import designs
from ldp_core.data.domain import Domain
from ldp_core.data.population import declare_range
from ldp_core.designs import Configuration, bundle, rows_file
from ldp_core.kit import package
from ldp_core.mechanisms import RingMechanism

TYPES, PLACES = 6, 9


def mechanism(epsilon=1.0):
    high = np.random.default_rng(0).random((3, PLACES)) < 0.4
    high[:, 0], high[:, 1], high[0] = True, False, np.arange(PLACES) == 0
    return RingMechanism("optimized", high, np.array([0.1, 0.7, 0.2]), TYPES, epsilon, {"seed": 3})


def configuration(types=TYPES, **changes):
    return Configuration(domain=Domain(attributes=(declare_range("x", 0.0, types, types),))).with_(**changes)


def exported(**changes):
    return package.design(configuration(), {}, mechanism(**changes))


def test_a_mechanism_comes_back_the_same():
    written, found = mechanism(), rows_file.read(rows_file.write(mechanism()), "optimized")
    assert found.digest == written.digest
    assert rows_file.write(found) == rows_file.write(written)
    assert (found.high == written.high).all()
    assert found.shares.tolist() == written.shares.tolist()


@pytest.mark.parametrize("count", [2, 7, 24, 100])
def test_shares_are_not_changed_by_being_given_again(count):
    high = np.tile(mechanism().high, (count, 1))[:count]
    shares = np.random.default_rng(count).dirichlet(np.full(count, 0.5))
    once = RingMechanism("optimized", high, shares, TYPES, 1.0)
    assert rows_file.read(rows_file.write(once), "optimized").shares.tolist() == once.shares.tolist()


@pytest.mark.parametrize(
    ("path", "value"),
    [
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
    altered = json.loads(rows_file.write(mechanism()))
    part = altered
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(ValueError, match=r"^The file of rows cannot be used: .*Export the design again\.$"):
        rows_file.read(json.dumps(altered).encode(), "optimized")


def test_a_design_on_a_ring_is_exported_and_loaded():
    content = exported()
    found = designs.load(content)
    assert found.warnings == []
    assert found.patterns.digest == mechanism().digest
    assert "loaded from a file" in found.patterns.explain()
    assert len(content) < 20_000


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"epsilon": "0.5"}, "are for epsilon 1"),
        ({"domain": configuration(5).domain}, "for 6 types but the domain has 5"),
        ({"domain": None}, "no domain"),
    ],
)
def test_rows_of_another_design_are_refused(changes, sentence):
    with pytest.raises(designs.BundleError, match=sentence):
        bundle._verified_rows(rows_file.write(mechanism()), configuration(**changes))
