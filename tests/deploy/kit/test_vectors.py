import copy
import json

from examples import EPSILON

import ldp_core as ldp
from ldp_core.data.domain import Domain, NumericAttribute, RangeAttribute
from ldp_core.deploy.kit.client import Device
from ldp_core.deploy.kit.devices import describe
from ldp_core.deploy.kit.vectors import vectors
from tests.refused import refused


def check(description):
    """A client's check of the vectors of a device."""
    told = json.loads(json.dumps(vectors(description)))
    device = Device(description)
    assert told["design"] == description["design"]
    for one in told["reports"]:
        source = iter(bytes.fromhex(one["bytes"]))
        assert (
            device.report(one["value"], lambda many, left=source: bytes(next(left) for _ in range(many)))
            == one["report"]
        )
        assert next(source, None) is None  # all bytes were taken
    for one in told["refused_values"]:
        refused(r".", device.report, one["value"])
    for one in told["refused_devices"]:
        altered = copy.deepcopy(description)
        place = altered
        for step in one["path"][:-1]:
            place = place[step]
        place[one["path"][-1]] += one["add"]
        altered["design"] = one["design"] or altered["design"]
        refused("sum to|breaks its promise" if one["design"] else "was altered", Device, altered)
    return told


def test_vectors_ask_no_report_of_people_whose_value_is_a_code_for_no_answer():
    ends = NumericAttribute(name="x", edges=(0, 1, 2, 99), no_answer=(0, 99), integer=True)
    domain = Domain(attributes=(ends, RangeAttribute(name="y", low=0, high=9, bins=10, integer=True, no_answer=(9,))))
    mechanism = ldp.mechanisms.create("subset_selection", n=domain.size, epsilon=1.25)
    told = check(json.loads(json.dumps(describe(mechanism, EPSILON, domain))))
    assert any(isinstance(one["value"], dict) for one in told["reports"])
    assert "a code for no answer of x" in [one["why"] for one in told["refused_values"]]
