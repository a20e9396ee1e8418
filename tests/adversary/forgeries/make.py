"""The program that made the forged certificates beside this file:
``python -m tests.adversary.forgeries.make`` adds those that are not there.

Each file is ``{"why": a pattern of what verify.py says, "workload": the questions of the design,
"epsilon": its epsilon, "document": certificate.json as text, "arrays": certificate.npz, compressed
by zlib, in base 64}``. Digests and words match the numbers, so that each file has only its intended
fault. Every verifier must refuse all of them.
"""

import base64
import hashlib
import io
import json
import zipfile
import zlib
from pathlib import Path

import numpy as np

from ldp_core import bounds, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general.certificate import closed_form
from ldp_core.bounds.surveys.certificate import closed_form as closed_form_of_survey
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.data.domain import CategoricalAttribute, RangeAttribute
from ldp_core.designs import certificate_file
from ldp_core.workloads import DifferencePart, HistogramPart, PrefixPart, over_attributes
from tests.certificates import MIXED

HERE = Path(__file__).parent
SEMIDEFINITE = "not positive semidefinite"
SECRET = RangeAttribute(name="score", low=1, high=4, bins=4, integer=True)
ARM = CategoricalAttribute(name="arm", values=("a", "b", "c"), known=True)
LESS = DifferencePart(of=HistogramPart(attribute="score"), attribute="arm", first="a", second="c", weight=2)
ASKED = [PrefixPart(attribute="score", by=("arm",)), LESS, HistogramPart(attribute="arm", weight=0.5)]
GROUPS = bounds.certificate(over_attributes(ASKED, [SECRET, ARM]), 1.0, None)
SCALES = GROUPS.workload.strata.scale


