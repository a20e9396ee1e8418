"""Altered and forged devices: whatever the audit refuses, both clients refuse, and what they take keeps its promise."""

import copy
import json
import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from examples import EPSILON, MECHANISMS
from laws import largest_ratio, law

import ldp_core as ldp
from ldp_core.data.domain import CategoricalAttribute, DateAttribute, Domain, NumericAttribute, RangeAttribute
from ldp_core.deploy.kit import audit, client
from ldp_core.deploy.kit.devices import describe
from tests.deploy.kit.javascript import CLIENT, by_node, by_python, needs_node
from tests.deploy.kit.kits import breaks
from tests.deploy.kit.samplers import ONE, SAMPLERS, again, sealed

FORGED = {path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "forged").glob("*.json"))}
"""{"why": what the audit says, "device": description}: files that anybody can give to another client."""


def people():
    """A device that reads words, numbers and dates."""
    domain = Domain(
        attributes=(
            CategoricalAttribute(name="c", values=("a", "b"), outside="other"),
            NumericAttribute(name="x", edges=(0, 0.5, 2), missing="category"),
            RangeAttribute(name="y", low=1, high=9, bins=3, integer=True),
            DateAttribute(name="d", unit="month", first="2025-11", last="2025-12"),
        )
    )
    return describe(ldp.mechanisms.create("subset_selection", n=domain.size, epsilon=1.25), EPSILON, domain)


# --- the files ----------------------------------------------------------------------------------------------------------


@needs_node
def test_forged_devices_are_refused_by_both_clients_and_the_audit():
    assert len(FORGED) > 30
    said = by_node(devices=[one["device"] for one in FORGED.values()])["devices"]
    for (name, one), by_javascript in zip(FORGED.items(), said, strict=True):
        in_python = by_python(client.Device, one["device"])
        assert "error" in in_python, name
        assert by_javascript != "made", name
        assert breaks(one["device"]), name
        if "whole description" not in in_python["error"]:
            assert by_javascript == in_python["error"], name
        assert "\n" not in by_javascript + in_python["error"]


