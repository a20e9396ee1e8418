"""Both clients with the devices of real mechanisms: equal bytes give equal reports; and the result
of a whole collection."""

import copy
import json

import numpy as np
import pytest
from examples import MECHANISMS, SURVEY, as_people, as_rows
from scipy import stats

import ldp_core as ldp
from ldp_core.data.domain import CategoricalAttribute, DateAttribute, Domain, RangeAttribute
from ldp_core.deploy.kit import client
from ldp_core.deploy.kit.devices import NoDevice, describe
from ldp_core.deploy.kit.vectors import vectors
from ldp_core.people import people_of
from tests.deploy.kit.javascript import by_node, by_python, needs_node

pytestmark = needs_node

AGE = RangeAttribute(name="age", low=20, high=59, bins=4, integer=True, outside="clamp")
SEX = CategoricalAttribute(name="sex", values=("female", "male"), merged=(("f", "female"),))
DAY = DateAttribute(name="day", unit="week", first="2026-W01", last="2026-W02", outside="other")
LIKELY_BY_CHANCE = 1e-9
"""The clients draw with their true sources: a sound one fails this often."""


def library_mechanism(name, workload=None):
    """The mechanism of that name in the library over `AGE` and `SEX`, or for a survey over `DAY` as well."""
    spec = ldp.library.spec(name)
    if spec.surveys_only:
        workload = ldp.workloads.survey([4, 2, 3])
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
        domain = Domain(attributes=(AGE, SEX, DAY) if ldp.library.spec(name).surveys_only else (AGE, SEX))
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


# --- whole collections ---------------------------------------------------------------------------------------------------

SIZES = [pytest.param(5_000, 2_000), pytest.param(200_000, 20_000, marks=pytest.mark.slow)]


def collected(mechanism, description, people, by_javascript):
    """The reports of all people (their types, or records), of whom the last few use the client in JavaScript: as lines."""
    values = np.asarray(people).tolist()
    device = client.Device(description)
    own = [device.report(value) for value in values[:-by_javascript]]
    theirs = by_node(devices=[description], secure=[[0, values[-by_javascript:]]])["secure"][0]["answer"]
    return as_rows(mechanism, own), as_rows(mechanism, theirs)


@pytest.mark.parametrize(("by_python_", "by_javascript"), SIZES)
def test_reports_of_all_clients_are_those_of_the_table(by_python_, by_javascript):
    workload, rng = ldp.workloads.prefix(8), np.random.default_rng(0)
    mechanism = library_mechanism("optimized", workload)
    description = json.loads(json.dumps(describe(mechanism, "1.0", Domain(attributes=(AGE, SEX)))))
    types = rng.choice(8, by_python_ + by_javascript, p=np.arange(1, 9) / 36)

    rows = collected(mechanism, description, types, by_javascript)
    for reports, who in zip(rows, (types[:by_python_], types[by_python_:]), strict=True):
        seen = np.zeros(mechanism.strategy.shape)
        np.add.at(seen, (reports, who), 1)
        expected = mechanism.strategy * np.bincount(who, minlength=8)
        often = expected >= 5  # the others are taken together, type by type
        seen = np.concatenate([seen[often], np.where(often, 0, seen).sum(axis=0)])
        expected = np.concatenate([expected[often], np.where(often, 0, expected).sum(axis=0)])
        assert not seen[expected == 0].any()
        seen, expected = seen[expected > 0], expected[expected > 0]
        chance = stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), seen.size - 8)
        assert chance > LIKELY_BY_CHANCE
    check_estimates(mechanism, workload, types, rows)


@pytest.mark.parametrize(("by_python_", "by_javascript"), SIZES)
@pytest.mark.parametrize("name", ["patterns of pairs", "tree of shares", "olh", "subset_selection"])
def test_answers_of_all_clients_are_within_their_errors(name, by_python_, by_javascript):
    others = {
        "patterns of pairs": lambda: ldp.mechanisms.create("optimized", workload=SURVEY, epsilon=1.25, max_rounds=20),
        "tree of shares": lambda: ldp.mechanisms.create("hierarchical", 9, 1.25, oracle="olh", shares="5 3"),
    }
    mechanism, rng = (MECHANISMS | others)[name](), np.random.default_rng(1)
    sizes = mechanism.sizes
    workload = ldp.workloads.survey(list(sizes)) if len(sizes) > 1 else ldp.workloads.prefix(mechanism.n)
    records = np.stack([rng.binomial(size - 1, 0.3, by_python_ + by_javascript) for size in sizes], axis=1)
    people = as_people(mechanism, records)
    description = json.loads(json.dumps(describe(mechanism, "1.25")))
    check_estimates(mechanism, workload, people, collected(mechanism, description, people, by_javascript))


def check_estimates(mechanism, workload, people, rows):
    """Every answer from the reports is within seven standard errors of the truth, so that less than one collection in 10^9 fails."""
    who = people_of(people, mechanism.sizes) if people.ndim == 2 else np.bincount(people, minlength=mechanism.n)
    found = mechanism.estimate(mechanism.aggregate(np.concatenate(rows))).answers(workload)
    errors = np.sqrt(np.maximum(mechanism.query_variances(workload, who), 0))
    known = errors < 1e-3  # how many there are
    far = np.abs(found - workload.answers(who))
    assert (far <= np.where(known, 1e-6 * len(people), 7 * errors)).all()
    assert (~known).sum() > 2
