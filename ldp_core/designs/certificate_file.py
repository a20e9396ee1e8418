"""Certificates as files that others can check: certificate.json and certificate.npz, with the script verify.py that needs NumPy alone.

The files say what is proved (questions by their Gram matrix, epsilon as the exact decimal number,
whom the average is over, the bound) and hold the numbers that prove it: see
`ldp_core.bounds.verify`. Bounds that go column by column are longer than a script of a few pages can check. The files then hold
the closed form for the script, and say so. They also hold the stronger proof for this program. Whatever is read is no one's word:
`read` hands out certificates only once they have verified for the design available.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np

from ldp_core import limits
from ldp_core.bounds import verify
from ldp_core.bounds.proof import Arrays, Document, Proof, from_file, less
from ldp_core.designs import strict_json
from ldp_core.designs.zips import npz, zipped
from ldp_core.workloads import Workload
from ldp_core.workloads.surveyed import as_tables

DOCUMENT = "certificate.json"
ARRAYS = verify.ARRAYS
SCRIPT = "verify.py"
MEMBERS = (DOCUMENT, ARRAYS, SCRIPT)
ROUNDED = ("gram", "scales", "constants")
"""Arrays that follow from the questions, which machines round in ways of their own."""
STRONGER = (
    "The program that wrote this file proves a larger bound by inequalities for columns, or sets of them, which take more than a short script to "
    "check. Its numbers are in the file as well, and the program checks them when it loads the file."
)
TRIPLES = (
    "The larger bound beside it was proved by triples of types, which this version does not check any more: prove it again "
    "for the best bound that is found now."
)
README = """# A proof of what no mechanism can beat

{meaning}

| File | What it is |
|---|---|
| `certificate.json`, `certificate.npz` | what is proved, and the numbers that prove it |
| `verify.py` | checks that they do: `python3 verify.py`; needs Python and NumPy, and nothing of the program that made them |

`verify.py` ends with 0 where the proof holds, with 1 where it does not, and with 2 where nothing was checked, as a file could not be read.
How the numbers prove it stands at its top.
"""
QUESTIONS = Path(__file__).with_name("proof.md").read_text(encoding="utf-8")
"""How to compare the questions of a proof with one's own."""


@dataclass(frozen=True)
class Written:
    """A certificate as files."""

    document: bytes
    arrays: bytes

    @property
    def members(self) -> dict[str, bytes]:
        """The files by name, with the script that checks them."""
        return {DOCUMENT: self.document, ARRAYS: self.arrays, SCRIPT: Path(verify.__file__).read_bytes()}

    def zipped(self) -> bytes:
        """The files in one zip.

        Returns
        -------
        The bytes of a zip with `members` and README.md, which says how to check the proof, and how to
        compare its questions with one's own.
        """
        meaning = strict_json.read(self.document, DOCUMENT)["meaning"]
        return zipped({**self.members, "README.md": f"{README.format(meaning=meaning)}\n{QUESTIONS}".encode()})


def write(proof: Proof, epsilon: str) -> Written:
    """The files of a certificate for ``epsilon``, the decimal number that was meant; equal ones have equal bytes. ValueError, one
    sentence, where it is too large or proves nothing."""
    if reason := proof.too_large_for_file():
        raise ValueError(reason)
    document, arrays = proof.to_file(_decimal(epsilon, proof.epsilon))
    claimed = proof.claimed
    n, by_script = document["types"], verify.proven(document, arrays)
    value = min(claimed, less(by_script, n * verify.mean_diagonal(document, arrays), n))
    if not (value > 0 and proof.verify()):
        raise ValueError("The certificate proves nothing yet.")
    document_written = _stated(document, arrays, value, claimed)
    packed = npz(arrays, zipfile.ZIP_STORED)
    content = strict_json.write({**document_written, "sha256": hashlib.sha256(packed).hexdigest()}, pretty=True) + b"\n"
    if len(content) > limits.MOST_JSON_BYTES:
        raise ValueError(f"{DOCUMENT} would be too large to be read again: ask about fewer sets of columns.")
    return Written(content, packed)


