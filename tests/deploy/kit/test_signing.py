"""Signed devices: a client with a public key takes the devices signed with its private key, and no other."""

import copy
import json
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from kits import ages, device_of, kit_of, members, packed

from ldp_core.deploy.kit import client, package, signing
from ldp_core.deploy.kit.opening import open_kit
from tests.deploy.kit.javascript import CLIENT, needs_node
from tests.deploy.kit.samplers import KEY, OTHER, SAMPLERS, again, pem, sealed
from tests.refused import refused

PUBLIC = signing.public_key(KEY)
SOUND = signing.sign(sealed(SAMPLERS["table"]), KEY)


def altered_on_purpose():
    """A device with another chance, matching ids, and the old signature."""
    found = copy.deepcopy(SOUND)
    found["sampler"]["columns"][0][0] -= 1
    found["sampler"]["columns"][0][1] += 1
    return again(found)


REFUSED = {
    "altered on purpose": (altered_on_purpose(), PUBLIC, "does not fit the key"),
    "signed with another key": (signing.sign(SOUND, OTHER), PUBLIC, "does not fit the key"),
    "another key given": (SOUND, signing.public_key(OTHER), "does not fit the key"),
    "not signed": (SOUND | {"signature": None}, PUBLIC, "not signed"),
    "a short key": (SOUND, PUBLIC[:-2], "64 hexadecimal digits"),
    "no key": (SOUND, "", "64 hexadecimal digits"),
    "altered by accident": (SOUND | {"epsilon": "98"}, PUBLIC, "altered"),
}


def test_the_public_key_is_that_of_the_standard():
    """RFC 8032, 7.1, test 1: its secret key, and its public key."""
    secret = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    told = signing.public_key(pem(ed25519.Ed25519PrivateKey.from_private_bytes(secret)))
    assert told == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"


def test_a_signed_device_is_taken_with_its_key_and_without():
    assert client.Device.signed(SOUND, PUBLIC).design == client.Device(SOUND).design == SOUND["design"]
    assert client.Device.signed(SOUND, PUBLIC.upper()).report(2) in ("0", "1", "2")


@needs_node
def test_both_clients_refuse_what_does_not_fit_the_key():
    cases = [[SOUND, PUBLIC], *([description, key] for description, key, _ in REFUSED.values())]
    program = f"""
        const LDP = require({json.dumps(str(CLIENT))});
        (async () => {{
          for (const [description, key] of {json.dumps(cases)}) {{
            const said = await LDP.Device.signed(description, key).then((device) => device.design, (error) => error.message);
            console.log(said);
          }}
        }})();"""
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, encoding="utf-8", check=True)
    said = done.stdout.splitlines()
    assert said[0] == SOUND["design"]
    for (kind, (description, key, words)), one in zip(REFUSED.items(), said[1:], strict=True):
        assert one == refused(words, client.Device.signed, description, key), kind
        assert "\n" not in one


@pytest.mark.parametrize(
    "program", [[sys.executable, "client.py"], pytest.param(["node", "client.js"], marks=needs_node)], ids=str
)
def test_a_signed_kit_runs_with_its_key_and_opens_again(program, tmp_path):
    found = ages()
    content = package.kit(found, private_key=KEY)
    for name, written in members(content).items():
        (tmp_path / name).write_bytes(written)
    told = (tmp_path / "README.md").read_text()
    assert "This device is signed" in told
    assert "This device is not signed" not in told
    assert "This device is not signed" in members(kit_of(found))["README.md"].decode()
    for key, code in ((PUBLIC, 0), (signing.public_key(OTHER), 1)):
        done = subprocess.run(
            [*program, "--key", key, "device.json", "3"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == code
        assert bool(done.stdout) is (code == 0)
        assert done.stderr.count("\n") == code
    audited = subprocess.run(
        [sys.executable, "-I", "audit.py", "device.json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "client.py --key KEY" in audited.stdout
    opened = open_kit(content)
    assert opened.device["signature"] == device_of(content)["signature"]
    assert opened.design == open_kit(kit_of(found)).design
    junk = json.dumps(device_of(content) | {"signature": "junk"}).encode()
    refused(r".", lambda: open_kit(packed({**members(content), "device.json": junk})))


@pytest.mark.parametrize(
    "file",
    [b"", KEY[:-40], pem(ec.generate_private_key(ec.SECP256R1())), pem(ed25519.Ed25519PrivateKey.generate(), BestAvailableEncryption(b"x"))],
    ids=["nothing", "half a key", "another kind", "locked"],
)  # fmt: skip
def test_files_that_hold_no_key_are_refused_in_one_sentence(file):
    refused("make one with: openssl", signing.sign, SOUND, file)
