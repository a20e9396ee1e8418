"""Checks with NumPy alone that no mechanism that keeps epsilon has a smaller variance than the
certificate says.

    python verify.py certificate.json       ends with 0 where the proof holds, with 1 where it does not or a file is damaged, and
                                            with 2 where nothing was checked, as a file cannot be read or there is too little memory

**What is proved.** A mechanism reports y with chances q_y (n,) by the type of the person; no two
entries of q_y differ by more than e^epsilon =: 1 + D. Let people be spread as p over the types, r =
n p, and M = sum_y q_y q_y' / (r'q_y). Unbiased answers to questions W with the Gram matrix G = W'W
then have the variance ``tr(M^-1 G) / n - sum_u p_u G_uu`` a person, or more. The certificate bounds
tr(M^-1 G) from below: for any symmetric C, as (M^-1 - C) M (M^-1 - C) is positive semidefinite,
tr(M^-1 G) >= 2 tr(C G) - tr(C G C M). Rows q_y are mixtures of rows v in {1, 1 + D}^n up to scale,
M 1 comes from weights with sum_v w_v v = 1, and so, with the best multiple of C,

    tr(M^-1 G) >= tr(C G)^2 / 1'mu    where    v'C G C v <= (r'v)(mu'v) for every v in {1, 1 + D}^n.

*G.* The second step needs G to be semidefinite, and numbers in a file that round those of a
semidefinite matrix need not be. Let s be the roots of G's diagonal. The bound is proved for every
semidefinite G* that is G but for its roundings, |G*_ij - G_ij| at most ``roundings`` u s_i s_j, and
for G + g 1, with g >= 0 such that this is proved to be semidefinite. Both have

    tr(C G*) >= tr(C (G + g 1)) - g sum_i |C_ii| - e s'|C|s,    C G* C <= C (G + g 1) C + e |w|^2 1,    G*_ii <= (1 + e) G_ii + g,

e = ``roundings`` u: the bound is charged with all three, the last one n times, as the variance above is counted from G's own diagonal. A g
beyond rounding is refused: the matrix is then the Gram matrix of no questions. Where G is given by class, and an eigenvalue is below 0 by
rounding, C must be 0 there, and g is that eigenvalue; G* - G is of norm n e G_11 at most, which is what tr(C G*) and C G* C are charged with.
*General.* With y = v - 1 the condition follows from the matrix in (1, y) of (r'v)(mu'v) - v'CGCv - y'Ny
- sum_k kappa_k (1'y - k D)(1'y - (k+1) D) - the same with weights nu and c'y for 1'y, c whole and of
few types, + sum_i gamma_i (y_i^2 - D y_i) being positive semidefinite: N, kappa and nu are not negative, k is
whole, and y_i is 0 or D. Whatever that lacks, by rounding or otherwise, is made up for by adding the same delta to all mu_i.
*Open types.* Where only some types are secret, a mechanism keeps epsilon if every report that one of these can send comes from every other type
at least e^-epsilon times as often; others may say the value. Rows are then mixtures of rows v in {1, 1 + D}^n that are 1 at all open types, and of rows of one open type
x alone. The condition is asked of the first, y being 0 at open types, and C G C_xx <= r_x mu_x of the second; what that lacks is added to mu_x.
*Question.* K = (sum_y q_y q_y' / p'q_y)^-1 - p p' is semidefinite, and its trace with G is tr(M^-1 G) / n - p'Gp. G is no less than Gzz'G / z'Gz for
any z, and w'Kw, w = Gz - (z'Gp) 1, is the second moment of the best answer v_y to one question w. Rows are mixtures of m (1 + D h), h in {0, 1}^n; so

    tr(M^-1 G) / n  >=  (z'Gz) 1'alpha + beta'w + p'Gp  where  F(v) = sum_x h_x(v) + D sum_x min(h_x(v), 0) >= 0 for every number v,

h_x(v) = p_x v^2 - beta_x v - alpha_x: F's least value is that at which a person who reports v is worth nothing, and what it lacks is taken off 1'alpha. Where p sums
to t, the last term counts 2 - t times, and all of it 1/t times. It is linear in G, so that roundings of G cost no more than those of the same sums.
*Classes.* Where G and C depend only on the class of a pair of types (equal or not; or how many of d bits differ), the same in
eigenvalues, with cuts (c'h - k)(c'h - k - 1) >= 0 for whole c, k and h = y / D: all in exact fractions. gamma and mu are the least that do.
*Tables.* For marginals and their like G = sum_A g_A n P_A over sets A of columns, P_A of dimension d_A (what varies with exactly A),
and tr(M^-1 G) / n >= g_0 + (sum_A d_A sqrt(g_A))^2 / sinh(epsilon / 2)^2.
*Blocks.* M is 11' / n + K of before, and tr K <= n sinh(epsilon / 2)^2, since a row scaled to mean 1 varies no more over the types. For any R with
R'R <= G off the constants and U with singular values of at most 1, Cauchy's inequality says tr(U'R)^2 <= tr(R K^-1 R') tr(U K U'): with the best U
the same bound as that of tables, for the roots of the eigenvalues of G off the constants. These are given as numbers g_A, and as blocks H each of
which is there d times; what is left of G, in no block, counts with its trace. A routine's eigenvalues lambda and vectors V of H, with e = |V'V - 1| and
rho = |H - V lambda V'|, prove that the i-th largest is (1 - e) lambda_i - rho at least, where that is positive (Ostrowski; Weyl: Horn and Johnson
2013, Theorems 4.5.9 and 4.3.1): Frobenius norms as computed, more by (m + 4) u times those of absolute values, and H itself is off by ``gram_off``.
*Strata.* Groups z of people that are no secret, with shares s_z: epsilon speaks of two types of one group, so that reports tell the group, M is block diagonal,
and only the blocks of G within groups count, scale_z^2 G_d + constant_z 1 1', G_d of a part. As M r = 1, the ones add their number of types, exactly:
tr(M^-1 G) / n = sum_z s_z (scale_z^2 tr(M_z^-1 G_d) / n_d + constant_z), added up in fractions.
*In every kind.* A variance is not negative: tr(M^-1 G) / n >= sum_u p_u G_uu.

**The rounding.** D is a fraction above e^epsilon - 1: what holds for a larger epsilon holds for
this one. Numbers in the files are exact, but for a G that was rounded ``roundings`` times. In
floating point, u = 2^-53, a sum of k products in any order is off by at most k u / (1 - k u) times
the sum of their absolute values (Higham 2002, Accuracy and Stability of Numerical Algorithms,
Sections 2.2 and 3.1). As |G_ij| <= s_i s_j with s = sqrt(diag G), and w = |C| s, this gives, g
being ``roundings``: tr(C G) off by (2n + g) u s'w; the form in v by (2n + g + 1) u |w|^2 + 6 u |mu|
|r| in norm; entries of the matrix in (1, y), sums of 2n + 16 terms and one for each k and c, by that many u times the
same sums of absolute values. A Cholesky factorisation of B that runs to its end proves B >= -(m +
1) u / (1 - (m + 1) u) tr B (m rows; Demmel 1989; Rump 2006, Verification of positive definiteness,
Theorem 2.3). `UP` covers the rounding of these bounds themselves, and `TINY` underflow, of numbers
below `MOST`: results that are compared with it are above 1 / `MOST`. Numbers that are only
multiplied (weights, and their results) must stay between these two as well, as an underflow may
wipe out all of such a number.

**The price.** What takes long is refused before it is begun: see `price`. The answer names what is
not checked here.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import sys
import zipfile
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = "ldp-certificate/1"
FORMAT_SECRET = "ldp-certificate/2"
"""That of proofs about people of whom only some types are secret."""
ARRAYS = "certificate.npz"
NAMED = ("histogram", "prefix", "all_range")
MOST_TYPES = 4096
MOST_BYTES = 2**28
MOST_TEXT = 5_000_000
"""Most characters of the document."""
MOST_ARRAYS = 2**14
"""Most arrays beside it."""
MOST_CELLS = 64
"""Most numbers of one cut of a proof by classes."""
MOST_WHOLE = 2**53
"""Below this, sums of whole numbers are exact."""
MOST_ROUNDINGS = 2**30
"""How often G may have been rounded at most."""
MOST_COEFFICIENT, MOST_AT_ONCE = 2**20, 16
"""The largest number of a cut on few types, and the most types that it is about."""
MOST_WORK = 4e7
"""Most that checking may cost, in microseconds of an ordinary machine, as `price` reckons them."""
SMALL_WORK, WORK_PER_BYTE = 5e6, 100.0
"""The same for few numbers, and how much more for each byte of them."""
U = 2.0**-53
UP = 1 + 1e-6
MOST = 1e100
TINY = 1e-200
ASKED = {
    "histogram": "how many have each type",
    "prefix": "running totals in the order of the types",
    "all_range": "how many lie between any two types",
    "array": f"those with the Gram matrix in {ARRAYS}",
    "classes": f"those with the Gram matrix in {ARRAYS}, which treat all types alike",
    "tables": "the tables of columns that are named under workload",
    "blocks": f"those with the Gram matrix in {ARRAYS}, which is given in blocks",
    "strata": f"those that are named under parts, within groups of people, times the scales in {ARRAYS}, and how many there are of each group",
}
UNIT = "The questions: {asked}. The variance is in squared people, summed over all answers; from N people answers have N times as much."
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '<f8', 'fortran_order': False, 'shape': \((\d{1,9},|\d{1,9}(?:, \d{1,9})+)\), \} *\n",
    re.DOTALL,
)
DAMAGED = (
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    ArithmeticError,
    RuntimeError,
    OSError,
    EOFError,
    zipfile.BadZipFile,
)
BY_TYPES = ("general", "question")
UNCHECKED = ("stronger", "proof", "merged")
"""Parts of a document for other programs. They are not checked here, and the answer says so."""
PART = {"kind", "epsilon", "types", "workload", "prior", "proof", "promise"}
FIELDS = {
    "document": {*PART, "format", "value", "sha256", "meaning", "stronger", "merged", "parts"},
    "stratum": {*PART, "arrays", "merged"},
    "group": {"columns", "weight", "eigenvalues"},
    "array": {"gram", "roundings"},
    "classes": {"gram", "bits", "roundings"},
    "tables": {"gram", "sizes", "groups", "roundings"},
    "blocks": {"gram", "roundings"},
}
Arrays = Mapping[str, np.ndarray]
Part = tuple[Mapping[str, Any], Arrays]


def verified(text: str | bytes, packed: bytes) -> str:
    """The proved statement, in a sentence. ValueError, one sentence, where certificate.json
    (``text``) and certificate.npz prove nothing."""
    try:
        with np.errstate(all="ignore"):  # what overflows proves nothing
            return checked(text, packed)
    except DAMAGED as error:
        raise ValueError(f"The files are damaged: {type(error).__name__} ({error}).") from None


def checked(text: str | bytes, packed: bytes) -> str:
    """The same, for files that are not damaged."""
    document = known(parsed(text), "document")
    if document["format"] != format_of(document) or hashlib.sha256(packed).hexdigest() != document["sha256"]:
        raise ValueError(
            f"The format is not {format_of(document)}, or {ARRAYS} is not the one that the certificate names."
        )
    data, value = arrays(packed), document["value"]
    if ("parts" in document) != (document["kind"] == "strata"):
        raise ValueError("Only a certificate of parts names parts.")
    if "stronger" in document and not any("proof" in part for part in (document, *document.get("parts", ()))):
        raise ValueError("The certificate claims more than it holds numbers for.")
    proved = proven(document, data)
    if not (isinstance(value, float) and 0 <= value <= proved):
        raise ValueError(f"The numbers prove {proved:.17g}, and the certificate claims {value}.")
    if document["meaning"] != meaning(document, data):
        raise ValueError("The certificate says in words what its numbers do not.")
    return str(document["meaning"])


def format_of(document: Mapping[str, Any]) -> str:
    """The format that a document must have."""
    parts = (document, *document.get("parts", ()))
    return FORMAT_SECRET if any("promise" in part for part in parts) else FORMAT


def meaning(document: Mapping[str, Any], data: Arrays) -> str:
    """The claim of a certificate in words, its number rounded down."""
    n = document["types"]
    variance = document["value"] / n * (1 - 1e-12) - mean_diagonal(document, data) * (1 + 1e-12)
    digits = 10.0 ** (5 - math.floor(math.log10(variance))) if variance > 0 else 1.0
    spread = "evenly over" if document.get("prior", "even") == "even" else "as the certificate says over"
    within = f" within each of {data['which'].size} groups that are no secret" if document["kind"] == "strata" else ""
    secret = promised(document, data)
    kept = "" if secret is None else promise_in_words(secret)
    return (
        f"With epsilon = {document['epsilon']}{within}{kept}, no mechanism with unbiased answers has a total variance below "
        f"{max(0.0, math.floor(variance * digits) / digits):.6g} per person, on average over people spread {spread} the {n} types, nor for "
        "the type where it is largest."
    )


def promised(document: Mapping[str, Any], data: Arrays) -> np.ndarray | None:
    """(n,) which types are secret, of each group where there are groups, which must be the same for all; None where all are."""
    if document["kind"] != "strata":
        return secrets(document, data)
    every = [secrets(part, its) for part, its in parts_of(document, data)]
    if any(not np.array_equal(np.asarray(one), np.asarray(every[0])) for one in every):
        raise ValueError("All parts are about the same secret types.")
    return every[0]


def promise_in_words(secret: np.ndarray) -> str:
    """The promise in words, with the places of the secret types, from 1, as far as they are few."""
    places = np.flatnonzero(secret) + 1
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    listed = ", ".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    which = listed if len(listed) <= 200 else f"those marked in {ARRAYS}"
    return (
        f" for people with a secret type alone ({len(places)} of {secret.size}: {which}), whose reports come from any other type at least e^-epsilon times "
        "as often"
    )


def proven(document: Mapping[str, Any], data: Arrays) -> float:
    """A lower bound on tr(M^-1 G) that the numbers prove; ValueError where they are none of a proof, or too many to be checked."""
    for array in data.values():
        if not np.all(np.abs(array) < MOST):  # nor nan
            raise ValueError("The numbers must be finite.")
    promised(document, data)  # which is the same in all parts
    if not price(document, data) <= (most := allowed(data)):
        raise ValueError(f"The certificate would take longer to check than the {most / 1e6:.3g} seconds allowed.")
    value = by_kind(document, data, exp_epsilon_minus_one(document["epsilon"]))
    if not value < MOST:  # nor nan
        raise ValueError("The numbers prove nothing.")
    return value


def known(fields: Mapping[str, Any], of: str) -> Any:
    """The fields, which must be such as are looked at: others could claim anything."""
    if others := fields.keys() - FIELDS.get(of, {"gram"}):
        raise ValueError(f"The certificate holds what is not looked at here: {sorted(others)[0]}.")
    return fields


def allowed(data: Arrays) -> float:
    """How many microseconds checking these arrays may take: seconds for small files, whatever they name."""
    return min(MOST_WORK, SMALL_WORK + WORK_PER_BYTE * sum(array.nbytes for array in data.values()))


def price(document: Mapping[str, Any], data: Arrays) -> float:
    """About how many microseconds it takes to check the numbers, from how many there are; for tables, a hundred bytes of memory as well."""
    kind = document["kind"]
    if kind == "general":
        n = number(document["types"])
        if not data["inverse"].size == data["pairs"].size == n * (n + 1) / 2:  # before matrices are made
            raise ValueError("The arrays do not belong together.")
        entries = data["triples"].size * min(data["triples"].shape[-1], MOST_TYPES) if "triples" in data else 0
        cost = 1e3 + 3e-4 * n**3 + 0.1 * data["size_multipliers"].size
        return cost + 0.5 * entries
    if kind == "question":
        n = number(document["types"])
        if any(data[name].shape != (n,) for name in ("direction", "alpha", "beta")):
            raise ValueError("The arrays do not belong together.")
        return 1e3 + 1e3 * n + 1e-4 * n**3
    if kind == "classes":
        cuts = data["cut_multipliers"].size
        if any(array.size > MOST_CELLS for name, array in data.items() if re.fullmatch(r"cut\d+", name)):
            raise ValueError(f"A cut has at most {MOST_CELLS} numbers.")
        return 1e3 + 1e3 * cuts
    if kind == "tables":
        every = [varying(group, document["workload"]["sizes"]) for group in document["workload"]["groups"]]
        words = 1 + len({i for columns in every for i in columns}) // 64
        cost = 1e3 + 0.1 * (4 + words) * sum(100 + 2.0 ** min(len(columns), 64) for columns in every)
        return cost if cost <= SMALL_WORK else math.inf
    if kind == "blocks":
        cells = data["gram_cells"]
        if cells.ndim != 1 or np.any(cells != np.rint(cells)) or cells.min(initial=1) < 1:
            raise ValueError("The arrays do not belong together.")
        return 1e3 + 0.1 * data["gram_alone"].size + math.fsum(map(block_price, cells.tolist()))
    if any(part["kind"] == "strata" for part in document["parts"]):
        raise ValueError("A part is itself of parts.")
    return 1e3 + 100.0 * data["which"].size + sum(price(part, its) for part, its in parts_of(document, data))


def block_price(m: float) -> float:
    """The same of a block with m rows."""
    return 100 + 6e-4 * m**3


def number(x: Any) -> float:
    """A number of the document: neither a text nor a truth value, and neither so small nor so large that products of it are lost."""
    if type(x) not in (int, float) or not 1 / MOST < x < MOST:
        raise ValueError("Types, weights and sizes are numbers above 0.")
    return float(x)


def by_kind(document: Mapping[str, Any], data: Arrays, D: Fraction) -> float:
    """The bound from the numbers of a kind, or that from no variance being negative."""
    return max(by_numbers(document, data, D), document["types"] * mean_diagonal(document, data) * (1 - 1e-9))


def by_numbers(document: Mapping[str, Any], data: Arrays, D: Fraction) -> float:
    """The bound from the numbers of a kind, which must be what the questions are of; those that are not by types count people evenly."""
    kind, questions = document["kind"], document["workload"]["gram"]
    if type(document["types"]) is not int or not 0 < document["types"] < MOST:
        raise ValueError("The number of types must be whole.")
    evenly = kind in (*BY_TYPES, "strata") or document.get("prior", "even") == "even"
    if kind not in BY_TYPES and not (questions == kind and evenly):
        raise ValueError("The numbers are about other questions, or other people, than the certificate says.")
    known(document["workload"], questions)
    if "promise" in document and kind != "general":
        raise ValueError("Only proofs by types know of open types.")
    return KINDS[kind](document, data, D)


def exp_epsilon_minus_one(text: str) -> Fraction:
    """D, a fraction above e^epsilon - 1 by less than 2^-100, epsilon being the decimal number ``text``."""
    decimal = isinstance(text, str) and re.fullmatch(r"\d{1,3}(\.\d{1,50})?", text, re.ASCII)
    x = Fraction(text) if decimal else Fraction(0)
    if not 0 < x <= 20:
        raise ValueError("Epsilon must be a decimal number above 0 and at most 20, in quotation marks.")
    x, term, total, k = Fraction(math.ceil(x * 2**140), 2**140), Fraction(1), Fraction(0), 0
    while term > Fraction(1, 2**130) or k < 2 * x:
        k += 1
        term = term * x / k
        total += term
    return Fraction(
        math.ceil((total + 2 * term) * 2**110), 2**110
    )  # what follows the last term is at most twice as much


# --- any Gram matrix --------------------------------------------------------------------------------------------


def general(document: Mapping[str, Any], data: Arrays, above: Fraction) -> float:
    """The bound from C, mu, gamma, N, k and kappa, and from cuts on few types, in floating point; D is a float ``above`` e^epsilon - 1."""
    G, n, D = gram(document, data), document["types"], float(above) * (1 + 4 * U)
    given, lift = inexact(document, G)
    largest = float(G.diagonal().max())
    G, given = G + lift * np.eye(n), given + 1
    C, N = square(data["inverse"], n), square(data["pairs"], n)
    mu, gamma, p = data["multipliers"], data["diagonal"], people(document, data)
    k, kappa = data["sizes"], data["size_multipliers"]
    if not (mu.shape == gamma.shape == p.shape == (n,) and k.shape == kappa.shape == (k.size,)):
        raise ValueError("The arrays do not belong together.")
    if N.min() < 0 or kappa.min(initial=0) < 0 or np.any(k != np.rint(k)):
        raise ValueError("Multipliers of inequalities must not be negative, and sizes must be whole.")
    secret = secrets(document, data)
    held = np.append(0, 1 + np.flatnonzero(np.ones(n) if secret is None else secret))
    r, s = n * p, np.sqrt(G.diagonal()) * UP
    w, half = np.abs(C) @ s * UP, G @ C
    trace = (
        float(half.trace())
        - UP * (2 * n + given) * U * float(s @ w)
        - UP * lift * float(np.abs(C.diagonal()).sum())
        - TINY
    )
    off_v = UP * U * ((2 * n + given + 1) * float(w @ w) + 6 * norm(mu) * norm(r)) + TINY

    F = np.outer(mu / 2, r)
    F = F + F.T - C @ half
    form, size, line = (
        bordered(F),
        bordered(np.abs(F)),
        D * gamma / 2,
    )  # of sums, and of the absolute values of their terms
    form[0, 0] -= D**2 * (kappa @ (k * (k + 1)))
    size[0, 0] += D**2 * (kappa @ np.abs(k * (k + 1)))
    form[0, 1:] += D * (kappa @ (k + 0.5)) - line
    size[0, 1:] += D * (kappa @ np.abs(k + 0.5)) + np.abs(line)
    form[1:, 1:] += np.diag(gamma) - N - kappa.sum()
    size[1:, 1:] += np.diag(np.abs(gamma)) + N + kappa.sum()
    form[1:, 0], size[1:, 0] = form[0, 1:], size[0, 1:]
    cuts, of_cuts, t = few_types(data, n, D)
    form, size = form - cuts, size + of_cuts
    if secret is not None:  # covered rows have y = 0 at open types
        form, size = (matrix[np.ix_(held, held)] for matrix in (form, size))
    if not norm(size) < MOST:  # nor nan, which max below would pass over
        raise ValueError("The numbers prove nothing.")
    off_z = UP * (2 * n + len(k) + t + 16) * U * norm(size) + TINY
    lacking = max(0.0, off_z - least_eigenvalue(form))

    # A v of j high entries has |v|^2 = n + D (D + 2) j and |(1, y)|^2 = 1 + D^2 j; r'v is least if
    # these are the least of r.
    j = np.arange(n + 1)
    gain = (r.sum() + D * np.append(0.0, np.cumsum(np.sort(r)))) * (n + D * j)
    delta = UP * float(((off_v * (n + D * (D + 2) * j) + lacking * (1 + D**2 * j)) / gain).max())
    total = float(mu.sum()) + UP * n * (delta + U * float(np.abs(mu).sum()))
    if secret is not None:
        diagonal, x = (C @ half).diagonal() + off_v, ~secret
        if (r[x] <= 0).any():
            raise ValueError("People have every open type.")
        total += UP * float(np.maximum(0.0, (diagonal - r * mu)[x] / r[x] + 4 * U * np.abs(mu[x])).sum())
    if not (1 / MOST < trace < MOST and 1 / MOST < total < MOST):
        raise ValueError("The numbers prove nothing.")
    bound = trace / (total * math.fsum(p)) * trace * (1 - 16 * U)
    return bound - UP * n * (lift + given * U * largest)


def secrets(document: Mapping[str, Any], data: Arrays) -> np.ndarray | None:
    """(n,) which types are secret; None where all are."""
    if "promise" not in document:
        return None
    secret = data["secret"]
    if document["promise"] != "secret" or secret.shape != (document["types"],) or not np.isin(secret, (0, 1)).all():
        raise ValueError("Types are secret or open.")
    if not 0 < secret.sum() < secret.size:
        raise ValueError("Some types are secret and some open, or nothing is said of them.")
    return np.asarray(secret == 1)


def few_types(data: Arrays, n: int, D: float) -> tuple[np.ndarray, np.ndarray, int]:
    """The sum of nu_t (c'y - k D)(c'y - (k+1) D) in (1, y), c with few entries, the same with absolute
    values, and how many there are."""
    rows, nu = data.get("triples", np.zeros((0, 1))), data.get("triple_multipliers", np.zeros(0))
    if rows.ndim != 2 or nu.shape != rows.shape[:1] or rows.shape[1] % 2 == 0 or rows.shape[1] > 2 * MOST_AT_ONCE + 1:
        raise ValueError("The arrays do not belong together.")
    if nu.min(initial=0) < 0 or np.any(rows != np.rint(rows)) or not np.abs(rows).max(initial=0) <= MOST_COEFFICIENT:
        raise ValueError("Multipliers of inequalities must not be negative, and cuts are of small whole numbers.")
    w = rows.shape[1] // 2
    at, c, k = rows[:, :w].astype(int) + 1, rows[:, w : 2 * w], rows[:, -1]
    if at.size and (at.min() < 1 or at.max() > n or np.diff(np.sort(at, axis=1), axis=1).min(initial=1) == 0):
        raise ValueError("A cut is about different types.")
    totals, border = np.zeros((2, n + 1, n + 1)), np.zeros(len(at), dtype=int)
    for a in range(w):
        single = D / 2 * nu * (c[:, a] ** 2 - (2 * k + 1) * c[:, a])
        for b in [b for b in range(w) if b != a]:
            double = nu * c[:, a] * c[:, b]
            for total, entries in zip(totals, (double, np.abs(double)), strict=True):
                np.add.at(total, (at[:, a], at[:, b]), entries)
        for total, entries in zip(totals, (single, np.abs(single)), strict=True):
            np.add.at(total, (border, at[:, a]), entries)
            np.add.at(total, (at[:, a], border), entries)
    totals[:, 0, 0] = D**2 * float(nu @ (k * (k + 1)))
    return totals[0], totals[1], len(rows)


def gram(document: Mapping[str, Any], data: Arrays) -> np.ndarray:
    """(n, n) G: of counts of each type, of running totals, of all intervals; or as it is in the file."""
    n, kind = document["types"], document["workload"]["gram"]
    if not 2 <= n <= MOST_TYPES:
        raise ValueError(f"There must be 2 to {MOST_TYPES} types.")
    places = np.arange(n, dtype=float)
    low, high = np.minimum.outer(places, places), np.maximum.outer(places, places)
    if kind in NAMED:
        return {"histogram": np.eye(n), "prefix": n - high, "all_range": (low + 1) * (n - high)}[kind]
    if kind != "array":
        raise ValueError("The certificate is about questions that are not known here.")
    G = square(data["gram"], n)
    s = np.sqrt(np.maximum(G.diagonal(), 0.0))
    if np.any(np.abs(G) > np.outer(s, s) * UP):
        raise ValueError("The Gram matrix is none.")
    return G


def rounded(document: Mapping[str, Any]) -> int:
    """How often G was rounded."""
    given = document["workload"].get("roundings", 0)
    if not (type(given) is int and 0 <= given <= MOST_ROUNDINGS):
        raise ValueError(f"A Gram matrix is rounded 0 to {MOST_ROUNDINGS} times.")
    return given


def inexact(document: Mapping[str, Any], G: np.ndarray) -> tuple[int, float]:
    """How often G was rounded, and g >= 0 such that G + g 1 is proved to be semidefinite."""
    given = rounded(document)
    return given, shortfall(G, given) if document["workload"]["gram"] == "array" else 0.0


def shortfall(G: np.ndarray, roundings: int) -> float:
    """g >= 0 such that G + g 1 is proved to be semidefinite, as it is computed: 0 where G is."""
    rounding = UP * U * float(G.trace()) + TINY
    least = least_eigenvalue(G, 2 * (len(G) + 10) * rounding)
    if not -least <= (4 * roundings + 8 * len(G) + 64) * rounding:
        raise ValueError("The Gram matrix is none: it is not positive semidefinite.")
    return 0.0 if least >= 0 else UP * (4 * U * float(G.diagonal().max()) - least)


def least_eigenvalue(A: np.ndarray, *shifts: float) -> float:
    """A lower bound on the smallest eigenvalue of a symmetric A, or on 0 if that is less, proven. Honest ones are 0 but for rounding;
    otherwise the computed one says which shift to try. Other ``shifts`` come first."""
    m, unit = len(A), len(A) * U * norm(A) + TINY
    computed = (float(least) - unit * 4.0**k for of in [A] for least in np.linalg.eigvalsh(of)[:1] for k in range(8))
    for shift in chain(shifts, (-unit, -4 * unit, -16 * unit), computed):
        B = A - shift * np.eye(m)
        try:
            np.linalg.cholesky(B)
        except np.linalg.LinAlgError:
            continue
        return shift - UP * (m + 10) * U * float(B.trace()) - TINY
    return -math.inf


def bordered(F: np.ndarray) -> np.ndarray:
    """The matrix in (1, y) of v'Fv, v = 1 + y."""
    sums = F.sum(axis=1)
    return np.block([[sums.sum(), sums[None]], [sums[:, None], F]])


