"""client.js says what client.py says: the same reports for the same bytes, the same numbers for the same words, the same refusals."""

import copy
import json
import random
import subprocess

import pytest

from ldp_core.deploy.kit import client
from tests.deploy.kit.javascript import CLIENT, SOURCES, by_node, by_python, drawn, needs_node
from tests.deploy.kit.samplers import SAMPLERS, again, sealed

pytestmark = needs_node


def test_every_kind_of_sampler_is_tried():
    tried = {part["kind"] for sampler in SAMPLERS.values() for part in [sampler, *sampler.get("draws", [])]}
    assert tried == set(client.KINDS)


def test_equal_bytes_give_equal_reports_with_every_kind_of_sampler():
    random_ = random.Random(0)
    descriptions = [sealed(sampler) for sampler in SAMPLERS.values()]
    cases, expected = [], []
    for number, description in enumerate(descriptions):
        device, sizes = client.Device(description), description["sampler"]["sizes"]
        for seed in range(60):
            value = [random_.randrange(size) for size in sizes]
            found, taken = drawn(device, value, f"{number} {seed}")
            cases.append([number, value, taken])
            expected.append(found)
    assert by_node(devices=descriptions, reports=cases)["reports"] == expected


# --- what is refused ---------------------------------------------------------------------------------------------------


NASTY_TEXTS = [
    "a",
    "a b",
    "A",
    '"',
    "\\",
    "/",
    "\n\t\r\b\f",
    "\x00\x1f\x7f\x80",
    "é",
    "\u2028",
    "😀",
    "\ud800",
    "",
    "-0",
]
NASTY_NUMBERS = [0, -0.0, 1, 1.0, -1, 0.1, 1e-7, 1e21, 1e22, 2**53 + 1, 5e-324, 1.7976931348623157e308, 123456789.123]


def test_the_id_of_a_domain_is_the_same_in_both_languages():
    words = {text: number for number, text in enumerate(NASTY_TEXTS)}
    domain = {"attributes": [{"words": words, "edges": NASTY_NUMBERS, "clamp": True, "other": None}, [], {}]}
    another = copy.deepcopy(domain)
    another["attributes"][0]["edges"][5] += 2**-56
    domains = [domain, another, None]
    ids = [client.domain_id(one) for one in domains]
    assert by_node(domains=domains)["ids"] == ids
    assert len({one for one in ids if len(one) == 64}) == 3


def test_names_that_are_not_ascii_have_the_same_ids_in_both_languages():
    sound = again(sealed(SAMPLERS["response"]) | {"mechanism": "".join(NASTY_TEXTS)})
    assert client.Device(sound).design == sound["design"]
    assert by_node(devices=[sound, sound | {"mechanism": "another"}])["devices"] == [
        "made",
        "The sampler or epsilon of this device was altered: its design id does not match. Export it again.",
    ]


def test_a_device_that_lacks_something_is_refused():
    whole = sealed(SAMPLERS["response"])
    lacking = [{name: part for name, part in whole.items() if name != lost} for lost in whole]
    lacking += [
        sealed({name: part for name, part in sampler.items() if name != lost})
        for sampler in SAMPLERS.values()
        for lost in sampler
        if lost != "secret"  # without it all values are
    ]
    assert len(lacking) > 60
    for description, found in zip(lacking, by_node(devices=lacking)["devices"], strict=True):
        start = "This is no whole description of a device ("
        assert found.startswith(start), description
        assert by_python(client.Device, description)["error"].startswith(start), description


@pytest.mark.parametrize("name", ["table", "pattern"])
def test_values_outside_are_refused_with_the_same_sentence(name):
    description = sealed(SAMPLERS[name])
    one = [
        -1,
        5,
        10**9,
        [1.5],
        True,
        [0, 0],
        [],
        [5],
        ["x"],
        [None],
        ["it's"],
        [0.1],
        [1e-5],
        [1e300],
        [[0]],
        {"age": 3},
    ]
    three = [0, [0, 0], [0, 2, 0], [0, 1, "two"], [0, 1, -1], [3, 1, 3], [0, False, 1], [0, 1, 4, 4]]
    values = three if name == "pattern" else [value for value in one if value != [[0]]]
    device = client.Device(description)
    expected = [drawn(device, value, 0)[0] for value in values]
    assert all("error" in one for one in expected)
    assert by_node(devices=[description], reports=[[0, value, ""] for value in values])["reports"] == expected


# --- where it runs -----------------------------------------------------------------------------------------------------


def run_node(*arguments):
    return subprocess.run(["node", *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_command_line_prints_a_report_per_value_or_one_sentence(tmp_path):
    file = tmp_path / "device.json"
    file.write_text(json.dumps(sealed(SAMPLERS["table"])))
    told = run_node(CLIENT, file, "2", "3", "[2]")  # of types that send another report once in 10^15 times
    assert (told.returncode, told.stdout, told.stderr) == (0, "0\n1\n0\n", "")
    for values, sentence in {("5",): "from 0 to 4", ("red",): "JSON such as", (): "Usage: node client.js"}.items():
        told = run_node(CLIENT, file, *values)
        assert told.returncode != 0
        assert told.stdout == ""
        assert sentence in told.stderr
        assert told.stderr.count("\n") == 1
    assert run_node(CLIENT, tmp_path / "none.json", "2").returncode == 1


def test_random_bytes_are_those_of_web_crypto_and_not_of_math_random():
    found = by_node(devices=[sealed(SAMPLERS["hash"])], secure=[[0, [1] * 200]])["secure"][0]["answer"]
    assert len({report.split()[0] for report in found}) == 200
    assert "Math.random" not in CLIENT.read_text(encoding="utf-8")


def test_sources_of_random_bytes_that_are_none_are_refused(tmp_path):
    file = tmp_path / "device.json"
    file.write_text(json.dumps(sealed(SAMPLERS["response"])))
    assert json.loads(run_node(SOURCES, CLIENT, file).stdout) == [19, {}]
