import copy
import json
import subprocess
import sys
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from examples import EPSILON, MECHANISMS

from ldp_core.deploy.kit import audit as module
from ldp_core.deploy.kit import client
from ldp_core.deploy.kit.client import design_id
from ldp_core.deploy.kit.devices import describe
from tests.deploy.kit.samplers import SAMPLERS, sealed

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
    assert "No part of a value is sent in the clear." in told

    file.write_text(json.dumps(sealed(SAMPLERS["known"])))  # without a domain, so that nothing has a name
    assert "The first number of a value: sent in the clear beside each report, and not protected." in run()[1]

    file.write_text(
        json.dumps(altered(description, lambda one: one["sampler"].update(inside=one["sampler"]["inside"] + 10)))
    )
    code, told, _ = run()
    assert code == 1
    assert "DOES NOT HOLD" in told
