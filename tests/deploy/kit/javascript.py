"""The client in JavaScript, run by Node for many cases at once."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from ldp_core.deploy.kit import client

HERE = Path(__file__).parent
CLIENT = Path(client.__file__).with_name("client.js")
ANSWER = HERE / "answer.js"
SOURCES = HERE / "sources.js"

needs_node = pytest.mark.skipif(
    shutil.which("node") is None,
    reason="Node is missing: tests/run.sh installs it for root, or: apt-get install nodejs",
)


def by_node(**request):
    """The answers of client.js: see answer.js."""
    command = ["node", "--require", str(CLIENT), str(ANSWER)]
    done = subprocess.run(
        command, input=json.dumps(request), capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_python(work, *given):
    """{"answer": ...} or {"error": ...}, as answer.js has them."""
    try:
        return {"answer": work(*given)}
    except ValueError as error:
        return {"error": str(error)}


def drawn(device, value, seed):
    """A report, and the bytes it took, in hexadecimal digits; none where the value is refused."""
    numbers, taken = random.Random(seed), bytearray()

    def source(count):
        bytes_ = numbers.randbytes(count)
        taken.extend(bytes_)
        return bytes_

    found = by_python(device.report, value, source)
    return ({"answer": [found["answer"], 0]} if "answer" in found else found), taken.hex()
