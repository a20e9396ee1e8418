"""Patterns of survey mechanisms as files: they come back the same, and nothing else is taken for them."""

import json

import numpy as np
import pytest

from ldp_core import designs
from ldp_core.data.domain import Domain
from ldp_core.data.population import declare_categories
from ldp_core.designs import Configuration, bundle, patterns_file
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns

SIZES = (2, 3, 4)


def mechanism(epsilon=1.0):
    rng = np.random.default_rng(0)
    shared = np.zeros((2, 3), dtype=bool)
    shared[0, 0] = True
    cells = rng.random((3, 4)) < 0.4
    cells[0, 0], cells[1, 1] = True, False
    patterns = [Pattern((0, 1), shared), Pattern((1, 2), cells), Pattern((2,), np.arange(4) < 1)]
    return ScrambledPatterns("optimized", SIZES, epsilon, patterns, np.array([0.5, 0.3, 0.2]))


def configuration(**changes):
    attributes = tuple(
        declare_categories(name, ",".join("abcd"[:size])) for name, size in zip("xyz", SIZES, strict=True)
    )
    return Configuration(domain=Domain(attributes=attributes)).with_(**changes)


def document():
    return json.loads(patterns_file.write(mechanism()))


def test_a_mechanism_comes_back_the_same():
    written, found = mechanism(), patterns_file.read(patterns_file.write(mechanism()), "optimized")
    assert found.digest == written.digest
    assert found.sizes == written.sizes
    assert found.epsilon == written.epsilon
    assert found.shares.tolist() == written.shares.tolist()
    for mine, theirs in zip(found.patterns, written.patterns, strict=True):
        assert mine.attributes == theirs.attributes
        assert (mine.cells == theirs.cells).all()
    assert patterns_file.write(found) == patterns_file.write(written)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("patterns", 0, "table"), 7),
        (("patterns", 0, "attributes"), [1, 0]),
        (("patterns", 0, "attributes"), [0, 9]),
        (("patterns", 0, "share"), 0.9),
        (("patterns", 0, "share"), -0.5),
        (("patterns", 0, "share"), "0.5"),
        (("tables", 0, "cells"), "zz"),
        (("tables", 0, "cells"), "00"),
        (("tables", 0, "cells"), "ff"),
        (("tables", 0, "cells"), "8000"),
        (("tables", 0, "sizes"), [3, 2]),
        (("tables", 0, "sizes"), [2**20, 2**20]),
        (("sizes",), [2, 3]),
        (("sizes",), []),
        (("epsilon",), 0.0),
        (("epsilon",), 1e9),
        (("more",), 1),
    ],
)
def test_an_altered_file_is_refused_in_a_sentence(path, value):
    altered = document()
    place = altered
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=r"^The file of patterns cannot be used: .*Export the design again\.$"):
        patterns_file.read(json.dumps(altered).encode(), "optimized")


def test_a_design_with_patterns_is_exported_and_loaded():
    content = designs.export(configuration(), {}, patterns=mechanism())
    found = designs.load(content)
    assert found.patterns.digest == mechanism().digest
    assert found.strategy is None
    assert found.warnings == []
    assert designs.export(found.configuration, {}, patterns=found.patterns) == content


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"epsilon": "0.5"}, "for epsilon 1 and the configuration asks for 0.5"), ({"domain": None}, "no domain")],
)
def test_patterns_of_another_design_are_refused(changes, sentence):
    members = bundle._unzip(designs.export(configuration(), {}, patterns=mechanism()), bundle.MEMBERS)
    members[bundle.CONFIGURATION] = configuration(**changes).to_json()
    with pytest.raises(bundle.BundleError, match=sentence):
        designs.load(bundle._zip(members))


def test_a_file_that_was_changed_after_it_was_written_is_refused():
    members = bundle._unzip(designs.export(configuration(), {}, patterns=mechanism()), bundle.MEMBERS)
    members[bundle.PATTERNS] = patterns_file.write(mechanism()).replace(b"0.5", b"0.4")
    with pytest.raises(bundle.BundleError, match="SHA-256"):
        designs.load(bundle._zip(members))