def npz(arrays):
    """The bytes of an npz file, entries stored as they are."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in arrays.items():
            if not isinstance(content, bytes):
                written = io.BytesIO()
                np.lib.format.write_array(written, np.asarray(content), version=(1, 0))
                content = written.getvalue()
            archive.writestr(zipfile.ZipInfo(name), content)
    return packed.getvalue()


def sealed(document, arrays, packed=None):
    """The text of a document with its digest, and with the words that belong to its numbers where there are such."""
    packed = npz({f"{name}.npy": array for name, array in arrays.items()}) if packed is None else packed
    document = {**document, "sha256": hashlib.sha256(packed).hexdigest()}
    try:
        document["meaning"] = verify.meaning(document, arrays)
    except (*verify.DAMAGED, ValueError):
        document.setdefault("meaning", "")
    return json.dumps(document), packed


def honest(found, epsilon):
    """Document and arrays of a certificate, to be altered."""
    files = certificate_file.write(found, epsilon)
    return json.loads(files.document), dict(verify.arrays(files.arrays))


def below(matrix):
    """The lower triangle, row by row."""
    return np.asarray(matrix, dtype=float)[np.tril_indices(len(matrix))]


def indefinite(n, epsilon, share, value, roundings=0):
    """The difference of two halves of the types, less a little along the constants: C is so large
    there that C G C is negative, and mu costs nothing."""
    w, d = np.full(n, n**-0.5), np.repeat([1.0, -1.0], n // 2) * n**-0.5
    G0 = 2 * np.outer(d, d)
    G = G0 - share * np.outer(w, w)
    plain = closed_form(workloads.custom(2**0.5 * d[None]), float(epsilon), np.full(n, 1 / n)).numbers
    # As much along the constants as pays for all of mu; the rest is for rounding.
    level = float(plain["multipliers"].mean() * n)
    C = plain["inverse"] + 1.001 * (level / share) ** 0.5 * below(np.outer(w, w))
    arrays = {
        "gram": below(G),
        "inverse": C,
        "multipliers": np.full(n, 1e-3 * level / n),
        "diagonal": plain["diagonal"],
        "pairs": np.zeros(n * (n + 1) // 2),
        "sizes": np.zeros(0),
        "size_multipliers": np.zeros(0),
    }
    about = {"gram": "array", "roundings": roundings}
    document = {"format": verify.FORMAT, "kind": "general", "epsilon": epsilon, "types": n, "workload": about}
    return {**document, "prior": "even", "value": value}, arrays


def one_of(n):
    """The lower triangle of a matrix with an eigenvalue below 0."""
    return below(np.eye(n) - 1.5 / n)


def negative_classes():
    """Eigenvalues below 0 by a billionth of the largest, all in the constants: what answers take off is less than it is."""
    n, top = 2**20, 1e12
    # Eigenvalues top on the constants and -top / 10^9 elsewhere, in fractions of two.
    low = -(2.0**-30) * top
    document = {"format": verify.FORMAT, "kind": "classes", "epsilon": "1", "types": n, "prior": "even"}
    document |= {"workload": {"gram": "classes", "bits": 0}, "value": top * (1 - 1e-6)}
    arrays = {
        "gram": np.array([(top + (n - 1) * low) / n, (top - low) / n]),
        "inverse": np.array([1.0, 0.0]),
        "pairs": np.zeros(2),
        "cut_multipliers": np.zeros(0),
        "floors": np.zeros(0),
    }
    return document, arrays


def one_cut(shape):
    """A cut over several axes of bits."""
    document, arrays = honest(symmetric_certificate(workloads.parity(7, 2), 1.0), "1")
    arrays = {name: array for name, array in arrays.items() if not name.startswith("cut")}
    arrays |= {"cut_multipliers": np.zeros(1), "floors": np.zeros(1), "cut0": np.ones(shape)}
    return document, arrays


def forgeries():
    """(name, why, workload, epsilon, text, packed) of each."""
    prefix = closed_form(workloads.prefix(5), 1.0, np.full(5, 0.2))
    pair, sixteen = workloads.custom([[1, -1]]), workloads.custom([np.repeat([1, -1], 8)])
    survey = workloads.survey([3, 4, 2], 2)
    tables, alike = closed_form_of_survey(survey, 1.0), symmetric_certificate(workloads.parity(4, 2), 1.0)
    array = closed_form(pair, 1.0, np.full(2, 0.5))

    for name, why, workload, made in (
        ("an indefinite matrix of two types", SEMIDEFINITE, pair, indefinite(2, "1", 1.8e-9, 1595902.0)),
        ("an indefinite matrix of sixteen types", SEMIDEFINITE, sixteen, indefinite(16, "0.5", 1.8e-9, 1809654.0)),
        ("an indefinite matrix rounded often", "prove", pair, indefinite(2, "1", 1.8e-9, 1595902.0, 2**24)),
        ("an indefinite matrix by a last bit", "prove", pair, indefinite(2, "1", 2.0**-50, 1595902.0)),
        ("negative eigenvalues by class", "prove", workloads.histogram(2**20), negative_classes()),
        ("a cut of many axes", "at most 64", workloads.parity(7, 2), one_cut((2,) * 7)),
        ("a cut of a part of no bits", "bits", workloads.parity(7, 2), one_cut((8, 1))),
    ):
        yield name, why, workload, made[0]["epsilon"], *sealed(*made)

    def changed(found, workload, changes):
        document, arrays = honest(found, "1")
        for name, why, alter in changes:
            text, packed = sealed(*alter(json.loads(json.dumps(document)), dict(arrays)))
            yield name, why, workload, "1", text, packed

    def field(*path):
        """Change one place of the document."""
        *way, last, value = path

        def alter(document, arrays):
            place = document
            for step in way:
                place = place[step]
            place[last] = value
            return document, arrays

        return alter

    def numbers(**changes):
        return lambda document, arrays: (document, arrays | changes)

    def every(alter, *more):
        """Several changes, one after the other."""

        def both(document, arrays):
            for one in (alter, *more):
                document, arrays = one(document, arrays)
            return document, arrays

        return both

    C, mu = prefix.numbers["inverse"], prefix.numbers["multipliers"]
    plain = (
        ("types as text", "numbers above 0", field("types", "5")),
        ("types with a point", "whole", field("types", 5.0)),
        ("types that are true", "numbers above 0", field("types", True)),
        ("types below zero", "numbers above 0", field("types", -5)),
        ("one type more", "belong together", field("types", 6)),
        ("types without end", "numbers above 0", field("types", 10**200)),
        ("value as text", "claims", field("value", "1")),
        ("value that is true", "claims", field("value", True)),
        ("value that is no number", "claims", field("value", float("nan"))),
        ("value without end", "claims", field("value", float("inf"))),
        ("value below zero", "claims", field("value", -1.0)),
        ("value a millionth more", "prove", field("value", prefix.value * (1 + 1e-6))),
        ("epsilon as a number", "quotation marks", field("epsilon", 1)),
        ("epsilon in other digits", "quotation marks", field("epsilon", "١")),
        ("epsilon with an exponent", "quotation marks", field("epsilon", "1e0")),
        ("a larger epsilon", "prove", field("epsilon", "3")),
        ("prior that is true", "spread", field("prior", True)),
        ("a prior that is not there", "damaged", field("prior", "array")),
        ("questions that are not known", "not known", field("workload", "gram", "suffix")),
        ("a field that is not looked at", "not looked at", field("also", "No mechanism at all.")),
        ("a field of questions that is not looked at", "not looked at", field("workload", "n", 9)),
        ("more without numbers for it", "claims more", field("stronger", {"value": 1e12, "meaning": "More."})),
        ("parts of what has none", "names parts", field("parts", [])),
        ("another kind", "damaged", field("kind", "classes")),
        ("a kind that there is not", "other questions|damaged", field("kind", "none")),
        ("not a number in C", "finite", numbers(inverse=np.where(np.arange(15) == 3, np.nan, C))),
        ("infinity in mu", "finite", numbers(multipliers=np.append(mu[:-1], np.inf))),
        ("numbers too large", "finite", numbers(multipliers=mu * 1e105)),
        ("squares too large", "prove", numbers(inverse=C * 1e97, multipliers=mu * 1e97)),
        ("all of it subnormal", "prove", numbers(inverse=C * 1e-310, multipliers=mu * 0.0, diagonal=mu * 0.0)),
        ("mu too small", "prove", numbers(multipliers=mu * 0.5)),
        ("mu of zeros below zero", "prove", numbers(multipliers=mu * -0.0)),
        ("negative pairs", "negative", numbers(pairs=np.full(15, -1e-300))),
        ("a size that is not whole", "whole", numbers(sizes=np.array([0.5]), size_multipliers=np.ones(1))),
        ("more sizes than multipliers", "together", numbers(sizes=np.ones(2), size_multipliers=np.ones(1))),
        ("single precision", "plain numbers", numbers(multipliers=mu.astype("<f4"))),
        ("another order of bytes", "plain numbers", numbers(multipliers=mu.astype(">f8"))),
        ("whole numbers", "plain numbers", numbers(multipliers=np.ones(5, dtype=np.int64))),
        ("complex numbers", "plain numbers", numbers(multipliers=mu + 0j)),
        ("objects to be unpickled", "plain numbers", numbers(multipliers=np.array([1, "a"], dtype=object))),
        ("columns before rows", "plain numbers", numbers(pairs=np.asfortranarray(np.zeros((3, 5))))),
        ("a matrix for its triangle", "together", numbers(inverse=verify.square(C, 5))),
    )
    yield from changed(prefix, workloads.prefix(5), plain)

    yield from changed(
        array,
        pair,
        (
            ("roundings that are true", "rounded", field("workload", "roundings", True)),
            ("roundings below zero", "rounded", field("workload", "roundings", -1)),
            ("roundings without end", "rounded", field("workload", "roundings", 2**60)),
            ("a matrix of zeros", "prove", numbers(gram=np.zeros(3))),
            ("a diagonal below zero", "none", numbers(gram=np.array([-1.0, 0.0, 1.0]))),
            ("more beside the diagonal than on it", "none", numbers(gram=np.array([1.0, -1.1, 1.0]))),
        ),
    )

    mean = workloads.custom([[0, 1, 2, 3, 10]])
    one = bounds.certificate(mean, 1.0, None)
    z, alpha, beta = (one.numbers[name] for name in ("direction", "alpha", "beta"))
    first = np.eye(5)[0]
    yield from changed(
        one,
        mean,
        (
            ("a question worth a millionth more", "prove", field("value", one.value * (1 + 1e-6))),
            ("a question of a larger epsilon", "prove", field("epsilon", "1.5")),
            ("a question of other people", "prove", every(field("prior", "array"), numbers(prior=first * 0.8 + 0.04))),
            ("a question of as many types as one", "belong together", numbers(alpha=alpha[:1])),
            ("a question along a matrix", "belong together", numbers(direction=np.outer(z, z))),
            ("a question along another direction", "prove", numbers(direction=z * 1.01)),
            ("alpha a millionth larger", "prove", numbers(alpha=alpha + 1e-6 * np.abs(alpha))),
            ("alpha without roots", "prove", numbers(alpha=alpha + 1.0, beta=beta * 0.0)),
            ("one alpha for all", "prove", numbers(alpha=first * alpha.sum() * 2)),
            ("beta of far roots", "prove", numbers(beta=beta * 1e40)),
            ("alpha whose products overflow", "prove nothing", numbers(alpha=alpha * 1e60)),
            ("a direction whose squares underflow", "prove", numbers(direction=z * 1e-170)),
            ("not a number in beta", "finite", numbers(beta=np.where(first > 0, np.nan, beta))),
            ("infinity in alpha", "finite", numbers(alpha=np.where(first > 0, np.inf, alpha))),
            ("a question of no matrix", "semidefinite|none", numbers(gram=one_of(5))),
            (
                "a question without beta",
                "damaged",
                lambda document, arrays: (document, {k: v for k, v in arrays.items() if k != "beta"}),
            ),
            ("a question rounded often", "prove", field("workload", "roundings", 2**30)),
        ),
    )

    group = ("workload", "groups", 0)
    twenty = {"gram": "tables", "sizes": [2] * 22, "groups": [{"columns": [*range(20)], "weight": 1.0}] * 20}
    yield from changed(
        tables,
        survey,
        (
            ("a weight that underflows", "numbers above 0", field(*group, "weight", 1.6e-162)),
            ("a weight whose square underflows", "too small", field(*group, "weight", 1e-60)),
            ("a weight as text", "numbers above 0", field(*group, "weight", "1")),
            ("a weight that is true", "numbers above 0", field(*group, "weight", True)),
            ("a weight below zero", "numbers above 0", field(*group, "weight", -1.0)),
            ("a weight without end", "numbers above 0", field(*group, "weight", float("inf"))),
            ("a column that is true", "in order", field(*group, "columns", [0, True])),
            ("a column that is there twice", "in order", field(*group, "columns", [0, 0])),
            ("a column from the end", "in order", field(*group, "columns", [-1, 0])),
            ("columns as text", "in order", field(*group, "columns", "01")),
            ("an eigenvalue that is true", "negative", field(*group, "eigenvalues", [True, 1.0, 1.0, 1.0])),
            ("an eigenvalue below zero", "negative", field(*group, "eigenvalues", [-1.0, 1.0, 1.0, 1.0])),
            ("a subnormal eigenvalue", "too small", field(*group, "eigenvalues", [5e-324, 1.0, 1.0, 1.0])),
            ("an eigenvalue too few", "eigenvalue for each", field(*group, "eigenvalues", [1.0])),
            ("a field of a group", "not looked at", field(*group, "n", 1)),
            ("a column of no values", "no values", field("workload", "sizes", [3, 4, 0])),
            ("sizes of other types", "another", field("workload", "sizes", [3, 4, 3])),
            ("sizes with a point", "another", field("workload", "sizes", [3, 4, 2.0])),
            ("all sets of many columns", "longer to check", every(field("workload", twenty), field("types", 2**22))),
        ),
    )

    yield from changed(
        alike,
        workloads.parity(4, 2),
        (
            ("bits that are true", "types", every(field("workload", "bits", True), field("types", 2))),
            ("bits without end", "types", field("workload", "bits", 2**53)),
            ("another number of bits", "types", field("workload", "bits", 3)),
            ("a class too many", "together", numbers(gram=np.ones(6))),
            ("an axis too many", "together", numbers(inverse=alike.numbers["inverse"][None])),
            ("a cut that is not whole", "none of a proof", numbers(floors=np.full(len(alike.numbers["floors"]), 0.5))),
            (
                "a negative multiplier of cuts",
                "none of a proof",
                numbers(cut_multipliers=-alike.numbers["cut_multipliers"]),
            ),
            ("more cuts than there is time for", "longer to check", numbers(cut_multipliers=np.zeros(50_000))),
        ),
    )

    first, second = ("parts", 0), ("parts", 1)
    together = closed_form_of_survey(MIXED, 1.0)
    held = together.to_file("1")[1]
    blocks, cells, times = held["gram"], held["gram_cells"], held["gram_dimensions"]
    yield from changed(
        together,
        MIXED,
        (
            ("blocks worth a millionth more", "prove", field("value", together.value * (1 + 1e-6))),
            ("blocks of a larger epsilon", "prove", field("epsilon", "1.5")),
            ("a block of half a row", "together", numbers(gram_cells=cells + 0.5)),
            ("a block of no rows", "together", numbers(gram_cells=cells * 0.0)),
            ("a block of more rows than numbers", "together", numbers(gram_cells=cells + 1.0)),
            ("a block of more rows than there is time for", "longer to check", numbers(gram_cells=cells + 1e5)),
            ("a block that is there half a time", "none", numbers(gram_dimensions=times + 0.5)),
            ("a block that is there more often than there are types", "types", numbers(gram_dimensions=times + 60.0)),
            ("a block that is there less than never", "none of a proof", numbers(gram_dimensions=-times)),
            ("a block that is not semidefinite", "not positive semidefinite", numbers(gram=-blocks)),
            ("a block off by less than nothing", "none of a proof", numbers(gram_off=held["gram_off"] - 1e-3)),
            ("a block off by more", "prove", numbers(gram_off=held["gram_off"] + 1e-3)),
            ("numbers alone below zero", "none of a proof", numbers(gram_alone=held["gram_alone"] - 1.0)),
            ("less than nothing beside the blocks", "none of a proof", numbers(gram_rest=held["gram_rest"] - 1e3)),
            ("more beside the blocks than two numbers", "none of a proof", numbers(gram_rest=np.zeros(3))),
            ("blocks rounded without end", "rounded", field("workload", "roundings", 2**60)),
            ("blocks of other people", "other people", field("prior", "array")),
        ),
    )

    yield from changed(
        GROUPS,
        GROUPS.workload,
        (
            ("groups worth a millionth more", "prove", field("value", GROUPS.value * (1 + 1e-6))),
            ("a group of a smaller scale", "prove", numbers(scales=SCALES * np.array([1, 1, 0.99]))),
            ("a group of a scale below zero", "none below 0", numbers(scales=-SCALES)),
            ("groups that count for less than nobody", "none below 0", numbers(constants=np.array([9.0, -8.0, 9.0]))),
            ("a group without a scale", "a scale and|damaged|argument", numbers(scales=SCALES[:2])),
            ("a group of no share", "none below 0", every(field("prior", "array"), numbers(shares=np.ones(2) / 2))),
            (
                "a share below zero",
                "none below 0",
                every(field("prior", "array"), numbers(shares=np.array([1.0, 1, -1]))),
            ),
            ("shares of more than all", "sum to 1", every(field("prior", "array"), numbers(shares=np.ones(3)))),
            ("shares that are not there", "damaged", field("prior", "array")),
            ("groups of other parts", "prove", numbers(which=np.array([1.0, 1.0, 0.0]))),
            ("a group of a part that there is not", "of no part", numbers(which=np.array([0.0, 1.0, 2.0]))),
            ("a group of half a part", "of no part", numbers(which=np.array([0.0, 1.0, 0.5]))),
            ("a group of a part from the end", "of no part", numbers(which=np.array([0.0, 1.0, -1.0]))),
            ("a part of no group", "of no group", numbers(which=np.zeros(3))),
            (
                "blocks that are swapped",
                "of no part",
                lambda document, arrays: (document | {"parts": document["parts"][::-1]}, arrays),
            ),
            ("more groups than there are", "other types", field("types", 10**90)),
            (
                "groups of another kind of people",
                "other people",
                every(field(*first, "prior", "array"), numbers(**{"0.prior": np.full(4, 0.25)})),
            ),
            ("groups in groups", "itself of parts", field(*first, "kind", "strata")),
            ("parts in groups", "damaged|other questions|not looked at", field(*first, "kind", "parts")),
            ("a group of another epsilon", "another epsilon", field(*second, "epsilon", "0.5")),
            ("a group of a weight", "not looked at", field(*second, "weight", 3.0)),
            ("a group of many told apart", "other types", field(*first, "merged", {"types": 7, "meaning": "Many."})),
            ("a group of true types", "other types", field(*first, "merged", {"types": True, "meaning": "One."})),
        ),
    )

    document, arrays = honest(array, "1")
    entries = {f"{name}.npy": numbers_ for name, numbers_ in arrays.items()}
    twice = npz({"gram": arrays["gram"] * 4, **entries})
    yield "a matrix that is there twice", "once each", pair, "1", *sealed(document, arrays, twice)
    yield "an entry of another name", "once each", pair, "1", *sealed(document, arrays, npz({**entries, "a.txt": b"a"}))
    text, packed = sealed(document, arrays)
    yield "a name that is there twice", "twice", pair, "1", text.replace('"value"', '"value": 1e9, "value"', 1), packed
    yield "arrays of another digest", "names", pair, "1", text, twice
    compressed = io.BytesIO()
    with zipfile.ZipFile(compressed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("gram.npy"), bytes(10**6), zipfile.ZIP_DEFLATED)
    yield "a file that unpacks to much", "compressed", pair, "1", *sealed(document, arrays, compressed.getvalue())
    yield "lists in lists", "cannot be read|damaged", pair, "1", "[" * 10_000, packed
    yield "a list for the document", "damaged", pair, "1", "[]", packed
    yield "other words", "in words", pair, "1", text.replace("no mechanism", "no proper mechanism"), packed


def write():
    """Those that are not in this folder yet: what was refused once is refused for good, though its kind may be gone."""
    for name, why, workload, epsilon, text, packed in forgeries():
        content = {"why": why, "workload": workload.spec, "epsilon": epsilon, "document": text}
        content["arrays"] = base64.b64encode(zlib.compress(packed, 9)).decode()
        file = name.replace(" ", "-").replace("'", "")
        if not (HERE / f"{file}.json").exists():
            (HERE / f"{file}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    write()
