"""Variants of a mechanism by name: allowed names, the mechanisms built, and how they are
distinguished."""

import itertools
import re

import numpy as np
import pytest

from ldp_core import analysis, library, mechanisms, workloads
from ldp_core.library import variants
from ldp_core.mechanisms.quantised import quantised
from ldp_core.optimize import projected_gradient
from tests.refused import refused

HH16 = "hierarchical(branching=16, oracle=oue)"


@pytest.mark.parametrize(
    "written",
    [
        HH16,
        "hierarchical(oracle=oue,branching=16)",
        " hierarchical ( oracle = OUE , branching = 016 ) ",
    ],
)
def test_one_variant_has_one_name(written):
    spec = library.spec(written)
    assert spec.name == HH16
    assert (spec.title, spec.legend) == ("Hierarchical, branching 16, oracle OUE", "Hierarchical, branching 16, OUE")
    assert (spec.mechanism, dict(spec.fixed)) == ("hierarchical", {"branching": 16, "oracle": "oue"})
    assert library.spec(spec.name).name == spec.name
    made = mechanisms.create(written, n=64, epsilon=1.0)
    assert made.digest == mechanisms.create("hierarchical", n=64, epsilon=1.0, branching=16, oracle="oue").digest


def test_what_is_fixed_cannot_be_given_again_and_the_rest_can():
    assert mechanisms.create("hierarchical(branching=16)", 64, 1.0, oracle="hrr").parameters["oracle"] == "hrr"
    refused(
        "Hierarchical, branching 16 has no parameter 'branching'",
        mechanisms.create,
        "hierarchical(branching=16)",
        64,
        1.0,
        branching=2,
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("magic(x=1)", "Unknown mechanism 'magic'; choose one of randomized_response"),
        ("hierarchy(branching=2)", "Unknown mechanism 'hierarchy'; did you mean 'hierarchical'?"),
        ("hierarchical(branch=2)", "Hierarchical has no parameter 'branch'; did you mean 'branching'?"),
        ("hierarchical(branching=2,)", "write each parameter with its value"),
        ("hierarchical(branching=2, branching=4)", "gives branching twice: leave one of them out."),
        ("hierarchical(branching=1)", "Branching must be a whole number of at least 2; got 1."),
        ("hierarchical(oracle=ou)", "Unknown oracle 'ou'; did you mean 'oue'?"),
        ("gaussian(delta=1)", "Delta 1 is out of range"),
        ("optimized(prior=1)", "Optimised has no parameter 'prior'; there are none."),
    ],
)
def test_bad_names_are_refused_in_a_sentence(name, words):
    refused(re.escape(words), library.spec, name)
    assert library.known(name) is None


def test_delta_is_a_choice_of_the_gaussian_family():
    workload = workloads.prefix(8)
    for name in ("gaussian", "matrix_l2"):
        deltas = [1e-9, 1e-6, 1e-3]
        made = [mechanisms.create(f"{name}(delta={delta})", epsilon=1.0, workload=workload) for delta in deltas]
        assert [mechanism.audit().delta for mechanism in made] == pytest.approx(deltas, rel=1e-6)
        users = [analysis.sample_complexity(mechanism, workload) for mechanism in made]
        assert users == sorted(users, reverse=True)
        assert users[1] == analysis.sample_complexity(mechanisms.create(name, epsilon=1.0, workload=workload), workload)


def test_rows_of_the_projected_gradient():
    workload = workloads.prefix(8)
    made = mechanisms.create("optimized_gradient(rows=12)", epsilon=1.0, workload=workload)
    assert np.array_equal(made.strategy, quantised(projected_gradient(workload, 1.0, rows=12).strategy, 1.0))
    assert made.strategy.shape == (12, 8)
    refused(
        "too large to write out: give at most 4,194,304 rows",
        mechanisms.create,
        "optimized_gradient(rows=100000000)",
        epsilon=1.0,
        workload=workload,
    )
    refused("at least n = 8", mechanisms.create, "optimized_gradient(rows=4)", epsilon=1.0, workload=workload)


def test_variants_are_told_apart_and_keep_the_colour_of_their_mechanism():
    for spec in library.REGISTRY.values():
        for name, kind in spec.settings.items():
            values = kind.offered or ((1e-9, 1e-8, 1e-7, 1e-5, 1e-4, 0.1) if name == "delta" else (8, 12, 16, 24, 32))
            looks = {(*spec.style, spec.dash)}
            for value in values:
                variant = variants.variant(spec, {name: value})
                assert variant.style[0] == spec.style[0]
                looks.add((*variant.style, variant.dash))
            assert len(looks) == 1 + len(values) - (values[0] == kind.default)
    made = [variants.variant(library.spec("hierarchical"), {"branching": B}) for B in (2, 4, 8, 16)]
    for one, other in itertools.combinations(made, 2):
        assert one.title != other.title
        assert one.legend != other.legend
