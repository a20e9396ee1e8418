"""Uploaded proofs, checked in a separate process with limits on time and memory. Proofs of few
numbers are checked here, as that takes no longer than starting a process."""

from __future__ import annotations

from typing import Any, BinaryIO

from ldp_core.bounds import Proof, verify
from ldp_core.data.reading.child import run
from ldp_core.data.reading.common import UnreadableTable
from ldp_core.designs import certificate_file, strict_json
from ldp_core.designs.certificate_file import Written
from ldp_core.limits import READ_PROOF, Limits
from ldp_core.workloads import Workload, from_spec

QUICK = 5e5
SMALL = 2**23
"""No process is started below this many microseconds of work, and bytes of numbers."""


def read(files: Written, workload: Workload, epsilon: str, limits: Limits = READ_PROOF) -> Proof:
    """The same as `certificate_file.read`, for files not yet examined; ValueError as there, or with
    a sentence about the limit that was passed."""
    if _quick(files):
        return certificate_file.read(files, workload, epsilon)
    options = {"workload": workload.spec, "epsilon": epsilon, "document": len(files.document)}
    try:
        run("proof", options, limits, files.document + files.arrays, "prove it again.")
    except UnreadableTable as error:
        said = str(error)
        if said.startswith("This"):
            said = f"The proof in the file cannot be used. {said}"
        raise ValueError(said) from None
    return certificate_file.read(files, workload, epsilon, checked=True)


def work(content: bytes, options: dict[str, Any], limits: Limits, output: BinaryIO) -> dict[str, Any]:
    """The task of the process: check the proof."""
    files = Written(content[: options["document"]], content[options["document"] :])
    try:
        certificate_file.read(files, from_spec(options["workload"]), options["epsilon"])
    except ValueError as error:
        raise UnreadableTable(str(error)) from None
    return {}


def _quick(files: Written) -> bool:
    """True if the work is known to be little, whatever the numbers are."""
    if len(files.arrays) > SMALL:
        return False
    try:
        document = strict_json.read(files.document, certificate_file.DOCUMENT)
        data = verify.arrays(files.arrays)
        if any("proof" in about for about in (document, *document.get("parts", ()))):
            return False  # inequalities for sets of columns, which have no price
        return verify.price(document, data) <= QUICK
    except (*verify.DAMAGED, ValueError):
        return False