def read(written: Written, workload: Workload, epsilon: str, checked: bool = False) -> Proof:
    """The certificate in files, for a design that asks ``workload`` with ``epsilon``.

    ``checked`` says that the same files have been read before: what takes
    long is then left out. Of a bound that was proved by triples of types, the smaller one beside it is read (see `left_out`).
    ValueError, one sentence, for files that are about something else, or
    prove less than they claim, take too long to check, or are not written as `write` does.
    """
    document = strict_json.read(written.document, DOCUMENT)
    try:
        sha256, value = document.pop("sha256"), float(document["value"])
        if sha256 != hashlib.sha256(written.arrays).hexdigest():
            raise ValueError(f"{ARRAYS} does not have the SHA-256 that {DOCUMENT} names")
        given = verify.arrays(written.arrays)
        if _by_triples(document):
            document, given = _without_triples(document, given)
        claimed = float(document.get("stronger", document)["value"])
        if not all(np.all(np.isfinite(array)) for array in given.values()):
            raise ValueError("some of its numbers are not finite")
        number = float(document["epsilon"])
        if document["epsilon"] != _decimal(epsilon, number):
            raise ValueError(
                f"it is about epsilon {strict_json.shorten(document['epsilon'])}, and the design has {epsilon}"
            )
        if not verify.price(document, given) <= verify.allowed(given):
            raise ValueError("it would take too long to check")
        certificate = from_file(document, given, as_tables(workload) or workload, number, claimed)
        expected, arrays = certificate.to_file(document["epsilon"])
        document_expected = strict_json.write(
            _stated(expected, arrays, value, claimed)
        )  # 6 and 6.0 are equal, but not the same text
        if not _same(arrays, given) or document_expected != strict_json.write(document):
            raise ValueError("it is about other questions than those of the design, or was changed")
        if not checked:
            by_script = verify.proven(document, given) if "stronger" in document else value
            if not (0 <= value <= by_script and certificate.verify()):
                raise ValueError("its numbers do not prove the bound that it claims")
    except verify.DAMAGED:
        raise ValueError("The proof in the file cannot be used: it is damaged. Prove it again.") from None
    except ValueError as error:
        raise ValueError(f"The proof in the file cannot be used: {str(error).rstrip('.')}. Prove it again.") from None
    return certificate


def left_out(written: Written) -> str:
    """What the files hold that `read` does not use, in a sentence; empty where it uses all of them. For files that have been read."""
    return TRIPLES if _by_triples(strict_json.read(written.document, DOCUMENT)) else ""


def _by_triples(document: Document) -> bool:
    return any(part.get("proof") == "triples" for part in (document, *document.get("parts", ())))


def _without_triples(document: Document, data: Arrays) -> tuple[Document, Arrays]:
    """The proof for the script alone, where more was proved by triples of types."""
    plain = {name: content for name, content in document.items() if name not in ("proof", "stronger")}
    if "parts" in document:
        plain["parts"] = [{name: part[name] for name in part if name != "proof"} for part in document["parts"]]
    beside = ("triples_", "weights", "steps")  # the numbers of what is proved to the program alone
    return plain, {name: array for name, array in data.items() if not name.rpartition(".")[2].startswith(beside)}


def _decimal(epsilon: str, number: float) -> str:
    """The decimal number that was meant, in digits. ValueError if it is not ``number``."""
    text = format(Decimal(epsilon.strip()).normalize(), "f")
    if float(text) != number:
        raise ValueError(f"the proof is for epsilon {number:g}, and the design has {epsilon}")
    return text


def _stated(document: Document, arrays: Mapping[str, np.ndarray], value: float, stronger: float) -> Document:
    """The document with what it claims."""
    stated: Document = {"format": verify.format_of(document), **document, "value": value}
    if any("proof" in part for part in (document, *document.get("parts", ()))):
        stated["stronger"] = {"value": stronger, "meaning": STRONGER}
    return {**stated, "meaning": verify.meaning(stated, arrays)}


def _same(ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]) -> bool:
    """True if the arrays are those, but for how a Gram matrix was rounded."""
    if ours.keys() != theirs.keys() or any(ours[name].shape != theirs[name].shape for name in ours):
        return False
    return all(
        np.abs(ours[name] - theirs[name]).max(initial=0)
        <= name.rpartition(".")[2].startswith(ROUNDED) * 1e-12 * np.abs(ours[name]).max(initial=0)
        for name in ours
    )
