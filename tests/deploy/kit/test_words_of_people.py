"""People's words become the types that the app makes of them, by the clients in Python and in JavaScript alike, or the same sentence."""

import json
import math
import string
import subprocess
import sys
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from examples import EPSILON
from hypothesis import Phase, given, settings

from ldp_core import mechanisms
from ldp_core.data.domain import (
    CategoricalAttribute,
    ChoiceAttribute,
    CourseAttribute,
    DateAttribute,
    Domain,
    NumericAttribute,
    RangeAttribute,
    RankingAttribute,
)
from ldp_core.deploy.kit import client, devices
from ldp_core.deploy.kit.client import Device
from ldp_core.deploy.kit.devices import describe
from ldp_core.mechanisms import ExplicitMechanism
from tests.deploy.kit.javascript import by_node, by_python, needs_node
from tests.deploy.kit.samplers import again

ATTRIBUTES = [
    CategoricalAttribute(name="plain", values=("red", "green", "nil")),
    CategoricalAttribute(
        name="answer",
        values=("None", "1", "1e-05", "True"),
        merged=(("yes", "True"), ("Ä'\"", "None")),
        outside="other",
    ),
    CategoricalAttribute(
        name="it's", values=("(other)", "(missing)", "constructor"), missing="category", outside="other"
    ),
    NumericAttribute(name="age", edges=(17.5, 29.5, 64.5, 99.5), integer=True, outside="clamp"),
    NumericAttribute(name="weight", edges=(-1e300, -0.1, 0.0, 1e-7, 1e300), non_numbers="missing", outside="other"),
    NumericAttribute(name="rate", edges=(0.1, 0.2, 0.30000000000000004), missing="category"),
    RangeAttribute(name="share", low=0.1, high=0.3, bins=5, outside="other", missing="category", non_numbers="missing"),
    RangeAttribute(name="years", low=-3, high=96, bins=9, integer=True, no_answer=(-1, 99)),
    NumericAttribute(name="income", edges=(0, 17.5, 99.5), missing="category", no_answer=(17.5, 96), outside="clamp"),
    RangeAttribute(name="large", low=0, high=2**50, bins=2**22, integer=True, outside="clamp"),
    *(
        DateAttribute(name=unit, unit=unit, first=first, last=last, day_first=first_, **more)
        for unit, first, last, first_, more in (
            ("day", "2023-12-30", "2024-03-02", None, {"outside": "clamp"}),
            ("week", "2020-W50", "2021-W03", False, {"outside": "other", "missing": "category"}),
            ("month", "0001-01", "9998-12", True, {"non_dates": "missing"}),
            ("quarter", "2019-Q4", "2026-Q1", None, {"missing": "category"}),
            ("year", "0099", "2100", False, {"outside": "other"}),
        )
    ),
    ChoiceAttribute(name="way", items=("bus", "car", "none", "é x2"), most=3, outside="other"),
    ChoiceAttribute(name="apps", items=("a", "b", "c"), most=2, separator=" | ", missing="category"),
    RankingAttribute(name="dish", items=("soup", "fish", "rice"), missing="category"),
    CourseAttribute(
        of=CategoricalAttribute(name="used", values=("no", "yes", "na x2")), days=3, changes=1, outside="other"
    ),
]

