"""Uploaded proofs are checked in a process with limits: the same answers, and a sentence at a limit."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.bounds.general.certificate import closed_form
from ldp_core.designs import certificate_file, proof_check
from ldp_core.designs.certificate_file import Written
from ldp_core.limits import READ_PROOF
from tests.certificates import blocks, columns
from tests.refused import refused

KINDS = {
    "types": lambda: closed_form(workloads.custom([[1.0, 0.1, 0.3]]), 1.0, np.full(3, 1 / 3)),
    "columns": lambda: columns([3, 2, 4, 2], 1.0),
    "blocks": blocks,
}


@pytest.mark.promise
@pytest.mark.parametrize("kind", KINDS)
def test_a_process_of_its_own_says_the_same_and_refuses_a_forgery_in_the_same_words(kind, lower):
    lower(QUICK=-1)
    found = KINDS[kind]()
    files = certificate_file.write(found, "1")
    again = proof_check.read(files, found.workload, "1")
    assert (type(again), again.value) == (type(found), certificate_file.read(files, found.workload, "1").value)
    document = json.loads(files.document)
    forged = Written(json.dumps({**document, "value": document["value"] * 1.01}).encode(), files.arrays)
    both = (proof_check.read, certificate_file.read)
    assert len({refused("cannot be used", read, forged, found.workload, "1") for read in both}) == 1


def test_a_limit_is_said_in_a_sentence():
    found = KINDS["columns"]()
    files = certificate_file.write(found, "1")
    short = replace(READ_PROOF, seconds=0)
    refused(
        r"^The proof in the file cannot be used\. This took longer than 0 seconds",
        proof_check.read,
        files,
        found.workload,
        "1",
        short,
    )
