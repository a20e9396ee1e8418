"""Proofs in other precision, or so small that numbers underflow: they prove no more than as they were."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.bounds.general.certificate import closed_form
from ldp_core.bounds.surveys.certificate import closed_form as closed_form_of_survey
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.workloads import Survey
from ldp_core.workloads.surveys import marginal
from tests.certificates import columns, forged

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")


PROOFS = {
    "general": lambda: bounds.certificate(workloads.prefix(4), 2.0, None),
    "singular": lambda: closed_form(workloads.custom([[1, 1, -1, -1]]), 2.0, np.full(4, 0.25)),
    "bits": lambda: symmetric_certificate(workloads.parity(4, 2), 2.0),
    "tables": lambda: closed_form_of_survey(workloads.survey([3, 4], 1), 2.0),
    "single columns": lambda: columns([3, 2, 4, 2], 2.0),
}
ALTERED = {
    "half precision": lambda array: array.astype(np.float16),
    "single precision": lambda array: array.astype(np.float32),
    "the other order of bytes": lambda array: array.astype(">f8"),
    "more precision": lambda array: array.astype(np.longdouble),
    "complex": lambda array: array + 1j,
    "objects": lambda array: array.astype(object),
    "texts": lambda array: array.astype(str),
    "truth values": lambda array: array != 0,
    "unsigned": lambda array: np.abs(np.nan_to_num(array)).clip(0, 1e9).astype(np.uint64),
    "small whole numbers": lambda array: np.nan_to_num(array).clip(-100, 100).astype(np.int8),
    "lists": lambda array: array.tolist(),
    "masked": lambda array: np.ma.masked_array(array, mask=np.arange(array.size).reshape(array.shape) % 2 == 0),
    "negative zeros": lambda array: array * -0.0,
    "subnormal": lambda array: array * 1e-316,
    "one axis too many": lambda array: array[None],
    "one axis too few": lambda array: array.ravel(),
    "backwards": lambda array: array[::-1],
    "all the same": lambda array: np.lib.stride_tricks.as_strided(array, array.shape, (0,) * array.ndim),
}


@cache
def proof(kind):
    return PROOFS[kind]()


def altered(found):
    """Every array in a proof altered in turn: (what, proof)."""
    for name, array in [*found.numbers.items(), ("prior", found.prior)]:
        if array is not None and array.size:
            for how, alter in ALTERED.items():
                with np.errstate(all="ignore"):
                    yield f"{name} {how}", forged(found, **{name: alter(array)})


@pytest.mark.parametrize("kind", PROOFS)
def test_altered_arrays_prove_no_more(kind):
    found = proof(kind)
    assert found.verify() is True
    more = found.value * (1.05 if kind == "single columns" else 1 + 1e-6)  # other weights there may prove more
    for what, other in altered(found):
        assert replace(other, value=more).verify() is False, what


@pytest.mark.crossed
@pytest.mark.parametrize("scale", [1e-60, 1e-150, 3e-310, 1e-318, 1e-322, 1e60, 1e95])
def test_all_weights_scaled_prove_no_more(scale):
    """If numbers underflow, a share of an error may be all of one: such proofs are invalid."""
    found = proof("single columns")
    with np.errstate(all="ignore"):
        weights = found.numbers["weights"] * scale
    assert forged(found, weights=weights, value=found.value * (1 + 1e-6)).verify() is False


@pytest.mark.parametrize("weight", [1e-162, 1.6e-162, 2e-160, 1e-120])
def test_groups_of_weights_that_underflow_prove_nothing(weight):
    """Their squares are 1.9 times what they should be, or 0."""
    survey = Survey((3, 4), [marginal((3, 4), (0, 1), weight)])
    found = closed_form_of_survey(survey, 1.0)
    assert found.value == found.trivial or found.value / weight**2 == pytest.approx(
        closed_form_of_survey(Survey((3, 4), [marginal((3, 4), (0, 1), 1.0)]), 1.0).value, rel=1e-6
    )
