"""How many random bytes a report took says nothing about the person."""

import json
from collections import Counter
from fractions import Fraction

import pytest
from examples import EPSILON, MECHANISMS, values_of
from laws import largest_ratio, law, paths

from ldp_core.deploy.kit import client
from ldp_core.deploy.kit.audit import audit
from ldp_core.deploy.kit.client import ONE, Device
from ldp_core.deploy.kit.devices import describe
from tests.deploy.kit.javascript import by_node, needs_node
from tests.deploy.kit.samplers import SAMPLERS, sealed
from tests.refused import refused


def described(name):
    return json.loads(json.dumps(describe(MECHANISMS[name](), EPSILON)))


def joint(description, values):
    device = Device(description)
    return [law(device, value, with_bytes=True) for value in values]


@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_and_bytes_together_keep_the_promise_exactly(name):
    """How often below(n) draws again is independent of its result (see below), so all n together stand for the bytes."""
    values, description = values_of(MECHANISMS[name]()), described(name)
    assert largest_ratio(joint(description, values), description["sampler"].get("secret")) == audit(description).largest


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("n", [3, 5, 200, 300])
def test_whether_a_number_is_drawn_again_is_independent_of_the_report(n, own):
    """All bytes that one try can take, for a needed number and for a spare one."""
    truth = ONE - 1 if own else 1
    device = Device(sealed({"kind": "response", "sizes": [n], "n": n, "truth": truth}))
    many = 1 if n <= 256 else 2
    first = (0 if own else ONE - 1).to_bytes(7, "big")
    found = Counter()
    for number in range(256**many):
        given = iter([first, number.to_bytes(many, "big"), bytes(many)])
        report, left = device.report(2, lambda count, given=given: next(given)), len(list(given))
        found[report if left else "drawn again"] += 1
    again = found.pop("drawn again")
    assert Fraction(again, 256**many) == 1 - Fraction(n, 2 ** (n - 1).bit_length())
    assert dict(found) == ({"2": 256**many - again} if own else {str(i): (256**many - again) // n for i in range(n)})


SMALL = {
    name: sampler
    for name, sampler in SAMPLERS.items()
    if max(sampler["sizes"]) <= 16 and name not in ("hash", "pattern")
}


@needs_node
@pytest.mark.parametrize("examples", [MECHANISMS, SMALL], ids=["mechanisms", "by hand"])
def test_both_clients_take_these_bytes_on_every_path(examples):
    """All outcomes of the random choices, each with the first and the last number of its interval."""
    descriptions, cases, expected = [], [], []
    for k, (name, example) in enumerate(examples.items()):
        description = described(name) if callable(example) else sealed(example)
        device, sizes = Device(description), description["sampler"]["sizes"]
        descriptions.append(description)
        for value in ([0] * len(sizes), [size - 1 for size in sizes]):
            for report, path in paths(device, value):
                for last in (False, True):
                    given = iter(path.bytes(last))
                    wanted = " ".join(map(str, report))
                    assert (
                        device.report(value, lambda count, given=given: bytes(next(given) for _ in range(count)))
                        == wanted
                    )
                    assert next(given, None) is None
                    cases.append([k, value, path.bytes(last).hex()])
                    expected.append({"answer": [wanted, 0]})
    assert by_node(devices=descriptions, reports=cases)["reports"] == expected


NONE = {
    "zeros": bytes,
    "always 255": lambda many: b"\xff" * many,
    "the same again": lambda many: bytes(range(256))[:many],
    "too few": lambda many: bytes(range(100)),
    "nothing": lambda many: None,
    "texts": lambda many: "".join(map(chr, range(many))),
}


@pytest.mark.parametrize("name", NONE)
def test_python_refuses_random_bytes_that_are_none(name, monkeypatch):
    device = Device(sealed(SAMPLERS["response"]))
    assert device.report(2) in "01234"
    monkeypatch.setattr(client, "POOLS", [])
    monkeypatch.setattr(client.secrets, "token_bytes", NONE[name])
    for _ in range(2):
        refused(r"no secure random numbers here: secrets\.token_bytes is needed", device.report, 2)
