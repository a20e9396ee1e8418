"""The price of checking a certificate is known before the check begins, and unchecked parts are
named."""

import json
import subprocess
import sys

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.bounds import verify
from ldp_core.designs import certificate_file
from ldp_core.designs.certificate_file import Written


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("classes", {"cut_multipliers": np.zeros(50_000)}),
        ("tables", {}),
        ("parts", {}),
    ],
)
def test_what_takes_long_is_refused_before_it_is_begun(kind, content, monkeypatch):
    """Only the number of numbers is examined."""
    monkeypatch.setattr(verify, "by_kind", lambda *_: pytest.fail("it was begun"))
    groups = [{"columns": [*range(20)], "weight": 1.0}] * 20
    document = {"kind": kind, "epsilon": "1", "types": 4096, "prior": "even", "workload": {"groups": groups}}
    part = {**document, "kind": "general", "columns": [0], "weight": 1.0}
    document["parts"] = [{**part, "arrays": place} for place in range(50)]
    for place in range(50):
        content = content | ({f"{place}.size_multipliers": np.zeros(0)} if kind == "parts" else {})
    with pytest.raises(ValueError, match="longer to check"):
        verify.proven(document, content)


def test_equal_parts_cost_as_much_as_one():
    part = {"kind": "general", "types": 4096, "arrays": 0}
    one = verify.price({"kind": "parts", "parts": [part]}, {"0.size_multipliers": np.zeros(0)})
    many = verify.price({"kind": "parts", "parts": [part] * 500}, {"0.size_multipliers": np.zeros(0)})
    assert one == many <= verify.MOST_WORK


@pytest.mark.parametrize("shape", [(2,) * 16, (2,) * 20, (3, 3, 8), (65,)])
def test_a_cut_of_many_numbers_is_refused_before_its_square_is_made(shape):
    cut = np.lib.stride_tricks.as_strided(np.zeros(1), shape, (0,) * len(shape))
    bits = sum(shape) - len(shape)
    scheme = workloads.parity(min(bits, 24), 2).symmetry_group.scheme
    assert not bounds.general.whole.Cut(cut, 0.0).valid(scheme)
    document = {"kind": "classes", "types": 2**bits, "workload": {"gram": "classes", "bits": bits}}
    with pytest.raises(ValueError, match="at most 64 numbers"):
        verify.price(document, {"cut_multipliers": np.zeros(1), "cut0": cut})


def test_the_script_names_what_it_did_not_check(tmp_path):
    """A larger bound beside the one that holds proves nothing."""
    found = next(iter(bounds.triples.surveys.best(workloads.survey([2] * 7, 2), 3.0)))
    written = certificate_file.write(found, "3")
    document = json.loads(written.document)
    document["stronger"]["value"] = 1e12
    lying = Written(json.dumps(document).encode(), written.arrays)
    with pytest.raises(ValueError, match="cannot be used"):
        certificate_file.read(lying, found.workload, "3")
    for name, content in lying.members.items():
        (tmp_path / name).write_bytes(content)
    done = subprocess.run([sys.executable, "-I", tmp_path / "verify.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Not checked here")
    assert last.endswith("says under stronger and proof.")
