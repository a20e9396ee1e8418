"""The corpus of forged certificates beside this file: both verifiers refuse all of them, in a sentence."""

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from ldp_core import workloads
from ldp_core.bounds import verify
from ldp_core.designs import certificate_file
from ldp_core.designs.certificate_file import Written
from tests.refused import refused

FORGERIES = Path(__file__).with_name("forgeries")


def forged(name):
    content = json.loads((FORGERIES / f"{name}.json").read_text())
    packed = zlib.decompress(base64.b64decode(content["arrays"]))
    return content, Written(content["document"].encode(), packed)


NAMES = sorted(path.stem for path in FORGERIES.glob("*.json"))


def test_there_is_a_corpus():
    assert len(NAMES) > 90


@pytest.mark.parametrize("name", NAMES)
def test_the_script_refuses_a_forgery_for_what_is_wrong_with_it(name):
    content, files = forged(name)
    refused(content["why"], verify.verified, files.document, files.arrays)


@pytest.mark.parametrize("name", NAMES)
def test_the_program_refuses_a_forgery_in_a_sentence(name):
    content, files = forged(name)
    refused(
        r"^(The proof in the file cannot be used|certificate\.json) ?.*\.$",
        lambda: certificate_file.read(files, workloads.from_spec(content["workload"]), content["epsilon"]),
    )


@pytest.mark.parametrize("name", ["an-indefinite-matrix-of-two-types", "no-parts", "lists-in-lists"])
def test_run_by_itself_the_script_ends_with_1(name, tmp_path):
    _, files = forged(name)
    for member, content in files.members.items():
        (tmp_path / member).write_bytes(content)
    ran = subprocess.run([sys.executable, "-I", tmp_path / "verify.py"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.startswith("The proof does not hold. ")
