"""Uploaded proofs are checked in a process with limits: the same answers, and a sentence at a limit."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general.certificate import closed_form
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.designs import certificate_file, proof_check
from ldp_core.designs.certificate_file import Written
from ldp_core.limits import READ_PROOF
from tests.certificates import blocks, columns

KINDS = {
    "types": lambda: closed_form(workloads.custom([[1.0, 0.1, 0.3]]), 1.0, np.full(3, 1 / 3)),
    "columns": lambda: columns([3, 2, 4, 2], 1.0),
    "blocks": blocks,
}


def never(*_):
    raise AssertionError("This was not to be called.")


@pytest.mark.parametrize("kind", ["columns", "blocks"])
def test_a_process_of_its_own_says_the_same(kind, lower):
    lower(QUICK=-1)
    found = KINDS[kind]()
    files = certificate_file.write(found, "1")
    again = proof_check.read(files, found.workload, "1")
    assert type(again) is type(found)
    assert again.verify()
    assert again.value == certificate_file.read(files, found.workload, "1").value


def test_a_forgery_is_refused_there_in_the_same_words(lower):
    lower(QUICK=-1)
    found = KINDS["types"]()
    files = certificate_file.write(found, "1")
    document = json.loads(files.document)
    forged = Written(json.dumps({**document, "value": document["value"] * 1.01}).encode(), files.arrays)
    said = set()
    for read in (proof_check.read, certificate_file.read):
        with pytest.raises(ValueError, match="cannot be used") as caught:
            read(forged, found.workload, "1")
        said.add(str(caught.value))
    assert len(said) == 1


def test_a_limit_is_said_in_a_sentence():
    found = KINDS["columns"]()
    files = certificate_file.write(found, "1")
    short = replace(READ_PROOF, seconds=0)
    with pytest.raises(ValueError, match=r"^The proof in the file cannot be used\. This took longer than 0 seconds"):
        proof_check.read(files, found.workload, "1", short)


# --- what the price refuses -------------------------------------------------------------------------


def with_cuts(shape, many):
    """The files of an honest proof with other cuts, which would take long."""
    found = symmetric_certificate(workloads.parity(7, 2), 1.0, rounds=2)
    files = certificate_file.write(found, "1")
    arrays = {name: array for name, array in verify.arrays(files.arrays).items() if not name.startswith("cut")}
    arrays |= {f"cut{k}": np.ones(shape) for k in range(min(many, 9))}
    arrays |= {"cut_multipliers": np.zeros(many), "floors": np.zeros(many)}
    return json.loads(files.document), arrays


@pytest.mark.parametrize(
    ("shape", "many", "why"), [((2,) * 7, 1, "at most 64 numbers"), ((8,), 10**6, "longer to check than the 40")]
)
def test_what_would_take_long_is_refused_before_any_work(shape, many, why, monkeypatch):
    document, arrays = with_cuts(shape, many)
    monkeypatch.setattr(verify, "exactly", never)
    with pytest.raises(ValueError, match=why):
        verify.proven(document, arrays)


def test_the_price_grows_with_the_work():
    kinds = {"general": 0.0, "classes": 0.0, "tables": 0.0}
    for size in (10, 100, 1000):
        documents = {
            "general": (
                {"kind": "general", "types": size},
                {
                    "size_multipliers": np.zeros(size),
                    **dict.fromkeys(("inverse", "pairs"), np.zeros(size * (size + 1) // 2)),
                },
            ),
            "classes": ({"kind": "classes"}, {"cut_multipliers": np.zeros(size)}),
            "tables": ({"kind": "tables", "workload": {"sizes": [2], "groups": [{"columns": [0]}] * size}}, {}),
        }
        for kind, (document, data) in documents.items():
            price = verify.price(document, data)
            assert price > kinds[kind]
            kinds[kind] = price