# Mostly what comes close to something: words, edges, and dates in all ways of writing them.
PRINTED = st.characters(exclude_categories=("Cn", "Co"))
BLANKS = st.sampled_from(["", " ", "\t", "\u00a0", "\x1c", "\x85", "\ufeff", "\u3000"])
WORDS = st.sampled_from(
    ["red", "yes", "None", "none", "NaN", "N/A", "?", "", "(other)", "((other))", "((missing))", "__proto__"]
)
NUMBERS = st.one_of(
    st.integers(-5, 120),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),  # in JSON
    st.floats(-1, 1),
    st.sampled_from([17.5, 99.5, 0.1, 0.2, 0.30000000000000004, 0.7, 1e-7, 1e-5, 0.0001, 1e16, 1e22, -1e300, 5e-324]),
)
YEARS = st.one_of(st.integers(2019, 2026), st.integers(0, 10000)).map("{:04}".format)
SMALL = st.one_of(st.integers(0, 13), st.integers(0, 54)).flatmap(lambda i: st.sampled_from([str(i), f"{i:02}"]))
MONTHS = st.sampled_from(["january", "Jan", "SEPT", "sep", "may", "Marc", "xyz"])
TIMES = st.sampled_from(["", "", " 10:00", "T9:30:00Z", " 1:2", "T23:59\u2028", " 10:00\n"])
DATES = st.one_of(
    st.builds("{}{}{}{}{}".format, YEARS, st.sampled_from("-/."), SMALL, st.sampled_from("-/."), SMALL),
    st.builds(lambda y, m, d, s, t: f"{y}{s}{m}{s}{d}{t}", YEARS, SMALL, SMALL, st.sampled_from("-/."), TIMES),
    st.builds(lambda y, a, b, s, t: f"{a}{s}{b}{s}{y}{t}", YEARS, SMALL, SMALL, st.sampled_from("-/."), TIMES),
    st.builds(lambda y, name, d, t: f"{d} {name} {y}{t}", YEARS, MONTHS, SMALL, TIMES),
    st.builds(lambda y, name, d, t: f"{name}. {d}, {y}{t}", YEARS, MONTHS, SMALL, TIMES),
    st.builds("{}{}{}".format, YEARS, SMALL, SMALL),
    st.builds("{}-{}{}".format, YEARS, st.sampled_from(["", "W", "Q"]), SMALL),
    YEARS,
    st.dates().map(str),
)
TEXTS = st.one_of(
    WORDS,
    DATES,
    NUMBERS.map(str),
    st.sampled_from(["+7", ".5", "5.", "1_000", "٣", "0x10", "inf", "-Infinity", "1e999", "1e-999", "1E5", "ınf"]),
    st.text(PRINTED, max_size=6),
    st.text(string.digits + ".-+eE", max_size=6),
)
TEXTS = st.builds("{}{}{}".format, BLANKS, TEXTS, BLANKS)
ANYTHING = st.one_of(NUMBERS, DATES, TEXTS, st.booleans(), st.none())
LIKELY = {"categories": WORDS, "numbers": NUMBERS, "range": NUMBERS, "dates": DATES}
ENDS = st.sampled_from(["", " ", " x1", " x2", " \u00d7 3", "x0", "x\u0663", "\u00a0"])


def likely(attribute):
    """What is often said of an attribute; of combinations, some parts, or days, with a sign between them."""
    if "holds" not in attribute:
        return LIKELY[attribute["kind"]]
    part = st.builds("{}{}".format, st.sampled_from([*attribute["parts"], "", "tram"]), ENDS)
    return st.lists(part, max_size=4).map(attribute["sign"].join)


WAYS = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m-%d-%Y 8:15",
    "%Y%m%d",
    "%B %d, %Y",
    "%d %b %Y",
    "%G-W%V",
    "%Y-%m",
    "%Y-Q1",
    "%Y",
]


def as_javascript_has_it(value):
    """JavaScript has one kind of numbers: whole ones below 2^53 are integers there, and all others are floats."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return int(value) if abs(value) < 2**53 and value == int(value) else float(value)
    return value


def described(attributes):
    domain = Domain(attributes=tuple(attributes))
    mechanism = mechanisms.create("randomized_response", domain.size, 1.0)
    return devices.describe(mechanism, "1.0", domain)["domain"]["attributes"]


def close_to_edges(attribute):
    """Some edges of its bins, and the numbers next to them."""
    edges = np.asarray(getattr(attribute, "edges", ()))
    edges = np.concatenate([edges[:3], edges[-3:]])
    return [*edges, *np.nextafter(edges, -math.inf), *np.nextafter(edges, math.inf), *np.rint(edges)]


ENDS_OF_CALENDARS = [
    *("9998-12", "9999-01", "9999", "0000", "0000-01-01", "0001-01-01", "31.12.9999", "1.1.0000", "2024-02-30"),
    *("2020-W00", "2020-W53", "2020-W54", "2021-W52", "2021-W53", "9998-W52", "9998-W53", "9999-W01"),
    *("2021-01-05 10:00\u2028x", "2021-01-05 10:00 \n 1", "2021-01-05T1:00"),
]


def days_at_turns_of_years():
    """Days around the ends of short and long years, each in every third way, and every way for a third of the days."""
    turns = [date(2021, 1, 1), date(2024, 1, 1), date(2024, 3, 1), date(2026, 1, 1)]
    near = [turn + timedelta(days) for turn in turns for days in range(-8, 8)]
    return [day.strftime(way) for day in near for way in WAYS][::3] + ENDS_OF_CALENDARS


def types(attribute, values):
    """The domain's number of each value, -1 if it drops or refuses it."""
    try:
        return attribute.encode(pd.Series(values, dtype=object)).codes.tolist()
    except ValueError:  # at least one is refused
        half = len(values) // 2
        return types(attribute, values[:half]) + types(attribute, values[half:]) if half else [-1]


