"""Continuous noise: the guarantee is mathematics and not the floating-point sampler's, and everything that speaks of it says so."""

import inspect
import json

import numpy as np
import pytest

from ldp_core import frames, library, mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.designs import Configuration, guarantee
from ldp_core.mechanisms.noise.additive import AdditiveMechanism, GaussianNoise, LaplaceNoise, VectorMechanism

OTHERS = {"duchi", "piecewise", "hybrid", "privset"}
NAMES = [name for name in mechanisms.names() if not library.spec(name).surveys_only and name not in OTHERS]
SAID = mechanisms.FLOATING_POINT
CONFIGURATION = Configuration(
    domain=Domain(attributes=(CategoricalAttribute(name="answer", values=tuple("abcd"), origin="declared"),))
)


def built(name):
    spec, workload = library.spec(name), workloads.histogram(4)
    quick = {"max_rounds": 20, "time_limit": None} if "max_rounds" in inspect.signature(spec.build).parameters else {}
    told = {"shape": (2, 2)} if name == "hierarchical_2d" else {}
    return mechanisms.create(name, 4, 1.0, workload=workload if spec.needs_workload else None, **quick, **told)


# --- the defect ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [LaplaceNoise(1.0), GaussianNoise(1.0)], ids=["laplace", "gaussian"])
def test_in_floating_point_some_reports_are_impossible_for_other_types(noise):
    """Type 0 sends z itself, type 1 sends 1 + z. Where 1 + z is below 1/2 in size, z lies between -3/2 and -1/2: floats there are
    multiples of 2^-53, and so is their sum with 1, exactly. A report of type 0 of that size has finer digits as a rule."""
    mechanism = AdditiveMechanism("noisy", np.array([[0.0, 1.0]]), noise, 1.0)
    reports = mechanism.privatize(np.zeros(20_000, dtype=int), np.random.default_rng(0)).ravel()
    others = mechanism.privatize(np.ones(20_000, dtype=int), np.random.default_rng(1)).ravel()

    def impossible_for_type_1(y):
        return (np.abs(y) < 0.5) & (y * 2.0**53 % 1 != 0)

    assert not impossible_for_type_1(others).any()
    assert np.count_nonzero(np.abs(others) < 0.5) > 1000  # and it does send such reports
    assert impossible_for_type_1(reports).mean() > 0.14


# --- what is said ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_those_with_continuous_noise_say_so_everywhere_and_no_others_do(name):
    spec, mechanism = library.spec(name), built(name)
    continuous = isinstance(mechanism, VectorMechanism)
    assert spec.continuous == continuous
    assert spec.caveat == (SAID if continuous else "")
    row = frames.catalogue(4, 1.0, workloads.histogram(4)).set_index("mechanism").loc[spec.title]
    for where in (spec.privacy, row["privacy"]):
        assert ("in real numbers only" in where) == continuous
    audit = mechanism.audit()
    assert audit.method.startswith("in real numbers: ") == continuous
    assert ("exact" in audit.method) == (not continuous)
    line = guarantee(CONFIGURATION.with_(mechanism={"name": name}), audit)
    for where in (mechanism.explain(), line):
        assert (SAID in where) == continuous
    assert ("computed from the mechanism's actual probabilities" in line) == (not continuous)
    assert ("actual probabilities" in line) == (not continuous)
    json.dumps(line)


# --- what draws reports is for simulation ----------------------------------------------------------------------------
