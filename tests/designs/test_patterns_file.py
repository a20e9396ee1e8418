"""Patterns of survey mechanisms as files: they come back the same, and nothing else is taken for them."""

import io
import json

import numpy as np
import pytest

from ldp_core import designs
from ldp_core.data.domain import Domain
from ldp_core.designs import Configuration, bundle, patterns_file, zips
from ldp_core.designs.zips import zipped
from ldp_core.library import create
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from tests.declared import categories
from tests.refused import refused

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
    attributes = tuple(categories(name, ",".join("abcd"[:size])) for name, size in zip("xyz", SIZES, strict=True))
    return Configuration(domain=Domain(attributes=attributes)).with_(**changes)


def written(made):
    """patterns.json."""
    return members_of(made)[bundle.PATTERNS]


def document():
    return json.loads(written(mechanism()))


def test_a_mechanism_comes_back_the_same():
    made = mechanism()
    (found,), which = patterns_file.read(written(made), "optimized")
    assert which is None
    assert found.digest == made.digest
    assert found.sizes == made.sizes
    assert found.epsilon == made.epsilon
    assert found.shares.tolist() == made.shares.tolist()
    for mine, theirs in zip(found.patterns, made.patterns, strict=True):
        assert mine.attributes == theirs.attributes
        assert (mine.cells == theirs.cells).all()
    assert written(found) == written(made)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("patterns", 0, "table"), 7),
        (("patterns", 0, "attributes"), [1, 0]),
        (("patterns", 0, "share"), 0.9),
        (("tables", 0, "cells"), "zz"),
        (("tables", 0, "cells"), "8000"),
        (("tables", 0, "cells"), "83"),
        (("tables", 0, "sizes"), [2**20, 2**20]),
        (("sizes",), [2, 3]),
        (("epsilon",), 0.0),
        (("more",), 1),
    ],
)
def test_an_altered_file_is_refused_in_a_sentence(path, value):
    altered = document()
    place = altered
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    refused(
        r"^The file of patterns cannot be used: .*Export the design again\.$",
        patterns_file.read,
        json.dumps(altered).encode(),
        "optimized",
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"epsilon": "0.5"}, "for epsilon 1 and the configuration asks for 0.5"), ({"domain": None}, "no domain")],
)
def test_patterns_of_another_design_are_refused(changes, sentence):
    members = zips.unzipped(designs.export(configuration(), {}, mechanism()), bundle.MEMBERS)
    members[bundle.CONFIGURATION] = configuration(**changes).to_json()
    refused(sentence, lambda: designs.load(zipped(members)))


def split(rest=True, epsilon=1.0):
    response = create("randomized_response", n=4, epsilon=epsilon).strategy
    uneven = np.random.default_rng(6).random((9, 6)) * 0.2 + 1
    own = [
        GroupTable((2,), ExplicitMechanism("optimized", response, epsilon)),
        GroupTable((0, 1), ExplicitMechanism("optimized", uneven / uneven.sum(axis=0), epsilon)),
    ]
    shares = np.random.default_rng(7).random(2 + rest)
    return SplitSurvey("optimized", SIZES, epsilon, own, mechanism(epsilon) if rest else None, shares)


@pytest.mark.parametrize("rest", [True, False])
def test_people_split_among_strategies_come_back_the_same_to_the_last_bit(rest):
    written = split(rest)
    content = designs.export(configuration(), {}, written)
    found = designs.load(content)
    assert found.warnings == []
    assert isinstance(found.mechanism, SplitSurvey)
    assert found.mechanism.digest == written.digest
    for mine, theirs in zip(found.mechanism.tables, written.tables, strict=True):
        assert mine.attributes == theirs.attributes
        assert mine.mechanism.strategy.tobytes() == theirs.mechanism.strategy.tobytes()
    assert found.mechanism.audit() == written.audit()
    assert "loaded from a file" in found.mechanism.explain()
    assert designs.export(found.configuration, {}, found.mechanism) == content


def members_of(written):
    return zips.unzipped(designs.export(configuration(), {}, written), bundle.MEMBERS)


def npz(*arrays):
    content = io.BytesIO()
    np.savez(content, **{str(k): array for k, array in enumerate(arrays)})
    return content.getvalue()


@pytest.mark.parametrize(
    ("strategies", "sentence"),
    [
        (lambda a, b: npz(a), "names 2 strategies of their own, and there are 1"),
        (lambda a, b: npz(a, 2 * b), "sum"),
        (lambda a, b: npz(a, b.astype(np.float32)), "matrices of float64"),
        (lambda a, b: npz(np.eye(4), b), "audited epsilon"),
        (lambda a, b: b"PK no zip", "damaged"),
        (lambda a, b: npz(np.ones((1, 4096)), b), "at most 2,048"),
    ],
)
def test_strategies_that_do_not_fit_are_refused(strategies, sentence):
    written = split()
    members = members_of(written)
    members[bundle.STRATEGIES] = strategies(*[one.mechanism.strategy for one in written.tables])
    del members[bundle.OUTCOME]
    refused(sentence, lambda: designs.load(zipped(members)))


def test_strategies_that_were_changed_or_left_out_are_refused():
    members = members_of(split())
    members[bundle.STRATEGIES] = npz(*[one.mechanism.strategy[::-1] for one in split().tables])
    refused("SHA-256", lambda: designs.load(zipped(members)))
    del members[bundle.STRATEGIES]
    refused("there are 0 beside it", lambda: designs.load(zipped(members)))


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("rest",), None, "belong together"),
        (("rest",), 0.9, "must sum to 1"),
        (("own", 0, "attributes"), [7], "a strategy is for column 8"),
    ],
)
def test_altered_splits_are_refused(path, value, sentence):
    made = split()
    document = json.loads(written(made))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    said = refused(
        sentence,
        patterns_file.read,
        json.dumps(document).encode(),
        "optimized",
        [one.mechanism.strategy for one in made.tables],
    )
    assert said.endswith("Export the design again.")
