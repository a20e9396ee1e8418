"""Both clients with the devices of real mechanisms: equal bytes give equal reports."""

import copy
import json

import pytest
from examples import MECHANISMS

import ldp_core as ldp
from ldp_core.data.domain import CategoricalAttribute, ChoiceAttribute, DateAttribute, Domain, RangeAttribute
from ldp_core.deploy.kit import client
from ldp_core.deploy.kit.devices import NoDevice, describe
from ldp_core.deploy.kit.vectors import vectors
from ldp_core.workloads import ItemsPart, over_attributes
from tests.deploy.kit.javascript import by_node, by_python, needs_node

pytestmark = needs_node

AGE = RangeAttribute(name="age", low=20, high=59, bins=4, integer=True, outside="clamp")
SEX = CategoricalAttribute(name="sex", values=("female", "male"), merged=(("f", "female"),))
WAY = ChoiceAttribute(name="way", items=("bus", "car", "walk"), most=2)
DAY = DateAttribute(name="day", unit="week", first="2026-W01", last="2026-W02", outside="other")


def library_mechanism(name, workload=None):
    """The mechanism of that name in the library over `AGE` and `SEX`, or for a survey over `DAY` as well."""
    spec = ldp.library.spec(name)
    if spec.surveys_only:
        workload = ldp.workloads.survey([4, 2, 3])
    if name == "privset":
        workload = over_attributes([ItemsPart(attribute="way")], [WAY])
    more = {"max_rounds": 20} if "max_rounds" in spec.parameters else {}
    more |= {"shape": (4, 2)} if name == "hierarchical_2d" else {}
    if workload is None:
        one = "one number" in ldp.library.spec(name).made_for
        workload = ldp.workloads.custom([range(8)]) if one else ldp.workloads.prefix(8)
    return ldp.mechanisms.create(name, workload.n, 1.0, workload=workload, **more)


def described_by_library():
    """The description of every mechanism in the library that has a device, by name; and a survey's optimized one."""
    found = {}
    for name in ldp.mechanisms.names():
        one = (WAY,) if name == "privset" else (AGE, SEX)
        domain = Domain(attributes=(AGE, SEX, DAY) if ldp.library.spec(name).surveys_only else one)
        try:
            found[name] = describe(library_mechanism(name), "1.0", domain)
        except NoDevice:
            assert ldp.library.spec(name).continuous, name
    survey = library_mechanism("optimized", ldp.workloads.survey([4, 2, 3]))
    return found | {"patterns": describe(survey, "1", Domain(attributes=(AGE, SEX, DAY)))}


def altered(description, change):
    """As the vectors say: a number raised, and perhaps a new design id."""
    found = copy.deepcopy(description)
    place = found
    for step in change["path"][:-1]:
        place = place[step]
    place[change["path"][-1]] += change["add"]
    return found if change["design"] is None else found | {"design": change["design"]}


@pytest.mark.promise
@pytest.mark.parametrize("descriptions", [described_by_library, lambda: {name: describe(make(), "1.25") for name, make in MECHANISMS.items()}],
                         ids=["library", "every kind"])  # fmt: skip
def test_the_vectors_of_every_mechanism_hold_in_javascript(descriptions):
    told = descriptions()
    assert len(told) > 12
    devices, reports, refused, expected = [], [], [], []
    for name, description in told.items():
        description = json.loads(json.dumps(description))
        own, number = vectors(description, reports=30), len(devices)
        devices.append(description)
        reports += [[number, one["value"], one["bytes"]] for one in own["reports"]]
        expected += [{"answer": [one["report"], 0]} for one in own["reports"]]
        reports += [[number, one["value"], "00" * 1000] for one in own["refused_values"]]
        expected += [by_python(client.Device(description).report, one["value"]) for one in own["refused_values"]]
        refused += [altered(description, one) for one in own["refused_devices"]]
        assert own["refused_devices"], name
    found = by_node(devices=devices + refused, reports=reports)
    assert found["devices"] == ["made"] * len(devices) + [by_python(client.Device, one)["error"] for one in refused]
    assert sum("error" in one for one in expected) >= 4 * len(devices)
    assert found["reports"] == expected