@cache
def asked():
    """The descriptions of all attributes, what is said of them (which, {name: value}), and what `client.encode` makes of it."""
    told = [described([attribute])[0] for attribute in ATTRIBUTES]
    said = [(which, label) for which, one in enumerate(told) for label in one["words"]]
    said += [(which, number) for which, one in enumerate(ATTRIBUTES) for number in close_to_edges(one)]
    said += [
        (which, day) for which, one in enumerate(told) if one["kind"] == "dates" for day in days_at_turns_of_years()
    ]
    often = [likely(one) | ANYTHING for one in told]
    about = st.integers(0, len(told) - 1).flatmap(lambda which: st.tuples(st.just(which), often[which]))

    @settings(phases=[Phase.generate], max_examples=15)
    @given(st.lists(about, min_size=60, max_size=60))
    def choose(values):
        said.extend(values)

    choose()
    assert len(said) > 2000
    cases = [(which, {told[which]["name"]: as_javascript_has_it(value)}) for which, value in said]
    return told, cases, [by_python(client.encode, [told[which]], values) for which, values in cases]


@pytest.mark.promise
def test_words_become_the_types_of_the_domain():
    told, cases, expected = asked()
    for which, attribute in enumerate(ATTRIBUTES):
        mine = [
            (values[attribute.name], made) for (who, values), made in zip(cases, expected, strict=True) if who == which
        ]
        codes = types(attribute, [value for value, _ in mine])
        wrong = [(*one, code) for one, code in zip(mine, codes, strict=True) if one[1].get("answer", [-1]) != [code]]
        assert not wrong, (attribute.name, len(wrong), wrong[:20])
        # An attribute that met few numbers would say little.
        assert len(set(codes)) >= min(4, told[which]["size"]), attribute.name


@needs_node
def test_items_rankings_and_days_are_said_as_lists():
    told = [described([one]) for one in ATTRIBUTES if hasattr(one, "holds")]
    names = [one[0]["name"] for one in told]
    cases = [
        (0, ["car", "bus"], "bus, car"),
        (0, [], "(none)"),
        (0, [" car", "car"], "car"),
        (0, ["é x2", "none"], "none, é x2"),
        (0, ["tram"], "(other)"),
        (1, ["b", "a"], "a | b"),
        (2, ["rice", "soup", "fish"], "rice > soup > fish"),
        (3, ["no", "no", "yes"], "no x2, yes x1"),
        (3, ["na x2", "no x2"], "na x2 x1, no x2"),
        (3, ["no", "yes", "no"], "(other)"),
    ]
    wanted = [{"answer": [told[which][0]["words"][label]]} for which, _, label in cases]
    said = [(which, {names[which]: value}) for which, value, _ in cases]
    said += [(1, {"apps": ["a", "b", "c"]}), (2, {"dish": ["soup"]})]
    found = [by_python(client.encode, told[which], values) for which, values in said]
    assert found[: len(cases)] == wanted
    assert [one["error"] for one in found[len(cases) :]] == [
        "The value 'a | b | c' of apps is outside the domain.",
        "The value 'soup' of dish is outside the domain.",
    ]
    assert by_node(domains=told, encodings=said)["encodings"] == found


@needs_node
def test_words_become_the_same_numbers_or_get_the_same_sentence():
    told, cases, expected = asked()
    found = by_node(domains=[[one] for one in told], encodings=cases)["encodings"]
    wrong = [
        (values, one, other) for (_, values), one, other in zip(cases, expected, found, strict=True) if one != other
    ]
    assert not wrong, (len(wrong), wrong[:20])


@needs_node
def test_records_take_a_number_for_each_attribute():
    told = described([*ATTRIBUTES[:4], CategoricalAttribute(name="constructor", values=("yes", "no"))])
    whole = {"plain": "nil", "answer": True, "it's": None, "age": 18, "constructor": "no", "more": 1}
    domains = [told, []]
    cases = [(0, whole), (0, {"plain": "red"}), (1, {"plain": "red"}), (0, {**whole, "plain": None})]
    cases.append((0, {name: value for name, value in whole.items() if name != "constructor"}))
    expected = [by_python(client.encode, domains[which], values) for which, values in cases]
    assert by_node(domains=domains, encodings=cases)["encodings"] == expected
    assert expected[0] == {"answer": [2, 3, 4, 0, 1]}
    assert all("error" in one for one in expected[1:])


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