def square(entries: np.ndarray, n: int) -> np.ndarray:
    """The symmetric matrix whose lower triangle is ``entries``, row by row."""
    if entries.shape != (n * (n + 1) // 2,):
        raise ValueError("The arrays do not belong together.")
    full = np.zeros((n, n))
    full[np.tril_indices(n)] = entries
    return full + np.tril(full, -1).T


def people(document: Mapping[str, Any], data: Arrays) -> np.ndarray:
    """(n,) p."""
    if document["prior"] not in ("even", "array"):
        raise ValueError("People are spread evenly, or as an array says.")
    p = data["prior"] if document["prior"] != "even" else np.full(document["types"], 1 / document["types"])
    if not (p.shape == (document["types"],) and p.min() >= 0 and abs(p.sum() - 1) <= 1e-9):
        raise ValueError("People are spread by shares that are not negative and sum to 1.")
    return p


def norm(A: np.ndarray) -> float:
    """The square root of the sum of squares."""
    return float(np.linalg.norm(A))


# --- one question -------------------------------------------------------------------------------------------------


def question(document: Mapping[str, Any], data: Arrays, D: Fraction) -> float:
    """The bound from z, alpha and beta: what F lacks in fractions, the rest in floating point."""
    G, n, p = gram(document, data), document["types"], people(document, data)
    given, lift = inexact(document, G)
    z, alpha, beta = (data[name] for name in ("direction", "alpha", "beta"))
    if not (z.shape == alpha.shape == beta.shape == (n,) and max(np.abs([z, alpha, beta]).max(axis=1)) < MOST**0.5):
        raise ValueError(
            "The numbers prove nothing."
            if z.shape == alpha.shape == beta.shape == (n,)
            else "The arrays do not belong together."
        )
    lacking = float(lack(alpha, beta, p, D)) * UP + TINY
    image, mean, total = G @ z, G @ p, math.fsum(p)
    plain = float(z @ image) * (math.fsum(alpha) - lacking) + float(beta @ image - z @ mean * beta.sum())
    plain += float(p @ mean) * (2 - total)

    def sizes(of_z: float, of_beta: float, of_p: float) -> float:  # of the absolute values of all terms
        return (
            of_z**2 * (float(np.abs(alpha).sum()) + lacking)
            + of_z * (of_beta + of_p * float(np.abs(beta).sum()))
            + of_p**2
        )

    s = np.sqrt(G.diagonal()) * UP
    off = (3 * n + given + 32) * U * sizes(*(float(s @ np.abs(x)) for x in (z, beta, p))) + lift * sizes(
        *map(norm, (z, beta, p))
    )
    return n * ((plain - UP * off) / total * (1 - 16 * U) - UP * (lift + given * U * float(G.diagonal().max())) - TINY)


def lack(alpha: np.ndarray, beta: np.ndarray, p: np.ndarray, D: Fraction) -> Fraction:
    """At least as much as must be taken off 1'alpha so that F is nowhere negative.

    min(h_x, 0) is no less than h_x between two numbers l <= r beside its least point and 0 elsewhere, less |h_x(l)| + |h_x(r)|: these are near
    its roots. In between, F is one quadratic. A p_x that only matters to a far root is counted as 0 in h_x, which makes it less.
    """
    matters = p**2 * np.abs(alpha).sum() > U * beta**2
    A, B, C = (sum(exactly(x), Fraction(0)) for x in (p, beta, alpha))
    charge, ends = Fraction(0), list[tuple[Any, int, Fraction, Fraction, Fraction]]()
    for a, b, c in zip(np.where(matters, p, 0.0).tolist(), beta.tolist(), alpha.tolist(), strict=True):
        h = q, linear, constant = Fraction(a), Fraction(b), Fraction(c)
        if linear**2 + 4 * q * constant > 0 or (not q and constant > 0):
            for near, sign in zip(beside(a, b, c), (1, -1), strict=True):
                end, off = closer(near, sign, *h)
                ends.append((end, sign, *h))
                charge += off
    ends.sort(key=lambda entry: entry[0])
    worst, low, none = Fraction(0), -math.inf, Fraction(0)
    for end, sign, q, linear, constant in [*ends, (math.inf, 0, none, none, none)]:
        if low < end:
            values: list[Any] = [(A * x - B) * x - C for x in (low, end) if math.isfinite(x)]
            least = B / (2 * A)
            values += [-B * least / 2 - C] if low < least < end else []
            worst, low = min(worst, *values), end
        A, B, C = (total + sign * D * x for total, x in ((A, q), (B, linear), (C, constant)))
    return D * charge - worst


def beside(a: float, b: float, c: float) -> tuple[float, float]:
    """About the roots of ``a v^2 - b v - c``, which is negative between them."""
    if a:
        middle = (b + math.copysign(math.sqrt(max(b * b + 4 * a * c, 0.0)), b)) / 2
        low, high = sorted((middle / a, -c / middle if middle else 0.0))
        return low, high
    root = -c / b if b else 0.0
    return -math.inf if b <= 0 else root, math.inf if b >= 0 else root


def closer(near: float, sign: int, q: Fraction, linear: Fraction, constant: Fraction) -> tuple[Any, Fraction]:
    """A number at most at the least point of h_x (``sign`` 1), or at least there, closer to a root that is ``near``, and |h_x| there."""
    if not q and math.isinf(near) and near * sign < 0:
        return near, Fraction(0)
    for _ in range(64):
        end = Fraction(near)
        value, slope = (q * end - linear) * end - constant, 2 * q * end - linear
        if slope * sign <= 0:
            step = Fraction(float(value / slope)) if slope else Fraction(0)
            better = end - step if (slope - 2 * q * step) * sign <= 0 else end
            return better, abs((q * better - linear) * better - constant)
        near = math.nextafter(near, -sign * math.inf)
    raise ValueError("The numbers prove nothing.")


# --- classes of pairs ---------------------------------------------------------------------------------------------


def classes(document: Mapping[str, Any], data: Arrays, D: Fraction) -> float:
    """The bound from eigenvalues of C, N by class, and cuts with kappa: in fractions."""
    n, count, G, off, C, X, taken, linear, constant = terms(document, data, D)
    gamma = max(x + t for x, t in zip(X[1:], taken[1:], strict=True))
    # What remains is [[n u - constant, sqrt n (u + e)], [., u + f]] for u = n mu - X_0, whose determinant is linear in u.
    e, f = -(D * gamma + linear) / 2, gamma - taken[0]
    rises = n * f - constant - 2 * n * e
    if not rises > 0:
        raise ValueError("The numbers prove nothing.")
    total = max((constant * f + n * e**2) / rises, constant / n, -f) + X[0]
    trace = sum(many * (c * g - abs(c) * off) for many, c, g in zip(count, C, G, strict=True))
    lifts = sum(many * max(-g, 0) for many, g in zip(count, G, strict=True))
    return below(trace**2 / total - lifts - off) if trace > 0 and total > 0 else 0.0


def terms(document: Mapping[str, Any], data: Arrays, D: Fraction) -> tuple[Any, ...]:
    """n, the number of characters of each class, eigenvalues of G, what the true ones may be off by, those of C and C G C by class, and
    the terms of N and the cuts: eigenvalues, the coefficient of 1'y and the constant."""
    n, d = document["types"], document["workload"]["bits"]
    if type(d) is not int or not (2 <= n <= 2**24 and 0 <= d <= 24) or (d and n != 2**d):
        raise ValueError("There must be 2 to 2^24 types.")
    K = krawtchouk(d) if d else [[1, n - 1], [1, -1]]
    if (
        any(data[name].shape != (len(K),) for name in ("gram", "inverse", "pairs"))
        or data["floors"].shape != data["cut_multipliers"].shape
    ):
        raise ValueError("The arrays do not belong together.")
    pair, C, N, kappa, k = (exactly(data[name]) for name in ("gram", "inverse", "pairs", "cut_multipliers", "floors"))
    cuts = [data[f"cut{place}"] for place in range(len(kappa))]
    whole = all(x.denominator == 1 for x in chain(k, *map(exactly, cuts)))
    if min([*N, *kappa]) < 0 or not whole:
        raise ValueError("The arrays are none of a proof.")
    G = [sum(a * b for a, b in zip(row, pair, strict=True)) for row in K]
    off = n * rounded(document) * Fraction(U) * max(pair[0], 0)
    if any(g < 0 and (c or -g > max(G) / 10**9) for g, c in zip(G, C, strict=True)):  # rounding that counts for nothing
        raise ValueError("The Gram matrix is none.")
    taken = [sum(a * b for a, b in zip(row, N, strict=True)) for row in K]
    linear = constant = Fraction(0)
    for c, floor, weight in zip(cuts, k, kappa, strict=True):
        squares, total = transformed(c, d, n)
        taken = [t + weight * mean / n for t, mean in zip(taken, squares, strict=True)]
        linear -= weight * D * (2 * floor + 1) * total / n
        constant += weight * D**2 * floor * (floor + 1)
    X = [c**2 * (g + off) for c, g in zip(C, G, strict=True)]
    return n, K[0], G, off, C, X, taken, linear, constant


def transformed(c: np.ndarray, d: int, n: int) -> tuple[list[Fraction], int]:
    """The mean square of the transform of whole weights c for each class of characters, and the sum
    of c. Axes of c stand for parts of the d bits (or for equal and different types), entries for
    the number of set bits."""
    parts = [m - 1 for m in c.shape] if d else []
    if sum(parts) != d or 0 in parts or (not d and c.shape != (2,)):
        raise ValueError("A cut is about another number of bits.")
    values, sizes = c, np.abs(c)
    for axis, K in enumerate([krawtchouk(m) for m in parts] or [[[1, n - 1], [1, -1]]]):
        rows = np.array(K, dtype=float)
        values, sizes = (
            np.moveaxis(np.tensordot(of, array, axes=(1, axis)), 0, axis)
            for of, array in ((rows, values), (np.abs(rows), sizes))
        )
    if not sizes.max() < MOST_WHOLE:  # below this, sums of whole numbers are exact
        raise ValueError("The weights of a cut are too large.")
    weights = [Fraction(0)] * (max(d, 1) + 1)
    for place, value in np.ndenumerate(values):
        share = Fraction(math.prod(map(math.comb, parts, place)), math.comb(d, sum(place))) if d else Fraction(1)
        weights[sum(place)] += share * int(value) ** 2
    return weights, int(values.item(0))


@cache
def krawtchouk(d: int) -> list[list[int]]:
    """Row j, column i: the eigenvalue on characters of j bits of the matrix of pairs of types that differ in i of d bits."""
    whole = range(d + 1)
    return [
        [sum((-1) ** h * math.comb(j, h) * math.comb(d - j, i - h) for h in range(min(i, j) + 1)) for i in whole]
        for j in whole
    ]


def exactly(array: np.ndarray) -> list[Fraction]:
    """The entries as fractions."""
    return [Fraction(x) for x in array.ravel().tolist()]


# --- sets of columns ----------------------------------------------------------------------------------------------


def tables(document: Mapping[str, Any], data: Arrays, D: Fraction) -> float:
    """The closed form: sums of numbers that are not negative, off by a few units for each."""
    product(document["types"], document["workload"]["sizes"])
    d, g = by_set(document["workload"])
    root = math.fsum(d[1:] * np.sqrt(g[1:]))
    n, ratio = float(document["types"]), float(D**2 / (4 * (1 + D)))  # the ratio is sinh(epsilon / 2)^2
    units = len(document["workload"]["groups"]) + rounded(document) + 128
    return n * (float(g[0]) + root / ratio * root) * (1 - units * U * UP)


def by_set(workload: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """d_A and g_A of all sets A of columns asked about, the empty one first: a group asks about the joint table of its columns, each cell
    with its weight; or it has a Gram matrix there with the eigenvalues given, in the order of `subsets`."""
    sizes, groups = workload["sizes"], [known(group, "group") for group in workload["groups"]]
    place = {i: k for k, i in enumerate(sorted({i for group in groups for i in varying(group, sizes)}))}
    total, start = sum(2 ** len(varying(group, sizes)) for group in groups), 0
    keys, d, g = np.zeros((len(place) // 64 + 1, total), np.uint64), np.ones(total), np.zeros(total)
    for group in groups:
        columns, weight, end = in_order(group["columns"], sizes), number(group["weight"]), start + 1
        for i in varying(group, sizes):  # the sets before, with this column
            before, these, end = slice(start, end), slice(end, 2 * end - start), 2 * end - start
            keys[:, these], d[these] = keys[:, before], d[before] * float(sizes[i] - 1)
            keys[place[i] // 64, these] |= np.uint64(1 << place[i] % 64)
        values, at = group.get("eigenvalues"), np.arange(start, end)
        if values is not None:
            at = start + np.array([sum(1 << j for j in A) for A in subsets(tuple(range(len(columns))))])
            if len(values) != len(at):
                raise ValueError("A group has an eigenvalue for each set of its columns, or none.")
            if not all(type(x) in (int, float) and 0 <= x < MOST for x in values):
                raise ValueError("Eigenvalues are not negative.")
        values = [1.0] if values is None else values
        shares = weight**2 * np.array(values, dtype=float) / math.prod(sizes[i] for i in columns)
        if not all(1 / MOST < share < MOST or not value for share, value in zip(shares, values, strict=True)):
            raise ValueError("Weights and eigenvalues are too small, or too large.")
        g[at], start = shares, end
    order = np.lexsort(keys)
    new = np.ones(total, dtype=bool)
    new[1:] = np.logical_or.reduce([np.diff(word[order]) != 0 for word in keys])
    first = np.flatnonzero(new)
    return d[order[first]], np.add.reduceat(g[order], first)


def varying(group: Mapping[str, Any], sizes: list[int]) -> list[int]:
    """The columns of a group that sets are made of: where it has no eigenvalues, those of one value count for nothing."""
    columns = in_order(group["columns"], sizes)
    return [i for i in columns if sizes[i] > 1 or group.get("eigenvalues") is not None]


def in_order(columns: Any, sizes: list[int]) -> tuple[int, ...]:
    """The columns, which must be there, and in order."""
    inside = all(type(i) is int and 0 <= i < len(sizes) for i in columns)
    if not inside or any(a >= b for a, b in pairwise(columns)):
        raise ValueError("Columns are named by their places, in order.")
    return tuple(columns)


def product(types: int, sizes: Any) -> list[int]:
    """The sizes of columns, whose product must be the number of types."""
    left = types
    for size in sizes:
        if type(size) is not int or size < 1 or left % size:
            raise ValueError("The number of types is another, or a column has no values.")
        left //= size
    if left != 1:
        raise ValueError("The number of types is another.")
    return list(sizes)


def subsets(columns: tuple[int, ...]) -> chain[tuple[int, ...]]:
    """All sets of the columns, by size and then in order."""
    return chain.from_iterable(combinations(columns, size) for size in range(len(columns) + 1))


# --- blocks -------------------------------------------------------------------------------------------------------


def blocks(document: Mapping[str, Any], data: Arrays, D: Fraction) -> float:
    """The closed form, of numbers and of eigenvalues of blocks."""
    alone, dims, off, others = (data[f"gram_{name}"] for name in ("alone", "dimensions_alone", "off", "rest"))
    every, times, cells = matrices(data), data["gram_dimensions"], data["gram_cells"]
    fits = alone.shape == dims.shape == (alone.size,) and off.shape == times.shape and others.shape == (2,)
    if not fits or min(array.min(initial=0) for array in (alone, dims, off, others, times)) < 0:
        raise ValueError("The arrays are none of a proof.")
    whole = all(np.array_equal(array, np.rint(array)) for array in (dims, times))
    if not whole or float(dims.sum() + times @ cells) * (1 - 1e-9) > document["types"] - 1:
        raise ValueError("The Gram matrix is none: it has more dimensions than there are types.")
    constant, rest = others.tolist()
    roots = [times * roots_at_least(H, far) for (times, H), far in zip(every, off.tolist(), strict=True)]
    units = (len(alone) + len(every) + rounded(document) + 128) * U * UP
    n, root = float(document["types"]), math.fsum([*roots, *(dims * np.sqrt(alone)).tolist()])
    ratio = float(D**2 / (4 * (1 + D)))
    traces = math.fsum(times * math.sqrt(len(H)) * far for (times, H), far in zip(every, off.tolist(), strict=True))
    return n * ((constant + rest + root / ratio * root) * (1 - 2 * units) - UP * traces)


def matrices(data: Arrays) -> list[tuple[float, np.ndarray]]:
    """How often each block is there, and the block."""
    cells, start, found = data["gram_cells"].astype(int).tolist(), 0, []
    if sum(m * (m + 1) // 2 for m in cells) != data["gram"].size or data["gram_dimensions"].shape != (len(cells),):
        raise ValueError("The arrays do not belong together.")
    for m, times in zip(cells, data["gram_dimensions"].tolist(), strict=True):
        end = start + m * (m + 1) // 2
        found.append((times, square(data["gram"][start:end], m)))
        start = end
    return found


def roots_at_least(H: np.ndarray, far: float) -> float:
    """A lower bound on the sum of the roots of the eigenvalues of a matrix that is ``far`` from H at most."""
    m = len(H)
    values, V = np.linalg.eigh(H)
    steps, lengths = (m + 4) * U, (V**2).sum(axis=0)
    off = norm(V.T @ V - np.eye(m)) + steps * (float(lengths.sum()) + math.sqrt(m))
    size = float(np.abs(values) @ lengths) + norm(H)
    residual = norm(H - (V * values) @ V.T) + steps * size + far
    if values[0] < -2 * UP * residual:
        raise ValueError("The Gram matrix is none: it is not positive semidefinite.")
    least = (1 - UP * off) * values - UP * residual
    return float(np.sqrt(np.maximum(least, 0.0)).sum()) * (1 - (m + 16) * U) if off < 0.5 else 0.0


# --- groups of people -----------------------------------------------------------------------------------------------


def strata(document: Mapping[str, Any], data: Arrays, D: Fraction) -> float:
    """The bounds of the groups of people, each by its share."""
    every = parts_of(document, data)
    for part, _ in every:
        if known(part, "stratum")["epsilon"] != document["epsilon"]:
            raise ValueError("A part is about another epsilon.")
    proved = [Fraction(by_kind(part, its, D)) / part["types"] for part, its in every]
    return below(document["types"] * over_groups(document, data, proved))


def over_groups(document: Mapping[str, Any], data: Arrays, each: list[Fraction]) -> Fraction:
    """The mean over people of the number that ``each`` part has, times the square of the scale of their group, and of the constant of this."""
    which, scales, constants = (exactly(data[name]) for name in ("which", "scales", "constants"))
    every, types, prior = document["parts"], document["types"], document["prior"]
    places = [*range(len(every))]
    if [part["arrays"] for part in every] != places or sorted({*which}) != places:
        raise ValueError("A group is of no part, or a part of no group.")
    sizes = [every[int(k)].get("merged", every[int(k)])["types"] for k in which]
    even = all(part.get("prior", "even") == "even" and "merged" not in part for part in every)
    if (
        sum(sizes) != types
        or {*map(type, sizes)} != {int}
        or prior not in ("even", "array")
        or (prior == "even" and not even)
    ):
        raise ValueError("The groups are of other types, or other people, than the certificate says.")
    shares = [Fraction(size, types) for size in sizes] if prior == "even" else exactly(data["shares"])
    total, numbers = sum(shares, Fraction(0)), [*shares, *scales, *constants]
    if len(numbers) != 3 * len(which) or min(numbers) < 0 or abs(total - 1) > Fraction(1, 10**9):
        raise ValueError("Groups have a share, a scale and a constant, none below 0, and shares sum to 1.")
    groups = zip(shares, scales, constants, which, strict=True)
    return sum((share * (scale**2 * each[int(k)] + more) for share, scale, more, k in groups), Fraction(0)) / total


def parts_of(document: Mapping[str, Any], data: Arrays) -> list[Part]:
    """Each part with its arrays, which are named by its number."""
    arrays_of: dict[str, dict[str, np.ndarray]] = {}
    for name, array in data.items():
        start, _, rest = name.partition(".")
        arrays_of.setdefault(start, {})[rest] = array
    return [(part, arrays_of.get(str(part["arrays"]), {})) for part in document["parts"]]


def mean_diagonal(document: Mapping[str, Any], data: Arrays) -> float:
    """The mean of the diagonal of G over people: what a person's own answers take off the variance."""
    kind = document["kind"]
    if kind == "strata":
        each = [Fraction(mean_diagonal(part, its)) for part, its in parts_of(document, data)]
        return float(over_groups(document, data, each))
    if kind == "tables":
        return math.fsum(np.multiply(*by_set(document["workload"]))) * (
            1 + UP * U * len(document["workload"]["groups"])
        )
    if kind == "classes":
        return float(data["gram"][0])
    if kind == "blocks":
        traces = [times * float(H.trace()) for times, H in matrices(data)]
        units = UP * U * (data["gram_alone"].size + data["gram_cells"].max(initial=1) + rounded(document) + 64)
        alone = float(data["gram_alone"] @ data["gram_dimensions_alone"])
        return math.fsum([*traces, alone, *data["gram_rest"].tolist()]) * (1 + units)
    p = people(document, data)
    return float(p @ gram(document, data).diagonal()) / math.fsum(p)


KINDS = {
    "general": general,
    "question": question,
    "classes": classes,
    "tables": tables,
    "blocks": blocks,
    "strata": strata,
}


# --- files --------------------------------------------------------------------------------------------------------


def parsed(text: str | bytes) -> Any:
    """The document. ValueError where it is not JSON, or names something twice: readers would disagree on which of them counts."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(document := dict(pairs)) < len(pairs):
            raise ValueError("a name is there twice")
        return document

    try:
        if len(text) > MOST_TEXT:
            raise ValueError(f"it is longer than {MOST_TEXT} characters")
        return json.loads(text, object_pairs_hook=once)
    except ValueError as error:
        raise ValueError(f"certificate.json cannot be read: {error}.") from None


def arrays(packed: bytes) -> dict[str, np.ndarray]:
    """The arrays of an npz file: plain float64 numbers, nothing unpickled, and no more than the file holds."""
    contents = {}
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        entries = archive.infolist()
        large = sum(entry.file_size for entry in entries) > MOST_BYTES or len(entries) > MOST_ARRAYS
        if large or any(entry.compress_type for entry in entries):
            raise ValueError(f"{ARRAYS} is too large, or compressed.")
        for entry in entries:
            try:
                content = archive.read(entry)
            except ValueError as error:
                raise zipfile.BadZipFile(str(error)) from None
            header = HEADER.match(content)
            shape = tuple(map(int, header[1].rstrip(b",").split(b","))) if header else (0,)
            name, ending = entry.filename[:-4], entry.filename[-4:]
            if not header or len(content) - header.end() != 8 * math.prod(shape):
                raise ValueError(f"{ARRAYS} holds other things than plain numbers, once each.")
            if ending != ".npy" or name in contents:
                raise ValueError(f"{ARRAYS} holds other things than plain numbers, once each.")
            contents[name] = np.frombuffer(content, "<f8", offset=header.end()).reshape(shape)
    return contents


def below(x: Fraction) -> float:
    """The largest float that is at most x, or the one before it."""
    return float(x) if Fraction(float(x)) <= x else math.nextafter(float(x), -math.inf)


def unchecked(document: Mapping[str, Any]) -> list[str]:
    """A sentence about what the document says besides, if it does."""
    names = [name for name in UNCHECKED if any(name in part for part in (document, *document.get("parts", ())))]
    return (
        [f"Not checked here, so do not rely on it: what the certificate says under {' and '.join(names)}."]
        if names
        else []
    )


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("certificate.json"))
    try:
        text, packed = place.read_bytes(), place.with_name(ARRAYS).read_bytes()
        print("The proof holds.", verified(text, packed))
        print(UNIT.format(asked=ASKED[parsed(text)["workload"]["gram"]]), *unchecked(parsed(text)), sep="\n")
    except (OSError, MemoryError) as problem:
        print(
            "Nothing was checked.",
            f"{problem.filename}: {problem.strerror}."
            if isinstance(problem, OSError)
            else "There is too little memory.",
            "Usage: python verify.py certificate.json",
        )
        sys.exit(2)
    except ValueError as problem:
        print("The proof does not hold.", problem)
        sys.exit(1)
