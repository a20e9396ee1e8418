"""People's own values become the types that the app makes of the same values."""

import json
import random
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples import EPSILON, in_steps

from ldp_core.data.domain import CategoricalAttribute, DateAttribute, Domain, NumericAttribute, RangeAttribute
from ldp_core.deploy.kit import client
from ldp_core.deploy.kit.client import Device, encode
from ldp_core.deploy.kit.devices import describe
from ldp_core.mechanisms import ExplicitMechanism
from tests.deploy.kit.samplers import again

WORDS = [
    "", "  ", None, float("nan"), "na", "N/A", "NULL", "?", "None", "(other)", "(missing)", "((other))", "abc", True, "inf",
    "-inf", float("inf"), "Infinity", "1e5", "+5", "5.", "-.5", ".5", "1_000", "1 000", "1e", "0x10", "١", "a", " b ", "z", "Ä",
    "3", 3, 3.0, 0.5, "0.5", 999, "999.0", -2, 10**30, -0.0, "1e400", "1E2",
]  # fmt: skip
DATES = [
    "2026-01-31", "2026/1/31", "2026.1.31", "20260131", "31.1.2026", "31/1/2026", "1/31/2026", "1/2/2026", "2/2/2026", "31-1-2026",
    "31 Jan 2026", "31-January-2026", "Jan 31, 2026", "Sept 3, 2025", "Jan. 31, 2026", "31 Jan. 2026", "2026-01-31 12:30",
    "2026-01-31T12:30:00Z", "20260131 12:30", "2026", "2026-01", "2026-Q1", "2026-W05", "2026-W54", "2026-13", "2026-02-30",
    "9999-01-01", "0001-01-01", "0000", "2025-12-31", "2026-Q5", "12/2026", "Foo 3, 2026", "31/1-2026", date(2026, 1, 31),
    datetime(2026, 1, 31, 5, 6), 20260131, 2026, "2025-W53", "2025-W52",
]  # fmt: skip
PERIODS = {
    "day": ("2026-01-30", "2026-02-10"),
    "week": ("2025-W52", "2026-W05"),
    "month": ("2025-11", "2026-03"),
    "quarter": ("2025-Q4", "2026-Q2"),
    "year": ("2024", "2026"),
}


def attributes(missing, outside, unread):
    rules = {"missing": missing, "outside": outside}
    if outside != "clamp":
        values = ("a", "b", "None", "3", "0.5", "(other)", "True")
        yield CategoricalAttribute(name="x", values=values, merged=(("z", "a"), ("Ä", "b")), **rules)
    numbers = {**rules, "non_numbers": unread}
    yield NumericAttribute(name="x", edges=(-1.5, 0, 0.1, 2.25, 7), **numbers)
    yield NumericAttribute(name="x", edges=(19.5, 29.5, 39.5, 40.5), integer=True, **numbers)
    yield NumericAttribute(name="x", edges=(0, 3, 7), no_answer=(3, 5, 999), **numbers)
    yield RangeAttribute(name="x", low=-3, high=21, bins=4, integer=True, no_answer=(-2, 3, 999), **numbers)
    yield RangeAttribute(name="x", low=0.1, high=0.7, bins=7, **numbers)
    yield RangeAttribute(name="x", low=-3, high=21, bins=4, integer=True, **numbers)
    yield RangeAttribute(name="x", low=-1e300, high=1e300, bins=5000, **numbers)
    for unit, (first, last) in PERIODS.items():
        for day_first in (None, True, False) if unit == "day" else (None,):
            yield DateAttribute(
                name="x", unit=unit, first=first, last=last, day_first=day_first, non_dates=unread, **rules
            )


def tried(attribute, rng):
    """Values on, between and outside the edges, dates, words and the attribute's own labels."""
    found = list(WORDS)
    if isinstance(attribute, DateAttribute):
        found += DATES + [date.fromordinal(738700 + rng.randrange(1500)).isoformat() for _ in range(20)]
    elif not isinstance(attribute, CategoricalAttribute):
        edges = [float(edge) for edge in np.random.default_rng(0).permutation(attribute.edges)[:40]]
        ends = float(min(attribute.edges)), float(max(attribute.edges))
        found += [*edges, *map(repr, edges), *ends, *(rng.uniform(*ends) for _ in range(30)), ends[1] + 1, ends[0] - 1]
    return found + (list(attribute.labels) if attribute.size < 4096 else [])


def types(attribute, values):
    """The domain's number of each value, -1 if it drops or refuses it."""
    try:
        return attribute.encode(pd.Series(values, dtype=object)).codes.tolist()
    except ValueError:  # at least one is refused
        half = len(values) // 2
        return types(attribute, values[:half]) + types(attribute, values[half:]) if half else [-1]


@pytest.mark.parametrize(
    ("missing", "outside", "unread"),
    [
        ("drop", "other", "refuse"),
        ("category", "clamp", "missing"),
        ("category", "other", "missing"),
        ("refuse", "refuse", "refuse"),
    ],
)
def test_encode_is_that_of_the_domain(missing, outside, unread):
    rng, kept = random.Random(1), 0
    for attribute in attributes(missing, outside, unread):
        domain = Domain(attributes=(attribute,))
        table = ExplicitMechanism("custom", in_steps(np.full((2, domain.size), 0.5)), float(EPSILON))
        told = json.loads(json.dumps(describe(table, EPSILON, domain)))["domain"]["attributes"]
        values = tried(attribute, rng)
        for value, expected in zip(values, types(attribute, values), strict=True):
            if expected >= 0:
                kept += 1
                assert encode(told, {"x": value}) == [expected], (attribute, value)
            else:
                with pytest.raises(ValueError) as refused:
                    encode(told, {"x": value})
                assert "\n" not in str(refused.value)
    assert kept > 300


@pytest.fixture(scope="module")
def person():
    """A device over two attributes whose report is the type but once in 10^15 times, to see what a value became."""
    attributes = (
        RangeAttribute(name="age", low=20, high=79, bins=6, integer=True),
        CategoricalAttribute(name="answer", values=("no", "yes"), outside="other"),
    )
    domain = Domain(attributes=attributes)
    table = ExplicitMechanism("custom", np.eye(18), float(EPSILON))
    found = json.loads(json.dumps(describe(table, EPSILON, domain)))
    found["sampler"]["columns"] = [[2**53 - 17 if y == u else 1 for y in range(18)] for u in range(18)]
    return domain, again(found | {"epsilon": "40"})


def test_the_same_person_can_be_said_in_three_ways(person):
    domain, description = person
    device = Device(description)
    kind = int(domain.encode(pd.DataFrame({"age": [42], "answer": ["perhaps"]})).codes[0])
    assert kind == 2 * 3 + 2
    for value in ({"age": 42, "answer": "perhaps"}, {"age": "40-49", "answer": "perhaps", "more": 1}, [2, 2], 8, [8]):
        assert device.report(value) == "8"


def test_the_command_line_prints_a_report_for_each_value(person, tmp_path):
    file = tmp_path / "device.json"
    file.write_text(json.dumps(person[1]))

    def run(*values):
        script = [sys.executable, "-I", Path(client.__file__), file, *values]
        done = subprocess.run(script, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    assert run("17", "[1, 0]", '{"age": 42, "answer": "yes"}') == (0, "17\n3\n7\n", "")
    for values, words in ((("18",), "outside the domain"), (("old",), "a type's number, or JSON"), ((), "Usage")):
        code, told, error = run(*values)
        assert code != 0
        assert told == ""
        assert words in error
        assert "Traceback" not in error
