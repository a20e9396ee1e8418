import copy
import json
import math
import subprocess
import sys
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from examples import EPSILON, MECHANISMS

from ldp_core.deploy.kit import audit as module
from ldp_core.deploy.kit import client
from ldp_core.deploy.kit.audit import audit
from ldp_core.deploy.kit.client import ONE, design_id
from ldp_core.deploy.kit.devices import describe
from tests.deploy.kit.samplers import sealed

SCRIPT = Path(module.__file__)


def described(name):
    return json.loads(json.dumps(describe(MECHANISMS[name](), EPSILON)))


def altered(description, change, name_again=True):
    """The description after ``change``, with an id that matches unless it is to keep the old one."""
    found = copy.deepcopy(description)
    change(found)
    if name_again:
        found["design"] = design_id(found)
    return found


@pytest.mark.parametrize("epsilon", ["0.001", "1", "2.718281828459045", "1/3", "99.9"])
def test_the_bound_on_the_exponential_is_below_it_by_next_to_nothing(epsilon):
    bound = Fraction(*client.limit(epsilon))
    with_digits = Context(prec=80)
    exact = with_digits.exp(with_digits.divide(Decimal(Fraction(epsilon).numerator), Fraction(epsilon).denominator))
    found = with_digits.divide(Decimal(bound.numerator), bound.denominator)
    assert found < exact
    assert exact - found < exact * Decimal(2) ** -79


def test_one_unit_more_than_the_promise_does_not_hold():
    """Two types and two reports: the largest chance that keeps epsilon 1, and the next one."""
    limit = Fraction(*client.limit("1"))
    most = next(
        k for k in range(math.floor(float(limit / (limit + 1)) * ONE) + 4, 0, -1) if Fraction(k, ONE - k) <= limit
    )
    for high, holds in ((most, True), (most + 1, False)):
        columns = [[high, ONE - high], [ONE - high, high]]
        found = audit(sealed({"sizes": [2], "kind": "table", "columns": columns}, epsilon="1"))
        assert found.holds is holds
        assert found.largest == Fraction(high, ONE - high)


def test_a_report_that_only_some_send_has_no_bound():
    def change(one):
        one["sampler"]["columns"][0][1] += one["sampler"]["columns"][0][0]
        one["sampler"]["columns"][0][0] = 0

    found = audit(altered(described("table"), change))
    assert not found.holds
    assert found.largest == math.inf


CHANGES = {
    "a chance altered": ("table", lambda one: one["sampler"]["columns"][0].__setitem__(0, 1), False, "was altered"),
    "epsilon altered": ("oue", lambda one: one.update(epsilon="5"), False, "was altered"),
    "epsilon a number": ("oue", lambda one: one.update(epsilon=1.25), True, "quotation marks"),
    "another format": ("oue", lambda one: one.update(format="ldp-device/1"), True, "no device of the format"),
    "no sampler": ("oue", lambda one: one.pop("sampler"), False, "no whole description"),
    "no chances": ("oue", lambda one: one["sampler"].pop("own"), True, "no whole description"),
    "an unknown kind": ("oue", lambda one: one["sampler"].update(kind="noise"), True, "kind 'noise'"),
    "a column short of one unit": (
        "table",
        lambda one: one["sampler"]["columns"][2].__setitem__(0, one["sampler"]["columns"][2][0] - 1),
        True,
        "sum to 2.53 -1",
    ),
    "a column short of a report": (
        "table",
        lambda one: one["sampler"]["columns"][2].pop(),
        True,
        "sum to 2.53",
    ),
    "a negative chance": ("table", lambda one: one["sampler"]["columns"][1].__setitem__(0, -3), True, "from 0 to.*-3"),
    "a chance with a point": ("oue", lambda one: one["sampler"].update(own=0.5), True, "whole number.*0.5"),
    "shares short of one unit": (
        "patterns",
        lambda one: one["sampler"]["shares"].__setitem__(1, one["sampler"]["shares"][1] - 1),
        True,
        "sum to 2.53",
    ),
    "a value too many": ("table", lambda one: one["sampler"].update(sizes=[6]), True, "sampler for 5 values"),
    "terms past the last value": (
        "sampled_sets",
        lambda one: one["sampler"]["parts"][0]["value"][0].__setitem__(3, 50),
        True,
        "given values of sizes",
    ),
    "a term of no attribute": (
        "sampled_sets",
        lambda one: one["sampler"]["parts"][0]["value"][0].__setitem__(0, 3),
        True,
        "place of a number",
    ),
    "division by 0": (
        "tree of oue",
        lambda one: one["sampler"]["parts"][0]["value"][0].__setitem__(2, 0),
        True,
        "from 1 to",
    ),
    "a missing draw": (
        "tree of oue",
        lambda one: one["sampler"]["parts"][0].update(draw=9),
        True,
        "number of a sampler",
    ),
    "all cells inside": (
        "patterns",
        lambda one: one["sampler"]["draws"][0].update(cells="1" * len(one["sampler"]["draws"][0]["cells"])),
        True,
        "places inside and outside",
    ),
    "a set of all types": ("subset_selection", lambda one: one["sampler"].update(size=6), True, "inside and outside"),
    "more types than digits": ("olh", lambda one: one["sampler"].update(digits=1), True, "binary digits"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_damaged_is_refused_in_one_sentence(change):
    name, make, name_again, words = CHANGES[change]
    description = altered(described(name), make, name_again and change not in ("no sampler",))
    with pytest.raises(ValueError, match=words) as refused:
        audit(description)
    assert "\n" not in str(refused.value)


def test_the_command_says_what_was_found_and_exits_with_1_on_failure(tmp_path):
    file = tmp_path / "device.json"

    def run():
        done = subprocess.run([sys.executable, "-I", SCRIPT, file], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    description = described("subset_selection")
    file.write_text(json.dumps(description))
    code, told, _ = run()
    assert code == 0
    assert "The promise holds." in told
    assert "(epsilon 1.25)" in told
    assert description["design"] in told

    file.write_text(
        json.dumps(altered(description, lambda one: one["sampler"].update(inside=one["sampler"]["inside"] + 10)))
    )
    code, told, _ = run()
    assert code == 1
    assert "DOES NOT HOLD" in told

    file.write_text(json.dumps(description)[:-20])
    code, _, told = run()
    assert code == 1
    assert told.startswith("The device is refused.")
    assert "Traceback" not in told


@pytest.mark.parametrize("load", [module.main, client.main])
def test_samplers_within_samplers_without_end_are_refused(load, tmp_path, capsys):
    description = described("oue")
    inner = json.dumps(description["sampler"])
    deep = '{"kind": "each", "sizes": [4], "parts": [{"draw": 0}], "draws": [' * 5000 + inner + "]}" * 5000
    file = tmp_path / "device.json"
    file.write_text(json.dumps(description).replace(inner, deep))
    assert load([str(file), "0"][: 1 + (load is client.main)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
