"""Certificates as files that others can check: certificate.json and certificate.npz, with the script verify.py that needs NumPy alone.

The files say what is proved (questions by their Gram matrix, epsilon as the exact decimal number,
whom the average is over, the bound) and hold the numbers that prove it: see
`ldp_core.bounds.verify`. Some bounds are longer than a script of a few pages can check: bounds for
surveys by inequalities between sets of columns, or by questions of different kinds taken together.
The files then hold the closed form for the script, or the bounds of the parts, and say so. They
also hold the stronger proof for this program. Whatever is read is no one's word: `read` hands out
certificates only once they have verified for the design available.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ldp_core import limits
from ldp_core.bounds import (
    AnyCertificate,
    BlocksCertificate,
    Certificate,
    GroupedCertificate,
    MergedCertificate,
    SinglesCertificate,
    SurveyCertificate,
    SymmetricCertificate,
    TripleCertificate,
    TripleSurveyCertificate,
    verify,
)
from ldp_core.bounds.general import merged
from ldp_core.bounds.general.whole import Cut
from ldp_core.bounds.proof import MARGIN, Proof
from ldp_core.bounds.surveys.best import OfSets
from ldp_core.bounds.surveys.grouped import split
from ldp_core.bounds.surveys.search import closed_form
from ldp_core.bounds.triples.duals import Duals
from ldp_core.designs import strict_json
from ldp_core.designs.zips import zipped
from ldp_core.limits import MOST_MATRIX_TYPES, MOST_PROOF_WORK
from ldp_core.workloads import Histogram, Survey, Workload, merging
from ldp_core.workloads.surveys import eigenvalues

DOCUMENT = "certificate.json"
ARRAYS = verify.ARRAYS
SCRIPT = "verify.py"
MEMBERS = (DOCUMENT, ARRAYS, SCRIPT)
STRONGER = (
    "The program that wrote this file proves a larger bound by inequalities for columns, or sets of them, which take more than a short script to "
    "check. Its numbers are in the file as well, and the program checks them when it loads the file."
)
TOGETHER = (
    "The program that wrote this file proves a larger bound by taking questions of all kinds together, where this adds up what is proved of the "
    "parts; that takes more than a short script to check. The questions alone prove it, and the program checks it when it loads the file."
)
MERGED = (
    "The {few} types are those that the questions tell apart, of as many combinations of values as the number beside this; people are spread over "
    "them by the shares of the combinations that they are. No mechanism for the combinations does better, on average over these."
)
Arrays = dict[str, np.ndarray]
Document = dict[str, Any]


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
        """All of them in one zip."""
        return zipped(self.members)


def too_large(found: AnyCertificate) -> str | None:
    """Why a certificate is not written to a file, None where it is."""
    if isinstance(found, Certificate) and found.workload.n > MOST_MATRIX_TYPES:
        return f"Certificates are written for at most {MOST_MATRIX_TYPES:,} types; there are {found.workload.n:,}."
    if isinstance(found, BlocksCertificate):
        return too_large(found.plain)
    if isinstance(found, GroupedCertificate):
        if any(part is None for part in found.others):
            return "One of the groups of questions has no proved bound, so there is no proof to write."
        return next((reason for part in found.others if (reason := too_large(_whole(part)))), None)
    return None


def write(found: AnyCertificate, epsilon: str) -> Written:
    """The files of a certificate for ``epsilon``, the decimal number that was meant; equal ones have equal bytes. ValueError, one
    sentence, where it is `too_large` or proves nothing."""
    if reason := too_large(found):
        raise ValueError(reason)
    text = _decimal(epsilon, found.epsilon)
    found = _mended(found, text)
    document, arrays = _described(found, text)
    claimed = _claimed(found)
    value = min(claimed, verify.proven(document, arrays) * (1 - MARGIN))
    if not (value > 0 and found.verify()):
        raise ValueError("The certificate proves nothing yet.")
    told = _told(document, arrays, value, claimed)
    packed = _packed(arrays)
    content = strict_json.write({**told, "sha256": hashlib.sha256(packed).hexdigest()}, pretty=True) + b"\n"
    if len(content) > limits.MOST_JSON_BYTES:
        raise ValueError(f"{DOCUMENT} would be too large to be read again: ask about fewer sets of columns.")
    return Written(content, packed)


def read(written: Written, workload: Workload, epsilon: str, checked: Sequence[float] | None = None) -> AnyCertificate:
    """The certificate in files, for a design that asks ``workload`` with ``epsilon``.

    ``checked`` are the `claims` of the same files where they have been read before: what takes
    long is then left out. ValueError, one sentence, for files that are about something else, or
    prove less than they claim, take too long to check, or are not written as `write` does.
    """
    document = strict_json.read(written.document, DOCUMENT)
    try:
        claimed = float(document.get("stronger", document)["value"])
        sha256, value = document.pop("sha256"), float(document["value"])
        if sha256 != hashlib.sha256(written.arrays).hexdigest():
            raise ValueError(f"{ARRAYS} does not have the SHA-256 that {DOCUMENT} names")
        given = verify.arrays(written.arrays)
        if not all(np.all(np.isfinite(array)) for array in given.values()):
            raise ValueError("some of its numbers are not finite")
        number = float(document["epsilon"])
        if document["workload"] == {"gram": "parts"} and workload.survey is not None:
            document["workload"]["sizes"] = list(workload.survey.shape)  # older files do not name them
        if document["epsilon"] != _decimal(epsilon, number):
            raise ValueError(
                f"it is about epsilon {strict_json.shorten(document['epsilon'])}, and the design has {epsilon}"
            )
        if verify.price(document, given) > MOST_PROOF_WORK:
            raise ValueError("it would take too long to check")
        found = _rebuilt(document, given, workload, number, checked)
        found = _claiming(found, claimed)
        expected, arrays = _described(found, document["epsilon"])
        told = strict_json.write(_told(expected, arrays, value, claimed))  # 6 and 6.0 are equal, but not the same text
        if not _same(arrays, given) or told != strict_json.write(document):
            raise ValueError("it is about other questions than those of the design, or was changed")
        if checked is None and not _holds(found, document, given, value):
            raise ValueError("its numbers do not prove the bound that it claims")
    except (
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        ArithmeticError,
        RuntimeError,
        zipfile.BadZipFile,
        EOFError,
    ):
        raise ValueError("The proof in the file cannot be used: it is damaged. Prove it again.") from None
    except ValueError as error:
        raise ValueError(f"The proof in the file cannot be used: {str(error).rstrip('.')}. Prove it again.") from None
    return found


def claims(found: AnyCertificate) -> list[float]:
    """The claims of the parts of a composite certificate, which are not in the files."""
    plain = found.plain if isinstance(found, BlocksCertificate) else found
    if not isinstance(plain, GroupedCertificate):
        return []
    every = (plain.alike, *plain.others)
    return list({id(part): part.value for part in every if part is not None}.values())


def _holds(found: AnyCertificate, document: Document, data: Arrays, value: float) -> bool:
    """True if the numbers prove both the bound for the script, and the stronger bound if there is
    one."""
    by_script = verify.proven(document, data) if "stronger" in document else value
    return 0 <= value <= by_script and found.verify()


def _claimed(found: AnyCertificate) -> float:
    """The bound on the scale of the types that the numbers are about."""
    return found.types.value if isinstance(found, MergedCertificate) else found.value


def _claiming(found: AnyCertificate, value: float) -> AnyCertificate:
    """The certificate with that bound."""
    if not isinstance(found, MergedCertificate):
        return replace(found, value=value)
    types = replace(found.types, value=value)
    return replace(found, types=types, value=merged.scaled(found.workload, types))


def _decimal(epsilon: str, number: float) -> str:
    """The decimal number that was meant, in digits. ValueError if it is not ``number``."""
    text = format(Decimal(epsilon.strip()).normalize(), "f")
    if float(text) != number:
        raise ValueError(f"the proof is for epsilon {number:g}, and the design has {epsilon}")
    return text


def _told(document: Document, arrays: Mapping[str, np.ndarray], value: float, stronger: float) -> Document:
    """The document with what it claims."""
    told: Document = {"format": verify.FORMAT, **document, "value": value}
    if _by_inequalities(document):
        told["stronger"] = {
            "value": stronger,
            "meaning": TOGETHER if "blocks" in document.get("proof", ()) else STRONGER,
        }
    return {**told, "meaning": verify.meaning(told, arrays)}


def _by_inequalities(document: Document) -> bool:
    return "proof" in document or any(map(_by_inequalities, document.get("parts", ())))


def _same(ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]) -> bool:
    """True if the arrays are those, but for how a Gram matrix was rounded."""
    if ours.keys() != theirs.keys() or any(ours[name].shape != theirs[name].shape for name in ours):
        return False
    exact = (name for name in ours if name.rpartition(".")[2] != "gram")
    rounded = (name for name in ours if name.rpartition(".")[2] == "gram")
    return all(np.array_equal(ours[name], theirs[name]) for name in exact) and all(
        np.abs(ours[name] - theirs[name]).max() <= 1e-12 * np.abs(ours[name]).max() for name in rounded
    )


def _packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    members = {}
    for name, array in arrays.items():
        content = io.BytesIO()
        np.lib.format.write_array(content, np.ascontiguousarray(array, dtype="<f8"), version=(1, 0))
        members[f"{name}.npy"] = content.getvalue()
    return zipped(members, zipfile.ZIP_STORED)


# --- what is written ----------------------------------------------------------------------------------------------


def _described(found: AnyCertificate, epsilon: str) -> tuple[Document, Arrays]:
    """The statement of a certificate, and the numbers that prove it."""
    about: Document = {"epsilon": epsilon, "types": int(found.workload.n)}
    if isinstance(found, GroupedCertificate):
        return _parts(found, about)
    if isinstance(found, BlocksCertificate):
        document, arrays = _parts(found.plain, about)
        return {**document, "proof": {"blocks": True}}, arrays
    if isinstance(found, MergedCertificate):
        few = found.types.workload.n
        document, arrays = _general(found.types, {**about, "types": few})
        return {**document, "merged": {"types": about["types"], "meaning": MERGED.format(few=few)}}, arrays
    if isinstance(found, OfSets):
        return _tables(found, about)
    if isinstance(found, TripleCertificate):
        document, arrays = _classes(found.plain, about)
        return {**document, "proof": {"intervals": len(found.duals.values)}}, arrays | _of_triples(found.duals)
    return _classes(found, about) if isinstance(found, SymmetricCertificate) else _general(found, about)


def _general(found: Certificate, about: Document) -> tuple[Document, Arrays]:
    below, n = np.tril_indices(found.workload.n), found.workload.n
    arrays: Arrays = {
        "inverse": found.inverse[below],
        "multipliers": found.multipliers,
        "diagonal": found.diagonal,
        "pairs": found.pairs[below],
        "sizes": found.sizes,
        "size_multipliers": found.size_multipliers,
    }
    if len(found.triples):
        arrays |= {"triples": found.triples, "triple_multipliers": found.triple_multipliers}
    even = np.array_equal(found.prior, np.full(n, 1 / n))
    if not even:
        arrays["prior"] = found.prior
    G, workload = found.workload.gram_dense(), Document(gram="array", roundings=found.workload.gram_roundings)
    for kind in verify.NAMED:
        if np.array_equal(G, verify.gram({"types": n, "workload": {"gram": kind}}, {})):
            workload = {"gram": kind}
    if workload["gram"] == "array":
        arrays["gram"] = G[below]
    return {"kind": "general", **about, "workload": workload, "prior": "even" if even else "array"}, arrays


def _classes(found: SymmetricCertificate, about: Document) -> tuple[Document, Arrays]:
    scheme = found.workload.symmetry_group.scheme
    if scheme is None:
        raise ValueError("the questions do not treat all types alike")
    arrays: Arrays = {
        "gram": scheme.by_class(found.workload.gram_column),
        "inverse": found.inverse,
        "pairs": found.pairs,
        "cut_multipliers": found.cut_multipliers,
        "floors": np.array([cut.floor for cut in found.cuts]),
        **{f"cut{k}": np.asarray(cut.weights, dtype=float) for k, cut in enumerate(found.cuts)},
        "diagonal": np.array([found.diagonal]),
        "multiplier": np.array([found.multiplier]),
    }
    bits = scheme.classes - 1 if scheme.binary else 0
    return {"kind": "classes", **about, "workload": {"gram": "classes", "bits": bits}}, arrays


BY_TRIPLES = tuple(field.name for field in fields(Duals))


def _of_triples(duals: Duals) -> Arrays:
    return {f"triples_{name}": np.asarray(getattr(duals, name), dtype=float) for name in BY_TRIPLES}


def _triples_read(data: Mapping[str, np.ndarray]) -> Duals:
    return Duals(**{name: data[f"triples_{name}"] for name in BY_TRIPLES})


def _mended(found: AnyCertificate, epsilon: str) -> AnyCertificate:
    """The certificate with the least gamma, and then the least mu, that pass in exact fractions, where it is checked in these."""
    if isinstance(found, GroupedCertificate):
        return _mended_parts(found, epsilon)
    if isinstance(found, BlocksCertificate):
        return replace(found, plain=_mended_parts(found.plain, epsilon))
    if isinstance(found, TripleCertificate):
        return replace(found, plain=_mended_classes(found.plain, epsilon))
    return _mended_classes(found, epsilon) if isinstance(found, SymmetricCertificate) else found


def _mended_parts(found: GroupedCertificate, epsilon: str) -> GroupedCertificate:
    known = {id(part): _mended(_whole(part), epsilon) for part in found.others}
    return replace(found, others=tuple(known[id(part)] for part in found.others))


def _mended_classes(found: SymmetricCertificate, epsilon: str) -> SymmetricCertificate:
    document, arrays = _described(found, epsilon)
    n, _, _, _, X, taken, linear, constant = verify.terms(document, arrays, D := verify.exp_epsilon_minus_one(epsilon))
    gamma = _above(max(x + t for x, t in zip(X[1:], taken[1:], strict=True)))
    # The remaining matrix is [[n u - constant, sqrt n (u + e)], [., u + f]] where u = n mu - X_0:
    # its determinant is linear in u.
    e, f = -(D * Fraction(gamma) + linear) / 2, Fraction(gamma) - taken[0]
    rises = n * f - constant - 2 * n * e
    if not rises > 0:
        raise ValueError("The certificate proves nothing yet.")
    least = max((constant * f + n * e**2) / rises, constant / n, -f)
    return replace(found, diagonal=gamma, multiplier=_above((least + X[0]) / n))


def _above(x: Fraction) -> float:
    return -verify.below(-x)


def _whole(proof: Proof | None) -> AnyCertificate:
    """The proof of a part, which must be there."""
    if not isinstance(proof, AnyCertificate):
        raise ValueError("One of the groups of questions has no proved bound, so there is no proof to write.")
    return proof


def _tables(found: OfSets, about: Document) -> tuple[Document, Arrays]:
    survey = found.workload
    groups = []
    for group in survey.groups:
        one: Document = {"columns": list(group.attributes), "weight": float(group.weight)}
        if not isinstance(group.base, Histogram):
            values = eigenvalues(group.base, [survey.shape[i] for i in group.attributes]) or {}
            places = verify.subsets(tuple(range(len(group.attributes))))
            one["eigenvalues"] = [float(values.get(members, 0.0)) for members in places]
        groups.append(one)
    workload = {"gram": "tables", "sizes": list(survey.shape), "groups": groups}
    document: Document = {"kind": "tables", **about, "workload": workload}
    if isinstance(found, TripleSurveyCertificate):
        return {**document, "proof": {"intervals": len(found.duals.values)}}, _of_triples(found.duals)
    if isinstance(found, SinglesCertificate):
        return {**document, "proof": {"steps": int(found.steps)}}, {"weights": np.asarray(found.weights, dtype=float)}
    if np.all(found.weights == 1) and not any(map(len, (found.differing, found.slopes, found.aligned))):
        return document, {}
    arrays = {
        name: np.asarray(getattr(found, name), dtype=float)
        for name in (*BY_SETS, *(ALIGNED if len(found.aligned) else ()))
    }
    return {**document, "proof": {"kinds": [list(kind) for kind in found.kinds]}}, arrays


BY_SETS = ("weights", "differing", "within", "slopes", "ends", "differing_multipliers", "within_multipliers")
ALIGNED = ("aligned", "aligned_multipliers")
"""Only in the file where there are any: older files have none."""
NO_LONGER = "it is of a kind that this version does not check any more"


def _parts(found: GroupedCertificate, about: Document) -> tuple[Document, Arrays]:
    same, others = split(found.workload)
    every = list(range(len(found.workload.shape)))
    proofs = [] if same is None else [(every, 1.0, _whole(found.alike))]
    proofs += [
        (list(group.attributes), float(group.weight), _whole(proof))
        for group, proof in zip(others, found.others, strict=True)
    ]
    numbers, arrays, parts = dict[int, tuple[int, Document]](), Arrays(), []
    for columns, weight, proof in proofs:
        if id(proof) not in numbers:
            number = len(numbers)
            document, own = _described(proof, about["epsilon"])
            numbers[id(proof)] = number, document
            arrays.update({f"{number}.{name}": array for name, array in own.items()})
        number, document = numbers[id(proof)]
        parts.append({**document, "columns": columns, "weight": weight, "arrays": number})
    workload = {"gram": "parts", "sizes": list(found.workload.shape)}
    return {"kind": "parts", **about, "workload": workload, "parts": parts}, arrays


# --- what is read -------------------------------------------------------------------------------------------------


def _rebuilt(
    document: Document,
    data: Mapping[str, np.ndarray],
    workload: Workload,
    epsilon: float,
    checked: Sequence[float] | None = None,
) -> AnyCertificate:
    """The certificate that a document speaks of, about ``workload``; of its value nothing is known. KeyError, TypeError or ValueError for
    what is none."""
    kind = document["kind"]
    if workload.survey is not None and kind == "tables":
        return _tables_read(document, data, workload.survey, epsilon)
    if workload.survey is not None and kind == "parts":
        return _parts_read(document, data, workload.survey, epsilon, checked)
    if kind == "classes":
        kappa = data["cut_multipliers"]
        cuts = tuple(Cut(data[f"cut{k}"], float(floor)) for k, floor in enumerate(data["floors"]))
        one, two = float(data["multiplier"][0]), float(data["diagonal"][0])
        plain = SymmetricCertificate(workload, epsilon, 0.0, data["inverse"], one, two, data["pairs"], cuts, kappa)
        if "proof" not in document:
            return plain
        if "intervals" in document["proof"]:
            return TripleCertificate(workload, epsilon, 0.0, _triples_read(data), plain)
        raise ValueError(NO_LONGER)
    if kind == "general" and "merged" in document:
        few = merging.merged(workload, merged.MERGED_TYPES)
        if few is None:
            raise ValueError("it is about other questions than those of the design")
        return MergedCertificate(workload, epsilon, 0.0, _general_read(document, data, few.queries, epsilon))
    if kind != "general" or workload.n > MOST_MATRIX_TYPES:
        raise ValueError("it is about other questions than those of the design")
    return _general_read(document, data, workload, epsilon)


def _general_read(
    document: Document, data: Mapping[str, np.ndarray], workload: Workload, epsilon: float
) -> Certificate:
    C, N = verify.square(data["inverse"], workload.n), verify.square(data["pairs"], workload.n)
    prior = verify.people({**document, "types": workload.n}, data)
    mu, gamma, sizes, kappa = (data[name] for name in ("multipliers", "diagonal", "sizes", "size_multipliers"))
    triples = data.get("triples", np.zeros((0, 7))), data.get("triple_multipliers", np.zeros(0))
    return Certificate(workload, epsilon, prior, 0.0, C, mu, gamma, N, sizes, kappa, *triples)


def _tables_read(document: Document, data: Mapping[str, np.ndarray], survey: Survey, epsilon: float) -> OfSets:
    if "proof" not in document:
        return closed_form(survey, epsilon)
    proof = document["proof"]
    if "angle" in proof or "three" in data:
        raise ValueError(NO_LONGER)
    if "intervals" in proof:
        return TripleSurveyCertificate(survey, epsilon, 0.0, _triples_read(data))
    if "steps" in proof:
        return SinglesCertificate(survey, epsilon, 0.0, data["weights"], int(proof["steps"]))
    kinds = tuple(tuple(map(int, kind)) for kind in proof["kinds"])
    weights, differing, within, slopes, ends, N, kappa = (data[name] for name in BY_SETS)
    none = np.zeros((len(N), 0))
    aligned, nu = data.get("aligned", np.zeros((0, 2 * len(kinds)))), data.get("aligned_multipliers", none)
    most = max(survey.shape) * len(survey.shape)
    if any(np.any(np.abs(array) > most) for array in (differing, within, aligned)):
        raise ValueError("it counts columns that there are not")
    sets, pairs = (differing.astype(np.int64), within.astype(np.int64)), aligned.astype(np.int64)
    return SurveyCertificate(survey, epsilon, 0.0, weights, kinds, *sets, slopes, pairs, ends, N, kappa, nu)


def _parts_read(
    document: Document, data: Mapping[str, np.ndarray], survey: Survey, epsilon: float, checked: Sequence[float] | None
) -> GroupedCertificate | BlocksCertificate:
    same, others = split(survey)
    bases = [*([] if same is None else [same]), *(group.base for group in others)]
    known, found = dict[int, AnyCertificate](), list[AnyCertificate]()
    for base, (part, own) in zip(bases, verify.own_parts(document, data), strict=True):
        number = part["arrays"]
        if number not in known:
            proof = _rebuilt(dict(part), own, base, epsilon)
            known[number] = replace(proof, value=proof.claim() if checked is None else checked[len(known)])
        if known[number].workload.digest != base.digest:
            raise ValueError("it is about other questions than those of the design")
        found.append(known[number])
    alike, rest = (None, found) if same is None else (found[0], found[1:])
    plain = GroupedCertificate(survey, epsilon, 0.0, alike, tuple(rest))
    return BlocksCertificate(survey, epsilon, 0.0, plain) if "proof" in document else plain