@pytest.mark.parametrize(
    "command", [["client.py"], ["audit.py"], pytest.param(["client.js"], marks=needs_node)], ids=str
)
def test_the_commands_refuse_a_forged_file_in_one_sentence(command, tmp_path):
    file, folder = tmp_path / "device.json", CLIENT.parent
    program = ["node"] if command[0].endswith("js") else [sys.executable, "-I"]
    for name in ("width-without-end", "domain-id-removed-and-a-bin-altered"):
        file.write_text(json.dumps(FORGED[name]["device"]))
        values = [] if command[0] == "audit.py" else ["0"]
        done = subprocess.run(
            [*program, folder / command[0], file, *values], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1


# --- everything altered, one thing at a time ------------------------------------------------------------------------------

NUMBERS = (0, -1, 1, 2, 2**31, 2**53 - 1, 2**53, 2**62, 0.5, True, None, "1", [], {}, [1])
OTHERS = (None, 0, True, "", "x", [], {}, [[]], [None])


def places(told, path=()):
    """Every key and place in a description."""
    if isinstance(told, dict | list):
        for key in told if isinstance(told, dict) else range(len(told)):
            yield (*path, key)
            yield from places(told[key], (*path, key))


def alterations(description):
    """Descriptions with one thing altered, and the ids that belong to them."""
    for path in places(description):
        if path[0] in ("format", "design", "domain_id", "epsilon"):
            continue
        value = description
        for step in path:
            value = value[step]
        if isinstance(value, bool) or not isinstance(value, int | float):
            news = OTHERS + ((value[:-1], [*value, value[-1]]) if isinstance(value, list) else ())
        else:
            news = (*NUMBERS, value + 1, value - 1)
        for new in (*news, KeyError):
            found = copy.deepcopy(description)
            place = found
            for step in path[:-1]:
                place = place[step]
            if new is KeyError:
                del place[path[-1]]
            elif (type(new), new) == (type(value), value):
                continue
            else:
                place[path[-1]] = new
            try:
                yield again(found)
            except (KeyError, TypeError):
                yield found


ALTERED = {
    "people": people,
    **{name: lambda name=name: sealed(SAMPLERS[name]) for name in ("two_valued", "classes", "known", "secret")},
    **{name: lambda name=name: describe(MECHANISMS[name](), EPSILON) for name in (
        "table", "randomized_response", "subset_selection", "oue", "olh", "hrr", "haar", "patterns")},
}  # fmt: skip


@pytest.mark.promise
@needs_node
@pytest.mark.parametrize("name", ALTERED)
def test_clients_and_audit_say_the_same_of_every_alteration(name):
    sound = json.loads(json.dumps(ALTERED[name]()))
    descriptions = list(alterations(sound))
    verdicts = [breaks(one) for one in descriptions]
    assert 0.4 < sum(verdicts) / len(verdicts) < 1
    in_python = [by_python(client.Device, one) for one in descriptions]
    assert ["error" in one for one in in_python] == verdicts
    assert not any("\n" in one.get("error", "") for one in in_python)

    taken = [(one, made["answer"]) for one, made in zip(descriptions, in_python, strict=True) if "answer" in made]
    cases, expected = [], []
    for k, (_description, device) in enumerate(taken):
        for value in ([0] * len(device.sizes), [size - 1 for size in device.sizes]):
            cases.append([k, value, "00" * 2000])
            expected.append(by_python(device.report, value, bytes))
    found = by_node(devices=descriptions)["devices"]
    assert [one != "made" for one in found] == verdicts
    told = by_node(devices=[one for one, _ in taken], reports=cases)["reports"]
    assert [one["answer"][0] if "answer" in one else one for one in told] == [one["answer"] for one in expected]

    laws, limit = {}, Fraction(*client.limit(sound["epsilon"]))
    for description, device in taken:
        sampler = json.dumps(description["sampler"], sort_keys=True)
        if sampler not in laws and len(laws) < 12 and max(device.sizes) < 9:
            values = [[0] * len(device.sizes), [size - 1 for size in device.sizes]]
            values[1][0] *= description["sampler"]["kind"] != "known"  # what is sent in the clear is the same
            laws[sampler] = [law(device, value, with_bytes=description["format"] == client.FORMAT) for value in values]
            hidden = client.secret_values(description["sampler"])
            kept = None if hidden is None else [k for k, value in enumerate(values) if value[-1] in hidden]
            assert kept == [] or largest_ratio(laws[sampler], kept) <= limit


@pytest.mark.parametrize("epsilon", ["0", "-1", "101", "one", "1/0", "1/00", "inf", "nan", "", "1e9999999999", "1" * 99, "1_0", "١", ".",
                                     "1.5/2", "1e3/2", " 1", "1\n", 1.25, None, "1e2", "+.5", "5.", "1E-1", "007/070", "1e-999", "99.9",
                                     "1e002"])  # fmt: skip
def test_epsilons_are_read_alike(epsilon):
    description = sealed(SAMPLERS["response of two"], epsilon=epsilon)
    good = isinstance(epsilon, str) and epsilon in ("1e2", "+.5", "5.", "1E-1", "007/070", "1e-999", "99.9", "1e002")
    assert breaks(description) is not good
    assert by_python(client.Device, description).keys() == {"answer" if good else "error"}


def test_a_ratio_that_no_float_holds_is_printed(tmp_path, capsys):
    part = {"kind": "response", "n": 2, "truth": ONE - 1}
    parts = {"draws": [part], "parts": [{"draw": 0, "value": None}] * 30}
    file = tmp_path / "device.json"
    file.write_text(json.dumps(sealed({"kind": "each", "sizes": [2], **parts})))
    assert audit.main([str(file)]) == 1
    found = re.search(r"Found: +at most e\^([\d.]+) times", capsys.readouterr().out)
    assert float(found[1]) == pytest.approx(30 * math.log(2**54 - 1), rel=1e-7)


@needs_node
def test_the_limit_of_the_ratio_is_the_same_to_the_last_digit():
    """Two types and two reports: the largest chance that keeps epsilon, and the next one, for epsilons of all sizes."""
    descriptions, verdicts = [], []
    for epsilon in ("0.001", "1/3", "1", "2.718281828459045", "5e-1", "1E0", "20", "36.5"):
        limit = Fraction(*client.limit(epsilon))
        most = limit * ONE // (1 + limit)
        for high in (most - 1, most, most + 1):
            columns = [[int(high), int(ONE - high)], [int(ONE - high), int(high)]]
            descriptions.append(sealed({"kind": "table", "sizes": [2], "columns": columns}, epsilon=epsilon))
            verdicts.append(high > most)
    assert [breaks(one) for one in descriptions] == verdicts
    assert ["error" in by_python(client.Device, one) for one in descriptions] == verdicts
    assert [one != "made" for one in by_node(devices=descriptions)["devices"]] == verdicts
